#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy", "pyarrow"]
# ///
"""Measures complete runs on a large corpus: time, CPU time, memory and temporary files, compared with a corpus of a tenth of the size.

    benches/lab/scale.py CORPORA --gb 20 [--threads 16] [--folder DIR] [--dupsift target/release/dupsift]

benches/lab/grow_corpus.py grows the corpus from CORPORA/mixed-100m in parts of 2 GB with different seeds. One part per thread is grown at a
time. Grown corpora are kept in the folder and used again. For comparison, a corpus of a tenth of the size, but at most one part, is also
measured.

Columns: wall-clock seconds; CPU seconds; peak of anonymous memory (RssAnon, sampled ten times a second); peak of temporary files, sampled at
the same rate; megabytes of text per CPU second; CPU seconds compared with those of the small corpus, divided by the ratio of text sizes
(1.00: the cost is proportional); core hours per terabyte of text.
"""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lab

PART = 2000
MARKERS = ("<!-- scale -->", "<!-- /scale -->")
SETTINGS = [
    ("`exact`", ["--algorithms", "exact"], None),
    ("`minhash`", ["--algorithms", "minhash"], None),
    ("the default", [], None),
    ("the default, `--memory 2GiB`", ["--memory", "2GiB"], None),
    # Cutting passages writes the text again; 2 GB are enough to measure its cost.
    ("`exact`, `--cut runs:200`", ["--algorithms", "exact", "--cut", "runs:200", "--corpus", "keep", "--max-cut-share", "1"], PART),
]


def grown(corpora, folder, megabytes, at_once):
    """Returns folders of parts with this many megabytes in total; missing parts are grown in parallel."""
    sizes = [PART] * (megabytes // PART) + ([megabytes % PART] if megabytes % PART else [])
    parts = [(folder / f"part-{seed}-{size}mb", size, seed) for seed, size in enumerate(sizes, 1)]
    grow = Path(__file__).with_name("grow_corpus.py")

    def make(part):
        out, size, seed = part
        if out.exists():
            return
        half = out.with_name(out.name + ".half")
        shutil.rmtree(half, ignore_errors=True)
        words = [sys.executable, grow, half, "--from", corpora / "mixed-100m" / "docs", "--megabytes", str(size), "--seed", str(seed)]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        half.rename(out)

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(make, parts))
    return [out for out, _, _ in parts]


def size_of(folder):
    """Returns the bytes on disk of all files in a folder; files that disappear in the meantime do not count."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(path, name)).st_blocks * 512
            except OSError:
                pass
    return total


def unlinked(pid):
    """Returns the bytes on disk of the open files of a process that no longer have a name, like most temporary files of a run."""
    held = {}
    try:
        for number in os.listdir(f"/proc/{pid}/fd"):
            link = f"/proc/{pid}/fd/{number}"
            if os.readlink(link).endswith(" (deleted)"):
                status = os.stat(link)
                held[status.st_dev, status.st_ino] = status.st_blocks * 512
    except OSError:
        pass
    return sum(held.values())


def measure(program, inputs, more, threads, folder):
    """Measures one run: (documents, bytes of text, wall-clock seconds, CPU seconds, peak of anonymous memory, peak of temporary files)."""
    work, out = folder / "work", folder / "out"
    for place in (work, out):
        shutil.rmtree(place, ignore_errors=True)
    work.mkdir(parents=True)
    words = [program, "run", *inputs, "--out", out, "--work", work, "--threads", str(threads), "--no-report", "--checkpoint", "never", "-q", *more]
    begun = time.monotonic()
    process = subprocess.Popen(list(map(str, words)), stdout=subprocess.DEVNULL)
    peaks, ended = [0, 0], threading.Event()

    def look():
        while not ended.wait(0.1):
            peaks[0], peaks[1] = max(peaks[0], lab.anonymous(process.pid)), max(peaks[1], size_of(work) + unlinked(process.pid))

    looking = threading.Thread(target=look)
    looking.start()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begun
    ended.set()
    looking.join()
    code = process.returncode = os.waitstatus_to_exitcode(status)
    # Exit code 3: done, but rows were rejected or a guard fired.
    if code not in (0, 3):
        sys.exit(f"{' '.join(map(str, words))} ended with exit code {code}")
    documents = json.loads((out / "run.json").read_text())["documents"]
    for place in (work, out):
        shutil.rmtree(place, ignore_errors=True)
    return documents["used"], documents["text_bytes"], seconds, usage.ru_utime + usage.ru_stime, *peaks


def table(arguments, say):
    megabytes = round(arguments.gb * 1000)
    folder = arguments.folder
    all_parts = grown(arguments.corpora, folder, megabytes, arguments.threads)
    small = grown(arguments.corpora, folder, min(megabytes // 10, PART), 1)
    say("| setting | text | documents | seconds | CPU seconds | anonymous memory | temporary files | MB per CPU second | growth | core hours per TB |")
    say("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, more, most in SETTINGS:
        parts = all_parts[: max(1, most // PART)] if most else all_parts
        tenth = measure(arguments.dupsift, small, more, arguments.threads, folder)
        documents, text, seconds, cpu, memory, temporary = measure(arguments.dupsift, parts, more, arguments.threads, folder)
        growth = (cpu / tenth[3]) / (text / tenth[1])
        say(
            f"| {name} | {text / 1e9:.1f} GB | {documents:,} | {seconds:.1f} | {cpu:.1f} | {memory / 2**20:,.0f} MiB | {temporary / 1e9:.2f} GB "
            f"| {text / 1e6 / cpu:.0f} | {growth:.2f} | {cpu / text * 1e12 / 3600:.0f} |"
        )


def main():
    parser = lab.parser(__doc__)
    parser.add_argument("corpora", type=Path, help="folder that contains mixed-100m/docs")
    parser.add_argument("--gb", type=float, default=20, help="gigabytes of text (10^9 bytes) [20]")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="threads of a run [number of cores]")
    parser.add_argument("--folder", type=Path, default=Path("out/scale"), help="folder for grown corpora and temporary files [out/scale]")
    parser.add_argument("--write", type=Path, metavar="FILE", help="replace the section of scale in this file")
    arguments = parser.parse_args()
    if arguments.gb < 0.01:
        parser.error("--gb: expected at least 0.01")
    if not (arguments.corpora / "mixed-100m" / "docs").is_dir():
        parser.error(f"{arguments.corpora} has no mixed-100m/docs")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    page = lab.Page(arguments.write, MARKERS)
    page.say(f"`make lab RUN=scale` with `--gb {arguments.gb:g} --threads {arguments.threads}`.", "")
    table(arguments, page.say)
    page.save()


if __name__ == "__main__":
    main()
