//! Provides the results of earlier batches to a run against an index: the pairs of indexed documents, and the documents with a given first
//! line. Rules that consider all pairs of a document require this data. The results of this batch are stored for the next batch.
//!
//! ```text
//! +pairs-LABEL.run   document | partner | similarity     in both directions, before any rule excludes a pair
//! +lines.run         hash of a first line | document
//! ```

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::known_by::Noted;
use dupsift_algorithms::steps::headings;
use dupsift_core::doc::IndexDoc;
use dupsift_core::error::{Error, Result};
use dupsift_core::row::number;
use dupsift_engine::engine::threads::Engine;
use dupsift_engine::job::pair::links::{Earlier, LINK, read, row};
use dupsift_engine::job::pair::pair_list::PairList;
use dupsift_engine::matching::meeting::Numbered;
use dupsift_engine::session::Session;
use dupsift_index::{Groups, Index, ROWS, Rows, meet};
use dupsift_spill::shuffle::run::{Run, buckets_of};
use dupsift_spill::shuffle::{Records, Sorted};
use dupsift_text::Heading;

/// The size of a document number in a pair row, in bytes.
const DOC: usize = 8;
/// The name of the row file with first lines.
const LINES: &str = "+lines";

/// Reads pairs and first lines from an index, and collects the pairs and first lines of this batch.
pub struct Kept<'e> {
    index: &'e Index,
    numbered: Numbered,
    noted: Mutex<Vec<Noted>>,
    /// The amount of index row data that was read, in bytes.
    pub scanned: AtomicU64,
}

impl<'e> Kept<'e> {
    /// Creates a `Kept` for an index and a batch whose documents are numbered according to `numbered`.
    pub fn new(index: &'e Index, numbered: Numbered) -> Kept<'e> {
        Kept { index, numbered, noted: Mutex::default(), scanned: AtomicU64::new(0) }
    }

    /// Returns the rows that the batch adds.
    pub fn noted(&self) -> Vec<Noted> {
        std::mem::take(&mut *self.noted.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, noted: Noted) {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).push(noted);
    }

    fn runs(&self, name: &str, width: usize) -> Result<Vec<Run>> {
        let folders = self.index.manifest.iter().flat_map(|manifest| &manifest.rows);
        let open = |rows: &Rows| {
            let run = rows.open(self.index.dir(), name)?;
            if (run.width(), run.group_width()) == (width, DOC) {
                return Ok(run);
            }
            let path = self.index.folder(ROWS, &rows.folder).join(format!("{name}.run"));
            let why = format!("it has rows of {} bytes; expected {width}", run.width());
            Err(Error::Damaged { path, why })
        };
        folders.map(open).collect()
    }

    fn is_forgotten(&self, doc: IndexDoc) -> bool {
        self.index.manifest.as_ref().is_some_and(|manifest| manifest.is_forgotten(doc))
    }

    /// Calls `each` with every row in `runs` whose group also occurs in `records`. `records` contains the rows of one partition, and
    /// `partitions` is the total number of partitions.
    fn meet(
        &self,
        runs: &[Run],
        (records, partition, partitions): (&Records, usize, usize),
        mut each: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let groups = Groups::new(records.groups().map(|group| &records.record(group.start)[..DOC]));
        for run in runs {
            let bytes = meet(run, buckets_of(partition, partitions), &groups, |_, row| each(row))?;
            self.scanned.fetch_add(bytes, Relaxed);
        }
        Ok(())
    }
}

impl Earlier for Kept<'_> {
    fn note(&self, session: &Session<'_>, label: &str, pairs: &PairList) -> Result<()> {
        let rows = session.engine.shuffle(&format!("{label}-noted"), LINK, DOC, 2 * pairs.rows())?;
        session.engine.work(
            pairs.parts(),
            || Ok(rows.writer()),
            |writer, part| {
                session.engine.go_on()?;
                pairs.each_of(part, |pair| {
                    if pair.a.max(pair.b) < session.base {
                        return Ok(());
                    }
                    let [a, b] = [pair.a, pair.b].map(|doc| session.number(doc));
                    writer.push(&row(a, b, pair.score.similarity))?;
                    writer.push(&row(b, a, pair.score.similarity))
                })
            },
            |mut writer| writer.flush(),
        )?;
        self.add_noted(label, rows.finish()?);
        Ok(())
    }

    fn take_noted(&self, label: &str) -> Option<Sorted> {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let at = noted.iter().position(|noted| noted.name == pairs_of(label))?;
        Some(noted.swap_remove(at).rows)
    }

    fn add_noted(&self, label: &str, rows: Sorted) {
        self.add(Noted { name: pairs_of(label), rows, docs: vec![0..DOC, DOC..2 * DOC] });
    }

    fn links(&self, session: &Session<'_>, label: &str) -> Result<Option<Sorted>> {
        let Some(indexed) = session.indexed.as_ref().filter(|indexed| indexed.count() > 0) else { return Ok(None) };
        let runs = self.runs(&pairs_of(label), LINK)?;
        let keys = session.engine.shuffle(&format!("{label}-indexed"), DOC, DOC, indexed.count())?;
        let mut writer = keys.writer();
        for doc in (indexed.first()..session.base).filter(|&doc| !indexed.is_copied(doc)) {
            writer.push(&indexed.number(doc).0.to_be_bytes())?;
        }
        writer.flush()?;
        drop(writer);
        let keys = keys.finish()?;
        let partitions = keys.partitions();
        let found = session.engine.shuffle(&format!("{label}-earlier"), LINK, DOC, keys.rows())?;
        session.engine.work(
            partitions,
            || Ok(found.writer()),
            |writer, partition| {
                session.engine.go_on()?;
                let records = keys.load(partition, session.engine.budget.a_thread)?;
                self.meet(&runs, (&records, partition, partitions), |kept| {
                    let (doc, partner, similarity) = read(kept);
                    let (doc, partner) = (IndexDoc(doc), IndexDoc(partner));
                    let Some(doc) = indexed.place(doc).filter(|_| !self.is_forgotten(partner)) else { return Ok(()) };
                    match indexed.place(partner) {
                        Some(partner) if indexed.is_copied(partner) => Ok(()),
                        Some(partner) => writer.push(&row(doc, partner, similarity)),
                        None => writer.push(&row(doc, session.documents() + partner.0, similarity)),
                    }
                })?;
                keys.remove(partition)
            },
            |mut writer| writer.flush(),
        )?;
        found.finish().map(Some)
    }

    fn note_lines(&self, engine: &Engine<'_>, lines: &mut dyn Iterator<Item = (Heading, u64)>) -> Result<()> {
        let capacity = self.numbered.capacity();
        let width = headings::width(capacity);
        let rows = engine.shuffle("lines-noted", width, headings::GROUP, 0)?;
        let mut writer = rows.writer();
        for (line, doc) in lines {
            engine.go_on()?;
            writer.push(&headings::row(capacity, line, self.numbered.number(doc).0)[..width])?;
        }
        writer.flush()?;
        drop(writer);
        self.add(Noted {
            name: LINES.to_owned(),
            rows: rows.finish()?,
            docs: std::iter::once(headings::GROUP..width).collect(),
        });
        Ok(())
    }

    fn lines(&self) -> Result<Vec<Run>> {
        self.runs(LINES, headings::width(self.numbered.capacity()))
    }

    fn count_lines(&self, lines: &[Run], records: (&Records, usize, usize)) -> Result<HashMap<u64, u64>> {
        let mut counts = HashMap::new();
        self.meet(lines, records, |row| {
            let (line, doc) = row.split_at(headings::GROUP);
            if !self.is_forgotten(IndexDoc(number(doc))) {
                *counts.entry(number(line)).or_default() += 1;
            }
            Ok(())
        })?;
        Ok(counts)
    }
}

/// Returns the name of the row file with an algorithm's pairs.
fn pairs_of(label: &str) -> String {
    format!("+pairs-{label}")
}
