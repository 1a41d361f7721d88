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

# The number of rows that a notebook shows, and the number of characters per value.
_SHOWN = 10
_LONG = 100
# The columns that a notebook shows first.
_FIRST = ("algorithm", "id", "kept_id", "id_a", "id_b", "similarity", "relation", "reason", "kept_in", "why")
# Control characters and direction marks, which would make a text look different from its actual content.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def _cell(value: object) -> str:
    if value is None:
        return ""
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    text = text if len(text) <= _LONG else text[:_LONG] + "…"
    return html.escape(_UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text))


class Table(_dupsift.Table):
    """A table of a result. It is read from its Parquet files batch by batch, whenever a library requests its stream.

    ``polars.DataFrame(table)``, ``pyarrow.table(table)`` and ``duckdb.from_arrow(table)`` accept it directly. ``for row in table`` yields one
    dictionary per row and needs no library, so ``pandas.DataFrame(table)`` works too; ``to_pandas()`` is faster. ``len(table)`` is the number
    of rows, ``table.columns`` the column names, and ``table.paths`` the files. A notebook cell shows ten rows, ids and similarities first.
    """

    def to_polars(self) -> _polars.DataFrame:
        """Returns the table as a ``polars.DataFrame``. Raises ImportError if Polars is not installed."""
        import polars

        return polars.DataFrame(self)

    def to_arrow(self) -> _pyarrow.Table:
        """Returns the table as a ``pyarrow.Table``. Raises ImportError if PyArrow is not installed."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> _pandas.DataFrame:
        """Returns the table as a ``pandas.DataFrame``. Raises ImportError if pandas or PyArrow is not installed."""
        return self.to_arrow().to_pandas()

    def _repr_html_(self) -> str:
        names = sorted(self.columns, key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
        shown = list(islice(self, _SHOWN))
        heads = "".join(f"<th>{_cell(name)}</th>" for name in names)
        rows = "".join("<tr>" + "".join(f"<td>{_cell(row[name])}</td>" for name in names) + "</tr>" for row in shown)
        which = f", the first {_SHOWN} are shown" if len(self) > _SHOWN else ""
        count = f"{len(self):,} row{'' if len(self) == 1 else 's'}{which}"
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table><p>{count}</p>"

    def __repr__(self) -> str:
        return f"<dupsift.Table: {len(self):,} rows of {', '.join(self.columns)}>"
