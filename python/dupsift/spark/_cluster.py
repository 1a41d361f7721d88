"""Moves blocks with Spark. A block is a byte string that begins with its kind and bucket; this module does not interpret rows.

Blocks are in RDDs, not in DataFrames: Spark only moves bytes, and a query plan with its compiled code used more CPU than most steps.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .._errors import Error
from ._tasks import HEAD, Chosen, Deal, Job, Map, Measured, Reduce, Sizes, Work

if TYPE_CHECKING:
    from pyspark import RDD as _RDD
    from pyspark.sql import SparkSession as _SparkSession

# The approximate size of a piece sent to the driver. The driver holds two pieces, and an executor must hold one in the memory of its JVM.
_PIECE_BYTES = 16 << 20
# The size of a task over blocks. It is smaller if cores would otherwise be idle, but not smaller than _LEAST_BYTES.
_TASK_BYTES = 8 << 20
_LEAST_BYTES = 64 << 10
_OLDEST = (3, 5)


def _reason(error: BaseException) -> str:
    """Returns the message of a failed task without its stack trace, or else Spark's reason for giving up."""
    lines = [re.sub(r"^(: |Caused by: )", "", line.strip()) for line in str(error).splitlines()]
    of_python = [line for line in lines if re.match(r"(\w+\.)*\w*(Error|Interrupt|Exception): ", line) and not re.match(r"(org|java|scala)\.", line)]
    of_java = [line for line in lines if re.match(r"(\w+\.)+\w*(Error|Exception): ", line)]
    return next(iter(of_python[-1:] + of_java[:1] + lines[:1]), type(error).__name__)


@contextmanager
def _short_errors() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise Error(f"a Spark task failed: {_reason(error)}") from error


def _as_bytes(blocks: Any) -> Any:
    """Passes blocks to Spark unchanged. Spark's own serializer bases the batch size on earlier blocks, regardless of later ones."""
    blocks._bypass_serializer = True
    return blocks


class Cluster:
    """The operations that the library needs from a cluster, implemented with a Spark session."""

    def __init__(
        self, spark: _SparkSession, inputs: Sequence[str], options: Sequence[tuple[str, Any]], task_bytes: int, buckets: int | None
    ) -> None:
        version = tuple(int(part) for part in spark.version.split(".")[:2])
        if version < _OLDEST:
            raise ValueError(f"Spark {spark.version} is too old; expected 3.5 or later")
        if not hasattr(spark, "_jsparkSession"):
            raise ValueError("Spark Connect sessions are not supported; expected a session in the process of the Spark driver (spark-submit)")
        self._context = spark.sparkContext
        self._inputs = tuple(inputs)
        self._options = tuple(options)
        self._task_bytes = task_bytes
        self._buckets = buckets or int(spark.conf.get("spark.sql.shuffle.partitions") or 200)
        self._frames: dict[int, _RDD[bytes]] = {}
        # For each partition, the bytes by kind.
        self._sizes: dict[int, list[dict[int, int]]] = {}
        self._numbers = itertools.count()
        self._sent: dict[str, str] = {}
        self._job: Job | None = None

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        for frame in list(self._frames):
            self.forget(frame)
        for sent in self._sent.values():
            os.truncate(sent, 0)

    def sizes(self) -> tuple[int, int]:
        """Returns the bytes per task and the number of buckets."""
        return self._task_bytes, self._buckets

    def begin(self, told: str) -> None:
        """Stores the settings that all processes receive."""
        self._job = Job(self._inputs, self._options, told)

    def _of(self) -> Job:
        assert self._job is not None
        return self._job

    def size(self, frame: int, kinds: Sequence[int]) -> int:
        """Returns the total size of all blocks of these kinds, in bytes."""
        return sum(sizes.get(kind, 0) for sizes in self._sizes[frame] for kind in kinds)

    def _keep(self, blocks: _RDD[Any], work: Work) -> int:
        from pyspark import StorageLevel

        sizes = self._context.accumulator({}, Sizes())
        kept = _as_bytes(blocks.mapPartitionsWithIndex(Measured(work, sizes))).persist(StorageLevel.DISK_ONLY)
        with _short_errors():
            # Computes all partitions in one job, without running the Python workers a second time.
            kept._jrdd.count()  # type: ignore[attr-defined, unused-ignore]
        number = next(self._numbers)
        self._frames[number] = kept
        self._sizes[number] = [sizes.value.get(partition, {}) for partition in range(kept.getNumPartitions())]
        return number

    def map(self, step: str, tasks: int, known: str | os.PathLike[str] | None) -> int:
        """Runs a step in this number of tasks."""
        name = None if known is None else self._ship(known)
        return self._keep(self._context.parallelize(range(tasks), tasks), Map(self._of(), step, name))

    def _ship(self, known: str | os.PathLike[str]) -> str:
        """Sends a file to all processes. It is never deleted, only emptied at the end, because an executor that starts later requests all files that were ever sent."""
        from pyspark import SparkFiles

        if os.fspath(known) in self._sent:
            return os.path.basename(known)
        folder = os.path.join(SparkFiles.getRootDirectory(), "dupsift-sent")
        os.makedirs(folder, exist_ok=True)
        sent = shutil.copyfile(known, os.path.join(folder, os.path.basename(known)))
        self._context.addFile(sent)
        self._sent[os.fspath(known)] = sent
        return os.path.basename(sent)

    def _chosen(self, of: Sequence[tuple[int, list[int]]]) -> tuple[_RDD[bytes], Chosen]:
        """Returns the blocks of several frames in sequence, and a function that selects the requested kinds from each frame."""
        frames = [self._frames[frame] for frame, _ in of]
        kinds = [some for frame, asked in of for some in [frozenset(asked)] * len(self._sizes[frame])]
        return frames[0] if len(frames) == 1 else self._context.union(frames), Chosen(tuple(kinds))

    def reduce(self, step: str, of: list[tuple[int, list[int]]], known: str | os.PathLike[str] | None, together: bool) -> int:
        """Runs a step over blocks; with ``together``, the same task processes all blocks of a bucket."""
        name = None if known is None else self._ship(known)
        blocks, chosen = self._chosen(of)
        if together:
            parts = self._parts(sum(self.size(frame, kinds) for frame, kinds in of))
            blocks = self._dealt(blocks, Deal(chosen, parts), parts)
        else:
            blocks = blocks.mapPartitionsWithIndex(chosen)
        return self._keep(blocks, Reduce(self._of(), step, name))

    def _parts(self, size: int) -> int:
        """Returns the number of tasks for the buckets. The overhead of a task equals the cost of a few megabytes."""
        busy: int = min(self._context.defaultParallelism, size // _LEAST_BYTES + 1)
        return max(1, min(self._buckets, max(busy, size // _TASK_BYTES + 1)))

    def _dealt(self, blocks: _RDD[bytes], deal: Deal, parts: int) -> _RDD[bytes]:
        """Repartitions blocks like RDD.partitionBy, but without first holding up to a thousand of them in memory."""
        from pyspark import RDD
        from pyspark.serializers import NoOpSerializer

        keyed, jvm = _as_bytes(blocks.mapPartitionsWithIndex(deal)), self._context._jvm  # type: Any, Any
        pairs = jvm.PairwiseRDD(keyed._jrdd.rdd()).asJavaPairRDD().partitionBy(jvm.PythonPartitioner(parts, 0))
        return RDD(jvm.PythonRDD.valueOfPair(pairs), self._context, NoOpSerializer())

    def collect(self, frame: int, kinds: list[int]) -> Iterator[bytes]:
        """Yields the blocks of these kinds piece by piece: small partitions are combined, and large ones are split.

        Each piece is a separate job, so the driver's JVM keeps nothing of its result. With toLocalIterator, it keeps twice the bytes until the
        session ends (observed with Spark 4.3), so its memory would grow with everything that was ever collected.
        """
        sizes = [sum(sizes.get(kind, 0) for kind in kinds) for sizes in self._sizes[frame]]
        blocks, chosen = self._chosen([(frame, kinds)])
        if max(sizes, default=0) <= _PIECE_BYTES:
            yield from self._pieces(blocks.mapPartitionsWithIndex(chosen), pieces_of(sizes))
            return
        begins = tuple(itertools.accumulate(sizes, initial=0))
        parts = begins[-1] // _PIECE_BYTES + 1
        dealt, came = self._dealt(blocks, Deal(chosen, parts, (begins, _PIECE_BYTES)), parts), 0
        for block in self._pieces(dealt, [[part] for part in range(parts)]):
            came += len(block) - HEAD.size
            yield block
        if came != begins[-1]:
            raise Error(f"{came} bytes of blocks reached the driver instead of {begins[-1]}: repeated tasks returned different results")

    def _pieces(self, blocks: _RDD[bytes], pieces: list[list[int]]) -> Iterator[bytes]:
        for piece in pieces:
            with _short_errors():
                came = self._context.runJob(blocks, list, piece)
            yield from came

    def forget(self, frame: int) -> None:
        """Releases blocks that are no longer needed."""
        self._frames.pop(frame).unpersist()


def pieces_of(sizes: Sequence[int]) -> list[list[int]]:
    """Groups the partitions that are not empty, up to the size of a piece."""
    pieces: list[list[int]] = []
    held = _PIECE_BYTES
    for partition, size in enumerate(sizes):
        if size == 0:
            continue
        if held + size > _PIECE_BYTES:
            pieces.append([])
            held = 0
        pieces[-1].append(partition)
        held += size
    return pieces
