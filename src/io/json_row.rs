//! One line of JSON lines: only the fields asked for are kept, borrowed from the line where they need no unescaping.
//!
//! What makes a row bad must not depend on what a reading asks for, or the passes would disagree about it. So every
//! reading parses the same fields, and checks the whole line for UTF-8.

use super::schema::Columns;
use crate::batch::{RejectReason, Rejection};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// The fields of a line.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Row<'l> {
    pub text: Option<Cow<'l, str>>,
    pub id: JsonId<'l>,
    /// The others, in the order of [`Columns::others`]; null where the field is not there.
    pub others: Vec<Value>,
    /// Why the row cannot be used, although its line is JSON.
    pub bad: Option<Rejection>,
}

/// An id in JSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum JsonId<'l> {
    #[default]
    None,
    Text(Cow<'l, str>),
    Int(i64),
    /// Above the largest signed number.
    UInt(u64),
}

/// The row of a line, or why it is none.
pub(super) fn parse<'l>(line: &'l [u8], columns: &Columns) -> Result<Row<'l>, Rejection> {
    let line = std::str::from_utf8(line)
        .map_err(|error| Rejection::new(RejectReason::NotUtf8, format!("byte {} of the line", error.valid_up_to())))?;
    let mut json = serde_json::Deserializer::from_str(line);
    RowSeed { columns }.deserialize(&mut json).and_then(|row| json.end().map(|()| row)).map_err(said)
}

/// The names of the fields of a line; none if it is no object.
pub(super) fn field_names(line: &[u8]) -> Option<Vec<String>> {
    let names: std::collections::BTreeMap<String, IgnoredAny> = serde_json::from_slice(line).ok()?;
    Some(names.into_keys().collect())
}

/// The parser's sentence, cut: it may quote a whole document.
fn said(error: serde_json::Error) -> Rejection {
    let said = error.to_string();
    let mut shown: String = said.chars().take(200).collect();
    if shown.len() < said.len() {
        shown.push('…');
    }
    Rejection::new(RejectReason::NotJson, shown)
}

fn wrong_type(field: &str, value: &Scalar<'_>, expected: &str) -> Rejection {
    Rejection::new(RejectReason::WrongType, format!("the field {field:?} is {value}; expected {expected}"))
}

struct RowSeed<'c> {
    columns: &'c Columns,
}

impl<'de> DeserializeSeed<'de> for RowSeed<'_> {
    type Value = Row<'de>;
    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Row<'de>, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RowSeed<'_> {
    type Value = Row<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "an object with the field {:?}", self.columns.text)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Row<'de>, A::Error> {
        let mut row = Row { others: vec![Value::Null; self.columns.others.len()], ..Row::default() };
        while let Some(field) = map.next_key_seed(FieldSeed { columns: self.columns })? {
            match field {
                Field::Text => match map.next_value_seed(ScalarSeed)? {
                    Scalar::Text(text) => row.text = Some(text),
                    Scalar::Null => row.text = None,
                    other => row.bad = Some(wrong_type(&self.columns.text, &other, "a string")),
                },
                Field::Id => match map.next_value_seed(ScalarSeed)? {
                    Scalar::Text(text) => row.id = JsonId::Text(text),
                    Scalar::Int(number) => row.id = JsonId::Int(number),
                    Scalar::UInt(number) => row.id = JsonId::UInt(number),
                    Scalar::Null => row.id = JsonId::None,
                    other => row.bad = Some(wrong_type(&self.columns.id, &other, "a string or integer")),
                },
                Field::Other(at) => row.others[at] = map.next_value()?,
                Field::Unknown => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(row)
    }
}

enum Field {
    Text,
    Id,
    Other(usize),
    Unknown,
}

struct FieldSeed<'c> {
    columns: &'c Columns,
}

impl<'de> DeserializeSeed<'de> for FieldSeed<'_> {
    type Value = Field;
    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Field, D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for FieldSeed<'_> {
    type Value = Field;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the name of a field")
    }

    fn visit_str<E>(self, name: &str) -> Result<Field, E> {
        let columns = self.columns;
        Ok(if name == columns.text {
            Field::Text
        } else if name == columns.id {
            Field::Id
        } else {
            columns.others.iter().position(|other| other == name).map_or(Field::Unknown, Field::Other)
        })
    }
}

/// A value as far as texts and ids care.
enum Scalar<'l> {
    Null,
    Text(Cow<'l, str>),
    Int(i64),
    UInt(u64),
    Bool,
    Fraction,
    List,
    Object,
}

impl fmt::Display for Scalar<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Scalar::Null => "null",
            Scalar::Text(_) => "a string",
            Scalar::Int(_) | Scalar::UInt(_) => "an integer",
            Scalar::Bool => "true or false",
            Scalar::Fraction => "a number that is not an integer",
            Scalar::List => "a list",
            Scalar::Object => "an object",
        })
    }
}

struct ScalarSeed;

impl<'de> DeserializeSeed<'de> for ScalarSeed {
    type Value = Scalar<'de>;
    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Scalar<'de>, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ScalarSeed {
    type Value = Scalar<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }
    fn visit_unit<E>(self) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Null)
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Text(Cow::Borrowed(text)))
    }
    fn visit_str<E>(self, text: &str) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Text(Cow::Owned(text.to_owned())))
    }
    fn visit_i64<E>(self, number: i64) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Int(number))
    }
    fn visit_u64<E>(self, number: u64) -> Result<Scalar<'de>, E> {
        Ok(i64::try_from(number).map_or(Scalar::UInt(number), Scalar::Int))
    }
    fn visit_f64<E>(self, _: f64) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Fraction)
    }
    fn visit_bool<E>(self, _: bool) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Bool)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Scalar<'de>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::List)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Scalar<'de>, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Columns {
        Columns {
            html: false,
            text: "text".into(),
            id: "id".into(),
            id_required: false,
            others: vec!["title".into(), "score".into()],
        }
    }

    #[test]
    fn a_line_gives_the_fields_asked_for() {
        let line = r#" {"x":{"text":"not this"},"text":"кот","id":"a\n1","score":0.5,"y":[1,{"id":2}]} "#;
        let row = parse(line.as_bytes(), &columns()).expect("JSON");
        assert!(matches!(row.text, Some(Cow::Borrowed("кот"))));
        assert_eq!(row.id, JsonId::Text("a\n1".into()));
        assert_eq!(row.others, [Value::Null, Value::from(0.5)]);
        assert_eq!(row.bad, None);
        let parsed = |line: &'static str| parse(line.as_bytes(), &columns()).expect("JSON");
        assert_eq!(parsed(r#"{"text":"\u0439 \ud83d\ude00","id":-5}"#).text.as_deref(), Some("й 😀"));
        assert_eq!(parsed(r#"{"id":18446744073709551615}"#).id, JsonId::UInt(u64::MAX));
        assert_eq!(parsed(r#"{"id":9223372036854775807}"#).id, JsonId::Int(i64::MAX));
        assert_eq!(parsed(r#"{"id":null,"text":null}"#), Row { others: vec![Value::Null; 2], ..Row::default() });
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        let why = |line: &[u8]| match parse(line, &columns()) {
            Ok(row) => row.bad.expect("a reason").to_string(),
            Err(why) => why.to_string(),
        };
        assert!(why(br#"{"text":5}"#).contains("is an integer; expected a string"));
        assert!(why(br#"{"text":["a"]}"#).contains("is a list"));
        assert!(why(br#"{"text":"a","id":1.5}"#).contains("not an integer; expected a string or integer"));
        assert!(why(br#"{"text":"a","id":{"a":1}}"#).contains("an object"));
        assert!(why(b"{\"text\":\"a\xFF\"}").contains("not UTF-8: byte 10"));
        assert!(why(b"{\"other\":\"a\xFF\"}").contains("not UTF-8"));
        assert!(why(br#"{"text":"a""#).contains("not JSON: EOF"));
        assert!(why(br#"{"text":"a"} x"#).contains("trailing characters"));
        assert!(why(br#"{"text":"\ud800"}"#).contains("not JSON"));
        assert!(why(b"[1,2]").contains("expected an object with the field \"text\""));
        let long = format!("\"{}\"", "x".repeat(100_000));
        assert!(why(long.as_bytes()).len() < 300);
        let deep = "[".repeat(100_000);
        assert!(why(format!("{{\"x\":{deep}").as_bytes()).contains("not JSON"));
    }

    #[test]
    fn an_id_is_known_even_where_the_text_is_wrong() {
        let row = parse(br#"{"text":7,"id":3}"#, &columns()).expect("JSON");
        assert_eq!((row.id, row.bad.is_some()), (JsonId::Int(3), true));
        assert_eq!(field_names(br#"{"b":1,"a":{"c":2}}"#), Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(field_names(b"5"), None);
    }
}
