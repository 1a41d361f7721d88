//! Writes the output: its tables and files, and the record of the run. This is the last part of a run.

pub mod attributes;
pub(crate) mod clusters;
pub mod corpus_files;
mod describe;
pub mod other_input;
pub(crate) mod output;
pub(crate) mod pairs;
pub(crate) mod passages;
pub mod rejected;
pub mod removals;
mod statistics;
pub mod stored_texts;
pub(crate) mod tables;
