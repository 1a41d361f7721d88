#!/bin/sh
# Tests what `make dist` built for this machine: golden files and transcripts with the program, the wheel's tests, and both in an older system.
# Usage: sh scripts/test_dist.sh FRAMES_PYTHON
set -eu
frames=$1
cd "$(dirname "$0")/.."
machine=$(uname -m)
program=${CARGO_TARGET_DIR:-$PWD/target}/$machine-unknown-linux-gnu/dist/dupsift
for wheel in "$PWD"/dist/dupsift-*"$machine".whl; do :; done

# Everything that is given away has the licenses of the crates in it.
for archive in dist/dupsift-*-"$machine"-linux.tar.gz; do tar -tzf "$archive" | grep '/THIRD-PARTY\.txt$' >/dev/null; done
"$frames" -m zipfile -l "$wheel" | grep '/licenses/THIRD-PARTY\.txt ' >/dev/null
if command -v dpkg-deb >/dev/null 2>&1; then
  for package in dist/*.deb; do dpkg-deb -c "$package" | grep '/dupsift/THIRD-PARTY\.txt\.gz$' >/dev/null; done
fi

DUPSIFT_PROGRAM=$program cargo test --release --test it -- golden:: transcripts::
sh scripts/test_wheel.sh "$frames" "$wheel"
if [ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null 2>&1; then
  sh scripts/test_old_root.sh "$PWD/.debian-11" "$program" "$wheel"
else
  echo "notice: not tested in Debian 11, which takes root and debootstrap" >&2
fi
