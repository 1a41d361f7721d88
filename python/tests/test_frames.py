"""Frames of other libraries as inputs, and tables as outputs. Each library is tested if it is installed."""

from __future__ import annotations

import importlib.util
import json
import unittest
from typing import Any

import dupsift as ds
from corpora import Case, program

TEXTS = [
    "The committee met on Tuesday and agreed that the bridge over the river will be repaired before the winter comes.",
    "委员会周二开会，同意在冬天到来之前修好河上的桥，并且请市长在三月之前报告花了多少钱。",
    "The committee met on Tuesday and agreed that the bridge over the river will be repaired before the winter comes.",
    None,
    "Комитет собрался во вторник и решил, что мост через реку починят до наступления зимы, а мэр доложит о расходах в марте.",
    "委员会周二开会，同意在冬天到来之前修好河上的桥，并且请市长在三月之前报告花了多少钱。",
]
IDS = [f"u{row}" for row in range(len(TEXTS))]
KEPT = [True, True, False, True, True, False]
COLUMNS = {"body": TEXTS, "url": IDS, "other": list(range(len(TEXTS)))}


def needs(*names: str) -> Any:
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


class Frames(Case):
    def check(self, frame: object, **options: Any) -> ds.Result:
        result = ds.dedup(frame, text="body", id="url", algorithms="exact", no_report=True, **options)
        self.assertEqual(list(result.kept_mask), KEPT)
        self.assertEqual(list(result.kept_rows), [0, 1, 3, 4])
        self.assertEqual((len(result.removed()), len(result.rejected())), (2, 1))
        return result

    @needs("pyarrow")
    def test_several_columns_make_one_text(self) -> None:
        import pyarrow as pa

        table = pa.table({"title": ["A", "B", "A", None], "body": ["one text", "one text", "one text", "one text"]})
        for text in ["title,body", ["title", "body"]]:
            result = ds.dedup(table, text=text, algorithms="exact", no_report=True)
            self.assertEqual(list(result.kept_mask), [True, True, False, True])
        whole = table.append_column("title,body", pa.array(["x", "x", "y", "z"]))
        result = ds.dedup(whole, text="title,body", algorithms="exact", no_report=True)
        self.assertEqual(list(result.kept_mask), [True, False, True, True])
        with self.assertRaisesRegex(ValueError, "no such column"):
            ds.dedup(table, text="titel,body", algorithms="exact")

    @needs("pyarrow", "polars", "pandas", "duckdb")
    def test_lists_of_paragraphs_and_messages_are_texts(self) -> None:
        import duckdb
        import pandas as pd
        import polars as pl
        import pyarrow as pa

        one, two = "The committee met on Tuesday.", "The bridge will be repaired."
        paragraphs = [[one, None, two], [one, "", two], [two, one], [], None]
        message = lambda text, role="user": {"role": role, "content": text}
        messages = [[message(one), message(two, "assistant")], [message(one, "system"), message(two)], [message(two)], [], None]
        for name, lists in [("paragraphs", paragraphs), ("messages", messages)]:
            rows = {"id": list(range(5)), name: lists}
            table = pa.table(rows)
            large = table.set_column(1, name, table[name].cast(pa.large_list(table[name].type.value_type)))
            frames = [table, large, pl.DataFrame(rows), pl.from_arrow(table), pd.DataFrame(rows), duckdb.sql("select * from large")]
            for frame in frames:
                with self.subTest(f"{name} of {type(frame)}"):
                    result = ds.dedup(frame, text=name, algorithms="exact", no_report=True)
                    self.assertEqual(list(result.kept_mask), [True, False, True, True, True])
                    self.assertEqual([row["reason"] for row in result.rejected()], ["null text"])
                    self.assertEqual(list(ds.Stream("exact", keys=100).add(frame, text=name)), [False, True, False, False, False])
            # The copy of the corpus has the lists unchanged.
            kept = ds.dedup(table, text=name, algorithms="exact", no_report=True, corpus="keep")
            copy = pl.read_parquet(kept.path / "deduped" / "frame.parquet")
            self.assertEqual(copy[name].to_list(), table[name].to_pylist()[:1] + table[name].to_pylist()[2:4])
        numbers = pa.table({"id": [1], "text": [[1, 2]]})
        with self.assertRaisesRegex(ValueError, "List"):
            ds.Stream("exact", keys=100).add(numbers)

    @needs("pyarrow")
    def test_pyarrow(self) -> None:
        import pyarrow as pa

        table = pa.table(COLUMNS)
        result = self.check(table)
        self.check(table.to_reader(max_chunksize=2))
        self.check(table.to_batches()[0])
        self.check(table.set_column(0, "body", table["body"].dictionary_encode()))
        self.check(table.set_column(0, "body", table["body"].cast(pa.large_string())))
        self.check(table.set_column(0, "body", table["body"].cast(pa.string_view())))
        kept = table.filter(pa.array(result.kept_mask))
        self.assertEqual(kept["url"].to_pylist(), ["u0", "u1", "u3", "u4"])
        self.assertEqual(table.take(pa.array(result.kept_rows)), kept)
        self.assertEqual(result.removed().to_arrow()["id"].to_pylist(), ["u2", "u5"])
        self.assertEqual(pa.table(result.pairs())["algorithm"].to_pylist(), ["exact", "exact"])
        self.assertEqual(pa.schema(result.pairs()), pa.table(result.pairs()).schema)
        self.assertEqual(pa.array(result.kept_rows).type, pa.int64())

    @needs("pyarrow")
    def test_a_string_that_is_not_utf8_costs_its_row_or_its_value(self) -> None:
        import pyarrow as pa

        def strings(values: list[bytes], kind: Any) -> Any:
            size = pa.large_binary() if kind == pa.large_string() else pa.binary()
            array = pa.array(values, size)
            return pa.Array.from_buffers(kind, len(array), array.buffers())

        texts = [b"one text", b"caf\xe9 au lait", b"one text", b"one \xc3", b"\xa9 text"]
        urls = [b"http://x/9", b"http://x/1", b"http://x/\xff", b"http://x/2", b"http://x/3"]
        for kind in [pa.string(), pa.large_string()]:
            table = pa.table({"text": strings(texts, kind), "url": strings(urls, kind), "id": range(5)})
            result = ds.dedup(table, keep="url desc", algorithms="exact", no_report=True, max_rejected_share=1)
            self.assertEqual(list(result.kept_mask), [True, True, False, True, True])
            self.assertEqual(
                [(row["row"], row["reason"]) for row in result.rejected()], [(1, "not UTF-8"), (3, "not UTF-8"), (4, "not UTF-8")]
            )
            self.assertTrue(any('"url": 1 value is not UTF-8' in text for text in result.report["warnings"]))
            self.assertEqual(result.filter(table).num_rows, 4)
            named = ds.dedup(table, id="url", algorithms="exact", no_report=True, max_rejected_share=1)
            self.assertEqual(named.filter(table).num_rows, 4)
            self.assertEqual([row["id"] for row in named.removed()], ["frame.parquet#2"])
            stream = ds.Stream("exact", keys=100)
            self.assertEqual(list(stream.add(table)), [False, False, True, False, False])

    @needs("polars")
    def test_polars(self) -> None:
        import polars as pl

        frame = pl.DataFrame(COLUMNS)
        result = self.check(frame)
        self.check(pl.concat([frame[:2], frame[2:]], rechunk=False))
        self.assertEqual(frame.filter(pl.Series(result.kept_mask))["url"].to_list(), ["u0", "u1", "u3", "u4"])
        self.assertEqual(frame[pl.Series(result.kept_rows)]["url"].to_list(), ["u0", "u1", "u3", "u4"])
        self.assertEqual(pl.DataFrame(result.pairs("exact"))["id_a"].to_list(), ["u0", "u1"])
        self.assertEqual(result.clusters().to_polars().columns, result.clusters().columns)
        for call in (ds.dedup, result.filter, ds.Stream("exact", keys=100).add):
            with self.assertRaisesRegex(TypeError, r"LazyFrame; call collect\(\) first"):
                call(frame.lazy())

    @needs("polars")
    def test_a_stream_takes_frames(self) -> None:
        import polars as pl

        seen = ds.Stream("tf", keys=100)
        frame = pl.DataFrame(COLUMNS)
        self.assertEqual(list(seen.add(frame, text="body")), [False, False, True, False, False, True])
        self.assertEqual(frame.filter(~pl.Series(seen.add(frame, text="body")))["url"].to_list(), ["u3"])
        with self.assertRaisesRegex(ValueError, 'did you mean "body"'):
            seen.add(frame, text="bod")

    @needs("pandas", "pyarrow")
    def test_pandas(self) -> None:
        import numpy as np
        import pandas as pd

        frame = pd.DataFrame(COLUMNS)
        result = self.check(frame)
        self.assertEqual(list(frame[result.kept_mask.to_numpy()]["url"]), ["u0", "u1", "u3", "u4"])
        self.assertEqual(list(frame.iloc[result.kept_rows]["url"]), ["u0", "u1", "u3", "u4"])
        self.assertEqual(np.asarray(result.kept_rows).dtype, np.int64)
        self.assertEqual(list(result.removed().to_pandas()["kept_id"]), ["u0", "u1"])

    @needs("duckdb", "pyarrow")
    def test_duckdb(self) -> None:
        import duckdb
        import pyarrow as pa

        table = pa.table(COLUMNS)
        relation = duckdb.connect().from_arrow(table)
        result = self.check(relation)
        removed = result.removed()
        self.assertEqual(duckdb.sql("select count(*) from removed").fetchall(), [(2,)])
        self.assertEqual(len(removed), 2)

    @needs("datasets")
    def test_datasets(self) -> None:
        import datasets

        dataset = datasets.Dataset.from_dict(COLUMNS)
        result = self.check(dataset)
        self.assertEqual(dataset.select(result.kept_rows)["url"], ["u0", "u1", "u3", "u4"])
        # Rows in the selected order, not in the stored one.
        turned = dataset.select(range(len(TEXTS))[::-1])
        again = ds.dedup(turned, text="body", id="url", algorithms="exact", no_report=True)
        self.assertEqual(turned.select(again.kept_rows)["url"], ["u5", "u4", "u3", "u2"])
        with self.assertRaisesRegex(TypeError, "one split"):
            ds.dedup(datasets.DatasetDict({"train": dataset}))

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
        # The first three rows are in one file, and all rows in another, so that rows are removed from both.
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
        # Only the JSON lines files, as lines.
        again = self.folder / "again"
        ds.run(corpus / "c.jsonl", again, no_report=True, **options)
        kept = str(again / "deduped" / "c.jsonl")
        loaded = datasets.load_dataset("json", data_files=kept, split="train", cache_dir=cache)
        self.assertEqual(loaded["url"][:], ["u0", "u1", "u4"])
        self.assertEqual(pl.read_ndjson(kept)["url"].to_list(), ["u0", "u1", "u4"])
        self.assertEqual(duckdb.execute("select url from read_json(?)", [kept]).fetchall(), [("u0",), ("u1",), ("u4",)])

    @needs("polars")
    def test_columns_that_arrow_does_not_know_keep_no_frame_out(self) -> None:
        import polars as pl

        texts = {"id": [1, 2], "text": ["same text", "same text"]}
        large = pl.Series([2**70, 1], dtype=pl.Int128)
        for column in [{"note": [None, None]}, {"tags": [[], []]}, {"s": [{"a": None}] * 2}, {"n": large}]:
            frame = pl.DataFrame(texts | column)
            with self.subTest(str(frame.schema)):
                result = ds.dedup(frame, algorithms="exact", no_report=True)
                self.assertEqual(list(result.kept_mask), [True, False])
                self.assertEqual(list(ds.Stream("exact", keys=100).add(frame)), [False, True])
                written = ds.dedup(frame, algorithms="exact", no_report=True, corpus="keep")
                kept = pl.read_parquet(written.path / "deduped" / "frame.parquet")
                self.assertEqual((kept.columns, kept["id"].to_list()), (frame.columns, [1]))
        # A column of this kind may also be requested.
        asked = pl.DataFrame(texts | {"title": [None, None], "n": large})
        self.assertEqual(list(ds.dedup(asked, title_column="title", algorithms="exact", no_report=True).kept_mask), [True, False])
        self.assertEqual(list(ds.dedup(asked, keep="n asc", algorithms="exact", no_report=True).kept_mask), [False, True])
        with self.assertRaisesRegex(ValueError, 'did you mean "text"'):
            ds.dedup(pl.DataFrame(texts | {"tags": [[], []]}), text="texts")

    @needs("pandas", "pyarrow")
    def test_columns_that_are_not_read_may_hold_anything(self) -> None:
        import pandas as pd

        frame = pd.DataFrame({"id": [1, 2], "text": ["same text"] * 2, "odd": [1, {"a": object()}]})
        self.assertEqual(list(ds.dedup(frame, algorithms="exact", no_report=True).kept_mask), [True, False])
        twice = pd.DataFrame([["a", "b"]], columns=["text", "text"])
        with self.assertRaises(ValueError):
            ds.dedup(twice)

    @needs("pandas", "pyarrow")
    def test_every_column_that_a_keyword_names_is_handed_over(self) -> None:
        import pandas as pd
        import pyarrow.parquet as pq

        frame = pd.DataFrame({"id": [1, 2, 3], "text": ["same text"] * 3, "s": ["a", "a", "b"], "n": [1, 2, 3]})
        options: Any = {"algorithms": "exact", "no_report": True}
        self.assertEqual(list(ds.dedup(frame, scope="within:s", **options).kept_mask), [True, False, True])
        result = ds.dedup(frame, source_column="s", **options)
        self.assertEqual(list(result.kept_mask), [True, False, False])
        for named in [{"scope": "within:x"}, {"source_column": "x"}, {"keep": "x desc"}, {"title_column": "x"}]:
            with self.subTest(str(named)), self.assertRaisesRegex(ValueError, f"{next(iter(named))}=.*no such column"):
                ds.dedup(frame, **named, **options)
        # The copy of the corpus has all columns, in the same order and with the same types.
        out = self.folder / "out"
        ds.dedup(frame, out=out, corpus="keep", keep="n desc", **options)
        kept = pq.read_table(out / "deduped" / "frame.parquet")
        self.assertEqual(kept.to_pylist(), [{"id": 3, "text": "same text", "s": "b", "n": 3}])

    @needs("pyarrow")
    def test_every_keyword_of_help_runs(self) -> None:
        import pyarrow as pa

        from dupsift import _dupsift, _verbs

        table = pa.table({
            "id": ["a", "b", "c"], "text": ["one text of some words"] * 2 + ["another text of other words"],
            "title": ["A", "A", "C"], "keywords": ["k", "k", None], "description": ["d", None, "d"], "score": [1, 2, 3],
            "html": ["<p>one text of some words</p>"] * 2 + ["<p>another</p>"], "type": ["text/html"] * 3, "address": ["http://x/"] * 3,
        })
        words = self.folder / "words.txt"
        words.write_text("some\n", encoding="utf-8")
        earlier = ds.dedup(table, out=self.folder / "earlier", algorithms="exact,cosine", no_report=True)
        reference = self.folder / "reference.jsonl"
        reference.write_text('{"id": "r", "text": "a text of the reference"}\n', encoding="utf-8")
        values: dict[str, Any] = {
            "overwrite": True, "work": self.folder / "work", "accept": True, "max_rejected_share": 0.5, "max_removed_share": 0.9,
            "max_cut_share": 0.5, "guard_rows": 5, "previous": earlier.path, "source_column": "score", "max_pairs_factor": 5,
            "max_template_share": 1.0,
            "max_shrink_factor": 5, "max_candidates_factor": 5, "html_column": "html", "content_type_column": "type",
            "url_column": "address", "title_column": "title", "keywords_column": "keywords", "description_column": "description",
            "limit": 2, "sample": 0.5, "seed": 3, "strict": True, "no_report": True, "keep_texts": True, "corpus": "annotate,keep", "add": "copies",
            "cut": "lines", "cut_at": "word",
            "cut_min_chars": 10, "cut_copies": 2, "cut_first": True, "min_chars_left": 5, "algorithms": "exact,cosine",
            "preset": "strict", "count_copies": True, "scope": "within:score", "max_group": 10, "max_candidates": 10, "prefilter": True,
            "keep": "score desc", "threshold": 0.9, "decide": "any", "remove_if": "pair", "chain": "keep", "tokenizer": "char",
            "stop_words": words, "dictionary": words, "yo_to_e": True, "traditional": True, "stem": True, "stats": earlier.path,
            "index": self.folder / "index", "reference": reference, "batch": "first", "planned_documents": 100,
            "purify": "visible", "threads": 1, "memory": "512MiB", "no_progress": True,
        }
        # Other keywords that a keyword requires.
        beside: dict[str, dict[str, Any]] = {
            "content_type_column": {"html_column": "html"}, "url_column": {"html_column": "html"}, "purify": {"html_column": "html"},
            "max_cut_share": {"cut": "lines", "corpus": "keep"}, "cut": {"corpus": "keep"}, "seed": {"sample": 0.5}, "add": {"corpus": "keep"}, "cut_at": {"cut": "lines", "corpus": "keep"},
            "cut_min_chars": {"cut": "lines", "corpus": "keep"}, "cut_copies": {"cut": "lines", "corpus": "keep"},
            "cut_first": {"cut": "lines", "corpus": "keep"}, "min_chars_left": {"cut": "lines", "corpus": "keep"},
            "batch": {"index": self.folder / "other"}, "planned_documents": {"index": self.folder / "third"},
            "max_candidates_factor": {"index": self.folder / "fourth"},
            "stats": {"algorithms": "exact,cosine"},
            "max_pairs_factor": {"previous": earlier.path}, "max_shrink_factor": {"previous": earlier.path},
        }
        known = {name for name, *_ in _dupsift.options("run")} - set(_verbs.NOT_OF_FRAMES)
        self.assertEqual(set(values), known)
        documented = ds.dedup.__doc__ or ""
        for name, value in values.items():
            with self.subTest(name):
                self.assertIn(f"  {name}: ", documented)
                options = {"algorithms": "exact,minhash", "no_report": True} | beside.get(name, {}) | {name: value}
                if name == "preset":
                    del options["algorithms"]
                result = ds.dedup(table, out=self.folder / f"out-{name}", **options)
                if name in ("sample", "seed"):
                    self.assertEqual(result.rows, 3)
                else:
                    self.assertEqual(len(result.kept_mask), 2 if name == "limit" else 3)

    @needs("pyarrow")
    def test_what_is_no_frame(self) -> None:
        import pyarrow as pa

        table = pa.table(COLUMNS)
        with self.assertRaisesRegex(TypeError, "expected an Arrow table.*got builtins.dict"):
            ds.dedup({"text": ["a"]})
        with self.assertRaisesRegex(TypeError, "row 1: expected a string or None, got int"):
            ds.dedup(["a", 2])
        with self.assertRaisesRegex(ValueError, 'text="boddy": the frame has no such column; did you mean "body"'):
            ds.dedup(table, text="boddy")
        with self.assertRaisesRegex(ValueError, "keep=.*the frame has no such column"):
            ds.dedup(table, text="body", keep="score desc")
        for named in [{"text": "body"}, {"id": "url"}]:
            with self.assertRaisesRegex(ValueError, "texts have no columns"):
                ds.dedup(table["body"], **named)

    @needs("pyarrow")
    def test_tables_and_streams_keep_what_they_read(self) -> None:
        import gc
        import os

        import pyarrow as pa

        def pairs() -> ds.Table:
            return ds.dedup(pa.table(COLUMNS), text="body", id="url", algorithms="exact", no_report=True).pairs()

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
        result = ds.dedup(pa.table(COLUMNS), text="body", out=out, algorithms="exact", no_report=True)
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
        # The texts may change, because the ids are the same. The document that was kept instead must be there, too.
        self.assertEqual(result.filter(frame.with_columns(body=pl.lit("x")))["url"].to_list(), ["u0", "u1", "u3", "u4"])
        with self.assertRaisesRegex(ValueError, "row 0 has the url None, and the run had 'u0' there"):
            result.filter(frame.with_columns(url=pl.Series([None, *IDS[1:]])))
        # Without ids, the texts are compared.
        plain = ds.dedup(frame, text="body", algorithms="exact", no_report=True)
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

    @needs("polars", "pandas", "pyarrow", "duckdb")
    def test_a_column_of_ids_is_suggested(self) -> None:
        import duckdb
        import pyarrow as pa

        def suggested(frame: object, **options: Any) -> list[str]:
            lines = str(ds.dedup(frame, algorithms="exact", no_report=True, **options)).splitlines()
            return [line for line in lines if line.startswith("ids are ")]

        def says(name: str) -> list[str]:
            return [f'ids are FILE#ROW; `id="{name}"` uses the column "{name}" instead']

        nulls = pa.nulls(len(TEXTS), pa.string())
        table = pa.table({"text": TEXTS, "url": nulls, "doc_id": IDS, "other": IDS})
        for frame in (table, table.to_pandas(), duckdb.from_arrow(table), table.to_reader()):
            if not isinstance(frame, pa.RecordBatchReader):
                self.assertEqual(suggested(frame), says("doc_id"))
            else:
                # The names of a stream are not known, and its url has only nulls.
                self.assertEqual(suggested(frame), [])
        self.assertEqual(suggested(table.drop_columns("url"), out=self.folder / "out"), says("doc_id"))
        self.assertIn(says("doc_id")[0], str(ds.open(self.folder / "out")))
        self.assertEqual(suggested(table.drop_columns("doc_id")), [])
        self.assertEqual(suggested(table.rename_columns(["text", "doc_id", "url", "other"])), says("url"))
        self.assertEqual(suggested(table, id="doc_id"), [])
        # Columns of other types, which a run copies, are not looked at.
        dates = table.append_column("uuid", pa.nulls(len(TEXTS), pa.date32())).append_column("day", pa.nulls(len(TEXTS), pa.date32()))
        self.assertEqual(suggested(dates, corpus="keep"), says("doc_id"))
        plain = table.select(["text"]).append_column("day", dates["day"])
        self.assertEqual(ds.dedup(plain, algorithms="exact", no_report=True, corpus="keep").filter(plain).num_rows, 4)
        self.assertEqual(suggested(table.rename_columns(["text", "url", "id", "uuid"])), [])

    @needs("polars")
    def test_the_order_is_checked_after_a_run_against_earlier_documents(self) -> None:
        import polars as pl

        frame = pl.DataFrame(COLUMNS)
        turned = frame[[0, 1, 3, 2, 4, 5]]
        for options in ({"index": self.folder / "index"}, {"reference": frame[:1].with_columns(url=pl.lit("u9"))}):
            for batch in ("first", "second"):
                named: dict[str, Any] = {**options, "batch": batch} if "index" in options else options
                result = ds.dedup(frame, text="body", id="url", algorithms="exact", no_report=True, accept=True, **named)
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
        # What the folder contains is read without the frame.
        self.assertEqual((list(lost.kept_mask), len(lost.pairs())), (KEPT, 2))
        self.assertEqual(lost.filter(frame)["url"].to_list(), ["u0", "u1", "u3", "u4"])
        for needs_it in (lambda: lost.explain("u0", "u2"), lambda: lost.apply(remove_if="pair"), lambda: lost.write(corpus="annotate"), lambda: ds.evaluate(lost, truth)):
            with self.assertRaisesRegex(ValueError, r"a data frame, which was not stored; pass the frame, in Python: dupsift.open\(.*, input=frame\)"):
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
        # Texts, several columns, and the files of a corpus that was moved.
        ds.dedup(TEXTS, out=self.folder / "texts", algorithms="exact", no_report=True)
        self.assertTrue(ds.open(self.folder / "texts", input=pl.Series(TEXTS)).explain(0, 2, rows=True).record["exact_copies"])
        two = pl.DataFrame({"a": ["x", "y", "x"], "b": ["one text", "one text", "one text"]})
        ds.dedup(two, text=["a", "b"], out=self.folder / "two", algorithms="exact", no_report=True)
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
            with self.assertRaisesRegex(ValueError, r"not read: 'other'\); keep the rows of the frame itself"):
                write(self.folder / "clean")
        # The folder knows it, too, while the frame's temporary file exists.
        live = self.check(frame, out=self.folder / "live")
        opened = ds.open(self.folder / "live")
        assert isinstance(opened, ds.Result)
        for write in (opened.write, opened.apply(remove_if="pair").write):
            with self.assertRaisesRegex(ValueError, r'not read: "other"\); keep the rows of the frame itself'):
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
        # A frame with no other columns is written as it is.
        self.check(frame.select("body", "url")).write(self.folder / "narrow")

    def test_texts_are_a_corpus(self) -> None:
        result = ds.dedup(TEXTS, algorithms="exact", no_report=True)
        self.assertEqual(list(result.kept_mask), KEPT)
        self.assertEqual(result.filter(TEXTS), [text for text, kept in zip(TEXTS, KEPT) if kept])
        self.assertEqual(list(ds.dedup(tuple(TEXTS), algorithms="exact", no_report=True).kept_rows), [0, 1, 3, 4])
        self.assertEqual(len(ds.dedup(["half of a pair \ud800", "a text"], algorithms="exact", no_report=True, accept=True).rejected()), 1)
        # More than one batch.
        many = [f"text number {row % 9000}" for row in range(20_000)]
        self.assertEqual(list(ds.dedup(many, algorithms="exact", no_report=True).kept_rows), list(range(9000)))

    @needs("polars", "pandas", "pyarrow")
    def test_a_series_is_a_corpus(self) -> None:
        import pandas as pd
        import polars as pl
        import pyarrow as pa

        stays = [text for text, kept in zip(TEXTS, KEPT) if kept]
        chunked = pa.chunked_array([TEXTS[:2], TEXTS[2:]])
        for texts in [pl.Series(TEXTS), pd.Series(TEXTS, index=list("fedcba")), pd.Series(TEXTS, dtype=object), pa.array(TEXTS), chunked]:
            with self.subTest(type(texts).__name__):
                result = ds.dedup(texts, algorithms="exact", no_report=True)
                self.assertEqual(list(result.kept_mask), KEPT)
                self.assertEqual((len(result.rejected()), [str(row["id"]) for row in result.removed()]), (1, ["frame.parquet#2", "frame.parquet#5"]))
                kept = [text.as_py() if hasattr(text, "as_py") else text for text in result.filter(texts)]
                self.assertEqual([text for text in kept if isinstance(text, str)], [text for text in stays if text is not None])
                self.assertEqual(len(kept), 4)

    @needs("numpy", "polars")
    def test_an_array_of_numpy_is_a_corpus(self) -> None:
        import numpy as np
        import polars as pl

        words = [text or "" for text in TEXTS]
        with_nan = np.array([float("nan") if text is None else text for text in TEXTS], dtype=object)
        arrays = [np.array(TEXTS, dtype=object), np.array(words), with_nan]
        if hasattr(np.dtypes, "StringDType"):
            arrays.append(np.array(words, dtype=np.dtypes.StringDType()))
        for texts in arrays:
            with self.subTest(texts.dtype):
                result = ds.dedup(texts, algorithms="exact", no_report=True)
                self.assertEqual((list(result.kept_mask), len(result.rejected())), (KEPT, texts.dtype == object))
                kept = result.filter(texts)
                self.assertEqual((kept.dtype, [kept[0], kept[1], kept[3]]), (texts.dtype, [words[0], words[1], words[4]]))
        self.assertEqual(list(ds.Stream("exact", keys=100).add(np.array(words))), [False, False, True, False, False, True])
        self.assertEqual(list(ds.Stream("exact", keys=100).add(pl.Series(TEXTS))), [False, False, True, False, False, True])
        result = ds.dedup(TEXTS, reference=np.array(words[:1]), algorithms="exact", no_report=True)
        self.assertEqual(list(result.kept_rows), [1, 3, 4])
        for wrong, says in [
            (np.array([words]), "expected one dimension of texts, got 2 dimensions"),
            (np.array(words[0]), "got 0 dimensions"),
            (np.arange(3), "array: expected an array of texts, got an array of int64"),
            (np.array(["a", 2], dtype=object), "row 1: expected a string or None, got int"),
        ]:
            with self.assertRaisesRegex(TypeError, says):
                ds.dedup(wrong)
        with self.assertRaisesRegex(ValueError, "it has 2 rows, and the run had 6"):
            result.filter(np.array(words[:2]))

    @needs("numpy", "polars")
    def test_a_run_over_a_frame_is_estimated(self) -> None:
        import numpy as np
        import polars as pl

        frame = pl.DataFrame({"body": [f"The committee met on day {row % 60} of the year." for row in range(200)], "other": range(200)})
        told = ds.estimate(frame, text_column="body", algorithms="exact", sample=150, work=self.folder)
        self.assertEqual((told.record["documents"], told.record["sample"]["documents"]), (200, 150))
        self.assertGreaterEqual(told.record["sample"]["removed"], 90)
        self.assertEqual(list(self.folder.iterdir()), [])
        with self.assertRaisesRegex(ValueError, 'text_column="bdy": the frame has no such column; did you mean "body"'):
            ds.estimate(frame, text_column="bdy")
        self.assertEqual(ds.estimate(np.array(["a text", "a text"])).record["documents"], 2)
        self.assertEqual(ds.estimate(frame, text_column="body", reference=frame[:5]).record["documents"], 200)

    def test_a_sample_does_not_say_which_rows_are_kept(self) -> None:
        result = ds.dedup(TEXTS, sample=4, algorithms="exact", out=self.folder / "out", no_report=True, max_rejected_share=1)
        says = r"the run read only a sample of the corpus \(`sample=.*4.*`\), so most rows are neither kept nor removed; run again without `sample`"
        calls = [lambda: result.kept_mask, lambda: result.kept_rows, lambda: result.filter(TEXTS), result.write, lambda: result.apply(remove_if="pair")]
        for call in calls:
            with self.assertRaisesRegex(ValueError, says):
                call()
        self.assertEqual((result.rows, len(result.rejected())), (6, 1 if result.report["documents"]["rejected"] else 0))
        # The estimate for the complete corpus is shown even if the folder is not.
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

    @needs("polars")
    def test_a_reference_is_a_frame(self) -> None:
        import polars as pl

        frame = pl.DataFrame(COLUMNS)
        options: Any = {"text": "body", "id": "url", "algorithms": "exact", "no_report": True}
        reference = pl.DataFrame({"body": [TEXTS[4], "another text"], "url": ["r0", "r1"], "other": [7, 8], "odd": [[1], None]})
        result = ds.dedup(frame, reference=reference, keep="other desc", **options)
        self.assertEqual(list(result.kept_rows), [2, 3, 5])
        removed = {row["id"]: row["kept_id"] for row in result.removed()}
        self.assertEqual(removed["u4"], "r0")
        with self.assertRaisesRegex(ValueError, '"other", which no input file has'):
            ds.dedup(frame, reference=reference.drop("other"), keep="other desc", **options)
        with self.assertRaisesRegex(TypeError, "reference=: expected a path or a frame, got a list"):
            ds.dedup(frame, reference=["a"], **options)
        # Files, and only the texts.
        corpus = self.lines(*TEXTS)
        result = ds.run(corpus, self.folder / "out", reference=pl.DataFrame({"text": [TEXTS[0]]}), algorithms="exact", no_report=True)
        self.assertEqual(list(result.kept_rows), [1, 3, 4])
        result = ds.dedup(TEXTS, reference=pl.Series([TEXTS[0], None]), algorithms="exact", no_report=True, accept=True)
        self.assertEqual(list(result.kept_rows), [1, 3, 4])
        del result
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["corpus.jsonl", "out"])

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

        result = ds.dedup(pl.DataFrame(COLUMNS), text="body", id="url", algorithms="exact", no_report=True)
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
    def test_folders(self) -> None:
        import pyarrow as pa

        table = pa.table(COLUMNS)
        out = self.folder / "out"
        result = ds.dedup(table, text="body", id="url", out=out, keep="other desc", algorithms="exact", no_report=True)
        # The later documents are kept.
        self.assertEqual(list(result.kept_rows), [2, 3, 4, 5])
        self.assertEqual(sorted(path.name for path in self.folder.iterdir())[-1], "out")
        self.assertTrue(ds.open(self.folder / "out").report["removal"]["keep"].startswith("other desc"))
        explained = result.explain("u0", "u2")
        self.assertTrue(explained.record["exact_copies"])
        self.assertTrue(repr(explained).startswith("<dupsift.Explanation: the texts are identical"), repr(explained))
        del result
        self.assertEqual([path.name for path in self.folder.iterdir()], ["out"])


if __name__ == "__main__":
    unittest.main()
