//! Defines the result of `explain` for two documents, as printed with `--json`.
//!
//! Field names are part of the interface. Unknown values are null; documents are in the requested order.

use crate::outcome::Outcome;
use dupsift_engine::options::Spelling;
use serde::Serialize;

/// Holds the result of `explain`.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// The two documents.
    pub documents: [ExplainedDocument; 2],
    /// Whether the two documents are equal byte for byte in every column that the algorithms read.
    pub exact_copies: bool,
    /// Whether any algorithm reports the pair.
    pub pair: bool,
    /// One entry per algorithm in the run, in order.
    pub algorithms: Vec<ExplainedAlgorithm>,
    /// The similarity of the texts, independent of the algorithms.
    pub measures: ExplainedMeasures,
    /// The containment of each document in the other document, in the requested order, and whether the document may be removed.
    pub contained: [ExplainedContained; 2],
    /// Whether the run removes documents; a comparison does not.
    pub removes: bool,
    /// The removal rule of the run, in the syntax of `--remove-if`.
    pub remove_if: String,
    /// Notes for the user.
    pub notes: Vec<String>,
}

impl Explanation {
    /// Returns the explanation with the option names in its reasons and notes spelled according to `spelling`. The documents are unchanged.
    pub fn spelled(mut self, spelling: Spelling) -> Explanation {
        let texts = self.notes.iter_mut().chain(self.algorithms.iter_mut().map(|one| &mut one.why));
        texts.for_each(|text| *text = spelling.of(text).into_owned());
        self
    }
}

impl Explanation {
    /// Returns the labels of the algorithms that report the pair.
    pub fn paired_by(&self) -> Vec<&str> {
        self.algorithms.iter().filter(|one| one.verdict.is_pair()).map(|one| one.label.as_str()).collect()
    }

    /// Returns what happened to each of the two documents.
    pub fn outcomes(&self) -> [Outcome<'_>; 2] {
        let [a, b] = &self.documents;
        [a.outcome(b), b.outcome(a)]
    }
}

/// Describes one document.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedDocument {
    /// The id of the document, or FILE#ROW.
    pub id: String,
    /// The number of the document.
    pub doc: u64,
    /// The file name, as used in ids.
    pub file: String,
    /// The row in the file, counted from 0.
    pub row: u64,
    /// The number of Unicode scalar values in the text.
    pub characters: u64,
    /// The number of words in the text.
    pub words: u64,
    /// Whether the document was indexed before the run, in an earlier batch or in a reference.
    pub earlier: bool,
    /// The removal of the document in favor of another document; null if the document is kept.
    pub removed: Option<ExplainedRemoval>,
    /// The repeated passages that are cut from the document, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passages: Vec<ExplainedPassage>,
    /// The original text.
    #[serde(skip)]
    pub text: String,
}

impl ExplainedDocument {
    /// Returns what happened to this document, as seen from the other document.
    pub fn outcome(&self, other: &ExplainedDocument) -> Outcome<'_> {
        let removal = self.removed.as_ref().map(|removal| (removal.kept_doc, removal.reason.as_str()));
        Outcome::of(self.earlier, removal, other.doc)
    }

    /// Returns whether this document is removed in favor of the other document.
    pub fn is_removed_for(&self, other: &ExplainedDocument) -> bool {
        self.removed.as_ref().is_some_and(|removal| removal.kept_doc == other.doc)
    }
}

/// Describes a repeated passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedPassage {
    /// The first byte of the passage in the text.
    pub start_byte: u64,
    /// The byte after the end of the passage.
    pub end_byte: u64,
    /// The number of occurrences of the passage.
    pub copies: u64,
    /// The number of the document with the first copy; null if the first copy is also cut.
    pub first_doc: Option<u64>,
}

/// Describes a removal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedRemoval {
    /// The id of the kept document.
    pub kept_id: String,
    /// The number of the kept document.
    pub kept_doc: u64,
    /// The similarity of the two documents; null if only a chain of pairs connects them.
    pub similarity: Option<f32>,
    /// The algorithms that found the pair.
    pub algorithm: String,
    /// `copy`, `pair` or `chain`.
    pub reason: String,
}

/// Holds the containment of one document in the other document.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ExplainedContained {
    /// The number of distinct 3-grams of this document that are also in the other document.
    pub common_grams: u64,
    /// The number of distinct 3-grams of this document.
    pub grams: u64,
    /// The number of distinct numbers that occur in both documents.
    pub common_numbers: u64,
    /// The number of distinct numbers in this document.
    pub numbers: u64,
    /// The number of distinct numbers outside the frame of this document that are also in the other document.
    pub common_facts: u64,
    /// The number of distinct numbers outside the frame of this document.
    pub facts: u64,
    /// The reason why this document cannot be removed in favor of the other document, for example because the two documents are not a pair,
    /// or because the other document contains too little of this document. Null if this document can be removed.
    pub stays: Option<&'static str>,
}

/// States the verdict of one algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The pair is in `pairs/`.
    Pair,
    /// The pair, or a pair of copies of the two documents, is in `pairs/` with the relation `template`: the pages are similar but not
    /// duplicates.
    Template,
    /// The documents are a pair in a group larger than `--max-group`, for which only pairs with the best document are written.
    PairNotWritten,
    /// At least one of the documents has no signature.
    NoSignature,
    /// The documents have no key in common.
    NoCommonKey,
    /// The documents have different values in the `--scope` column, so they are not compared.
    OtherScope,
    /// The documents have the same value in the `--scope across:COLUMN` column, so they are not compared.
    SameScope,
    /// The documents have keys in common, but their sketches differ too much for the documents to be a pair.
    SketchesDiffer,
    /// The documents have keys in common, but so many documents share these keys that only some of them are compared with each other.
    NotCompared,
    /// The documents were compared, but they are not similar enough according to the algorithm or the verification.
    BelowThreshold,
    /// The documents were compared, but their texts are too long to be verified.
    Undecided,
    /// The two documents alone would be a pair, but because of other documents in the corpus, the run did not report the pair.
    LeftOut,
}

impl Verdict {
    /// Returns whether the algorithm reports the pair.
    pub fn is_pair(self) -> bool {
        matches!(self, Verdict::Pair | Verdict::PairNotWritten)
    }
}

/// Describes the result of one algorithm.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedAlgorithm {
    /// The name of the algorithm's output folder.
    pub label: String,
    /// The algorithm with all parameters.
    pub recipe: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason, in one sentence.
    pub why: String,
    /// The row in `pairs/`.
    pub pair: Option<ExplainedPair>,
    /// The score of the two documents, if the algorithm can compute the score from their signatures or with a lower threshold.
    pub score: Option<ExplainedScore>,
    /// The verification checks, if both documents have a signature.
    pub checks: Vec<ExplainedCheck>,
    /// The word that most clearly distinguishes each document from the other document, if the algorithm tells versions apart from pages of
    /// the same template.
    pub words: Option<[ExplainedWord; 2]>,
    /// The number of bits that differ between the fingerprints of the documents, for algorithms that compare fingerprints.
    pub bits_apart: Option<u32>,
    /// The reason why each document has no signature; null if it has a signature.
    pub unsigned: [Option<String>; 2],
    /// The clusters that contain the documents.
    pub clusters: [Option<ExplainedCluster>; 2],
    /// The number of positions that rows can have.
    pub positions: u32,
    /// The number of rows that have the same position and key in both documents.
    pub common_keys: u64,
    /// The rows of both documents; rows with the same position and key are side by side.
    pub rows: Vec<ExplainedRow>,
}

impl ExplainedAlgorithm {
    /// Returns the similarity in `pairs/`, or else the similarity from the last check or from the algorithm itself.
    pub fn similarity(&self) -> Option<f32> {
        let reached = self.checks.last().and_then(|check| check.similarity);
        let own = self.score.map(|score| score.similarity);
        self.pair.as_ref().map(|pair| pair.similarity).or(reached).or(own)
    }

    /// Returns the number of keys of each document.
    pub fn keys(&self) -> [u64; 2] {
        let of = |side: fn(&ExplainedRow) -> bool| self.rows.iter().filter(|row| side(row)).count() as u64;
        [of(|row| row.a.is_some()), of(|row| row.b.is_some())]
    }
}

/// Describes a row in `pairs/`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ExplainedPair {
    /// The verified similarity, or else the algorithm's own score; from 0 to 1.
    pub similarity: f32,
    /// The algorithm's own distance, if it has one.
    pub distance: Option<f32>,
    /// The rules of the algorithm that found the pair, joined by `+`.
    pub matched_by: String,
    /// Whether the pair was verified by comparing the texts.
    pub verified: bool,
    /// The relation: `version`, `contained` or `template`; null if the algorithm does not classify pairs.
    pub relation: Option<String>,
    /// The reason for the relation.
    pub why: Option<String>,
    /// The highest similarity of either document to a document outside the near group.
    pub next_best: Option<f32>,
    /// Whether the titles name different things, so that neither document is removed in favor of the other.
    pub other_title: bool,
}

/// Describes the word whose weight in one text exceeds its weight in the other text by the most.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedWord {
    /// The difference between the two weights, as a share of the total weight of the text.
    pub share: f64,
    /// The maximum allowed share.
    pub most: f64,
    /// The word; null if there is none.
    pub word: Option<String>,
}

/// Holds a score.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ExplainedScore {
    /// The similarity, from 0 to 1.
    pub similarity: f32,
    /// The algorithm's own distance, if it has one.
    pub distance: Option<f32>,
}

/// Describes a verification check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedCheck {
    /// The check with its threshold, as typed.
    pub name: String,
    /// Whether the two documents pass.
    pub passes: bool,
    /// The similarity; null if it is below the threshold and the check does not compute it.
    pub similarity: Option<f32>,
}

/// Describes a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedCluster {
    /// The id of the cluster's representative.
    pub representative_id: String,
    /// The document number of the cluster's representative.
    pub representative_doc: u64,
    /// The number of documents in the cluster.
    pub size: u64,
}

/// Holds the signature rows of both documents, or of one document, at one position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedRow {
    /// The position of the rows among the algorithm's keys: a table, band or rule.
    pub position: u32,
    /// The first document's row.
    pub a: Option<ExplainedKey>,
    /// The second document's row.
    pub b: Option<ExplainedKey>,
    /// Whether the keys are equal, so that the documents match in this row.
    pub equal: bool,
}

/// Describes one signature row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedKey {
    /// The key in hexadecimal.
    pub key: String,
    /// The sort value among rows with the same key, for example a length; 0 if there is none.
    pub order: u32,
    /// The bytes stored with the key, in hexadecimal.
    pub sketch: String,
    /// A readable description of the row, if there is one.
    pub says: Option<String>,
}

/// Holds the overlap of two sets, one per document.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ExplainedOverlap {
    /// The number of elements that the sets have in common, divided by the number of elements in their union.
    pub jaccard: f64,
    /// The share of the first document's elements that are also in the second document; null for an empty set.
    pub a_in_b: Option<f64>,
    /// The share of the second document's elements that are also in the first document; null for an empty set.
    pub b_in_a: Option<f64>,
}

/// Holds the similarity of the texts according to several measures. All values except counts are from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedMeasures {
    /// The overlap between the sets of five-character windows in the normalized texts.
    pub five_characters: ExplainedOverlap,
    /// The overlap between the sets of five-word windows, or of five-character windows for Han text.
    pub five_words: ExplainedOverlap,
    /// The overlap between the sets of words.
    pub words: ExplainedOverlap,
    /// The number of distinct words that both documents contain.
    pub common_words: u64,
    /// The cosine similarity of the word counts.
    pub cosine: f64,
    /// Twice the length of the longest common subsequence, divided by the total length of both texts; null if the texts are too long.
    pub lcs: Option<f64>,
    /// The unit of the lengths in `lcs`: `characters`, or `words` if a text has more than 200,000 characters; null if a text also has more
    /// than 200,000 words.
    pub lcs_of: Option<&'static str>,
}
