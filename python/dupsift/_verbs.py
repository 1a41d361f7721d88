"""The commands: they accept files or frames and return a result."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from . import _dupsift
from ._frames import Corpus, columns_of, is_frame, texts_of
from ._ids import id_columns, likely_id
from ._options import given_of, inputs_of, spelled, with_keywords
from ._output import Comparison, Estimate, Evaluation, Output, Pages, Pairs, place_of
from ._progress import Progress, shown
from ._result import Result

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import CompareOptions, DedupOptions, PurifyOptions, RunOptions

PathLike = os.PathLike[str]


def _warn_if_held(output: Output) -> None:
    """Warns that a guard fired, so the result is not in the requested folder."""
    for guard in output.report["guards"]:
        if guard["held"]:
            warnings.warn(f"the result is held back in {output.path}: {spelled(guard['sentence'])}", UserWarning, stacklevel=3)


def _of_reference(options: dict[str, object], beside: object) -> Corpus | None:
    """Writes the reference to a file if it is a frame, and passes the file in the options. It must have the columns of the corpus."""
    reference = options.get("reference")
    if isinstance(reference, (list, tuple)):
        raise TypeError("reference=: expected a path or a frame, got a list; pass texts as a Series, or as a column of a frame")
    if not is_frame(reference):
        return None
    columns, _ = columns_of({name: value for name, value in options.items() if name not in ("reference", "corpus")})
    # The run reports any other required column that is missing.
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

    ``reference`` can also be a frame with the columns of the corpus. The temporary file with this frame exists as long as the result.

    ``progress`` is a function that receives ``Progress`` objects; no progress bar is shown then. An exception in this function stops the run.

    If a guard fires and ``out`` must not be replaced, the result is written next to ``out`` instead; a UserWarning reports this, and
    ``result.held`` is True.

    Raises ValueError for invalid options, columns and names, with the expected values; FileNotFoundError for missing inputs; other OSErrors;
    InputError for unusable inputs; DamagedError; KeyboardInterrupt.

        result = dupsift.run("data/*.parquet", out="dedup/", preset="strict", memory="8GiB")
    """
    settings: dict[str, object] = dict(options)
    reference = _of_reference(settings, options.get("work") or Path(out).absolute().parent)
    given = given_of({**settings, "out": out})
    with shown(options.get("no_progress"), progress) as listener:
        folder = _dupsift.run(inputs_of(inputs), given, listener)
    result = Result(folder, None, reference)
    _warn_if_held(result)
    return result


# Options of a run that do not apply to frames, or that are arguments of ``dedup``.
NOT_OF_FRAMES = ("out", "text_column", "id_column", "whole_files", "text_lines", "encoding", "separator", "quotes", "storage", "resume", "checkpoint")


@with_keywords("run", but=NOT_OF_FRAMES)
def dedup(
    frame: object,
    *,
    text_column: str | Sequence[str] = "text",
    id_column: str | None = None,
    out: str | PathLike | None = None,
    progress: Callable[[Progress], object] | None = None,
    **options: Unpack[DedupOptions],
) -> Result:
    """Finds the duplicates among the rows of a frame.

    ``frame`` is anything that supports the Arrow PyCapsule interface (Polars, pandas and PyArrow frames, DuckDB relations), a PyArrow dataset,
    or one split of a Hugging Face dataset, which may be streaming. ``text_column`` names the text column, or several columns that form one
    text; ``id_column`` names the id column ("id" if it exists). The columns are first written to a temporary file: in the folder ``work``, or next to ``out``, or in the system's temporary folder.
    Therefore, a frame can be larger than ``memory``. Row numbers in the result refer to rows of the frame. With ``corpus``, all columns are
    written and appear in ``deduped/frame.parquet``. ``reference`` can also be a frame.

    ``frame`` can also be a list of strings, a Series, or a one-dimensional PyArrow or NumPy array of strings, with None for missing texts.
    These have no column names.

    Without ``out``, the output is deleted together with the returned object.

    Raises TypeError for an object that is not a frame, and otherwise the same exceptions as ``run``.

        result = dupsift.dedup(frame, text_column="body", id_column="url", algorithms="exact,minhash")
        clean = frame.filter(result.kept_mask)
        clean = dupsift.dedup(texts).filter(texts)
    """
    if texts_of(frame) is not None and (text_column != "text" or id_column is not None):
        raise ValueError("text_column=, id_column=: texts have no columns; expected a frame, or neither option")
    settings: dict[str, object] = {"checkpoint": "never", **options}
    if settings.get("html_column") is None:
        settings["text_column"] = text_column
    if id_column is not None:
        settings["id_column"] = id_column
    beside = settings.get("work") or (Path(out).absolute().parent if out is not None else None)
    reference = _of_reference(settings, beside)
    columns, every = columns_of(settings)
    looks_for_ids = id_column is None and texts_of(frame) is None
    if looks_for_ids:
        # If no id column is specified, the run searches the file for a column that probably contains ids.
        columns += [(name, None) for name in id_columns(frame, text_column)]
    corpus = Corpus(frame, columns, every, beside)  # type: ignore[arg-type]
    corpus.id_hint = (likely_id(corpus.path, text_column),) if looks_for_ids else None
    settings["out"] = out if out is not None else corpus.folder / "out"
    with shown(options.get("no_progress"), progress) as listener:
        folder = _dupsift.run([os.fspath(corpus.path)], given_of(settings), listener)
    result = Result(folder, corpus, reference)
    _warn_if_held(result)
    return result


@with_keywords("run", but=("out",))
def estimate(
    inputs: object,
    *,
    out: str | PathLike | None = None,
    progress: Callable[[Progress], object] | None = None,
    **options: Unpack[RunOptions],
) -> Estimate:
    """Checks inputs and options, and estimates what a run would need, like ``dupsift run --dry-run``. Reads no documents.

    ``inputs`` are files, folders or globs, or a frame. With ``sample``, the sample is deduplicated in a temporary folder, and the estimate also contains the share of the corpus
    that would be removed, as a range, and the time that the run would take. With ``out``, that folder is also checked, and saved work of an
    interrupted run is taken into account.

    Raises the same exceptions as ``run``.

        print(dupsift.estimate("data/*.parquet", sample=10_000))
        dupsift.estimate(frame, text_column="body").record["disk_bytes"]
    """
    settings: dict[str, object] = dict(options)
    # An estimate creates no folder next to the output.
    beside = options.get("work")
    reference = _of_reference(settings, beside)
    corpus = Corpus(inputs, *columns_of(settings), beside) if is_frame(inputs) else None
    with shown(options.get("no_progress"), progress) as listener:
        # Nothing is created in this place.
        settings["out"] = out if out is not None else Path(tempfile.gettempdir()) / f"dupsift-dry-run-{os.getpid()}"
        files = inputs_of(inputs) if corpus is None else [os.fspath(corpus.path)]  # type: ignore[arg-type]
        record, text = _dupsift.estimate(files, given_of(settings), listener)
    del corpus, reference
    return Estimate(record, text)


def open(path: str | PathLike, input: object = None) -> Result | Comparison:
    """Opens the output folder of a finished run or comparison.

    ``input`` is the corpus, if it is no longer where the run read it: its folder or file, or the frame or texts that were passed to ``dedup``.
    A frame is compared with the frame that the run read. The result of a frame does not contain the frame: without ``input``, ``explain``,
    ``apply``, ``write`` and ``evaluate`` raise ValueError.

    Raises ValueError for a folder that is not the output of a finished run and for a frame that differs, and InputError if the record is
    unreadable.

        result = dupsift.open("dedup/", input=frame)
        result.write("clean/")
    """
    place = Path(input).absolute() if isinstance(input, (str, os.PathLike)) else None
    if (Path(path) / "compare" / "comparison.json").is_file():
        if input is not None and place is None:
            raise TypeError(f"input: a comparison reads files; expected a path, got {type(input).__name__}")
        comparison = Comparison(path)
        comparison._input = place
        return comparison
    if input is None or place is not None:
        return Result(path, input=place)
    result = Result(path)
    corpus = _again(result, input)
    return Result(path, corpus, input=corpus.path)


def _again(result: Result, frame: object) -> Corpus:
    """Writes the frame of a finished run to a file again. Raises ValueError if it differs from the frame that the run read."""
    columns, every = _dupsift.columns_read(os.fspath(result.path))
    beside = result.path.parent
    corpus = Corpus(frame, columns, every, beside if os.access(beside, os.W_OK) else None)
    known = sum(one["rows"] for one in result.report["inputs"])
    if corpus.rows != known:
        raise ValueError(f"input: the frame has {corpus.rows:,} rows, and the run read {known:,}; expected the frame that was passed to the run")
    if not _dupsift.is_input(os.fspath(result.path), os.fspath(corpus.path)):
        raise ValueError("input: the frame has different values than the frame that the run read; expected the frame that was passed to the run")
    return corpus


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
    with shown(options.get("no_progress"), progress) as listener:
        folder = _dupsift.compare(inputs_of(inputs), given, listener)
    comparison = Comparison(folder)
    _warn_if_held(comparison)
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

    With ``train``, trains a category model instead. Raises the same exceptions as ``run``.

        pages = dupsift.purify("crawl.warc.gz", out="pages/").pages().to_polars()
    """
    given = given_of({**options, "out": out})
    with shown(options.get("no_progress"), progress) as listener:
        folder = _dupsift.purify(inputs_of(inputs), given, listener)
    pages = Pages(folder)
    _warn_if_held(pages)
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

    ``truth`` is one or more files with labeled pairs (columns ``id_a``, ``id_b``) or clusters (columns ``id``, ``cluster``), as Parquet,
    JSON lines, CSV or TSV, or one frame with these columns. Pairs may have a column ``label``, ``duplicate`` or ``is_duplicate``; only pairs
    labeled as duplicates are true. The corpus must be in its original location, or ``input`` must give its new
    location. Undefined metrics are None. ``print`` shows five columns, or all of them with ``full``. ``record`` has all metrics of each
    algorithm, of the pairs that decide (``run``) and of the removals (``removed``). The record is also written to ``evaluation/`` in the
    output.

    Raises ValueError for invalid labels, and if the corpus is missing or has changed.
    """
    options = given_of({"truth_quotes": truth_quotes, "threads": threads, "memory": memory})
    labels = Corpus(truth, [], True, None, "labels") if is_frame(truth) else None
    files = inputs_of(truth) if labels is None else [os.fspath(labels.path)]  # type: ignore[arg-type]
    place = result._place(input) if isinstance(result, Pairs) else place_of(input)
    record, text = _dupsift.evaluate(_folder(result), files, options, full, place)
    return Evaluation(record, text)


def accept(result: Output | str | PathLike, *, reason: str | None = None) -> Path:
    """Publishes a result that a guard held back, and adds it to the index that it was matched against. Returns its new folder.

    ``result`` is the held result or its folder (``NAME.held``). ``reason`` is recorded in run.json and shown in the report. Repeating a
    call that was interrupted resumes it. Raises ValueError for a folder that is not a held result.

        if result.held:
            result = dupsift.open(dupsift.accept(result, reason="a new crawler"))
    """
    return Path(_dupsift.accept(_folder(result), reason))


def reject(result: Output | str | PathLike) -> bool | None:
    """Deletes a result that a guard held back, and makes the index that it was matched against forget its batch.

    Returns whether the index still had the batch; None if the result was not matched against an index. Raises ValueError for a folder that
    is not a held result.
    """
    return _dupsift.reject(_folder(result))


def _folder(result: Output | str | PathLike) -> str:
    return os.fspath(result.path if isinstance(result, Output) else result)
