#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["duckdb", "pyarrow"]
# ///
"""Shows how far the algorithms of a run agree: pairs in common, the share of A's pairs that B finds, and the Jaccard similarity of the sets.

OUT is the output folder of `dupsift run`. In the second table, rows are A and columns are B: 1.00 means that B finds every pair that A
finds. `alone` counts the pairs that no other algorithm finds. In groups above --max-group, only the written pairs are counted. DuckDB does
the counting, so the pairs may exceed memory.

    scripts/overlap.py out/docs
"""

import argparse
import json
from pathlib import Path

import packages

import duckdb
import outputs


def counts(out, labels):
    """Returns {(A, B): pairs in common} and {A: pairs that only A has}."""
    files = [str(outputs.part(out, "pairs", label)) for label in labels]
    read = "SELECT parse_path(filename)[-2][11:] AS algorithm, doc_a, doc_b FROM read_parquet($files, hive_partitioning = false, filename = true) WHERE relation IS DISTINCT FROM 'template'"
    # Folders are named algorithm=LABEL.
    connection = duckdb.connect()
    connection.execute(f"CREATE TEMP TABLE pairs AS {read}", {"files": files})
    common = "SELECT x.algorithm, y.algorithm, count(*) FROM pairs x JOIN pairs y USING (doc_a, doc_b) GROUP BY ALL"
    alone = "SELECT any_value(algorithm) AS one, doc_a, doc_b FROM pairs GROUP BY doc_a, doc_b HAVING count(*) = 1"
    in_common = {(a, b): count for a, b, count in connection.execute(common).fetchall()}
    by_one = dict(connection.execute(f"SELECT one, count(*) FROM ({alone}) GROUP BY one").fetchall())
    matrix = {a: {b: in_common.get((a, b), 0) for b in labels} for a in labels}
    return matrix, {label: by_one.get(label, 0) for label in labels}


def over(part, whole):
    return part / whole if whole else None


def shares(matrix):
    return {a: {b: over(matrix[a][b], matrix[a][a]) for b in matrix} for a in matrix}


def jaccard(matrix):
    return {a: {b: over(matrix[a][b], matrix[a][a] + matrix[b][b] - matrix[a][b]) for b in matrix} for a in matrix}


def print_matrix(title, matrix, show):
    print(title)
    width = max(map(len, matrix))
    columns = {b: max(len(b), *(len(show(matrix[a][b])) for a in matrix)) for b in matrix}
    print(" " * width, *(f"{b:>{columns[b]}}" for b in matrix), sep="  ")
    for a in matrix:
        print(f"{a:<{width}}", *(f"{show(matrix[a][b]):>{columns[b]}}" for b in matrix), sep="  ")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the output folder of a run")
    parser.add_argument("--algorithms", help="only these, separated by commas [all of the run]")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    arguments = parser.parse_args()
    report = outputs.record(arguments.out)
    asked = arguments.algorithms.split(",") if arguments.algorithms else [one["label"] for one in report["algorithms"]]
    chosen = [outputs.algorithm(report, label) for label in dict.fromkeys(asked)]
    labels = [one["label"] for one in chosen]
    common, alone = counts(arguments.out, labels)
    if arguments.json:
        print(json.dumps({"common": common, "alone": alone, "share": shares(common), "jaccard": jaccard(common)}, indent=1))
        return
    figure = lambda value: "-" if value is None else f"{value:.2f}"
    print_matrix("pairs in common", common, lambda count: f"{count:,}")
    print_matrix("share of each row's pairs that the column also finds", shares(common), figure)
    print_matrix("Jaccard of the sets of pairs", jaccard(common), figure)
    print("found by only one algorithm: " + ", ".join(f"{label} {count:,}" for label, count in alone.items()))
    for one in chosen:
        if one["pairs_written"] < one["pairs"]:
            print(f"{one['label']}: {one['pairs'] - one['pairs_written']:,} pairs in large groups are not written (--max-group)")


if __name__ == "__main__":
    outputs.run(main)
