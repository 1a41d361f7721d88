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
pub(crate) struct Kept<'e> {
    index: &'e Index,
    numbered: Numbered,
    noted: Mutex<Vec<Noted>>,
    /// The amount of index row data that was read, in bytes.
    pub scanned: AtomicU64,
}

impl<'e> Kept<'e> {
    /// Creates a `Kept` for an index and a batch whose documents are numbered according to `numbered`.
    pub(crate) fn new(index: &'e Index, numbered: Numbered) -> Kept<'e> {
        Kept { index, numbered, noted: Mutex::default(), scanned: AtomicU64::new(0) }
    }

    /// Returns the rows that the batch adds.
    pub(crate) fn noted(&self) -> Vec<Noted> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_kit::{Bench, Near, RowFile, index, numbered, sorted};
    use dupsift_core::row::{Pair, RowShape, Score};
    use dupsift_engine::job::pair::group::occurrences;
    use dupsift_text::{Pipeline, TextOptions};

    const NEXT_DOC: u64 = 10;
    const BASE: u64 = 100;
    /// The indexed documents that take part. Their numbers in the run are 96 to 99.
    const INDEXED: [u64; 4] = [2, 5, 7, 9];

    fn rows_of(engine: &Engine<'_>, rows: &Sorted) -> Vec<(u64, u64, f32)> {
        let mut found = Vec::new();
        for partition in 0..rows.partitions() {
            let records = rows.load(partition, engine.budget.a_thread).unwrap();
            found.extend((0..records.len()).map(|at| read(records.record(at))));
        }
        found.sort_unstable_by_key(|&(doc, partner, _)| (doc, partner));
        found
    }

    #[test]
    fn the_pairs_of_new_documents_are_noted_in_both_directions_by_their_index_numbers() {
        let bench = Bench::new();
        let index = index(&bench.engine(), &bench.at("index"), NEXT_DOC, &[]);
        let numbered = numbered(BASE, NEXT_DOC);
        bench.session(numbered, 4, &INDEXED, |session| {
            let kept = Kept::new(&index, numbered);
            let bound = Near { shape: RowShape::KEY64, nearest: false }.bound();
            let (pairs, layout) = (occurrences(session, &bound).unwrap(), dupsift_core::row::PairLayout::new(104));
            let mut writer = pairs.writer();
            // A pair of indexed documents, of which the second one is the last before the batch, a pair with a new document, and a pair of
            // new documents.
            for (a, b, similarity) in [(96, 99, 0.5), (97, 100, 0.75), (99, 103, 0.25), (101, 102, 1.0)] {
                let mut row = Vec::new();
                layout.encode(&Pair::new(a, b, Score { similarity, distance: None }, 1), &mut row);
                writer.push(&row).unwrap();
            }
            writer.flush().unwrap();
            drop(writer);
            let pairs = PairList::merge(session.engine, "merge", &pairs.finish().unwrap(), layout).unwrap();
            kept.note(session, "near", &pairs).unwrap();
            assert!(kept.take_noted("far").is_none());
            let rows = kept.take_noted("near").unwrap();
            let expected = [(5, 10, 0.75), (9, 13, 0.25), (10, 5, 0.75), (11, 12, 1.0), (12, 11, 1.0), (13, 9, 0.25)];
            assert_eq!(rows_of(session.engine, &rows), expected);
            assert!(kept.take_noted("near").is_none(), "they are taken once");
            kept.add_noted("near", rows);
            let noted = kept.noted();
            assert_eq!((noted[0].name.as_str(), &noted[0].docs[..]), ("+pairs-near", &[0..8, 8..16][..]));
        });
    }

    #[test]
    fn earlier_pairs_of_participating_documents_are_linked_without_forgotten_and_copied_ones() {
        let bench = Bench::new();
        let folder = |links: &[(u64, u64)]| {
            let rows = links.iter().map(|&(doc, partner)| row(doc, partner, 0.5).to_vec()).collect();
            vec![RowFile::new("+pairs-near", (LINK, DOC), rows)]
        };
        // Document 3 is forgotten, document 4 does not take part, and the batch has a copy of document 7.
        let folders = [
            folder(&[(2, 5), (2, 3), (2, 7), (2, 4), (5, 2), (4, 2)]),
            folder(&[(9, 2), (2, 9), (7, 9), (9, 7), (3, 2)]),
        ];
        let mut index = index(&bench.engine(), &bench.at("index"), NEXT_DOC, &folders);
        index.manifest.as_mut().unwrap().forget(vec![[3, 4]]);
        let numbered = numbered(BASE, NEXT_DOC);
        bench.session(numbered, 4, &INDEXED, |session| {
            session.indexed.as_ref().unwrap().copy(98);
            let kept = Kept::new(&index, numbered);
            let links = kept.links(session, "near").unwrap().unwrap();
            // A partner that does not take part has a number after the last document of the run.
            let expected = [(96, 97, 0.5), (96, 99, 0.5), (96, 104 + 4, 0.5), (97, 96, 0.5), (99, 96, 0.5)];
            assert_eq!(rows_of(session.engine, &links), expected);
            let error = kept.links(session, "far").unwrap_err();
            assert!(kept.scanned.load(Relaxed) > 0 && error.to_string().contains("+pairs-far"), "{error}");
        });
        bench.session(numbered, 4, &[], |session| {
            assert!(Kept::new(&index, numbered).links(session, "near").unwrap().is_none());
        });
    }

    #[test]
    fn first_lines_are_counted_without_those_of_forgotten_documents() {
        let (bench, pipeline) = (Bench::new(), Pipeline::new(&TextOptions::default()).unwrap());
        let heading = |line: &str| Heading::of(&pipeline.analyse(&format!("{line}\nThe rest of it."))).unwrap();
        let (one, other, third) = (heading("Rates rise"), heading("Rates fall"), heading("No news"));
        let (engine, numbered) = (bench.engine(), numbered(BASE, NEXT_DOC));
        let width = headings::width(numbered.capacity());
        let of = |line, doc| headings::row(numbered.capacity(), line, doc)[..width].to_vec();
        let file = |rows| vec![RowFile::new(LINES, (width, headings::GROUP), rows)];
        let folders = [file(vec![of(one, 0), of(one, 3), of(other, 1)]), file(vec![of(one, 9), of(third, 8)])];
        let mut index = index(&engine, &bench.at("index"), NEXT_DOC, &folders);
        index.manifest.as_mut().unwrap().forget(vec![[3, 4], [1, 2]]);
        let kept = Kept::new(&index, numbered);
        let runs = kept.lines().unwrap();
        let rows = sorted(&engine, (width, headings::GROUP), &[of(one, 10), of(other, 11), of(one, 12)]);
        let mut counts = HashMap::new();
        for partition in 0..rows.partitions() {
            let records = rows.load(partition, engine.budget.a_thread).unwrap();
            counts.extend(kept.count_lines(&runs, (&records, partition, rows.partitions())).unwrap());
        }
        assert_eq!(counts, HashMap::from([(one.line(), 2)]));
        // The lines of this batch are recorded by index numbers.
        kept.note_lines(&engine, &mut [(one, BASE), (third, BASE + 2)].into_iter()).unwrap();
        let noted = kept.noted().pop().unwrap();
        assert_eq!((noted.name.as_str(), noted.docs.len()), (LINES, 1));
        assert_eq!(noted.docs[0], headings::GROUP..width);
        let mut docs = Vec::new();
        for partition in 0..noted.rows.partitions() {
            let records = noted.rows.load(partition, engine.budget.a_thread).unwrap();
            docs.extend((0..records.len()).map(|at| number(&records.record(at)[noted.docs[0].clone()])));
        }
        docs.sort_unstable();
        assert_eq!(docs, [10, 12]);
    }
}
