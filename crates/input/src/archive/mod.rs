//! Reads web archives.

pub(crate) mod format;
pub(crate) mod warc;
pub(crate) mod warc_head;
pub(crate) mod warc_page;
pub(crate) mod warc_records;

#[cfg(test)]
mod warc_laws;
#[cfg(test)]
mod warc_tests;
