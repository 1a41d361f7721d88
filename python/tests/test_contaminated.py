"""Tests the search for documents that contain items of an evaluation set, in files and in frames."""

from __future__ import annotations

import importlib.util
import json
import unittest

import dupsift as ds
from corpora import Case

QUESTION = "Which bridge over the river was repaired before the winter of that year, and who paid for it?"
TEXTS = [
    "A page about cooking with nothing else in it at all, but a few words more than that.",
    f"Old exams. {QUESTION.upper()}\nThe answer is the northern bridge.",
    None,
]


class Contaminated(Case):
    def check(self, found: ds.Contamination) -> None:
        self.assertEqual(list(found.clean_mask), [True, False, True])
        rows = list(found.contaminated())
        self.assertEqual([(row["id"], row["relation"], row["answer_found"]) for row in rows], [("b", "leak", True)])
        self.assertEqual([row["status"] for row in found.items()], ["found", "too short"])
        self.assertEqual((len(found.suites()), len(found.rejected())), (1, 1))
        self.assertIn("1 of 2 documents contaminated", str(found))

    def items(self) -> list[dict[str, object]]:
        return [
            {"id": "q1", "question": QUESTION, "answer": "the northern bridge"},
            {"id": "q2", "question": "Why?", "answer": None},
        ]

    def test_files(self) -> None:
        corpus, items = self.folder / "corpus.jsonl", self.folder / "exam.jsonl"
        rows = [{"id": id, "text": text} for id, text in zip("abc", TEXTS)]
        corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
        items.write_text("".join(json.dumps(row) + "\n" for row in self.items()))
        found = ds.contaminated(corpus, against=items, out=self.folder / "out", corpus="keep")
        self.check(found)
        self.assertEqual(found.report["suites"][0]["suite"], "exam")
        self.assertTrue((self.folder / "out" / "clean" / "corpus.jsonl").is_file())
        with self.assertRaisesRegex(ValueError, "did you mean"):
            ds.contaminated(corpus, against=items, out=self.folder / "no", item_column="qestion")
        with self.assertRaisesRegex(TypeError, "out="):
            ds.contaminated(corpus, against=items)

    def test_variants_and_public_items_are_clean(self) -> None:
        corpus, items = self.folder / "corpus.jsonl", self.folder / "exam.jsonl"
        question = "A baker packs 14 rolls in each of 9 boxes and gives away 23 rolls. How many rolls are left?"
        texts = [f"{question} It is late.", question.replace("14", "17").replace("23", "31")]
        corpus.write_text("".join(json.dumps({"id": str(id), "text": text}) + "\n" for id, text in enumerate(texts)))
        items.write_text(json.dumps({"id": "q", "question": question}) + "\n")
        found = ds.contaminated(corpus, against=items, out=self.folder / "out")
        self.assertEqual([row["relation"] for row in found.contaminated()], ["leak", "variant"])
        self.assertEqual(list(found.clean_mask), [False, True])
        self.assertIn("1 document kept with variants", str(found))
        found = ds.contaminated(corpus, against=items, out=self.folder / "public", public_documents=0)
        self.assertEqual([row["relation"] for row in found.contaminated()], ["public", "variant"])
        self.assertEqual(list(found.clean_mask), [True, True])

    @unittest.skipIf(importlib.util.find_spec("pyarrow") is None, "not installed: pyarrow")
    def test_frames(self) -> None:
        import pyarrow as pa

        corpus = pa.table({"id": ["a", "b", "c"], "text": TEXTS})
        items = pa.Table.from_pylist(self.items())
        found = ds.contaminated(corpus, against=items)
        self.check(found)
        self.assertNotIn("output:", str(found))
        with self.assertRaisesRegex(ValueError, "item_column"):
            ds.contaminated(corpus, against=items, item_column="qestion")

    @unittest.skipIf(any(importlib.util.find_spec(name) is None for name in ("pyarrow", "polars", "pandas", "duckdb")), "not installed")
    def test_frames_with_choices(self) -> None:
        import duckdb
        import pandas as pd
        import polars as pl
        import pyarrow as pa

        corpus = pl.DataFrame({"text": [f"{QUESTION} It was the north.", f"{QUESTION} It was the south.", "none of it"]})
        chat = [{"role": "user", "content": QUESTION}]
        items = {"id": ["q"], "question": [QUESTION], "chat": [chat], "choices": [["the south", "the north"]], "answer": [1]}
        table_of_items = pa.table(items)
        for exam in [table_of_items, pl.DataFrame(items), pd.DataFrame(items), duckdb.sql("select * from table_of_items")]:
            for column in ["question", "chat", ["chat", "question"]]:
                with self.subTest(f"{column} of {type(exam)}"):
                    found = ds.contaminated(corpus, against=exam, item_column=column, threshold=0.5)
                    self.assertEqual(list(found.clean_mask), [False, False, True])
                    self.assertEqual([row["answer_found"] for row in found.contaminated()], [True, False])
        columns = pd.DataFrame({"question": [QUESTION], "A": ["the south"], "B": ["the north"], "answer": ["B"]})
        for choices in ["A,B", ["A", "B"]]:
            found = ds.contaminated(corpus, against=columns, choices_column=choices)
            self.assertEqual([row["answer_found"] for row in found.contaminated()], [True, False])
        with self.assertRaisesRegex(ValueError, "choices_column"):
            ds.contaminated(corpus, against=columns, choices_column="A,C")

    def test_lists_of_texts(self) -> None:
        for corpus, exam in ((TEXTS, [QUESTION]), (tuple(TEXTS), (QUESTION,)), (TEXTS, [QUESTION, "Why?"])):
            found = ds.contaminated(corpus, against=exam)
            self.assertEqual(list(found.clean_mask), [True, False, True])
            self.assertEqual(found.filter(corpus), type(corpus)([TEXTS[0], None]))
        self.assertEqual(list(ds.contaminated([f"问：{QUESTION}", "没有"], against=[QUESTION]).clean_mask), [False, True])
        with self.assertRaisesRegex(ValueError, "it has 2 rows, and the run had 3"):
            found.filter(TEXTS[:2])
        with self.assertRaisesRegex(ValueError, "frame: row 0 has a different text"):
            found.filter(TEXTS[::-1])
        with self.assertRaisesRegex(ValueError, "item_column=: texts have no columns"):
            ds.contaminated(TEXTS, against=[QUESTION], item_column="question")
        # Lists of paths are lists of paths, even if a path does not exist.
        (self.folder / "my corpus").mkdir()
        (self.folder / "my corpus" / "a.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
        found = ds.contaminated([str(self.folder / "my corpus")], against=[QUESTION], out=self.folder / "out")
        self.assertEqual(list(found.clean_mask), [True, False, True])
        for missing in (["no-such-folder"], [str(self.folder / "my crawl.jsonl")], ["a.csv", "b c.csv"]):
            with self.assertRaises(FileNotFoundError):
                ds.contaminated(missing, against=[QUESTION], out=self.folder / "none")

    @unittest.skipIf(any(importlib.util.find_spec(name) is None for name in ("pyarrow", "polars", "pandas", "datasets")), "not installed")
    def test_filter(self) -> None:
        import datasets
        import pandas as pd
        import polars as pl
        import pyarrow as pa

        columns = {"id": ["a", "b", "c"], "text": TEXTS}
        items = pa.Table.from_pylist(self.items())
        for frame in (pl.DataFrame(columns), pd.DataFrame(columns), pa.table(columns), datasets.Dataset.from_dict(columns)):
            with self.subTest(type(frame)):
                clean = ds.contaminated(frame, against=items).filter(frame)
                self.assertIs(type(clean), type(frame))
                self.assertEqual(list(clean["id"].to_pylist() if isinstance(clean, pa.Table) else clean["id"]), ["a", "c"])
        found = ds.contaminated(pa.table(columns), against=items)
        with self.assertRaisesRegex(ValueError, "frame: row 1 has the id 'a'"):
            found.filter(pa.table({name: [values[2], values[0], values[1]] for name, values in columns.items()}))
        series = ds.contaminated(pl.Series(TEXTS), against=pd.Series([QUESTION]))
        self.assertEqual(series.filter(pl.Series(TEXTS)).to_list(), [TEXTS[0], None])


if __name__ == "__main__":
    unittest.main()
