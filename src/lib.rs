//! dupsift sifts duplicates out of document corpora; ARCHITECTURE.md tells the story, this crate is the house.
//!
//! Floors import downward only: `error row hash` / `text batch shuffle` / `corpus measure io` / `algorithm` / `stage` /
//! `job` / `cli report`. A test reads the `use` lines and holds that.

pub mod error;
pub mod hash;
pub mod row;
pub mod text;
