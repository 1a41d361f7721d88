"""Handles folders with Hive partitioning: `write FOLDER` creates one with pyarrow; `check FOLDER PAGES` compares the columns that dupsift read
with those that pyarrow and polars read from the same folder."""

import sys

import polars
import pyarrow
import pyarrow.dataset
import pyarrow.parquet

KEYS = ["lang", "n", "day"]


def write(folder: str) -> None:
    langs = ["ru", "zh/CN", "а б=в%", None]
    rows = [
        {"id": f"d{at}", "html": f"<p>Page {at} has some text.</p>", "lang": lang, "n": n, "day": "2026-11-01"}
        for at, (lang, n) in enumerate((lang, n) for lang in langs for n in [1, 20, None])
    ]
    table = pyarrow.Table.from_pylist(rows)
    schema = pyarrow.schema([("lang", pyarrow.string()), ("n", pyarrow.int64()), ("day", pyarrow.string())])
    partitioning = pyarrow.dataset.partitioning(schema, flavor="hive")
    pyarrow.dataset.write_dataset(table, folder, format="parquet", partitioning=partitioning)


def by_id(rows: list[dict]) -> dict:
    return {row["id"]: {key: row[key] for key in KEYS} for row in rows}


def check(folder: str, pages: str) -> None:
    dataset = pyarrow.dataset.dataset(folder, partitioning=pyarrow.dataset.HivePartitioning.discover())
    of_pyarrow = by_id(dataset.to_table().to_pylist())
    of_polars = by_id(
        polars.scan_parquet(f"{folder}/**/*.parquet", hive_partitioning=True, try_parse_hive_dates=False)
        .collect()
        .to_dicts()
    )
    table = pyarrow.parquet.read_table(pages)
    ours = by_id(table.to_pylist())
    assert len(ours) == 12 and ours == of_pyarrow, (ours, of_pyarrow)
    assert ours == of_polars, (ours, of_polars)
    # The partition columns follow those in the file, as in pyarrow.
    assert table.column_names[: 1 + len(KEYS)] == ["id", *KEYS], table.column_names
    print("same")


if __name__ == "__main__":
    {"write": write, "check": check}[sys.argv[1]](*sys.argv[2:])
