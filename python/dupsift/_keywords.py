"""The keywords of the functions, for type checkers. Generated from the table of options by `make golden`; do not edit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict


class DedupOptions(TypedDict, total=False):
    """The keywords of ``dedup``."""

    follow_links: bool
    html_column: str
    title_column: str
    keywords_column: str
    description_column: str
    content_type_column: str
    url_column: str
    limit: int
    sample: int | float
    seed: int
    strict: bool
    purify: str
    overwrite: bool
    no_report: bool
    keep_texts: bool
    corpus: str | Sequence[str]
    add: str | Sequence[str]
    algorithms: str | Sequence[str]
    preset: Literal["balanced", "strict", "broad", "fineweb"]
    threshold: float
    count_copies: bool
    scope: str
    max_group: int
    max_candidates: int
    stats: str | os.PathLike[str]
    tokenizer: Literal["dict", "jieba", "bigram", "char"]
    stop_words: str | os.PathLike[str]
    dictionary: str | os.PathLike[str]
    yo_to_e: bool
    traditional: bool
    stem: bool
    keep: str | Sequence[str]
    keep_per: str
    decide: str
    remove_if: str
    chain: Literal["keep", "remove"]
    cut: str
    cut_at: Literal["word", "sentence"]
    cut_min_chars: int
    cut_copies: int
    cut_first: bool
    min_chars_left: int
    accept: bool
    max_rejected_share: float
    max_removed_share: float
    guard_rows: int
    max_cut_share: float
    max_template_share: float
    previous: str | os.PathLike[str]
    source_column: str
    max_pairs_factor: int
    max_shrink_factor: int
    max_candidates_factor: int
    index: str | os.PathLike[str]
    reference: object
    batch: str
    planned_documents: int
    work: str | os.PathLike[str]
    prefilter: bool
    threads: int
    memory: str | int
    no_progress: bool


class RunOptions(TypedDict, total=False):
    """The keywords of ``run``."""

    whole_files: bool
    text_lines: bool
    follow_links: bool
    encoding: str
    separator: str
    quotes: Literal["double", "none"]
    storage: str | Mapping[str, str | bool]
    text_column: str | Sequence[str]
    html_column: str
    id_column: str
    title_column: str
    keywords_column: str
    description_column: str
    content_type_column: str
    url_column: str
    limit: int
    sample: int | float
    seed: int
    strict: bool
    purify: str
    overwrite: bool
    no_report: bool
    keep_texts: bool
    corpus: str | Sequence[str]
    add: str | Sequence[str]
    algorithms: str | Sequence[str]
    preset: Literal["balanced", "strict", "broad", "fineweb"]
    threshold: float
    count_copies: bool
    scope: str
    max_group: int
    max_candidates: int
    stats: str | os.PathLike[str]
    tokenizer: Literal["dict", "jieba", "bigram", "char"]
    stop_words: str | os.PathLike[str]
    dictionary: str | os.PathLike[str]
    yo_to_e: bool
    traditional: bool
    stem: bool
    keep: str | Sequence[str]
    keep_per: str
    decide: str
    remove_if: str
    chain: Literal["keep", "remove"]
    cut: str
    cut_at: Literal["word", "sentence"]
    cut_min_chars: int
    cut_copies: int
    cut_first: bool
    min_chars_left: int
    accept: bool
    max_rejected_share: float
    max_removed_share: float
    guard_rows: int
    max_cut_share: float
    max_template_share: float
    previous: str | os.PathLike[str]
    source_column: str
    max_pairs_factor: int
    max_shrink_factor: int
    max_candidates_factor: int
    index: str | os.PathLike[str]
    reference: object
    batch: str
    planned_documents: int
    work: str | os.PathLike[str]
    prefilter: bool
    threads: int
    memory: str | int
    checkpoint: str
    resume: bool
    no_progress: bool


class CompareOptions(TypedDict, total=False):
    """The keywords of ``compare``."""

    judge: str
    judge_sample: int
    oracle_sample: int
    whole_files: bool
    text_lines: bool
    follow_links: bool
    encoding: str
    separator: str
    quotes: Literal["double", "none"]
    storage: str | Mapping[str, str | bool]
    text_column: str | Sequence[str]
    html_column: str
    id_column: str
    title_column: str
    keywords_column: str
    description_column: str
    content_type_column: str
    url_column: str
    limit: int
    sample: int | float
    seed: int
    strict: bool
    purify: str
    overwrite: bool
    no_report: bool
    algorithms: str | Sequence[str]
    preset: Literal["balanced", "strict", "broad", "fineweb"]
    count_copies: bool
    max_group: int
    max_candidates: int
    tokenizer: Literal["dict", "jieba", "bigram", "char"]
    stop_words: str | os.PathLike[str]
    dictionary: str | os.PathLike[str]
    yo_to_e: bool
    traditional: bool
    stem: bool
    keep: str | Sequence[str]
    accept: bool
    max_rejected_share: float
    work: str | os.PathLike[str]
    prefilter: bool
    threads: int
    memory: str | int
    checkpoint: str
    resume: bool
    no_progress: bool


class PurifyOptions(TypedDict, total=False):
    """The keywords of ``purify``."""

    model: str | os.PathLike[str]
    train: str
    whole_files: bool
    follow_links: bool
    encoding: str
    separator: str
    quotes: Literal["double", "none"]
    storage: str | Mapping[str, str | bool]
    html_column: str
    id_column: str
    content_type_column: str
    url_column: str
    limit: int
    strict: bool
    purify: str
    overwrite: bool
    columns: str | Sequence[str]
    keep_html: bool
    prefix: str
    stats: str | os.PathLike[str]
    tokenizer: Literal["dict", "jieba", "bigram", "char"]
    stop_words: str | os.PathLike[str]
    dictionary: str | os.PathLike[str]
    yo_to_e: bool
    traditional: bool
    stem: bool
    accept: bool
    max_rejected_share: float
    work: str | os.PathLike[str]
    threads: int
    memory: str | int
    no_progress: bool


class ContaminatedOptions(TypedDict, total=False):
    """The keywords of ``contaminated``."""

    item_column: str | Sequence[str]
    item_id_column: str
    choices_column: str | Sequence[str]
    answer_column: str
    suite_column: str
    ngram: int
    public_documents: int
    whole_files: bool
    text_lines: bool
    follow_links: bool
    encoding: str
    separator: str
    quotes: Literal["double", "none"]
    storage: str | Mapping[str, str | bool]
    text_column: str | Sequence[str]
    html_column: str
    id_column: str
    content_type_column: str
    url_column: str
    limit: int
    strict: bool
    purify: str
    overwrite: bool
    no_report: bool
    corpus: str | Sequence[str]
    cut_spans: bool
    threshold: float
    yo_to_e: bool
    traditional: bool
    stem: bool
    accept: bool
    max_rejected_share: float
    work: str | os.PathLike[str]
    threads: int
    memory: str | int
    no_progress: bool
