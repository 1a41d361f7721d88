//! What algorithms ask of the whole corpus: N, df, cf, mean length, and the weights that follow from them.
//!
//! Every document with at least one word counts, exact copies too, so that the statistics depend on nothing but the corpus
//! (algorithms.md 1.4). Signatures are comparable only within one snapshot.

use super::table::TermTable;
use crate::hash::combine;

/// The counts of one corpus under one tokenizer.
pub struct CorpusStats {
    documents: u64,
    tokens: u64,
    snapshot: u64,
    /// [`CorpusStats::idf_bm25`] of these document frequencies, from 0 on.
    idf: Vec<f64>,
    /// Words with their document and collection frequencies.
    pub words: TermTable,
    /// Sentences that occur in two documents or more, with their document frequencies.
    pub sentences: TermTable,
}

impl CorpusStats {
    /// Statistics of a corpus that was not counted.
    pub fn none() -> CorpusStats {
        CorpusStats::new(0, 0, 0, TermTable::empty(), TermTable::empty())
    }

    /// `documents`: those with at least one word; `tokens`: the words of all of them; `snapshot`: see [`snapshot`].
    pub fn new(documents: u64, tokens: u64, snapshot: u64, words: TermTable, sentences: TermTable) -> CorpusStats {
        let idf = (0..=documents.min(KEPT_IDF)).map(|df| idf_bm25(documents, df)).collect();
        CorpusStats { documents, tokens, snapshot, idf, words, sentences }
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
        self.words.get(term).map_or(1, |(df, _)| df)
    }

    /// [`CorpusStats::df`] of many terms, in their order; in a large table much faster than one by one.
    pub fn df_of_many(&self, terms: impl Iterator<Item = u64> + Clone, mut each: impl FnMut(u64)) {
        self.words.get_many(terms, |found| each(found.map_or(1, |(df, _)| df)));
    }

    /// Occurrences of the term in all documents; an unknown term counts as occurring once.
    pub fn cf(&self, term: u64) -> u64 {
        self.words.get(term).map_or(1, |(_, cf)| cf)
    }

    /// Documents that contain the sentence, at least one.
    pub fn sentence_df(&self, sentence: u64) -> u64 {
        self.sentences.get(sentence).map_or(1, |(df, _)| df)
    }

    /// IDF of a word in so many documents, in the BM25 form, ln((N - df + 0.5) / (df + 0.5)); negative for df above N/2.
    pub fn idf_bm25(&self, df: u64) -> f64 {
        self.idf.get(df as usize).copied().unwrap_or_else(|| idf_bm25(self.documents, df))
    }

    /// Names these counts: equal for equal corpora under the same tokenizer, whatever the order of documents.
    pub fn snapshot(&self) -> u64 {
        self.snapshot
    }
}

/// The weights of so many document frequencies are computed once and kept; most words of most documents are among them.
const KEPT_IDF: u64 = 1 << 16;

fn idf_bm25(documents: u64, df: u64) -> f64 {
    let (n, df) = (documents as f64, df as f64);
    ((n - df + 0.5) / (df + 0.5)).ln()
}

/// The snapshot id of counts, folded over what they consist of.
pub fn snapshot(identity: u64, documents: u64, tokens: u64, words: &TermTable, sentences: &TermTable) -> u64 {
    let mut id = combine(combine(identity, documents), tokens);
    for table in [words, sentences] {
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
        assert_ne!(id, snapshot(2, 4, 20, &stats.words, &stats.sentences));
        assert_eq!(CorpusStats::none().mean_length(), 0.0);
    }
}
