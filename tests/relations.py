#!/usr/bin/env python3
"""Compares the relations that a run reports for its pairs (relation, why, next_best in pairs/) with their definition, using the texts.

usage: relations.py OUT [OUT ...]

OUT is the output of a run over Parquet files with the columns id and text. Its algorithm has relate=true and templates=0, so that every
compared pair is in the table. The script determines facts, first lines, words and the next best independently, and implements the six
sentences of docs/methods/versions.md again. With --tokenizer char, it checks everything. The script has no dictionary, so with other
tokenizers it checks everything except the words of texts with Han characters. Results for Han texts whose words are known are counted
separately.

needs: pyarrow regex
"""

import collections
import json
import math
import re
import sys
from pathlib import Path

import pyarrow.parquet as pq

from contained import HAN, check, contents, grams_to_compare, normal, single, tokens

MOST_OF_BOTH = 0.8
LONGEST_TITLE = 200
HAIR = 1e-6
# Differences this small from a bound are ignored, because weights have 24 bits.
NEARLY = 1e-4


def lines_of(text):
    return [line.strip() for line in re.split(r"[\n\r]", text) if line.strip()][:2]


def heading(text):
    """Returns the normal form of the first line, and whether it may be a title; None and False if the line is long."""
    lines = lines_of(text)
    if not lines or len(lines[0]) > LONGEST_TITLE:
        return None, False
    goes_on = len(lines) < 2 or (lines[1][0].islower() and not is_signature(lines))
    is_title = not goes_on and lines[0][0] not in ">|" and lines[0][-1] not in ",:;-、，：；"
    return re.sub(r"\s+", " ", normal(lines[0])), is_title


def is_signature(lines):
    """Returns whether the first line is a name, and the next one begins with a qualified name or a signature."""
    word = re.sub(r"[^\w)]+$", "", lines[1].split()[0])
    return len(lines[0].split()) == 1 and re.search(r"[.(_:]", word)


class Rule:
    """Applies the rule to the pairs of one algorithm."""

    def __init__(self, out, report, algorithm):
        texts = [text for file in report["inputs"] for text in pq.read_table(file["path"], columns=["text"])["text"].to_pylist()]
        first = {}
        self.texts, self.first = texts, [first.setdefault(text, doc) for doc, text in enumerate(texts)]
        self.bound = {name: float(value) for name, value in re.findall(r"(\w+)=([\d.]+)\b(?=,|$)", algorithm["recipe"])}
        table = out / "pairs" / f"algorithm={algorithm['label']}" / "part-00000.parquet"
        self.rows = pq.read_table(table, partitioning=None).to_pylist()
        self.headings = [heading(text) for text in texts]
        self.having = collections.Counter(self.headings[doc][0] for doc in sorted(set(self.first)))
        self.known, self.counted = {}, {}
        self.knows_han = re.search(r"tokenizer=(\w+)", report["recipe"]["text"])[1] == "char"
        counts_copies = report["recipe"]["count_copies"]
        documents = range(len(texts)) if counts_copies else sorted(set(self.first))
        self.documents, self.frequency = 0, collections.Counter()
        for doc in documents:
            words = self.words(doc)
            self.documents += bool(words)
            self.frequency.update(words.keys())
        self.partners = collections.defaultdict(dict)
        for row in self.rows:
            a, b = self.first[row["doc_a"]], self.first[row["doc_b"]]
            if a != b:
                self.partners[a][b] = self.partners[b][a] = row["similarity"]

    def words(self, doc):
        doc = self.first[doc]
        if doc not in self.counted:
            self.counted[doc] = collections.Counter(tokens(self.texts[doc]))
        return self.counted[doc]

    def contents(self, doc):
        if doc not in self.known:
            self.known[doc] = contents(self.texts[doc])
        return self.known[doc]

    def next_best(self, a, b):
        near = {a, b} | {x for doc in (a, b) for x, cosine in self.partners[doc].items() if cosine >= single(self.bound["near"])}
        outside = [cosine for doc in (a, b) for x, cosine in self.partners[doc].items() if x not in near]
        return max(outside, default=single(self.bound["threshold"]))

    def is_crowded(self, doc, other, cosine):
        """Returns whether more than ten further documents are at most `gap` less similar to a document than `other`, in 32 bits as in tables."""
        least = single(single(cosine) - single(self.bound["gap"]))
        return sum(near >= least for partner, near in self.partners[doc].items() if partner != other) > 10

    def excess(self, u, v):
        """Returns the share of u's weight in the heaviest excess of a word over v, and the largest allowed share."""
        ours, theirs = self.words(u), self.words(v)
        idf = lambda word: math.log(1 + self.documents / self.frequency[word])
        weight = sum(count * idf(word) for word, count in ours.items())
        most = max(((count - theirs[word]) * idf(word) for word, count in ours.items() if count > theirs[word]), default=0.0)
        return most / weight, max(self.bound["word"], self.bound["short"] / sum(ours.values()))

    def has_han(self, a, b):
        return bool(HAN.search(self.texts[a]) or HAN.search(self.texts[b]))

    def relate(self, a, b, cosine, next_best):
        """Returns the possible answers for a pair: several if the share of a word is at its bound, or if the words are unknown."""
        (one, numbers_a, _), (other, numbers_b, _) = self.contents(a), self.contents(b)
        grams_a, grams_b = grams_to_compare(one, other)
        common = len(grams_a & grams_b)
        shares = common / len(grams_a), common / len(grams_b)
        larger, smaller = max(shares), min(shares)
        fewer = min(len(numbers_a), len(numbers_b))
        if fewer and len(numbers_a & numbers_b) / fewer < self.bound["numbers"] and smaller < self.bound["both"]:
            return {("template", "numbers differ")}
        (line_a, title_a), (line_b, title_b) = self.headings[a], self.headings[b]
        same = line_a is not None and line_a == line_b and self.having[line_a] <= self.bound["titles"]
        answers = set()
        if self.has_han(a, b) and not self.knows_han:
            possible = [(x, y) for x in (False, True) for y in (False, True)]
        else:
            excesses = [self.excess(a, b), self.excess(b, a)]
            exceeds = lambda one: {one[0] > one[1] - NEARLY, one[0] > one[1] + NEARLY}
            possible = [(x, y) for x in exceeds(excesses[0]) for y in exceeds(excesses[1])]
        for one in possible:
            tells = [exceeding and not same for exceeding in one]
            contained = larger >= self.bound["contained"]
            relation = "contained" if contained and smaller < MOST_OF_BOTH else "version"
            gap = cosine - next_best + HAIR
            alone = gap >= self.bound["gap"]
            # Of two texts that are equally well contained, both count.
            if contained and not any(tells[side] for side in (0, 1) if shares[side] == larger):
                answers.add((relation, "contained"))
            elif alone and not any(tells):
                answers.add((relation, "unique"))
            elif same and title_a and title_b and gap >= 0:
                answers.add((relation, "same title"))
            elif any(tells) and (alone or contained):
                answers.add(("template", "one word differs"))
            else:
                answers.add(("template", "not near enough" if next_best <= single(self.bound["threshold"]) + HAIR else "others as near"))
        sides = [side for side, share in zip([(a, b), (b, a)], shares) if share == larger]
        if larger < self.bound["crowd"] and any(self.is_crowded(*side, cosine) for side in sides):
            return {answer if answer[0] == "template" else ("template", "many as near") for answer in answers}
        return answers


def look_at(out):
    report, seen = json.loads((out / "run.json").read_text()), collections.Counter()
    for algorithm in report["algorithms"]:
        if algorithm["relations"] is None:
            continue
        rule, folded = Rule(out, report, algorithm), collections.Counter()
        check(f"{out}: pairs of one template left out", 0, algorithm["relations"]["templates_left_out"])
        cut_short = algorithm["relations"]["cut_short"]
        for row in rule.rows:
            a, b = rule.first[row["doc_a"]], rule.first[row["doc_b"]]
            what = f"{out}: the pair {row['id_a']} and {row['id_b']}"
            came = (row["relation"], row["why"])
            seen[came] += 1
            seen[(*came, "Han")] += rule.knows_han and a != b and rule.has_han(a, b)
            if a == b:
                check(what, ("version", "same text"), came)
                continue
            if (a, b) == (row["doc_a"], row["doc_b"]):
                folded[row["relation"]] += 1
            if cut_short == 0:
                check(f"{what}: the next best", rule.next_best(a, b), row["next_best"])
            answers = rule.relate(a, b, row["similarity"], row["next_best"])
            check(f"{what} is one of {answers}", True, came in answers)
        counts = {name: algorithm["relations"][name] for name in ("version", "contained", "template")}
        check(f"{out}: pairs by relation", counts, {name: folded[name] for name in counts})
    return seen


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    counts = sum((look_at(Path(out)) for out in arguments), collections.Counter())
    for what, count in sorted(counts.items()):
        if count:
            print(f"{', '.join(what)}: {count}")


if __name__ == "__main__":
    main(sys.argv[1:])
