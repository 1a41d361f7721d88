//! Reads and copies Parquet files, and reads tables of results.

pub(crate) mod bounded;
pub(crate) mod copy;
pub(crate) mod copy_leaf;
pub(crate) mod footer;
pub(crate) mod format;
pub(crate) mod levels;
pub(crate) mod page_headers;
pub(crate) mod page_memory;
pub(crate) mod page_starts;
pub(crate) mod read;
pub(crate) mod rows;
pub mod table_read;
