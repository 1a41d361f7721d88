//! The method bound to a corpus: what a document emits, how rows become pairs, and what a person reads of both.

use super::banding::Banding;
use super::sketched::Sketched;
use super::verify::{Relating, Verify};
use crate::measure::Versions;
use dupsift_core::row::{Pair, Pairs, Row, RowShape, Score, Signatures, Window};
use dupsift_text::Analysis;

/// The method, bound to a corpus: a type that has the three parts.
pub trait Signer: Sign + Match + Describe {}

impl<S: Sign + Match + Describe> Signer for S {}

/// What a method takes that compares all documents with all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllWithAll {
    /// Rows of a document, at least.
    pub rows: u64,
    /// What finds most pairs without that, as it is typed.
    pub instead: &'static str,
}

/// What a document emits.
pub trait Sign: Send + Sync {
    /// The form of its rows.
    fn shape(&self) -> RowShape;

    /// The rows of the document, or why it has none.
    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures);

    /// About how many rows a document emits: what work files and filters are sized by.
    fn rows_a_document(&self) -> u64 {
        self.shape().positions.into()
    }

    /// The cost of comparing all documents with all, for methods that do.
    fn all_with_all(&self) -> Option<AllWithAll> {
        None
    }

    /// What to use instead, for methods whose comparisons the words of the corpus decide and may grow with its square.
    fn may_be_quadratic(&self) -> Option<&'static str> {
        None
    }

    /// Words of the sketch that is kept of each document once, beside its rows: [`Signatures::document_sketch`] has them. The
    /// windows are handed over with the sketches ([`Pairs::sketches`]); none for methods that judge by rows alone.
    fn sketch_words(&self) -> usize {
        0
    }

    /// The way to sign that takes the evidence for [`Match::verify`] along, so that no document is read again for the check: for
    /// methods most of whose documents will stand in a candidate pair, and whose evidence is what signing computes anyway.
    fn with_evidence(&self) -> Option<&dyn SignWithEvidence> {
        None
    }
}

/// Signing and the evidence for the check in one step.
pub trait SignWithEvidence: Sign {
    /// As [`Sign::sign`]; appends what [`Verify::evidence`] of [`Match::verify`] would.
    fn sign_with_evidence(&self, document: &Analysis<'_>, out: &mut Signatures, evidence: &mut Vec<u64>);
}

/// How the rows of a window become pairs.
pub trait Match: Send + Sync {
    /// Whether equal keys at one position alone make a duplicate, so that a group stands for all its pairs and costs n.
    fn is_equivalence(&self) -> bool;

    /// Whether documents that share one key of several, each of which has a position of its own, are candidates by that alone, as
    /// those are that meet in a band.
    fn meets_by_any_key(&self) -> bool {
        false
    }

    /// Whether two rows of one window are a pair, and how alike they are.
    fn judge(&self, _a: &Row<'_>, _b: &Row<'_>) -> Option<Score> {
        Some(Score::EQUAL)
    }

    /// All pairs of the rows of one key. Only methods with a rule of their own (chains) override this.
    fn pairs(&self, window: &Window<'_>, out: &mut Pairs<'_>) {
        out.compare_all(window, |a, b| self.judge(a, b).map(|score| Pair::new(a.doc, b.doc, score, 1)));
    }

    /// The score of two documents whose rows have equal keys, of an equivalence or before [`Match::probes`].
    fn equal(&self) -> Score {
        Score::EQUAL
    }

    /// The form of a second round of rows, for methods whose equal keys are duplicates but whose pairs reach further
    /// (a Hamming distance). Groups of equal keys are folded first, so that a hot key is not compared with itself.
    fn probe_shape(&self) -> Option<RowShape> {
        None
    }

    /// The second-round rows, made from one row of each group of equal keys; their windows go to [`Match::pairs`].
    fn probes(&self, _row: &Row<'_>, _out: &mut Signatures) {}

    /// Whether two documents with these sketches ([`Sign::sketch_words`]) may be a pair: those that may not are no candidates,
    /// wherever they meet.
    fn judge_sketches(&self, _a: &[u64], _b: &[u64]) -> bool {
        true
    }

    /// What an index keeps of each document to rule out those that only share a key; none where all of these are looked up.
    fn sketched(&self) -> Option<&dyn Sketched> {
        None
    }

    /// The rules that can find a pair, by bit of [`Pair::matched`]; they stand in the column `matched_by`.
    fn rules(&self) -> &'static [&'static str] {
        &["equal"]
    }

    /// The bits of [`Pair::matched`] for the same pair with its documents the other way round; rules with a direction
    /// (one document in the other) change places.
    fn mirrored(&self, matched: u16) -> u16 {
        matched
    }

    /// The last word on the texts, where the method has one of its own.
    fn verify(&self) -> Option<&dyn Verify> {
        None
    }

    /// The rule that tells versions from forms, where the user asked for it: its pairs are told once they are checked.
    fn relating(&self) -> Option<(&Versions, &dyn Relating)> {
        None
    }
}

/// What a person reads of a method: in run.json, and where a pair is explained.
pub trait Describe: Send + Sync {
    /// Bits of the signature whose chance collisions are worth counting, for run.json; none where pairs are judged.
    fn signature_bits(&self) -> Option<u32> {
        None
    }

    /// What the signer decided by itself for this corpus (a table scheme, say), for run.json.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The bands that documents have to meet in, for those methods that have some.
    fn banding(&self) -> Option<Banding> {
        None
    }

    /// A row in words, beside its key: lengths, counts; none where there is nothing to read.
    fn describe_row(&self, _row: &Row<'_>) -> Option<String> {
        None
    }

    /// What two sketches say to a person who asks why a pair is none.
    fn describe_sketches(&self, _a: &[u64], _b: &[u64]) -> Option<String> {
        None
    }

    /// Of a method that compares only some of the documents that meet under a key: why these two are not compared in a window of so
    /// many rows, by their sketches; none where they are. It never is so in a window for being small.
    fn describe_window(&self, _key: u128, _rows: u64, _a: &[u64], _b: &[u64]) -> Option<String> {
        None
    }
}
