"""Measures a batch of 10,000 documents, either short or from a corpus, against an index of short documents and an empty index."""

import json
import os
import random
import shutil
import statistics
import sys
from pathlib import Path

import incremental_dealt
import lab
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

RECIPES = ["minhash:ngram=2", "exact,minhash:ngram=2"]
BATCH = 10_000
# The number of texts from the index that the batch repeats, and the number that it repeats with an additional word.
AGAIN, EDITED = 1_500, 1_500
STAGES = ["match the index", "look up indexed documents", "append to the index"]


def batch_of(folder, old, seed):
    """Writes new documents, and some documents from the index."""
    grown(folder / "new", BATCH - AGAIN - EDITED, seed + 1_000)
    new = pq.read_table(folder / "new")["text"].to_pylist()
    first = pq.read_table(sorted(old.glob("*.parquet"))[0], columns=["text"])["text"]
    chosen = np.random.Generator(np.random.PCG64(seed)).choice(len(first), AGAIN + EDITED, replace=False)
    repeated = first.take(pa.array(chosen)).to_pylist()
    texts = new + repeated[:AGAIN] + [f"{text} and one more." for text in repeated[AGAIN:]]
    (folder / "batch").mkdir()
    table = pa.table({"id": pa.array([-1 - at for at in range(BATCH)], pa.int64()), "text": pa.array(texts, pa.large_string())})
    pq.write_table(table, folder / "batch" / "batch.parquet")
    return folder / "batch"


def grown(folder, count, seed):
    script = Path(__file__).parent / "grow_corpus.py"
    lab.run(sys.executable, script, folder, "--short", count, "--seed", seed, codes=[0])
    return folder


def batch_of_corpus(folder, corpus, seed):
    """Writes random documents from a corpus, with negative numbers as ids, like the short documents of a batch."""
    rows = random.Random(seed).sample(incremental_dealt.read(corpus), BATCH)
    folder.mkdir()
    table = pa.table({"id": pa.array([-1 - BATCH - at for at in range(BATCH)], pa.int64()), "text": pa.array([row[1] for row in rows], pa.large_string())})
    pq.write_table(table, folder / "batch.parquet", row_group_size=500)
    return folder


def run(arguments, algorithms, corpus, out, *more):
    options = ["--algorithms", algorithms, "--threads", str(arguments.threads), "--memory", "2GiB", "--no-report", "--no-progress", "--overwrite"]
    command = [arguments.dupsift, "run", corpus, "--out", out, *options, *more]
    lab.run(*command)
    return json.loads((out / "run.json").read_text())


def one_line(arguments, place, algorithms, kind, batch, made):
    """Returns the table row for one batch."""
    plain = [run(arguments, algorithms, batch, place / "out" / "plain") for _ in range(arguments.runs)]
    matched = [run(arguments, algorithms, batch, place / "out" / kind, "--index", place / "index", "--accept") for _ in range(arguments.runs)]
    middle = lambda runs, of: statistics.median(map(of, runs))
    cpu = lambda one: one["cpu_seconds"]
    peak = lambda one: one["peak_memory_bytes"] / 2**20
    of_stage = lambda name: lambda one: sum(stage["cpu_seconds"] for stage in one["stages"] if stage["stage"] == name)
    stages = " | ".join(f"{middle(matched, of_stage(name)):.2f}" for name in STAGES)
    bytes_of = lambda kind, ending: sum(os.path.getsize(path) for path in (place / "index" / kind).rglob(ending)) / 1e6
    return (
        f"| `{algorithms}` | {made['documents']['rows']:,} | {kind} | {bytes_of('rows', '*.run'):.0f}, {bytes_of('batches', '*.parquet'):.0f} | {cpu(made):.1f} | "
        f"{middle(plain, cpu):.2f} | {middle(matched, cpu):.2f} | {middle(matched, cpu) / middle(plain, cpu):.2f} | {stages} | {matched[-1]['index']['indexed']:,} | "
        f"{middle(plain, peak):.0f}, {middle(matched, peak):.0f} |"
    )


def short(arguments, folder, say):
    say("### A small batch against a large index", "")
    say(
        f"An index of short documents (20 to 80 characters of made-up words), and two batches of {BATCH:,}: short ones, {AGAIN:,} of which the index has, and {EDITED:,} with "
        f"two words more; and real ones, of {arguments.corpus.name}, of which the index has none. {arguments.threads} threads, each batch {arguments.runs} times (made again), medians. "
        "Goals: the scan .6 CPU s at the most with 10 million, the batch 3 times the same batch against nothing.",
        "",
        "| recipe | documents of the index | batch | rows, texts MB | CPU s to make it | batch: CPU s against nothing | with the index | ratio | " + " | ".join(f"CPU s: {name}" for name in STAGES) + " | matched | peak memory MiB: nothing, with the index |",
        "| --- | ---: | --- |" + " ---: |" * (7 + len(STAGES)),
    )
    for count in map(int, arguments.short.split(",")):
        old = grown(folder / str(count), count, arguments.seed)
        batches = {"short": batch_of(folder / f"{count}-short", old, arguments.seed), "real": batch_of_corpus(folder / f"{count}-real", arguments.corpus, arguments.seed)}
        for at, algorithms in enumerate(arguments.recipes):
            place = folder / f"{count}-{at}"
            made = run(arguments, algorithms, old, place / "out" / "old", "--index", place / "index")
            for kind, batch in batches.items():
                say(one_line(arguments, place, algorithms, kind, batch, made))
            shutil.rmtree(place)
    say("")
