//! Reads the tables of a finished run back.

pub(crate) mod listed;
pub mod look_up;
