//! Rows that stay within the memory limit and can outlive the process.
//!
//! A part of dupsift; ARCHITECTURE.md of the repository says how the parts fit together.

// Tests write files into folders of their own, and compute with the library of the platform.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod bloom;
pub mod shuffle;
