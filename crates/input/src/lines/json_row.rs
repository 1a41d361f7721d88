//! Parses one line of a JSON lines file. Keeps only the requested fields, borrowed from the line if they contain no escapes.
//!
//! Whether a row is invalid must not depend on which columns are read; otherwise, two passes could disagree. Therefore, every read parses
//! the same fields and checks that the entire line is valid UTF-8.

use crate::format::columns::Columns;
use crate::lines::json_paths::leads_to;
use crate::lines::json_value::{JsonValue, Take};
use crate::lines::mended::{Instead, mended};
use dupsift_tables::nested::attached;
use dupsift_tables::nested::json_walk::{By, Plain, Walk, skip_list};
use dupsift_tables::nested::lists;
use dupsift_tables::nested::messages;
use dupsift_tables::nested::messages::{Conversation, Digest};
use dupsift_tables::{RejectReason, Rejection};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// The fields of a line.
#[derive(Debug, Default, PartialEq)]
pub(super) struct LineFields<'l> {
    pub text: Option<Cow<'l, str>>,
    pub id: JsonId<'l>,
    /// The other fields, in the order of [`Columns::others`]; null if missing.
    pub others: Vec<JsonValue>,
    /// The reason why the row is unusable, although its line is valid JSON.
    pub bad: Option<Rejection>,
    /// A hash of the pictures, videos and sounds beside the text; 0 if there are none, or if no text names them.
    pub attached: u128,
}

/// An id in JSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum JsonId<'l> {
    #[default]
    None,
    /// A value that cannot be an id, or two values. The row is read and counts as a row without an id.
    Unusable,
    Text(Cow<'l, str>),
    Int(i64),
    /// An integer above the largest signed 64-bit integer.
    UInt(u64),
}

impl LineFields<'_> {
    /// Sets the hash of the pictures beside the text, and adds it to the text. A text that is combined from several columns gets it later.
    pub(crate) fn attach(&mut self, attached: u128) {
        self.attached = attached;
        let text = self.text.as_mut().filter(|text| attached != 0 && attached::has_placeholder(text.as_bytes()));
        text.into_iter().for_each(|text| attached::attach(text.to_mut(), Some(attached)));
    }

    /// Returns whether the text, or one of the values to combine, has a placeholder for a picture.
    fn names_pictures(&self, columns: &Columns) -> bool {
        let parts = columns.others.iter().zip(&self.others).filter(|(name, _)| columns.parts.contains(name));
        let mut texts = self.text.as_deref().into_iter().chain(parts.filter_map(|(_, value)| value.text()));
        !columns.html && texts.any(|text| attached::has_placeholder(text.as_bytes()))
    }

    /// Returns the row without references to its line.
    fn into_owned(self) -> LineFields<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        LineFields {
            text: self.text.map(owned),
            id: self.id.into_owned(),
            others: self.others,
            bad: self.bad,
            attached: self.attached,
        }
    }
}

impl JsonId<'_> {
    /// Returns the id without references to its line.
    pub(crate) fn into_owned(self) -> JsonId<'static> {
        match self {
            JsonId::None => JsonId::None,
            JsonId::Unusable => JsonId::Unusable,
            JsonId::Text(text) => JsonId::Text(text.into_owned().into()),
            JsonId::Int(number) => JsonId::Int(number),
            JsonId::UInt(number) => JsonId::UInt(number),
        }
    }
}

/// Returns the row that a line represents, or the reason why the line is invalid. `takes` determines how much of each field in
/// [`Columns::others`] is kept; a field without an entry is not kept.
pub(super) fn parse<'l>(line: &'l [u8], columns: &Columns, takes: &[Take]) -> Result<LineFields<'l>, Rejection> {
    let line = std::str::from_utf8(line)
        .map_err(|error| Rejection::new(RejectReason::NotUtf8, format!("byte {} of the line", error.valid_up_to())))?;
    let mut json = serde_json::Deserializer::from_str(line);
    let read = RowSeed { columns, takes }.deserialize(&mut json).and_then(|row| json.end().map(|()| row));
    // Pictures may be large, and their columns may also be requested. They are therefore read separately, for the few texts that name them.
    let read = read.and_then(|mut row| {
        if row.names_pictures(columns) {
            row.attach(serde_json::Deserializer::from_str(line).deserialize_map(ReadAttached(columns))?);
        }
        Ok(row)
    });
    read.or_else(|error| match mended(line, Instead::Null) {
        Some(line) => parse(line.as_bytes(), columns, takes).map(LineFields::into_owned),
        None => Err(said(error)),
    })
}

/// Truncates the parser's message, because it may quote an entire document.
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
    takes: &'c [Take],
}

impl<'de> DeserializeSeed<'de> for RowSeed<'_> {
    type Value = LineFields<'de>;
    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<LineFields<'de>, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RowSeed<'_> {
    type Value = LineFields<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "an object with the field {:?}", self.columns.text)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<LineFields<'de>, A::Error> {
        let Columns { text, id, others, .. } = self.columns;
        let by_path = [text, id].into_iter().chain(others).any(|name| name.contains('.'));
        let mut filled = Filled {
            columns: self.columns,
            takes: self.takes,
            row: LineFields { others: vec![JsonValue::Null; others.len()], ..LineFields::default() },
            depths: if by_path { vec![usize::MAX; 2 + others.len()] } else { Vec::new() },
            id_again: false,
            there: 0,
        };
        filled.fields(map, "", 1)?;
        Ok(filled.row)
    }
}

/// Hashes the pictures, videos and sounds beside the text.
struct ReadAttached<'c>(&'c Columns);

impl<'de> Visitor<'de> for ReadAttached<'_> {
    type Value = u128;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<u128, A::Error> {
        let mut all = 0u128;
        while let Some(name) = map.next_key::<Cow<'_, str>>()? {
            if attached::is_attached(&name) && !self.0.is_text(&name) {
                all = all.wrapping_add(messages::of_field(&name, map.next_value_seed(By(Digest))?));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(all)
    }
}

/// A row being filled.
struct Filled<'c, 'l> {
    columns: &'c Columns,
    takes: &'c [Take],
    row: LineFields<'l>,
    /// The nesting depths of the text, the id and the other values. The depths are needed because a field whose own name contains a dot
    /// takes precedence over a nested field. Empty if no name contains a dot; in that case, no object is searched.
    depths: Vec<usize>,
    /// Whether the id that is about to be read follows another id at the same depth.
    id_again: bool,
    /// One bit each for the text, the id and the other fields; a bit is set if the field was present. Used only if no name contains a dot.
    there: u128,
}

impl<'de> Filled<'_, 'de> {
    /// Reads the fields of an object; `before` is its path with a trailing dot.
    fn fields<A: MapAccess<'de>>(&mut self, mut map: A, before: &str, depth: usize) -> Result<(), A::Error> {
        let (columns, by_path) = (self.columns, !self.depths.is_empty());
        while let Some(field) = map.next_key_seed(FieldSeed { columns, before, by_path })? {
            match field {
                Field::Text if !columns.html && self.wins(0, depth) => match map.next_value_seed(By(ReadText))? {
                    Read::Plain(Scalar::Text(text)) => self.row.text = Some(text),
                    Read::Plain(Scalar::Null) => self.row.text = None,
                    Read::Joined(text) => self.row.text = Some(Cow::Owned(text)),
                    Read::Plain(other) => self.row.bad = Some(wrong_type(&columns.text, &other, "a string")),
                    Read::Strange(what) => {
                        let detail = format!(
                            "the field {:?} is a list that contains {what}; expected strings, or messages with \"content\", \"text\" or \"value\"",
                            columns.text
                        );
                        self.row.bad = Some(Rejection::new(RejectReason::WrongType, detail));
                    }
                },
                Field::Text if columns.html && self.wins(0, depth) => match map.next_value_seed(By(ReadScalar))? {
                    Scalar::Text(text) => self.row.text = Some(text),
                    Scalar::Null => self.row.text = None,
                    other => self.row.bad = Some(wrong_type(&columns.text, &other, "a string")),
                },
                Field::Id if self.wins(1, depth) => {
                    let value = map.next_value_seed(By(ReadScalar))?;
                    if columns.parts.contains(&columns.id) {
                        let at = columns.others.iter().position(|name| *name == columns.id);
                        at.into_iter().for_each(|at| self.row.others[at] = value.as_part());
                    }
                    match value {
                        Scalar::Text(text) => self.row.id = JsonId::Text(text),
                        Scalar::Int(number) => self.row.id = JsonId::Int(number),
                        Scalar::UInt(number) => self.row.id = JsonId::UInt(number),
                        Scalar::Null => self.row.id = JsonId::None,
                        Scalar::Bool | Scalar::Fraction | Scalar::List | Scalar::Object => {
                            self.row.id = JsonId::Unusable;
                        }
                    }
                    if std::mem::take(&mut self.id_again) {
                        self.row.id = JsonId::Unusable;
                    }
                }
                Field::Other(at) if self.wins(2 + at, depth) => {
                    let name = &columns.others[at];
                    let is_part = columns.parts.contains(name);
                    let take = match (is_part, columns.lists.contains(name)) {
                        (true, true) => Take::All,
                        (true, false) => Take::Part,
                        (false, _) => self.takes.get(at).copied().unwrap_or(Take::Nothing),
                    };
                    self.row.others[at] = map.next_value_seed(By(take))?;
                    let is_texts = |json: &str| take == Take::All && lists::of_json(json).is_some();
                    if let (true, JsonValue::Nested(json)) = (is_part, &self.row.others[at])
                        && !is_texts(json)
                    {
                        self.row.bad = Some(Rejection::new(
                            RejectReason::WrongType,
                            format!("the field {name:?} is a list or an object; expected a string or number"),
                        ));
                        self.row.others[at] = JsonValue::Null;
                    }
                }
                Field::Object(path) => map.next_value_seed(By(Inside { filled: self, before: path + ".", depth }))?,
                Field::Text | Field::Id | Field::Other(_) | Field::Unknown => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok(())
    }

    /// Returns whether the value of a field is used. A second field with the same name at the same depth makes the row invalid.
    fn wins(&mut self, at: usize, depth: usize) -> bool {
        let (wins, is_second) = match self.depths.get_mut(at) {
            Some(known) => {
                let (wins, is_second) = (depth <= *known, depth == *known);
                *known = depth.min(*known);
                (wins, is_second)
            }
            None => {
                let bit = u32::try_from(at).ok().and_then(|at| 1_u128.checked_shl(at)).unwrap_or(0);
                let is_second = self.there & bit != 0;
                self.there |= bit;
                (true, is_second)
            }
        };
        // A text is never lost because of its id.
        self.id_again |= is_second && at == 1;
        if is_second && (at != 1 || self.columns.parts.contains(&self.columns.id)) {
            let name = [&self.columns.text, &self.columns.id].into_iter().chain(&self.columns.others).nth(at);
            let detail = format!("the field {:?} occurs twice", name.map_or("", String::as_str));
            self.row.bad = Some(Rejection::new(RejectReason::BrokenRecord, detail));
        }
        wins
    }
}

/// A value whose fields are searched if it is an object.
struct Inside<'f, 'c, 'l> {
    filled: &'f mut Filled<'c, 'l>,
    before: String,
    depth: usize,
}

impl<'de> Walk<'de> for Inside<'_, '_, 'de> {
    type Value = ();

    fn plain<E>(self, _: Plain<'de, '_>) -> Result<(), E> {
        Ok(())
    }
    fn list<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        skip_list(list)
    }
    fn object<A: MapAccess<'de>>(self, object: A) -> Result<(), A::Error> {
        self.filled.fields(object, &self.before, self.depth + 1)
    }
}

enum Field {
    Text,
    Id,
    Other(usize),
    /// The path of an object that may contain a requested field.
    Object(String),
    Unknown,
}

struct FieldSeed<'c> {
    columns: &'c Columns,
    /// The path of the object that contains the field, with a trailing dot; empty for the line itself.
    before: &'c str,
    /// Whether at least one requested field may be nested.
    by_path: bool,
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
        // The requested fields inside this object.
        let inside = |asked: &'_ String| asked.strip_prefix(self.before).is_some_and(|asked| asked == name);
        if columns.parts.is_empty() && inside(&columns.text) {
            return Ok(Field::Text);
        } else if inside(&columns.id) {
            return Ok(Field::Id);
        } else if let Some(at) = columns.others.iter().position(inside) {
            return Ok(Field::Other(at));
        }
        if !self.by_path {
            return Ok(Field::Unknown);
        }
        let deeper = |asked: &String| asked.strip_prefix(self.before).is_some_and(|asked| leads_to(name, asked));
        let mut asked = [&columns.text, &columns.id].into_iter().chain(&columns.others);
        Ok(if asked.any(deeper) { Field::Object(format!("{}{name}", self.before)) } else { Field::Unknown })
    }
}

/// A value, reduced to the data needed to use it as text or as an id.
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

impl Scalar<'_> {
    /// Returns the value as one part of the combined text; null unless the value is a string or an integer.
    fn as_part(&self) -> JsonValue {
        match self {
            Scalar::Text(text) => JsonValue::Text(text.to_string()),
            Scalar::Int(number) => JsonValue::Int(*number),
            Scalar::UInt(number) => JsonValue::UInt(*number),
            Scalar::Null | Scalar::Bool | Scalar::Fraction | Scalar::List | Scalar::Object => JsonValue::Null,
        }
    }
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

struct ReadScalar;

impl<'de> Walk<'de> for ReadScalar {
    type Value = Scalar<'de>;

    fn plain<E>(self, value: Plain<'de, '_>) -> Result<Scalar<'de>, E> {
        Ok(match value {
            Plain::Null => Scalar::Null,
            Plain::Bool(_) => Scalar::Bool,
            Plain::Int(number) => Scalar::Int(number),
            Plain::UInt(number) => Scalar::UInt(number),
            Plain::Float(_) => Scalar::Fraction,
            Plain::Borrowed(text) => Scalar::Text(Cow::Borrowed(text)),
            Plain::Unescaped(text) => Scalar::Text(Cow::Owned(text.to_owned())),
        })
    }
    fn list<A: SeqAccess<'de>>(self, list: A) -> Result<Scalar<'de>, A::Error> {
        skip_list(list).map(|()| Scalar::List)
    }
    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Scalar<'de>, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Object)
    }
}

/// The text of a value, or the text of the items in a list.
enum Read<'l> {
    Plain(Scalar<'l>),
    Joined(String),
    /// A list with an item that is not text.
    Strange(&'static str),
}

/// Reads a [`Scalar`], or the text of a list of strings and messages; see [`dupsift_tables::nested::messages`].
struct ReadText;

impl<'de> Walk<'de> for ReadText {
    type Value = Read<'de>;

    fn plain<E: serde::de::Error>(self, value: Plain<'de, '_>) -> Result<Read<'de>, E> {
        ReadScalar.plain(value).map(Read::Plain)
    }
    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Read<'de>, A::Error> {
        let (mut conversation, mut strange) = (Conversation::default(), None);
        while let Some(item) = list.next_element_seed(By(conversation.item()))? {
            strange = strange.or(item);
        }
        Ok(strange.map_or_else(|| Read::Joined(conversation.into_text()), Read::Strange))
    }
    fn object<A: MapAccess<'de>>(self, object: A) -> Result<Read<'de>, A::Error> {
        ReadScalar.object(object).map(Read::Plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse<'l>(line: &'l [u8], columns: &Columns) -> Result<LineFields<'l>, Rejection> {
        super::parse(line, columns, &[Take::All; 3])
    }

    fn columns() -> Columns {
        let others = vec!["title".into(), "score".into()];
        Columns { text: "text".into(), id: "id".into(), others, ..Columns::default() }
    }

    #[test]
    fn lists_are_joined() {
        let text = |line: &str| {
            let row = parse(line.as_bytes(), &columns()).expect("JSON");
            row.bad.map_or_else(|| row.text.map(Cow::into_owned), |bad| Some(format!("!{bad}")))
        };
        let is = |line: &str, expected: &str| assert_eq!(text(line).as_deref(), Some(expected), "{line}");
        is(r#"{"text":["One.",null,"","T\u0077o."]}"#, "One.\nTwo.");
        is(r#"{"text":[]}"#, "");
        is(r#"{"text":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}"#, "Hi\nHello");
        is(r#"{"text":[{"text":"","content":"yes"},{"content":"yes","text":null},{"text":"too"}]}"#, "yes\nyes\ntoo");
        is(
            r#"{"text":[{"content":[{"type":"text","text":"See"},{"type":"text","text":null},{"type":"text","text":"it"}]}]}"#,
            "See\nit",
        );
        for (line, what) in [
            (r#"{"text":["a",1]}"#, "contains a number"),
            (r#"{"text":[["a"]]}"#, "contains a list"),
            (r#"{"text":[{"role":"user"}]}"#, "contains an object without text"),
            (r#"{"text":{"content":"a"}}"#, "is an object"),
        ] {
            assert!(text(line).is_some_and(|said| said.starts_with('!') && said.contains(what)), "{:?}", text(line));
        }
        // A page cannot be a list.
        let html = Columns { html: true, ..columns() };
        assert!(parse(br#"{"text":["a"]}"#, &html).expect("JSON").bad.is_some());
    }

    #[test]
    fn pictures_beside_a_text_that_names_them_are_part_of_it() {
        let text = |line: &str| parse(line.as_bytes(), &columns()).expect("JSON").text.map(Cow::into_owned);
        let with = |text: &str, more: &str| format!("{{{more}\"text\":{text}}}");
        for named in [r#""<image>\nWhat is it?""#, r#"[{"from":"human","value":"<image>\nWhat is it?"}]"#] {
            let plain = text(&with(named, ""));
            assert_eq!(plain.as_deref(), Some("<image>\nWhat is it?"));
            let same = [r#""image":"a.jpg","#, r#""score":1,"images":null,"image":"a.jpg","#];
            assert_eq!(text(&with(named, same[0])), text(&with(named, same[1])));
            for other in [r#""image":"b.jpg","#, r#""images":["a.jpg"],"#, r#""image":null,"#] {
                assert_ne!(text(&with(named, same[0])), text(&with(named, other)));
            }
            let behind = format!("{{\"text\":{named},\"image\":\"a.jpg\"}}");
            assert_eq!(text(&behind), text(&with(named, same[0])));
        }
        assert_eq!(text(r#"{"image":"a.jpg","text":"What is it?"}"#).as_deref(), Some("What is it?"));
    }

    #[test]
    fn pictures_count_whatever_else_their_column_is() {
        let line = |image: &str| format!("{{\"image\":{image},\"text\":\"<image>\\nWhat is it?\"}}");
        for (a, b) in [("\"a.jpg\"", "\"b.jpg\""), (r#"{"path":"a.jpg"}"#, r#"{"path":"b.jpg"}"#)] {
            let (a, b) = (line(a), line(b));
            let expected = parse(a.as_bytes(), &columns()).expect("JSON").text;
            for name in ["image", "image.path"] {
                let as_id = Columns { id: name.into(), ..columns() };
                let as_other = Columns { others: vec![name.into()], ..columns() };
                for columns in [as_id, as_other] {
                    let [a, b] = [&a, &b].map(|line| parse(line.as_bytes(), &columns).expect("JSON"));
                    assert_eq!(a.text, expected, "{columns:?}");
                    assert_ne!(a.text, b.text, "{columns:?}");
                }
            }
        }
        let by_path = Columns { id: "image.path".into(), ..columns() };
        let line = line(r#"{"path":"a.jpg"}"#);
        assert_eq!(parse(line.as_bytes(), &by_path).expect("JSON").id, JsonId::Text("a.jpg".into()));
        // A column that is itself the text is not beside it.
        let own = Columns { text: "image".into(), ..columns() };
        assert_eq!(parse(br#"{"image":"<image>"}"#, &own).expect("JSON").text.as_deref(), Some("<image>"));
    }

    #[test]
    fn a_line_gives_the_fields_asked_for() {
        let line = r#" {"x":{"text":"not this"},"text":"кот","id":"a\n1","score":0.5,"y":[1,{"id":2}]} "#;
        let row = parse(line.as_bytes(), &columns()).expect("JSON");
        assert!(matches!(row.text, Some(Cow::Borrowed("кот"))));
        assert_eq!(row.id, JsonId::Text("a\n1".into()));
        assert_eq!(row.others, [JsonValue::Null, JsonValue::Float(0.5)]);
        assert_eq!(row.bad, None);
        let parsed = |line: &'static str| parse(line.as_bytes(), &columns()).expect("JSON");
        assert_eq!(parsed(r#"{"text":"\u0439 \ud83d\ude00","id":-5}"#).text.as_deref(), Some("й 😀"));
        assert_eq!(parsed(r#"{"id":18446744073709551615}"#).id, JsonId::UInt(u64::MAX));
        assert_eq!(parsed(r#"{"id":9223372036854775807}"#).id, JsonId::Int(i64::MAX));
        assert_eq!(
            parsed(r#"{"id":null,"text":null}"#),
            LineFields { others: vec![JsonValue::Null; 2], ..LineFields::default() }
        );
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        let why = |line: &[u8]| match parse(line, &columns()) {
            Ok(row) => row.bad.expect("a reason").to_string(),
            Err(why) => why.to_string(),
        };
        assert!(why(br#"{"text":5}"#).contains("is an integer; expected a string"));
        assert!(why(br#"{"text":["a",true]}"#).contains("is a list that contains true or false"));
        assert!(why(b"{\"text\":\"a\xFF\"}").contains("not UTF-8: byte 10"));
        assert!(why(b"{\"other\":\"a\xFF\"}").contains("not UTF-8"));
        assert!(why(br#"{"text":"a""#).contains("not JSON: EOF"));
        assert!(why(br#"{"text":"a"} x"#).contains("trailing characters"));
        assert!(why(b"[1,2]").contains("expected an object with the field \"text\""));
        let long = format!("\"{}\"", "x".repeat(100_000));
        assert!(why(long.as_bytes()).len() < 300);
        let deep = "[".repeat(100_000);
        assert!(why(format!("{{\"x\":{deep}").as_bytes()).contains("not JSON"));
    }

    #[test]
    fn fields_of_objects_are_read_by_their_paths() {
        let others = ["doc.meta.score", "doc.title", "a.b"].map(String::from).to_vec();
        let columns = Columns { text: "doc.text".into(), id: "doc.meta.id".into(), others, ..columns() };
        let parsed = |line: &'static str| parse(line.as_bytes(), &columns).expect("JSON");
        let line = r#"{"text":"x","doc":{"meta":{"id":7,"score":0.5,"doc":{"text":"no"}},"text":"кот","title":null},"a":[{"b":1}]}"#;
        let row = parsed(line);
        assert_eq!((row.text.as_deref(), &row.id), (Some("кот"), &JsonId::Int(7)));
        assert_eq!((row.others, row.bad), (vec![JsonValue::Float(0.5), JsonValue::Null, JsonValue::Null], None));
        // If a component of the path is null or not an object, the value is null.
        for line in
            [r#"{"doc":null}"#, r#"{"doc":{"meta":null}}"#, r#"{"doc":"text"}"#, r#"{"doc":[1,{"text":"a"}]}"#, "{}"]
        {
            assert_eq!(
                parsed(line),
                LineFields { others: vec![JsonValue::Null; 3], ..LineFields::default() },
                "{line}"
            );
        }
        assert!(
            parsed(r#"{"doc":{"text":5}}"#)
                .bad
                .is_some_and(|why| why.to_string().contains("\"doc.text\" is an integer"))
        );
        // A field whose own name contains a dot takes precedence, whether it comes first or last.
        let (before, behind) = (r#"{"doc.text":"a","doc":{"text":"b"}}"#, r#"{"doc":{"text":"b"},"doc.text":"a"}"#);
        for line in [before, behind] {
            assert_eq!(parsed(line).text.as_deref(), Some("a"), "{line}");
        }
        assert!(parse(br#"{"doc":{"text":"a"}"#, &columns).is_err());
    }

    #[test]
    fn a_text_is_never_lost_because_of_its_id() {
        let ids =
            ["1.0", "-0.5", "18446744073709551616", "true", "{\"a\":1}", "[1]", "NaN", "1,\"id\":2", "2,\"id\":null"];
        for id in ids {
            let line = format!("{{\"text\":\"a\",\"id\":{id}}}");
            let row = parse(line.as_bytes(), &columns()).expect("JSON");
            assert_eq!((row.text.as_deref(), row.bad), (Some("a"), None), "{id}");
            assert_eq!(row.id, if id == "NaN" { JsonId::None } else { JsonId::Unusable }, "{id}");
        }
        let nested = Columns { id: "meta.id".into(), ..columns() };
        let line = br#"{"text":"a","meta":{"id":1,"id":2}}"#;
        let row = parse(line, &nested).expect("JSON");
        assert_eq!((row.id, row.bad), (JsonId::Unusable, None));
        // A second text is a different matter.
        assert!(parse(br#"{"text":"a","text":"b"}"#, &columns()).expect("JSON").bad.is_some());
    }

    #[test]
    fn lone_surrogates_and_numbers_beyond_json_are_read() {
        let line = br#"{"id":"a\udc00","text":"cut \ud83d","score":-Infinity,"title":"\ud800","more":[NaN]}"#;
        let row = parse(line, &columns()).expect("mended");
        assert_eq!((row.text.as_deref(), row.id), (Some("cut \u{FFFD}"), JsonId::Text("a\u{FFFD}".into())));
        assert_eq!((row.others, row.bad), (vec![JsonValue::Text("\u{FFFD}".into()), JsonValue::Null], None));
        let why = parse(br#"{"text":"\ud83d""#, &columns()).expect_err("no JSON").to_string();
        assert!(why.contains("not JSON"), "{why}");
    }

    #[test]
    fn an_id_is_known_even_where_the_text_is_wrong() {
        let row = parse(br#"{"text":7,"id":3}"#, &columns()).expect("JSON");
        assert_eq!((row.id, row.bad.is_some()), (JsonId::Int(3), true));
    }
}
