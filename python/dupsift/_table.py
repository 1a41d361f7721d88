"""Tables of a result, for any library that reads Arrow streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _dupsift

if TYPE_CHECKING:
    import pandas as _pandas
    import polars as _polars
    import pyarrow as _pyarrow


class Table(_dupsift.Table):
    """A table of a result: read from its Parquet files a batch at a time, whenever a library asks for its stream.

    ``polars.DataFrame(table)``, ``pyarrow.table(table)`` and ``duckdb.from_arrow(table)`` take it as it is. ``for row in table`` gives
    a dictionary a row and needs no library; so ``pandas.DataFrame(table)`` works too, and ``to_pandas()`` is faster. ``len(table)`` is
    the number of rows, ``table.columns`` are the names of the columns, ``table.paths`` the files.
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

    def __repr__(self) -> str:
        return f"<dupsift.Table: {len(self):,} rows of {', '.join(self.columns)}>"
