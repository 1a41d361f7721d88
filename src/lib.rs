//! dupsift removes near-duplicates from document corpora: it reads Parquet, JSON lines or web archives and writes pairs, clusters and a
//! removal list. It offers thirty algorithms for Chinese, Russian and English text, from exact matching to shingles, bit vectors and
//! trained models.
//!
//! The command line and the Python package are built on this library. This documentation is for Rust programmers.
//!
//! # Run a job
//!
//! A [`Job`] does the same as `dupsift run`: it stays within a memory limit, and resumes if an earlier run was killed. The output folder
//! appears complete or not at all.
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
//! This crate re-exports the crates on which it is built. ARCHITECTURE.md explains the purpose of each crate.

// Tests write files into their own folders.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub use dupsift_algorithms::algorithm;
#[doc(hidden)]
pub use dupsift_algorithms::{corpus, measure, recipe, steps};
#[doc(hidden)]
pub use dupsift_cluster as cluster;
pub use dupsift_core::error;
#[doc(hidden)]
pub use dupsift_core::{allocator, cpu, encoding, float, guard, hash, number, row, safe_fs};
#[doc(hidden)]
pub use dupsift_engine::{engine, job, options, reading, session};
#[doc(hidden)]
pub use dupsift_tables as tables;

/// Finds and reads input files, and publishes results.
pub mod io {
    pub use dupsift_input::*;
    pub use dupsift_publish::*;
}
#[doc(hidden)]
pub use dupsift_incremental as incremental;
#[doc(hidden)]
pub use dupsift_index as index;
#[doc(hidden)]
pub use dupsift_pages as pages;
#[doc(hidden)]
pub use dupsift_spill::{bloom, shuffle};
#[doc(hidden)]
pub use dupsift_study as study;
#[doc(hidden)]
pub use dupsift_text as text;

pub use builder::Job;
pub use dupsift_algorithms::alone::{Signature, SignatureRow, sign, similarity};
pub use dupsift_commands::contaminated::ContaminationReport;
pub use dupsift_commands::purify::Purified;
pub use dupsift_commands::stream::StreamReport;
pub use error::{Error, Result};
pub use job::RunReport;
pub use recipe::Recipe;
#[doc(hidden)]
pub use start::{estimate, start, start_sample, start_with};

mod builder;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[cfg(feature = "report")]
#[doc(hidden)]
pub mod report;
mod start;
