"""Finds the documents of a corpus that contain items of an evaluation set."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from . import _dupsift
from ._dupsift import Column
from ._frames import Corpus, columns_of, is_frame
from ._options import given_of, inputs_of, with_keywords
from ._output import Output
from ._progress import shown
from ._table import Table
from ._verbs import _told

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import ContaminatedOptions

PathLike = os.PathLike[str]

# The columns of an evaluation set, each with its default name.
_OF_ITEMS = {
    "item_column": "question",
    "item_id_column": "id",
    "choices_column": "choices",
    "answer_column": "answer",
    "suite_column": "suite",
}
# Keywords of the search that do not name a column.
_OF_SEARCH = ("ngram", "public_documents", "threshold", "cut_spans")


class Contamination(Output):
    """The result of ``contaminated``. ``path`` is its folder; ``print(result)`` shows the summary."""

    def __init__(self, path: str | PathLike, frames: tuple[Corpus, ...] = ()) -> None:
        super().__init__(path)
        self._frames: tuple[Corpus, ...] = frames
        """The files of frames, which are deleted together with the result."""
        if any(one.folder in self.path.parents for one in frames):
            self._leave_out_place()

    def _told(self) -> str:
        return _dupsift.contaminated_summary(os.fspath(self._typed))

    @cached_property
    def clean_mask(self) -> Column:
        """One boolean per row of the corpus: False if the row is contaminated."""
        self._there()
        return _dupsift.contaminated_mask(os.fspath(self.path))

    def contaminated(self) -> Table:
        """One row per document and item with a score of at least 0.5, and one per variant of an item.

        Columns: id, doc, eval_id, suite; relation (leak, variant, public); score, 0 to 1; grams, grams_found; answer_found; start, end, in characters; start_byte, end_byte;
        text, the beginning of the span.
        """
        return self._table("contaminated")

    def items(self) -> Table:
        """One row per item: eval_id, suite, tokens, status (found, variant, not found, public, shared, too short), documents_80, documents_50,
        variants, score, text."""
        return self._table("items")

    def suites(self) -> Table:
        """One row per evaluation set: suite, items, too_short, public, found_80, found_50, documents_80, documents_50, variants."""
        return self._table("suites")

    def rejected(self) -> Table:
        """The rows of the corpus and the evaluation set that could not be used, each with the reason."""
        return self._table("rejected")


@with_keywords("contaminated", but=("out", "against"))
def contaminated(
    documents: object,
    against: object,
    out: str | PathLike | None = None,
    **options: Unpack[ContaminatedOptions],
) -> Contamination:
    """Finds the documents of a corpus that contain items of an evaluation set.

    ``documents`` and ``against`` are each files, folders or globs, or a frame (Polars, pandas, PyArrow, DuckDB, or one split of a Hugging
    Face dataset). The evaluation set is kept in memory; the corpus is read once. Neither is changed. With ``corpus="keep"``, the clean corpus
    is written to ``clean/``. For frames, ``out`` is optional; without it, the output is deleted together with the returned object.

    Raises the same exceptions as ``run``.

        found = dupsift.contaminated("crawl/*.parquet", against="exams/*.jsonl", out="found/")
        found = dupsift.contaminated(frame, against=questions, item_column="question")
        clean = frame.filter(polars.Series(found.clean_mask))
    """
    settings: dict[str, object] = dict(options)
    beside = options.get("work") or (Path(out).absolute().parent if out is not None else None)
    frames: list[Corpus] = []

    def files(data: object, columns: list[tuple[str, str | None]], every: bool) -> list[str]:
        if not is_frame(data):
            if not isinstance(data, (str, os.PathLike, Iterable)):
                raise TypeError(f"expected paths, globs or a frame, got {type(data).__name__}")
            return inputs_of(data)
        frames.append(Corpus(data, columns, every, beside))
        return [os.fspath(frames[-1].path)]

    of_corpus = {name: value for name, value in settings.items() if name not in (*_OF_ITEMS, *_OF_SEARCH)}
    inputs = files(documents, *columns_of(of_corpus, {}))
    items: list[tuple[str, str | None]] = []
    for keyword, usual in _OF_ITEMS.items():
        given = settings.get(keyword)
        required = given is not None or keyword == "item_column"
        name = usual if given is None else ",".join(given) if isinstance(given, (list, tuple)) else str(given)
        items.append((name, keyword if required else None))
    settings["against"] = files(against, items, False)
    if out is None and not frames:
        raise TypeError("out= is missing: expected an output folder, which is optional only for frames")
    settings["out"] = out if out is not None else frames[0].folder / "out"
    with shown(options.get("no_progress")) as told:
        folder = _dupsift.contaminated_run(inputs, given_of(settings), told)
    result = Contamination(folder, tuple(frames))
    _told(result)
    return result
