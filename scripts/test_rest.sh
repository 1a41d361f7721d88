#!/bin/sh
# Runs the unit tests and, at the same time, the tests on Spark, which wait more than they compute. Their output comes at the very end.
# Usage: sh scripts/test_rest.sh PYTHON WHEEL
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$here/out"
sh "$here/scripts/test_spark.sh" "$1" "$2" >"$here/out/test-spark.log" 2>&1 &
spark=$!
trap 'kill $spark 2>/dev/null; exit 130' INT TERM
make --no-print-directory -C "$here" unit
unit=$?
wait $spark
spark=$?
cat "$here/out/test-spark.log"
if [ $unit -ne 0 ]; then
  echo "Unit tests failed: see above the tests on Spark." >&2
  exit $unit
fi
exit $spark
