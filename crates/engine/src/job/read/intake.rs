//! Records the data that the first pass collects for every row, regardless of the algorithms: the id, the length and the other values for
//! `--keep`, and the hash of the text or the reason for its rejection.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::copies;
use super::document_columns::{ColumnRecorders, DocumentColumns};
use crate::engine::checkpoints::{Checkpoint, CheckpointReader, CheckpointWriter, Merge, Recorder};
use crate::engine::threads::Engine;
use crate::job::read::keep_column::ValueCounts;
use crate::reading::document::View;
use crate::reading::parts::Bytes;
use crate::reading::rejected::{Rejected, Rejecter};
use crate::session::Session;
use crate::session::content_hashes::{self, Sum};
use dupsift_algorithms::steps::note;
use dupsift_algorithms::steps::parts::{Parts, shape};
use dupsift_core::error::{Error, Result};
use dupsift_input::Want;
use dupsift_spill::shuffle::{Shuffle, Sorted, Writer};
use dupsift_tables::{Documents, IdsSeen, LostValues, RejectReason};
use dupsift_text::Analysis;

/// Holds the recorders for all threads.
pub struct Intake<'j> {
    session: &'j Session<'j>,
    ids: Shuffle,
    columns: ColumnRecorders<'j>,
    rejecter: Rejecter,
    hashes: Option<Shuffle>,
    /// The columns whose values are included in the content hashes.
    hashed: Vec<String>,
}

/// Holds the recorders of one thread.
pub struct RowRecorder<'w> {
    ids: Writer<'w>,
    rejected: Writer<'w>,
    /// Whether the rows are indexed documents, which were counted and checked when they were added to the index.
    indexed: bool,
    hashes: Option<Writer<'w>>,
    lengths: Vec<u32>,
    contents: Vec<content_hashes::Row>,
    took: Took,
}

/// Holds the totals of one thread.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Took {
    /// The kinds of ids that occur.
    pub ids_seen: IdsSeen,
    /// The number of documents that contain text.
    pub used: u64,
    /// The total size of the text in bytes.
    pub text_bytes: u64,
    /// The number of documents with parts that cannot be read, such as pictures in a conversation.
    #[serde(default)]
    pub with_unread_parts: u64,
    /// The number of documents without a letter or digit.
    #[serde(default)]
    pub without_words: u64,
    /// The document counts by script and length.
    pub parts: Parts,
    /// The number of values that became null in columns other than the text column.
    pub lost: LostValues,
}

impl Merge for Took {
    fn merge(&mut self, other: Took) {
        self.ids_seen.merge(&other.ids_seen);
        self.used += other.used;
        self.text_bytes += other.text_bytes;
        self.with_unread_parts += other.with_unread_parts;
        self.without_words += other.without_words;
        self.parts.merge(&other.parts);
        self.lost.merge(&other.lost);
    }
}

/// Holds the recorded data.
pub struct Taken {
    /// The values of all documents.
    pub columns: DocumentColumns,
    /// The rejected rows.
    pub rejected: Rejected,
    /// The text hashes of all documents, if copies were not known before the pass.
    pub hashes: Option<Sorted>,
    /// The kinds of ids that occur.
    pub ids_seen: IdsSeen,
    /// The number of rows with the same id as an earlier row.
    pub duplicate_ids: u64,
    /// The number of values that became null in columns other than the text column.
    pub lost: LostValues,
    /// The number of documents that contain text.
    pub used: u64,
    /// The total size of the text in bytes.
    pub text_bytes: u64,
    /// The number of documents with parts that cannot be read, such as pictures in a conversation.
    pub with_unread_parts: u64,
    /// The number of documents without a letter or digit.
    pub without_words: u64,
    /// The document counts by script and length.
    pub parts: Parts,
    /// The number of bytes spilled to disk.
    pub spilled_bytes: u64,
    /// Hashes of the contents read from each file; see [`content_hashes`].
    pub contents: Vec<Sum>,
}

impl Taken {
    /// Returns the number of values that became null in columns other than the text column. `--keep` columns are included.
    pub fn lost_values(&self) -> LostValues {
        let mut lost = self.lost.clone();
        lost.merge(self.columns.keep.lost());
        lost
    }

    /// Returns the kinds of ids in the output tables. The result covers all rows if the run writes `attributes/`, and otherwise all
    /// readable rows.
    pub fn ids_named(&self, session: &Session<'_>) -> IdsSeen {
        let seen = self.ids_seen.clone();
        if session.options.output.corpus.annotate { seen.of_every_row() } else { seen }
    }

    /// Appends the data recorded for consecutive documents.
    pub fn put_part(&self, docs: Range<u64>, out: &mut Vec<u8>) {
        out.extend_from_slice(&docs.start.to_le_bytes());
        out.extend_from_slice(&(docs.end - docs.start).to_le_bytes());
        for doc in docs {
            self.columns.put_part(doc, out);
        }
    }
}

impl Recorder for Intake<'_> {
    fn parts(&self) -> Vec<&dyn Recorder> {
        let Intake { session, ids, columns, rejecter, hashes, .. } = self;
        vec![ids, hashes, columns, rejecter, &session.contents]
    }
}

impl<'j> Intake<'j> {
    /// Starts recording. If `hashes` is set, that is, if copies are not known yet, text hashes are recorded.
    pub fn new(session: &'j Session<'j>, hashes: bool) -> Result<Intake<'j>> {
        Ok(Intake {
            session,
            ids: session.engine.shuffle("ids", 8, 8, session.documents())?,
            columns: ColumnRecorders::new(session)?,
            rejecter: Rejecter::new(session)?,
            hashes: hashes.then(|| copies::shuffle(session)).transpose()?,
            hashed: Intake::wanted(session, View::first(session).want()).others,
        })
    }

    /// Adds the recorded columns to `want`.
    pub fn want(&self, want: Want) -> Want {
        Intake::wanted(self.session, want)
    }

    /// Works like `want`, but does not require recorders.
    pub fn wanted(session: &Session<'_>, want: Want) -> Want {
        ColumnRecorders::want(session, Want { id: true, ..want })
    }

    /// Returns the recorders for one thread.
    pub fn recorder(&self) -> RowRecorder<'_> {
        RowRecorder {
            ids: self.ids.writer(),
            rejected: self.rejecter.writer(),
            indexed: false,
            hashes: self.hashes.as_ref().map(Shuffle::writer),
            lengths: Vec::new(),
            contents: Vec::new(),
            took: Took::default(),
        }
    }

    /// Returns the recorders for one thread that reads indexed documents.
    pub(crate) fn recorder_of_indexed(&self) -> RowRecorder<'_> {
        RowRecorder { indexed: true, ..self.recorder() }
    }

    /// Records all data about a row in a batch, except the text. Returns the text if it is usable.
    pub fn row<'b>(&self, recorder: &mut RowRecorder<'_>, batch: &'b Documents, row: usize) -> Result<Option<&'b str>> {
        if let Some(id) = batch.id(row).filter(|_| !recorder.indexed) {
            recorder.ids.push(&id.text_hash().to_be_bytes())?;
        }
        match batch.text(row).text() {
            Ok(text) => Ok(Some(text)),
            Err(why) if recorder.indexed => Err(Error::Damaged {
                path: self.session.options.incremental.index.clone().unwrap_or_default(),
                why: format!("saved text has changed: {why}"),
            }),
            Err(why) => {
                self.rejecter.push(self.session, &mut recorder.rejected, batch, row, &why)?;
                recorder.lengths.push(0);
                recorder.contents.push(content_hashes::row(batch, row, Err(&why)));
                Ok(None)
            }
        }
    }

    /// Records the properties of a document's text.
    pub fn text(
        &self,
        recorder: &mut RowRecorder<'_>,
        (batch, row): (&Documents, usize),
        document: &Analysis<'_>,
    ) -> Result<()> {
        let (doc, length) = (batch.doc(row), note::length(document));
        if !recorder.indexed {
            recorder.contents.push(content_hashes::row(batch, row, Ok(document.raw_hash())));
            recorder.took.used += 1;
            recorder.took.text_bytes += document.raw().len() as u64;
            recorder.took.with_unread_parts += u64::from(document.unread().is_some());
            let has_words = document.unread().is_some() || document.raw().contains(char::is_alphanumeric);
            recorder.took.without_words += u64::from(!has_words);
            let shape = shape(document.raw());
            recorder.took.parts.add(shape, length);
            self.columns.shape(doc, shape);
        }
        recorder.lengths.push(length);
        self.columns.text(doc, document);
        recorder.hashes.as_mut().map_or(Ok(()), |writer| copies::push(writer, doc, document))
    }

    /// Ends a batch after all of its rows have been recorded.
    pub fn batch(&self, recorder: &mut RowRecorder<'_>, batch: &Documents) -> Result<()> {
        let nulls = recorder.took.ids_seen.nulls;
        recorder.took.ids_seen.merge(batch.ids_seen());
        if recorder.indexed {
            recorder.took.ids_seen.nulls = nulls;
        }
        let recorded = self.columns.batch(batch, &recorder.lengths);
        recorder.lengths.clear();
        recorded?;
        if !recorder.indexed && !recorder.contents.is_empty() {
            let (file, sum) = content_hashes::sum(self.session.source, batch, &self.hashed, &recorder.contents)?;
            self.session.contents.add(file, sum);
            recorder.contents.clear();
        }
        // This step comes last, because values that cannot be written as text are known only after the columns have been read.
        if !recorder.indexed {
            recorder.took.lost.merge(&batch.lost_values());
        }
        Ok(())
    }

    /// Records consecutive documents from the output of [`Taken::put_part`], and calls `noted` for each document.
    pub fn take_part(&self, bytes: &[u8], mut noted: impl FnMut(u64) -> Result<()>) -> Result<()> {
        let mut bytes = Bytes(bytes);
        while !bytes.0.is_empty() {
            let (first, count) = (bytes.long()?, bytes.long()?);
            for doc in first..first.saturating_add(count) {
                noted(doc)?;
                self.columns.take_part(doc, &mut bytes)?;
            }
        }
        Ok(())
    }

    /// Returns the tallies of the values in `--keep` columns; see [`Intake::add_tallies`].
    pub fn tallies(&self) -> Vec<ValueCounts> {
        self.columns.tallies()
    }

    /// Adds the tallies from [`Intake::tallies`] for another part of the corpus.
    pub fn add_tallies(&self, tallies: &[ValueCounts]) {
        self.columns.add_tallies(tallies);
    }

    /// Records rows that another process rejected.
    pub fn take_rejected(&self, bytes: &[u8]) -> Result<()> {
        let (mut bytes, mut writer) = (Bytes(bytes), self.rejecter.writer());
        while !bytes.0.is_empty() {
            let (doc, code) = (bytes.long()?, bytes.short()?);
            let reason = u8::try_from(code).ok().and_then(RejectReason::of_code).unwrap_or(RejectReason::BrokenRecord);
            self.rejecter.put(&mut writer, doc, reason, bytes.string()?)?;
        }
        writer.flush()
    }

    /// Ends a thread's work.
    pub fn close(recorder: RowRecorder<'_>) -> Result<Took> {
        for mut writer in [Some(recorder.ids), Some(recorder.rejected), recorder.hashes].into_iter().flatten() {
            writer.flush()?;
        }
        Ok(recorder.took)
    }

    /// Ends the recording.
    pub fn finish(self, took: Took) -> Result<Taken> {
        let engine = self.session.engine;
        let (mut taken, ids) = self.end(took)?;
        taken.duplicate_ids = count_repeated(engine, &ids)?;
        Ok(taken)
    }

    /// Works like `finish`, but does not count repeated ids. Also returns the hashes of all ids.
    pub fn end(self, took: Took) -> Result<(Taken, Sorted)> {
        let ids = self.ids.finish()?;
        let hashes = self.hashes.map(Shuffle::finish).transpose()?;
        let taken = Taken {
            spilled_bytes: ids.spilled_bytes() + hashes.as_ref().map_or(0, Sorted::spilled_bytes),
            columns: self.columns.finish()?,
            rejected: self.rejecter.finish()?,
            hashes,
            ids_seen: took.ids_seen,
            duplicate_ids: 0,
            lost: took.lost,
            used: took.used,
            text_bytes: took.text_bytes,
            with_unread_parts: took.with_unread_parts,
            without_words: took.without_words,
            parts: took.parts,
            contents: self.session.contents.sums(),
        };
        self.session.contents.cover(self.session.documents());
        Ok((taken, ids))
    }
}

/// Counts the rows with a repeated value, that is, all rows except the first row with each value.
pub fn count_repeated(engine: &Engine<'_>, values: &Sorted) -> Result<u64> {
    let surplus = engine.work(
        values.partitions(),
        || Ok(0),
        |surplus, partition| {
            let records = values.load(partition, engine.budget.a_thread)?;
            *surplus += (records.len() - records.groups().count()) as u64;
            values.remove(partition)
        },
        Ok,
    )?;
    Ok(surplus.iter().sum())
}

impl Checkpoint for Taken {
    fn save(&mut self, engine: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.plain(&self.ids_seen)?;
        to.plain(&(self.duplicate_ids, self.used, self.text_bytes, &self.lost))?;
        to.plain(&(self.with_unread_parts, self.without_words))?;
        to.plain(&self.parts)?;
        to.plain(&self.contents)?;
        self.columns.save(to)?;
        self.rejected.save(engine, to)
    }

    fn restore(engine: &Engine<'_>, documents: u64, from: &mut CheckpointReader<'_>) -> Result<Taken> {
        let ids_seen = from.plain()?;
        let (duplicate_ids, used, text_bytes, lost) = from.plain()?;
        let (with_unread_parts, without_words) = from.plain()?;
        let (parts, contents) = (from.plain()?, from.plain()?);
        Ok(Taken {
            ids_seen,
            duplicate_ids,
            lost,
            used,
            text_bytes,
            with_unread_parts,
            without_words,
            parts,
            columns: DocumentColumns::restore(from)?,
            rejected: Rejected::restore(engine, documents, from)?,
            hashes: None,
            spilled_bytes: 0,
            contents,
        })
    }
}
