//! How indexed documents take part in a run: which ones, under which numbers, and which pairs are new.

pub(crate) mod fresh;
pub mod guests;
pub mod meeting;
