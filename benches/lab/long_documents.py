#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# ///
"""Measures the cost of long documents: CPU seconds of each algorithm on three near-duplicates of 0.5, 1, 2 and 4 MB.

    benches/lab/long_documents.py [--shapes zipf,moved] [--megabytes 0.5,1,2,4] [--algorithms minhash,cosine] [--limit 60]

Each cell is one run of one algorithm on three documents, minus its cost on three short ones. The number in
parentheses is the growth at the last doubling: 2 means that the cost grows with the length, 4 with its square. A run that takes more than
--limit CPU seconds is stopped and shown as `>60`. The shapes, all generated from seeds:

    zipf       word frequencies as in a language, sentences of about 15 words; one word in 50 differs
    far        the same, but one word in 9 differs: near the usual thresholds
    moved      the same words with their sentences in a different order
    different  no word occurs twice; each document has its own order, and one word in 50 differs
    one        one repeated word, with a different one in a few positions
    letters    Latin letters without spaces
    chinese    Chinese characters without punctuation
    sentences  sentences of one word each
"""

import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import lab

SHAPES = ["zipf", "far", "moved", "different", "one", "letters", "chinese", "sentences"]
DOCUMENTS = 3
# Characters that are frequent in Chinese texts.
HAN = "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实"


def word(number):
    """Returns a made-up word for each number."""
    letters = []
    while True:
        letters.append("bcdfghklmnprstvz"[number % 16] + "aeiou"[number // 16 % 5])
        number //= 80
        if number == 0:
            return "".join(letters)


def zipf(rng, count):
    """Returns word numbers whose frequencies are approximately the word frequencies in a language with 200,000 words."""
    return [int(200_000 ** rng.random()) for _ in range(count)]


def changed(rng, units, share, other):
    return [other(rng) if rng.random() < share else unit for unit in units]


def sentences(words):
    """Joins words to sentences of fifteen words."""
    return [" ".join(words[at : at + 15]) + ". " for at in range(0, len(words), 15)]


def texts(shape, size):
    """Returns three texts of about this many bytes."""
    rng = random.Random(f"{shape} {size}")
    rare = lambda rng: word(rng.randrange(10**6, 10**9))
    if shape in ("zipf", "far", "moved"):
        base = []
        while sum(map(len, base)) + len(base) < size:
            base += [word(number) for number in zipf(rng, max(100, size // 50))]
        if shape == "moved":
            parts = sentences(base)
            return ["".join(rng.sample(parts, len(parts))) for _ in range(DOCUMENTS)]
        # Two documents differ wherever one of them was changed.
        share = 0.01 if shape == "zipf" else 0.06
        return ["".join(sentences(changed(rng, base, share, rare))) for _ in range(DOCUMENTS)]
    if shape == "different":
        base = [word(10**6 + number) for number in rng.sample(range(10 * size), size // 9)]
        return ["".join(sentences(changed(rng, base, 0.01, rare))) for _ in range(DOCUMENTS)]
    if shape == "one":
        return [" ".join(changed(rng, ["слово"] * (size // 11), 0.001, rare)) for _ in range(DOCUMENTS)]
    if shape == "letters":
        base = rng.choices("etaoinshrdlu", k=size)
        return ["".join(changed(rng, base, 0.01, lambda rng: "z")) for _ in range(DOCUMENTS)]
    if shape == "chinese":
        base = rng.choices(HAN, [1 / (rank + 5) for rank in range(len(HAN))], k=size // 3)
        return ["".join(changed(rng, base, 0.01, lambda rng: "龙")) for _ in range(DOCUMENTS)]
    base = [word(number) for number in zipf(rng, size // 7)]
    return [". ".join(changed(rng, base, 0.01, rare)) + "." for _ in range(DOCUMENTS)]


def write(folder, shape, size):
    folder.mkdir(parents=True)
    with open(folder / "docs.jsonl", "w", encoding="utf-8") as out:
        for number, text in enumerate(texts(shape, size)):
            out.write(json.dumps({"id": f"d{number}", "text": text}, ensure_ascii=False) + "\n")


def cpu(command, limit):
    """Returns the CPU seconds of a command; None if it takes more than the limit."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    bound = lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=bound)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 3):
        if done.returncode < 0 or after.ru_utime - before.ru_utime > limit * 0.9:
            return None
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = lab.parser(__doc__)
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--megabytes", default="0.5,1,2,4")
    parser.add_argument("--algorithms", help="settings separated by spaces [all algorithms with their defaults]")
    parser.add_argument("--limit", type=int, default=60, help="stop a run after this many CPU seconds")
    parser.add_argument("--work", help="folder in which to generate and keep the texts")
    arguments = parser.parse_args()
    shapes, sizes = arguments.shapes.split(","), [float(size) for size in arguments.megabytes.split(",")]
    if arguments.algorithms:
        settings = arguments.algorithms.split()
    else:
        listed = subprocess.run([arguments.dupsift, "algorithms", "--json"], capture_output=True, text=True, check=True)
        settings = [setting["name"] for setting in json.loads(listed.stdout)]
    work = Path(arguments.work or tempfile.mkdtemp())
    for shape in shapes:
        for size in [0.001, *sizes]:
            if not (work / f"{shape}-{size}").exists():
                write(work / f"{shape}-{size}", shape, int(size * 1_000_000))
    print(f"| setting | {' | '.join(shapes)} |\n| --- |{' ---: |' * len(shapes)}")
    for setting in settings:
        cells = []
        for shape in shapes:
            took = []
            for size in [0.001, *sizes]:
                out = work / "out"
                command = [arguments.dupsift, "run", str(work / f"{shape}-{size}"), "--out", str(out), "--overwrite"]
                command += ["--algorithms", setting, "--no-progress", "--no-report", "--threads", "1"]
                took.append(cpu(command, arguments.limit))
                if took[-1] is None:
                    break
            if took[-1] is None:
                cells.append(f">{arguments.limit} at {sizes[len(took) - 2]:g} MB")
                continue
            took = [each - took[0] for each in took[1:]]
            # A single size shows no growth.
            growth = f" ({took[-1] / took[-2]:.1f})" if len(took) > 1 and took[-2] > 0.02 else ""
            cells.append(f"{took[-1]:.2f}{growth}")
        print(f"| `{setting}` | {' | '.join(cells)} |", flush=True)
    if not arguments.work:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
