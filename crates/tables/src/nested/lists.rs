//! Combines the items of text lists, such as lists of paragraphs (`list<string>`) or chat messages (`list<struct<role, content>>`). Joins
//! the items with line feeds, or writes them as a JSON array of strings if they are needed separately.
//!
//! ```text
//! ["One.", null, "Two."]                                         One.\nTwo.
//! [{"role": "user", "content": "Hi"}, {"content": "Hello"}]      Hi\nHello
//! null                                                           (null)
//! ```
//!
//! Structs are written as JSON, one list at a time, and read by `crate::nested::messages`, which also reads messages in JSON lines.

use crate::columns::cell::MAX_TEXT_BYTES;
use crate::columns::read_as::spelled_float;
use crate::nested::message_fields::{self, Field as MessageField};
use crate::nested::messages;
use arrow::array::builder::BinaryViewBuilder;
use arrow::array::{Array, ArrayRef, AsArray, BinaryViewArray, downcast_dictionary_array};
use arrow::datatypes::{DataType, Field, Fields, Float16Type, Float32Type, Float64Type};
use arrow::error::ArrowError;
use arrow::util::display::array_value_to_string;
use std::io::Write as _;
use std::ops::Range;

/// Returns whether a column of this type contains lists of strings, or of structs in which a field with the content of a message can be
/// read.
pub fn is_texts(data_type: &DataType) -> bool {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) => match item.data_type() {
            DataType::Struct(fields) => is_message(fields),
            _ => is_string(item),
        },
        _ => false,
    }
}

/// Returns whether a struct with these fields may be a message: it has a field with content, and every such field can be read.
fn is_message(fields: &Fields) -> bool {
    let mut contents = fields.iter().filter(|field| message_fields::is_content(field.name())).peekable();
    contents.peek().is_some() && contents.all(|field| may_be_content(field.data_type()))
}

fn may_be_content(data_type: &DataType) -> bool {
    match data_type {
        DataType::Struct(_) | DataType::Null => true,
        DataType::List(item) | DataType::LargeList(item) => may_be_content(item.data_type()),
        other => is_string_type(other),
    }
}

fn is_string(field: impl AsRef<Field>) -> bool {
    is_string_type(field.as_ref().data_type())
}

fn is_string_type(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => matches!(**values, DataType::Utf8 | DataType::LargeUtf8),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => true,
        _ => false,
    }
}

/// Determines how the items of a list are combined into one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The items, except nulls and empty strings, are joined with line feeds.
    Lines,
    /// The items are written as a JSON array of strings; see [`of_json`]. A null becomes an empty string, so that positions are preserved.
    Json,
}

/// Returns the text of each item in a JSON array of strings, nulls and messages; `None` for any other input. A null becomes an empty
/// string.
pub fn of_json(text: &str) -> Option<Vec<String>> {
    if !text.trim_start().starts_with('[') {
        return None;
    }
    messages::each(text).ok()?
}

/// Returns the combined text of each list in a list column, as unchecked bytes; `None` for any other column.
///
/// # Errors
/// Returns an error if a value cannot be written as text, or is too long for a view.
pub fn joined(column: &ArrayRef, form: Form) -> Result<Option<BinaryViewArray>, ArrowError> {
    if !is_texts(column.data_type()) {
        return Ok(None);
    }
    let mut texts = BinaryViewBuilder::with_capacity(column.len());
    let (mut text, mut json) = (Vec::new(), Vec::new());
    for row in 0..column.len() {
        if column.is_null(row) {
            texts.append_null();
            continue;
        }
        let (values, bounds) = list(column, row);
        text.clear();
        if let DataType::Struct(_) = values.data_type() {
            json.clear();
            match write_list(values, bounds, Place::Message, &mut json) {
                Ok(()) => conversation(&json, form, &mut text),
                Err(ArrowError::MemoryError(_)) => text.extend_from_slice(TOO_LONG),
                Err(error) => return Err(error),
            }
        } else {
            strings(values, bounds, form, &mut text)?;
        }
        texts.try_append_value(&text)?;
        // One long text must not keep its memory for the rest of the batch.
        if text.capacity() + json.capacity() > KEPT_BYTES {
            (text, json) = (Vec::new(), Vec::new());
        }
    }
    Ok(Some(texts.finish()))
}

/// Takes the place of a conversation that is too long to be read. It is not UTF-8, so it cannot occur in a file.
pub(crate) const TOO_LONG: &[u8] = b"\xFF\xFE too long";

/// The number of bytes of scratch memory that are kept for the next list.
const KEPT_BYTES: usize = 1 << 20;

/// Returns the values of a list column, and the range of the values in one list.
fn list(column: &dyn Array, row: usize) -> (&dyn Array, Range<usize>) {
    match column.data_type() {
        DataType::LargeList(_) => {
            let lists = column.as_list::<i64>();
            (lists.values(), lists.value_offsets()[row] as usize..lists.value_offsets()[row + 1] as usize)
        }
        _ => {
            let lists = column.as_list::<i32>();
            (lists.values(), lists.value_offsets()[row] as usize..lists.value_offsets()[row + 1] as usize)
        }
    }
}

/// Combines strings. They are taken from the column one by one, because converting a column of short strings takes many times its memory.
fn strings(values: &dyn Array, bounds: Range<usize>, form: Form, text: &mut Vec<u8>) -> Result<(), ArrowError> {
    if form == Form::Json {
        text.push(b'[');
    }
    for at in bounds {
        let item = if values.is_null(at) { None } else { bytes(values, at)? };
        let item = item.unwrap_or_default();
        match form {
            Form::Lines => {
                if !item.is_empty() && !text.is_empty() {
                    text.push(b'\n');
                }
                text.extend_from_slice(item);
            }
            Form::Json => {
                if text.len() > 1 {
                    text.push(b',');
                }
                push_quoted(text, item);
            }
        }
    }
    if form == Form::Json {
        text.push(b']');
    }
    Ok(())
}

/// Reads a list of messages. A list that is not UTF-8 is returned as it is, because its row is rejected when the column is checked.
fn conversation(json: &[u8], form: Form, text: &mut Vec<u8>) {
    let read = std::str::from_utf8(json).ok().and_then(|json| match form {
        Form::Lines => messages::joined(json).ok()?.map(String::into_bytes),
        Form::Json => {
            let each = messages::each(json).ok()??;
            serde_json::to_vec(&each).ok()
        }
    });
    text.extend_from_slice(read.as_deref().unwrap_or(json));
}

/// The bytes of a string in a column of any string type; `None` for a null key.
fn bytes(column: &dyn Array, at: usize) -> Result<Option<&[u8]>, ArrowError> {
    /// The bytes between two offsets, which are not checked for UTF-8.
    fn between<'d, O: Copy + Into<i64>>(
        offsets: &[O],
        data: &'d [u8],
        at: usize,
    ) -> Result<Option<&'d [u8]>, ArrowError> {
        let place = |at: usize| usize::try_from(offsets[at].into()).unwrap_or(usize::MAX);
        data.get(place(at)..place(at + 1)).map(Some).ok_or_else(out_of_range)
    }
    match column.data_type() {
        DataType::Utf8 => {
            let strings = column.as_string::<i32>();
            between(strings.value_offsets(), strings.value_data(), at)
        }
        DataType::LargeUtf8 => {
            let strings = column.as_string::<i64>();
            between(strings.value_offsets(), strings.value_data(), at)
        }
        DataType::Binary => Ok(Some(column.as_binary::<i32>().value(at))),
        DataType::LargeBinary => Ok(Some(column.as_binary::<i64>().value(at))),
        DataType::Utf8View => Ok(Some(column.as_string_view().value(at).as_bytes())),
        DataType::BinaryView => Ok(Some(column.as_binary_view().value(at))),
        DataType::FixedSizeBinary(_) => Ok(Some(column.as_fixed_size_binary().value(at))),
        DataType::Dictionary(..) => of_dictionary(column, at, bytes),
        _ => Ok(None),
    }
}

fn out_of_range() -> ArrowError {
    ArrowError::InvalidArgumentError("an offset or a key is out of range".to_owned())
}

/// Calls `read` with the values of a dictionary and the key in this row.
fn of_dictionary<'c, T: Default>(
    column: &'c dyn Array,
    at: usize,
    read: impl FnOnce(&'c dyn Array, usize) -> Result<T, ArrowError>,
) -> Result<T, ArrowError> {
    let key = downcast_dictionary_array!(
        column => column.key(at),
        _ => None
    );
    let values: &'c dyn Array = column.as_any_dictionary().values();
    match key {
        None => Ok(T::default()),
        Some(key) if key < values.len() => read(values, key),
        Some(_) => Err(out_of_range()),
    }
}

/// Where a value stands in a conversation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// An item of the list.
    Message,
    /// A part of a message that may be text.
    Part,
    /// A value that is text, with all its fields.
    Value,
    /// Something of which only a digest is used. Its bytes need not be text.
    Unread,
}

/// Writes a list as JSON.
///
/// # Errors
/// Returns [`ArrowError::MemoryError`] if the result is longer than a text may be: items of some types take no bytes in a file.
fn write_list(values: &dyn Array, bounds: Range<usize>, place: Place, out: &mut Vec<u8>) -> Result<(), ArrowError> {
    out.push(b'[');
    // Nulls of this type take no memory, so there may be any number of them.
    let bounds = if *values.data_type() == DataType::Null { 0..0 } else { bounds };
    for (number, at) in bounds.enumerate() {
        if number > 0 {
            out.push(b',');
        }
        write_value(values, at, place, out)?;
        if out.len() > MAX_TEXT_BYTES {
            return Err(ArrowError::MemoryError("the conversation is too long".to_owned()));
        }
    }
    out.push(b']');
    Ok(())
}

/// The number of bytes of a string above which only its hash is written if nothing else is used.
const LONG: usize = 64;

/// Writes a value as JSON. Labels of messages and null fields are left out. Strings need not be UTF-8.
fn write_value(column: &dyn Array, at: usize, place: Place, out: &mut Vec<u8>) -> Result<(), ArrowError> {
    if column.is_null(at) {
        out.extend_from_slice(b"null");
        return Ok(());
    }
    let inside = if place == Place::Message { Place::Part } else { place };
    match column.data_type() {
        DataType::Null => out.extend_from_slice(b"null"),
        DataType::Boolean => write_text(out, column.as_boolean().value(at)),
        DataType::Struct(fields) => {
            out.push(b'{');
            let begin = out.len();
            for (field, values) in fields.iter().zip(column.as_struct().columns()) {
                // A message without its content is no message, even if the content is null.
                let inside = of_field(field.name(), inside).filter(|_| place == Place::Message || !values.is_null(at));
                let Some(inside) = inside else { continue };
                if out.len() > begin {
                    out.push(b',');
                }
                push_quoted(out, field.name().as_bytes());
                out.push(b':');
                write_value(values, at, inside, out)?;
            }
            out.push(b'}');
        }
        DataType::List(_) | DataType::LargeList(_) => {
            let (values, bounds) = list(column, at);
            write_list(values, bounds, inside, out)?;
        }
        DataType::FixedSizeList(_, length) => {
            let (start, length) = (column.as_fixed_size_list().value_offset_at(at), *length as usize);
            write_list(column.as_fixed_size_list().values(), start..start + length, inside, out)?;
        }
        DataType::Map(..) => {
            let map = column.as_map();
            let (from, to) = (map.value_offsets()[at] as usize, map.value_offsets()[at + 1] as usize);
            out.push(b'{');
            let begin = out.len();
            for entry in from..to {
                let name = array_value_to_string(map.keys(), entry)?;
                let Some(inside) = of_field(&name, inside) else { continue };
                if out.len() > begin {
                    out.push(b',');
                }
                push_quoted(out, name.as_bytes());
                out.push(b':');
                write_value(map.values(), entry, inside, out)?;
            }
            out.push(b'}');
        }
        DataType::Dictionary(..) => of_dictionary(column, at, |values, key| write_value(values, key, place, out))?,
        other if is_string_type(other) || matches!(other, DataType::FixedSizeBinary(_)) => {
            let value = bytes(column, at)?.unwrap_or_default();
            let is_hashed = place == Place::Unread && (value.len() > LONG || std::str::from_utf8(value).is_err());
            if is_hashed {
                write_text(out, messages::hashed(value));
            } else {
                push_quoted(out, value);
            }
        }
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            // The cast of arrow would add all its conversions to the program.
            let number = match column.data_type() {
                DataType::Float16 => column.as_primitive::<Float16Type>().value(at).to_f64(),
                DataType::Float32 => column.as_primitive::<Float32Type>().value(at).into(),
                _ => column.as_primitive::<Float64Type>().value(at),
            };
            if number.is_finite() {
                write_text(out, spelled_float(number, &number))
            } else {
                out.extend_from_slice(b"null")
            }
        }
        other if other.is_integer() => out.extend_from_slice(array_value_to_string(column, at)?.as_bytes()),
        _ => push_quoted(out, array_value_to_string(column, at)?.as_bytes()),
    }
    Ok(())
}

/// Returns where the value of a field stands; `None` for a label, which is left out.
fn of_field(name: &str, inside: Place) -> Option<Place> {
    match (inside, MessageField::of(name)) {
        (Place::Message | Place::Part, MessageField::Label) => None,
        (Place::Message | Place::Part, MessageField::Unread) => Some(Place::Unread),
        (Place::Message | Place::Part, MessageField::Json(_)) => Some(Place::Value),
        _ => Some(inside),
    }
}

fn write_text(out: &mut Vec<u8>, value: impl std::fmt::Display) {
    // Writing to a vector cannot fail.
    _ = write!(out, "{value}");
}

/// Appends a JSON string. Preserves invalid UTF-8, which is found later when the column is checked.
fn push_quoted(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    for &byte in text {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            // Writing to a vector cannot fail.
            0..0x20 => _ = write!(out, "\\u{byte:04x}"),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::builder::{LargeListBuilder, ListBuilder, StringBuilder};
    use arrow::array::{BinaryArray, DictionaryArray, Int32Array, ListArray, MapArray, StringArray, StructArray};
    use arrow::buffer::{NullBuffer, OffsetBuffer};
    use arrow::datatypes::Int32Type;
    use dupsift_core::unread;
    use std::sync::Arc;

    fn structs(fields: Vec<(&str, ArrayRef)>) -> StructArray {
        let fields = fields
            .into_iter()
            .map(|(name, column)| (Arc::new(Field::new(name, column.data_type().clone(), true)), column));
        StructArray::from(fields.collect::<Vec<_>>())
    }

    fn lists(values: ArrayRef, lengths: &[usize]) -> ArrayRef {
        let item = Arc::new(Field::new_list_field(values.data_type().clone(), true));
        Arc::new(ListArray::new(item, OffsetBuffer::from_lengths(lengths.iter().copied()), values, None))
    }

    fn strings(values: &[Option<&str>]) -> ArrayRef {
        Arc::new(StringArray::from(values.to_vec()))
    }

    #[test]
    fn conversations_have_the_same_text_as_in_json_lines() {
        // One message with two parts, one with a call, and one with a picture and thoughts.
        let urls: ArrayRef = Arc::new(structs(vec![("url", strings(&[None, Some("a.png"), Some("b.png")]))]));
        let part = structs(vec![
            ("type", strings(&[Some("text"), Some("image_url"), Some("image_url")])),
            ("text", strings(&[Some("See"), None, None])),
            ("image_url", urls),
        ]);
        let arguments: ArrayRef = Arc::new(structs(vec![
            ("from", strings(&[Some("Oslo")])),
            ("to", strings(&[None])),
            ("days", Arc::new(Int32Array::from(vec![3])) as ArrayRef),
        ]));
        let function: ArrayRef = Arc::new(structs(vec![("name", strings(&[Some("book")])), ("arguments", arguments)]));
        let call: ArrayRef = Arc::new(structs(vec![("id", strings(&[Some("x")])), ("function", function)]));
        let keys: DictionaryArray<Int32Type> = [Some("think"), None, Some("more")].into_iter().collect();
        let messages = structs(vec![
            ("role", strings(&[Some("user"), Some("assistant"), None])),
            ("content", lists(Arc::new(part), &[2, 0, 1])),
            ("reasoning", Arc::new(keys)),
            ("tool_calls", lists(call, &[0, 1, 0])),
        ]);
        let column = lists(Arc::new(messages), &[2, 1]);
        let json = [
            r#"[{"role":"user","content":[{"type":"text","text":"See"},{"type":"image_url","image_url":{"url":"a.png"}}],"reasoning":"think"},
                {"tool_calls":[{"function":{"name":"book","arguments":{"from":"Oslo","days":3}}}]}]"#,
            r#"[{"reasoning":"more","content":[{"type":"image_url","image_url":{"url":"b.png"}}]}]"#,
        ];
        let expected: Vec<_> = json.iter().map(|json| messages::joined(json).expect("JSON")).collect();
        assert_eq!(texts(column).expect("texts"), expected);
        let shown = expected.iter().flatten().map(|text| unread::split(text).0).collect::<Vec<_>>();
        assert_eq!(shown, ["think\nSee\nbook {\"days\":3,\"from\":\"Oslo\"}", "more"]);
    }

    #[test]
    fn bytes_of_pictures_need_not_be_text_and_maps_are_objects() {
        let of = |bytes: &[u8]| {
            let image: ArrayRef = Arc::new(structs(vec![
                ("bytes", Arc::new(BinaryArray::from(vec![bytes])) as ArrayRef),
                ("path", strings(&[None])),
            ]));
            let message = structs(vec![("content", strings(&[Some("a")])), ("image", image)]);
            texts(lists(Arc::new(message), &[1])).expect("texts")[0].clone().expect("a text")
        };
        assert_ne!(of(b"\xFF\xD8one"), of(b"\xFF\xD8two"));
        assert_eq!(of(b"\xFF\xD8one"), of(b"\xFF\xD8one"));
        assert_eq!(unread::split(&of(b"\xFF")).0, "a");
        let entries = structs(vec![("keys", strings(&[Some("to")])), ("values", strings(&[Some("Oslo")]))]);
        let keys = ["keys", "values"].map(|name| Field::new(name, DataType::Utf8, name == "values"));
        let entries = StructArray::new(keys.to_vec().into(), entries.columns().to_vec(), None);
        let field = Arc::new(Field::new("entries", entries.data_type().clone(), false));
        let map: ArrayRef = Arc::new(MapArray::new(field, OffsetBuffer::from_lengths([1]), entries, None, false));
        let call: ArrayRef = Arc::new(structs(vec![("name", strings(&[Some("f")])), ("arguments", map)]));
        let message = structs(vec![("content", strings(&[None])), ("function_call", call)]);
        assert_eq!(texts(lists(Arc::new(message), &[1])), Some(vec![Some("f {\"to\":\"Oslo\"}".to_owned())]));
    }

    #[test]
    fn null_messages_and_slices_are_read() {
        let nulls = Some(NullBuffer::from(vec![true, false, true]));
        let content = structs(vec![("value", strings(&[Some("a"), Some("hidden"), Some("b")]))]);
        let (fields, columns, _) = content.into_parts();
        let column = lists(Arc::new(StructArray::new(fields, columns, nulls)), &[2, 0, 1]);
        let expected = ["a", "", "b"].map(|text| Some(text.to_owned()));
        assert_eq!(texts(column.slice(1, 2)), Some(expected[1..].to_vec()));
        assert_eq!(texts(column), Some(expected.to_vec()));
    }

    fn texts(column: ArrayRef) -> Option<Vec<Option<String>>> {
        let joined = joined(&column, Form::Lines).expect("joined")?;
        Some(joined.iter().map(|text| text.map(|text| String::from_utf8(text.to_vec()).expect("UTF-8"))).collect())
    }

    #[test]
    fn paragraphs_stand_one_below_the_other() {
        let mut lists = ListBuilder::new(StringBuilder::new());
        let mut large = LargeListBuilder::new(StringBuilder::new());
        for list in [Some(vec![Some("One."), None, Some(""), Some("Two.")]), None, Some(vec![]), Some(vec![Some("a")])]
        {
            lists.append_option(list.clone());
            large.append_option(list);
        }
        let expected = [Some("One.\nTwo."), None, Some(""), Some("a")].map(|text| text.map(str::to_owned)).to_vec();
        assert_eq!(texts(Arc::new(large.finish())), Some(expected.clone()));
        let lists: ArrayRef = Arc::new(lists.finish());
        assert_eq!(texts(lists.slice(1, 3)), Some(expected[1..].to_vec()));
        assert_eq!(texts(lists), Some(expected));
        assert_eq!(texts(Arc::new(StringArray::from(vec!["a"]))), None);
    }

    #[test]
    fn lists_as_json_keep_positions_and_are_read_back() {
        let mut lists = ListBuilder::new(StringBuilder::new());
        lists.append_option(Some(vec![Some("a \"b\"\\\n\u{1}"), None, Some(""), Some("й")]));
        lists.append_option(None::<Vec<Option<&str>>>);
        lists.append_option(Some(Vec::<Option<&str>>::new()));
        let column: ArrayRef = Arc::new(lists.finish());
        let joined = joined(&column, Form::Json).expect("joined").expect("lists");
        let texts = joined.iter().map(|json| json.map(|json| of_json(std::str::from_utf8(json).expect("UTF-8"))));
        let expected = vec!["a \"b\"\\\n\u{1}".to_owned(), String::new(), String::new(), "й".to_owned()];
        assert_eq!(texts.collect::<Vec<_>>(), [Some(Some(expected)), None, Some(Some(Vec::new()))]);
        let message = r#"[{"role":"user","content":"Hi"},{"content":[{"type":"image"},{"text":"See"}]},null]"#;
        assert_eq!(of_json(message), Some(vec!["Hi".to_owned(), "See".to_owned(), String::new()]));
        for other in ["plain", "[1, 2]", "[\"a\"", "{\"content\":\"a\"}", "[[\"a\"]]", "[sic] he said", "\"a\""] {
            assert_eq!(of_json(other), None, "{other}");
        }
    }

    #[test]
    fn messages_are_their_content() {
        let strings = |values: [Option<&str>; 3]| Arc::new(StringArray::from(values.to_vec())) as ArrayRef;
        let of = |fields: Vec<(&str, ArrayRef)>| {
            let fields = fields
                .into_iter()
                .map(|(name, column)| (Arc::new(Field::new(name, column.data_type().clone(), true)), column));
            let structs: ArrayRef = Arc::new(StructArray::from(fields.collect::<Vec<_>>()));
            let item = Arc::new(Field::new_list_field(structs.data_type().clone(), true));
            Arc::new(ListArray::new(item, OffsetBuffer::from_lengths([2, 1]), structs, None)) as ArrayRef
        };
        let role = strings([Some("user"), Some("assistant"), None]);
        let content = strings([Some("Hi"), Some("Hello"), None]);
        let expected = vec![Some("Hi\nHello".to_owned()), Some(String::new())];
        assert_eq!(texts(of(vec![("role", role.clone()), ("content", content.clone())])), Some(expected.clone()));
        assert_eq!(texts(of(vec![("text", content)])), Some(expected));
        assert_eq!(texts(of(vec![("role", role)])), None);
        assert_eq!(texts(of(vec![("content", Arc::new(Int32Array::from(vec![1, 2, 3])))])), None);
    }
}
