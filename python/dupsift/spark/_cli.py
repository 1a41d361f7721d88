"""The command line: ``python -m dupsift.spark run INPUT... --out DIR``, and the same with spark-submit."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from .. import _dupsift
from .._errors import Error

# Options of a run on one machine that are not supported on Spark.
_NOT_HERE = ("index", "reference", "batch", "planned_documents", "stats", "prefilter", "html_column", "content_type_column", "url_column", "purify")
_DONE, _FAILED, _USAGE, _LOSSES, _HELD = range(5)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m dupsift.spark", description="dupsift on Apache Spark.", allow_abbrev=False)
    verbs = parser.add_subparsers(dest="verb", required=True)
    run = verbs.add_parser("run", help="find the duplicates in a corpus", allow_abbrev=False)
    run.add_argument("inputs", nargs="+", metavar="INPUT", help="files, folders or globs that all machines see under the same paths")
    spark = run.add_argument_group("Spark")
    spark.add_argument("--master", help="Spark master URL, such as local-cluster[2,1,1024]; not needed with spark-submit")
    spark.add_argument("--task-bytes", type=int, help="approximate number of bytes of text per task [default: 67108864]")
    spark.add_argument("--task-memory", help="memory limit of a task, excluding the interpreter [default: 512MiB]")
    spark.add_argument("--buckets", type=int, help="number of partitions of rows [default: spark.sql.shuffle.partitions]")
    groups: dict[str, Any] = {}
    for name, heading, kind, words, default in _dupsift.options("run", flags=True):
        if name in _NOT_HERE:
            continue
        if heading not in groups:
            groups[heading] = run.add_argument_group(heading)
        told = f"{words}{f' [default: {default}]' if default else ''}".replace("%", "%%")
        switch = {"nargs": "?", "const": "true"} if kind == "true or false" else {}
        groups[heading].add_argument("--" + name.replace("_", "-"), metavar="VALUE", required=name == "out", help=told, **switch)
    return parser


def main(typed: Sequence[str] | None = None) -> int:
    """Runs the command line and returns the exit code of ``dupsift``."""
    given = {name: value for name, value in vars(_parser().parse_args(typed)).items() if value is not None}
    given.pop("verb")
    inputs, out, master = given.pop("inputs"), given.pop("out"), given.pop("master", None)
    from pyspark.sql import SparkSession

    from ._run import run

    # An existing session, which getOrCreate returns, is not stopped.
    began = SparkSession.getActiveSession() is None
    builder = SparkSession.builder.appName("dupsift")  # type: ignore[attr-defined, unused-ignore]
    spark = (builder.master(master) if master else builder).getOrCreate()
    try:
        result = run(spark, inputs, out, **given)
    except (ValueError, FileNotFoundError) as error:
        return _fail(error, _USAGE)
    except (Error, OSError) as error:
        return _fail(error, _FAILED)
    finally:
        if began:
            spark.stop()
    # Unlike `print(result)`, this shows the next command instead of the next call in Python.
    print(_dupsift.summary(os.fspath(result._typed)))
    report = result.report
    if any(guard["held"] for guard in report["guards"]):
        return _HELD
    return _LOSSES if report["guards"] or report["bad_inputs"] or report["documents"]["rejected"] else _DONE


def _fail(error: Exception, code: int) -> int:
    print(f"error: {error}", file=sys.stderr)
    return code
