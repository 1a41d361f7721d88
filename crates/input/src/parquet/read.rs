//! Reads the requested columns of a Parquet file for a range of rows, or for chosen rows in the range.
//!
//! The reader works page by page; for a page without requested rows, it reads only the header. Rows are decoded a few at a time and
//! collected up to the target size of a batch. Limiting the number of rows would not limit memory usage, because text lengths vary by a
//! factor of a million. Page checksums are verified if the file contains them.

use crate::format::nested;
use crate::parquet::bounded::Bounded;
use crate::parquet::footer::Footer;
use crate::parquet::load::guarded;
use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowSelection, RowSelectionPolicy, RowSelector,
};
use ::parquet::basic::Type as PhysicalType;
use ::parquet::file::metadata::ColumnChunkMetaData;
use arrow::array::AsArray;
use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::datatypes::DataType;
use dupsift_core::error::{Error, Result};
use dupsift_tables::apart;
use std::fs::File;
use std::sync::Arc;

/// The number of rows that are decoded at a time if values are large. A batch may exceed its target size by the text of up to this many
/// rows.
pub(super) const STEP_ROWS: usize = 16;

/// Describes which rows of which row groups to read, and how to return them.
pub(super) struct Plan<'p> {
    pub row_groups: std::ops::Range<usize>,
    /// The number of rows in these row groups before the first requested row.
    pub skip: u64,
    /// The number of requested rows, after `skip`.
    pub rows: u64,
    /// The rows to read, in ascending order, counted from `skip`; `None` for all rows.
    pub chosen: Option<&'p [u64]>,
    /// The columns, in output order; columns that are not in the file are ignored.
    pub names: &'p [&'p str],
    pub batch_bytes: usize,
    pub batch_rows: usize,
}

impl Plan<'_> {
    fn expected(&self) -> u64 {
        self.chosen.map_or(self.rows, |chosen| chosen.len() as u64)
    }
}

/// Calls `each` with batches of the rows, in order.
///
/// # Errors
/// Returns the error that `bad` creates if the file is damaged, or the error from `each`.
pub(super) fn read(
    file: File,
    footer: &Footer,
    plan: &Plan<'_>,
    bad: &dyn Fn(String) -> Error,
    each: &mut dyn FnMut(RecordBatch) -> Result<()>,
) -> Result<()> {
    // If the file is damaged, this handle is used to find the affected column.
    let again = file.try_clone();
    let damaged = |why: String| {
        let column = again.as_ref().ok().and_then(|file| damaged_column(file, footer, plan));
        let place = column.map_or_else(String::new, |name| format!("column {name:?}, "));
        bad(format!(
            "{place}rows {} to {} of row group {}: {why}",
            plan.skip,
            plan.skip + plan.rows,
            plan.row_groups.start
        ))
    };
    let mut reader = reader(file, footer, plan, plan.names).map_err(&damaged)?;
    let mut gathered = Gathered::default();
    let mut rows = 0;
    while let Some(batch) = next(&mut reader).map_err(&damaged)? {
        let batch = nested::joined(nested::flat(batch, &footer.columns)?, &footer.lists)?;
        rows += batch.num_rows() as u64;
        gathered.push(if plan.chosen.is_some() { compacted(batch)? } else { batch });
        if gathered.bytes >= plan.batch_bytes || gathered.rows >= plan.batch_rows {
            each(gathered.take(plan.names)?)?;
        }
    }
    if gathered.rows > 0 {
        each(gathered.take(plan.names)?)?;
    }
    if rows != plan.expected() {
        return Err(damaged(format!("expected {} rows, got {rows}", plan.expected())));
    }
    Ok(())
}

fn reader(
    file: File,
    footer: &Footer,
    plan: &Plan<'_>,
    names: &[&str],
) -> std::result::Result<ParquetRecordBatchReader, String> {
    let places = names.iter().flat_map(|name| footer.places(name));
    let file = Bounded::new(file).map_err(|error| error.to_string())?;
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, footer.metadata.clone())
        .with_projection(ProjectionMask::leaves(footer.metadata.parquet_schema(), places))
        .with_row_groups(plan.row_groups.clone().collect())
        .with_batch_size(step_rows(footer, plan, names));
    guarded(|| match plan.chosen {
        // Selects runs of rows instead of using a mask, so that nothing between two runs is decoded.
        Some(chosen) => builder
            .with_row_selection(selection(plan.skip, chosen))
            .with_row_selection_policy(RowSelectionPolicy::Selectors)
            .build(),
        None => builder.with_offset(plan.skip as usize).with_limit(plan.rows as usize).build(),
    })
}

/// Returns how many rows to decode at a time. If all values of the columns fit within the target size (as with ids and sources), more rows
/// are decoded at a time, because a step with a thousand rows costs as much as a step with one row.
fn step_rows(footer: &Footer, plan: &Plan<'_>, names: &[&str]) -> usize {
    let metadata = footer.metadata.metadata();
    let of_group = |group: usize| -> u64 {
        let places = names.iter().flat_map(|name| footer.places(name));
        places.map(|place| metadata.row_group(group).column(place).uncompressed_size().max(0) as u64).sum()
    };
    let bytes = plan.row_groups.clone().map(of_group).fold(0, u64::saturating_add);
    // Chosen rows are copied out of the dictionary, and the copies may take more space than all values in the file.
    if plan.chosen.is_some() || bytes > plan.batch_bytes as u64 {
        return STEP_ROWS.min(plan.batch_rows);
    }
    // A dictionary value is at most as large as its chunk, and every row may refer to it.
    let longest = |group: usize| -> u64 {
        let places = names.iter().flat_map(|name| footer.places(name));
        let chunks = places.map(|place| metadata.row_group(group).column(place));
        let chunks = chunks.filter(|chunk| chunk.column_type() == PhysicalType::BYTE_ARRAY);
        chunks.map(|chunk| spread_bytes(chunk, plan.batch_bytes as u64)).fold(0, u64::saturating_add)
    };
    let longest = plan.row_groups.clone().map(longest).max().unwrap_or_default().max(1);
    usize::try_from(plan.batch_bytes as u64 / longest)
        .unwrap_or(usize::MAX)
        .clamp(STEP_ROWS, plan.batch_rows.max(STEP_ROWS))
}

/// Returns the maximum number of bytes that a value may add to a batch beyond the bytes of its chunk. Returns 0 if all values together have
/// at most `most` bytes according to the file, or if no value can be shared by several rows.
fn spread_bytes(chunk: &ColumnChunkMetaData, most: u64) -> u64 {
    let all = chunk.unencoded_byte_array_data_bytes().and_then(|bytes| u64::try_from(bytes).ok());
    if chunk.dictionary_page_offset().is_none_or(|at| at <= 0) || all.is_some_and(|all| all <= most) {
        return 0;
    }
    let bytes = chunk.uncompressed_size().max(0) as u64;
    // Each value is preceded by its length.
    bytes.saturating_sub(4)
}

fn next(reader: &mut ParquetRecordBatchReader) -> std::result::Result<Option<RecordBatch>, String> {
    guarded(|| reader.next().transpose().map_err(Into::into))
}

/// Returns the chosen rows as runs of rows to skip and runs of rows to select.
fn selection(skip: u64, chosen: &[u64]) -> RowSelection {
    let mut selectors: Vec<RowSelector> = Vec::new();
    let mut next = 0;
    for row in chosen.iter().map(|row| skip + row) {
        match selectors.last_mut() {
            Some(last) if row == next && !last.skip => last.row_count += 1,
            _ => {
                if row > next {
                    selectors.push(RowSelector::skip((row - next) as usize));
                }
                selectors.push(RowSelector::select(1));
            }
        }
        next = row + 1;
    }
    RowSelection::from(selectors)
}

/// Returns the first column that cannot be read even on its own; called only if the file is damaged.
fn damaged_column<'p>(file: &File, footer: &Footer, plan: &Plan<'p>) -> Option<&'p str> {
    plan.names.iter().copied().filter(|name| footer.has(name)).find(|name| {
        let Ok(file) = file.try_clone() else { return false };
        let Ok(mut reader) = reader(file, footer, plan, &[name]) else { return true };
        loop {
            match next(&mut reader) {
                Ok(Some(_)) => {}
                Ok(None) => return false,
                Err(_) => return true,
            }
        }
    })
}

/// Small batches being combined into one.
#[derive(Default)]
struct Gathered {
    batches: Vec<RecordBatch>,
    rows: usize,
    bytes: usize,
}

impl Gathered {
    fn push(&mut self, batch: RecordBatch) {
        self.rows += batch.num_rows();
        self.bytes += batch.columns().iter().map(value_bytes).sum::<usize>();
        self.batches.push(batch);
    }

    /// Returns all collected rows as one batch, with columns in the order of the names.
    fn take(&mut self, names: &[&str]) -> Result<RecordBatch> {
        let batches = std::mem::take(&mut self.batches);
        (self.rows, self.bytes) = (0, 0);
        let action = "build a batch of documents";
        let first = batches.first().ok_or_else(|| Error::Internal("an empty batch was requested".to_owned()))?;
        let schema = first.schema();
        let order: Vec<usize> = names.iter().filter_map(|name| schema.index_of(name).ok()).collect();
        let whole = match batches.as_slice() {
            [one] => one.clone(),
            many => arrow::compute::concat_batches(&schema, many).map_err(Error::columns(action))?,
        };
        whole.project(&order).map_err(Error::columns(action))
    }
}

/// Returns the total size of the values in a string column, in bytes. Columns of other types are ignored, because their values are small.
fn value_bytes(column: &ArrayRef) -> usize {
    match column.data_type() {
        DataType::Utf8View => column.as_string_view().lengths().map(|length| length as usize).sum(),
        DataType::BinaryView => column.as_binary_view().lengths().map(|length| length as usize).sum(),
        _ => 8 * column.len(),
    }
}

/// Returns the batch with its strings copied out of their pages. A view keeps an entire page in memory, and each chosen row may be in a
/// different page.
fn compacted(batch: RecordBatch) -> Result<RecordBatch> {
    let columns = batch.columns().iter().map(|column| match column.data_type() {
        DataType::Utf8View => Arc::new(apart(column.as_string_view())) as ArrayRef,
        DataType::BinaryView => Arc::new(apart(column.as_binary_view())) as ArrayRef,
        _ => column.clone(),
    });
    let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(batch.schema(), columns.collect(), &options)
        .map_err(Error::columns("build a batch of documents"))
}
