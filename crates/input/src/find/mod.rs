//! Finds the input files, and reports which files are not read.

pub(crate) mod bad_input;
pub(crate) mod catalogs;
pub(crate) mod foreign;
pub(crate) mod hive;
pub(crate) mod standard_input;
pub mod unread;
pub mod walk;
