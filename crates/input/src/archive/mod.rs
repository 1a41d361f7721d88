//! Reads web archives.

pub(crate) mod format;
pub(crate) mod head;
pub(crate) mod page;
pub(crate) mod records;
pub(crate) mod warc;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod warc_tests;
