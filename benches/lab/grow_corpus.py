#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy", "pyarrow"]
# ///
"""Grows a large corpus from a small one, for measurements of cost. The same seed produces the same bytes.

    benches/lab/grow_corpus.py OUT --from DIR --megabytes 1000 --seed 1

Each document has the length of a document in DIR and consists of sentences from many documents in the same language, so it is not similar
to any original. 5% of the documents are near-duplicates of an earlier document (one to three sentences edited, dropped or moved), and 1%
are exact copies. Languages come from the `lang` column; without it, the complete corpus counts as one language. Writes the columns id,
text, lang and source. Memory holds the texts of DIR and one row group of about 40 MB.

    benches/lab/grow_corpus.py OUT --short 50000000 --seed 1

Generates this many documents of made-up words instead, 20 to 80 characters each, of which 1% are exact copies. Writes the columns id (a
number) and text.
"""

import argparse
import re
import sys
from array import array
from collections import deque
from pathlib import Path

import lab

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

# A sentence includes the white space that follows it, so paragraphs are preserved.
SENTENCE_END = re.compile(r"[.!?…]+[)\"'»”]*\s+|[。！？]+[”」』）]*\s*|\n\s*")
# Longer pieces are cut, because a page without full stops would otherwise be reused as a whole.
LONGEST_SENTENCE = 300
NEAR_COPIES, EXACT_COPIES = 0.05, 0.01
# A copy repeats one of this many preceding documents, which span several row groups.
REMEMBERED = 100_000
GROUP_BYTES = 42_000_000
FILES = 8
SHORT_GROUP = 500_000
SHORT_WORDS = 1 << 16


class Language:
    """Holds the sentences in one language as spans of one byte string, and the order in which they are used."""

    def __init__(self):
        self.bytes, self.ends = bytearray(), array("q", [0])

    def add(self, text):
        for piece in sentences(text):
            self.bytes += piece.encode()
            self.ends.append(len(self.bytes))

    def shuffle(self, rng):
        ends = np.frombuffer(self.ends, np.int64)
        self.order = rng.permutation(len(ends) - 1).astype(np.int32)
        self.until = np.cumsum(np.diff(ends)[self.order])
        self.next = 0

    def draw(self, length, rng):
        """Returns the numbers of sentences for a document of `length` bytes.

        Every sentence is used once before any sentence is used again.
        """
        drawn = []
        while length > 0:
            if self.next == len(self.order):
                self.shuffle(rng)
            before = int(self.until[self.next - 1]) if self.next else 0
            stop = min(int(np.searchsorted(self.until, before + length)) + 1, len(self.order))
            drawn.append(self.order[self.next : stop])
            length -= int(self.until[stop - 1]) - before
            self.next = stop
        return np.concatenate(drawn)

    def pieces(self, drawn, length):
        """Returns the sentences with these numbers; the last sentence is cut so that the document has `length` bytes."""
        pieces = [bytes(self.bytes[self.ends[at] : self.ends[at + 1]]) for at in drawn.tolist()]
        over = sum(map(len, pieces)) - length
        if over > 0:
            pieces[-1] = pieces[-1][:-over].decode(errors="ignore").encode()
        return pieces


def sentences(text):
    """Splits the text into pieces of at most LONGEST_SENTENCE characters, without omissions."""
    at = 0
    for end in [match.end() for match in SENTENCE_END.finditer(text)] + [len(text)]:
        while at < end:
            cut = min(end, at + LONGEST_SENTENCE)
            yield text[at:cut]
            at = cut


def edited(pieces, rng):
    """Edits one to three sentences: drops a word, drops the sentence, or moves it; texts with at most three sentences lose only words."""
    pieces = list(pieces)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(pieces)))
        kind = int(rng.integers(3)) if len(pieces) > 3 else 0
        if kind == 0:
            pieces[at] = without_a_word(pieces[at].decode(), rng).encode()
        elif kind == 1:
            del pieces[at]
        else:
            moved = pieces.pop(at)
            pieces.insert(int(rng.integers(len(pieces) + 1)), moved)
    return pieces


def without_a_word(text, rng):
    words = text.split(" ")
    if len(words) > 2:
        del words[int(rng.integers(len(words)))]
        return " ".join(words)
    at = int(rng.integers(max(len(text) - 2, 1)))
    return text[:at] + text[at + 2 :]


def rows(files):
    for file in files:
        with pq.ParquetFile(file) as parquet:
            columns = [name for name in ("text", "lang", "source") if name in parquet.schema_arrow.names]
            for batch in parquet.iter_batches(1000, columns=columns):
                yield from batch.to_pylist()


def documents(files, seed, wanted):
    """Yields rows (text, language, source) until their texts have `wanted` bytes."""
    rng = np.random.Generator(np.random.PCG64(seed))
    pools, models = {}, []
    for row in rows(files):
        text, language, source = row["text"], row.get("lang") or "", row.get("source") or ""
        if text:
            pools.setdefault(language, Language()).add(text)
            models.append((len(text.encode()), language, source))
    for language in sorted(pools):
        pools[language].shuffle(rng)
    remembered, written = deque(maxlen=REMEMBERED), 0
    while True:
        for model in rng.permutation(len(models)):
            length, language, source = models[model]
            chance = rng.random()
            if chance < NEAR_COPIES + EXACT_COPIES and remembered:
                drawn, length, language, source = remembered[int(rng.integers(len(remembered)))]
                pieces = pools[language].pieces(drawn, length)
                pieces = edited(pieces, rng) if chance < NEAR_COPIES else pieces
            else:
                drawn = pools[language].draw(length, rng)
                remembered.append((drawn, length, language, source))
                pieces = pools[language].pieces(drawn, length)
            text = b"".join(pieces)
            written += len(text)
            yield text, language, source
            if written >= wanted:
                return


def grow(out, origin, seed, wanted):
    files = sorted(origin.rglob("*.parquet"))
    if not files:
        sys.exit(f"there is no Parquet file in {origin}; expected a corpus with a column text; pass another folder with --from")
    schema = pa.schema([("id", pa.string()), ("text", pa.large_string()), ("lang", pa.string()), ("source", pa.string())])
    written, group, size, total, number = 0, [], 0, 0, 0
    writer = None

    def flush():
        columns = [list(column) for column in zip(*group)]
        columns[1] = pa.array(columns[1], pa.large_binary()).cast(pa.large_string())
        writer.write_table(pa.table(columns, schema=schema), row_group_size=len(group))

    for text, language, source in documents(files, seed, wanted):
        if writer is None:
            writer = pq.ParquetWriter(out / f"part-{written:05}.parquet", schema, compression="zstd")
            written += 1
        group.append((f"grown/{number}", text, language, source))
        number += 1
        size += len(text)
        total += len(text)
        if size >= GROUP_BYTES or total * FILES >= wanted * written:
            flush()
            group, size = [], 0
        if total * FILES >= wanted * written:
            writer.close()
            writer = None
    if writer is not None:
        if group:
            flush()
        writer.close()
    return number, total, written


def short(out, seed, count):
    rng = np.random.Generator(np.random.PCG64(seed))
    # Words of 7 alternating consonants and vowels, and a space: eight bytes, so a table of numbers is a table of words.
    letters = [np.frombuffer(b"bcdfghjklmnpqrstvwxz" if place % 2 == 0 else b"aeiou", np.uint8) for place in range(7)]
    columns = [rng.choice(row, SHORT_WORDS) for row in letters] + [np.full(SHORT_WORDS, ord(" "), np.uint8)]
    words = np.ascontiguousarray(np.stack(columns, axis=1)).view(np.uint64).reshape(-1)
    schema = pa.schema([("id", pa.int64()), ("text", pa.large_string())])
    per_file = -(-count // FILES)
    total, files = 0, 0
    for first in range(0, count, per_file):
        with pq.ParquetWriter(out / f"part-{files:05}.parquet", schema, compression="zstd") as writer:
            for at in range(first, min(first + per_file, count), SHORT_GROUP):
                number = min(SHORT_GROUP, first + per_file - at, count - at)
                chosen = rng.integers(0, SHORT_WORDS, (number, 10), dtype=np.uint32)
                lengths = rng.integers(3, 11, number)
                copies = np.flatnonzero(rng.random(number) < EXACT_COPIES)
                sources = rng.integers(0, number, len(copies))
                chosen[copies], lengths[copies] = chosen[sources], lengths[sources]
                text = words[chosen[np.arange(10) < lengths[:, None]]].view(np.uint8)
                ends = np.concatenate(([0], np.cumsum(lengths * 8)))
                text[ends[1:] - 1] = ord(".")
                texts = pa.LargeStringArray.from_buffers(number, pa.py_buffer(ends.astype(np.int64)), pa.py_buffer(text))
                table = pa.table([pa.array(np.arange(at, at + number)), texts], schema=schema)
                writer.write_table(table, row_group_size=number)
                total += len(text)
        files += 1
    return count, total, files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder for the Parquet files; it must not contain any")
    parser.add_argument("--from", dest="origin", type=Path, help="folder with the corpus to grow")
    parser.add_argument("--megabytes", type=int, default=1000, help="millions of bytes of text to write [1000]")
    parser.add_argument("--short", type=int, help="generate this many short documents of made-up words instead")
    parser.add_argument("--seed", type=int, default=1, help="random seed [1]")
    arguments = parser.parse_args()
    if (arguments.origin is None) == (arguments.short is None):
        parser.error("pass either --from DIR or --short N")
    arguments.out.mkdir(parents=True, exist_ok=True)
    if any(arguments.out.glob("*.parquet")):
        parser.error(f"{arguments.out} already contains Parquet files; pass a new folder, or remove them")
    if arguments.short is not None:
        number, size, files = short(arguments.out, arguments.seed, arguments.short)
    else:
        number, size, files = grow(arguments.out, arguments.origin, arguments.seed, arguments.megabytes * 1_000_000)
    print(f"{number} documents, {size / 1e6:.1f} MB of text, {files} files in {arguments.out}")


if __name__ == "__main__":
    main()
