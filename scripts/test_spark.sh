#!/bin/sh
# Tests a wheel on an Apache Spark cluster with two workers on this machine. Needs Java 17 or later.
# Usage: sh scripts/test_spark.sh PYTHON WHEEL
set -eu
python=$1
wheel=$2
here=$(cd "$(dirname "$0")/.." && pwd)
JAVA_HOME=$(sh "$here/scripts/java.sh")
export JAVA_HOME
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheel"
# Runs outside of the source folder, so that the installed package is tested.
alone=$(mktemp -d)
trap 'rm -rf "$alone"' EXIT
case $wheel in
/*) ;;
*) wheel=$PWD/$wheel ;;
esac
export DUPSIFT_WHEEL="$wheel"
# The tests end before Java's second compiler pays off; without that compiler, they take three quarters of the time.
export JAVA_TOOL_OPTIONS="${JAVA_TOOL_OPTIONS:+$JAVA_TOOL_OPTIONS }-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
cd "$alone"
"$python" "$here/python/tests/test_spark.py"
