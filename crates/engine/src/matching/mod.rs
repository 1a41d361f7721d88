//! Defines how indexed documents take part in a run: the selection of documents, their numbers, and their new pairs.

pub mod indexed;
pub mod meeting;
pub(crate) mod new_documents;
