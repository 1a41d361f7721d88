#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["pyarrow"]
# ///
"""Shows clusters with their texts: the largest ones of an algorithm, or those that contain certain documents.

OUT is the output folder of `dupsift run`. Texts are read by row number from the input files, so documents need no ids; if the files have
moved, pass --input. The representative comes first, marked with *, followed by the other documents, the least similar first, because
these are worth checking. A document without a similarity is linked to the representative only through other documents.

    scripts/clusters.py out/docs --algorithm minhash --largest 5
    scripts/clusters.py out/docs --id en/about/index --input 'data/docs/*.parquet'
"""

import argparse
from bisect import bisect_right
from pathlib import Path

import packages

import outputs
import pyarrow.parquet as pq


def chosen(table, ids, largest):
    """Returns the clusters to show, each as the number of its first row: the largest first, and clusters of equal size in table order."""
    # The rows of a cluster are consecutive. Ids cannot distinguish clusters, because two documents may have the same id.
    sizes, starts, at = table["cluster_size"].to_pylist(), [], 0
    while at < len(sizes):
        starts.append(at)
        at += sizes[at]
    if ids:
        # Ids of any type are typed as text. Bytes are typed as UTF-8 or in hexadecimal digits, like 0xff01.
        wanted, shown = set(ids), [outputs.name(value) for value in table["id"].to_pylist()]
        rows = [row for row, value in enumerate(shown) if value in wanted]
        for missing in sorted(wanted - {shown[row] for row in rows}):
            outputs.fail(f"{missing!r} is in no cluster of this algorithm: it has no duplicates, or the id is not in the corpus")
        return list(dict.fromkeys(starts[bisect_right(starts, row) - 1] for row in rows))
    return sorted(starts, key=lambda start: (-sizes[start], start))[:largest]


def documents(table, start, most):
    """Returns the size of the cluster that begins in this row, and the documents to show, the representative first."""
    rows = table.slice(start, table["cluster_size"][start].as_py()).to_pylist()
    far = lambda row: (not row["is_representative"], -1 if row["similarity_to_representative"] is None else row["similarity_to_representative"], row["doc"])
    return len(rows), sorted(rows, key=far)[:most]


def texts(files, column, docs):
    """Returns the texts of these documents; files without any of them are not opened."""
    files = [file for file in files if any(file[3] <= doc < file[3] + file[2] for doc in docs)]
    return {number: value for number, (value,) in outputs.rows(files, [column]) if number in docs}


def whole(text):
    return text.decode(errors="replace") if isinstance(text, bytes) else text or ""


def plain(text, length):
    line = " ".join(whole(text).split())
    return outputs.visible(line if len(line) <= length else line[:length] + " ...")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the output folder of a run")
    parser.add_argument("--input", nargs="+", metavar="GLOB", help="input files of the run, if they have moved")
    parser.add_argument("--algorithm", metavar="A", help="algorithm whose clusters to show [the first of the run]")
    parser.add_argument("--id", nargs="+", metavar="ID", help="show the clusters that contain these documents")
    parser.add_argument("--largest", type=int, default=10, metavar="N", help="otherwise, show the N largest [10]")
    parser.add_argument("--documents", type=int, default=5, metavar="N", help="documents to show per cluster [5]")
    parser.add_argument("--chars", type=int, default=200, metavar="N", help="characters to show per text [200]")
    parser.add_argument("--json", action="store_true", help="print JSON with complete texts")
    arguments = parser.parse_args()
    for option in ("largest", "documents", "chars"):
        if getattr(arguments, option) < 1:
            parser.error(f"--{option}: expected a number of at least 1")
    report = outputs.record(arguments.out)
    label = outputs.algorithm(report, arguments.algorithm)["label"]
    table = pq.read_table(outputs.part(arguments.out, "clusters", label), partitioning=None)
    shown = [documents(table, start, arguments.documents) for start in chosen(table, arguments.id, arguments.largest)]
    docs = {row["doc"] for _, rows in shown for row in rows}
    found = texts(outputs.corpus_files(report, arguments.input), report["options"]["text-column"], docs)
    if arguments.json:
        document = lambda row: {"id": outputs.name(row["id"]), "doc": row["doc"], "similarity": row["similarity_to_representative"], "text": whole(found[row["doc"]])}
        outputs.print_json([{"cluster": outputs.name(rows[0]["cluster_id"]), "size": size, "documents": [document(row) for row in rows]} for size, rows in shown])
        return
    for size, rows in shown:
        print(f"{label}: cluster {outputs.visible(outputs.name(rows[0]['cluster_id']))} of {size:,} documents")
        for row in rows:
            score = row["similarity_to_representative"]
            mark = "*" if row["is_representative"] else "-" if score is None else f"{score:.3f}"
            print(f"  {mark:>5}  {outputs.visible(outputs.name(row['id']))}\n         {plain(found[row['doc']], arguments.chars)}")
        if size > len(rows):
            print(f"         and {size - len(rows):,} more (--documents)")
        print()
    if not shown:
        print(f"{label}: no clusters")


if __name__ == "__main__":
    outputs.run(main)
