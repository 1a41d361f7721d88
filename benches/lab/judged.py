#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["pyarrow"]
# ///
"""Measures the effect of a setting on pairs that were judged by reading both texts.

DOCS is the corpus, a file or a folder of Parquet with columns id and text. JUDGED is a table of its judged pairs, .parquet or .jsonl,
with the columns

    id_a, id_b   the two documents
    lang         the language under which the pair is counted
    verdict      same: one text in two versions; contained: one text contains nearly all of the other and adds text of its own; any
                 other value, such as form (the same form with different facts): not a pair
    smaller      the id of the contained text
    weight       the number of pairs in the pool that this pair represents
    found_by     the algorithms that found the pair when it was drawn, separated by commas

No such table is part of this repository. --setting gives the options that follow `dupsift run`, and may be repeated. Without it, the
default is measured, both with its own removal rule and with `--remove-if pair`. Reported pairs are counted as in benches/lab/regimes.py: the
pairs of all algorithms count together, except pairs whose `relation` is `template`.

All figures are weights. False: reported pairs that are neither same nor contained. Recall of the known: the share of known pairs that are
reported, where the known pairs are the good pairs that `cosine` had found when they were drawn. Removals: judged pairs in which one
document is removed in favor of the other, without exact copies; a removal is right if it removes either document of a `same` pair, or the
smaller document of a `contained` pair. The line below the table counts the removals in the complete corpus for which the kept document
contains less than half of the removed text's 3-grams.

    benches/lab/judged.py CORPORA/mixed-100m/docs judged.parquet --dupsift target/release/dupsift --setting "--algorithms minhash"

With --rule, the rule of versions_rule.py, in plain Python, replaces a setting; it requires jieba, and removes nothing.
"""

import json
import sys
import tempfile
from pathlib import Path

import lab

import pyarrow.parquet as pq

import outputs
import versions_rule
from regimes import SETTINGS, documents, pair, removals, reported_pairs, run_setting, share

COLUMNS = ["id_a", "id_b", "lang", "verdict", "smaller", "weight", "found_by"]
GOOD = ("same", "contained")


def judged_pairs(path):
    """Returns the table of judged pairs as records."""
    if path.suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    else:
        rows = pq.read_table(path).to_pylist()
    missing = [name for name in COLUMNS if rows and name not in rows[0]]
    if missing or not rows:
        sys.exit(f"{path}: expected judged pairs with the columns {', '.join(COLUMNS)}; missing: {', '.join(missing) or 'rows'}")
    return rows


def weight(pairs):
    return sum(one["weight"] for one in pairs)


def measure(judged, found, removed):
    """Returns the figures for one language."""
    reported = [one for one in judged if pair(one["id_a"], one["id_b"]) in found]
    good = [one for one in judged if one["verdict"] in GOOD]
    known = [one for one in good if "cosine" in one["found_by"].split(",")]
    hits = [one for one in reported if one["verdict"] in GOOD]
    gone = [
        (one, document)
        for one in judged
        for document, kept in ((one["id_a"], one["id_b"]), (one["id_b"], one["id_a"]))
        if (document, kept) in removed
    ]
    right = [one for one, document in gone if one["verdict"] == "same" or one["verdict"] == "contained" and one["smaller"] == document]
    return {
        "reported": weight(reported),
        "false": weight(reported) - weight(hits),
        "precision": share(weight(hits), weight(reported)),
        "recall_known": share(weight(one for one in known if one in hits), weight(known)),
        "recall": share(weight(hits), weight(good)),
        "removals": weight(one for one, _ in gone),
        "right": weight(right),
        "right_share": share(weight(right), weight(one for one, _ in gone)),
    }


def text_lost(removed, texts):
    """Returns how many removed documents have less than half of their 3-grams in the document that is kept instead."""
    lost = 0
    for document, kept in removed:
        own, other = (versions_rule.three_grams(versions_rule.tokens_of(texts[one])) for one in (document, kept))
        lost += len(own & other) < len(own) / 2
    return lost


def main():
    parser = lab.parser(__doc__)
    parser.add_argument("docs", type=Path, help="the corpus: a Parquet file, or a folder of them")
    parser.add_argument("judged", type=Path, help="the judged pairs, .parquet or .jsonl")
    parser.add_argument("--setting", action="append", metavar="WORDS", help=f"options of `dupsift run` [{' and '.join(SETTINGS)}]")
    parser.add_argument("--memory", default="4GiB", help="memory budget of the program [4GiB]")
    parser.add_argument("--rule", action="store_true", help="measure the rule of versions_rule.py, in plain Python")
    arguments = parser.parse_args()
    judged, texts = judged_pairs(arguments.judged), dict(documents(arguments.docs))

    print("| setting | language | reported | false | precision | recall of the known | recall | removals | right | share |")
    print("| --- | --- |" + " ---: |" * 8)
    lost = []
    for setting in ["the rule of versions_rule.py"] if arguments.rule else arguments.setting or SETTINGS:
        with tempfile.TemporaryDirectory() as work:
            if arguments.rule:
                found, removed = versions_rule.version_pairs(arguments.dupsift, arguments.docs, texts, Path(work)), set()
            else:
                out = run_setting(arguments.dupsift, arguments.docs, Path(work) / "out", setting, arguments.memory)
                found, removed = reported_pairs(out), {(document, kept) for document, kept, reason in removals(out) if reason != "copy"}
        paired = set(map(tuple, map(sorted, outputs.with_copies(found, texts))))
        for language in sorted({one["lang"] for one in judged}):
            one = measure([one for one in judged if one["lang"] == language], paired, removed)
            counts = [f"{one[name]:.0f}" for name in ("reported", "false")]
            counts += [f"{one[name]:.3f}" for name in ("precision", "recall_known", "recall")]
            removal = [f"{one['removals']:.0f}", f"{one['right']:.0f}", f"{one['right_share']:.3f}"]
            counts += ["-"] * 3 if arguments.rule else removal
            print(f"| `{setting}` | {language} | " + " | ".join(counts) + " |", flush=True)
        losses = f"; {len(removed)} removed beyond copies, {text_lost(removed, texts)} of them with less than half of their 3-grams in the kept one"
        lost.append(f"* `{setting}`: {len(found)} pairs" + losses * (not arguments.rule))
    print("", *lost, sep="\n")


if __name__ == "__main__":
    main()
