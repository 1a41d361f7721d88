#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["daft", "datasketch", "duckdb", "numpy", "polars", "pyarrow", "rensa"]
# ///
"""Compares dupsift with other programs on the same files: CPU seconds, memory, and the duplicates that each finds.

Each program runs in a process of its own on the same two cores, alternating with dupsift; the median of the runs is shown. User and system
seconds cover the complete process, including start-up. scripts/requirements-peers.txt pins the versions; the installed versions and the
parameters are printed.

    benches/lab/peers.py CORPUS --dupsift target/release/dupsift
    benches/lab/peers.py CORPUS --peers daft --runs 3
    benches/lab/peers.py CORPUS --pairwise 15        # only exact against Polars, alternating, as ratios of pairs

The programs find different duplicates, so the table shows the counts next to the times: only dupsift checks pairs on the texts (rensa and
datasketch check the estimate), and all others split words at white space.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import lab

# Goals as shares of the CPU seconds of a peer.
PAIRWISE_GOAL = 0.95
DAFT_GOAL = 1 / 3
BANDS, ROWS, NGRAM = 14, 8, 5


def polars_exact(files):
    import polars as pl

    hashes = pl.scan_parquet(files).select(pl.col("text").hash().alias("hash"))
    groups = hashes.group_by("hash").len().filter(pl.col("len") > 1)
    found = groups.select(clusters=pl.len(), removed=(pl.col("len") - 1).sum()).collect(engine="streaming")
    return found["clusters"][0], found["removed"][0]


def duckdb_exact(files):
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    groups = "SELECT count(*) AS size FROM read_parquet(?) GROUP BY hash(text) HAVING size > 1"
    return connection.execute(f"SELECT count(*), coalesce(sum(size - 1), 0) FROM ({groups})", [files]).fetchone()


def daft_minhash(files):
    import daft
    import numpy as np
    from daft.functions import minhash, normalize

    text = normalize(daft.col("text"), remove_punct=True, lowercase=True, nfd_unicode=True, white_space=True)
    signed = minhash(text, num_hashes=BANDS * ROWS, ngram_size=NGRAM, seed=1, hash_function="xxhash")
    table = daft.read_parquet(files).select(signed.alias("minima")).to_arrow()
    minima = np.concatenate([np.asarray(chunk.flatten()) for chunk in table["minima"].chunks]).reshape(-1, BANDS * ROWS)
    factors = np.random.default_rng(1).integers(1, 1 << 63, ROWS, dtype=np.uint64) | np.uint64(1)
    pairs = []
    for band in range(BANDS):
        keys = (minima[:, band * ROWS : (band + 1) * ROWS].astype(np.uint64) * factors).sum(axis=1, dtype=np.uint64)
        order = np.argsort(keys, kind="stable")
        same = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
        pairs.append(np.stack([order[same], order[same + 1]]))
    return components(len(minima), *np.concatenate(pairs, axis=1))


def components(count, a, b):
    """Returns the number of clusters with two or more documents, and the number of documents after the first in each cluster."""
    import numpy as np

    labels = np.arange(count)
    while True:
        least = np.minimum(labels[a], labels[b])
        before = labels.copy()
        np.minimum.at(labels, a, least)
        np.minimum.at(labels, b, least)
        if (labels == before).all():
            break
    sizes = np.bincount(labels)
    sizes = sizes[sizes > 1]
    return len(sizes), int((sizes - 1).sum())


def daft_simhash(files):
    import daft
    from daft.functions import normalize, simhash

    text = normalize(daft.col("text"), remove_punct=True, lowercase=True, nfd_unicode=True, white_space=True)
    distinct = daft.read_parquet(files).select(simhash(text).alias("print")).distinct().count_rows()
    return None, f"{distinct} different prints"


def shingles(text):
    words = text.lower().split()
    return [" ".join(words[at : at + NGRAM]) for at in range(max(len(words) - NGRAM + 1, 1))] if words else []


def texts(files):
    import pyarrow.parquet as pq

    for file in files:
        for batch in pq.ParquetFile(file).iter_batches(1000, columns=["text"]):
            yield from (text or "" for text in batch.column(0).to_pylist())


def rensa_minhash(files):
    from rensa import RMinHash, RMinHashLSH

    def signed(text):
        minhash = RMinHash(num_perm=128, seed=1)
        minhash.update(shingles(text))
        return minhash

    index = RMinHashLSH(threshold=0.8, num_perm=128, num_bands=16)
    return one_by_one(files, signed, index.insert, index.query)


def datasketch_minhash(files):
    from datasketch import MinHash, MinHashLSH

    def signed(text):
        minhash = MinHash(num_perm=128, seed=1)
        minhash.update_batch([shingle.encode() for shingle in shingles(text)])
        return minhash

    index = MinHashLSH(num_perm=128, params=(16, 8))
    return one_by_one(files, signed, index.insert, index.query)


def one_by_one(files, signed, insert, query):
    """Inserts the documents one by one; each is paired with earlier documents whose estimated Jaccard similarity is at least 0.8."""
    all_signed, left, right = [], [], []
    for number, text in enumerate(texts(files)):
        minhash = signed(text)
        for other in query(minhash):
            if minhash.jaccard(all_signed[other]) >= 0.8:
                left.append(number)
                right.append(other)
        insert(number, minhash)
        all_signed.append(minhash)
    return components(len(all_signed), left, right) if left else (0, 0)


# The task, the package, the function to run, and its parameters.
PEERS = [
    ("exact", "polars", polars_exact, "group_by(text.hash()), streaming"),
    ("exact", "duckdb", duckdb_exact, "GROUP BY hash(text)"),
    ("minhash", "daft", daft_minhash, f"normalize (all four), minhash {BANDS * ROWS}, {NGRAM} words, xxhash; {BANDS} bands grouped in NumPy"),
    ("minhash", "rensa", rensa_minhash, f"R-MinHash 128, 16 bands of 8, {NGRAM} words in lower case, estimate >= 0.8"),
    ("minhash", "datasketch", datasketch_minhash, f"MinHash 128, 16 bands of 8, {NGRAM} words in lower case, estimate >= 0.8"),
    ("simhash", "daft", daft_simhash, "normalize (all four), simhash; prints only, no search"),
]
OURS = {
    "exact": "raw texts, Parquet tables written",
    "minhash": f"{BANDS} bands of {ROWS}, {NGRAM} words (Han: {NGRAM} characters), pairs verified, Parquet tables written",
    "simhash": "64 bits, distance 3, Parquet tables written",
}


def two_cores():
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])


def measure(command):
    """Returns the cost of a process (CPU seconds, wall-clock seconds, peak resident bytes), its stdout, and None.

    If the process failed, the stdout is None and the last value is the reason.
    """
    environment = os.environ | {"POLARS_MAX_THREADS": "2", "DAFT_ANALYTICS_ENABLED": "0", "DO_NOT_TRACK": "1"}
    started = time.monotonic()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(list(map(str, command)), stdout=out, stderr=err, env=environment, preexec_fn=two_cores)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - started
        child.returncode = code = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        cost = usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024
        # dupsift exits with 3 if a guard fired; the run is complete nevertheless.
        if code in (0, 3):
            return cost, out.read(), None
        return cost, None, f"signal {-code}" if code < 0 else f"exit code {code}: {err.read().strip()[-200:]}"


def run_dupsift(program, corpus, work):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        command = [program, "run", corpus, "--out", out, "--algorithms", work, "--threads", "2", "--no-progress"]
        cost, _, failure = measure(command)
        if failure:
            sys.exit(f"dupsift failed with {failure}")
        record = json.loads((out / "run.json").read_text())
        return cost, (record["algorithms"][0]["clusters"], record["removal"]["removed"])


def run_peer(work, package, corpus):
    cost, said, failure = measure([sys.executable, __file__, corpus, "--one", f"{work}/{package}"])
    return cost, ("failed", failure) if failure else tuple(json.loads(said.splitlines()[-1]))


def pairwise(arguments):
    ratios = []
    for _ in range(arguments.pairwise + 1):
        ours, _ = run_dupsift(arguments.dupsift, arguments.corpus, "exact")
        theirs, came = run_peer("exact", "polars", arguments.corpus)
        if "failed" in came:
            sys.exit(f"Polars failed with {came[1]}")
        ratios.append(ours[0] / theirs[0])
    # The first pair fills the system's caches.
    ratios = sorted(ratios[1:])
    middle = statistics.median(ratios)
    verdict = "met" if middle <= PAIRWISE_GOAL else "not met"
    print(f"exact, CPU of dupsift / CPU of Polars {version('polars')}, {len(ratios)} pairs in turn:")
    print(f"median {middle:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}); goal at most {PAIRWISE_GOAL:.2f}: {verdict}")


def table(arguments, files):
    peers = [peer for peer in PEERS if peer[1] in arguments.peers.split(",")]
    if not peers:
        sys.exit(f"there is no peer {arguments.peers}; available: {', '.join(sorted({peer[1] for peer in PEERS}))}")
    lines = {}
    for work in dict.fromkeys(peer[0] for peer in peers):
        lines[work, "dupsift"] = (OURS[work], lambda work=work: run_dupsift(arguments.dupsift, arguments.corpus, work))
        for _, package, _, parameters in (peer for peer in peers if peer[0] == work):
            run = lambda work=work, package=package: run_peer(work, package, arguments.corpus)  # noqa: E731
            lines[work, package] = (parameters, run)
    costs = {key: [] for key in lines}
    found = {}
    for _ in range(arguments.runs):
        for key, (_, run) in lines.items():
            cost, came = run()
            costs[key].append(cost)
            if "failed" not in found.get(key, ()):
                found[key] = came
    versions = [f"{package} {version(package)}" for package in dict.fromkeys(peer[1] for peer in peers)]
    ours = subprocess.run([arguments.dupsift, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    size = sum(Path(file).stat().st_size for file in files) / 1e6
    print(f"{len(files)} files, {size:.0f} MB on disk; two cores, median of {arguments.runs} runs in turn")
    print(f"{ours}; {', '.join(versions)}\n")
    print("| work | program | CPU s | of it, dupsift | wall s | peak RSS MB | clusters | removed | parameters |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    for (work, program), (parameters, _) in lines.items():
        cpu, wall, peak = (statistics.median(values) for values in zip(*costs[work, program]))
        # If a peer failed once, its cost is meaningless.
        failed = "failed" in found[work, program]
        share = float("nan") if failed else statistics.median(cost[0] for cost in costs[work, "dupsift"]) / cpu
        clusters, removed = ("-" if value is None else value for value in found[work, program])
        print(f"| {work} | {program} | {cpu:.2f} | {share:.2f} | {wall:.2f} | {peak / 1e6:.0f} | {clusters} | {removed} | {parameters} |")
        if (work, program) == ("minhash", "daft"):
            verdict = "met" if share <= DAFT_GOAL else "not met"
    if ("minhash", "daft") in lines:
        print(f"\nminhash: dupsift takes at most a third of the CPU of Daft: {verdict}")


def main():
    parser = lab.parser(__doc__)
    parser.add_argument("corpus", help="a folder of Parquet files, or one file, with a column text")
    parser.add_argument("--peers", default="polars,duckdb,daft,rensa", help="packages [polars,duckdb,daft,rensa]; datasketch is slow")
    parser.add_argument("--runs", type=int, default=1, help="runs of each program [1]")
    parser.add_argument("--pairwise", type=int, help="compare only exact with Polars, in this many pairs of runs")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    corpus = Path(arguments.corpus)
    files = [str(corpus)] if corpus.is_file() else sorted(map(str, corpus.rglob("*.parquet")))
    if not files:
        sys.exit(f"there is no Parquet file in {corpus}")
    if arguments.one:
        found = next(run for work, package, run, _ in PEERS if f"{work}/{package}" == arguments.one)(files)
        print(json.dumps([value if value is None or isinstance(value, str) else int(value) for value in found]))
    elif arguments.pairwise:
        pairwise(arguments)
    else:
        table(arguments, files)


if __name__ == "__main__":
    main()
