//! The record of a search for contamination.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine::StageReport;
use crate::job::Guarded;
use crate::job::run_report::{BadInputReport, CorpusReport, GuardReport, OtherInputReport};
use crate::reading::RejectionsReport;

/// `run.json` of a search for contamination.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct ContaminationReport {
    /// Version of this record and of the tables beside it.
    pub schema_version: u32,
    /// Version of the program.
    pub dupsift: String,
    /// Files, folders or globs of the evaluation set.
    pub against: Vec<String>,
    /// Tokens of an n-gram.
    pub ngram: u32,
    /// The score from which on a document is contaminated.
    pub threshold: f64,
    /// Whether spans were cut, and the rest of their documents kept.
    pub cut_spans: bool,
    /// What tokens depend on.
    pub text: String,
    /// Input files that could not be used at all.
    pub bad_inputs: Vec<BadInputReport>,
    /// The evaluation set as it was read.
    pub other_inputs: Vec<OtherInputReport>,
    /// Files of the inputs that are not read, by the endings of their names.
    pub unread: BTreeMap<String, u64>,
    /// Folders below the inputs that were skipped because dupsift wrote them, each with what it holds.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped_folders: BTreeMap<String, String>,
    /// Rows of all usable files of the corpus.
    pub rows: u64,
    /// Rows that were rejected, see `rejected/`.
    #[serde(flatten)]
    pub rejections: RejectionsReport,
    /// Documents that were searched.
    pub documents: u64,
    /// Bytes of their texts.
    pub text_bytes: u64,
    /// Items, public and too short ones among them.
    pub items: u64,
    /// Bytes that the items took in memory, at most.
    pub item_bytes: u64,
    /// The evaluation sets, by name.
    pub suites: Vec<SuiteReport>,
    /// Documents with an item that has the threshold or more.
    pub contaminated: u64,
    /// Rows of `contaminated/`.
    pub found: u64,
    /// The corpus that was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corpus: Option<CorpusReport>,
    /// For each evaluation set the items with the highest scores.
    pub examples: Vec<ExampleReport>,
    /// Items that more documents have than one evaluation set explains, the most frequent ones first.
    pub public: Vec<ExampleReport>,
    /// One entry a stage, in order.
    pub stages: Vec<StageReport>,
    /// Guards that fired: exit code 3, or 4 if one held the result back.
    pub guards: Vec<GuardReport>,
    /// What a reader should know besides.
    pub warnings: Vec<String>,
    /// Wall-clock seconds of the run.
    pub seconds: f64,
    /// User and system CPU seconds of the process.
    pub cpu_seconds: f64,
    /// Highest anonymous memory that was sampled, in bytes.
    pub peak_memory_bytes: u64,
}

/// One evaluation set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct SuiteReport {
    /// Its name.
    pub suite: String,
    /// Its items.
    pub items: u64,
    /// Items with too few tokens, which are not searched for.
    pub too_short: u64,
    /// Items that are in more than 100 documents, which are in no count below.
    pub public: u64,
    /// Items with a score of 0.8 or more in some document.
    pub found_80: u64,
    /// Items with a score of 0.5 or more in some document.
    pub found_50: u64,
    /// Documents with an item that has 0.8 or more.
    pub documents_80: u64,
    /// Documents with an item that has 0.5 or more.
    pub documents_50: u64,
}

impl SuiteReport {
    /// Returns the numbers, in the order of the columns of `suites/`.
    pub fn numbers(&self) -> [u64; 7] {
        [self.items, self.too_short, self.public, self.found_80, self.found_50, self.documents_80, self.documents_50]
    }
}

/// An item with a document that contains it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct ExampleReport {
    /// The evaluation set.
    pub suite: String,
    /// The item.
    pub eval_id: String,
    /// The beginning of its text.
    pub item: String,
    /// What the span has of it, in bytes of this beginning: first byte, and the one after the last.
    pub covered: Vec<[u32; 2]>,
    /// Documents in which its score is 0.5 or more.
    pub documents: u64,
    /// The document with the highest score.
    pub id: String,
    /// That score.
    pub score: f64,
    /// Whether the answer is beside the span; `None` if the item has none.
    pub answer_found: Option<bool>,
    /// The text before the span, the beginning of the span, and the text after it.
    pub texts: [String; 3],
}

impl Guarded for ContaminationReport {
    fn guards(&self) -> &[GuardReport] {
        &self.guards
    }

    fn other_inputs(&self) -> &[OtherInputReport] {
        &self.other_inputs
    }
}
