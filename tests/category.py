#!/usr/bin/env python3
"""Compares a classifier's posteriors with those of scikit-learn's multinomial naive Bayes.

usage: category.py FILE

FILE is JSON: `classes` and `words` in order, `train` with a pair [class, text] for each document, `texts`, and `posteriors`: for each text,
one number per class, or null if the text has no known words.

needs: numpy scikit-learn
"""

import json
import sys

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    with open(arguments[0], encoding="utf-8") as file:
        given = json.load(file)
    vectorizer = CountVectorizer(vocabulary=given["words"], token_pattern=r"\S+")
    labels = [label for label, _ in given["train"]]
    model = MultinomialNB(alpha=1.0).fit(vectorizer.transform([text for _, text in given["train"]]), labels)
    if list(model.classes_) != given["classes"]:
        sys.exit(f"error: classes: expected {list(model.classes_)}, got {given['classes']}")
    counts = vectorizer.transform(given["texts"])
    expected = model.predict_proba(counts)
    for at, came in enumerate(given["posteriors"]):
        known = counts[at].sum() > 0
        if known != (came is not None):
            sys.exit(f"error: text {at}: known words: {known}, got {came}")
        if known and np.abs(expected[at] - came).max() > 1e-9:
            sys.exit(f"error: text {at}: expected {expected[at]}, got {came}")
    print(f"checked {len(given['posteriors'])}")


if __name__ == "__main__":
    main(sys.argv[1:])
