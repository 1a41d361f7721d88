#!/usr/bin/env python3
"""Compares normal forms, words and pairs of a run with the rules of docs/methods, over the complete corpus.

usage: algorithms.py CORPUS WORDS OUT

CORPUS is a Parquet file with the columns text and title. OUT is a run over it with --title-column title and a --max-group that no class
reaches. WORDS has a line of JSON for each document: "normal", the program's normal form of the text, and "words" and "title", the words of
its text and its title. The script takes only the segmentation of Han characters from these, and computes everything else itself.
It does not cover algorithms whose pairs depend on hashes of words (simhash, random_projection, minhash, megashingles, lex_rand,
log_shingles, descr_words), on a random start (lsi), or on all pairs of long lists (cosine, decomposition, shingles).
Prints the algorithms that were compared with their rules; exits with 1 if anything differs.

needs: pyarrow regex
"""

import collections
import itertools
import json
import math
import struct
import sys
from pathlib import Path

import pyarrow.parquet as pq
import regex

import rules
from rules import Corpus, heaviest

TITLE_PART = regex.compile(r"\||(?<= )[_\-—–·](?= )")
# A dot or a comma between two digits is not a mark.
MARK = regex.compile(r"[!?，。！？]|(?<![0-9０-９])[.,]|[.,](?![0-9０-９])")


def single(number):
    """Rounds a number to 32 bits, as in sketches."""
    return struct.unpack("f", struct.pack("f", number))[0]


def same(keys):
    """Returns the pairs of documents with equal keys."""
    classes = collections.defaultdict(list)
    for doc, key in enumerate(keys):
        if key is not None:
            classes[key].append(doc)
    return {pair: 1.0 for docs in classes.values() for pair in itertools.combinations(docs, 2)}


def meeting(sets):
    """Returns all pairs of documents whose sets have elements in common, with the number of common elements."""
    holders = collections.defaultdict(list)
    for doc, elements in enumerate(sets):
        for element in elements or ():
            holders[element].append(doc)
    common = collections.Counter()
    for docs in holders.values():
        common.update(itertools.combinations(docs, 2))
    return common


def sorted_keys(lists):
    return [None if words is None else tuple(sorted(words)) for words in lists]


def exact(corpus):
    return same([text if text.strip() else None for text in corpus.texts])


def canonical(corpus):
    return same([" ".join(words) or None for words in corpus.words])


def tf(corpus):
    return same(sorted_keys(corpus.each(lambda doc: corpus.tf[doc], 6, 6)))


def tf_idf(corpus):
    return same(sorted_keys(corpus.each(corpus.bm25, 6, 6)))


def half_and_half(corpus, doc):
    most = max(corpus.tf[doc].values(), default=1)
    return {word: 0.5 + 0.5 * count / most for word, count in corpus.tf[doc].items()}


def tf_ridf(corpus):
    def weights(doc):
        ridf = lambda word: corpus.idf(word) + math.log(-math.expm1(-corpus.cf[word] / corpus.n))
        return {word: weight * ridf(word) for word, weight in half_and_half(corpus, doc).items()}

    return same(sorted_keys(corpus.each(weights, 6, 6)))


def opt_freq(corpus):
    def share(idf):
        return math.sqrt(idf / 11.5) if idf < 11.5 else 11.5 / idf

    def weights(doc):
        return {word: weight * share(corpus.idf(word)) for word, weight in half_and_half(corpus, doc).items()}

    return same(sorted_keys(corpus.each(weights, 6, 6)))


def long_sent(corpus):
    chosen = corpus.long_sentences(lambda _, words: len(words), 2)
    return same([tuple(sorted(sentences)) or None for sentences in chosen])


def heavy_sent(corpus):
    weights = [corpus.bm25(doc) for doc in range(len(corpus.texts))]

    def weight(doc, words):
        total = 0.0
        for word in words:
            total += weights[doc][word]
        return total

    return same([tuple(sorted(sentences)) or None for sentences in corpus.long_sentences(weight, 2)])


def three_plus_five(corpus):
    windows = collections.defaultdict(list)
    for doc, sentences in enumerate(corpus.long_sentences(lambda _, words: len(words), 3)):
        for key in {(first,) for first in sentences[:1]} | set(itertools.combinations(sorted(sentences), 2)):
            windows[key].append((len(corpus.words[doc]), doc))
    found = {}
    for rows in windows.values():
        chain = []
        for length, doc in sorted(rows):
            if chain and length * 0.85 > chain[-1][0]:
                chain = []
            for other, before in chain:
                small = min(len(corpus.sentences[doc]), len(corpus.sentences[before])) < 5
                if not small or min(other, length) >= 0.85 * max(other, length):
                    found[min(doc, before), max(doc, before)] = 1.0
            chain.append((length, doc))
    return found


def fingerprint(corpus):
    tops = corpus.each(lambda doc: corpus.tf[doc], 10, 1)
    return same([words and tuple((word, corpus.tf[doc][word]) for word in words) for doc, words in enumerate(tops)])


def near_page(corpus):
    def chosen(counts):
        most = math.floor(len(counts) * 0.2 + 1e-9) // 5 * 5
        words = sorted(sorted(counts, reverse=True), key=lambda word: -counts[word])
        return frozenset(words[:most]) or None

    return same([chosen(counts) for counts in corpus.tf])


def idf_hash(corpus):
    def chosen(counts):
        words = sorted(counts, key=lambda word: (corpus.df[word], word))
        return tuple(words[: max(1, math.floor(len(words) * 0.7 + 1e-9))]) or None

    return same([chosen(counts) for counts in corpus.tf])


def imatch(corpus):
    most, least = max(corpus.df.values()), min(corpus.df.values())
    lexicon = {word for word, df in corpus.df.items() if 0.2 <= math.log(most / df) / math.log(most / least) <= 0.8}
    chosen = [frozenset(counts) & lexicon for counts in corpus.tf]
    return same([words if len(words) >= 5 else None for words in chosen])


def keyword_match(corpus):
    chosen = corpus.each(lambda doc: corpus.tf[doc], 10, 8)
    return {
        (a, b): common / max(len(chosen[a]), len(chosen[b])) for (a, b), common in meeting(chosen).items() if common >= 8
    }


def repeats(corpus):
    sets = [{" ".join(words) for words in sentences} for sentences in corpus.sentences]
    sets = [sentences if len(sentences) >= 3 else None for sentences in sets]
    shares = {(a, b): common / max(len(sets[a]), len(sets[b])) for (a, b), common in meeting(sets).items()}
    return {pair: share for pair, share in shares.items() if share >= 0.8}


def shares_of(corpus, doc):
    return {word: count / len(corpus.words[doc]) for word, count in corpus.tf[doc].items()}


def keywords_1(corpus):
    def excerpt(text):
        text = text.encode()[:512].decode(errors="ignore")
        return text if rules.LETTER.search(text) else None

    return same([excerpt(rules.normal(text)) for text in corpus.texts])


def keywords_2(corpus):
    return same([words and tuple(words) for words in corpus.each(lambda doc: shares_of(corpus, doc), 10, 3)])


def keywords_3(corpus):
    return same(sorted_keys(corpus.each(lambda doc: shares_of(corpus, doc), 10, 3)))


def keywords(corpus):
    chosen = corpus.each(lambda doc: shares_of(corpus, doc), 10, 3)
    found = {}
    for a, b in same(sorted_keys(chosen)):
        of = [[single(shares_of(corpus, doc)[word]) for word in sorted(chosen[doc])] for doc in (a, b)]
        distance = sum((x - y) ** 2 for x, y in zip(*of)) / sum(x * x for x in of[0] + of[1])
        if distance < 0.1:
            found[a, b] = 1 - distance
    return found


def sim(corpus):
    def weights(doc):
        shares = shares_of(corpus, doc).items()
        return {word: share * max(corpus.idf(word), 1e-6) for word, share in shares if corpus.df[word] >= 2}

    chosen = corpus.each(weights, 5, 3)
    vectors = [words and {word: single(weights(doc)[word]) for word in words} for doc, words in enumerate(chosen)]
    square = lambda vector: sum(weight * weight for weight in vector.values())
    found = {}
    for a, b in meeting(chosen):
        product = sum(weight * vectors[b].get(word, 0) for word, weight in vectors[a].items())
        cosine = product / math.sqrt(square(vectors[a]) * square(vectors[b]))
        if 1 - cosine < 0.1 or set(chosen[a]) == set(chosen[b]):
            found[a, b] = cosine
    return found


def segments(corpus):
    sets = []
    for text in corpus.texts:
        passages = map(rules.passage, rules.paragraphs(text))
        sets.append({passage for passage, length in passages if length >= 10})
    found = {}
    for (a, b), common in meeting(sets).items():
        smaller = min(len(sets[a]), len(sets[b]))
        if common >= 3 if smaller >= 3 else sets[a] == sets[b]:
            found[a, b] = common / smaller
    return found


def groups_at_marks(text):
    """Returns, for each punctuation mark, the two units before it and the two units after it."""
    stretches = [rules.units(rules.normal(stretch)) for stretch in MARK.split(text)]
    return [group for before, behind in itertools.pairwise(stretches) if (group := before[-2:] + behind[:2])]


def sentence_marks(corpus):
    parts = []
    for text in corpus.texts:
        groups = groups_at_marks(text)
        cuts = [0, -(-len(groups) // 3), -(-2 * len(groups) // 3), len(groups)]
        part = lambda at: "".join("".join(unit + " " for unit in group) + "\n" for group in groups[cuts[at] : cuts[at + 1]])
        parts.append([(at, part(at)) for at in range(3)] if len(groups) >= 3 else [])
    titles = [rules.normal(title) for title in corpus.titles]
    titles = [title if rules.LETTER.search(title) else None for title in titles]
    found = {}
    for (a, b), common in meeting(parts).items():
        score = common + (1.5 if titles[a] is not None and titles[a] == titles[b] else 0)
        if score >= 3:
            found[a, b] = score / (4.5 if titles[a] is not None and titles[b] is not None else 3)
    return found


def largest_segments(text):
    """Returns the five largest segments of at least 50 words; text left over at the end belongs to the last segment."""
    passages, open_ = [], ""
    paragraphs = rules.paragraphs(text)
    for paragraph in paragraphs:
        open_ += paragraph + "\n"
        if rules.passage(open_)[1] >= 100:
            passages.append(open_)
            open_ = ""
    if passages:
        passages[-1] += open_
    else:
        passages = [open_]
    distinct = dict(map(rules.passage, passages))
    return [passage for passage, length in sorted(distinct.items(), key=lambda one: -one[1])[:5] if length]


def core_words(corpus):
    titles = [[part.strip() for part in TITLE_PART.split(rules.normal(title))] for title in corpus.titles]
    titles = [[part for part in parts if part] for parts in titles]
    df = collections.Counter(part for parts in titles if len(parts) > 1 for part in set(parts))
    site = max(3, sum(1 for parts in titles if parts) / 100)
    cores = []
    for title, parts in zip(corpus.titles, titles):
        own = [part for part in parts if df[part] <= site] if len(parts) > 1 else []
        words = {word for part in own or [rules.normal(title)] for word in corpus.cutter.words(part)}
        cores.append(tuple(sorted(heaviest({word: 3 * corpus.idf(word) for word in words}, 5))) or None)
    segments = [largest_segments(text) if core else [] for text, core in zip(corpus.texts, cores)]
    found = {}
    for a, b in same(cores):
        common, smaller = len(set(segments[a]) & set(segments[b])), min(len(segments[a]), len(segments[b]))
        if common >= max(1, min(2, smaller)):
            found[a, b] = common / smaller
    return found


ALGORITHMS = [
    *[exact, canonical, tf, tf_idf, tf_ridf, opt_freq, long_sent, heavy_sent, three_plus_five, fingerprint, near_page, idf_hash],
    *[imatch, keyword_match, repeats, keywords, keywords_1, keywords_2, keywords_3, sim, segments, sentence_marks, core_words],
]


def main(corpus, words, out):
    with open(words, encoding="utf-8") as lines:
        corpus = Corpus(corpus, map(json.loads, lines))
    differences = corpus.cutter.differences
    copies = same([(text, title) if text.strip() else None for text, title in zip(corpus.texts, corpus.titles)])
    first = {}
    firsts = [first.setdefault(both, doc) for doc, both in enumerate(zip(corpus.texts, corpus.titles))]
    labels = {folder.name.removeprefix("algorithm=") for folder in (Path(out) / "pairs").iterdir()}
    if labels != {algorithm.__name__ for algorithm in ALGORITHMS}:
        raise SystemExit(f"pairs of {sorted(labels)}, rules of {sorted(algorithm.__name__ for algorithm in ALGORITHMS)}")
    for algorithm in ALGORITHMS:
        files = sorted((Path(out) / "pairs" / f"algorithm={algorithm.__name__}").glob("*.parquet"))
        rows = [row for file in files for row in pq.read_table(file, partitioning=None).to_pylist()]
        found = {(row["doc_a"], row["doc_b"]): row["similarity"] for row in rows}
        expected = algorithm(corpus) | copies
        # A copy is only paired with the first document with its text; different texts are paired by their first documents.
        expected = {(a, b): score for (a, b), score in expected.items() if firsts[a] == a and firsts[b] in (a, b)}
        for pair in sorted(found.keys() | expected.keys()):
            one, other = found.get(pair), expected.get(pair)
            if one is None or other is None or abs(one - other) > 1e-6:
                differences.append(f"{algorithm.__name__} {pair}: similarity {one}, by the rules {other}")
        print(algorithm.__name__, len(expected), "pairs")
    print("\n".join(differences[:40]), file=sys.stderr)
    return min(1, len(differences))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
