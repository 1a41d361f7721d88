//! Reading rows of a Parquet file: the asked columns of a range of rows, or of chosen rows of it.
//!
//! The reader works page by page; a page that holds none of the rows is stepped over by its header. Rows are decoded a
//! few at a time and gathered up to the byte aim: lengths of texts differ by a factor of a million, so a number of rows
//! bounds nothing. Page checksums are verified where a file has them.

use super::bounded::Bounded;
use super::nested;
use super::parquet::{Footer, guarded};
use crate::tables::apart;
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
use std::fs::File;
use std::sync::Arc;

/// Rows decoded at a time where values are large: what may be in memory beyond the byte aim is this many texts.
pub(super) const STEP_ROWS: usize = 16;

/// Which rows of which row groups, and how they are handed on.
pub(super) struct Plan<'p> {
    pub row_groups: std::ops::Range<usize>,
    /// Rows of these row groups before the first one asked for.
    pub skip: u64,
    /// Rows asked for, after `skip`.
    pub rows: u64,
    /// Only these of them, ascending, counted from `skip`; all where none is given.
    pub chosen: Option<&'p [u64]>,
    /// The columns, in the order in which they are handed on; those that the file lacks are left out.
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
/// `bad` of a sentence where the file is damaged; what `each` returns.
pub(super) fn read(
    file: File,
    footer: &Footer,
    plan: &Plan<'_>,
    bad: &dyn Fn(String) -> Error,
    each: &mut dyn FnMut(RecordBatch) -> Result<()>,
) -> Result<()> {
    // The handle is kept to find out, after a damage, which column has it.
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
        let batch = nested::joined(nested::flat(batch, &footer.columns)?)?;
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
        return Err(damaged(format!("expected {} rows, {rows} came", plan.expected())));
    }
    Ok(())
}

fn reader(
    file: File,
    footer: &Footer,
    plan: &Plan<'_>,
    names: &[&str],
) -> std::result::Result<ParquetRecordBatchReader, String> {
    let places = names.iter().filter_map(|name| footer.place(name));
    let file = Bounded::new(file).map_err(|error| error.to_string())?;
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, footer.metadata.clone())
        .with_projection(ProjectionMask::leaves(footer.metadata.parquet_schema(), places))
        .with_row_groups(plan.row_groups.clone().collect())
        .with_batch_size(step_rows(footer, plan, names));
    guarded(|| match plan.chosen {
        // Runs, not masks: between two runs nothing is decoded.
        Some(chosen) => builder
            .with_row_selection(selection(plan.skip, chosen))
            .with_row_selection_policy(RowSelectionPolicy::Selectors)
            .build(),
        None => builder.with_offset(plan.skip as usize).with_limit(plan.rows as usize).build(),
    })
}

/// How many rows are decoded at a time: more where all values of the columns together stay below the byte aim (ids,
/// sources), for a step costs the same for a row as for a thousand.
fn step_rows(footer: &Footer, plan: &Plan<'_>, names: &[&str]) -> usize {
    let metadata = footer.metadata.metadata();
    let of_group = |group: usize| -> u64 {
        let places = names.iter().filter_map(|name| footer.place(name));
        places.map(|place| metadata.row_group(group).column(place).uncompressed_size().max(0) as u64).sum()
    };
    let bytes = plan.row_groups.clone().map(of_group).fold(0, u64::saturating_add);
    // Chosen rows are copied out of their dictionary, and may then be more than all values of the file.
    if plan.chosen.is_some() || bytes > plan.batch_bytes as u64 {
        return STEP_ROWS.min(plan.batch_rows);
    }
    // A value of a dictionary has at most the bytes of its chunk, and every row may have it.
    let longest = |group: usize| -> u64 {
        let places = names.iter().filter_map(|name| footer.place(name));
        let chunks = places.map(|place| metadata.row_group(group).column(place));
        let chunks = chunks.filter(|chunk| chunk.column_type() == PhysicalType::BYTE_ARRAY);
        chunks.map(|chunk| spread_bytes(chunk, plan.batch_bytes as u64)).fold(0, u64::saturating_add)
    };
    let longest = plan.row_groups.clone().map(longest).max().unwrap_or_default().max(1);
    usize::try_from(plan.batch_bytes as u64 / longest)
        .unwrap_or(usize::MAX)
        .clamp(STEP_ROWS, plan.batch_rows.max(STEP_ROWS))
}

/// The most bytes that a value of a chunk may add to a batch beyond the bytes of the chunk; 0 if all values together are below `most`, as
/// the file says, or if no value can be in several rows.
fn spread_bytes(chunk: &ColumnChunkMetaData, most: u64) -> u64 {
    let all = chunk.unencoded_byte_array_data_bytes().and_then(|bytes| u64::try_from(bytes).ok());
    if chunk.dictionary_page_offset().is_none_or(|at| at <= 0) || all.is_some_and(|all| all <= most) {
        return 0;
    }
    let bytes = chunk.uncompressed_size().max(0) as u64;
    // Each value has its length before it.
    bytes.saturating_sub(4)
}

fn next(reader: &mut ParquetRecordBatchReader) -> std::result::Result<Option<RecordBatch>, String> {
    guarded(|| reader.next().transpose().map_err(Into::into))
}

/// The chosen rows as runs to skip and to select.
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

/// The first column that cannot be read alone; asked for after a damage only.
fn damaged_column<'p>(file: &File, footer: &Footer, plan: &Plan<'p>) -> Option<&'p str> {
    plan.names.iter().copied().filter(|name| footer.place(name).is_some()).find(|name| {
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

/// Small batches on their way to become one.
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

    /// All of it as one batch, the columns in the order of the names.
    fn take(&mut self, names: &[&str]) -> Result<RecordBatch> {
        let batches = std::mem::take(&mut self.batches);
        (self.rows, self.bytes) = (0, 0);
        let action = "put together a batch of documents";
        let first = batches.first().ok_or_else(|| Error::Internal("an empty batch was asked for".to_owned()))?;
        let schema = first.schema();
        let order: Vec<usize> = names.iter().filter_map(|name| schema.index_of(name).ok()).collect();
        let whole = match batches.as_slice() {
            [one] => one.clone(),
            many => arrow::compute::concat_batches(&schema, many).map_err(Error::columns(action))?,
        };
        whole.project(&order).map_err(Error::columns(action))
    }
}

/// Bytes of the values of a column of strings; those of the others are small.
fn value_bytes(column: &ArrayRef) -> usize {
    match column.data_type() {
        DataType::Utf8View => column.as_string_view().lengths().map(|length| length as usize).sum(),
        DataType::BinaryView => column.as_binary_view().lengths().map(|length| length as usize).sum(),
        _ => 8 * column.len(),
    }
}

/// The batch with its strings copied together: a view keeps its whole page alive, and of chosen rows each may stand in
/// a page of its own.
fn compacted(batch: RecordBatch) -> Result<RecordBatch> {
    let columns = batch.columns().iter().map(|column| match column.data_type() {
        DataType::Utf8View => Arc::new(apart(column.as_string_view())) as ArrayRef,
        DataType::BinaryView => Arc::new(apart(column.as_binary_view())) as ArrayRef,
        _ => column.clone(),
    });
    let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(batch.schema(), columns.collect(), &options)
        .map_err(Error::columns("put together a batch of documents"))
}
