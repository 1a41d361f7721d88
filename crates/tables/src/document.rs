//! Defines a batch of documents: consecutive or chosen rows of one file, with only the requested columns decoded.
//!
//! The text column is always a view array (Utf8View, or BinaryView for a binary column), regardless of the string type in the file. Text is
//! therefore borrowed from the decoded page and never copied, and no 32-bit offset can overflow. A row whose text is unusable keeps its
//! number; its [`Cell`] contains the reason.

pub use crate::columns::cell::{Cell, MAX_TEXT_BYTES, too_long};
use crate::columns::id::{IdKind, IdRef, IdsSeen};
use crate::columns::put::{put, replaced};
use crate::columns::read_as;
use crate::columns::utf8::checked as checked_strings;
use crate::columns::utf8::{LostValues, NOT_UTF8, NotText, OUT_OF_RANGE};
use crate::nested::lists;
use crate::reason::{RejectReason, Rejection};
use arrow::array::{
    Array, ArrayRef, BinaryViewArray, Int64Array, RecordBatch, RecordBatchOptions, StringViewArray, UInt64Array,
};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;
use dupsift_core::error::{Error, Result};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A batch of rows from one file.
#[derive(Clone, Debug)]
pub struct Documents {
    /// The document number of the first row.
    pub first_doc: u64,
    /// The requested columns that exist in the file: the text, the id and other columns, each once.
    pub rows: RecordBatch,
    docs: Option<Vec<u64>>,
    bad: BTreeMap<usize, Rejection>,
    text: Option<Strings>,
    id: Option<IdColumn>,
    ids_seen: IdsSeen,
    html: bool,
    /// The values that became null because they are not UTF-8, by column; the text column is not included.
    not_text: Vec<(String, Vec<NotText>)>,
    /// The number of values that could not be written as text, by column.
    not_written: Arc<Mutex<BTreeMap<String, u64>>>,
    attached: Vec<Option<u128>>,
}

/// A string column other than the text column.
#[derive(Clone, Debug)]
pub struct TextColumn(Strings);

impl TextColumn {
    /// Returns the value of a row.
    pub fn get(&self, row: usize) -> Cell<'_> {
        cell(&self.0, row)
    }

    /// Returns all values as a view array.
    pub fn array(&self) -> ArrayRef {
        self.0.array()
    }
}

#[derive(Clone, Debug)]
enum Strings {
    Text(StringViewArray),
    Bytes(BinaryViewArray),
}

#[derive(Clone, Debug)]
enum IdColumn {
    Strings(Strings),
    Int(Int64Array),
    UInt(UInt64Array),
}

impl Documents {
    /// Creates a batch of consecutive rows, starting at document `first_doc`. `text` and `id` name the text and id columns, if they are
    /// requested and present. The columns may contain strings, dictionaries of strings, or bytes; the id column may also contain integers.
    ///
    /// # Errors
    /// Returns an error if a column has any other type.
    pub fn new(first_doc: u64, rows: RecordBatch, text: Option<&str>, id: Option<&str>) -> Result<Documents> {
        let text = text.and_then(|name| rows.column_by_name(name).map(|column| (name.to_owned(), column.clone())));
        let (rows, text) = match text {
            None => (rows, None),
            Some((name, column)) => {
                let view = strings(&column)?.ok_or_else(|| wrong_type(&name, &column, "a string or binary"))?;
                (replaced(rows, &name, view.array())?, Some(view))
            }
        };
        let mut ids_seen = IdsSeen::default();
        let id = match id.and_then(|name| rows.column_by_name(name).map(|column| (name, column))) {
            None => {
                ids_seen.nulls = rows.num_rows() as u64;
                None
            }
            Some((name, column)) => {
                let kind = id_kind(column.data_type())
                    .ok_or_else(|| wrong_type(name, column, "a string, binary or integer"))?;
                let values =
                    id_column(column)?.ok_or_else(|| wrong_type(name, column, "a string, binary or integer"))?;
                ids_seen.nulls = column.logical_null_count() as u64;
                if ids_seen.nulls < rows.num_rows() as u64 {
                    ids_seen.kinds.insert(kind);
                }
                if let IdColumn::UInt(numbers) = &values {
                    ids_seen.max_unsigned = numbers.iter().flatten().max().unwrap_or(0);
                }
                Some(values)
            }
        };
        let (bad, not_text) = (BTreeMap::new(), Vec::new());
        let (not_written, attached) = (Arc::default(), Vec::new());
        Ok(Documents {
            first_doc,
            rows,
            docs: None,
            bad,
            text,
            id,
            ids_seen,
            html: false,
            not_text,
            not_written,
            attached,
        })
    }

    /// Creates a batch of consecutive rows. The string columns, listed in `strings`, were decoded as bytes and are checked by this
    /// function. Text that is not UTF-8 makes its row unusable; any other value that is not UTF-8 becomes null. If `html` is set, the text
    /// column contains HTML pages in any charset, which stay bytes. `text` and `id` are as in [`Documents::new`].
    ///
    /// # Errors
    /// Returns the same errors as [`Documents::new`].
    pub fn of_bytes(
        first_doc: u64,
        mut rows: RecordBatch,
        (text, id): (Option<&str>, Option<&str>),
        strings: &[String],
        html: bool,
    ) -> Result<Documents> {
        let (mut bad, mut not_text) = (BTreeMap::new(), Vec::new());
        for name in strings.iter().map(String::as_str) {
            let is_text = text == Some(name);
            let Some(column) = rows.column_by_name(name).filter(|_| !(html && is_text)) else { continue };
            let Some(values) = read_as::bytes(column).map_err(unread(column))? else { continue };
            let unchecked = values.clone();
            let (values, wrong) = checked_strings(values);
            rows = replaced(rows, name, Arc::new(values))?;
            if is_text {
                let why = |NotText { row, byte }| match unchecked.value(row) {
                    lists::TOO_LONG => (row, too_long(MAX_TEXT_BYTES + 1)),
                    _ => (row, not_utf8(byte)),
                };
                bad = wrong.into_iter().map(why).collect();
            } else if !wrong.is_empty() {
                not_text.push((name.to_owned(), wrong));
            }
        }
        let documents = Documents::new(first_doc, rows, text, id)?;
        Ok(Documents { bad, not_text, html, ..documents })
    }

    /// Creates a batch from separate columns; `docs` contains the document numbers of the rows in ascending order. `text` and `id` are as
    /// in [`Documents::new`].
    ///
    /// # Errors
    /// Returns the same errors as [`Documents::new`], or an error if columns differ in length.
    pub fn of_columns(
        docs: Vec<u64>,
        columns: Vec<(&str, ArrayRef)>,
        text: Option<&str>,
        id: Option<&str>,
    ) -> Result<Documents> {
        let fields = columns.iter().map(|(name, column)| Field::new(*name, column.data_type().clone(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let options = RecordBatchOptions::new().with_row_count(Some(docs.len()));
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        let rows = RecordBatch::try_new_with_options(schema, columns, &options)
            .map_err(Error::columns("build a batch of documents"))?;
        let first_doc = docs.first().copied().unwrap_or(0);
        Ok(Documents::new(first_doc, rows, text, id)?.with_docs(docs))
    }

    /// Sets the document numbers of rows that are not consecutive: one per row, in ascending order.
    pub fn with_docs(mut self, docs: Vec<u64>) -> Documents {
        debug_assert_eq!(docs.len(), self.len());
        self.first_doc = docs.first().copied().unwrap_or(self.first_doc);
        self.docs = Some(docs);
        self
    }

    /// Marks these rows as unusable, with the reasons.
    pub fn with_bad(mut self, bad: BTreeMap<usize, Rejection>) -> Documents {
        self.bad = bad;
        self
    }

    /// Sets the kinds of ids in the file. This is needed if the type of the id column does not reveal the kinds; for example, a JSON file
    /// may mix them.
    pub fn with_ids_seen(mut self, ids_seen: IdsSeen) -> Documents {
        self.ids_seen = ids_seen;
        self
    }

    /// Sets the hash of the pictures beside each row's text, for texts that are still to be combined from several columns; see
    /// [`crate::nested::attached::attach`].
    pub fn with_attached(mut self, attached: Vec<Option<u128>>) -> Documents {
        self.attached = attached;
        self
    }

    /// Returns the hash of the pictures beside a row's text: 0 if there are none, and `None` if they are not read.
    pub fn attached(&self, row: usize) -> Option<u128> {
        self.attached.get(row).copied().unwrap_or(Some(0))
    }

    /// Sets whether the text column contains web pages that must be purified first.
    pub fn with_html(mut self, html: bool) -> Documents {
        self.html = html;
        self
    }

    /// Returns whether the text column contains web pages (HTML in any charset); see [`Documents::page`].
    pub fn is_html(&self) -> bool {
        self.html
    }

    /// Returns the bytes of a row's page; `None` if the row has no page.
    ///
    /// # Errors
    /// Returns the reason why the row is unusable.
    pub fn page(&self, row: usize) -> std::result::Result<Option<&[u8]>, &Rejection> {
        match (self.bad.get(&row), &self.text) {
            (Some(why), _) => Err(why),
            (None, Some(Strings::Text(pages))) if pages.is_valid(row) => Ok(Some(pages.value(row).as_bytes())),
            (None, Some(Strings::Bytes(pages))) if pages.is_valid(row) => Ok(Some(pages.value(row))),
            _ => Ok(None),
        }
    }

    /// Replaces pages with their extracted text. `beside` contains additional string columns, which replace columns with the same name;
    /// `bad` contains further unusable rows.
    ///
    /// # Errors
    /// Returns an error if columns differ in length.
    pub fn purified(
        self,
        text: (&str, StringViewArray),
        beside: Vec<(String, StringViewArray)>,
        bad: BTreeMap<usize, Rejection>,
    ) -> Result<Documents> {
        let (name, texts) = text;
        let mut rows = put(self.rows, name, Arc::new(texts.clone()))?;
        for (name, column) in beside {
            rows = put(rows, &name, Arc::new(column))?;
        }
        let text = Some(Strings::Text(texts));
        let mut all = self.bad;
        all.extend(bad);
        Ok(Documents { rows, text, bad: all, html: false, ..self })
    }

    /// Adds a column, or replaces the column of the same name; if `is_id` is set, this column becomes the id column.
    ///
    /// # Errors
    /// Returns an error for a column of a different length, or for ids of an unsupported type.
    pub fn with_column(self, name: &str, column: ArrayRef, is_id: bool) -> Result<Documents> {
        let (rows, first_doc) = (put(self.rows, name, column)?, self.first_doc);
        if !is_id {
            return Ok(Documents { rows, ..self });
        }
        let Documents { id, ids_seen, rows, .. } = Documents::new(first_doc, rows, None, Some(name))?;
        Ok(Documents { rows, id, ids_seen, ..self })
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows.num_rows()
    }

    /// Returns whether the batch has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the document number of a row.
    pub fn doc(&self, row: usize) -> u64 {
        self.docs.as_ref().map_or(self.first_doc + row as u64, |docs| docs[row])
    }

    /// Returns the text of a row; [`Cell::Null`] if the text column was not requested. A blank text makes its row unusable.
    pub fn text(&self, row: usize) -> Cell<'_> {
        if let Some(why) = self.bad.get(&row) {
            return Cell::Bad(why.clone());
        }
        match self.text.as_ref().map_or(Cell::Null, |text| cell(text, row)) {
            Cell::Text(text) if is_blank(text) => Cell::Bad(RejectReason::EmptyText.into()),
            cell => cell,
        }
    }

    /// Returns a column by its name in the file.
    pub fn column(&self, name: &str) -> Option<&ArrayRef> {
        self.rows.column_by_name(name)
    }

    /// Returns a string column other than the text column, such as a title; `None` if the column is missing or is not a string column.
    ///
    /// # Errors
    /// Returns an error if arrow cannot read the strings.
    pub fn text_column(&self, name: &str) -> Result<Option<TextColumn>> {
        self.column(name).map_or(Ok(None), |column| Ok(strings(column)?.map(TextColumn)))
    }

    /// Returns a column other than the text column, with its values written as text. The column may contain strings, numbers, booleans,
    /// dates or times; returns `None` if the column is missing or has a different type. A value that cannot be written as text becomes
    /// null and is included in later results of [`Documents::lost_values`].
    ///
    /// # Errors
    /// Returns an error if arrow cannot read the values.
    pub fn spelled_column(&self, name: &str) -> Result<Option<TextColumn>> {
        let Some(column) = self.column(name) else { return Ok(None) };
        if is_spelled(column.data_type()) {
            let spelled = read_as::spelled(column).map_err(unread(column))?;
            let lost = spelled.null_count().saturating_sub(column.logical_null_count());
            if lost > 0 {
                self.not_written().insert(name.to_owned(), lost as u64);
            }
            return Ok(Some(TextColumn(Strings::Text(spelled))));
        }
        self.text_column(name)
    }

    fn not_written(&self) -> MutexGuard<'_, BTreeMap<String, u64>> {
        self.not_written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of values, by column, that became null because they are not UTF-8 or cannot be written as text. Does not include
    /// the text column.
    pub fn lost_values(&self) -> LostValues {
        let mut lost = LostValues::default();
        self.not_text.iter().for_each(|(column, values)| lost.add(column, NOT_UTF8, values.len() as u64));
        self.not_written().iter().for_each(|(column, values)| lost.add(column, OUT_OF_RANGE, *values));
        lost
    }

    /// Stops counting the non-UTF-8 values of these columns as lost, because the rows with these values are rejected.
    pub fn without_lost(mut self, columns: &[String]) -> Documents {
        self.not_text.retain(|(name, _)| !columns.contains(name));
        self
    }

    /// Returns the rows in which this column is null because its value is not UTF-8, each with the reason. The column must not be the text
    /// column.
    pub fn lost_of<'d>(&'d self, column: &'d str) -> impl Iterator<Item = (usize, Rejection)> + 'd {
        let values = self.not_text.iter().filter(move |(name, _)| name == column).flat_map(|(_, values)| values);
        let why =
            move |byte| Rejection::new(RejectReason::NotUtf8, format!("byte {byte} of column {column:?} is invalid"));
        values.map(move |value| (value.row, why(value.byte)))
    }

    /// Returns the id of a row; `None` if the id is null or there is no id column.
    pub fn id(&self, row: usize) -> Option<IdRef<'_>> {
        match self.id.as_ref()? {
            IdColumn::Strings(Strings::Text(ids)) => ids.is_valid(row).then(|| IdRef::Text(ids.value(row))),
            IdColumn::Strings(Strings::Bytes(ids)) => ids.is_valid(row).then(|| IdRef::Bytes(ids.value(row))),
            IdColumn::Int(ids) => ids.is_valid(row).then(|| IdRef::Int(ids.value(row))),
            IdColumn::UInt(ids) => ids.is_valid(row).then(|| IdRef::UInt(ids.value(row))),
        }
    }

    /// Returns the kinds of ids in these rows. To determine the type of the output's ids, request the ids in a read of the entire corpus,
    /// and merge the results of this function for all batches; see [`IdsSeen::id_type`]. In a read that does not request ids, every row
    /// counts as a row without an id.
    pub fn ids_seen(&self) -> &IdsSeen {
        &self.ids_seen
    }
}

impl Strings {
    fn array(&self) -> ArrayRef {
        match self {
            Strings::Text(array) => Arc::new(array.clone()),
            Strings::Bytes(array) => Arc::new(array.clone()),
        }
    }
}

/// Returns the kind of ids in a column of this type; `None` if such a column cannot be an id column.
pub fn id_kind(data_type: &DataType) -> Option<IdKind> {
    Some(match data_type {
        // In some files, a column that contains only nulls has the null type.
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => IdKind::Text,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => IdKind::Bytes,
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::UInt8 | DataType::UInt16 => IdKind::Int32,
        DataType::Int64 | DataType::UInt32 => IdKind::Int64,
        DataType::UInt64 => IdKind::UInt64,
        DataType::Dictionary(_, values) => return id_kind(values),
        _ => return None,
    })
}

/// Returns whether a column of this type can be the text column.
pub fn is_text(data_type: &DataType) -> bool {
    matches!(id_kind(data_type), Some(IdKind::Text | IdKind::Bytes))
        && !matches!(data_type, DataType::FixedSizeBinary(_))
}

/// Returns whether values of this type are not strings but can be written as text: numbers, booleans, dates and times.
pub fn is_spelled(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_spelled(values),
        DataType::Boolean => true,
        other => other.is_integer() || other.is_decimal() || other.is_floating() || other.is_temporal(),
    }
}

fn id_column(column: &ArrayRef) -> Result<Option<IdColumn>> {
    Ok(match id_kind(column.data_type()) {
        Some(IdKind::Text | IdKind::Bytes) => strings(column)?.map(IdColumn::Strings),
        Some(IdKind::Int32 | IdKind::Int64) => read_as::whole(column).map_err(unread(column))?.map(IdColumn::Int),
        Some(IdKind::UInt64) => read_as::unsigned(column).map_err(unread(column))?.map(IdColumn::UInt),
        None => None,
    })
}

/// Returns the column as a view array, if it contains strings or bytes.
fn strings(column: &ArrayRef) -> Result<Option<Strings>> {
    Ok(match id_kind(column.data_type()) {
        Some(IdKind::Text) => read_as::texts(column).map_err(unread(column))?.map(Strings::Text),
        Some(IdKind::Bytes) => read_as::bytes(column).map_err(unread(column))?.map(Strings::Bytes),
        _ => None,
    })
}

fn unread(column: &ArrayRef) -> impl FnOnce(ArrowError) -> Error {
    Error::columns(format!("read a column of {}", column.data_type()))
}

fn cell(strings: &Strings, row: usize) -> Cell<'_> {
    match strings {
        Strings::Text(texts) if texts.is_valid(row) => checked(texts.value(row)),
        Strings::Bytes(texts) if texts.is_valid(row) => utf8(texts.value(row)),
        _ => Cell::Null,
    }
}

fn utf8(bytes: &[u8]) -> Cell<'_> {
    match std::str::from_utf8(bytes) {
        Ok(text) => checked(text),
        Err(error) => Cell::Bad(not_utf8(error.valid_up_to())),
    }
}

/// Returns whether a text is empty or consists only of white space.
fn is_blank(text: &str) -> bool {
    // In nearly all texts, the first byte decides.
    text.as_bytes().first().is_none_or(|first| !first.is_ascii_graphic()) && text.trim_start().is_empty()
}

/// Returns the rejection for text whose first invalid byte is at this offset.
fn not_utf8(byte: usize) -> Rejection {
    Rejection::new(RejectReason::NotUtf8, format!("byte {byte} of the text is invalid"))
}

fn checked(text: &str) -> Cell<'_> {
    if text.len() > MAX_TEXT_BYTES {
        return Cell::Bad(too_long(text.len()));
    }
    Cell::Text(text)
}

fn wrong_type(name: &str, column: &ArrayRef, expected: &str) -> Error {
    Error::usage(format!("column {name:?} is {}; expected {expected} column", column.data_type()))
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
