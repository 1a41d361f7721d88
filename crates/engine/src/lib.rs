//! Runs: the order of steps, threads, memory and saved state.
//!
//! A part of dupsift; ARCHITECTURE.md of the repository says how the parts fit together.

// Tests write files into folders of their own, and compute with the library of the platform.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod contaminated;
pub mod engine;
pub mod job;
pub mod matching;
pub mod options;
pub mod reading;
pub mod session;
pub mod stream;
