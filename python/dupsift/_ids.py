"""Suggests the column of a frame that probably contains the ids."""

from __future__ import annotations

import os
import re
from pathlib import Path

from . import _dupsift
from ._frames import names_of
from ._table import Table

# The same names as in crates/input/src/format/schema.rs, most likely names first.
_NAMES = ("id", "_id", "doc_id", "docid", "document_id", "uuid", "uid", "guid", "warc_record_id", "record_id", "page_id", "url", "uri")

# The number of rows that are inspected.
_ROWS = 1_000


def id_columns(frame: object, text: object) -> list[str]:
    """Returns the columns that may contain the ids, judging by their names.

    Returns an empty list if there is an ``id`` column or if the frame has no column names.
    """
    names = names_of(frame) or []
    return [] if "id" in names else [name for name in names if name.lower() in _NAMES and name != text]


def likely_id(path: Path, text: object) -> str | None:
    """Returns the column of a frame's file that the command line would suggest for ids, or None if no such column contains ids in its first rows."""
    saved = Table([(path.name, os.fspath(path))], None, None)
    named = sorted((_NAMES.index(name.lower()), name) for name in saved.columns if name.lower() in _NAMES and name not in ("id", text))
    for _, name in named:
        try:
            first = next((row[name] for row in _dupsift.head(os.fspath(path), [name], _ROWS) if row[name] is not None), None)
        except TypeError:
            # The column has a type that is not an id, such as a date.
            continue
        except ValueError:
            # Strings that are not UTF-8 are counted as ids; the run names their rows FILE#ROW.
            return name
        if isinstance(first, (str, bytes, int)) and not isinstance(first, bool):
            return name
    return None


def suggestion(summary: str, column: str | None, is_known: bool) -> str:
    """Returns the summary of a run over a frame, with the suggested id column as a keyword of ``dedup``.

    ``is_known`` is True if the frame was inspected; ``column`` is then its id column, or None if it has none.
    """

    def line(found: re.Match[str]) -> str:
        name = column if is_known else found[1]
        return f'ids are FILE#ROW; `id_column="{name}"` uses the column "{name}" instead\n' if name is not None else ""

    return re.sub(r'^ids are FILE#ROW; `id_column="(.*)"` uses the column .*\n', line, summary, flags=re.MULTILINE)
