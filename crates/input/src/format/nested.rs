//! Extracts plain columns from structs, such as `doc.text` in a Parquet file. A value is null if any level above it is null.

use arrow::array::builder::BinaryViewBuilder;
use arrow::array::{Array, ArrayRef, BinaryViewArray, RecordBatch, RecordBatchOptions, StructArray, make_array};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{Field, Schema};
use dupsift_core::error::{Error, Result};
use dupsift_tables::nested::attached;
use dupsift_tables::nested::lists;
use std::sync::Arc;

/// Returns a batch of these columns, which are given by name and path. Returns the batch itself if no column is nested.
pub(crate) fn flat(batch: RecordBatch, columns: &[(String, Vec<String>)]) -> Result<RecordBatch> {
    let failed = || Error::columns("take columns out of structs");
    if columns.iter().all(|(_, path)| path.len() == 1) {
        return Ok(batch);
    }
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for (name, path) in columns {
        let Some(array) = value(&batch, path).map_err(failed())? else { continue };
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options).map_err(failed())
}

/// Returns the batch with list columns converted to text. Columns in `as_json` are written as JSON. The items of other lists are joined
/// into a single string; see [`lists`].
pub(crate) fn joined(batch: RecordBatch, as_json: &[String]) -> Result<RecordBatch> {
    let failed = || Error::columns("join the texts of lists");
    let (mut columns, mut any) = (Vec::with_capacity(batch.num_columns()), false);
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        let form = if as_json.contains(field.name()) { lists::Form::Json } else { lists::Form::Lines };
        let joined = lists::joined(column, form).map_err(failed())?;
        any |= joined.is_some();
        let column = joined.map_or_else(|| column.clone(), |texts| Arc::new(texts) as ArrayRef);
        columns.push((field.name().clone(), column, true));
    }
    if any { RecordBatch::try_from_iter_with_nullable(columns).map_err(failed()) } else { Ok(batch) }
}

/// Returns the batch with a mark behind each text that names a picture. The text is in this column; `None` if the file has no columns with
/// pictures. They are not read, because they may take most of the file, so such a document counts as unique.
pub(crate) fn with_pictures(batch: RecordBatch, text: Option<&str>) -> Result<RecordBatch> {
    let Some(at) = text.and_then(|text| batch.schema().index_of(text).ok()) else { return Ok(batch) };
    let Some(texts) = batch.column(at).as_any().downcast_ref::<BinaryViewArray>() else { return Ok(batch) };
    if !texts.iter().flatten().any(attached::has_placeholder) {
        return Ok(batch);
    }
    let failed = || Error::columns("mark texts that name pictures");
    let mut marked = BinaryViewBuilder::with_capacity(texts.len());
    for text in texts {
        match text.map(|text| (text, std::str::from_utf8(text))) {
            Some((_, Ok(text))) if attached::has_placeholder(text.as_bytes()) => {
                let mut text = text.to_owned();
                attached::attach(&mut text, None);
                marked.try_append_value(text).map_err(failed())?;
            }
            Some((text, _)) => marked.try_append_value(text).map_err(failed())?,
            None => marked.append_null(),
        }
    }
    let mut columns = batch.columns().to_vec();
    columns[at] = Arc::new(marked.finish());
    RecordBatch::try_new(batch.schema(), columns).map_err(failed())
}

/// Returns the column at a path; `None` if the batch does not contain that column.
fn value(batch: &RecordBatch, path: &[String]) -> std::result::Result<Option<ArrayRef>, arrow::error::ArrowError> {
    let Some((root, deeper)) = path.split_first() else { return Ok(None) };
    let Some(mut column) = batch.column_by_name(root).cloned() else { return Ok(None) };
    for name in deeper {
        let Some(group) = column.as_any().downcast_ref::<StructArray>() else { return Ok(None) };
        let Some(child) = group.column_by_name(name) else { return Ok(None) };
        let nulls = NullBuffer::union(group.nulls(), child.nulls());
        column = make_array(child.to_data().into_builder().nulls(nulls).build()?);
    }
    Ok(Some(column))
}
