#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy", "pyarrow"]
# ///
"""From the removal list of a run to a filtered dataset: the corpus without the removed rows, all columns untouched.

OUT is the output folder of `dupsift run`. DIR gets one Parquet file for each file of the corpus, named as Hugging Face names them, and
is read as a dataset with one split:

    datasets.load_dataset("DIR")
    datasets.load_dataset("parquet", data_files="DIR/data/*.parquet")

Rows go by their number, so a corpus without ids works as well. Rows that the run rejected (no text) are not duplicates and stay,
unless --drop-rejected is given. The files are streamed; memory is a byte a row of the corpus, and a row group. --removed takes
another removal list with a column doc, such as that of rethreshold.py. --list writes the ids of what is kept, FILE#ROW for
rows without one: a column id where FILE ends in .parquet, else one a line, bytes that are not UTF-8 like 0xff01. An id with
an end of line in it fits into a Parquet file only. Where ids repeat, a list of them says too little: take --to, which goes by row.

    scripts/keep_list.py out/docs --to data/docs-deduped
    scripts/keep_list.py out/docs --corpus data/docs --list keep.txt
"""

import argparse
import os
import shutil
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import outputs
import pyarrow as pa
import pyarrow.parquet as pq

# Of a list of ids.
ROWS_A_GROUP = 1 << 18


def gone(out, files, removed, drop_rejected):
    """A flag for each row of the corpus: whether it goes."""
    rows = sum(count for _, _, count, _ in files)
    flags = np.zeros(rows, dtype=bool)
    for batch in pq.ParquetFile(removed).iter_batches(columns=["doc"]):
        docs = batch.column("doc").to_numpy()
        if len(docs) and not 0 <= docs.min() <= docs.max() < rows:
            outputs.fail(f"{removed} names the row {docs.max()}, but the corpus has {rows}; it belongs to another run")
        flags[docs] = True
    if drop_rejected:
        first = {name: first for _, name, _, first in files}
        for row in pq.read_table(outputs.part(out, "rejected"), columns=["file", "row"]).to_pylist():
            if row["row"] is not None:
                flags[first[row["file"]] + row["row"]] = True
    return flags


def write_dataset(files, flags, folder):
    """Streams each file without its flagged rows, under a hidden name that is renamed at the end."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        outputs.fail(f"{folder} is there already; expected a folder that is not there yet or empty as --to")
    for path, *_ in files:
        if path.suffix.lower() != ".parquet":
            outputs.fail(f"{path} is no Parquet file, which is what a dataset can be made of; use --list for its ids")
    partial = folder.parent / f".{folder.name}.partial-{os.getpid()}"
    try:
        (partial / "data").mkdir(parents=True)
        for number, (path, _, count, first) in enumerate(files):
            source = pq.ParquetFile(path)
            name = f"train-{number:05}-of-{len(files):05}.parquet"
            with pq.ParquetWriter(partial / "data" / name, source.schema_arrow, compression="zstd") as writer:
                at = 0
                # Rows beyond the --limit of the run were not looked at, and stay.
                for batch in source.iter_batches(outputs.BATCH_ROWS):
                    goes = np.zeros(batch.num_rows, dtype=bool)
                    known = flags[first + min(at, count) : first + min(at + batch.num_rows, count)]
                    goes[: len(known)] = known
                    writer.write_batch(batch.filter(pa.array(~goes)))
                    at += batch.num_rows
        if folder.exists():
            folder.rmdir()
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def kept_ids(files, flags, column):
    names = {first: name for _, name, _, first in files}
    name, begin = None, 0
    for doc, (value,) in outputs.rows(files, [column]):
        if doc in names:
            name, begin = names[doc], doc
        if not flags[doc]:
            yield f"{name}#{doc - begin}" if value is None else value


def write_list(ids, path, kind):
    """Under a hidden name that is renamed at the end, so that no half of a list stands there."""
    if not path.parent.is_dir():
        outputs.fail(f"{path.parent} is not there; expected a folder that is there for --list")
    partial = path.parent / f".{path.name}.partial-{os.getpid()}"
    try:
        if path.suffix == ".parquet":
            write_table(ids, partial, kind)
        else:
            write_lines(ids, partial)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_lines(ids, path):
    # Half of a pair of code units, which JSON can spell, has no UTF-8.
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as lines:
        for value in map(outputs.name, ids):
            if "\n" in value or "\r" in value:
                outputs.fail(f"the id {value!r} has an end of line in it, and a list has one id a line; expected a FILE that ends in .parquet")
            lines.write(value + "\n")


def kind_of(ids, report):
    """The type that the run wrote its ids in; text where numbers would stand beside the made name of a rejected row."""
    kind = {"Int32": pa.int32(), "Int64": pa.int64(), "Bytes": pa.binary()}.get(report["ids"]["written_as"], pa.string())
    mixed = pa.types.is_integer(kind) and report["documents"]["rejected"] and any(isinstance(value, str) for value in ids)
    return pa.string() if mixed else kind


def write_table(ids, path, kind):
    as_bytes = lambda value: value.encode() if isinstance(value, str) else value
    convert = outputs.name if kind == pa.string() else as_bytes if kind == pa.binary() else int
    with pq.ParquetWriter(path, pa.schema([("id", kind)]), compression="zstd") as writer:
        while some := list(islice(ids, ROWS_A_GROUP)):
            writer.write_batch(pa.record_batch([pa.array(map(convert, some), kind)], names=["id"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the output folder of a run")
    parser.add_argument("--corpus", nargs="+", metavar="GLOB", help="where the files of the run are [where it read them]")
    parser.add_argument("--to", type=Path, metavar="DIR", help="the folder of the dataset, not there yet")
    parser.add_argument("--list", type=Path, metavar="FILE", help="the ids of what is kept")
    parser.add_argument("--removed", type=Path, metavar="FILE", help="another removal list [that of the run]")
    parser.add_argument("--drop-rejected", action="store_true", help="leave out the rows that the run rejected, too")
    arguments = parser.parse_args()
    if not (arguments.to or arguments.list):
        parser.error("nothing to write; expected --to DIR, --list FILE, or both")
    report = outputs.record(arguments.out)
    files = outputs.corpus_files(report, arguments.corpus)
    if not (arguments.removed or report["removal"]):
        outputs.fail(f"{arguments.out} is the output of dupsift compare, which removes nothing; expected that of dupsift run, or --removed FILE")
    removed = arguments.removed or outputs.part(arguments.out, "removed")
    if not removed.is_file():
        outputs.fail(f"{removed} is not there; expected a Parquet file with a column doc")
    flags = gone(arguments.out, files, removed, arguments.drop_rejected)
    if arguments.to:
        write_dataset(files, flags, arguments.to)
        print(f"{len(flags) - flags.sum():,} of {len(flags):,} rows, files: {len(files)}, in {arguments.to}/data")
        print(f'in Python: datasets.load_dataset("{arguments.to}")')
    if arguments.list:
        ids = lambda: kept_ids(files, flags, report["options"]["id-column"])
        write_list(ids(), arguments.list, kind_of(ids(), report))
        print(f"{len(flags) - flags.sum():,} ids: {arguments.list}")
        if repeated := report["ids"]["duplicates"]:
            print(
                f"warning: {repeated:,} rows carry an id that stood before: a list of ids cannot tell a kept one from a removed one "
                "of the same id; --to goes by row",
                file=sys.stderr,
            )


if __name__ == "__main__":
    outputs.run(main)
