//! Defines how indexed documents take part in a run: how they are selected and numbered, and which of their pairs are new.

pub mod indexed;
pub mod meeting;
pub(crate) mod new_documents;
