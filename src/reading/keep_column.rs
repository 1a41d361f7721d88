//! A column of `--keep` as arrays that compare across batches and files, of any types.
//!
//! Three arrays a column: a number as the nearest float, what that float rounds away, and a text. So whole numbers of 64
//! bits and times compare exactly, also with real floats. What is null, not a number, or not there at all is nothing, and
//! stands behind everything in either direction (see `keep`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, LargeStringArray, new_null_array};
use arrow_schema::{DataType, TimeUnit};

use crate::batch::read_as;
use crate::error::{Error, Result};
use crate::spelling::opt;

/// What kinds of values a column had so far, in any batch of any thread.
#[derive(Debug, Default)]
pub struct Kinds {
    texts: AtomicBool,
    numbers: AtomicBool,
}

impl Kinds {
    /// Whether there were texts, and numbers.
    pub fn seen(&self) -> [bool; 2] {
        [&self.texts, &self.numbers].map(|kind| kind.load(Relaxed))
    }

    /// Adds what another process has seen of the column.
    ///
    /// # Errors
    /// [`Error::Usage`] where the column has texts and numbers.
    pub fn add(&self, name: &str, [texts, numbers]: [bool; 2]) -> Result<()> {
        self.texts.fetch_or(texts, Relaxed);
        self.numbers.fetch_or(numbers, Relaxed);
        not_both(name, self)
    }
}

/// The three arrays of a column of `rows` rows; `array` is none where the file lacks the column.
///
/// # Errors
/// [`Error::Usage`] for a type without an order, and for texts where `kinds` has seen numbers, or the other way round.
pub fn comparable(name: &str, array: Option<&ArrayRef>, rows: usize, kinds: &Kinds) -> Result<[ArrayRef; 3]> {
    let nothing = |kind: &DataType| new_null_array(kind, rows);
    // A batch of nulls says nothing of the column's type: a file may lack the values, and JSON has no types.
    let Some(array) = array.filter(|array| array.logical_null_count() < array.len()) else {
        return Ok([nothing(&DataType::Float64), nothing(&DataType::Int64), nothing(&DataType::LargeUtf8)]);
    };
    let unordered = || {
        Error::wrong(
            opt("keep"),
            format_args!(
                "the column {name:?} holds {}, which has no order here; expected numbers, times, texts or booleans",
                array.data_type()
            ),
        )
    };
    let plain = read_as::unpacked(array).map_err(|_| unordered())?;
    if let Some(texts) = read_as::texts(&plain).map_err(|_| unordered())? {
        kinds.texts.store(true, Relaxed);
        not_both(name, kinds)?;
        let texts = Arc::new(LargeStringArray::from_iter(texts.iter()));
        return Ok([nothing(&DataType::Float64), nothing(&DataType::Int64), texts]);
    }
    let whole = |scale: i128| -> Result<(ArrayRef, ArrayRef)> {
        let values = read_as::whole(&plain).map_err(|_| unordered())?.ok_or_else(unordered)?;
        Ok(exact(values.iter().map(|value| value.map(|value| i128::from(value) * scale))))
    };
    let (floats, rest) = match plain.data_type() {
        // Times are counted in nanoseconds, so that files of different units compare.
        DataType::Timestamp(unit, _) => whole(nanoseconds(*unit))?,
        DataType::Date32 => whole(24 * 60 * 60 * nanoseconds(TimeUnit::Second))?,
        DataType::Date64 => whole(nanoseconds(TimeUnit::Millisecond))?,
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            let values = read_as::floats(&plain).map_err(|_| unordered())?.ok_or_else(unordered)?;
            // Adding 0.0 makes -0.0 the 0.0 that it equals.
            let number = |value: f64| if value.is_nan() { None } else { Some(value + 0.0) };
            let floats: Float64Array = values.iter().map(|value| value.and_then(number)).collect();
            (Arc::new(floats) as ArrayRef, Arc::new(Int64Array::from(vec![0; rows])) as ArrayRef)
        }
        DataType::UInt64 => exact(plain.as_primitive::<UInt64Type>().iter().map(|value| value.map(i128::from))),
        kind if kind.is_integer() || *kind == DataType::Boolean => whole(1)?,
        _ => return Err(unordered()),
    };
    kinds.numbers.store(true, Relaxed);
    not_both(name, kinds)?;
    Ok([floats, rest, nothing(&DataType::LargeUtf8)])
}

/// Whichever thread comes second sees both: the error does not depend on who that is.
fn not_both(name: &str, kinds: &Kinds) -> Result<()> {
    if kinds.texts.load(Relaxed) && kinds.numbers.load(Relaxed) {
        return Err(Error::wrong(
            opt("keep"),
            format_args!(
                "the column {name:?} is text in one place of the input and a number in another; expected one of them in all"
            ),
        ));
    }
    Ok(())
}

fn nanoseconds(unit: TimeUnit) -> i128 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    }
}

/// Whole numbers as the nearest floats, and what these round away.
fn exact(values: impl Iterator<Item = Option<i128>> + Clone) -> (ArrayRef, ArrayRef) {
    let floats: Float64Array = values.clone().map(|value| value.map(|value| value as f64)).collect();
    // The largest values here are below 2^96, where floats are 2^44 apart: what is left fits.
    let rest: Int64Array = values.map(|value| value.map(|value| (value - (value as f64) as i128) as i64)).collect();
    (Arc::new(floats), Arc::new(rest))
}

#[cfg(test)]
mod tests {
    use arrow_array::{
        Date32Array, ListArray, NullArray, StringArray, TimestampMicrosecondArray, TimestampSecondArray, UInt64Array,
    };

    use arrow_array::types::{Float64Type, Int64Type};

    use super::*;

    /// The rows of some arrays of one column, as tuples that compare as `keep` compares them.
    fn keys(arrays: &[ArrayRef]) -> Vec<(Option<f64>, Option<i64>, Option<String>)> {
        let kinds = Kinds::default();
        let of = |array: &ArrayRef| {
            let [floats, rest, texts] = comparable("score", Some(array), array.len(), &kinds).expect("an order");
            let (floats, rest) =
                (floats.as_primitive::<Float64Type>().clone(), rest.as_primitive::<Int64Type>().clone());
            let texts = texts.as_string::<i64>().clone();
            let rows = floats.iter().zip(rest.iter()).zip(texts.iter());
            rows.map(|((a, b), c)| (a, b, c.map(str::to_owned))).collect::<Vec<_>>()
        };
        arrays.iter().flat_map(of).collect()
    }

    #[test]
    fn numbers_compare_exactly_and_what_is_no_number_is_nothing() {
        let floats = Float64Array::from(vec![Some(f64::NAN), Some(-0.0), Some(0.0), None]);
        let found = keys(&[Arc::new(floats)]);
        assert_eq!((found[0].0, found[3].0), (None, None));
        assert!(found[1].0.map(f64::to_bits) == Some(0) && found[1] == found[2]);
        // Above the largest signed number, and closer together than floats are.
        let large = keys(&[Arc::new(UInt64Array::from(vec![u64::MAX - 1, u64::MAX, 1 << 63]))]);
        assert!(large.iter().all(|key| key.0.is_some()));
        assert!(large[2] < large[0] && large[0] < large[1]);
        let signed = keys(&[Arc::new(Int64Array::from(vec![i64::MAX - 1, i64::MAX, i64::MIN]))]);
        assert!(signed[2] < signed[0] && signed[0] < signed[1] && signed[1] < large[2]);
    }

    #[test]
    fn times_of_all_units_compare_also_where_nanoseconds_overflow() {
        // The end of the year 9999, which databases write for "never", one second before it, and 1970.
        let never = 253_402_300_799;
        let seconds: ArrayRef = Arc::new(TimestampSecondArray::from(vec![never, 0]));
        let micros: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![(never - 1) * 1_000_000, 1]));
        let days: ArrayRef = Arc::new(Date32Array::from(vec![1]));
        let found = keys(&[seconds, micros, days]);
        assert!(found[2] < found[0] && found[1] < found[3] && found[3] < found[4] && found[4] < found[2]);
    }

    #[test]
    fn nulls_have_no_type_and_mixed_types_are_refused_in_either_order() {
        let kinds = Kinds::default();
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None]));
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["1", "2"]));
        let nothing: [ArrayRef; 2] = [Arc::new(NullArray::new(2)), Arc::new(Int64Array::from(vec![None, None]))];
        for array in &nothing {
            assert!(comparable("date", Some(array), 2, &kinds).is_ok());
        }
        assert!(comparable("date", Some(&texts), 2, &kinds).is_ok() && comparable("date", None, 2, &kinds).is_ok());
        for (first, second) in [(&texts, &numbers), (&numbers, &texts)] {
            let kinds = Kinds::default();
            assert!(comparable("date", Some(first), 2, &kinds).is_ok());
            let message = comparable("date", Some(second), 2, &kinds).expect_err("mixed").to_string();
            assert!(message.contains("\"date\" is text in one place"), "{message}");
        }
        let list: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>([Some([Some(1)])]));
        assert!(comparable("date", Some(&list), 1, &kinds).expect_err("a list").to_string().contains("no order"));
    }
}
