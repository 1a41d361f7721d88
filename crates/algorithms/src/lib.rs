//! All algorithms, and the steps that turn their rows into pairs and removals.
//!
//! A part of dupsift; ARCHITECTURE.md of the repository says how the parts fit together.

// Tests write files into their own folders, and use the platform's math functions.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod algorithm;
pub mod corpus;
pub mod measure;
pub mod stage;
