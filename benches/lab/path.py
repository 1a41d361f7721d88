#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# ///
"""Estimates the benefit of more cores: the critical path of a run, from the CPU time of each thread.

    benches/lab/path.py CORPUS [CORPUS ...] [--threads 1,16,64] [--algorithms LIST] [--runs 3] [--dupsift PATH] [--stages]

The path of a stage is the CPU time of its leading thread plus that of its busiest worker: even with many cores, the stage cannot take less
time. The path of a run is the sum over its stages, plus the work of the leading thread between them and the wall-clock time of the
process's exit. With one thread, all of the time is on the path. Two values are shown:

    spread   CPU seconds of this run divided by its path: how evenly the threads share the work;
    speed-up CPU seconds of the run with the fewest threads divided by the path of this run: the largest possible gain from as many cores as it has threads.

Checkpoints are off, because a run with many threads on few cores would last long enough to write a checkpoint, and a run on many cores
would not. Waiting for locks and for shared memory bandwidth is not included. If there are several runs, the run with the median path
counts. The times come from the log with --log-format json and RUST_LOG=debug. Linux only.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

import lab


def measure(program, inputs, algorithms, threads):
    """Returns all CPU seconds, seconds of the path, and the stages as (name, serial, busiest, all)."""
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "run", *inputs, "--out", f"{folder}/out", "--threads", str(threads), "--log-format", "json", "--checkpoint", "never"]
        command += ["--algorithms", algorithms] if algorithms else []
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env={**os.environ, "RUST_LOG": "debug"}, text=True)
        lines = process.stderr.read().splitlines()
        _, status, usage = os.wait4(process.pid, 0)
        ended = time.time()
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3):
        sys.exit(f"{' '.join(command)} ended with {process.returncode}:\n" + "\n".join(lines[-5:]))
    lines = [json.loads(line) for line in lines]
    stages = [(line["stage"], line["serial"], line["busiest"], line["all"]) for line in lines if line["message"] == "stage by threads"]
    cpu = usage.ru_utime + usage.ru_stime
    led = sum(line["seconds"] for line in lines if line["message"] == "leading thread")
    last = datetime.fromisoformat(lines[-1]["timestamp"].replace("Z", "+00:00")).timestamp()
    between = max(0.0, led - sum(stage[1] for stage in stages)) + max(0.0, ended - last)
    stages.append(("between stages", between, 0.0, between))
    return cpu, sum(serial + busiest for _, serial, busiest, _ in stages), stages


def main():
    parser = lab.parser(__doc__)
    parser.add_argument("inputs", nargs="+", metavar="CORPUS", help="a folder or file; several are read as one corpus")
    parser.add_argument("--threads", default="1,16,64", help="numbers of threads, separated by commas [default: 1,16,64]")
    parser.add_argument("--algorithms", help="like --algorithms of dupsift run [default: the same]")
    parser.add_argument("--runs", type=int, default=3, help="runs of each [default: 3]")
    parser.add_argument("--stages", action="store_true", help="also show the stages with the longest paths")
    typed = parser.parse_args()
    missing = [path for path in [typed.dupsift, *typed.inputs] if not Path(path).exists()]
    if missing:
        parser.error(f"there is no {missing[0]}")
    counts = [int(count) for count in typed.threads.split(",")]
    if typed.runs < 1 or min(counts) < 1:
        parser.error("expected at least one run and one thread")
    first = None
    print("| threads | CPU s | path s | spread | speed-up |\n| ---: | ---: | ---: | ---: | ---: |")
    for threads in counts:
        runs = sorted((measure(typed.dupsift, typed.inputs, typed.algorithms, threads) for _ in range(typed.runs)), key=lambda run: run[1])
        cpu, path, stages = runs[len(runs) // 2]
        first = first or cpu
        print(f"| {threads} | {cpu:.2f} | {path:.2f} | {cpu / path:.1f} x | {first / path:.1f} x |", flush=True)
        if typed.stages:
            for name, serial, busiest, all in sorted(stages, key=lambda stage: -stage[1] - stage[2])[:12]:
                print(f"    {name}: path {serial + busiest:.3f} (leads {serial:.3f}, busiest {busiest:.3f}) of {all:.3f} CPU s", file=sys.stderr)


if __name__ == "__main__":
    main()
