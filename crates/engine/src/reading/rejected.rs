//! Counts and records rejected rows. Memory use does not grow with the number of rejected rows.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::engine::checkpoints::{CheckpointReader, CheckpointWriter, Recorder};
use crate::engine::threads::Engine;
use crate::session::Session;
use dupsift_core::error::{Error, Result};
use dupsift_core::row::number;
use dupsift_spill::shuffle::{FrozenHeap, Heap, Shuffle, Sorted, Writer};
use dupsift_tables::{Documents, RejectReason, Rejection};

/// The number of bytes in a row. A row holds the document number, the offset and length of the detail, and the reason code.
const ROW: usize = 21;

/// Counts the rejected rows, which are listed in `rejected/`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct RejectionsReport {
    /// The number of rejected rows.
    #[serde(rename = "rejected")]
    pub rows: u64,
    /// The number of defective rows: null, not UTF-8, not JSON, too long, or damaged.
    #[serde(rename = "rejected_broken", default)]
    pub broken: u64,
    /// The number of rows rejected because of their kind, such as responses that are not HTML. `rejected` is the sum of `broken` and
    /// `by_kind`.
    #[serde(rename = "rejected_by_kind", default)]
    pub by_kind: u64,
    /// The number of rejected rows by reason.
    #[serde(rename = "rejected_reasons", default)]
    pub reasons: BTreeMap<String, u64>,
}

impl RejectionsReport {
    /// Adds `rows` rows that were rejected for `reason`.
    pub fn add(&mut self, reason: RejectReason, rows: u64) {
        if rows > 0 {
            *self.reasons.entry(reason.text().to_owned()).or_default() += rows;
            *(if reason.is_broken() { &mut self.broken } else { &mut self.by_kind }) += rows;
            self.rows += rows;
        }
    }

    /// Returns the reasons in one group with their row counts. If `by_kind` is true, these are the reasons that the field `by_kind` counts.
    /// Otherwise, they are the reasons that the field `broken` counts.
    pub fn named(&self, by_kind: bool) -> Vec<(&str, u64)> {
        let is_by_kind = |name: &str| RejectReason::ALL.iter().any(|one| one.text() == name && !one.is_broken());
        let reasons = self.reasons.iter().filter(|(reason, _)| is_by_kind(reason) == by_kind);
        reasons.map(|(reason, &rows)| (reason.as_str(), rows)).collect()
    }

    /// Adds the rows of another thread.
    pub fn merge(&mut self, other: &RejectionsReport) {
        self.rows += other.rows;
        self.broken += other.broken;
        self.by_kind += other.by_kind;
        other.reasons.iter().for_each(|(reason, rows)| *self.reasons.entry(reason.clone()).or_default() += rows);
    }
}

/// Collects the rejected rows from many threads.
pub struct Rejecter {
    rows: Shuffle,
    details: Heap,
    /// The number of rejected rows, by reason code.
    counts: [AtomicU64; RejectReason::ALL.len()],
}

impl Recorder for Rejecter {
    fn parts(&self) -> Vec<&dyn Recorder> {
        let counts = self.counts.iter().map(|count| count as &dyn Recorder);
        counts.chain([&self.rows as &dyn Recorder, &self.details]).collect()
    }
}

impl Rejecter {
    /// Creates an empty collection.
    pub fn new(session: &Session<'_>) -> Result<Rejecter> {
        let (rows, details) = (
            session.engine.ordered(session.documents(), "rejected", ROW, 8, 8, 0)?,
            Heap::new(session.engine.dir, "details")?,
        );
        Ok(Rejecter { rows, details, counts: Default::default() })
    }

    /// Returns a writer for one thread.
    pub fn writer(&self) -> Writer<'_> {
        self.rows.writer()
    }

    /// Rejects one row.
    ///
    /// # Errors
    /// If `strict` is set, returns an error that describes the row.
    pub fn push(
        &self,
        session: &Session<'_>,
        writer: &mut Writer<'_>,
        batch: &Documents,
        row: usize,
        why: &Rejection,
    ) -> Result<()> {
        let doc = batch.doc(row);
        if session.options.guards.strict {
            let (file, row) = session.source.locate(doc);
            return Err(Error::BadRow { path: file.path.clone(), row, why: why.to_string() });
        }
        self.put(writer, doc, why.reason, why.detail.as_bytes())
    }

    /// Records a row that has already been rejected.
    pub fn put(&self, writer: &mut Writer<'_>, doc: u64, reason: RejectReason, detail: &[u8]) -> Result<()> {
        let begin = self.details.append(detail)?;
        let mut record = [0; ROW];
        record[..8].copy_from_slice(&doc.to_be_bytes());
        record[8..16].copy_from_slice(&begin.to_be_bytes());
        record[16..20].copy_from_slice(&(detail.len() as u32).to_be_bytes());
        record[20] = reason.code();
        self.counts[usize::from(reason.code())].fetch_add(1, Ordering::Relaxed);
        writer.push(&record)
    }

    /// Ends the collection.
    pub fn finish(self) -> Result<Rejected> {
        let counts = self.counts.map(AtomicU64::into_inner);
        Ok(Rejected { rows: self.rows.finish()?, details: self.details.freeze()?, counts })
    }
}

/// Holds the rejected rows, in document order.
pub struct Rejected {
    rows: Sorted,
    details: FrozenHeap,
    counts: [u64; RejectReason::ALL.len()],
}

impl Rejected {
    /// Saves the rejected rows to a checkpoint.
    pub fn save(&self, engine: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.plain(&self.counts)?;
        to.stream(|writer| {
            (0..self.rows.partitions())
                .try_for_each(|partition| writer.append(self.rows.load(partition, engine.budget.a_thread)?.bytes()))
        })?;
        to.heap(&self.details)
    }

    /// Restores the rejected rows from a checkpoint.
    pub fn restore(engine: &Engine<'_>, documents: u64, from: &mut CheckpointReader<'_>) -> Result<Rejected> {
        let counts = from.plain()?;
        let rows = engine.ordered(documents, "rejected", ROW, 8, 8, 0)?;
        let mut writer = rows.writer();
        from.bytes()?.chunks_exact(ROW).try_for_each(|row| writer.push(row))?;
        writer.flush()?;
        drop(writer);
        Ok(Rejected { rows: rows.finish()?, details: from.heap()?, counts })
    }

    /// Returns the counts by reason.
    pub fn report(&self) -> RejectionsReport {
        let mut report = RejectionsReport::default();
        RejectReason::ALL.into_iter().zip(self.counts).for_each(|(reason, rows)| report.add(reason, rows));
        report
    }

    /// Calls `each` with every rejected document, its reason and the detail.
    pub fn each(&self, engine: &Engine<'_>, mut each: impl FnMut(u64, RejectReason, &str) -> Result<()>) -> Result<()> {
        for partition in 0..self.rows.partitions() {
            let records = self.rows.load(partition, engine.budget.a_thread)?;
            for at in 0..records.len() {
                let record = records.record(at);
                let detail = self.details.get(number(&record[8..16]), number(&record[16..20]) as usize);
                let reason = RejectReason::of_code(record[20]).unwrap_or(RejectReason::BrokenRecord);
                each(number(&record[..8]), reason, &String::from_utf8_lossy(detail))?;
            }
        }
        Ok(())
    }
}
