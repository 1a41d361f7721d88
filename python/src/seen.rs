//! Implements the `Stream` class, which reports whether a similar document has been seen before.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow::array::{Array as _, ArrayRef, StringViewArray};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use dupsift::error::{Error, Result, did_you_mean};
use dupsift_algorithms::recipe::Recipe;
use dupsift_engine::options::{Kind, Value};
use dupsift_tables::columns::{read_as, utf8};
use dupsift_tables::nested::lists;
use dupsift_text::{TextOptions, TokenizerKind};
use pyo3::prelude::*;

use crate::call::call;
use crate::columns::Column;
use crate::error::raised;
use crate::frame::{batches, interrupted};

/// Holds a Bloom filter of the documents seen so far.
#[pyclass(frozen, module = "dupsift._dupsift")]
pub struct Seen {
    seen: Arc<Mutex<dupsift_commands::stream::Seen>>,
}

impl Seen {
    fn lock(&self) -> MutexGuard<'_, dupsift_commands::stream::Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn made(
    algorithm: &str,
    keys: u64,
    rate: f64,
    memory: Option<String>,
    tokenizer: &str,
) -> Result<dupsift_commands::stream::Seen> {
    let tokenizer = TokenizerKind::by_name(tokenizer).ok_or_else(|| {
        let hint = did_you_mean(tokenizer, TokenizerKind::NAMES.iter().copied());
        Error::usage(format!("tokenizer={tokenizer:?}: expected dict, jieba, bigram or char{hint}"))
    })?;
    let most = match memory {
        None => usize::MAX,
        Some(typed) => match Kind::Size.take(&Value::Text(typed.clone())) {
            Some(Value::Number(bytes)) => bytes as usize,
            _ => return Err(Error::usage(format!("memory={typed:?}: expected {}", Kind::Size))),
        },
    };
    let recipe = Recipe {
        algorithms: Recipe::parse_algorithms(algorithm)?,
        text: TextOptions { tokenizer, ..TextOptions::default() },
        count_copies: true,
        within: None,
        across: None,
    };
    dupsift_commands::stream::Seen::new(&recipe, keys, rate, most)
}

#[pymethods]
impl Seen {
    #[new]
    fn new(
        py: Python<'_>,
        algorithm: &str,
        keys: u64,
        rate: f64,
        memory: Option<String>,
        tokenizer: &str,
    ) -> PyResult<Seen> {
        let seen = py.detach(|| made(algorithm, keys, rate, memory, tokenizer));
        Ok(Seen { seen: Arc::new(Mutex::new(seen.map_err(|error| raised(py, error))?)) })
    }

    /// Adds documents, given as text, and returns one value per document: whether a similar document has been seen before.
    fn add_texts(&self, py: Python<'_>, texts: Vec<Option<String>>) -> Column {
        py.detach(|| {
            let mut seen = self.lock();
            Column::of_flags(texts.iter().map(|text| is_seen(&mut seen, text.as_deref())).collect())
        })
    }

    /// Adds the documents in a column of a frame, and returns one value per row: whether a similar document has been seen before.
    fn add(&self, frame: &Bound<'_, PyAny>, text: String) -> PyResult<Column> {
        let (batches, seen) = (batches(frame)?, self.seen.clone());
        let added = call(frame.py(), None, move |cancel, _| {
            let Some((at, _)) = batches.schema().column_with_name(&text) else {
                let schema = batches.schema();
                let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
                let hint = did_you_mean(&text, names.iter().copied());
                let there = names.join(", ");
                return Err(Error::usage(format!(
                    "text_column={text:?}: the frame has no such column{hint}; available: {there}"
                )));
            };
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            let mut flags = Vec::new();
            for batch in batches {
                if cancel.load(std::sync::atomic::Ordering::Relaxed) {
                    return Err(Error::Interrupted);
                }
                let batch = batch.map_err(Error::columns("read the frame"))?;
                let column = batch.column(at);
                let read = Error::columns("read the frame");
                match strings(column).map_err(read)? {
                    Some(texts) => flags.extend(texts.iter().map(|text| is_seen(&mut seen, text))),
                    None => {
                        return Err(Error::usage(format!(
                            "text_column={text:?}: the column has type {}; expected texts",
                            column.data_type()
                        )));
                    }
                }
            }
            Ok(Column::of_flags(flags))
        });
        added.map_err(|error| interrupted(frame.py(), error))
    }

    #[getter]
    fn keys(&self) -> u64 {
        self.lock().keys()
    }

    #[getter]
    fn false_positives(&self) -> f64 {
        self.lock().false_positives()
    }
}

/// Returns the strings of a column, or the joined strings of its lists; `None` if the column has a different type. A value that is not
/// UTF-8 becomes null, because the interface does not guarantee UTF-8.
fn strings(column: &ArrayRef) -> Result<Option<StringViewArray>, ArrowError> {
    if let Some(joined) = lists::joined(column, lists::Form::Lines)? {
        return Ok(Some(utf8::checked(joined).0));
    }
    let is_of_bytes = read_as::bytes(column)?.is_some();
    match read_as::bytes(&read_as::unchecked(column)?)?.filter(|_| !is_of_bytes) {
        Some(bytes) => Ok(Some(utf8::checked(bytes).0)),
        None if *column.data_type() == DataType::Null => read_as::texts(column),
        None => Ok(None),
    }
}

fn is_seen(seen: &mut dupsift_commands::stream::Seen, text: Option<&str>) -> bool {
    text.and_then(|text| seen.add(text)).unwrap_or(false)
}
