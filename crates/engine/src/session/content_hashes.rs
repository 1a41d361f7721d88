//! Hashes the data that the first pass reads from each input file. The hashes identify a file whose stamp has changed.
//!
//! ```text
//! row:   position in the file, text (or why there is none), id, values of the other columns that the pass reads
//! file:  the sum of its row hashes, so that threads may add them in any order
//! ```
//!
//! Text hashes are already computed to find copies, so there is little to do besides adding hashes.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use arrow::array::{Array as _, Int64Array};

use crate::engine::checkpoints::{PartialReader, PartialWriter, Recorder};
use crate::engine::threads::Engine;
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::{combine, hash64, hash128, mix64};
use dupsift_input::Source;
use dupsift_tables::columns::read_as;
use dupsift_tables::{Documents, IdRef, Rejection, TextColumn};

/// The maximum length of a number that is hashed by value, in characters. Longer numbers may be rounded.
const LONGEST_NUMBER: usize = 15;
/// The integers with at most [`LONGEST_NUMBER`] characters.
const LONGEST: RangeInclusive<i64> = -99_999_999_999_999..=999_999_999_999_999;
/// The hash of a null.
const NULL: u64 = 1;

/// A sum of row hashes, stored as two 64-bit numbers. Each number wraps around separately.
pub type Sum = [u64; 2];

fn add(to: &mut Sum, sum: Sum) {
    for (to, sum) in to.iter_mut().zip(sum) {
        *to = to.wrapping_add(sum);
    }
}

/// Formats a sum for the record.
pub fn word([low, high]: &Sum) -> String {
    format!("{high:016x}{low:016x}")
}

/// Holds the sums of all input files. The threads add row hashes to the sums as they read files.
#[derive(Debug, Default)]
pub struct ContentHashes {
    sums: Vec<[AtomicU64; 2]>,
    /// The number of documents, counted from the start of the corpus, that the sums include.
    documents: AtomicU64,
    /// The hashes that were added after the last partial checkpoint, by file.
    since: Mutex<BTreeMap<usize, Sum>>,
}

impl ContentHashes {
    /// Returns empty sums for this number of files.
    pub fn new(files: usize) -> ContentHashes {
        let sums = std::iter::repeat_with(Default::default).take(files).collect();
        ContentHashes { sums, documents: AtomicU64::new(0), since: Mutex::default() }
    }

    /// Adds the hashes of some rows of a file.
    pub fn add(&self, file: usize, sum: Sum) {
        let Some(known) = self.sums.get(file) else { return };
        for (known, sum) in known.iter().zip(sum) {
            known.fetch_add(sum, Relaxed);
        }
        add(self.since.lock().unwrap_or_else(PoisonError::into_inner).entry(file).or_default(), sum);
    }

    /// Returns the sums, in file order.
    pub fn sums(&self) -> Vec<Sum> {
        self.sums.iter().map(|[low, high]| [low.load(Relaxed), high.load(Relaxed)]).collect()
    }

    /// Returns the number of the first document that the sums do not include.
    pub fn documents(&self) -> u64 {
        self.documents.load(Relaxed)
    }

    /// Records that the sums include all documents before number `documents`.
    pub(crate) fn cover(&self, documents: u64) {
        self.documents.store(documents, Relaxed);
    }
}

/// Saves the sums added since the last partial checkpoint. Afterwards, the sums include all documents up to the end of the new partial
/// checkpoint.
impl Recorder for ContentHashes {
    fn save_partial(&self, docs: &[Range<u64>], to: &mut PartialWriter<'_>) -> Result<()> {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        to.plain(&*since)?;
        since.clear();
        docs.last().into_iter().for_each(|docs| self.cover(docs.end));
        Ok(())
    }

    fn restore_partial(&self, _: &Engine<'_>, docs: &[Range<u64>], from: &mut PartialReader<'_>) -> Result<()> {
        let sums: BTreeMap<usize, Sum> = from.plain()?;
        sums.into_iter().for_each(|(file, sum)| self.add(file, sum));
        self.since.lock().unwrap_or_else(PoisonError::into_inner).clear();
        docs.last().into_iter().for_each(|docs| self.cover(docs.end));
        Ok(())
    }
}

/// The hashes of a row's text (or of the reason why the row has no text) and of its id. The other columns are hashed separately.
pub type Row = (u128, u64);

/// Returns the hashes of the text and id of a row in a batch. `text` is the hash of the text or the reason why the row has no text.
pub fn row(batch: &Documents, at: usize, text: std::result::Result<u128, &Rejection>) -> Row {
    let text = text.unwrap_or_else(|why| !hash128(why.to_string().as_bytes()));
    (text, batch.id(at).map_or(0, IdRef::text_hash))
}

/// Returns the position of the batch's file, and the sum of the batch's row hashes. The hashes include the values of `columns`.
///
/// # Errors
/// Returns an error if the values of a column cannot be read.
pub fn sum(source: &Source, batch: &Documents, columns: &[String], rows: &[Row]) -> Result<(usize, Sum)> {
    let file = source.place(batch.doc(0));
    let first_doc = source.files[file].first_doc;
    let columns = columns.iter().map(|name| Values::of(batch, name)).collect::<Result<Vec<_>>>()?;
    let mut all = Sum::default();
    for (at, (text, id)) in rows.iter().enumerate() {
        let place = batch.doc(at) - first_doc;
        let low = combine(combine(*text as u64, *id), place);
        let high = combine(combine((*text >> 64) as u64, place), *id);
        let (low, high) = columns
            .iter()
            .map(|values| values.hash(at))
            .fold((low, high), |(low, high), value| (combine(low, value), combine(high, !value)));
        add(&mut all, [mix64(low), mix64(high)]);
    }
    Ok((file, all))
}

/// Holds the values of a column in a batch.
enum Values {
    /// No values: the file has no column with this name, or the column holds lists or structs, which no pass reads.
    None,
    /// Strings, including fractions and large numbers in their written form.
    Spelled(TextColumn),
    /// Integers.
    Whole(Int64Array),
    /// Dates, times and durations, in the unit of the file.
    Times(Int64Array),
}

impl Values {
    fn of(batch: &Documents, name: &str) -> Result<Values> {
        let Some(column) = batch.column(name) else { return Ok(Values::None) };
        let column = read_as::unpacked(column).map_err(Error::columns("read a column"))?;
        let (is_integer, is_temporal) = (column.data_type().is_integer(), column.data_type().is_temporal());
        if (is_integer || is_temporal)
            && let Some(values) = read_as::whole(&column).map_err(Error::columns("read a column"))?
        {
            return Ok(if is_integer { Values::Whole(values) } else { Values::Times(values) });
        }
        Ok(batch.spelled_column(name)?.map_or(Values::None, Values::Spelled))
    }

    /// Returns the hash of a value. A number has the same hash whether its batch holds integers, other numbers or strings, because the type
    /// of a column depends on where batches end.
    fn hash(&self, at: usize) -> u64 {
        match self {
            Values::None => 0,
            Values::Whole(values) | Values::Times(values) if values.is_null(at) => NULL,
            Values::Times(values) => mix64(values.value(at) as u64),
            Values::Whole(values) if LONGEST.contains(&values.value(at)) => mix64((values.value(at) as f64).to_bits()),
            Values::Whole(values) => hash64(values.value(at).to_string().as_bytes()),
            Values::Spelled(values) => match values.get(at).text() {
                Err(_) => NULL,
                Ok(text) if text.len() <= LONGEST_NUMBER => {
                    text.parse().map_or_else(|_| hash64(text.as_bytes()), |number: f64| mix64(number.to_bits()))
                }
                Ok(text) => hash64(text.as_bytes()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Date32Array, Float64Array, RecordBatch, StringArray, TimestampMicrosecondArray};

    use super::*;

    fn hashes(column: ArrayRef) -> Vec<u64> {
        let rows = column.len();
        let batch = RecordBatch::try_from_iter_with_nullable([("v", column, true)]).expect("a batch");
        let values = Values::of(&Documents::new(0, batch, None, None).expect("documents"), "v").expect("values");
        (0..rows).map(|row| values.hash(row)).collect()
    }

    #[test]
    fn a_number_has_one_hash_in_every_type() {
        let long = [999_999_999_999_999, 1_000_000_000_000_000, -99_999_999_999_999, -100_000_000_000_000];
        let numbers = [Some(0), Some(7), None, Some(i64::MIN)].into_iter().chain(long.map(Some));
        let whole: ArrayRef = Arc::new(numbers.clone().collect::<Int64Array>());
        let texts: ArrayRef =
            Arc::new(numbers.map(|number| number.map(|number| number.to_string())).collect::<StringArray>());
        assert_eq!(hashes(whole), hashes(texts));
        let few: ArrayRef = Arc::new(Int64Array::from(vec![7]));
        assert_eq!(hashes(few), hashes(Arc::new(Float64Array::from(vec![7.0]))));
    }

    #[test]
    fn days_and_times_are_hashed_by_value_whatever_their_zone_and_range() {
        let days = hashes(Arc::new(Date32Array::from(vec![Some(i32::MAX), Some(i32::MAX - 1), None])));
        assert!(days[0] != days[1] && days[2] == NULL, "{days:?}");
        let times = TimestampMicrosecondArray::from(vec![Some(1), Some(2), None]).with_timezone("UTC");
        let times = hashes(Arc::new(times));
        assert!(times[0] != times[1] && times[2] == NULL, "{times:?}");
    }
}
