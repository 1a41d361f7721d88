//! The options for finding files.

use crate::compressed::coding::Coding;
use crate::formats::TextFiles;

/// The options for finding files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Taking {
    /// The way in which `.txt`, `.md` and `.html` files are read.
    pub text_files: TextFiles,
    /// The text encoding, and the memory limit for unpacking. The compression of each file is determined by its name.
    pub coding: Coding,
    /// Whether links that lead out of the inputs are followed to folders and to files that are not in a data format.
    pub follow_links: bool,
}
