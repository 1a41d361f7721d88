"""Tests each kind of error: its class, and its message, which mentions keywords instead of flags."""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import os
import resource
import sys
import threading
import unittest
import warnings
from collections.abc import Iterator

import dupsift as ds
from corpora import Case

TEXT = "The bridge over the river will be repaired before the winter comes, the committee said on Tuesday. "


class Errors(Case):
    def fails(self, kind: type[BaseException], says: str, inputs: object = None, **options: object) -> BaseException:
        corpus = self.lines(TEXT, TEXT) if inputs is None else inputs
        with self.assertRaises(kind) as raised:
            ds.run(corpus, **{"out": self.folder / "out", **options})  # type: ignore[arg-type]
        told = str(raised.exception)
        self.assertRegex(told, says)
        self.assertNotIn("--", told)
        self.assertIs(type(raised.exception), kind)
        return raised.exception

    def test_keywords_and_their_values(self) -> None:
        self.fails(ValueError, 'there is no keyword "algoritms"; did you mean "algorithms"', algoritms="exact")
        self.fails(ValueError, 'there is no keyword "text"; did you mean "text_column"', text="content")
        for named in ("text", "id"):
            with self.assertRaisesRegex(ValueError, f'there is no keyword "{named}"'):
                ds.dedup(["a text"], **{named: "content"})  # type: ignore[arg-type]
        self.fails(ValueError, 'did you mean "minhash"', algorithms="minhahs")
        self.fails(ValueError, "threads.*expected a whole number from 1 to 1024", threads=0)
        self.fails(ValueError, "threads.*expected a whole number from 1 to 1024", threads=-1)
        self.fails(ValueError, "keep or remove.*did you mean", chain="remov")
        self.fails(ValueError, "both choose the algorithms", algorithms="exact", preset="strict")
        self.fails(ValueError, "chain=\"remove\".*remove_if=\"contained:", chain="remove")
        self.fails(TypeError, "threads=: expected a string, a number", threads=object())
        self.fails(TypeError, "dupsift.dedup takes frames", inputs=7)

    def test_memory(self) -> None:
        self.fails(ValueError, r"memory=.* is too small.*the minimum is", memory="1MB")

    def test_columns(self) -> None:
        self.fails(ValueError, 'text_column.*"body".*available: id, text', text_column="body")
        self.fails(ValueError, "`keep` names the column \"score\", which no input file has; available: id, text", keep="score desc")

    def test_inputs_that_are_not_there(self) -> None:
        missing = self.folder / "none.parquet"
        error = self.fails(FileNotFoundError, "none.parquet", inputs=missing)
        assert isinstance(error, OSError)
        self.assertEqual(error.filename, str(missing))

    def test_an_output_that_is_there(self) -> None:
        ds.run(self.lines(TEXT), out=self.folder / "out")
        self.fails(ValueError, "`overwrite`")

    def test_files_that_cannot_be_used(self) -> None:
        broken = self.folder / "broken.parquet"
        broken.write_bytes(b"PAR1 and nothing else")
        error = self.fails(ds.InputError, "broken.parquet", inputs=broken)
        self.assertIsInstance(error, ValueError)
        self.assertIsInstance(error, ds.Error)

    def test_rows_of_a_strict_run(self) -> None:
        self.fails(ds.InputError, "row 1.*`strict`", inputs=self.lines(TEXT, None), strict=True)

    @unittest.skipIf(os.geteuid() == 0, "root writes everywhere")
    def test_folders_that_refuse(self) -> None:
        folder = self.folder / "closed"
        folder.mkdir(mode=0o500)
        error = self.fails(PermissionError, "closed", out=folder / "out")
        assert isinstance(error, OSError)
        self.assertTrue(str(error.filename).startswith(str(folder)))

    def test_what_the_system_says(self) -> None:
        corpus = self.lines(TEXT)
        self.fails(ValueError, "corpus.jsonl is not a folder", out=corpus / "below" / "out")
        self.fails(ValueError, "a name in it is too long.*expected at most", out=self.folder / ("x" * 300))

    def test_a_disk_that_takes_no_more(self) -> None:
        corpus = self.lines(TEXT)
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_FSIZE, limits)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
        error = self.fails(OSError, "File too large", inputs=corpus, checkpoint="never")
        assert isinstance(error, OSError)
        self.assertEqual(error.errno, errno.EFBIG)
        self.assertTrue(str(error.filename).startswith(str(self.folder)))
        self.assertEqual(os.listdir(self.folder), [corpus.name])

    @unittest.skipUnless(sys.platform == "linux", "work files have no name: only Linux lists what a process has open")
    def test_work_files_that_are_damaged(self) -> None:
        corpus, over = self.endless(), threading.Event()

        def damage() -> None:
            while not over.wait(0.01):
                for file in os.listdir("/proc/self/fd"):
                    with contextlib.suppress(OSError):
                        name = os.readlink(f"/proc/self/fd/{file}")
                        if name.startswith(str(self.folder)) and "minhash-rows" in name:
                            os.pwrite(int(file), b"\xff" * 64, os.fstat(int(file)).st_size // 2)

        thread = threading.Thread(target=damage)
        thread.start()
        try:
            options = {"algorithms": "minhash:verify=none", "memory": "100MB", "threads": 1, "checkpoint": "never"}
            error = self.fails(ds.DamagedError, "minhash-rows.*is damaged.*checksum.*`work`", inputs=corpus, **options)
            self.assertIsInstance(error, ds.Error)
        finally:
            over.set()
            thread.join()
        self.assertEqual(os.listdir(self.folder), [corpus.name])

    def test_a_filter_that_is_too_full_warns_once(self) -> None:
        seen = ds.Stream("exact", keys=100)
        texts = [f"text number {n} of its own" for n in range(3_000)]
        with self.assertWarnsRegex(UserWarning, "false-positive rate is .*at least ten times rate=0.001"):
            seen.add(texts)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            seen.add(["another one"])
            ds.Stream("exact", keys=3_000).add(texts)

    def test_numbers_that_no_filter_has(self) -> None:
        for keys in (-1, 0, 2**64, 10_000_000_000_000):
            with self.subTest(keys), self.assertRaises((ValueError, MemoryError)):
                ds.Stream("exact", keys=keys, memory="1GiB")

    def test_slices_of_a_column(self) -> None:
        result = ds.run(self.lines(TEXT, TEXT, TEXT + " more", None, "other"), out=self.folder / "out", max_rejected_share=1)
        for column in (result.kept_mask, result.kept_rows):
            values = list(column)
            for part in (slice(None), slice(1, 3), slice(None, None, -1), slice(-2, None), slice(5, 1), slice(0, 9, 2)):
                with self.subTest(part):
                    self.assertEqual(list(column[part]), values[part])
                    self.assertEqual(column[part].dtype, column.dtype)
        with self.assertRaises(TypeError):
            result.kept_mask["a"]  # type: ignore[call-overload]

    @unittest.skipIf(importlib.util.find_spec("pyarrow") is None, "not installed: pyarrow")
    def test_a_request_to_stop_in_the_rows_of_a_frame(self) -> None:
        import pyarrow as pa

        def rows(error: BaseException) -> Iterator[pa.RecordBatch]:
            yield pa.record_batch({"text": ["one text"]})
            raise error

        def reader(error: BaseException) -> pa.RecordBatchReader:
            return pa.RecordBatchReader.from_batches(pa.schema({"text": pa.string()}), rows(error))

        for call in (ds.dedup, ds.Stream("exact", keys=10).add):
            with self.assertRaises(KeyboardInterrupt):
                call(reader(KeyboardInterrupt()))
            with self.assertRaisesRegex(ds.Error, "no more rows"):
                call(reader(RuntimeError("no more rows")))

    def test_results(self) -> None:
        with self.assertRaisesRegex(ValueError, "not the output of a finished run"):
            ds.open(self.folder)
        result = ds.run(self.lines(TEXT), out=self.folder / "out")
        (result.path / "run.json").write_text("{}")
        with self.assertRaisesRegex(ds.InputError, "run.json"):
            ds.open(result.path)

    def test_records_name_keywords(self) -> None:
        from dupsift._options import spelled

        self.assertEqual(spelled("more than `max-removed-share`, `dry-run`, `threads`"), "more than `max_removed_share`, `dry-run`, `threads`")
        self.assertEqual(spelled("see `remove-if=at-least:2`"), "see `remove_if=at-least:2`")

    def test_a_result_that_is_held_back(self) -> None:
        out = self.folder / "out"
        ds.run(self.lines(*(f"{TEXT}{row}" for row in range(20))), out=out)
        broken = self.lines(*(f"{TEXT}{row}" for row in range(4)), *[None] * 16)
        rows = broken.read_text().replace("null", "3")
        broken.write_text(rows)
        with self.assertWarnsRegex(UserWarning, "held back .*`max_rejected_share`"):
            result = ds.run(broken, out=out, overwrite=True, max_rejected_share=0.1)
        self.assertTrue(result.held)
        self.assertNotEqual(result.path, out)
        self.assertEqual(ds.open(out).report["documents"]["used"], 20)
        accepted = ds.open(ds.accept(result, reason="a new crawler"))
        self.assertEqual((accepted.path, accepted.held), (out, False))
        self.assertEqual(accepted.report["accepted"]["reason"], "a new crawler")
        self.assertEqual(ds.accept(f"{out}.held"), out)
        with self.assertRaisesRegex(ValueError, "out"):
            ds.reject(out)

    def test_a_result_that_is_rejected(self) -> None:
        index = self.folder / "index"
        good = self.lines(*(f"{TEXT}{row}" for row in range(20)))
        ds.run(good, out=self.folder / "first", index=index, no_report=True)
        out = self.folder / "out"
        ds.run(good, out=out, no_report=True)
        broken = self.lines(*(f"{TEXT}{row}" for row in range(4)), *[None] * 16)
        broken.write_text(broken.read_text().replace("null", "3"))
        options = {"out": out, "overwrite": True, "max_rejected_share": 0.1, "no_report": True}
        for more, answer in [({}, None), ({"index": index}, True)]:
            with self.assertWarnsRegex(UserWarning, "held back"):
                result = ds.run(broken, **options, **more)  # type: ignore[arg-type]
            self.assertEqual(ds.reject(result), answer)
            self.assertFalse(result.path.exists())


if __name__ == "__main__":
    unittest.main()
