//! Joins a batch with the index. One scan of the index's rows finds the documents that share a key with the batch. The text of these
//! documents is copied from the index and read as if the documents preceded the batch.

mod nearest;
mod rule_out;
mod scan;

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use arrow::array::AsArray;
use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::datatypes::Int64Type;
use arrow::datatypes::{Field, Schema};

use crate::batch::job::COPIES;
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_core::doc::IndexDoc;
use dupsift_core::error::{Error, Result};
use dupsift_core::row::number;
use dupsift_core::safe_fs::private;
use dupsift_engine::engine::threads::Engine;
use dupsift_engine::matching::indexed::Indexed;
use dupsift_engine::matching::meeting::{Meeting, Numbered, RecordedKeys};
use dupsift_engine::options::RunOptions;
use dupsift_engine::reading::inputs::columns;
use dupsift_index::{
    BATCHES, COPY_HASH, DocumentFile, Index, KEPT_DOC, Manifest, PartWriter, TEXT, field_column, read_rows,
};
use dupsift_input::{Source, find_all, open};
use dupsift_publish::INDEXED;
use dupsift_spill::shuffle::{AtomicBits, AtomicCells, Mapped};
use dupsift_text::Analysis;
use rule_out::RulingOut;
use scan::{Scan, Shared};

/// Selects and reads the indexed documents with which a batch is compared.
pub(crate) struct Joining<'i> {
    index: &'i Index,
    options: &'i RunOptions,
    /// The numbering of the documents.
    pub numbered: Numbered,
    met: OnceLock<Met>,
    /// The number of indexed documents for which no document number was available.
    pub beyond: AtomicU64,
    /// The amount of index row data that was read, in bytes.
    pub scanned: AtomicU64,
    /// The number of bytes that were read from the document files of the index.
    pub looked_up: AtomicU64,
}

/// Holds the indexed documents that take part in a run while they are being read.
struct Met {
    source: Source,
    first: u64,
    numbers: Arc<Mapped<u64>>,
    fates: AtomicCells<u64>,
    hashes: [AtomicCells<u64>; 2],
}

/// Selects the documents to read from a document file, as a range of positions among all documents that take part.
struct Wanted<'p> {
    path: PathBuf,
    part: &'p DocumentFile,
    indexed: std::ops::Range<usize>,
}

/// Marks every document that is found.
struct All<'m>(&'m AtomicBits);

impl Shared for All<'_> {
    fn row(&mut self, _group: usize, doc: IndexDoc, _row: &[u8]) -> Result<()> {
        self.0.set(doc.as_usize());
        Ok(())
    }

    fn end(self) -> Result<()> {
        Ok(())
    }
}

impl<'i> Joining<'i> {
    /// Prepares to join a batch whose documents are numbered according to `numbered`.
    pub(crate) fn new(index: &'i Index, options: &'i RunOptions, numbered: Numbered) -> Joining<'i> {
        Joining {
            index,
            options,
            numbered,
            met: OnceLock::new(),
            beyond: AtomicU64::new(0),
            scanned: AtomicU64::new(0),
            looked_up: AtomicU64::new(0),
        }
    }

    /// Reads the given indexed documents as if they had been matched by a batch.
    ///
    /// # Errors
    /// Returns an error if the index is damaged or the disk is full.
    pub(crate) fn look_up(&self, engine: &Engine<'_>, manifest: &Manifest, met: &AtomicBits) -> Result<()> {
        if met.count() == 0 {
            return Ok(());
        }
        self.take(self.copy_out(engine, manifest, Arc::new(numbers(engine, met)?))?);
        Ok(())
    }

    fn take(&self, met: Met) -> &Met {
        self.met.get_or_init(|| met)
    }

    /// Calls `each` with every document in `docs` and the kept document in favor of which it was removed, if any.
    fn each_kept(
        &self,
        engine: &Engine<'_>,
        manifest: &Manifest,
        docs: &AtomicBits,
        each: impl Fn(IndexDoc, Option<IndexDoc>) + Sync,
    ) -> Result<()> {
        let numbers = numbers(engine, docs)?;
        let wanted = self.wanted(manifest, &numbers);
        engine.work(
            wanted.len(),
            || Ok(()),
            |(), at| {
                let mut docs = numbers[wanted[at].indexed.clone()].iter();
                let rows = wanted[at].rows(&numbers);
                let list = wanted[at].part.sums.list;
                let bytes = read_rows(&wanted[at].path, list, Some(&rows), Some(&[KEPT_DOC]), &mut |batch| {
                    for (kept, &doc) in kept_docs(&batch).zip(&mut docs) {
                        let kept = kept.map(|kept| IndexDoc(kept as u64));
                        if let Some(kept) = kept.filter(|&kept| kept >= self.numbered.next_doc) {
                            let why =
                                format!("document {doc} was removed in favor of document {kept}, which does not exist");
                            return Err(Error::Damaged { path: wanted[at].path.clone(), why });
                        }
                        each(IndexDoc(doc), kept);
                    }
                    Ok(())
                })?;
                self.looked_up.fetch_add(bytes, Relaxed);
                Ok(())
            },
            Ok,
        )?;
        Ok(())
    }

    /// Returns the indexed documents that take part: all documents that share a key with a document in the batch or have the same text as
    /// one.
    ///
    /// A document that was removed in favor of a forgotten document does not take part: no kept document contains its text, so a similar
    /// new document has to be kept. If the batch contains a copy of a removed document, the document that was kept instead also takes part,
    /// because the copy is removed in favor of the kept document. With `--chain remove`, the kept document takes part whenever a removed
    /// document takes part.
    fn taking_part(
        &self,
        engine: &Engine<'_>,
        manifest: &Manifest,
        met: AtomicBits,
        copied: &AtomicBits,
    ) -> Result<AtomicBits> {
        copied.iter().for_each(|doc| _ = met.set(doc));
        if manifest.forgotten.is_empty() {
            let removed = if self.options.removal.chains { &met } else { copied };
            let taking = AtomicBits::new(engine.dir, "kept-in-index", met.len())?;
            self.each_kept(engine, manifest, removed, |_, kept| {
                kept.into_iter().for_each(|kept| _ = taking.set(kept.as_usize()));
            })?;
            taking.iter().for_each(|doc| _ = met.set(doc));
            return Ok(met);
        }
        let taking = AtomicBits::new(engine.dir, "taking-part", met.len())?;
        self.each_kept(engine, manifest, &met, |doc, kept| {
            if kept.is_some_and(|kept| manifest.is_forgotten(kept)) {
                return;
            }
            taking.set(doc.as_usize());
            if self.options.removal.chains || copied.get(doc.as_usize()) {
                kept.into_iter().for_each(|kept| _ = taking.set(kept.as_usize()));
            }
        })?;
        Ok(taking)
    }

    /// Returns the document files that contain these documents, with the rows to read from each.
    fn wanted<'m>(&self, manifest: &'m Manifest, numbers: &[u64]) -> Vec<Wanted<'m>> {
        let mut wanted = Vec::new();
        for batch in &manifest.batches {
            for part in &batch.parts {
                let from = numbers.partition_point(|&number| number < part.first_doc);
                let to = numbers.partition_point(|&number| number < part.first_doc + part.rows);
                if from < to {
                    let path = self.index.folder(BATCHES, &batch.folder).join(&part.file.name);
                    wanted.push(Wanted { path, part, indexed: from..to });
                }
            }
        }
        wanted
    }

    /// Copies the text of these documents from the index to files in the same format as the input files of a batch.
    fn copy_out(&self, engine: &Engine<'_>, manifest: &Manifest, numbers: Arc<Mapped<u64>>) -> Result<Met> {
        let running = engine.clock.stage("look up indexed documents");
        let fates = AtomicCells::new(engine.dir, "indexed-fates", numbers.len())?;
        let hashes = [(); 2].map(|()| AtomicCells::new(engine.dir, "indexed-hashes", numbers.len()));
        let [high, low] = hashes;
        let hashes = [high?, low?];
        let wanted = self.wanted(manifest, &numbers);
        let place = |at: usize| engine.dir.join(format!("{at:08}{INDEXED}"));
        engine.work(
            wanted.len(),
            || Ok(()),
            |(), at| {
                engine.go_on()?;
                let (one, mut position) = (&wanted[at], wanted[at].indexed.start);
                let mut writer = None;
                let path = place(at);
                match private::remove(&path) {
                    Err(error) if error.kind() != ErrorKind::NotFound => {
                        return Err(Error::io("remove", &path)(error));
                    }
                    _ => {}
                }
                let bytes = read_rows(&one.path, one.part.sums.list, Some(&one.rows(&numbers)), None, &mut |batch| {
                    note(&batch, position, &fates, &hashes);
                    position += batch.num_rows();
                    let batch = self.as_input(&batch)?;
                    let writer = match &mut writer {
                        Some(writer) => writer,
                        None => writer.insert(PartWriter::create_passing(&path, batch.schema())?),
                    };
                    writer.write(&batch)
                })?;
                self.looked_up.fetch_add(bytes, Relaxed);
                writer.map_or(Ok(()), |writer| writer.close().map(|_| ()))
            },
            Ok,
        )?;
        let files = (0..wanted.len()).map(|at| place(at).to_string_lossy().into_owned());
        let source = self.open(&files.collect::<Vec<_>>())?;
        let first = self.numbered.base - numbers.len() as u64;
        if source.documents() != numbers.len() as u64 {
            return Err(Error::Internal(format!(
                "{copied} of {expected} indexed documents were copied",
                copied = source.documents(),
                expected = numbers.len()
            )));
        }
        running.end(numbers.len() as u64, source.documents(), 0);
        Ok(Met { source: source.shifted(first), first, numbers, fates, hashes })
    }

    fn open(&self, files: &[String]) -> Result<Source> {
        let found = find_all(files, Default::default())?;
        let (source, bad) = open(found, &columns(self.options), self.options.resources.threads, None)?;
        match bad.first() {
            Some(bad) => Err(Error::Damaged { path: bad.path.clone(), why: bad.why.clone() }),
            None => Ok(source),
        }
    }

    /// Renames the columns to the input column names of the batch.
    fn as_input(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let options = self.options;
        let mut names =
            vec![("id".to_owned(), &options.columns.id_column), (TEXT.to_owned(), &options.columns.text_column)];
        let fields =
            dupsift_text::Field::ALL.iter().map(|&field| (field, &options.columns.field_columns[field as usize]));
        names.extend(fields.map(|(field, column)| (field_column(field.name()), column)));
        let mut columns: Vec<(String, ArrayRef)> = Vec::new();
        for (stored, asked) in names {
            if let Some(column) = batch.column_by_name(&stored)
                && columns.iter().all(|(known, _)| known != asked)
            {
                columns.push((asked.clone(), column.clone()));
            }
        }
        let fields = columns.iter().map(|(name, column)| Field::new(name, column.data_type().clone(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        RecordBatch::try_new(schema, columns).map_err(Error::table("copy documents of the index"))
    }

    /// Returns the indexed documents that take part, and their files if there are any.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub(crate) fn indexed(&mut self, engine: &Engine<'_>) -> Result<(Option<Source>, Indexed)> {
        let Numbered { base, next_doc, .. } = self.numbered;
        let Some(Met { source, numbers, fates, .. }) = self.met.take() else {
            let none =
                (Arc::new(Mapped::new(engine.dir, "no-indexed", 0)?), AtomicCells::new(engine.dir, "no-fates", 0)?);
            return Ok((None, Indexed::new(engine, base, next_doc, none.0, none.1)?));
        };
        Ok((Some(source), Indexed::new(engine, base, next_doc, numbers, fates)?))
    }
}

impl Meeting for Joining<'_> {
    fn numbered(&self) -> Numbered {
        self.numbered
    }

    fn meet(
        &self,
        engine: &Engine<'_>,
        bound: &[Bound<'_>],
        keys: &[Option<RecordedKeys>],
        copies: Option<&RecordedKeys>,
    ) -> Result<Option<&Source>> {
        let Some(manifest) = &self.index.manifest else { return Ok(None) };
        let running = engine.clock.stage("match the index");
        let met = AtomicBits::new(engine.dir, "met-in-index", self.numbered.next_doc.as_usize())?;
        let Joining { index, numbered, ref scanned, .. } = *self;
        let scan = Scan { engine, index, manifest, numbered, scanned };
        for (bound, keys) in bound.iter().zip(keys).filter_map(|(bound, keys)| Some((bound, keys.as_ref()?))) {
            match &keys.sketches {
                Some(sketches) => {
                    let most = self.options.duplicates.max_candidates;
                    RulingOut { scan: &scan, bound, sketches, max_candidates: most }.meet(&keys.rows, &met)?;
                }
                None if bound.scheme.nearest => nearest::meet(&scan, bound, &keys.rows, &met)?,
                None => scan.rows(&bound.label, &keys.rows, || All(&met))?,
            }
        }
        let copied = AtomicBits::new(engine.dir, "copied-in-index", met.len())?;
        if let Some(copies) = copies {
            scan.rows(COPIES, &copies.rows, || All(&copied))?;
        }
        let met = self.taking_part(engine, manifest, met, &copied)?;
        running.end(met.count(), met.count(), 0);
        if met.count() == 0 {
            return Ok(None);
        }
        if met.count() > self.numbered.base {
            self.beyond.store(met.count(), Relaxed);
            return Err(Error::Internal("there are more indexed documents than document numbers".into()));
        }
        let met = self.copy_out(engine, manifest, Arc::new(numbers(engine, &met)?))?;
        Ok(Some(&self.take(met).source))
    }

    fn met(&self) -> Option<Arc<Mapped<u64>>> {
        self.met.get().map(|met| met.numbers.clone())
    }

    fn meet_again(&self, engine: &Engine<'_>, numbers: Arc<Mapped<u64>>) -> Result<()> {
        let Some(manifest) = &self.index.manifest else { return Ok(()) };
        self.take(self.copy_out(engine, manifest, numbers)?);
        Ok(())
    }

    fn check(&self, doc: u64, document: &Analysis<'_>) -> Result<()> {
        let Some(met) = self.met.get() else { return Ok(()) };
        let position = (doc - met.first) as usize;
        let [high, low] = [0, 1].map(|part: usize| u128::from(met.hashes[part].load(position)));
        if document.copy_hash() == high << 64 | low {
            return Ok(());
        }
        let why = format!("the text of document {} does not match its hash", met.numbers[position]);
        Err(Error::Damaged { path: self.index.dir().join(BATCHES), why })
    }
}

impl Wanted<'_> {
    /// Returns the row numbers within the document file.
    fn rows(&self, numbers: &[u64]) -> Vec<u64> {
        numbers[self.indexed.clone()].iter().map(|number| number - self.part.first_doc).collect()
    }
}

/// Returns the positions of the set bits in ascending order.
fn numbers(engine: &Engine<'_>, met: &AtomicBits) -> Result<Mapped<u64>> {
    let mut numbers: Mapped<u64> = Mapped::new(engine.dir, "indexed-numbers", met.count() as usize)?;
    numbers.iter_mut().zip(met.iter()).for_each(|(number, doc)| *number = doc as u64);
    Ok(numbers)
}

pub(crate) fn kept_docs(batch: &RecordBatch) -> impl Iterator<Item = Option<i64>> {
    let column = batch.column_by_name(KEPT_DOC).and_then(|column| column.as_primitive_opt::<Int64Type>()).cloned();
    (0..batch.num_rows())
        .map(move |row| column.as_ref().filter(|column| column.is_valid(row)).map(|column| column.value(row)))
}

/// Stores the copy hashes of indexed documents, and the kept documents in favor of which they were removed, starting at position
/// `position`.
fn note(batch: &RecordBatch, position: usize, fates: &AtomicCells<u64>, hashes: &[AtomicCells<u64>; 2]) {
    for (row, kept) in kept_docs(batch).enumerate() {
        fates.store(position + row, kept.map_or(0, |kept| kept as u64 + 1));
    }
    let Some(column) = batch.column_by_name(COPY_HASH).and_then(|column| column.as_fixed_size_binary_opt()) else {
        return;
    };
    for row in (0..batch.num_rows()).filter(|&row| column.is_valid(row)) {
        let (high, low) = column.value(row).split_at(8);
        hashes[0].store(position + row, number(high));
        hashes[1].store(position + row, number(low));
    }
}

#[cfg(test)]
#[path = "join_tests.rs"]
mod tests;
