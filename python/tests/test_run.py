"""Tests that need no other library: the same bytes as from the command line, results, keywords, threads, Ctrl-C."""

from __future__ import annotations

import json
import logging
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

import dupsift as ds
from corpora import DOCS, Case, listening, program, tables

TEXT = "The committee met on Tuesday and agreed that the bridge over the river will be repaired before the winter comes. "


class Runs(Case):
    def test_presets_write_the_bytes_of_the_command_line(self) -> None:
        for preset in ds.presets():
            with self.subTest(preset.name):
                mine, theirs = self.folder / f"{preset.name}-api", self.folder / f"{preset.name}-cli"
                result = ds.run(DOCS, out=mine, preset=preset.name, no_report=True)
                told = program("run", DOCS, "--out", theirs, "--preset", preset.name, "--no-report")
                self.assertEqual(told.returncode, 0, told.stderr)
                written = tables(mine)
                self.assertGreater(len(written), 2)
                self.assertEqual(written, tables(theirs))

    def test_a_result_of_relative_paths_answers_in_any_folder(self) -> None:
        lines = self.lines(TEXT, TEXT, TEXT + "It will be closed to carts until then.", None)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        words = self.folder / "words.txt"
        words.write_text("the\n", encoding="utf-8")
        result = ds.run(lines.name, out="out", algorithms="exact,minhash,cosine", stop_words="words.txt", overwrite=True)
        opened, compared = ds.open("out"), ds.compare(lines.name, out="compared", algorithms="exact,minhash")
        self.assertIn("\noutput: out ", str(result))
        said = repr(result)
        os.chdir("/")
        for each in (result, opened, ds.open(self.folder / "out")):
            self.assertEqual(each.path, self.folder / "out")
            self.assertEqual(len(each.pairs("exact")), 1)
            self.assertEqual(len(each.rejected()), 1)
            self.assertIn("d1", str(each.explain("d1")))
            assert isinstance(each, ds.Result)
            self.assertEqual(list(each.kept_rows), list(result.kept_rows))
            self.assertEqual(list(each.apply(cosine=0.9).kept_rows), list(result.apply(cosine=0.9).kept_rows))
        self.assertEqual(repr(result), said)
        self.assertEqual(compared.comparison["advice"], ds.open(self.folder / "compared").comparison["advice"])
        self.assertEqual(len(compared.judged()), 1)
        record = result.report
        self.assertEqual([Path(one["path"]) for one in record["inputs"]], [lines])
        self.assertEqual([record["options"][name] for name in ("out", "stop-words")], [str(self.folder / "out"), str(words)])
        # The corpus of a result is found from its record, so the result can be a reference.
        later = ds.run(lines, out=self.folder / "later", reference=self.folder / "out", algorithms="exact")
        self.assertEqual(later.report["removal"]["reasons"], {"seen": 3})

    def test_a_result_answers(self) -> None:
        result = ds.run(DOCS, out=self.folder / "out", algorithms=["exact", "minhash"])
        removal = result.report["removal"]
        self.assertEqual(len(result.removed()), removal["removed"])
        self.assertEqual(len(result.kept_mask), result.rows)
        self.assertEqual(result.kept_mask.sum(), result.rows - removal["removed"])
        rows = list(result.kept_rows)
        self.assertEqual(rows, [row for row, kept in enumerate(result.kept_mask) if kept])
        self.assertEqual((rows[-1], result.kept_rows[-1]), (result.kept_rows[len(rows) - 1], rows[-1]))
        with self.assertRaises(IndexError):
            result.kept_rows[len(rows)]
        for column in (result.kept_mask, result.kept_rows):
            self.assertEqual(list(pickle.loads(pickle.dumps(column))), list(column))
        both = [len(result.pairs(label)) for label in ("exact", "minhash")]
        self.assertEqual(len(result.pairs()), sum(both))
        self.assertEqual(result.pairs().columns, [*result.pairs("exact").columns, "algorithm"])
        self.assertEqual(both, [one["pairs_written"] for one in result.report["algorithms"]])
        self.assertGreater(len(result.clusters("minhash")), 0)
        self.assertEqual(len(result.rejected()), 0)
        self.assertIn("documents in 3 files", str(result))
        self.assertIn("report.html", result._repr_html_())
        self.assertEqual(str(ds.open(result.path)), str(result))
        with self.assertRaisesRegex(ValueError, "expected one of exact, minhash"):
            result.pairs("tf")

    def test_a_column_shows_its_values(self) -> None:
        result = ds.run(self.lines(TEXT, TEXT, TEXT + "More."), out=self.folder / "out", algorithms="exact", no_report=True)
        self.assertEqual(repr(result.kept_mask), "<dupsift.Column of bool: 3 values [True, False, True]>")
        self.assertEqual(repr(result.kept_rows), "<dupsift.Column of int64: 2 values [0, 2]>")
        self.assertEqual(repr(result.kept_rows[:1]), "<dupsift.Column of int64: 1 value [0]>")
        self.assertEqual(repr(result.kept_rows[:0]), "<dupsift.Column of int64: 0 values []>")
        self.assertEqual((result.kept_mask.tolist(), result.kept_rows.tolist()), ([True, False, True], [0, 2]))
        many = ds.Stream("exact", keys=2_000).add([f"text number {row}" for row in range(1_200)])
        shown = "False, False, False, False, False"
        self.assertEqual(repr(many), f"<dupsift.Column of bool: 1,200 values [{shown}, …, {shown}]>")
        self.assertEqual(repr((~many).rows()), "<dupsift.Column of int64: 1,200 values [0, 1, 2, 3, 4, …, 1195, 1196, 1197, 1198, 1199]>")

    def test_the_summary_names_the_next_call(self) -> None:
        corpus = self.lines(TEXT, TEXT)
        result = ds.run(corpus, out=self.folder / "out", no_report=True)
        self.assertTrue(str(result).endswith("\nnext: result.write()\n"), str(result))
        self.assertIn("next: dupsift apply ", program("show", self.folder / "out").stdout)

    def test_a_run_is_estimated(self) -> None:
        told = ds.estimate(DOCS, algorithms="exact,minhash", memory="512MiB")
        record = told.record
        self.assertEqual((record["documents"], record["memory_bytes"] >> 20, record["sample"]), (2_455, 512 + 150, None))
        self.assertEqual([one.partition(":")[0] for one in record["algorithms"]], ["exact", "minhash"])
        self.assertEqual(record["input_bytes"], sum(path.stat().st_size for path in DOCS.iterdir() if path.suffix == ".parquet"))
        self.assertEqual(sum(one["disk_bytes"] for one in record["passes"]), record["disk_bytes"])
        self.assertTrue(str(told).startswith("algorithms exact, minhash: 2,455 documents in 3 files ("), str(told))
        self.assertTrue(repr(told).startswith("<dupsift.Estimate: algorithms exact, minhash: 2,455 documents"), repr(told))
        # The command line reports the same.
        out = self.folder / "out"
        said = program("run", DOCS, "--out", out, "--algorithms", "exact,minhash", "--memory", "512MiB", "--dry-run", "--no-progress")
        self.assertEqual((said.returncode, said.stdout), (0, str(told).partition("\n\n")[2]))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_run_is_estimated_on_a_sample(self) -> None:
        stages: list[ds.Progress] = []
        told = ds.estimate(DOCS, algorithms="exact,minhash", sample=1_000, seed=3, progress=stages.append)
        run = ds.run(DOCS, self.folder / "out", algorithms="exact,minhash", sample=1_000, seed=3, no_report=True)
        sample = told.record["sample"]
        self.assertEqual((told.record["documents"], sample["documents"], sample["removed"]), (2_455, 1_000, len(run.removed())))
        least, most = sample["removed_share"]
        self.assertEqual(f"whole corpus: about {100 * least:.1f}% to {100 * most:.1f}% would be removed", next(line for line in str(run).splitlines() if line.startswith("whole")))
        self.assertIn("\nestimated time: ", str(told))
        # The command line shows the same passes over the sample.
        said = program("run", DOCS, "--algorithms", "exact,minhash", "--sample", 1_000, "--seed", 3, "--dry-run", "--no-progress")
        passes, _, _ = said.stdout.partition("sample: ")
        self.assertTrue(passes.startswith("passes over the sample\n"), said.stdout)
        self.assertEqual(str(told).partition("\n\n")[2].partition("sample: ")[0].split(), passes.split())
        self.assertAlmostEqual(sample["estimated_seconds"], 2.455 * sample["seconds"])
        self.assertEqual((stages[-1].done, stages[-1].step), (stages[-1].total, stages[-1].steps))
        self.assertEqual([path.name for path in self.folder.iterdir()], ["out"])

    def test_what_no_run_can_do_is_not_estimated(self) -> None:
        corpus = self.lines(TEXT, TEXT)
        for wrong, says in [({"algorithms": "minhahs"}, "minhash"), ({"text_column": "body"}, "body"), ({"text": "body"}, "text_column"), ({"memory": "1MB"}, "too small")]:
            with self.assertRaisesRegex(ValueError, says):
                ds.estimate(corpus, **wrong)  # type: ignore[arg-type]
        ds.run(corpus, self.folder / "out", no_report=True)
        with self.assertRaisesRegex(ValueError, "`overwrite`"):
            ds.estimate(corpus, out=self.folder / "out")
        self.assertEqual(ds.estimate(corpus, out=self.folder / "out", overwrite=True).record["documents"], 2)
        with self.assertRaisesRegex(FileNotFoundError, "nothing.jsonl"):
            ds.estimate(self.folder / "nothing.jsonl")

    def test_rows_of_a_table_need_no_library(self) -> None:
        result = ds.run(DOCS, out=self.folder / "out", algorithms=["exact", "minhash"], no_report=True)
        rows = list(result.removed())
        self.assertEqual(len(rows), len(result.removed()))
        self.assertEqual([row["doc"] for row in rows], [at for at, kept in enumerate(result.kept_mask) if not kept])
        self.assertEqual({row["reason"] for row in rows}, set(result.report["removal"]["reasons"]))
        self.assertTrue(all(isinstance(row["id"], str) and 0 < row["similarity"] <= 1 for row in rows))
        pairs = list(result.pairs())
        self.assertEqual(list(pairs[0]), result.pairs().columns)
        self.assertEqual({pair["algorithm"] for pair in pairs}, {"exact", "minhash"})
        self.assertIs(pairs[0]["relation"], None)
        self.assertIs(pairs[0]["verified"], False)
        told = result.explain(rows[0]["id"])
        self.assertEqual([one["id"] for one in told.record["documents"]], [rows[0]["id"], rows[0]["kept_id"]])

    def test_a_later_batch_answers(self) -> None:
        batches = []
        for batch, size in enumerate((30, 12)):
            lines = [{"id": f"{batch}-{at}", "text": f"{TEXT}It is page {at % 20} of {batch + 1 if at % 2 else 1}."} for at in range(size)]
            corpus = self.folder / f"{batch}.jsonl"
            corpus.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
            batches.append(ds.run(corpus, out=self.folder / f"n{batch}", index=self.folder / "seen", algorithms="exact"))
        first, later = batches
        gone = [row["doc"] for row in later.removed()]
        self.assertEqual(gone, [30 + at for at in range(12) if at % 2 == 0])
        self.assertEqual([30 + at for at, kept in enumerate(later.kept_mask) if not kept], gone)
        self.assertEqual(list(later.kept_rows), [1, 3, 5, 7, 9, 11])
        self.assertEqual(first.rows - first.kept_mask.sum(), len(first.removed()))
        self.assertEqual([one["id"] for one in later.explain("1-0").record["documents"]], ["1-0", "0-0"])
        self.assertIn("earlier batches", (later.path / "report.html").read_text(encoding="utf-8"))

    def test_thresholds_rise_without_another_run(self) -> None:
        recipe = "minhash:bands=20,rows=5,verify=jaccard:{}"
        low = ds.run(DOCS, out=self.folder / "low", algorithms=recipe.format("0.5"), remove_if="pair", no_report=True)
        high = ds.run(DOCS, out=self.folder / "high", algorithms=recipe.format("0.8"), remove_if="pair", no_report=True)
        again = low.apply(minhash=0.8)
        self.assertEqual(list(again.kept_mask), list(high.kept_mask))
        self.assertNotEqual(list(low.kept_mask), list(high.kept_mask))
        self.assertEqual(list(low.apply().kept_rows), list(low.kept_rows))
        self.assertTrue(all(again.kept_mask[row] for row in again.kept_for))
        self.assertEqual(len(again.removed_rows) + len(again.kept_rows), low.rows)
        with self.assertRaisesRegex(ValueError, "from 0.500 to 1, so the threshold can only be raised"):
            low.apply(minhash=0.4)
        with self.assertRaisesRegex(ValueError, 'did you mean "minhash"'):
            low.apply(minhahs=0.9)

    def test_the_corpus_of_a_finished_run_is_written(self) -> None:
        options = {"algorithms": "minhash:bands=20,rows=5,verify=jaccard:0.5", "no_report": True}
        kept = ds.run(DOCS, out=self.folder / "kept", corpus="keep,annotate", **options)
        result = ds.run(DOCS, out=self.folder / "out", **options)
        read = lambda folder: {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
        clean = result.write(self.folder / "clean")
        self.assertEqual(clean, self.folder / "clean")
        self.assertEqual(read(clean / "deduped"), read(kept.path / "deduped"))
        self.assertEqual(result.write(corpus=["keep", "annotate"]), result.path)
        for folder in ("deduped", "attributes"):
            self.assertEqual(read(result.path / folder), read(kept.path / folder))
        with self.assertRaisesRegex(ValueError, "already exists"):
            result.write()
        strict = result.apply(minhash=0.9)
        again = strict.write(self.folder / "strict", corpus="annotate")
        rows = list(ds.Table([("", path) for path in sorted((again / "attributes").rglob("*.parquet"))]))
        self.assertEqual([not row["removed"] for row in rows], list(strict.kept_mask))
        opened = ds.open(again)
        self.assertEqual([row["doc"] for row in opened.removed()], list(strict.removed_rows))
        for other in (opened.pairs, opened.clusters, opened.rejected, lambda: opened.report):
            with self.assertRaisesRegex(ValueError, "was written by apply.*open the output of its run: "):
                other()
        with self.assertRaisesRegex(ValueError, 'did you mean "keep"'):
            result.write(self.folder / "other", corpus="kept")

    def test_thresholds_are_refused_where_it_is_not_known_what_is_contained(self) -> None:
        # The second text is removed in favor of the first, so the third was never compared with the second.
        recipe = "minhash:bands=100,rows=1,verify=none"
        result = ds.run(DOCS, out=self.folder / "out", algorithms=recipe, no_report=True)
        with self.assertRaisesRegex(ValueError, 'did not compare document .* use `remove_if="pair"`'):
            result.apply(minhash=0.9)
        self.assertGreater(len(result.apply(minhash=0.9, remove_if="pair").removed_rows), 0)

    def test_a_pair_is_explained_and_labels_are_held_against(self) -> None:
        result = ds.run(self.lines(TEXT * 3, TEXT * 3, "Another text, of other words, about gardens and their gates. " * 3), out=self.folder / "out")
        told = result.explain("d0", "d1")
        self.assertTrue(told.record["exact_copies"])
        self.assertIn("d0", str(told))
        # The record is what the command line prints as JSON.
        self.assertEqual(told.record, json.loads(program("explain", self.folder / "out", "d0", "d1", "--json").stdout))
        self.assertFalse(result.explain(0, 2, rows=True).record["pair"])
        with self.assertRaisesRegex(ValueError, "d9"):
            result.explain("d0", "d9")
        labels = self.folder / "labels.jsonl"
        labels.write_text('{"id_a": "d0", "id_b": "d1"}\n')
        figures = ds.evaluate(result, labels)
        self.assertEqual(figures.record["algorithms"][0]["pairwise"]["f1"], 1.0)
        self.assertEqual(figures.record, json.loads(program("evaluate", self.folder / "out", "--truth", labels, "--json").stdout))
        self.assertIn("exact", str(figures))

    def test_lists_rules_and_samples_are_those_of_the_command_line(self) -> None:
        out = self.folder / "out"
        result = ds.run(DOCS, out=out, no_report=True)

        def printed(*words: object) -> object:
            return json.loads(program(*words, "--json").stdout)

        for what, flag in [("removed", "--removed"), ("kept_similar", "--kept-similar"), ("clusters", "--clusters")]:
            listing = result.show(what, limit=5, worst=True)
            self.assertEqual(listing.record, printed("show", out, flag, "--limit", 5, "--worst"))
            self.assertIn(f"5 of {listing.record['total']:,} ", str(listing))
        self.assertEqual(result.show(grep="PSReadLine").record, printed("show", out, "--removed", "--grep", "PSReadLine"))
        self.assertEqual(result.rules().record, printed("show", out, "--rules"))
        self.assertIn("this run", str(result.rules()))
        sample = result.sample(20, by="similarity", seed=3)
        self.assertEqual(sample.record, printed("sample", out, "--pairs", 20, "--by", "similarity", "--seed", 3))
        labels = self.folder / "labels.csv"
        sample.write(labels)
        self.assertEqual(labels.read_text(encoding="utf-8"), str(sample))
        # Labels go back in.
        labels.write_text(str(sample).replace(",,", ",y,"), encoding="utf-8")
        self.assertEqual(ds.evaluate(result, labels).record["labeled_removals"]["right"], 20)
        self.assertEqual(result.explain(seed=2).record, printed("explain", out, "--seed", 2))
        self.assertEqual(result.explain(worst=True).record, printed("explain", out, "--worst"))
        for call, why in [(lambda: result.show("pairs"), "kept_similar"), (lambda: result.sample(by="size"), "similarity"), (lambda: result.explain(b=3), "b: ")]:
            with self.assertRaisesRegex(ValueError, why):
                call()

    def test_algorithms_are_compared(self) -> None:
        comparison = ds.compare(DOCS, out=self.folder / "out", algorithms="exact,tf", no_report=True, judge="lcs:0.85", limit=500)
        self.assertEqual([one["label"] for one in comparison.comparison["algorithms"]], ["exact", "tf"])
        self.assertGreater(len(comparison.judged()), 0)
        self.assertIsInstance(ds.open(comparison.path), ds.Comparison)
        self.assertIn("tf", str(comparison))

    def test_pages_are_taken_apart(self) -> None:
        page = self.folder / "page.html"
        page.write_text(f"<html><title>A bridge</title><body><p>{TEXT * 5}</p></body></html>")
        pages = ds.purify(page, out=self.folder / "out", whole_files=True)
        self.assertEqual(len(pages.pages()), 1)
        self.assertIn("page_title", pages.pages().columns)
        self.assertIn("1 of 1 pages", str(pages))

    def test_two_runs_in_two_threads(self) -> None:
        results: dict[int, ds.Result] = {}

        def work(number: int) -> None:
            results[number] = ds.run(DOCS, out=self.folder / f"{number}", no_report=True, threads=1)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        # The GIL is free in the meantime.
        longest = 0.0
        while any(thread.is_alive() for thread in threads):
            before = time.monotonic()
            time.sleep(0.001)
            longest = max(longest, time.monotonic() - before)
        self.assertEqual(tables(results[0].path), tables(results[1].path))
        self.assertLess(longest, 1.0)

    def test_log_lines_are_pythons(self) -> None:
        corpus = self.lines(TEXT, None)
        corpus.with_name("broken.jsonl").write_bytes(b"\x00\x01")
        with self.assertLogs("dupsift", logging.DEBUG) as logged:
            ds.run(self.folder / "*.jsonl", out=self.folder / "out")
        self.assertTrue(any("done" in line or "stage" in line for line in logged.output), logged.output)

    def test_the_command_line_is_there(self) -> None:
        self.assertEqual(program("--version").stdout.split()[1], ds.__version__)
        wrong = program("run", "none", "--out", self.folder / "out", "--algorithms", "minhahs")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn('did you mean "minhash"', wrong.stderr)
        flags = program("run", "none", "--out", self.folder / "out", "--threads", "0")
        self.assertIn("`--threads`", flags.stderr)
        self.assertEqual(program("algorithms", "--json").returncode, 0)


class Environments(Case):
    def test_every_umask_suits(self) -> None:
        texts = [TEXT, TEXT, TEXT + "It will be closed to carts until then.", "another text about the number seven"]
        for mask in (0o002, 0o077, 0o000):
            with self.subTest(f"{mask:03o}"):
                before = os.umask(mask)
                try:
                    place = self.folder / f"{mask:03o}"
                    place.mkdir()
                    out = place / "out"
                    ds.run(self.lines(*texts), out=out, algorithms="exact,minhash,cosine")
                    result = ds.open(out)
                    assert isinstance(result, ds.Result)
                    self.assertIn("d0", str(result.explain("d1")))
                    self.assertEqual(list(result.apply(cosine=0.9).kept_rows), list(result.kept_rows))
                    result.write(corpus=["keep", "drop"])
                    frame = ds.dedup(texts, algorithms="exact")
                    self.assertIn("exact", str(frame.explain(0, 1, rows=True)))
                    frame.write(place / "frame")
                    ds.estimate(self.lines(*texts), sample=3)
                finally:
                    os.umask(before)
                self.assertEqual(out.stat().st_mode & 0o777, 0o777 & ~mask)

    def test_the_next_process_removes_what_a_killed_one_left(self) -> None:
        script = "import os, sys, dupsift; held = dupsift.dedup(['one text', 'one text'], algorithms='exact'); os.kill(os.getpid(), 9)"
        environment = {**os.environ, "TMPDIR": str(self.folder)}
        subprocess.run([sys.executable, "-c", script], env=environment, stderr=subprocess.DEVNULL)
        (left,) = self.folder.iterdir()
        self.assertRegex(left.name, r"^\.dupsift-frame-")
        self.assertEqual(left.stat().st_mode & 0o777, 0o700)
        told = subprocess.run([sys.executable, "-m", "dupsift", "clean"], env=environment, capture_output=True, text=True)
        self.assertIn(f"removed {left}", told.stdout)
        self.assertEqual(list(self.folder.iterdir()), [])
        subprocess.run([sys.executable, "-c", script], env=environment, stderr=subprocess.DEVNULL)
        again = "import dupsift; dupsift.dedup(['one text', 'one text'], algorithms='exact')"
        subprocess.run([sys.executable, "-c", again], env=environment, stderr=subprocess.DEVNULL, check=True)
        self.assertEqual(list(self.folder.iterdir()), [])


class Interrupts(Case):
    STOPPED = """
import sys, dupsift
try:
    dupsift.run(sys.argv[1], out=sys.argv[2], algorithms=sys.argv[3], threads=1, checkpoint="never", no_report=True)
except KeyboardInterrupt as stopped:
    print(f"said: {stopped}", flush=True)
"""

    def stopped(self, corpus: Path, algorithms: str, after: float) -> tuple[str, float]:
        """Stops a run after this time; returns its message and how long it took to end. Checks that nothing is left behind."""
        line = [sys.executable, "-c", self.STOPPED, str(corpus), str(self.folder / "out"), algorithms]
        with listening(line) as child:
            assert child.stdout is not None
            self.begun(child, corpus)
            time.sleep(after)
            sent = time.monotonic()
            child.send_signal(signal.SIGINT)
            said = child.stdout.readline()
            seconds = time.monotonic() - sent
            self.assertEqual(child.wait(30), 0)
        self.assertEqual(os.listdir(self.folder), [corpus.name])
        return said, seconds

    def test_ctrl_c_raises_within_two_seconds_and_leaves_nothing(self) -> None:
        corpus = self.endless()
        for after in (0.0, 1.0, 4.0):
            with self.subTest(after):
                said, seconds = self.stopped(corpus, "all", after)
                self.assertRegex(said, "^said: stop(ped|ping) (in|before)")
                self.assertLess(seconds, 2.0)

    def test_a_step_that_takes_long_is_not_waited_for(self) -> None:
        # Reading one text is one step, and so is signing it.
        corpus = self.lines("桥河市长委员会" * 4_000_000)
        said, seconds = self.stopped(corpus, "minhash", 0.2)
        self.assertRegex(said, "^said: stop(ped|ping) (in|before)")
        self.assertLess(seconds, 2.0)

    def test_another_wheel_is_another_build(self) -> None:
        corpus = self.endless()
        ours = Path(ds.__file__).parent
        changed = self.folder.parent / f"{self.folder.name}-changed"
        self.addCleanup(shutil.rmtree, changed)
        shutil.copytree(ours, changed / "dupsift")
        (library,) = (changed / "dupsift").glob("*.so")
        with library.open("ab") as file:
            file.write(b"\0")
        builds = [self.build_of_a_killed_run(corpus, path) for path in (ours.parent, ours.parent, changed)]
        self.assertEqual(builds[0], builds[1])
        self.assertNotEqual(builds[0], builds[2])

    def build_of_a_killed_run(self, corpus: Path, path: Path) -> str:
        """Returns the build in the ledger of a run with the package in this folder, after its first checkpoint."""
        script = "import sys, dupsift; dupsift.run(sys.argv[1], out=sys.argv[2], algorithms='all', checkpoint='0s', resume=False)"
        line = [sys.executable, "-c", script, str(corpus), str(self.folder / "out")]
        ledger = self.folder / ".out.dupsift-work" / "ledger.json"
        ledger.unlink(missing_ok=True)
        with subprocess.Popen(line, env={**os.environ, "PYTHONPATH": str(path)}, stderr=subprocess.DEVNULL) as child:
            until = time.monotonic() + 60
            while not ledger.exists():
                self.assertIsNone(child.poll(), "ended before a product was there")
                self.assertLess(time.monotonic(), until, "no checkpoint was saved")
                time.sleep(0.02)
            child.kill()
        build = json.loads(ledger.read_text())["ledger"]["build"]
        self.assertRegex(build, "^[0-9a-f]{32}$")
        return str(build)

    def test_the_program_stops_with_the_code_of_the_signal(self) -> None:
        corpus = self.endless()
        line = [sys.executable, "-m", "dupsift", "run", str(corpus), "--out", str(self.folder / "out"), "--algorithms", "all"]
        with listening([*line, "--checkpoint", "never"]) as child:
            self.begun(child, corpus)
            child.send_signal(signal.SIGINT)
            self.assertEqual(child.wait(30), 130)
        self.assertEqual(os.listdir(self.folder), [corpus.name])


class Costs(Case):
    def test_importing_is_cheap(self) -> None:
        script = "import time; t = time.process_time(); import dupsift; print(time.process_time() - t)"
        seconds = min(float(subprocess.check_output([sys.executable, "-c", script])) for _ in range(5))
        self.assertLess(seconds, 0.1)

    def test_nothing_else_is_imported(self) -> None:
        script = "import sys, dupsift; print([name for name in ('numpy', 'pyarrow', 'polars', 'pandas', 'tqdm') if name in sys.modules])"
        self.assertEqual(subprocess.check_output([sys.executable, "-c", script], text=True), "[]\n")


class Streams(unittest.TestCase):
    def test_what_came_before_is_reported(self) -> None:
        seen = ds.Stream("exact", keys=1_000)
        self.assertEqual(list(seen.add(["a text", "another", "a text", None, " "])), [False, False, True, False, False])
        self.assertEqual(list(seen.add(["another"])), [True])
        self.assertEqual(seen.keys, 4)
        self.assertLess(seen.false_positives, 0.001)
        with self.assertRaisesRegex(ValueError, "cannot be a key"):
            ds.Stream("simhash", keys=10)
        near = ds.Stream("minhash", keys=1_000)
        words = " ".join(f"word{at}" for at in range(200))
        self.assertEqual(list(near.add([words, words + " more", "something else is said here"])), [False, True, False])
        with self.assertRaisesRegex(ValueError, "use fewer keys"):
            ds.Stream("exact", keys=10**12, memory="1MB")
        for keys in (10**15, 2**64 - 1):
            with self.assertRaisesRegex(ValueError, "the filter needs .* use at most"):
                ds.Stream("exact", keys=keys)
            with self.assertRaisesRegex(ValueError, "use fewer keys"):
                ds.Stream("minhash", keys=keys, memory="100TiB")
        for keys in (0, -1, 2**64):
            with self.assertRaisesRegex(ValueError, "expected a whole number from 1 to"):
                ds.Stream("exact", keys=keys)
        with self.assertRaisesRegex(TypeError, "got one text"):
            seen.add("a text")


class Alone(unittest.TestCase):
    def test_one_text_and_two(self) -> None:
        one, other = ds.sign("A bridge over the river.", "exact"), ds.sign("A bridge over the river.", "exact")
        self.assertEqual(one, other)
        self.assertEqual((len(one.rows), one.reason), (1, None))
        self.assertIsNotNone(ds.sign("", "minhash").reason)
        self.assertEqual(ds.similarity("a b c d", "A, b c e!", "jaccard:words2"), 0.5)
        self.assertEqual(ds.similarity("abcd", "bcde", "jaccard:chars2"), 0.5)
        self.assertEqual((ds.similarity("", ""), ds.similarity("", "a"), ds.similarity("?", "?", "words")), (1, 0, 1))
        with self.assertRaisesRegex(ValueError, "depend on the corpus"):
            ds.sign("a text", "tf_idf")
        with self.assertRaisesRegex(ValueError, 'did you mean "jaccard"'):
            ds.similarity("a", "b", "jacard")


class Registry(unittest.TestCase):
    def test_algorithms_and_presets_are_listed(self) -> None:
        names = [one.name for one in ds.algorithms()]
        self.assertIn("minhash", names)
        minhash = next(one for one in ds.algorithms() if one.name == "minhash")
        bands = next(one for one in minhash.params if one.name == "bands")
        self.assertEqual((bands.kind, bands.low, bands.high), ("int", 1, 1000))
        self.assertEqual([one.name for one in ds.presets() if one.is_default], ["balanced"])

    def test_help_lists_the_keywords(self) -> None:
        self.assertIn("max_group: a whole number of at least 2.", ds.run.__doc__ or "")
        self.assertIn("[default: versions]", " ".join((ds.compare.__doc__ or "").split()))
        groups = re.findall(r"^([A-Z][\w ]+):$", ds.compare.__doc__ or "", re.MULTILINE)
        self.assertGreater(len(groups), 5)
        self.assertEqual(len(groups), len(set(groups)), groups)


if __name__ == "__main__":
    unittest.main()
