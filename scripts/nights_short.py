"""A night of 10,000 short documents against an index of many, beside the same night against nothing."""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ALGORITHMS = "minhash:ngram=2"
NIGHT = 10_000
# Of the night: so many texts of the index again, and so many with one word more.
AGAIN, EDITED = 1_500, 1_500
STAGES = ["meet the index", "look up guests", "append to the index"]


def night_of(folder, old, seed):
    """Documents that are new, and some of the index."""
    grown(folder / "new", NIGHT - AGAIN - EDITED, seed + 1_000)
    new = pq.read_table(folder / "new")["text"].to_pylist()
    first = pq.read_table(sorted(old.glob("*.parquet"))[0], columns=["text"])["text"]
    chosen = np.random.Generator(np.random.PCG64(seed)).choice(len(first), AGAIN + EDITED, replace=False)
    taken = first.take(pa.array(chosen)).to_pylist()
    texts = new + taken[:AGAIN] + [f"{text} and one more." for text in taken[AGAIN:]]
    (folder / "night").mkdir()
    table = pa.table({"id": pa.array([-1 - at for at in range(NIGHT)], pa.int64()), "text": pa.array(texts, pa.large_string())})
    pq.write_table(table, folder / "night" / "night.parquet")
    return folder / "night"


def grown(folder, count, seed):
    script = Path(__file__).parent / "grow_corpus.py"
    subprocess.run([sys.executable, script, folder, "--short", str(count), "--seed", str(seed)], check=True, capture_output=True)
    return folder


def run(arguments, corpus, out, *more):
    options = ["--algorithms", ALGORITHMS, "--threads", str(arguments.threads), "--memory", "2GiB", "--no-report", "--no-progress", "--overwrite"]
    command = [arguments.dupsift, "run", corpus, "--out", out, *options, *more]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"{corpus}: dupsift ended with {done.returncode}:\n{done.stderr}")
    return json.loads((out / "run.json").read_text())


def short(arguments, folder, say):
    say("### A small night against a large index", "")
    say(
        f"A night of {NIGHT:,} short documents (20 to 80 characters of made-up words, `{ALGORITHMS}`), {AGAIN:,} of which the index has, and {EDITED:,} with "
        f"two words more; {arguments.threads} threads, the night {arguments.runs} times (made again), medians. Goals: the scan .6 CPU s at the most with 10 million, the night 3 "
        "times the same night against nothing.",
        "",
        "| documents of the index | rows, texts MB | CPU s to make it | night: CPU s against nothing | with the index | ratio | " + " | ".join(f"CPU s: {name}" for name in STAGES) + " | guests | peak memory MiB: nothing, with the index |",
        "| ---: |" + " ---: |" * (8 + len(STAGES)),
    )
    for count in map(int, arguments.short.split(",")):
        place = folder / str(count)
        old = grown(place / "old", count, arguments.seed)
        night = night_of(place, old, arguments.seed)
        made = run(arguments, old, place / "out" / "old", "--index", place / "index")
        plain = [run(arguments, night, place / "out" / "plain") for _ in range(arguments.runs)]
        met = [run(arguments, night, place / "out" / "night", "--index", place / "index", "--accept") for _ in range(arguments.runs)]
        middle = lambda runs, of: statistics.median(map(of, runs))
        cpu = lambda one: one["cpu_seconds"]
        peak = lambda one: one["peak_memory_bytes"] / 2**20
        of_stage = lambda name: lambda one: sum(stage["cpu_seconds"] for stage in one["stages"] if stage["stage"] == name)
        stages = " | ".join(f"{middle(met, of_stage(name)):.2f}" for name in STAGES)
        bytes_of = lambda kind, ending: sum(os.path.getsize(path) for path in (place / "index" / kind).rglob(ending)) / 1e6
        say(
            f"| {count:,} | {bytes_of('rows', '*.run'):.0f}, {bytes_of('batches', '*.parquet'):.0f} | {cpu(made):.1f} | {middle(plain, cpu):.2f} | {middle(met, cpu):.2f} | "
            f"{middle(met, cpu) / middle(plain, cpu):.2f} | {stages} | {met[-1]['index']['guests']:,} | {middle(plain, peak):.0f}, {middle(met, peak):.0f} |"
        )
    say("")
