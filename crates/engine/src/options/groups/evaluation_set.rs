//! Options of `contaminated`: the evaluation set and its columns.

use super::CONTAMINATED;
use crate::options::help_groups::ITEMS;
use crate::options::spec::{OptionSpec, in_words, is};
use crate::options::value::Kind;

/// The options of this group, in the order of the help.
#[rustfmt::skip]
pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(ITEMS, CONTAMINATED, "against", "INPUT", Kind::Texts,
        "The evaluation set: files, folders or globs with one item per row; can be repeated"),
    OptionSpec::new(ITEMS, CONTAMINATED, "item-column", "COLUMN", Kind::Column,
        "Column with the text of each item: a string, or a list of paragraphs or chat messages. Several columns, such as \
         question,choices, are joined")
        .list()
        .default(is("question")),
    OptionSpec::new(ITEMS, CONTAMINATED, "item-id-column", "COLUMN", Kind::Column, "Column with item ids")
        .default(in_words("id", "id; without it, ids are FILE#ROW")),
    OptionSpec::new(ITEMS, CONTAMINATED, "choices-column", "COLUMN", Kind::Column,
        "Column with the list of choices that answers refer to by letter or position, or one column per choice: A,B,C,D")
        .list()
        .default(in_words("choices", "choices; optional")),
    OptionSpec::new(ITEMS, CONTAMINATED, "answer-column", "COLUMN", Kind::Column,
        "Column with answers: strings, lists of equally correct strings, or the letters or positions of choices. The search for an answer covers a matching span and 200 tokens on either side")
        .default(in_words("answer", "answer; optional")),
    OptionSpec::new(ITEMS, CONTAMINATED, "suite-column", "COLUMN", Kind::Column,
        "Column with the suite of each item, for counts per suite")
        .default(in_words("suite", "suite; without it, the name of the file")),
    OptionSpec::new(ITEMS, CONTAMINATED, "ngram", "N", Kind::Whole(3, 64),
        "Number of tokens in an n-gram; a token is a word or a Chinese character")
        .default(is("5")),
    OptionSpec::new(ITEMS, CONTAMINATED, "public-documents", "N", Kind::Whole(0, u64::MAX),
        "Keep documents with an item that more than this many documents contain, without its answer and without other items, such as a quotation")
        .default(is("100")),
];
