"""Checks that a frame has its rows in the order of the run, before rows are selected by their numbers."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from . import _dupsift
from ._frames import is_stream, kind_of, names_of, texts_of
from ._table import Table

# The number of rows whose texts are in memory at a time while they are compared.
_ROWS = 10_000


def check_order(frame: Any, report: dict[str, Any], removed: Table, corpus: Path | None) -> None:
    """Raises ValueError if the frame has different rows from the run, or the same rows in a different order.

    With an id column, compares the ids of the removed documents and of the documents kept instead. Otherwise, compares the texts
    with the frame's file ``corpus``, if it still exists. If the frame lacks these columns, nothing is compared.
    """
    if not _same_ids(frame, report, removed) and corpus is not None and corpus.is_file():
        _same_texts(frame, report["options"], corpus)


def _same_ids(frame: Any, report: dict[str, Any], removed: Table) -> bool:
    """Returns whether at least one id was compared."""
    name = report["options"]["id-column"]
    if name not in _names(frame):
        return False
    # The documents of an index or a reference have lower numbers, and are not in the frame.
    first = (report.get("index") or {}).get("first_doc", 0)
    ids: dict[int, object] = {}
    for doc, id, kept_doc, kept_id in _columns(removed, ("doc", "id", "kept_doc", "kept_id")):
        ids[doc - first] = id
        if kept_doc is not None and kept_doc >= first:
            ids[kept_doc - first] = kept_id
    # Rows without an id are named FILE#ROW.
    has_generated = report["ids"]["missing"] > 0
    wanted = {row: _text(id) for row, id in ids.items()}
    rows = sorted(row for row, id in wanted.items() if not (has_generated and re.search(r"#\d+$", id)))
    for row, value in zip(rows, _values(frame, name, rows)):
        if _text(value) != wanted[row]:
            raise ValueError(
                f"frame: row {row} has the {name} {value!r}, and the run had {ids[row]!r} there; "
                "expected the rows in the order of the frame that was passed to the run"
            )
    return bool(rows)


def _same_texts(frame: Any, options: dict[str, Any], corpus: Path) -> None:
    saved = Table([(corpus.name, os.fspath(corpus))], None, None).columns
    column = options.get("html-column") or options["text-column"]
    parts = [column] if column in saved else [part.strip() for part in column.split(",")]
    names = _names(frame)
    is_texts = not names and parts == ["text"]
    known = [part for part in parts if part in saved and (is_texts or part in names)]
    if not known:
        return
    given_texts = texts_of(frame) if is_texts else None
    for part in known:
        # Texts and streams are read from the beginning, once for each column.
        texts = iter(given_texts) if given_texts is not None else (row.get(part) for row in frame) if is_stream(frame) else None
        for first, read in _read(corpus, part):
            given = list(islice(texts, len(read))) if texts is not None else list(_values(frame, part, range(first, first + len(read))))
            if read == given:
                continue
            for row, (one, text) in enumerate(zip(read, given), first):
                # A string that is not UTF-8 is read as None, and lists have a different type in each library.
                if isinstance(one, str) and (isinstance(text, str) or text is None) and text != one:
                    raise ValueError(
                        f"frame: row {row} has a different text than the run read there; expected the rows in the order of the frame that "
                        "was passed to the run (if you changed the texts, use kept_mask)"
                    )


def _read(corpus: Path, part: str) -> Iterator[tuple[int, list[object]]]:
    """Yields the values of a column in the file of a frame, in lists of up to ``_ROWS`` values, each with the number of its first row."""
    rows = _dupsift.head(os.fspath(corpus), [part], sys.maxsize)
    first = 0
    while True:
        try:
            values = [row[part] for row in islice(rows, _ROWS)]
        except (TypeError, ValueError):
            # Texts that are not UTF-8, or have a type that is not compared, such as a list of structs.
            return
        if not values:
            return
        yield first, values
        first += len(values)


def _text(id: object) -> str:
    return id.decode("utf-8", "surrogateescape") if isinstance(id, bytes) else str(id)


def _columns(table: Table, names: Sequence[str]) -> Iterable[tuple[Any, ...]]:
    """Returns the values of these columns, row by row; None for a missing column. Prefers a library that is already loaded, which is faster."""
    if any(name not in table.columns for name in names):
        return (tuple(row.get(name) for name in names) for row in table)
    if "polars" in sys.modules:
        frame = table.to_polars()
        return zip(*(frame[name].to_list() for name in names))
    if "pyarrow" in sys.modules:
        arrow = table.to_arrow()
        return zip(*(arrow[name].to_pylist() for name in names))
    return (tuple(row[name] for name in names) for row in table)


def _names(frame: Any) -> list[str]:
    """Returns the names of the columns; an empty list for texts."""
    if kind_of(frame) == "pyarrow":
        return list(frame.schema.names) if hasattr(frame, "schema") else []
    if kind_of(frame) == "datasets":
        return names_of(frame) or []
    return list(getattr(frame, "columns", []))


def _values(frame: Any, name: str, rows: Sequence[int]) -> Iterable[object]:
    """Returns the values of a column in these rows."""
    if not rows:
        return []
    kind = kind_of(frame)
    if kind == "pandas":
        return frame[name].astype(object).where(frame[name].notna(), None).iloc[rows]  # type: ignore[no-any-return]
    if kind == "polars":
        return frame[name][list(rows)].to_list()  # type: ignore[no-any-return]
    if is_stream(frame):
        return _streamed(frame, name, rows)
    if kind == "datasets":
        return frame.select(rows)[name]  # type: ignore[no-any-return]
    import pyarrow

    return frame.column(name).take(pyarrow.array(rows, pyarrow.int64())).to_pylist()  # type: ignore[no-any-return]


def _streamed(dataset: Any, name: str, rows: Sequence[int]) -> Iterable[object]:
    """Returns the values of a column in these rows, which are in ascending order, and reads the stream up to the last of them."""
    wanted = iter(rows)
    row = next(wanted, None)
    for number, values in enumerate(dataset):
        if row is None:
            return
        if number == row:
            yield values.get(name)
            row = next(wanted, None)
