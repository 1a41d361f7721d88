#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["duckdb", "numpy", "pyarrow"]
# ///
"""Sorts the rows of `cargo bench --bench sort` with DuckDB, for comparison. That benchmark calls this script.

DuckDB generates rows of two random 64-bit numbers and a row number, sorts them by all three on two threads within the memory limit, and
the script reads them batch by batch to check the order.

    benches/lab/duckdb_sort.py 100000000 512 /var/tmp
"""

import argparse
import sys
import tempfile

import lab

import duckdb
import numpy as np

MADE = "SELECT hash(i) AS key, hash(i + {rows}) AS other, i::UBIGINT AS doc FROM range({rows}) AS rows(i)"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="?", default=100_000_000, help="number of rows [100000000]")
    parser.add_argument("memory", type=int, nargs="?", default=512, help="memory_limit in MiB [512]")
    parser.add_argument("dir", nargs="?", default=tempfile.gettempdir(), help="folder for temporary files")
    parser.add_argument("--make-only", action="store_true", help="only generate the rows and read them unsorted")
    arguments = parser.parse_args()
    made = MADE.format(rows=arguments.rows)
    with tempfile.TemporaryDirectory(dir=arguments.dir) as folder:
        connection = duckdb.connect()
        connection.execute("SET threads = 2")
        connection.execute(f"SET memory_limit = '{arguments.memory}MiB'")
        connection.execute(f"SET temp_directory = '{folder}'")
        if arguments.make_only:
            print(connection.execute(f"SELECT max(key), max(other), max(doc) FROM ({made})").fetchone()[2] + 1, "rows made")
            return
        count, last = 0, -1
        query = connection.sql(f"SELECT * FROM ({made}) ORDER BY key, other, doc")
        for batch in query.to_arrow_reader(200_000):
            # The keys are sufficient, because 100 million random keys are almost certainly all different.
            keys = batch.column(0).to_numpy()
            if len(keys) and (last > int(keys[0]) or np.any(keys[1:] < keys[:-1])):
                sys.exit("the rows are not in order")
            count, last = count + len(keys), int(keys[-1]) if len(keys) else last
        print(f"{count} rows in order")


if __name__ == "__main__":
    main()
