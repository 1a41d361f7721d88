#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy", "pyarrow"]
# ///
"""Measures `--cut runs:200` on made-up text with planted passages: CPU time, memory and temporary files, by size and share of passages.

    benches/lab/passages.py FOLDER [--megabytes 100,1000] [--percent 1,5,20] [--threads 2] [--memory 2GiB] [--dupsift target/release/dupsift]

Documents consist of random words, so nothing but the passages recurs. A passage has 250 to 1,000 characters and occurs five times on
average, in random documents. `--percent` is the share of the text that belongs to passages. Corpora are kept in the folder and used again.

Columns: text; share of passages; CPU seconds of the run; those that `--cut` adds to the run without it; megabytes of text per added CPU
second; added CPU seconds per megabyte, compared with the smallest corpus with the same share; peak of anonymous memory; peak of temporary
files.
"""

import sys
from pathlib import Path

import lab
import scale

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

WORDS = 1 << 16
DOCUMENT_WORDS = 400
SHORTEST, LONGEST = 250, 1000
OCCURRENCES = 5
GROUP_DOCUMENTS = 10_000


def write(path, megabytes, percent):
    """Writes a corpus of this size in which this share of the text belongs to passages."""
    rng = np.random.default_rng(megabytes * 100 + percent)
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", np.uint8)
    words = [bytes(rng.choice(letters, size)).decode() for size in rng.integers(2, 11, WORDS)]
    text_of = lambda count: " ".join(map(words.__getitem__, rng.integers(0, WORDS, count).tolist()))
    length = len(text_of(100_000)) / 100_000 * DOCUMENT_WORDS
    share = percent / 100
    each = share / (1 - share) * length / ((SHORTEST + LONGEST) / 2)
    passages, written, at = [], 0, 0

    def passage():
        if passages and rng.random() >= 1 / OCCURRENCES:
            return passages[rng.integers(len(passages))]
        size = int(rng.integers(SHORTEST, LONGEST))
        # A word and its space have at least three characters.
        passages.append(text_of(size // 3)[:size])
        return passages[-1]

    half = path.with_suffix(".half")
    schema = pa.schema([("id", pa.string()), ("text", pa.string())])
    with pq.ParquetWriter(half, schema, compression="zstd") as out:
        while written < megabytes * 1_000_000:
            texts = []
            for count in rng.poisson(each, GROUP_DOCUMENTS).tolist():
                parts = [text_of(DOCUMENT_WORDS // (count + 1)) for _ in range(count + 1)]
                for place in range(count):
                    parts.insert(2 * place + 1, passage())
                texts.append(" ".join(parts))
                written += len(texts[-1])
                if written >= megabytes * 1_000_000:
                    break
            out.write_table(pa.table({"id": [str(at + row) for row in range(len(texts))], "text": texts}, schema=schema))
            at += len(texts)
    half.rename(path)


def main():
    parser = lab.parser(__doc__)
    parser.add_argument("folder", type=Path, help="where corpora are kept; also holds temporary files")
    parser.add_argument("--megabytes", default="100,1000")
    parser.add_argument("--percent", default="1,5,20")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--memory", help="as the option of the same name")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    options = ["--algorithms", "exact", *(["--memory", given.memory] if given.memory else [])]
    cut = ["--cut", "runs:200", "--max-cut-share", "1"]
    rows = [
        "| text | passages | CPU s | of `--cut` | MB per CPU s | CPU per MB, compared | anonymous memory | temporary files |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    print(f"Measured at commit {lab.commit()}, {given.threads} threads.\n", *rows, sep="\n", flush=True)
    first = {}
    for megabytes in map(int, given.megabytes.split(",")):
        for percent in map(int, given.percent.split(",")):
            corpus = given.folder / f"passages-{megabytes}mb-{percent}.parquet"
            if not corpus.exists():
                write(corpus, megabytes, percent)
            run = lambda more: scale.measure(given.dupsift.resolve(), [corpus], [*options, *more], given.threads, given.folder)
            alone = run([])[3]
            _, text, _, cpu, memory, disk = run(cut)
            text, added = text / 1e6, cpu - alone
            first.setdefault(percent, added / text)
            compared = added / text / first[percent]
            print(
                f"| {text:,.0f} MB | {percent}% | {cpu:.1f} | {added:.1f} | {text / added:.1f} | {compared:.2f} "
                f"| {memory >> 20:,} MiB | {disk / 1e6:,.0f} MB |",
                flush=True,
            )


if __name__ == "__main__":
    sys.exit(main())
