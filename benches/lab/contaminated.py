#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["pyarrow"]
# ///
"""Measures `dupsift contaminated`: recall by language and kind of planted item, precision, and cost.

    benches/lab/contaminated.py recall CORPUS DOCS...      items from DOCS, planted in documents of CORPUS
    benches/lab/contaminated.py precision CORPUS DOCS...   searches CORPUS for passages from DOCS, which it should not contain
    benches/lab/contaminated.py cost CORPUS                searches CORPUS for 10,000 items
    benches/lab/contaminated.py planted CORPUS ITEMS       plants texts of real items in documents of CORPUS

CORPUS and DOCS are Parquet files with columns id and text; each of DOCS is in one language. ITEMS is a folder with items.parquet (id,
question, choices, answer) and plants.parquet (doc, kind, item, planted: the text to insert into the document; the kinds near_... are no
leaks).
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
from pathlib import Path

import lab

import pyarrow as pa
import pyarrow.parquet as pq

SEED = 49
KINDS = ("verbatim", "rewrapped", "one word in ten", "split")
HAN = re.compile(r"[\u4e00-\u9fff]")
TOKEN = re.compile(r"[\u4e00-\u9fff]|[^\W_]+(?:['’][^\W_]+)*")


def texts(path: str) -> list[str]:
    return [text for text in pq.read_table(path, columns=["text"])["text"].to_pylist() if text]


def places(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in TOKEN.finditer(text)]


def passage(text: str, words: int, rng: random.Random) -> str | None:
    """Returns a passage of this many words, or of twice as many Chinese characters."""
    found = places(text)
    count = 2 * words if found and len(HAN.findall(text)) > len(found) / 2 else words
    if len(found) < count + 20:
        return None
    start = rng.randrange(len(found) - count)
    return text[found[start][0] : found[start + count - 1][1]]


def passages(documents: list[str], count: int, rng: random.Random) -> list[str]:
    chosen: dict[str, str] = {}
    while len(chosen) < count:
        one = passage(rng.choice(documents), rng.randint(10, 40), rng)
        if one is not None:
            chosen.setdefault(" ".join(one.lower().split()), one)
    return list(chosen.values())


def rewrapped(item: str, rng: random.Random) -> str:
    """Returns the item with lines of a different length; Chinese lines may end between any two characters."""
    width = rng.randint(12, 40)
    if HAN.search(item):
        lines, line = [], ""
        for part in re.findall(r"[\u4e00-\u9fff]|[^\u4e00-\u9fff]+", re.sub(r"\s+", " ", item)):
            if line and len(line) + len(part) > width:
                lines.append(line)
                line = ""
            line += part
        return "\n".join([*lines, line])
    lines, line = [], ""
    for word in item.split():
        if line and len(line) + len(word) >= width:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return "\n".join([*lines, line])


def replaced(item: str, words: list[str], rng: random.Random) -> str:
    """Replaces one word in ten, or two Chinese characters in twenty."""
    found = places(item)
    step, length = (20, 2) if HAN.search(item) else (10, 1)
    out, at = [], 0
    for first in range(0, len(found), step):
        last = min(first + step, len(found)) - length
        if last < first:
            break
        start = rng.randint(first, last)
        out += [item[at : found[start][0]], rng.choice(words)]
        at = found[start + length - 1][1]
    return "".join([*out, item[at:]])


def split(item: str, sentence: str, rng: random.Random) -> str:
    """Puts a sentence between two parts of the item, each of which has a third of the words."""
    found = places(item)
    at = found[rng.randint(len(found) // 3, 2 * len(found) // 3)][0]
    return f"{item[:at]} {sentence} {item[at:]}"


def plant(text: str, item: str, rng: random.Random) -> str:
    ends = [at for at in range(len(text)) if text[at] in "\n 。"] or [0]
    at = rng.choice(ends) + 1
    return f"{text[:at]}\n{item}\n{text[at:]}"


def contaminated(given: argparse.Namespace, corpus: Path | str, items: Path | str, out: Path, *more: str) -> dict:
    command = [given.dupsift, "contaminated", corpus, "--against", items, "--out", out, "--no-progress"]
    command += ["--overwrite", *given.options.split(), *more]
    lab.run(*command)
    return json.loads((out / "run.json").read_text())


def write(path: Path, **columns: list) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def recall(given: argparse.Namespace, folder: Path) -> None:
    hosts = texts(given.corpus)
    for path in given.documents:
        rng = random.Random(SEED)
        own = texts(path)
        items = passages(own, given.items, rng)
        words = [word for text in own[:200] for word in re.findall(r"[\u4e00-\u9fff]{2}|[^\W\d_]{3,}", text)]
        ids, planted = [], []
        for number, item in enumerate(items):
            sentence = passage(rng.choice(hosts), rng.randint(10, 20), rng) or "…"
            for kind in KINDS:
                form = {
                    "verbatim": lambda: item,
                    "rewrapped": lambda: rewrapped(item, rng),
                    "one word in ten": lambda: replaced(item, words, rng),
                    "split": lambda: split(item, sentence, rng),
                }[kind]()
                host = rng.choice(hosts)
                if number % 50 == 0:
                    host = (host + "\n") * (1_000_000 // max(1, len(host.encode())) + 1)
                ids.append(f"{number} {kind}")
                planted.append(plant(host, form, rng))
        write(folder / "items.parquet", id=[str(number) for number in range(len(items))], question=items)
        rest = hosts[: 4 * len(planted)]
        write(folder / "corpus.parquet", id=ids + [f"host {n}" for n in range(len(rest))], text=planted + rest)
        contaminated(given, folder / "corpus.parquet", folder / "items.parquet", folder / "out")
        found = pq.read_table(folder / "out/contaminated", columns=["id", "eval_id", "score"]).to_pylist()
        scores = {row["id"]: row["score"] for row in found if row["id"].split()[0] == row["eval_id"]}
        for kind in KINDS:
            own_scores = [scores.get(f"{number} {kind}", 0.0) for number in range(len(items))]
            at = {least: sum(score >= least for score in own_scores) / len(items) for least in (0.8, 0.5)}
            print(f"{Path(path).parts[-3]:12} {kind:16} recall at 0.8: {at[0.8]:.3f}  at 0.5: {at[0.5]:.3f}")


def precision(given: argparse.Namespace, folder: Path) -> None:
    for path in given.documents:
        rng = random.Random(SEED)
        items = passages(texts(path), 1000, rng)
        write(folder / "items.parquet", id=[str(number) for number in range(len(items))], question=items)
        report = contaminated(given, given.corpus, folder / "items.parquet", folder / "out")
        found = pq.read_table(folder / "out/contaminated").to_pylist()
        suite = report["suites"][0]
        print(f"{Path(path).parts[-3]:12} {suite['found_50']} of 1,000 at 0.5, {suite['found_80']} at 0.8, {suite['public']} public")
        for row in found:
            print(f"    {row['score']:.2f} {row['eval_id']} in {row['id']}: {row['text'][:120]!r}")


def planted(given: argparse.Namespace, folder: Path) -> None:
    items = given.documents[0]
    plants = pq.read_table(f"{items}/plants.parquet").to_pylist()
    of_doc = {plant["doc"]: plant for plant in plants}
    table = pq.read_table(given.corpus, columns=["id", "text"])
    ids, hosts = table["id"].to_pylist(), table["text"].to_pylist()
    for at, (id, host) in enumerate(zip(ids, hosts)):
        if id in of_doc:
            ends = [end.end() for end in re.finditer(r"\n|[.!?。！？](?=\s|$|[\u4e00-\u9fff])", host)] or [len(host) // 2]
            cut = min(ends, key=lambda end: abs(end - len(host) // 2))
            hosts[at] = f"{host[:cut].rstrip(' ')}\n{of_doc[id]['planted']}\n{host[cut:].lstrip(' ')}"
    write(folder / "corpus.parquet", id=ids, text=hosts)
    report = contaminated(given, folder / "corpus.parquet", f"{items}/items.parquet", folder / "out")
    rows = pq.read_table(folder / "out/contaminated").to_pylist()
    print(f"{report['cpu_seconds']:.1f} CPU seconds, {report['peak_memory_bytes'] / 1e6:.0f} MB")
    for least in (0.8, 0.5):
        found: dict[str, set[str]] = {}
        for row in rows:
            if row["score"] >= least:
                found.setdefault(row["id"], set()).add(row["eval_id"])
        for kind in dict.fromkeys(plant["kind"] for plant in plants):
            some = [plant for plant in plants if plant["kind"] == kind]
            hits = sum(bool(found.get(one["doc"])) if kind.startswith("near") else one["item"] in found.get(one["doc"], ()) for one in some)
            print(f"at {least}: {kind} {hits} of {len(some)}")
        print(f"at {least}: {sum(len(hits) for doc, hits in found.items() if doc not in of_doc)} rows in other documents")
    print(f"{sum(row['relation'] == 'variant' for row in rows)} variants")


def cost(given: argparse.Namespace, folder: Path) -> None:
    rng = random.Random(SEED)
    items = passages(texts(given.corpus), 10_000, rng)
    write(folder / "items.parquet", id=[str(number) for number in range(len(items))], question=items)
    for against in ("items of this corpus", "items of other texts"):
        if against == "items of other texts":
            # The words of the items in a different order: as many tokens, but almost no n-gram is found.
            shuffled = []
            for item in items:
                parts = [item[start:end] for start, end in places(item)]
                rng.shuffle(parts)
                shuffled.append(" ".join(parts))
            write(folder / "items.parquet", id=[str(number) for number in range(len(items))], question=shuffled)
        for threads in (1, 2):
            report = contaminated(
                given, given.corpus, folder / "items.parquet", folder / "out", "--threads", str(threads), "--no-report"
            )
            stage = next(stage for stage in report["stages"] if stage["stage"] == "search")
            megabytes = report["text_bytes"] / 1e6
            print(
                f"{against}, {threads} threads: {megabytes:.0f} MB, {megabytes / stage['cpu_seconds']:.0f} MB a CPU second in the pass, "
                f"{megabytes / report['cpu_seconds']:.0f} overall; items take {report['item_bytes'] / 1e6:.0f} MB, peak "
                f"{report['peak_memory_bytes'] / 1e6:.0f} MB; {report['found']} rows"
            )


def main() -> None:
    verbs = {"recall": recall, "precision": precision, "cost": cost, "planted": planted}
    parser = lab.parser(__doc__)
    parser.add_argument("verb", choices=verbs)
    parser.add_argument("corpus", metavar="CORPUS")
    parser.add_argument("documents", nargs="*", metavar="DOCS", help="DOCS, or the folder ITEMS")
    parser.add_argument("--options", default="", help='more options of the program, such as "--ngram 5"')
    parser.add_argument("--items", type=int, default=400, help="items to plant for each language [400]")
    given = parser.parse_args()
    if bool(given.documents) == (given.verb == "cost"):
        parser.error("expected DOCS or ITEMS, except for cost")
    with tempfile.TemporaryDirectory() as folder:
        verbs[given.verb](given, Path(folder))


if __name__ == "__main__":
    main()
