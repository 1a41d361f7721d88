//! Holds the files of a corpus, and reads their rows.

mod again;
pub(crate) mod asked;
pub(crate) mod copy;
mod copy_paths;
pub mod id_rows;
mod joined;
pub(crate) mod own_columns;
mod read;
pub mod segments;
pub mod several_texts;
pub mod source;
pub mod split;
pub(crate) mod stamp;
