#!/bin/sh
# Runs the unit tests and the tests of the complete program in the environments that users have: umask 002 and 077, an ordinary user who cannot
# write to the program's folder, a home folder that does not exist, a temporary folder with a space in its name, other locales. Afterwards,
# tests the wheel with umask 002.
# Usage, from the Makefile: sh scripts/test_environments.sh PYTHON. PROFILE=dev builds and runs with the development profile.
# As root, the tests run as the user nobody, who must be able to read this folder and the build folder.
set -eu
python=$1
cd "$(dirname "$0")/.."
profile=${PROFILE:-release}
place=$(mktemp -d)
trap 'chmod -R u+rwX "$place"; rm -rf "$place"' EXIT
chmod 755 "$place"

echo "building the tests ($profile)"
cargo test --profile "$profile" --workspace --exclude dupsift-python --no-run --message-format=json 2>"$place/build.log" |
  "$python" -c '
import json, os, sys
for line in sys.stdin:
    built = json.loads(line)
    if built.get("executable") and built.get("profile", {}).get("test"):
        print(built["executable"], os.path.dirname(built["manifest_path"]), sep="\t")
' | sort -u >"$place/binaries"
[ -s "$place/binaries" ] || { tail -20 "$place/build.log" >&2; exit 1; }

failed=
suite() { # NAME UMASK LOCALE
  name=$1 mask=$2 locale=$3
  tmp="$place/$name a tmp"
  mkdir -p "$tmp"
  if [ "$(id -u)" -eq 0 ]; then
    chown 65534:65534 "$tmp"
    as="setpriv --reuid 65534 --regid 65534 --clear-groups"
  else
    as=
  fi
  while IFS="$(printf '\t')" read -r binary folder; do
    # Links are resolved by the tests themselves; the working folder is that of the crate, as with cargo.
    if (cd "$folder" && umask "$mask" && exec $as env HOME=/nonexistent/home TMPDIR="$tmp" LC_ALL="$locale" LANG="$locale" \
      "$binary" --quiet </dev/null >"$place/log" 2>&1); then
      echo "$name: ok: $(basename "$binary")"
    else
      echo "$name: FAILED: $(basename "$binary")"
      grep -E "^test .*FAILED|panicked at|^    [a-z_:0-9]+$|^test result" "$place/log" | tail -40
      failed="$failed $name"
    fi
  done <"$place/binaries"
  left=$(find "$tmp" -mindepth 1 -maxdepth 1 -name '.dupsift-*' | head -3)
  if [ -n "$left" ]; then
    echo "$name: FAILED: temporary folders are left: $left"
    failed="$failed $name"
  fi
}

for environment in ${ENVIRONMENTS:-umask-002 umask-077}; do
  case $environment in
    umask-077) suite umask-077 077 C ;;
    *) suite umask-002 002 ru_RU.KOI8-R ;;
  esac
done
if [ "${WHEEL:-1}" = 1 ]; then
  (umask 002 && make --no-print-directory python) || failed="$failed wheel"
fi
if [ -n "$failed" ]; then
  echo "FAILED:$failed" >&2
  exit 1
fi
