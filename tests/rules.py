"""Implements the rules of docs/methods/common.md in plain Python: normal form, pieces, words, passages, counts.

Written from that page alone. The words of Han characters depend on the program's dictionary, so they are taken from the program.

needs: pyarrow regex
"""

import collections
import functools
import itertools
import math
import sys
import unicodedata
from pathlib import Path

import pyarrow.parquet as pq
import regex

sys.path.insert(0, str(Path(__file__).parent.parent / "benches/lab"))

from digits import separated, without_marks

DELETED = regex.compile(r"\p{Default_Ignorable_Code_Point}")
# Stress marks that remain after composition because no letter includes them.
STRESS = regex.compile(r"(?<=\p{Script=Cyrillic}\p{M}*)[\u0300\u0301]")
WHITE = regex.compile(r"\p{White_Space}+")
CLOSING = r"""\)\]\}"'»›’”“‘〉》」』】〕〗〙〛〞〟⟩⟫）］｝＂＇｠｣"""
# A piece ends at a gap between two paragraphs, or after a mark and all marks and closing marks that follow it.
LINE_END = r"(?:\r\n|\r(?!\n)|[\n\u0085\u2028])"
# The sentence marks of all scripts, except forms of the ASCII period.
TERMINAL = r"[\p{Sentence_Terminal}--[\u0000-\u007F\u2024\uFE52\uFF0E]]｡"
BLANK = r"[^\S\n\r\u0085\u2028\u2029]*"
GAP = regex.compile(rf"\p{{White_Space}}*(?:\u2029|{LINE_END}{BLANK}{LINE_END})\p{{White_Space}}*")
END = regex.compile(rf"(?:[.!?…](?=\p{{White_Space}}|[{CLOSING}]|\Z)|[{TERMINAL}])[.!?…{TERMINAL}{CLOSING}]*", regex.V1)
LETTER = regex.compile(r"[\p{Alphabetic}\p{N}]")
HAN = r"[\p{Han}--[\u2E80-\u2FDF]]"
STRETCH = regex.compile(rf"(?P<han>{HAN}+)|[^\p{{Han}}]+|.", regex.V1 | regex.S)
WORD = regex.compile(r"(?w)\b\S(?:.*?)(?=\b)", regex.V1 | regex.S)
UNSPACED = (
    r"\u3005-\u3007\u3040-\u30FF\u3400-\u9FFF\uF900-\uFAFF\U00020000-\U0003FFFD\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF"
)
UNIT = regex.compile(rf"[[{UNSPACED}]&&[\p{{Alphabetic}}\p{{N}}]]|[[\p{{Alphabetic}}\p{{N}}]--[{UNSPACED}]]+", regex.V1)
LINE = regex.compile(r"\r\n|[\n\r\u0085\u2028\u2029]")


def raw_pieces(text):
    """Applies steps 2 to 4: yields the text in NFC, split where sentences and paragraphs end."""
    text = STRESS.sub("", unicodedata.normalize("NFC", DELETED.sub("", text)))
    for paragraph in GAP.split(text):
        begin = 0
        for end in END.finditer(paragraph):
            yield paragraph[begin : end.end()]
            begin = end.end()
        yield paragraph[begin:]


@functools.cache
def pieces(text):
    """Applies step 5 to each piece: lower case, NFKC, lower case, folded white space."""
    found = []
    for piece in raw_pieces(text):
        piece = unicodedata.normalize("NFKC", separated(piece.lower()))
        piece = without_marks("".join(letter.lower() for letter in piece))
        piece = WHITE.sub(" ", piece).strip(" ")
        if piece:
            found.append(piece)
    return found


def normal(text):
    return " ".join(pieces(text))


def segments(stretch):
    """Yields the UAX #29 segments that are words."""
    # The module splits words between an apostrophe and a vowel, which UAX #29 leaves to each language; it does not split at a dot.
    for found in WORD.finditer(stretch.replace("'", "\u2024").replace("\u2019", "\u2024")):
        word = stretch[found.start() : found.end()]
        if LETTER.search(word):
            yield word


class Cutter:
    """Segments texts into words. The segmentation of Han characters is learned from the program's words of the same texts."""

    def __init__(self):
        self.runs, self.differences = {}, []

    def learn(self, text, words):
        """Compares the program's words with the rules, and records the segmentation of Han characters."""
        at = 0
        for piece in pieces(text):
            for stretch in STRETCH.finditer(piece):
                if stretch["han"] is None:
                    expected = list(segments(stretch[0]))
                else:
                    end, letters = at, 0
                    while end < len(words) and letters < len(stretch[0]):
                        letters += len(words[end])
                        end += 1
                    if "".join(words[at:end]) == stretch[0]:
                        self.runs.setdefault(stretch[0], words[at:end])
                    expected = self.runs.get(stretch[0])
                found = words[at : at + (1 if expected is None else len(expected))]
                if found != expected:
                    self.differences.append(f"words of {piece[:200]!r}: {found}, by the rules {expected}")
                    return
                at += len(expected)
        if at < len(words):
            self.differences.append(f"words of {text[:60]!r}: {words[at:]} besides")

    def words(self, piece):
        """Returns the words of a piece in normal form."""
        found = []
        for stretch in STRETCH.finditer(piece):
            found += segments(stretch[0]) if stretch["han"] is None else self.runs.get(stretch[0], [stretch[0]])
        return found

    def sentences(self, text):
        """Returns the words of each sentence."""
        return [words for piece in pieces(text) if (words := self.words(piece))]


def units(text):
    """Returns the units of a text in normal form: single characters in scripts without spaces, otherwise runs of letters and digits."""
    return UNIT.findall(text)


def is_single(unit):
    return regex.fullmatch(rf"[{UNSPACED}]", unit) is not None


def passage(text):
    """Returns the form by which a passage is compared, and its length in half words."""
    found, length = "", 0
    behind_word = False
    for unit in units(normal(text)):
        single = is_single(unit)
        found += (" " if behind_word and not single else "") + unit
        behind_word = not single
        length += 1 if single else 2
    return found, length


def paragraphs(text):
    """Returns the paragraphs of a raw text; if neither blank lines nor U+2029 separate paragraphs, each line is a paragraph."""
    ends = [found.end() for found in LINE.finditer(text)]
    lines = [text[begin:end] for begin, end in zip([0, *ends], [*ends, len(text)])]
    found, open_ = [], []
    parted = False
    shown = [at for at, line in enumerate(lines) if normal(line)]
    for at, line in enumerate(lines):
        if normal(line):
            open_.append(line)
            parted |= line.endswith("\u2029") and at < shown[-1]
        elif shown and shown[0] < at < shown[-1]:
            parted = True
        if open_ and (not normal(line) or line.endswith("\u2029")):
            found.append("".join(open_))
            open_ = []
    if open_:
        found.append("".join(open_))
    return found if parted else [lines[at] for at in shown]


def heaviest(weights, most):
    """Returns the heaviest words; equal weights are ordered by code points."""
    return sorted(weights, key=lambda word: (-weights[word], word))[:most]


class Corpus:
    """Holds the documents, their parts according to the rules, and the counts over all of them."""

    def __init__(self, path, words):
        table = pq.read_table(path, columns=["text", "title"])
        self.texts, self.titles = table["text"].to_pylist(), [title or "" for title in table["title"].to_pylist()]
        self.cutter = Cutter()
        for text, title, line in zip(self.texts, self.titles, words, strict=True):
            if normal(text) != line["normal"]:
                places = zip(normal(text) + "\0", line["normal"] + "\0")
                at = next(at for at, (ours, theirs) in enumerate(places) if ours != theirs)
                by_rules, found = (form[max(0, at - 20) : at + 20] for form in (normal(text), line["normal"]))
                self.cutter.differences.append(f"normal form of {text[:60]!r}: {found!r}, by the rules {by_rules!r}")
            self.cutter.learn(text, line["words"])
            self.cutter.learn(title, line["title"])
        self.sentences = [self.cutter.sentences(text) for text in self.texts]
        self.words = [list(itertools.chain(*sentences)) for sentences in self.sentences]
        self.tf = [collections.Counter(words) for words in self.words]
        self.n = sum(1 for words in self.words if words)
        self.df = collections.Counter(itertools.chain(*self.tf))
        self.cf = collections.Counter(itertools.chain(*self.words))
        self.average = sum(map(len, self.words)) / self.n

    def idf(self, word):
        return math.log(self.n / self.df.get(word, 1))

    def bm25(self, doc):
        """Returns tf_bm25 times idf_bm25 for each word."""
        length = 2 * (0.25 + 0.75 * len(self.words[doc]) / self.average)
        idf = {word: math.log((self.n - self.df[word] + 0.5) / (self.df[word] + 0.5)) for word in self.tf[doc]}
        return {word: tf / (length + tf) * idf[word] for word, tf in self.tf[doc].items()}

    def each(self, weights, most, least):
        """Returns the heaviest words of each document by its weights; None for a document with fewer than `least` words."""
        found = (heaviest(weights(doc), most) for doc in range(len(self.texts)))
        return [words if words and len(words) >= least else None for words in found]

    def long_sentences(self, weight, most):
        """Yields the distinct sentences with the greatest weights for each document, as canonical strings."""
        for doc, sentences in enumerate(self.sentences):
            weighed = {" ".join(words): weight(doc, words) for words in sentences}
            yield sorted(weighed, key=lambda sentence: (-weighed[sentence], sentence))[:most]
