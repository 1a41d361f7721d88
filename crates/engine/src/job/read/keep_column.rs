//! Encodes values of a `--keep` column as bytes that can be compared across batches, files and types.
//!
//! A value is recorded as a number if it is a number, and as text if it has a text form. When all values are known, the column is
//! compared as numbers if at least half of its values are numbers, and as text otherwise. A single `-` among a million scores therefore
//! affects only its own row. Values that cannot be compared count as null, and nulls come last in either direction.
//!
//! ```text
//! value         as a number   as text
//! 9 (Int64)     9             9
//! 0.5 (Double)  0.5
//! "1e2"         100           1e2
//! "-"                         -
//! null, NaN
//! ```

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use arrow::array::{Array, ArrayRef, cast::AsArray as _};
use arrow::datatypes::UInt64Type;
use arrow::datatypes::{DataType, TimeUnit};
use serde::{Deserialize, Serialize};

use super::keep_number::{Read, put_float, put_number, put_text};
use crate::engine::checkpoints::Recorder;
use dupsift_core::error::{Error, Result};
use dupsift_core::number::thousands;
use dupsift_tables::columns::{read_as, utf8};

/// The bits in the first byte of a value. These bits determine how the following bytes are interpreted.
const IS_NUMBER: u8 = 1;
const IS_TEXT: u8 = 2;

/// A column that is compared as text triggers a warning if at least 1/`MIXED_SHARE` of its values are numbers.
const MIXED_SHARE: u64 = 10;

/// Counts the values of a column by kind, in the rows read so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct ValueCounts {
    /// The number of values that are numbers.
    pub numbers: u64,
    /// The number of numeric values without a text form: fractions, times and booleans from typed columns.
    pub typed: u64,
    /// The number of strings that are not numbers.
    pub texts: u64,
    /// The number of values in a binary column that are not UTF-8.
    pub broken: u64,
}

impl ValueCounts {
    /// Returns whether the column is compared as numbers.
    pub(crate) fn is_of_numbers(&self) -> bool {
        self.numbers >= self.texts
    }

    /// Returns a warning if the column is compared as text although many of its values are numbers, for example because most values are a
    /// placeholder.
    pub fn warning(&self, column: &str) -> Option<String> {
        let all = self.numbers + self.texts;
        let is_mixed = !self.is_of_numbers() && self.numbers >= all.div_ceil(MIXED_SHARE);
        is_mixed.then(|| {
            format!(
                "column {column:?} is compared as text, because only {} of {} values are numbers",
                thousands(self.numbers),
                thousands(all)
            )
        })
    }

    /// Returns the reasons why values of the column count as null, each with the number of affected values.
    pub fn lost(&self) -> [(&'static str, u64); 2] {
        let other = if self.is_of_numbers() { ("not a number", self.texts) } else { ("not text", self.typed) };
        [other, (utf8::NOT_UTF8, self.broken)]
    }
}

/// Holds a tally to which many threads add.
#[derive(Debug, Default)]
pub(crate) struct Tallying {
    numbers: AtomicU64,
    typed: AtomicU64,
    texts: AtomicU64,
    broken: AtomicU64,
}

impl Tallying {
    /// Returns the sum so far.
    pub(crate) fn sum(&self) -> ValueCounts {
        let [numbers, typed, texts, broken] =
            [&self.numbers, &self.typed, &self.texts, &self.broken].map(|count| count.load(Relaxed));
        ValueCounts { numbers, typed, texts, broken }
    }

    /// Adds the tally of additional rows.
    pub(crate) fn add(&self, other: ValueCounts) {
        let ValueCounts { numbers, typed, texts, broken } = other;
        let counts = [(&self.numbers, numbers), (&self.typed, typed), (&self.texts, texts), (&self.broken, broken)];
        counts.into_iter().for_each(|(count, more)| _ = count.fetch_add(more, Relaxed));
    }
}

impl Recorder for Tallying {
    fn parts(&self) -> Vec<&dyn Recorder> {
        vec![&self.numbers, &self.typed, &self.texts, &self.broken]
    }
}

/// Holds the values of a column in a batch, in the form that [`parts`] reads.
#[derive(Debug, Default)]
pub struct Noted {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    tally: ValueCounts,
}

impl Noted {
    /// Returns the bytes of the value in a row.
    pub fn row(&self, row: usize) -> &[u8] {
        let begin = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[begin..self.ends[row]]
    }

    /// Returns the tally of the values.
    pub fn tally(&self) -> ValueCounts {
        self.tally
    }

    /// Adds a value without a text form. `put` appends the value as a number, and returns whether it is a number.
    fn typed(&mut self, put: impl FnOnce(&mut Vec<u8>) -> bool) {
        let is_number = self.number(put);
        self.tally.numbers += u64::from(is_number);
        self.tally.typed += u64::from(is_number);
        self.ends.push(self.bytes.len());
    }

    fn text(&mut self, text: Option<&str>) {
        self.put(text, put_text);
    }

    /// Adds an integer. The same JSON column may hold integers in one batch and strings in the next, so the integer is also recorded as
    /// text.
    fn integer(&mut self, value: Option<i128>) {
        let digits = value.map(|value| value.to_string());
        self.put(digits.as_deref(), |digits, out| {
            let (is_negative, digits) = digits.strip_prefix('-').map_or((false, digits), |digits| (true, digits));
            put_number(is_negative, digits.as_bytes(), &[], 0, out);
            Read::Number
        });
    }

    /// Adds a string. `number` appends the string as a number, and returns whether the string is a number.
    fn put(&mut self, text: Option<&str>, number: impl FnOnce(&str, &mut Vec<u8>) -> Read) {
        let Some(text) = text else { return self.typed(|_| false) };
        let (mut read, at) = (Read::NoNumber, self.bytes.len());
        self.number(|out| {
            read = number(text, out);
            read == Read::Number
        });
        if read != Read::NaN {
            self.bytes[at] |= IS_TEXT;
            self.bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
            self.bytes.extend_from_slice(text.as_bytes());
            *(if read == Read::Number { &mut self.tally.numbers } else { &mut self.tally.texts }) += 1;
        }
        self.ends.push(self.bytes.len());
    }

    /// Appends the first byte of a value, followed by the number if the value is a number.
    fn number(&mut self, put: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 5]);
        let is_number = put(&mut self.bytes);
        if is_number {
            let length = (self.bytes.len() - at - 5) as u32;
            self.bytes[at] = IS_NUMBER;
            self.bytes[at + 1..at + 5].copy_from_slice(&length.to_le_bytes());
        } else {
            self.bytes.truncate(at + 1);
        }
        is_number
    }
}

/// Reads the next value from the recorded bytes of a row, and advances past it. Returns the number and the text of the value, if present.
pub fn parts<'b>(bytes: &mut &'b [u8]) -> (Option<&'b [u8]>, Option<&'b [u8]>) {
    let kind = bytes.split_off_first().copied().unwrap_or_default();
    let mut part = |bit: u8| {
        let length = (kind & bit != 0).then(|| bytes.split_off(..4)).flatten()?;
        bytes.split_off(..u32::from_le_bytes(length.try_into().ok()?) as usize)
    };
    (part(IS_NUMBER), part(IS_TEXT))
}

/// Records the values of a column. `rows` is the number of rows. `array` is `None` if the file lacks the column.
///
/// # Errors
/// Returns [`Error::Usage`] if the values of the column's type cannot be ordered.
pub fn note(name: &str, array: Option<&ArrayRef>, rows: usize) -> Result<Noted> {
    let mut noted = Noted { ends: Vec::with_capacity(rows), ..Noted::default() };
    // If all values in a batch are null, the type of the column is ignored, because it may not reflect any value in the file.
    let Some(array) = array.filter(|array| array.logical_null_count() < array.len()) else {
        (0..rows).for_each(|_| noted.typed(|_| false));
        return Ok(noted);
    };
    let unordered = || {
        Error::wrong(
            "keep",
            format_args!(
                "the column {name:?} has the type {}, which cannot be ordered; expected numbers, times, strings or booleans",
                array.data_type()
            ),
        )
    };
    let plain = read_as::unpacked(array).map_err(|_| unordered())?;
    if let Some(texts) = read_as::texts(&plain).map_err(|_| unordered())? {
        texts.iter().for_each(|text| noted.text(text));
        return Ok(noted);
    }
    let mut whole = |scale: i128| -> Result<()> {
        let values = read_as::whole(&plain).map_err(|_| unordered())?.ok_or_else(unordered)?;
        values.iter().for_each(|value| noted.typed(|out| put_whole(value.map(|value| i128::from(value) * scale), out)));
        Ok(())
    };
    match plain.data_type() {
        // Times are converted to nanoseconds so that files with different units can be compared.
        DataType::Timestamp(unit, _) | DataType::Time32(unit) | DataType::Time64(unit) | DataType::Duration(unit) => {
            whole(nanoseconds(*unit))?;
        }
        DataType::Date32 => whole(24 * 60 * 60 * nanoseconds(TimeUnit::Second))?,
        DataType::Date64 => whole(nanoseconds(TimeUnit::Millisecond))?,
        DataType::Boolean => whole(1)?,
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            let values = read_as::floats(&plain).map_err(|_| unordered())?.ok_or_else(unordered)?;
            values.iter().for_each(|value| noted.typed(|out| value.is_some_and(|value| put_float(value, out))));
        }
        DataType::UInt64 => {
            let values = plain.as_primitive::<UInt64Type>();
            values.iter().for_each(|value| noted.integer(value.map(i128::from)));
        }
        kind if kind.is_integer() => {
            let values = read_as::whole(&plain).map_err(|_| unordered())?.ok_or_else(unordered)?;
            values.iter().for_each(|value| noted.integer(value.map(i128::from)));
        }
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
            let values = read_as::bytes(&plain).map_err(|_| unordered())?.ok_or_else(unordered)?;
            let (texts, wrong) = utf8::checked(values);
            texts.iter().for_each(|text| noted.text(text));
            noted.tally.broken = wrong.len() as u64;
        }
        kind if kind.is_decimal() => {
            let values = read_as::spelled(&plain).map_err(|_| unordered())?;
            let put = |value: Option<&str>, out: &mut Vec<u8>| {
                value.is_some_and(|value| put_text(value, out) == Read::Number)
            };
            values.iter().for_each(|value| noted.typed(|out| put(value, out)));
        }
        _ => return Err(unordered()),
    }
    Ok(noted)
}

fn put_whole(value: Option<i128>, out: &mut Vec<u8>) -> bool {
    value.is_some_and(|value| put_number(value < 0, value.unsigned_abs().to_string().as_bytes(), &[], 0, out))
}

fn nanoseconds(unit: TimeUnit) -> i128 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{
        BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int64Array, ListArray,
        NullArray, StringArray, TimestampMicrosecondArray, TimestampSecondArray, UInt64Array,
    };
    use arrow::datatypes::Int64Type;

    use super::*;

    /// Returns the encoded numbers of the values in several arrays of one column.
    fn numbers(arrays: &[ArrayRef]) -> Vec<Option<Vec<u8>>> {
        let of = |array: &ArrayRef| {
            let noted = note("score", Some(array), array.len()).expect("an order");
            let number = |row| parts(&mut noted.row(row)).0.map(<[u8]>::to_vec);
            (0..array.len()).map(number).collect::<Vec<_>>()
        };
        arrays.iter().flat_map(of).collect()
    }

    #[test]
    fn numbers_compare_exactly_and_what_is_no_number_is_nothing() {
        let floats = Float64Array::from(vec![Some(f64::NAN), Some(-0.0), Some(0.0), None]);
        let found = numbers(&[Arc::new(floats)]);
        assert!(found[0].is_none() && found[3].is_none() && found[1].is_some() && found[1] == found[2]);
        // These numbers exceed the largest signed integer, and the differences between them are too small for floats.
        let large = numbers(&[Arc::new(UInt64Array::from(vec![u64::MAX - 1, u64::MAX, 1 << 63]))]);
        assert!(large[2] < large[0] && large[0] < large[1]);
        let signed = numbers(&[Arc::new(Int64Array::from(vec![i64::MAX - 1, i64::MAX, i64::MIN]))]);
        assert!(signed[2] < signed[0] && signed[0] < signed[1] && signed[1] < large[2]);
        let halves =
            numbers(&[Arc::new(Float32Array::from_iter_values([0.5, -2.0])), Arc::new(Int64Array::from(vec![0, 1]))]);
        assert!(halves[1] < halves[2] && halves[2] < halves[0] && halves[0] < halves[3]);
    }

    #[test]
    fn one_number_is_the_same_in_every_type() {
        let decimals = Decimal128Array::from(vec![700, 705]).with_precision_and_scale(10, 2).expect("fits");
        let found = numbers(&[
            Arc::new(Int64Array::from(vec![7])),
            Arc::new(Float64Array::from(vec![7.0])),
            Arc::new(StringArray::from(vec!["007", " 7.0 ", "7.05"])),
            Arc::new(decimals),
            Arc::new(BinaryArray::from(vec![&b"7"[..]])),
            Arc::new(BooleanArray::from(vec![true])),
        ]);
        assert!([1, 2, 3, 5, 7].into_iter().all(|at| found[at] == found[0]), "{found:?}");
        assert!(found[4] == found[6] && found[0] < found[4] && found[8] < found[0]);
    }

    #[test]
    fn times_of_all_units_compare_also_where_nanoseconds_overflow() {
        // The times are the end of the year 9999 (which databases write for "never"), one second earlier, and a time in 1970.
        let never = 253_402_300_799;
        let seconds: ArrayRef = Arc::new(TimestampSecondArray::from(vec![never, 0]));
        let micros: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![(never - 1) * 1_000_000, 1]));
        let days: ArrayRef = Arc::new(Date32Array::from(vec![1]));
        let found = numbers(&[seconds, micros, days]);
        assert!(found[2] < found[0] && found[1] < found[3] && found[3] < found[4] && found[4] < found[2]);
    }

    #[test]
    fn times_of_day_and_durations_compare_in_all_units() {
        use arrow::array::{DurationMillisecondArray, DurationSecondArray, Time32SecondArray, Time64MicrosecondArray};
        let found = numbers(&[
            Arc::new(Time32SecondArray::from(vec![Some(61), None])),
            Arc::new(Time64MicrosecondArray::from(vec![61_000_000, 60_000_000])),
            Arc::new(DurationSecondArray::from(vec![i64::MAX, 1])),
            Arc::new(DurationMillisecondArray::from(vec![1000, i64::MIN])),
        ]);
        assert!(found[1].is_none() && found[0] == found[2] && found[3] < found[0]);
        assert!(found[5] < found[4] && found[5] == found[6] && found[7] < found[6]);
    }

    #[test]
    fn most_values_say_whether_a_column_is_of_numbers() {
        let tally = |values: &[&str]| {
            let array: ArrayRef = Arc::new(StringArray::from(values.to_vec()));
            note("score", Some(&array), array.len()).expect("an order").tally()
        };
        let scores = tally(&["10", "9", "-", "NaN", "1e2"]);
        assert_eq!(scores, ValueCounts { numbers: 3, typed: 0, texts: 1, broken: 0 });
        assert_eq!((scores.is_of_numbers(), scores.lost()[0]), (true, ("not a number", 1)));
        let dates = tally(&["2024-01-02", "2023-01-02", "2022"]);
        assert_eq!((dates.is_of_numbers(), dates.lost()[0]), (false, ("not text", 0)));
        let said = tally(&["n/a", "1", "n/a"]).warning("score");
        assert_eq!(
            said.as_deref(),
            Some("column \"score\" is compared as text, because only 1 of 3 values are numbers")
        );
        let few = [vec!["a word"; 10], vec!["1"]].concat();
        assert_eq!([tally(&few).warning("title"), scores.warning("score")], [None, None]);
        let sum = Tallying::default();
        sum.add(dates);
        sum.add(ValueCounts { numbers: 1, typed: 1, ..ValueCounts::default() });
        assert_eq!(sum.sum().lost()[0], ("not a number", 2));
        let sum = Tallying::default();
        sum.add(dates);
        // One file has typed dates, and the other files have dates as strings.
        let typed: ArrayRef = Arc::new(Date32Array::from(vec![1]));
        sum.add(note("date", Some(&typed), 1).expect("an order").tally());
        assert_eq!((sum.sum().is_of_numbers(), sum.sum().lost()[0]), (true, ("not a number", 2)));
        sum.add(dates);
        assert_eq!((sum.sum().is_of_numbers(), sum.sum().lost()[0]), (false, ("not text", 1)));
        let whole: ArrayRef = Arc::new(Int64Array::from(vec![Some(12), None]));
        let noted = note("id", Some(&whole), 2).expect("an order");
        assert_eq!(
            (parts(&mut noted.row(0)).1, parts(&mut noted.row(1)), noted.tally().numbers),
            (Some(&b"12"[..]), (None, None), 1)
        );
    }

    #[test]
    fn a_value_is_read_back_with_its_text() {
        let array: ArrayRef = Arc::new(StringArray::from(vec![Some("+1e2"), Some("кот"), None, Some("nan"), Some("")]));
        let noted = note("score", Some(&array), 5).expect("an order");
        let mut both = [noted.row(0), noted.row(1)].concat();
        both.extend(noted.row(2));
        let mut rest = both.as_slice();
        let (number, text) = parts(&mut rest);
        assert_eq!(
            (number.map(<[u8]>::to_vec), text),
            (numbers(&[Arc::new(Int64Array::from(vec![100]))])[0].clone(), Some(&b"+1e2"[..]))
        );
        assert_eq!(
            (parts(&mut rest), parts(&mut rest), rest),
            ((None, Some("кот".as_bytes())), (None, None), &b""[..])
        );
        assert_eq!((parts(&mut noted.row(3)), parts(&mut noted.row(4))), ((None, None), (None, Some(&b""[..]))));
    }

    #[test]
    fn nulls_have_no_type_and_lists_no_order() {
        let nothing: [ArrayRef; 2] = [Arc::new(NullArray::new(2)), Arc::new(Int64Array::from(vec![None, None]))];
        for array in &nothing {
            assert_eq!(note("date", Some(array), 2).expect("nulls").tally(), ValueCounts::default());
        }
        assert_eq!(note("date", None, 2).expect("no column").row(1), [0]);
        let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![&b"b"[..], b"\xFF"]));
        let noted = note("date", Some(&bytes), 2).expect("bytes");
        assert_eq!((noted.tally().texts, noted.tally().lost()[1]), (1, ("not UTF-8", 1)));
        let list: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>([Some([Some(1)])]));
        assert!(note("date", Some(&list), 1).expect_err("a list").to_string().contains("cannot be ordered"));
    }
}
