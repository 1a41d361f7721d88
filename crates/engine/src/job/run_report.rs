//! `run.json`: what was asked, what came in, what each stage did, what each algorithm found. A machine reads it.
//!
//! Field names are the interface; times and memory differ from run to run, everything else is determined by the input and
//! the recipe.

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

/// Version of the records run.json.
pub const SCHEMA_VERSION: u32 = 1;

/// The whole record of a run.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct RunReport {
    /// Version of this record. Each table has its own in the metadata of its file.
    pub schema_version: u32,
    /// Version of the program.
    pub dupsift: String,
    /// When the run began, as RFC 3339 writes it.
    #[serde(default)]
    pub started: String,
    /// When its tables stood.
    #[serde(default)]
    pub ended: String,
    /// The name of the machine.
    #[serde(default)]
    pub host: String,
    /// The command line.
    #[serde(default)]
    pub command: Vec<String>,
    /// The folder that the command line was typed in; all other paths of the record are absolute. Use [`RunReport::places`] to find them.
    #[serde(default)]
    pub folder: String,
    /// What signatures depend on.
    pub recipe: RecipeReport,
    /// Every option of the run by its name: numbers as numbers, switches as booleans, anything else as it could be typed.
    pub options: BTreeMap<String, serde_json::Value>,
    /// The input files, in the order that gives documents their numbers.
    pub inputs: Vec<InputReport>,
    /// What goes by the values of `--source-column`, where it is given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceReport>,
    /// Input files that could not be used at all.
    pub bad_inputs: Vec<BadInputReport>,
    /// The inputs besides the corpus whose rows were read, such as those of `--reference`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_inputs: Vec<OtherInputReport>,
    /// Files of the inputs that are not read, by the endings of their names.
    #[serde(default)]
    pub unread: BTreeMap<String, u64>,
    /// Folders below the inputs that were skipped because dupsift wrote them, each with what it holds.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped_folders: BTreeMap<String, String>,
    /// Documents by fate.
    pub documents: DocumentsReport,
    /// What became of pages, where the corpus has pages.
    #[serde(default)]
    pub purified: Option<PurifyReport>,
    /// Values besides the texts that count as null, by column and reason: `not UTF-8`, and of the columns of `--keep` `not a number`
    /// or `not text`.
    #[serde(default, skip_serializing_if = "LostValues::is_empty")]
    pub lost_values: LostValues,
    /// Ids of the corpus.
    pub ids: IdsReport,
    /// Counts of the first pass, where there was one, or those that came with `frozen`.
    pub statistics: Option<StatisticsReport>,
    /// Where the counts, the models and the planned size came from, where that is another run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen: Option<FrozenReport>,
    /// One entry an algorithm, in the order of the recipe.
    pub algorithms: Vec<AlgorithmReport>,
    /// Han characters that went through the dictionary: at most those of the corpus once, if it is counted first; those of texts
    /// alone whose words were not resumed from an earlier run.
    pub segmented_characters: u64,
    /// The index that the run was matched against, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<IndexReport>,
    /// The corpus by writing and by length, with what goes of each; null in records of versions that did not look at that.
    #[serde(default)]
    pub parts: Option<PartsReport>,
    /// What was removed and why; null of a comparison, which removes nothing.
    pub removal: Option<RemovalReport>,
    /// What was written of the corpus itself; null without `--corpus`.
    #[serde(default)]
    pub corpus: Option<CorpusReport>,
    /// The repeated passages that were found; null without `--cut`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<CutReport>,
    /// One entry a stage, in order.
    pub stages: Vec<StageReport>,
    /// Guards that fired: exit code 3, or 4 where one held the result back.
    pub guards: Vec<GuardReport>,
    /// What spread the work over machines, where something did, such as `spark`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// What an earlier run had put down, and this one did not make again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed: Vec<String>,
    /// Who took the result that was held back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<AcceptedReport>,
    /// What a reader should know besides.
    pub warnings: Vec<String>,
    /// Wall-clock seconds of the run.
    pub seconds: f64,
    /// User and system CPU seconds of the process.
    pub cpu_seconds: f64,
    /// Highest anonymous memory that was sampled, in bytes.
    pub peak_memory_bytes: u64,
}

/// A guard that fired.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct GuardReport {
    /// Its name: the option that sets its limit, where there is one.
    pub name: String,
    /// What was measured.
    pub measured: f64,
    /// The limit that this is beyond.
    pub limit: f64,
    /// What was found, in words.
    pub sentence: String,
    /// Whether the result was held back for it.
    pub held: bool,
}

impl GuardReport {
    /// Returns the guard as it fired, if it is one over what was read.
    pub fn over_reading(&self) -> Option<Fired> {
        let name = OVER_READING.into_iter().find(|name| *name == self.name)?;
        Some(Fired { name, measured: self.measured, limit: self.limit, sentence: self.sentence.clone() })
    }
}

/// The acceptance of a result that was held back.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct AcceptedReport {
    /// When, as RFC 3339 writes it.
    pub time: String,
    /// Why, in the user's words.
    pub reason: Option<String>,
    /// The name of the folder that the result became.
    pub output: String,
}

/// What signatures depend on.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct RecipeReport {
    /// The algorithms with all parameters, as `--algorithms` takes them.
    pub algorithms: Vec<String>,
    /// Tokenizer, normalisation and their versions.
    pub text: String,
    /// Whether exact copies count in the statistics.
    pub count_copies: bool,
    /// A hash of all that, in hexadecimal.
    pub identity: String,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// One input file.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct InputReport {
    /// The file as ids name it.
    pub file: String,
    /// Where it was read.
    pub path: String,
    /// Rows of it that take part: all, or those within `--limit`.
    pub rows: u64,
    /// Bytes on disk.
    pub bytes: u64,
    /// Size, times, device and inode when it was read; a file that has others may be another one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stamp: String,
    /// A hash of what the first pass read of it, which tells then; null where no process read it from end to end.
    #[serde(default)]
    pub contents: Option<String>,
    /// The encoding that was found for it; none unless `--encoding auto` had to find one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// Whether its format cannot be written without some of its rows, so that `corpus` and `dupsift apply` refuse it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_copied: bool,
    /// Documents of it that are removed.
    pub removed: u64,
    /// Of these, exact copies of documents of the index.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub seen: u64,
    /// Rows of it that are set aside.
    #[serde(default)]
    pub rejected: u64,
}

/// What was written of the corpus itself. `rows = kept + removed + rejected`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct CorpusReport {
    /// `--corpus`.
    pub written: String,
    /// Rows of the files that take part.
    pub rows: u64,
    /// Those that stay.
    pub kept: u64,
    /// Those that go.
    pub removed: u64,
    /// Those that are set aside: they are in no copy.
    pub rejected: u64,
    /// What was written, by folder.
    pub folders: BTreeMap<String, FolderReport>,
}

/// The repeated passages of the kept documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct CutReport {
    /// `--cut`.
    pub cut: String,
    /// Passages that are cut.
    pub passages: u64,
    /// Documents that they are cut out of.
    pub documents: u64,
    /// Their characters.
    pub characters: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Characters of the documents that were kept before, cut or not.
    pub characters_kept: u64,
    /// Documents that are removed because too little is left.
    pub emptied: u64,
    /// The passages with the largest product of bytes and copies, each text once.
    pub costliest: Vec<CostlyPassage>,
}

/// A repeated passage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct CostlyPassage {
    /// Its first 500 characters.
    pub text: String,
    /// Its bytes.
    pub bytes: u64,
    /// Its occurrences.
    pub copies: u64,
    /// The id of a document that it is cut out of.
    pub id: String,
    /// The id of the document with the first copy.
    pub first_id: String,
    /// The file of that document.
    pub first_file: String,
}

/// A folder of files like those of the corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct FolderReport {
    /// Its files: those of the corpus of which a row is in it.
    pub files: u64,
    /// Of these, files that lose nothing and are copied byte for byte.
    pub whole: u64,
    /// Rows.
    pub rows: u64,
    /// Bytes on disk.
    pub bytes: u64,
}

/// Documents by fate. `rows = used + rejected`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct DocumentsReport {
    /// Rows of all usable files.
    pub rows: u64,
    /// Rows with a text.
    pub used: u64,
    /// Rows set aside.
    #[serde(flatten)]
    pub rejections: RejectionsReport,
    /// Documents beyond the first of each set of exact copies.
    pub surplus_copies: u64,
    /// Bytes of text read.
    pub text_bytes: u64,
    /// Bytes of lines that were unpacked of compressed files: as many as these hold where each was read through once.
    #[serde(default)]
    pub unpacked_bytes: u64,
}

/// Ids of the corpus.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct IdsReport {
    /// The type that ids are written in.
    pub written_as: String,
    /// Why that type, where it is not the column's own; or that rows are named FILE#ROW.
    pub note: Option<String>,
    /// Rows without an id, named FILE#ROW.
    pub missing: u64,
    /// Rows whose id stood before.
    pub duplicates: u64,
}

/// The first pass.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct StatisticsReport {
    /// N: documents with at least one word.
    pub documents: u64,
    /// Words of all documents.
    pub tokens: u64,
    /// Distinct words.
    pub words: u64,
    /// Distinct features (sentences, segments) in two documents or more.
    pub repeated_features: u64,
    /// Names these counts, in hexadecimal.
    pub snapshot: String,
}

/// Counts of other documents than those of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct FrozenReport {
    /// The output that they were taken from.
    pub from: String,
    /// The number of documents that table schemes are chosen by.
    pub documents_planned: u64,
}

/// What one algorithm found.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct AlgorithmReport {
    /// The name of its output folder.
    pub label: String,
    /// The algorithm with all parameters.
    pub recipe: String,
    /// The check on the texts, if any.
    pub verify: Option<String>,
    /// Documents with a signature.
    pub signed: u64,
    /// Documents without one, by reason.
    pub unsigned: BTreeMap<String, u64>,
    /// Documents worth knowing about, by kind.
    pub flagged: BTreeMap<String, u64>,
    /// Seconds of one processor that signing took of this algorithm alone, estimated from a sample of the documents; reading
    /// and cutting, which all share, are not in it.
    pub sign_seconds: f64,
    /// CPU seconds of learning, grouping, checking and writing down its pairs.
    pub pair_cpu_seconds: f64,
    /// Signature rows.
    pub rows: u64,
    /// Rows that `--prefilter` left out, for no other row has their key.
    pub prefiltered_rows: u64,
    /// Bytes a signature row takes in the shuffle.
    pub row_bytes: u64,
    /// Bytes of signature rows that went to the disk.
    pub spilled_bytes: u64,
    /// Comparisons of rows.
    pub compared: u64,
    /// Comparisons that `--max-candidates` left out.
    pub left_out: u64,
    /// Comparisons of documents that are not near each other in a group of more than 256, such as pages of one template.
    #[serde(default)]
    pub left_out_of_large_groups: u64,
    /// Different pairs that met, before the check on the texts.
    pub candidates: u64,
    /// Candidates that the check left undecided: their texts are so long, and so far apart, that one comparison would take more
    /// than about a second. They are no pairs.
    #[serde(default)]
    pub undecided: u64,
    /// Pairs that passed every check and that `margin=` took out, copies folded.
    pub beyond_margin: u64,
    /// What the pairs are, copies folded; null for methods that do not tell.
    pub relations: Option<RelationsReport>,
    /// Pairs in all, written or not. Of equal texts each document counts once, as a pair with the best one of its text.
    pub pairs: u64,
    /// Of these, such as have no earlier document of an index; null where none takes part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs_of_night: Option<u64>,
    /// Pairs written.
    pub pairs_written: u64,
    /// Of all pairs of documents those that are forms, which are no duplicates.
    #[serde(default)]
    pub templates: u64,
    /// Of the pairs written those that are forms.
    #[serde(default)]
    pub templates_written: u64,
    /// Groups of more texts than `--max-group`, of which only pairs with the best document are written.
    pub large_groups: u64,
    /// Clusters of two or more.
    pub clusters: u64,
    /// Documents in them.
    pub clustered: u64,
    /// The largest cluster.
    pub largest_cluster: u64,
    /// Pairs of unrelated documents whose signatures are equal by chance, as expected from the bits; for methods of equal signatures.
    pub expected_chance_collisions: Option<f64>,
    /// A hash of what the method learnt, in hexadecimal; null for those that learn nothing.
    pub model: Option<String>,
    /// Of a method with bands of minima: the share of pairs that these let through, by the Jaccard similarity of their shingles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_recall: Option<BTreeMap<String, f64>>,
    /// What the method decided by itself.
    pub notes: Vec<String>,
}

impl AlgorithmReport {
    /// Notes what comparing has cost.
    pub fn note_comparisons(&mut self, comparisons: Compared) {
        self.compared = comparisons.made;
        self.left_out = comparisons.left_out;
        self.left_out_of_large_groups = comparisons.far;
    }

    /// Pairs written that are no forms: what stands in tables of duplicates.
    pub fn duplicates_written(&self) -> u64 {
        self.pairs_written.saturating_sub(self.templates_written)
    }
}

/// What the pairs of an algorithm are, copies folded.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct RelationsReport {
    /// Versions of one text.
    pub version: u64,
    /// Texts in larger ones.
    pub contained: u64,
    /// Forms with other facts: they join no cluster, and nothing goes for them.
    pub template: u64,
    /// Forms below `templates=`, which are not reported.
    pub templates_left_out: u64,
    /// Pairs in near groups so large that the search for the next best ended early: what it ended at counts as the next best.
    pub cut_short: u64,
    /// Versions and contained texts of which none is removed, for the titles name different things.
    pub other_titles: u64,
}

/// What was removed.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct RemovalReport {
    /// Which pairs decided.
    pub decide: String,
    /// Which document of several stays.
    pub keep: String,
    /// Whether each column of `keep` compares as `numbers` or as `text`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub keep_columns: BTreeMap<String, String>,
    /// Documents that are removed.
    pub removed: u64,
    /// Documents that stay; `kept + removed = documents.used`.
    pub kept: u64,
    /// Removed documents by reason.
    pub reasons: BTreeMap<String, u64>,
    /// Removed documents that are no copies of the kept one.
    #[serde(default)]
    pub near_duplicates: u64,
    /// Those of them that have so many near-duplicates that they look like pages of one template.
    #[serde(default)]
    pub of_templates: u64,
    /// Comparisons with kept documents that `--max-candidates` left out (only `all` and `at-least:K`).
    pub left_out: u64,
    /// What must be so for a document to go; `pair` in records before version 3.
    #[serde(default)]
    pub remove_if: String,
    /// Documents that stay although they form a pair with a kept document, by reason.
    #[serde(default)]
    pub stays: BTreeMap<String, u64>,
    /// Kept documents that form a pair with one of these and that it was not held against.
    #[serde(default)]
    pub not_looked_at: u64,
    /// Bytes of the removed texts that are exact copies.
    #[serde(default)]
    pub copied_bytes: u64,
}
