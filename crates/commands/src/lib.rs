//! Holds the commands that are not runs and read a corpus with their own steps: `contaminated`, `stream` and `purify`.
//!
//! This crate is part of dupsift; ARCHITECTURE.md in the repository describes how the crates fit together.

// Tests write files to their own folders and use the platform's math library.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod contaminated;
pub mod purify;
pub mod stream;
