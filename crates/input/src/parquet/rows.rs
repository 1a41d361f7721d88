//! Finds the longest row of a Parquet file. Page headers give an upper bound on the length of a value; values are read only if this bound
//! is large.

use crate::format::columns::Columns;
use crate::format::want::MAX_BATCH_ROWS;
use crate::parquet::footer::Footer;
use crate::parquet::load::load;
use crate::parquet::page_headers;
use crate::parquet::page_memory::{Column, stretches};
use crate::parquet::read;
use crate::parquet::read::Plan;
use crate::parquet::turn::turn;
use ::parquet::basic::Type;
use ::parquet::file::metadata::ColumnChunkMetaData;
use arrow::array::AsArray;
use arrow::array::{Array, RecordBatch};
use arrow::datatypes::DataType;
use dupsift_core::error::Error;
use std::fs::File;

/// The number of bytes of values decoded at a time.
const BATCH_BYTES: usize = 1 << 20;

/// Returns the total size, in bytes, of the values of these columns in the largest row, or 0 if that size is at most `small`. Ignores
/// values of fixed-size types.
///
/// # Errors
/// Returns the reason why the file cannot be read.
pub(super) fn longest(file: &File, names: &[String], small: u64) -> Result<u64, String> {
    let turn = turn(file, u64::MAX)?;
    let footer = Footer::new(&load(file)?, &Columns { others: names.to_vec(), ..Columns::default() })?;
    drop(turn);
    let groups = footer.metadata.metadata().row_groups().iter().enumerate();
    let mut longest = 0;
    for (at, group) in groups {
        let asked = footer.leaves.iter().map(String::as_str).zip(group.columns());
        let asked: Vec<_> = asked.filter(|(_, chunk)| chunk.column_type() == Type::BYTE_ARRAY).collect();
        let sum = |bytes: &mut dyn Iterator<Item = u64>| bytes.fold(0, u64::saturating_add);
        if sum(&mut asked.iter().map(|(_, chunk)| Column::bytes_of(chunk))) <= small {
            continue;
        }
        let column = |&(_, chunk): &(&str, &ColumnChunkMetaData)| {
            let pages = page_headers::look(file.try_clone().map_err(|error| error.to_string())?, chunk)?;
            Ok(Column::new(chunk, pages.unwrap_or_default().into(), false))
        };
        let columns: Vec<Column> = asked.iter().map(column).collect::<Result<_, String>>()?;
        if sum(&mut columns.iter().map(Column::largest)) <= small {
            continue;
        }
        let mut names: Vec<&str> = asked.iter().map(|(name, _)| *name).collect();
        names.dedup();
        let rows = 0..u64::try_from(group.num_rows()).unwrap_or(0);
        let mut skip = 0;
        for stretch in stretches(vec![columns], rows, 0) {
            let (row_groups, rows) = (at..at + 1, stretch.rows);
            let (batch_bytes, batch_rows) = (BATCH_BYTES, MAX_BATCH_ROWS);
            let plan = Plan { row_groups, skip, rows, chosen: None, names: &names, batch_bytes, batch_rows };
            let file = file.try_clone().map_err(|error| error.to_string())?;
            read::read(file, &footer, &plan, &Error::usage, &mut |batch| {
                longest = longest.max(of_batch(&batch));
                Ok(())
            })
            .map_err(|error| error.to_string())?;
            skip += rows;
        }
    }
    Ok(if longest > small { longest } else { 0 })
}

/// Returns the size of the largest row in a batch, in bytes.
fn of_batch(batch: &RecordBatch) -> u64 {
    let mut rows = vec![0u64; batch.num_rows()];
    for column in batch.columns() {
        let lengths: &mut dyn Iterator<Item = u32> = match column.data_type() {
            DataType::Utf8View => &mut column.as_string_view().lengths(),
            DataType::BinaryView => &mut column.as_binary_view().lengths(),
            _ => continue,
        };
        rows.iter_mut().zip(lengths).for_each(|(sum, length)| *sum += u64::from(length));
    }
    rows.into_iter().max().unwrap_or(0)
}
