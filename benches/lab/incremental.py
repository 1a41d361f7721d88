#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy", "pyarrow"]
# ///
"""Runs batches against an index with scripts/nightly.sh, and compares results and cost with plain runs over the same files.

The documents of CORPUS are divided into batches (benches/lab/incremental_dealt.py): each repeats some earlier documents, one is empty, one has
three documents, one is killed twice, one repeats the previous batch, and in one, all rows of a source have become pages from the same
template, so a guard has to hold the result back. Then the tables of all batches are compared with one run over all batches that uses the
statistics of the index. Prints a section of Markdown with goals and results; --write FILE replaces the marked section in FILE.

    benches/lab/incremental.py corpora/mixed-100m --dupsift target/release/dupsift --write benches/records/incremental.md

--short 100000,1000000 measures batches of 10,000 short documents and of 10,000 documents from CORPUS, each against an index with this many
short documents. --versions CORPORA measures the effect of frozen statistics on F1 for versions-zh, versions-ru and versions-en, each split
into two batches.
"""

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import lab

import numpy as np

import incremental_dealt
from incremental_laws import laws, versions
from incremental_short import RECIPES, short

MARKERS = ("<!-- incremental -->", "<!-- /incremental -->")
NIGHTLY = lab.ROOT / "scripts/nightly.sh"
FAMILY = "exact,minhash,three_plus_five:chain=pairwise,simhash"
PRESET = "exact,versions"
# Sources with at least this many rows are guarded; batches are small here.
GUARDED = 60


class Place:
    """A folder with the batches of one recipe: in/, out/ and the index."""

    def __init__(self, arguments, folder, algorithms):
        self.dupsift, self.runs, self.folder, self.algorithms = str(arguments.dupsift), arguments.runs, folder, algorithms
        self.options = ["--algorithms", algorithms, "--threads", str(arguments.threads), "--memory", "2GiB", "--no-report"]
        self.index = folder / "index"
        self.said = []

    def corpus(self, batch):
        return self.folder / "in" / f"batch={batch:02}"

    def out(self, batch):
        return self.folder / "out" / f"{batch:02}"

    def command(self, batch):
        guards = ["--source-column", "source", "--guard-rows", str(GUARDED)]
        first = ["sh", NIGHTLY, "--index", self.index, self.corpus(batch), self.folder / "out", f"{batch:02}", "--"]
        return [str(part) for part in [*first, *self.options, *guards]]

    def environment(self, **more):
        return os.environ | {"DUPSIFT": self.dupsift, "KEEP": "1000"} | more

    def batch(self, batch, codes=(0,), **more):
        """Runs the batch, which must end with one of these codes; returns wall seconds and the code."""
        began = time.monotonic()
        done = lab.run(*self.command(batch), codes=codes, env=self.environment(**more))
        return time.monotonic() - began, done.returncode

    def killed(self, batch, after):
        """Runs the batch and kills it by a signal after this many seconds; returns whether it was still running."""
        process = subprocess.Popen(self.command(batch), env=self.environment(), stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(after)
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait() == -signal.SIGKILL

    def plain(self, batch):
        """Returns the CPU seconds of a run over the batch alone, as the median of several runs."""
        out, seconds = self.folder / "plain", []
        for _ in range(self.runs):
            command = [self.dupsift, "run", self.corpus(batch), "--out", out, "--overwrite", "--no-progress", *self.options]
            lab.run(*command)
            seconds.append(record(out)["cpu_seconds"])
        return statistics.median(seconds)

    def contents(self):
        """Returns the newest generation of the index."""
        shown = lab.run(self.dupsift, "index", "info", "--json", self.index)
        return json.loads(shown.stdout)


def record(out):
    return json.loads((out / "run.json").read_text())


def stage(report, name):
    return sum(one["cpu_seconds"] for one in report["stages"] if one["stage"] == name)


def row_bytes(folders):
    return sum(file["bytes"] for rows in folders for file in rows["files"])


def run_batches(place, dealt, odd):
    """Runs all batches in order; returns the measurements by batch, and the bytes that compaction wrote."""
    figures, rewritten, before, wall = {}, 0, [], 1.0
    for batch, rows in enumerate(dealt, 1):
        incremental_dealt.write(place.corpus(batch), rows)
        if batch == odd["empty"]:
            # Nothing was read, and an earlier result exists, so a person should check the new result.
            _, code = place.batch(batch, (4,))
            place.said.append(f"batch {batch}, empty: exit code {code}, held back")
            continue
        if batch == odd["killed"]:
            was = place.killed(batch, 0.4 * wall)
            _, code = place.batch(batch, (134,), DUPSIFT_STOP_AT="intent")
            place.said.append(f"batch {batch}: killed {'while it was at work' if was else 'too late'}, killed again before it was published, then run")
        if batch == odd["template"]:
            place.said.append(held_back(place, batch, rows))
        spent, _ = place.batch(batch)
        wall = spent if len(rows) > 100 else wall
        # The run read the rows that the index had before the batch.
        previous, now = row_bytes(before), place.contents()
        after = {rows["folder"] for rows in before}
        merged = [rows for rows in now["rows"] if rows["folder"] not in after and rows["first_doc"] < now["batches"][-1]["first_doc"]]
        rewritten, before = rewritten + row_bytes(merged), now["rows"]
        figures[batch] = one_batch(place, batch, rows, previous, now)
    return figures, rewritten


def held_back(place, batch, rows):
    """Runs the batch in which a source has only pages from one template.

    The batch is held back and changes nothing else. Then its corpus is repaired.
    """
    wrong, source = incremental_dealt.with_template(rows)
    incremental_dealt.write(place.corpus(batch), wrong)
    before, latest = place.contents(), os.readlink(place.folder / "out" / "latest")
    _, code = place.batch(batch, (4,))
    if place.contents() != before or os.readlink(place.folder / "out" / "latest") != latest:
        sys.exit(f"batch {batch} was held back, and yet the index or latest is another one")
    names = {guard["name"] for guard in record(place.folder / "out" / f"{batch:02}.held")["guards"]}
    incremental_dealt.write(place.corpus(batch), rows)
    return f"batch {batch}, {source} a page of one template: exit code {code}, held back by {', '.join(sorted(names))}; index and latest as before; mended, it was published"


def one_batch(place, batch, rows, previous, now):
    report = record(place.out(batch))
    index = report["index"]
    return {
        "documents": len(rows),
        "cpu": report["cpu_seconds"],
        "plain": place.plain(batch),
        "append": stage(report, "append to the index"),
        "matched": index["indexed"],
        "seen": index["seen"],
        "scanned": index["bytes_scanned"],
        "looked": index["bytes_looked_up"],
        "previous": previous,
        "peak": report["peak_memory_bytes"],
        "rows": row_bytes(now["rows"]),
        "texts": sum(part["file"]["bytes"] for batch in now["batches"] for part in batch["parts"]),
        "folders": len(now["rows"]),
        "indexed": now["texts"],
        "text_bytes": sum(len(row[1].encode()) for row in rows),
    }


def table(figures, odd):
    """Returns the lines of a table: every fifth batch, and the unusual batches."""
    lines = ["| batch | documents | seen | matched | MB read of the index: rows, texts | CPU s: plain | with the index | of it appending | ratio | rows, texts of the index MB |"]
    lines.append("| ---: |" + " ---: |" * 9)
    last = max(figures)
    for batch, one in figures.items():
        if batch == 1 or batch == last or batch % 5 == 0 or batch in odd.values():
            scanned, looked, rows, texts = (f"{one[name] / 1e6:.1f}" for name in ("scanned", "looked", "rows", "texts"))
            seconds = " | ".join(f"{one[name]:.2f}" for name in ("plain", "cpu", "append"))
            lines.append(f"| {batch} | {one['documents']:,} | {one['seen']:,} | {one['matched']:,} | {scanned}, {looked} | {seconds} | {one['cpu'] / max(one['plain'], 0.01):.2f} | {rows}, {texts} |")
    return lines


def ordinary(figures, odd):
    """Returns the batches whose cost is meaningful: all except the first batch, which creates the index, and the unusual batches."""
    return {batch: one for batch, one in figures.items() if batch > 1 and batch not in odd.values()}


def demands(figures, rewritten, odd):
    """Returns the measurements of one recipe by goal."""
    batches, last = ordinary(figures, odd), figures[max(figures)]
    cpu = [one["cpu"] for one in batches.values()]
    allowed = [1.15 * one["plain"] + 0.3 * one["scanned"] / 1e9 + 60e-6 * one["matched"] for one in batches.values()]
    ratios = [one["cpu"] / max(one["plain"], 0.01) for one in batches.values()]
    indexed = [sum(one["documents"] for number, one in figures.items() if number < batch) for batch in batches]
    slope, at_first = np.polyfit(indexed, ratios, 1)
    residual = np.sqrt(np.mean((np.polyval((slope, at_first), indexed) - ratios) ** 2)) / np.mean(ratios)
    room = [(one["scanned"] + one["looked"]) / (1.02 * one["previous"] + 24 * 1024 * one["matched"]) for one in batches.values()]
    append = [one["append"] / one["cpu"] for one in batches.values()]
    text = sum(one["text_bytes"] for one in figures.values())
    texts, documents = last["rows"] + last["texts"], sum(one["documents"] for one in figures.values())
    return {
        "cpu": f"{statistics.median(c / a for c, a in zip(cpu, allowed)):.2f} of what is allowed; {statistics.median(ratios):.2f} x plain",
        "line": f"{at_first:.2f} + {1e4 * slope:.2f} x (documents of the index / 10,000); {100 * residual:.0f} %",
        "bytes": f"{statistics.median(room):.2f} of what is allowed, at most {max(room):.2f}",
        "append": f"{100 * statistics.median(append):.0f} %",
        "index": f"{(texts - 0.5 * text) / documents:.0f} bytes a document above half of the text",
        "compaction": f"{rewritten / last['rows']:.2f} x; {last['folders']} folders",
    }


GOALS = [
    ("cpu", "CPU of a batch", "1.15 x plain + .3 s a GB read + 60 us a matched document"),
    ("line", "CPU of a batch over plain, as a line; what is left over", "15 %"),
    ("bytes", "bytes read of the index", "1.02 x its rows + 24 KiB a matched document"),
    ("append", "appending, of the batch's CPU", "8 %"),
    ("index", "the index", "500 bytes a document above half of the text"),
    ("compaction", "compaction: rewritten bytes over the final rows; folders of rows", "1 x; 10"),
]


def thirty(arguments, folder, say):
    rows = incremental_dealt.read(arguments.corpus)
    dealt, repeated, odd = incremental_dealt.deal(rows, arguments.batches, arguments.repeat, arguments.seed)
    say(f"### {arguments.batches} batches", "")
    say(
        f"{arguments.corpus.name}: {len(rows):,} documents, with what comes again {sum(map(len, dealt)):,} ({sum(repeated):,} from earlier batches: "
        "half of them as they were, a quarter with an edit, a quarter twice). Each batch by `scripts/nightly.sh --index`, "
        f"{arguments.threads} threads; plain is a run over the batch's files alone, the median of {arguments.runs}. Medians are over batches that are not odd.",
        "",
    )
    measured, found = {}, {}
    for algorithms in arguments.algorithms:
        place = Place(arguments, folder / str(len(measured)), algorithms)
        figures, rewritten = run_batches(place, dealt, odd)
        say(f"`{algorithms}`:", "", *[f"* {said}" for said in place.said], "", *table(figures, odd), "")
        measured[algorithms] = demands(figures, rewritten, odd)
        found[algorithms] = laws(place, dealt)
    say("| demand | goal | " + " | ".join(f"`{algorithms}`" for algorithms in measured) + " |")
    say("| --- | --- |" + " --- |" * len(measured))
    for law in next(iter(found.values())):
        say(f"| {law} | all, none | " + " | ".join(one[law] for one in found.values()) + " |")
    for name, what, goal in GOALS:
        say(f"| {what} | {goal} | " + " | ".join(one[name] for one in measured.values()) + " |")
    say("")


def main():
    parser = lab.parser(__doc__)
    parser.add_argument("corpus", type=Path, help="folder of Parquet files with id, text, lang and source, or one with docs/")
    parser.add_argument("--batches", type=int, default=30, help=f"number of batches, at least {incremental_dealt.FEWEST} [30]")
    parser.add_argument("--repeat", type=float, default=0.33, help="repeated documents per new document [0.33]")
    parser.add_argument("--seed", type=int, default=1, help="random seed [1]")
    parser.add_argument("--runs", type=int, default=3, help="plain runs per batch [3]")
    parser.add_argument("--threads", type=int, default=2, help="threads of each run [2]")
    parser.add_argument("--algorithms", action="append", help=f"algorithms; can be repeated [{FAMILY} and {PRESET}]")
    parser.add_argument("--short", help="comma-separated sizes of indexes of short documents, instead of the batches")
    parser.add_argument("--versions", type=Path, metavar="CORPORA", help="folder with versions-zh, versions-ru and versions-en: also measure F1 over two batches")
    parser.add_argument("--out", type=Path, help="new folder for all files [a temporary folder]")
    parser.add_argument("--write", type=Path, metavar="FILE", help="replace the section about batches in this file")
    arguments = parser.parse_args()
    if arguments.batches < incremental_dealt.FEWEST:
        parser.error(f"--batches {arguments.batches} is too few: the unusual batches need {incremental_dealt.FEWEST}")
    if not arguments.corpus.is_dir():
        parser.error(f"{arguments.corpus} is not a folder; expected a folder of Parquet files, such as data-samples")
    arguments.dupsift, arguments.corpus = arguments.dupsift.resolve(), arguments.corpus.resolve()
    arguments.recipes = arguments.algorithms or RECIPES
    arguments.algorithms = arguments.algorithms or [FAMILY, PRESET]
    page = lab.Page(arguments.write, MARKERS if not arguments.short else ("<!-- short -->", "<!-- /short -->"))
    say = page.say
    with tempfile.TemporaryDirectory(dir=arguments.out and arguments.out.parent) as temporary:
        folder = arguments.out or Path(temporary)
        if arguments.short:
            short(arguments, folder, say)
        else:
            thirty(arguments, folder, say)
        if arguments.versions:
            versions(arguments, folder, say, PRESET)
        page.save()


if __name__ == "__main__":
    main()
