//! Defines how indexed documents take part in a run: which documents take part, which numbers they have, and which of their pairs are new.

pub mod indexed;
pub mod meeting;
pub(crate) mod new_documents;
