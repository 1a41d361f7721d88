#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["pyarrow"]
# ///
"""Gives an overview of a finished run: for each algorithm, the number of pairs by score and the sizes of clusters.

OUT is the output folder of `dupsift run`. Scores are in the `similarity` column: the verified value if the algorithm checks its pairs on
the texts, otherwise the algorithm's own value. It is always 1 for algorithms with equal signatures. Cluster sizes show chaining: check a
single huge cluster with many pairs before you delete anything.

    scripts/pairs_by_score.py out/docs
"""

import argparse
from pathlib import Path

import packages

import outputs
import pyarrow.compute as pc
import pyarrow.parquet as pq

STEP = 0.05
SIZES = [(2, 2), (3, 3), (4, 5), (6, 10), (11, 100), (101, 1000), (1001, None)]
WIDTH = 40


def bar(count, most):
    return "#" * max(1, round(WIDTH * count / most)) if count else ""


def print_bars(header, counts):
    print(f"  {header}")
    most = max((count for _, count in counts), default=0)
    for name, count in counts:
        if count:
            print(f"    {name:>12}  {count:>12,}  {bar(count, most)}")


def by_score(table):
    """Returns the number of pairs by score, the highest first; 1 has its own line."""
    scores = table["similarity"].to_pylist()
    last = round(1 / STEP)
    bins = [0] * (last + 1)
    for score in scores:
        bins[last if score >= 1.0 else int(score / STEP + 1e-6)] += 1
    name = lambda number: "1" if number == last else f"{number * STEP:.2f}-{(number + 1) * STEP:.2f}"
    return [(name(number), bins[number]) for number in range(last, -1, -1)]


def by_size(table):
    """Returns the number of clusters by their number of documents."""
    sizes = table.filter(pc.field("is_representative"))["cluster_size"].to_pylist()
    fits = lambda size, low, high: size >= low and (high is None or size <= high)
    name = lambda low, high: str(low) if low == high else f"{low:,}+" if high is None else f"{low}-{high:,}"
    return [(name(low, high), sum(fits(size, low, high) for size in sizes)) for low, high in SIZES]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the output folder of a run")
    out = parser.parse_args().out
    report = outputs.record(out)
    documents, removal = report["documents"], report["removal"]
    # A comparison removes nothing.
    removed = f": {removal['kept']:,} kept, {removal['removed']:,} removed" if removal else ""
    print(f"{documents['used']:,} documents{removed}\n")
    for one in report["algorithms"]:
        print(one["recipe"])
        print_bars("pairs by score", by_score(outputs.duplicates(out, one["label"], ["similarity"])))
        print_bars("clusters by size", by_size(pq.read_table(outputs.part(out, "clusters", one["label"]), partitioning=None, columns=["cluster_size", "is_representative"])))
        if one["pairs_written"] < one["pairs"]:
            print(f"  {one['pairs'] - one['pairs_written']:,} pairs in large groups are counted, but not written (--max-group)")
        print()


if __name__ == "__main__":
    outputs.run(main)
