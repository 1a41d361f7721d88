//! Works with finished runs: renders the page, compares algorithms, evaluates runs against labeled pairs, and explains why two documents
//! are or are not a pair.
//!
//! These modules read the output of a run. The engine does not depend on them; the function that writes the page ([`with_page`]) is passed
//! to it.

mod accept;
mod advice;
mod applicable;
mod apply;
mod compare;
mod comparison_report;
mod copy_groups;
mod evaluate;
mod evaluated_clusters;
mod evaluated_removal;
mod evaluation_report;
mod explain;
mod explained_documents;
mod explained_rows;
mod explanation;
mod fate;
mod figures;
pub(crate) mod finished;
mod found;
mod judged;
mod oracle;
mod page;
mod pool;
mod relation_why;
mod review;
mod seek;
mod texts;
mod truth;
mod truth_files;
mod truth_ids;
mod verdicts;
mod windows;
mod written_pairs;

pub use accept::{Accepted, AcceptedPage, accept};
pub use applicable::{Applicable, applicable, refuse_sample};
pub use apply::{AppliedReport, ApplyOptions, Survivors, apply, survivors};
pub use compare::{CompareOptions, Compared, check as check_compare, compare};
pub use comparison_report::*;
pub use evaluate::{evaluate, truth_quotes};
pub use evaluation_report::*;
pub use explain::explain;
pub use explanation::*;
pub use finished::Finished;
pub use page::{NO_TEXTS, PAGE, Page, with_page, write_again};
pub use pool::{Agreement, MOST_POOLED, Pool, Pooled};
pub use review::{
    AlgorithmReview, BINS, ClusterReview, Crossing, Fate, LargeCluster, Member, PairComparison, PairRelation,
    PairSample, RemovalSample, RemovedReview, Review, SAMPLE_BINS, SHARES, ShownText, SourceReview, bin_range,
    sample_range,
};
pub use truth_files::{LABELS, Label, TruthFiles};

/// The judge of `compare`, for callers that parse its name.
pub use dupsift_algorithms::recipe::entries::{Entries, Entry};
pub use dupsift_algorithms::steps::judge::Judge;
