//! How indexed documents take part in a run: which ones, under which numbers, and which pairs are new.

pub mod indexed;
pub mod meeting;
pub(crate) mod new_documents;
