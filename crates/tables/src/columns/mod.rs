//! Reads and writes single columns and their values: ids, cells, text.

pub mod cell;
pub mod id;
pub mod id_column;
pub(crate) mod named;
pub(crate) mod put;
pub mod read_as;
pub mod utf8;
pub(crate) mod views;
