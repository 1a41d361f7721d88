//! Options for splitting texts into words.

use std::path::PathBuf;

use super::{MAKING, WORDING};
use crate::options::help_groups::DUPLICATES;
use crate::options::spec::{Affects, OptionSpec, Verb, depends, is};
use crate::options::value::{Kind, Value};
use crate::options::words;

/// Holds the paths of word lists, for the record. Their words are in [`RunOptions::recipe`](crate::options::RunOptions::recipe), like the
/// other options of this group.
#[derive(Clone, Debug, Default)]
pub struct WordLists {
    /// The path of the stop-word file.
    pub stop_words: Option<PathBuf>,
    /// The path of the dictionary file.
    pub dictionary: Option<PathBuf>,
}

/// The options of this group, in the order of the help.
#[rustfmt::skip]
pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(DUPLICATES, WORDING, "tokenizer", "NAME", Kind::Text(|typed| words::tokenizer(typed).map(drop)),
        "word splitter for Chinese, Japanese, Thai, Lao, Khmer and Burmese: dict, jieba, bigram or char")
        .default(is("dict"))
        .field(
            |run, given| Ok(run.recipe.text.tokenizer = words::tokenizer(given.text())?),
            |run| Some(run.recipe.text.tokenizer.name().into()),
        )
        .affects(Affects::Identified),
    OptionSpec::new(DUPLICATES, WORDING, "stop-words", "FILE", Kind::Path,
        "File with words that algorithms ignore, one per line")
        .but(&[(
            Verb::Purify,
            "File with words that are never keywords, one per line",
            depends("function words of Chinese, Russian and English"),
        )])
        .field(words::read_stop_words, |run| run.words.stop_words.clone().map(Value::from))
        .affects(Affects::Identified),
    OptionSpec::new(DUPLICATES, WORDING, "dictionary", "FILE", Kind::Path,
        "File with additional Chinese words, one per line: WORD, WORD FREQUENCY or WORD FREQUENCY TAG")
        .field(words::read_dictionary, |run| run.words.dictionary.clone().map(Value::from))
        .affects(Affects::Identified),
    OptionSpec::new(DUPLICATES, MAKING, "yo-to-e", "", Kind::Switch, "Treat Russian ё as е")
        .field(|run, given| Ok(run.recipe.text.yo_to_e = given.switch()), |run| Some(run.recipe.text.yo_to_e.into()))
        .affects(Affects::Identified),
    OptionSpec::new(DUPLICATES, MAKING, "traditional", "", Kind::Switch,
        "Treat traditional Chinese characters as their simplified forms when texts are compared")
        .field(|run, given| Ok(run.recipe.text.traditional = given.switch()), |run| Some(run.recipe.text.traditional.into()))
        .affects(Affects::Identified),
    OptionSpec::new(DUPLICATES, MAKING, "stem", "", Kind::Switch, "Reduce Russian and English words to their stems")
        .field(|run, given| Ok(run.recipe.text.stem = given.switch()), |run| Some(run.recipe.text.stem.into()))
        .affects(Affects::Identified),
];
