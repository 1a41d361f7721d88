#!/bin/sh
# Tests the program and the wheel of `make dist` in Debian 11, whose glibc is 2.31: makes the system in FOLDER with debootstrap, unless it is
# there, and builds CPython 3.11 in it from Debian's source package. Must run as root.
# Usage: sh scripts/test_old_root.sh FOLDER PROGRAM WHEEL
set -eu
folder=$1
program=$2
wheel=$3
here=$(cd "$(dirname "$0")/.." && pwd)
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
inside() { chroot "$folder" env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }

[ -e "$folder/usr/bin/apt-get" ] || debootstrap --variant=minbase bullseye "$folder" "$mirror"
if [ ! -x "$folder/usr/local/bin/python3.11" ]; then
  echo "deb-src $mirror bookworm main" >"$folder/etc/apt/sources.list.d/source.list"
  inside apt-get -qq update
  inside apt-get -qq -y --no-install-recommends install build-essential dpkg-dev libbz2-dev libffi-dev liblzma-dev libsqlite3-dev libssl-dev zlib1g-dev >/dev/null
  inside sh -c 'cd /usr/src && apt-get -qq source --download-only python3.11 && mkdir -p python && tar -C python --strip-components 1 -xf python3.11_*.orig.tar.?z'
  inside sh -c 'cd /usr/src/python && ./configure -q && make -s -j"$(nproc)" >make.log 2>&1 && make -s install >>make.log 2>&1'
fi

rm -rf "$folder/dupsift"
mkdir "$folder/dupsift"
cp "$program" "$folder/dupsift/dupsift"
cp "$wheel" "$folder/dupsift/"
# The tests find samples and scripts relative to their own folder.
for name in python data-samples docs examples scripts README.md; do cp -a "$here/$name" "$folder/dupsift/"; done
inside ldd --version | head -1

# The program gives the bytes that it gives here.
inside /dupsift/dupsift run /dupsift/data-samples/docs --out /dupsift/there --no-progress
"$program" run "$here/data-samples/docs" --out "$folder/dupsift/here" --no-progress 2>/dev/null
for table in removed pairs clusters; do diff -r "$folder/dupsift/there/$table" "$folder/dupsift/here/$table"; done

# The wheel, alone with CPython.
inside python3.11 -m venv /dupsift/venv
inside /dupsift/venv/bin/python -m pip install --quiet --disable-pip-version-check --no-index --no-deps "/dupsift/$(basename "$wheel")"
for file in run errors progress examples; do
  inside sh -c "cd /tmp && /dupsift/venv/bin/python /dupsift/python/tests/test_$file.py"
done
