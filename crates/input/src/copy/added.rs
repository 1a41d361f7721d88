//! Adds columns to the rows of a copied file: integers, and a list of ids. All other values are preserved.

use dupsift_tables::{IdRef, IdType};

/// Columns that are added to each copied row.
#[derive(Clone, Copy)]
pub struct Added<'a> {
    /// The names of the new integer columns. No column with one of these names may exist in the file.
    pub names: &'a [&'static str],
    /// Returns the value of a column in a row; the column is given by its position in `names`.
    pub value: &'a (dyn Fn(u64, usize) -> u64 + 'a),
    /// The list of ids, which is the last column, if there is one.
    pub list: Option<AddedList<'a>>,
}

/// Calls a function with each id of a row.
pub(crate) type EachId<'a> = dyn Fn(u64, &mut dyn FnMut(IdRef<'_>)) + 'a;

/// A column whose values are lists of ids.
#[derive(Clone, Copy)]
pub struct AddedList<'a> {
    /// The name of the column.
    pub name: &'static str,
    /// The type of the ids.
    pub kind: IdType,
    /// Calls a function with each id of a row, in order.
    pub each: &'a EachId<'a>,
}

impl Added<'_> {
    /// Returns the names of all new columns, in order.
    pub(crate) fn all_names(&self) -> impl Iterator<Item = &'static str> {
        self.names.iter().copied().chain(self.list.map(|list| list.name))
    }
}

impl AddedList<'_> {
    /// Returns the list of a row as a JSON array.
    pub(crate) fn json(&self, row: u64) -> String {
        let mut array = String::from("[");
        (self.each)(row, &mut |id| {
            if array.len() > 1 {
                array.push(',');
            }
            match id {
                IdRef::Int(_) | IdRef::UInt(_) => array += &id.to_string(),
                IdRef::Text(_) | IdRef::Bytes(_) => array += &serde_json::Value::from(id.to_string()).to_string(),
            }
        });
        array.push(']');
        array
    }
}
