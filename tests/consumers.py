#!/usr/bin/env python3
"""Reads every table of finished runs with pyarrow, polars, duckdb and pandas, and fails if they differ.

usage: consumers.py ID_TYPE OUT [ID_TYPE OUT ...]

ID_TYPE is the expected type of ids: string, binary, int32 or int64. The script checks every Parquet file below OUT: the columns and their
types are the documented ones, no type is unsigned, the metadata contain the schema version, and the four libraries read the same values.
The folders `algorithm=NAME` are read as one table with an `algorithm` column.

needs: pyarrow polars duckdb pandas
"""

import json
import math
import sys
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

ID = object()

# Column -> Arrow type, as documented in docs/outputs.md.
TABLES = {
    "pairs": {
        "id_a": ID, "id_b": ID, "similarity": "float", "distance": "float", "matched_by": "string", "verified": "bool",
        "doc_a": "int64", "doc_b": "int64", "contained_a": "float", "contained_b": "float", "numbers_a": "float", "numbers_b": "float",
        "relation": "string", "why": "string", "next_best": "float", "other_title": "bool",
    },
    "clusters": {
        "id": ID, "cluster_id": ID, "cluster_size": "int64", "is_representative": "bool",
        "similarity_to_representative": "float", "doc": "int64",
    },
    "removed": {
        "id": ID, "kept_id": ID, "similarity": "float", "algorithm": "string", "reason": "string", "keep_rule": "string",
        "doc": "int64", "kept_doc": "int64", "contained": "float", "numbers": "float", "kept_in": "string",
    },
    "passages": {
        "id": ID, "doc": "int64", "start": "int64", "end": "int64", "start_byte": "int64", "end_byte": "int64", "copies": "int64",
        "first_id": ID, "first_doc": "int64", "first_start": "int64",
    },
    "rejected": {"input": "string", "file": "string", "row": "int64", "id": "string", "reason": "string", "detail": "string"},
    "evaluation": {
        "algorithm": "string", "pairs": "int64", "pairs_true": "int64", "pairs_not_written": "int64", "pages": "int64",
        "pages_true": "int64", "pair_precision": "double", "pair_recall": "double", "pair_f1": "double",
        "page_precision": "double", "page_recall": "double", "page_f1": "double", "page_gamma": "double",
        "bcubed_precision": "double", "bcubed_recall": "double", "bcubed_f1": "double", "ari": "double",
    },
    "evaluation/rejected": {
        "input": "string", "file": "string", "row": "int64", "id": "string", "reason": "string", "detail": "string",
    },
    "stats": {"term": "int64", "df": "int64", "cf": "int64"},
    "stats/models": {"value": "int64"},
}

DUCKDB = {
    "string": "VARCHAR", "binary": "BLOB", "int32": "INTEGER", "int64": "BIGINT", "float": "FLOAT", "double": "DOUBLE", "bool": "BOOLEAN",
}
POLARS = {
    "string": pl.String, "binary": pl.Binary, "int32": pl.Int32, "int64": pl.Int64, "float": pl.Float32, "double": pl.Float64, "bool": pl.Boolean,
}


def fail(message):
    sys.exit(f"error: {message}")


def check_equal(what, name, expected, came):
    if expected != came:
        fail(f"{what}, {name}: expected {expected!r}, got {came!r}")


def plain(value):
    """Returns a value as all libraries should have read it: missing values as None, bytes as bytes."""
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return None
    return bytes(value) if isinstance(value, (bytearray, memoryview)) else value


def rows(columns):
    return list(zip(*([plain(value) for value in column] for column in columns)))


def check_file(path, table, id_type):
    expected = {name: id_type if kind is ID else kind for name, kind in TABLES[table].items()}
    names = list(expected)
    metadata = pq.read_metadata(path)
    check_equal(path, "schema_version", b"1", (metadata.metadata or {}).get(b"schema_version"))
    for number in range(metadata.num_columns):
        column = metadata.schema.column(number)
        if "signed=false" in str(column.logical_type).replace(" ", "").lower() or "UINT" in str(column.converted_type):
            fail(f"{path}: column {column.name} is unsigned")

    arrow = pq.read_table(path, partitioning=None)
    check_equal(path, "pyarrow types", expected, {field.name: str(field.type) for field in arrow.schema})
    polars = pl.read_parquet(path, hive_partitioning=False)
    check_equal(path, "polars types", {name: POLARS[kind] for name, kind in expected.items()}, dict(polars.schema))
    described = duckdb.execute("DESCRIBE SELECT * FROM read_parquet(?, hive_partitioning = false)", [str(path)]).fetchall()
    check_equal(path, "duckdb types", {name: DUCKDB[kind] for name, kind in expected.items()}, {row[0]: row[1] for row in described})
    pandas = pd.read_parquet(path, engine="pyarrow", partitioning=None)
    check_equal(path, "pandas columns", names, list(pandas.columns))
    nullable = pd.read_parquet(path, engine="pyarrow", partitioning=None, dtype_backend="numpy_nullable")

    reference = rows(arrow[name].to_pylist() for name in names)
    others = {
        "polars": rows(polars[name].to_list() for name in names),
        "duckdb": [
            tuple(plain(value) for value in row)
            for row in duckdb.execute("SELECT * FROM read_parquet(?, hive_partitioning = false)", [str(path)]).fetchall()
        ],
        "pandas": rows(pandas[name].tolist() for name in names),
        "pandas with nullable types": rows(nullable[name].tolist() for name in names),
    }
    for library, came in others.items():
        check_equal(path, f"rows of {library}", len(reference), len(came))
        for number, (one, other) in enumerate(zip(reference, came)):
            check_equal(path, f"row {number} of {library}", one, other)
    return len(reference)


def check_folders(out, label_counts):
    """Checks `pairs/` and `clusters/` as one table each, with an `algorithm` column taken from the folder names."""
    for table, counts in label_counts.items():
        folder = out / table
        dataset = ds.dataset(folder, partitioning="hive").to_table(columns=["algorithm"])
        by_label = {name: 0 for name in counts}
        for name in dataset["algorithm"].to_pylist():
            by_label[str(name)] += 1
        check_equal(folder, "pyarrow by algorithm", counts, by_label)
        frame = pl.scan_parquet(folder, hive_partitioning=True).select("algorithm").collect()
        by_label = {name: frame.filter(pl.col("algorithm") == name).height for name in counts}
        check_equal(folder, "polars by algorithm", counts, by_label)
        whole = pl.scan_parquet(f"{out}/{table}/**/*.parquet").collect()
        check_equal(folder, "polars by glob", sum(counts.values()), whole.height)
        query = "SELECT algorithm, count(*) FROM read_parquet(?, hive_partitioning = true) GROUP BY algorithm"
        by_label = {name: 0 for name in counts} | dict(duckdb.execute(query, [f"{folder}/**/*.parquet"]).fetchall())
        check_equal(folder, "duckdb by algorithm", counts, by_label)
        check_equal(folder, "pandas of the folder", sum(counts.values()), len(pd.read_parquet(folder)))


def check_output(out, id_type):
    if not (out / "_SUCCESS").is_file():
        fail(f"{out} has no _SUCCESS")
    record = json.loads((out / "run.json").read_text())
    label_counts = {"pairs": {}, "clusters": {}}
    seen = {}
    for path in sorted(out.rglob("*.parquet")):
        relative = path.relative_to(out)
        table = "/".join(relative.parts[:2])
        table = table if table in ("stats/models", "evaluation/rejected") else relative.parts[0]
        if table not in TABLES:
            fail(f"{path} is no documented table")
        count = check_file(path, table, id_type)
        seen[table] = seen.get(table, 0) + count
        if table in label_counts:
            label_counts[table][relative.parts[1].removeprefix("algorithm=")] = count
    for one in record["algorithms"]:
        check_equal(out, f"pairs of {one['label']}", one["pairs_written"], label_counts["pairs"].get(one["label"]))
        check_equal(out, f"clusters of {one['label']}", one["clustered"], label_counts["clusters"].get(one["label"]))
    check_equal(out, "removed", record["removal"]["removed"], seen["removed"])
    check_equal(out, "rejected", record["documents"]["rejected"] + len(record["bad_inputs"]), seen["rejected"])
    check_folders(out, label_counts)
    return seen


def main(arguments):
    if not arguments or len(arguments) % 2:
        sys.exit(__doc__)
    for id_type, out in zip(arguments[::2], arguments[1::2]):
        if id_type not in DUCKDB:
            fail(f"ID_TYPE {id_type!r}; expected string, binary, int32 or int64")
        seen = check_output(Path(out), id_type)
        print(f"{id_type}: " + ", ".join(f"{table} {count}" for table, count in sorted(seen.items())))
    print("versions:", ", ".join(f"{m.__name__} {m.__version__}" for m in (pa, pl, duckdb, pd)))


if __name__ == "__main__":
    main(sys.argv[1:])
