#!/bin/sh
# Creates the virtual environment FOLDER with the packages in REQUIREMENTS and, as the last step, the file FOLDER/ready.
# Usage: sh scripts/venv.sh FOLDER REQUIREMENTS. The variable PYTHON names the interpreter (python3 if unset).
set -u
folder=$1
requirements=$2
python=${PYTHON:-python3}

if ! command -v "$python" >/dev/null 2>&1; then
  echo "Python 3 is missing: expected a program named $python; install Python 3.11 or later, or set PYTHON" >&2
  exit 1
fi

# Some systems have venv's pip in a separate package; there, the system's pip can still install packages into an environment without pip.
install=
if "$python" -m venv --clear "$folder" >/dev/null 2>&1; then
  install="$folder/bin/python -m pip"
elif "$python" -m venv --clear --without-pip "$folder" >/dev/null 2>&1 && "$python" -m pip --version >/dev/null 2>&1; then
  install="$python -m pip --python $folder/bin/python"
fi
if [ -z "$install" ]; then
  rm -rf "$folder"
  echo "$python cannot make a virtual environment with pip in it; on Debian and Ubuntu install python3-venv," >&2
  echo "or point PYTHON at an interpreter whose \"-m venv\" works" >&2
  exit 1
fi

if ! $install install --quiet --disable-pip-version-check --requirement "$requirements"; then
  echo "the packages of $requirements could not be installed; pip says why above (a proxy or an index may have to be set)" >&2
  exit 1
fi
: >"$folder/ready"
