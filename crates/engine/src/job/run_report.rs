//! Defines `run.json`, the machine-readable record of a run. The record contains the options, the inputs, the work of each stage and the
//! results of each algorithm.
//!
//! The field names are a public interface. Times and memory differ from run to run. The input and the recipe determine everything else.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine::StageReport;
use crate::reading::input_notes;
pub use crate::reading::{BadInputReport, OtherInputReport};
use crate::reading::{RejectionsReport, SourceReport};
use crate::session::PurifyReport;
use dupsift_algorithms::steps::group::Compared;
use dupsift_algorithms::steps::guard::{Fired, OVER_READING};
use dupsift_algorithms::steps::parts::PartsReport;
use dupsift_core::number::{counted_as, thousands};
pub use dupsift_index::IndexReport;
use dupsift_input::Downloads;
use dupsift_publish::{is_inside, is_plain};
use dupsift_tables::LostValues;

/// The version of run.json.
pub const SCHEMA_VERSION: u32 = 1;

/// Holds the complete record of a run.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct RunReport {
    /// The version of this record. Each table has its own version, in the metadata of its file.
    pub schema_version: u32,
    /// The version of the program.
    pub dupsift: String,
    /// The time when the run started, in RFC 3339 format.
    #[serde(default)]
    pub started: String,
    /// The time when the tables were complete.
    #[serde(default)]
    pub ended: String,
    /// The name of the machine.
    #[serde(default)]
    pub host: String,
    /// The command line.
    #[serde(default)]
    pub command: Vec<String>,
    /// The folder in which the command was run. All other paths in the record are absolute. [`RunReport::places`] returns the possible
    /// current locations of a recorded path.
    #[serde(default)]
    pub folder: String,
    /// The options and versions that affect signatures.
    pub recipe: RecipeReport,
    /// The value of every option of the run, by name. Numbers are JSON numbers, switches are booleans, and all other values are as typed on
    /// the command line.
    pub options: BTreeMap<String, serde_json::Value>,
    /// The files, folders and globs that were specified as inputs.
    #[serde(default)]
    pub input_paths: Vec<String>,
    /// The input files, in the order in which documents are numbered.
    pub inputs: Vec<InputReport>,
    /// The counts for each value of `--source-column`, if the option is given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceReport>,
    /// The input files that could not be used.
    pub bad_inputs: Vec<BadInputReport>,
    /// The inputs, other than the corpus, whose rows were read, such as the input of `--reference`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_inputs: Vec<OtherInputReport>,
    /// The number of unread files in the input folders, by file extension.
    #[serde(default)]
    pub unread: BTreeMap<String, u64>,
    /// The folders inside the inputs that were skipped because dupsift wrote them. The value describes the contents of the folder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped_folders: BTreeMap<String, String>,
    /// The downloads from object stores before the first pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub downloads: Option<Downloads>,
    /// The numbers of used documents, rejected rows and copies.
    pub documents: DocumentsReport,
    /// The counts of extracted HTML pages, if the corpus has such pages.
    #[serde(default)]
    pub purified: Option<PurifyReport>,
    /// The number of values that became null in columns other than the text column, by column and reason. The reasons are `not UTF-8` and,
    /// for `--keep` columns, `not a number` or `not text`.
    #[serde(default, skip_serializing_if = "LostValues::is_empty")]
    pub lost_values: LostValues,
    /// The ids of the corpus.
    pub ids: IdsReport,
    /// The counts from the first pass, if there was one, or the counts from the run in `frozen`.
    pub statistics: Option<StatisticsReport>,
    /// The run from which the counts, the models and the planned size were taken, if they were taken from another run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen: Option<FrozenReport>,
    /// One entry per algorithm, in recipe order.
    pub algorithms: Vec<AlgorithmReport>,
    /// The number of Han characters segmented with the dictionary. If the corpus is counted first, each character is segmented at most
    /// once. Documents whose words were restored from an earlier run are not segmented a second time.
    pub segmented_characters: u64,
    /// The index against which the corpus was matched, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<IndexReport>,
    /// The document counts by script and length, for all documents and for removed documents; null in records from versions without these
    /// counts.
    #[serde(default)]
    pub parts: Option<PartsReport>,
    /// The removed documents, by reason; null for `compare`, which removes nothing.
    pub removal: Option<RemovalReport>,
    /// The files of the corpus that were written; null without `--corpus`.
    #[serde(default)]
    pub corpus: Option<CorpusReport>,
    /// The text of removed documents and of the documents kept instead, in `texts/`; null without `--keep-texts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored_texts: Option<FolderReport>,
    /// The repeated passages that were found; null without `--cut`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<CutReport>,
    /// One entry per stage, in order.
    pub stages: Vec<StageReport>,
    /// The guards that fired. The exit code is 3, or 4 if a guard held the result back.
    pub guards: Vec<GuardReport>,
    /// The framework that distributed the work over machines, such as `spark`, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// The steps that were resumed from the checkpoints of an earlier run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed: Vec<String>,
    /// The acceptance of a result that was held back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<AcceptedReport>,
    /// Other warnings.
    pub warnings: Vec<String>,
    /// The wall-clock seconds of the run.
    pub seconds: f64,
    /// The user and system CPU seconds of the process.
    pub cpu_seconds: f64,
    /// The peak anonymous memory use, as sampled, in bytes.
    pub peak_memory_bytes: u64,
    /// The files of the output; they are added when the record is written.
    #[serde(default, skip_serializing)]
    pub files: Vec<String>,
}

impl RunReport {
    /// Returns the rate of the run in megabytes of text per second.
    pub fn megabytes_per_second(&self) -> f64 {
        self.documents.megabytes() / self.seconds.max(1e-3)
    }

    /// Returns the first path below the output folder, as recorded, that leads out of the folder. dupsift records no such path.
    pub fn leads_out(&self) -> Option<String> {
        let labels = self.algorithms.iter().map(|one| one.label.as_str()).filter(|label| !is_plain(label));
        let folders = self.corpus.iter().flat_map(|corpus| corpus.folders.keys()).map(String::as_str);
        let files = self.files.iter().map(String::as_str).chain(folders);
        labels.chain(files.filter(|file| !is_inside(file))).next().map(str::to_owned)
    }
}

/// Records a guard that fired.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct GuardReport {
    /// The name of the guard. If an option sets the limit of the guard, the guard has the name of the option.
    pub name: String,
    /// The measured value.
    pub measured: f64,
    /// The limit that was exceeded.
    pub limit: f64,
    /// A sentence that describes the finding.
    pub sentence: String,
    /// Whether the guard held the result back.
    pub held: bool,
}

impl GuardReport {
    /// Returns the fired guard if it is a guard on the input, and `None` otherwise.
    pub fn over_reading(&self) -> Option<Fired> {
        let name = OVER_READING.into_iter().find(|name| *name == self.name)?;
        Some(Fired { name, measured: self.measured, limit: self.limit, sentence: self.sentence.clone() })
    }
}

/// Records the acceptance of a result that was held back.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct AcceptedReport {
    /// The time when the result was accepted, in RFC 3339 format.
    pub time: String,
    /// The reason given for accepting the result.
    pub reason: Option<String>,
    /// The name of the folder that holds the accepted result.
    pub output: String,
}

/// Records the settings that affect signatures.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct RecipeReport {
    /// The algorithms with all parameters, as `--algorithms` accepts them.
    pub algorithms: Vec<String>,
    /// The tokenizer, the normalization, and their versions.
    pub text: String,
    /// Whether exact copies are included in the statistics.
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
    /// The name of the file, as used in ids.
    pub file: String,
    /// The path from which the file was read.
    pub path: String,
    /// The number of rows that take part: all rows of the file, or the rows within `--limit`.
    pub rows: u64,
    /// The size of the file on disk, in bytes.
    pub bytes: u64,
    /// The size, times, device and inode of the file when it was read. If these values differ later, the path may refer to a different
    /// file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stamp: String,
    /// The ETag of an object in a store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// The version of an object in a store that reports versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// A hash of the data that the first pass read from the file. If the stamp differs later, the hash decides whether the file counts as
    /// unchanged. The hash is null if no process read the complete file.
    #[serde(default)]
    pub contents: Option<String>,
    /// The encoding of the file, if `--encoding auto` had to detect it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// Whether the format makes it impossible to copy only some of the file's rows. `corpus` and `dupsift apply` reject such a file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_copied: bool,
    /// The number of removed documents in the file.
    pub removed: u64,
    /// The number of removed documents that are exact copies of indexed documents.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub seen: u64,
    /// The number of rejected rows in the file.
    #[serde(default)]
    pub rejected: u64,
}

/// Records the corpus files that were written. `rows = kept + removed + rejected`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct CorpusReport {
    /// The value of `--corpus`.
    pub written: String,
    /// The number of rows that take part.
    pub rows: u64,
    /// The number of kept rows.
    pub kept: u64,
    /// The number of removed rows.
    pub removed: u64,
    /// The number of rejected rows, which are in none of the written files.
    pub rejected: u64,
    /// The written files, by folder.
    pub folders: BTreeMap<String, FolderReport>,
}

/// Records the repeated passages in kept documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct CutReport {
    /// The value of `--cut`.
    pub cut: String,
    /// The number of passages that were cut.
    pub passages: u64,
    /// The number of documents from which passages were cut.
    pub documents: u64,
    /// The number of characters in the passages.
    pub characters: u64,
    /// The number of bytes in the passages.
    pub bytes: u64,
    /// The number of characters, before cutting, in the documents that were kept.
    pub characters_kept: u64,
    /// The number of documents that were removed because too little text remained.
    pub emptied: u64,
    /// The number of units or runs that are kept because it is not known whether their first copy is. They depend on a long chain or a
    /// circle of passages, each of which overlaps the next.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub undecided: u64,
    /// The number of kept documents that have several lines and no blank line, counted with `--cut paragraphs`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub without_blank_lines: u64,
    /// The passages with the largest product of bytes and copies; passages with the same text are listed only once.
    pub costliest: Vec<CostlyPassage>,
}

impl CutReport {
    /// Returns warnings about the passages that were not found.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.passages == 0 && self.without_blank_lines > 0 {
            warnings.push(format!(
                "no repeated paragraph was found, but {documents_have} several lines and no blank line; if each line is a paragraph, use `cut=lines`",
                documents_have = counted_as(self.without_blank_lines, "document has|documents have")
            ));
        }
        if self.undecided > 0 {
            warnings.push(format!(
                "{passages_were} kept, because they depend on a long chain or a circle of overlapping repeats; another run over deduped/ finds them",
                passages_were = counted_as(self.undecided, "repeat was|repeats were")
            ));
        }
        warnings
    }

    /// Returns the share of the kept text that is cut, from 0 to 1.
    pub fn share(&self) -> f64 {
        self.characters as f64 / self.characters_kept.max(1) as f64
    }
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
    /// The id of a document from which the passage was cut.
    pub id: String,
    /// The id of the document with the first copy.
    pub first_id: String,
    /// The file of the document with the first copy.
    pub first_file: String,
}

/// Records a folder with copies of the corpus files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct FolderReport {
    /// The number of files in the folder. There is one file for each corpus file that has at least one row in the folder.
    pub files: u64,
    /// The number of these files that lose no rows and are copied byte for byte.
    pub whole: u64,
    /// The number of rows in these files.
    pub rows: u64,
    /// The size of these files on disk, in bytes.
    pub bytes: u64,
    /// The files whose paths were too long for the file system: the full path in the output, and the path that was written.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shortened: BTreeMap<String, String>,
}

impl FolderReport {
    /// Records the path of a file if it was shortened.
    pub(crate) fn shortened(&mut self, path: String, written: String) {
        if path != written {
            self.shortened.insert(path, written);
        }
    }

    /// Warns if paths were shortened.
    pub(crate) fn warn_of_shortened(&self) {
        if let Some((path, written)) = self.shortened.first_key_value() {
            let more = match self.shortened.len() - 1 {
                0 => String::new(),
                more => format!(" (and {} more, see `shortened` in the record)", thousands(more as u64)),
            };
            tracing::warn!("the name {path} is too long for the file system; the file is {written}{more}");
        }
    }
}

/// Holds the document counts. `rows = used + rejected`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct DocumentsReport {
    /// The number of rows in all usable files, or in the sample.
    pub rows: u64,
    /// The number of rows in all usable files, if only a sample was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled_from: Option<u64>,
    /// The number of rows that contain text.
    pub used: u64,
    /// The rejected rows.
    #[serde(flatten)]
    pub rejections: RejectionsReport,
    /// The number of extra copies: exact copies, not counting the first document of each set.
    pub extra_copies: u64,
    /// The number of rows with parts that cannot be read, such as pictures in a conversation. Such rows are compared only with exact copies.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub with_unread_parts: u64,
    /// The number of rows with text that contains no letter or digit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub without_words: u64,
    /// The number of bytes of text that were read.
    pub text_bytes: u64,
    /// The total size, in bytes, of the lines decompressed from the input files. The total equals the uncompressed size of the files if
    /// each file was read once, to its end.
    #[serde(default)]
    pub unpacked_bytes: u64,
}

impl DocumentsReport {
    /// Returns the size of all texts in megabytes.
    pub fn megabytes(&self) -> f64 {
        self.text_bytes as f64 / 1e6
    }

    /// Returns a sentence for each kind of text that can be compared only in part.
    pub fn remarks(&self) -> impl Iterator<Item = String> {
        let unread = input_notes::unread_parts(self.with_unread_parts);
        unread.into_iter().chain(input_notes::without_words(self.without_words))
    }
}

/// Records the ids of the corpus.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct IdsReport {
    /// The type in which ids are written.
    pub written_as: String,
    /// The reason for this type if it differs from the type of the column, or a note that rows are named FILE#ROW.
    pub note: Option<String>,
    /// A column that probably holds ids, if all rows are named FILE#ROW.
    #[serde(default)]
    pub likely_column: Option<String>,
    /// The number of rows without an id, which are named FILE#ROW.
    pub missing: u64,
    /// The number of rows with the same id as an earlier row.
    pub duplicates: u64,
}

/// Records the counts of the first pass.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct StatisticsReport {
    /// N, the number of documents with at least one word.
    pub documents: u64,
    /// The number of words in all documents.
    pub tokens: u64,
    /// The number of distinct words.
    pub words: u64,
    /// The number of distinct features (sentences, segments) that occur in at least two documents.
    pub repeated_features: u64,
    /// A hash that identifies these counts, in hexadecimal.
    pub snapshot: String,
}

/// Records counts that come from another corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct FrozenReport {
    /// The output from which the counts were read.
    pub from: String,
    /// The number of documents for which table schemes are chosen.
    pub documents_planned: u64,
}

/// Records the results of one algorithm.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct AlgorithmReport {
    /// The label of the algorithm, which is also the name of its output folder.
    pub label: String,
    /// The name of the algorithm with all parameters.
    pub recipe: String,
    /// The verification method, if any.
    pub verify: Option<String>,
    /// The number of documents with a signature.
    pub signed: u64,
    /// The number of documents without a signature, by reason.
    pub unsigned: BTreeMap<String, u64>,
    /// The number of notable documents, by kind.
    pub flagged: BTreeMap<String, u64>,
    /// The CPU seconds spent computing this algorithm's signatures, estimated from a sample of the documents. The time for reading
    /// documents and splitting them into words is excluded, because all algorithms share this work.
    pub sign_seconds: f64,
    /// The CPU seconds spent on learning and on grouping, checking and writing the pairs of this algorithm.
    pub pair_cpu_seconds: f64,
    /// The number of signature rows.
    pub rows: u64,
    /// The number of rows that `--prefilter` dropped because no other row has the same key.
    pub prefiltered_rows: u64,
    /// The number of bytes per signature row in the shuffle.
    pub row_bytes: u64,
    /// The number of bytes of signature rows spilled to disk.
    pub spilled_bytes: u64,
    /// The number of row comparisons that were made.
    pub compared: u64,
    /// The number of row comparisons skipped because of `--max-candidates`.
    pub left_out: u64,
    /// The approximate number of skipped comparisons between distant documents in large groups of similar documents, such as pages from
    /// the same template, and of candidate pairs that were not verified because both documents have many nearer candidates.
    #[serde(default)]
    pub left_out_of_large_groups: u64,
    /// The number of distinct candidate pairs before verification.
    pub candidates: u64,
    /// The number of candidates that the check left undecided, because comparing such long and different texts would take more than about a
    /// second. These candidates do not count as pairs.
    #[serde(default)]
    pub undecided: u64,
    /// The number of pairs that passed every check but were removed by `margin=`. Exact copies are counted once.
    pub beyond_margin: u64,
    /// The number of pairs by relation, with exact copies counted once; null for algorithms that do not classify pairs.
    pub relations: Option<RelationsReport>,
    /// The number of pairs, including pairs that were not written. Each exact copy counts once, as a pair with the best document that has
    /// the same text.
    pub pairs: u64,
    /// The number of pairs without an indexed document; null if the run uses no index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs_of_batch: Option<u64>,
    /// The number of pairs that were written.
    pub pairs_written: u64,
    /// The number of pairs of documents that share a template but are not duplicates.
    #[serde(default)]
    pub templates: u64,
    /// The number of written pairs whose documents share a template.
    #[serde(default)]
    pub templates_written: u64,
    /// The number of groups with more distinct texts than `--max-group` allows. For such a group, only the pairs that include its best
    /// document are written.
    pub large_groups: u64,
    /// The number of clusters of two or more documents.
    pub clusters: u64,
    /// The number of documents in clusters.
    pub clustered: u64,
    /// The size of the largest cluster.
    pub largest_cluster: u64,
    /// The number of pairs of unrelated documents that are expected to have equal signatures by chance, computed from the number of bits.
    /// This number is present only for algorithms that test signatures for equality.
    pub expected_chance_collisions: Option<f64>,
    /// A hash of the learned model, in hexadecimal; null for algorithms that learn nothing.
    pub model: Option<String>,
    /// The share of pairs that become candidates, by Jaccard similarity of the shingles, if the algorithm uses MinHash bands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_recall: Option<BTreeMap<String, f64>>,
    /// The choices that the algorithm made automatically.
    pub notes: Vec<String>,
}

impl AlgorithmReport {
    /// Records the cost of comparisons.
    pub fn note_comparisons(&mut self, comparisons: Compared) {
        self.compared = comparisons.made;
        self.left_out = comparisons.left_out;
        self.left_out_of_large_groups = comparisons.far;
    }

    /// Returns the number of documents without a signature.
    pub fn without_signature(&self) -> u64 {
        self.unsigned.values().sum()
    }

    /// Returns the number of rows in tables of duplicates, which contain all written pairs except pairs of documents that merely share a
    /// template.
    pub fn duplicates_written(&self) -> u64 {
        self.pairs_written.saturating_sub(self.templates_written)
    }
}

/// Counts the pairs of an algorithm by relation, with exact copies counted once.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct RelationsReport {
    /// The number of pairs of versions of the same text.
    pub version: u64,
    /// The number of pairs in which the larger document contains the smaller one.
    pub contained: u64,
    /// The number of pairs of pages from the same template with different facts. These pairs form no clusters and cause no removals.
    pub template: u64,
    /// The number of pairs of pages from the same template that are not reported, because their similarity is below `templates=`.
    pub templates_left_out: u64,
    /// The number of pairs whose next-best search ended early because too many documents are similar to both documents of the pair. The
    /// best document found before the end counts as the next best.
    pub cut_short: u64,
    /// The number of `version` and `contained` pairs in which both documents are kept because their titles, code or labels refer to different things.
    pub other_titles: u64,
}

/// Records the removed documents.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct RemovalReport {
    /// The pairs on which removal is based.
    pub decide: String,
    /// The order of preference, which determines the document that is kept.
    pub keep: String,
    /// The type as which each `keep` column is compared: `numbers` or `text`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub keep_columns: BTreeMap<String, String>,
    /// The number of removed documents.
    pub removed: u64,
    /// The number of kept documents; `kept + removed = documents.used`.
    pub kept: u64,
    /// The number of removed documents, by reason.
    pub reasons: BTreeMap<String, u64>,
    /// The number of near-duplicates: removed documents that are not exact copies of the kept document.
    #[serde(default)]
    pub near_duplicates: u64,
    /// The number of removed near-duplicates that have so many near-duplicates of their own that they look like pages from the same
    /// template.
    #[serde(default)]
    pub of_templates: u64,
    /// The number of comparisons with kept documents that were skipped because of `--max-candidates` (only for `all` and `at-least:K`).
    pub left_out: u64,
    /// The condition for removing a document; `pair` in records before version 3.
    #[serde(default)]
    pub remove_if: String,
    /// The number of documents that are kept although they form a pair with another kept document, by reason.
    #[serde(default)]
    pub stays: BTreeMap<String, u64>,
    /// The number of kept documents that form a pair with a document in `stays` but were not compared with it.
    #[serde(default)]
    pub not_looked_at: u64,
    /// The number of bytes of text in removed exact copies.
    #[serde(default)]
    pub copied_bytes: u64,
}

impl RemovalReport {
    /// Returns the number of documents that are kept although they form a pair with another kept document.
    pub fn kept_similar(&self) -> u64 {
        self.stays.values().sum()
    }
}
