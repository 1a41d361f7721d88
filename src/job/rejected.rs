//! Rows that could not be used: counted, named and set aside, in memory that does not grow with them.

use super::classes::number;
use super::workers::Job;
use crate::batch::Documents;
use crate::error::{Error, Result};
use crate::shuffle::{FrozenHeap, Heap, Shuffle, Sorted, Writer};

/// Bytes of a row: document, where its reason begins, and how long it is.
const ROW: usize = 20;

/// Collects rejected rows from many threads.
pub struct Rejecter {
    rows: Shuffle,
    reasons: Heap,
}

impl Rejecter {
    /// An empty collection.
    pub fn new(job: &Job<'_>) -> Result<Rejecter> {
        Ok(Rejecter { rows: job.ordered("rejected", ROW, 8, 8, 0)?, reasons: Heap::new(job.dir, "reasons")? })
    }

    /// A writer for one thread.
    pub fn writer(&self) -> Writer<'_> {
        self.rows.writer()
    }

    /// Sets one row aside.
    ///
    /// # Errors
    /// Under `--strict`: the row itself.
    pub fn push(&self, job: &Job<'_>, writer: &mut Writer<'_>, batch: &Documents, row: usize, why: &str) -> Result<()> {
        let doc = batch.doc(row);
        if job.options.strict {
            let (file, row) = job.source.locate(doc);
            return Err(Error::BadRow { path: file.path.clone(), row, why: why.to_string() });
        }
        let begin = self.reasons.append(why.as_bytes())?;
        let mut record = [0; ROW];
        record[..8].copy_from_slice(&doc.to_be_bytes());
        record[8..16].copy_from_slice(&begin.to_be_bytes());
        record[16..].copy_from_slice(&(why.len() as u32).to_be_bytes());
        writer.push(&record)
    }

    /// Ends the collection.
    pub fn finish(self) -> Result<Rejected> {
        Ok(Rejected { rows: self.rows.finish()?, reasons: self.reasons.freeze()? })
    }
}

/// The rejected rows, in order of documents.
pub struct Rejected {
    rows: Sorted,
    reasons: FrozenHeap,
}

impl Rejected {
    /// How many.
    pub fn len(&self) -> u64 {
        self.rows.rows()
    }

    /// Each document with its reason.
    pub fn each(&self, job: &Job<'_>, mut each: impl FnMut(u64, &str) -> Result<()>) -> Result<()> {
        for partition in 0..self.rows.partitions() {
            let records = self.rows.load(partition, job.budget.a_thread)?;
            for at in 0..records.len() {
                let record = records.record(at);
                let reason = self.reasons.get(number(&record[8..16]), number(&record[16..]) as usize);
                each(number(&record[..8]), &String::from_utf8_lossy(reason))?;
            }
        }
        Ok(())
    }
}
