//! The rows of an index that have a key of the night: gone through once, partition by partition.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use dupsift_core::doc::IndexDoc;
use dupsift_core::error::{Error, Result};
use dupsift_core::row::number;
use dupsift_engine::engine::threads::Engine;
use dupsift_engine::matching::meeting::Numbered;
use dupsift_index::{Groups, Index, Manifest, ROWS, meet};
use dupsift_spill::shuffle::run::{Run, buckets_of};
use dupsift_spill::shuffle::{Records, Sorted};

/// What one thread does with the documents of the index that have a key of the night.
pub trait Shared: Send {
    /// A row, whose key is the group of that number.
    ///
    /// # Errors
    /// A full disk.
    fn row(&mut self, group: usize, doc: IndexDoc, row: &[u8]) -> Result<()>;

    /// All groups of a partition have been, which are those of these rows of the night.
    ///
    /// # Errors
    /// A full disk.
    fn partition(&mut self, _night: &Records) -> Result<()> {
        Ok(())
    }

    /// There are no more.
    ///
    /// # Errors
    /// A full disk.
    fn end(self) -> Result<()>;
}

/// What is gone through.
pub struct Scan<'s> {
    /// What it works with.
    pub engine: &'s Engine<'s>,
    /// The index.
    pub index: &'s Index,
    /// What it consists of.
    pub manifest: &'s Manifest,
    /// How the documents of the night are numbered.
    pub numbered: Numbered,
    /// Bytes that were read.
    pub scanned: &'s AtomicU64,
}

impl Scan<'_> {
    /// Goes through the rows of that name that have a group of these keys.
    ///
    /// # Errors
    /// What is there is damaged; a full disk.
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
                            let why = format!("a row of {label} names document {doc} of {}", self.numbered.next_doc);
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

    /// The files of that name of all folders.
    ///
    /// # Errors
    /// One of them is damaged.
    pub fn runs(&self, name: &str, widths: (usize, usize)) -> Result<Vec<Run>> {
        let open = |folder: &str| {
            let path = self.index.folder(ROWS, folder).join(format!("{name}.run"));
            let run = Run::open(&path)?;
            if (run.width(), run.group_width()) == widths {
                return Ok(run);
            }
            let why = format!("it has rows of {} bytes; expected {}", run.width(), widths.0);
            Err(Error::Damaged { path, why })
        };
        self.manifest.rows.iter().map(|rows| open(&rows.folder)).collect()
    }
}
