//! What an algorithm is: static facts, a check of its parameters ([`Algorithm`]), and the method bound to a corpus ([`Signer`]).
//!
//! A member knows no Arrow, no file and no thread. A [`Signer`] is three traits: [`Sign`], what a document emits; [`Match`], when
//! two documents that met are duplicates, with a [`Verify`] on the texts where a method needs one; [`Describe`], what a person reads.

pub mod banding;
mod one_key;
mod signer;
mod sketched;
mod verify;

use super::params::{ParamSpec, Params, Shorthand};
use crate::corpus::CorpusStats;
pub use crate::measure::{Decided, Undecided};
use dupsift_core::error::Result;
use dupsift_text::{Analysis, Field};
pub use one_key::{Key, KeySigner};
pub use signer::{AllWithAll, Describe, Match, Sign, SignWithEvidence, Signer};
pub use sketched::Sketched;
pub use verify::{Relating, Verify};

/// Which counts over the whole corpus an algorithm needs before it can sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Document and collection frequencies of words.
    pub words: bool,
    /// Document frequencies of features; true where [`Algorithm::features`] names some.
    pub features: bool,
}

impl Stats {
    /// No counts.
    pub const NONE: Stats = Stats { words: false, features: false };
    /// Counts of words.
    pub const WORDS: Stats = Stats { words: true, features: false };

    /// What either of two algorithms needs.
    pub fn union(self, other: Stats) -> Stats {
        Stats { words: self.words | other.words, features: self.features | other.features }
    }

    /// Whether a first pass is needed at all.
    pub fn any(self) -> bool {
        self.words | self.features
    }
}

/// What of a document a signature depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Its text, or columns beside it.
    Text,
    /// Nothing but [`Analysis::counted`], [`Analysis::frequencies`], [`Analysis::word`], [`Analysis::word_count`] and
    /// [`Analysis::times`]: these are kept while words are counted, and no text is read again to sign it.
    Words {
        /// Whether the same of [`Analysis::first_line`] is needed too.
        first_line: bool,
    },
}

/// Parts of documents, other than words, whose document frequencies the first pass counts: sentences, segments.
pub trait Features: Send + Sync {
    /// The kind with all that it depends on, `segments:paragraph`: kinds of one name are counted once for all algorithms.
    fn name(&self) -> String;

    /// The hash of each feature of the document; repeated ones count once. Hashes of different kinds must differ.
    fn of(&self, document: &Analysis<'_>, out: &mut Vec<u64>);
}

/// What an algorithm learns from the corpus before it signs. Each document with a signature to come writes a note; the
/// notes stand in a work file, and learning may read them as often as it likes, in an order that depends on nothing but
/// the texts; the note of a text that several documents have comes as often as that. What comes out must not be larger than a fraction of the memory budget.
pub trait Learner: Send + Sync {
    /// What learning needs of one document, any numbers; nothing for a document that takes no part.
    fn note(&self, document: &Analysis<'_>, out: &mut Vec<u64>);

    /// The model, any numbers, from the notes that are not empty.
    ///
    /// # Errors
    /// What [`Notes::go_on`] returns: it has to be asked now and then.
    fn learn(&self, notes: &dyn Notes) -> Result<Vec<u64>>;
}

/// The notes of all documents, ordered by the hash of their texts.
pub trait Notes {
    /// How many there are.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them.
    fn get(&self, at: usize) -> &[u64];

    /// Bytes of memory that learning may take; what would take more is refused with the way out.
    fn memory_bytes(&self) -> usize;

    /// Whether to go on.
    ///
    /// # Errors
    /// [`Error::Interrupted`](dupsift_core::error::Error::Interrupted) where the user ends the run.
    fn go_on(&self) -> Result<()>;
}

/// What a signer may know of the whole corpus.
#[derive(Clone, Copy)]
pub struct Corpus<'c> {
    /// How many documents there are at most (rows of all input files): what table schemes are chosen by.
    pub documents: u64,
    /// The counts of the first pass; there where [`Algorithm::needs_stats`] asked for them.
    pub stats: &'c CorpusStats,
    /// What [`Learner::learn`] made; empty for algorithms without one.
    pub model: &'c [u64],
}

impl<'c> Corpus<'c> {
    /// A corpus of so many documents with its counts, from which nothing was learnt.
    pub fn new(documents: u64, stats: &'c CorpusStats) -> Corpus<'c> {
        Corpus { documents, stats, model: &[] }
    }
}

/// What help, checks and documentation are made from.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The name that the user types and the output folder carries.
    pub name: &'static str,
    /// Other names: `A12`.
    pub aliases: &'static [&'static str],
    /// Author, year and title of the method.
    pub source: &'static str,
    /// One sentence: what makes two documents duplicates.
    pub summary: &'static str,
    /// When another member serves better.
    pub when_not_to_use: &'static str,
    /// Which columns and counts it reads, for the reader: `"text"`, `"text, word counts"`.
    pub inputs: &'static str,
    /// The parameters, besides those that all members share.
    pub params: &'static [ParamSpec],
    /// Named sets of parameter values: `("fineweb", "bands=14,rows=8")`.
    pub presets: &'static [(&'static str, &'static str)],
}

/// One member of the family.
pub trait Algorithm: Sync {
    /// What is said of it.
    fn facts(&self) -> &'static Facts;
    /// The name that the user types and the output folder carries.
    fn name(&self) -> &'static str {
        self.facts().name
    }
    /// Counted up where the same document gets other signatures than before: an index of another revision is refused.
    fn revision(&self) -> u32 {
        1
    }
    /// What may be typed in place of several parameters.
    fn shorthands(&self) -> &'static [Shorthand] {
        &[]
    }
    /// Which counts of words it needs with these parameters.
    fn needs_stats(&self, _: &Params) -> Stats {
        Stats::NONE
    }
    /// What of a document its signatures, and the evidence that is taken with them, depend on.
    fn reads(&self, _: &Params) -> Reads {
        Reads::Text
    }
    /// Which other counts it needs; [`CorpusStats::feature_df`] has them.
    fn features(&self, _: &Params) -> Option<Box<dyn Features>> {
        None
    }
    /// The columns beside the text that it reads.
    fn fields(&self, _: &Params) -> &'static [Field] {
        &[]
    }
    /// What it learns before it signs; [`Corpus::model`] is empty here.
    ///
    /// # Errors
    /// Parameters that contradict each other.
    fn learner<'c>(&self, _: &Params, _: &Corpus<'c>) -> Result<Option<Box<dyn Learner + 'c>>> {
        Ok(None)
    }
    /// The method bound to a corpus. Parameters that contradict each other are found here, once.
    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>>;
}
