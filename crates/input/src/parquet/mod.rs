//! Reads and copies Parquet files, and reads tables of results.

pub(crate) mod bounded;
pub(crate) mod copy_leaf;
pub(crate) mod copy_parquet;
pub(crate) mod footer;
pub(crate) mod format;
pub(crate) mod page_headers;
pub(crate) mod page_memory;
pub(crate) mod page_starts;
pub(crate) mod parquet_levels;
pub(crate) mod parquet_read;
pub(crate) mod parquet_rows;
pub mod table_read;
