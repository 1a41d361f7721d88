//! Reads and writes the files of an index: folders of documents and of rows, and the checksums of their blocks.

pub(crate) mod folder;
pub(crate) mod part;
pub(crate) mod rows;
pub(crate) mod sums;
