//! Texts from lists: paragraphs (`list<string>`) and chat messages (`list<struct<role, content>>`), joined by line feeds.
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

/// The text fields of an object in a list; the first one present is used.
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

/// Returns the texts of a list column as unchecked bytes; `None` for any other column. Nulls and empty strings in a list are left out.
///
/// # Errors
/// Returns an error if offsets or keys are out of range, or if a text is too long for a view.
pub fn joined(column: &ArrayRef) -> Result<Option<BinaryViewArray>, ArrowError> {
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
        for at in (bounds[0]..bounds[1]).filter(|at| values.is_valid(*at) && !values.value(*at).is_empty()) {
            if !text.is_empty() {
                text.push(b'\n');
            }
            text.extend_from_slice(values.value(at));
        }
        texts.try_append_value(&text)?;
    }
    Ok(Some(texts.finish()))
}

/// Returns a field of structs, null if the struct is null.
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
        let joined = joined(&column).expect("joined")?;
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
