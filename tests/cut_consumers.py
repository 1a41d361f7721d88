#!/usr/bin/env python3
"""Reads the output of a run with --cut in pyarrow, polars, duckdb and pandas, and fails if they differ or if more than the passages changed.

usage: cut_consumers.py INPUT OUT

INPUT is the Parquet, JSON lines or CSV file of the corpus. OUT is the result of a run with --cut and --corpus keep, with ids that are text.
The four libraries must read the same values from passages/ and from the file in deduped/. Apart from white space, the texts of that file must
be those of the input without the passages, and every other column must be unchanged.

needs: pyarrow polars duckdb pandas
"""

import math
import sys
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq

from consumers import check_equal, check_file, fail


def plain(value):
    """Returns a value as all libraries should have read it: missing values as None, lists as lists, times without a special type."""
    if isinstance(value, (list, tuple)) or hasattr(value, "tolist") and getattr(value, "ndim", 0):
        return [plain(one) for one in value]
    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, pd.Timestamp):
        value = value.to_pydatetime()
    return value.item() if hasattr(value, "item") else value


def rows(columns):
    """Returns rows as dictionaries; a column that is missing in JSON lines contains nulls."""
    return {name: [plain(value) for value in values] for name, values in columns.items()}


def read(path):
    """Returns the columns of a file as each library reads them."""
    kind, name = path.suffix, str(path)
    if kind == ".parquet":
        arrow = pq.read_table(path, partitioning=None)
        polars = pl.read_parquet(path, hive_partitioning=False)
        relation = duckdb.execute("SELECT * FROM read_parquet(?, hive_partitioning = false)", [name])
        pandas = pd.read_parquet(path, engine="pyarrow", dtype_backend="pyarrow")
    elif kind == ".jsonl":
        arrow = pa.json.read_json(path)
        polars = pl.read_ndjson(path)
        relation = duckdb.execute("SELECT * FROM read_json(?, format = 'newline_delimited')", [name])
        pandas = pd.read_json(path, lines=True, dtype=False, convert_dates=False)
    else:
        options = pa.csv.ConvertOptions(strings_can_be_null=False), pa.csv.ParseOptions(newlines_in_values=True)
        arrow = pa.csv.read_csv(path, convert_options=options[0], parse_options=options[1])
        polars = pl.read_csv(path)
        relation = duckdb.execute("SELECT * FROM read_csv(?, header = true, strict_mode = true, new_line = '\\n')", [name])
        pandas = pd.read_csv(path)
    names = [column[0] for column in relation.description]
    by_duckdb = dict(zip(names, zip(*relation.fetchall())))
    by = {
        "pyarrow": rows({name: arrow[name].to_pylist() for name in arrow.column_names}),
        "polars": rows({name: polars[name].to_list() for name in polars.columns}),
        "duckdb": rows(by_duckdb),
        "pandas": rows({name: list(pandas[name]) for name in pandas.columns}),
    }
    for library, columns in by.items():
        check_equal(path, f"columns of {library}", list(by["pyarrow"]), list(columns))
        for name, values in columns.items():
            check_equal(path, f"{name} of {library}", by["pyarrow"][name], values)
    return by["pyarrow"]


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    path, out = Path(arguments[0]), Path(arguments[1])
    table = next((out / "passages").glob("*.parquet"))
    passages = check_file(table, "passages", "string")
    cut = {}
    for passage in pq.read_table(table).to_pylist():
        cut.setdefault(passage["doc"], []).append((passage["start"], passage["end"]))
    before, after = read(path), read(out / "deduped" / path.name)
    check_equal(path, "columns", list(before), list(after))
    place = {id: at for at, id in enumerate(before["id"])}
    squeezed = lambda text: "".join(text.split())
    changed = 0
    for row, id in enumerate(after["id"]):
        at = place[id]
        for name in set(before) - {"text"}:
            check_equal(path, f"{name} of {id}", before[name][at], after[name][row])
        expected, end = "", 0
        for start, stop in sorted(cut.get(at, [])):
            expected += before["text"][at][end:start]
            end = stop
        expected += before["text"][at][end:]
        check_equal(path, f"text of {id}", squeezed(expected), squeezed(after["text"][row]))
        if at in cut:
            changed += 1
        else:
            check_equal(path, f"text of {id}", before["text"][at], after["text"][row])
    if not changed or not passages or len(after["id"]) == len(before["id"]):
        fail(f"{path}: {changed} texts changed by {passages} passages, {len(after['id'])} of {len(before['id'])} kept")
    print(f"{path.suffix}: {len(after['id'])} kept, {changed} cut, {passages} passages")


if __name__ == "__main__":
    main(sys.argv[1:])
