"""What came before, in memory: a counting Bloom filter of signatures."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Literal

from . import _dupsift
from ._dupsift import Column
from ._frames import needed_of, stream_of


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
        self._rate = rate
        self._warned = False

    def add(self, batch: object, text: str = "text") -> Column:
        """A truth value a text, in their order: whether its like came before. All of them have come then.

        ``batch`` is a list of texts, or a frame as ``dedup`` takes it, with a column ``text``. Texts without a key (None, white space)
        are not flagged. A UserWarning says when the filter holds so many keys that ten times ``rate`` is reached. TypeError for what is neither, ValueError for a column that is not there.
        """
        if isinstance(batch, str):
            raise TypeError("batch: expected a list of texts or a frame, got one text")
        if isinstance(batch, Iterable) and not hasattr(batch, "__arrow_c_stream__") and not hasattr(batch, "with_format"):
            flags = self._seen.add_texts(list(batch))
        else:
            flags = self._seen.add(stream_of(batch, needed_of(batch, [(text, "column")])), text)
        by_chance = self.false_positives
        if not self._warned and by_chance >= min(10 * self._rate, 0.5):
            self._warned = True
            share = f"{100 * by_chance:.2f}% of new texts are flagged by chance, at least ten times rate={self._rate}"
            warnings.warn(f"{share}: the filter holds {self.keys:,} keys; make one with larger keys=", UserWarning, stacklevel=2)
        return flags

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
