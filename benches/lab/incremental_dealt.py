"""Divides the documents of a corpus into batches like those of a crawl: each batch repeats some earlier documents, and some are unusual.

The unusual batches are placed in proportion to thirty: the ninth is empty, the tenth has three documents, the twelfth is killed twice, the
seventeenth repeats the sixteenth, and in the twenty-first, all rows of a source have become pages from the same template.
"""

import random

import pyarrow as pa
import pyarrow.parquet as pq

import edits

COLUMNS = ["id", "text", "lang", "source"]
SCHEMA = pa.schema([(name, pa.string()) for name in COLUMNS])
TEMPLATE = "Please enable scripts in your browser and read this page again. The service is not available in your region."
FEWEST = 10


def odd_batches(batches):
    """Returns the number of the batch of each kind, counted from 1."""
    places, last = {}, 1
    for kind, of_thirty in [("empty", 9), ("three", 10), ("killed", 12), ("whole again", 17), ("template", 21)]:
        last = max(last + 1, round(of_thirty * batches / 30))
        places[kind] = last
    return places


def edited(text, language, others, draw):
    """Returns the text with one edit that changes it."""
    kinds = [edits.sentence_added, edits.typo, edits.truncated, edits.template]
    for kind in draw.sample(kinds, len(kinds)):
        try:
            new = kind(text, language if language in edits.LANGUAGES else "en", others, draw)
        except (IndexError, ValueError):
            # The text has no word that this edit can change.
            continue
        if new != text:
            return new
    return text + " And more."


def deal(rows, batches, repeat, seed):
    """Returns rows (id, text, language, source) for each batch, how many of them come from earlier batches, and the unusual batches."""
    draw, odd = random.Random(seed), odd_batches(batches)
    rows = draw.sample(rows, len(rows))
    without = {odd["empty"], odd["three"], odd["whole again"]}
    ordinary = [batch for batch in range(1, batches + 1) if batch not in without]
    dealt, repeated, known = [], [], []
    for batch in range(1, batches + 1):
        if batch == odd["whole again"]:
            current, old = [(f"{row[0]}@{batch}", *row[1:]) for row in dealt[-1]], len(dealt[-1])
        elif batch == odd["empty"]:
            current, old = [], 0
        elif batch == odd["three"]:
            current, old = [rows.pop() for _ in range(3)], 0
        else:
            share = len(rows) // (len(ordinary) - ordinary.index(batch))
            current = [rows.pop() for _ in range(share)]
            from_before = []
            for number in range(round(repeat * share) if known else 0):
                row, chance = draw.choice(known), draw.random()
                new = f"{row[0]}@{batch}.{number}"
                if 0.5 <= chance < 0.75:
                    from_before.append((new, edited(row[1], row[2], [draw.choice(known)[1] for _ in range(5)], draw), *row[2:]))
                else:
                    from_before += [(f"{new}{which}", *row[1:]) for which in ("ab" if chance >= 0.75 else "a")]
            old = len(from_before)
            known += current
            current = draw.sample(current + from_before, share + old)
        dealt.append(current)
        repeated.append(old)
    return dealt, repeated, odd


def with_template(rows):
    """Turns each row of the largest source into a page from the same template; returns the rows and that source."""
    sources = [row[3] for row in rows]
    largest = max(sorted(set(sources)), key=sources.count)
    return [(row[0], TEMPLATE if row[3] == largest else row[1], *row[2:]) for row in rows], largest


def read(folder):
    """Returns the rows of a corpus, from its docs/ if it exists."""
    folder = folder / "docs" if (folder / "docs").is_dir() else folder
    rows = []
    for path in sorted(folder.glob("*.parquet")):
        there = pq.read_schema(path).names
        table = pq.read_table(path, columns=[name for name in COLUMNS if name in there]).to_pydict()
        count = len(table["text"])
        columns = [table.get(name) or [""] * count for name in COLUMNS]
        rows += [row for row in zip(*columns) if row[1]]
    return rows


def write(path, rows):
    """Writes the rows as the only file in a folder."""
    path.mkdir(parents=True, exist_ok=True)
    columns = list(zip(*rows)) or [[] for _ in COLUMNS]
    arrays = [pa.array(map(str, column), pa.string()) for column in columns]
    pq.write_table(pa.table(arrays, schema=SCHEMA), path / "docs.parquet", row_group_size=500)
