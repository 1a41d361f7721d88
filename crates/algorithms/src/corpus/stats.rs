//! Corpus statistics for algorithms: N, df, cf, mean length, and the weights derived from them.
//!
//! Every document with at least one word is counted, including exact copies, so that the statistics depend only on the corpus
//! (docs/methods/common.md). Signatures are comparable only within one snapshot.

use std::sync::OnceLock;

use super::table::{TermCounts, TermTable};
use dupsift_core::float;
use dupsift_core::hash::combine;
use dupsift_text::{Frequencies, Frequency};

/// Holds the counts for one corpus and one tokenizer.
pub struct CorpusStats {
    documents: u64,
    tokens: u64,
    snapshot: u64,
    covers: bool,
    /// The result of [`CorpusStats::idf_bm25`] for each document frequency, starting at 0.
    idf: Vec<f64>,
    /// The words with their document and collection frequencies.
    pub words: TermTable,
    /// The features (sentences, segments) that occur in at least two documents, with their document frequencies.
    pub features: TermTable,
    df_range: OnceLock<(u64, u64)>,
}

impl CorpusStats {
    /// Returns the statistics of a corpus that was not counted.
    pub fn none() -> CorpusStats {
        CorpusStats::new(0, 0, 0, TermTable::empty(), TermTable::empty())
    }

    /// Creates the statistics of a corpus. `documents` is the number of documents with at least one word, and `tokens` is the number of
    /// words in all documents. `snapshot` is the result of [`snapshot`].
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

    /// Returns the same counts for use with documents that were not counted. [`CorpusStats::covers`] returns false for these counts.
    pub fn frozen(self) -> CorpusStats {
        CorpusStats { covers: false, ..self }
    }

    /// Returns whether the counts include every document that is signed. Only complete counts prove that a term occurs in no document other
    /// than the signed document and its copies; with frozen counts, an unknown term may occur in many documents.
    pub(crate) fn covers(&self) -> bool {
        self.covers
    }

    /// Returns N, the number of documents with at least one word.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Returns the number of words in all documents.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Returns avgdl, the mean number of words per document, or 0 for an empty corpus.
    pub fn mean_length(&self) -> f64 {
        if self.documents == 0 { 0.0 } else { self.tokens as f64 / self.documents as f64 }
    }

    /// Returns the number of documents that contain the term, or 1 for an unknown term.
    pub fn df(&self, term: u64) -> u64 {
        self.words.get(term).map_or(1, |found| found.df)
    }

    /// Like [`CorpusStats::df`], but for many terms, in the given order. In a large table, this is much faster than single lookups.
    pub(crate) fn df_of_many(&self, terms: impl Iterator<Item = u64> + Clone, mut each: impl FnMut(u64)) {
        self.words.get_many(terms, |found| each(found.map_or(1, |found| found.df)));
    }

    /// Returns how often the term occurs in all documents, or 1 for an unknown term.
    pub fn cf(&self, term: u64) -> u64 {
        self.words.get(term).map_or(1, |found| found.cf)
    }

    /// Returns the number of documents that contain the feature (a sentence or a segment); the result is at least 1.
    pub(crate) fn feature_df(&self, feature: u64) -> u64 {
        self.features.get(feature).map_or(1, |found| found.df)
    }

    /// Like [`CorpusStats::feature_df`], but for many features, in the given order.
    pub(crate) fn feature_df_of_many(&self, features: impl Iterator<Item = u64> + Clone, mut each: impl FnMut(u64)) {
        self.features.get_many(features, |found| each(found.map_or(1, |found| found.df)));
    }

    /// Returns the lowest and the highest document frequency of all words, or (1, 1) for a corpus without words.
    pub(crate) fn df_range(&self) -> (u64, u64) {
        *self.df_range.get_or_init(|| {
            let all = (0..self.words.len()).map(|at| self.words.entry(at).1);
            let (least, most) = all.fold((u64::MAX, 1), |(least, most), df| (least.min(df), most.max(df)));
            (least.min(most), most)
        })
    }

    /// Looks up the frequencies of many features, in the given order. A feature that occurs in a single document has
    /// [`Frequency::UNKNOWN`].
    pub(crate) fn features_of_many(
        &self,
        features: impl Iterator<Item = u64> + Clone,
        mut each: impl FnMut(Frequency),
    ) {
        self.features.get_many(features, |found| each(frequency(&self.features, found)));
    }

    /// Returns the IDF of a word that occurs in `df` documents, ln(N / df), or 0 for a corpus that was not counted.
    pub fn idf(&self, df: u64) -> f64 {
        if self.documents == 0 { 0.0 } else { float::ln(self.documents as f64 / df as f64) }
    }

    /// Returns the BM25 IDF of a word that occurs in `df` documents, ln((N - df + 0.5) / (df + 0.5)). The value is negative if `df` exceeds
    /// N/2.
    pub(crate) fn idf_bm25(&self, df: u64) -> f64 {
        self.idf.get(df as usize).copied().unwrap_or_else(|| idf_bm25(self.documents, df))
    }

    /// Returns the id of these counts. Corpora with the same documents and the same tokenizer have the same id, regardless of the order of
    /// the documents.
    pub fn snapshot(&self) -> u64 {
        self.snapshot
    }
}

impl Frequencies for CorpusStats {
    fn look_up(&self, words: &[u64], out: &mut Vec<Frequency>) {
        self.words.get_many(words.iter().copied(), |found| out.push(frequency(&self.words, found)));
    }
}

fn frequency(table: &TermTable, found: Option<TermCounts>) -> Frequency {
    let known = |found: TermCounts| Frequency { df: found.df, cf: found.cf, rank: table.rank(found.at) };
    found.map_or(Frequency::UNKNOWN, known)
}

/// The number of document frequencies whose weights are cached. The cached weights cover most words in most documents.
const KEPT_IDF: u64 = 1 << 16;

fn idf_bm25(documents: u64, df: u64) -> f64 {
    let (n, df) = (documents as f64, df as f64);
    float::ln((n - df + 0.5) / (df + 0.5))
}

/// Returns the snapshot id: a hash of the contents of the counts.
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
