//! Copies one leaf column of a row group as values and levels, a limited number of rows at a time.

use crate::copy::edits::{CHANGED, Edits};
use crate::parquet::read::STEP_ROWS;
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use ::parquet::data_type::{ByteArray, DataType};
use ::parquet::errors::ParquetError;
use std::ops::Range;

/// The approximate number of bytes in the rows that are copied at a time; a few long rows may exceed this number.
const AT_A_TIME: u64 = 256 << 10;
/// The maximum number of rows copied at a time.
const MOST_ROWS: u64 = 4096;
/// The approximate distance in bytes between the first and the last row that are copied together. The distance is limited because each
/// value keeps its page in memory.
const APART: u64 = 4 << 20;

/// Selects rows of a row group.
pub(super) struct Rows<'r> {
    /// Returns whether a row of the file is chosen.
    pub chosen: &'r (dyn Fn(u64) -> bool + 'r),
    /// The numbers of the rows in the group.
    pub within: Range<u64>,
}

impl Rows<'_> {
    /// Returns how many rows are chosen.
    pub(crate) fn count(&self) -> u64 {
        self.within.clone().filter(|&row| (self.chosen)(row)).count() as u64
    }

    /// Divides the rows into runs of adjacent rows that are all chosen or all skipped. For each run, in order, returns whether its rows are
    /// chosen and how many rows it contains.
    fn runs(&self) -> impl Iterator<Item = (bool, usize)> {
        let mut row = self.within.start;
        std::iter::from_fn(move || {
            let (start, is_chosen) = (row, row < self.within.end && (self.chosen)(row));
            while row < self.within.end && (self.chosen)(row) == is_chosen {
                row += 1;
            }
            (row > start).then_some((is_chosen, (row - start) as usize))
        })
    }
}

/// Copies the chosen rows of a leaf column with an average row size of `average` bytes. If the column holds text, some rows may be edited.
pub(super) fn copy(
    from: ColumnReader,
    to: &mut ColumnWriter<'_>,
    rows: &Rows<'_>,
    (average, edits): (u64, Option<Edits<'_>>),
    go_on: &dyn Fn() -> Result<(), ParquetError>,
) -> Result<(), ParquetError> {
    let step = (AT_A_TIME / average.max(1)).clamp(STEP_ROWS as u64, MOST_ROWS) as usize;
    let apart = (APART / average.max(1)).max(STEP_ROWS as u64) as usize;
    macro_rules! of_type {
        ($($kind:ident $writer:ident,)*) => {
            match (from, to) {
                (ColumnReader::ByteArrayColumnReader(from), ColumnWriter::ByteArrayColumnWriter(to)) => {
                    let edit = |row: u64, value: &mut ByteArray| edits.map_or(Ok(()), |edits| edited(edits, row, value));
                    copy_typed(from, to, rows, [step, apart], (edits.is_some(), &edit), go_on)
                }
                $((ColumnReader::$kind(from), ColumnWriter::$writer(to)) if edits.is_none() => {
                    copy_typed(from, to, rows, [step, apart], (false, &|_, _| Ok(())), go_on)
                })*
                _ => Err(ParquetError::General("the type of a column differs from the schema".into())),
            }
        };
    }
    of_type!(
        BoolColumnReader BoolColumnWriter,
        Int32ColumnReader Int32ColumnWriter,
        Int64ColumnReader Int64ColumnWriter,
        Int96ColumnReader Int96ColumnWriter,
        FloatColumnReader FloatColumnWriter,
        DoubleColumnReader DoubleColumnWriter,
        FixedLenByteArrayColumnReader FixedLenByteArrayColumnWriter,
    )
}

/// A function that replaces the value of a row if the row is edited.
type Edit<'e, T> = dyn Fn(u64, &mut <T as DataType>::T) -> Result<(), ParquetError> + 'e;

/// Replaces the text of a row if the row is edited.
fn edited(edits: Edits<'_>, row: u64, value: &mut ByteArray) -> Result<(), ParquetError> {
    if (edits.is_edited)(row) {
        let changed = || ParquetError::General(CHANGED.into());
        let text = std::str::from_utf8(value.data()).map_err(|_| changed())?;
        *value = ByteArray::from((edits.edit)(row, text).ok_or_else(changed)?.into_bytes());
    }
    Ok(())
}

fn copy_typed<T: DataType>(
    mut from: ColumnReaderImpl<T>,
    to: &mut ColumnWriterImpl<'_, T>,
    rows: &Rows<'_>,
    [step, apart]: [usize; 2],
    (edits, edit): (bool, &Edit<'_, T>),
    go_on: &dyn Fn() -> Result<(), ParquetError>,
) -> Result<(), ParquetError> {
    let ended = || ParquetError::General("a column ends before its last row".into());
    let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
    // The number of rows waiting to be written, and the number of rows visited since the first waiting row.
    let (mut held, mut spanned) = (0, 0);
    // A row of a text column has at most one level. The row has a value if this level is the highest.
    let highest = to.get_descriptor().max_def_level();
    let mut write = |values: &mut Vec<T::T>, definitions: &mut Vec<i16>, repetitions: &mut Vec<i16>| {
        let of = |levels: &[i16]| !levels.is_empty();
        to.write_batch(
            values,
            of(definitions).then_some(definitions.as_slice()),
            of(repetitions).then_some(repetitions.as_slice()),
        )?;
        values.clear();
        definitions.clear();
        repetitions.clear();
        go_on()
    };
    let mut row = rows.within.start;
    for (is_chosen, mut left) in rows.runs() {
        while left > 0 {
            let done = if is_chosen {
                let most = left.min(step - held);
                let (levels, known) = (definitions.len(), values.len());
                let (done, ..) =
                    from.read_records(most, Some(&mut definitions), Some(&mut repetitions), &mut values)?;
                if edits {
                    let is_value = |at: usize| definitions.get(levels + at).is_none_or(|&level| level == highest);
                    let valued = (0..done).filter(|&at| is_value(at));
                    for (at, value) in valued.zip(&mut values[known..]) {
                        edit(row + at as u64, value)?;
                    }
                }
                done
            } else {
                from.skip_records(left)?
            };
            if done == 0 {
                return Err(ended());
            }
            left -= done;
            row += done as u64;
            held += if is_chosen { done } else { 0 };
            spanned += if held > 0 { done } else { 0 };
            if held == step || spanned >= apart {
                write(&mut values, &mut definitions, &mut repetitions)?;
                (held, spanned) = (0, 0);
            }
        }
    }
    if held > 0 {
        write(&mut values, &mut definitions, &mut repetitions)?;
    }
    Ok(())
}
