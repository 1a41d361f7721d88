#!/bin/sh
# Finds the duplicates of CORPUS on Apache Spark. Usage: sh scripts/spark.sh PYTHON WHEEL
# Variables: CORPUS, OUT, ALGORITHMS, MASTER (local-cluster[2,1,1024], a cluster of two workers on this machine, if unset).
set -eu
python=$1
wheel=$2
shift 2
here=$(cd "$(dirname "$0")/.." && pwd)
out=${OUT:-out/$(basename -- "$CORPUS")-spark}
JAVA_HOME=$(sh "$here/scripts/java.sh")
export JAVA_HOME PYSPARK_PYTHON="$python"
if [ -z "${MASTER:-}" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  export SPARK_LOCAL_IP=127.0.0.1 SPARK_WORKER_DIR="$work"
fi
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheel"
code=0
"$python" -m dupsift.spark run "$CORPUS" --out "$out" --overwrite --master "${MASTER:-local-cluster[2,1,1024]}" \
  ${ALGORITHMS:+--algorithms "$ALGORITHMS"} "$@" || code=$?
exit "$code"
