//! Carries out runs: manages the order of steps, the threads, the memory and the saved state.
//!
//! This crate is part of dupsift. ARCHITECTURE.md in the repository describes how the crates fit together.

// Tests write files to their own folders and use the platform's math library.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod classes;
pub mod engine;
pub mod job;
pub mod matching;
pub mod options;
pub mod pass;
pub mod reading;
pub mod session;
