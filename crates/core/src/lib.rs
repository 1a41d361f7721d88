//! Provides errors, hash functions, rows and pairs, and safe access to files.
//!
//! This crate is part of dupsift; ARCHITECTURE.md in the repository describes how the crates fit together.

// Tests write files to their own folders and use the platform's math functions.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod allocator;
pub mod cpu;
pub mod doc;
pub mod encoding;
pub mod error;
pub mod float;
pub mod guard;
pub mod hash;
pub mod number;
pub mod row;
pub mod safe_fs;
pub mod shown;
pub mod unread;
