//! States what is true of all files of a format.

/// The facts about a format. `..Facts::new(name, endings)` supplies those that hold for most formats.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The name of the format in messages, such as `JSON lines`.
    pub name: &'static str,
    /// The file extensions in lowercase, starting with the most common extension.
    pub endings: &'static [&'static str],
    /// Those file extensions that other formats also use. If a file with such an extension turns out to have a different format, it counts as
    /// unread, not as damaged.
    pub shared_endings: &'static [&'static str],
    /// Whether files of this format may be compressed as a whole. The extension of the compression then follows the extension of the format.
    pub is_packed: bool,
    /// Whether each file is one document. Such files are read only if requested.
    pub is_whole: bool,
    /// Whether the documents in this format are always pages; see [`Documents::page`](dupsift_tables::Documents::page).
    pub has_pages: bool,
    /// Whether the text and the id are in columns that can be selected with options. If not, the format determines the text and the id of
    /// each row, and the column options have no effect.
    pub names_columns: bool,
    /// Whether reading one column costs less than reading all columns.
    pub is_columnar: bool,
    /// Whether a piece may be split between any two of its rows.
    pub divides_pieces: bool,
}

impl Facts {
    /// Returns the facts about a format whose rows have named columns and are read completely, in files that are not compressed.
    pub const fn new(name: &'static str, endings: &'static [&'static str]) -> Facts {
        Facts {
            name,
            endings,
            shared_endings: &[],
            is_packed: false,
            is_whole: false,
            has_pages: false,
            names_columns: true,
            is_columnar: false,
            divides_pieces: false,
        }
    }
}
