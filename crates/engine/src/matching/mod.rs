//! Defines how indexed documents take part in a run: how they are selected and numbered.

pub mod indexed;
pub mod meeting;
