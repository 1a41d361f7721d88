"""The keywords of the functions, for type checkers. `tests/test_types.py` checks that they match the library."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal, TypedDict


class _Files(TypedDict, total=False):
    overwrite: bool
    work: str | os.PathLike[str]
    accept: bool
    max_rejected_share: float
    html_column: str
    content_type_column: str
    url_column: str
    follow_links: bool
    limit: int
    strict: bool
    tokenizer: Literal["dict", "jieba", "bigram", "char"]
    stop_words: str | os.PathLike[str]
    dictionary: str | os.PathLike[str]
    yo_to_e: bool
    traditional: bool
    stem: bool
    purify: str
    threads: int
    memory: str | int
    no_progress: bool


class _Corpus(TypedDict, total=False):
    whole_files: bool
    encoding: str
    separator: str
    quotes: Literal["double", "none"]
    id_column: str


class _Sifting(TypedDict, total=False):
    title_column: str
    keywords_column: str
    description_column: str
    no_report: bool
    algorithms: str | Sequence[str]
    preset: Literal["balanced", "strict", "broad", "fineweb"]
    count_copies: bool
    max_group: int
    max_candidates: int
    prefilter: bool
    keep: str | Sequence[str]


class _Resuming(TypedDict, total=False):
    checkpoint: str
    resume: bool


class _Deciding(TypedDict, total=False):
    threshold: float
    decide: str
    remove_if: str
    chain: Literal["keep", "remove"]


class _Text(TypedDict, total=False):
    text_column: str | Sequence[str]
    text_lines: bool


class _Publishing(TypedDict, total=False):
    max_removed_share: float
    max_cut_share: float
    max_template_share: float
    guard_rows: int
    previous: str | os.PathLike[str]
    source_column: str
    max_pairs_factor: int
    max_shrink_factor: int
    max_candidates_factor: int
    scope: str
    keep_texts: bool
    sample: int | float
    seed: int
    corpus: str | Sequence[str]
    add: str | Sequence[str]
    cut: str
    cut_at: str
    cut_min_chars: int
    cut_copies: int
    cut_first: bool
    min_chars_left: int
    stats: str | os.PathLike[str]
    index: str | os.PathLike[str]
    # A path or a frame; the frames of the libraries have no common type.
    reference: object
    batch: str
    planned_documents: int


class DedupOptions(_Files, _Sifting, _Deciding, _Publishing, total=False):
    """The keywords of ``dedup``."""


class RunOptions(_Files, _Corpus, _Text, _Sifting, _Resuming, _Deciding, _Publishing, total=False):
    """The keywords of ``run``."""


class CompareOptions(_Files, _Corpus, _Text, _Sifting, _Resuming, total=False):
    """The keywords of ``compare``."""

    judge: str
    judge_sample: int
    oracle_sample: int
    sample: int | float
    seed: int


class PurifyOptions(_Files, _Corpus, total=False):
    """The keywords of ``purify``."""

    columns: str | Sequence[str]
    keep_html: bool
    prefix: str
    stats: str | os.PathLike[str]
    model: str | os.PathLike[str]
    train: str


class ContaminatedOptions(TypedDict, total=False):
    """The keywords of ``contaminated``."""

    item_column: str | Sequence[str]
    item_id_column: str
    choices_column: str | Sequence[str]
    answer_column: str
    suite_column: str
    ngram: int
    public_documents: int
    overwrite: bool
    work: str | os.PathLike[str]
    accept: bool
    max_rejected_share: float
    whole_files: bool
    text_lines: bool
    follow_links: bool
    encoding: str
    separator: str
    quotes: Literal["double", "none"]
    text_column: str | Sequence[str]
    html_column: str
    id_column: str
    content_type_column: str
    url_column: str
    limit: int
    strict: bool
    no_report: bool
    threshold: float
    yo_to_e: bool
    traditional: bool
    stem: bool
    purify: str
    corpus: str | Sequence[str]
    cut_spans: bool
    threads: int
    memory: str | int
    no_progress: bool
