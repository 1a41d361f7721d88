//! The contract of an algorithm: facts and parameters ([`Algorithm`]), and the method bound to a corpus ([`Signer`]).
//!
//! Algorithms do not depend on Arrow, files or threads. The smallest algorithm implements four methods: `facts`, `signer`, `key` and
//! `key_scheme`.
//!
//! | trait | question | who implements it |
//! | --- | --- | --- |
//! | [`Algorithm`] | What is the algorithm's name, what does it need, and how is it bound to a corpus? | every algorithm |
//! | [`KeySigner`] | What is the key of a document? Documents with equal keys are duplicates. | algorithms with one key per document |
//! | [`Signer`] | What rows does a document have, and which rows form a pair? | all other algorithms |
//! | [`Verify`] | Do the texts confirm a candidate pair? | algorithms with their own check |
//! | [`FeatureKind`] | What features does the first pass count? | algorithms that count sentences, segments or similar parts |
//! | [`Learner`] | What is learned from all documents before signing? | algorithms with a model |
//! | [`TermVectors`] | What additional operations does an algorithm with weighted term vectors provide? | `cosine` |

pub mod banding;
mod learner;
mod needs;
mod one_key;
mod params;
mod scheme;
mod signer;
mod vectors;
mod verify;

use crate::corpus::CorpusStats;
pub use crate::measure::{Decided, Undecided};
use dupsift_core::error::Result;
pub use learner::{Learner, Notes};
pub use needs::{FeatureKind, Stats};
pub(crate) use needs::{Needs, Reads};
pub use one_key::Key;
pub(crate) use one_key::KeySigner;
pub(crate) use params::THRESHOLDS;
pub use params::{Kind, Margin, ParamSpec, Params, Shorthand};
pub use scheme::{Growth, SharedKey, SignatureScheme};
pub use signer::Signer;
pub use vectors::TermVectors;
pub use verify::Verify;

/// Holds the corpus-wide statistics that a signer may use.
#[derive(Clone, Copy)]
pub struct Corpus<'c> {
    /// An upper bound on the number of documents (rows of all input files). The search tables are sized for this number of documents.
    pub documents: u64,
    /// The counts from the first pass, if [`Algorithm::needs`] requests them.
    pub stats: &'c CorpusStats,
    /// The result of [`Learner::learn`]; empty for algorithms without a learner.
    pub model: &'c [u64],
}

impl<'c> Corpus<'c> {
    /// Returns the statistics of a corpus, without a model.
    pub fn new(documents: u64, stats: &'c CorpusStats) -> Corpus<'c> {
        Corpus { documents, stats, model: &[] }
    }
}

/// Holds the static facts of an algorithm. Help, parameter checks and documentation are generated from these facts.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The name in `--algorithms` and in the output folder.
    pub name: &'static str,
    /// Alternative names, such as `A12`.
    pub aliases: &'static [&'static str],
    /// The author, year and title of the method.
    pub source: &'static str,
    /// The criterion for duplicates, as one sentence.
    pub summary: &'static str,
    /// The cases in which a different algorithm is the better choice.
    pub when_not_to_use: &'static str,
    /// The columns and counts that the algorithm reads, as text, such as `"text, word counts"`.
    pub inputs: &'static str,
    /// The parameters, except those shared by all algorithms.
    pub params: &'static [ParamSpec],
    /// Shorthand names that each set several parameters.
    pub shorthands: &'static [Shorthand],
    /// Named sets of parameter values, such as `("fineweb", "bands=14,rows=8")`.
    pub presets: &'static [(&'static str, &'static str)],
    /// The revision of the signatures. Increase the revision whenever the same document gets different signatures. An index with a
    /// different revision is rejected.
    pub revision: u32,
}

/// Defines an algorithm: a method for finding duplicates that is selected by name.
pub trait Algorithm: Sync {
    /// Returns the name, source, parameters and other static facts.
    fn facts(&self) -> &'static Facts;

    /// Returns the inputs that the algorithm needs besides the text.
    fn needs(&self, _: &Params) -> Needs {
        Needs::default()
    }

    /// Returns the learner that trains the model before documents are signed, or `None` if the algorithm has no model. At this point,
    /// [`Corpus::model`] is empty.
    ///
    /// # Errors
    /// Returns an error if parameters contradict each other.
    fn learner<'c>(&self, _: &Params, _: &Corpus<'c>) -> Result<Option<Box<dyn Learner + 'c>>> {
        Ok(None)
    }

    /// Binds the method to a corpus.
    ///
    /// # Errors
    /// Returns an error if parameters contradict each other.
    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>>;
}

impl dyn Algorithm + '_ {
    /// Returns the name in `--algorithms` and in the output folder.
    pub fn name(&self) -> &'static str {
        self.facts().name
    }
}
