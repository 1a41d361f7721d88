//! Implements `--keep-texts`: writes the texts of removed documents, and of the documents kept instead, to `texts/`. The folder contains
//! one file for each input file, with one row for each row of the input file. The rows of all other documents are null. The files can
//! therefore be read instead of the corpus, with the same document numbers.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use arrow::array::builder::StringBuilder;
use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

use crate::job::decide::decided::{self, Decided};
use crate::job::run_report::FolderReport;
use crate::reading::document::View;
use crate::reading::purified::{Reading, asks, how, texts};
use crate::session::PurifyReport;
use crate::session::Session;
use dupsift_core::error::{Error, Result};
use dupsift_input::{RowFilter, Split, Want};
use dupsift_publish::{Stage, TableWriter};
use dupsift_spill::shuffle::AtomicBits;
use dupsift_tables::{Cell, Documents};

/// The name of the id column in the files.
pub const ID: &str = "id";
/// The name of the text column in the files.
pub const TEXT: &str = "text";

/// The maximum number of rows, and of bytes of text, that are encoded together.
const AT_ONCE: (usize, usize) = (1 << 14, 4 << 20);

/// Returns the path, within an output folder, of the file that corresponds to the input file at this position.
pub fn path(out: &Path, at: usize) -> PathBuf {
    out.join(format!("texts/part-{at:05}.parquet"))
}

/// Returns the additional columns to store: the columns that algorithms read, and those of `--scope within:COLUMN` and `--keep-per`.
pub fn columns(session: &Session<'_>) -> Vec<String> {
    let mut columns = session.field_columns();
    columns.extend(session.options.recipe.within.clone());
    columns.extend(session.options.removal.keep_per.clone());
    columns.retain(|name| name != ID && name != TEXT);
    columns.sort();
    columns.dedup();
    columns
}

/// Writes `texts/`.
///
/// # Errors
/// Returns an error if a file is damaged or the disk is full.
pub fn write(session: &Session<'_>, stage: &Stage, decided: &Decided) -> Result<FolderReport> {
    let running = session.engine.clock.stage("store texts");
    let stored = Arc::new(AtomicBits::new(session.engine.dir, "stored-texts", session.documents() as usize)?);
    decided::each(decided, session.engine.budget.a_thread, |doc, kept| {
        [doc, kept].into_iter().for_each(|doc| _ = stored.set(doc as usize));
        session.engine.go_on()
    })?;
    let chosen = stored.clone();
    let rows = RowFilter::Where(Arc::new(move |doc| chosen.get(doc as usize)));
    let want = session.within_limit(&Want { id: true, rows: Some(rows), ..View::first(session).want() });
    let reading = how(session, &want)?;
    let files = session.indexed_files()..session.source.files.len();
    let mut pieces = session.pieces();
    pieces.retain(|piece| files.contains(&piece.file));
    pieces.sort_by_key(|piece| piece.first_doc);
    let columns = columns(session);
    let (texts, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
    session.engine.work(
        files.len(),
        || Ok(()),
        |(), at| {
            let mut part = Part::create(&path(stage.path(), at), &columns)?;
            let file = files.start + at;
            let first_doc = session.source.files[file].first_doc;
            part.next = first_doc;
            let of_file = pieces.iter().filter(|piece| piece.file == file);
            part.read(session, of_file, &want, &reading)?;
            let end = (first_doc + session.source.files[file].rows).min(session.documents());
            let (stored, written) = part.end(end.max(first_doc))?;
            texts.fetch_add(stored, Relaxed);
            bytes.fetch_add(written, Relaxed);
            Ok(())
        },
        Ok,
    )?;
    session.engine.none_bad()?;
    let (rows, bytes) = (texts.into_inner(), bytes.into_inner());
    running.end(rows, rows, bytes);
    Ok(FolderReport { files: files.len() as u64, rows, bytes, ..FolderReport::default() })
}

/// Writes the file in `texts/` that corresponds to one input file.
struct Part<'p> {
    writer: TableWriter,
    schema: SchemaRef,
    names: &'p [String],
    ids: StringBuilder,
    texts: StringBuilder,
    others: Vec<StringBuilder>,
    /// The number of the next document.
    next: u64,
    rows: usize,
    bytes: usize,
    stored: u64,
}

impl<'p> Part<'p> {
    fn create(path: &Path, names: &'p [String]) -> Result<Part<'p>> {
        let field = |name: &str| Field::new(name, DataType::Utf8, true);
        let fields = [ID, TEXT].into_iter().chain(names.iter().map(String::as_str)).map(field);
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Ok(Part {
            writer: TableWriter::create(path, schema.clone())?,
            schema,
            names,
            ids: StringBuilder::new(),
            texts: StringBuilder::new(),
            others: names.iter().map(|_| StringBuilder::new()).collect(),
            next: 0,
            rows: 0,
            bytes: 0,
            stored: 0,
        })
    }

    fn read<'s>(
        &mut self,
        session: &Session<'_>,
        pieces: impl Iterator<Item = &'s Split>,
        want: &Want,
        reading: &Reading,
    ) -> Result<()> {
        let read_limit = session.engine.read_limit();
        let mut purified = PurifyReport::default();
        for piece in pieces {
            let asks = asks(session, &session.source.files[piece.file], want, reading);
            session.read_piece(&read_limit, piece, &asks, &mut |batch| {
                session.engine.go_on()?;
                self.take(&texts(session, batch.clone(), reading, &mut purified)?)
            })?;
        }
        Ok(())
    }

    fn take(&mut self, batch: &Documents) -> Result<()> {
        let others = self.names.iter().map(|name| batch.spelled_column(name)).collect::<Result<Vec<_>>>()?;
        for row in 0..batch.len() {
            let Cell::Text(text) = batch.text(row) else { continue };
            self.fill(batch.doc(row))?;
            self.ids.append_option(batch.id(row).map(|id| id.to_string()));
            self.texts.append_value(text);
            for (column, builder) in others.iter().zip(&mut self.others) {
                let value = column.as_ref().and_then(|column| column.get(row).text().ok());
                self.bytes += value.map_or(0, str::len);
                builder.append_option(value);
            }
            self.bytes += text.len();
            self.stored += 1;
            self.ended()?;
        }
        Ok(())
    }

    /// Writes null rows for the preceding documents that are not stored.
    fn fill(&mut self, doc: u64) -> Result<()> {
        while self.next < doc {
            self.ids.append_null();
            self.texts.append_null();
            self.others.iter_mut().for_each(StringBuilder::append_null);
            self.ended()?;
        }
        Ok(())
    }

    fn ended(&mut self) -> Result<()> {
        self.next += 1;
        self.rows += 1;
        if self.rows >= AT_ONCE.0 || self.bytes >= AT_ONCE.1 { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        (self.rows, self.bytes) = (0, 0);
        let mut columns: Vec<ArrayRef> = vec![Arc::new(self.ids.finish()), Arc::new(self.texts.finish())];
        columns.extend(self.others.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef));
        let batch = RecordBatch::try_new(self.schema.clone(), columns);
        self.writer.write(&batch.map_err(Error::table("write texts"))?)
    }

    /// Finishes the file so that it has one row for each document before `doc`. Returns the number of documents whose text is in the file,
    /// and the size of the file in bytes.
    fn end(mut self, doc: u64) -> Result<(u64, u64)> {
        self.fill(doc)?;
        self.flush()?;
        Ok((self.stored, self.writer.close()?.1))
    }
}
