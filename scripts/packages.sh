#!/bin/sh
# Installs the Debian packages that tests need and that are missing, as root or by sudo.
set -eu
cd "$(dirname "$0")/.."
packages=$(sh scripts/missing.sh | cut -f 2)
[ -n "$packages" ] || exit 0
root=
[ "$(id -u)" = 0 ] || root=sudo
export DEBIAN_FRONTEND=noninteractive
$root apt-get -o Acquire::Retries=3 update -qq
# shellcheck disable=SC2086
$root apt-get -o Acquire::Retries=3 install -qq -y --no-install-recommends $packages >/dev/null
