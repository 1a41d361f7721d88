#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["pyarrow"]
# ///
"""Measures what a setting finds and removes if versions are common, rare, or accompanied by copies.

CORPORA contains versions-zh, versions-ru, versions-en and mixed-100m (each with docs/; the first three also have truth/pairs.parquet with
labeled pairs, "the same page in two editions"). Each labeled corpus yields four regimes:

    plain     the corpus as it is
    thin Q    one document of each labeled family is kept and, with probability Q, the others as well; Q is 0.1 and 0.02
    twice     every labeled page occurs a second time, with a line "page saved on ..." at its end

mixed-100m yields the `planted` regime: 100 families among 4,000 documents. Each family consists of a document, a version of it with a tenth
or a fifth of its words edited, and two more copies of each with one word in a hundred edited. All draws are seeded: the same corpora
give the same rows and the same true pairs everywhere.

--setting gives the options that follow `dupsift run`, and may be repeated. Without it, the default is measured, both with its own removal
rule and with `--remove-if pair`. All pairs that a setting reports count together, and two documents count as paired if any two documents
with their texts are paired. Pairs whose `relation` is `template` do not count, because the program itself reports that they are not
versions. A result that is held back (exit code 4) is measured as it is.

The columns: true pairs and reported pairs, with precision, recall and F1; removed documents, documents removed in favor of a document in
their own family, and documents that could be removed if one document of each family were kept; the share of pages without any remaining
document; the share of families whose pairs are all reported.

    benches/lab/regimes.py CORPORA --dupsift target/release/dupsift --setting "--preset balanced" --setting "--algorithms minhash"
    benches/lab/regimes.py CORPORA --dupsift target/release/dupsift --write benches/records/quality.md

The script exits with 1 if the default falls below the measured figures. With --rule, the rule of versions_rule.py replaces a
setting; it requires jieba, and removes nothing.
"""

import collections
import itertools
import random
import re
import shlex
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import lab

import pyarrow as pa
import pyarrow.parquet as pq

import outputs
import versions_rule
from lab import missing_corpora

LANGUAGES = ["zh", "ru", "en"]
# The first setting is the program's default.
DEFAULT = "--remove-if contained:0.8:0.9"
SETTINGS = [DEFAULT, "--remove-if pair"]
THIN = [0.1, 0.02]
SEED_THIN, SEED_TWICE, SEED_PLANTED = 100, 4, 11
PLANTED_FAMILIES, PLANTED_DOCUMENTS = 100, 4000
PLANTED_LENGTHS = range(800, 8001)
SAVED = {
    "zh": "页面保存于 2024 年 5 月 %d 日 %d:%02d",
    "ru": "Страница сохранена %d мая 2024 года в %d:%02d",
    "en": "Page saved on May %d, 2024 at %d:%02d",
}
WORDS = re.compile(r"[\u4e00-\u9fff]|[^\s\u4e00-\u9fff]+|\s+")
MARKERS = ("<!-- regimes -->", "<!-- /regimes -->")
# Lower bounds for the default, one last digit below the measured figures: F1, or recall and the share of complete families; removals in
# favor of a document from the same family; and the maximum of lost pages. They detect regressions; docs/versions.md has the goals.
FLOORS = {
    ("zh", "plain"): {"f1": 0.967, "right": 1973, "lost": 0.0042},
    ("zh", "thin 10 %"): {"f1": 0.935, "right": 209, "lost": 0.0035},
    ("zh", "thin 2 %"): {"f1": 0.747, "right": 36, "lost": 0.0042},
    ("zh", "twice"): {"f1": 0.975, "right": 5246, "lost": 0.0029},
    ("ru", "plain"): {"f1": 0.942, "right": 1450, "lost": 0.0034},
    ("ru", "thin 10 %"): {"f1": 0.894, "right": 144, "lost": 0.0037},
    ("ru", "thin 2 %"): {"f1": 0.742, "right": 28, "lost": 0.0028},
    ("ru", "twice"): {"f1": 0.941, "right": 4995, "lost": 0.0028},
    ("en", "plain"): {"f1": 0.989, "right": 909, "lost": 0.0035},
    ("en", "thin 10 %"): {"f1": 0.997, "right": 95, "lost": 0.0035},
    ("en", "thin 2 %"): {"f1": 0.987, "right": 15, "lost": 0.0035},
    ("en", "twice"): {"f1": 0.989, "right": 1948, "lost": 0.0001},
    ("mixed", "planted"): {"recall": 0.902, "whole": 0.820, "right": 392, "lost": 0.0060},
}  # fmt: skip


@dataclass
class Regime:
    """Holds a corpus, its true pairs, and the family of each document that has one."""

    name: str
    rows: list
    true_pairs: set
    family: dict

    def members(self):
        """Returns the documents of each page; a document without a family is a separate page."""
        members = collections.defaultdict(list)
        for document, _ in self.rows:
            members[self.family.get(document, document)].append(document)
        return members


def pair(a, b):
    return (a, b) if a <= b else (b, a)


def all_pairs(members):
    return {pair(*two) for group in members for two in itertools.combinations(group, 2)}


def families(pairs):
    """Returns the representative of each document in a pair, after pairs are joined to families."""
    parent = {}

    def root(document):
        while parent.setdefault(document, document) != document:
            parent[document] = parent[parent[document]]
            document = parent[document]
        return document

    for a, b in pairs:
        parent[root(a)] = root(b)
    return {document: root(document) for document in list(parent)}


def documents(corpus):
    """Returns (id, text) of each document in a Parquet file, or in a folder of them."""
    rows = []
    for path in sorted(corpus.glob("*.parquet")) if corpus.is_dir() else [corpus]:
        table = pq.read_table(path, columns=["id", "text"])
        rows += zip(table["id"].to_pylist(), table["text"].to_pylist())
    return rows


def labelled(corpus):
    """Returns the documents and the labeled pairs of a versions corpus."""
    table = pq.read_table(corpus / "truth" / "pairs.parquet", columns=["id_a", "id_b"])
    return documents(corpus / "docs"), [pair(*ids) for ids in zip(table["id_a"].to_pylist(), table["id_b"].to_pylist())]


def thin(rows, pairs, family, kept):
    """Keeps one document of each family or, with probability `kept`, all of them."""
    draw = random.Random(SEED_THIN)
    groups = collections.defaultdict(list)
    for row in rows:
        groups[family.get(row[0], row[0])].append(row)
    left = []
    for key in sorted(groups):
        group = groups[key]
        left += group if len(group) < 2 or draw.random() < kept else [draw.choice(group)]
    draw.shuffle(left)
    ids = {document for document, _ in left}
    return Regime(f"thin {100 * kept:g} %", left, {one for one in pairs if one[0] in ids and one[1] in ids}, family)


def twice(rows, family, language):
    """Repeats every labeled page, with an additional last line that states when the page was saved."""
    draw = random.Random(SEED_TWICE)
    doubled, page = [], {}
    for document, text in rows:
        doubled.append((document, text))
        page[document] = family.get(document, document)
        if document in family:
            line = SAVED[language] % (draw.randint(1, 31), draw.randint(0, 23), draw.randint(0, 59))
            doubled.append((f"{document}#2", f"{text}\n{line}"))
            page[f"{document}#2"] = family[document]
    draw.shuffle(doubled)
    regime = Regime("twice", doubled, set(), page)
    members = regime.members()
    regime.true_pairs = all_pairs(members.values())
    regime.family = {document: name for document, name in page.items() if len(members[name]) > 1}
    return regime


def regimes_of(corpora, language):
    """Yields the four regimes of one labeled corpus."""
    rows, pairs = labelled(corpora / f"versions-{language}")
    family = families(pairs)
    yield Regime("plain", rows, set(pairs), family)
    for kept in THIN:
        yield thin(rows, pairs, family, kept)
    yield twice(rows, family, language)


def edited(draw, text, share, vocabulary):
    """Edits about `share` of the words in a text: half of these are replaced, a quarter dropped, and the rest are followed by a new word."""
    words = []
    for word in WORDS.findall(text):
        chance = draw.random()
        if word.isspace() or chance >= share:
            words.append(word)
        elif chance < share * 0.5:
            words.append(draw.choice(vocabulary))
        elif chance >= share * 0.75:
            words += [word, " ", draw.choice(vocabulary)]
    return "".join(words)


def planted(corpora):
    """Returns the regime of planted families: two versions and their near-copies, among unchanged documents."""
    rows = [row for row in sorted(documents(corpora / "mixed-100m" / "docs")) if len(row[1]) in PLANTED_LENGTHS]
    draw = random.Random(SEED_PLANTED)
    draw.shuffle(rows)
    rows = rows[:PLANTED_DOCUMENTS]
    vocabulary = [word for _, text in rows[:400] for word in WORDS.findall(text) if not word.isspace()]
    regime = Regime("planted", list(rows), set(), {})
    for number, (document, text) in enumerate(rows[:PLANTED_FAMILIES]):
        version = edited(draw, text, 0.1 if number % 2 else 0.2, vocabulary)
        texts = [edited(draw, text, 0.01, vocabulary), edited(draw, text, 0.01, vocabulary), version]
        texts += [edited(draw, version, 0.01, vocabulary), edited(draw, version, 0.01, vocabulary)]
        added = [(f"{document}#p{copy}", text) for copy, text in enumerate(texts)]
        regime.rows += added
        regime.family.update({one: document for one in [document, *(name for name, _ in added)]})
    draw.shuffle(regime.rows)
    regime.true_pairs = all_pairs(group for group in regime.members().values() if len(group) > 1)
    return regime


def run_setting(dupsift, docs, out, setting, memory):
    """Runs the program; returns the folder of its result, whether published or held back."""
    command = [dupsift, "run", docs, "--out", out, "--overwrite", "--no-progress", "--no-report", "--memory", memory]
    done = lab.run(*command, *shlex.split(setting), codes=(0, 3, 4))
    return out.with_name(f"{out.name}.held") if done.returncode == 4 else out


def reported_pairs(out):
    """Returns the pairs of ids that any algorithm of a result reports, except pages from the same template."""
    found = set()
    for path in sorted((out / "pairs").glob("*/*.parquet")):
        file = pq.ParquetFile(path)
        columns = ["id_a", "id_b"] + ["relation"] * ("relation" in file.schema_arrow.names)
        table = file.read(columns=columns)
        relations = table["relation"].to_pylist() if len(columns) == 3 else itertools.repeat(None)
        for a, b, relation in zip(table["id_a"].to_pylist(), table["id_b"].to_pylist(), relations):
            if relation != "template":
                found.add(pair(a, b))
    return found


def removals(out):
    """Returns (id, id of the kept document, reason) of each document that a result removes."""
    rows = []
    for path in sorted((out / "removed").glob("*.parquet")):
        table = pq.read_table(path, columns=["id", "kept_id", "reason"])
        rows += zip(*(table[name].to_pylist() for name in ("id", "kept_id", "reason")))
    return rows


def write_rows(rows, folder):
    folder.mkdir(parents=True, exist_ok=True)
    table = pa.table({"id": [document for document, _ in rows], "text": [text for _, text in rows]})
    pq.write_table(table, folder / "docs.parquet", row_group_size=4096)


def share(part, whole):
    return part / whole if whole else 0.0


def figures(regime, found, removed):
    """Returns the figures for pairs and removals in a regime."""
    members, family = regime.members(), regime.family
    gone = {document for document, _, _ in removed}
    groups = [group for group in members.values() if len(group) > 1]
    hits = len(found & regime.true_pairs)
    return {
        "documents": len(regime.rows),
        "true": len(regime.true_pairs),
        "pairs": len(found),
        "precision": share(hits, len(found)),
        "recall": share(hits, len(regime.true_pairs)),
        "f1": share(2 * hits, len(found) + len(regime.true_pairs)),
        "removed": len(removed),
        "right": sum(family.get(document, document) == family.get(kept, kept) for document, kept, _ in removed),
        "could": len(regime.rows) - len(members),
        "lost": share(sum(gone.issuperset(group) for group in members.values()), len(members)),
        "whole": share(sum(all_pairs([group]) <= found for group in groups), len(groups)),
    }


class Bench(lab.Page):
    """Runs settings over the regimes, and collects the lines to print."""

    def __init__(self, arguments, work):
        super().__init__(arguments.write, MARKERS)
        self.arguments, self.work, self.broken = arguments, work, []

    def measure(self, language, regime):
        docs = self.work / "docs"
        write_rows(regime.rows, docs)
        settings = self.arguments.setting or SETTINGS
        for setting in ["the rule of versions_rule.py"] if self.arguments.rule else settings:
            if self.arguments.rule:
                found, removed = versions_rule.version_pairs(self.arguments.dupsift, docs, dict(regime.rows), self.work), []
            else:
                # Each run has its own folder, so that it finds no output of another run.
                with tempfile.TemporaryDirectory(dir=self.work) as folder:
                    out = run_setting(self.arguments.dupsift, docs, Path(folder) / "out", setting, self.arguments.memory)
                    found, removed = reported_pairs(out), removals(out)
            found = set(map(tuple, map(sorted, outputs.with_copies(found, dict(regime.rows)))))
            one = figures(regime, found, removed)
            removal = f"{one['removed']} | {one['right']} | {one['could']} | {100 * one['lost']:.2f} %"
            removal = f"- | - | {one['could']} | -" if self.arguments.rule else removal
            verdict = self.floor(language, regime.name, setting, one) if self.arguments.floors else ""
            self.say(
                f"| {language} | {regime.name} | `{setting}` | {one['documents']} | {one['true']} | {one['pairs']} | "
                f"{one['precision']:.3f} | {one['recall']:.3f} | {one['f1']:.3f} | {removal} | {one['whole']:.3f} |{verdict}"
            )

    def floor(self, language, regime, setting, one):
        """Returns the cell of an additional column: whether the default is as good as before."""
        if setting != DEFAULT:
            return " - |"
        bounds, broken = FLOORS[language, regime], []
        for name, least in bounds.items():
            if name == "lost" and one[name] > least or name != "lost" and one[name] < least:
                broken.append(f"{language} {regime}: {name} is {one[name]:.4f}, the floor is {least}")
        self.broken += broken
        return " BROKEN |" if broken else " holds |"


def main():
    parser = lab.parser(__doc__)
    parser.add_argument("corpora", type=Path, help="folder of the corpora")
    parser.add_argument("--setting", action="append", metavar="WORDS", help=f"options of `dupsift run` [{' and '.join(SETTINGS)}]")
    parser.add_argument("--languages", nargs="*", default=LANGUAGES, choices=LANGUAGES, help="labeled corpora to use [all]")
    parser.add_argument("--no-planted", action="store_true", help="skip the planted families")
    parser.add_argument("--memory", default="2GiB", help="memory budget of the program [2GiB]")
    parser.add_argument("--rule", action="store_true", help="measure the rule of versions_rule.py, in plain Python")
    parser.add_argument("--write", type=Path, metavar="FILE", help="replace the section of regimes in this file")
    arguments = parser.parse_args()
    names = [f"versions-{one}" for one in arguments.languages] + ["mixed-100m"] * (not arguments.no_planted)
    missing = missing_corpora(arguments.corpora, names)
    if missing:
        parser.error(missing)
    # The lower bounds are those of the default.
    arguments.floors = not (arguments.rule or arguments.setting)

    with tempfile.TemporaryDirectory() as work:
        bench = Bench(arguments, Path(work))
        bench.say(
            "| corpus | regime | setting | documents | true pairs | pairs | P | R | F1 | removed | right | could go | pages lost | whole families |"
            + " floor |" * arguments.floors,
            "| --- | --- | --- |" + " ---: |" * 11 + " --- |" * arguments.floors,
        )
        for language in arguments.languages:
            for regime in regimes_of(arguments.corpora, language):
                bench.measure(language, regime)
        if not arguments.no_planted:
            bench.measure("mixed", planted(arguments.corpora))
        if arguments.floors:
            bench.say("", *(["Lower bounds that were missed:", "", *(f"* {what}" for what in bench.broken)] if bench.broken else ["All lower bounds were met."]))
        bench.save()
        sys.exit(1 if bench.broken else 0)


if __name__ == "__main__":
    main()
