//! Describes the fields of a Parquet schema, finds the fields of a column, and reduces a schema to some columns.

use super::load::guarded;
use crate::format::known::Shown;
use ::parquet::arrow::parquet_to_arrow_schema;
use ::parquet::basic::{ConvertedType, LogicalType, Repetition, Type as PhysicalType};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::ParquetMetaData;
use ::parquet::schema::types::{SchemaDescriptor, Type, TypePtr};
use arrow::datatypes::DataType;
use dupsift_tables::nested::lists::is_texts;
use dupsift_tables::nested::message_fields;
use std::sync::Arc;

/// Returns the columns of the file for messages and checks; struct fields are identified by their paths. Top-level columns come first, so a
/// top-level column takes precedence over a nested column of the same name.
pub(super) fn describe(metadata: &ParquetMetaData) -> Vec<Shown> {
    let mut described = Vec::new();
    for field in metadata.file_metadata().schema().get_fields() {
        describe_below(&[], field, &mut described);
    }
    described.sort_by_key(|(path, _)| path.len());
    described.into_iter().map(|(_, shown)| shown).collect()
}

fn describe_below(above: &[String], field: &TypePtr, described: &mut Vec<(Vec<String>, Shown)>) {
    let path: Vec<String> = above.iter().cloned().chain([field.name().to_owned()]).collect();
    if is_struct(field) {
        field.get_fields().iter().for_each(|child| describe_below(&path, child, described));
        return;
    }
    described.push((path.clone(), shown(path.join("."), field)));
}

/// Returns the columns on the top level of the file.
pub(super) fn describe_top(metadata: &ParquetMetaData) -> Vec<Shown> {
    let shown = |field: &TypePtr| match is_struct(field) {
        true => Shown::nested(field.name(), "a struct"),
        false => shown(field.name().to_owned(), field),
    };
    metadata.file_metadata().schema().get_fields().iter().map(shown).collect()
}

/// Describes a column that is no struct.
fn shown(name: String, field: &TypePtr) -> Shown {
    let is_texts = !texts_below(field).is_empty();
    let (data_type, says) = match data_type(field) {
        Some(Ok(data_type)) => (Some(data_type.clone()), data_type.to_string()),
        Some(Err(_)) => (None, "of an unknown type".to_owned()),
        None => (None, "a list".to_owned()),
    };
    Shown { name, data_type, says, is_texts }
}

/// Returns whether the field is a struct: a group of columns with one value per row, but not a list or a map.
pub(super) fn is_struct(field: &TypePtr) -> bool {
    let info = field.get_basic_info();
    let annotated = info.logical_type_ref().is_some() || info.converted_type() != ConvertedType::NONE;
    field.is_group() && !annotated && !is_repeated(field)
}

fn is_repeated(field: &TypePtr) -> bool {
    let info = field.get_basic_info();
    info.has_repetition() && info.repetition() == Repetition::REPEATED
}

/// Returns the fields from the root to the plain column with this name or path. A column whose own name contains a dot takes precedence. If
/// `or_texts` is set, a list that contains text is also accepted; in that case, there is one path for each leaf of the list that is read.
/// Returns nothing if there is no such column.
pub(super) fn resolve(fields: &[TypePtr], name: &str, or_texts: bool) -> Vec<Vec<TypePtr>> {
    if let Some(field) = fields.iter().find(|field| field.name() == name) {
        return match data_type(field) {
            Some(Ok(_)) => vec![vec![field.clone()]],
            _ if or_texts => texts_below(field),
            _ => Vec::new(),
        };
    }
    let below = fields.iter().filter(|field| is_struct(field)).map(|field| {
        let rest = name.strip_prefix(field.name()).and_then(|rest| rest.strip_prefix('.'));
        let mut paths = rest.map_or_else(Vec::new, |rest| resolve(field.get_fields(), rest, or_texts));
        paths.iter_mut().for_each(|path| path.insert(0, field.clone()));
        paths
    });
    below.into_iter().find(|paths| !paths.is_empty()).unwrap_or_default()
}

/// Returns the fields that lead to each leaf that is read from a list of strings or of messages; nothing for any other field.
fn texts_below(list: &TypePtr) -> Vec<Vec<TypePtr>> {
    let info = list.get_basic_info();
    let is_list = info.logical_type_ref() == Some(&LogicalType::List) || info.converted_type() == ConvertedType::LIST;
    if !list.is_group() || !is_list || is_repeated(list) {
        return Vec::new();
    }
    let [repeated] = list.get_fields() else { return Vec::new() };
    let items = if repeated.is_group() { repeated.get_fields() } else { &[] };
    let [item] = items else { return Vec::new() };
    let is_read = |field: &&TypePtr| {
        item.is_primitive() || message_fields::Field::of(field.name()) != message_fields::Field::Label
    };
    let fields = if item.is_primitive() { std::slice::from_ref(item) } else { item.get_fields() };
    if !item.is_primitive() && !is_struct(item) {
        return Vec::new();
    }
    let mut paths = Vec::new();
    for field in fields.iter().filter(is_read) {
        let mut path = vec![list.clone(), repeated.clone(), item.clone()];
        path.extend((!item.is_primitive()).then(|| field.clone()));
        leaves_below(path, &mut paths);
    }
    // The types of the leaves that are read determine whether the items are text.
    let is_texts = !paths.is_empty()
        && guarded(|| {
            let schema = schema_of("schema", kept(std::slice::from_ref(list), &borrowed(&paths))?)?;
            Ok(is_texts(parquet_to_arrow_schema(&schema, None)?.field(0).data_type()))
        })
        .unwrap_or(false);
    if is_texts { paths } else { Vec::new() }
}

/// Adds the paths of all leaves below the last field of a path.
fn leaves_below(path: Vec<TypePtr>, paths: &mut Vec<Vec<TypePtr>>) {
    let Some(last) = path.last() else { return };
    if last.is_primitive() {
        return paths.push(path);
    }
    for field in last.get_fields() {
        leaves_below(path.iter().chain([field]).cloned().collect(), paths);
    }
}

fn borrowed(paths: &[Vec<TypePtr>]) -> Vec<&[TypePtr]> {
    paths.iter().map(Vec::as_slice).collect()
}

/// Returns the Arrow type of a plain column; `None` for a nested or repeated column.
fn data_type(field: &TypePtr) -> Option<Result<DataType, String>> {
    if !field.is_primitive() || is_repeated(field) {
        return None;
    }
    Some(guarded(|| {
        let schema = schema_of("schema", vec![field.clone()])?;
        Ok(parquet_to_arrow_schema(&schema, None)?.field(0).data_type().clone())
    }))
}

pub(super) fn schema_of(name: &str, fields: Vec<TypePtr>) -> Result<SchemaDescriptor, ParquetError> {
    Ok(SchemaDescriptor::new(Arc::new(Type::group_type_builder(name).with_fields(fields).build()?)))
}

/// Returns the fields that lead to one of the columns. Structs are reduced to these fields, and strings become bytes.
pub(super) fn kept(fields: &[TypePtr], paths: &[&[TypePtr]]) -> Result<Vec<TypePtr>, ParquetError> {
    let mut kept_fields = Vec::new();
    for field in fields {
        let here = paths.iter().filter_map(|path| path.split_first());
        let below: Vec<&[TypePtr]> =
            here.filter(|(first, _)| Arc::ptr_eq(first, field)).map(|(_, rest)| rest).collect();
        if below.is_empty() {
            continue;
        }
        kept_fields.push(if field.is_group() {
            let info = field.get_basic_info();
            let group = Type::group_type_builder(field.name()).with_repetition(info.repetition());
            let group =
                group.with_logical_type(info.logical_type_ref().cloned()).with_converted_type(info.converted_type());
            Arc::new(group.with_fields(kept(field.get_fields(), &below)?).build()?)
        } else if is_string(field) {
            let bytes = Type::primitive_type_builder(field.name(), PhysicalType::BYTE_ARRAY);
            Arc::new(bytes.with_repetition(field.get_basic_info().repetition()).build()?)
        } else {
            field.clone()
        });
    }
    Ok(kept_fields)
}

/// Returns whether the field is a plain string column. Such columns are read as bytes, because otherwise the decoder would check the
/// strings and reject an entire page because of a single invalid value.
pub(super) fn is_string(field: &TypePtr) -> bool {
    matches!(data_type(field), Some(Ok(DataType::Utf8)))
}

/// Returns the position of a column among all columns of the file.
pub(super) fn leaf_of(schema: &SchemaDescriptor, path: &[TypePtr]) -> Option<usize> {
    let same = |parts: &[String]| {
        parts.len() == path.len() && parts.iter().zip(path).all(|(part, field)| part == field.name())
    };
    schema.columns().iter().position(|column| same(column.path().parts()))
}
