//! The order of preference (`--keep`): which of two documents is the better one.
//!
//! Length alone needs four bytes a document. Where columns of the corpus take part, the whole key of each document is
//! kept as one byte string that compares like the key (arrow's row format), in a work file.

use std::sync::{Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, new_null_array};
use arrow_cast::cast;
use arrow_row::{RowConverter, SortField};
use arrow_schema::{DataType, SortOptions, TimeUnit};

use super::options::Keep;
use super::workers::Job;
use crate::batch::Documents;
use crate::error::{Error, Result};
use crate::io::{RowFilter, Want};
use crate::shuffle::{AtomicCells, FrozenHeap, Heap};

/// Takes down what the order needs of each document, from many threads.
pub struct Recorder<'j> {
    keep: &'j Keep,
    lengths: AtomicCells<u32>,
    columns: Option<Columns>,
}

struct Columns {
    heap: Heap,
    /// Where a document's key begins, plus one; 0: it was not read.
    begins: AtomicCells<u64>,
    /// The types that every file must agree on, once the first was read.
    types: Mutex<Vec<Option<DataType>>>,
}

impl<'j> Recorder<'j> {
    /// For all documents of the job.
    ///
    /// # Errors
    /// A column that no input file has.
    pub fn new(job: &'j Job<'_>) -> Result<Recorder<'j>> {
        let keep = &job.options.keep;
        let documents = job.documents() as usize;
        let wanted = keep.columns();
        for name in &wanted {
            if !job.source.files.is_empty() && !job.source.files.iter().any(|file| file.others.contains(name)) {
                return Err(Error::Usage(format!(
                    "--keep names the column {name:?}, which no input file has; expected length, doc or a column of the corpus"
                )));
            }
        }
        let columns = if wanted.is_empty() {
            None
        } else {
            let columns = Columns {
                heap: Heap::new(job.dir, "keep-keys")?,
                begins: AtomicCells::new(job.dir, "keep-begins", documents)?,
                types: Mutex::new(vec![None; keep.keys.len()]),
            };
            columns.look(job)?;
            Some(columns)
        };
        Ok(Recorder { keep, lengths: AtomicCells::new(job.dir, "lengths", documents)?, columns })
    }

    /// Takes down a batch; `lengths` are the characters of its texts, 0 for rejected rows.
    pub fn record(&self, batch: &Documents, lengths: &[u32]) -> Result<()> {
        for (row, &length) in lengths.iter().enumerate() {
            self.lengths.store(batch.doc(row) as usize, length);
        }
        let Some(columns) = &self.columns else { return Ok(()) };
        let (mut arrays, mut fields) = (Vec::new(), Vec::new());
        for (at, key) in self.keep.keys.iter().enumerate() {
            let options = SortOptions { descending: key.descending, nulls_first: false };
            let keys = match key.column.as_str() {
                "length" => vec![Int64Array::from_iter_values(lengths.iter().map(|&n| i64::from(n))).into_array_ref()],
                "doc" => {
                    let docs = (0..batch.len()).map(|row| batch.doc(row) as i64);
                    vec![Int64Array::from_iter_values(docs).into_array_ref()]
                }
                name => columns.comparable(at, name, batch)?,
            };
            for array in keys {
                fields.push(SortField::new_with_options(array.data_type().clone(), options));
                arrays.push(array);
            }
        }
        let failed = || Error::table("put the columns of --keep in order");
        let converter = RowConverter::new(fields).map_err(failed())?;
        let rows = converter.convert_columns(&arrays).map_err(failed())?;
        for (row, key) in rows.iter().enumerate() {
            let mut bytes = (key.as_ref().len() as u32).to_le_bytes().to_vec();
            bytes.extend_from_slice(key.as_ref());
            let begin = columns.heap.append(&bytes)?;
            columns.begins.store(batch.doc(row) as usize, begin + 1);
        }
        Ok(())
    }

    /// Ends the taking down.
    pub fn finish(self) -> Result<KeepOrder> {
        let descending = self.keep.keys.iter().find(|key| key.column == "length").map(|key| key.descending);
        let doc_first = self.keep.keys.first().is_some_and(|key| key.column == "doc");
        let doc_descending = self.keep.keys.iter().any(|key| key.column == "doc" && key.descending);
        let columns =
            self.columns.map(|columns| columns.heap.freeze().map(|heap| (heap, columns.begins))).transpose()?;
        let length_descending = if doc_first { None } else { descending };
        Ok(KeepOrder { lengths: self.lengths, length_descending, doc_descending, columns })
    }
}

trait IntoArrayRef {
    fn into_array_ref(self) -> ArrayRef;
}

impl<A: Array + 'static> IntoArrayRef for A {
    fn into_array_ref(self) -> ArrayRef {
        std::sync::Arc::new(self)
    }
}

impl Columns {
    /// Reads one row of the first file that has each column, so that its type is known before any thread asks.
    fn look(&self, job: &Job<'_>) -> Result<()> {
        let splits = job.source.splits(usize::MAX);
        for (at, key) in job.options.keep.keys.iter().enumerate() {
            let has = |file: usize| job.source.files[file].others.contains(&key.column);
            let Some(split) = splits.iter().find(|split| split.rows > 0 && has(split.file)) else { continue };
            let want = Want {
                text: false,
                others: vec![key.column.clone()],
                rows: Some(RowFilter::Docs([split.first_doc].into())),
                ..Want::default()
            };
            job.source.read(split, &want, &mut |batch| self.comparable(at, &key.column, &batch).map(|_| ()))?;
        }
        Ok(())
    }

    /// A column as arrays of types that compare across files: text, or numbers as the nearest float and what it leaves.
    fn comparable(&self, at: usize, name: &str, batch: &Documents) -> Result<Vec<ArrayRef>> {
        let Some(array) = batch.column(name) else {
            // A file without the column: nulls, of whatever type the others have.
            let types = self.types.lock().unwrap_or_else(PoisonError::into_inner);
            let kind = types[at].clone().unwrap_or(DataType::Float64);
            let count = if kind == DataType::Float64 { 2 } else { 1 };
            let kinds = [kind, DataType::Int64];
            return Ok(kinds[..count].iter().map(|kind| new_null_array(kind, batch.len())).collect());
        };
        let plain = match array.data_type() {
            DataType::Dictionary(_, values) => cast(array, values).map_err(Error::table("read a dictionary"))?,
            _ => array.clone(),
        };
        let unordered = || {
            Error::Usage(format!(
                "--keep: the column {name:?} holds {}, which has no order here; expected numbers, times, texts or booleans",
                plain.data_type()
            ))
        };
        let to = |kind: &DataType, array: &ArrayRef| cast(array, kind).map_err(|_| unordered());
        let arrays = match plain.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => vec![to(&DataType::LargeUtf8, &plain)?],
            DataType::Boolean | DataType::Date32 | DataType::Date64 => numbers(&to(&DataType::Int64, &plain)?),
            DataType::Timestamp(_, _) => {
                let nanoseconds = to(&DataType::Timestamp(TimeUnit::Nanosecond, None), &plain)?;
                numbers(&to(&DataType::Int64, &nanoseconds)?)
            }
            DataType::Float16 | DataType::Float32 | DataType::Float64 | DataType::Null => {
                let floats = to(&DataType::Float64, &plain)?;
                let rest = Int64Array::from(vec![0; floats.len()]).into_array_ref();
                vec![floats, rest]
            }
            DataType::UInt64 => large_numbers(&plain),
            kind if kind.is_integer() => numbers(&to(&DataType::Int64, &plain)?),
            _ => return Err(unordered()),
        };
        let mut types = self.types.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = arrays[0].data_type();
        match &types[at] {
            Some(seen) if seen != kind => Err(Error::Usage(format!(
                "--keep: the column {name:?} is text in one input file and a number in another; expected one of them in all"
            ))),
            _ => {
                types[at] = Some(kind.clone());
                Ok(arrays)
            }
        }
    }
}

/// Whole numbers as floats and the rest that the float rounds away, so that they compare exactly and with real floats.
fn numbers(array: &ArrayRef) -> Vec<ArrayRef> {
    let values = array.as_primitive::<Int64Type>();
    let floats: Float64Array = values.unary::<_, Float64Type>(|value| value as f64);
    let rest: Int64Array = values.unary(|value| (i128::from(value) - (value as f64) as i128) as i64);
    vec![floats.into_array_ref(), rest.into_array_ref()]
}

/// The same for numbers that Int64 may not hold.
fn large_numbers(array: &ArrayRef) -> Vec<ArrayRef> {
    let values = array.as_primitive::<UInt64Type>();
    let floats: Float64Array = values.unary::<_, Float64Type>(|value| value as f64);
    let rest: Int64Array = values.unary(|value| (i128::from(value) - (value as f64) as i128) as i64);
    vec![floats.into_array_ref(), rest.into_array_ref()]
}

/// The order itself.
pub struct KeepOrder {
    lengths: AtomicCells<u32>,
    length_descending: Option<bool>,
    doc_descending: bool,
    columns: Option<(FrozenHeap, AtomicCells<u64>)>,
}

impl KeepOrder {
    /// Whether `a` is preferred to `b`; a total order, for the document number decides last.
    pub fn better(&self, a: u64, b: u64) -> bool {
        self.compare(a, b).is_lt()
    }

    /// The order of preference, the best first.
    pub fn compare(&self, a: u64, b: u64) -> std::cmp::Ordering {
        let order = match &self.columns {
            Some(columns) => key(columns, a).cmp(key(columns, b)),
            None => {
                let (x, y) = (self.lengths.load(a as usize), self.lengths.load(b as usize));
                match self.length_descending {
                    Some(true) => y.cmp(&x),
                    Some(false) => x.cmp(&y),
                    None => std::cmp::Ordering::Equal,
                }
            }
        };
        order.then_with(|| if self.doc_descending { b.cmp(&a) } else { a.cmp(&b) })
    }

    /// The best of some documents; 0 for none.
    pub fn best(&self, documents: &[u64]) -> u64 {
        documents.iter().copied().reduce(|a, b| if self.better(b, a) { b } else { a }).unwrap_or(0)
    }
}

fn key((heap, begins): &(FrozenHeap, AtomicCells<u64>), doc: u64) -> &[u8] {
    let Some(begin) = begins.load(doc as usize).checked_sub(1) else { return &[] };
    let mut length = [0; 4];
    length.copy_from_slice(heap.get(begin, 4));
    heap.get(begin + 4, u32::from_le_bytes(length) as usize)
}
