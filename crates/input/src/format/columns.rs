//! Names the columns that a run reads.

/// The columns that a run reads; no other columns are decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// The name of the text column.
    pub text: String,
    /// The columns to combine into the text, in order, in files without the text column; empty if only one column is specified.
    pub several: Vec<String>,
    /// The columns that are combined into the text of each document, in order; used for files whose text comes from several columns.
    /// `others` contains these columns as well, and `text` is one of them.
    pub parts: Vec<String>,
    /// Whether the text column contains HTML pages in any charset, which is always the case in web archives.
    pub html: bool,
    /// The name of the id column.
    pub id: String,
    /// Whether the id column was specified explicitly. If so, a file without the column is an error; otherwise, the rows of such a file get
    /// the ids `FILE#ROW`.
    pub id_required: bool,
    /// Further columns that may be requested (such as titles, or a score for `--keep`); they may be missing from a file.
    pub others: Vec<String>,
    /// The columns whose values may be lists of text items. These columns are listed in `others` or among the columns to combine. A list is
    /// returned as JSON; see [`dupsift_tables::nested::lists`].
    pub lists: Vec<String>,
}

impl Columns {
    /// Returns whether text is read from this column.
    pub(crate) fn is_text(&self, name: &str) -> bool {
        if self.parts.is_empty() { name == self.text } else { self.parts.iter().any(|part| part == name) }
    }

    /// Returns all distinct names in the order in which they are read.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for name in [&self.text, &self.id].into_iter().chain(&self.others) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }
}
