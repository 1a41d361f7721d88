#!/bin/sh
# Tests a wheel of the Python package: first alone in a new environment, then in the environment of PYTHON, which has other libraries.
# Usage: sh scripts/test_wheel.sh PYTHON WHEEL
set -eu
python=$1
wheel=$2
here=$(cd "$(dirname "$0")/.." && pwd)
tests=$here/python/tests

bytes=$(wc -c <"$wheel")
echo "$wheel: $bytes bytes"

alone=$(mktemp -d)
trap 'rm -rf "$alone"' EXIT
"${PYTHON:-python3}" -m venv --without-pip "$alone/venv"
"$python" -m pip --python "$alone/venv/bin/python" install --quiet --disable-pip-version-check --no-deps "$wheel"
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheel"

# Runs outside of the source folder, so that the installed package is tested.
cd "$alone"
for file in run errors progress examples; do
  venv/bin/python "$tests/test_$file.py"
done
for file in frames frame_results contaminated progress examples pages notebook memory types; do
  "$python" "$tests/test_$file.py"
done
