//! Adds a batch to the index: the text and ids of its new documents, the kept documents that replace removed documents, and the keys by
//! which documents in later batches are matched.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::builder::{FixedSizeBinaryBuilder, Int64Builder, StringBuilder};
use arrow::array::{Array as _, ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef;

use crate::batch::job::{COPIES, Job};
use crate::stored::known_by::{KnownBy, Noted};
use crate::stored::rows::{write_rows, write_run, write_sketches};
use dupsift_algorithms::steps::copies;
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::hash128;
use dupsift_core::number::{counted, thousands};
use dupsift_core::safe_fs::listing::{self, is_folder, is_there};
use dupsift_core::safe_fs::{self, Readers};
use dupsift_engine::classes::Classes;
use dupsift_engine::engine::threads::Engine;
use dupsift_engine::job::decide::decided::{self, Decided};
use dupsift_engine::job::run_report::RemovalReport;
use dupsift_engine::matching::meeting::{Numbered, RecordedKeys};
use dupsift_engine::reading::document::View;
use dupsift_engine::session::Session;
use dupsift_index::{
    BATCHES, Batch, DocumentFile, FORMAT, Generations, Index, Manifest, Named, PartWriter, ROWS, Rows, STATISTICS,
    part_schema, seal, seal_below, stop_at, sums_of,
};
use dupsift_input::{RowFilter, Split, Want, absolute};
use dupsift_publish::{SUCCESS, Stage, real_path};
use dupsift_spill::shuffle::{AtomicBits, AtomicCells};
use dupsift_tables::{Cell, Documents, IdBuilder, IdRef, IdType, IdsSeen};
use dupsift_text::Field;

/// The number of bytes of text that are encoded together.
const AT_ONCE: usize = 4 << 20;

/// Holds the data about a batch whose tables have been written.
pub(crate) struct FinishedBatch<'n> {
    /// The keys by which the batch's documents are matched with other documents, by label.
    pub keys: Vec<(String, RecordedKeys)>,
    /// The text hashes of the batch's documents, as keys.
    pub copy_keys: Option<RecordedKeys>,
    /// The pairs and first lines that were recorded.
    pub noted: Vec<Noted>,
    /// The exact copies.
    pub copies: &'n Arc<Classes>,
    /// The removed documents.
    pub decided: Option<&'n Decided>,
    /// The types of the ids.
    pub ids: &'n IdsSeen,
    /// A hash of the content of the batch's files.
    pub contents: String,
}

/// Writes the data that a batch adds to the index into unfinished folders, and returns the generation that includes the batch. A batch that
/// adds nothing leaves the index unchanged.
///
/// # Errors
/// Returns an error if the disk is full.
pub(crate) fn append(
    session: &Session<'_>,
    job: &Job<'_>,
    numbered: Numbered,
    finished: FinishedBatch<'_>,
    removal: Option<&RemovalReport>,
) -> Result<Manifest> {
    let mut next = job.index.manifest.clone().unwrap_or_default();
    if !job.appends {
        return Ok(next);
    }
    let running = session.engine.clock.stage("append to the index");
    // A recomputed batch gets a new generation number.
    let newest = Generations::newest(job.index.dir())?.0.map_or(0, |manifest| manifest.generation);
    let read_generation = next.generation;
    next.generation = newest + 1;
    next.format = FORMAT;
    next.dupsift = env!("CARGO_PKG_VERSION").to_owned();
    next.documents_planned = job.documents_planned;
    next.recipe = crate::batch::recipe::lines(job.options)?;
    let name = |kind: &str| format!("{kind}-{:08}", next.generation);
    if next.statistics.is_empty() {
        next.statistics = name("s");
    }
    let stored = AtomicBits::new(session.engine.dir, "stored", session.documents() as usize)?;
    let (folder, rows_folder) = (name("b"), name("r"));
    let fates = fates(session, &finished)?;
    let parts = write_parts(session, &job.index.begin(BATCHES, &folder)?, &finished, (&fates, &stored))?;
    stop_at("documents");
    let dir = job.index.begin(ROWS, &rows_folder)?;
    let mut written = write_keys(session.engine, &dir, &finished, (numbered, &fates.known), &stored)?;
    for noted in finished.noted {
        let name = noted.name.clone();
        written += write_run(session.engine, &dir, &name, fates.known.rename(session.engine, noted, numbered)?, false)?;
    }
    stop_at("rows");
    let first_doc = next.next_doc;
    next.next_doc += session.rows();
    next.texts += stored.count();
    next.rows.push(Rows { folder: rows_folder, first_doc, end_doc: next.next_doc, files: seal(&dir)? });
    next.batches.push(Batch {
        name: job.batch.name.clone(),
        folder,
        first_doc,
        rows: session.rows(),
        texts: stored.count(),
        inputs: job.batch.inputs.clone(),
        stamps: job.batch.stamps.clone(),
        contents: finished.contents,
        // This path is the same whether or not the output exists yet.
        out: real_path(&job.options.output.folder).unwrap_or_else(|_| absolute(&job.options.output.folder)),
        read_generation,
        generation: next.generation,
        publication: publication(),
        seen: removal.and_then(|removal| removal.reasons.get("seen").copied()).unwrap_or_default(),
        parts,
        ..Batch::default()
    });
    forget_again(job, &mut next, session, (numbered, finished.copies))?;
    running.end(stored.count(), written, 0);
    Ok(next)
}

/// Marks the forgotten documents of a recomputed batch as forgotten again. The documents are identified by their numbers, which do not
/// change. If options have changed, the index may store the text under a different copy, so all copies of a forgotten document are
/// forgotten.
fn forget_again(
    job: &Job<'_>,
    next: &mut Manifest,
    session: &Session<'_>,
    (numbered, copies): (Numbered, &Classes),
) -> Result<()> {
    let rows = session.rows();
    let Some(again) = job.again.as_ref().filter(|again| !again.forgotten.is_empty()) else { return Ok(()) };
    if rows != again.rows {
        let name = format!("`batch={}`", &job.batch.name);
        return Err(Error::usage(format!(
            "{name} had {before} and now has {rows}, so it is unknown which documents were forgotten; give this run a different name with `batch`",
            before = counted(again.rows, "row"),
            rows = thousands(rows)
        )));
    }
    next.forget(again.forgotten.clone());
    let mut equal = Vec::new();
    for class in copies.of(session.base..session.documents()) {
        if class.iter().any(|doc| next.is_forgotten(numbered.number(doc))) {
            equal.extend(class.iter().map(|doc| numbered.number(doc).0).map(|number| [number, number + 1]));
        }
    }
    next.forget(equal);
    Ok(())
}

/// Returns a value that is unique to this publication across all machines.
fn publication() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    // Includes the address of a new allocation, which differs from process to process, in case two processes read the same time.
    let (process, place) = (std::process::id(), Box::new(0u8));
    let host = sysinfo::System::host_name().unwrap_or_default();
    format!("{:032x}", hash128(format!("{since:?} {process} {:p} {host}", &raw const *place).as_bytes()))
}

/// Writes the keys by which documents are matched with other documents, and the sketch words that rule out most of these matches.
fn write_keys(
    engine: &Engine<'_>,
    dir: &Path,
    finished: &FinishedBatch<'_>,
    names: (Numbered, &KnownBy<'_>),
    stored: &AtomicBits,
) -> Result<u64> {
    let copy_keys = finished.copy_keys.iter().map(|keys| (COPIES, keys));
    let mut written = 0;
    for (label, keys) in finished.keys.iter().map(|(label, keys)| (label.as_str(), keys)).chain(copy_keys) {
        written += write_rows(engine, dir, label, &keys.rows, names, stored)?;
        if let Some(sketches) = &keys.sketches {
            write_sketches(engine, dir, label, sketches, names, stored)?;
        }
    }
    Ok(written)
}

/// Saves the next generation as an intent, and renames its folders to their final names. At this point, the output is complete but does not
/// have its final name yet.
///
/// # Errors
/// Returns an error if the disk is full.
pub(crate) fn intend(index: &Index, stage: &Stage, next: &mut Manifest) -> Result<()> {
    place(index, stage.path(), next, &stage.readers())
}

/// Works like [`intend`], but for a batch whose result is held back in `folder` and can be accepted later.
///
/// # Errors
/// Returns an error if the disk is full.
pub(crate) fn hold(index: &Index, folder: &Path, mut next: Manifest) -> Result<()> {
    place(index, folder, &mut next, &Readers::of([&*folder.join("run.json")]))?;
    index.hold(&next)
}

/// Gives the folders their final names, and lets these users read the files. The statistics are copied from the result of the first batch.
fn place(index: &Index, result: &Path, next: &mut Manifest, readers: &Readers) -> Result<()> {
    let is_first = !is_there(&index.folder(STATISTICS, &next.statistics))?;
    if is_first {
        let dir = index.begin(STATISTICS, &next.statistics)?;
        copy_below(&result.join("stats"), &dir.join("stats"))?;
        copy(&result.join("run.json"), &dir.join("run.json"))?;
        safe_fs::write(&dir.join(SUCCESS), b"").map_err(Error::io("write", &dir))?;
        next.statistics_files = seal_below(&dir)?;
    }
    // This batch replaces a held-back batch.
    index.hold_none()?;
    index.intend(next, readers)?;
    stop_at("intent");
    if is_first {
        index.place(STATISTICS, &next.statistics, readers)?;
    }
    stop_at("statistics named");
    if let (Some(batch), Some(rows)) = (next.batches.last(), next.rows.last()) {
        index.place(BATCHES, &batch.folder, readers)?;
        stop_at("documents named");
        index.place(ROWS, &rows.folder, readers)?;
    }
    stop_at("rows named");
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    safe_fs::copy(from, to).map(|_| ()).map_err(Error::io("copy", from))
}

fn copy_below(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to).map_err(Error::io("create the folder", to))?;
    if !is_there(from)? {
        return Ok(());
    }
    for name in listing::names(from).map_err(Error::io("list the folder", from))? {
        let (path, to) = (from.join(&name), to.join(&name));
        if is_folder(&path)? { copy_below(&path, &to)? } else { copy(&path, &to)? }
    }
    Ok(())
}

/// Writes the documents of the batch: a file for each piece of the corpus, with a row for each document number.
fn write_parts(
    session: &Session<'_>,
    dir: &Path,
    finished: &FinishedBatch<'_>,
    (fates, stored): (&Fates<'_>, &AtomicBits),
) -> Result<Vec<DocumentFile>> {
    let id = finished.ids.id_type().0;
    let view = View::first(session);
    let chosen = fates.chosen.clone();
    let rows = RowFilter::Where(Arc::new(move |doc| chosen.get(doc as usize)));
    let want = session.within_limit(&Want { id: true, rows: Some(rows), ..view.want() });
    let pieces = session.pieces().into_iter().filter(|piece| piece.first_doc >= session.base).collect::<Vec<_>>();
    let written = Mutex::new(Vec::new());
    let read_limit = session.engine.read_limit();
    session.engine.work(
        pieces.len(),
        || Ok(()),
        |(), at| {
            let name = format!("part-{at:06}.parquet");
            let mut part = Rewriting::new(session, &dir.join(&name), id, &pieces[at], &fates.kept)?;
            let mut each = |batch: &Documents| part.batch(session, &view, batch, stored);
            session.read_piece(&read_limit, &pieces[at], &want, &mut each)?;
            let rows = part.end(session)?;
            let first_doc = session.number(pieces[at].first_doc);
            written.lock().unwrap_or_else(PoisonError::into_inner).push((name, first_doc, rows));
            Ok(())
        },
        Ok,
    )?;
    session.engine.none_bad()?;
    let mut written = written.into_inner().unwrap_or_else(PoisonError::into_inner);
    written.sort_unstable();
    let mut files: BTreeMap<String, Named> = seal(dir)?.into_iter().map(|file| (file.name.clone(), file)).collect();
    let mut take = |path: PathBuf| {
        let name = path.to_string_lossy();
        files.remove(&*name).ok_or_else(|| Error::Internal(format!("{name} of the index was not written")))
    };
    let part = |(name, first_doc, rows): (String, u64, u64)| {
        let (file, sums) = (take(PathBuf::from(&name))?, take(sums_of(Path::new(&name)))?);
        Ok(DocumentFile { file, sums, first_doc, rows })
    };
    written.into_iter().map(part).collect()
}

/// Records which documents in a batch are removed, and under which documents the index stores their text.
struct Fates<'f> {
    /// The number of the indexed document that was kept instead of each removed document in the batch, plus one; 0 for each kept document.
    kept: AtomicCells<u64>,
    /// The documents under which the index stores text.
    known: KnownBy<'f>,
    /// The documents in `known`, as bits.
    chosen: Arc<AtomicBits>,
}

fn fates<'f>(session: &Session<'_>, finished: &FinishedBatch<'f>) -> Result<Fates<'f>> {
    let kept_for = AtomicCells::new(session.engine.dir, "fates", session.rows() as usize)?;
    let removed = AtomicBits::new(session.engine.dir, "removed", session.documents() as usize)?;
    if let Some(decided) = finished.decided {
        decided::each(decided, session.engine.budget.a_thread, |doc, kept| {
            removed.set(doc as usize);
            if let Some(own) = doc.checked_sub(session.base) {
                kept_for.store(own as usize, session.number(kept) + 1);
            }
            Ok(())
        })?;
    }
    let known = KnownBy::new(session, finished.copies, &removed)?;
    let chosen = AtomicBits::new(session.engine.dir, "chosen", session.documents() as usize)?;
    (session.base..session.documents()).filter(|&doc| known.has(doc)).for_each(|doc| _ = chosen.set(doc as usize));
    Ok(Fates { kept: kept_for, known, chosen: Arc::new(chosen) })
}

/// Writes a document file.
struct Rewriting<'p> {
    writer: PartWriter,
    schema: SchemaRef,
    id: IdType,
    ids: IdBuilder,
    texts: StringBuilder,
    fields: Vec<(Field, StringBuilder)>,
    hashes: FixedSizeBinaryBuilder,
    kept: Int64Builder,
    rows: usize,
    bytes: usize,
    /// The number of the next document.
    next: u64,
    piece: &'p Split,
    /// The kept documents, as in [`Fates::kept`].
    fates: &'p AtomicCells<u64>,
    /// The number of the batch's first document in this run.
    base: u64,
}

impl<'p> Rewriting<'p> {
    /// Creates the file for a piece of an input file. A column that is missing from the input is also missing from the file, because a
    /// missing value is not the same as a missing column.
    fn new(
        session: &Session<'_>,
        path: &Path,
        id: IdType,
        piece: &'p Split,
        fates: &'p AtomicCells<u64>,
    ) -> Result<Rewriting<'p>> {
        let has = |field: &&Field| {
            session.source.files[piece.file].others.contains(&session.options.columns.field_columns[**field as usize])
        };
        let fields: Vec<Field> = session.fields.iter().filter(has).copied().collect();
        let names: Vec<String> = fields.iter().map(|field| field.name().to_owned()).collect();
        let schema = part_schema(IdBuilder::new(id).finish().data_type().clone(), &names);
        Ok(Rewriting {
            writer: PartWriter::create(path, schema.clone())?,
            schema,
            id,
            ids: IdBuilder::new(id),
            texts: StringBuilder::new(),
            fields: fields.into_iter().map(|field| (field, StringBuilder::new())).collect(),
            hashes: FixedSizeBinaryBuilder::new(16),
            kept: Int64Builder::new(),
            rows: 0,
            bytes: 0,
            next: piece.first_doc,
            piece,
            fates,
            base: session.base,
        })
    }

    fn batch(&mut self, session: &Session<'_>, view: &View<'_>, batch: &Documents, stored: &AtomicBits) -> Result<()> {
        session.engine.go_on()?;
        let columns = view.columns(batch)?;
        for row in 0..batch.len() {
            let (doc, Cell::Text(text)) = (batch.doc(row), batch.text(row)) else { continue };
            let document = view.document(doc, text, &columns, row);
            if copies::row(doc, &document).is_none() {
                continue;
            }
            self.fill(doc)?;
            match batch.id(row) {
                Some(id) => self.ids.push(id)?,
                None => self.ids.push(IdRef::Text(&session.source.name_of(doc)))?,
            }
            self.texts.append_value(text);
            for (field, builder) in &mut self.fields {
                let cell = columns[*field as usize].as_ref().map(|column| column.get(row));
                builder.append_option(if let Some(Cell::Text(value)) = cell { Some(value) } else { None });
            }
            let failed = Error::table("write documents of the index");
            self.hashes.append_value(document.copy_hash().to_be_bytes()).map_err(failed)?;
            self.kept.append_option(self.kept_for(doc));
            stored.set(doc as usize);
            self.next = doc + 1;
            self.rows += 1;
            self.bytes += text.len();
            if self.bytes >= AT_ONCE {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Returns the kept document in favor of which a document was removed.
    fn kept_for(&self, doc: u64) -> Option<i64> {
        self.fates.load((doc - self.base) as usize).checked_sub(1).map(|kept| kept as i64)
    }

    /// Writes rows for documents that are not stored, up to but not including this document.
    fn fill(&mut self, doc: u64) -> Result<()> {
        while self.next < doc {
            match self.id {
                IdType::Text | IdType::Bytes => self.ids.push(IdRef::Text(""))?,
                IdType::Int32 | IdType::Int64 => self.ids.push(IdRef::Int(0))?,
            }
            self.texts.append_null();
            self.fields.iter_mut().for_each(|(_, field)| field.append_null());
            self.hashes.append_null();
            self.kept.append_option(self.kept_for(self.next));
            self.next += 1;
            self.rows += 1;
            if self.rows >= 1 << 16 {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut columns: Vec<ArrayRef> = vec![self.ids.finish(), Arc::new(self.texts.finish())];
        columns.extend(self.fields.iter_mut().map(|(_, field)| Arc::new(field.finish()) as ArrayRef));
        columns.push(Arc::new(self.hashes.finish()));
        columns.push(Arc::new(self.kept.finish()));
        (self.rows, self.bytes) = (0, 0);
        let batch = RecordBatch::try_new(self.schema.clone(), columns);
        self.writer.write(&batch.map_err(Error::table("write documents of the index"))?)
    }

    /// Finishes the file, with a row for each document number in the piece.
    fn end(mut self, session: &Session<'_>) -> Result<u64> {
        self.fill((self.piece.first_doc + self.piece.rows).min(session.documents()))?;
        self.flush()?;
        self.writer.close()
    }
}
