//! Holds the files of a corpus, and reads their rows.

mod again;
pub(crate) mod asked;
pub(crate) mod copy;
mod copy_paths;
mod file_columns;
pub(crate) mod id_rows;
mod joined;
pub(crate) mod own_columns;
mod read;
pub(crate) mod segments;
pub mod several_texts;
pub(crate) mod source;
pub(crate) mod split;
pub(crate) mod stamp;
