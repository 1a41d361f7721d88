#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["pyarrow"]
# ///
"""Measures how the work of algorithms that compare documents grows with the corpus.

CORPORA contains mixed-100m, poems-zh, versions-zh, versions-ru and versions-en (each with docs/). All algorithms run on four seeded samples
of these documents, each of which contains the smaller samples; the table shows candidates per document and CPU seconds of the complete
process. Further tables show mixed-100m alone, generated pages with the same template and a few unique words, and the pairs that
cosine:join=heavy misses compared with join=exact. Prints a section of Markdown; --write FILE replaces the marked section in FILE.

    benches/lab/growth.py CORPORA --dupsift target/release/dupsift --write benches/records/growth.md
"""

import hashlib
import json
import math
import random
import resource
import subprocess
import tempfile
from pathlib import Path

import lab

import pyarrow as pa
import pyarrow.parquet as pq

from lab import missing_corpora

PARTS = ["mixed-100m", "poems-zh", "versions-zh", "versions-ru", "versions-en"]
SIZES = [5_000, 10_000, 20_000, 40_000]
ALGORITHMS = [
    "versions",
    "versions:relate=false,threshold=0.68",
    "versions:relate=false,threshold=0.68,join=exact",
    "cosine",
    "decomposition",
    "sim",
    "keyword_match:weight=tf_idf",
    "lsi",
    "shingles",
    "shingles:preset=contained",
    "simhash",
]
VERSIONS = "versions:relate=false"
MARKERS = ("<!-- growth -->", "<!-- /growth -->")


class Growth(lab.Page):
    def __init__(self, arguments, work):
        super().__init__(arguments.write, MARKERS)
        self.dupsift, self.work, self.seconds = arguments.dupsift, work, arguments.seconds

    def run(self, corpus, algorithms):
        """Returns the record of the algorithm with the CPU seconds of the process; None if it took too long."""
        out = self.work / "out"
        command = [self.dupsift, "run", corpus, "--out", out, "--overwrite", "--no-report", "--no-progress", "--threads", "2"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            lab.run(*command, "--algorithms", algorithms + (",as=x" if ":" in algorithms else ":as=x"), timeout=self.seconds)
        except subprocess.TimeoutExpired:
            return None
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        one = json.loads((out / "run.json").read_text())["algorithms"][0]
        one["cpu"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return one

    def pairs(self):
        table = pq.read_table(self.work / "out" / "pairs" / "algorithm=x", columns=["id_a", "id_b", "similarity"])
        return {frozenset(pair[:2]): pair[2] for pair in zip(*(column.to_pylist() for column in table.columns))}


def documents(corpora, names):
    """Returns (id, text) of the corpora, ordered by a hash, so that every beginning is a seeded sample."""
    rows = []
    for name in names:
        for path in sorted((corpora / name / "docs").glob("*.parquet")):
            table = pq.read_table(path, columns=["id", "text"])
            rows += zip(table["id"].to_pylist(), table["text"].to_pylist())
    return sorted(rows, key=lambda row: hashlib.sha256(f"growth {row[0]}".encode()).digest())


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    ids, texts = zip(*rows)
    pq.write_table(pa.table({"id": ids, "text": texts}), path, row_group_size=2_000)
    return path


def table(growth, folders, algorithms):
    sizes = [size for size, _ in folders]
    heads = [f"{size:,}" for size in sizes]
    growth.say("| algorithm | " + " | ".join(f"candidates a document of {head}" for head in heads) + " | exponent | " + " | ".join(f"CPU s {head}" for head in heads) + " |")
    growth.say("| --- |" + " ---: |" * (2 * len(sizes) + 1))
    for algorithm in algorithms:
        found = [growth.run(path, algorithm) for _, path in folders]
        shares = [one and one["candidates"] / size for one, size in zip(found, sizes)]
        ended = [(size, share) for size, share in zip(sizes, shares) if share]
        exponent = "-"
        if len(ended) > 1:
            (first, low), (last, high) = ended[0], ended[-1]
            exponent = f"{math.log(high / low) / math.log(last / first):.2f}"
        cells = ["-" if share is None else f"{share:.2f}" for share in shares]
        cpu = [f"over {growth.seconds} s" if one is None else f"{one['cpu']:.2f}" for one in found]
        growth.say(f"| `{algorithm}` | " + " | ".join([*cells, exponent, *cpu]) + " |")
    growth.say("")


def real(growth, corpora):
    """Measures growing parts of real text."""
    rows = documents(corpora, PARTS)
    sizes = [size for size in SIZES if size <= len(rows)]
    folders = [(size, write(growth.work / "parts" / f"{size}.parquet", rows[:size])) for size in sizes]
    growth.say(
        f"### Real text in growing parts: {', '.join(PARTS)}",
        "",
        "Candidates are what the method hands to its check on the texts, or its pairs where it has none. Exponent: of candidates a",
        "document over documents; 0 is work in proportion, 1 the square.",
        "",
    )
    table(growth, folders, ALGORITHMS)
    rows = documents(corpora, ["mixed-100m"])
    sizes = [len(rows) // 8, len(rows) // 4, len(rows) // 2, len(rows)]
    folders = [(size, write(growth.work / "mixed" / f"{size}.parquet", rows[:size])) for size in sizes]
    growth.say("### mixed-100m by itself", "")
    table(growth, folders, ALGORITHMS[:2])


def template_pages(pages, own):
    """Returns pages of sixty common words and `own` words that occur on two other pages.

    Every tenth page repeats the previous page except for one word.
    """
    draw = random.Random(7)
    template = " ".join(f"template{n}" for n in range(60))
    rows, words = [], []
    for page in range(pages):
        word = lambda: draw.randrange(pages * own // 3)
        words = [word(), *words[1:]] if page % 10 == 9 else [word() for _ in range(own)]
        rows.append((str(page), template + " " + " ".join(f"own{n}" for n in words)))
    return rows


def templates(growth):
    growth.say(
        "### Pages of one template",
        "",
        "Sixty words of the template, and a few that two other pages have; threshold .68. Comparisons a page, then CPU seconds of the",
        "whole process; of `join=heavy` over `join=exact`.",
        "",
        "| own words | pages | compared: heavy | exact | candidates: heavy | exact | pairs: heavy | exact | CPU s: heavy | exact | ratio |",
        "| ---: |" + " ---: |" * 10,
    )
    for own in (4, 5, 7, 15):
        for pages in (1_250, 5_000, 20_000):
            path = write(growth.work / "templates" / "pages.parquet", template_pages(pages, own))
            heavy, exact = (growth.run(path, f"{VERSIONS},threshold=0.68,join={join}") for join in ("heavy", "exact"))
            cells = [f"{one['compared'] / pages:.2f}" for one in (heavy, exact)]
            cells += [f"{one['candidates'] / pages:.2f}" for one in (heavy, exact)] + [str(one["pairs"]) for one in (heavy, exact)]
            cells += [f"{one['cpu']:.2f}" for one in (heavy, exact)] + [f"{heavy['cpu'] / exact['cpu']:.2f}"]
            growth.say(f"| {own} | {pages:,} | " + " | ".join(cells) + " |")
    growth.say("")


def partners(pairs):
    """Returns the partners of each document, the most similar first."""
    known = {}
    for pair, similarity in pairs.items():
        one, other = sorted(pair)
        known.setdefault(one, []).append((-similarity, other))
        known.setdefault(other, []).append((-similarity, one))
    return {doc: [other for _, other in sorted(found)] for doc, found in known.items()}


def losses(growth, corpora):
    growth.say(
        "### What join=heavy misses",
        "",
        "Of the pairs of `join=exact`; then of the documents in one, those whose most similar partner is missed, and whose second is.",
        "",
        "| corpus | threshold | candidates a document | pairs: exact | missed | % | most similar missed % | second missed % |",
        "| --- |" + " ---: |" * 7,
    )
    for corpus in [*PARTS[2:], "mixed-100m"]:
        growth.run(corpora / corpus / "docs", f"{VERSIONS},threshold=0.6,join=exact")
        exact = growth.pairs()
        for threshold in (0.68, 0.6):
            heavy = growth.run(corpora / corpus / "docs", f"{VERSIONS},threshold={threshold},join=heavy")
            found = growth.pairs()
            wanted = {pair: similarity for pair, similarity in exact.items() if similarity >= threshold}
            missed = wanted.keys() - found.keys()
            nearest = partners(wanted)
            share = lambda rank: [frozenset((doc, of[rank])) in missed for doc, of in nearest.items() if len(of) > rank]
            percent = lambda what: f"{100 * sum(what) / max(1, len(what)):.3f}"
            cells = [f"{threshold}", f"{heavy['candidates'] / heavy['signed']:.2f}", str(len(wanted)), str(len(missed))]
            cells += [f"{100 * len(missed) / max(1, len(wanted)):.3f}", percent(share(0)), percent(share(1))]
            growth.say(f"| {corpus} | " + " | ".join(cells) + " |")
    growth.say("")


def main():
    parser = lab.parser(__doc__)
    parser.add_argument("corpora", type=Path, help="folder of the corpora")
    parser.add_argument("--seconds", type=int, default=300, help="time limit for a run, in seconds [300]")
    parser.add_argument("--write", type=Path, metavar="FILE", help="replace the section of growth in this file")
    arguments = parser.parse_args()
    missing = missing_corpora(arguments.corpora, PARTS)
    if missing:
        parser.error(missing)
    with tempfile.TemporaryDirectory() as temporary:
        growth = Growth(arguments, Path(temporary))
        losses(growth, arguments.corpora)
        templates(growth)
        real(growth, arguments.corpora)
        growth.save()


if __name__ == "__main__":
    main()
