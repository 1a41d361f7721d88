#!/usr/bin/env python3
"""Compares the cluster figures of evaluations with scikit-learn and with a plain definition of B-cubed.

usage: measures.py OUT TRUTH [OUT TRUTH ...]

OUT is a run that `dupsift evaluate` compared with the clusters in TRUTH, a Parquet file that lists every document of the corpus in the
columns doc (the number of the document), id and cluster. For each algorithm of the run, the script computes B-cubed document by document,
and the adjusted Rand index with sklearn.metrics.adjusted_rand_score.

needs: pyarrow scikit-learn
"""

import json
import sys
from pathlib import Path

import pyarrow.parquet as pq
from sklearn.metrics import adjusted_rand_score


def b_cubed(truth, predicted):
    """Returns precision and recall, each as the mean over the documents."""
    groups = lambda labels: {label: {d for d, other in enumerate(labels) if other == label} for label in set(labels)}
    true_groups, predicted_groups = groups(truth), groups(predicted)
    precision = recall = 0
    for d in range(len(truth)):
        true_group, predicted_group = true_groups[truth[d]], predicted_groups[predicted[d]]
        both = len(true_group & predicted_group)
        precision += both / len(predicted_group)
        recall += both / len(true_group)
    return precision / len(truth), recall / len(truth)


def predicted_labels(out, label, documents):
    """Returns a label for each document; each document without a cluster has a unique label."""
    labels = [f"alone {doc}" for doc in range(documents)]
    for row in pq.read_table(out / "clusters" / f"algorithm={label}" / "part-00000.parquet", partitioning=None).to_pylist():
        labels[row["doc"]] = f"cluster {row['cluster_id']}"
    return labels


def check(what, expected, came):
    if (expected is None) != (came is None) or (came is not None and abs(expected - came) > 1e-9):
        sys.exit(f"error: {what}: expected {expected}, got {came}")


def over(part, whole):
    return part / whole if whole else None


def pairs_of_texts(truth, labels, texts):
    """Returns the pairs with equal labels, between the documents that represent texts, and between each of these and its copies."""
    named = [doc for doc, label in enumerate(truth) if truth.count(label) > 1]
    first = {}
    for doc in named + list(range(len(truth))):
        first.setdefault(texts[doc], doc)
    pairs = set()
    for a in range(len(truth)):
        for b in range(a + 1, len(truth)):
            x, y = first[texts[a]], first[texts[b]]
            # A text is in the cluster of the document that represents it.
            if labels[a] == labels[b] and (x == y and x in (a, b) or (x, y) == (a, b)):
                pairs.add((a, b))
    return pairs


def main(arguments):
    if not arguments or len(arguments) % 2:
        sys.exit(__doc__)
    checked = 0
    for out, truth in zip(map(Path, arguments[::2]), arguments[1::2]):
        rows = pq.read_table(truth).sort_by("doc")
        true_labels = rows["cluster"].to_pylist()
        for one in json.loads((out / "evaluation" / "evaluation.json").read_text())["algorithms"]:
            predicted = predicted_labels(out, one["label"], len(true_labels))
            precision, recall = b_cubed(true_labels, predicted)
            what = f"{out}, {one['label']}"
            check(f"{what}: B-cubed P", precision, one["b_cubed"]["precision"])
            check(f"{what}: B-cubed R", recall, one["b_cubed"]["recall"])
            check(f"{what}: B-cubed F1", 2 * precision * recall / (precision + recall), one["b_cubed"]["f1"])
            check(f"{what}: ARI", adjusted_rand_score(true_labels, predicted), one["ari"])
            if one["label"] == "exact":
                true, found = pairs_of_texts(true_labels, true_labels, predicted), pairs_of_texts(true_labels, predicted, predicted)
                check(f"{what}: pairwise P", over(len(true & found), len(found)), one["pairwise"]["precision"])
                check(f"{what}: pairwise R", over(len(true & found), len(true)), one["pairwise"]["recall"])
            checked += 1
    print(f"checked {checked}")


if __name__ == "__main__":
    main(sys.argv[1:])
