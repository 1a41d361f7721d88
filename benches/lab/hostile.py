#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["pyarrow"]
# ///
"""Generates corpora of hostile shapes and runs the program on them. Exits with 1 if a promise is broken.

    benches/lab/hostile.py [DIR] [--dupsift target/release/dupsift]
    benches/lab/hostile.py DIR --dupsift PROGRAM --small --threads 1,8 --shapes pages,lines

For each shape, verb and number of threads, the table shows the exit code and the peak of anonymous memory (RssAnon in /proc, sampled every
5 ms, and the value in run.json) next to the promised limit: --memory + 150 MB + 30 times the longest document. The same seed produces the
same bytes. Each shape is generated in DIR and removed afterwards. Linux only. --small generates corpora of about 30 MB with the same
faults, for tests.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import lab

import hostile_shapes as shapes
import pyarrow as pa
import pyarrow.parquet as pq

CONSTANT, A_DOCUMENT = 150_000_000, 30
MIB = 1 << 20
# The minimum of --memory is 16 MiB plus 16 MiB per thread.
LEAST = 16
HANG_SECONDS = 900

ALL = ("exact", "minhash", "balanced", "stream", "compare", "evaluate", "explain", "purify")
SOME = ("exact", "minhash", "balanced", "stream")
EXACT = ("exact",)
PURIFY = ("purify",)
VERBS = (*ALL, "segments")
# The verbs, the minimum memory in MiB (for a single page, if pages are large), the MiB with --small, and the exit codes.
SHAPES = {
    shapes.pages: (ALL, 160, 64, {0}),
    shapes.packed_pages: (SOME, 160, 64, {0}),
    shapes.long_documents: (ALL, 160, 48, {0}),
    shapes.all_different: (ALL, 160, 48, {0}),
    shapes.near_copies: (SOME + ("compare",), 48, 48, {0}),
    shapes.one_different: (SOME, 48, 48, {0}),
    shapes.lines: (ALL, 160, 48, {0}),
    shapes.wide_rows: (("exact", "purify"), 48, 48, {0}),
    shapes.line_80: (SOME, 160, 48, {0}),
    shapes.encoded_lines: (EXACT, 48, 48, {0}),
    shapes.encoded_texts: (EXACT, 48, 48, {3}),
    shapes.long_values: (("exact", "purify"), 48, 48, {0}),
    shapes.parquet_values: (PURIFY, 288, 96, {0}),
    shapes.repeated_values: (PURIFY, 200, 96, {0}),
    shapes.nested_values: (PURIFY, 200, 48, {0}),
    shapes.refused_values: (PURIFY, 48, 48, {2}),
    shapes.expanding: (("exact", "segments"), 48, 48, {0}),
    shapes.long_ids: (EXACT, 48, 48, {0}),
    shapes.packed_bodies: (("exact", "purify"), 48, 48, {3}),
    shapes.gzip_bomb: (EXACT, 48, 48, {3}),
    shapes.zstd_window: (EXACT, 48, 48, {3}),
    shapes.endless: (EXACT, 48, 48, {0, 3}),
    shapes.garbage: (EXACT, 48, 48, {0}),
    shapes.gbk: (EXACT, 48, 48, {0, 3, 4}),
    shapes.cut_off: (EXACT, 48, 48, {3}),
    shapes.template: (("minhash", "balanced", "segments"), 48, 48, {0}),
    shapes.equal: (SOME, 48, 48, {0, 3}),
    shapes.deep: (("exact", "stream", "purify"), 48, 48, {0}),
    shapes.long_dictionary: (EXACT, 160, 48, {0}),
    shapes.footers: (SOME, 192, 48, {0}),
    shapes.long_sources: (EXACT, 160, 48, {3}),
}

CYRILLIC = ["--encoding", "windows-1251"]
MORE = {
    shapes.encoded_lines: CYRILLIC,
    shapes.encoded_texts: CYRILLIC,
    shapes.nested_values: ["--columns", "doc.raw"],
    shapes.long_dictionary: ["--keep", "score desc"],
    shapes.long_sources: ["--source-column", "source", "--guard-rows", "1"],
}
# Maximum bytes of printed output, and of the record without the two paths of each file, for any values in the corpus.
PRINTED, RECORDED = 1 << 20, 4 << 20


def watched(command):
    """Runs a command; returns its exit code, its peak anonymous memory in bytes, and its output.

    A command that hangs is killed and has the exit code -9.
    """
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(command, stdout=output, stderr=output)
        peak, begun = 0, time.monotonic()
        while child.poll() is None:
            try:
                status = Path(f"/proc/{child.pid}/status").read_text()
            except OSError:
                break
            peak = max([peak] + [int(line.split()[1]) * 1024 for line in status.splitlines() if "RssAnon" in line])
            if time.monotonic() - begun > HANG_SECONDS:
                child.kill()
            time.sleep(0.005)
        child.wait()
        output.seek(0)
        return child.returncode, peak, output.read().decode(errors="replace")


def commands(verb, program, corpus, work, options):
    """Returns the commands to run first, the command to watch, and the path of its record."""
    out, before = work / "out", work / "before"
    names = {"balanced": "exact,versions"}
    algorithms = ["--algorithms", names.get(verb, verb if verb in ("exact", "minhash", "segments") else "exact,minhash")]
    target = ["--out", str(out), "--overwrite", "--no-progress", *options]
    run = [program, "run", str(corpus), *algorithms]
    if verb in ("exact", "minhash", "balanced", "segments"):
        return None, [*run, *target], out
    if verb == "stream":
        return None, [program, "stream", str(corpus), "--algorithms", "exact", *target], out
    if verb == "compare":
        return None, [program, "compare", str(corpus), *algorithms, *target], out
    if verb == "purify":
        return None, [program, "purify", str(corpus), "--html-column", "text", *target], out
    first = [*run, "--out", str(before), "--overwrite", "--no-progress", *options]
    if verb == "explain":
        return first, [program, "explain", str(before), "d0", "d1", "--no-progress", *options], before
    truth = work / "truth.parquet"
    pq.write_table(pa.table({"id_a": ["d0", "d1"], "id_b": ["d1", "d2"]}), truth)
    return first, [program, "evaluate", str(before), "--truth", str(truth), "--no-progress", *options], before


def run(shape, verb, threads, longest, arguments, corpus, work):
    _, least, small_least, codes = SHAPES[shape]
    mebibytes = max(small_least if arguments.small else least, LEAST * (threads + 1))
    options = ["--memory", f"{mebibytes}MiB", "--threads", str(threads), *MORE.get(shape, [])]
    first, command, out = commands(verb, arguments.dupsift, corpus, work, options)
    if first:
        watched(first)
    code, peak, said = watched(command)
    record = out / "run.json"
    paths = sum(len(os.path.join(folder, name)) for folder, _, names in os.walk(corpus) for name in names)
    recorded = RECORDED + 2 * paths
    is_short = len(said) <= PRINTED and (not record.is_file() or record.stat().st_size <= recorded)
    if verb not in ("explain", "evaluate") and record.is_file():
        peak = max(peak, json.loads(record.read_text()).get("peak_memory_bytes", 0))
    promised = mebibytes * MIB + CONSTANT + A_DOCUMENT * longest
    wanted = codes if verb != "explain" or len(os.listdir(corpus)) > 1 else codes | {0}
    is_held = code in wanted and peak <= promised and is_short
    print(
        f"| {shape.__name__} | {verb} | {threads} | {mebibytes} | {peak / 1e6:.0f} | {promised / 1e6:.0f} | {code} | "
        f"{'held' if is_held else 'BROKEN'} |",
        flush=True,
    )
    if not is_short:
        print(f"  prints {len(said)} bytes, expected at most {PRINTED}, or records more than {recorded}", file=sys.stderr)
    if code not in wanted:
        print(f"  exit code {code}, expected one of {sorted(wanted)}: {said[-600:].strip()}", file=sys.stderr)
    shutil.rmtree(out, ignore_errors=True)
    shutil.rmtree(work / "before", ignore_errors=True)
    return is_held


def main():
    parser = lab.parser(__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("out/hostile"), metavar="DIR", help="folder for the corpora [out/hostile]")
    parser.add_argument("--threads", default="1,2,4,8")
    parser.add_argument("--shapes", default=",".join(shape.__name__ for shape in SHAPES))
    parser.add_argument("--verbs", default=",".join(VERBS))
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--make-only", action="store_true", help="generate the corpora, but run and remove nothing")
    arguments = parser.parse_args()
    # Deeply nested folders are removed recursively.
    sys.setrecursionlimit(10_000)
    known = {shape.__name__: shape for shape in SHAPES}
    chosen, verbs = arguments.shapes.split(","), arguments.verbs.split(",")
    if unknown := [name for name in chosen if name not in known] + [verb for verb in verbs if verb not in VERBS]:
        parser.error(f"unknown: {', '.join(unknown)}; shapes are {', '.join(known)}, verbs {', '.join(VERBS)}")
    broken = 0
    print("| shape | verb | threads | --memory, MiB | peak, MB | promised, MB | exit | |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |")
    for name in chosen:
        shape, work = known[name], arguments.folder / name
        shutil.rmtree(work, ignore_errors=True)
        corpus = work / "corpus"
        corpus.mkdir(parents=True)
        longest = shape(corpus, random.Random(7), arguments.small)
        if arguments.make_only:
            continue
        for verb in (verb for verb in SHAPES[shape][0] if verb in verbs):
            for threads in map(int, arguments.threads.split(",")):
                broken += not run(shape, verb, threads, longest, arguments, corpus, work)
        shutil.rmtree(work)
    if broken:
        print(f"{broken} broken", file=sys.stderr)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
