#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["dupsift", "pyarrow"]
# ///
"""Measures the memory of `dupsift.dedup` on a frame of real text that is larger than its memory limit.

    benches/lab/frame_memory.py CORPUS [--bytes 2000000000] [--memory 500000000] [--algorithms exact,minhash] [--stream]

CORPUS is a folder of Parquet files with a column text. It is repeated until the frame has the requested size; each repetition swaps some
of the most common letters and characters of each script, so that its words differ. The frame is a table in memory or, with --stream, a
stream that generates its batches on demand. Reports the peak of the process's anonymous memory during the call, minus the memory before
it, and the promised limit: --memory, plus 150 MB, plus 30 times the longest document. Exits with 1 if the peak is higher.
"""

import argparse
import ctypes
import gc
import random
import sys
import tempfile
import threading
import time
from pathlib import Path

import lab

import dupsift
import pyarrow as pa
import pyarrow.parquet as pq

BESIDE = 150_000_000
DOCUMENTS = 30
LETTERS = ["etaoinshrdlu", "оеаинтсрвлкм", "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里"]


def changed(number):
    """Returns a table for `str.translate` that reverses a third of the letters in each script."""
    rng = random.Random(number)
    table = {}
    for letters in LETTERS if number else []:
        some = rng.sample(letters, len(letters) // 3)
        table |= {ord(one): other for one, other in zip(some, some[1:] + some[:1])}
    return table


def batches(texts, wanted):
    """Yields batches of the corpus, repeated until their texts have this many bytes."""
    made = number = 0
    while made < wanted:
        table = changed(number)
        for start in range(0, len(texts), 2_000):
            column = pa.array([text.translate(table) for text in texts[start : start + 2_000]], pa.large_string())
            made += column.nbytes
            yield pa.record_batch([column], ["text"])
            if made >= wanted:
                return
        number += 1


def anonymous():
    """Returns the anonymous memory of this process in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("RssAnon", "RssShmem")))


def give_back():
    """Returns unused memory to the system, so that reusing it is visible as growth."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)


def frame_of(given):
    """Returns the frame, and the size of the longest text in the corpus in bytes."""
    files = sorted(given.corpus.rglob("*.parquet"))
    texts = [text for file in files for text in pq.read_table(file, columns=["text"])["text"].to_pylist() if text]
    longest = max(len(text.encode()) for text in texts)
    schema = pa.schema([("text", pa.large_string())])
    frame = pa.RecordBatchReader.from_batches(schema, batches(texts, given.bytes))
    return frame if given.stream else frame.read_all(), longest


class Peak:
    """Measures the maximum of `anonymous` during the block, minus its value before."""

    def __enter__(self):
        self.before = self.most = anonymous()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        while not self.over.wait(0.02):
            self.most = max(self.most, anonymous())

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--bytes", type=int, default=2_000_000_000)
    parser.add_argument("--memory", type=int, default=500_000_000)
    parser.add_argument("--algorithms", default="exact,minhash")
    parser.add_argument("--stream", action="store_true")
    given = parser.parse_args()

    frame, longest = frame_of(given)
    give_back()
    with tempfile.TemporaryDirectory() as work, Peak() as peak:
        began = time.process_time()
        result = dupsift.dedup(frame, memory=given.memory, algorithms=given.algorithms, work=work, no_report=True)
        seconds = time.process_time() - began
        removed = len(result.removed())
    promised = given.memory + BESIDE + DOCUMENTS * longest
    print(f"{'stream' if given.stream else 'table'} of {given.bytes / 1e9:.1f} GB, {result.rows:,} rows, {removed:,} removed, {seconds:.0f} CPU s")
    print(f"before the call {peak.before / 1e6:,.0f} MB; the call took {(peak.most - peak.before) / 1e6:,.0f} MB more at most, promised {promised / 1e6:,.0f} MB")
    return int(peak.most - peak.before > promised)


if __name__ == "__main__":
    sys.exit(main())
