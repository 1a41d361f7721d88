#!/bin/sh
# Prints the home folder of Java 17 or later, from JAVA_HOME or PATH. Exits with 1 and a message if there is none.
set -eu
for java in "${JAVA_HOME:+$JAVA_HOME/bin/java}" "$(command -v java || true)"; do
  [ -n "$java" ] && [ -x "$java" ] || continue
  version=$("$java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.specification.version = //p')
  case $version in
  1.* | '') ;;
  *) [ "$version" -lt 17 ] || { dirname "$(dirname "$(readlink -f "$java")")"; exit 0; } ;;
  esac
done
echo 'Java 17 or later is missing: install it (Debian: apt-get install openjdk-17-jre-headless), or set JAVA_HOME' >&2
exit 1
