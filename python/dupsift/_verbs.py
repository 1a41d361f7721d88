"""The verbs: they accept files or frames and return a result."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from . import _dupsift
from ._frames import Corpus, columns_of, is_frame, texts_of
from ._options import given_of, inputs_of, with_keywords
from ._output import Comparison, Evaluation, Output, Pages
from ._progress import Progress, shown
from ._result import Result

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import CompareOptions, DedupOptions, PurifyOptions, RunOptions

PathLike = os.PathLike[str]


def _told(output: Output) -> None:
    """Warns that a guard held the result back, so that it is not in the requested folder."""
    for guard in output.report["guards"]:
        if guard["held"]:
            warnings.warn(f"the result is held back in {output.path}: {guard['sentence']}", UserWarning, stacklevel=3)


def _of_reference(options: dict[str, object], beside: object) -> Corpus | None:
    """Writes the reference to a file if it is a frame, and passes the file in the options. It must have the columns of the corpus."""
    reference = options.get("reference")
    if isinstance(reference, (list, tuple)):
        raise TypeError("reference=: expected a path or a frame, got a list; pass texts as a Series, or as a column of a frame")
    if not is_frame(reference):
        return None
    columns, _ = columns_of({name: value for name, value in options.items() if name not in ("reference", "corpus")}, {})
    # The run reports any other column that it needs.
    wanted = [(name, keyword if keyword in ("text_column", "html_column") else None) for name, keyword in columns]
    corpus = Corpus(reference, wanted, False, beside, "reference")  # type: ignore[arg-type]
    options["reference"] = corpus.path
    return corpus


@with_keywords("run", but=("out",))
def run(
    inputs: str | PathLike | Iterable[str | PathLike],
    out: str | PathLike,
    *,
    progress: Callable[[Progress], object] | None = None,
    **options: Unpack[RunOptions],
) -> Result:
    """Finds the duplicates in a corpus of files and writes pairs, clusters and a removal list to the folder ``out``.

    ``inputs`` are files, folders or globs. The same corpus and options produce the same bytes in ``pairs/``, ``clusters/`` and ``removed/`` as
    ``dupsift run``. The output folder appears only when it is complete; nothing is deleted from the corpus.

    ``reference`` can also be a frame with the columns of the corpus. Its file exists as long as the result.

    ``progress`` is a function that receives a ``Progress``, instead of a bar; an exception in it stops the run.

    If a guard holds the result back, so that it does not replace an earlier one, it is written next to ``out``; a UserWarning reports this, and
    ``result.held`` is True.

    Raises ValueError for invalid options, columns and names, with the expected values; FileNotFoundError for missing inputs; other OSErrors;
    InputError for unusable inputs; DamagedError; KeyboardInterrupt.

        result = dupsift.run("data/*.parquet", out="dedup/", preset="strict", memory="8GiB")
    """
    settings: dict[str, object] = dict(options)
    reference = _of_reference(settings, options.get("work") or Path(out).absolute().parent)
    given = given_of({**settings, "out": out})
    with shown(options.get("no_progress"), progress) as told:
        folder = _dupsift.run(inputs_of(inputs), given, told)
    result = Result(folder, None, reference)
    _told(result)
    return result


# Options of a run that do not apply to frames, or that have another name in ``dedup``.
NOT_OF_FRAMES = ("out", "text_column", "id_column", "whole_files", "text_lines", "encoding", "separator", "quotes", "resume", "checkpoint")


@with_keywords("run", but=NOT_OF_FRAMES)
def dedup(
    frame: object,
    *,
    text: str | Sequence[str] = "text",
    id: str | None = None,
    out: str | PathLike | None = None,
    progress: Callable[[Progress], object] | None = None,
    **options: Unpack[DedupOptions],
) -> Result:
    """Finds the duplicates among the rows of a frame.

    ``frame`` is anything that supports the Arrow PyCapsule interface (Polars, pandas and PyArrow frames, DuckDB relations), or one split of a
    Hugging Face dataset. ``text`` names the text column, or several columns that form one text; ``id`` names the id column ("id" if it
    exists). The columns are first written to a temporary file: in the folder ``work``, or next to ``out``, or in the system's temporary folder.
    So a frame may be larger than ``memory``. Row numbers in the result are those of the frame. With ``corpus``, all columns are written and
    appear in ``deduped/frame.parquet``. ``reference`` can also be a frame.

    ``frame`` can also be a list of strings, a Series or an array of strings, with None for missing texts. It has no column names.

    Without ``out``, the output is deleted together with the returned object.

    Raises TypeError for an object that is not a frame, and otherwise the same exceptions as ``run``.

        result = dupsift.dedup(frame, text="body", id="url", algorithms="exact,minhash")
        clean = frame.filter(polars.Series(result.kept_mask))
        clean = dupsift.dedup(texts).filter(texts)
    """
    for named, ours in (("text_column", "text"), ("id_column", "id")):
        if named in options:
            raise ValueError(f"dedup names the columns of a frame by text= and id=: expected {ours}=, got {named}=")
    if texts_of(frame) is not None and (text != "text" or id is not None):
        raise ValueError("text=, id=: texts have no columns; expected a frame, or neither of the two")
    settings: dict[str, object] = {"checkpoint": "never", **options}
    if settings.get("html_column") is None:
        settings["text_column"] = text
    if id is not None:
        settings["id_column"] = id
    beside = settings.get("work") or (Path(out).absolute().parent if out is not None else None)
    reference = _of_reference(settings, beside)
    columns, every = columns_of(settings, {"text_column": "text", "id_column": "id"})
    corpus = Corpus(frame, columns, every, beside)  # type: ignore[arg-type]
    settings["out"] = out if out is not None else corpus.folder / "out"
    with shown(options.get("no_progress"), progress) as told:
        folder = _dupsift.run([os.fspath(corpus.path)], given_of(settings), told)
    result = Result(folder, corpus, reference)
    _told(result)
    return result


def open(path: str | PathLike) -> Result | Comparison:
    """Opens the output folder of a finished run or comparison.

    Raises ValueError for a folder that is not the output of a finished run, and InputError if its record is unreadable.
    """
    if (Path(path) / "compare" / "comparison.json").is_file():
        return Comparison(path)
    return Result(path)


@with_keywords("compare", but=("out",))
def compare(
    inputs: str | PathLike | Iterable[str | PathLike],
    out: str | PathLike,
    *,
    progress: Callable[[Progress], object] | None = None,
    **options: Unpack[CompareOptions],
) -> Comparison:
    """Runs algorithms and presets on a corpus and judges their pairs. Nothing is removed.

    ``print(comparison)`` shows recall, precision and F of each, and a recommendation. Raises the same exceptions as ``run``.

        comparison = dupsift.compare("sample/", out="compared/", judge="lcs:0.85")
    """
    given = given_of({**options, "out": out})
    with shown(options.get("no_progress"), progress) as told:
        folder = _dupsift.compare(inputs_of(inputs), given, told)
    comparison = Comparison(folder)
    _told(comparison)
    return comparison


@with_keywords("purify", but=("out",))
def purify(
    inputs: str | PathLike | Iterable[str | PathLike],
    out: str | PathLike,
    *,
    progress: Callable[[Progress], object] | None = None,
    **options: Unpack[PurifyOptions],
) -> Pages:
    """Extracts title, keywords, abstract, text and links from HTML pages or web archives.

    With ``train``, trains a model of categories instead. Raises the same exceptions as ``run``.

        pages = dupsift.purify("crawl.warc.gz", out="pages/").pages().to_polars()
    """
    given = given_of({**options, "out": out})
    with shown(options.get("no_progress"), progress) as told:
        folder = _dupsift.purify(inputs_of(inputs), given, told)
    pages = Pages(folder)
    _told(pages)
    return pages


def evaluate(
    result: Output | str | PathLike,
    truth: object,
    *,
    full: bool = False,
    input: str | PathLike | None = None,
    truth_quotes: Literal["double", "none"] | None = None,
    threads: int | None = None,
    memory: str | int | None = None,
) -> Evaluation:
    """Compares a result with labels: precision, recall and F of pairs and of pages, B-cubed, adjusted Rand index.

    ``truth`` is one or more files with labeled pairs (columns ``id_a``, ``id_b``) or clusters (columns ``id``, ``cluster``), as Parquet, JSON
    lines, CSV or TSV, or one frame with these columns. The corpus must be where it was, or in ``input``. Undefined metrics are None. ``print``
    shows five columns, or all of them with ``full``. ``record`` has all metrics of each algorithm, of the pairs that decide (``run``) and of the
    removals (``removed``). The record is also written to ``evaluation/`` in the output.

    Raises ValueError for invalid labels, and if the corpus is missing or has changed.
    """
    folder = result.path if isinstance(result, Output) else Path(result)
    options = given_of({"truth_quotes": truth_quotes, "threads": threads, "memory": memory})
    labels = Corpus(truth, [], True, None, "labels") if is_frame(truth) else None
    files = inputs_of(truth) if labels is None else [os.fspath(labels.path)]  # type: ignore[arg-type]
    record, text = _dupsift.evaluate(os.fspath(folder), files, options, full, None if input is None else os.fspath(input))
    return Evaluation(record, text)
