//! Describes how a file is copied: the rows, the edits and the new columns of the copy.

pub(crate) mod added;
pub mod copying;
pub(crate) mod edits;
