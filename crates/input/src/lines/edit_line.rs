//! Replaces the text in one JSON line or one record. All other values are preserved.

use super::mended::{self, Instead, mended};
use super::quotes::{Dialect, Field, fields};
use crate::copy::edits::{CHANGED, Edits};
use crate::dialect::Quoting;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use std::ops::Range;

impl Edits<'_> {
    /// Returns a JSON line with the edited text.
    ///
    /// # Errors
    /// Returns an error if the line does not contain the text that was read.
    pub(crate) fn json(&self, row: u64, line: &[u8]) -> Result<Vec<u8>, String> {
        let line = std::str::from_utf8(line).map_err(|_| CHANGED)?;
        let begin = line.find('{').ok_or(CHANGED)?;
        let place = json_text(&line[begin..], self.column).or_else(|| {
            let same_length = mended(&line[begin..], Instead::SameLength)?;
            json_text(&same_length, self.column)
        });
        let place = place.ok_or(CHANGED)?;
        let place = place.start + begin..place.end + begin;
        let text: String =
            mended::read(line[place.clone()].as_bytes(), |text| serde_json::from_slice(text)).map_err(|_| CHANGED)?;
        let edited = (self.edit)(row, &text).ok_or(CHANGED)?;
        let edited = serde_json::to_string(&edited).map_err(|error| error.to_string())?;
        Ok([&line[..place.start], &edited, &line[place.end..]].concat().into_bytes())
    }

    /// Returns a record of separated values with the edited text in a column.
    ///
    /// # Errors
    /// Returns an error if the record does not contain the text that was read.
    pub(crate) fn record(&self, row: u64, line: &[u8], dialect: Dialect, column: usize) -> Result<Vec<u8>, String> {
        let line = std::str::from_utf8(line).map_err(|_| CHANGED)?;
        let is_end = |c: char| matches!(c, '\r' | '\n');
        let record = line.trim_end_matches(is_end).trim_start_matches(is_end);
        let begin = place_in(line, record).start;
        let (mut number, mut found) = (0, None);
        let mut each = |field: Field<'_>| {
            if number == column {
                let (is_quoted, place) = match field {
                    Field::Bare(text) => (false, place_in(record, text)),
                    Field::Quoted(text) => {
                        let place = place_in(record, text);
                        (true, place.start - 1..place.end + 1)
                    }
                };
                found = Some((place, is_quoted, field.text().unwrap_or_default().into_owned()));
            }
            number += 1;
        };
        fields(record, dialect, &mut each)?;
        let (place, is_quoted, text) = found.ok_or(CHANGED)?;
        let place = place.start + begin..place.end + begin;
        let edited = quoted((self.edit)(row, &text).ok_or(CHANGED)?, is_quoted, dialect);
        Ok([&line[..place.start], &edited, &line[place.end..]].concat().into_bytes())
    }
}

/// Returns the byte range of `part` in `text`. `part` must be a slice of `text`.
fn place_in(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.len()
}

/// Returns a string as a field, in quotation marks if necessary.
pub(super) fn quoted(text: String, was_quoted: bool, dialect: Dialect) -> String {
    if dialect.quoting == Quoting::None {
        // If fields are not quoted, a record is a single line, so line feeds in the edited text become spaces.
        return text.replace('\n', " ");
    }
    let has_marks = text.bytes().any(|byte| byte == dialect.delimiter || matches!(byte, b'"' | b'\n' | b'\r'));
    // An empty field without quotation marks is read as null.
    if was_quoted || has_marks || text.is_empty() { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// Returns the byte range of a field's value in a JSON object. A field whose name contains a dot takes precedence over a field in a nested
/// object. If a field occurs several times, the last occurrence is used, as it is when documents are read.
fn json_text(object: &str, column: &str) -> Option<Range<usize>> {
    let mut best = None;
    find(object, column, 1, &mut best);
    best.map(|(_, value)| place_in(object, value))
}

fn find<'l>(object: &'l str, wanted: &str, depth: usize, best: &mut Option<(usize, &'l str)>) {
    // The line break after the object is ignored.
    let mut json = serde_json::Deserializer::from_str(object);
    let Ok(Fields(fields)) = Fields::deserialize(&mut json) else { return };
    for (name, value) in fields {
        if name == wanted {
            if best.is_none_or(|(known, _)| depth <= known) {
                *best = Some((depth, value.get()));
            }
        } else if let Some(rest) = wanted.strip_prefix(name.as_str()).and_then(|rest| rest.strip_prefix('.'))
            && value.get().starts_with('{')
        {
            find(value.get(), rest, depth + 1, best);
        }
    }
}

/// Returns the field names of an object; `None` if the string is not an object.
pub(super) fn object_fields(object: &str) -> Option<Vec<String>> {
    let names = |object: &[u8]| {
        let fields: Fields<'_> = serde_json::from_slice(object)?;
        Ok::<_, serde_json::Error>(fields.0.into_iter().map(|(name, _)| name).collect())
    };
    mended::read(object.as_bytes(), names).ok()
}

/// The fields of an object, each with its raw text.
struct Fields<'l>(Vec<(String, &'l RawValue)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Fields<'de>, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields<'de>;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        json.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(column: &str) -> Edits<'_> {
        Edits { column, is_edited: &|_| true, edit: &|row, text| (row == 7).then(|| text.replace("cut ", "")) }
    }

    #[test]
    fn only_the_text_of_a_line_changes() {
        let json = |column: &str, line: &str| {
            edits(column).json(7, line.as_bytes()).map(|line| String::from_utf8(line).expect("UTF-8"))
        };
        let line = "\n\u{feff} {\"a\": 1.50, \"text\" : \"cut \\u4e2d\\nb\", \"c\":[ {} ]}\r\n";
        let expected = "\n\u{feff} {\"a\": 1.50, \"text\" : \"中\\nb\", \"c\":[ {} ]}\r\n";
        assert_eq!(json("text", line).as_deref(), Ok(expected));
        // If two fields have the same name, the last field is edited. A field whose name contains a dot is edited instead of a nested
        // field.
        assert_eq!(json("t", r#"{"t":"cut 1","t":"cut 2"}"#).as_deref(), Ok(r#"{"t":"cut 1","t":"2"}"#));
        assert_eq!(
            json("a.t", r#"{"a.t":"cut 1","a":{"t":"cut 2"}}"#).as_deref(),
            Ok(r#"{"a.t":"1","a":{"t":"cut 2"}}"#)
        );
        assert_eq!(json("a.t", r#"{"a":{"t":"cut 2"}}"#).as_deref(), Ok(r#"{"a":{"t":"2"}}"#));
        assert!(json("x", r#"{"t":"cut"}"#).is_err() && edits("t").json(8, br#"{"t":"cut"}"#).is_err());
    }

    #[test]
    fn only_the_text_of_a_record_changes() {
        let of = |record: &str, quoting| {
            let dialect = Dialect { delimiter: b',', quoting };
            edits("").record(7, record.as_bytes(), dialect, 1).map(|line| String::from_utf8(line).expect("UTF-8"))
        };
        for (record, expected) in [
            ("\r\n\"1\",cut b,\"3\"\r\n", "\r\n\"1\",b,\"3\"\r\n"),
            ("1,\"cut \"\"b\"\"\",", "1,\"\"\"b\"\"\","),
            ("1,\"cut b\"\n", "1,\"b\"\n"),
            ("1,cut ,3\n", "1,\"\",3\n"),
        ] {
            assert_eq!(of(record, Quoting::Double).as_deref(), Ok(expected), "{record}");
        }
        assert_eq!(of("\"1,cut \"b,3", Quoting::None).as_deref(), Ok("\"1,\"b,3"));
        assert!(of("1", Quoting::Double).is_err());
        assert_eq!(quoted("a\nb".into(), false, Dialect { delimiter: b',', quoting: Quoting::None }), "a b");
        assert_eq!(quoted("a\nb".into(), false, Dialect { delimiter: b',', quoting: Quoting::Double }), "\"a\nb\"");
    }
}
