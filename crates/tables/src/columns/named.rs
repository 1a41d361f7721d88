//! Returns the columns of a table by name and type.

use arrow::array::{AsArray, BooleanArray, Float32Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{Float32Type, Int64Type};

/// Returns the columns of a batch by name; `None` if there is no such column, or if it has a different type.
pub(crate) trait Named {
    /// Returns a column of numbers.
    fn numbers(&self, name: &str) -> Option<&Int64Array>;
    /// Returns a column of shares, scores or similarities.
    fn shares(&self, name: &str) -> Option<&Float32Array>;
    /// Returns a column of words or texts.
    fn words(&self, name: &str) -> Option<&StringArray>;
    /// Returns a column of truth values.
    fn flags(&self, name: &str) -> Option<&BooleanArray>;
}

impl Named for RecordBatch {
    fn numbers(&self, name: &str) -> Option<&Int64Array> {
        self.column_by_name(name)?.as_primitive_opt::<Int64Type>()
    }

    fn shares(&self, name: &str) -> Option<&Float32Array> {
        self.column_by_name(name)?.as_primitive_opt::<Float32Type>()
    }

    fn words(&self, name: &str) -> Option<&StringArray> {
        self.column_by_name(name)?.as_string_opt::<i32>()
    }

    fn flags(&self, name: &str) -> Option<&BooleanArray> {
        self.column_by_name(name)?.as_boolean_opt()
    }
}
