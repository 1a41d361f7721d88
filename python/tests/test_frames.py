"""Tests frames of other libraries as inputs. Each library is tested if it is installed."""

from __future__ import annotations

import unittest
from collections.abc import Sequence
from typing import Any

import dupsift as ds
from frame_case import COLUMNS, IDS, KEPT, TEXTS, FrameCase, needs


def pq_names(path: Any) -> list[str]:
    import pyarrow.parquet

    return list(pyarrow.parquet.read_schema(path).names)


class Frames(FrameCase):
    @needs("pyarrow")
    def test_several_columns_make_one_text(self) -> None:
        import pyarrow as pa

        table = pa.table({"title": ["A", "B", "A", None], "body": ["one text", "one text", "one text", "one text"]})
        for text in ["title,body", ["title", "body"]]:
            result = ds.dedup(table, text_column=text, algorithms="exact", no_report=True)
            self.assertEqual(list(result.kept_mask), [True, True, False, True])
        whole = table.append_column("title,body", pa.array(["x", "x", "y", "z"]))
        result = ds.dedup(whole, text_column="title,body", algorithms="exact", no_report=True)
        self.assertEqual(list(result.kept_mask), [True, False, True, True])
        with self.assertRaisesRegex(ValueError, "no such column"):
            ds.dedup(table, text_column="titel,body", algorithms="exact")

    def test_messages_do_not_name_the_file_of_a_frame(self) -> None:
        from dupsift._options import spelled

        for message, expected in [
            ("frame.parquet: column \"id\" is Float64", "the frame: column \"id\" is Float64"),
            ("/tmp/.dupsift-frame-x1/frame.parquet: pass `text-column`", "the frame: pass `text_column`"),
            ("frame.parquet#2 is in out/deduped/frame.parquet", "frame.parquet#2 is in out/deduped/frame.parquet"),
        ]:
            self.assertEqual(spelled(message), expected)

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
                    result = ds.dedup(frame, text_column=name, algorithms="exact", no_report=True)
                    # A blank text is not kept; a null is.
                    self.assertEqual(list(result.kept_mask), [True, False, True, False, True])
                    self.assertEqual([row["reason"] for row in result.rejected()], ["empty text", "null text"])
                    self.assertEqual(list(ds.Stream("exact", keys=100).add(frame, text_column=name)), [False, True, False, False, False])
            # The copy of the corpus has the lists unchanged.
            kept = ds.dedup(table, text_column=name, algorithms="exact", no_report=True, corpus="keep")
            copy = pl.read_parquet(kept.path / "deduped" / "frame.parquet")
            self.assertEqual(copy[name].to_list(), table[name].to_pylist()[:1] + table[name].to_pylist()[2:3])
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
    def test_a_batch_of_another_type_than_its_stream_names_the_column(self) -> None:
        import pyarrow as pa

        schema = pa.schema({"id": pa.int64(), "text": pa.string(), "tags": pa.list_(pa.string())})
        good: dict[str, Any] = {"id": pa.array([1]), "text": pa.array(["One text."]), "tags": pa.array([["a"]])}

        class Stream:
            """An object of another library, whose batches are known only as buffers."""

            def __init__(self, reader: Any) -> None:
                self.reader = reader

            def __arrow_c_stream__(self, requested_schema: object = None) -> object:
                return self.reader.__arrow_c_stream__()

        def reader(**columns: Any) -> Any:
            batches = [pa.record_batch(good), pa.record_batch({**good, **columns})]
            return pa.RecordBatchReader.from_batches(schema, iter(batches))

        options: Any = {"algorithms": "exact", "no_report": True, "corpus": "keep"}
        self.assertEqual(len(ds.dedup(Stream(reader()), **options).kept_mask), 2)
        others = [("id", pa.array(["2"])), ("id", pa.array([2], pa.int32())), ("text", pa.array([2])), ("tags", pa.array(["a"]))]
        for name, values in others:
            with self.subTest(f"{name} {values.type}"), self.assertRaisesRegex(ValueError, f"a batch has .* in the column ['\"]{name}['\"]"):
                ds.dedup(reader(**{name: values}), **options)
            if values.type != pa.int32():
                with self.subTest(f"{name} {values.type} as buffers"), self.assertRaisesRegex(ValueError, f'another type in the column "{name}"'):
                    ds.dedup(Stream(reader(**{name: values})), **options)

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
            named = ds.dedup(table, id_column="url", algorithms="exact", no_report=True, max_rejected_share=1)
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
        self.assertEqual(frame.filter(result.kept_mask)["url"].to_list(), ["u0", "u1", "u3", "u4"])
        self.assertEqual(frame[result.kept_rows]["url"].to_list(), ["u0", "u1", "u3", "u4"])
        self.assertEqual((frame[result.kept_rows[9:]].height, frame["url"][result.kept_rows].to_list()), (0, ["u0", "u1", "u3", "u4"]))
        with self.assertRaisesRegex(ValueError, r"frame\.filter\(column\)"):
            frame[result.kept_mask]
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
        self.assertEqual(list(seen.add(frame, text_column="body")), [False, False, True, False, False, True])
        self.assertEqual(frame.filter(~pl.Series(seen.add(frame, text_column="body")))["url"].to_list(), ["u3"])
        with self.assertRaisesRegex(ValueError, 'did you mean "body"'):
            seen.add(frame, text_column="bod")

    @needs("pandas", "pyarrow")
    def test_pandas(self) -> None:
        import numpy as np
        import pandas as pd

        frame = pd.DataFrame(COLUMNS)
        result = self.check(frame)
        self.assertEqual(list(frame[result.kept_mask.to_numpy()]["url"]), ["u0", "u1", "u3", "u4"])
        for kept in (frame[result.kept_mask], frame.loc[result.kept_mask], frame.iloc[result.kept_mask], frame.iloc[result.kept_rows]):
            self.assertEqual(list(kept["url"]), ["u0", "u1", "u3", "u4"])
        self.assertEqual(list(frame["url"][~result.kept_mask]), ["u2", "u5"])
        self.assertEqual((result.kept_mask.count(False), result.kept_mask.index(False), True in result.kept_mask), (2, 2, True))
        self.assertIsInstance(result.kept_mask, Sequence)
        with self.assertRaisesRegex(ValueError, "7 is not in the column"):
            result.kept_mask.index(7)
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
        # The rows are in the selected order, not in the stored order.
        turned = dataset.select(range(len(TEXTS))[::-1])
        again = ds.dedup(turned, text_column="body", id_column="url", algorithms="exact", no_report=True)
        self.assertEqual(turned.select(again.kept_rows)["url"], ["u5", "u4", "u3", "u2"])
        with self.assertRaisesRegex(TypeError, "one split"):
            ds.dedup(datasets.DatasetDict({"train": dataset}))

    @needs("datasets")
    def test_streaming_datasets(self) -> None:
        import datasets

        dataset = datasets.Dataset.from_dict(COLUMNS)
        rows = [dict(row) for row in dataset]
        stays = ["u0", "u1", "u3", "u4"]
        streams = {
            "plain": dataset.to_iterable_dataset(),
            "mapped": dataset.to_iterable_dataset().map(lambda row: row),
            "generated": datasets.IterableDataset.from_generator(lambda: iter(rows)),
            "filtered": dataset.to_iterable_dataset().filter(lambda row: True),
        }
        for name, stream in streams.items():
            with self.subTest(name):
                result = self.check(stream)
                kept = result.filter(stream)
                self.assertIsInstance(kept, datasets.IterableDataset)
                self.assertEqual([row["url"] for row in kept], stays)
                # The result can be read again.
                self.assertEqual([row["body"] for row in kept][0], TEXTS[0])
                written = self.check(stream, corpus="keep")
                self.assertEqual(sorted(COLUMNS), sorted(pq_names(written.path / "deduped" / "frame.parquet")))
                with self.assertRaisesRegex(ValueError, "frame: row .* has the url"):
                    result.filter(dataset.select(range(len(TEXTS))[::-1]).to_iterable_dataset())
                with self.assertRaisesRegex(ValueError, "it has more than 6 rows"):
                    list(result.filter(datasets.concatenate_datasets([dataset, dataset]).to_iterable_dataset()))
        few = ds.dedup(streams["mapped"], text_column="body", algorithms="exact", no_report=True)
        with self.assertRaisesRegex(ValueError, "it has 5 rows, and the run had 6"):
            list(few.filter(streams["plain"].take(5)))
        nothing = datasets.IterableDataset.from_generator(lambda: iter([]))
        self.assertEqual(len(ds.dedup(nothing, algorithms="exact", no_report=True).kept_mask), 0)
        late = [{"text": f"a text {row}", "n": row if row < 1500 else "many"} for row in range(2000)]
        mixed = datasets.IterableDataset.from_generator(lambda: iter(late))
        with self.assertRaisesRegex(Exception, "streaming dataset has other types"):
            ds.dedup(mixed, algorithms="exact", no_report=True, corpus="keep")
        with self.assertRaisesRegex(TypeError, "one split"):
            ds.dedup(datasets.IterableDatasetDict({"train": streams["plain"]}))

    @needs("pyarrow")
    def test_datasets_of_files(self) -> None:
        import pyarrow as pa
        import pyarrow.dataset
        import pyarrow.parquet

        table = pa.table(COLUMNS)
        for number in range(3):
            pyarrow.parquet.write_table(table.slice(2 * number, 2), self.folder / f"{number}.parquet")
        files = pyarrow.dataset.dataset(self.folder)
        result = self.check(files)
        with self.assertRaisesRegex(TypeError, r"dataset.to_table\(\)"):
            result.filter(files)
        self.assertEqual(result.filter(files.to_table())["url"].to_pylist(), ["u0", "u1", "u3", "u4"])
        self.assertEqual(list(ds.Stream("exact", keys=100).add(files, text_column="body")), [False, False, True, False, False, True])
        self.assertEqual(ds.estimate(files, text_column="body").record["documents"], len(TEXTS))
        with self.assertRaisesRegex(ValueError, 'text_column="boddy": the frame has no such column; did you mean "body"'):
            ds.dedup(files, text_column="boddy")

    def test_lists_of_dictionaries_are_not_frames(self) -> None:
        rows = [{"id": 1, "text": "a text"}]
        for call in (lambda: ds.dedup(rows), lambda: ds.Stream("exact", keys=9).add(rows), lambda: ds.contaminated(rows, against=["a text"])):
            with self.assertRaisesRegex(TypeError, r"a list of dictionaries is not a frame; .*polars.DataFrame\(rows\)"):
                call()

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
            ds.dedup(pl.DataFrame(texts | {"tags": [[], []]}), text_column="texts")

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
        for named in [{"scope": "within:x"}, {"source_column": "x"}, {"keep": "x desc"}, {"keep_per": "x"}, {"title_column": "x"}]:
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
            "follow_links": True, "limit": 2, "sample": 0.5, "seed": 3, "strict": True, "no_report": True, "keep_texts": True, "corpus": "annotate,keep", "add": "copies",
            "cut": "lines", "cut_at": "word",
            "cut_min_chars": 10, "cut_copies": 2, "cut_first": True, "min_chars_left": 5, "algorithms": "exact,cosine",
            "preset": "strict", "count_copies": True, "scope": "within:score", "max_group": 10, "max_candidates": 10, "prefilter": True,
            "keep": "score desc", "keep_per": "score", "threshold": 0.9, "decide": "any", "remove_if": "pair", "chain": "keep", "tokenizer": "char",
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
        with self.assertRaisesRegex(ValueError, 'text_column="boddy": the frame has no such column; did you mean "body"'):
            ds.dedup(table, text_column="boddy")
        with self.assertRaisesRegex(ValueError, "keep=.*the frame has no such column"):
            ds.dedup(table, text_column="body", keep="score desc")
        for named in [{"text_column": "body"}, {"id_column": "url"}]:
            with self.assertRaisesRegex(ValueError, "texts have no columns"):
                ds.dedup(table["body"], **named)

    @needs("polars", "pandas", "pyarrow", "duckdb")
    def test_a_column_of_ids_is_suggested(self) -> None:
        import duckdb
        import pyarrow as pa

        def suggested(frame: object, **options: Any) -> list[str]:
            lines = str(ds.dedup(frame, algorithms="exact", no_report=True, **options)).splitlines()
            return [line for line in lines if line.startswith("ids are ")]

        def says(name: str) -> list[str]:
            return [f'ids are FILE#ROW; `id_column="{name}"` uses the column "{name}" instead']

        nulls = pa.nulls(len(TEXTS), pa.string())
        table = pa.table({"text": TEXTS, "url": nulls, "doc_id": IDS, "other": IDS})
        for frame in (table, table.to_pandas(), duckdb.from_arrow(table), table.to_reader()):
            if not isinstance(frame, pa.RecordBatchReader):
                self.assertEqual(suggested(frame), says("doc_id"))
            else:
                # The column names of a stream are unknown, and its url column has only nulls.
                self.assertEqual(suggested(frame), [])
        self.assertEqual(suggested(table.drop_columns("url"), out=self.folder / "out"), says("doc_id"))
        self.assertIn(says("doc_id")[0], str(ds.open(self.folder / "out")))
        self.assertEqual(suggested(table.drop_columns("doc_id")), [])
        self.assertEqual(suggested(table.rename_columns(["text", "doc_id", "url", "other"])), says("url"))
        self.assertEqual(suggested(table, id_column="doc_id"), [])
        # Columns of other types, which a run copies, are not inspected.
        dates = table.append_column("uuid", pa.nulls(len(TEXTS), pa.date32())).append_column("day", pa.nulls(len(TEXTS), pa.date32()))
        self.assertEqual(suggested(dates, corpus="keep"), says("doc_id"))
        plain = table.select(["text"]).append_column("day", dates["day"])
        self.assertEqual(ds.dedup(plain, algorithms="exact", no_report=True, corpus="keep").filter(plain).num_rows, 4)
        self.assertEqual(suggested(table.rename_columns(["text", "url", "id", "uuid"])), [])

    def test_texts_are_a_corpus(self) -> None:
        result = ds.dedup(TEXTS, algorithms="exact", no_report=True)
        self.assertEqual(list(result.kept_mask), KEPT)
        self.assertEqual(result.filter(TEXTS), [text for text, kept in zip(TEXTS, KEPT) if kept])
        self.assertEqual(list(ds.dedup(tuple(TEXTS), algorithms="exact", no_report=True).kept_rows), [0, 1, 3, 4])
        self.assertEqual(len(ds.dedup(["half of a pair \ud800", "a text"], algorithms="exact", no_report=True, accept=True).rejected()), 1)
        # Tests more than one batch.
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
                # An array without nulls has a blank text instead, which is not kept.
                mask = [kept and (text is not None or texts.dtype == object) for kept, text in zip(KEPT, TEXTS)]
                self.assertEqual((list(result.kept_mask), len(result.rejected())), (mask, 1))
                kept = result.filter(texts)
                self.assertEqual((kept.dtype, [kept[0], kept[1], kept[-1]]), (texts.dtype, [words[0], words[1], words[4]]))
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

    @needs("polars")
    def test_a_reference_is_a_frame(self) -> None:
        import polars as pl

        frame = pl.DataFrame(COLUMNS)
        options: Any = {"text_column": "body", "id_column": "url", "algorithms": "exact", "no_report": True}
        reference = pl.DataFrame({"body": [TEXTS[4], "another text"], "url": ["r0", "r1"], "other": [7, 8], "odd": [[1], None]})
        result = ds.dedup(frame, reference=reference, keep="other desc", **options)
        self.assertEqual(list(result.kept_rows), [2, 3, 5])
        removed = {row["id"]: row["kept_id"] for row in result.removed()}
        self.assertEqual(removed["u4"], "r0")
        leaks = [row["id"] for row in result.removed() if row["kept_in"] is not None]
        self.assertEqual({row["kept_in"] for row in result.removed()} - {None}, {"reference.parquet"})
        self.assertIn("u4", leaks)
        explained = result.explain("u4").record
        self.assertEqual([one["id"] for one in explained["documents"]], ["u4", "r0"])
        with self.assertRaisesRegex(ValueError, '"other", which no input file has'):
            ds.dedup(frame, reference=reference.drop("other"), keep="other desc", **options)
        with self.assertRaisesRegex(TypeError, "reference=: expected a path or a frame, got a list"):
            ds.dedup(frame, reference=["a"], **options)
        # Tests a corpus of files, and references that consist only of texts.
        corpus = self.lines(*TEXTS)
        result = ds.run(corpus, self.folder / "out", reference=pl.DataFrame({"text": [TEXTS[0]]}), algorithms="exact", no_report=True)
        self.assertEqual(list(result.kept_rows), [1, 3, 4])
        result = ds.dedup(TEXTS, reference=pl.Series([TEXTS[0], None]), algorithms="exact", no_report=True, accept=True)
        self.assertEqual(list(result.kept_rows), [1, 3, 4])
        del result
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["corpus.jsonl", "out"])


if __name__ == "__main__":
    unittest.main()
