#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["dupsift", "pyarrow", "pyspark"]
# ///
"""Runs checks on Apache Spark that take too long for a test: its tables must equal those of one machine, row for row.

CORPORA contains mixed-100m and data-samples (each with docs/). Two workers on this machine do the work, `local-cluster[2,1,1024]`.

    tables   the default, the preset broad, and minhash, on mixed-100m
    killed   the default on mixed-100m, with one executor killed in each of sign, group, judge, and while the driver collects blocks
    hot      a key with ROWS rows: texts with the same words in different orders, by tf; and a window of a tenth of that, by minhash
    chain    DOCUMENTS texts, each similar only to the next, so that they form one component; each is shorter in the order of --keep
    cost     CPU seconds by step of exact,minhash on five times mixed-100m, next to the stages on one machine
    twice    the checks on a second run in the same session: exact,versions on five times mixed-100m
    bytes    bytes per document through the shuffle and to the driver: each algorithm on data-samples, the default and broad on mixed-100m
    large    exact,minhash and the default on the Parquet files in CORPUS, with bytes and the peak of the driver's memory; only if named

All columns of all tables (pairs, clusters, removed, rejected) and the order of their rows are compared. Texts are generated from seeds. CPU
seconds cover all processes, including the JVMs; the first run of a session starts them.

    benches/lab/spark_laws.py CORPORA [--only tables,killed] [--rows 1000000] [--documents 100000] [--corpus CORPUS]

Exits with 1 if a check fails. Requires the packages in requirements-spark.txt, a wheel of dupsift, and Java 17 or later; `make lab RUN=spark_laws` provides the first two.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path

os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
os.environ["PYSPARK_PYTHON"] = sys.executable

import lab

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import dupsift as ds
import dupsift.spark
import dupsift.spark._run

MASTER = "local-cluster[2,1,1024]"
LAWS = ["tables", "killed", "hot", "chain", "cost", "twice", "bytes", "large"]
COPIES = 5
# The kinds of blocks, in the order of crates/cluster/src/kind.rs.
KINDS = (
    "notes rejected tally ids copies words features rows evidence sketches links word_terms feature_terms probes pairs compared candidates "
    "judged undecided learnt contents"
).split()
OF_A_MEMBER = {"rows", "evidence", "sketches", "links", "probes", "pairs", "compared", "candidates", "judged", "undecided", "learnt"}


def processes() -> dict[int, tuple[int, float, str]]:
    """Returns this process and its descendants: their parents, CPU seconds including those of ended children, and command lines."""
    ticks, all_of_them = os.sysconf("SC_CLK_TCK"), {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            all_of_them[int(folder.name)] = (int(fields[1]), sum(map(int, fields[11:15])) / ticks, line)
    found = {os.getpid()}
    while True:
        more = {number for number, (parent, _, _) in all_of_them.items() if parent in found} - found
        if not more:
            return {number: all_of_them[number] for number in found if number in all_of_them}
        found |= more


def cpu() -> float:
    return sum(seconds for _, seconds, _ in processes().values())


class Peaks:
    """Samples the anonymous memory of the processes; `of` has the peak of each kind. Python workers are added up."""

    def __enter__(self) -> Peaks:
        self.of: dict[str, int] = {}
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.sample, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.thread.join()

    def sample(self) -> None:
        while not self.ended.wait(0.1):
            now: Counter[str] = Counter()
            for number, (_, _, line) in processes().items():
                if number == os.getpid():
                    kind = "Python of the driver"
                elif "CoarseGrainedExecutorBackend" in line:
                    kind = "JVMs of the executors"
                elif "java" in line:
                    kind = "other JVMs"
                else:
                    kind = "Python of the executors"
                try:
                    status = Path(f"/proc/{number}/status").read_text()
                except OSError:
                    continue
                now[kind] += sum(int(row.split()[1]) << 10 for row in status.splitlines() if row.startswith("RssAnon:"))
            self.of = {kind: max(now[kind], self.of.get(kind, 0)) for kind in now | Counter(self.of)}


class Counted(dupsift.spark._run.Cluster):
    """Counts the bytes through the shuffle and to the driver and the CPU seconds of steps, and reports when a step begins."""

    shuffled: Counter[int] = Counter()
    collected: Counter[int] = Counter()
    seconds: Counter[str] = Counter()
    at_step = staticmethod(lambda step: None)

    def map(self, step, tasks, known):
        Counted.at_step(step)
        return self.timed(step, lambda: super(Counted, self).map(step, tasks, known))

    def timed(self, step, make):
        before = cpu()
        frame = make()
        asked = json.loads(step)
        name = asked if isinstance(asked, str) else ", ".join(f"{key}" for key, value in asked["Map"].items() if value)
        Counted.seconds[name] += cpu() - before
        return frame

    def reduce(self, step, of, known, together):
        if together:
            for frame, kinds in of:
                Counted.shuffled.update({kind: self.size(frame, [kind]) for kind in kinds})
        Counted.at_step(step)
        return self.timed(step, lambda: super(Counted, self).reduce(step, of, known, together))

    def collect(self, frame, kinds):
        Counted.collected.update({kind: self.size(frame, [kind]) for kind in kinds})
        Counted.at_step(json.dumps("collect"))
        return super().collect(frame, kinds)


dupsift.spark._run.Cluster = Counted


class Laws:
    def __init__(self, arguments: argparse.Namespace, work: Path) -> None:
        self.arguments, self.work, self.broken = arguments, work, []
        self.mixed = arguments.corpora / "mixed-100m" / "docs"
        os.environ["SPARK_WORKER_DIR"] = str(work / "workers")
        self.spark = self.session()

    def session(self) -> SparkSession:
        settings = {
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
            "spark.local.dir": str(self.work / "local"),
            "spark.sql.shuffle.partitions": "16",
        }
        builder = SparkSession.builder.master(MASTER).appName("laws")
        for name, value in settings.items():
            builder = builder.config(name, value)
        return builder.getOrCreate()

    def say(self, *cells: object) -> None:
        print("| " + " | ".join(f"{cell:.1f}" if isinstance(cell, float) else str(cell) for cell in cells) + " |", flush=True)

    def law(self, what: str, inputs: object, task_bytes: int = 64 << 20, around=contextlib.nullcontext(), **options: object) -> ds.Result | None:
        """Runs on one machine and on Spark, and compares. `task_bytes` and the context `around` apply only to Spark."""
        one, two = self.work / "one", self.work / "two"
        options = {"max_removed_share": 1.0, "no_report": True, "overwrite": True, "no_progress": True, **options}
        before = time.process_time()
        native = ds.run(inputs, one, threads=2, **options)
        here, before = time.process_time() - before, cpu()
        began = time.monotonic()
        try:
            with around:
                result = dupsift.spark.run(self.spark, inputs, two, task_bytes=task_bytes, **options)
        except ds.Error as error:
            self.broken.append(what)
            self.say(what, here, cpu() - before, time.monotonic() - began, "", "", "", f"FAILED: {error}")
            return None
        differ = different(native, result)
        there = cpu() - before
        counts = [len(result.pairs()), len(result.clusters()), len(result.removed())]
        self.say(what, here, there, time.monotonic() - began, *counts, f"DIFFERENT: {', '.join(differ)}" if differ else "the same")
        self.broken += [what] * bool(differ)
        return result

    def tables(self) -> None:
        self.law("default, mixed-100m (the session begins)", self.mixed)
        self.law("broad, mixed-100m", self.mixed, preset="broad")
        self.law("minhash, mixed-100m", self.mixed, algorithms="minhash")

    def killed(self) -> None:
        """Kills an executor while it runs tasks of a step."""
        # The steps of the default: the first step counts, a later step signs.
        signs = lambda step: isinstance(step, dict) and step["Map"]["signs"]
        whole = [(name, lambda step, name=name: step == name) for name in ("Group", "Judge", "collect")]
        for name, is_it in [("sign", signs), *whole]:
            killed: list[int] = []

            def begins(step: str, is_it=is_it, killed=killed) -> None:
                if not killed and is_it(json.loads(step)):
                    killed.append(0)
                    # The tasks deliver blocks one after another.
                    least = 1 if json.loads(step) == "collect" else 2
                    threading.Thread(target=self.kill, args=(killed, least), daemon=True).start()

            Counted.at_step = staticmethod(begins)
            result = self.law(f"default, mixed-100m, an executor killed in {name}", self.mixed, task_bytes=8 << 20)
            Counted.at_step = staticmethod(lambda step: None)
            if result is not None and (not killed or killed[0] == 0 or killed[0] in processes()):
                self.broken.append(f"killed in {name}")
                self.say(f"no executor was killed in {name}: {killed}")

    def kill(self, killed: list[int], least: int) -> None:
        tracker, until = self.spark.sparkContext.statusTracker(), time.monotonic() + 120
        while time.monotonic() < until:
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            if any(stage and stage.numActiveTasks >= least for stage in stages):
                executors = [number for number, (_, _, line) in processes().items() if "CoarseGrainedExecutorBackend" in line]
                killed[0] = min(executors)
                os.kill(killed[0], signal.SIGKILL)
                return
            time.sleep(0.01)

    def hot(self) -> None:
        rows = self.arguments.rows
        words, chance = stems(12), random.Random(5)
        # There are 12! orders. Some of 10^6 draws are equal and would be copies, so orders are drawn until enough of them are different.
        orders: set[str] = set()
        while len(orders) < rows:
            orders.add(" ".join(chance.sample(words, len(words))))
        texts = sorted(orders)
        for count, algorithms in [(rows, "tf"), (rows // 10, "minhash:unit=word,ngram=1,bands=2,verify=none")]:
            file = self.work / "hot.parquet"
            write(file, texts[:count])
            self.law(f"{algorithms}, a key of {count:,} rows", file, algorithms=algorithms, remove_if="pair", task_bytes=8 << 20)

    def chain(self) -> None:
        documents, wide = self.arguments.documents, 20
        words = stems(documents + wide)
        file = self.work / "chain.parquet"
        write(file, [" ".join(words[at : at + wide]) for at in range(documents)])
        for rule in ("pair", "contained:0.9"):
            what = f"cosine:threshold=0.93, a chain of {documents:,} documents, --remove-if {rule}"
            result = self.law(what, file, algorithms="cosine:threshold=0.93", remove_if=rule, task_bytes=2 << 20)
            if result is not None:
                (cosine,) = result.report["algorithms"]
                if (cosine["clusters"], cosine["largest_cluster"]) != (1, documents):
                    self.broken.append(what)
                    self.say(f"the chain is no chain: {cosine['clusters']} clusters, the largest of {cosine['largest_cluster']}")

    def five(self) -> Path:
        files = self.work / "five"
        if not files.exists():
            shifted(self.mixed, files)
        return files

    def cost(self) -> None:
        files = self.five()
        for run in ("first", "second"):
            Counted.seconds.clear()
            result = self.law(f"exact,minhash, 500 MB, {run} run", files, algorithms="exact,minhash", remove_if="pair")
            if result is not None:
                self.say("Spark, CPU s by step", ", ".join(f"{name} {seconds:.2f}" for name, seconds in Counted.seconds.items()))
                stages = json.loads((self.work / "one" / "run.json").read_text())["stages"]
                self.say("one machine, CPU s by stage", ", ".join(f"{stage['stage']} {stage['cpu_seconds']:.2f}" for stage in stages))

    def twice(self) -> None:
        files = self.five()
        for run in ("first", "second", "third"):
            self.law(f"exact,versions, 500 MB, {run} run of the session", files, algorithms="exact,versions")

    def bytes(self) -> None:
        samples = self.arguments.corpora / "data-samples" / "docs"
        for name, corpus, options in [
            ("data-samples", samples, {"algorithms": "all"}),
            ("mixed-100m", self.mixed, {}),
            ("mixed-100m", self.mixed, {"preset": "broad"}),
        ]:
            Counted.shuffled.clear(), Counted.collected.clear()
            result = self.law(f"{options or 'default'}, {name}", corpus, **options)
            if result is not None:
                self.report(name, result)

    def large(self) -> None:
        for options in ({"algorithms": "exact,minhash"}, {}):
            Counted.shuffled.clear(), Counted.collected.clear()
            peaks = Peaks()
            result = self.law(f"{options or 'default'}, {self.arguments.corpus}", self.arguments.corpus, around=peaks, **options)
            if result is not None:
                self.say("bytes shuffled", sum(Counted.shuffled.values()), "sent to the driver", sum(Counted.collected.values()))
                native = json.loads((self.work / "one" / "run.json").read_text())["peak_memory_bytes"]
                all_of_them = {"one machine": native, **peaks.of}
                self.say("peak of anonymous memory, MB", ", ".join(f"{name} {peak / 1e6:.0f}" for name, peak in all_of_them.items()))

    def report(self, name: str, result: ds.Result) -> None:
        documents, labels = result.report["documents"]["rows"], [one["label"] for one in result.report["algorithms"]]
        by: dict[str, list[Counter[str]]] = defaultdict(lambda: [Counter(), Counter()])
        for place, counts in enumerate((Counted.shuffled, Counted.collected)):
            for code, size in counts.items():
                kind = KINDS[code >> 16]
                by[labels[code & 0xFFFF] if kind in OF_A_MEMBER else "all"][place][kind] += size
        shown = lambda counts: ", ".join(f"{kind} {size / documents:.1f}" for kind, size in counts.most_common() if size / documents >= 0.05)
        for label, (shuffled, collected) in by.items():
            sums = [sum(counts.values()) / documents for counts in (shuffled, collected)]
            self.say(name, label, sums[0], shown(shuffled), sums[1], shown(collected))


def different(one: ds.Result, two: ds.Result) -> list[str]:
    """Returns the tables that differ in any column or row."""
    files = [{str(path.relative_to(result.path)) for path in result.path.rglob("*.parquet")} for result in (one, two)]
    read = lambda result, file: pq.ParquetFile(result.path / file).read()
    return sorted(files[0] ^ files[1]) + [file for file in sorted(files[0] & files[1]) if read(one, file) != read(two, file)]


def stems(count: int) -> list[str]:
    """Returns this many different words of ten letters."""
    syllables = [consonant + vowel for consonant in "bcdfghjklmnpqrstvwxz" for vowel in "aeiou"]
    words = map("".join, itertools.product(syllables, repeat=5))
    # Consecutive words differ in all positions.
    return [word[::-1] for word in itertools.islice(words, count)]


def write(file: Path, texts: list[str]) -> None:
    ids = [f"d{number}" for number in range(len(texts))]
    pq.write_table(pa.table({"id": ids, "text": texts}), file, row_group_size=max(1, len(texts) // 8))


def shifted(docs: Path, to: Path) -> None:
    """Writes the corpus five times, with shifted letters and characters, so that the copies of a document are not similar."""
    to.mkdir()
    table = pa.concat_tables([pq.ParquetFile(path).read() for path in sorted(docs.glob("*.parquet"))])
    alphabets = [("a", 26), ("A", 26), ("а", 32), ("А", 32), ("一", 0x9FA5 - 0x4E00)]
    for copy in range(COPIES):
        moved = {ord(first) + at: ord(first) + (at + copy * (997 if size > 99 else 5)) % size for first, size in alphabets for at in range(size)}
        shift = lambda text, moved=moved: None if text is None else text.translate(moved)
        columns = {name: table[name] for name in table.column_names}
        columns["text"] = pa.array(map(shift, table["text"].to_pylist()), table.schema.field("text").type)
        columns["id"] = pa.array((f"{copy}-{id}" for id in table["id"].to_pylist()), table.schema.field("id").type)
        pq.write_table(pa.table(columns), to / f"part-{copy}.parquet", compression="zstd", row_group_size=5_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path, metavar="CORPORA", help="the folder that contains mixed-100m and data-samples")
    parser.add_argument("--only", default=",".join(LAWS[:-1]), metavar="LAWS", help=f"checks to run [{','.join(LAWS[:-1])}]")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows with the hot key [1000000]")
    parser.add_argument("--documents", type=int, default=100_000, help="documents in the chain [100000]")
    parser.add_argument("--corpus", type=Path, help="the corpus of the check large")
    arguments = parser.parse_args()
    if "large" in arguments.only.split(",") and arguments.corpus is None:
        parser.error("the check large needs --corpus")
    unknown = set(arguments.only.split(",")) - set(LAWS)
    if unknown:
        parser.error(f"no such law: {', '.join(sorted(unknown))}; there are {', '.join(LAWS)}")
    for name in ("mixed-100m", "data-samples"):
        if not (arguments.corpora / name / "docs").is_dir():
            parser.error(f"{arguments.corpora} holds no {name}; expected this folder with docs/ in it")
    with tempfile.TemporaryDirectory() as work:
        laws = Laws(arguments, Path(work))
        laws.say("law", "native, CPU s", "Spark, CPU s", "Spark, s", "pairs", "in clusters", "removed", "tables")
        laws.say("---", *["---:"] * 6, "---")
        for law in LAWS:
            if law in arguments.only.split(","):
                getattr(laws, law)()
        laws.spark.stop()
    print(f"Failed checks: {', '.join(laws.broken)}" if laws.broken else "All checks passed.")
    sys.exit(1 if laws.broken else 0)


if __name__ == "__main__":
    main()
