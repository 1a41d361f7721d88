#!/bin/sh
# Builds the files of a release in dist/: wheels, source distribution, an archive and a Debian package of the program.
# Usage: sh scripts/dist.sh PYTHON PROGRAM, where PYTHON has maturin and zig, and PROGRAM is the path of the program that cargo builds.
set -eu
python=$1
program=$2
cd "$(dirname "$0")/.."
dist=$PWD/dist
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
maintainer=$(sed -n 's/^authors = \["\(.*\)"\]$/\1/p' Cargo.toml)
machine=$(uname -m)
rm -rf "$dist"
mkdir -p "$dist"
# maturin looks for zig in PATH.
PATH=$(dirname "$python"):$PATH
export PATH

# zig links wheels against an old glibc, so that they can be installed on systems released since 2018. A single code generation unit makes
# wheels 1% smaller, but the build takes minutes longer.
for target in x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu; do
  if [ "${target%%-*}" != "$machine" ] && ! rustup target list --installed 2>/dev/null | grep -q "^$target$"; then
    echo "notice: no wheel for ${target%%-*}: its standard library is not installed (rustup target add $target)" >&2
    continue
  fi
  CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1 "$python" -m maturin build --release --locked --zig --target "$target" --compatibility manylinux_2_28 --compression-level 9 \
    --manifest-path python/Cargo.toml --out "$dist"
done
for wheel in "$dist"/*.whl; do
  bytes=$(wc -c <"$wheel")
  if [ "$bytes" -gt 40000000 ]; then echo "$wheel has $bytes bytes; expected at most 40000000" >&2; exit 1; fi
done
"$python" -m maturin sdist --manifest-path python/Cargo.toml --out "$dist"

# Builds the archive with the stripped program, man pages and completions.
cargo build --release --locked --bin dupsift
name=dupsift-$version-$machine-linux
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/$name/man" "$tree/$name/completions"
strip -o "$tree/$name/dupsift" "$program"
"$tree/$name/dupsift" manual --man "$tree/$name/man"
for shell in bash zsh fish; do
  "$tree/$name/dupsift" completions "$shell" >"$tree/$name/completions/dupsift.$shell"
done
cp README.md LICENSE CHANGELOG.md "$tree/$name/"
tar --sort=name --owner=0 --group=0 --numeric-owner -C "$tree" -czf "$dist/$name.tar.gz" "$name"

# Builds a Debian package with the same content.
if command -v dpkg-deb >/dev/null 2>&1; then
  root=$tree/deb
  install -D -m 755 "$tree/$name/dupsift" "$root/usr/bin/dupsift"
  install -d "$root/usr/share/man/man1"
  for page in "$tree/$name"/man/*.1; do
    gzip -9 -n <"$page" >"$root/usr/share/man/man1/$(basename "$page").gz"
  done
  install -D -m 644 "$tree/$name/completions/dupsift.bash" "$root/usr/share/bash-completion/completions/dupsift"
  install -D -m 644 "$tree/$name/completions/dupsift.zsh" "$root/usr/share/zsh/vendor-completions/_dupsift"
  install -D -m 644 "$tree/$name/completions/dupsift.fish" "$root/usr/share/fish/vendor_completions.d/dupsift.fish"
  install -D -m 644 LICENSE "$root/usr/share/doc/dupsift/copyright"
  mkdir "$root/DEBIAN"
  cat >"$root/DEBIAN/control" <<CONTROL
Package: dupsift
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: $maintainer
Section: utils
Priority: optional
Depends: libc6 (>= $(objdump -T "$tree/$name/dupsift" | sed -n 's/.*GLIBC_\([0-9.]*\).*/\1/p' | sort -Vu | tail -1))
Description: finds and removes near-duplicate documents in text corpora
 Reads Parquet, JSON lines or web archives and writes duplicate pairs,
 clusters and a removal list as Parquet.
CONTROL
  dpkg-deb --root-owner-group --build "$root" "$dist" >/dev/null
else
  echo "notice: no Debian package: dpkg-deb is not in PATH" >&2
fi

hadolint Dockerfile
ls -l "$dist"
