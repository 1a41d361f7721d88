//! What an algorithm is: static facts, a check of its parameters, and a signer bound to a corpus.
//!
//! A member knows no Arrow, no file and no thread. Its three moments are `sign` (what a document emits), `judge` or
//! `pairs` (when two documents that met are duplicates) and, for the few that need it, a [`Confirm`] on the texts.

use super::params::{ParamSpec, Params};
use crate::corpus::CorpusStats;
use crate::error::Result;
pub use crate::measure::{Decided, Undecided};
use crate::measure::{Surplus, Versions};
use crate::row::{Pair, Pairs, Row, RowShape, Score, Signatures, Window};
use crate::text::{Analysis, Field};

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
    /// [`Error::Interrupted`](crate::error::Error::Interrupted) where the user ends the run.
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

/// The method, bound to a corpus.
pub trait Signer: Send + Sync {
    /// The form of its rows.
    fn shape(&self) -> RowShape;

    /// What the document emits.
    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures);

    /// About how many rows a document emits: what work files and filters are sized by.
    fn rows_a_document(&self) -> u64 {
        self.shape().positions.into()
    }

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

    /// The bits of [`Pair::matched`] for the same pair with its documents the other way round; rules with a direction
    /// (one document in the other) change places.
    fn mirrored(&self, matched: u16) -> u16 {
        matched
    }

    /// All pairs of the rows of one key. Only methods with a rule of their own (chains) override this.
    fn pairs(&self, window: &Window<'_>, out: &mut Pairs<'_>) {
        out.compare_all(window, |a, b| self.judge(a, b).map(|score| Pair::new(a.doc, b.doc, score, 1)));
    }

    /// The last word on the texts, where the method has one of its own.
    fn confirm(&self) -> Option<&dyn Confirm> {
        None
    }

    /// The rule that tells versions from forms, where the user asked for it: its pairs are told once they are checked.
    fn relating(&self) -> Option<(&Versions, &dyn Relating)> {
        None
    }

    /// Whether most documents will stand in a candidate pair, and the evidence is what signing computes anyway: then it is
    /// taken by [`Signer::sign_with_evidence`], and no document is read again for the check.
    fn takes_evidence_early(&self) -> bool {
        false
    }

    /// As [`Signer::sign`]; appends what [`Confirm::evidence`] of [`Signer::confirm`] would.
    fn sign_with_evidence(&self, document: &Analysis<'_>, out: &mut Signatures, evidence: &mut Vec<u64>) {
        self.sign(document, out);
        if let Some(check) = self.confirm() {
            check.evidence(document, evidence);
        }
    }

    /// Words of the sketch that is kept of each document once, beside its rows: [`Signatures::document_sketch`] has them. The
    /// windows are handed over with the sketches ([`Pairs::sketches`]); none for methods that judge by rows alone.
    fn sketch_words(&self) -> usize {
        0
    }

    /// Whether two documents with these sketches may be a pair: those that may not are no candidates, wherever they meet.
    fn judge_sketches(&self, _a: &[u64], _b: &[u64]) -> bool {
        true
    }

    /// What two sketches say to a person who asks why a pair is none.
    fn told_of_sketches(&self, _a: &[u64], _b: &[u64]) -> Option<String> {
        None
    }

    /// Of a method that compares only some of the documents that meet under a key: why these two are not compared in a window of so
    /// many rows, by their sketches; none where they are. It never is so in a window for being small.
    fn told_of_window(&self, _key: u128, _rows: u64, _a: &[u64], _b: &[u64]) -> Option<String> {
        None
    }

    /// What a row says to a person, beside its key: lengths, counts; none where there is nothing to read.
    fn told(&self, _row: &Row<'_>) -> Option<String> {
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

/// What the rule that tells versions from forms asks of a method ([`Versions`]): what its evidence says of single words.
pub trait Relating: Send + Sync {
    /// The surplus of each of two documents over the other, by their [`Confirm::evidence`].
    fn surplus(&self, a: &[u64], b: &[u64]) -> [Surplus; 2];

    /// Whether a word with that hash is the one of a [`Surplus`].
    fn is_word(&self, surplus: Surplus, hash: u64) -> bool {
        surplus.word == hash
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
    ///
    /// # Errors
    /// [`Undecided`] for a pair that would take more work than a comparison may: about a second, so that a run that is to end
    /// does not wait for it. Such pairs are counted.
    fn confirm(&self, a: &[u64], b: &[u64]) -> Decided<f32>;

    /// The pair of two documents that met, as it stays: with the similarity in place of the method's own score. A check
    /// that knows more (a direction, a distance) says so here.
    ///
    /// # Errors
    /// As [`Confirm::confirm`].
    fn judge(&self, a: &[u64], b: &[u64], met: Pair) -> Decided<Pair> {
        let similarity = self.confirm(a, b)?;
        Ok(similarity.map(|similarity| Pair { score: Score { similarity, ..met.score }, ..met }))
    }
}
