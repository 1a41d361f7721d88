#!/bin/sh
# Builds the wheel in dist/ with the profile and the features of the program. If the environment of `make dist` has zig, the wheel is linked
# against glibc 2.17; dependencies are then compiled once more, unless ZIG=0. Otherwise, the wheel needs the glibc of this machine.
# Usage: sh scripts/wheel.sh WHEEL_PYTHON DIST_PYTHON
set -eu
python=$1
dist=$2
cd "$(dirname "$0")/.."
rm -f dist/dupsift-*.whl
"$python" scripts/licenses.py python/THIRD-PARTY.txt --target "$(uname -m)-unknown-linux-gnu"
set -- build --release --locked --compression-level 9 --manifest-path python/Cargo.toml --out dist
if [ "${ZIG:-1}" != 0 ] && "$dist" -c 'import ziglang' 2>/dev/null; then
  PATH=$(dirname "$dist"):$PATH
  export PATH
  maturin "$@" --zig --target "$(uname -m)-unknown-linux-gnu" --compatibility manylinux2014
else
  "$python" -m maturin "$@"
fi
# maturin names the earliest glibc that has all symbols of the wheel, as in manylinux_2_34; the name says linux if no such name applies.
for wheel in dist/dupsift-*.whl; do
  needed=$(printf '%s\n' "$wheel" | sed -n 's/.*manylinux_\([0-9]*\)_\([0-9]*\)_.*/glibc \1.\2 or later/p')
  echo "$wheel needs Python 3.10 or later and ${needed:-the glibc of this machine}; \`make dist\` builds a wheel for glibc 2.17"
done
