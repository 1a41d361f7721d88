//! Decides which documents are removed, and writes the tables of the output. This is the third part of a run.

pub mod attributes;
pub(crate) mod clusters;
pub mod corpus_files;
pub mod decide;
pub mod last_reading;
pub(crate) mod look_ahead;
pub mod other_input;
pub mod output;
pub(crate) mod pairs;
pub(crate) mod passages;
pub mod removals;
pub mod stored_texts;
pub mod tables;
