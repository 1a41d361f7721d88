//! dupsift sifts duplicates out of document corpora; ARCHITECTURE.md tells the story, this crate is the house.
//!
//! Floors import downward only: `allocator cpu encoding error float guard row hash` / `text bloom batch shuffle` / `purify corpus measure io` / `algorithm` / `stage` /
//! `job` / `cli report`. A test reads the `use` lines and holds that.

pub mod algorithm;
pub mod allocator;
pub mod batch;
pub mod bloom;
pub mod cli;
pub mod corpus;
pub mod cpu;
pub mod encoding;
pub mod error;
pub mod float;
pub mod guard;
pub mod hash;
pub mod io;
pub mod job;
pub mod measure;
pub mod purify;
pub mod report;
pub mod row;
pub mod shuffle;
pub mod stage;
pub mod text;
