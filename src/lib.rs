//! dupsift removes near-duplicates from document corpora: it reads Parquet, JSON lines or web archives and writes pairs, clusters and a
//! removal list. It offers 31 algorithms, from exact matching to shingles, bit vectors and trained models, for text in any language; they are
//! tuned for Chinese, Russian and English.
//!
//! The command line and the Python package are built on this library. This documentation is for Rust programmers.
//!
//! # Run a job
//!
//! A [`Job`] does the same as a command: [`Job::run`] the same as `dupsift run`, [`Job::contaminated`], [`Job::stream`] and [`Job::purify`]
//! the same as the commands of these names. It stays within a memory limit, and [`Job::run`] resumes if an earlier run was killed. The
//! output folder appears complete or not at all.
//!
//! ```
#![doc = include_str!("../examples/run.rs")]
//! ```
//!
//! # Sign a text
//!
//! [`sign`] returns the signature of one text, and [`similarity`] the similarity of two texts, for algorithms and measures that need no
//! corpus.
//!
//! ```
#![doc = include_str!("../examples/sign.rs")]
//! ```
//!
//! # Add an algorithm
//!
//! An algorithm is a file in [`algorithm`] with its facts, its parameters and the method. With two more lines in `algorithm/mod.rs`,
//! everything that loops over the algorithms includes it: runs, help, parameter checks, tests. This is the complete file of an algorithm
//! with one key per document; docs/dev/add-an-algorithm.md has the steps:
//!
//! ```
#![doc = include_str!("../crates/algorithms/src/algorithm/skeleton.rs")]
//! ```
//!
//! ARCHITECTURE.md explains the purpose of each crate in this workspace. The items above are the interface; Python, tests and benchmarks
//! use the crates directly.

// Tests write files into their own folders.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub use dupsift_algorithms::algorithm;
pub use dupsift_algorithms::alone::{Signature, SignatureRow, sign, similarity};
pub use dupsift_algorithms::recipe::Recipe;
pub use dupsift_commands::contaminated::ContaminationReport;
pub use dupsift_commands::purify::Purified;
pub use dupsift_commands::stream::StreamReport;
pub use dupsift_core::error;
pub use dupsift_engine::job::RunReport;

pub use builder::Job;
pub use error::{Error, Result};
#[cfg(feature = "report")]
#[doc(hidden)]
pub use held::{accept, reject};
#[doc(hidden)]
pub use start::{estimate, start, start_sample, start_with};

mod builder;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[cfg(feature = "report")]
mod held;
#[cfg(feature = "report")]
#[doc(hidden)]
pub mod report;
mod start;
