"""Compares incremental runs with one run over all batches that uses the statistics of the index: pairs, clusters and removals."""

import subprocess

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import incremental_dealt
import lab
import outputs


def one_run(place):
    """Runs once over all batches, and prefers earlier batches."""
    out = place.folder / "together"
    command = [place.dupsift, "run", place.folder / "in", "--out", out, "--stats", place.index, "--keep", "batch asc, length desc"]
    lab.run(*command, "--no-progress", *place.options)
    return out


def extra(dealt):
    """Returns for each document in all batches whether an earlier document has its text."""
    known, flags = set(), []
    for rows in dealt:
        for row in rows:
            flags.append(row[1] in known)
            known.add(row[1])
    return np.array(flags, bool)


def pairs(out, label):
    return pq.read_table(outputs.part(out, "pairs", label), partitioning=None)


def components(edges, count):
    """Returns, for each document, the smallest document to which it is connected."""
    parents = list(range(count))

    def root(doc):
        while parents[doc] != doc:
            parents[doc] = parents[parents[doc]]
            doc = parents[doc]
        return doc

    for table in edges:
        for a, b in zip(table["doc_a"].to_pylist(), table["doc_b"].to_pylist()):
            low, high = sorted((root(a), root(b)))
            parents[high] = low
    return [root(doc) for doc in range(count)]


def duplicates(table):
    return table.filter(pc.or_kleene(pc.is_null(table["relation"]), pc.not_equal(table["relation"], "template")))


def clusters_of(out, label, count):
    """Returns for each document the smallest document in its cluster."""
    table = pq.read_table(outputs.part(out, "clusters", label), columns=["cluster_id", "doc"], partitioning=None)
    least, own = {}, list(range(count))
    ids, docs = table["cluster_id"].to_pylist(), table["doc"].to_pylist()
    for cluster, doc in zip(ids, docs):
        least[cluster] = min(doc, least.get(cluster, doc))
    for cluster, doc in zip(ids, docs):
        own[doc] = least[cluster]
    return own


def laws(place, dealt):
    """Checks each law; returns how much was compared, and how much differs."""
    together = one_run(place)
    begins = np.cumsum([0, *map(len, dealt)])
    batches = [batch for batch in range(1, len(dealt) + 1) if (place.out(batch) / "_SUCCESS").is_file()]
    again, matched, other, apart = extra(dealt), 0, 0, 0
    labels = sorted(path.name.removeprefix("algorithm=") for path in (together / "pairs").iterdir())
    for label in labels:
        whole, tables = pairs(together, label), []
        for batch in batches:
            found = pairs(place.out(batch), label)
            tables.append(duplicates(found))
            doc_a, doc_b = whole["doc_a"].to_numpy(), whole["doc_b"].to_numpy()
            begin, end = begins[batch - 1], begins[batch]
            asked = (doc_b >= begin) & (doc_b < end) & ((doc_a >= begin) | ~again[doc_a])
            expected = whole.filter(pa.array(asked))
            matched += int((found["doc_a"].to_numpy() < begin).sum())
            other += differing(found, expected)
        apart += sum(a != b for a, b in zip(components(tables, begins[-1]), clusters_of(together, label, begins[-1])))
    removed = lambda outs: {id for out in outs for id in pq.read_table(outputs.part(out, "removed"), columns=["id"])["id"].to_pylist()}
    over_batches, of_one = removed(map(place.out, batches)), removed([together])
    return {
        "L1: pairs of each batch with earlier ones, and rows of pairs that one run has otherwise": f"{matched:,}, {other:,}",
        "L2: documents that one run removes, and those that only one of the two ways removes": f"{len(of_one):,}, {len(over_batches ^ of_one):,}",
        "L3: documents, and those in another component of all batches' pairs than their cluster": f"{begins[-1]:,}, {apart:,}",
    }


def differing(found, expected):
    """Returns the number of rows that only one of the two tables has."""
    if found.equals(expected):
        return 0
    rows = lambda table: set(map(str, table.to_pylist()))
    return len(rows(found) ^ rows(expected))


def f1(found, truth):
    right = len(found & truth)
    return 2 * right / max(1, len(found) + len(truth))


def found_in(outs, labels):
    pairs_of = lambda out, label: outputs.duplicates(out, label, ["id_a", "id_b"])
    tables = [pairs_of(out, label) for out in outs for label in labels]
    return {frozenset(pair) for table in tables for pair in zip(table["id_a"].to_pylist(), table["id_b"].to_pylist())}


def first_copies(halves):
    """Returns a function that detects pairs that two batches do not list: a document in the second batch and a repeated text in the first batch."""
    known, extra = set(), set()
    for row in halves[0]:
        extra |= {row[0]} if row[1] in known else set()
        known.add(row[1])
    second = {row[0] for row in halves[1]}
    return lambda pair: bool(pair & second) and bool(pair & extra)


def versions(arguments, folder, say, algorithms):
    """Compares the F1 of one run with its own statistics, one run with the statistics of the first of two batches, and the two batches."""
    say(
        "### Statistics of the first batch",
        "",
        f"`{algorithms}`, two batches that are halves at random. F1 of the pairs against the labels: one run under its own counts, and one under the "
        "statistics of the first batch; from the two batches, only labelled pairs whose older text is in no earlier document, because a text is matched by its first "
        "document alone.",
        "",
    )
    say("| corpus | own counts | those of the first batch | difference (goal: .01 at most) | labelled pairs for batches | one run, own counts | two batches |", "| --- |" + " ---: |" * 6)
    for name in ["versions-zh", "versions-ru", "versions-en"]:
        corpus, place = arguments.versions / name, folder / name
        rows = incremental_dealt.read(corpus)
        rows = incremental_dealt.random.Random(arguments.seed).sample(rows, len(rows))
        halves = [rows[: len(rows) // 2], rows[len(rows) // 2 :]]
        for batch, half in enumerate(halves, 1):
            incremental_dealt.write(place / "in" / f"batch={batch}", half)
        program = lambda *words: [str(word) for word in [arguments.dupsift, "run", *words, "--algorithms", algorithms, "--no-report", "--no-progress"]]
        subprocess.run(program(place / "in", "--out", place / "own"), check=True, capture_output=True)
        for batch in (1, 2):
            subprocess.run(program(place / "in" / f"batch={batch}", "--out", place / f"{batch}", "--index", place / "index"), check=True, capture_output=True)
        table = pq.read_table(corpus / "truth" / "pairs.parquet", columns=["id_a", "id_b"])
        truth = {frozenset(pair) for pair in zip(table["id_a"].to_pylist(), table["id_b"].to_pylist())}
        labels = ["exact", "versions"]
        subprocess.run(program(place / "in", "--out", place / "frozen", "--stats", place / "index"), check=True, capture_output=True)
        own, frozen, batches = (found_in([place / out for out in outs], labels) for outs in (["own"], ["frozen"], ["1", "2"]))
        hidden = first_copies(halves)
        asked = lambda pairs: {pair for pair in pairs if not hidden(pair)}
        both = [f1(own, truth), f1(frozen, truth)]
        matched = [f1(asked(found), asked(truth)) for found in (own, batches)]
        say(f"| {name} | {both[0]:.4f} | {both[1]:.4f} | {both[0] - both[1]:+.4f} | {len(asked(truth)):,} | {matched[0]:.4f} | {matched[1]:.4f} |")
    say("")
