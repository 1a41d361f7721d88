#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["pyarrow"]
# ///
"""Counts right and wrong removals in collections whose pairs were judged by reading both texts.

    benches/lab/removals.py FOLDER [--half 0|1] [--dupsift target/release/dupsift] [OPTIONS OF dupsift run ...]

FOLDER/NAME/docs has the documents of a collection as Parquet, and FOLDER/NAME/judged.parquet its judged pairs: id_a, id_b, verdict (same,
contained, or anything else for two texts that are not duplicates), smaller (the id of the contained text) and sure (whether the reader was
sure; without this column, the reader was). No such collection is part of this repository.

Columns: documents removed, without exact copies; wrong: pairs that are surely not duplicates, if one of the documents is removed in favor
of the other, or in favor of a document that was not judged its duplicate; borderline: the same for pairs about which the reader was not
sure; right: pairs judged to be duplicates, if a document that may be removed (either document of a `same` pair, the smaller document of a
`contained` pair) is removed. --half measures half of the pairs, so that a change can be tuned on one half and read on the other.
"""

import hashlib
import tempfile
from pathlib import Path

import lab

import pyarrow.parquet as pq

GOOD = ("same", "contained")


def removed_documents(program, docs, options):
    """Returns the documents that a run removes: {id: (id of the kept document, reason)}."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        words = [program, "run", docs, "--out", out, "--no-report", "--no-progress", *options]
        lab.run(*words)
        rows = pq.read_table(out / "removed", columns=["id", "kept_id", "reason"]).to_pylist()
    return {row["id"]: (row["kept_id"], row["reason"]) for row in rows}


def half_of(row):
    """Returns the half of a judged pair, 0 or 1, by a hash of the smaller id."""
    return int(hashlib.md5(min(row["id_a"], row["id_b"]).encode()).hexdigest(), 16) % 2


def judge(judged, removed):
    """Returns (hits, pairs) of these judged pairs three times: surely different, perhaps different, and duplicates."""
    duplicates = {frozenset((row["id_a"], row["id_b"])) for row in judged if row["verdict"] in GOOD}

    def is_wrong(one):
        kept, reason = removed.get(one, (None, "copy"))
        return reason != "copy" and frozenset((one, kept)) not in duplicates

    counts = {"wrong": [0, 0], "borderline": [0, 0], "right": [0, 0]}
    for row in judged:
        both = {row["id_a"], row["id_b"]}
        if row["verdict"] in GOOD:
            may_go = {row["smaller"]} if row["verdict"] == "contained" and row["smaller"] else both
            column, hit = "right", bool(may_go & removed.keys())
        else:
            column, hit = "wrong" if row.get("sure", True) else "borderline", any(map(is_wrong, both))
        counts[column][0] += hit
        counts[column][1] += 1
    return [number for column in counts.values() for number in column]


def main():
    parser = lab.parser(__doc__)
    parser.add_argument("folder", type=Path, help="folder of collections")
    parser.add_argument("--half", type=int, choices=[0, 1], help="measure half of the judged pairs [all]")
    arguments, options = parser.parse_known_args()
    names = sorted(place.parent.name for place in arguments.folder.glob("*/judged.parquet"))
    if not names:
        parser.error(f"{arguments.folder} contains no collection; expected NAME/docs and NAME/judged.parquet in it")
    print("| collection | removed | wrong | borderline | right |\n| --- | ---: | ---: | ---: | ---: |")
    total = [0] * 7
    for name in names:
        place = arguments.folder / name
        removed = removed_documents(arguments.dupsift, place / "docs", options)
        judged = pq.read_table(place / "judged.parquet").to_pylist()
        judged = [row for row in judged if arguments.half in (None, half_of(row))]
        row = [sum(reason != "copy" for _, reason in removed.values()), *judge(judged, removed)]
        total = [before + more for before, more in zip(total, row)]
        print("| {} | {:,} | {} of {} | {} of {} | {} of {} |".format(name, *row), flush=True)
    print("| all | {:,} | {} of {} | {} of {} | {} of {} |".format(*total))


if __name__ == "__main__":
    main()
