"""Converts frames of other libraries to Arrow streams, and to the file that a run reads."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from . import _dupsift
from ._options import given_of

F = TypeVar("F")

# The beginning of the name of the folder that holds a frame. The Rust code creates such folders, and recognizes the result of a frame by
# this name.
FOLDER = ".dupsift-frame-"

# The file in this folder that lists the columns that the run does not read. The Rust code reads this file.
LEFT_OUT = "left_out.json"

# The number of rows of a Hugging Face dataset that are converted to a table at a time.
_ROWS = 1_000


def stream_of(frame: object, names: Collection[str] | None = None) -> object:
    """Returns an object with ``__arrow_c_stream__`` or ``__arrow_c_array__`` that yields the rows of the frame, in order.

    If the library supports it, only the columns ``names`` are read, so other columns may have types that Arrow does not support. All columns
    are read if ``names`` is None or if one of them is missing; the reader then reports the missing column.
    """
    root = type(frame).__module__.partition(".")[0]
    if root == "datasets" and hasattr(frame, "with_format"):
        if not hasattr(frame, "column_names") or isinstance(frame, dict):
            raise TypeError("expected one split of a dataset, such as dataset['train'], got all of them")
        return _streamed(frame, names) if is_stream(frame) else _dataset(frame, names)
    if is_files(frame):
        chosen = None if names is None else [name for name in frame.schema.names if name in names]  # type: ignore[attr-defined]
        return frame.scanner(columns=chosen or None).to_reader()  # type: ignore[attr-defined]
    if hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__arrow_c_array__"):
        chosen = _chosen(root, frame, names)
        if root == "pyarrow" and type(frame).__name__ == "RecordBatchReader":
            return _of_its_schema(chosen)
        return _known(chosen) if root == "polars" else chosen
    raise TypeError(
        f"frame: expected an Arrow table, such as a polars, pandas, pyarrow, DuckDB or Hugging Face datasets frame, got {_kind(frame)}"
    )


def kind_of(frame: object) -> str:
    """Returns the name of the library that a frame comes from."""
    return type(frame).__module__.partition(".")[0].lstrip("_")


def _kind(frame: object) -> str:
    """Returns the type of an object that is not a frame. If the object is a query plan, adds how to compute the frame."""
    way = "; call collect() first" if hasattr(frame, "collect") else ""
    return f"{type(frame).__module__}.{type(frame).__name__}{way}"


def is_frame(data: object) -> bool:
    """Returns whether this is a frame, or a column or array of texts, rather than paths."""
    known = ("__arrow_c_stream__", "__arrow_c_array__", "with_format", "collect")
    return _is_array(data) or is_files(data) or any(hasattr(data, name) for name in known)


def is_files(data: object) -> bool:
    """Returns whether this is a pyarrow dataset, that is, a table in files."""
    return kind_of(data) == "pyarrow" and hasattr(data, "scanner") and hasattr(data, "schema")


def is_stream(frame: object) -> bool:
    """Returns whether this is a streaming Hugging Face dataset, which has no length and no random access."""
    return kind_of(frame) == "datasets" and hasattr(frame, "with_format") and not hasattr(frame, "__len__")


def _is_array(data: object) -> bool:
    """Returns whether this is a NumPy array or an instance of a subclass."""
    return any(one.__module__ == "numpy" and one.__name__ == "ndarray" for one in type(data).__mro__)


def texts_of(data: Any) -> Iterable[str | None] | None:
    """Returns the texts of a list, a tuple, a Series or an array, with None for missing texts. Returns None for anything else.

    Raises TypeError for a NumPy array that has several dimensions or no texts, and for a list of dictionaries.
    """
    if isinstance(data, (list, tuple)):
        if data and isinstance(data[0], Mapping):
            raise TypeError(
                "a list of dictionaries is not a frame; pass a table with these rows, such as polars.DataFrame(rows) or "
                "pyarrow.Table.from_pylist(rows)"
            )
        return data
    if _is_array(data):
        # Texts have the type str, object or StringDType.
        if data.dtype.kind not in "UOT":
            raise TypeError(f"array: expected an array of texts, got an array of {data.dtype}")
        if data.ndim != 1:
            raise TypeError(f"array: expected one dimension of texts, got {data.ndim} dimensions")
        # pandas writes a missing text as NaN.
        return (None if isinstance(text, float) and text != text else text for text in data)
    root = type(data).__module__.partition(".")[0].lstrip("_")
    if root == "pandas" and type(data).__name__ == "Series":
        return data.astype(object).where(data.notna(), None)  # type: ignore[no-any-return]
    if root == "polars" and type(data).__name__ == "Series":
        return data  # type: ignore[no-any-return]
    if root == "pyarrow" and hasattr(data, "type") and hasattr(data, "to_pylist"):
        return (value.as_py() for value in data)
    return None


def names_of(frame: Any) -> list[str] | None:
    """Returns the column names, or None if only the stream has them or if this is not a frame."""
    if is_files(frame):
        return list(frame.schema.names)
    if is_stream(frame) and frame.column_names is None:
        # The first row names the columns.
        return list(next(iter(frame), {})) or None
    if not hasattr(frame, "__arrow_c_stream__") and not hasattr(frame, "with_format"):
        return None
    for name in ("column_names", "columns"):
        names = getattr(frame, name, None)
        if names is not None and not callable(names):
            names = list(names)
            # A pyarrow column has no name; pandas columns may have numbers as names.
            return names if all(isinstance(one, str) for one in names) else None
    return None


def _chosen(root: str, frame: Any, names: Collection[str] | None) -> Any:
    there = names_of(frame)
    if names is None or there is None or len(set(there)) < len(there):
        return frame
    chosen = [name for name in there if name in names]
    if not chosen:
        return frame
    if root == "pandas" and hasattr(frame, "loc"):
        return frame[chosen]
    if root in ("polars", "pyarrow") and hasattr(frame, "select"):
        return frame.select(chosen)
    return frame


def _known(frame: Any) -> Any:
    """Returns the frame with types that every Arrow reader supports. Polars has its own types for null columns and 128-bit integers."""
    if not hasattr(frame, "schema") or not hasattr(frame, "cast"):
        return frame
    import polars

    own = {getattr(polars, name) for name in ("Null", "Int128", "UInt128", "Object") if hasattr(polars, name)}

    def known(dtype: Any) -> Any:
        if any(dtype == one for one in own):
            return polars.String
        if isinstance(dtype, polars.List):
            return polars.List(known(dtype.inner))
        if isinstance(dtype, polars.Array):
            return polars.Array(known(dtype.inner), dtype.size)
        if isinstance(dtype, polars.Struct):
            return polars.Struct([polars.Field(field.name, known(field.dtype)) for field in dtype.fields])
        return dtype

    changed = {name: known(dtype) for name, dtype in frame.schema.items() if known(dtype) != dtype}
    return frame.cast(changed) if changed else frame


def _of_its_schema(reader: Any) -> object:
    """Returns a reader with the same batches, which raises ValueError at the first batch whose types differ from the schema.

    An Arrow stream passes the schema only once, so its consumer cannot see the types of a batch.
    """
    import pyarrow

    schema = reader.schema

    def batches() -> Iterator[Any]:
        for batch in reader:
            types = [field.type for field in batch.schema]
            for at, field in enumerate(schema):
                if at >= len(types) or types[at] != field.type:
                    own = types[at] if at < len(types) else "no values"
                    raise ValueError(f"a batch has {own} in the column {field.name!r}, and the schema of its stream has {field.type}")
            yield batch

    return pyarrow.RecordBatchReader.from_batches(schema, batches())


def _dataset(dataset: Any, names: Collection[str] | None) -> object:
    """Returns the current rows of the dataset, because selected or sorted rows differ from the rows of its table."""
    import pyarrow

    if names is not None and any(name in names for name in dataset.column_names):
        dataset = dataset.select_columns([name for name in dataset.column_names if name in names])
    arrow = dataset.with_format("arrow")
    schema = arrow.features.arrow_schema.remove_metadata()
    batches = (batch for table in arrow.iter(_ROWS) for batch in table.cast(schema).to_batches())
    return pyarrow.RecordBatchReader.from_batches(schema, batches)


def _streamed(dataset: Any, names: Collection[str] | None) -> object:
    """Returns the rows of a streaming dataset.

    If the types of the columns are unknown, for example after ``map``, the first rows determine the columns and their types. Raises ValueError
    if a later row has other types.
    """
    import pyarrow

    features = dataset.features
    if features is not None:
        if names is not None and any(name in names for name in features):
            dataset = dataset.select_columns([name for name in features if name in names])
        # Images and sounds are copied as they are stored.
        dataset = dataset.decode(False) if hasattr(dataset, "decode") else dataset
    # Each row may have its own Arrow types after map or filter, so the rows are read as Python objects.
    parts = dataset.with_format(None).iter(_ROWS)
    first = next(parts, None)
    if first is None and features is not None:
        return dataset.features.arrow_schema.remove_metadata().empty_table()
    if first is None:
        return pyarrow.table({"text": pyarrow.array([], pyarrow.string())})
    chosen = [name for name in first if names is None or name in names] or list(first)
    known = None if features is None else dataset.features.arrow_schema.remove_metadata()
    table = pyarrow.table({name: first[name] for name in chosen}, known)
    # A column that is null in the first rows may contain anything later; texts are the most likely.
    fields = [field.with_type(pyarrow.string()) if pyarrow.types.is_null(field.type) else field for field in table.schema]
    schema = pyarrow.schema(fields)

    def batches() -> Iterable[Any]:
        row = 0
        for part in itertools.chain((first,), parts):
            rows = max(map(len, part.values()), default=0)
            try:
                columns = [pyarrow.array(part.get(field.name) or [None] * rows, field.type) for field in schema]
            except (pyarrow.ArrowException, TypeError, ValueError) as error:
                raise ValueError(
                    f"frame: from row {row} on, the streaming dataset has other types than in its first rows ({error}); "
                    "pass features= to map, or cast the dataset"
                ) from error
            yield pyarrow.record_batch(columns, schema=schema)
            row += rows

    return pyarrow.RecordBatchReader.from_batches(schema, batches())


def columns_of(options: Mapping[str, object]) -> tuple[list[tuple[str, str | None]], bool]:
    """Returns the columns that a run with these options reads, each with its keyword if it is required, and whether the run reads all columns."""
    return _dupsift.frame_columns(given_of({"out": "out", **options}))


# Keywords that may name several columns.
_SEVERAL = ("text_column", "item_column", "choices_column")


def needed_of(frame: object, columns: list[tuple[str, str | None]]) -> list[str] | None:
    """Returns the names of the columns to read from the frame, or None to read all of them because a required column is missing."""
    there = names_of(frame)
    if there is None:
        return None
    needed: list[str] = []
    for name, keyword in columns:
        parts = [name] if name in there or keyword not in _SEVERAL else [part.strip() for part in name.split(",")]
        if keyword is not None and any(part not in there for part in parts):
            return None
        needed += parts
    return needed


def _remove(folder: Path, process: int, lock: object) -> None:
    """Removes the temporary folder of a frame, unless this is a child process, because the parent may still need it."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def filtered(given: F, mask: Any, limit: int | None, in_order: Callable[[Any], None]) -> F:
    """Returns the rows of a frame that a mask keeps, as a frame of the same kind.

    ``limit`` is the option of the run. ``in_order`` raises ValueError if the frame has the rows in a different order.
    """
    kept: F = _filtered(given, mask, limit, in_order)
    return kept


def _filtered(frame: Any, mask: Any, limit: int | None, in_order: Callable[[Any], None]) -> Any:
    root = kind_of(frame)

    def check(rows: int, given: Any) -> None:
        if rows != len(mask):
            first = f"its first {len(mask):,} rows, because the run had limit={limit}"
            which = first if limit == len(mask) < rows else "the frame that was passed to the run"
            raise ValueError(f"frame: it has {rows:,} rows, and the run had {len(mask):,}; expected {which}")
        in_order(given)

    if isinstance(frame, (list, tuple)):
        check(len(frame), frame)
        return type(frame)(one for one, is_kept in zip(frame, mask) if is_kept)
    if _is_array(frame) and frame.ndim > 0:
        check(len(frame), frame)
        return frame[mask.to_numpy()]
    if is_stream(frame):
        in_order(frame)
        return _filtered_stream(frame, mask, limit)
    if root == "datasets":
        check(len(frame), frame)
        return frame.select(mask.rows())
    if is_files(frame):
        raise TypeError("frame: a pyarrow dataset is in files; expected a table, such as dataset.to_table()")
    if root == "duckdb":
        import duckdb
        import pyarrow

        table = pyarrow.table(frame)
        check(table.num_rows, table)
        return duckdb.from_arrow(table.filter(pyarrow.array(mask)))
    if root == "pandas":
        check(len(frame), frame)
        return frame[mask.to_numpy()]
    if root == "polars" and not hasattr(frame, "collect"):
        import polars

        check(len(frame), frame)
        return frame.filter(polars.Series(mask))
    if root == "pyarrow" and hasattr(frame, "filter") and hasattr(frame, "__len__"):
        import pyarrow

        check(len(frame), frame)
        return frame.filter(pyarrow.array(mask))
    raise TypeError(
        f"frame: expected a polars or pandas frame, a pyarrow table, a DuckDB relation, a split of a Hugging Face dataset, "
        f"or a list, Series or array of texts, got {_kind(frame)}"
    )


def _filtered_stream(dataset: Any, mask: Any, limit: int | None) -> Any:
    """Returns the kept rows of a streaming dataset. They are read, and their number is checked, when the result is read.

    The result is one shard, because row numbers are known only if one process reads all rows.
    """

    def rows() -> Iterable[Any]:
        count = 0
        for count, row in enumerate(dataset, 1):
            if count > len(mask):
                if limit == len(mask):
                    return
                raise ValueError(f"frame: it has more than {len(mask):,} rows; expected the dataset that was passed to the run")
            if mask[count - 1]:
                yield row
        if count < len(mask):
            raise ValueError(f"frame: it has {count:,} rows, and the run had {len(mask):,}; expected the dataset that was passed to the run")

    return type(dataset).from_generator(rows, features=dataset.features)


class Corpus:
    """A frame or texts, saved as a Parquet file in a folder that is deleted together with this object."""

    def __init__(
        self,
        frame: object,
        columns: list[tuple[str, str | None]],
        every: bool,
        beside: str | os.PathLike[str] | None,
        name: str = "frame",
    ) -> None:
        if beside is not None:
            os.makedirs(beside, exist_ok=True)
        # The folder is locked, which shows other processes that it is in use. The finalizer keeps the lock.
        made = _dupsift.FrameFolder(beside)
        self.folder: Path = Path(made.path).absolute()
        weakref.finalize(self, _remove, self.folder, os.getpid(), made)
        self.path: Path = self.folder / f"{name}.parquet"
        self.left_out: list[str] = []
        """The columns of the frame that are not in the file, because the run did not need them."""
        self.id_hint: tuple[str | None] | None = None
        """The column that probably contains the ids; None if that was not looked for."""
        texts = texts_of(frame)
        if texts is not None:
            self.rows: int = _dupsift.write_texts(texts, os.fspath(self.path))
            return
        needed = None if every else needed_of(frame, columns)
        if needed is not None:
            self.left_out = [name for name in names_of(frame) or [] if name not in needed]
        if self.left_out:
            # Other processes that read this file refuse to copy it as the corpus.
            (self.folder / LEFT_OUT).write_text(json.dumps(self.left_out), encoding="utf-8")
        stream = stream_of(frame, needed)
        self.rows = _dupsift.write(stream, columns, every, os.fspath(self.path))
