#!/bin/sh
# Runs all checks and tests. Checks that wait for the network, for Java or for a browser run in parallel with the rest; their output is printed
# at the end. Tests are skipped if a system program is missing, and the last lines report this; with CI=true, this is a failure.
# Usage, from the Makefile: sh scripts/test.sh FRAMES_PYTHON SPARK_PYTHON BROWSER_PYTHON STORES_PYTHON
set -u
frames=$1
spark=$2
browser=$3
stores=$4
cd "$(dirname "$0")/.." || exit 1
mkdir -p out
rm -f out/test-failed out/test-*.log

missing=$(sh scripts/missing.sh)
# Prints a line for each missing program.
skipped() {
  [ -z "$missing" ] || printf '%s\n' "$missing" | while IFS="$(printf '\t')" read -r name packages tests; do
    echo "$1: $tests: $name is missing: apt-get install $packages" >&2
  done
}
has() { case $missing in *"$1"*) return 1 ;; esac; }
if [ -n "$missing" ] && [ "${CI:-}" = true ]; then
  skipped FAILED
  exit 1
fi

# Says first what is needed, what is left out and how long it takes.
needed=
for name in cargo cc rustfmt cargo-clippy; do command -v $name >/dev/null 2>&1 || needed="$needed $name"; done
"${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || needed="$needed python-3.11-or-later"
if [ -n "$needed" ]; then
  echo "make test needs:$needed (Rust comes with rustup, rustfmt and clippy by: rustup component add rustfmt clippy)" >&2
  exit 1
fi
echo "The first time, this takes about 25 minutes on two cores, and 8 GB on disk; Python packages are installed inside this folder."
skipped "will be skipped"

# Clippy runs while pip waits for the network.
make --no-print-directory environments >out/test-environments.log 2>&1 &
environments=$!
trap 'kill $environments 2>/dev/null; exit 130' INT TERM
make --no-print-directory lint || { kill $environments 2>/dev/null; exit 1; }
wait $environments || { cat out/test-environments.log; exit 1; }
ZIG=0 make --no-print-directory wheel || exit 1

for wheel in dist/dupsift-*.whl; do :; done
wheel=$PWD/$wheel
# Runs tests with their output in a file.
beside() { # NAME OF THE LOG, WHAT FAILED, COMMAND
  log=out/test-$1.log what=$2
  shift 2
  "$@" >"$log" 2>&1 || echo "$what" >>out/test-failed
}
{
  beside wheel "the wheel's tests" sh scripts/test_wheel.sh "$frames" "$wheel"
  ! has Java || beside spark "the tests on Spark" sh scripts/test_spark.sh "$spark" "$wheel"
  # The wheel, which has been installed above, has the program.
  program=$(dirname "$frames")/dupsift
  beside stores "the tests with object stores" "$stores" tests/emulators.py data-samples/docs --dupsift "$program" \
    --azurite "$(dirname "$stores")/../azurite" --python "$frames"
  ! has Chromium || beside browser "the tests in a browser" "$browser" scripts/test_browser.py data-samples/docs --dupsift "$program"
} &
beside=$!
trap 'kill $beside 2>/dev/null; exit 130' INT TERM

make --no-print-directory unit || unit=failed
# Instructions do not depend on what else runs.
! has valgrind || make --no-print-directory instructions ARGS='--only "exact;minhash;simhash"' || instructions=failed
wait $beside
for name in wheel spark stores browser; do
  [ ! -e "out/test-$name.log" ] || cat "out/test-$name.log"
done
[ -z "${instructions:-}" ] || echo "the count of instructions: see above those of the wheel" >>out/test-failed
[ -z "${unit:-}" ] || echo "the unit tests: see above those of the wheel" >>out/test-failed
skipped SKIPPED
if [ -e out/test-failed ]; then
  sed 's/^/FAILED: /' out/test-failed >&2
  exit 1
fi
