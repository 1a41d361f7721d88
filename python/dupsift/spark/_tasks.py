"""What tasks of Spark do: blocks out of documents, blocks out of blocks. Each process opens the corpus once."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import _dupsift

if TYPE_CHECKING:
    import pyarrow as _pyarrow

# Bytes of blocks in one batch.
_BATCH_BYTES = 4 << 20


@dataclass(frozen=True)
class Job:
    """What all tasks of a run are told."""

    inputs: tuple[str, ...]
    options: tuple[tuple[str, Any], ...]
    told: str

    def corpus(self) -> _dupsift.SparkCorpus:
        """The corpus, opened in this process."""
        if _opened.get("job") != self:
            _opened.clear()
            _opened["corpus"] = _dupsift.SparkCorpus(list(self.inputs), list(self.options), self.told)
            _opened["job"] = self
        corpus: _dupsift.SparkCorpus = _opened["corpus"]
        return corpus

    def known(self, name: str | None) -> _dupsift.SparkKnown:
        """What the file of that name says, taken up in this process."""
        corpus = self.corpus()
        if "known" not in _opened or _opened.get("name") != name:
            folder = tempfile.TemporaryDirectory(prefix="dupsift-", dir=_folder())
            path = None if name is None else _files().get(name)
            _opened["known"] = _dupsift.SparkKnown(corpus, path, folder.name)
            # The files in it are mapped, and go with the value.
            _opened["folder"] = folder
            _opened["name"] = name
        known: _dupsift.SparkKnown = _opened["known"]
        return known


_opened: dict[str, Any] = {}


def _files() -> Any:
    from pyspark import SparkFiles

    return SparkFiles


def _folder() -> str:
    """A folder of this application, which Spark removes."""
    return str(_files().getRootDirectory())


@dataclass(frozen=True)
class Map:
    """A step over tasks, which are numbers."""

    job: Job
    step: str
    known: str | None

    def __call__(self, batches: Iterator[_pyarrow.RecordBatch]) -> Iterator[_pyarrow.RecordBatch]:
        for batch in batches:
            for task in batch.column(0).to_pylist():
                with tempfile.TemporaryDirectory(prefix="dupsift-", dir=_folder()) as folder:
                    corpus, known = self.job.corpus(), self.job.known(self.known)
                    yield from _batches(_dupsift.spark_map(corpus, known, self.step, task, folder))


@dataclass(frozen=True)
class Reduce:
    """A step over blocks."""

    job: Job
    step: str
    known: str | None

    def __call__(self, batches: Iterator[_pyarrow.RecordBatch]) -> Iterator[_pyarrow.RecordBatch]:
        with tempfile.TemporaryDirectory(prefix="dupsift-", dir=_folder()) as folder:
            corpus, known = self.job.corpus(), self.job.known(self.known)
            yield from _batches(_dupsift.spark_reduce(corpus, known, self.step, batches, folder))


def _batches(blocks: _dupsift.SparkBlocks) -> Iterator[_pyarrow.RecordBatch]:
    import pyarrow

    kinds: list[int] = []
    buckets: list[int] = []
    rows: list[bytes] = []

    def batch() -> _pyarrow.RecordBatch:
        columns = [pyarrow.array(kinds, "int32"), pyarrow.array(buckets, "int32"), pyarrow.array(rows, "binary")]
        return pyarrow.record_batch(columns, names=["kind", "bucket", "rows"])

    held = 0
    while (block := blocks.take()) is not None:
        kinds.append(block[0])
        buckets.append(block[1])
        rows.append(block[2])
        held += len(block[2])
        if held >= _BATCH_BYTES:
            yield batch()
            kinds, buckets, rows, held = [], [], [], 0
    if rows:
        yield batch()
