//! Which words, sentences and shingles has this text?
//!
//! A part of dupsift; ARCHITECTURE.md of the repository says how the parts fit together.

// Tests write files into folders of their own, and compute with the library of the platform.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod text;

// The files of the dictionary are compiled into the build script too, where these are modules of its root.
use dupsift_core::{cpu, float};
