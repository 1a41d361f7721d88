//! Reads web archives.

pub(crate) mod format;
mod head;
mod page;
mod records;
mod warc;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod warc_tests;
