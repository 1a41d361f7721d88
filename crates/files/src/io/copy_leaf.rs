//! Copying one leaf of a row group: values with their levels, a bounded number of rows at a time.

use super::parquet_read::STEP_ROWS;
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use ::parquet::data_type::DataType;
use ::parquet::errors::ParquetError;
use std::ops::Range;

/// Rows that are copied at a time have about so many bytes, unless a few of them have more.
const AT_A_TIME: u64 = 256 << 10;
/// The most rows that are copied at a time.
const MOST_ROWS: u64 = 4096;
/// Values refer to the pages that they were read from: rows that are copied together stand within about so many bytes.
const APART: u64 = 4 << 20;

/// Rows of a row group.
pub(super) struct Rows<'r> {
    /// Which of all rows of the file are chosen.
    pub chosen: &'r (dyn Fn(u64) -> bool + 'r),
    /// The rows of the group.
    pub within: Range<u64>,
}

impl Rows<'_> {
    /// How many are chosen.
    pub fn count(&self) -> u64 {
        self.within.clone().filter(|&row| (self.chosen)(row)).count() as u64
    }

    /// Neighbours of one fate, in order: whether they are chosen, and how many they are.
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

/// Copies the chosen rows of a leaf, whose rows have so many bytes on average.
pub(super) fn copy(
    from: ColumnReader,
    to: &mut ColumnWriter<'_>,
    rows: &Rows<'_>,
    average: u64,
    go_on: &dyn Fn() -> Result<(), ParquetError>,
) -> Result<(), ParquetError> {
    let step = (AT_A_TIME / average.max(1)).clamp(STEP_ROWS as u64, MOST_ROWS) as usize;
    let apart = (APART / average.max(1)).max(STEP_ROWS as u64) as usize;
    macro_rules! of_type {
        ($($kind:ident $writer:ident,)*) => {
            match (from, to) {
                $((ColumnReader::$kind(from), ColumnWriter::$writer(to)) => copy_typed(from, to, rows, [step, apart], go_on),)*
                _ => Err(ParquetError::General("a column has another type than the schema says".into())),
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
        ByteArrayColumnReader ByteArrayColumnWriter,
        FixedLenByteArrayColumnReader FixedLenByteArrayColumnWriter,
    )
}

fn copy_typed<T: DataType>(
    mut from: ColumnReaderImpl<T>,
    to: &mut ColumnWriterImpl<'_, T>,
    rows: &Rows<'_>,
    [step, apart]: [usize; 2],
    go_on: &dyn Fn() -> Result<(), ParquetError>,
) -> Result<(), ParquetError> {
    let ended = || ParquetError::General("a column ends before its last row".into());
    let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
    // Rows that wait to be written, and rows from the first of them on.
    let (mut held, mut spanned) = (0, 0);
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
    for (is_chosen, mut left) in rows.runs() {
        while left > 0 {
            let done = if is_chosen {
                let most = left.min(step - held);
                let (definitions, repetitions) = (Some(&mut definitions), Some(&mut repetitions));
                from.read_records(most, definitions, repetitions, &mut values)?.0
            } else {
                from.skip_records(left)?
            };
            if done == 0 {
                return Err(ended());
            }
            left -= done;
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
