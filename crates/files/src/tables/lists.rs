//! Combines the items of text lists, such as lists of paragraphs (`list<string>`) or chat messages (`list<struct<role, content>>`). Joins
//! the items with line feeds, or writes them as a JSON array of strings if they are needed separately.
//!
//! ```text
//! ["One.", null, "Two."]                                         One.\nTwo.
//! [{"role": "user", "content": "Hi"}, {"content": "Hello"}]      Hi\nHello
//! null                                                           (null)
//! ```

use super::read_as;
use arrow::array::builder::BinaryViewBuilder;
use arrow::array::{Array, ArrayRef, AsArray, BinaryViewArray, StructArray, make_array};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field};
use arrow::error::ArrowError;
use serde_json::Value;
use std::io::Write as _;

/// The text fields of an object in a list; the first of these fields that is present is used.
pub const TEXT_FIELDS: [&str; 2] = ["content", "text"];

/// Returns whether a column of this type contains lists of strings, or of structs in which one of [`TEXT_FIELDS`] is a string.
pub fn is_texts(data_type: &DataType) -> bool {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) => match item.data_type() {
            DataType::Struct(fields) => {
                let field = |name: &&str| fields.iter().find(|field| field.name() == *name);
                TEXT_FIELDS.iter().find_map(field).is_some_and(is_string)
            }
            _ => is_string(item),
        },
        _ => false,
    }
}

fn is_string(field: impl AsRef<Field>) -> bool {
    match field.as_ref().data_type() {
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
    let Value::Array(items) = serde_json::from_str(text).ok()? else { return None };
    items.iter().map(text_of).collect()
}

/// Returns the text of a list item; skips parts of a message that have no text, such as images.
fn text_of(item: &Value) -> Option<String> {
    let fields = match item {
        Value::Null => return Some(String::new()),
        Value::String(text) => return Some(text.clone()),
        Value::Object(fields) => fields,
        _ => return None,
    };
    match TEXT_FIELDS.iter().find_map(|name| fields.get(*name))? {
        Value::Null => Some(String::new()),
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(text_of).filter(|text| !text.is_empty());
            Some(texts.collect::<Vec<_>>().join("\n"))
        }
        _ => None,
    }
}

/// Returns the combined text of each list in a list column, as unchecked bytes; `None` for any other column.
///
/// # Errors
/// Returns an error if offsets or keys are out of range, or if a value is too long for a view.
pub fn joined(column: &ArrayRef, form: Form) -> Result<Option<BinaryViewArray>, ArrowError> {
    if !is_texts(column.data_type()) {
        return Ok(None);
    }
    let (values, bounds): (ArrayRef, Vec<usize>) = match column.data_type() {
        DataType::List(_) => {
            let lists = column.as_list::<i32>();
            (lists.values().clone(), lists.offsets().iter().map(|at| *at as usize).collect())
        }
        _ => {
            let lists = column.as_list::<i64>();
            (lists.values().clone(), lists.offsets().iter().map(|at| *at as usize).collect())
        }
    };
    let values = match values.as_struct_opt() {
        Some(structs) => match TEXT_FIELDS.iter().find_map(|name| structs.column_by_name(name)) {
            Some(field) => of_struct(structs, field)?,
            None => return Ok(None),
        },
        None => values,
    };
    let Some(values) = read_as::bytes(&read_as::unchecked(&values)?)? else { return Ok(None) };
    let mut texts = BinaryViewBuilder::with_capacity(column.len());
    let mut text = Vec::new();
    for (row, bounds) in bounds.windows(2).enumerate() {
        if column.is_null(row) {
            texts.append_null();
            continue;
        }
        text.clear();
        let items = (bounds[0]..bounds[1]).map(|at| if values.is_valid(at) { values.value(at) } else { b"" });
        match form {
            Form::Lines => {
                for item in items.filter(|item| !item.is_empty()) {
                    if !text.is_empty() {
                        text.push(b'\n');
                    }
                    text.extend_from_slice(item);
                }
            }
            Form::Json => {
                text.push(b'[');
                for item in items {
                    if text.len() > 1 {
                        text.push(b',');
                    }
                    push_quoted(&mut text, item);
                }
                text.push(b']');
            }
        }
        texts.try_append_value(&text)?;
    }
    Ok(Some(texts.finish()))
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

/// Returns the values of a struct field; a value is null if its struct is null.
fn of_struct(structs: &StructArray, field: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let nulls = NullBuffer::union(structs.nulls(), field.nulls());
    Ok(make_array(field.to_data().into_builder().nulls(nulls).build()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::builder::{LargeListBuilder, ListBuilder, StringBuilder};
    use arrow::array::{Int32Array, ListArray, StringArray};
    use arrow::buffer::OffsetBuffer;
    use std::sync::Arc;

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
