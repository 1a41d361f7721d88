"""The result of a run: which rows stay, and why the others go."""

from __future__ import annotations

import os
from functools import cached_property

from . import _dupsift
from ._dupsift import Column
from ._frames import Corpus
from ._output import Pairs
from ._table import Table


class Survivors:
    """Which rows stay by other thresholds."""

    def __init__(self, kept_mask: Column, removed_rows: Column, kept_for: Column) -> None:
        self.kept_mask: Column = kept_mask
        """A truth value a row of the corpus: whether it stays."""
        self.removed_rows: Column = removed_rows
        """The numbers of the rows that go, in ascending order."""
        self.kept_for: Column = kept_for
        """For each of these the number of the row that stays for it."""

    @property
    def kept_rows(self) -> Column:
        """The numbers of the rows that stay, Int64, in ascending order."""
        return self.kept_mask.rows()

    def __repr__(self) -> str:
        return f"<dupsift.Survivors: {self.kept_mask.sum():,} of {len(self.kept_mask):,} rows>"


class Result(Pairs):
    """What a run found. ``path`` is its folder; ``print(result)`` and a cell of a notebook show the summary of the command line.

    Row numbers, ``doc`` in tables, count the rows of all files one after the other, or of the frame, from 0; of a later night of an
    index ``doc`` counts on from the nights before, and ``kept_mask`` and ``kept_rows`` do not.
    """

    def __init__(self, path: str | os.PathLike[str], corpus: Corpus | None = None) -> None:
        super().__init__(path)
        self._corpus: Corpus | None = corpus
        """The frame's file, which goes with the result."""
        if corpus is not None and corpus.folder in self.path.parents:
            # A folder that goes with the result is nothing to look into.
            self._summary = self._summary.rsplit("\noutput: ", 1)[0]

    @cached_property
    def rows(self) -> int:
        """The rows of the corpus, rejected ones too."""
        return sum(one["rows"] for one in self.report["inputs"])

    @cached_property
    def kept_mask(self) -> Column:
        """A truth value a row of the corpus: whether the removal list leaves it. Rows without a text are no duplicates and stay."""
        # Of a later night of an index numbers count on from the nights before.
        first = (self.report.get("index") or {}).get("first_doc", 0)
        return _dupsift.kept_mask(os.fspath(self.path / "removed" / "part-00000.parquet"), first, self.rows)

    @property
    def kept_rows(self) -> Column:
        """The numbers of the rows that stay, Int64, in ascending order: for ``datasets.Dataset.select``."""
        return self.kept_mask.rows()

    def rethreshold(self, *, remove_if: str | None = None, **thresholds: float) -> Survivors:
        """Which rows stay by the pairs of at least these similarities, without another run.

        Thresholds are named by the labels of algorithms, and can only rise: what the run did not find it does not know. The rules are
        those of the run; ``remove_if`` takes another one. The corpus has to stand where it was: lengths and other columns that
        ``keep`` asks for are read again. Pairs are held in memory, about 64 bytes each.

        ValueError for a label that the run does not have, for a threshold below what it knows, and where a document is asked about that the
        run did not hold against a kept one.

            result.rethreshold(minhash=0.9).kept_rows
        """
        columns = _dupsift.rethreshold(os.fspath(self.path), list(thresholds.items()), remove_if)
        return Survivors(*columns)

    def passages(self) -> Table:
        """The repeated passages that ``cut`` found, in order of their documents.

        Columns: id, doc; start, end in characters of the text; start_byte, end_byte; copies; first_id, first_doc, first_start of the
        first copy, null with ``cut_first``.
        """
        return self._table("passages")

    def removed(self) -> Table:
        """The documents that go, in order of their rows.

        Columns: id; kept_id, the document that stays for it; similarity; algorithm; reason (copy, pair, chain or emptied); keep_rule; doc, kept_doc;
        contained, numbers, the shares of it that stand in the kept one.
        """
        return self._table("removed")
