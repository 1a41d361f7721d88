#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["pyarrow"]
# ///
"""Applies a higher threshold without a new run: writes clusters and removals from the pairs of one algorithm with similarity T or more.

OUT is the output folder of `dupsift run`. The rules are those of the run, as in its record. In the order of --keep, a document is removed if
it may be removed in favor of a document kept before it, and kept otherwise. It may be removed in favor of a document that it forms a pair
with; with --remove-if contained, only if that document contains enough of it. --remove-if overrides the run's rule. --chain remove keeps
one document per cluster. Only the pairs of algorithm A decide, as with --decide A. DIR receives clusters.parquet and removed.parquet, with
the columns of clusters/ and removed/.

The result is limited to the data that the run wrote. The run has no pairs below its own threshold, so T can only be raised. Containment is
known only for pairs that were checked on the texts or considered for removal; a document is not removed if the containment is unknown. The
similarity of equal signatures is always 1. For groups above --max-group, only the pairs with the representative exist. Lengths and other
columns that --keep needs are read from the input files, or from --input. The pairs are held in memory.

    scripts/rethreshold.py out/docs --algorithm minhash --threshold 0.9 --to out/strict
"""

import argparse
import re
import struct
from pathlib import Path
from typing import NamedTuple

import packages

import outputs
import pyarrow as pa
import pyarrow.parquet as pq

# A document is compared with this many of its kept partners, most similar partners first.
MOST_LOOKED_AT = 20


def check_threshold(one, table, threshold):
    """Exits, or prints a note, if the run has too little information for this threshold."""
    checked = re.search(r":(\d*\.?\d+)(?: |$)", one["verify"] or "")
    own = checked and float(checked[1])
    lowest = min(table["similarity"].to_pylist(), default=None)
    if own is not None and threshold < own:
        outputs.fail(f"--threshold {threshold}: this run checked {one['label']} by {one['verify']} and has no pairs below {own}; run again with a lower threshold")
    if lowest == 1.0:
        print(f"note: all pairs of {one['label']} have the similarity 1, so a threshold has no effect")
    elif own is None and lowest is not None and threshold < lowest:
        print(f"note: the lowest similarity of these pairs is {lowest:.3f}; pairs below it were not searched for")
    if re.search(r"\bmargin=0?\.?0*[1-9]", one["recipe"]):
        print("note: the margin was applied at the run's own threshold; only the remaining pairs are used")
    if one["relations"]:
        print("note: template pairs were classified at the run's own threshold and are skipped")
    if one["pairs_written"] < one["pairs"]:
        print(f"note: {one['pairs'] - one['pairs_written']:,} pairs in groups above --max-group are not written; without them, more documents may be kept")


class Pair(NamedTuple):
    """Holds a pair, seen from one of its documents."""

    similarity: float
    """Whether the texts are equal."""
    copy: bool
    """The share of its 3-grams, and of its numbers, that the other contains; None if it was not checked."""
    contained: float | None
    numbers: float | None
    """Whether the titles refer to different things, so that neither document is removed in favor of the other."""
    other_title: bool | None


def neighbours(table, threshold):
    """Returns document -> {document: Pair}, document -> id, and the number of rows used. The table pairs each copy with one document
    with its text, and different texts by one document each; the result has pairs of all their documents."""
    linked, ids, rows = {}, {}, []
    columns = ["id_a", "id_b", "similarity", "matched_by", "doc_a", "doc_b", "contained_a", "contained_b", "numbers_a", "numbers_b", "other_title"]
    for batch in table.select(columns).to_batches(max_chunksize=outputs.BATCH_ROWS):
        for id_a, id_b, similarity, matched_by, a, b, of_a, of_b, numbers_a, numbers_b, other in zip(*(column.to_pylist() for column in batch.columns)):
            if similarity >= threshold:
                ids[a], ids[b] = id_a, id_b
                copy = "copy" in matched_by.split("+")
                rows.append((a, b, Pair(similarity, copy, of_a, numbers_a, other), Pair(similarity, copy, of_b, numbers_b, other)))
    equal = {}
    for a, b, pair, _ in rows:
        if pair.copy:
            equal.setdefault(a, {})[b] = equal.setdefault(b, {})[a] = pair
    first = components(equal)
    copies = {}
    for doc in sorted(first):
        copies.setdefault(first[doc], []).append(doc)
    of_text = lambda doc: copies[first[doc]] if doc in first else [doc]
    for a, b, of_a, of_b in rows:
        for x in of_text(a):
            for y in of_text(b):
                if x != y:
                    linked.setdefault(x, {})[y], linked.setdefault(y, {})[x] = of_a, of_b
    return linked, ids, len(rows)


def components(linked):
    """Returns document -> the smallest document in its cluster."""
    first = {}
    for start in sorted(linked):
        if start not in first:
            first[start], waiting = start, [start]
            while waiting:
                for doc in linked[waiting.pop()]:
                    if doc not in first:
                        first[doc] = start
                        waiting.append(doc)
    return first


def clusters(first, order, linked, ids):
    best, members = {}, {}
    for doc in order:
        best.setdefault(first[doc], doc)
        members.setdefault(first[doc], []).append(doc)
    for root in sorted(members):
        head = best[root]
        for doc in sorted(members[root]):
            similarity = 1.0 if doc == head else linked[doc][head].similarity if head in linked[doc] else None
            yield ids[doc], ids[head], len(members[root]), doc == head, similarity, doc


def bounds(typed):
    """Returns the shares in `contained:T[:N]` with 32 bits, as in tables; None for `pair`."""
    rule, *shares = typed.split(":")
    try:
        shares = [single(float(share)) for share in shares]
    except ValueError:
        shares = []
    if typed == "pair":
        return None
    if rule != "contained" or len(shares) not in (1, 2) or not all(0 <= share <= 1 for share in shares):
        outputs.fail(f"--remove-if {typed}: expected pair, or contained:T or contained:T:N with shares from 0 to 1")
    return shares if len(shares) == 2 else [*shares, single(0.9)]


def single(number):
    """Rounds a number to 32 bits, as in tables: 7 / 10 becomes a little less than 0.7."""
    return struct.unpack("f", struct.pack("f", number))[0]


def chosen(partners, rank, least):
    """Returns the partner that is kept instead of a document, or None if the document is kept."""
    if least is None:
        return min(partners, key=rank.get, default=None)
    partners = {other: pair for other, pair in partners.items() if not pair.other_title}
    near = sorted(partners, key=lambda other: (-partners[other].similarity, rank[other]))[:MOST_LOOKED_AT]
    best = None
    for other in near:
        pair = partners[other]
        if pair.copy:
            return other
        enough = pair.contained is not None and pair.contained >= least[0] and pair.numbers >= least[1]
        if enough and (best is None or pair.contained > partners[best].contained):
            best = other
    return best


def removals(first, order, linked, chain, least):
    """Returns removed document -> kept document."""
    removed, kept, heads = {}, set(), {}
    rank = {doc: place for place, doc in enumerate(order)}
    for doc in order:
        if chain:
            better = heads.setdefault(first[doc], doc)
            if better != doc:
                removed[doc] = better
            continue
        better = chosen({other: pair for other, pair in linked[doc].items() if other in kept}, rank, least)
        if better is None:
            kept.add(doc)
        else:
            removed[doc] = better
    return removed


def write(path, like, rows):
    """Writes a table with the same columns as a table of the run."""
    schema = pq.read_schema(like)
    columns = list(zip(*rows)) or [[] for _ in schema.names]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema)]
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), path, compression="zstd")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the output folder of a run")
    parser.add_argument("--algorithm", required=True, metavar="A", help="algorithm whose pairs to use")
    parser.add_argument("--threshold", required=True, type=float, metavar="T", help="minimum similarity, 0 to 1")
    parser.add_argument("--remove-if", metavar="RULE", help="when a document is removed: pair, or contained:T[:N] [the run's rule]")
    parser.add_argument("--to", required=True, type=Path, metavar="DIR", help="folder for the two tables; created if it does not exist")
    parser.add_argument("--input", nargs="+", metavar="GLOB", help="input files of the run, if they have moved")
    arguments = parser.parse_args()
    if not 0 <= arguments.threshold <= 1:
        parser.error("--threshold: expected a number from 0 to 1")
    out, report = arguments.out, outputs.record(arguments.out)
    if not report["removal"]:
        outputs.fail(f"{out} is the output of dupsift compare, which removes nothing; expected the output of dupsift run")
    one = outputs.algorithm(report, arguments.algorithm)
    files = outputs.corpus_files(report, arguments.input)
    table = outputs.duplicates(out, one["label"], None)
    check_threshold(one, table, arguments.threshold)
    linked, ids, pairs = neighbours(table, single(arguments.threshold))
    order = outputs.preferred(set(ids), report, files)
    first = components(linked)
    chain = report["options"]["chain"] == "remove"
    least = None if chain else bounds(arguments.remove_if or report["options"].get("remove-if", "pair"))
    removed = removals(first, order, linked, chain, least)

    def removal(doc):
        kept = removed[doc]
        pair = linked[doc].get(kept)
        keep = report["options"]["keep"]
        if pair is None:
            return ids[doc], ids[kept], None, "", "chain", keep, doc, kept, None, None
        shares = (None, None) if least is None else (pair.contained, pair.numbers)
        return ids[doc], ids[kept], pair.similarity, one["label"], "copy" if pair.copy else "pair", keep, doc, kept, *shares

    arguments.to.mkdir(parents=True, exist_ok=True)
    write(arguments.to / "clusters.parquet", outputs.part(out, "clusters", one["label"]), clusters(first, order, linked, ids))
    write(arguments.to / "removed.parquet", outputs.part(out, "removed"), map(removal, sorted(removed)))
    print(f"{one['label']} from {arguments.threshold}: {pairs:,} of {table.num_rows:,} pairs, {len(set(first.values())):,} clusters, {len(removed):,} documents to remove")
    print(f"written: {arguments.to}/clusters.parquet, {arguments.to}/removed.parquet")


if __name__ == "__main__":
    outputs.run(main)
