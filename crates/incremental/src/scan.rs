//! Scans the rows of an index once, partition by partition, for keys that also occur in the batch.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use dupsift_core::doc::IndexDoc;
use dupsift_core::error::{Error, Result};
use dupsift_core::row::number;
use dupsift_engine::engine::threads::Engine;
use dupsift_engine::matching::meeting::Numbered;
use dupsift_index::{Groups, Index, Manifest, ROWS, Rows, meet};
use dupsift_spill::shuffle::run::{Run, buckets_of};
use dupsift_spill::shuffle::{Records, Sorted};

/// Processes indexed documents that share a key with the batch. Each thread has its own instance.
pub trait Shared: Send {
    /// Processes a row of `doc` whose key belongs to group number `group`.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    fn row(&mut self, group: usize, doc: IndexDoc, row: &[u8]) -> Result<()>;

    /// Finishes a partition after its last row; `_batch` holds the rows of the batch in that partition.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    fn partition(&mut self, _batch: &Records) -> Result<()> {
        Ok(())
    }

    /// Finishes the scan.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    fn end(self) -> Result<()>;
}

/// Holds everything that a scan requires.
pub struct Scan<'s> {
    /// The engine of the run.
    pub engine: &'s Engine<'s>,
    /// The index.
    pub index: &'s Index,
    /// The content of the index.
    pub manifest: &'s Manifest,
    /// The numbering of the batch's documents.
    pub numbered: Numbered,
    /// The number of bytes read so far.
    pub scanned: &'s AtomicU64,
}

impl Scan<'_> {
    /// Scans the rows that are stored under `label` and whose group is one of `keys`.
    ///
    /// # Errors
    /// Returns an error if the index is damaged or the disk is full.
    pub fn rows<T: Shared>(&self, label: &str, keys: &Sorted, begin: impl Fn() -> T + Sync) -> Result<()> {
        let (engine, manifest) = (self.engine, self.manifest);
        let (width, group_width) = keys.widths();
        let runs = self.runs(label, (width, group_width))?;
        let (partitions, doc_at) = (keys.partitions(), self.numbered.doc_at(width));
        engine.work(
            partitions,
            || Ok(begin()),
            |shared, partition| {
                engine.go_on()?;
                let records = keys.load(partition, engine.budget.a_thread)?;
                let groups = Groups::new(records.groups().map(|group| &records.record(group.start)[..group_width]));
                for run in &runs {
                    let bytes = meet(run, buckets_of(partition, partitions), &groups, |group, row| {
                        let doc = IndexDoc(number(&row[doc_at..]));
                        if doc >= self.numbered.next_doc {
                            let why = format!(
                                "a row of {label} refers to document {doc}, but there are only {} documents",
                                self.numbered.next_doc
                            );
                            return Err(Error::Damaged { path: self.index.dir().to_path_buf(), why });
                        }
                        if manifest.is_forgotten(doc) { Ok(()) } else { shared.row(group, doc, row) }
                    })?;
                    self.scanned.fetch_add(bytes, Relaxed);
                }
                shared.partition(&records)
            },
            Shared::end,
        )?;
        Ok(())
    }

    /// Opens the run named `name` in each row folder.
    ///
    /// # Errors
    /// Returns an error if one of these runs is damaged.
    pub fn runs(&self, name: &str, widths: (usize, usize)) -> Result<Vec<Run>> {
        let open = |rows: &Rows| {
            let run = rows.open(self.index.dir(), name)?;
            if (run.width(), run.group_width()) == widths {
                return Ok(run);
            }
            let path = self.index.folder(ROWS, &rows.folder).join(format!("{name}.run"));
            let why = format!("it has rows of {} bytes; expected {}", run.width(), widths.0);
            Err(Error::Damaged { path, why })
        };
        self.manifest.rows.iter().map(open).collect()
    }
}
