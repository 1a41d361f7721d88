#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["pyarrow"]
# ///
"""Measures the default, `minhash`, `simhash` and exact Jaccard by language, and pages that differ only in their numbers.

CORPORA contains folders with docs/ and truth/ (pairs.parquet and, except for poems, jaccard_char5_ge50.parquet). The printed section
(Markdown) has a table by language and a table by decimal digits. --write FILE replaces the marked section in FILE.

    benches/lab/languages.py CORPORA --dupsift target/release/dupsift --write benches/records/quality.md
"""

import random
import sys
import tempfile
import unicodedata
from pathlib import Path

import lab

import pyarrow as pa
import pyarrow.parquet as pq

import outputs

CORPORA = {
    "zh": "versions-zh",
    "ru": "versions-ru",
    "en": "versions-en",
    "ja": "languages/ja",
    "de": "languages/de",
    "tr": "languages/tr",
    "ar": "languages/ar",
    "hi": "languages/hi",
    "vi": "languages/vi",
    "poems zh": "poems-zh",
}
# The names of decimal digits in Unicode.
WORDS = ["ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE"]
DIGITS = ["", "ARABIC-INDIC ", "EXTENDED ARABIC-INDIC ", "DEVANAGARI ", "BENGALI ", "THAI ", "MYANMAR ", "KHMER ", "FULLWIDTH "]
# The number of pairs of pages, the words of a page, and how many words are between two numbers.
PAGES, WORDS_OF_PAGE, EVERY = 120, 100, 17
MARKERS = ("<!-- languages -->", "<!-- /languages -->")


def f1(found, truth):
    """Returns precision, recall and F1 of sets of pairs."""
    hits = len(found & truth)
    return hits / max(1, len(found)), hits / max(1, len(truth)), 2 * hits / max(1, len(found) + len(truth))


def best_jaccard(near, truth):
    """Returns the largest F1 of the pairs whose Jaccard similarity reaches a bound, over all bounds."""
    ordered = sorted(near.items(), key=lambda one: -one[1])
    best = hits = 0
    for number, (pair, similarity) in enumerate(ordered, 1):
        hits += pair in truth
        if number == len(ordered) or ordered[number][1] < similarity:
            best = max(best, 2 * hits / (number + len(truth)))
    return best


def pages_with_other_numbers(docs):
    """Returns pairs of pages that differ only in their numbers: the beginnings of documents, with a number after every few words."""
    generator = random.Random(63)
    texts = (text for path in sorted(docs.glob("*.parquet")) for text in pq.read_table(path, columns=["text"])["text"].to_pylist())
    begun = set()
    for text in texts:
        words = "".join(c for c in text if not c.isdigit()).split()[:WORDS_OF_PAGE]
        if len(words) < WORDS_OF_PAGE or tuple(words[:20]) in begun or len(begun) == PAGES:
            continue
        begun.add(tuple(words[:20]))
        for _ in range(2):
            number = lambda at: f" {generator.randrange(11, 40)}" if at % EVERY == 0 else ""
            yield " ".join(word + number(at) for at, word in enumerate(words))


class Languages(lab.Page):
    """Runs the program, and collects the lines to print."""

    def __init__(self, arguments, work):
        self.corpora, self.dupsift, self.work = arguments.corpora, arguments.dupsift, work
        super().__init__(arguments.write, MARKERS)

    def run(self, docs, *flags):
        out = self.work / "out"
        lab.run(self.dupsift, "run", docs, "--out", out, "--overwrite", "--accept", "--no-progress", "--no-report", *flags)
        return out

    def pairs(self, out):
        labels = [one["label"] for one in outputs.record(out)["algorithms"]]
        columns = ["id_a", "id_b"]
        tables = [outputs.duplicates(out, label, columns) for label in labels]
        return {pair for table in tables for pair in zip(*(table[name].to_pylist() for name in columns))}

    def language(self, name, folder, algorithms):
        truth_folder, docs = self.corpora / folder / "truth", self.corpora / folder / "docs"
        rows = pq.read_table(truth_folder / "pairs.parquet", columns=["id_a", "id_b"]).to_pylist()
        truth = {frozenset((row["id_a"], row["id_b"])) for row in rows}
        file = truth_folder / "jaccard_char5_ge50.parquet"
        rows = pq.read_table(file, columns=["id_a", "id_b", "jaccard_c5"]).to_pylist() if file.exists() else []
        near = {frozenset((row["id_a"], row["id_b"])): row["jaccard_c5"] for row in rows}
        out = self.run(docs)
        texts = outputs.texts(out)
        found = outputs.with_copies(self.pairs(out), texts)
        precision, recall, default = f1(found, truth)
        either = sum(pair in truth or pair in near for pair in found) / max(1, len(found))
        removed = pq.read_table(out / "removed", columns=["id", "kept_id"]).to_pylist()
        of_labels = {document for pair in truth for document in pair}
        right = sum(frozenset((row["id"], row["kept_id"])) in truth for row in removed)
        wrong = sum(
            frozenset((row["id"], row["kept_id"])) not in truth and frozenset((row["id"], row["kept_id"])) not in near for row in removed
        )
        others = []
        for algorithm in algorithms:
            out = self.run(docs, "--algorithms", f"exact,{algorithm}")
            others.append("%.3f / %.3f / %.3f" % f1(outputs.with_copies(self.pairs(out), texts), truth))
        jaccard = f"{best_jaccard(near, truth):.3f}" if near else "-"
        self.say(
            f"| {name} | {len(texts)} | {precision:.3f} / {recall:.3f} / {default:.3f} | {either:.3f} | {right}/{wrong} | {len(removed)} | "
            + " | ".join(others)
            + f" | {jaccard} |"
        )

    def digits(self, folder):
        pages = list(pages_with_other_numbers(self.corpora / folder / "docs"))
        docs = self.work / "pages.parquet"
        for script in DIGITS:
            changed = {ord(str(digit)): unicodedata.lookup(f"{script}DIGIT {word}") for digit, word in enumerate(WORDS)}
            texts = [page.translate(changed) for page in pages]
            pq.write_table(pa.table({"id": list(range(len(texts))), "text": texts}), docs)
            removed = pq.read_table(self.run(docs) / "removed").num_rows
            self.say(f"| {folder} | {script.strip().capitalize() or 'ASCII'} | {len(texts)} | {removed} |")


def main():
    parser = lab.parser(__doc__)
    parser.add_argument("corpora", type=Path, help="folder of the corpora")
    parser.add_argument("--only", nargs="*", default=[], help="the languages [all]")
    parser.add_argument("--algorithms", nargs="*", default=["minhash", "simhash"], help="the algorithms beside the default [minhash simhash]")
    parser.add_argument("--write", type=Path, metavar="FILE", help="replace the section of languages in this file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        page = Languages(arguments, Path(temporary))
        heads = "".join(f" `{algorithm}` |" for algorithm in arguments.algorithms)
        page.say(
            f"| language | documents | default P / R / F1 | P with Jaccard >= 0.5 | right/wrong | removed |{heads} best Jaccard |",
            "| --- | ---: | ---: | ---: | ---: | ---: |" + " ---: |" * len(arguments.algorithms) + " ---: |",
        )
        for name in arguments.only or CORPORA:
            page.language(name, CORPORA[name], arguments.algorithms)
        page.say("", "| text | digits | pages | removed |", "| --- | --- | ---: | ---: |")
        for folder in ["languages/tr", "languages/hi"] if not arguments.only else []:
            page.digits(folder)
        page.save()


if __name__ == "__main__":
    outputs.run(main)
