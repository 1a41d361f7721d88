"""The result of a run: which rows are kept, and why the others are removed."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from . import _dupsift
from ._dupsift import Column
from ._frames import FOLDER, Corpus, filtered
from ._ids import suggestion
from ._order import check_order
from ._output import Pairs, Rules, Sample, without_next
from ._table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The reasons for a removal, in the words of the summary, in this order.
_REASONS = {
    "copy": "exact copies",
    "pair": "near-duplicates",
    "chain": "in chains",
    "seen": "seen before",
    "emptied": "emptied",
    "representative": "originals",
}
# The colors of the kept documents and of each reason, which people with color blindness can distinguish (Okabe and Ito 2008).
_COLORS = ["#999999", "#0072b2", "#e69f00", "#cc79a7", "#009e73", "#d55e00", "#56b4e9"]
# The number of bars for similarities from 0 to 1.
_BINS = 50

Corpora = str | Sequence[str]
PathLike = str | os.PathLike[str]
F = TypeVar("F")


def _has_all_columns(corpus: Corpus | None, words: Corpora) -> None:
    if corpus is not None and corpus.left_out and "annotate" != words:
        raise ValueError(
            f"corpus: the run did not read all columns of the frame (not read: {', '.join(map(repr, corpus.left_out))}); "
            "use result.filter(frame) to filter the frame itself, or pass corpus=\"keep\" to the run"
        )


def _write(folder: Path, out: PathLike | None, corpus: Corpora, remove_if: str | None, thresholds: dict[str, float], input: str | None, add: str | Sequence[str] = "none", overwrite: bool = False) -> Path:
    words = corpus if isinstance(corpus, str) else ",".join(corpus)
    there = None if out is None else os.fspath(out)
    _dupsift.apply(os.fspath(folder), words, there, remove_if, list(thresholds.items()), input, add if isinstance(add, str) else ",".join(add), overwrite)
    return folder if out is None else Path(out).absolute()


def _png(figure: Figure) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


class Survivors:
    """The rows that a different rule keeps."""

    def __init__(self, result: Result, columns: tuple[Column, Column, Column], remove_if: str | None, thresholds: dict[str, float], input: str | None) -> None:
        self._result: Result = result
        self._remove_if: str | None = remove_if
        self._thresholds: dict[str, float] = thresholds
        self._input: str | None = input
        self.kept_mask: Column = columns[0]
        """One boolean per row of the corpus: whether it is kept."""
        self.removed_rows: Column = columns[1]
        """The numbers of the removed rows, in ascending order."""
        self.kept_for: Column = columns[2]
        """For each removed row, the number of the row that is kept instead."""

    @property
    def kept_rows(self) -> Column:
        """The numbers of the kept rows, Int64, in ascending order."""
        return self.kept_mask.rows()

    def filter(self, frame: F) -> F:
        """Returns a frame without the rows that this rule removes, like ``Result.filter``."""
        return filtered(frame, self.kept_mask, self._result._limit, self._result._in_order)

    def write(self, out: str | os.PathLike[str], *, corpus: Corpora = "keep", add: str | Sequence[str] = "none", overwrite: bool = False) -> Path:
        """Writes the corpus and ``removed/`` by this rule to the new folder ``out``, and returns the folder.

        ``corpus``, ``add``, ``overwrite`` and the exceptions are the same as for ``Result.write``.
        """
        _has_all_columns(self._result._corpus, corpus)
        return _write(self._result.path, out, corpus, self._remove_if, self._thresholds, self._input, add, overwrite)

    def __repr__(self) -> str:
        return f"<dupsift.Survivors: {self.kept_mask.sum():,} of {len(self.kept_mask):,} rows>"


class Result(Pairs):
    """The result of a run. ``path`` is its folder; ``print(result)`` and a notebook cell show the summary.

    Row numbers (``doc`` in tables) start at 0 and count the rows of the frame, or of all files in order. In an incremental run, ``doc``
    continues from the earlier batches, but ``kept_mask`` and ``kept_rows`` do not.

    After a run with ``sample``, ``kept_mask``, ``kept_rows``, ``filter``, ``apply`` and ``write`` raise ValueError, because most rows are
    neither kept nor removed.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        corpus: Corpus | None = None,
        reference: Corpus | None = None,
        input: Path | None = None,
    ) -> None:
        super().__init__(path)
        self._input = input
        self._corpus: Corpus | None = corpus
        """The frame's file, which is deleted together with the result."""
        self._reference: Corpus | None = reference
        """The file of a reference that was a frame, which explain reads."""
        if self._is_of_frame():
            hint = None if corpus is None else corpus.id_hint
            self._summary = suggestion(self._summary, None if hint is None else hint[0], hint is not None)
        if corpus is not None and corpus.folder in self.path.parents:
            self._leave_out_place()

    def _summary_text(self) -> str:
        # The summary of the command line shows the command that writes the corpus.
        return re.sub(r"^next: dupsift apply .*$", "next: result.write()", super()._summary_text(), flags=re.MULTILINE)

    def _keeps(self) -> object:
        return self._corpus

    def _is_of_frame(self) -> bool:
        """Returns whether the run read a frame."""
        if not (self.path / "run.json").is_file():
            return False
        inputs = self.report["inputs"]
        return len(inputs) == 1 and Path(inputs[0]["path"]).parent.name.startswith(FOLDER)

    @property
    def _limit(self) -> int | None:
        """The option ``limit`` of the run."""
        limit: int | None = self.report["options"].get("limit")
        return limit

    @cached_property
    def rows(self) -> int:
        """The number of rows in the corpus, including rejected rows and rows outside a sample.

        With ``limit``, only the first rows count.
        """
        rows: int = sum(one["rows"] for one in self.report["inputs"])
        return rows if self._limit is None else min(rows, self._limit)

    @cached_property
    def kept_mask(self) -> Column:
        """One boolean per row of the corpus: whether it is kept. Rows whose text is null are kept, because they are not duplicates; rows
        whose text is blank are not kept.

        Raises ValueError after a run with ``sample``.
        """
        self._there()
        return _dupsift.kept_mask(os.fspath(self.path))

    @property
    def kept_rows(self) -> Column:
        """The numbers of the kept rows, Int64, in ascending order, for example for ``datasets.Dataset.select``."""
        return self.kept_mask.rows()

    def _parts(self) -> list[tuple[str, int]]:
        """Returns the number of documents that are kept, and the number that are removed for each reason, as in the summary."""
        removal = self.report["removal"]
        names = (name for name in _REASONS if removal["reasons"].get(name))
        return [("kept", removal["kept"]), *((_REASONS[name], removal["reasons"][name]) for name in names)]

    def _repr_html_(self) -> str:
        parts = self._parts()
        total = sum(count for _, count in parts) or 1
        colors = dict(zip((name for name, _ in parts), _COLORS))
        bar = "".join(
            f'<div title="{name}: {count:,}" style="width:{100 * count / total:.2f}%;background:{colors[name]}"></div>' for name, count in parts
        )
        legend = " ".join(
            f'<span style="white-space:nowrap"><span style="color:{colors[name]}">■</span> {name} {count:,}</span>' for name, count in parts
        )
        return f'<div style="display:flex;height:1em;max-width:60em">{bar}</div><p>{legend}</p>{super()._repr_html_()}'

    def _link(self) -> str:
        # A link into a folder that is deleted together with the result would soon lead nowhere.
        return "" if self._corpus is not None and self._corpus.folder in self.path.parents else super()._link()

    def plot(self) -> Figure:
        """Plots how many documents are kept and removed, and how similar the removed documents are to the kept ones.

        Returns a ``matplotlib.figure.Figure``, which a notebook cell shows; ``figure.savefig(path)`` writes it. Similarities are those of
        the table of removals, without exact copies. Raises ImportError if Matplotlib is not installed.
        """
        self._there()
        try:
            from matplotlib.figure import Figure
        except ImportError as error:
            raise ImportError("plot() needs Matplotlib: pip install matplotlib") from error
        parts = self._parts()
        bins = [0] * _BINS
        for row in self.removed():
            if row["reason"] in ("pair", "chain") and row["similarity"] is not None:
                bins[min(int(row["similarity"] * _BINS), _BINS - 1)] += 1
        first = next((at for at, count in enumerate(bins) if count), _BINS - 1)
        # A notebook shows this figure without the state of matplotlib.pyplot.
        figure: Figure = type("Plot", (Figure,), {"_repr_png_": _png})(figsize=(10, 3), layout="constrained")
        left, right = figure.subplots(1, 2)
        left.barh([name for name, _ in parts], [count for _, count in parts], color=_COLORS[: len(parts)])
        left.bar_label(left.containers[0], [f"{count:,}" for _, count in parts], padding=3)
        left.margins(x=0.15)
        left.invert_yaxis()
        left.set_xlabel("documents")
        right.bar([(at + 0.5) / _BINS for at in range(first, _BINS)], bins[first:], width=0.9 / _BINS, color=_COLORS[2])
        right.set_xlabel("similarity to the document kept instead")
        right.set_ylabel("near-duplicates removed")
        return figure

    def rules(self, *, input: PathLike | None = None) -> Rules:
        """Counts the documents and bytes that stricter and looser rules remove. Nothing is written; the corpus must still exist."""
        self._there()
        record, text = _dupsift.rules(os.fspath(self.path), self._place(input))
        return Rules(record, without_next(text))

    def sample(
        self, pairs: int = 50, *, by: str | Sequence[str] = (), seed: int = 0, input: PathLike | None = None
    ) -> Sample:
        """Draws removals for labeling, all but exact copies.

        ``by`` is ``"similarity"``, ``"source"`` or both: groups that are represented by their share. Write ``y``, ``n`` or ``unsure`` into the
        column ``label``, and pass the file, or a frame with the columns id_a, id_b and label, to ``dupsift.evaluate``.
        Raises ValueError if there is nothing to label.
        """
        self._there()
        names = by.split(",") if isinstance(by, str) else list(by)
        unknown = [name for name in names if name not in ("similarity", "source")]
        if unknown:
            raise ValueError(f'by: {unknown[0]!r}; expected "similarity" or "source"')
        groups = ("similarity" in names, "source" in names)
        return Sample(*_dupsift.sample(os.fspath(self.path), (pairs, seed), groups, self._place(input)))

    def filter(self, frame: F) -> F:
        """Returns a frame without its removed rows. Pass the frame of ``dedup``, or a frame with the same rows in the same order.

        Accepts Polars and pandas frames, PyArrow tables and batches, DuckDB relations, and one split of a Hugging Face dataset, and returns
        the same kind; also lists, Series and arrays of texts. Raises ValueError for a frame with a different number of rows, or with the
        rows in a different order, and after a run with ``sample``. The order is checked by the ids of the removed documents and of the
        documents kept instead. Without ids, all texts are compared if the result was made in this process or opened with
        ``input=frame``; otherwise, only the number of rows is checked.

            clean = dupsift.dedup(frame, text_column="body").filter(frame)
        """
        return filtered(frame, self.kept_mask, self._limit, self._in_order)

    def _in_order(self, frame: object) -> None:
        """Raises ValueError if the rows of the frame are not in the order of the run."""
        check_order(frame, self.report, self.removed(), None if self._corpus is None else self._corpus.path)

    def apply(self, *, remove_if: str | None = None, input: PathLike | None = None, **thresholds: float) -> Survivors:
        """Returns the rows that a different rule keeps, without a new run: a value of ``remove_if``, or minimum similarities of pairs.

        The keyword of a threshold is the label of an algorithm, as in ``minhash=0.9``. Thresholds can only be raised, because the run
        recorded no pairs below its threshold. The corpus must be in its original location, or ``input`` must give its new location, because
        lengths and other columns of ``keep`` are read again. Pairs are held in memory, about 64 bytes each. Nothing is written;
        ``apply(...).write(out)`` writes the corpus by this rule.

        Raises ValueError for a label that the run does not have, for a threshold below the run's, and if the rule depends on a document that the
        run did not compare with a kept document.

            result.apply(minhash=0.9).kept_rows
            result.apply(minhash=0.9).write("strict/")
        """
        self._there()
        place = self._place(input)
        columns = _dupsift.survivors(os.fspath(self.path), remove_if, list(thresholds.items()), place)
        return Survivors(self, columns, remove_if, thresholds, place)

    def write(self, out: PathLike | None = None, *, corpus: Corpora = "keep", input: PathLike | None = None, add: str | Sequence[str] = "none", overwrite: bool = False) -> Path:
        """Writes the corpus without a new run, like ``dupsift apply``. Returns the folder that contains ``deduped/``.

        ``corpus`` is one or more of ``keep`` (the kept rows, in ``deduped/``), ``drop`` (the removed rows, in ``dropped/``) and ``annotate`` (one
        row of attributes per row, in ``attributes/``). The files are the same as from a run with this ``corpus``. They are added to the folder of
        the run, or written to the new folder ``out``. If the corpus was moved, pass its location as ``input``. ``add`` names
        columns to add to the kept rows: ``cluster_size``, ``copies``, ``sources``, ``duplicates``. With ``overwrite``, existing folders are replaced.

        Raises ValueError if the corpus has changed since the run, if the folder already exists, or if the corpus is a frame with
        columns that the run did not read (in this case, use ``result.filter(frame)``).

            result.write("clean/")
        """
        self._there()
        if input is None and "sample" not in self.report["options"]:
            _has_all_columns(self._corpus, corpus)
        return _write(self.path, out, corpus, None, {}, self._place(input), add, overwrite)

    def passages(self) -> Table:
        """The repeated passages that ``cut`` found, in document order.

        Columns: id, doc; start, end in characters of the text; start_byte, end_byte; copies; first_id, first_doc, first_start of the
        first copy, null with ``cut_first``.
        """
        return self._table("passages")

    def removed(self) -> Table:
        """The removed documents, in row order.

        Columns: id; kept_id, the document that was kept instead; similarity; algorithm; reason (copy, pair, chain, emptied or
        representative); keep_rule; doc, kept_doc; contained, numbers, the shares of the removed document that the kept document contains;
        kept_in, the batch or the file of the reference that contains the kept document, or None if it is in the corpus.
        """
        return self._table("removed")
