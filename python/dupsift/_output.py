"""The output of a command: a folder with its record and a summary."""

from __future__ import annotations

import errno
import html
import json
import os
from functools import cached_property
from pathlib import Path
from typing import Any

from . import _dupsift
from ._options import spelled
from ._table import Table


def place_of(input: object) -> str | None:
    """Returns the location of the corpus as a string. Raises TypeError for a frame."""
    if input is None or isinstance(input, (str, os.PathLike)):
        return None if input is None else os.fspath(input)
    raise TypeError(f"input: expected a path, got {type(input).__name__}; pass a frame to dupsift.open(folder, input=frame)")


def without_next(text: str) -> str:
    """Returns a printed answer without the command that the command line suggests next."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("next: dupsift "))


class Output:
    """An output folder. ``path`` is absolute, ``report`` is the content of run.json, and ``print`` shows the summary."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._typed: Path = Path(path)
        self.path: Path = self._typed.absolute()
        self._summary: str = self._summary_text()

    def _summary_text(self) -> str:
        # The summary shows the folder as it was passed, like the command line.
        return _dupsift.summary(os.fspath(self._typed))

    def _leave_out_place(self) -> None:
        """Leaves the folder out of the summary, for a folder that is deleted together with the result."""
        lines = self._summary.splitlines()
        self._summary = "\n".join(line for line in lines if not line.startswith(("output: ", "next: ")))

    @cached_property
    def report(self) -> dict[str, Any]:
        """The record of the run, as in run.json: options, inputs, counts, stages, guards."""
        if not (self.path / "run.json").is_file() and (self.path / "applied.json").is_file():
            run = json.loads((self.path / "applied.json").read_text(encoding="utf-8"))["run"]
            raise ValueError(f"{self._typed} was written by apply, and has only removed/ and the corpus; open the output of its run: {run}")
        record: dict[str, Any] = json.loads((self.path / "run.json").read_text(encoding="utf-8"))
        return record

    @property
    def warnings(self) -> list[str]:
        """The warnings of the run."""
        return [spelled(warning) for warning in self.report["warnings"]]

    @property
    def held(self) -> bool:
        """Whether a guard holds the result back: it did not replace an earlier result, and it was not accepted."""
        return any(guard["held"] for guard in self.report["guards"]) and "accepted" not in self.report

    def _link(self) -> str:
        page = self.path / "report.html"
        if not page.is_file():
            return ""
        return f'<p><a href="{html.escape(os.path.relpath(page))}">report.html</a></p>'

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>{self._link()}"

    def __repr__(self) -> str:
        return f"<dupsift.{type(self).__name__} {self._typed}: {str(self).splitlines()[0]}>"

    def __str__(self) -> str:
        return self._summary

    def _tables(self, kind: str, algorithm: str | None) -> Table:
        labels = [one["label"] for one in self.report["algorithms"]]
        if algorithm is not None and algorithm not in labels:
            raise ValueError(f"algorithm={algorithm!r}: this run has no algorithm with this name; expected one of {', '.join(labels)}")
        chosen = labels if algorithm is None else [algorithm]
        parts = [(label, os.fspath(self._part(kind, label))) for label in chosen]
        self._there()
        return Table(parts, "algorithm" if algorithm is None else None, self._keeps())

    def _part(self, kind: str, label: str) -> Path:
        return self.path / kind / f"algorithm={label}" / "part-00000.parquet"

    def _table(self, kind: str) -> Table:
        self._there()
        paths = sorted((self.path / kind).glob("*.parquet"))
        if not paths:
            # An output of apply has no record of a run, which is an error.
            _ = self.report
        return Table([(path.name, os.fspath(path)) for path in paths], None, self._keeps())

    def _keeps(self) -> object:
        """Returns the object that owns the files of a table, or None if the files are permanent."""
        return None

    def _there(self) -> None:
        # Without this check, the table of a deleted folder would appear to have no rows.
        if not any((self.path / record).is_file() for record in ("run.json", "applied.json")):
            raise FileNotFoundError(errno.ENOENT, "the output folder no longer exists, or is no longer an output", os.fspath(self.path))


class Pairs(Output):
    """An output with pairs and clusters."""

    _input: Path | None = None
    """The current location of the corpus, if it was given."""

    def _place(self, input: str | os.PathLike[str] | None) -> str | None:
        """Returns the location of the corpus for one call: the given location, or the location for the whole object."""
        return place_of(self._input if input is None else input)

    def pairs(self, algorithm: str | None = None) -> Table:
        """The pairs of one algorithm, sorted by (doc_a, doc_b); without a name, the pairs of all algorithms, with a column ``algorithm``.

        Columns: id_a, id_b; similarity, 0 to 1; distance, if the algorithm has one; matched_by; verified; doc_a, doc_b, the row numbers;
        contained_a, contained_b, numbers_a, numbers_b, the shares of one document that the other contains, 0 to 1; relation; why; next_best.
        Raises ValueError for a name that the run does not have.
        """
        return self._tables("pairs", algorithm)

    def clusters(self, algorithm: str | None = None) -> Table:
        """The clusters of one algorithm, one row per document; without a name, the clusters of all algorithms, with a column ``algorithm``.

        Columns: id, cluster_id (the id of its best document), cluster_size, is_representative, similarity_to_representative, doc.
        Raises ValueError for a name that the run does not have.
        """
        return self._tables("clusters", algorithm)

    def rejected(self) -> Table:
        """The rows that could not be used as documents, each with the reason: no text, an invalid text, or an unreadable file."""
        return self._table("rejected")

    def explain(
        self,
        a: str | int | None = None,
        b: str | int | None = None,
        *,
        rows: bool = False,
        input: str | os.PathLike[str] | None = None,
        seed: int = 0,
        worst: bool = False,
    ) -> Explanation:
        """Explains why two documents are or are not a pair: signatures, scores, and a side-by-side comparison.

        ``a`` and ``b`` are ids or FILE#ROW. With ``rows=True``, they are row numbers of the corpus, as in the column ``doc`` of the tables;
        in an incremental run, these numbers continue from the earlier batches. Without ``b``, ``a`` is compared with the document that was
        kept instead, or with the most similar document in a pair with ``a``. Without both, a removed document is explained: one that is drawn
        with ``seed``, or the most doubtful one with ``worst=True``. The corpus must be in its original location, or ``input`` must
        give its new location. Raises ValueError for unknown documents, and if the corpus has changed.
        """
        self._there()
        if a is None and b is not None:
            raise ValueError("b: expected a document as a, too")
        asked = [str(one) for one in (a, b) if one is not None]
        return Explanation(*_dupsift.explain(os.fspath(self.path), asked, rows, self._place(input), seed, worst))

    def show(
        self,
        what: str = "removed",
        *,
        limit: int = 20,
        worst: bool = False,
        grep: str | None = None,
        source: str | None = None,
        input: str | os.PathLike[str] | None = None,
    ) -> Listing:
        """Lists rows: the ``removed`` documents, the ``kept_similar`` pairs of which both documents are kept, or the ``clusters``.

        ``limit`` is the maximum number of rows. With ``worst=True``, the most doubtful rows come first. ``grep`` selects documents whose id or
        text contains a text, and ``source`` those of an input file or with a value in the column of sources; both read the corpus.
        Raises ValueError for an unknown source, and if the corpus has changed.
        """
        self._there()
        record, text = _dupsift.show(os.fspath(self.path), what, (limit, worst), (grep, source), self._place(input))
        return Listing(record, without_next(text))


class Comparison(Pairs):
    """The result of ``compare``. ``print`` shows the table and the recommended algorithm or preset."""

    @cached_property
    def comparison(self) -> dict[str, Any]:
        """The metrics of each algorithm and preset, their agreement, and combinations."""
        path = self.path / "compare" / "comparison.json"
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return record

    @property
    def advice(self) -> str | None:
        """The recommendation as a sentence, or None if nothing was found."""
        advice = self.comparison["advice"]
        return advice["sentence"] if advice else None

    def judged(self) -> Table:
        """The judged pairs, each with the verdict and the algorithms that found it."""
        return self._table("compare")


class Pages(Output):
    """The result of ``purify``."""

    def _summary_text(self) -> str:
        report = self.report
        if "written" in report:
            return f"{report['written']:,} of {report['rows']:,} pages: {self.path}\n"
        return f"category model: {self.path}\n"

    def pages(self) -> Table:
        """One row per page: its extracted parts and the copied columns."""
        return self._table("pages")

    def rejected(self) -> Table:
        """The rows that are not pages, each with the reason."""
        return self._table("rejected")


class Printed:
    """A record that prints as readable text."""

    def __init__(self, record: str, text: str) -> None:
        self.record: dict[str, Any] = json.loads(record)
        self._text: str = text

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<dupsift.{type(self).__name__}: {self._headline()}>"

    def _headline(self) -> str:
        return self._text.strip().splitlines()[0] if self._text.strip() else ""

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._text)}</pre>"


class Explanation(Printed):
    """An explanation of why two documents are or are not a pair. ``print`` shows it; ``record`` has all signatures and scores.

    A notebook cell shows what became of the two documents, then the two texts side by side, with differences highlighted.
    """

    def __init__(self, record: str, text: str, marked: str) -> None:
        super().__init__(record, text)
        self._marked: str = marked

    def _repr_html_(self) -> str:
        answer, _, rest = self._text.partition("\n\n")
        # The differences are marked below, so the lines of the text between the locations and the table of algorithms are left out.
        places, _, _ = rest.partition("\n\n")
        at = rest.find("\n algorithm ")
        scores = rest[at + 1 :] if at >= 0 else rest
        lines = "<br>".join(html.escape(line) for line in answer.splitlines())
        details = html.escape("\n\n".join([places, scores]))
        everything = f"<details><summary>scores and signatures</summary><pre>{details}</pre></details>"
        return f"<p>{lines}</p>{self._marked}{everything}"


class Listing(Printed):
    """Rows of a result. ``print`` shows a table; ``record["rows"]`` has all fields of each row."""


class Rules(Printed):
    """What each removal rule removes. ``print`` shows the table; ``record["rules"]`` has a row for each rule."""


class Sample(Printed):
    """Removals for labeling. ``print`` shows them as CSV with an empty column ``label``; ``record["pairs"]`` has a dictionary for each."""

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the CSV file, to be labeled and passed to ``dupsift.evaluate``."""
        Path(path).write_text(self._text, encoding="utf-8", newline="")


class Estimate(Printed):
    """The estimated resources of a run and, with ``sample``, its estimated removals.

    ``print`` shows the estimate; ``record`` has the numbers.

    ``record`` has documents, input_bytes, algorithms, memory_bytes, disk_bytes (temporary files) and passes, for the complete corpus. With
    ``sample``, ``record["sample"]`` has documents, used, removed and seconds of the run over the sample; removed_share, the lowest and highest
    estimate for the complete corpus, 0 to 1; and estimated_seconds. Without ``sample``, it is None.
    """


class Evaluation(Printed):
    """A result compared with labels. ``print`` shows the table; ``record`` has the metrics of each algorithm."""
