//! Finds the input files, and reports which files are not read.

pub(crate) mod bad_input;
pub(crate) mod catalogs;
mod folder_walk;
pub(crate) mod foreign;
pub(crate) mod found;
pub(crate) mod found_file;
pub(crate) mod glob;
pub(crate) mod hive;
pub(crate) mod inputs;
pub(crate) mod staged;
pub(crate) mod standard_input;
pub(crate) mod taking;
pub(crate) mod unread;
