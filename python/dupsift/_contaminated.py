"""Finds the documents of a corpus that contain items of an evaluation set."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from . import _dupsift
from ._dupsift import Column
from ._frames import Corpus, columns_of, filtered, is_frame, texts_of
from ._options import given_of, inputs_of, with_keywords
from ._order import check_order
from ._output import Output
from ._progress import shown
from ._table import Table
from ._verbs import _warn_if_held

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import ContaminatedOptions

F = TypeVar("F")
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

    def __init__(
        self, path: str | PathLike, frames: tuple[Corpus, ...] = (), corpus: Corpus | None = None, options: dict[str, Any] | None = None
    ) -> None:
        super().__init__(path)
        self._frames: tuple[Corpus, ...] = frames
        """The files of frames, which are deleted together with the result."""
        self._corpus: Corpus | None = corpus
        """The file of the documents, if they were a frame."""
        self._options: dict[str, Any] = options or {}
        if any(one.folder in self.path.parents for one in frames):
            self._leave_out_place()

    def _summary_text(self) -> str:
        return _dupsift.contaminated_summary(os.fspath(self._typed))

    @cached_property
    def clean_mask(self) -> Column:
        """One boolean per row of the corpus: False if the row is contaminated."""
        self._there()
        return _dupsift.contaminated_mask(os.fspath(self.path))

    def filter(self, frame: F) -> F:
        """Returns a frame without its contaminated rows. Pass the frame that was searched, or a frame with the same rows in the same order.

        Accepts the same frames as ``Result.filter``, and checks the order of the rows in the same way. Raises ValueError for a frame with a
        different number of rows, or with the rows in a different order.

            clean = dupsift.contaminated(frame, against=questions).filter(frame)
        """
        return filtered(frame, self.clean_mask, self._options.get("limit"), self._in_order)

    def _in_order(self, frame: object) -> None:
        """Raises ValueError if the rows of the frame are not in the order of the search."""
        options: dict[str, Any] = {"id-column": "id", "text-column": "text"}
        for name, value in given_of(self._options):
            options[name.replace("_", "-")] = ",".join(value) if isinstance(value, list) else value
        # Any row may lack an id.
        report = {"options": options, "ids": {"missing": 1}}
        check_order(frame, report, self.contaminated(), None if self._corpus is None else self._corpus.path)

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


# The endings of data files, and strings that may be the path of a file or folder that does not exist.
_ENDING = re.compile(r"\.(parquet|jsonl?|ndjson|[ct]sv|arrow|feather|warc|wet|html?|txt)(\.gz|\.zst)?$", re.IGNORECASE)
_BARE = re.compile(r"[!-~]+")

# The number of strings in a list, and of characters in a string, that may be paths.
_PATHS, _LONGEST = 1_000, 255


def _are_texts(data: object) -> bool:
    """Returns whether this is a list of texts rather than of paths. Raises TypeError for a list of dictionaries."""
    if not isinstance(data, (list, tuple)):
        return False
    texts = [one for one in texts_of(data) or () if one is not None]
    if not data or not all(isinstance(one, str) for one in texts):
        return False
    first = [text for text in texts[:_PATHS] if len(text) <= _LONGEST and "\n" not in text]
    if any(os.path.lexists(text) or _ENDING.search(text) for text in first):
        return False
    # A sentence contains white space or other characters than ASCII, and so does one of the texts at least.
    return not texts or not all(_BARE.fullmatch(text) for text in texts)


def _has_no_columns(data: object) -> bool:
    """Returns whether this is a list, a Series or an array of texts."""
    return _are_texts(data) or (not isinstance(data, (list, tuple)) and is_frame(data) and texts_of(data) is not None)


@with_keywords("contaminated", but=("out", "against"))
def contaminated(
    documents: object,
    against: object,
    out: str | PathLike | None = None,
    **options: Unpack[ContaminatedOptions],
) -> Contamination:
    """Finds the documents of a corpus that contain items of an evaluation set.

    ``documents`` and ``against`` are each files, folders or globs, or a frame (Polars, pandas, PyArrow, DuckDB, or one split of a Hugging
    Face dataset), or a list, Series or array of texts. A list of strings contains paths if one of them is an existing file or folder or ends
    like a data file, or if none of them contains a space; otherwise, it contains texts. The evaluation set is kept in memory; the corpus is read once. Neither is changed. With ``corpus="keep"``, the clean corpus
    is written to ``clean/``. For frames, ``out`` is optional; without it, the output is deleted together with the returned object.

    Raises the same exceptions as ``run``.

        found = dupsift.contaminated("crawl/*.parquet", against="exams/*.jsonl", out="found/")
        found = dupsift.contaminated(frame, against=questions, item_column="question")
        clean = found.filter(frame)
        found = dupsift.contaminated(texts, against=["What is the capital of the country?"])
    """
    settings: dict[str, object] = dict(options)
    beside = options.get("work") or (Path(out).absolute().parent if out is not None else None)
    frames: list[Corpus] = []

    def files(data: object, columns: list[tuple[str, str | None]], every: bool) -> list[str]:
        if not is_frame(data) and not _are_texts(data):
            if not isinstance(data, (str, os.PathLike, Iterable)):
                raise TypeError(f"expected paths, globs or a frame, got {type(data).__name__}")
            return inputs_of(data)
        frames.append(Corpus(data, columns, every, beside))
        return [os.fspath(frames[-1].path)]

    of_corpus = {name: value for name, value in settings.items() if name not in (*_OF_ITEMS, *_OF_SEARCH)}
    inputs = files(documents, *columns_of(of_corpus))
    corpus = frames[0] if frames else None
    if _has_no_columns(against):
        named = [name for name in _OF_ITEMS if settings.get(name) is not None]
        if named:
            raise ValueError(f"{named[0]}=: texts have no columns; expected a frame, or none of these options")
        settings["item_column"] = "text"
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
    with shown(options.get("no_progress")) as listener:
        folder = _dupsift.contaminated_run(inputs, given_of(settings), listener)
    result = Contamination(folder, tuple(frames), corpus, dict(options))
    _warn_if_held(result)
    return result
