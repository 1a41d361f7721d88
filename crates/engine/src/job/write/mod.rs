//! Writes the output: reads the ids of the documents that appear in it, and writes its tables and files. This is the last part of a run.

pub mod attributes;
pub(crate) mod clusters;
pub mod corpus_files;
mod describe;
pub mod last_pass;
pub mod other_input;
pub mod output;
pub(crate) mod pairs;
pub(crate) mod passages;
pub mod removals;
pub mod stored_texts;
pub mod tables;
