#!/bin/sh
# Builds the files of a release in dist/: for each machine a wheel, an archive and a Debian package of the program, and a source distribution.
# Usage: sh scripts/dist.sh PYTHON, where PYTHON has maturin, cargo-zigbuild, zig and auditwheel.
set -eu
python=$1
cd "$(dirname "$0")/.."
dist=$PWD/dist
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
maintainer=$(sed -n 's/^authors = \["\(.*\)"\]$/\1/p' Cargo.toml)
target_dir=${CARGO_TARGET_DIR:-$PWD/target}
rm -rf "$dist"
mkdir -p "$dist"
# maturin and cargo look for zig and cargo-zigbuild in PATH.
PATH=$(dirname "$python"):$PATH
export PATH

# zig links against the glibc of 2014, so that programs and wheels start on every system that is still in use.
glibc=2.17
# Fails if FILE needs a later glibc. readelf reads the files of all machines.
needs() { # FILE
  highest=$(readelf --wide --dyn-syms "$1" | sed -n 's/.*@GLIBC_\([0-9.]*\).*/\1/p' | sort -Vu | tail -1)
  if [ -z "$highest" ] || [ "$(printf '%s\n' "$highest" "$glibc" | sort -V | tail -1)" != "$glibc" ]; then
    echo "$1 needs glibc $highest; expected at most $glibc" >&2
    exit 1
  fi
}

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

# Builds wheel, archive and Debian package for one machine.
build() { # MACHINE
  machine=$1
  target=$machine-unknown-linux-gnu
  "$python" scripts/licenses.py python/THIRD-PARTY.txt --target "$target"
  cargo-zigbuild zigbuild --profile dist --locked --bin dupsift --target "$target.$glibc"
  maturin build --profile dist --locked --zig --target "$target" --compatibility manylinux2014 --compression-level 9 \
    --manifest-path python/Cargo.toml --out "$dist"
  wheel=$(ls "$dist"/dupsift-*"$machine".whl)
  auditwheel show "$wheel" | grep -q '"manylinux_2_17_'"$machine"'"' || { auditwheel show "$wheel" >&2; exit 1; }
  program=$target_dir/$target/dist/dupsift
  needs "$program"
  pack "$program"
}

# Writes the list of crates in the program, the archive with the program, man pages and completions, and a Debian package with the same content.
pack() { # PROGRAM
  name=dupsift-$version-$machine-linux
  # maturin lists the crates of the wheel, which has the program, in CycloneDX. References to crates of this repository are relative.
  "$python" - "$wheel" "$PWD" >"$dist/$name.cyclonedx.json" <<'PYTHON'
import sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
[name] = [name for name in wheel.namelist() if name.endswith(".cyclonedx.json")]
sys.stdout.write(wheel.read(name).decode().replace(f"path+file://{sys.argv[2]}", "path+file://"))
PYTHON
  mkdir -p "$tree/$name/man" "$tree/$name/completions"
  cp "$1" "$tree/$name/dupsift"
  "$native" manual --man "$tree/$name/man"
  for shell in bash zsh fish; do
    "$native" completions "$shell" >"$tree/$name/completions/dupsift.$shell"
  done
  cp README.md LICENSE CHANGELOG.md python/THIRD-PARTY.txt "$tree/$name/"
  tar --sort=name --owner=0 --group=0 --numeric-owner -C "$tree" -czf "$dist/$name.tar.gz" "$name"

  if command -v dpkg-deb >/dev/null 2>&1; then
    root=$tree/$name-deb
    install -D -m 755 "$tree/$name/dupsift" "$root/usr/bin/dupsift"
    install -d "$root/usr/share/man/man1"
    for page in "$tree/$name"/man/*.1; do
      gzip -9 -n <"$page" >"$root/usr/share/man/man1/$(basename "$page").gz"
    done
    install -D -m 644 "$tree/$name/completions/dupsift.bash" "$root/usr/share/bash-completion/completions/dupsift"
    install -D -m 644 "$tree/$name/completions/dupsift.zsh" "$root/usr/share/zsh/vendor-completions/_dupsift"
    install -D -m 644 "$tree/$name/completions/dupsift.fish" "$root/usr/share/fish/vendor_completions.d/dupsift.fish"
    install -D -m 644 LICENSE "$root/usr/share/doc/dupsift/copyright"
    gzip -9 -n <python/THIRD-PARTY.txt >"$root/usr/share/doc/dupsift/THIRD-PARTY.txt.gz"
    mkdir "$root/DEBIAN"
    cat >"$root/DEBIAN/control" <<CONTROL
Package: dupsift
Version: $version
Architecture: $(case $machine in x86_64) echo amd64 ;; aarch64) echo arm64 ;; *) echo "$machine" ;; esac)
Maintainer: $maintainer
Section: utils
Priority: optional
Depends: libc6 (>= $glibc)
Description: finds and removes near-duplicate documents in text corpora
 Reads Parquet, JSON lines or web archives and writes duplicate pairs,
 clusters and a removal list as Parquet.
CONTROL
    dpkg-deb --root-owner-group --build "$root" "$dist" >/dev/null
  else
    echo "notice: no Debian package: dpkg-deb is not in PATH" >&2
  fi
}

# The machine's own program writes the manual and completions for all.
here=$(uname -m)
native=$target_dir/$here-unknown-linux-gnu/dist/dupsift
build "$here"
for other in x86_64 aarch64; do
  if [ "$other" = "$here" ]; then continue; fi
  if rustup target list --installed 2>/dev/null | grep -q "^$other-unknown-linux-gnu$"; then
    build "$other"
  else
    echo "notice: nothing for $other: its standard library is not installed (rustup target add $other-unknown-linux-gnu)" >&2
  fi
done
maturin sdist --manifest-path python/Cargo.toml --out "$dist"
hadolint Dockerfile
ls -l "$dist"
