#!/bin/sh
# Runs all checks and tests. Checks that wait for the network or for Java run in parallel with the rest; their output is printed at the end.
# Usage, from the Makefile: sh scripts/test.sh FRAMES_PYTHON SPARK_PYTHON
set -u
frames=$1
spark=$2
cd "$(dirname "$0")/.." || exit 1
mkdir -p out
rm -f out/test-failed

# Clippy runs while pip waits for the network.
make --no-print-directory environments >out/test-environments.log 2>&1 &
environments=$!
trap 'kill $environments 2>/dev/null; exit 130' INT TERM
make --no-print-directory lint || { kill $environments 2>/dev/null; exit 1; }
wait $environments || { cat out/test-environments.log; exit 1; }
make --no-print-directory wheel || exit 1

for wheel in dist/dupsift-*.whl; do :; done
wheel=$PWD/$wheel
{
  sh scripts/test_wheel.sh "$frames" "$wheel" >out/test-wheel.log 2>&1 || echo "the wheel's tests" >out/test-failed
  sh scripts/test_spark.sh "$spark" "$wheel" >out/test-spark.log 2>&1 || echo "the tests on Spark" >>out/test-failed
} &
beside=$!
trap 'kill $beside 2>/dev/null; exit 130' INT TERM

make --no-print-directory unit || unit=failed
# Instructions do not depend on what else runs. In CI nothing may be left out.
if command -v valgrind >/dev/null || [ -n "${CI:-}" ]; then
  make --no-print-directory instructions ARGS='--only "exact;minhash;simhash"' || instructions=failed
else
  echo "notice: instructions were not counted, because valgrind is missing: apt-get install valgrind" >&2
fi
wait $beside
cat out/test-wheel.log out/test-spark.log
[ -z "${instructions:-}" ] || echo "the count of instructions: see above those of the wheel and on Spark" >>out/test-failed
[ -z "${unit:-}" ] || echo "the unit tests: see above those of the wheel and on Spark" >>out/test-failed
if [ -e out/test-failed ]; then
  sed 's/^/FAILED: /' out/test-failed >&2
  exit 1
fi
