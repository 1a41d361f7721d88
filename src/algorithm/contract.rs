//! What an algorithm is: static facts, a check of its parameters, and a signer bound to a corpus.
//!
//! A member knows no Arrow, no file and no thread. Its three moments are `sign` (what a document emits), `judge` or
//! `pairs` (when two documents that met are duplicates) and, for the few that need it, a [`Confirm`] on the texts.

use super::params::{ParamSpec, Params};
use crate::corpus::CorpusStats;
use crate::error::Result;
use crate::row::{Pair, Pairs, Row, RowShape, Score, Signatures, Window};
use crate::text::Analysis;

/// Which counts over the whole corpus an algorithm needs before it can sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Document and collection frequencies of words.
    pub words: bool,
    /// Document frequencies of sentences.
    pub sentences: bool,
}

impl Stats {
    /// No counts.
    pub const NONE: Stats = Stats { words: false, sentences: false };
    /// Counts of words.
    pub const WORDS: Stats = Stats { words: true, sentences: false };

    /// What either of two algorithms needs.
    pub fn union(self, other: Stats) -> Stats {
        Stats { words: self.words | other.words, sentences: self.sentences | other.sentences }
    }

    /// Whether a first pass is needed at all.
    pub fn any(self) -> bool {
        self.words | self.sentences
    }
}

/// What a signer may know of the whole corpus.
#[derive(Clone, Copy)]
pub struct Corpus<'c> {
    /// How many documents there are at most (rows of all input files): what table schemes are chosen by.
    pub documents: u64,
    /// The counts of the first pass; there where [`Algorithm::needs_stats`] asked for them.
    pub stats: &'c CorpusStats,
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
    /// Which counts it needs with these parameters.
    fn needs_stats(&self, params: &Params) -> Stats;
    /// The method bound to a corpus. Parameters that contradict each other are found here, once.
    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>>;
}

/// The method, bound to a corpus.
pub trait Signer: Send + Sync {
    /// The form of its rows.
    fn shape(&self) -> RowShape;

    /// What the document emits.
    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures);

    /// Whether equal keys at one position alone make a duplicate, so that a group stands for all its pairs and costs n.
    fn is_equivalence(&self) -> bool;

    /// Whether two rows of one window are a pair, and how alike they are.
    fn judge(&self, _a: &Row<'_>, _b: &Row<'_>) -> Option<Score> {
        Some(Score::EQUAL)
    }

    /// The score of two documents whose rows have equal keys, of an equivalence or before [`Signer::probes`].
    fn equal(&self) -> Score {
        Score::EQUAL
    }

    /// The form of a second round of rows, for methods whose equal keys are duplicates but whose pairs reach further
    /// (a Hamming distance). Groups of equal keys are folded first, so that a hot key is not compared with itself.
    fn probe_shape(&self) -> Option<RowShape> {
        None
    }

    /// The second-round rows, made from one row of each group of equal keys; their windows go to [`Signer::pairs`].
    fn probes(&self, _row: &Row<'_>, _out: &mut Signatures) {}

    /// The rules that can find a pair, by bit of [`Pair::matched`]; they stand in the column `matched_by`.
    fn rules(&self) -> &'static [&'static str] {
        &["equal"]
    }

    /// All pairs of the rows of one key. Only methods with a rule of their own (chains) override this.
    fn pairs(&self, window: &Window<'_>, out: &mut Pairs<'_>) {
        out.compare_all(window, |a, b| self.judge(a, b).map(|score| Pair::new(a.doc, b.doc, score, 1)));
    }

    /// The last word on the texts, where the method has one of its own.
    fn confirm(&self) -> Option<&dyn Confirm> {
        None
    }

    /// Bits of the signature whose chance collisions are worth counting, for run.json; none where pairs are judged.
    fn signature_bits(&self) -> Option<u32> {
        None
    }

    /// What the signer decided by itself for this corpus (a table scheme, say), for run.json.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A check of a pair on the texts. Each document's evidence is taken once and kept outside of memory, so a document in a
/// thousand pairs is cut once.
pub trait Confirm: Send + Sync {
    /// The setting as the user writes it: `jaccard:0.7`.
    fn name(&self) -> String;

    /// What the comparison needs of one document: any numbers.
    fn evidence(&self, document: &Analysis<'_>, out: &mut Vec<u64>);

    /// The similarity, where it reaches the threshold.
    fn confirm(&self, a: &[u64], b: &[u64]) -> Option<f32>;
}
