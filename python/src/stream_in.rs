//! Reads Arrow streams, and checks that each batch has the types of the stream's schema.
//!
//! The interface passes the schema once and then only buffers. A producer that yields a batch of another type, for example from files whose
//! schemas differ, is an error that names the column. The check compares the number of buffers and children, because the interface has no
//! other information; `_frames.py` compares the schemas of PyArrow's batches before they are passed on.

use std::ffi::CStr;

use arrow::array::{RecordBatch, RecordBatchOptions, RecordBatchReader, StructArray, layout};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow::ffi_stream::FFI_ArrowArrayStream;
use dupsift_core::guard::guarded;

type Result<T> = std::result::Result<T, ArrowError>;

/// Iterates over the batches of a stream.
pub struct StreamIn {
    stream: FFI_ArrowArrayStream,
    schema: SchemaRef,
}

impl StreamIn {
    /// Takes over a stream.
    ///
    /// # Errors
    /// Returns an error if the stream was already read, or if it is not a stream of named columns.
    #[allow(unsafe_code)]
    pub fn new(mut stream: FFI_ArrowArrayStream) -> Result<StreamIn> {
        if stream.release().is_none() {
            return Err(wrong("the stream was already read"));
        }
        let get_schema = stream.get_schema().ok_or_else(|| wrong("the stream has no schema"))?;
        let mut schema = FFI_ArrowSchema::empty();
        // SAFETY: the callback belongs to this stream, which was not released, and both pointers are valid.
        let code = unsafe { get_schema(&raw mut stream, &raw mut schema) };
        if code != 0 {
            return Err(failed(&mut stream, "schema", code));
        }
        let schema = Schema::try_from(&schema)?;
        Ok(StreamIn { stream, schema: schema.into() })
    }

    #[allow(unsafe_code)]
    fn batch(&mut self) -> Result<Option<RecordBatch>> {
        let get_next = self.stream.get_next().ok_or_else(|| wrong("the stream has no batches"))?;
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: the callback belongs to this stream, which was not released, and both pointers are valid.
        let code = unsafe { get_next(&raw mut self.stream, &raw mut array) };
        match code {
            0 if array.is_released() => Ok(None),
            0 => batch(array, &self.schema).map(Some),
            code => Err(failed(&mut self.stream, "next batch", code)),
        }
    }
}

impl Iterator for StreamIn {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Result<RecordBatch>> {
        self.batch().transpose()
    }
}

impl RecordBatchReader for StreamIn {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// Returns the columns of an array as a batch with this schema.
///
/// # Errors
/// Returns an error that names the first column whose type differs from the schema.
#[allow(unsafe_code)]
pub fn batch(array: FFI_ArrowArray, schema: &SchemaRef) -> Result<RecordBatch> {
    if let Some(field) = differing(&array, schema.fields()) {
        return Err(other_type(field));
    }
    let rows = array.len();
    let imported = guarded(|| {
        // SAFETY: a producer passes arrays of the type in its schema, and the numbers of buffers were compared with that type.
        let data = unsafe { from_ffi_and_data_type(array, DataType::Struct(schema.fields().clone())) }?;
        Ok::<_, ArrowError>(StructArray::from(data).into_parts().1)
    });
    let columns = imported.map_err(|why| wrong(&format!("a batch differs from the schema of its stream: {why}")))??;
    RecordBatch::try_new_with_options(schema.clone(), columns, &RecordBatchOptions::new().with_row_count(Some(rows)))
}

/// Returns the first column whose buffers cannot belong to an array of its type.
fn differing<'f>(array: &FFI_ArrowArray, fields: &'f Fields) -> Option<&'f FieldRef> {
    if array.num_children() != fields.len() {
        return fields.get(array.num_children().min(fields.len().saturating_sub(1)));
    }
    fields.iter().enumerate().find(|(at, field)| !fits(array.child(*at), field.data_type())).map(|(_, field)| field)
}

fn fits(array: &FFI_ArrowArray, data_type: &DataType) -> bool {
    let children: Vec<&DataType> = match data_type {
        DataType::List(field) | DataType::LargeList(field) | DataType::FixedSizeList(field, _) => {
            vec![field.data_type()]
        }
        DataType::ListView(field) | DataType::LargeListView(field) | DataType::Map(field, _) => vec![field.data_type()],
        DataType::Struct(fields) => fields.iter().map(|field| field.data_type()).collect(),
        // The library checks the other nested types.
        DataType::Union(..) | DataType::RunEndEncoded(..) => return true,
        DataType::Dictionary(keys, values) => {
            return fits_alone(array, keys) && array.dictionary().is_some_and(|dictionary| fits(dictionary, values));
        }
        _ => Vec::new(),
    };
    fits_alone(array, data_type)
        && array.num_children() == children.len()
        && children.into_iter().enumerate().all(|(at, child)| fits(array.child(at), child))
}

/// Returns whether an array has the number of buffers of its type, apart from its children.
fn fits_alone(array: &FFI_ArrowArray, data_type: &DataType) -> bool {
    let known = layout(data_type);
    let buffers = known.buffers.len() + usize::from(known.can_contain_null_mask);
    // The last buffer of a view has the lengths of its other buffers, and some libraries pass a buffer for the nulls of every type.
    let most = if known.variadic { usize::MAX } else { buffers + usize::from(!known.can_contain_null_mask) };
    (buffers..=most).contains(&array.num_buffers())
}

/// Returns the error for a batch with another type than its schema.
fn other_type(field: &Field) -> ArrowError {
    let (name, data_type) = (field.name(), field.data_type());
    wrong(&format!(
        "a batch has another type in the column {name:?} than the schema of its stream, which says {data_type}"
    ))
}

fn wrong(why: &str) -> ArrowError {
    ArrowError::CDataInterface(why.to_owned())
}

/// Returns the error of a failed call, with the message of the producer.
#[allow(unsafe_code)]
fn failed(stream: &mut FFI_ArrowArrayStream, what: &str, code: i32) -> ArrowError {
    let said = stream.get_last_error().and_then(|get_last_error| {
        // SAFETY: the stream was not released, and its last call failed.
        let said = unsafe { get_last_error(std::ptr::from_mut(stream)) };
        // SAFETY: the producer returns null or a string that is valid until the next call.
        (!said.is_null()).then(|| unsafe { CStr::from_ptr(said) }.to_string_lossy().into_owned())
    });
    let said = said.map_or_else(String::new, |said| format!(". Producer error: {said}"));
    wrong(&format!("Cannot get {what} from input stream. Error code: {code}{said}"))
}
