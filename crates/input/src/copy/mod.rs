//! Describes the copy of a file: its rows, their edits and new columns, and the file to which it is written.
//!
//! The format of the file does the copying: see [`Copies`](crate::format::copies::Copies), and `copy` in the folder of each format that can
//! be copied. `corpus::copy` copies the files of a corpus.

pub(crate) mod added;
pub(crate) mod copying;
pub(crate) mod edits;
pub(crate) mod output;
