//! Holds the commands that make a single pass over a corpus: `contaminated`, `stream` and `purify`.
//!
//! This crate is part of dupsift; ARCHITECTURE.md in the repository describes how the crates fit together.

// Tests write files to their own folders and use the platform's math library.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod contaminated;
pub mod purify;
pub mod stream;
