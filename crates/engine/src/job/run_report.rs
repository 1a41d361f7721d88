//! `run.json`: the options, the inputs, the work of each stage and the results of each algorithm, for programs to read.
//!
//! Field names are the interface. Times and memory differ from run to run; everything else is determined by the input and the recipe.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine::StageReport;
pub use crate::reading::{BadInputReport, OtherInputReport};
use crate::reading::{PurifyReport, RejectionsReport, SourceReport};
use dupsift_algorithms::stage::group::Compared;
use dupsift_algorithms::stage::guard::{Fired, OVER_READING};
use dupsift_algorithms::stage::parts::PartsReport;
use dupsift_files::tables::LostValues;
pub use dupsift_index::IndexReport;

/// Version of run.json.
pub const SCHEMA_VERSION: u32 = 1;

/// Holds the complete record of a run.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct RunReport {
    /// Version of this record. Each table has its own version in the metadata of its file.
    pub schema_version: u32,
    /// Version of the program.
    pub dupsift: String,
    /// When the run started, in RFC 3339 format.
    #[serde(default)]
    pub started: String,
    /// When the tables were complete.
    #[serde(default)]
    pub ended: String,
    /// The name of the machine.
    #[serde(default)]
    pub host: String,
    /// The command line.
    #[serde(default)]
    pub command: Vec<String>,
    /// The folder in which the command was typed; all other paths in the record are absolute. Use [`RunReport::places`] to find them.
    #[serde(default)]
    pub folder: String,
    /// The options and versions that signatures depend on.
    pub recipe: RecipeReport,
    /// Every option of the run by name: numbers as numbers, switches as booleans, anything else as typed on the command line.
    pub options: BTreeMap<String, serde_json::Value>,
    /// The input files, in the order in which documents are numbered.
    pub inputs: Vec<InputReport>,
    /// Removed documents by value of `--source-column`, if it is given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceReport>,
    /// Input files that could not be used at all.
    pub bad_inputs: Vec<BadInputReport>,
    /// The inputs, except the corpus, whose rows were read, such as those of `--reference`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_inputs: Vec<OtherInputReport>,
    /// Files in the inputs that are not read, by file extension.
    #[serde(default)]
    pub unread: BTreeMap<String, u64>,
    /// Folders in the inputs that were skipped because dupsift wrote them, with the contents of each folder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped_folders: BTreeMap<String, String>,
    /// Document counts: used, rejected, copies.
    pub documents: DocumentsReport,
    /// Counts of extracted HTML pages, if the corpus has any.
    #[serde(default)]
    pub purified: Option<PurifyReport>,
    /// Values, except texts, that count as null, by column and reason: `not UTF-8`, and for `--keep` columns `not a number` or `not text`.
    #[serde(default, skip_serializing_if = "LostValues::is_empty")]
    pub lost_values: LostValues,
    /// The ids of the corpus.
    pub ids: IdsReport,
    /// Counts from the first pass, if there was one, or from the run in `frozen`.
    pub statistics: Option<StatisticsReport>,
    /// The run that the counts, the models and the planned size came from, if they came from another run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen: Option<FrozenReport>,
    /// One entry per algorithm, in recipe order.
    pub algorithms: Vec<AlgorithmReport>,
    /// Han characters segmented with the dictionary. If the corpus is counted first, each is segmented at most once. Texts whose words were
    /// restored from an earlier run are not segmented again.
    pub segmented_characters: u64,
    /// The index that the run was matched against, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<IndexReport>,
    /// Document counts by script and length, in total and for removed documents; null in records from versions without these counts.
    #[serde(default)]
    pub parts: Option<PartsReport>,
    /// Removed documents by reason; null for a comparison, which removes nothing.
    pub removal: Option<RemovalReport>,
    /// The files of the corpus that were written; null without `--corpus`.
    #[serde(default)]
    pub corpus: Option<CorpusReport>,
    /// The texts of removed documents and of the documents kept instead, in `texts/`; null without `--keep-texts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored_texts: Option<FolderReport>,
    /// The repeated passages that were found; null without `--cut`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<CutReport>,
    /// One entry per stage, in order.
    pub stages: Vec<StageReport>,
    /// Guards that fired: exit code 3, or 4 if one held the result back.
    pub guards: Vec<GuardReport>,
    /// The framework that distributed the work over machines, such as `spark`, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// Steps that were resumed from an earlier run's checkpoints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed: Vec<String>,
    /// The acceptance of a result that was held back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<AcceptedReport>,
    /// Other warnings.
    pub warnings: Vec<String>,
    /// Wall-clock seconds of the run.
    pub seconds: f64,
    /// User and system CPU seconds of the process.
    pub cpu_seconds: f64,
    /// Highest anonymous memory sampled, in bytes.
    pub peak_memory_bytes: u64,
}

/// Records a guard that fired.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct GuardReport {
    /// The name of the guard: the option that sets its limit, if there is one.
    pub name: String,
    /// The measured value.
    pub measured: f64,
    /// The limit that was exceeded.
    pub limit: f64,
    /// The finding as a sentence.
    pub sentence: String,
    /// Whether the guard held the result back.
    pub held: bool,
}

impl GuardReport {
    /// Returns the guard as it fired, if it is a guard on the input.
    pub fn over_reading(&self) -> Option<Fired> {
        let name = OVER_READING.into_iter().find(|name| *name == self.name)?;
        Some(Fired { name, measured: self.measured, limit: self.limit, sentence: self.sentence.clone() })
    }
}

/// Records the acceptance of a result that was held back.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct AcceptedReport {
    /// When the result was accepted, in RFC 3339 format.
    pub time: String,
    /// The reason, in your own words.
    pub reason: Option<String>,
    /// The name of the folder that holds the accepted result.
    pub output: String,
}

/// Records the settings that signatures depend on.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct RecipeReport {
    /// The algorithms with all parameters, as `--algorithms` accepts them.
    pub algorithms: Vec<String>,
    /// Tokenizer, normalization and their versions.
    pub text: String,
    /// Whether exact copies count in the statistics.
    pub count_copies: bool,
    /// A hash of all these settings, in hexadecimal.
    pub identity: String,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Records one input file.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct InputReport {
    /// The name of the file in ids.
    pub file: String,
    /// The path that the file was read from.
    pub path: String,
    /// The rows of the file that take part: all rows, or the rows within `--limit`.
    pub rows: u64,
    /// Bytes on disk.
    pub bytes: u64,
    /// Size, times, device and inode when the file was read. If they differ later, it may be a different file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stamp: String,
    /// A hash of the data that the first pass read from the file. If the stamp differs, the hash decides whether it is the same file; null
    /// if no process read the file from end to end.
    #[serde(default)]
    pub contents: Option<String>,
    /// The encoding detected for the file; `None` unless `--encoding auto` had to detect one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// Whether the format makes it impossible to copy the file without some of its rows, so that `corpus` and `dupsift apply` refuse the
    /// file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_copied: bool,
    /// Removed documents of the file.
    pub removed: u64,
    /// Removed documents that are exact copies of indexed documents.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub seen: u64,
    /// Rejected rows of the file.
    #[serde(default)]
    pub rejected: u64,
}

/// Records the corpus files that were written. `rows = kept + removed + rejected`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct CorpusReport {
    /// The value of `--corpus`.
    pub written: String,
    /// Rows of the files that take part.
    pub rows: u64,
    /// Kept rows.
    pub kept: u64,
    /// Removed rows.
    pub removed: u64,
    /// Rejected rows, which are in none of the files.
    pub rejected: u64,
    /// The files written, by folder.
    pub folders: BTreeMap<String, FolderReport>,
}

/// Records the repeated passages of the kept documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct CutReport {
    /// The value of `--cut`.
    pub cut: String,
    /// Passages that are cut.
    pub passages: u64,
    /// Documents that passages are cut from.
    pub documents: u64,
    /// Characters in the passages.
    pub characters: u64,
    /// Bytes in the passages.
    pub bytes: u64,
    /// Characters in the documents that were kept before cutting.
    pub characters_kept: u64,
    /// Documents that are removed because too little text is left.
    pub emptied: u64,
    /// The passages with the largest product of bytes and copies, each text once.
    pub costliest: Vec<CostlyPassage>,
}

/// Records a repeated passage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct CostlyPassage {
    /// The first 500 characters of the passage.
    pub text: String,
    /// The length of the passage in bytes.
    pub bytes: u64,
    /// The number of occurrences.
    pub copies: u64,
    /// The id of a document that the passage is cut from.
    pub id: String,
    /// The id of the document with the first copy.
    pub first_id: String,
    /// The file of the document with the first copy.
    pub first_file: String,
}

/// Records a folder with copies of the corpus files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct FolderReport {
    /// Files in the folder: one for each corpus file with a row in it.
    pub files: u64,
    /// The number of these files that lose no rows and are copied byte for byte.
    pub whole: u64,
    /// Rows in these files.
    pub rows: u64,
    /// Bytes on disk.
    pub bytes: u64,
}

/// Counts documents. `rows = used + rejected`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct DocumentsReport {
    /// Rows in all usable files, or in the sample.
    pub rows: u64,
    /// Rows in all usable files, if only a sample was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled_from: Option<u64>,
    /// Rows with a text.
    pub used: u64,
    /// Rejected rows.
    #[serde(flatten)]
    pub rejections: RejectionsReport,
    /// Documents beyond the first of each set of exact copies.
    pub surplus_copies: u64,
    /// Bytes of text read.
    pub text_bytes: u64,
    /// Bytes of lines decompressed from the input files: the full uncompressed size of the files if each was read to the end once.
    #[serde(default)]
    pub unpacked_bytes: u64,
}

/// Records the ids of the corpus.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct IdsReport {
    /// The type in which ids are written.
    pub written_as: String,
    /// Why that type was chosen, if it differs from the type of the column, or a note that rows are named FILE#ROW.
    pub note: Option<String>,
    /// A column that probably has ids, if all rows are named FILE#ROW.
    #[serde(default)]
    pub likely_column: Option<String>,
    /// Rows without an id, named FILE#ROW.
    pub missing: u64,
    /// Rows with the same id as an earlier row.
    pub duplicates: u64,
}

/// Records the counts of the first pass.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct StatisticsReport {
    /// N: documents with at least one word.
    pub documents: u64,
    /// Words in all documents.
    pub tokens: u64,
    /// Distinct words.
    pub words: u64,
    /// Distinct features (sentences, segments) that appear in at least two documents.
    pub repeated_features: u64,
    /// A hash that identifies these counts, in hexadecimal.
    pub snapshot: String,
}

/// Records counts that come from another corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct FrozenReport {
    /// The output that the counts were read from.
    pub from: String,
    /// The number of documents that table schemes are chosen for.
    pub documents_planned: u64,
}

/// Records the results of one algorithm.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct AlgorithmReport {
    /// The label of the algorithm, which is also the name of its output folder.
    pub label: String,
    /// The name of the algorithm with all parameters.
    pub recipe: String,
    /// The check on the texts, if any.
    pub verify: Option<String>,
    /// Documents with a signature.
    pub signed: u64,
    /// Documents without a signature, by reason.
    pub unsigned: BTreeMap<String, u64>,
    /// Notable documents, by kind.
    pub flagged: BTreeMap<String, u64>,
    /// CPU seconds spent signing for this algorithm alone, estimated from a sample of the documents; excludes reading and splitting into
    /// words, which all algorithms share.
    pub sign_seconds: f64,
    /// CPU seconds for learning, grouping, checking and writing its pairs.
    pub pair_cpu_seconds: f64,
    /// Signature rows.
    pub rows: u64,
    /// Rows that `--prefilter` left out because no other row has the same key.
    pub prefiltered_rows: u64,
    /// Bytes per signature row in the shuffle.
    pub row_bytes: u64,
    /// Bytes of signature rows spilled to disk.
    pub spilled_bytes: u64,
    /// Row comparisons that were made.
    pub compared: u64,
    /// Row comparisons that `--max-candidates` left out.
    pub left_out: u64,
    /// Comparisons left out between distant documents in a group of more than 256, such as pages from the same template.
    #[serde(default)]
    pub left_out_of_large_groups: u64,
    /// Distinct candidate pairs, before the check on the texts.
    pub candidates: u64,
    /// Candidates that the check left undecided: their texts are so long and so different that one comparison would take more than about a
    /// second. They do not count as pairs.
    #[serde(default)]
    pub undecided: u64,
    /// Pairs that passed every check but were removed by `margin=`, with exact copies counted once.
    pub beyond_margin: u64,
    /// Pairs by relation, with exact copies counted once; null for algorithms that do not classify pairs.
    pub relations: Option<RelationsReport>,
    /// All pairs, written or not. Each document with an equal text counts once, as a pair with the best document of its text.
    pub pairs: u64,
    /// The number of these pairs without an indexed document; null if the run uses no index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs_of_batch: Option<u64>,
    /// Pairs written.
    pub pairs_written: u64,
    /// Document pairs that share a template and are not duplicates.
    #[serde(default)]
    pub templates: u64,
    /// Written pairs that share a template.
    #[serde(default)]
    pub templates_written: u64,
    /// Groups with more texts than `--max-group`, for which only pairs with the best document are written.
    pub large_groups: u64,
    /// Clusters of two or more documents.
    pub clusters: u64,
    /// Documents in clusters.
    pub clustered: u64,
    /// The size of the largest cluster.
    pub largest_cluster: u64,
    /// Expected pairs of unrelated documents whose signatures are equal by chance, computed from the bits; only for algorithms that compare
    /// signatures for equality.
    pub expected_chance_collisions: Option<f64>,
    /// A hash of the learned model, in hexadecimal; null for algorithms that learn nothing.
    pub model: Option<String>,
    /// For algorithms with MinHash bands: the share of pairs that the bands let through, by the Jaccard similarity of the shingles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_recall: Option<BTreeMap<String, f64>>,
    /// Choices that the algorithm made automatically.
    pub notes: Vec<String>,
}

impl AlgorithmReport {
    /// Records the cost of comparisons.
    pub fn note_comparisons(&mut self, comparisons: Compared) {
        self.compared = comparisons.made;
        self.left_out = comparisons.left_out;
        self.left_out_of_large_groups = comparisons.far;
    }

    /// Returns the number of rows in tables of duplicates: all written pairs except pairs that merely share a template.
    pub fn duplicates_written(&self) -> u64 {
        self.pairs_written.saturating_sub(self.templates_written)
    }
}

/// Counts the pairs of an algorithm by relation, with exact copies counted once.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct RelationsReport {
    /// Versions of the same text.
    pub version: u64,
    /// Texts contained in larger ones.
    pub contained: u64,
    /// Pages from the same template with different facts: they join no cluster and cause no removal.
    pub template: u64,
    /// Pairs from the same template whose similarity is below `templates=`, so that they are not reported.
    pub templates_left_out: u64,
    /// Pairs whose next-best search ended early because too many documents are near to both documents; the best document found so far
    /// counts as the next best.
    pub cut_short: u64,
    /// Versions and contained texts that are both kept because their titles name different things.
    pub other_titles: u64,
}

/// Records the removals.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct RemovalReport {
    /// The pairs that decide on removal.
    pub decide: String,
    /// The order that decides which of several documents is kept.
    pub keep: String,
    /// Whether each `keep` column compares as `numbers` or as `text`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub keep_columns: BTreeMap<String, String>,
    /// Removed documents.
    pub removed: u64,
    /// Kept documents; `kept + removed = documents.used`.
    pub kept: u64,
    /// Removed documents by reason.
    pub reasons: BTreeMap<String, u64>,
    /// Removed documents that are not exact copies of the kept document.
    #[serde(default)]
    pub near_duplicates: u64,
    /// The number of these near-duplicates with so many near-duplicates of their own that they look like pages from the same template.
    #[serde(default)]
    pub of_templates: u64,
    /// Comparisons with kept documents that `--max-candidates` left out (only `all` and `at-least:K`).
    pub left_out: u64,
    /// The condition for removing a document; `pair` in records before version 3.
    #[serde(default)]
    pub remove_if: String,
    /// Documents that are kept although they form a pair with a kept document, by reason.
    #[serde(default)]
    pub stays: BTreeMap<String, u64>,
    /// Kept documents that form a pair with a document in `stays` but were not compared with it.
    #[serde(default)]
    pub not_looked_at: u64,
    /// Bytes of the removed texts that are exact copies.
    #[serde(default)]
    pub copied_bytes: u64,
}
