//! Compares, evaluates and explains finished runs.
//!
//! There is a folder for each answer: what two documents have to do with each other (`explain`), which algorithm suits a corpus
//! (`compare`), how good a run is against labels (`evaluate`), what a run did (`review`), and which documents and clusters there are
//! (`list`). Each of them builds one serializable value, which the terminal, `--json`, Python and the pages render. All of them read the
//! output of a run through `finished`. The engine does not depend on this crate; the function that writes the
//! page ([`with_page`]) is passed to it.
//!
//! This crate is part of dupsift; ARCHITECTURE.md in the repository describes how the crates fit together.

// Tests write files to their own folders and use the platform's math library.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod accept;
mod apply;
mod compare;
mod comparison;
mod confidence;
mod doubt;
mod evaluate;
mod explain;
pub(crate) mod finished;
mod list;
mod outcome;
mod review;
mod sample;
mod whole_corpus;

pub use accept::{Accepted, accept, reject};
pub use apply::applicable::{Applicable, applicable, refuse_sample};
pub use apply::rules::{RuleFigures, RuleTable, planned, rules};
pub use apply::{ApplyOptions, Survivors, apply, survivors};
pub use compare::{CompareOptions, Compared, check as check_compare, compare};
pub use comparison::*;
pub use evaluate::evaluation::*;
pub use evaluate::truth::files::{Label, TruthFiles};
pub use evaluate::{evaluate, truth_quotes};
pub use explain::choice::{Choice, explain_any};
pub use explain::explain;
pub use explain::explanation::*;
pub use finished::Finished;
pub use finished::applied::AppliedReport;
pub use finished::pool::Agreement;
pub use list::*;
pub use outcome::Outcome;
pub use review::page::{NO_TEXTS, PAGE, Page, with_page, write_again};
pub use review::{
    AlgorithmReview, BINS, Banding, Crossing, Facet, LargeCluster, Member, PairComparison, PairRelation, PairSample,
    RemovalSample, Review, SAMPLE_BINS, ShownText, SourceReview, bin_range, sample_range,
};
pub use sample::*;
pub use whole_corpus::WholeCorpus;
