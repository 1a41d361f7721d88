#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["pyarrow"]
# ///
"""Measures which edits each algorithm detects: edits real documents, runs dupsift, and prints the share of edited documents found.

For each kind of edit, the corpus consists of the selected documents and their edited copies. An edited document is found if it forms a
pair with its original. The last row uses real pairs instead: two editions of a page with little text in common (Jaccard similarity of
5-character shingles below 0.5), as labeled in truth/.

    benches/lab/edits.py data-samples --dupsift target/release/dupsift
"""

import json
import random
import re
import tempfile
from pathlib import Path

import lab

import pyarrow as pa
import pyarrow.parquet as pq

import outputs

ALGORITHMS = ["exact", "tf", "tf_idf", "long_sent", "three_plus_five", "simhash", "minhash"]
LANGUAGES = ["en", "ru", "zh"]
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n\s*\n")

TEMPLATES = {
    "en": (
        "Home Products Support Forum About us\n\nYou are here: Home > Support > Library\n\n",
        "\n\nWas this page helpful? Yes No\n\nShare this page with your colleagues by mail or print it for later.\n\n"
        "Terms of use, privacy, cookies. All rights reserved by their owners. Choose your language at the foot of the page.",
    ),
    "ru": (
        "Главная Продукты Поддержка Форум О нас\n\nВы здесь: Главная > Поддержка > Библиотека\n\n",
        "\n\nБыла ли эта страница полезной? Да Нет\n\nПоделитесь этой страницей с коллегами по почте или распечатайте её.\n\n"
        "Условия использования, конфиденциальность. Все права принадлежат их владельцам. Выберите язык внизу страницы.",
    ),
    "zh": (
        "首页 产品 支持 论坛 关于我们\n\n您的位置：首页 > 支持 > 文库\n\n",
        "\n\n本页对您有帮助吗？是 否\n\n把本页分享给同事，或者打印出来以后阅读。\n\n使用条款，隐私，版权归各自的所有者所有。请在页面底部选择语言。",
    ),
}


def sentences(text):
    return [piece.strip() for piece in SENTENCE_END.split(text) if piece and piece.strip()]


def copy(text, language, others, rng):
    return text


def restyled(text, language, others, rng):
    """Changes capitals, letter and digit widths, quotes, commas and spaces; the words stay the same."""
    if language == "zh":
        text = "".join(chr(ord(c) + 0xFEE0) if c.isascii() and c.isalnum() else c for c in text)
        return text.replace("，", "、").replace("“", "「").replace("”", "」")
    return re.sub(r",(?=\s)", " ,", text.upper()).replace('"', "”")


def typo(text, language, others, rng):
    """Swaps two adjacent letters of one word, or replaces one Chinese character."""
    if language == "zh":
        places = [at for at, c in enumerate(text) if "\u4e00" <= c <= "\u9fff"]
        at = rng.choice(places)
        return text[:at] + rng.choice([text[p] for p in places if text[p] != text[at]]) + text[at + 1 :]
    words = [m for m in re.finditer(r"[^\W\d_]{4,}", text) if m.group()[1].lower() != m.group()[2].lower()]
    at = rng.choice(words).start() + 1
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]


def sentence_added(text, language, others, rng):
    """Adds a sentence from another document, of 5 to 25 words or 10 to 60 characters, after a sentence or at the start."""
    def fits(sentence):
        return 10 <= len(sentence) <= 60 if language == "zh" else 5 <= len(sentence.split()) <= 25

    added = rng.choice([s for s in sentences(rng.choice(others)) if fits(s)] or ["This page was moved to another place last week."])
    places = [m.end() for m in SENTENCE_END.finditer(text)] or [0]
    at = rng.choice(places)
    return text[:at].rstrip() + "\n\n" + added + "\n\n" + text[at:].lstrip()


def reordered(text, language, others, rng):
    """Shuffles all sentences, each as a separate paragraph."""
    pieces = sentences(text)
    rng.shuffle(pieces)
    return "\n\n".join(pieces)


def template(text, language, others, rng):
    """Adds navigation before the text and a footer after it, the same for all pages in a language."""
    head, foot = TEMPLATES[language]
    return head + text + foot


def truncated(text, language, others, rng):
    """Cuts off the last fifth of the characters."""
    return text[: len(text) * 4 // 5]


EDITS = {
    "exact copy": copy,
    "case, width, quotes, commas": restyled,
    "typo in one word": typo,
    "a sentence added": sentence_added,
    "sentences reordered": reordered,
    "another template around the text": template,
    "truncated by a fifth": truncated,
}


def choose(samples, language, count, rng):
    """Selects documents of 500 to 10,000 characters that are similar to no other document in the samples."""
    rows = pq.read_table(samples / "docs" / f"{language}.parquet", columns=["id", "text"]).to_pylist()
    alike = pq.read_table(samples / "truth" / language / "jaccard_char5_ge50.parquet", columns=["id_a", "id_b"])
    second = set(alike["id_b"].to_pylist())
    fitting = [row for row in rows if 500 <= len(row["text"]) <= 10_000 and row["id"] not in second]
    return rng.sample(fitting, min(count, len(fitting)))


def run(dupsift, rows, folder):
    """Runs the program; returns pairs of ids by algorithm."""
    pq.write_table(pa.table({"id": [r[0] for r in rows], "text": [r[1] for r in rows]}), folder / "docs.parquet")
    command = [dupsift, "run", folder / "docs.parquet", "--out", folder / "out", "--algorithms", ",".join(ALGORITHMS), "--overwrite", "--no-progress"]
    lab.run(*command, codes=[0])
    pairs = {}
    for name in ALGORITHMS:
        table = outputs.duplicates(folder / "out", name, ["id_a", "id_b"])
        pairs[name] = set(map(frozenset, zip(table["id_a"].to_pylist(), table["id_b"].to_pylist())))
    return pairs


def verdict(share):
    return "yes" if share >= 0.95 else "mostly" if share >= 0.5 else "no"


def rewritten(samples, dupsift, folder):
    """Returns the number of real pairs of editions with little text in common, and how many of them each algorithm finds."""
    rows, wanted = [], []
    for language in LANGUAGES:
        docs = pq.read_table(samples / "docs" / f"{language}.parquet", columns=["id", "text"])
        rows += zip(docs["id"].to_pylist(), docs["text"].to_pylist())
        truth = pq.read_table(samples / "truth" / language / "pairs.parquet").to_pylist()
        wanted += [frozenset((pair["id_a"], pair["id_b"])) for pair in truth if pair["jaccard_c5"] < 0.5]
    pairs = run(dupsift, rows, folder)
    return len(wanted), {name: sum(pair in pairs[name] for pair in wanted) for name in ALGORITHMS}


def main():
    parser = lab.parser(__doc__)
    parser.add_argument("samples", type=Path, help="folder with docs/ and truth/")
    parser.add_argument("--documents", type=int, default=150, help="documents per language [150]")
    parser.add_argument("--seed", type=int, default=7, help="seed for choosing documents and places [7]")
    parser.add_argument("--by-language", action="store_true", help="also show the shares by language")
    parser.add_argument("--json", action="store_true", help="print the counts instead of a table")
    arguments = parser.parse_args()

    rng = random.Random(arguments.seed)
    chosen = {language: choose(arguments.samples, language, arguments.documents, rng) for language in LANGUAGES}
    table = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for edit, change in EDITS.items():
            rows, unchanged = [], set()
            for language, documents in chosen.items():
                others = [document["text"] for document in documents]
                for number, document in enumerate(documents):
                    text = change(document["text"], language, others, rng)
                    rows += [(f"{language}/{number}/original", document["text"]), (f"{language}/{number}/edited", text)]
                    if text == document["text"] and change is not copy:
                        unchanged.add((language, number))
            pairs = run(arguments.dupsift, rows, folder)
            table[edit] = {}
            for language, documents in chosen.items():
                numbers = [number for number in range(len(documents)) if (language, number) not in unchanged]
                wanted = [frozenset((f"{language}/{n}/original", f"{language}/{n}/edited")) for n in numbers]
                found = {name: sum(pair in pairs[name] for pair in wanted) for name in ALGORITHMS}
                table[edit][language] = {"documents": len(wanted), "found": found}
        count, found = rewritten(arguments.samples, arguments.dupsift, folder)
        table["rewritten (real pairs)"] = {"all": {"documents": count, "found": found}}

    if arguments.json:
        print(json.dumps(table, indent=1))
        return
    print("| edit | documents | " + " | ".join(f"`{name}`" for name in ALGORITHMS) + " |")
    print("| --- | ---: |" + " --- |" * len(ALGORITHMS))
    for edit, parts in table.items():
        whole = sum(part["documents"] for part in parts.values())
        shares = [sum(part["found"][name] for part in parts.values()) / max(whole, 1) for name in ALGORITHMS]
        print(f"| {edit} | {whole} | " + " | ".join(f"{verdict(share)} {100 * share:.0f}" for share in shares) + " |")
        if arguments.by_language and len(parts) > 1:
            for language, part in parts.items():
                shares = [part["found"][name] / max(part["documents"], 1) for name in ALGORITHMS]
                print(f"| {edit}, {language} | {part['documents']} | " + " | ".join(f"{100 * share:.0f}" for share in shares) + " |")


if __name__ == "__main__":
    main()
