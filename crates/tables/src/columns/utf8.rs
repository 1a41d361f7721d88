//! Checks strings that are read as bytes, so that invalid UTF-8 affects a single value rather than the entire file.
//!
//! Column decoders check whole pages, so a single invalid value makes them reject an entire page. Moreover, such a decoder accepts a
//! character whose bytes are split between two values. For these reasons, strings are decoded as bytes, and each value is checked once,
//! before it is used as text.

use arrow::array::{Array as _, BinaryViewArray, StringViewArray};
use arrow::buffer::{NullBuffer, ScalarBuffer};
use std::collections::BTreeMap;

use dupsift_core::number::thousands;

/// The position of a value that is not UTF-8: the row of the value, and the offset of the first invalid byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotText {
    /// The row in its batch.
    pub row: usize,
    /// The offset of the first invalid byte.
    pub byte: usize,
}

/// Returns the values as text, with nulls in place of invalid values, and a list of the invalid values. No value is copied.
pub fn checked(values: BinaryViewArray) -> (StringViewArray, Vec<NotText>) {
    let wrong: Vec<NotText> = (0..values.len())
        .filter(|&row| values.is_valid(row))
        .filter_map(|row| wrong_byte(values.value(row)).map(|byte| NotText { row, byte }))
        .collect();
    let (mut views, buffers, mut nulls) = values.into_parts();
    if !wrong.is_empty() || nulls.as_ref().is_some_and(|nulls| nulls.null_count() > 0) {
        let mut is_valid: Vec<bool> =
            nulls.as_ref().map_or_else(|| vec![true; views.len()], |nulls| nulls.iter().collect());
        wrong.iter().for_each(|value| is_valid[value.row] = false);
        // A decoder may leave an arbitrary view in place of a null, but a null must not refer to unchecked bytes.
        let kept = views.iter().zip(&is_valid).map(|(&view, &is_valid)| if is_valid { view } else { 0 });
        views = kept.collect::<ScalarBuffer<u128>>();
        nulls = Some(NullBuffer::from(is_valid));
    }
    // SAFETY: the views and buffers come from a valid byte array, and each value that is not null was found to be UTF-8.
    #[allow(unsafe_code)]
    let texts = unsafe { StringViewArray::new_unchecked(views, buffers, nulls) };
    (texts, wrong)
}

/// Returns the offset of the first byte that is not UTF-8, if any.
fn wrong_byte(value: &[u8]) -> Option<usize> {
    if simdutf8::basic::from_utf8(value).is_ok() {
        return None;
    }
    std::str::from_utf8(value).err().map(|error| error.valid_up_to())
}

/// The reason given in run.json for a value that became null because it is not UTF-8.
pub const NOT_UTF8: &str = "not UTF-8";
/// The reason for a value that cannot be written as text, such as a date outside the calendar's range.
pub(crate) const OUT_OF_RANGE: &str = "out of range";

/// The number of values that became null, by column and reason (such as `not UTF-8`); the text column is not included.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(transparent)]
pub struct LostValues(pub BTreeMap<String, BTreeMap<String, u64>>);

impl LostValues {
    /// Returns whether no values were lost.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds this many lost values of a column.
    pub fn add(&mut self, column: &str, why: &str, values: u64) {
        if values > 0 {
            *self.0.entry(column.to_owned()).or_default().entry(why.to_owned()).or_default() += values;
        }
    }

    /// Adds the lost values from other rows.
    pub fn merge(&mut self, other: &LostValues) {
        for (column, reasons) in &other.0 {
            reasons.iter().for_each(|(why, values)| self.add(column, why, *values));
        }
    }

    /// Returns a sentence for each column and reason.
    pub fn warnings(&self) -> Vec<String> {
        let columns = self.0.iter().flat_map(|(column, reasons)| reasons.iter().map(move |reason| (column, reason)));
        let warning = |(column, (why, values)): (&String, (&String, &u64))| {
            let (are, count) = if *values == 1 { ("value is", "counts") } else { ("values are", "count") };
            format!("column {column:?}: {values} {are} {why} and {count} as null", values = thousands(*values))
        };
        columns.map(warning).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(values: &[Option<&[u8]>]) -> BinaryViewArray {
        values.iter().collect()
    }

    #[test]
    fn a_value_that_is_no_text_is_null_and_its_neighbors_stay() {
        let long = "котик на окне, ".repeat(20);
        let mut broken = long.clone().into_bytes();
        broken[200] = 0xFF;
        let values: [Option<&[u8]>; 7] = [
            Some(b"short"),
            Some(b"caf\xE9"),
            None,
            Some(long.as_bytes()),
            Some(&broken),
            // One character is split between two values.
            Some(b"\xC3"),
            Some(b"\xA9"),
        ];
        let (texts, wrong) = checked(bytes(&values));
        let found: Vec<Option<&str>> = texts.iter().collect();
        assert_eq!(found, [Some("short"), None, None, Some(long.as_str()), None, None, None]);
        let places: Vec<(usize, usize)> = wrong.iter().map(|value| (value.row, value.byte)).collect();
        assert_eq!(places, [(1, 3), (4, 200), (5, 0), (6, 0)]);
        assert!((0..7).all(|row| std::str::from_utf8(texts.value(row).as_bytes()).is_ok()));
    }

    #[test]
    fn texts_are_handed_on_as_they_are() {
        let values = bytes(&[Some("кот".as_bytes()), Some(b"x"), Some(b"")]);
        let views = values.views().clone();
        let (texts, wrong) = checked(values);
        assert!(wrong.is_empty() && texts.views().ptr_eq(&views));
        assert_eq!(texts.iter().collect::<Vec<_>>(), [Some("кот"), Some("x"), Some("")]);
    }

    #[test]
    fn a_null_leads_to_no_bytes_that_were_not_checked() {
        let (views, buffers, _) = bytes(&[Some(b"\xFF\xFE"), Some(b"ok")]).into_parts();
        let values = BinaryViewArray::new(views, buffers, Some(NullBuffer::from(vec![false, true])));
        let (texts, wrong) = checked(values);
        assert!(wrong.is_empty());
        assert_eq!((texts.views()[0], texts.iter().collect::<Vec<_>>()), (0, vec![None, Some("ok")]));
    }

    #[test]
    fn lost_values_are_counted_by_column_and_reason() {
        let mut lost = LostValues::default();
        lost.add("url", NOT_UTF8, 0);
        assert!(lost.is_empty());
        lost.add("url", NOT_UTF8, 1);
        let mut other = LostValues::default();
        other.add("score", "not a number", 2000);
        lost.merge(&other);
        let expected = [
            "column \"score\": 2,000 values are not a number and count as null",
            "column \"url\": 1 value is not UTF-8 and counts as null",
        ];
        assert_eq!(lost.warnings(), expected);
        lost.merge(&other);
        assert_eq!(lost.0["score"]["not a number"], 4000);
    }
}
