"""Tests the results of frames: tables, masks, filtering, writing, and opening the results again.

Each library is tested if it is installed.
"""

from __future__ import annotations

import json
import unittest
from typing import Any

import dupsift as ds
from corpora import program
from frame_case import COLUMNS, IDS, KEPT, TEXTS, FrameCase, needs


class FrameResults(FrameCase):
    @needs("datasets", "polars", "duckdb", "pyarrow")
    def test_the_cleaned_corpus_is_read(self) -> None:
        import datasets
        import duckdb
        import polars as pl
        import pyarrow as pa
        import pyarrow.parquet as pq

        nested = [{"tags": ["a", "b"][:row], "at": {"host": f"h{row}"}} for row in range(len(TEXTS))]
        table = pa.table(COLUMNS | {"meta": nested})
        corpus = self.folder / "corpus"
        corpus.mkdir()
        # The first three rows are in one file, and all rows are in a second file, so that rows are removed from both files.
        pq.write_table(table.slice(0, 3), corpus / "a.parquet")
        pq.write_table(table, corpus / "b.parquet", row_group_size=2)
        lines = ({"body": text, "url": name} for text, name in zip(TEXTS, IDS) if text is not None)
        (corpus / "c.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        out = self.folder / "out"
        options: Any = {"text_column": "body", "id_column": "url", "algorithms": "exact", "corpus": "keep"}
        ds.run(corpus, out, no_report=True, max_rejected_share=1, **options)
        files = sorted(map(str, (out / "deduped").glob("*.parquet")))
        stays = [(IDS[0], nested[0]), (IDS[1], nested[1]), (IDS[4], nested[4])]
        cache = str(self.folder / "cache")
        loaded = datasets.load_dataset("parquet", data_files=files, split="train", cache_dir=cache)
        self.assertEqual([(row["url"], row["meta"]) for row in loaded], stays)
        self.assertEqual(pl.read_parquet(files).select("url", "meta").rows(), stays)
        rows = duckdb.execute("select url, meta from read_parquet(?)", [files]).fetchall()
        self.assertEqual(rows, stays)
        # No line is kept, because the earlier files have the same texts.
        self.assertFalse((out / "deduped" / "c.jsonl").exists())
        # Runs over the JSON lines file alone.
        again = self.folder / "again"
        ds.run(corpus / "c.jsonl", again, no_report=True, **options)
        kept = str(again / "deduped" / "c.jsonl")
        loaded = datasets.load_dataset("json", data_files=kept, split="train", cache_dir=cache)
        self.assertEqual(loaded["url"][:], ["u0", "u1", "u4"])
        self.assertEqual(pl.read_ndjson(kept)["url"].to_list(), ["u0", "u1", "u4"])
        self.assertEqual(duckdb.execute("select url from read_json(?)", [kept]).fetchall(), [("u0",), ("u1",), ("u4",)])

    @needs("pyarrow")
    def test_tables_and_streams_keep_what_they_read(self) -> None:
        import gc
        import os

        import pyarrow as pa

        def pairs() -> ds.Table:
            return ds.dedup(pa.table(COLUMNS), text_column="body", id_column="url", algorithms="exact", no_report=True).pairs()

        table = pairs()
        gc.collect()
        self.assertEqual((len(table), table.to_arrow()["id_a"].to_pylist()), (2, ["u0", "u1"]))
        path = table.paths[0]
        stream = pa.RecordBatchReader.from_stream(table)
        rows = iter(table)
        del table
        gc.collect()
        self.assertEqual(stream.read_all().num_rows, 2)
        self.assertEqual([row["id_b"] for row in rows], ["u2", "u5"])
        del stream, rows
        gc.collect()
        self.assertFalse(os.path.exists(path))
        self.assertEqual([row["id_a"] for row in pairs()], ["u0", "u1"])
        self.assertEqual(pa.table(pairs()).num_rows, 2)

    @needs("pyarrow")
    def test_a_child_process_leaves_the_result_of_its_parent(self) -> None:
        import os

        import pyarrow as pa

        result = self.check(pa.table(COLUMNS))
        child = os.fork()
        if child == 0:
            rows = len(result.pairs())
            # Deletes the last reference in this process.
            del result
            os._exit(0 if rows == 2 else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual((len(result.removed()), len(list(result.pairs()))), (2, 2))

    @needs("pyarrow", "polars")
    def test_a_table_of_a_folder_that_is_gone_is_an_error(self) -> None:
        import shutil

        import polars as pl
        import pyarrow as pa

        out = self.folder / "out"
        result = ds.dedup(pa.table(COLUMNS), text_column="body", out=out, algorithms="exact", no_report=True)
        pairs, removed, rows = result.pairs(), result.removed(), iter(result.removed())
        shutil.rmtree(out)
        calls = [result.removed, result.rejected, result.passages, result.pairs, lambda: result.kept_mask, lambda: result.filter(pa.table(COLUMNS))]
        calls += [lambda: result.explain(0, 2, rows=True), lambda: result.apply(remove_if="pair"), lambda: result.write()]
        # Tables that were requested before are read from their files, too.
        calls += [lambda: list(pairs), lambda: pl.DataFrame(removed), removed.to_arrow, pairs.to_polars, removed._repr_html_]
        for call in calls:
            with self.assertRaisesRegex(FileNotFoundError, "the output folder no longer exists") as raised:
                call()
            self.assertEqual(raised.exception.filename, str(out))
        self.assertEqual((len(removed), pairs.columns[0]), (2, "id_a"))
        with self.assertRaises(FileNotFoundError):
            next(rows)

    @needs("pyarrow", "polars", "pandas", "duckdb", "datasets")
    def test_a_frame_without_its_removed_rows_is_of_its_kind(self) -> None:
        import datasets
        import duckdb
        import pandas as pd
        import polars as pl
        import pyarrow as pa

        table = pa.table(COLUMNS)
        result = self.check(table)
        stays = ["u0", "u1", "u3", "u4"]
        self.assertEqual(result.filter(table)["url"].to_pylist(), stays)
        self.assertEqual(result.filter(table.to_batches()[0])["url"].to_pylist(), stays)
        self.assertEqual(result.filter(pl.DataFrame(COLUMNS))["url"].to_list(), stays)
        frame = pd.DataFrame(COLUMNS, index=list("fedcba"))
        self.assertEqual(list(result.filter(frame)["url"]), stays)
        relation = result.filter(duckdb.connect().from_arrow(table))
        self.assertEqual([row[0] for row in relation.project("url").fetchall()], stays)
        self.assertEqual(result.filter(datasets.Dataset.from_dict(COLUMNS))["url"][:], stays)
        self.assertEqual(result.apply(remove_if="pair").filter(table)["url"].to_pylist(), stays)
        with self.assertRaisesRegex(ValueError, "it has 5 rows, and the run had 6"):
            result.filter(table[:5])
        with self.assertRaisesRegex(ValueError, "it has 2 rows, and the run had 6"):
            result.filter([1, 2])
        with self.assertRaisesRegex(TypeError, "got builtins.dict"):
            result.filter({})

    @needs("pyarrow", "polars", "pandas", "duckdb", "datasets")
    def test_a_frame_with_its_rows_in_another_order_is_refused(self) -> None:
        import datasets
        import duckdb
        import numpy as np
        import pandas as pd
        import polars as pl
        import pyarrow as pa

        frame, order = pl.DataFrame(COLUMNS), [0, 1, 3, 2, 4, 5]
        moved = {name: [values[row] for row in order] for name, values in COLUMNS.items()}
        out = self.folder / "out"
        result = self.check(frame, out=out)
        table = pa.table(moved)
        others = [pl.DataFrame(moved), pd.DataFrame(moved), table, table.to_batches()[0], duckdb.from_arrow(table), datasets.Dataset.from_dict(moved)]
        opened = ds.open(out)
        assert isinstance(opened, ds.Result)
        for other in others:
            for rows in (result, result.apply(remove_if="pair"), opened):
                with self.subTest(type(other)), self.assertRaisesRegex(ValueError, "row 2 has the url 'u3', and the run had 'u2' there; .*order"):
                    rows.filter(other)
        # The texts may change, because the ids are the same. The documents that were kept instead are also compared by id.
        self.assertEqual(result.filter(frame.with_columns(body=pl.lit("x")))["url"].to_list(), ["u0", "u1", "u3", "u4"])
        with self.assertRaisesRegex(ValueError, "row 0 has the url None, and the run had 'u0' there"):
            result.filter(frame.with_columns(url=pl.Series([None, *IDS[1:]])))
        # Without ids, the texts are compared.
        plain = ds.dedup(frame, text_column="body", algorithms="exact", no_report=True)
        for other in others:
            with self.subTest(type(other)), self.assertRaisesRegex(ValueError, "row 2 has a different text than the run read there"):
                plain.filter(other)
        self.assertEqual(plain.filter(frame.drop("body"))["url"].to_list(), ["u0", "u1", "u3", "u4"])
        texts = ds.dedup(TEXTS, algorithms="exact", no_report=True)
        turned: list[Any] = [moved["body"], tuple(moved["body"]), pl.Series(moved["body"]), pd.Series(moved["body"]), pa.array(moved["body"])]
        for other in [*turned, np.array(moved["body"], dtype=object)]:
            with self.subTest(type(other)), self.assertRaisesRegex(ValueError, "row 2 has a different text"):
                texts.filter(other)
        # Rows without an id are named FILE#ROW; other ids are integers, bytes, or missing.
        for ids in ([None, "b", None, "d", "e", "frame.parquet#9"], [7, 8, 9, 10, 11, 12], [2**63, 1, 2, 3, 4, 5], [b"a\xff", b"b", b"c", b"d", b"e", b"f"], [None] * 6):
            rows = {"text": TEXTS, "id": ids}
            for made in (pl.DataFrame(rows, strict=False), pd.DataFrame(rows), pl.DataFrame(rows, strict=False).to_arrow()):
                with self.subTest(f"{type(made)} {ids}"):
                    self.assertEqual(len(ds.dedup(made, algorithms="exact", no_report=True).filter(made)), 4)

    @needs("pyarrow", "polars", "pandas", "duckdb", "datasets")
    def test_rows_in_another_order_are_noticed_wherever_they_are(self) -> None:
        import datasets
        import duckdb
        import pandas as pd
        import polars as pl
        import pyarrow as pa

        texts: list[str | None] = [f"text number {row} of a long frame" for row in range(25_000)]
        texts[7], texts[12_345] = texts[3], None
        turned = [*texts[:-2], texts[-1], texts[-2]]
        frame, rows = pl.DataFrame({"text": texts}), {"text": turned}
        plain = ds.dedup(frame, algorithms="exact", no_report=True)
        table = pa.table(rows)
        for other in (pl.DataFrame(rows), pd.DataFrame(rows), table, duckdb.from_arrow(table), datasets.Dataset.from_dict(rows)):
            with self.subTest(type(other)), self.assertRaisesRegex(ValueError, "row 24998 has a different text than the run read there"):
                plain.filter(other)
        self.assertEqual(len(plain.filter(frame)), 24_999)
        listed = ds.dedup(texts, algorithms="exact", no_report=True)
        for given in (turned, tuple(turned), pd.Series(turned)):
            with self.subTest(type(given)), self.assertRaisesRegex(ValueError, "row 24998 has a different text"):
                listed.filter(given)
        self.assertEqual(len(listed.filter(texts)), 24_999)

    @needs("polars")
    def test_the_order_is_checked_after_a_run_against_earlier_documents(self) -> None:
        import polars as pl

        frame = pl.DataFrame(COLUMNS)
        turned = frame[[0, 1, 3, 2, 4, 5]]
        for options in ({"index": self.folder / "index"}, {"reference": frame[:1].with_columns(url=pl.lit("u9"))}):
            for batch in ("first", "second"):
                named: dict[str, Any] = {**options, "batch": batch} if "index" in options else options
                result = ds.dedup(frame, text_column="body", id_column="url", algorithms="exact", no_report=True, accept=True, **named)
                self.assertEqual(len(result.filter(frame)), sum(result.kept_mask))
                with self.assertRaisesRegex(ValueError, "and the run had"):
                    result.filter(turned)

    @needs("polars", "pandas", "pyarrow")
    def test_a_result_of_a_frame_is_opened_with_the_frame(self) -> None:
        import pandas as pd
        import polars as pl

        frame, out = pl.DataFrame(COLUMNS), self.folder / "out"
        truth = pl.DataFrame({"id_a": ["u0"], "id_b": ["u2"]})
        self.check(frame, out=out, keep="length desc")
        lost = ds.open(out)
        # Data in the folder can be read without the frame.
        self.assertEqual((list(lost.kept_mask), len(lost.pairs())), (KEPT, 2))
        self.assertEqual(lost.filter(frame)["url"].to_list(), ["u0", "u1", "u3", "u4"])
        for needs_it in (lambda: lost.explain("u0", "u2"), lambda: lost.apply(remove_if="pair"), lambda: lost.write(corpus="annotate"), lambda: ds.evaluate(lost, truth)):
            with self.assertRaisesRegex(ValueError, r"a data frame, which was not saved; in Python, pass the frame: dupsift.open\(.*, input=frame\)"):
                needs_it()
        # The frame of another library has the same rows.
        for again in (frame, pl.concat([frame[:2], frame[2:]], rechunk=False), pd.DataFrame(COLUMNS)):
            result = ds.open(out, input=again)
            assert isinstance(result, ds.Result)
            self.assertTrue(result.explain("u0", "u2").record["exact_copies"])
            self.assertEqual(list(result.apply(remove_if="pair").kept_mask), KEPT)
            self.assertIn("precision", str(ds.evaluate(result, truth)))
            with self.assertRaisesRegex(ValueError, "not read: 'other'"):
                result.write(self.folder / "clean")
        narrow = ds.open(out, input=frame.select("body", "url"))
        assert isinstance(narrow, ds.Result)
        rows = pl.read_parquet(narrow.write(self.folder / "clean") / "deduped" / "*.parquet")
        self.assertEqual(rows["url"].to_list(), ["u0", "u1", "u4"])
        for wrong, says in [
            (frame[:5], "the frame has 5 rows, and the run read 6"),
            (frame.with_columns(body=pl.col("body").reverse()), "the frame has different values than the frame that the run read"),
            (frame.rename({"body": "text"}), "no such column"),
        ]:
            with self.assertRaisesRegex(ValueError, says):
                ds.open(out, input=wrong)
        with self.assertRaisesRegex(TypeError, r"pass a frame to dupsift.open\(folder, input=frame\)"):
            lost.explain("u0", input=frame)  # type: ignore[arg-type]
        with self.assertRaisesRegex(TypeError, r"input: expected a path, got DataFrame; pass a frame to dupsift.open\(folder, input=frame\)"):
            ds.evaluate(out, truth, input=frame)  # type: ignore[arg-type]
        del result, narrow
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["clean", "out"])
        # All columns were read for this result, so all of them are written.
        self.check(frame, out=self.folder / "whole", corpus="drop")
        whole = ds.open(self.folder / "whole", input=frame)
        assert isinstance(whole, ds.Result)
        rows = pl.read_parquet(whole.write(self.folder / "again") / "deduped" / "*.parquet")
        self.assertEqual((rows["other"].to_list(), rows.columns), ([0, 1, 4], list(COLUMNS)))
        # Tests texts, several columns, and the files of a corpus that was moved.
        ds.dedup(TEXTS, out=self.folder / "texts", algorithms="exact", no_report=True)
        self.assertTrue(ds.open(self.folder / "texts", input=pl.Series(TEXTS)).explain(0, 2, rows=True).record["exact_copies"])
        two = pl.DataFrame({"a": ["x", "y", "x"], "b": ["one text", "one text", "one text"]})
        ds.dedup(two, text_column=["a", "b"], out=self.folder / "two", algorithms="exact", no_report=True)
        self.assertTrue(ds.open(self.folder / "two", input=two).explain(0, 2, rows=True).record["exact_copies"])
        corpus = self.lines(*TEXTS)
        ds.run(corpus, self.folder / "files", algorithms="exact", no_report=True)
        moved = corpus.rename(self.folder / "moved.jsonl")
        self.assertTrue(ds.open(self.folder / "files", input=moved).explain("d0", "d2").record["exact_copies"])
        with self.assertRaisesRegex(ValueError, "the result of files, not of a frame"):
            ds.open(self.folder / "files", input=frame)

    @needs("polars", "pyarrow")
    def test_no_column_is_lost_when_a_result_of_a_frame_is_written(self) -> None:
        import polars as pl

        frame = pl.DataFrame(COLUMNS)
        result = self.check(frame)
        for write in (result.write, result.apply(remove_if="pair").write):
            with self.assertRaisesRegex(ValueError, r"not read: 'other'\); use result.filter\(frame\) to filter the frame itself"):
                write(self.folder / "clean")
        # While the frame's temporary file exists, the result that is opened from the folder raises the same error.
        live = self.check(frame, out=self.folder / "live")
        opened = ds.open(self.folder / "live")
        assert isinstance(opened, ds.Result)
        for write in (opened.write, opened.apply(remove_if="pair").write):
            with self.assertRaisesRegex(ValueError, r'not read: "other"\); use result.filter\(frame\) in Python to filter the frame itself'):
                write(self.folder / "clean")
        typed = program("apply", live.path, "--corpus", "drop", "--out", self.folder / "clean")
        self.assertEqual(typed.returncode, 2, typed.stderr)
        self.assertIn('not read: "other"', typed.stderr)
        self.assertFalse((self.folder / "clean").exists())
        opened.write(self.folder / "attributes", corpus="annotate")
        whole = self.check(frame, corpus="keep")
        clean = whole.write(self.folder / "clean")
        rows = pl.read_parquet(clean / "deduped" / "*.parquet")
        self.assertEqual((rows["url"].to_list(), set(rows.columns)), (["u0", "u1", "u4"], set(COLUMNS)))
        columns = pl.read_parquet(whole.apply(remove_if="pair").write(self.folder / "more", add=["cluster_size", "copies"]) / "deduped" / "*.parquet").columns
        self.assertEqual(set(columns) - set(COLUMNS), {"cluster_size", "copies"})
        # A frame without other columns is written unchanged.
        self.check(frame.select("body", "url")).write(self.folder / "narrow")

    def test_a_sample_does_not_say_which_rows_are_kept(self) -> None:
        result = ds.dedup(TEXTS, sample=4, algorithms="exact", out=self.folder / "out", no_report=True, max_rejected_share=1)
        says = r"the run read only a sample of the corpus \(`sample=.*4.*`\), so most rows are neither kept nor removed; run again without `sample`"
        calls = [lambda: result.kept_mask, lambda: result.kept_rows, lambda: result.filter(TEXTS), result.write, lambda: result.apply(remove_if="pair")]
        for call in calls:
            with self.assertRaisesRegex(ValueError, says):
                call()
        self.assertEqual((result.rows, len(result.rejected())), (6, 1 if result.report["documents"]["rejected"] else 0))
        # The estimate for the complete corpus is shown even if the folder is not shown.
        told = str(ds.dedup(TEXTS, sample=4, algorithms="exact", no_report=True, max_rejected_share=1))
        self.assertIn("whole corpus: about ", told)
        self.assertNotIn("output: ", told)

    def test_a_limit_reads_the_first_rows(self) -> None:
        result = ds.dedup(TEXTS, limit=3, algorithms="exact", no_report=True)
        self.assertEqual((list(result.kept_mask), result.rows), (KEPT[:3], 3))
        self.assertEqual(list(result.apply(remove_if="pair").kept_mask), KEPT[:3])
        self.assertEqual(result.filter(TEXTS[:3]), TEXTS[:2])
        with self.assertRaisesRegex(ValueError, "it has 6 rows, and the run had 3; expected its first 3 rows, because the run had limit=3"):
            result.filter(TEXTS)
        with self.assertRaisesRegex(ValueError, "it has 2 rows, and the run had 3; expected the frame that was passed"):
            result.filter(TEXTS[:2])

    @needs("datasets", "polars", "pandas", "pyarrow", "duckdb")
    def test_readers_know_the_algorithm_of_a_pair(self) -> None:
        import datasets
        import duckdb
        import pandas as pd
        import polars as pl
        import pyarrow.parquet as pq

        out, cache = self.folder / "out", str(self.folder / "cache")
        result = ds.dedup(TEXTS, out=out, algorithms="exact,minhash", no_report=True)
        pairs = datasets.load_dataset(str(out), "pairs", cache_dir=cache)
        self.assertEqual({name: len(pairs[name]) for name in pairs}, {"exact": 2, "minhash": 2})
        for name, rows in [("removed", 2), ("rejected", 1)]:
            self.assertEqual(datasets.load_dataset(str(out), name, split="train", cache_dir=cache).num_rows, rows)
        self.assertEqual(set(datasets.load_dataset(str(out), "clusters", cache_dir=cache)), {"exact", "minhash"})
        folder = str(out / "pairs")
        both = ["exact", "exact", "minhash", "minhash"]
        self.assertEqual(sorted(pl.read_parquet(folder)["algorithm"]), both)
        self.assertEqual(sorted(pd.read_parquet(folder)["algorithm"]), both)
        self.assertEqual(sorted(pq.read_table(folder)["algorithm"].to_pylist()), both)
        self.assertEqual(sorted(row[0] for row in duckdb.execute(f"select algorithm from '{folder}/*/*.parquet'").fetchall()), both)
        self.assertIn("algorithm", result.pairs().columns)

    @needs("polars")
    def test_labels_are_a_frame(self) -> None:
        import polars as pl

        result = ds.dedup(pl.DataFrame(COLUMNS), text_column="body", id_column="url", algorithms="exact", no_report=True)
        pairs = ds.evaluate(result, pl.DataFrame({"id_a": ["u0"], "id_b": ["u2"], "note": ["same"]}))
        figures = pairs.record["algorithms"][0]
        clusters = ds.evaluate(result, pl.DataFrame({"id": IDS[:3] + IDS[4:], "cluster": [1, 2, 1, 3, 2]}))
        self.assertIn("precision", str(clusters))
        self.assertNotEqual(figures, clusters.record["algorithms"][0])
        with self.assertRaisesRegex(ValueError, "available: a"):
            ds.evaluate(result, pl.DataFrame({"a": ["u0"]}))

    @needs("polars")
    def test_a_notebook_shows_rows_and_marks(self) -> None:
        import polars as pl

        texts = [f"text {row}" for row in range(12)] * 2
        ids = ["<b>", "a\u202eb", "x" * 200] + [f"d{row}" for row in range(21)]
        result = ds.dedup(pl.DataFrame({"text": texts, "id": ids}), algorithms="exact", no_report=True)
        shown = result.pairs()._repr_html_()
        self.assertEqual(shown.count("<tr>"), 11)
        self.assertIn("12 rows, the first 10 are shown", shown)
        self.assertIn("&lt;b&gt;", shown)
        self.assertIn("a\ufffdb", shown)
        self.assertIn("x" * 100 + "…<", shown)
        self.assertTrue(result.rejected()._repr_html_().endswith("<p>0 rows</p>"))
        day, night = (f"The cat sleeps on the <window> all {time} long, and nobody minds. It eats at noon." for time in ("day", "night"))
        result = ds.dedup([day, night, "Something else."], algorithms="minhash:threshold=0.5", remove_if="pair", no_report=True)
        marked = result.explain(0, 1, rows=True)._repr_html_()
        self.assertIn("<del>day</del>", marked)
        self.assertIn("<ins>night</ins>", marked)
        self.assertIn("&lt;window&gt;", marked)
        self.assertNotIn("<window>", marked)

    @needs("pyarrow")
    def test_columns_are_arrays(self) -> None:
        import pyarrow as pa

        result = self.check(pa.table(COLUMNS))
        mask, rows = result.kept_mask, result.kept_rows
        self.assertEqual(list(mask[1:4]), KEPT[1:4])
        self.assertEqual(list(mask[::-2]), KEPT[::-2])
        self.assertEqual((list(rows[-2:]), len(rows[9:])), ([3, 4], 0))
        self.assertEqual(list((~mask).rows()), [2, 5])
        self.assertEqual(list(mask & ~mask), [False] * 6)
        self.assertEqual(((mask | ~mask).sum(), (mask ^ mask).sum()), (6, 0))
        self.assertEqual(list(rows == 3), [False, False, True, False])
        self.assertEqual(list(rows >= [0, 2, 2, 5]), [True, False, True, False])
        self.assertEqual((mask.tolist(), rows.tolist(), rows[9:].tolist()), (KEPT, [0, 1, 3, 4], []))
        self.assertEqual(list(mask == True), KEPT)  # noqa: E712
        self.assertEqual((mask != KEPT).sum(), 0)
        for wrong, kind in [(lambda: ~rows, TypeError), (lambda: bool(mask), ValueError), (lambda: mask == KEPT[:2], ValueError), (lambda: rows < "x", (TypeError, ValueError))]:
            with self.assertRaises(kind):
                wrong()
        with self.assertRaises(IndexError):
            mask[6]

    @needs("pyarrow")
    def test_written_columns_are_in_the_order_of_the_frame(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet

        for names in (["url", "body"], ["body", "url"]):
            table = pa.table({name: COLUMNS[name] for name in names})
            written: list[dict[str, Any]] = [{}, {"corpus": "keep"}]
            for options in written:
                result = ds.dedup(table, text_column="body", id_column="url", algorithms="exact", no_report=True, **options)
                out = result.path if options else result.write(self.folder / "-".join(names))
                self.assertEqual(pyarrow.parquet.read_schema(out / "deduped" / "frame.parquet").names, names)

    @needs("pyarrow")
    def test_labels_of_a_frame(self) -> None:
        import pyarrow as pa

        table = pa.table({"id": ["a", "b", "c", "d"], "text": ["one text"] * 2 + ["other text"] * 2})
        result = ds.dedup(table, algorithms="exact", no_report=True)
        ids = {"id_a": ["a", "c", "a"], "id_b": ["b", "d", "c"]}
        for labels in ([True, False, None], [1.0, 0.0, None], ["yes", "no", "unsure"], [1, 0, 0]):
            record = ds.evaluate(result, pa.table({**ids, "is_duplicate": labels, "note": ["x"] * 3})).record
            self.assertEqual((record["truth"]["pairs"], record["algorithms"][0]["pairwise"]["precision"]), (1, 0.5), labels)
            self.assertIn("columns of the truth that are not read: note", record["warnings"])
        with self.assertRaisesRegex(ValueError, 'row 1 has the label "maybe"; expected 1, true'):
            ds.evaluate(result, pa.table({**ids, "label": ["yes", "maybe", ""]}))

    @needs("pyarrow")
    def test_folders(self) -> None:
        import pyarrow as pa

        table = pa.table(COLUMNS)
        out = self.folder / "out"
        result = ds.dedup(table, text_column="body", id_column="url", out=out, keep="other desc", algorithms="exact", no_report=True)
        # The later documents are kept.
        self.assertEqual(list(result.kept_rows), [2, 3, 4, 5])
        self.assertEqual(sorted(path.name for path in self.folder.iterdir())[-1], "out")
        self.assertTrue(ds.open(self.folder / "out").report["removal"]["keep"].startswith("other desc"))
        explained = result.explain("u0", "u2")
        self.assertTrue(explained.record["exact_copies"])
        self.assertTrue(repr(explained).startswith("<dupsift.Explanation: a and b are exact copies;"), repr(explained))
        del result
        self.assertEqual([path.name for path in self.folder.iterdir()], ["out"])


if __name__ == "__main__":
    unittest.main()
