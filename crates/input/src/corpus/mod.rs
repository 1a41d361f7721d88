//! Holds the files of a corpus, and reads their rows.

pub(crate) mod again;
pub(crate) mod asked;
pub(crate) mod copy;
pub(crate) mod copy_paths;
pub mod id_rows;
pub(crate) mod joined;
pub(crate) mod own_columns;
pub(crate) mod read;
pub mod segments;
pub mod several_texts;
pub mod source;
pub mod split;
pub(crate) mod stamp;
