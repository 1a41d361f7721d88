#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["jieba", "pyarrow"]
# ///
"""Implements the rule that classifies similar documents in plain Python, to try other bounds and to check the program.

docs/methods/versions.md describes the rule, and docs/versions.md its results and errors. In the program, the rule is part of the `versions`
algorithm.

OUT is the output of a run that reports every pair with a cosine of at least 0.6, including copies:

    dupsift run DOCS --out OUT --algorithms exact,versions:relate=false,join=exact
    benches/lab/versions_rule.py OUT
    benches/lab/versions_rule.py OUT --truth pairs.parquet

Prints one line per pair, separated by tabs: both ids, the cosine, the relation, and the reason. The relation is `version`, `contained` (a
version that adds its own text) or `template` (the same template with different facts, or unrelated text). With --truth, a table of labeled
pairs id_a, id_b, the last line gives precision and recall of the pairs that are not `template`.

Chinese words come from jieba without its model for unknown words, so they differ slightly from the program's. Texts and their features are
held in memory: use it for corpora of a few hundred megabytes.
"""

import argparse
import collections
import itertools
import logging
import math
import re
import sys
import unicodedata
from dataclasses import dataclass
from pathlib import Path

import lab

import pyarrow.parquet as pq

import outputs
from digits import numbers as digit_numbers, separated, value, without_marks
from number_words import number_words

ALGORITHMS = "exact,versions:relate=false,join=exact"
# Sentence 1: pairs below this cosine are ignored. If no other document is near, this value is used as the cosine of the next best document.
LEAST_COSINE = 0.6
# Sentence 1: the facts agree if enough numbers agree, or if each text contains enough of the other text's 3-grams.
LEAST_NUMBERS = 0.7
LEAST_GRAMS_OF_BOTH = 0.75
# Sentence 2: the maximum share of a text's weight in the surplus of one word. In short texts, the maximum is SURPLUS_WORDS divided by the
# number of tokens.
MOST_SURPLUS = 0.02
SURPLUS_WORDS = 2
# Sentence 3: the minimum share of a contained text. The relation is `contained` if the share of the other text is less than MOST_OF_BOTH.
LEAST_CONTAINED = 0.88
MOST_OF_BOTH = 0.8
# Sentence 4: the minimum distance of the next best document, outside of the near group of either document.
LEAST_GAP = 0.15
NEAR = 0.9
# Sentence 6: the minimum contained share if more than MANY_NEAR other documents are at most LEAST_GAP less similar.
LEAST_CONTAINED_IN_CROWD = 0.95
MANY_NEAR = 10
# Sentence 5: a first line that more documents than this have in common is not a title.
MOST_WITH_TITLE = 10
LONGEST_TITLE = 200

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f"
RUN = re.compile(f"[{HAN}]+|[^\\W_{HAN}]+")
IS_HAN = re.compile(f"[{HAN}]")
# The number that leads a text, such as that of a question, is not a fact.
ORDINAL = re.compile(r"[\s#(\[【]*[0-9]{1,3}\s*[.)、\]】](?![0-9])(?=.*\w)", re.S)


@dataclass
class Evidence:
    """Holds the facts about a text that the rule uses."""

    words: collections.Counter
    tokens: int
    grams: frozenset
    long_grams: frozenset
    numbers: frozenset
    first_line: str
    may_be_title: bool


@dataclass
class Verdict:
    """Holds the result of the rule for a pair, and the reason; contained_a is the share of a's 3-grams that b contains."""

    relation: str
    contained_a: float
    contained_b: float
    reason: str


def normal(text):
    return without_marks(unicodedata.normalize("NFKC", separated(text.lower())).lower())


def tokens_of(text):
    """Returns the tokens for 3-grams: words, with Han as single characters."""
    tokens = []
    for run in RUN.findall(normal(text)):
        tokens += list(run) if IS_HAN.match(run) else [run]
    return tokens


def grams_of(tokens, size=3):
    """Returns the distinct grams; fewer tokens than a gram has form one gram."""
    return frozenset(tuple(tokens[at : at + size]) for at in range(max(1, len(tokens) - size + 1)))


def long_grams(tokens, grams):
    """Returns the distinct 12-grams of a text that repeats few words, or nothing."""
    return grams_of(tokens, 12) if 2 * len(grams) < len(tokens) - 2 else frozenset()


def grams_to_compare(left, right):
    return (left.long_grams, right.long_grams) if left.long_grams and right.long_grams else (left.grams, right.grams)


def numbers_of(text):
    text = " ".join(normal(text).split())
    ordinal = ORDINAL.match(text)
    text = text[ordinal.end() :] if ordinal else text
    found = (number for _, number in digit_numbers(text))
    return frozenset([*map(value, found), *(str(number) for _, number in number_words(text))])


class Words:
    """Segments texts into words; the words of each run of Han are cached."""

    def __init__(self):
        try:
            import jieba
        except ImportError:
            sys.exit("error: the rule cuts Chinese with jieba, which is not installed; expected it, such as by: pip install jieba")
        jieba.setLogLevel(logging.ERROR)
        self.cutter, self.known = jieba, {}

    def count(self, text):
        words = collections.Counter()
        for run in RUN.findall(normal(text)):
            if not IS_HAN.match(run):
                words[run] += 1
                continue
            if run not in self.known:
                self.known[run] = list(self.cutter.cut(run, HMM=False))
            words.update(self.known[run])
        return words


def first_lines(text):
    """Returns the first two lines that are not blank."""
    lines = (line.strip() for line in text.split("\n"))
    return [line for line in lines if line][:2]


def may_be_title(lines):
    """Returns whether the first line looks like a title: another paragraph follows, and it is neither a quotation nor half a sentence."""
    if len(lines) < 2:
        return False
    first, second = lines
    goes_on = second[0].islower() and not (len(first.split()) == 1 and re.search(r"[.(_:]", re.sub(r"[^\w)]+$", "", second.split()[0])))
    return len(first) <= LONGEST_TITLE and first[-1] not in ",:;-、，：；" and first[0] not in ">|" and not goes_on


def first_line(lines):
    return re.sub(r"\s+", " ", normal(lines[0])) if lines else ""


def evidence(text, words):
    lines, tokens = first_lines(text), tokens_of(text)
    grams = grams_of(tokens)
    return Evidence(words, len(tokens), grams, long_grams(tokens, grams), numbers_of(text), first_line(lines), may_be_title(lines))


class Rule:
    """Applies the rule to a corpus: texts by id, and (a, b, cosine) of all pairs with at least LEAST_COSINE."""

    def __init__(self, texts, pairs):
        self.texts, self.pairs = texts, pairs
        in_pairs = {document for a, b, _ in pairs for document in (a, b)}
        words, frequency = Words(), collections.Counter()
        self.evidence, self.having_line = {}, collections.Counter()
        for document, text in texts.items():
            counted = words.count(text)
            frequency.update(counted.keys())
            self.having_line[first_line(first_lines(text))] += 1
            if document in in_pairs:
                self.evidence[document] = evidence(text, counted)
        self.idf = {word: math.log(1 + len(texts) / documents) for word, documents in frequency.items()}
        self.weight = {
            document: sum(count * self.idf[word] for word, count in known.words.items()) for document, known in self.evidence.items()
        }
        self.nearest, self.near = collections.defaultdict(list), collections.defaultdict(set)
        for a, b, cosine in pairs:
            self.nearest[a].append((-cosine, b))
            self.nearest[b].append((-cosine, a))
            if cosine >= NEAR:
                self.near[a].add(b)
                self.near[b].add(a)
        for others in self.nearest.values():
            others.sort()

    def surplus(self, u, v):
        """Finds the heaviest surplus of a word in u over v; returns its share of u's weight, the word, and the largest allowed share."""
        ours, theirs = self.evidence[u].words, self.evidence[v].words
        heavier = [((count - theirs[word]) * self.idf[word], word) for word, count in ours.items() if count > theirs[word]]
        weight, word = max(heavier, default=(0.0, ""))
        most = max(MOST_SURPLUS, SURPLUS_WORDS / max(1, self.evidence[u].tokens))
        return weight / max(self.weight[u], 1e-9), word, most

    def gap(self, a, b, cosine):
        """Returns the distance of the next best document of either document, outside of the near group of the pair, and that document."""
        group = self.near[a] | self.near[b] | {a, b}
        next_best = [(LEAST_COSINE, "")]
        for document in (a, b):
            outside = ((-minus, other) for minus, other in self.nearest[document] if other not in group)
            next_best += itertools.islice(outside, 1)
        next_cosine, other = max(next_best, key=lambda one: one[0])
        return cosine - next_cosine, other

    def is_crowded(self, document, other, cosine):
        """Returns whether more than MANY_NEAR documents are about as similar to a document as the other document of the pair."""
        as_near = (partner for minus, partner in self.nearest[document] if -minus >= cosine - LEAST_GAP and partner != other)
        return sum(1 for _ in as_near) > MANY_NEAR

    def decide(self, a, b, cosine):
        """Applies all six sentences."""
        verdict = self.decide_two(a, b, cosine)
        larger = max(verdict.contained_a, verdict.contained_b)
        inner, outer = (a, b) if verdict.contained_a == larger else (b, a)
        if verdict.relation != "template" and larger < LEAST_CONTAINED_IN_CROWD and self.is_crowded(inner, outer, cosine):
            reason = f"more than {MANY_NEAR} others are as similar, and {larger:.2f} is contained; {LEAST_CONTAINED_IN_CROWD} is required"
            return Verdict("template", verdict.contained_a, verdict.contained_b, reason)
        return verdict

    def decide_two(self, a, b, cosine):
        """Applies the first five sentences in order."""
        if self.texts[a] == self.texts[b]:
            return Verdict("version", 1.0, 1.0, "the same text")
        left, right = self.evidence[a], self.evidence[b]
        grams_a, grams_b = grams_to_compare(left, right)
        common = len(grams_a & grams_b)
        contained_a, contained_b = common / len(grams_a), common / len(grams_b)
        verdict = lambda relation, reason: Verdict(relation, contained_a, contained_b, reason)
        if cosine < LEAST_COSINE:
            return verdict("template", f"the cosine is below {LEAST_COSINE}")

        fewer, agreeing = min(len(left.numbers), len(right.numbers)), len(left.numbers & right.numbers)
        if fewer and agreeing / fewer < LEAST_NUMBERS and min(contained_a, contained_b) < LEAST_GRAMS_OF_BOTH:
            return verdict("template", f"the numbers differ: {agreeing} of {fewer} agree, {LEAST_NUMBERS} are asked for")

        same_line = left.first_line == right.first_line and self.having_line[left.first_line] <= MOST_WITH_TITLE
        surpluses = [(*self.surplus(a, b), "a"), (*self.surplus(b, a), "b")]
        inner = surpluses[0 if contained_a >= contained_b else 1]
        outer = [one for one in surpluses if one[0] > one[2]]

        larger = max(contained_a, contained_b)
        inner_tells = not same_line and inner[0] > inner[2]
        if larger >= LEAST_CONTAINED and not inner_tells:
            relation = "contained" if min(contained_a, contained_b) < MOST_OF_BOTH else "version"
            return verdict(relation, f"{larger:.2f} of the 3-grams of {inner[3]} stand in the other")
        # If the 3-grams of a text are contained, the relation is `contained` even if a different sentence makes the pair a version.
        relation = "contained" if larger >= LEAST_CONTAINED and min(contained_a, contained_b) < MOST_OF_BOTH else "version"
        gap, other = self.gap(a, b, cosine)
        if gap >= LEAST_GAP and (same_line or not outer):
            return verdict(relation, f"the next best is {gap:.2f} away")
        if same_line and left.may_be_title and right.may_be_title and gap >= 0:
            return verdict(relation, "the titles are equal, and nothing else is nearer")
        if outer and not same_line and (gap >= LEAST_GAP or larger >= LEAST_CONTAINED):
            share, word, most, side = max(outer)
            return verdict("template", f"the word {word!r} is more frequent in {side}, by {share:.3f} of its weight (at most {most:.3f})")
        nearest = f"the next best, {outputs.name(other)}," if other != "" else "the lowest cosine looked at"
        asked = f"{LEAST_GAP} away and {LEAST_CONTAINED} contained are asked for"
        return verdict("template", f"{nearest} is {gap:.2f} away, {larger:.2f} is contained; {asked}")

    def verdicts(self):
        for a, b, cosine in self.pairs:
            yield a, b, cosine, self.decide(a, b, cosine)


def scored_pairs(out):
    """Returns (a, b, largest similarity) of each pair of a run, in order."""
    best = {}
    for path in sorted((out / "pairs").glob("*/*.parquet")):
        table = pq.read_table(path, columns=["id_a", "id_b", "similarity"])
        for a, b, similarity in zip(*(table[name].to_pylist() for name in ("id_a", "id_b", "similarity"))):
            best[a, b] = max(similarity, best.get((a, b), 0.0))
    return [(a, b, similarity) for (a, b), similarity in sorted(best.items())]


def version_pairs(dupsift, docs, texts, work):
    """Runs the program, and the rule on its pairs; returns the pairs of ids that are not from the same template."""
    out = work / "rule"
    command = [dupsift, "run", docs, "--out", out, "--overwrite", "--accept", "--no-progress", "--no-report", "--algorithms", ALGORITHMS]
    lab.run(*command)
    return {tuple(sorted((a, b))) for a, b, _, one in Rule(texts, scored_pairs(out)).verdicts() if one.relation != "template"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="output folder of dupsift run")
    parser.add_argument("--input", nargs="*", help="the input files, if they have moved")
    parser.add_argument("--truth", type=Path, metavar="FILE", help="a Parquet file with labeled pairs id_a, id_b")
    arguments = parser.parse_args()
    report = outputs.record(arguments.out)
    columns = [report["options"]["id-column"], report["options"]["text-column"]]
    files = outputs.corpus_files(report, arguments.input)
    texts = {document: text for _, (document, text) in outputs.rows(files, columns) if text is not None}

    found = set()
    for a, b, cosine, verdict in Rule(texts, scored_pairs(arguments.out)).verdicts():
        ids = (outputs.visible(outputs.name(document)) for document in (a, b))
        print(*ids, f"{cosine:.3f}", verdict.relation, outputs.visible(verdict.reason), sep="\t")
        if verdict.relation != "template":
            found.add(frozenset((a, b)))
    if arguments.truth:
        table = pq.read_table(arguments.truth, columns=["id_a", "id_b"])
        found = outputs.with_copies(found, texts)
        labelled = set(map(frozenset, zip(table["id_a"].to_pylist(), table["id_b"].to_pylist())))
        hits = len(found & labelled)
        precision, recall = hits / max(1, len(found)), hits / max(1, len(labelled))
        print(f"precision {precision:.3f}, recall {recall:.3f}, F1 {2 * hits / max(1, len(found) + len(labelled)):.3f}")


if __name__ == "__main__":
    outputs.run(main)
