#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["pyarrow"]
# ///
"""Runs all algorithms together and reports what each finds, costs, and misses.

CORPORA contains versions-zh, versions-ru, versions-en, mixed-100m (each with docs/ and truth/), poems-zh and spun-zh. Prints a section of
Markdown; --write FILE replaces the marked section in FILE. Exits with 1 if the run with all algorithms exceeds its bound. The bound applies
to the CPU seconds of all algorithms except the all-pairs algorithms, divided by the CPU seconds of the slowest single algorithm with corpus
statistics.

    benches/lab/algorithms.py CORPORA --dupsift target/release/dupsift --write benches/records/algorithms.md
"""

import json
import sys
import tempfile
from pathlib import Path

import lab

import pyarrow.parquet as pq

import outputs
from lab import missing_corpora

VERSIONS = ["versions-zh", "versions-ru", "versions-en"]
ALL_PAIRS = {"cosine", "lsi", "shingles", "segments", "decomposition", "log_shingles", "repeats"}
STATISTICS = ["tf_idf", "tf_ridf", "heavy_sent", "opt_freq", "imatch", "lex_rand", "idf_hash"]
MOST_TIMES = 6.0
MARKERS = ("<!-- algorithms -->", "<!-- /algorithms -->")


class Algorithms(lab.Page):
    def __init__(self, arguments, work):
        super().__init__(arguments.write, MARKERS)
        self.corpora, self.dupsift, self.work = arguments.corpora, arguments.dupsift, work

    def run(self, corpus, algorithms, *flags, name=None):
        """Runs the program over a corpus; returns the output folder and its record."""
        out = self.work / (name or corpus)
        command = [self.dupsift, "run", self.corpora / corpus / "docs", "--out", out, "--overwrite", "--no-progress"]
        command += ["--algorithms", algorithms, "--threads", "2", *flags]
        lab.run(*command)
        return out, json.loads((out / "run.json").read_text())


def pairs_of(out, label):
    pairs = outputs.duplicates(out, label, ["id_a", "id_b"])
    return set(map(frozenset, zip(pairs["id_a"].to_pylist(), pairs["id_b"].to_pylist())))


def truth_of(corpora, corpus, name):
    rows = pq.read_table(corpora / corpus / "truth" / name, columns=["id_a", "id_b"])
    return set(map(frozenset, zip(rows["id_a"].to_pylist(), rows["id_b"].to_pylist())))


def share(part, whole):
    return f"{100 * part / whole:.1f}" if whole else "-"


def mebibytes(count):
    return f"{count / (1 << 20):.1f}"


def together(page):
    """Runs all algorithms over mixed-100m within 1 GiB."""
    _, record = page.run("mixed-100m", "all", "--memory", "1GiB")
    algorithms = record["algorithms"]
    page.say(
        "### All algorithms in one run over mixed-100m",
        "",
        f"`dupsift run mixed-100m/docs --algorithms all --memory 1GiB --threads 2`: {len(algorithms)} algorithms, "
        f"{record['cpu_seconds']:.0f} CPU seconds, {mebibytes(record['peak_memory_bytes'])} MiB of peak anonymous memory.",
        "Signing: seconds of one processor of that algorithm alone, from a sample; reading and cutting, which all share, are",
        "not in it. Pairing: CPU seconds of learning, grouping, checking and expanding its pairs. Spilled: rows and pairs that",
        "went to the disk.",
        "",
        "| algorithm | signed | pairs | clusters | candidates | left out | signing s | pairing CPU s | spilled MiB |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    )
    for one in algorithms:
        numbers = [one["signed"], one["pairs"], one["clusters"], one["candidates"], one["left_out"]]
        seconds = [f"{one['sign_seconds']:.2f}", f"{one['pair_cpu_seconds']:.2f}", mebibytes(one["spilled_bytes"])]
        page.say(f"| `{one['label']}` | " + " | ".join([*map(str, numbers), *seconds]) + " |")
    page.say("", "Documents without a signature, by reason:", "", "| algorithm | reason | documents |", "| --- | --- | ---: |")
    for one in algorithms:
        for reason, count in sorted(one["unsigned"].items()):
            page.say(f"| `{one['label']}` | {reason} | {count} |")
    shared = sum(stage["cpu_seconds"] for stage in record["stages"] if stage["stage"] in ("count", "sign", "read saved words", "collect training data", "read candidates"))
    own = sum(one["sign_seconds"] for one in algorithms)
    for stage, what in (("collect training data", "Notes to learn from"), ("read candidates", "What checks need of the documents in candidate pairs")):
        written = sum(one["spilled_bytes"] for one in record["stages"] if one["stage"] == stage)
        page.say("", f"{what}: {mebibytes(written)} MiB in temporary files.")
    page.say("", f"Reading, tokenizing and signing take {shared:.1f} CPU seconds, of which signing about {own:.1f}.", "")
    return record


def bound(page, record):
    """Compares the cost of all algorithms with the cost of the slowest single algorithm with corpus statistics."""
    known = [one["label"] for one in record["algorithms"]]
    page.say("### All algorithms compared with one", "", "| run | CPU s |", "| --- | ---: |")
    slowest = 0.0
    for name in (name for name in STATISTICS if name in known):
        _, alone = page.run("mixed-100m", name, "--memory", "1GiB", name="alone")
        slowest = max(slowest, alone["cpu_seconds"])
        page.say(f"| `{name}` alone | {alone['cpu_seconds']:.2f} |")
    others = [name for name in known if name not in ALL_PAIRS]
    _, most = page.run("mixed-100m", ",".join(others), "--memory", "1GiB", name="others")
    times = most["cpu_seconds"] / slowest
    page.say(f"| all but the all-pairs algorithms ({len(others)}) | {most['cpu_seconds']:.2f} |", "")
    verdict = "met" if times <= MOST_TIMES else "NOT met"
    page.say(f"{times:.1f} times the slowest of them; goal at most {MOST_TIMES:.0f}: {verdict}.", "")
    page.say(f"The all-pairs algorithms are {', '.join(f'`{name}`' for name in sorted(ALL_PAIRS & set(known)))}.", "")
    return times <= MOST_TIMES


def quality(page):
    """Measures precision and recall of each algorithm on the versions corpora."""
    page.say(
        "### Each algorithm compared with the labels",
        "",
        "P: the share of reported pairs that are labelled \"the same page in two editions\"; right: labelled, or a Jaccard of at",
        "least .5; R: the share of labelled pairs that are reported. In percent.",
        "",
        "| algorithm | zh: pairs | P | right | R | ru: pairs | P | right | R | en: pairs | P | right | R |",
        "| --- |" + " ---: |" * 12,
    )
    cells = {}
    for corpus in VERSIONS:
        out, record = page.run(corpus, "all", "--memory", "1GiB")
        labelled = truth_of(page.corpora, corpus, "pairs.parquet")
        right = labelled | truth_of(page.corpora, corpus, "jaccard_char5_ge50.parquet")
        for one in record["algorithms"]:
            found = pairs_of(out, one["label"])
            hits = len(found & labelled)
            row = [str(len(found)), share(hits, len(found)), share(len(found & right), len(found)), share(hits, len(labelled))]
            cells.setdefault(one["label"], []).extend(row)
    for label, row in cells.items():
        page.say(f"| `{label}` | " + " | ".join(row) + " |")
    page.say("")


def article(page):
    """Runs over the three texts from the article on shingles, if they are available."""
    if not (page.corpora / "spun-zh" / "docs").is_dir():
        return
    out, record = page.run("spun-zh", "shingles:spaces=false,minhash:verify=jaccard:0.2,bands=64,rows=2,simhash:distance=16,min_features=1")
    page.say("### The article, its rewrite and another text (spun-zh)", "", "| algorithm | pairs (similarity) |", "| --- | --- |")
    for one in record["algorithms"]:
        table = outputs.duplicates(out, one["label"], ["id_a", "id_b", "similarity"]).to_pylist()
        found = ", ".join(f"{row['id_a']} - {row['id_b']} ({row['similarity']:.4f})" for row in table) or "none"
        page.say(f"| `{one['label']}` | {found} |")
    page.say("")


def main():
    parser = lab.parser(__doc__)
    parser.add_argument("corpora", type=Path, help="folder of the corpora")
    parser.add_argument("--work", type=Path, help="folder to keep outputs of runs in [a temporary folder]")
    parser.add_argument("--write", type=Path, metavar="FILE", help="replace the section about all algorithms in this file")
    arguments = parser.parse_args()
    missing = missing_corpora(arguments.corpora, [*VERSIONS, "mixed-100m"])
    if missing:
        parser.error(missing)
    with tempfile.TemporaryDirectory() as temporary:
        work = arguments.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        page = Algorithms(arguments, work)
        record = together(page)
        within = bound(page, record)
        quality(page)
        article(page)
        page.save()
        sys.exit(0 if within else 1)


if __name__ == "__main__":
    main()
