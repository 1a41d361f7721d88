#!/usr/bin/env python3
"""Compares removal by containment with its definition, using the texts of the corpus.

usage: contained.py OUT [OUT ...]

OUT is the output of a run with --remove-if contained:T:N over Parquet files with the columns id and text. The script segments the texts
independently into 3-grams of words (UAX #29 segments with a letter or a digit; each Han character is a word) and numbers. It checks that
* every share in removed/ and pairs/ equals the share computed here,
* every removed document is contained in the document kept instead, or is a copy of it,
* if two kept documents form a pair, the later one could not be removed in favor of the earlier one, unless some documents were not
  compared, or their titles differ (other_title).

Two texts that repeat few words are compared by their 12-grams. A number that leads the text, such as that of a question, does not count.
Numbers that occur only in the frame of a long text do not count. The frame is the first and the last twentieth, except the first line.

needs: pyarrow regex
"""

import json
import struct
import sys
import unicodedata
from pathlib import Path

import pyarrow.parquet as pq
import regex

sys.path.insert(0, str(Path(__file__).parent.parent / "benches/lab"))

from digits import numbers as digit_numbers, separated, value, without_marks
from number_words import number_words

# Sentence separators also separate words: no word continues across one.
BREAK = regex.compile(r"(?<=[\u3002\uFF01\uFF1F\uFF61\n])")
WORD = regex.compile(r"(?w)\b\S(?:.*?)(?=\b)", regex.V1 | regex.S)
HAN = regex.compile(r"\p{Han}")
INVISIBLE = regex.compile(r"\p{Cf}")
GRAM = 3
LONG_GRAM = 12
ORDINAL = regex.compile(r"[\s#(（\[【]*[0-9]{1,3}\s*[.)、．）\]】](?![0-9])(?=.*[\p{L}\p{N}])", regex.S)
# The minimum number of tokens for a text to have a frame, and the fraction of the text at either end that is its frame, as a divisor.
LEAST_WITH_FRAME = 500
FRAME = 20


def single(number):
    """Rounds a number to 32 bits, as in tables."""
    return struct.unpack("f", struct.pack("f", number))[0]


def normal(text):
    return without_marks(unicodedata.normalize("NFKC", separated(text.lower())))


def tokens(text):
    for piece in BREAK.split(unicodedata.normalize("NFC", text)):
        # The module splits words between an apostrophe and a vowel, which UAX #29 leaves to each language; it does not split at a dot.
        for word in WORD.findall(normal(piece).replace("'", "\u2024").replace("\u2019", "\u2024")):
            if any(letter.isalnum() for letter in word):
                if HAN.search(word):
                    yield from word
                else:
                    yield word


def numbers(text):
    """Yields each number and its position, without marks between groups of digits; numbers in words are converted to digits."""
    for start, number in digit_numbers(text):
        yield value(number), start
    for start, number in number_words(text):
        yield str(number), start


def facts_of(text):
    """Yields the numbers of a text, except the ordinal number that leads it."""
    ordinal = ORDINAL.match(text)
    end = ordinal.end() if ordinal else 0
    return ((number, place) for number, place in numbers(text) if place >= end)


def grams_of(words, size):
    return [tuple(words[at : at + size]) for at in range(max(1, len(words) - size + 1))] if words else []


def folded(text):
    return " ".join(INVISIBLE.sub("", normal(text)).split())


def contents(text):
    """Returns the distinct 3-grams, the distinct 12-grams if few 3-grams are distinct, the distinct numbers, and those outside of the frame."""
    words = list(tokens(text))
    grams = set(grams_of(words, GRAM))
    long = set(grams_of(words, LONG_GRAM)) if 2 * len(grams) < len(grams_of(words, GRAM)) else set()
    # Pieces and words are separated by one space, and invisible characters are removed.
    pieces = (folded(piece) for piece in BREAK.split(unicodedata.normalize("NFC", text)))
    whole = " ".join(piece for piece in pieces if piece)
    first = next((line for line in text.splitlines(keepends=True) if any(letter.isalnum() for letter in line)), "")
    length = len(whole.encode())
    frame = length // FRAME if len(words) >= LEAST_WITH_FRAME else 0
    # In a text with a single line, that line does not count as a first line.
    facts = {number for number, _ in facts_of(folded(first))} if frame and not text.endswith(first) else set()
    for number, place in facts_of(whole):
        at = len(whole[:place].encode())
        if frame <= at < length - frame:
            facts.add(number)
    return (grams, long), {number for number, _ in facts_of(whole)}, facts


def grams_to_compare(one, other):
    """Returns the 12-grams of two texts if few 3-grams of both are distinct, and otherwise their 3-grams."""
    return (one[1], other[1]) if one[1] and other[1] else (one[0], other[0])


def shares(of, other):
    """Returns the shares of one document's 3-grams and numbers that the other contains."""
    (grams, _, facts), (there, numbers_there, _) = of, other
    grams, there = grams_to_compare(grams, there)
    return (len(grams & there) / len(grams) if grams else 0.0), (len(facts & numbers_there) / len(facts) if facts else 1.0)


def check(what, expected, came):
    if expected != came:
        sys.exit(f"error: {what}: expected {expected}, got {came}")


def rows(out, kind):
    for file in sorted((out / kind).rglob("*.parquet")):
        yield from pq.read_table(file, partitioning=None).to_pylist()


class Corpus:
    """Holds the texts of a run; runs over the same files share an object."""

    all = {}

    @staticmethod
    def of_run(report):
        files = tuple(file["path"] for file in report["inputs"])
        if files not in Corpus.all:
            Corpus.all[files] = Corpus(report)
        return Corpus.all[files]

    def __init__(self, report):
        self.texts = [text for file in report["inputs"] for text in pq.read_table(file["path"], columns=["text"])["text"].to_pylist()]
        self.known = {}

    def of(self, a, b):
        for doc in (a, b):
            if doc not in self.known:
                self.known[doc] = contents(self.texts[doc])
        return shares(self.known[a], self.known[b])

    def place(self, doc):
        return -len(self.texts[doc]), doc


def look_at(out):
    report = json.loads((out / "run.json").read_text())
    rule, *least = report["options"]["remove-if"].split(":")
    check(f"{out}: the rule", "contained", rule)
    check(f"{out}: the order", "length desc, doc asc", report["options"]["keep"])
    least = tuple(map(float, least))
    corpus, removed, checked = Corpus.of_run(report), set(), 0
    holds = lambda of: of[0] >= least[0] and of[1] >= least[1]
    for row in rows(out, "removed"):
        doc, kept = row["doc"], row["kept_doc"]
        of = corpus.of(doc, kept)
        removed.add(doc)
        what = f"{out}: {row['id']} removed for {row['kept_id']}"
        check(f"{what}: a copy", corpus.texts[doc] == corpus.texts[kept], row["reason"] == "copy")
        check(f"{what}: shares", tuple(map(single, of)), (row["contained"], row["numbers"]))
        check(f"{what}: contained", True, row["reason"] == "copy" or holds(of))
        checked += 1
    for row in rows(out, "pairs"):
        a, b = sorted((row["doc_a"], row["doc_b"]), key=corpus.place)
        what = f"{out}: the pair {row['id_a']} and {row['id_b']}"
        if row["contained_a"] is not None:
            for letter, other in ("ab", "ba"):
                of = corpus.of(row[f"doc_{letter}"], row[f"doc_{other}"])
                check(f"{what}: shares of {letter}", tuple(map(single, of)), (row[f"contained_{letter}"], row[f"numbers_{letter}"]))
                checked += 1
        is_duplicate = row["relation"] != "template" and not row["other_title"]
        if is_duplicate and report["removal"]["not_looked_at"] == 0 and report["options"]["decide"] == "any" and not removed & {a, b}:
            check(f"{what}: both are kept, the second is not contained in the first", False, holds(corpus.of(b, a)))
    return checked


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    print(f"checked {sum(look_at(Path(out)) for out in arguments)}")


if __name__ == "__main__":
    main(sys.argv[1:])
