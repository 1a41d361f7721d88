//! All algorithms, and the steps that turn their rows into pairs and removals.
//!
//! This crate is part of dupsift; ARCHITECTURE.md in the repository describes how the crates fit together.

// Tests write files into their own folders, and use the platform's math functions.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod algorithm;
pub mod alone;
pub mod corpus;
pub mod judge;
pub mod measure;
pub mod recipe;
pub mod steps;

#[cfg(test)]
mod testing;
