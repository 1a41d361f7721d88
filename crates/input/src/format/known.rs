//! Describes the columns that a file has.

use arrow::datatypes::DataType;
use dupsift_tables::document::{id_kind, is_spelled, is_text};
use std::fmt;

/// A column of a file, or a struct field, which is identified by its path: `doc.text`.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The name or path of the column.
    pub name: String,
    /// The type; `None` for lists and maps, and for JSON fields, which have no fixed type.
    pub data_type: Option<DataType>,
    /// The type as shown in messages; empty if there is none.
    pub(crate) says: String,
    /// Whether the column contains lists that can be joined into a single string, such as lists of paragraphs or chat messages; see
    /// [`dupsift_tables::nested::lists`].
    pub(crate) is_texts: bool,
}

/// Specifies which columns of a file are listed, and how far the file is read to find them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look<'a> {
    /// The columns and struct fields that an option can name, without reading all rows. Struct fields are identified by their paths. The
    /// result always includes those of the given columns that exist.
    Named(&'a [&'a str]),
    /// The columns on the top level; in a format without fixed columns, those of the first rows.
    FirstRows,
    /// The columns on the top level; in a format without fixed columns, those of all rows. Rows that cannot be read are ignored.
    AllRows,
}

/// Describes the columns of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownColumns {
    /// The columns of the file, including every requested column that the file has.
    pub columns: Vec<Shown>,
    /// In formats without column types, the requested columns that contained only lists.
    pub lists: Vec<String>,
    /// Whether the file may have more columns, because part of it could not be inspected.
    pub may_have_more: bool,
    /// A hint for the case that a requested column is missing: the likely reason, such as a different separator. Empty if there is none.
    pub hint: String,
}

impl From<Vec<Shown>> for KnownColumns {
    /// Creates a complete list of columns.
    fn from(columns: Vec<Shown>) -> KnownColumns {
        KnownColumns { columns, ..KnownColumns::default() }
    }
}

impl KnownColumns {
    /// Creates a complete list of columns without types.
    pub(crate) fn untyped(names: impl IntoIterator<Item: AsRef<str>>) -> KnownColumns {
        names.into_iter().map(|name| Shown::named(name.as_ref())).collect::<Vec<_>>().into()
    }
}

impl Shown {
    /// Creates a column with an unknown type.
    pub(crate) fn named(name: &str) -> Shown {
        Shown { name: name.to_owned(), data_type: None, says: String::new(), is_texts: false }
    }

    /// Creates a column that cannot be read because its values have several parts or an unknown type.
    pub(crate) fn nested(name: &str, says: &str) -> Shown {
        Shown { says: says.to_owned(), ..Shown::named(name) }
    }

    /// Returns the type that a read returns for the column: text if the format has no types, and `None` if the column is nested.
    pub(crate) fn as_read(&self) -> Option<DataType> {
        self.data_type.clone().or_else(|| self.says.is_empty().then_some(DataType::Utf8View))
    }

    /// Returns whether the column has one value per row.
    pub(crate) fn is_plain(&self) -> bool {
        self.says.is_empty() || self.data_type.is_some()
    }

    /// Returns whether the column may hold texts.
    pub(super) fn may_be_text(&self) -> bool {
        self.says.is_empty() || self.data_type.as_ref().is_some_and(is_text)
    }

    /// Returns whether the values of the column can be written as text.
    pub(super) fn may_be_spelled(&self) -> bool {
        self.data_type.as_ref().is_some_and(is_spelled)
    }

    /// Returns whether the column may hold ids.
    pub(super) fn may_be_id(&self) -> bool {
        self.says.is_empty() || self.data_type.as_ref().is_some_and(|data_type| id_kind(data_type).is_some())
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let says = if self.says.is_empty() { String::new() } else { format!(" ({})", self.says) };
        write!(out, "{}{says}", self.name)
    }
}
