"""Signatures and similarities of single texts, without a corpus. They use the same code as a run."""

from __future__ import annotations

from dataclasses import dataclass

from . import _dupsift


@dataclass(frozen=True)
class SignatureRow:
    """One row of a signature. Texts that have the same position and key in a row are candidates."""

    position: int
    """The index of this key in the signature: the number of a table, band or rule."""
    key: int
    """The key, up to 128 bits."""
    order: int
    """The sort order of rows with the same key, such as a length; otherwise 0."""
    sketch: bytes
    """Additional bytes that the algorithm uses to compare rows."""


@dataclass(frozen=True)
class Signature:
    """The signature of one text."""

    rows: tuple[SignatureRow, ...]
    """The rows that are compared with those of other texts; empty if there is a ``reason``."""
    sketch: tuple[int, ...]
    """The sketch that candidates are compared by, as 64-bit numbers; empty if the algorithm has none."""
    reason: str | None
    """Why the text has no signature."""


def sign(text: str, algorithm: str) -> Signature:
    """Returns the signature of a text. The algorithm is specified as for a run, for example ``simhash`` or ``minhash:bands=20,rows=5``.

    Raises ValueError for an unknown name or parameter, and for an algorithm whose signatures depend on a corpus.
    """
    rows, sketch, reason = _dupsift.sign(text, algorithm)
    made = (SignatureRow(position, key, order, bytes(own)) for position, key, order, own in rows)
    return Signature(tuple(made), tuple(sketch), reason)


def similarity(a: str, b: str, measure: str = "lcs") -> float:
    """Returns the similarity of two texts, from 0 to 1.

    ``lcs`` is 2 LCS / (a + b) in characters, ``words`` the same in words, ``jaccard`` the Jaccard similarity of 5-word shingles, or of
    other shingles, as in ``jaccard:words3`` and ``jaccard:chars8``. Equal texts have similarity 1. Otherwise,
    texts without words have similarity 0. Raises ValueError for an unknown
    measure, and for texts so long that comparing them would take more than about a second.
    """
    return _dupsift.similarity(a, b, measure)
