"""Deduplicates a DataFrame and returns DataFrames."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import _dupsift
from .._frames import columns_of
from .._result import Result
from ._run import run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame as _DataFrame


@dataclass(frozen=True)
class Frames:
    """The result of a run, as DataFrames over its output files."""

    pairs: _DataFrame
    """The pairs of all algorithms, with a column ``algorithm``."""
    clusters: _DataFrame
    """The documents in clusters, for all algorithms, with a column ``algorithm``."""
    removed: _DataFrame
    """The removed documents, each with the document that is kept instead."""
    result: Result
    """The result itself."""


def dedup(frame: _DataFrame, *, out: str | os.PathLike[str], text_column: str = "text", id_column: str, **options: Any) -> Frames:
    """Finds the duplicates among the rows of a DataFrame.

    The rows of a DataFrame have no order, so a column ``id_column`` with unique values is required: documents are numbered in the order of its
    values. The columns are first written to files next to ``out``. All machines must see this location under the same path. These files are
    deleted when the result is complete.

    Raises ValueError for missing columns and for ids that are null or not unique, and otherwise the same exceptions as ``dupsift.spark.run``.

        found = dupsift.spark.dedup(frame, text_column="body", id_column="url", out="/shared/dedup")
        clean = frame.join(found.removed, frame.url == found.removed.id, "left_anti")
    """
    settings = {**options, "text_column": text_column, "id_column": id_column}
    columns, every = columns_of(settings)
    there = frame.columns
    for name, keyword in columns:
        if keyword is not None and name not in there:
            raise ValueError(f"{keyword}={name!r}: the frame has no such column; available: {', '.join(there)}")
    chosen = there if every else list(dict.fromkeys(name for name, _ in columns if name in there))
    beside = os.path.dirname(os.path.abspath(out))
    os.makedirs(beside, exist_ok=True)
    # The folder stays locked until this function returns.
    made = _dupsift.FrameFolder(beside)
    folder = os.fspath(made.path)
    shared = os.path.join(folder, "rows")
    files = os.path.join(shared, "files")
    try:
        # Executors may run as another user, who can write in the inner folder but not replace files.
        os.mkdir(shared)
        os.chmod(shared, 0o1777)
        os.chmod(folder, 0o711)
        frame.select(*[frame[name] for name in chosen]).orderBy(frame[id_column]).write.parquet("file://" + files)
        _unique(frame.sparkSession.read.parquet("file://" + files), id_column)
        result = run(frame.sparkSession, files, out, **settings)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    read = frame.sparkSession.read
    pairs, clusters, removed = (read.parquet(f"file://{os.path.abspath(result.path)}/{name}") for name in ("pairs", "clusters", "removed"))
    return Frames(pairs, clusters, removed, result)


def _unique(frame: _DataFrame, id_column: str) -> None:
    from pyspark.sql import functions

    rows, ids = frame.agg(functions.count(functions.lit(1)), functions.count_distinct(frame[id_column])).first() or (0, 0)
    if rows != ids:
        raise ValueError(f"id_column={id_column!r}: {rows - ids} of {rows} rows have no id, or the id of another row; expected unique values")
