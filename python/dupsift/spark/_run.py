"""A run on Spark over files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .. import _dupsift
from .._options import given_of, inputs_of
from .._progress import shown
from .._result import Result
from .._verbs import _warn_if_held
from ._cluster import Cluster

if TYPE_CHECKING:
    from pyspark.sql import SparkSession as _SparkSession
    from typing_extensions import Unpack

    from .._keywords import RunOptions

PathLike = os.PathLike[str]
# Options with the names of files that all processes read.
_FILES = ("stop_words", "dictionary")
# Options that apply only to the driver.
_OF_DRIVER = (
    "overwrite", "work", "accept", "no_progress", "no_report", "checkpoint", "resume", "previous", "corpus", "threads", "memory", "out",
)  # fmt: skip


def run(
    spark: _SparkSession,
    inputs: str | PathLike | Iterable[str | PathLike],
    out: str | PathLike,
    *,
    task_bytes: int = 64 << 20,
    task_memory: str | int = "512MiB",
    buckets: int | None = None,
    **options: Unpack[RunOptions],
) -> Result:
    """Finds the duplicates in a corpus of files like ``dupsift.run``, with the passes over its documents in Spark tasks.

    ``inputs`` are files, folders or globs in a file system that the driver and all executors see under the same paths. Pairs, clusters and
    removed documents are the same as from ``dupsift.run``, row for row. ``memory`` and ``threads`` apply to the driver, which merges the
    output of the tasks.

    ``task_bytes`` is the approximate number of bytes of text per task. ``task_memory`` limits the memory of a task, excluding the interpreter.
    ``buckets`` is the number of partitions of rows, by default the setting spark.sql.shuffle.partitions.

    Raises the same exceptions as ``dupsift.run``, and dupsift.Error if a task fails.

        result = dupsift.spark.run(spark, "/shared/corpus", "/shared/dedup", preset="balanced")
    """
    for name in _FILES:
        if name in options:
            options[name] = os.path.abspath(options[name])  # type: ignore[literal-required]
    if task_bytes < 1:
        raise ValueError(f"task_bytes={task_bytes}: expected at least 1, such as {64 << 20}")
    if buckets is not None and not 1 <= buckets <= 1 << 20:
        raise ValueError(f"buckets={buckets}: expected 1 to {1 << 20}")
    files = inputs_of(inputs)
    of_tasks = {name: value for name, value in options.items() if name not in _OF_DRIVER}
    of_tasks |= {"threads": 1, "memory": task_memory, "out": "task"}
    # Tasks resolve paths in the same way as the driver, because the driver passes them the folder from which relative paths start.
    cluster = Cluster(spark, files, given_of(of_tasks), task_bytes, buckets)
    with cluster, shown(options.get("no_progress")) as told:
        folder = _dupsift.spark_run(files, given_of({**options, "out": out}), cluster, told)
    result = Result(folder)
    _warn_if_held(result)
    return result
