//! Defines the record of a contamination search.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use dupsift_algorithms::steps::guard::holds;
use dupsift_engine::pass::{
    BadInputReport, CorpusReport, GuardReport, Guarded, OtherInputReport, RejectionsReport, StageReport,
};

/// The name of the guard that fires if documents with public items are kept.
pub(crate) const PUBLIC_ITEMS: &str = "public-documents";

/// Holds the contents of `run.json` for a contamination search.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct ContaminationReport {
    /// The version of this record and of the tables next to it.
    pub schema_version: u32,
    /// The version of the program.
    pub dupsift: String,
    /// The files, folders or globs of the evaluation set.
    pub against: Vec<String>,
    /// The number of tokens in an n-gram.
    pub ngram: u32,
    /// The lowest score at which a document counts as contaminated.
    pub threshold: f64,
    /// Whether spans were cut from documents that were otherwise kept.
    pub cut_spans: bool,
    /// The text options that affect tokens.
    pub text: String,
    /// The input files that could not be used.
    pub bad_inputs: Vec<BadInputReport>,
    /// The files of the evaluation set.
    pub other_inputs: Vec<OtherInputReport>,
    /// The number of unread files in the input folders, by file extension.
    pub unread: BTreeMap<String, u64>,
    /// The folders that were found inside the inputs but skipped because dupsift wrote them. The value describes the contents of the
    /// folder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped_folders: BTreeMap<String, String>,
    /// The number of rows in all usable files of the corpus.
    pub rows: u64,
    /// The rejected rows; see `rejected/`.
    #[serde(flatten)]
    pub rejections: RejectionsReport,
    /// The number of documents that were searched.
    pub documents: u64,
    /// The total size of the text in bytes.
    pub text_bytes: u64,
    /// The number of items, including items that are too short.
    pub items: u64,
    /// The maximum number of bytes that the items took in memory.
    pub item_bytes: u64,
    /// The evaluation sets, by name.
    pub suites: Vec<SuiteReport>,
    /// The number of documents above which an item without its answer is public.
    pub public_documents: u64,
    /// The number of documents that contain an item whose score reaches the threshold.
    pub contaminated: u64,
    /// The number of documents that were kept although they contain a public item whose score reaches the threshold.
    pub kept_public: u64,
    /// The number of documents that were kept although they contain a variant of an item.
    pub kept_variants: u64,
    /// The number of items that were not searched for because all their n-grams are in too many other items.
    pub shared_items: u64,
    /// The number of rows in `contaminated/`.
    pub found: u64,
    /// The counts for the written corpus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corpus: Option<CorpusReport>,
    /// The items with the highest scores in each evaluation set.
    pub examples: Vec<ExampleReport>,
    /// The public items, most frequent first.
    pub public: Vec<ExampleReport>,
    /// One entry per stage, in order.
    pub stages: Vec<StageReport>,
    /// The guards that fired. The exit code is 3, or 4 if a guard prevented publication of the result.
    pub guards: Vec<GuardReport>,
    /// Other warnings.
    pub warnings: Vec<String>,
    /// The wall-clock seconds of the run.
    pub seconds: f64,
    /// The user and system CPU seconds of the process.
    pub cpu_seconds: f64,
    /// The peak anonymous memory use, as sampled, in bytes.
    pub peak_memory_bytes: u64,
}

/// Records one evaluation set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct SuiteReport {
    /// The name of the evaluation set.
    pub suite: String,
    /// The number of items in the evaluation set.
    pub items: u64,
    /// The number of items with too few tokens, which are not searched for.
    pub too_short: u64,
    /// The number of public items, that is, items that many documents contain without their answer and without other items.
    pub public: u64,
    /// The number of items with a score of at least 0.8 in at least one document.
    pub found_80: u64,
    /// The number of items with a score of at least 0.5 in at least one document.
    pub found_50: u64,
    /// The number of documents in which at least one item scores 0.8 or more.
    pub documents_80: u64,
    /// The number of documents in which at least one item scores 0.5 or more.
    pub documents_50: u64,
    /// The number of documents that contain a variant of at least one item.
    pub variants: u64,
}

impl SuiteReport {
    /// Returns the numbers in the column order of `suites/`.
    pub fn numbers(&self) -> [u64; 8] {
        let Self { items, too_short, public, found_80, found_50, documents_80, documents_50, variants, .. } = *self;
        [items, too_short, public, found_80, found_50, documents_80, documents_50, variants]
    }
}

/// Records an item and a document that contains it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct ExampleReport {
    /// The name of the evaluation set.
    pub suite: String,
    /// The id of the item.
    pub eval_id: String,
    /// The beginning of the item's text.
    pub item: String,
    /// The byte ranges in `item` that the span covers, each as the first byte and the byte after the last byte.
    pub covered: Vec<[u32; 2]>,
    /// The number of documents in which the item's score is at least 0.5.
    pub documents: u64,
    /// The id of the document with the highest score.
    pub id: String,
    /// The highest score.
    pub score: f64,
    /// Whether the item's answer is next to the span; `None` if the item has no answer.
    pub answer_found: Option<bool>,
    /// The text before the span, the beginning of the span, and the text after the span.
    pub texts: [String; 3],
}

impl Guarded for ContaminationReport {
    fn guards(&self) -> &[GuardReport] {
        &self.guards
    }

    fn other_inputs(&self) -> &[OtherInputReport] {
        &self.other_inputs
    }

    /// The guard on public items only warns.
    fn would_hold(&self) -> bool {
        self.guards.iter().any(|guard| guard.name != PUBLIC_ITEMS && holds(&guard.name))
    }
}
