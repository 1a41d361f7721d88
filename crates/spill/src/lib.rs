//! Sorts rows within the memory limit and stores them so that they can outlive the process.
//!
//! This crate is part of dupsift; ARCHITECTURE.md in the repository describes how the crates fit together.

// Tests write files to their own folders and use the platform's math library.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod bloom;
pub mod shuffle;
