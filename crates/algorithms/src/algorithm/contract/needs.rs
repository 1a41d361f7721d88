//! Declares the inputs of an algorithm besides the text: columns, and counts from the first pass.

use dupsift_text::{Analysis, Field};

/// Lists the inputs of an algorithm besides the text of a document.
#[derive(Default)]
pub struct Needs {
    /// Whether the algorithm needs the document and corpus frequencies of words.
    pub word_counts: bool,
    /// Other parts of documents that the first pass counts. [`CorpusStats::feature_df`](crate::corpus::CorpusStats::feature_df) returns
    /// the counts.
    pub features: Option<Box<dyn FeatureKind>>,
    /// The columns that the algorithm reads besides the text.
    pub fields: &'static [Field],
    /// The parts of a document that determine its signatures and the evidence recorded with them.
    pub reads: Reads,
}

impl Needs {
    /// Returns the needs of an algorithm that uses words and their counts but not the text.
    pub fn counted_words() -> Needs {
        Needs { word_counts: true, reads: Reads::Words { first_line: false }, ..Needs::default() }
    }

    /// Returns the counts that the first pass must collect.
    pub fn stats(&self) -> Stats {
        Stats { words: self.word_counts, features: self.features.is_some() }
    }
}

/// Lists the parts of a document on which a signature can depend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reads {
    /// The signature can depend on the text and on other columns.
    #[default]
    Text,
    /// Only [`Analysis::counted`], [`Analysis::frequencies`], [`Analysis::word`], [`Analysis::word_count`] and [`Analysis::times`]. These
    /// results are kept from the counting pass, so that the text is not read a second time.
    Words {
        /// Whether the signature also depends on the same data for [`Analysis::first_line`].
        first_line: bool,
    },
}

/// Defines a kind of feature other than words, such as sentences or segments. The first pass counts the document frequencies of these
/// features.
pub trait FeatureKind: Send + Sync {
    /// Returns the name of the kind, including all settings on which it depends, such as `segments:paragraph`. Features of kinds with
    /// the same name are counted only once for all algorithms.
    fn name(&self) -> String;

    /// Appends the hash of each feature of the document. Repeated features count once. Hashes of different kinds must differ.
    fn hashes(&self, document: &Analysis<'_>, out: &mut Vec<u64>);
}

/// Selects the counts that the first pass collects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The document and corpus frequencies of words.
    pub words: bool,
    /// The document frequencies of features.
    pub features: bool,
}

impl Stats {
    /// No counts.
    pub const NONE: Stats = Stats { words: false, features: false };
    /// Only the counts of words.
    pub const WORDS: Stats = Stats { words: true, features: false };

    /// Returns the counts that at least one of two algorithms needs.
    pub fn union(self, other: Stats) -> Stats {
        Stats { words: self.words | other.words, features: self.features | other.features }
    }

    /// Returns whether anything is counted.
    pub fn any(self) -> bool {
        self.words | self.features
    }
}
