//! Computes the sizes of rows, which determine where the blocks of a table end.

use arrow::array::AsArray;
use arrow::array::RecordBatch;
use arrow::datatypes::DataType;
use std::ops::Range;

/// The size of each row's values in columns with variable-length values, in bytes.
pub(super) struct Lengths<'b> {
    /// One slice per column with offsets, which contains the offset at which each row's value begins, and the end of the last value.
    offsets: Vec<&'b [i32]>,
    /// The total size of the values before each row in columns without offsets, followed by the total size of all these values; empty if
    /// there are no such columns.
    before: Vec<usize>,
}

impl Lengths<'_> {
    pub(crate) fn of(batch: &RecordBatch) -> Lengths<'_> {
        let (mut offsets, mut before) = (Vec::new(), Vec::new());
        for column in batch.columns() {
            match column.data_type() {
                DataType::Utf8 => offsets.push(column.as_string::<i32>().value_offsets()),
                DataType::Binary => offsets.push(column.as_binary::<i32>().value_offsets()),
                DataType::Utf8View => add(&mut before, column.as_string_view().lengths()),
                DataType::BinaryView => add(&mut before, column.as_binary_view().lengths()),
                _ => {}
            }
        }
        Lengths { offsets, before }
    }

    pub(crate) fn bytes(&self, rows: Range<usize>) -> usize {
        let of_offsets: usize = self.offsets.iter().map(|at| (at[rows.end] - at[rows.start]) as usize).sum();
        let before = |row: usize| self.before.get(row).copied().unwrap_or(0);
        of_offsets + before(rows.end) - before(rows.start)
    }
}

/// Adds the lengths of a column to the sums before each row.
fn add(before: &mut Vec<usize>, lengths: impl ExactSizeIterator<Item = u32>) {
    before.resize(lengths.len() + 1, 0);
    let mut sum = 0;
    for (before, length) in before[1..].iter_mut().zip(lengths) {
        sum += length as usize;
        *before += sum;
    }
}
