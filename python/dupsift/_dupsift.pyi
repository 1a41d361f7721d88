"""The extension module, built from `python/src`. Use the functions of `dupsift` instead; the only type of this module that they return is Column."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, final, overload

from typing_extensions import disjoint_base

__all__ = [
    "Column",
    "FrameFolder",
    "Seen",
    "SparkBlocks",
    "SparkCorpus",
    "SparkKnown",
    "Table",
    "__version__",
    "algorithms",
    "apply",
    "columns_read",
    "compare",
    "contaminated_mask",
    "contaminated_run",
    "contaminated_summary",
    "estimate",
    "evaluate",
    "explain",
    "frame_columns",
    "head",
    "is_input",
    "kept_mask",
    "leave",
    "main",
    "options",
    "presets",
    "purify",
    "run",
    "sign",
    "similarity",
    "spark_map",
    "spark_reduce",
    "spark_run",
    "summary",
    "survivors",
    "write",
    "write_texts",
]

__version__: str

_Path = str | os.PathLike[str]
_Options = Sequence[tuple[str, object]]
_Listener = Callable[[int, str, int, int, str, bool, int, int], None]

@final
class Column:
    """A column of booleans or row numbers (Int64).

    It is a sequence of ``bool`` or ``int`` with slices and element-wise comparisons (``column[:10]``, ``column == 3``); booleans also support
    ``~``, ``&``, ``|`` and ``^``. pandas (``frame[column]``) and Polars (``frame.filter(column)``) accept booleans as a mask, and row numbers
    as ``frame.iloc[column]`` and ``frame[column]``. Arrow (``polars.Series(column)``, ``pyarrow.array(column)``) and numpy
    (``numpy.asarray(column)``) accept both as an array.
    """

    @property
    def dtype(self) -> str:
        """The numpy name of the type: ``bool`` or ``int64``."""

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, at: int, /) -> Any: ...
    @overload
    def __getitem__(self, at: slice, /) -> Column: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __invert__(self) -> Column: ...
    def __and__(self, other: Column, /) -> Column: ...
    def __or__(self, other: Column, /) -> Column: ...
    def __xor__(self, other: Column, /) -> Column: ...
    def __rand__(self, other: Column, /) -> Column: ...
    def __ror__(self, other: Column, /) -> Column: ...
    def __rxor__(self, other: Column, /) -> Column: ...
    def __eq__(self, other: object, /) -> Column: ...  # type: ignore[override]
    def __ne__(self, other: object, /) -> Column: ...  # type: ignore[override]
    def __lt__(self, other: object, /) -> Column: ...
    def __le__(self, other: object, /) -> Column: ...
    def __gt__(self, other: object, /) -> Column: ...
    def __ge__(self, other: object, /) -> Column: ...
    def __bool__(self) -> bool: ...
    def rows(self) -> Column:
        """Returns the numbers of the rows that are True, in ascending order."""

    def sum(self) -> int:
        """Returns the number of True values, or the sum of the numbers."""

    def tolist(self) -> list[Any]:
        """Returns the values as a list."""

    def tobytes(self) -> bytes:
        """Returns the values as bytes: one byte per boolean, eight per number, in native byte order."""

    def to_numpy(self) -> Any:
        """Returns the values as a read-only numpy array. Raises ImportError if numpy is not installed."""

    def __call__(self, frame: object, /) -> Any:
        """Returns the values as a numpy array, for pandas, which calls a callable indexer with the frame."""

    def count(self, value: object) -> int:
        """Returns how often a value is in the column."""

    def index(self, value: object) -> int:
        """Returns the first row with a value. Raises ValueError if there is none."""

    def __reduce__(self) -> tuple[Any, ...]: ...
    @staticmethod
    def from_bytes(dtype: str, values: bytes) -> Column:
        """Restores a column from its ``dtype`` and ``tobytes()``. Raises ValueError for an unknown type."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...

@disjoint_base
class Table:
    def __new__(cls, parts: Sequence[tuple[str, _Path]], part_column: str | None = None, keeps: object = None) -> Table: ...
    @property
    def columns(self) -> list[str]:
        """The names of the columns."""

    @property
    def paths(self) -> list[str]:
        """The files that contain the rows."""

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

def spark_run(inputs: Sequence[str], options: _Options, cluster: object, told: _Listener | None) -> str: ...
def spark_map(corpus: SparkCorpus, known: SparkKnown, step: str, task: int, folder: _Path) -> SparkBlocks: ...
def spark_reduce(
    corpus: SparkCorpus, known: SparkKnown, step: str, rows: object, folder: _Path
) -> SparkBlocks: ...
@final
class FrameFolder:
    """A new private folder for a frame, locked as long as this object exists. The caller removes the folder."""

    @property
    def path(self) -> _Path: ...
    def __new__(cls, beside: _Path | None) -> FrameFolder: ...

def kept_mask(folder: _Path) -> Column: ...
def write(frame: object, columns: Sequence[tuple[str, str | None]], all: bool, path: _Path) -> int: ...
def write_texts(texts: Iterable[str | None], path: _Path) -> int: ...
def head(path: _Path, columns: Sequence[str], rows: int) -> Iterator[dict[str, Any]]: ...
def frame_columns(options: _Options) -> tuple[list[tuple[str, str | None]], bool]: ...
def options(verb: str, flags: bool = False) -> list[tuple[str, str, str, str, str | None]]: ...
def algorithms() -> str: ...
def presets() -> list[tuple[str, str, str, list[tuple[str, str]], bool]]: ...
def sign(
    text: str, algorithm: str
) -> tuple[list[tuple[int, int, int, bytes | list[int]]], list[int], str | None]: ...
def similarity(a: str, b: str, measure: str) -> float: ...
def run(inputs: Sequence[str], options: _Options, told: _Listener | None) -> str: ...
def compare(inputs: Sequence[str], options: _Options, told: _Listener | None) -> str: ...
def purify(inputs: Sequence[str], options: _Options, told: _Listener | None) -> str: ...
def contaminated_run(inputs: Sequence[str], options: _Options, told: _Listener | None) -> str: ...
def contaminated_summary(folder: _Path) -> str: ...
def contaminated_mask(folder: _Path) -> Column: ...
def estimate(inputs: Sequence[str], options: _Options, told: _Listener | None) -> tuple[str, str]: ...
def evaluate(folder: _Path, truth: Sequence[str], options: _Options, full: bool, input: _Path | None) -> tuple[str, str]: ...
def explain(folder: _Path, a: str, b: str | None, rows: bool, input: _Path | None) -> tuple[str, str, str]: ...
def columns_read(folder: _Path) -> tuple[list[tuple[str, str | None]], bool]: ...
def is_input(folder: _Path, input: _Path) -> bool: ...
def survivors(
    folder: _Path, remove_if: str | None, thresholds: Sequence[tuple[str, float]], input: _Path | None
) -> tuple[Column, Column, Column]: ...
def apply(
    folder: _Path,
    corpus: str,
    out: _Path | None,
    remove_if: str | None,
    thresholds: Sequence[tuple[str, float]],
    input: _Path | None,
    add: str,
    overwrite: bool,
) -> str: ...
def summary(folder: _Path) -> str: ...
def leave() -> None: ...
def main(typed: Sequence[str]) -> int: ...
