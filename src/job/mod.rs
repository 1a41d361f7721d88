//! The local driver: it opens files, starts threads, keeps the memory budget and the order of stages.
//!
//! [`run()`] tells the story; each stage that touches files or threads has a file here, its arithmetic stands in `stage`.

mod accept;
mod advice;
mod budget;
mod category;
mod check;
mod classes;
mod clock;
mod clusters;
mod compare;
mod comparison_report;
mod contents;
mod copies;
mod count;
mod cuts;
mod decide;
mod describe;
mod document;
mod estimate;
mod evaluate;
mod evaluated_clusters;
mod evaluation_report;
mod evidence;
mod explain;
mod explained_rows;
mod explanation;
mod fate;
mod figures;
mod finished;
mod forward;
mod found;
mod gate;
mod group;
mod guards;
mod headings;
mod heard;
mod ids;
mod input_notes;
mod inputs;
mod intake;
mod judged;
mod keep;
mod keep_column;
mod last_reading;
mod learn;
mod linked;
mod links;
mod margin;
mod means;
mod member;
mod neighbours;
mod numbers;
pub mod options;
mod oracle;
mod output;
mod page;
mod page_elements;
mod pages;
mod pages_report;
mod pair_list;
mod pairs;
mod passes;
mod pool;
mod products;
mod progress;
mod purified;
mod purified_store;
mod purify_report;
mod reading;
mod recall;
mod rejected;
mod relate;
mod relation_why;
mod removals;
mod review;
mod room;
mod run;
mod run_report;
mod scratch;
mod seek;
mod sift;
mod sign;
mod sketches;
mod step;
mod stream;
mod stream_check;
mod stream_filter;
mod tables;
mod tell;
mod told_copies;
mod truth;
mod truth_ids;
mod verdicts;
mod verify;
mod windows;
mod workers;

pub use accept::{AcceptedPage, accept};
pub use category::{TrainingReport, train};
pub use check::check;
pub use clock::stage_at_hand;
pub use compare::{CompareOptions, Compared, check as check_compare, compare};
pub use comparison_report::*;
pub use estimate::{Estimate, estimate};
pub use evaluate::evaluate;
pub use evaluation_report::*;
pub use explain::explain;
pub use explanation::*;
pub use finished::Finished;
pub use guards::{Guarded, stands_in};
pub use inputs::{Inputs, input_endings, look};
pub use options::{Decide, Keep, KeepKey, RunOptions};
pub use page::{PAGE, Page, write_again};
pub use pages::{PagesOptions, purify};
pub use pages_report::PagesReport;
pub use pool::{Agreement, MOST_POOLED, Pool, Pooled};
pub use products::kept;
pub use progress::{Bar, Progress, Unit};
pub use purify_report::PurifyReport;
pub use review::{
    AlgorithmReview, BINS, ClusterReview, Crossing, LargeCluster, Member, PairSample, Review, SAMPLE_BINS, ShownText,
    SourceReview, bin_range, sample_range,
};
pub use run::run;
pub use run_report::*;
pub use stream::{StreamOptions, StreamReport, stream};
pub use stream_check::{check as check_stream, check_filter};

/// How a process ends that is asked to stop.
pub use crate::io::unfinished::{end, ends_by_itself};
/// What is left of runs that were never finished.
pub use crate::io::{Cleared, clean};
/// The judge of `compare`, for who types its name.
pub use crate::stage::contest::{Contest, Contestant};
pub use crate::stage::judge::Judge;

/// What a finished run leaves behind.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The record that stands in run.json.
    pub report: RunReport,
}
