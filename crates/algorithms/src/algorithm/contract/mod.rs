//! The contract of an algorithm: facts and parameters ([`Algorithm`]), and the method bound to a corpus ([`Signer`]).
//!
//! An algorithm knows no Arrow, no file and no thread. The smallest one has four methods: `facts`, `signer`, `key` and `key_scheme`.
//!
//! | trait | question | who implements it |
//! | --- | --- | --- |
//! | [`Algorithm`] | What is it called, what does it need, how is it bound to a corpus? | every algorithm |
//! | [`KeySigner`] | Which key has a document? Equal keys are duplicates. | algorithms with one key per document |
//! | [`Signer`] | Which rows has a document, and which rows make a pair? | all others |
//! | [`Verify`] | Is a candidate pair a pair by its texts? | algorithms with a check of their own |
//! | [`FeatureKind`] | Which parts of documents does the first pass count? | algorithms that count sentences, segments or the like |
//! | [`Learner`] | What is learned from all documents before signing? | algorithms with a model |
//! | [`TermVectors`] | Which extras does an algorithm of weighted term vectors have? | `cosine` |

pub mod banding;
mod learner;
mod needs;
mod one_key;
mod scheme;
mod signer;
mod vectors;
mod verify;

use super::params::{ParamSpec, Params, Shorthand};
use crate::corpus::CorpusStats;
pub use crate::measure::{Decided, Undecided};
use dupsift_core::error::Result;
pub use learner::{Learner, Notes};
pub use needs::{FeatureKind, Needs, Reads, Stats};
pub use one_key::{Key, KeySigner};
pub use scheme::{Growth, SharedKey, SignatureScheme};
pub use signer::Signer;
pub use vectors::TermVectors;
pub use verify::Verify;

/// The corpus-wide statistics that a signer may use.
#[derive(Clone, Copy)]
pub struct Corpus<'c> {
    /// An upper bound of the number of documents (rows of all input files). Search tables are chosen by it.
    pub documents: u64,
    /// The counts of the first pass, if [`Algorithm::needs`] asked for them.
    pub stats: &'c CorpusStats,
    /// The result of [`Learner::learn`]; empty for algorithms without a learner.
    pub model: &'c [u64],
}

impl<'c> Corpus<'c> {
    /// Returns a corpus with these counts and without a model.
    pub fn new(documents: u64, stats: &'c CorpusStats) -> Corpus<'c> {
        Corpus { documents, stats, model: &[] }
    }
}

/// Static facts of an algorithm. Help, checks of parameters and documentation are made from them.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The name in `--algorithms` and in the output folder.
    pub name: &'static str,
    /// Other names: `A12`.
    pub aliases: &'static [&'static str],
    /// Author, year and title of the method.
    pub source: &'static str,
    /// One sentence: what makes two documents duplicates.
    pub summary: &'static str,
    /// When another algorithm serves better.
    pub when_not_to_use: &'static str,
    /// The columns and counts that it reads, in words: `"text"`, `"text, word counts"`.
    pub inputs: &'static str,
    /// The parameters, without those that all algorithms share.
    pub params: &'static [ParamSpec],
    /// Names that stand for several parameters, with a value of their own.
    pub shorthands: &'static [Shorthand],
    /// Named sets of parameter values: `("fineweb", "bands=14,rows=8")`.
    pub presets: &'static [(&'static str, &'static str)],
    /// Raise it if the same document gets other signatures than before. An index of another revision is refused.
    pub revision: u32,
}

/// A method to find duplicates, by name.
pub trait Algorithm: Sync {
    /// Returns name, source, parameters and other static facts.
    fn facts(&self) -> &'static Facts;

    /// Returns what it needs of the corpus besides the text.
    fn needs(&self, _: &Params) -> Needs {
        Needs::default()
    }

    /// Returns what learns its model before documents are signed. [`Corpus::model`] is empty here.
    ///
    /// # Errors
    /// Parameters that contradict each other.
    fn learner<'c>(&self, _: &Params, _: &Corpus<'c>) -> Result<Option<Box<dyn Learner + 'c>>> {
        Ok(None)
    }

    /// Binds the method to a corpus.
    ///
    /// # Errors
    /// Parameters that contradict each other.
    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>>;
}

impl dyn Algorithm + '_ {
    /// Returns the name in `--algorithms` and in the output folder.
    pub fn name(&self) -> &'static str {
        self.facts().name
    }
}
