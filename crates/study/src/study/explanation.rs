//! What `explain` says of two documents, as `--json` prints it.
//!
//! Field names are the interface. What cannot be known is null; documents stand in the order in which they were asked for.

use serde::Serialize;

/// The whole answer.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// The two documents.
    pub documents: [ExplainedDocument; 2],
    /// Whether they are equal byte for byte in every column that the algorithms read.
    pub exact_copies: bool,
    /// Whether at least one algorithm has the pair.
    pub pair: bool,
    /// One entry an algorithm of the run, in its order.
    pub algorithms: Vec<ExplainedAlgorithm>,
    /// How alike the texts are, apart from the algorithms.
    pub measures: ExplainedMeasures,
    /// How much of each document stands in the other, in the order asked, and what removal makes of it.
    pub contained: [ExplainedContained; 2],
    /// Whether the run decided what is removed; a comparison does not.
    pub removes: bool,
    /// What the run asked for removal, as `--remove-if` takes it.
    pub remove_if: String,
    /// What a reader should know besides.
    pub notes: Vec<String>,
}

/// One document.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedDocument {
    /// Its id, or FILE#ROW.
    pub id: String,
    /// Its number.
    pub doc: u64,
    /// The file as ids name it.
    pub file: String,
    /// The row in the file, counted from 0.
    pub row: u64,
    /// Unicode scalars of the text.
    pub characters: u64,
    /// Words of the text.
    pub words: u64,
    /// Whether it came before the corpus of the run, in an earlier night or a reference.
    pub earlier: bool,
    /// What it was removed for; null where it stays.
    pub removed: Option<ExplainedRemoval>,
    /// The repeated passages that are cut out of it, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passages: Vec<ExplainedPassage>,
    /// The text as it came.
    #[serde(skip)]
    pub text: String,
}

/// A repeated passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedPassage {
    /// The byte of the text at which it begins.
    pub start_byte: u64,
    /// The byte at which it ends.
    pub end_byte: u64,
    /// Its occurrences.
    pub copies: u64,
    /// The number of the document with the first copy; null if that is cut too.
    pub first_doc: Option<u64>,
}

/// A removal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedRemoval {
    /// The kept document.
    pub kept_id: String,
    /// Its number.
    pub kept_doc: u64,
    /// How alike the two are; null where a chain alone joins them.
    pub similarity: Option<f32>,
    /// The algorithms that say so.
    pub algorithm: String,
    /// `copy`, `pair` or `chain`.
    pub reason: String,
}

/// How much of one document stands in the other.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ExplainedContained {
    /// Its distinct 3-grams that stand there.
    pub common_grams: u64,
    /// Its distinct 3-grams.
    pub grams: u64,
    /// Its distinct numbers that stand there.
    pub common_numbers: u64,
    /// Its distinct numbers.
    pub numbers: u64,
    /// Those of its distinct numbers outside of its frame that stand there.
    pub common_facts: u64,
    /// Its distinct numbers outside of its frame.
    pub facts: u64,
    /// Why it may not go for the other: no pair that decides, or too little of it stands there; null where it may.
    pub stays: Option<&'static str>,
}

/// How it ended for one algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The pair stands in `pairs/`.
    Pair,
    /// The pair is in `pairs/` as two pages of one template, or one of their copies is: similar, and no duplicates.
    Template,
    /// A pair of a group above `--max-group`, of which only pairs with the best document are written.
    PairNotWritten,
    /// One of them has no signature, or neither.
    NoSignature,
    /// They never met.
    NoCommonKey,
    /// The values of the column of `--scope` are two, so that they are not compared.
    OtherScope,
    /// They have keys in common, and their sketches differ by more than those of a pair do.
    SketchesDiffer,
    /// They have keys in common that so many documents have that the method compares only some of these with each other.
    NotCompared,
    /// They met and were found not alike enough, by the method or by the check on the texts.
    BelowThreshold,
    /// They met, and their texts are too long for the check on the texts.
    Undecided,
    /// The two by themselves would be a pair; what else is in the corpus kept the run from calling them one.
    LeftOut,
}

/// What one algorithm says.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedAlgorithm {
    /// The name of its output folder.
    pub label: String,
    /// The algorithm with all parameters.
    pub recipe: String,
    /// How it ended.
    pub verdict: Verdict,
    /// One sentence why.
    pub why: String,
    /// The row of `pairs/`.
    pub pair: Option<ExplainedPair>,
    /// The score of the two by themselves, where the method makes one of their signatures or of a looser threshold.
    pub score: Option<ExplainedScore>,
    /// The checks on the texts, where both documents have a signature.
    pub checks: Vec<ExplainedCheck>,
    /// The word by which each differs most from the other, where the method tells versions from forms.
    pub words: Option<[ExplainedWord; 2]>,
    /// Bits in which their fingerprints differ, of a method that compares these.
    pub bits_apart: Option<u32>,
    /// Why a document has no signature, by document.
    pub unsigned: [Option<String>; 2],
    /// The clusters in which the documents stand.
    pub clusters: [Option<ExplainedCluster>; 2],
    /// Positions that rows can have.
    pub positions: u32,
    /// Rows of equal position and key.
    pub common_keys: u64,
    /// The rows of both, rows of equal position and key beside each other.
    pub rows: Vec<ExplainedRow>,
}

/// A row of `pairs/`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ExplainedPair {
    /// The checked value where there is one, else the method's own score; 0 to 1.
    pub similarity: f32,
    /// The method's own distance, where it has one.
    pub distance: Option<f32>,
    /// Which rules of the method found it, joined by `+`.
    pub matched_by: String,
    /// Whether it was checked on the texts.
    pub verified: bool,
    /// What the pair is: `version`, `contained`, `template`; null where the method does not tell.
    pub relation: Option<String>,
    /// Why.
    pub why: Option<String>,
    /// The similarity of the next best partner of either, outside of what is near to both.
    pub next_best: Option<f32>,
    /// Whether the titles name different things, so that neither document is removed for the other one.
    pub other_title: bool,
}

/// The word that stands oftener in one text than in the other, by weight.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedWord {
    /// The share of the text's weight that this surplus has.
    pub share: f64,
    /// The share that it may have.
    pub most: f64,
    /// The word; null where there is none.
    pub word: Option<String>,
}

/// A score.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ExplainedScore {
    /// 0 to 1.
    pub similarity: f32,
    /// The method's own distance, where it has one.
    pub distance: Option<f32>,
}

/// A check on the texts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedCheck {
    /// The check with its threshold, as the user writes it.
    pub name: String,
    /// Whether the two pass.
    pub passes: bool,
    /// The similarity that is reached; null where the check tells none below its threshold.
    pub similarity: Option<f32>,
}

/// A cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedCluster {
    /// The id of its representative.
    pub representative_id: String,
    /// Its number.
    pub representative_doc: u64,
    /// Documents in it.
    pub size: u64,
}

/// Signature rows at one position: of both documents, or of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedRow {
    /// Which of the method's keys this is: table, band, rule.
    pub position: u32,
    /// The first document's row.
    pub a: Option<ExplainedKey>,
    /// The second one's.
    pub b: Option<ExplainedKey>,
    /// Whether the keys are equal: here the documents meet.
    pub equal: bool,
}

/// One signature row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedKey {
    /// The key in hexadecimal.
    pub key: String,
    /// What rows of one key are ordered by (a length); 0 where by nothing.
    pub order: u32,
    /// The bytes that travel with the key, in hexadecimal.
    pub sketch: String,
    /// What they say, where a person can read it.
    pub says: Option<String>,
}

/// What two sets have in common.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ExplainedOverlap {
    /// Common elements over all.
    pub jaccard: f64,
    /// The share of the first document's elements that the second has; null for an empty set.
    pub a_in_b: Option<f64>,
    /// The other way round.
    pub b_in_a: Option<f64>,
}

/// How alike the texts are; all but counts from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedMeasures {
    /// Sets of windows of five characters of the normalised text.
    pub five_characters: ExplainedOverlap,
    /// Sets of windows of five words, five characters for Han.
    pub five_words: ExplainedOverlap,
    /// Sets of words.
    pub words: ExplainedOverlap,
    /// Different words that both have.
    pub common_words: u64,
    /// Cosine of word counts.
    pub cosine: f64,
    /// 2 LCS / (a + b); null where the texts are too long.
    pub lcs: Option<f64>,
    /// `characters`, or `words` where a text has more than 200,000 characters; null where it has that many words too.
    pub lcs_of: Option<&'static str>,
}
