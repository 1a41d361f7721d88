"""The Python blocks in README.md, python/README.md and docs/ run as printed, the blocks of a page one after another."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import re
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dupsift as ds
from corpora import ROOT, TRUTH, Case

# Pages whose blocks run in another test.
ELSEWHERE = {"docs/spark.md": "test_spark.py"}
TEXT = "The town library will be closed for repairs in the first week of August because the old roof of the reading room has to be replaced."


def blocks() -> Iterator[tuple[str, list[str]]]:
    """Yields the pages with Python blocks, as paths relative to the repository, with the text of each block."""
    pages = [ROOT / "README.md", ROOT / "python" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        found = re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        if found:
            yield page.relative_to(ROOT).as_posix(), found


def write(folder: Path) -> dict[str, Any]:
    """Creates the files that pages mention, and returns the values that their code expects."""
    import datasets
    import polars as pl

    rows = [{"id": f"id-{row}", "text": f"{TEXT} Notice {row} of the town."} for row in range(40)]
    rows[17]["text"] = TEXT
    rows += [{"id": "id-4711", "text": f"{TEXT} It opens again in September."}, {"id": "id-4712", "text": TEXT}]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    frame = pl.DataFrame(rows)
    for name in ("corpus", "sample", "data", "out"):
        (folder / name).mkdir()
    (folder / "data-samples").symlink_to(TRUTH.parent)
    (folder / "corpus" / "a.jsonl").write_text(lines, encoding="utf-8")
    (folder / "sample" / "a.jsonl").write_text(lines, encoding="utf-8")
    frame.write_parquet(folder / "data" / "a.parquet")
    frame = frame.rename({"id": "url", "text": "body"})
    frame.write_parquet(folder / "corpus.parquet")
    pl.DataFrame({"id_a": ["id-17"], "id_b": ["id-4712"]}).write_parquet(folder / "labels.parquet")
    page = "<html><title>A title</title><body><p>One page of an archive.</p></body></html>"
    response = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page}"
    head = "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\nWARC-Date: 2026-11-20T00:00:00Z\r\nWARC-Target-URI: http://a.example/\r\n"
    head += f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(response)}\r\n\r\n"
    (folder / "crawl.warc.gz").write_bytes(gzip.compress(f"{head}{response}\r\n\r\n".encode()))
    # README, docs/outputs.md, docs/cut.md and docs/contaminated.md read the output of the preceding command.
    ds.run("data-samples/docs", out="out/docs", corpus="keep", no_progress=True)
    ds.run("data-samples/docs", out="out/lines", corpus="keep", cut="lines", no_progress=True)
    ds.contaminated("data-samples/docs", against="data-samples/exam.jsonl", out="found", no_progress=True)
    sets = {"train": pl.DataFrame(rows), "test": pl.DataFrame(rows[17:18])}
    return {**sets, "frame": frame, "hf_dataset": datasets.Dataset.from_list(frame.to_dicts()), "a": TEXT, "b": TEXT, "batch": [TEXT, TEXT]}


def judge(labels: Path) -> None:
    """Judges the removals that a page has drawn, as its reader would."""
    import polars as pl

    if labels.exists():
        pl.read_csv(labels).with_columns(label=pl.lit("y")).write_csv(labels)


class Pages(Case):
    def test_blocks_run_as_printed(self) -> None:
        pages = dict(blocks())
        self.assertGreaterEqual(len(pages), 5)
        self.assertLessEqual(set(ELSEWHERE), set(pages))
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        for page, texts in pages.items():
            if page in ELSEWHERE:
                continue
            folder = self.folder / page.replace("/", "-")
            folder.mkdir()
            os.chdir(folder)
            names: dict[str, Any] = {**write(folder), "ds": ds}
            said = io.StringIO()
            for number, text in enumerate(texts):
                with self.subTest(page, block=number), contextlib.redirect_stdout(said):
                    exec(compile(text, f"{page}, block {number}", "exec"), names)
                judge(folder / "labels.csv")
            if page == "README.md":
                # The comment after the line contains the output of the line.
                self.assertEqual(said.getvalue().split()[0], "1631")


if __name__ == "__main__":
    unittest.main()
