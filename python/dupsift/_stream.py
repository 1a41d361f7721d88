"""Detects duplicates in a stream of texts, with a counting Bloom filter of signatures in memory."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Literal

from . import _dupsift
from ._dupsift import Column
from ._frames import is_frame, needed_of, stream_of, texts_of


class Stream:
    """Detects texts that are duplicates of texts added earlier to this object.

    ``algorithm`` must pair documents by equal signatures and need no corpus statistics, such as ``exact``, ``tf`` or ``long_sent``. With
    ``minhash`` or ``megashingles``, a text counts as seen if one of its bands was seen before. ``keys`` is the expected number of texts,
    which determines the size of the filter; up to that number, at most the share ``rate`` of new texts is flagged by mistake. A text that
    is not flagged is always new. ``memory`` limits the size of the filter, in bytes or as in "1GiB"; by default, the memory of the machine
    or its cgroup is the limit.

    Raises ValueError for an algorithm that cannot be a key, and for a filter larger than ``memory`` or than the machine's memory.

        seen = dupsift.Stream("exact", keys=10_000_000)
        new = frame.filter(~polars.Series(seen.add(frame, text_column="body")))
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

    def add(self, batch: object, text_column: str = "text") -> Column:
        """Adds texts. Returns one boolean per text, in order: True if a duplicate was added earlier.

        ``batch`` is a list, Series or array of texts, or a frame that ``dedup`` accepts, with a column ``text_column``. Texts without a key (None,
        only white space) are not flagged. Issues a UserWarning when the false-positive rate reaches ten times ``rate``. Raises TypeError for
        other types, and ValueError for a missing column.
        """
        if isinstance(batch, str):
            raise TypeError("batch: expected a list of texts or a frame, got one text")
        texts = texts_of(batch)
        if texts is None and isinstance(batch, Iterable) and not is_frame(batch):
            texts = batch
        if texts is not None:
            flags = self._seen.add_texts(list(texts))
        else:
            flags = self._seen.add(stream_of(batch, needed_of(batch, [(text_column, "column")])), text_column)
        by_chance = self.false_positives
        if not self._warned and by_chance >= min(10 * self._rate, 0.5):
            self._warned = True
            share = f"the false-positive rate is {100 * by_chance:.2f}%, at least ten times rate={self._rate}"
            warnings.warn(f"{share}: the filter contains {self.keys:,} keys; create a new one with a larger keys=", UserWarning, stacklevel=2)
        return flags

    @property
    def keys(self) -> int:
        """The number of texts with a key that were added."""
        return self._seen.keys

    @property
    def false_positives(self) -> float:
        """The current false-positive rate: the share of new texts that are flagged by mistake, 0 to 1."""
        return self._seen.false_positives

    def __repr__(self) -> str:
        return f"<dupsift.Stream: {self.keys:,} keys>"
