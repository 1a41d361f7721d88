//! Implements the first part of a run: each pass over the corpus records data about each document, until every document has signatures.
//! `passes` in the folder above decides which passes are made.

pub mod copies;
pub mod count;
pub(crate) mod document_columns;
pub(crate) mod headings;
pub mod intake;
pub mod keep;
pub mod keep_column;
mod keep_number;
pub mod learn;
pub mod one_pass;
pub(crate) mod prefilter;
pub(crate) mod recall;
pub mod saved_counts;
pub mod saved_inputs;
pub mod saved_rows;
pub mod sign;
pub mod signed_state;
