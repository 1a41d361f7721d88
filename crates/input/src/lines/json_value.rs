//! Stores the values of JSON fields other than the text and the id in compact form: a list or an object is kept as text, not as a tree.
//!
//! Every value is parsed in the same way, even if it is not kept, so whether a line is valid JSON does not depend on which columns are
//! read.

use arrow::array::ArrayRef;
use arrow::array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringViewBuilder};
use arrow::buffer::Buffer;
use dupsift_tables::columns::read_as;
use dupsift_tables::nested::json_walk::{By, Plain, Walk};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess};
use std::sync::Arc;

/// Strings larger than this many bytes are passed on in separate buffers.
const LARGE: usize = 1 << 20;

/// Determines how much of a value is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Take {
    Nothing,
    /// Lists and objects become null, because nested Parquet columns are not read either.
    Plain,
    /// The value is one part of the combined text of several columns. If it is a list or an object, only that fact is kept.
    Part,
    All,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum JsonValue {
    #[default]
    Null,
    Text(String),
    Int(i64),
    /// An integer above the largest signed 64-bit integer.
    UInt(u64),
    Float(f64),
    Bool(bool),
    /// A list or an object, as text without spaces, with the fields in the same order as in the line.
    Nested(String),
}

impl JsonValue {
    /// Returns the text of the value, if it has any.
    pub(crate) fn text(&self) -> Option<&str> {
        if let JsonValue::Text(text) | JsonValue::Nested(text) = self { Some(text) } else { None }
    }
}

/// Reads a value and keeps only the requested part of it.
impl<'de> Walk<'de> for Take {
    type Value = JsonValue;

    fn plain<E>(self, value: Plain<'de, '_>) -> Result<JsonValue, E> {
        Ok(match value {
            Plain::Null => JsonValue::Null,
            Plain::Bool(value) => JsonValue::Bool(value),
            Plain::Int(number) => JsonValue::Int(number),
            Plain::UInt(number) => JsonValue::UInt(number),
            Plain::Float(number) => JsonValue::Float(number),
            Plain::Borrowed(_) | Plain::Unescaped(_) if self == Take::Nothing => JsonValue::Null,
            Plain::Borrowed(text) | Plain::Unescaped(text) => JsonValue::Text(text.to_owned()),
        })
    }
    fn list<A: SeqAccess<'de>>(self, list: A) -> Result<JsonValue, A::Error> {
        self.nested(|out| Compact(out).list(list))
    }
    fn object<A: MapAccess<'de>>(self, object: A) -> Result<JsonValue, A::Error> {
        self.nested(|out| Compact(out).object(object))
    }
}

impl Take {
    fn nested<E: serde::de::Error>(
        self,
        walk: impl FnOnce(Option<&mut Vec<u8>>) -> Result<(), E>,
    ) -> Result<JsonValue, E> {
        let mut out = Vec::new();
        walk((self == Take::All).then_some(&mut out))?;
        if out.is_empty() && self != Take::Part {
            return Ok(JsonValue::Null);
        }
        String::from_utf8(out).map(JsonValue::Nested).map_err(E::custom)
    }
}

/// Writes a value without spaces, or only parses it if there is no output.
struct Compact<'o>(Option<&'o mut Vec<u8>>);

impl Compact<'_> {
    fn put<E: serde::de::Error>(&mut self, value: &(impl serde::Serialize + ?Sized)) -> Result<(), E> {
        let Some(out) = self.0.as_deref_mut() else { return Ok(()) };
        serde_json::to_writer(out, value).map_err(E::custom)
    }

    fn sign(&mut self, sign: u8) {
        self.0.as_deref_mut().into_iter().for_each(|out| out.push(sign));
    }

    fn inner(&mut self) -> Compact<'_> {
        Compact(self.0.as_deref_mut())
    }
}

impl<'de> Walk<'de> for Compact<'_> {
    type Value = ();

    fn plain<E: serde::de::Error>(mut self, value: Plain<'de, '_>) -> Result<(), E> {
        match value {
            Plain::Null => self.put(&()),
            Plain::Bool(value) => self.put(&value),
            Plain::Int(number) => self.put(&number),
            Plain::UInt(number) => self.put(&number),
            Plain::Float(number) => self.put(&number),
            Plain::Borrowed(text) | Plain::Unescaped(text) => self.put(text),
        }
    }
    fn list<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        self.sign(b'[');
        let mut at = self.0.as_deref().map_or(0, Vec::len);
        while list.next_element_seed(Element(self.inner(), at))?.is_some() {
            at = 0;
        }
        self.sign(b']');
        Ok(())
    }
    fn object<A: MapAccess<'de>>(mut self, mut object: A) -> Result<(), A::Error> {
        self.sign(b'{');
        let mut at = self.0.as_deref().map_or(0, Vec::len);
        while object.next_key_seed(Element(self.inner(), at))?.is_some() {
            self.sign(b':');
            object.next_value_seed(By(self.inner()))?;
            at = 0;
        }
        self.sign(b'}');
        Ok(())
    }
}

/// Writes a list element or a field name, preceded by a comma unless it is the first element. The second field is the offset of the first
/// element.
struct Element<'o>(Compact<'o>, usize);

impl<'de> DeserializeSeed<'de> for Element<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(mut self, json: D) -> Result<(), D::Error> {
        if self.0.0.as_deref().is_some_and(|out| out.len() != self.1) {
            self.0.sign(b',');
        }
        By(self.0).deserialize(json)
    }
}

/// Returns the values of one batch as the narrowest of the types Int64, Float64, Boolean and text that can represent all of them.
pub(super) fn array(values: Vec<JsonValue>) -> ArrayRef {
    let all = |fits: fn(&JsonValue) -> bool| values.iter().all(|value| *value == JsonValue::Null || fits(value));
    if all(|value| matches!(value, JsonValue::Int(_))) {
        let mut column = Int64Builder::with_capacity(values.len());
        values.iter().for_each(|value| {
            column.append_option(if let JsonValue::Int(number) = value { Some(*number) } else { None });
        });
        Arc::new(column.finish())
    } else if all(|value| float(value).is_some()) {
        let mut column = Float64Builder::with_capacity(values.len());
        values.iter().for_each(|value| column.append_option(float(value)));
        Arc::new(column.finish())
    } else if all(|value| matches!(value, JsonValue::Bool(_))) {
        let mut column = BooleanBuilder::with_capacity(values.len());
        values.iter().for_each(|value| {
            column.append_option(if let JsonValue::Bool(value) = value { Some(*value) } else { None });
        });
        Arc::new(column.finish())
    } else {
        // Formats floats in the same way as in a batch that contains only numbers.
        let plain = |value| match value {
            JsonValue::Float(number) => JsonValue::Text(read_as::spelled_float(number, &number)),
            other => other,
        };
        spelled(values.into_iter().map(plain).collect())
    }
}

/// Returns a number as a float; `None` for large integers, which would be rounded.
fn float(value: &JsonValue) -> Option<f64> {
    match value {
        JsonValue::Int(number) => Some(*number as f64).filter(|number| number.abs() < read_as::EXACT),
        JsonValue::Float(number) => Some(*number),
        _ => None,
    }
}

/// Returns the values of one batch as text: strings unchanged, everything else as JSON.
pub(super) fn spelled(values: Vec<JsonValue>) -> ArrayRef {
    let mut column = StringViewBuilder::with_capacity(values.len());
    for value in values {
        match value {
            JsonValue::Null => column.append_null(),
            JsonValue::Text(text) | JsonValue::Nested(text) => append(&mut column, text),
            JsonValue::Int(number) => column.append_value(number.to_string()),
            JsonValue::UInt(number) => column.append_value(number.to_string()),
            // Formats numbers as JSON does: 1.0 and 1e300.
            JsonValue::Float(number) => column.append_value(serde_json::Value::from(number).to_string()),
            JsonValue::Bool(value) => column.append_value(if value { "true" } else { "false" }),
        }
    }
    Arc::new(column.finish())
}

/// Appends a string; large strings are not copied.
pub(super) fn append(column: &mut StringViewBuilder, text: String) {
    let length = u32::try_from(text.len()).ok().filter(|length| *length as usize > LARGE);
    let Some(length) = length else { return column.append_value(text) };
    let block = column.append_block(Buffer::from_vec(text.into_bytes()));
    if column.try_append_view(block, 0, length).is_err() {
        column.append_null();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::AsArray as _;
    use arrow::datatypes::DataType;

    fn value(json: &str, take: Take) -> JsonValue {
        By(take).deserialize(&mut serde_json::Deserializer::from_str(json)).expect("JSON")
    }

    #[test]
    fn a_list_is_its_text_without_spaces_or_nothing() {
        for (json, text) in [
            ("[ ]", "[]"),
            ("[ 1, -2 , 1.0, 1e300, true, null, \"a\\n\\\"\" ]", "[1,-2,1.0,1e+300,true,null,\"a\\n\\\"\"]"),
            ("{ \"b\" : [ [ ], { } , 7 ], \"a\": {\"x\": \"\\u0439\"} }", "{\"b\":[[],{},7],\"a\":{\"x\":\"й\"}}"),
        ] {
            assert_eq!(value(json, Take::All), JsonValue::Nested(text.into()), "{json}");
            assert_eq!((value(json, Take::Plain), value(json, Take::Nothing)), (JsonValue::Null, JsonValue::Null));
            // The value matches the serialized form of a parsed tree, except for the order of the fields.
            let tree: serde_json::Value = serde_json::from_str(json).expect("JSON");
            assert_eq!(serde_json::from_str::<serde_json::Value>(text).expect("JSON"), tree);
        }
        assert_eq!(value("\"a\"", Take::Plain), JsonValue::Text("a".into()));
        assert_eq!(value("18446744073709551615", Take::Plain), JsonValue::UInt(u64::MAX));
    }

    #[test]
    fn what_is_no_json_is_none_whatever_is_taken() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for json in ["[1,", "[1e999]", "{\"a\" 1}", "[\"\\ud800\"]", &deep] {
            for take in [Take::Nothing, Take::Plain, Take::All] {
                let mut reader = serde_json::Deserializer::from_str(json);
                assert!(By(take).deserialize(&mut reader).is_err(), "{json}");
            }
        }
    }

    #[test]
    fn a_batch_has_the_narrowest_type_and_large_texts_in_their_own_memory() {
        let values = |json: &[&str]| json.iter().map(|json| value(json, Take::All)).collect::<Vec<_>>();
        let kind = |json: &[&str]| array(values(json)).data_type().clone();
        assert_eq!(kind(&["1", "null"]), DataType::Int64);
        assert_eq!(kind(&["1", "0.5", "9007199254740991"]), DataType::Float64);
        // Neighboring integers would be rounded to the same float.
        for large in ["9007199254740993", "-9007199254740993", "18446744073709551615"] {
            assert_eq!(kind(&["1", "0.5", large]), DataType::Utf8View);
            let texts = array(values(&["0.5", large, "2.0"]));
            assert_eq!(texts.as_string_view().iter().collect::<Vec<_>>(), [Some("0.5"), Some(large), Some("2")]);
        }
        assert_eq!(kind(&["true", "null"]), DataType::Boolean);
        assert_eq!(kind(&["true", "1"]), DataType::Utf8View);
        let long = "й".repeat(LARGE);
        let texts =
            [JsonValue::Text("a".into()), JsonValue::Text(long.clone()), JsonValue::Float(1.0), JsonValue::Null];
        let spelled = spelled(texts.to_vec());
        let spelled = spelled.as_string_view();
        assert_eq!(spelled.iter().collect::<Vec<_>>(), [Some("a"), Some(&*long), Some("1.0"), None]);
    }
}
