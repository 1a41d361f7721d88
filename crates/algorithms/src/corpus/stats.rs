//! What algorithms ask of the whole corpus: N, df, cf, mean length, and the weights that follow from them.
//!
//! Every document with at least one word counts, exact copies too, so that the statistics depend on nothing but the corpus
//! (docs/methods/common.md). Signatures are comparable only within one snapshot.

use std::sync::OnceLock;

use super::table::{Found, TermTable};
use dupsift_core::float;
use dupsift_core::hash::combine;
use dupsift_text::{Frequencies, Frequency};

/// The counts of one corpus under one tokenizer.
pub struct CorpusStats {
    documents: u64,
    tokens: u64,
    snapshot: u64,
    covers: bool,
    /// [`CorpusStats::idf_bm25`] of these document frequencies, from 0 on.
    idf: Vec<f64>,
    /// Words with their document and collection frequencies.
    pub words: TermTable,
    /// Features (sentences, segments) that occur in two documents or more, with their document frequencies.
    pub features: TermTable,
    df_range: OnceLock<(u64, u64)>,
}

impl CorpusStats {
    /// Statistics of a corpus that was not counted.
    pub fn none() -> CorpusStats {
        CorpusStats::new(0, 0, 0, TermTable::empty(), TermTable::empty())
    }

    /// `documents`: those with at least one word; `tokens`: the words of all of them; `snapshot`: see [`snapshot`].
    pub fn new(documents: u64, tokens: u64, snapshot: u64, words: TermTable, features: TermTable) -> CorpusStats {
        let idf = (0..=documents.min(KEPT_IDF)).map(|df| idf_bm25(documents, df)).collect();
        CorpusStats {
            documents,
            tokens,
            snapshot,
            covers: documents > 0,
            idf,
            words,
            features,
            df_range: OnceLock::new(),
        }
    }

    /// The same counts for documents that are not among the counted ones: they cover these no longer.
    pub fn frozen(self) -> CorpusStats {
        CorpusStats { covers: false, ..self }
    }

    /// Whether every document that is signed was counted. Only then does a count say that a term stands in this document alone,
    /// or in its copies; by frozen counts a term that is not known may stand in many.
    pub fn covers(&self) -> bool {
        self.covers
    }

    /// N: documents with at least one word.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Words of all documents together.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// avgdl: words a document, 0 for an empty corpus.
    pub fn mean_length(&self) -> f64 {
        if self.documents == 0 { 0.0 } else { self.tokens as f64 / self.documents as f64 }
    }

    /// Documents that contain the term; an unknown term counts as in one document.
    pub fn df(&self, term: u64) -> u64 {
        self.words.get(term).map_or(1, |found| found.df)
    }

    /// [`CorpusStats::df`] of many terms, in their order; in a large table much faster than one by one.
    pub fn df_of_many(&self, terms: impl Iterator<Item = u64> + Clone, mut each: impl FnMut(u64)) {
        self.words.get_many(terms, |found| each(found.map_or(1, |found| found.df)));
    }

    /// Occurrences of the term in all documents; an unknown term counts as occurring once.
    pub fn cf(&self, term: u64) -> u64 {
        self.words.get(term).map_or(1, |found| found.cf)
    }

    /// Documents that have the feature (a sentence, a segment), at least one.
    pub fn feature_df(&self, feature: u64) -> u64 {
        self.features.get(feature).map_or(1, |found| found.df)
    }

    /// [`CorpusStats::feature_df`] of many features, in their order.
    pub fn feature_df_of_many(&self, features: impl Iterator<Item = u64> + Clone, mut each: impl FnMut(u64)) {
        self.features.get_many(features, |found| each(found.map_or(1, |found| found.df)));
    }

    /// The least and the greatest document frequency of all words; (1, 1) for a corpus without words.
    pub fn df_range(&self) -> (u64, u64) {
        *self.df_range.get_or_init(|| {
            let all = (0..self.words.len()).map(|at| self.words.entry(at).1);
            let (least, most) = all.fold((u64::MAX, 1), |(least, most), df| (least.min(df), most.max(df)));
            (least.min(most), most)
        })
    }

    /// The frequencies of many features, in their order; [`Frequency::UNKNOWN`] of those in one document.
    pub fn features_of_many(&self, features: impl Iterator<Item = u64> + Clone, mut each: impl FnMut(Frequency)) {
        self.features.get_many(features, |found| each(frequency(&self.features, found)));
    }

    /// IDF of a word in so many documents, ln(N / df); 0 for a corpus that was not counted.
    pub fn idf(&self, df: u64) -> f64 {
        if self.documents == 0 { 0.0 } else { float::ln(self.documents as f64 / df as f64) }
    }

    /// IDF of a word in so many documents, in the BM25 form, ln((N - df + 0.5) / (df + 0.5)); negative for df above N/2.
    pub fn idf_bm25(&self, df: u64) -> f64 {
        self.idf.get(df as usize).copied().unwrap_or_else(|| idf_bm25(self.documents, df))
    }

    /// Names these counts: equal for equal corpora under the same tokenizer, in any order of documents.
    pub fn snapshot(&self) -> u64 {
        self.snapshot
    }
}

impl Frequencies for CorpusStats {
    fn look_up(&self, words: &[u64], out: &mut Vec<Frequency>) {
        self.words.get_many(words.iter().copied(), |found| out.push(frequency(&self.words, found)));
    }
}

fn frequency(table: &TermTable, found: Option<Found>) -> Frequency {
    let known = |found: Found| Frequency { df: found.df, cf: found.cf, rank: table.rank(found.at) };
    found.map_or(Frequency::UNKNOWN, known)
}

/// The weights of so many document frequencies are computed once and kept; most words of most documents are among them.
const KEPT_IDF: u64 = 1 << 16;

fn idf_bm25(documents: u64, df: u64) -> f64 {
    let (n, df) = (documents as f64, df as f64);
    float::ln((n - df + 0.5) / (df + 0.5))
}

/// The snapshot id of counts, folded over what they consist of.
pub fn snapshot(identity: u64, documents: u64, tokens: u64, words: &TermTable, features: &TermTable) -> u64 {
    let mut id = combine(combine(identity, documents), tokens);
    for table in [words, features] {
        for at in 0..table.len() {
            let (term, df, cf) = table.entry(at);
            id = combine(combine(combine(id, term), df), cf);
        }
        id = combine(id, table.len() as u64);
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::TermTableWriter;

    #[test]
    fn weights_of_a_small_corpus() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = TermTableWriter::create(&folder.path().join("t")).unwrap();
        writer.push(10, 3, 9).unwrap();
        writer.push(20, 1, 2).unwrap();
        let words = writer.finish().unwrap();
        let id = snapshot(1, 4, 20, &words, &TermTable::empty());
        let stats = CorpusStats::new(4, 20, id, words, TermTable::empty());
        assert_eq!((stats.mean_length(), stats.df(10), stats.cf(10), stats.df(99)), (5.0, 3, 9, 1));
        assert!((stats.idf_bm25(stats.df(10)) - (1.5f64 / 3.5).ln()).abs() < 1e-15);
        assert!(stats.idf_bm25(stats.df(10)) < 0.0 && stats.idf_bm25(stats.df(20)) > 0.0);
        assert_ne!(id, snapshot(2, 4, 20, &stats.words, &stats.features));
        assert!(stats.covers() && !CorpusStats::none().covers());
        let frozen = stats.frozen();
        assert!(!frozen.covers() && (frozen.documents(), frozen.df(10), frozen.snapshot()) == (4, 3, id));
        assert_eq!(CorpusStats::none().mean_length(), 0.0);
    }
}
