//! Reads conversations: lists of messages as chat programs, APIs and data sets write them. Everything that people or models wrote is text:
//! the content, reasoning, the names and arguments of called tools, and their results. Labels of messages, such as roles, ids and times, are
//! ignored. Everything else, such as pictures, sound, files and unknown fields, cannot be read; a digest of it is added to the text (see
//! [`dupsift_core::unread`]), so that conversations that differ there are not copies.
//!
//! ```text
//! {"role": "user", "content": [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "a.png"}}]}
//! {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "look", "arguments": "{\"at\":\"a\"}"}}]}
//!
//! What is this?
//! look {"at":"a"}
//! ￼6c1f0e8fd7a4b3925e0d1c2b3a495867
//! ```
//!
//! Messages in Parquet and Arrow files are converted to JSON and read in the same way (see [`crate::nested::lists`]), so the text and the
//! digest do not depend on the format. Values are parsed piece by piece; no tree is built, because a tree takes many times the memory.

use crate::columns::read_as::spelled_float;
use crate::nested::json_walk::{By, Plain, Walk, skip_list};
use crate::nested::message_fields::{
    CALLS, CONTENT, CONTENTS, FIRST_ARGUMENT, Field, KINDS_OF_CALLS, KINDS_OF_TEXT, SLOTS,
};
use dupsift_core::hash::{combine, hash64, hash128};
use dupsift_core::unread::{self, Unread};
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess};
use std::borrow::Cow;

/// The kind of a value that is not text, for messages; see [`Conversation::item`].
pub type Strange = Option<&'static str>;

/// A conversation that is being read.
#[derive(Debug, Default)]
pub struct Conversation {
    text: String,
    /// The number of items that were read.
    items: u64,
    /// A hash of the parts that cannot be read; 0 if there are none.
    unread: u128,
    /// Whether a part says that something cannot be read, but not what.
    is_unknown: bool,
}

impl Conversation {
    /// Reads the next item of the list: a string, a message, or a null.
    pub fn item(&mut self) -> Item<'_> {
        self.items += 1;
        Item { of: self, depth: 0, is_call: false }
    }

    /// Returns the text of the items so far, and the mark of the parts that could not be read.
    pub fn into_text(mut self) -> String {
        let unread = match self.unread {
            _ if self.is_unknown => Some(Unread::Unknown),
            0 => None,
            digest => Some(Unread::Digest(digest)),
        };
        if let Some(unread) = unread {
            unread::mark(&mut self.text, unread);
        }
        self.text
    }

    fn has_not_read(&mut self, digest: u128) {
        self.unread = both(both(self.unread, self.items.into()), digest);
    }
}

/// Returns the text of a JSON list of strings and messages; `None` for any other input.
///
/// # Errors
/// Returns an error if the input is not JSON.
pub fn joined(json: &str) -> serde_json::Result<Option<String>> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let text = By(Joined).deserialize(&mut reader)?;
    reader.end().map(|()| text)
}

/// Returns the text of each item in a JSON list of strings and messages; `None` for any other input.
///
/// # Errors
/// Returns an error if the input is not JSON.
pub fn each(json: &str) -> serde_json::Result<Option<Vec<String>>> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let texts = By(Each).deserialize(&mut reader)?;
    reader.end().map(|()| texts)
}

struct Joined;

impl<'de> Walk<'de> for Joined {
    type Value = Option<String>;

    fn plain<E>(self, _: Plain<'de, '_>) -> Result<Option<String>, E> {
        Ok(None)
    }
    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Option<String>, A::Error> {
        let (mut conversation, mut strange) = (Conversation::default(), None);
        while let Some(item) = list.next_element_seed(By(conversation.item()))? {
            strange = strange.or(item);
        }
        Ok(strange.is_none().then(|| conversation.into_text()))
    }
    fn object<A: MapAccess<'de>>(self, object: A) -> Result<Option<String>, A::Error> {
        skip_object(object).map(|()| None)
    }
}

struct Each;

impl<'de> Walk<'de> for Each {
    type Value = Option<Vec<String>>;

    fn plain<E>(self, _: Plain<'de, '_>) -> Result<Option<Vec<String>>, E> {
        Ok(None)
    }
    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Option<Vec<String>>, A::Error> {
        let (mut texts, mut is_strange) = (Vec::new(), false);
        loop {
            let mut one = Conversation::default();
            let Some(strange) = list.next_element_seed(By(one.item()))? else { break };
            is_strange |= strange.is_some();
            // Parts that cannot be read do not count where only the words are used.
            texts.push(one.text);
        }
        Ok((!is_strange).then_some(texts))
    }
    fn object<A: MapAccess<'de>>(self, object: A) -> Result<Option<Vec<String>>, A::Error> {
        skip_object(object).map(|()| None)
    }
}

fn skip_object<'de, A: MapAccess<'de>>(mut object: A) -> Result<(), A::Error> {
    while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

/// Appends a text on a new line.
fn push(text: &mut String, part: &str) {
    if !part.is_empty() && !text.is_empty() {
        text.push('\n');
    }
    text.push_str(part);
}

/// Reads an item of a conversation, or a part of a message (with a depth above 0). Returns the kind of the item if it is not text; parts of
/// any kind are accepted.
pub struct Item<'c> {
    of: &'c mut Conversation,
    depth: usize,
    /// Whether the item is a call of a tool, so that its name is text.
    is_call: bool,
}

impl Item<'_> {
    fn strange(self, what: &'static str, digest: u128) -> Strange {
        if self.depth == 0 {
            return Some(what);
        }
        self.of.has_not_read(digest);
        None
    }
}

impl<'de> Walk<'de> for Item<'_> {
    type Value = Strange;

    fn plain<E>(self, value: Plain<'de, '_>) -> Result<Strange, E> {
        match value {
            Plain::Null => return Ok(None),
            Plain::Borrowed(part) | Plain::Unescaped(part) => push(&mut self.of.text, part),
            Plain::Bool(_) => return Ok(self.strange("true or false", hash_of(value))),
            Plain::Int(_) | Plain::UInt(_) | Plain::Float(_) => return Ok(self.strange("a number", hash_of(value))),
        }
        Ok(None)
    }
    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Strange, A::Error> {
        if self.depth == 0 {
            return skip_list(list).map(|()| Some("a list"));
        }
        while list
            .next_element_seed(By(Item { of: &mut *self.of, depth: self.depth + 1, is_call: self.is_call }))?
            .is_some()
        {}
        Ok(None)
    }
    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Strange, A::Error> {
        let Item { of, depth, mut is_call } = self;
        // The texts of the parts are collected separately, because fields may come in any order.
        let whole = std::mem::take(&mut of.text);
        let mut texts: [String; SLOTS] = Default::default();
        let (mut name, mut has_text, mut strange) = (String::new(), false, None);
        let (mut others, mut kind, mut has_role) = (0u128, None, false);
        while let Some(field) = object.next_key::<Cow<'_, str>>()? {
            match Field::of(&field) {
                Field::Json(at) => {
                    has_text = true;
                    object.next_value_seed(By(Json(&mut of.text, 0)))?;
                    texts[at] = std::mem::take(&mut of.text);
                }
                Field::Text(at) => {
                    has_text = true;
                    let what = object.next_value_seed(By(Content {
                        of: &mut *of,
                        depth: depth + 1,
                        is_call: is_call || CALLS.contains(&&*field),
                    }))?;
                    strange = strange.or(what.filter(|_| depth == 0 && CONTENTS.contains(&at)));
                    texts[at] = std::mem::take(&mut of.text);
                }
                Field::Name => object.next_value_seed(By(Json(&mut name, 0)))?,
                Field::Kind => {
                    let mut text = String::new();
                    object.next_value_seed(By(Json(&mut text, 0)))?;
                    kind = Some(text).filter(|kind| !kind.is_empty());
                }
                Field::Label => {
                    has_role |= matches!(&*field, "role" | "from");
                    object.next_value::<IgnoredAny>()?;
                }
                Field::Unread => others = others.wrapping_add(of_field(&field, object.next_value_seed(By(Digest))?)),
            }
        }
        of.text = whole;
        let first = texts[CONTENTS].iter().position(|text| !text.is_empty()).map(|at| at + CONTENTS.start);
        is_call |= kind.as_deref().is_some_and(|kind| KINDS_OF_CALLS.contains(&kind));
        is_call |= texts[FIRST_ARGUMENT..].iter().any(|text| !text.is_empty());
        for (at, text) in texts.iter().enumerate() {
            if at == FIRST_ARGUMENT && is_call {
                push(&mut of.text, &name);
            }
            let is_named = at >= FIRST_ARGUMENT && is_call && !name.is_empty() && !text.is_empty();
            if is_named {
                // The arguments stand on the line of the name.
                of.text.push(' ');
                of.text.push_str(text);
            } else if !CONTENTS.contains(&at) || Some(at) == first {
                push(&mut of.text, text);
            } else if first.is_some_and(|first| texts[first] != *text) {
                others = others.wrapping_add(of_field(CONTENT[at - CONTENTS.start], hash_of(Plain::Borrowed(text))));
            }
        }
        if depth > 0 && !is_call {
            // The name of a message is that of its author, but that of a part is content.
            others = others.wrapping_add(of_field("name", hash_of(Plain::Borrowed(&name))));
        }
        let is_empty = texts.iter().all(String::is_empty) && (!is_call || name.is_empty());
        let is_message = has_text || kind.is_some() || (has_role && others != 0);
        let kind = kind.filter(|_| is_empty);
        let of_kind = kind.as_ref().map_or(0, |kind| hash128(kind.as_bytes()));
        if others != 0 {
            of.has_not_read(both(others, of_kind));
        } else if kind.as_ref().is_some_and(|kind| kind.ends_with("_call") && !KINDS_OF_CALLS.contains(&&**kind)) {
            // A call of a tool that is part of the model, of which only the kind is known.
            of.has_not_read(of_kind);
        } else if kind.as_ref().is_some_and(|kind| !KINDS_OF_TEXT.contains(&&**kind) && (depth > 0 || !has_text)) {
            of.is_unknown = true;
        }
        if depth == 0 && !is_message {
            return Ok(Some("an object without text"));
        }
        Ok(strange)
    }
}

/// Reads the content of a message: a string, an object, or a list of parts. Returns the kind of a value that is none of these.
struct Content<'c> {
    of: &'c mut Conversation,
    depth: usize,
    is_call: bool,
}

impl<'de> Walk<'de> for Content<'_> {
    type Value = Strange;

    fn plain<E: serde::de::Error>(self, value: Plain<'de, '_>) -> Result<Strange, E> {
        let strange = Item { of: &mut *self.of, depth: 0, is_call: false }.plain(value)?;
        if strange.is_some() {
            self.of.has_not_read(hash_of(value));
        }
        Ok(strange)
    }
    fn list<A: SeqAccess<'de>>(self, list: A) -> Result<Strange, A::Error> {
        Item { of: self.of, depth: self.depth, is_call: self.is_call }.list(list)
    }
    fn object<A: MapAccess<'de>>(self, object: A) -> Result<Strange, A::Error> {
        Item { of: self.of, depth: self.depth, is_call: self.is_call }.object(object)
    }
}

/// Writes a value as text: strings unchanged, everything else as JSON without spaces and without nulls, and with the fields of objects in
/// order, because a column of structs contains the fields of all rows in one order. The second field is the number of enclosing values.
struct Json<'o>(&'o mut String, usize);

impl<'de> Walk<'de> for Json<'_> {
    type Value = ();

    fn plain<E: serde::de::Error>(self, value: Plain<'de, '_>) -> Result<(), E> {
        let Json(out, depth) = self;
        match value {
            Plain::Null => {}
            Plain::Bool(value) => out.push_str(if value { "true" } else { "false" }),
            Plain::Int(number) => out.push_str(&number.to_string()),
            Plain::UInt(number) => out.push_str(&number.to_string()),
            Plain::Float(number) => out.push_str(&spelled_float(number, &number)),
            Plain::Borrowed(text) | Plain::Unescaped(text) if depth == 0 => out.push_str(text),
            Plain::Borrowed(text) | Plain::Unescaped(text) => {
                out.push_str(&serde_json::to_string(text).map_err(E::custom)?);
            }
        }
        Ok(())
    }
    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Json(out, depth) = self;
        let begin = out.len();
        out.push('[');
        let mut separator = "";
        loop {
            let before = out.len();
            out.push_str(separator);
            let at = out.len();
            if list.next_element_seed(By(Json(&mut *out, depth + 1)))?.is_none() {
                out.truncate(before);
                break;
            }
            if out.len() == at {
                out.truncate(before);
            } else {
                separator = ",";
            }
        }
        close(out, begin, ']');
        Ok(())
    }
    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let Json(out, depth) = self;
        let begin = out.len();
        out.push('{');
        // The name of each field, and where it begins.
        let mut fields: Vec<(String, usize)> = Vec::new();
        while let Some(name) = object.next_key::<Cow<'_, str>>()? {
            let before = out.len();
            out.push_str(if fields.is_empty() { "" } else { "," });
            let start = out.len();
            out.push_str(&serde_json::to_string(&name).map_err(serde::de::Error::custom)?);
            out.push(':');
            let at = out.len();
            object.next_value_seed(By(Json(&mut *out, depth + 1)))?;
            if out.len() == at {
                out.truncate(before);
            } else {
                fields.push((name.into_owned(), start));
            }
        }
        if !fields.is_sorted() {
            let ends: Vec<usize> = fields.iter().skip(1).map(|(_, next)| next - 1).chain([out.len()]).collect();
            let mut sorted: Vec<_> = fields.iter().zip(ends).map(|((name, start), end)| (name, *start..end)).collect();
            sorted.sort_by_key(|(name, _)| *name);
            let texts: Vec<&str> = sorted.into_iter().map(|(_, field)| &out[field]).collect();
            let texts = texts.join(",");
            out.truncate(begin + 1);
            out.push_str(&texts);
        }
        close(out, begin, '}');
        Ok(())
    }
}

/// Ends a list or an object that begins at `begin`, or removes its opening bracket if it is empty.
fn close(out: &mut String, begin: usize, bracket: char) {
    if out.len() == begin + 1 { out.truncate(begin) } else { out.push(bracket) }
}

/// The name of the only field of an object that stands for a string with the hash in the field.
const HASHED: &str = "\u{FFFC}";

/// Returns the JSON that stands for a long string, or for bytes, in a part that cannot be read. Its digest is that of the string.
pub fn hashed(bytes: &[u8]) -> String {
    format!("{{\"{HASHED}\":\"{:032x}\"}}", hash128(bytes).max(1))
}

/// Hashes a value that cannot be read. The order of fields, nulls and empty values do not count; the hash of such a value is 0.
pub struct Digest;

impl<'de> Walk<'de> for Digest {
    type Value = u128;

    fn plain<E>(self, value: Plain<'de, '_>) -> Result<u128, E> {
        Ok(hash_of(value))
    }
    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<u128, A::Error> {
        let mut all = 0;
        while let Some(one) = list.next_element_seed(By(Digest))? {
            all = if one == 0 { all } else { both(all, one) };
        }
        Ok(all)
    }
    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<u128, A::Error> {
        let mut all = 0u128;
        while let Some(name) = object.next_key::<Cow<'_, str>>()? {
            if name == HASHED {
                let mut digits = String::new();
                object.next_value_seed(By(Json(&mut digits, 0)))?;
                all = all.wrapping_add(u128::from_str_radix(&digits, 16).unwrap_or_default());
            } else {
                all = all.wrapping_add(of_field(&name, object.next_value_seed(By(Digest))?));
            }
        }
        Ok(all)
    }
}

/// Returns the hash of a field from the hash of its value.
pub fn of_field(name: &str, value: u128) -> u128 {
    if value == 0 { 0 } else { both(hash64(name.as_bytes()).into(), value) }
}

/// Returns the hash of a plain value.
pub fn hash_of(value: Plain<'_, '_>) -> u128 {
    match value {
        Plain::Null => 0,
        Plain::Borrowed("") | Plain::Unescaped("") => 0,
        Plain::Borrowed(text) | Plain::Unescaped(text) => hash128(text.as_bytes()).max(1),
        Plain::Bool(value) => 2 + u128::from(value),
        Plain::Int(number) => hash128(number.to_string().as_bytes()),
        Plain::UInt(number) => hash128(number.to_string().as_bytes()),
        Plain::Float(number) => hash128(spelled_float(number, &number).as_bytes()),
    }
}

/// Combines two hashes; the order matters.
pub(crate) fn both(a: u128, b: u128) -> u128 {
    let half = |seed: u64, low: u32| combine(combine(seed, (a >> low) as u64), combine((b >> low) as u64, b as u64));
    u128::from(half(1, 64)) << 64 | u128::from(half(2, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: &str) -> String {
        joined(json).expect("JSON").unwrap_or_else(|| "-".to_owned())
    }

    /// Returns the text without its mark, and whether it has one.
    fn read(json: &str) -> (String, Option<Unread>) {
        let marked = text(json);
        let (text, unread) = unread::split(&marked);
        (text.to_owned(), unread)
    }

    #[test]
    fn what_was_written_is_text() {
        for (json, expected) in [
            (r#"["a",null,"b"]"#, "a\nb"),
            (r#"[{"role":"user","content":"Hi"},{"content":"Hello","role":"assistant"}]"#, "Hi\nHello"),
            (r#"[{"from":"human","value":"Hi"},{"from":"gpt","value":"Hello"}]"#, "Hi\nHello"),
            (r#"[{"content":null,"text":"a"},{"content":"b","text":"b"}]"#, "a\nb"),
            (r#"[{"content":[{"type":"text","text":"a"},"b",{"type":"text","text":{"value":"c"}}]}]"#, "a\nb\nc"),
            (
                r#"[{"content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}}]}]"#,
                "f {\"a\": 1}",
            ),
            (
                r#"[{"content":"a","tool_calls":[{"function":{"arguments":{"b":[1,null,"c"],"d":null,"e":{}},"name":"f"}}]}]"#,
                "a\nf {\"b\":[1,\"c\"]}",
            ),
            (r#"[{"content":null,"function_call":{"name":"f","arguments":"x"}}]"#, "f x"),
            (r#"[{"role":"tool","name":"f","content":"done","tool_call_id":"1"}]"#, "done"),
            (r#"[{"content":"c","reasoning_content":"a"},{"thinking":"t","content":"d"}]"#, "a\nc\nt\nd"),
            (r#"[{"content":null,"refusal":"no","audio":null}]"#, "no"),
            (
                r#"[{"content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"1","name":"f","input":{"a":1}}]}]"#,
                "t\nf {\"a\":1}",
            ),
            (r#"[{"content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"r"}]}]}]"#, "r"),
            (
                r#"[{"type":"function_call_output","output":"o"},{"type":"reasoning","summary":[{"type":"summary_text","text":"s"}]}]"#,
                "o\ns",
            ),
            (r#"[{"role":"user","content":""}]"#, ""),
            (r#"[{"content":null,"tool_calls":[{"name":"f","arguments":null},{"name":"g","args":{}}]}]"#, "f\ng"),
            (r#"[{"content":"","tool_calls":[{"name":"f","args":{"a":"x"},"type":"tool_call"}]}]"#, "f {\"a\":\"x\"}"),
            (r#"[{"content":"a","tool_plan":"p"}]"#, "p\na"),
            (
                r#"[{"content":"a","tool_calls":[{"name":"f","args":{"c":{"e":1,"d":[{"g":2,"f":3}]},"b":null,"a":"x"}}]}]"#,
                "a\nf {\"a\":\"x\",\"c\":{\"d\":[{\"f\":3,\"g\":2}],\"e\":1}}",
            ),
            (r#"[{"content":"a","usage":{"total_tokens":5},"latency_ms":7.5}]"#, "a"),
            (r#"[{"role":"model","parts":[{"text":"a"},{"text":"b"}]}]"#, "a\nb"),
        ] {
            assert_eq!(read(json), (expected.to_owned(), None), "{json}");
        }
        for json in [r#"[{"role":"user"}]"#, "[1]", "[[\"a\"]]", "[true]", r#"[{"content":5}]"#, "{}", "\"a\""] {
            assert_eq!(text(json), "-", "{json}");
        }
    }

    #[test]
    fn what_cannot_be_read_makes_texts_differ() {
        let picture =
            |part: &str| text(&format!(r#"[{{"role":"user","content":[{part},{{"type":"text","text":"a"}}]}}]"#));
        let same = [
            r#"{"type":"image_url","image_url":{"url":"a.png"}}"#,
            r#"{"image_url":{"detail":null,"url":"a.png"},"text":null,"type":"image_url"}"#,
        ];
        assert_eq!(picture(same[0]), picture(same[1]));
        let parts = [
            same[0],
            r#"{"type":"image_url","image_url":{"url":"b.png"}}"#,
            r#"{"type":"image","image":"a.png"}"#,
            r#"{"type":"image","image":{"bytes":"x","path":"a.png"}}"#,
            r#"{"type":"input_audio","input_audio":{"data":"x","format":"wav"}}"#,
            r#"{"type":"image","source":{"type":"base64","data":"x"}}"#,
            r#"{"type":"image","source":{"type":"base64","data":"y"}}"#,
            r#"{"type":"image","path":"a.png"}"#,
            r#"{"type":"text"}"#,
        ];
        let all: std::collections::BTreeSet<String> = parts.iter().map(|part| picture(part)).collect();
        assert_eq!(all.len(), parts.len());
        assert_eq!(picture(parts[8]), "a");
        assert!(all.iter().all(|text| unread::split(text).0 == "a"));
        // A placeholder says nothing about the picture.
        for part in [r#"{"type":"image"}"#, r#"{"type":"image","text":null,"index":0}"#] {
            assert_eq!(unread::split(&picture(part)), ("a", Some(Unread::Unknown)), "{part}");
        }
        let long = "data:image/png;base64,".repeat(9);
        assert_eq!(
            picture(&format!("{{\"image\":{}}}", hashed(long.as_bytes()))),
            picture(&format!("{{\"image\":\"{long}\"}}"))
        );
        // Pictures beside the content, and their order.
        let beside = |images: &str| text(&format!(r#"[{{"content":"a","images":{images}}}]"#));
        assert_ne!(beside(r#"["x","y"]"#), beside(r#"["y","x"]"#));
        assert_eq!(beside("[]"), "a");
        for name in ["image_file", "documents", "reasoning_details"] {
            let with = |value: &str| text(&format!(r#"[{{"content":"a","{name}":[{{"data":"{value}"}}]}}]"#));
            assert_ne!(with("x"), with("y"), "{name}");
        }
        for (a, b) in [
            (r#""reasoning":1"#, r#""reasoning":2"#),
            (r#""reasoning":[1]"#, r#""reasoning":[2]"#),
            (r#""thinking":true"#, r#""thinking":false"#),
            (r#""thinking":{"name":"x"}"#, r#""thinking":{"name":"y"}"#),
            (r#""refusal":5"#, r#""refusal":null"#),
            (r#""refusal":{"code":5}"#, r#""refusal":{"code":6}"#),
            (r#""tool_calls":7"#, r#""tool_calls":8"#),
            (r#""tool_calls":[7]"#, r#""tool_calls":[8]"#),
            (r#""text":{"name":"x"}"#, r#""text":{"name":"y"}"#),
        ] {
            let with = |field: &str| text(&format!(r#"[{{"role":"user","content":"a",{field}}}]"#));
            assert_ne!(with(a), with(b));
            assert_eq!(unread::split(&with(a)).0, "a");
        }
        let named = |name: &str| text(&format!(r#"["a",{{"role":"user","content":{{"name":"{name}"}}}}]"#));
        assert_ne!(named("x"), named("y"));
        let only = read(r#"[{"role":"user","images":["x"]}]"#);
        assert!(only.0.is_empty() && matches!(only.1, Some(Unread::Digest(_))));
    }

    #[test]
    fn what_is_neither_text_nor_a_label_makes_texts_differ() {
        let differ = |a: &str, b: &str| {
            let [a, b] = [a, b].map(|json| format!("[{json}]"));
            assert_ne!(read(&a).1, None, "{a}");
            assert_eq!(read(&a).0, read(&b).0);
            assert_ne!(text(&a), text(&b));
        };
        differ(r#"{"content":"a","citations":["x"]}"#, r#"{"content":"a","citations":["y"]}"#);
        differ(r#"{"content":"a","attachment":{"x":[1]}}"#, r#"{"content":"a"}"#);
        differ(r#"{"content":"a","page":1}"#, r#"{"content":"a","page":2}"#);
        differ(r#"{"content":"a","text":"b"}"#, r#"{"text":"c","content":"a"}"#);
        differ(
            r#"{"content":[{"type":"text","text":"a","annotations":[{"url":"x"}]}]}"#,
            r#"{"content":[{"type":"text","text":"a","annotations":[{"url":"y"}]}]}"#,
        );
        differ(
            r#"{"type":"web_search_call","id":"1","status":"completed"}"#,
            r#"{"type":"file_search_call","id":"1"}"#,
        );
        differ(
            r#"{"type":"web_search_call","action":{"query":"x"}}"#,
            r#"{"type":"web_search_call","action":{"query":"y"}}"#,
        );
        assert_eq!(
            text(r#"["a",{"type":"web_search_call","id":"1","status":"completed"}]"#),
            text(r#"["a",{"type":"web_search_call","id":"2","status":"failed"}]"#)
        );
        assert_eq!(read(r#"["a",{"type":"item_reference","id":"1"}]"#), ("a".to_owned(), Some(Unread::Unknown)));
        for labels in [
            r#""role":"user","id":1,"createdAt":5,"timestamp":"x","tool_call_id":"y","model":"m","name":"n""#,
            r#""from":"gpt","Status":"x","weight":0.5,"turn_identifier":7,"annotations":[],"audio":null,"more":{"a":[""]}"#,
            r#""content":"a","text":"a""#,
            r#""metadata":{"x":[1]},"rating":4,"review_count":2,"userId":"u","deleted":false,"labels":["y"]"#,
        ] {
            assert_eq!(read(&format!("[{{\"value\":\"a\",{labels}}}]")), ("a".to_owned(), None), "{labels}");
        }
    }

    #[test]
    fn each_item_has_its_text() {
        let texts =
            each(r#"["a",null,{"label":"B","text":"b"},{"content":[{"type":"image","image":"x"},{"text":"c"}]}]"#);
        assert_eq!(texts.expect("JSON"), Some(["a", "", "b", "c"].map(str::to_owned).to_vec()));
        assert!(each("[1]").expect("JSON").is_none() && each("[").is_err() && each("x").is_err());
    }
}
