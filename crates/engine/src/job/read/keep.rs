//! Defines the order of preference (`--keep`), which decides which of two documents is better.
//!
//! If only length matters, the order takes four bytes per document. If the order uses corpus columns, their recorded values
//! ([`crate::job::read::keep_column`]) are in a temporary file. A column is compared as numbers or as text; this choice is made after all
//! rows have been read.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use arrow::array::ArrayRef;
use rayon::slice::ParallelSliceMut as _;
use serde::{Deserialize, Serialize};

use crate::engine::checkpoints::{CheckpointReader, CheckpointWriter, Recorder};
use crate::engine::threads::Engine;
use crate::job::read::keep_column::{Tallying, ValueCounts, note, parts};
use crate::options::Keep;
use crate::reading::parts::{Bytes, put};
use crate::session::Session;
use crate::session::scopes::store_values;
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::hash128;
use dupsift_core::row::{Docs, Slots};
use dupsift_input::Want;
use dupsift_spill::shuffle::{AtomicCells, FrozenHeap, Heap, Mapped};
use dupsift_tables::columns::read_as::portions;
use dupsift_tables::{Documents, LostValues};

/// The value in run.json for columns that are compared as numbers.
const AS_NUMBERS: &str = "numbers";
const AS_TEXT: &str = "text";

/// Records, from many threads at once, the data that determines each document's place in the order.
pub struct KeepRecorder<'j> {
    keep: &'j Keep,
    lengths: AtomicCells<u32>,
    columns: Option<Columns>,
    /// The column of `--keep-per`, and a hash of each document's value.
    per: Option<(&'j str, AtomicCells<u64>)>,
}

struct Columns {
    /// The column names, in the order of the keys.
    names: Vec<String>,
    heap: Heap,
    /// The offset of each document's values, plus one; 0 if the document was not read.
    begins: AtomicCells<u64>,
    /// The tally of each column's values so far.
    tallies: Vec<Tallying>,
    /// The positions of some long values, keyed by hash and length. Many rows of a dictionary column may share a value.
    long: Mutex<BTreeMap<(u128, usize), u64>>,
}

/// The number of bytes of values that are recorded at a time.
const PORTION_BYTES: usize = 4 << 20;

/// Locates the values of a row.
#[derive(Clone, Copy)]
enum Place {
    /// The byte position in the portion that is being recorded.
    InPortion(u64),
    /// The byte position in the file.
    InHeap(u64),
}

/// If several rows share the same values, and the total size of the values is at least this many bytes, the values are recorded only once.
const LONG_BYTES: usize = 64 << 10;
/// The maximum number of long values whose positions are kept.
const MOST_LONG: usize = 4096;

impl Columns {
    /// Records some rows of a batch. Consecutive rows with the same values share one copy of the values.
    fn record(&self, batch: &Documents, arrays: &[Option<&ArrayRef>], rows: Range<usize>) -> Result<()> {
        let mut values = Vec::with_capacity(self.names.len());
        for ((name, tally), array) in self.names.iter().zip(&self.tallies).zip(arrays) {
            let array = array.map(|array| array.slice(rows.start, rows.len()));
            let noted = note(name, array.as_ref(), rows.len())?;
            tally.add(noted.tally());
            values.push(noted);
        }
        let (mut bytes, mut places) = (Vec::new(), Vec::<Place>::with_capacity(rows.len()));
        for row in 0..rows.len() {
            let is_again = row > 0 && values.iter().all(|noted| noted.row(row) == noted.row(row - 1));
            if let Some(&place) = places.last().filter(|_| is_again) {
                places.push(place);
                continue;
            }
            let start = bytes.len();
            let length: usize = values.iter().map(|noted| noted.row(row).len()).sum();
            bytes.extend_from_slice(&(length as u32).to_le_bytes());
            values.iter().for_each(|noted| bytes.extend_from_slice(noted.row(row)));
            places.push(if length < LONG_BYTES {
                Place::InPortion(start as u64)
            } else {
                let place = self.long(&bytes[start..])?;
                bytes.truncate(start);
                Place::InHeap(place)
            });
        }
        let begin = self.heap.append(&bytes)?;
        for (row, place) in rows.zip(places) {
            let place = match place {
                Place::InPortion(place) => begin + place,
                Place::InHeap(place) => place,
            };
            self.begins.store(batch.doc(row) as usize, place + 1);
        }
        Ok(())
    }

    /// Returns the position of a long value, and records the value if it is new.
    fn long(&self, bytes: &[u8]) -> Result<u64> {
        let key = (hash128(bytes), bytes.len());
        let lock = || self.long.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&place) = lock().get(&key) {
            return Ok(place);
        }
        let place = self.heap.append(bytes)?;
        let mut long = lock();
        if long.len() < MOST_LONG {
            long.insert(key, place);
        }
        Ok(place)
    }
}

impl Recorder for Columns {
    fn parts(&self) -> Vec<&dyn Recorder> {
        let tallies = self.tallies.iter().map(|tally| tally as &dyn Recorder);
        tallies.chain([&self.heap as &dyn Recorder, &self.begins]).collect()
    }
}

impl Recorder for KeepRecorder<'_> {
    fn parts(&self) -> Vec<&dyn Recorder> {
        let mut parts: Vec<&dyn Recorder> = vec![&self.lengths, &self.columns];
        parts.extend(self.per.iter().map(|(_, values)| values as &dyn Recorder));
        parts
    }
}

impl<'j> KeepRecorder<'j> {
    /// Returns a recorder for all documents of the job.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub fn new(session: &'j Session<'_>) -> Result<KeepRecorder<'j>> {
        let keep = &session.options.removal.keep;
        let documents = session.documents() as usize;
        let names = keep.columns();
        let columns = if names.is_empty() {
            None
        } else {
            Some(Columns {
                heap: Heap::new(session.engine.dir, "keep-keys")?,
                begins: AtomicCells::new(session.engine.dir, "keep-begins", documents)?,
                tallies: names.iter().map(|_| Tallying::default()).collect(),
                long: Mutex::default(),
                names,
            })
        };
        let per = match &session.options.removal.keep_per {
            Some(column) => Some((&**column, AtomicCells::new(session.engine.dir, "keep-per", documents)?)),
            None => None,
        };
        Ok(KeepRecorder { keep, lengths: AtomicCells::new(session.engine.dir, "lengths", documents)?, columns, per })
    }

    /// Adds the columns that the order uses to `want`.
    pub fn want(session: &Session<'_>, want: Want) -> Want {
        let mut want = want;
        let (fields, keep) = (session.field_columns(), session.options.removal.keep.columns());
        want.plain.extend(keep.iter().filter(|name| !fields.contains(name)).cloned());
        want.as_text.extend(keep.iter().cloned());
        want.others.extend(keep);
        want.with_values(session.options.removal.keep_per.as_ref())
    }

    /// Records a batch. `lengths` holds the number of characters in each text, or 0 for a rejected row.
    pub fn record(&self, batch: &Documents, lengths: &[u32]) -> Result<()> {
        for (row, &length) in lengths.iter().enumerate() {
            self.lengths.store(batch.doc(row) as usize, length);
        }
        if let Some((column, values)) = &self.per {
            store_values(batch, column, values)?;
        }
        let Some(columns) = &self.columns else { return Ok(()) };
        let arrays: Vec<Option<&ArrayRef>> = columns.names.iter().map(|name| batch.column(name)).collect();
        let there: Vec<&ArrayRef> = arrays.iter().copied().flatten().collect();
        // All rows may refer to a single long value in a dictionary.
        let portions = portions(&there, batch.len(), PORTION_BYTES).map_err(Error::columns("read a column"))?;
        portions.into_iter().try_for_each(|rows| columns.record(batch, &arrays, rows))
    }

    /// Returns the tally of each column's values, if the order uses columns.
    pub fn tallies(&self) -> Vec<ValueCounts> {
        self.columns.iter().flat_map(|columns| columns.tallies.iter().map(Tallying::sum)).collect()
    }

    /// Adds the tallies from [`KeepRecorder::tallies`] for another part of the corpus.
    pub fn add_tallies(&self, tallies: &[ValueCounts]) {
        let known = self.columns.iter().flat_map(|columns| &columns.tallies);
        known.zip(tallies).for_each(|(known, more)| known.add(*more));
    }

    /// Records a document from the output of [`KeepOrder::put_part`].
    pub fn take_part(&self, doc: u64, bytes: &mut Bytes<'_>) -> Result<()> {
        self.lengths.store(doc as usize, bytes.short()?);
        if let Some((_, values)) = &self.per {
            values.store(doc as usize, bytes.long()?);
        }
        let Some(columns) = &self.columns else { return Ok(()) };
        let key = bytes.string()?;
        let begin = columns.heap.append_both(&(key.len() as u32).to_le_bytes(), key)?;
        columns.begins.store(doc as usize, begin + 1);
        Ok(())
    }

    /// Ends the recording. Each column is compared in the way that fits most of its values.
    pub fn finish(self) -> Result<KeepOrder> {
        self.finish_as(&BTreeMap::new())
    }

    /// Ends the recording for some documents of a corpus. Columns are compared in the same way as in the run over that corpus, according to
    /// [`KeepOrder::compared_as`].
    pub fn finish_as(self, compared_as: &BTreeMap<String, String>) -> Result<KeepOrder> {
        let descending = self.keep.keys.iter().find(|key| key.column == "length").map(|key| key.descending);
        let doc_first = self.keep.keys.first().is_some_and(|key| key.column == "doc");
        let doc_descending = self.keep.keys.iter().any(|key| key.column == "doc" && key.descending);
        let (tallies, mut lost, mut warnings) = (self.tallies(), LostValues::default(), Vec::new());
        let names = self.columns.iter().flat_map(|columns| &columns.names);
        for (name, tally) in names.zip(&tallies) {
            tally.lost().into_iter().for_each(|(why, values)| lost.add(name, why, values));
            let is_text = compared_as.get(name).is_none_or(|known| known != AS_NUMBERS);
            warnings.extend(tally.warning(name).filter(|_| is_text));
        }
        let mut tallies = tallies.iter();
        let mut key = |column: &str| match column {
            "length" => Compared::Length,
            "doc" => Compared::Doc,
            name => {
                let by_values = tallies.next().is_none_or(ValueCounts::is_of_numbers);
                let is_of_numbers = compared_as.get(name).map_or(by_values, |known| known == AS_NUMBERS);
                Compared::Column { name: name.to_owned(), is_of_numbers }
            }
        };
        let keys = self.keep.keys.iter().map(|one| key(&one.column)).collect::<Vec<_>>();
        let keys = keys.into_iter().zip(&self.keep.keys).map(|(key, one)| (key, one.descending)).collect();
        let freeze = |columns: Columns| {
            let values = columns.heap.freeze()?;
            Ok(Values { keys, values, begins: columns.begins })
        };
        let columns = self.columns.map(freeze).transpose()?;
        let length_descending = if doc_first { None } else { descending };
        Ok(KeepOrder {
            lengths: self.lengths,
            length_descending,
            doc_descending,
            columns,
            per: self.per.map(|(_, values)| values),
            lost,
            warnings,
            batches: Vec::new(),
        })
    }
}

/// Holds the order of preference.
pub struct KeepOrder {
    lengths: AtomicCells<u32>,
    length_descending: Option<bool>,
    doc_descending: bool,
    columns: Option<Values>,
    /// A hash of each document's value in the column of `--keep-per`.
    per: Option<AtomicCells<u64>>,
    lost: LostValues,
    warnings: Vec<String>,
    /// The number of the first document of each earlier batch, followed by the number of the first document of the corpus. This list is
    /// empty if no indexed documents take part.
    batches: Vec<u64>,
}

struct Values {
    /// The keys, most important first, each with a flag that is set if larger values come first.
    keys: Vec<(Compared, bool)>,
    values: FrozenHeap,
    begins: AtomicCells<u64>,
}

/// Identifies the values that a key compares.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
enum Compared {
    Length,
    Doc,
    Column { name: String, is_of_numbers: bool },
}

impl Values {
    /// Returns the recorded bytes of a document. These bytes hold one value per column; [`parts`] extracts the values from the bytes.
    fn of(&self, doc: u64) -> &[u8] {
        let Some(begin) = self.begins.load(doc as usize).checked_sub(1) else { return &[] };
        let mut length = [0; 4];
        length.copy_from_slice(self.values.get(begin, 4));
        self.values.get(begin + 4, u32::from_le_bytes(length) as usize)
    }
}

impl KeepOrder {
    /// Returns a document's recorded length in characters.
    pub fn length(&self, doc: u64) -> u32 {
        self.lengths.load(doc as usize)
    }

    /// Returns whether one document is kept for each value of a column (`--keep-per`).
    pub(crate) fn has_values(&self) -> bool {
        self.per.is_some()
    }

    /// Returns a hash of a document's value in this column.
    pub(crate) fn value(&self, doc: u64) -> u64 {
        self.per.as_ref().map_or(0, |values| values.load(doc as usize))
    }

    /// Appends the data recorded for a document.
    pub fn put_part(&self, doc: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.length(doc).to_le_bytes());
        if let Some(values) = &self.per {
            out.extend_from_slice(&values.load(doc as usize).to_le_bytes());
        }
        if let Some(columns) = &self.columns {
            put(columns.of(doc), out);
        }
    }

    /// Returns how each column is compared (as numbers or as text), in the form that run.json records.
    pub fn compared_as(&self) -> BTreeMap<String, String> {
        let keys = self.columns.iter().flat_map(|columns| &columns.keys);
        let of = |(key, _): &(Compared, bool)| match key {
            Compared::Column { name, is_of_numbers } => {
                Some((name.clone(), if *is_of_numbers { AS_NUMBERS } else { AS_TEXT }.to_owned()))
            }
            Compared::Length | Compared::Doc => None,
        };
        keys.filter_map(of).collect()
    }

    /// Returns the number of column values that became null, by column and reason.
    pub fn lost(&self) -> &LostValues {
        &self.lost
    }

    /// Returns warnings about how columns are compared.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Makes the order prefer indexed documents to new documents, and earlier batches to later batches. `batches` holds the number of the
    /// first document of each batch, followed by the number of the first document of the corpus.
    pub fn by_batches(&mut self, batches: Vec<u64>) {
        self.batches = batches;
    }

    /// Saves the order to a checkpoint.
    pub fn save(&self, to: &mut CheckpointWriter<'_>) -> Result<()> {
        let keys = self.columns.as_ref().map(|columns| &columns.keys);
        to.plain(&(self.length_descending, self.doc_descending, keys, &self.lost, &self.warnings))?;
        to.cells(&self.lengths)?;
        to.optional(self.per.as_ref(), |values, to| to.cells(values))?;
        let Some(Values { values, begins, .. }) = &self.columns else { return Ok(()) };
        to.heap(values)?;
        to.cells(begins)
    }

    /// Restores the order from a checkpoint.
    pub fn restore(from: &mut CheckpointReader<'_>) -> Result<KeepOrder> {
        let (length_descending, doc_descending, keys, lost, warnings) = from.plain::<(_, _, Option<Vec<_>>, _, _)>()?;
        let lengths = from.cells()?;
        let per = from.optional(|from| from.cells())?;
        let values = |keys| Ok(Values { keys, values: from.heap()?, begins: from.cells()? });
        let columns = keys.map(values).transpose()?;
        Ok(KeepOrder { lengths, length_descending, doc_descending, columns, per, lost, warnings, batches: Vec::new() })
    }

    /// Returns whether `a` is preferred to `b`. The order is total because the document number breaks all ties.
    pub fn better(&self, a: u64, b: u64) -> bool {
        self.compare(a, b).is_lt()
    }

    /// Compares two documents by preference, best first.
    pub fn compare(&self, a: u64, b: u64) -> Ordering {
        let batch = |doc: u64| self.batches.partition_point(|&first| first <= doc);
        if !self.batches.is_empty() && batch(a) != batch(b) {
            return a.cmp(&b);
        }
        let order = match &self.columns {
            Some(columns) => self.by_columns(columns, a, b),
            None => {
                let (x, y) = (self.lengths.load(a as usize), self.lengths.load(b as usize));
                match self.length_descending {
                    Some(true) => y.cmp(&x),
                    Some(false) => x.cmp(&y),
                    None => Ordering::Equal,
                }
            }
        };
        order.then_with(|| if self.doc_descending { b.cmp(&a) } else { a.cmp(&b) })
    }

    /// Compares by each key in turn. A document without a value comes last, regardless of the sort direction.
    fn by_columns(&self, columns: &Values, a: u64, b: u64) -> Ordering {
        let (mut of_a, mut of_b) = (columns.of(a), columns.of(b));
        let turned = |order: Ordering, turn: bool| if turn { order.reverse() } else { order };
        for (key, descending) in &columns.keys {
            let order = match key {
                Compared::Length => turned(self.length(a).cmp(&self.length(b)), *descending),
                Compared::Doc => turned(a.cmp(&b), *descending),
                Compared::Column { is_of_numbers, .. } => {
                    let chosen = |(number, text)| if *is_of_numbers { number } else { text };
                    match (chosen(parts(&mut of_a)), chosen(parts(&mut of_b))) {
                        (Some(x), Some(y)) => turned(x.cmp(y), *descending),
                        (x, y) => y.is_some().cmp(&x.is_some()),
                    }
                }
            };
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    }

    /// Sorts documents by preference, best first, using all threads.
    pub fn sort(&self, engine: &Engine<'_>, mut documents: Slots<'_>) -> Result<()> {
        if let (Slots::Narrow(documents), None, true) = (&mut documents, &self.columns, self.batches.is_empty()) {
            return self.sort_by_length(engine, documents);
        }
        engine.pool.install(|| match documents {
            Slots::Narrow(documents) => documents.par_sort_unstable_by(|&a, &b| self.compare(a.into(), b.into())),
            Slots::Wide(documents) => documents.par_sort_unstable_by(|&a, &b| self.compare(a, b)),
        });
        Ok(())
    }

    /// Sorts by a number that combines the length and the document number and has the same order as the key. Each length is therefore
    /// looked up only once.
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

    /// Returns the best of these documents, or 0 if there are no documents.
    pub fn best(&self, documents: Docs<'_>) -> u64 {
        documents.iter().reduce(|a, b| if self.better(b, a) { b } else { a }).unwrap_or(0)
    }
}
