//! Reads and copies Parquet files, and reads tables of results.

mod bounded;
mod copy;
mod copy_leaf;
mod fields;
mod footer;
pub(crate) mod format;
mod levels;
mod load;
mod page_headers;
mod page_memory;
mod page_starts;
mod pieces;
mod read;
mod rows;
pub(crate) mod table_read;
mod turn;
