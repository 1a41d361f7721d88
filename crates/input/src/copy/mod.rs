//! Says what a copy of a file has: which rows, which edits, which new columns.

pub(crate) mod added;
pub mod copying;
pub(crate) mod edits;
