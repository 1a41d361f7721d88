"""Runs on Spark give the tables of the command line, row for row. All tests use one cluster of two workers on this machine."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import site
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
os.environ["PYSPARK_PYTHON"] = sys.executable
_WORK = tempfile.mkdtemp(prefix="dupsift-spark-")
os.environ["SPARK_WORKER_DIR"] = _WORK

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
from pyspark.sql import SparkSession

import dupsift as ds
import dupsift.spark
from corpora import DOCS, ROOT, Case

MASTER = "local-cluster[2,1,1024]"
OF_THE_RECORD = ("documents", "ids", "removal", "recipe", "statistics", "parts", "bad_inputs", "inputs", "sources", "warnings")
# The settings of spark-submit for this machine.
SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.local.dir": _WORK,
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.enabled": "false",
}
# The cost of signatures and the bytes written to disk differ between machines.
NOT_OF_MEMBERS = ("sign_seconds", "pair_cpu_seconds", "spilled_bytes")


def session() -> SparkSession:
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "FATAL",
        "spark.local.dir": _WORK,
        "spark.executorEnv.PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }
    builder = SparkSession.builder.master(MASTER).appName("tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def corpus(folder: Path) -> Path:
    """Writes a corpus of special cases: null, empty, equal and almost equal texts, a file without rows, a file of copies, and repeated ids."""
    chance = random.Random(3)
    words = [f"{stem}{end}" for stem in ("вода", "stone", "lamp", "дом", "river", "cloud") for end in ("", "s", "а", "ing", "ed")]
    texts: list[str | None] = [" ".join(chance.choices(words, k=60)) for _ in range(300)]
    for at in range(0, 300, 10):
        texts.append(f"{texts[at]} {chance.choice(words)} {at}")
    texts += [texts[5]] * 40 + [None, "", " \n", "?!", None, "да", "да"] * 3
    chance.shuffle(texts)
    rows = [{"id": f"d{row % 380}", "text": text, "title": f"Title {row % 7}" if row % 3 else None, "year": 2000 + row % 9} for row, text in enumerate(texts)]
    schema = pa.schema([("id", pa.string()), ("text", pa.string()), ("title", pa.string()), ("year", pa.int64())])
    folder.mkdir()
    for name, part in [("a", rows[:150]), ("b", []), ("c", rows[150:]), ("d", [{**rows[3], "text": texts[0]}] * 50)]:
        pq.write_table(pa.Table.from_pylist(part, schema=schema), folder / f"{name}.parquet", row_group_size=60)
    return folder


def titled(path: Path) -> Path:
    """Writes rules from the same template that differ in a name in their first line: all of them are kept."""
    rules = "\n".join(" ".join(f"rule{line * 10 + word}" for word in range(10)) for line in range(30))
    texts = [f"Rules of the name{at} committee\nThe name{at} committee\n{rules}" for at in range(12)]
    pq.write_table(pa.table({"id": [f"rules{at}" for at in range(len(texts))], "text": texts}), path)
    return path


def _megabytes(numbers: Iterator[int]) -> Iterator[bytes]:
    """Yields six blocks for each number. The blocks have kind 1 and a size of one megabyte each."""
    # Global names in this file are sent to the tasks together with the function, but HEAD cannot be sent.
    from dupsift.spark._tasks import HEAD

    for number in numbers:
        for _ in range(6):
            yield HEAD.pack(1, number) + os.urandom(1 << 20)


class Spark(Case):
    spark: SparkSession

    @classmethod
    def setUpClass(cls) -> None:
        cls.spark = session()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.spark.stop()
        shutil.rmtree(_WORK, ignore_errors=True)

    def check(self, inputs: object, task_bytes: int = 300_000, **options: Any) -> ds.Result:
        one = ds.run(inputs, self.folder / "one", overwrite=True, **options)
        two = dupsift.spark.run(self.spark, inputs, self.folder / "two", overwrite=True, task_bytes=task_bytes, **options)
        self.same(one, two)
        return two

    def same(self, one: ds.Result, two: ds.Result) -> None:
        files = [sorted(path.relative_to(result.path) for path in result.path.rglob("*.parquet")) for result in (one, two)]
        self.assertEqual(*files)
        self.assertGreater(len(files[0]), 3)
        for file in files[0]:
            self.assertEqual(*[pq.ParquetFile(result.path / file).read() for result in (one, two)], file)
        for part in OF_THE_RECORD:
            self.assertEqual(one.report.get(part), two.report.get(part), part)
        for mine, theirs in zip(one.report["algorithms"], two.report["algorithms"], strict=True):
            for name in set(mine) - set(NOT_OF_MEMBERS):
                self.assertEqual(mine[name], theirs[name], f"{mine['label']} {name}")
        self.assertEqual(two.report["driver"], "spark")
        self.assertNotIn("driver", one.report)
        self.assertTrue((two.path / "_SUCCESS").exists())

    def test_all_members_of_three_files(self) -> None:
        result = self.check(DOCS, algorithms="all")
        self.assertEqual(len(result.report["algorithms"]), len(ds.algorithms()))
        self.assertTrue((result.path / "report.html").exists())

    def test_all_members_of_one_file(self) -> None:
        whole = self.folder / "whole.parquet"
        pq.write_table(pa.concat_tables([pq.ParquetFile(path).read() for path in sorted(DOCS.glob("*.parquet"))]), whole)
        self.check(whole, task_bytes=200_000, algorithms="all", no_report=True)

    def test_presets(self) -> None:
        for preset in ("balanced", "broad"):
            with self.subTest(preset):
                result = self.check([DOCS, titled(self.folder / "titled.parquet")], preset=preset, task_bytes=64 << 20, accept=True)
                versions = next(one for one in result.report["algorithms"] if one["label"] == "versions")
                # The samples without the rules have eight.
                self.assertGreater(versions["relations"]["other_titles"], 60)

    def test_what_is_easily_forgotten(self) -> None:
        files = corpus(self.folder / "corpus")
        recipe = "exact,minhash:bands=20,rows=3,margin=0.05,tf,simhash:distance=12,min_features=3,versions,lsi,repeats,near_page"
        for options in [
            {"count_copies": False, "keep": "year desc,length asc", "decide": "all", "max_group": 5},
            {"keep_per": "year", "remove_if": "pair", "max_template_share": 1.0},
            {"remove_if": "pair", "chain": "remove", "decide": "at-least:2", "source_column": "year", "max_removed_share": 1.0},
        ]:
            with self.subTest(options):
                result = self.check(files, task_bytes=12_000, algorithms=recipe, no_report=True, **options)
                self.assertGreater(len(result.removed()), 40)
                self.assertEqual(len(result.rejected()), 12)

    def test_other_formats_and_a_limit(self) -> None:
        lines = self.lines(*[f"A line of some words that stand here for the number {row % 9} and nothing else." for row in range(60)], None)
        self.check(lines, algorithms="exact,minhash", task_bytes=500, no_report=True)
        self.check(DOCS, algorithms="exact,minhash", limit=500, no_report=True)

    def test_an_executor_is_killed(self) -> None:
        killed = []

        def kill() -> None:
            until = time.monotonic() + 60
            while not killed and time.monotonic() < until:
                # When tasks are running, the Python processes are children of an executor.
                if self.spark.sparkContext.statusTracker().getActiveStageIds():
                    found = subprocess.run(["pgrep", "-f", f"CoarseGrainedExecutorBackend.*{self.spark.sparkContext.applicationId}"], capture_output=True, text=True, check=False)
                    numbers = [int(number) for number in found.stdout.split()]
                    if numbers:
                        time.sleep(0.5)
                        os.kill(numbers[0], signal.SIGKILL)
                        killed.append(numbers[0])
                time.sleep(0.05)

        one = ds.run(DOCS, self.folder / "one", algorithms="exact,minhash,cosine")
        killer = threading.Thread(target=kill)
        killer.start()
        two = dupsift.spark.run(self.spark, DOCS, self.folder / "two", algorithms="exact,minhash,cosine", task_bytes=100_000)
        killer.join()
        self.assertEqual(len(killed), 1)
        self.same(one, two)

    def test_what_is_collected_leaves_nothing_in_the_driver(self) -> None:
        from dupsift.spark._cluster import Cluster
        from dupsift.spark._tasks import HEAD

        jvm = self.spark.sparkContext._jvm

        def heap() -> int:
            jvm.System.gc()
            return int(jvm.java.lang.management.ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed())

        with Cluster(self.spark, [], [], 1, 4) as cluster:
            frame = cluster._keep(self.spark.sparkContext.parallelize(range(4), 4), _megabytes)
            before, collected = heap(), 0
            for _ in range(3):
                collected += sum(len(block) - HEAD.size for block in cluster.collect(frame, [1]))
            self.assertEqual(collected, 3 * 24 << 20)
            # A thread that has processed a piece may take a moment to end.
            until, grown = time.monotonic() + 20, heap() - before
            while grown > 20 << 20 and time.monotonic() < until:
                time.sleep(0.5)
                grown = heap() - before
            self.assertLess(grown, 20 << 20)

    def test_a_frame(self) -> None:
        frame = self.spark.read.parquet("file://" + str(DOCS)).withColumnRenamed("text", "body")
        found = dupsift.spark.dedup(frame, text_column="body", id_column="id", out=self.folder / "out", algorithms="exact,minhash")
        table = frame.orderBy("id").toArrow()
        expected = ds.dedup(table, text_column="body", id_column="id", algorithms="exact,minhash")
        for mine, theirs in [(found.pairs, expected.pairs()), (found.clusters, expected.clusters()), (found.removed, expected.removed())]:
            rows = pa.table(theirs).to_pylist()
            columns = [name for name in mine.columns if name in rows[0]]
            key = [[str(row[name]) for name in columns] for row in rows]
            self.assertEqual(sorted([str(row[name]) for name in columns] for row in mine.collect()), sorted(key))
        self.assertEqual([path.name for path in self.folder.iterdir()], ["out"])
        with self.assertRaisesRegex(ValueError, "have no id, or the id of another row"):
            dupsift.spark.dedup(frame.union(frame.limit(3)), text_column="body", id_column="id", out=self.folder / "no")
        with self.assertRaisesRegex(ValueError, "id_column='key': the frame has no such column"):
            dupsift.spark.dedup(frame, text_column="body", id_column="key", out=self.folder / "no")

    def test_what_is_refused(self) -> None:
        page = self.folder / "page.jsonl"
        page.write_text('{"html": "<p>text</p>"}\n')
        for options, said in [
            ({"prefilter": True}, "has no effect on the result; remove it"),
            ({"index": self.folder / "index"}, "use one machine"),
            ({"scope": "within:id"}, "use one machine"),
            ({"algorithms": "minhahs"}, "did you mean"),
            ({"task_bytes": 0}, "expected at least 1"),
            ({"buckets": 0}, "expected 1 to"),
        ]:
            with self.assertRaisesRegex(ValueError, said):
                dupsift.spark.run(self.spark, DOCS, self.folder / "out", **options)  # type: ignore[arg-type]
        with self.assertRaisesRegex(ValueError, "extract their text with `dupsift purify` first"):
            dupsift.spark.run(self.spark, page, self.folder / "out", html_column="html")
        self.assertFalse((self.folder / "out").exists())

    def test_relative_inputs(self) -> None:
        crawl = self.folder / "crawl"
        (crawl / "lang=ru").mkdir(parents=True)
        for name in ("b.jsonl", "lang=ru/a.jsonl"):
            texts = [f"A line of some words for the number {row % 5} and nothing else." for row in range(20)]
            (crawl / name).write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(crawl)
        for place, inputs in enumerate((["b.jsonl", "lang=ru"], ".", "*.jsonl", "./lang=ru/../b.jsonl")):
            # The folder names of the first two inputs are columns.
            settings: dict[str, Any] = {"algorithms": "exact,minhash", "keep": "lang desc, doc desc" if place < 2 else "doc desc"}
            one = ds.run(inputs, f"../one-{place}", **settings)
            self.same(one, dupsift.spark.run(self.spark, inputs, f"../two-{place}", **settings))
            self.assertGreater(len(one.pairs()), 10)

    def test_the_manual(self) -> None:
        """The Python block and the commands in docs/spark.md run as printed, with the folders and the cluster of this test."""
        page = (ROOT / "docs" / "spark.md").read_text(encoding="utf-8")
        shared = shutil.copytree(DOCS, self.folder / "shared" / "corpus")
        expected = ds.run(shared, self.folder / "balanced"), ds.run(shared, self.folder / "both", algorithms="exact,minhash")
        out, found = self.folder / "shared" / "dedup", []
        for language, block in re.findall(r"^```(python|sh)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
            block = block.replace("/shared/", f"{self.folder}/shared/")
            if language == "python":
                names: dict[str, Any] = {}
                exec(block, names)
                self.same(expected[0], names["result"])
                found.append("python")
                shutil.rmtree(out)
                continue
            for line in block.replace("\\\n", " ").splitlines():
                found.append(line.split()[0])
                self.command(line.split(" #")[0])
                if out.exists():
                    self.same(expected["--algorithms" in line], ds.open(out))  # type: ignore[arg-type]
                    shutil.rmtree(out)
        self.assertEqual(found, ["python", "python", "spark-submit", "make", "cp", "spark-submit"])
        self.same(ds.run(DOCS, self.folder / "docs"), ds.open(self.folder / "docs-spark"))  # type: ignore[arg-type]

    def command(self, line: str) -> None:
        """Runs a line from the manual.

        A make target would build the wheel first, so only the command that the target runs afterwards is run.
        """
        wheel = os.environ.get("DUPSIFT_WHEEL")
        if not wheel:
            self.skipTest("DUPSIFT_WHEEL does not name the wheel")
        installed = Path(dupsift.spark.__file__).parent / "dupsift_spark.py"
        shutil.copy(wheel, self.folder)
        conf = "".join(f" --conf {name}={value}" for name, value in SETTINGS.items())
        environment = {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), str(Path(pyspark.__file__).parent / "bin"), os.environ["PATH"]])}
        folder = self.folder
        if "--archives" in line:
            # The driver has the package, the executors do not.
            environment |= {"PYSPARK_PYTHON": str(self.without_the_package()), "PYSPARK_DRIVER_PYTHON": sys.executable}
            line = line.replace("spark-submit", f"spark-submit --master {MASTER}")
        if line.startswith("make spark "):
            line, folder = line.replace("make spark ", "") + f" OUT={self.folder}/docs-spark sh scripts/spark.sh {sys.executable} {wheel}", ROOT
        line = line.replace("spark://host:7077", MASTER).replace("spark-submit", f"spark-submit{conf}")
        line = re.sub(r"\.\.\./(dupsift/spark/)?dupsift_spark\.py", str(installed), line)
        ended = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False, cwd=folder, env=environment)
        self.assertEqual(ended.returncode, 0, f"{line}\n{ended.stdout}{ended.stderr}")

    def test_the_command_line(self) -> None:
        from dupsift.spark._cli import main

        one = ds.run(DOCS, self.folder / "one", algorithms="exact,minhash", no_report=True)
        typed = ["run", str(DOCS), "--out", str(self.folder / "two"), "--algorithms", "exact,minhash", "--no-report", "--buckets", "3"]
        self.assertEqual(main(typed), 0)
        self.same(one, ds.open(self.folder / "two"))  # type: ignore[arg-type]
        self.assertEqual(main(typed), 2)
        corpus(self.folder / "corpus")
        self.assertEqual(main(["run", str(self.folder / "corpus"), "--out", str(self.folder / "three"), "--algorithms", "exact"]), 3)

    def test_spark_submit_where_executors_have_no_wheel(self) -> None:
        wheel = os.environ.get("DUPSIFT_WHEEL")
        if not wheel:
            self.skipTest("DUPSIFT_WHEEL does not name the wheel")
        archive = shutil.copyfile(wheel, self.folder / "dupsift.zip")
        submit = [Path(pyspark.__file__).parent / "bin" / "spark-submit", "--master", MASTER, "--archives", f"{archive}#dupsift-wheel"]
        for name, value in {**SETTINGS, "spark.executorEnv.PYTHONPATH": "dupsift-wheel"}.items():
            submit += ["--conf", f"{name}={value}"]
        file = Path(dupsift.spark.__file__).parent / "dupsift_spark.py"
        typed = ["run", DOCS, "--out", self.folder / "two", "--algorithms", "exact,minhash", "--no-report"]
        of_executors = {"PYSPARK_PYTHON": str(self.without_the_package()), "PYSPARK_DRIVER_PYTHON": sys.executable}
        ended = subprocess.run([*submit, file, *typed], capture_output=True, text=True, check=False, env={**os.environ, **of_executors})
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.same(ds.run(DOCS, self.folder / "one", algorithms="exact,minhash", no_report=True), ds.open(self.folder / "two"))  # type: ignore[arg-type]

    def without_the_package(self) -> Path:
        """Returns an interpreter that finds everything that this one finds, except the package."""
        packages, home = self.folder / "packages", self.folder / "python"
        packages.mkdir()
        for entry in (entry for path in site.getsitepackages() for entry in Path(path).iterdir()):
            if not entry.name.startswith("dupsift"):
                (packages / entry.name).symlink_to(entry)
        venv.create(home, with_pip=False)
        (next(home.glob("lib/python*/site-packages")) / "packages.pth").write_text(f"{packages}\n")
        python = home / "bin" / "python"
        line = [python, "-c", "import pyarrow, dupsift"]
        tried = subprocess.run(line, capture_output=True, text=True, check=False, cwd=self.folder)
        self.assertIn("No module named 'dupsift'", tried.stderr)
        return python


if __name__ == "__main__":
    unittest.main()
