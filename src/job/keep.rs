//! The order of preference (`--keep`): which of two documents is the better one.
//!
//! Length alone needs four bytes a document. Where columns of the corpus take part, the whole key of each document is
//! kept as one byte string that compares like the key (arrow's row format), in a work file.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int64Array};
use arrow_row::{RowConverter, SortField};
use arrow_schema::SortOptions;
use rayon::slice::ParallelSliceMut as _;

use crate::batch::Documents;
use crate::engine::products::{Found, PortionReader, PortionWriter, Putting};
use crate::engine::threads::Engine;
use crate::error::{Error, Result};
use crate::io::Want;
use crate::options::Keep;
use crate::reading::keep_column::{Kinds, comparable};
use crate::reading::parts::{Bytes, put};
use crate::reading::reader::Reader;
use crate::row::{Docs, Slots};
use crate::shuffle::{AtomicCells, FrozenHeap, Heap, Mapped};
use crate::spelling::opt;

/// Records what the order needs of each document, from many threads.
pub struct Recorder<'j> {
    keep: &'j Keep,
    lengths: AtomicCells<u32>,
    columns: Option<Columns>,
}

struct Columns {
    heap: Heap,
    /// Where a document's key begins, plus one; 0: it was not read.
    begins: AtomicCells<u64>,
    /// What each key's column held so far.
    kinds: Vec<Kinds>,
}

impl<'j> Recorder<'j> {
    /// For all documents of the job.
    ///
    /// # Errors
    /// A full disk.
    pub fn new(engine: &'j Engine<'_>, reader: &'j Reader<'_>) -> Result<Recorder<'j>> {
        let keep = &reader.options.keep;
        let documents = reader.documents() as usize;
        let wanted = keep.columns();
        let columns = if wanted.is_empty() {
            None
        } else {
            Some(Columns {
                heap: Heap::new(engine.dir, "keep-keys")?,
                begins: AtomicCells::new(engine.dir, "keep-begins", documents)?,
                kinds: keep.keys.iter().map(|_| Kinds::default()).collect(),
            })
        };
        Ok(Recorder { keep, lengths: AtomicCells::new(engine.dir, "lengths", documents)?, columns })
    }

    /// The columns that it needs beside what `want` asks for.
    pub fn want(reader: &Reader<'_>, want: Want) -> Want {
        let mut want = want;
        let (fields, keep) = (reader.field_columns(), reader.options.keep.columns());
        want.plain.extend(keep.iter().filter(|name| !fields.contains(name)).cloned());
        want.others.extend(keep);
        want
    }

    /// Records a batch; `lengths` are the characters of its texts, 0 for rejected rows.
    pub fn record(&self, batch: &Documents, lengths: &[u32]) -> Result<()> {
        for (row, &length) in lengths.iter().enumerate() {
            self.lengths.store(batch.doc(row) as usize, length);
        }
        let Some(columns) = &self.columns else { return Ok(()) };
        let whole = |numbers: Vec<i64>| vec![Arc::new(Int64Array::from(numbers)) as ArrayRef];
        let (mut arrays, mut fields) = (Vec::new(), Vec::new());
        for (key, kinds) in self.keep.keys.iter().zip(&columns.kinds) {
            let options = SortOptions { descending: key.descending, nulls_first: false };
            let keys = match key.column.as_str() {
                "length" => whole(lengths.iter().map(|&length| length.into()).collect()),
                "doc" => whole((0..batch.len()).map(|row| batch.doc(row) as i64).collect()),
                name => comparable(name, batch.column(name), batch.len(), kinds)?.into(),
            };
            for array in keys {
                fields.push(SortField::new_with_options(array.data_type().clone(), options));
                arrays.push(array);
            }
        }
        let failed = || Error::columns(format!("put the columns of {} in order", opt("keep")));
        let converter = RowConverter::new(fields).map_err(failed())?;
        let rows = converter.convert_columns(&arrays).map_err(failed())?;
        let (mut bytes, mut places) = (Vec::new(), Vec::with_capacity(batch.len()));
        for key in &rows {
            places.push(bytes.len() as u64);
            bytes.extend_from_slice(&(key.as_ref().len() as u32).to_le_bytes());
            bytes.extend_from_slice(key.as_ref());
        }
        let begin = columns.heap.append(&bytes)?;
        for (row, place) in places.into_iter().enumerate() {
            columns.begins.store(batch.doc(row) as usize, begin + place + 1);
        }
        Ok(())
    }

    /// Of which kinds the values of each key's column were, where columns take part.
    pub fn kinds(&self) -> Vec<[bool; 2]> {
        self.columns.iter().flat_map(|columns| columns.kinds.iter().map(Kinds::seen)).collect()
    }

    /// Adds what [`Recorder::kinds`] says of another part of the corpus.
    ///
    /// # Errors
    /// A column of texts and numbers.
    pub fn add_kinds(&self, kinds: &[[bool; 2]]) -> Result<()> {
        let Some(columns) = &self.columns else { return Ok(()) };
        let keys = self.keep.keys.iter().zip(&columns.kinds).zip(kinds);
        keys.into_iter().try_for_each(|((key, known), seen)| known.add(&key.column, *seen))
    }

    /// Records a document by what [`KeepOrder::put_part`] says of it.
    pub fn take_part(&self, doc: u64, bytes: &mut Bytes<'_>) -> Result<()> {
        self.lengths.store(doc as usize, bytes.short()?);
        let Some(columns) = &self.columns else { return Ok(()) };
        let key = bytes.string()?;
        let begin = columns.heap.append_both(&(key.len() as u32).to_le_bytes(), key)?;
        columns.begins.store(doc as usize, begin + 1);
        Ok(())
    }

    /// Puts down what was recorded of these documents, which are those since the portion before.
    pub fn put_portion(&self, docs: &Range<u64>, to: &mut PortionWriter<'_>) -> Result<()> {
        let docs = docs.start as usize..docs.end as usize;
        to.plain(&self.kinds())?;
        to.cells(&self.lengths, docs.clone())?;
        let Some(columns) = &self.columns else { return Ok(()) };
        to.heap(&columns.heap)?;
        to.cells(&columns.begins, docs)
    }

    /// Takes it up.
    pub fn take_portion(&self, docs: &Range<u64>, from: &mut PortionReader<'_>) -> Result<()> {
        self.add_kinds(&from.plain::<Vec<[bool; 2]>>()?)?;
        from.cells(&self.lengths, docs.start as usize)?;
        let Some(columns) = &self.columns else { return Ok(()) };
        from.heap(&columns.heap)?;
        from.cells(&columns.begins, docs.start as usize)
    }

    /// Ends the recording.
    pub fn finish(self) -> Result<KeepOrder> {
        let descending = self.keep.keys.iter().find(|key| key.column == "length").map(|key| key.descending);
        let doc_first = self.keep.keys.first().is_some_and(|key| key.column == "doc");
        let doc_descending = self.keep.keys.iter().any(|key| key.column == "doc" && key.descending);
        let columns =
            self.columns.map(|columns| columns.heap.freeze().map(|heap| (heap, columns.begins))).transpose()?;
        let length_descending = if doc_first { None } else { descending };
        Ok(KeepOrder { lengths: self.lengths, length_descending, doc_descending, columns, nights: Vec::new() })
    }
}

/// The order itself.
pub struct KeepOrder {
    lengths: AtomicCells<u32>,
    length_descending: Option<bool>,
    doc_descending: bool,
    columns: Option<(FrozenHeap, AtomicCells<u64>)>,
    /// The numbers of the first guest of each night, then of the first document of the corpus; none without guests.
    nights: Vec<u64>,
}

impl KeepOrder {
    /// The characters of a document, as they were recorded.
    pub fn length(&self, doc: u64) -> u32 {
        self.lengths.load(doc as usize)
    }

    /// Appends what is known of a document.
    pub fn put_part(&self, doc: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.length(doc).to_le_bytes());
        if let Some(columns) = &self.columns {
            put(key(columns, doc), out);
        }
    }

    /// Prefers guests to all others, and of these those of earlier nights: `nights` has the number of the first of each, then that of the
    /// first document of the corpus.
    pub fn by_nights(&mut self, nights: Vec<u64>) {
        self.nights = nights;
    }

    /// Puts it down.
    pub fn put_down(&self, to: &mut Putting<'_>) -> Result<()> {
        to.plain(&(self.length_descending, self.doc_descending, self.columns.is_some()))?;
        to.cells(&self.lengths)?;
        let Some((heap, begins)) = &self.columns else { return Ok(()) };
        to.heap(heap)?;
        to.cells(begins)
    }

    /// Takes it up.
    pub fn take_up(from: &mut Found<'_>) -> Result<KeepOrder> {
        let (length_descending, doc_descending, has_columns) = from.plain()?;
        let lengths = from.cells()?;
        let columns = if has_columns { Some((from.heap()?, from.cells()?)) } else { None };
        Ok(KeepOrder { lengths, length_descending, doc_descending, columns, nights: Vec::new() })
    }

    /// Whether `a` is preferred to `b`; a total order, for the document number decides last.
    pub fn better(&self, a: u64, b: u64) -> bool {
        self.compare(a, b).is_lt()
    }

    /// The order of preference, the best first.
    pub fn compare(&self, a: u64, b: u64) -> std::cmp::Ordering {
        let night = |doc: u64| self.nights.partition_point(|&first| first <= doc);
        if !self.nights.is_empty() && night(a) != night(b) {
            return a.cmp(&b);
        }
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

    /// Sorts documents by preference, the best first, on all threads.
    pub fn sort(&self, engine: &Engine<'_>, mut documents: Slots<'_>) -> Result<()> {
        if let (Slots::Narrow(documents), None, true) = (&mut documents, &self.columns, self.nights.is_empty()) {
            return self.sort_by_length(engine, documents);
        }
        engine.pool.install(|| match documents {
            Slots::Narrow(documents) => documents.par_sort_unstable_by(|&a, &b| self.compare(a.into(), b.into())),
            Slots::Wide(documents) => documents.par_sort_unstable_by(|&a, &b| self.compare(a, b)),
        });
        Ok(())
    }

    /// Length and document side by side are one number that compares like the key: the lengths are looked up once.
    fn sort_by_length(&self, engine: &Engine<'_>, documents: &mut [u32]) -> Result<()> {
        let turned = |value: u32, turn: bool| if turn { !value } else { value };
        let mut keys: Mapped<u64> = Mapped::new(engine.dir, "order-keys", documents.len())?;
        for (key, &doc) in keys.iter_mut().zip(documents.iter()) {
            let length = match self.length_descending {
                Some(descending) => turned(self.lengths.load(doc as usize), descending),
                None => 0,
            };
            *key = u64::from(length) << 32 | u64::from(turned(doc, self.doc_descending));
        }
        engine.pool.install(|| keys.par_sort_unstable());
        for (doc, &key) in documents.iter_mut().zip(keys.iter()) {
            *doc = turned(key as u32, self.doc_descending);
        }
        Ok(())
    }

    /// The best of some documents; 0 for none.
    pub fn best(&self, documents: Docs<'_>) -> u64 {
        documents.iter().reduce(|a, b| if self.better(b, a) { b } else { a }).unwrap_or(0)
    }
}

fn key((heap, begins): &(FrozenHeap, AtomicCells<u64>), doc: u64) -> &[u8] {
    let Some(begin) = begins.load(doc as usize).checked_sub(1) else { return &[] };
    let mut length = [0; 4];
    length.copy_from_slice(heap.get(begin, 4));
    heap.get(begin + 4, u32::from_le_bytes(length) as usize)
}
