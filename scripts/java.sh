#!/bin/sh
# Prints the home folder of Java 17 or later, from JAVA_HOME or PATH. If neither has it and the user is root, installs
# openjdk-17-jre-headless with apt-get. Exits with 1 and a message if there is none.
set -eu
home() {
  for java in "${JAVA_HOME:+$JAVA_HOME/bin/java}" "$(command -v java || true)"; do
    [ -n "$java" ] && [ -x "$java" ] || continue
    version=$("$java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.specification.version = //p')
    case $version in
    1.* | '') ;;
    *) [ "$version" -lt 17 ] || { dirname "$(dirname "$(readlink -f "$java")")"; return 0; } ;;
    esac
  done
  return 1
}
home && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  apt-get update -qq >&2 && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y openjdk-17-jre-headless >&2 || true
  home && exit 0
fi
echo 'Java 17 or later is missing, and cannot be installed here: install it (Debian: apt-get install openjdk-17-jre-headless), or set JAVA_HOME' >&2
exit 1
