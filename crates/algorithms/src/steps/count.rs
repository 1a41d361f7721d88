//! count: the counts that one worker adds to the statistics of the corpus, document by document.

use crate::algorithm::{FeatureKind, Stats};
use crate::corpus::{COUNT_WIDTH, Counts, decode_count};
use dupsift_text::Analysis;

/// Holds the counts of one worker. The sums over all workers are the statistics of the corpus.
pub struct WordCounts<'f> {
    /// The number of documents with at least one word.
    pub documents: u64,
    /// The number of words in all documents.
    pub tokens: u64,
    /// The word counts, if an algorithm needs them.
    pub words: Option<Counts>,
    /// The feature counts, if an algorithm needs them.
    pub features: Option<Counts>,
    kinds: &'f [Box<dyn FeatureKind>],
    scratch: Vec<u64>,
}

impl WordCounts<'_> {
    /// Returns a tally of the counts that `stats` requires. `memory_bytes` is the approximate size of the tally; `kinds` lists the features
    /// to count.
    pub fn new(stats: Stats, kinds: &[Box<dyn FeatureKind>], memory_bytes: usize) -> WordCounts<'_> {
        let share = memory_bytes / 2;
        WordCounts {
            documents: 0,
            tokens: 0,
            words: stats.words.then(|| Counts::new(share)),
            features: stats.features.then(|| Counts::new(share)),
            kinds,
            scratch: Vec::new(),
        }
    }

    /// Counts one document; a document without words is not counted.
    pub fn add(&mut self, document: &Analysis<'_>) {
        if let Some(counts) = self.words.as_mut().filter(|_| !document.words().is_empty()) {
            counts.add_counted(document.counted().iter().map(|counted| (counted.word.hash, counted.tf)));
        }
        self.add_but_words(document);
    }

    /// Like [`WordCounts::add`], but does not count words, whose counts are kept elsewhere.
    pub fn add_but_words(&mut self, document: &Analysis<'_>) {
        let words = document.words();
        if words.is_empty() {
            return;
        }
        self.documents += 1;
        self.tokens += words.len() as u64;
        if let Some(counts) = &mut self.features {
            self.scratch.clear();
            self.kinds.iter().for_each(|kind| kind.hashes(document, &mut self.scratch));
            counts.add_document(self.scratch.iter().copied());
        }
    }
}

/// The counts of a word are kept if at least this many documents contain it, that is, always.
pub const LEAST_WORDS: u64 = 1;
/// The counts of a feature are kept if at least this many documents contain it. A feature that occurs in a single document is treated like
/// an unknown feature.
pub const LEAST_FEATURES: u64 = 2;

/// Sums all partial counts of one term. Returns the term, the number of documents that contain it, and the number of its occurrences, or
/// `None` if the number of documents is below `least`.
pub fn sum(rows: &[u8], least: u64) -> Option<(u64, u64, u64)> {
    let counts = rows.chunks_exact(COUNT_WIDTH).map(decode_count);
    let counts = counts.map(|(term, df, cf)| (term, u64::from(df), u64::from(cf)));
    counts.reduce(|sum, one| (sum.0, sum.1 + one.1, sum.2 + one.2)).filter(|sum| sum.1 >= least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::Recipe;
    use dupsift_core::hash::hash64;
    use dupsift_text::{Pipeline, TextOptions};
    use std::collections::BTreeMap;

    #[test]
    fn documents_words_and_sentences_are_counted() {
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        // Two algorithms need sentences, which are counted once.
        let algorithms = Recipe::parse_algorithms("long_sent:max_sentence_df=9,A12:max_sentence_df=5").unwrap();
        let kinds = Recipe { count_copies: true, ..Recipe::new(algorithms) }.features();
        let mut tally = WordCounts::new(Stats { words: true, features: true }, &kinds, 0);
        for text in ["Кот спит. Кот спит. Пёс не спит.", "кот СПИТ!", "?!", ""] {
            tally.add(&pipeline.analyse(text));
        }
        assert_eq!((tally.documents, tally.tokens), (2, 9));
        let collect = |counts: Option<Counts>| {
            let mut all = BTreeMap::new();
            counts.unwrap().drain(|term, df, cf| Ok::<_, ()>(assert!(all.insert(term, (df, cf)).is_none()))).unwrap();
            all
        };
        let (words, sentences) = (collect(tally.words), collect(tally.features));
        let of = |text: &str| hash64(text.as_bytes());
        assert_eq!((words[&of("кот")], words[&of("спит")], words[&of("пёс")]), ((2, 3), (2, 4), (1, 1)));
        assert_eq!((sentences[&of("кот спит")], sentences[&of("пёс не спит")]), ((2, 3), (1, 1)));
    }
}
