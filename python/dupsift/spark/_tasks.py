"""The Spark tasks, which turn documents into blocks and blocks into other blocks. Each process opens the corpus once."""

from __future__ import annotations

import struct
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .. import _dupsift

# A block begins with its kind and its bucket.
HEAD = struct.Struct("<iI")
# The partition number in front of a block, in the format of Spark's PairwiseRDD.
_PART = struct.Struct("!q")
Work = Callable[[Iterator[Any]], Iterator[bytes]]


@dataclass(frozen=True)
class Job:
    """The settings that all tasks of a run share."""

    inputs: tuple[str, ...]
    options: tuple[tuple[str, Any], ...]
    told: str

    def corpus(self) -> _dupsift.SparkCorpus:
        """Returns the corpus, which is opened once per process."""
        if _opened.get("job") != self:
            _opened.clear()
            _opened["corpus"] = _dupsift.SparkCorpus(list(self.inputs), list(self.options), self.told)
            _opened["job"] = self
        corpus: _dupsift.SparkCorpus = _opened["corpus"]
        return corpus

    def known(self, name: str | None) -> _dupsift.SparkKnown:
        """Returns the content of the file with this name, which is loaded once per process."""
        corpus = self.corpus()
        if "known" not in _opened or _opened.get("name") != name:
            folder = tempfile.TemporaryDirectory(prefix="dupsift-", dir=_folder())
            path = None if name is None else _files().get(name)
            _opened["known"] = _dupsift.SparkKnown(corpus, path, folder.name)
            # The files in the folder are memory-mapped and must exist as long as the value.
            _opened["folder"] = folder
            _opened["name"] = name
        known: _dupsift.SparkKnown = _opened["known"]
        return known


_opened: dict[str, Any] = {}


def _files() -> Any:
    from pyspark import SparkFiles

    return SparkFiles


def _folder() -> str:
    """Returns a folder of this application that Spark removes."""
    return str(_files().getRootDirectory())


@dataclass(frozen=True)
class Map:
    """A step over tasks, each of which is a number."""

    job: Job
    step: str
    known: str | None

    def __call__(self, tasks: Iterator[int]) -> Iterator[bytes]:
        for task in tasks:
            with tempfile.TemporaryDirectory(prefix="dupsift-", dir=_folder()) as folder:
                corpus, known = self.job.corpus(), self.job.known(self.known)
                yield from _taken(_dupsift.spark_map(corpus, known, self.step, task, folder))


@dataclass(frozen=True)
class Reduce:
    """A step over blocks."""

    job: Job
    step: str
    known: str | None

    def __call__(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        with tempfile.TemporaryDirectory(prefix="dupsift-", dir=_folder()) as folder:
            corpus, known = self.job.corpus(), self.job.known(self.known)
            yield from _taken(_dupsift.spark_reduce(corpus, known, self.step, blocks, folder))


def _taken(blocks: _dupsift.SparkBlocks) -> Iterator[bytes]:
    while (block := blocks.take()) is not None:
        yield block


class Sizes:
    """Merges sizes in a Spark accumulator: the bytes of each partition by kind. A repeated task reports the same sizes for the same partition."""

    def zero(self, value: dict[int, dict[int, int]]) -> dict[int, dict[int, int]]:
        return {}

    def addInPlace(self, value1: dict[int, dict[int, int]], value2: dict[int, dict[int, int]]) -> dict[int, dict[int, int]]:
        value1.update(value2)
        return value1


@dataclass(frozen=True)
class Measured:
    """Runs work and reports the size of its output to the driver."""

    work: Work
    sizes: Any

    def __call__(self, partition: int, given: Iterator[Any]) -> Iterator[bytes]:
        sizes: Counter[int] = Counter()
        for block in self.work(given):
            kind, _ = HEAD.unpack_from(block)
            sizes[kind] += len(block) - HEAD.size
            yield block
        self.sizes.add({partition: dict(sizes)})


@dataclass(frozen=True)
class Chosen:
    """Selects the blocks of the requested kinds in each partition."""

    kinds: tuple[frozenset[int], ...]

    def __call__(self, partition: int, blocks: Iterator[bytes]) -> Iterator[bytes]:
        kinds = self.kinds[partition]
        return (block for block in blocks if HEAD.unpack_from(block)[0] in kinds)


@dataclass(frozen=True)
class Deal:
    """Assigns the chosen blocks to partitions: by bucket or, if the offsets of the partitions are given, in pieces of equal size."""

    chosen: Chosen
    parts: int
    pieces: tuple[tuple[int, ...], int] | None = None

    def __call__(self, partition: int, blocks: Iterator[bytes]) -> Iterator[bytes]:
        begins, piece = self.pieces or ((), 1)
        at = begins[partition] if begins else 0
        for block in self.chosen(partition, blocks):
            _, bucket = HEAD.unpack_from(block)
            yield _PART.pack((at // piece if begins else bucket) % self.parts)
            yield block
            at += len(block) - HEAD.size
