"""Frames of other libraries as streams of Arrow, and the file that a run reads in their place."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from . import _dupsift

F = TypeVar("F")

# Keywords that name columns, each with the name where it is not given.
_COLUMNS = {
    "id_column": "id",
    "title_column": "title",
    "keywords_column": "keywords",
    "description_column": "description",
    "content_type_column": "content_type",
    "url_column": "url",
}
# Rows of a Hugging Face dataset that are turned into a table at a time.
_ROWS = 1_000


def stream_of(frame: object) -> object:
    """An object with ``__arrow_c_stream__`` or ``__arrow_c_array__`` that gives the rows of the frame, in its order."""
    if hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__arrow_c_array__"):
        return frame
    root = type(frame).__module__.partition(".")[0]
    if root == "datasets" and hasattr(frame, "with_format"):
        if not hasattr(frame, "column_names") or isinstance(frame.column_names, dict):
            raise TypeError("expected one split of a dataset, such as dataset['train'], got all of them")
        return _dataset(frame)
    way = "; call collect() first" if hasattr(frame, "collect") else ""
    raise TypeError(
        f"frame: expected a table of Arrow, such as a frame of polars, pandas, pyarrow, DuckDB or Hugging Face datasets, "
        f"got {type(frame).__module__}.{type(frame).__name__}{way}"
    )


def _dataset(dataset: Any) -> object:
    """The rows as the dataset has them now: chosen and sorted rows are not the rows of its table."""
    import pyarrow

    arrow = dataset.with_format("arrow")
    schema = arrow.features.arrow_schema.remove_metadata()
    batches = (batch for table in arrow.iter(_ROWS) for batch in table.cast(schema).to_batches())
    return pyarrow.RecordBatchReader.from_batches(schema, batches)


def columns_of(options: Mapping[str, object], keywords: Mapping[str, str]) -> list[tuple[str, str | None]]:
    """The columns that a run with these options reads, each with the keyword that named it, where it has to be there."""
    if options.get("html_column") is not None:
        columns: list[tuple[str, str | None]] = [(str(options["html_column"]), "html_column")]
    else:
        text: Any = options.get("text_column") or "text"
        text = text if isinstance(text, str) else ",".join(text)
        columns = [(text, keywords.get("text_column", "text_column"))]
    for option, usual in _COLUMNS.items():
        given = options.get(option)
        columns.append((usual, None) if given is None else (str(given), keywords.get(option, option)))
    keep: Any = options.get("keep") or ""
    for key in keep.split(",") if isinstance(keep, str) else keep:
        name = key.split()[0] if key.split() else ""
        if name not in ("", "length", "doc"):
            columns.append((name, "keep"))
    return columns


def _remove(folder: Path, process: int) -> None:
    """Removes the folder of a frame, unless this is a child of the process that made it, which may need it still."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def filtered(given: F, mask: Any) -> F:
    """The rows of a frame that a mask keeps, as a frame of the same kind."""
    kept: F = _filtered(given, mask)
    return kept


def _filtered(frame: Any, mask: Any) -> Any:
    root = type(frame).__module__.partition(".")[0].lstrip("_")
    if root == "datasets":
        _same_rows(len(frame), mask)
        return frame.select(mask.rows())
    if root == "duckdb":
        import duckdb
        import pyarrow

        table = pyarrow.table(frame)
        _same_rows(table.num_rows, mask)
        return duckdb.from_arrow(table.filter(pyarrow.array(mask)))
    if root == "pandas":
        _same_rows(len(frame), mask)
        return frame[mask.to_numpy()]
    if root == "polars" and not hasattr(frame, "collect"):
        import polars

        _same_rows(len(frame), mask)
        return frame.filter(polars.Series(mask))
    if root == "pyarrow" and hasattr(frame, "num_rows"):
        import pyarrow

        _same_rows(frame.num_rows, mask)
        return frame.filter(pyarrow.array(mask))
    raise TypeError(
        f"frame: expected a frame of polars or pandas, a table of pyarrow, a relation of DuckDB or a split of Hugging Face datasets, "
        f"got {type(frame).__module__}.{type(frame).__name__}"
    )


def _same_rows(rows: int, mask: Any) -> None:
    if rows != len(mask):
        raise ValueError(f"frame: it has {rows:,} rows, and the run had {len(mask):,}; expected the frame of the run")


class Corpus:
    """A frame as a Parquet file in a folder that goes with this object."""

    def __init__(self, frame: object, columns: list[tuple[str, str | None]], beside: str | os.PathLike[str] | None) -> None:
        if beside is not None:
            os.makedirs(beside, exist_ok=True)
        self.folder: Path = Path(tempfile.mkdtemp(prefix=".dupsift-frame-", dir=beside)).absolute()
        weakref.finalize(self, _remove, self.folder, os.getpid())
        self.path: Path = self.folder / "frame.parquet"
        self.rows: int = _dupsift.write(stream_of(frame), columns, os.fspath(self.path))
