"""The result of a run: which rows stay, and why the others go."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from . import _dupsift
from ._dupsift import Column
from ._frames import Corpus, filtered
from ._output import Pairs
from ._table import Table

Corpora = str | Sequence[str]
PathLike = str | os.PathLike[str]
F = TypeVar("F")


def _write(folder: Path, out: PathLike | None, corpus: Corpora, remove_if: str | None, thresholds: dict[str, float], input: PathLike | None) -> Path:
    words = corpus if isinstance(corpus, str) else ",".join(corpus)
    there = None if out is None else os.fspath(out)
    _dupsift.apply(os.fspath(folder), words, there, remove_if, list(thresholds.items()), None if input is None else os.fspath(input))
    return folder if out is None else Path(out).absolute()


class Survivors:
    """Which rows are kept by another rule."""

    def __init__(self, result: Result, columns: tuple[Column, Column, Column], remove_if: str | None, thresholds: dict[str, float], input: PathLike | None) -> None:
        self._result: Result = result
        self._remove_if: str | None = remove_if
        self._thresholds: dict[str, float] = thresholds
        self._input: PathLike | None = input
        self.kept_mask: Column = columns[0]
        """A truth value for each row of the corpus: whether it is kept."""
        self.removed_rows: Column = columns[1]
        """The numbers of the removed rows, in ascending order."""
        self.kept_for: Column = columns[2]
        """For each of these the number of the kept row that replaces it."""

    @property
    def kept_rows(self) -> Column:
        """The numbers of the kept rows, Int64, in ascending order."""
        return self.kept_mask.rows()

    def filter(self, frame: F) -> F:
        """Returns a frame without the rows that are removed by this rule, like ``Result.filter``."""
        return filtered(frame, self.kept_mask)

    def write(self, out: str | os.PathLike[str], *, corpus: Corpora = "keep") -> Path:
        """Writes the corpus by this rule into the new folder ``out``, with a ``removed/`` by this rule; returns the folder.

        ``corpus`` and the errors are those of ``Result.write``.
        """
        return _write(self._result.path, out, corpus, self._remove_if, self._thresholds, self._input)

    def __repr__(self) -> str:
        return f"<dupsift.Survivors: {self.kept_mask.sum():,} of {len(self.kept_mask):,} rows>"


class Result(Pairs):
    """What a run found. ``path`` is its folder; ``print(result)`` and a cell of a notebook show the summary of the command line.

    Row numbers, ``doc`` in tables, count the rows of all files one after the other, or of the frame, from 0; of a later night of an
    index ``doc`` counts on from the nights before, and ``kept_mask`` and ``kept_rows`` do not.
    """

    def __init__(self, path: str | os.PathLike[str], corpus: Corpus | None = None, reference: Corpus | None = None) -> None:
        super().__init__(path)
        self._corpus: Corpus | None = corpus
        """The frame's file, which goes with the result."""
        self._reference: Corpus | None = reference
        """The file of a reference that was a frame, which explain reads."""
        if corpus is not None and corpus.folder in self.path.parents:
            # A folder that goes with the result is nothing to look into.
            self._summary = self._summary.rsplit("\noutput: ", 1)[0]

    def _keeps(self) -> object:
        return self._corpus

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

    def filter(self, frame: F) -> F:
        """Returns a frame without its removed rows: the frame of ``dedup``, or another one with the same rows in the same order.

        Takes frames of Polars and pandas, tables and batches of pyarrow, relations of DuckDB and one split of a Hugging Face dataset, and returns
        the same kind. ValueError for a frame with another number of rows.

            clean = dupsift.dedup(frame, text="body").filter(frame)
        """
        return filtered(frame, self.kept_mask)

    def apply(self, *, remove_if: str | None = None, input: PathLike | None = None, **thresholds: float) -> Survivors:
        """Returns which rows are kept by another rule, without another run: a rule of ``remove_if``, or pairs of at least these similarities.

        Thresholds are named by the labels of algorithms, and can only rise: the run does not know what it did not find. The corpus has to
        be where it was, or in ``input``, because lengths and other columns of ``keep`` are read again. Pairs are held in memory, about 64 bytes each.
        Nothing is written; ``apply(...).write(out)`` writes the corpus by this rule.

        ValueError for a label that the run does not have, for a threshold below what it knows, and if the rule depends on a document that
        the run did not compare with a kept one.

            result.apply(minhash=0.9).kept_rows
            result.apply(minhash=0.9).write("strict/")
        """
        columns = _dupsift.survivors(os.fspath(self.path), remove_if, list(thresholds.items()), None if input is None else os.fspath(input))
        return Survivors(self, columns, remove_if, thresholds, input)

    def write(self, out: PathLike | None = None, *, corpus: Corpora = "keep", input: PathLike | None = None) -> Path:
        """Writes the corpus without another run, like ``dupsift apply``; returns the folder that ``deduped/`` is in.

        ``corpus`` is one or several of ``keep`` (the kept rows, in ``deduped/``), ``drop`` (the removed rows, in ``dropped/``) and
        ``annotate`` (a row of marks for each row, in ``attributes/``). The files are those of a run with this ``corpus``. They are added to
        the folder of the run, or written into the new folder ``out``. ``input`` says where the corpus is now, if it was moved.

        ValueError for a corpus that has changed since the run, and for a folder that is there already.

            result.write("clean/")
        """
        return _write(self.path, out, corpus, None, {}, input)

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
