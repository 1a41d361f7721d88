//! Implements the first part of a run, which makes passes over the corpus until every document has its signatures.

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
pub mod passes;
pub(crate) mod prefilter;
pub(crate) mod recall;
pub mod saved_counts;
pub mod saved_inputs;
pub mod saved_rows;
pub mod sign;
pub mod signed_state;
