//! How documents of an index take part in a run: which of them, under which numbers, and which pairs are new.

pub(crate) mod fresh;
pub mod guests;
pub mod meeting;
