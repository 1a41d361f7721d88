"""Spark as what moves blocks: frames with the columns kind, bucket, rows, and nothing that knows what rows are."""

from __future__ import annotations

import functools
import itertools
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .._errors import Error
from ._tasks import Job, Map, Reduce

if TYPE_CHECKING:
    from pyspark.sql import DataFrame as _DataFrame, SparkSession as _SparkSession

_SCHEMA = "kind int, bucket int, rows binary"
# Blocks are of a megabyte: so many of them are no batch that a process could not hold.
_SETTINGS = {"spark.sql.execution.arrow.maxRecordsPerBatch": "16"}
# About so much comes to the driver at once, which holds two pieces: an executor has to hold a piece in the memory of its JVM.
_PIECE_BYTES = 16 << 20
_OLDEST = (3, 5)


def _reason(error: BaseException) -> str:
    """What a task said, without the calls above it; else why Spark gave up."""
    lines = [re.sub(r"^(: |Caused by: )", "", line.strip()) for line in str(error).splitlines()]
    of_python = [line for line in lines if re.match(r"(\w+\.)*\w*(Error|Interrupt|Exception): ", line) and not re.match(r"(org|java|scala)\.", line)]
    of_java = [line for line in lines if re.match(r"(\w+\.)+\w*(Error|Exception): ", line)]
    return next(iter(of_python[-1:] + of_java[:1] + lines[:1]), type(error).__name__)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise Error(f"a task of Spark failed: {_reason(error)}") from error


def _as_they_are(rows: Iterable[Any]) -> Iterable[Any]:
    return rows


class Cluster:
    """What the library asks of a cluster, by a session of Spark."""

    def __init__(
        self, spark: _SparkSession, inputs: Sequence[str], options: Sequence[tuple[str, Any]], task_bytes: int, buckets: int | None
    ) -> None:
        version = tuple(int(part) for part in spark.version.split(".")[:2])
        if version < _OLDEST:
            raise ValueError(f"Spark {spark.version} is too old; expected 3.5 or later")
        if not hasattr(spark, "_jsparkSession"):
            raise ValueError("a session of Spark Connect cannot be used; expected a session in the process of Spark's driver (spark-submit)")
        self._spark = spark
        self._inputs = tuple(inputs)
        self._options = tuple(options)
        self._task_bytes = task_bytes
        self._buckets = buckets or int(spark.conf.get("spark.sql.shuffle.partitions") or 200)
        self._frames: dict[int, _DataFrame] = {}
        self._sizes: dict[int, dict[int, int]] = {}
        self._numbers = itertools.count()
        self._before: dict[str, str | None] = {}
        self._sent: dict[str, str] = {}
        self._job: Job | None = None

    def __enter__(self) -> Cluster:
        for name, value in _SETTINGS.items():
            self._before[name] = self._spark.conf.get(name, None)
            self._spark.conf.set(name, value)
        return self

    def __exit__(self, *_: object) -> None:
        for frame in list(self._frames):
            self.forget(frame)
        for sent in self._sent.values():
            os.truncate(sent, 0)
        for name, value in self._before.items():
            self._spark.conf.unset(name) if value is None else self._spark.conf.set(name, value)

    def sizes(self) -> tuple[int, int]:
        """Bytes of a task, and buckets."""
        return self._task_bytes, self._buckets

    def begin(self, told: str) -> None:
        """What all processes are told."""
        self._job = Job(self._inputs, self._options, told)

    def _of(self) -> Job:
        assert self._job is not None
        return self._job

    def _keep(self, frame: _DataFrame) -> int:
        from pyspark import StorageLevel
        from pyspark.sql import functions

        with _told():
            kept = frame.persist(StorageLevel.DISK_ONLY)
            # All partitions at once; who takes them one by one afterwards finds them there.
            sizes = kept.groupBy("kind").agg(functions.sum(functions.length(kept["rows"]))).collect()
        number = next(self._numbers)
        self._frames[number] = kept
        self._sizes[number] = {kind: size for kind, size in sizes}
        return number

    def map(self, step: str, tasks: int, known: str | os.PathLike[str] | None) -> int:
        """A step over so many tasks."""
        name = None if known is None else self._ship(known)
        frame = self._spark.range(0, tasks, 1, tasks)
        return self._keep(frame.mapInArrow(Map(self._of(), step, name), _SCHEMA))

    def _ship(self, known: str | os.PathLike[str]) -> str:
        """Sends a file to all processes. An executor that starts later asks for all files ever sent, so it stays, emptied in the end."""
        from pyspark import SparkFiles

        if os.fspath(known) in self._sent:
            return os.path.basename(known)
        folder = os.path.join(SparkFiles.getRootDirectory(), "dupsift-sent")
        os.makedirs(folder, exist_ok=True)
        sent = shutil.copyfile(known, os.path.join(folder, os.path.basename(known)))
        self._spark.sparkContext.addFile(sent)
        self._sent[os.fspath(known)] = sent
        return os.path.basename(sent)

    def _only(self, frame: int, kinds: list[int]) -> _DataFrame:
        blocks = self._frames[frame]
        return blocks.where(blocks["kind"].isin(kinds))

    def reduce(self, step: str, of: list[tuple[int, list[int]]], known: str | os.PathLike[str] | None, together: bool) -> int:
        """A step over blocks, where asked for over all blocks of a bucket together."""
        name = None if known is None else self._ship(known)
        blocks = functools.reduce(lambda some, more: some.unionAll(more), (self._only(frame, kinds) for frame, kinds in of))
        if together:
            blocks = blocks.repartition(self._buckets, "bucket")
        return self._keep(blocks.mapInArrow(Reduce(self._of(), step, name), _SCHEMA))

    def collect(self, frame: int, kinds: list[int]) -> Iterator[tuple[int, int, bytes]]:
        """The blocks of these kinds, a piece at a time: small partitions come together, and large ones are cut.

        Each piece is a job of its own, of whose result the driver's JVM keeps nothing. Of what toLocalIterator brings it keeps twice
        the bytes until the session ends (seen with Spark 4.3), so that its memory would grow with all that was ever collected.
        """
        pieces = sum(self._sizes[frame].get(kind, 0) for kind in kinds) // _PIECE_BYTES + 1
        with _told():
            blocks = self._only(frame, kinds)
            rows = (blocks.coalesce(1) if pieces == 1 else blocks.repartition(pieces)).rdd
            for piece in range(rows.getNumPartitions()):
                for kind, bucket, block in self._spark.sparkContext.runJob(rows, _as_they_are, [piece]):
                    yield kind, bucket, bytes(block)

    def forget(self, frame: int) -> None:
        """The blocks are not needed any more."""
        self._frames.pop(frame).unpersist()
