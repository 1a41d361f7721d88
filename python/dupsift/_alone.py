"""One text, or two, without a corpus: by the code that signs and judges in a run."""

from __future__ import annotations

from dataclasses import dataclass

from . import _dupsift


@dataclass(frozen=True)
class SignatureRow:
    """One row of a signature: texts that share position and key meet."""

    position: int
    """Which of the algorithm's keys this is: a table, a band, a rule."""
    key: int
    """The key, up to 128 bits."""
    order: int
    """What rows of one key are ordered by, such as a length; else 0."""
    sketch: bytes
    """The algorithm's own bytes."""


@dataclass(frozen=True)
class Signature:
    """What an algorithm says of one text."""

    rows: tuple[SignatureRow, ...]
    """The rows by which texts meet; none where there is a reason."""
    sketch: tuple[int, ...]
    """What texts that met are compared by, where the method keeps that: numbers of 64 bits."""
    reason: str | None
    """Why the text has no signature."""


def sign(text: str, algorithm: str) -> Signature:
    """The signature of a text by an algorithm as it is typed for a run, such as ``simhash`` or ``minhash:bands=20,rows=5``.

    ValueError for an unknown name or parameter, and for an algorithm whose signatures depend on a corpus.
    """
    rows, sketch, reason = _dupsift.sign(text, algorithm)
    made = (SignatureRow(position, key, order, bytes(own)) for position, key, order, own in rows)
    return Signature(tuple(made), tuple(sketch), reason)


def similarity(a: str, b: str, measure: str = "lcs") -> float:
    """How alike two texts are, from 0 to 1.

    ``lcs``: 2 LCS / (a + b) on characters; ``words``: the same on words; ``jaccard``: of shingles of five words, or of others, as
    ``jaccard:words3`` and ``jaccard:chars8``. Texts without words are like no other. ValueError for an unknown measure, and for texts so
    long that comparing them would take more than about a second.
    """
    return _dupsift.similarity(a, b, measure)
