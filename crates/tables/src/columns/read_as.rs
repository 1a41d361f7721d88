//! Converts file columns to the few types that dupsift uses: views for strings and bytes, 64-bit integers, and 64-bit floats.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::AsArray;
use arrow::array::timezone::Tz;
use arrow::array::{
    Array, ArrayRef, BinaryViewArray, Float64Array, Int64Array, StringViewArray, UInt64Array, make_array,
};
use arrow::datatypes::{
    ArrowPrimitiveType, Date32Type, Date64Type, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow::datatypes::{DataType, TimeUnit};
use arrow::error::ArrowError;
use arrow::util::display::{ArrayFormatter, FormatOptions};

/// Returns the column with dictionaries unpacked. Strings from a dictionary become views, so that a long value shared by many rows is in
/// memory only once.
///
/// # Errors
/// Returns an error if keys are out of range.
pub fn unpacked(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match column.as_any_dictionary_opt() {
        Some(packed) => unpacked(&arrow::compute::take(&as_views(packed.values()), packed.keys(), None)?),
        None => Ok(column.clone()),
    }
}

fn as_views(values: &ArrayRef) -> ArrayRef {
    match values.data_type() {
        DataType::Utf8 => Arc::new(StringViewArray::from(values.as_string::<i32>())),
        DataType::LargeUtf8 => Arc::new(StringViewArray::from(values.as_string::<i64>())),
        DataType::Binary => Arc::new(BinaryViewArray::from(values.as_binary::<i32>())),
        DataType::LargeBinary => Arc::new(BinaryViewArray::from(values.as_binary::<i64>())),
        _ => values.clone(),
    }
}

/// Splits rows into ranges, so that the unpacked columns take at most `most` bytes in each range. A range exceeds the limit only if a
/// single row does.
///
/// # Errors
/// Returns an error if keys are out of range.
pub fn portions(columns: &[&ArrayRef], rows: usize, most: usize) -> Result<Vec<Range<usize>>, ArrowError> {
    let mut lengths = vec![0; rows];
    for column in columns {
        let column = as_views(&unpacked(column)?);
        let mut add = |of: &mut dyn Iterator<Item = u32>| {
            let values = lengths.iter_mut().zip(of).enumerate().filter(|(row, _)| column.is_valid(*row));
            values.for_each(|(_, (sum, length))| *sum += length as usize);
        };
        match column.data_type() {
            DataType::Utf8View => add(&mut column.as_string_view().lengths()),
            DataType::BinaryView => add(&mut column.as_binary_view().lengths()),
            _ => {}
        }
    }
    let (mut portions, mut begin, mut bytes) = (Vec::new(), 0, 0);
    for (row, length) in lengths.into_iter().enumerate() {
        if bytes > 0 && length > 0 && bytes + length > most {
            portions.push(begin..row);
            (begin, bytes) = (row, 0);
        }
        bytes += length;
    }
    if begin < rows {
        portions.push(begin..rows);
    }
    Ok(portions)
}

/// Returns strings of any type as views that refer to the original bytes; `None` if the column is not a string column. A column with only
/// nulls counts as a string column.
///
/// # Errors
/// Returns an error if keys are out of range.
pub fn texts(column: &ArrayRef) -> Result<Option<StringViewArray>, ArrowError> {
    let column = unpacked(column)?;
    Ok(Some(match column.data_type() {
        DataType::Utf8View => column.as_string_view().clone(),
        DataType::Utf8 => column.as_string::<i32>().into(),
        DataType::LargeUtf8 => column.as_string::<i64>().into(),
        DataType::Null => StringViewArray::new_null(column.len()),
        _ => return Ok(None),
    }))
}

/// Returns binary values of any type as views; `None` if the column is not a binary column. The views refer to the original bytes, except
/// for fixed-size values.
///
/// # Errors
/// Returns an error if keys are out of range.
pub fn bytes(column: &ArrayRef) -> Result<Option<BinaryViewArray>, ArrowError> {
    let column = unpacked(column)?;
    Ok(Some(match column.data_type() {
        DataType::BinaryView => column.as_binary_view().clone(),
        DataType::Binary => column.as_binary::<i32>().into(),
        DataType::LargeBinary => column.as_binary::<i64>().into(),
        DataType::FixedSizeBinary(_) => column.as_fixed_size_binary().iter().collect(),
        _ => return Ok(None),
    }))
}

/// Returns the column with strings converted to bytes, including strings in dictionaries. Used for columns that come from other programs,
/// because their strings are unchecked.
///
/// # Errors
/// Returns an error if the values do not have the layout of their type.
pub fn unchecked(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    if let Some(packed) = column.as_any_dictionary_opt() {
        return Ok(packed.with_values(unchecked(packed.values())?));
    }
    let data_type = match column.data_type() {
        DataType::Utf8 => DataType::Binary,
        DataType::LargeUtf8 => DataType::LargeBinary,
        DataType::Utf8View => DataType::BinaryView,
        _ => return Ok(column.clone()),
    };
    Ok(make_array(column.to_data().into_builder().data_type(data_type).build()?))
}

/// Returns integers, booleans, dates, times and durations as 64-bit integers; dates, times and durations are in the file's units. Returns
/// `None` for other types and for integers that may be out of range; see [`unsigned`].
///
/// # Errors
/// Returns an error if keys are out of range.
pub fn whole(column: &ArrayRef) -> Result<Option<Int64Array>, ArrowError> {
    let column = unpacked(column)?;
    Ok(Some(match column.data_type() {
        DataType::Boolean => column.as_boolean().iter().map(|value| value.map(i64::from)).collect(),
        DataType::Int8 => widened::<Int8Type, Int64Type>(&column),
        DataType::Int16 => widened::<Int16Type, Int64Type>(&column),
        DataType::Int32 => widened::<Int32Type, Int64Type>(&column),
        DataType::Int64 => column.as_primitive::<Int64Type>().clone(),
        DataType::UInt8 => widened::<UInt8Type, Int64Type>(&column),
        DataType::UInt16 => widened::<UInt16Type, Int64Type>(&column),
        DataType::UInt32 => widened::<UInt32Type, Int64Type>(&column),
        DataType::Date32 => widened::<Date32Type, Int64Type>(&column),
        DataType::Date64 => widened::<Date64Type, Int64Type>(&column),
        DataType::Timestamp(TimeUnit::Second, _) => widened::<TimestampSecondType, Int64Type>(&column),
        DataType::Timestamp(TimeUnit::Millisecond, _) => widened::<TimestampMillisecondType, Int64Type>(&column),
        DataType::Timestamp(TimeUnit::Microsecond, _) => widened::<TimestampMicrosecondType, Int64Type>(&column),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => widened::<TimestampNanosecondType, Int64Type>(&column),
        DataType::Time32(TimeUnit::Second) => widened::<Time32SecondType, Int64Type>(&column),
        DataType::Time32(TimeUnit::Millisecond) => widened::<Time32MillisecondType, Int64Type>(&column),
        DataType::Time64(TimeUnit::Microsecond) => widened::<Time64MicrosecondType, Int64Type>(&column),
        DataType::Time64(TimeUnit::Nanosecond) => widened::<Time64NanosecondType, Int64Type>(&column),
        DataType::Duration(TimeUnit::Second) => widened::<DurationSecondType, Int64Type>(&column),
        DataType::Duration(TimeUnit::Millisecond) => widened::<DurationMillisecondType, Int64Type>(&column),
        DataType::Duration(TimeUnit::Microsecond) => widened::<DurationMicrosecondType, Int64Type>(&column),
        DataType::Duration(TimeUnit::Nanosecond) => widened::<DurationNanosecondType, Int64Type>(&column),
        _ => return Ok(None),
    }))
}

/// Returns unsigned 64-bit integers; `None` if the column has a different type.
///
/// # Errors
/// Returns an error if keys are out of range.
pub fn unsigned(column: &ArrayRef) -> Result<Option<UInt64Array>, ArrowError> {
    Ok(unpacked(column)?.as_primitive_opt::<UInt64Type>().cloned())
}

/// Returns floats; `None` if the column has a different type.
///
/// # Errors
/// Returns an error if keys are out of range.
pub fn floats(column: &ArrayRef) -> Result<Option<Float64Array>, ArrowError> {
    let column = unpacked(column)?;
    Ok(Some(match column.data_type() {
        DataType::Float16 => widened::<Float16Type, Float64Type>(&column),
        DataType::Float32 => widened::<Float32Type, Float64Type>(&column),
        DataType::Float64 => column.as_primitive::<Float64Type>().clone(),
        _ => return Ok(None),
    }))
}

/// Integers below this limit are exact in 64-bit floats.
pub const EXACT: f64 = 9_007_199_254_740_992.0;

/// Formats a float as a person would write it. Whole numbers are formatted as integers, because a column may contain integers in one file
/// and floats in another.
pub fn spelled_float(number: f64, shown: &impl std::fmt::Debug) -> String {
    if number.trunc() == number && number.abs() < EXACT { (number as i64).to_string() } else { format!("{shown:?}") }
}

/// Returns every value formatted as a person would write it. A value that cannot be formatted, such as a date outside the calendar's range,
/// becomes null.
///
/// # Errors
/// Returns an error for types that arrow cannot format.
pub fn spelled(column: &ArrayRef) -> Result<StringViewArray, ArrowError> {
    let column = unpacked(column)?;
    if let Some(narrow) = column.as_primitive_opt::<Float32Type>() {
        // These values are formatted as Float32 numbers, with just enough digits to distinguish each number from the neighboring Float32
        // numbers.
        return Ok(narrow.iter().map(|number| number.map(|number| spelled_float(number.into(), &number))).collect());
    }
    if let Some(floats) = floats(&column)? {
        return Ok(floats.iter().map(|number| number.map(|number| spelled_float(number, &number))).collect());
    }
    let column = with_known_zone(column)?;
    let options = FormatOptions::default();
    let values = ArrayFormatter::try_new(&column, &options)?;
    let nulls = column.logical_nulls();
    let is_valid = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
    let spelled = |row: usize| is_valid(row).then(|| values.value(row).try_to_string().ok()).flatten();
    Ok((0..column.len()).map(spelled).collect())
}

/// Converts the times of the column to UTC if its time zone is a name, such as `UTC` or `Europe/Berlin`, because the program does not
/// include a time zone database.
fn with_known_zone(column: ArrayRef) -> Result<ArrayRef, ArrowError> {
    match column.data_type() {
        DataType::Timestamp(unit, Some(zone)) if zone.parse::<Tz>().is_err() => {
            let in_utc = DataType::Timestamp(*unit, Some("+00:00".into()));
            Ok(make_array(column.to_data().into_builder().data_type(in_utc).build()?))
        }
        _ => Ok(column),
    }
}

/// Returns strings and bytes as views, dictionary columns unpacked, and any other column unchanged.
///
/// # Errors
/// Returns an error if keys are out of range.
pub fn plain(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    Ok(match (texts(column)?, bytes(column)?) {
        (Some(texts), _) => Arc::new(texts),
        (None, Some(bytes)) => Arc::new(bytes),
        (None, None) => unpacked(column)?,
    })
}

/// Converts numbers to a wider type, which can represent all of them.
fn widened<N, W>(column: &ArrayRef) -> arrow::array::PrimitiveArray<W>
where
    N: ArrowPrimitiveType,
    W: ArrowPrimitiveType,
    N::Native: Into<W::Native>,
{
    column.as_primitive::<N>().unary(Into::into)
}

#[cfg(test)]
mod tests {
    use arrow::array::{
        BooleanArray, Date32Array, DictionaryArray, FixedSizeBinaryArray, Float32Array, Int8Array, Int32Array,
        LargeBinaryArray, LargeStringArray, NullArray, StringArray, TimestampMillisecondArray, UInt32Array,
    };
    use arrow::compute::cast;
    use arrow::datatypes::Int32Type;

    use super::*;

    #[test]
    fn a_long_value_of_a_dictionary_is_in_memory_once_and_counts_in_each_row() {
        let long = "x".repeat(1_000);
        let packed: DictionaryArray<Int32Type> =
            [Some(long.as_str()), None, Some("a"), Some(&long), Some(&long), Some("b")].into_iter().collect();
        let column: ArrayRef = Arc::new(packed);
        let plain = unpacked(&column).unwrap();
        assert!(plain.get_buffer_memory_size() < 2_000, "{}", plain.get_buffer_memory_size());
        let texts = texts(&column).unwrap().unwrap();
        assert_eq!((texts.value(4), texts.is_null(1), texts.value(5)), (&*long, true, "b"));
        assert_eq!(portions(&[&column], 6, 1_500).unwrap(), [0..3, 3..4, 4..6]);
        assert_eq!(portions(&[&column, &column], 6, 1).unwrap(), [0..2, 2..3, 3..4, 4..5, 5..6]);
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1; 6]));
        let (one, none) = (portions(&[&numbers], 6, 1).unwrap(), portions(&[], 0, 1).unwrap());
        assert!(matches!(&one[..], [rows] if *rows == (0..6)) && none.is_empty(), "{one:?}, {none:?}");
    }

    fn columns() -> Vec<ArrayRef> {
        let words = StringArray::from(vec![Some("one"), None, Some("two, and longer than a view holds")]);
        let keys = Int32Array::from(vec![Some(2), None, Some(1), Some(0)]);
        let numbers = Arc::new(Int8Array::from(vec![1, -2, 3]));
        vec![
            Arc::new(words.clone()),
            Arc::new(words.slice(1, 2)),
            Arc::new(LargeStringArray::from_iter(words.iter())),
            Arc::new(StringViewArray::from_iter(words.iter())),
            Arc::new(NullArray::new(3)),
            Arc::new(DictionaryArray::<Int32Type>::new(keys.clone(), Arc::new(words))),
            Arc::new(DictionaryArray::<Int32Type>::new(keys, numbers.clone())),
            Arc::new(LargeBinaryArray::from(vec![Some(&b"\xFF"[..]), None])),
            Arc::new(FixedSizeBinaryArray::try_from_iter([b"ab", b"cd"].iter()).expect("bytes")),
            numbers,
            Arc::new(UInt32Array::from(vec![Some(u32::MAX), None])),
            Arc::new(UInt64Array::from(vec![Some(u64::MAX), None])),
            Arc::new(Int64Array::from(vec![Some(i64::MIN), None])),
            Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])),
            Arc::new(Date32Array::from(vec![Some(-1), None])),
            Arc::new(TimestampMillisecondArray::from(vec![Some(1), None]).with_timezone("+01:00")),
            Arc::new(Float32Array::from(vec![Some(1e-5), Some(1e16), None, Some(f32::NAN)])),
        ]
    }

    /// Compares each result with arrow's conversion of the same column.
    #[test]
    fn columns_are_read_as_arrow_reads_them() {
        let mut read = [0; 6];
        for column in columns() {
            let forms: [Option<ArrayRef>; 6] = [
                texts(&column).expect("keys").map(|array| Arc::new(array) as ArrayRef),
                bytes(&column).expect("keys").map(|array| Arc::new(array) as ArrayRef),
                whole(&column).expect("keys").map(|array| Arc::new(array) as ArrayRef),
                unsigned(&column).expect("keys").map(|array| Arc::new(array) as ArrayRef),
                floats(&column).expect("keys").map(|array| Arc::new(array) as ArrayRef),
                (!matches!(column.data_type(), DataType::LargeBinary | DataType::FixedSizeBinary(_)))
                    .then(|| Arc::new(spelled(&column).expect("known")) as ArrayRef),
            ];
            for (form, read) in forms.iter().zip(&mut read) {
                let Some(form) = form else { continue };
                if column.data_type().is_floating() && *form.data_type() == DataType::Utf8View {
                    // These floats are formatted in the same way as in JSON lines.
                    let expected = [Some("1e-5"), Some("1e16"), None, Some("NaN")];
                    assert_eq!(form.as_string_view().iter().collect::<Vec<_>>(), expected);
                    *read += 1;
                    continue;
                }
                let by_arrow = cast(&column, form.data_type()).expect("arrow reads it");
                assert_eq!(form, &by_arrow, "{} as {}", column.data_type(), form.data_type());
                *read += 1;
            }
        }
        assert_eq!(read, [6, 2, 7, 1, 1, 15]);
    }

    #[test]
    fn times_of_named_zones_are_written_in_utc_and_what_has_no_date_is_null() {
        let written = |column: ArrayRef| {
            let written = spelled(&column).expect("known");
            written.iter().map(|text| text.map(str::to_owned)).collect::<Vec<_>>()
        };
        let text = |text: &str| Some(text.to_owned());
        for zone in ["UTC", "Europe/Berlin", "+00:00"] {
            let times = TimestampMillisecondArray::from(vec![Some(0), None, Some(i64::MAX)]).with_timezone(zone);
            assert_eq!(written(Arc::new(times)), [text("1970-01-01T00:00:00Z"), None, None], "{zone}");
        }
        let times = TimestampMillisecondArray::from(vec![0]).with_timezone("+01:00");
        assert_eq!(written(Arc::new(times)), [text("1970-01-01T01:00:00+01:00")]);
        let days = Date32Array::from(vec![Some(i32::MAX), Some(0), None]);
        assert_eq!(written(Arc::new(days)), [None, text("1970-01-01"), None]);
    }

    #[test]
    fn plain_columns_are_views_or_what_they_were() {
        for column in columns() {
            let plain = plain(&column).expect("keys");
            let expected = match column.data_type() {
                DataType::Dictionary(_, values) if values.is_integer() => DataType::Int8,
                DataType::Dictionary(..) | DataType::Utf8 | DataType::LargeUtf8 | DataType::Null => DataType::Utf8View,
                DataType::LargeBinary | DataType::FixedSizeBinary(_) => DataType::BinaryView,
                other => other.clone(),
            };
            assert_eq!((plain.data_type(), plain.len()), (&expected, column.len()));
        }
    }
}
