"""The extension module: what `python/src` gives. Use the functions of `dupsift` instead; only Column is what they return."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, final, overload

from typing_extensions import disjoint_base

__all__ = [
    "Column",
    "Seen",
    "SparkBlocks",
    "SparkCorpus",
    "SparkKnown",
    "Table",
    "__version__",
    "algorithms",
    "compare",
    "evaluate",
    "explain",
    "kept_mask",
    "leave",
    "main",
    "options",
    "presets",
    "purify",
    "rethreshold",
    "run",
    "sign",
    "similarity",
    "spark_map",
    "spark_reduce",
    "spark_run",
    "summary",
    "write",
]

__version__: str

_Path = str | os.PathLike[str]
_Options = Sequence[tuple[str, object]]
_Told = Callable[[int, str, int, int, str, bool], None]

@final
class Column:
    """A column with one value for each of some rows: truth values, or row numbers (Int64).

    It is a sequence of ``bool`` or ``int``, an array of Arrow (``polars.Series(column)``, ``pyarrow.array(column)``) and of numpy
    (``numpy.asarray(column)``).
    """

    @property
    def dtype(self) -> str:
        """The name of the type, as numpy has it: ``bool`` or ``int64``."""

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, at: int, /) -> Any: ...
    @overload
    def __getitem__(self, at: slice, /) -> Column: ...
    def __iter__(self) -> Iterator[Any]: ...
    def rows(self) -> Column:
        """The numbers of the rows that are True, in ascending order."""

    def sum(self) -> int:
        """How many values are True; of numbers the sum."""

    def tobytes(self) -> bytes:
        """The values one after the other: a byte each of truth values, eight of numbers, in the order of the machine."""

    def to_numpy(self) -> Any:
        """The values as an array of numpy that is not written to. ImportError where numpy is not installed."""

    def __reduce__(self) -> tuple[Any, ...]: ...
    @staticmethod
    def from_bytes(dtype: str, values: bytes) -> Column:
        """A column again from what ``dtype`` and ``tobytes()`` gave. ValueError for another type."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...

@disjoint_base
class Table:
    def __new__(cls, parts: Sequence[tuple[str, _Path]], part_column: str | None = None) -> Table: ...
    @property
    def columns(self) -> list[str]:
        """The names of the columns."""

    @property
    def paths(self) -> list[str]:
        """The files that hold the rows."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Seen:
    def __new__(cls, algorithm: str, keys: int, rate: float, memory: str | None, tokenizer: str) -> Seen: ...
    def add_texts(self, texts: Sequence[str | None]) -> Column: ...
    def add(self, frame: object, text: str) -> Column: ...
    @property
    def keys(self) -> int: ...
    @property
    def false_positives(self) -> float: ...

@final
class SparkCorpus:
    def __new__(cls, inputs: Sequence[str], options: _Options, told: str) -> SparkCorpus: ...

@final
class SparkKnown:
    def __new__(cls, corpus: SparkCorpus, path: _Path | None, folder: _Path) -> SparkKnown: ...

@final
class SparkBlocks:
    def take(self) -> bytes | None: ...

def spark_run(inputs: Sequence[str], options: _Options, cluster: object, told: _Told | None) -> str: ...
def spark_map(corpus: SparkCorpus, known: SparkKnown, step: str, task: int, folder: _Path) -> SparkBlocks: ...
def spark_reduce(
    corpus: SparkCorpus, known: SparkKnown, step: str, rows: object, folder: _Path
) -> SparkBlocks: ...
def kept_mask(removed: _Path, first: int, rows: int) -> Column: ...
def write(frame: object, columns: Sequence[tuple[str, str | None]], all: bool, path: _Path) -> int: ...
def frame_columns(options: _Options) -> tuple[list[tuple[str, str | None]], bool]: ...
def options(verb: str) -> list[tuple[str, str, str, str, str | None]]: ...
def algorithms() -> str: ...
def presets() -> list[tuple[str, str, str, list[tuple[str, str]], bool]]: ...
def sign(
    text: str, algorithm: str
) -> tuple[list[tuple[int, int, int, bytes | list[int]]], list[int], str | None]: ...
def similarity(a: str, b: str, measure: str) -> float: ...
def run(inputs: Sequence[str], options: _Options, told: _Told | None) -> str: ...
def compare(inputs: Sequence[str], options: _Options, told: _Told | None) -> str: ...
def purify(inputs: Sequence[str], options: _Options, told: _Told | None) -> str: ...
def evaluate(folder: _Path, truth: Sequence[str], options: _Options) -> tuple[str, str]: ...
def explain(folder: _Path, a: str, b: str | None, rows: bool) -> tuple[str, str]: ...
def rethreshold(
    folder: _Path, thresholds: Sequence[tuple[str, float]], remove_if: str | None
) -> tuple[Column, Column, Column]: ...
def summary(folder: _Path) -> str: ...
def leave() -> None: ...
def main(typed: Sequence[str]) -> int: ...
