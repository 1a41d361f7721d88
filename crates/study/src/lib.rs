//! Compares, evaluates and explains finished runs.
//!
//! This crate is part of dupsift; ARCHITECTURE.md in the repository describes how the crates fit together.

// Tests write files to their own folders and use the platform's math library.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod purify;
pub mod study;
