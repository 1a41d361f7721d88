"""Tables of a result, for any library that reads Arrow streams."""

from __future__ import annotations

import html
import re
from itertools import islice
from typing import TYPE_CHECKING

from . import _dupsift

if TYPE_CHECKING:
    import pandas as _pandas
    import polars as _polars
    import pyarrow as _pyarrow

# Rows that a notebook shows, and characters of a value.
_SHOWN = 10
_LONG = 100
# Control characters and marks that turn the direction of writing, which would show another text than is there.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def _cell(value: object) -> str:
    if value is None:
        return ""
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    text = text if len(text) <= _LONG else text[:_LONG] + "…"
    return html.escape(_UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text))


class Table(_dupsift.Table):
    """A table of a result: read from its Parquet files a batch at a time, whenever a library asks for its stream.

    ``polars.DataFrame(table)``, ``pyarrow.table(table)`` and ``duckdb.from_arrow(table)`` take it as it is. ``for row in table`` gives
    a dictionary a row and needs no library; so ``pandas.DataFrame(table)`` works too, and ``to_pandas()`` is faster. ``len(table)`` is
    the number of rows, ``table.columns`` are the names of the columns, ``table.paths`` the files. A cell of a notebook shows ten rows.
    """

    def to_polars(self) -> _polars.DataFrame:
        """The table as a ``polars.DataFrame``. ImportError where polars is not installed."""
        import polars

        return polars.DataFrame(self)

    def to_arrow(self) -> _pyarrow.Table:
        """The table as a ``pyarrow.Table``. ImportError where pyarrow is not installed."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> _pandas.DataFrame:
        """The table as a ``pandas.DataFrame``, by pyarrow. ImportError where one of the two is not installed."""
        return self.to_arrow().to_pandas()

    def _repr_html_(self) -> str:
        heads = "".join(f"<th>{_cell(name)}</th>" for name in self.columns)
        rows = "".join("<tr>" + "".join(f"<td>{_cell(row[name])}</td>" for name in self.columns) + "</tr>" for row in islice(self, _SHOWN))
        which = f", the first {_SHOWN} are shown" if len(self) > _SHOWN else ""
        count = f"{len(self):,} row{'' if len(self) == 1 else 's'}{which}"
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table><p>{count}</p>"

    def __repr__(self) -> str:
        return f"<dupsift.Table: {len(self):,} rows of {', '.join(self.columns)}>"
