//! Adds integer columns to the rows of a copied file. All other values are preserved.

/// Columns that are added to each copied row.
#[derive(Clone, Copy)]
pub struct Added<'a> {
    /// The names of the new columns. No column with one of these names may exist in the file.
    pub names: &'a [&'static str],
    /// Returns the value of a column in a row; the column is given by its position in `names`.
    pub value: &'a (dyn Fn(u64, usize) -> u64 + 'a),
}
