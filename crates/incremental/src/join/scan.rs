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
pub(crate) trait Shared: Send {
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
pub(crate) struct Scan<'s> {
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
    pub(crate) fn rows<T: Shared>(&self, label: &str, keys: &Sorted, begin: impl Fn() -> T + Sync) -> Result<()> {
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
    pub(crate) fn runs(&self, name: &str, widths: (usize, usize)) -> Result<Vec<Run>> {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::{Mutex, PoisonError};

    use super::*;
    use crate::test_kit::{Bench, RowFile, index, numbered, random, row, sorted};
    use dupsift_core::row::{RowLayout, RowShape};

    const DOCS: u64 = 300;
    const KEYS: u64 = 60;
    /// The keys of the batch are the multiples of this number.
    const SHARED: u64 = 3;

    fn layout() -> RowLayout {
        RowLayout::new(RowShape::KEY64, numbered(0, 0).capacity())
    }

    fn widths() -> (usize, usize) {
        (layout().width(), layout().group_width())
    }

    /// The keys of an indexed document.
    fn keys_of(doc: u64) -> BTreeSet<u64> {
        (0..3).map(|place| random(1, 3 * doc + place, KEYS)).collect()
    }

    /// Collects the keys and documents of the rows that a scan finds. Checks that each row belongs to its group.
    struct Seen<'s> {
        rows: Vec<(usize, IndexDoc, Vec<u8>)>,
        found: &'s Mutex<Vec<(u64, u64)>>,
    }

    impl Shared for Seen<'_> {
        fn row(&mut self, group: usize, doc: IndexDoc, row: &[u8]) -> Result<()> {
            Ok(self.rows.push((group, doc, row.to_vec())))
        }

        fn partition(&mut self, batch: &Records) -> Result<()> {
            let groups: Vec<_> = batch.groups().collect();
            for (group, doc, bytes) in self.rows.drain(..) {
                let (row, of_batch) = (layout().decode(&bytes), layout().decode(batch.record(groups[group].start)));
                assert_eq!((row.doc, row.key), (doc.0, of_batch.key));
                self.found.lock().unwrap_or_else(PoisonError::into_inner).push((row.key as u64, row.doc));
            }
            Ok(())
        }

        fn end(self) -> Result<()> {
            Ok(())
        }
    }

    /// Scans an index for the keys of a batch.
    fn scanned(bench: &Bench, index: &Index) -> Result<Vec<(u64, u64)>> {
        let (engine, manifest) = (bench.engine(), index.manifest.as_ref().unwrap());
        // Two documents of the batch have each key.
        let rows = (0..KEYS).step_by(SHARED as usize).flat_map(|key| [(key, DOCS), (key, DOCS + 1)]);
        let rows: Vec<_> = rows.map(|(key, doc)| row(layout(), key.into(), 0, doc)).collect();
        let keys = sorted(&engine, widths(), &rows);
        let (scanned, found) = (AtomicU64::new(0), Mutex::default());
        let scan =
            Scan { engine: &engine, index, manifest, numbered: numbered(500, manifest.next_doc), scanned: &scanned };
        scan.rows("near", &keys, || Seen { rows: Vec::new(), found: &found })?;
        assert!(scanned.load(Relaxed) > 0);
        let mut found = found.into_inner().unwrap();
        found.sort_unstable();
        Ok(found)
    }

    fn rows_of(docs: impl Iterator<Item = u64>) -> RowFile {
        let keys = docs.flat_map(|doc| keys_of(doc).into_iter().map(move |key| (key, doc)));
        RowFile::new("near", widths(), keys.map(|(key, doc)| row(layout(), key.into(), 0, doc)).collect())
    }

    #[test]
    fn a_scan_finds_the_rows_of_all_folders_that_share_a_key_and_are_not_forgotten() {
        let bench = Bench::new();
        let folders = [0..100, 100..101, 101..DOCS].map(|docs| vec![rows_of(docs)]);
        let mut index = index(&bench.engine(), &bench.at("index"), DOCS, &folders);
        let expected = |is_forgotten: &dyn Fn(u64) -> bool| -> Vec<(u64, u64)> {
            let docs = (0..DOCS).filter(|doc| !is_forgotten(*doc));
            let mut rows: Vec<_> = docs.flat_map(|doc| keys_of(doc).into_iter().map(move |key| (key, doc))).collect();
            rows.retain(|(key, _)| key % SHARED == 0);
            rows.sort_unstable();
            rows
        };
        assert_eq!(scanned(&bench, &index).unwrap(), expected(&|_| false));
        index.manifest.as_mut().unwrap().forget(vec![[40, 90], [100, 101], [DOCS - 1, DOCS]]);
        let is_forgotten = |doc| (40..90).contains(&doc) || doc == 100 || doc == DOCS - 1;
        assert_eq!(scanned(&bench, &index).unwrap(), expected(&is_forgotten));
        index.manifest.as_mut().unwrap().forget(vec![[0, DOCS]]);
        assert!(scanned(&bench, &index).unwrap().is_empty());
    }

    #[test]
    fn a_row_of_a_document_that_does_not_exist_is_an_error() {
        let bench = Bench::new();
        for (at, last) in [DOCS, DOCS + 1, DOCS + 700].into_iter().enumerate() {
            let rows = vec![row(layout(), 0, 0, last)];
            let folders = [vec![rows_of(0..50)], vec![RowFile::new("near", widths(), rows)]];
            let index = index(&bench.engine(), &bench.at(&format!("index-{at}")), DOCS, &folders);
            let error = scanned(&bench, &index).unwrap_err();
            assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
            let said = format!("refers to document {last}, but there are only {DOCS} documents");
            assert!(error.to_string().contains(&said), "{error}");
        }
    }

    #[test]
    fn a_row_file_of_another_layout_is_an_error() {
        let bench = Bench::new();
        let wide = RowLayout::new(RowShape::KEY64, u64::MAX);
        let widths = (wide.width(), wide.group_width());
        let other = RowFile::new("near", widths, vec![row(wide, 0, 0, 1)]);
        let folders = [vec![rows_of(0..50)], vec![other]];
        let index = index(&bench.engine(), &bench.at("index"), DOCS, &folders);
        let error = scanned(&bench, &index).unwrap_err().to_string();
        assert!(error.contains("r-00000002") && error.contains("it has rows of 16 bytes; expected 12"), "{error}");
        // A folder without a file for the algorithm is also damaged.
        let bench = Bench::new();
        let other = RowFile::new("far", self::widths(), vec![row(layout(), 0, 0, 1)]);
        let index = crate::test_kit::index(&bench.engine(), &bench.at("index"), DOCS, &[vec![other]]);
        assert!(scanned(&bench, &index).is_err());
    }
}
