#!/usr/bin/env python3
"""Generates a corpus of difficult files, and compares it with the output of `run --corpus keep,drop`.

usage: corpus.py make DIR          writes Parquet and JSON lines with copies, null texts and columns of many kinds
       corpus.py check DIR OUT     checks that every row of DIR is in OUT/deduped, OUT/dropped or OUT/rejected, in order and with the same
                                   values; that files without removed rows keep their bytes; and that schemas, metadata and codecs are equal
       corpus.py marks DIR OUT     checks that OUT/attributes agrees with the tables about each row
       corpus.py read OUT ROWS     checks that pyarrow, polars and duckdb read this many rows from OUT/deduped/**/*.parquet

needs: pyarrow polars duckdb
"""

import datetime
import decimal
import gzip
import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 240
GROUP = 40


def text(row: int, file: str) -> str | None:
    """Returns the text of a row: copies are in the second and fourth row groups, null texts in the third; other groups lose no row."""
    if row // GROUP == 2 and row % 7 == 0:
        return None
    if row // GROUP in (1, 3) and row % 3 == 0:
        return f"the same text in many rows of {file}"
    return f"a text of its own in {file}, number {row} " + "and some more words " * (row % 50)


def rich(base: int, file: str) -> pa.Table:
    rows = range(base, base + ROWS)
    field = lambda name, kind, number: pa.field(name, kind, metadata={"PARQUET:field_id": str(number), "about": name})
    point = pa.struct([pa.field("x", pa.float32()), pa.field("tags", pa.list_(pa.string())), pa.field("n", pa.int16())])
    schema = pa.schema(
        [
            field("id", pa.string(), 7),
            field("text", pa.large_string(), 3),
            field("word", pa.dictionary(pa.int32(), pa.string()), 4),
            field("price", pa.decimal128(20, 4), 5),
            field("small", pa.decimal128(5, 2), 9),
            field("when", pa.timestamp("ns"), 11),
            field("day", pa.date32(), 12),
            field("flag", pa.bool_(), 13),
            field("raw", pa.binary(5), 14),
            field("pages", pa.binary(), 15),
            field("points", pa.list_(point), 16),
            field("deep", pa.struct([pa.field("inner", pa.struct([pa.field("maps", pa.map_(pa.string(), pa.list_(pa.int64())))]))]), 17),
            field("half", pa.float16(), 18),
            field("count", pa.uint64(), 19),
            field("empty", pa.null(), 20),
        ],
        metadata={"owner": "a team", "note": "kept"},
    )
    null = lambda row, value: None if row % 11 == 4 else value
    columns = [
        [f"d{row}" for row in rows],
        [text(row, file) if base == 0 else f"{base} of its own {row}" for row in rows],
        pa.array([null(row, f"w{row % 5}") for row in rows]).dictionary_encode(),
        [null(row, decimal.Decimal(row * 10001).scaleb(-4)) for row in rows],
        [decimal.Decimal(row % 1000).scaleb(-2) for row in rows],
        [null(row, datetime.datetime(2026, 11, 1) + datetime.timedelta(seconds=row)) for row in rows],
        [datetime.date(2026, 1, 1) + datetime.timedelta(days=row) for row in rows],
        [null(row, row % 3 == 0) for row in rows],
        [bytes([row % 256] * 5) for row in rows],
        [null(row, bytes([row % 251]) * (row * 17 % 900)) for row in rows],
        [null(row, [{"x": row / 3, "tags": [str(row)] * (at % 3), "n": None if at == 1 else row % 300} for at in range(row % 4)]) for row in rows],
        [{"inner": null(row, {"maps": [(str(at), [row] * at) for at in range(row % 5)]})} for row in rows],
        pa.array([row / 2 for row in rows], pa.float32()).cast(pa.float16()),
        [2**63 + row for row in rows],
        [None] * ROWS,
    ]
    arrays = [column if isinstance(column, pa.Array) else pa.array(column, kind.type) for column, kind in zip(columns, schema)]
    return pa.Table.from_arrays(arrays, schema=schema)


def line(row: int, file: str) -> str:
    return json.dumps({"id": f"{file}{row}", "text": text(row, file), "more": [row, None]}, ensure_ascii=row % 2 == 0)


def make(folder: Path) -> None:
    (folder / "lang=ru").mkdir(parents=True)
    common = dict(row_group_size=GROUP, use_deprecated_int96_timestamps=True)
    codecs = {"id": "zstd", "text": "snappy", "word": "none", "pages": "gzip", "raw": "brotli"}
    sorting = [pq.SortingColumn(0), pq.SortingColumn(1, descending=True, nulls_first=True)]
    pq.write_table(
        rich(0, "a"), folder / "a.parquet", compression=codecs, write_page_index=True, sorting_columns=sorting,
        data_page_size=400, write_batch_size=8, **common,
    )
    pq.write_table(
        rich(0, "b"), folder / "lang=ru" / "b.parquet", compression="zstd", data_page_version="2.0", version="2.6", use_dictionary=["word"],
        column_encoding={"count": "DELTA_BINARY_PACKED", "text": "DELTA_LENGTH_BYTE_ARRAY", "id": "DELTA_BYTE_ARRAY"},
        write_statistics=["id"], write_page_checksum=True, **common,
    )
    pq.write_table(rich(100_000, "whole"), folder / "lang=ru" / "whole.parquet", **common)
    # Blank lines, a byte order mark, two kinds of line ends, and no line end after the last line.
    lines = lambda file: "\ufeff" + "".join(
        line(row, file) + ("\r\n" if row % 4 else "\n\n") for row in range(ROWS)
    ) + line(ROWS, file)
    (folder / "c.jsonl").write_bytes(lines("c").encode())
    (folder / "d.jsonl.gz").write_bytes(gzip.compress(lines("d").encode()))
    with pa.CompressedOutputStream(str(folder / "e.jsonl.zst"), "zstd") as file:
        file.write(lines("e").encode())


def fates(folder: Path, out: Path) -> tuple[dict[str, set[int]], dict[str, set[int]]]:
    """Returns the removed rows and the rejected rows of each file."""
    record = json.loads((out / "run.json").read_text())
    starts, next_doc = [], 0
    for file in record["inputs"]:
        starts.append((next_doc, file["file"]))
        next_doc += file["rows"]
    removed = {name: set() for _, name in starts}
    for doc in pq.read_table(out / "removed")["doc"].to_pylist():
        start, name = max(known for known in starts if known[0] <= doc)
        removed[name].add(doc - start)
    rejected = {name: set() for _, name in starts}
    for row in pq.read_table(out / "rejected").to_pylist():
        rejected[row["file"]].add(row["row"])
    corpus = record["corpus"]
    assert corpus["rows"] == corpus["kept"] + corpus["removed"] + corpus["rejected"] == next_doc, corpus
    for file in record["inputs"]:
        assert (file["removed"], file["rejected"]) == (len(removed[file["file"]]), len(rejected[file["file"]])), file
    return removed, rejected


def plain(table: pa.Table) -> pa.Table:
    """Returns the same values without dictionaries, because their order may differ."""
    words = [name for name in table.column_names if pa.types.is_dictionary(table[name].type)]
    for name in words:
        table = table.set_column(table.schema.get_field_index(name), name, table[name].cast(pa.string()))
    return table.combine_chunks()


def check_parquet(source: Path, copy: Path, rows: list[int]) -> None:
    whole, part = pq.ParquetFile(source), pq.ParquetFile(copy)
    expected = whole.read().take(pa.array(rows, pa.int64()))
    found = part.read()
    found.validate(full=True)
    assert plain(found).equals(plain(expected)), f"{copy}: other values"
    assert found.schema.equals(expected.schema, check_metadata=True), f"{copy}: another schema"
    # The first line contains a memory address.
    said = [str(file.schema).split("\n", 1)[1] for file in (part, whole)]
    assert part.schema.equals(whole.schema) and said[0] == said[1], f"{copy}: another Parquet schema"
    assert part.metadata.metadata == whole.metadata.metadata, f"{copy}: other metadata"
    for group in range(part.metadata.num_row_groups):
        ours, theirs = part.metadata.row_group(group), whole.metadata.row_group(0)
        assert ours.sorting_columns == theirs.sorting_columns, f"{copy}: other sorting columns"
        for at in range(ours.num_columns):
            one, other = ours.column(at), theirs.column(at)
            assert one.compression == other.compression, f"{copy}: {one.path_in_schema} in {one.compression}"
            assert one.has_dictionary_page == other.has_dictionary_page, f"{copy}: dictionary of {one.path_in_schema}"
            assert one.is_stats_set == other.is_stats_set, f"{copy}: statistics of {one.path_in_schema}"


def lines_of(path: Path) -> list[bytes]:
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    if path.suffix == ".zst":
        data = pa.input_stream(str(path), compression="zstd").read()
    return [line for line in data.removeprefix(b"\xef\xbb\xbf").splitlines(keepends=True) if line.strip()]


def check(folder: Path, out: Path) -> None:
    removed, rejected = fates(folder, out)
    for name in removed:
        source = folder / name
        lines = None if source.suffix == ".parquet" else lines_of(source)
        rows = len(lines) if lines is not None else pq.read_metadata(source).num_rows
        kept = [row for row in range(rows) if row not in removed[name] and row not in rejected[name]]
        for copy, chosen in [(out / "deduped" / name, kept), (out / "dropped" / name, sorted(removed[name]))]:
            if not chosen:
                assert not copy.exists(), f"{copy} has no rows"
            elif len(chosen) == rows:
                assert copy.read_bytes() == source.read_bytes(), f"{copy} loses nothing, and is another file"
            elif lines is None:
                check_parquet(source, copy, chosen)
            else:
                assert lines_of(copy) == [lines[row] for row in chosen], f"{copy}: other lines"
        print(name, rows, "rows,", len(removed[name]), "removed,", len(rejected[name]), "rejected")
    groups = [pq.ParquetFile(path).metadata.row_group(0) for path in (folder / "a.parquet", out / "deduped" / "a.parquet")]
    first, copied = ([group.column(at).total_compressed_size for at in range(group.num_columns)] for group in groups)
    assert first == copied, "a row group that loses nothing keeps its chunks"


def marks(folder: Path, out: Path) -> None:
    """Compares the attributes with the tables: removed rows and the reasons, clusters, and copies."""
    removed, rejected = fates(folder, out)
    record = json.loads((out / "run.json").read_text())
    why = {row["doc"]: row for row in pq.read_table(out / "removed").to_pylist()}
    clusters = {row["doc"]: row for row in pq.read_table(out / "clusters").to_pylist()}
    reasons = {(row["file"], row["row"]): row["reason"] for row in pq.read_table(out / "rejected").to_pylist()}
    doc, seen = 0, 0
    for file in record["inputs"]:
        rows = pq.read_table(out / "attributes" / (file["file"].removesuffix(".parquet") + ".parquet")).to_pylist()
        assert len(rows) == file["rows"], file
        for at, row in enumerate(rows):
            alone = {"cluster_id": row["id"], "cluster_size": 1, "is_representative": True}
            cluster = clusters.get(doc, alone)
            known = why.get(doc)
            expected = {
                "doc": doc, "removed": None if at in rejected[file["file"]] else known is not None,
                "kept_id": known["kept_id"] if known else row["id"],
                "reason": reasons.get((file["file"], at)) or (known["reason"] if known else None),
                **{name: cluster[name] for name in alone},
                # With exact copies only, a cluster consists of the copies of one text.
                "copies": cluster["cluster_size"],
            }
            assert {name: row[name] for name in expected} == expected, (row, expected)
            doc, seen = doc + 1, seen + (row["cluster_size"] > 1)
    assert seen > 100
    print(doc, "rows,", seen, "in clusters")


def read(out: Path, rows: int) -> None:
    import duckdb
    import polars as pl
    import pyarrow.dataset as ds

    files = str(out / "deduped" / "**" / "*.parquet")
    paths = sorted(map(str, (out / "deduped").rglob("*.parquet")))
    counts = {
        "pyarrow": ds.dataset(paths).to_table(columns=["id", "text"]).num_rows,
        "polars": pl.scan_parquet(files, hive_partitioning=False).select("id", "text").collect().height,
        "duckdb": duckdb.execute("select count(text) from read_parquet(?) where id is not null", [files]).fetchall()[0][0],
    }
    assert set(counts.values()) == {rows}, (counts, rows)
    print(counts)


if __name__ == "__main__":
    verb, folder, *rest = sys.argv[1:]
    if verb == "make":
        make(Path(folder))
    elif verb == "check":
        check(Path(folder), Path(rest[0]))
    elif verb == "marks":
        marks(Path(folder), Path(rest[0]))
    else:
        read(Path(folder), int(rest[0]))
