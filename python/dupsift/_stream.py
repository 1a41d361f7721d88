"""What came before, in memory: a counting Bloom filter of signatures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from . import _dupsift
from ._dupsift import Column
from ._frames import stream_of


class Stream:
    """Tells of each text whether its like came before, in this object's life.

    ``algorithm`` is one whose equal signatures alone make duplicates, without statistics of a corpus: ``exact``, ``tf`` or
    ``long_sent``, for example; by ``minhash`` or ``megashingles`` a text came before if one of its bands did. ``keys`` is the
    number of texts that the filter is made for: of new texts no more than the share ``rate`` is flagged by chance then. A text
    that is not flagged is certainly new. ``memory`` is what the filter may take, in bytes or as "1GiB"; without it there is no
    limit but what the machine or its cgroup has.

    ValueError for an algorithm that cannot be a key, and for a filter larger than ``memory`` or than the machine's memory.

        seen = dupsift.Stream("exact", keys=10_000_000)
        new = frame.filter(~polars.Series(seen.add(frame, text="body")))
    """

    def __init__(
        self,
        algorithm: str = "exact",
        *,
        keys: int,
        rate: float = 0.001,
        memory: str | int | None = None,
        tokenizer: Literal["dict", "jieba", "bigram", "char"] = "dict",
    ) -> None:
        if not 0 < keys < 2**64:
            raise ValueError(f"keys={keys}: expected a whole number from 1 to {2**64 - 1:,}")
        self._seen = _dupsift.Seen(algorithm, keys, rate, None if memory is None else str(memory), tokenizer)

    def add(self, batch: object, text: str = "text") -> Column:
        """A truth value a text, in their order: whether its like came before. All of them have come then.

        ``batch`` is a list of texts, or a frame as ``dedup`` takes it, with a column ``text``. Texts without a key (None, white space)
        are not flagged. TypeError for what is neither, ValueError for a column that is not there.
        """
        if isinstance(batch, str):
            raise TypeError("batch: expected a list of texts or a frame, got one text")
        if isinstance(batch, Iterable) and not hasattr(batch, "__arrow_c_stream__") and not hasattr(batch, "with_format"):
            return self._seen.add_texts(list(batch))
        return self._seen.add(stream_of(batch), text)

    @property
    def keys(self) -> int:
        """Texts with a key that came."""
        return self._seen.keys

    @property
    def false_positives(self) -> float:
        """The share of new texts that are flagged by chance by now, 0 to 1."""
        return self._seen.false_positives

    def __repr__(self) -> str:
        return f"<dupsift.Stream: {self.keys:,} keys>"
