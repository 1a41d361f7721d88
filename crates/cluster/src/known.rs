//! Stores data about the complete corpus (copies, statistics and models), which tasks require before they read documents. The driver writes
//! this data to one file, which each process loads once.
//!
//! ```text
//! length of the head, head (JSON)      then rows: links of copies, terms of words, terms of features, models, places
//! ```

use std::fs::File;
use std::io::{BufReader, BufWriter, Read as _, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::opened::{Machine, Opened};
use dupsift_algorithms::corpus::{CorpusStats, TERM_WIDTH, TermTable, TermTableWriter, decode_term, encode_term};
use dupsift_core::error::{Error, Result};
use dupsift_core::row::LinkLayout;
use dupsift_core::safe_fs::private;
use dupsift_engine::classes::{Classes, Link};
use dupsift_engine::engine::threads::Engine;
use dupsift_engine::reading::parts::Bytes;
use dupsift_engine::session::Session;
use dupsift_spill::shuffle::AtomicCells;

/// The size of a document number and its bucket, in bytes.
const PLACE: usize = 12;
/// The number of rows that are read at a time.
const ROWS: usize = 4096;

/// Holds the data about the corpus that a task has loaded.
pub struct Known {
    /// The exact copies, if they are known.
    pub copies: Option<Classes>,
    /// The statistics; empty if nothing was counted.
    pub stats: CorpusStats,
    /// The model of each algorithm; empty for algorithms that do not learn.
    pub models: Vec<Vec<u64>>,
    places: Option<AtomicCells<u32>>,
}

/// Holds the data about the corpus that the driver writes.
#[derive(Clone, Copy)]
pub(crate) struct Facts<'f> {
    /// The exact copies, if they are known.
    pub copies: Option<&'f Classes>,
    /// The statistics.
    pub stats: &'f CorpusStats,
    /// The model of each algorithm; empty for algorithms that do not learn.
    pub models: &'f [Vec<u64>],
    /// The bucket of the component of each document in a candidate pair, plus one; 0 for all other documents.
    pub places: Option<&'f AtomicCells<u32>>,
}

#[derive(Default, Deserialize, Serialize)]
struct Head {
    copies: bool,
    links: u64,
    documents: u64,
    tokens: u64,
    snapshot: u64,
    words: u64,
    features: u64,
    models: Vec<u64>,
    places: u64,
}

/// Writes the data that tasks require.
///
/// # Errors
/// Returns an error if the disk is full.
pub(crate) fn write(path: &Path, session: &Session<'_>, facts: Facts<'_>) -> Result<()> {
    let Facts { copies, stats, models, places } = facts;
    let failed = || Error::io("write the temporary file", path);
    let documents = session.documents();
    let classes = || copies.into_iter().flat_map(|copies| copies.of(0..documents));
    let head = Head {
        copies: copies.is_some(),
        links: classes().map(|class| class.len() as u64).sum(),
        documents: stats.documents(),
        tokens: stats.tokens(),
        snapshot: stats.snapshot(),
        words: stats.words.len() as u64,
        features: stats.features.len() as u64,
        models: models.iter().map(|model| model.len() as u64).collect(),
        places: placed(places).count() as u64,
    };
    let head = serde_json::to_vec(&head).map_err(Error::table("write the saved data"))?;
    let mut file = BufWriter::new(private::create(path).map_err(failed())?);
    let mut put = |bytes: &[u8]| file.write_all(bytes).map_err(failed());
    put(&(head.len() as u64).to_le_bytes())?;
    put(&head)?;
    let layout = LinkLayout::new(documents);
    for class in classes() {
        let first = class.get(0);
        class.iter().try_for_each(|doc| put(&layout.encode(first, doc)[..layout.width()]))?;
    }
    for table in [&stats.words, &stats.features] {
        (0..table.len()).try_for_each(|at| put(&encode_term(table.entry(at))))?;
    }
    models.iter().try_for_each(|model| put(bytemuck::cast_slice(model)))?;
    placed(places).try_for_each(|(doc, place)| {
        put(&doc.to_le_bytes())?;
        put(&place.to_le_bytes())
    })?;
    file.flush().map_err(failed())
}

/// Returns the documents that have a bucket, with their buckets.
fn placed(places: Option<&AtomicCells<u32>>) -> impl Iterator<Item = (u64, u32)> + '_ {
    let all = places.into_iter().flat_map(|places| (0..places.len()).map(|doc| (doc as u64, places.load(doc))));
    all.filter(|(_, place)| *place > 0)
}

/// Reads the rows of a file in sequence.
struct RowsOf<'f> {
    file: BufReader<File>,
    path: &'f Path,
    /// The number of remaining bytes, which limits the size of any list.
    left: u64,
}

impl RowsOf<'_> {
    /// Checks that this many values of this width remain in the file, and returns their number.
    fn has(&self, values: u64, width: usize) -> Result<usize> {
        match values.checked_mul(width as u64) {
            Some(bytes) if bytes <= self.left => Ok(values as usize),
            _ => Err(Error::Damaged {
                path: self.path.to_path_buf(),
                why: format!("it declares {values} values of {width} bytes, but has {} bytes", self.left),
            }),
        }
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.left = self.left.saturating_sub(bytes.len() as u64);
        self.file.read_exact(bytes).map_err(Error::reading("read the saved data", self.path))
    }

    fn each(&mut self, rows: u64, width: usize, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let (mut rows, mut bytes) = (self.has(rows, width)?, vec![0; ROWS * width]);
        while rows > 0 {
            let now = rows.min(ROWS);
            self.fill(&mut bytes[..now * width])?;
            bytes[..now * width].chunks_exact(width).try_for_each(&mut each)?;
            rows -= now;
        }
        Ok(())
    }
}

impl Known {
    /// Returns an empty instance.
    pub fn none() -> Known {
        Known { copies: None, stats: CorpusStats::none(), models: Vec::new(), places: None }
    }

    /// Returns the bucket of the component of a document; `None` if the document is in no candidate pair that has to be verified.
    pub fn place(&self, doc: u64) -> Option<u32> {
        let places = self.places.as_ref().filter(|places| (doc as usize) < places.len())?;
        places.load(doc as usize).checked_sub(1)
    }

    /// Loads the file that `write` wrote, with temporary files in this folder.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or the disk is full.
    pub fn read(path: &Path, opened: &Opened, dir: &Path) -> Result<Known> {
        let machine = Machine::new(&opened.options)?;
        let engine = machine.engine(dir);
        let session = opened.session(&engine);
        let file = File::open(path).map_err(Error::reading("read the saved data", path))?;
        let left = file.metadata().map_err(Error::reading("read the saved data", path))?.len();
        let mut rows = RowsOf { file: BufReader::new(file), path, left };
        let mut length = [0; 8];
        rows.fill(&mut length)?;
        let mut head = vec![0; rows.has(u64::from_le_bytes(length), 1)?];
        rows.fill(&mut head)?;
        let head: Head = serde_json::from_slice(&head).map_err(Error::table("read the saved data"))?;
        let copies = copies(&session, &mut rows, head.links)?;
        let words = terms(&engine, "words", &mut rows, head.words)?;
        let features = terms(&engine, "features", &mut rows, head.features)?;
        let mut models = Vec::new();
        for length in head.models {
            let mut model = vec![0u64; rows.has(length, 8)?];
            rows.fill(bytemuck::cast_slice_mut(&mut model))?;
            models.push(model);
        }
        let stats = CorpusStats::new(head.documents, head.tokens, head.snapshot, words, features);
        let places = AtomicCells::new(dir, "places", if head.places > 0 { session.documents() as usize } else { 0 })?;
        rows.each(head.places, PLACE, |row| {
            let mut bytes = Bytes(row);
            let doc = bytes.long()?;
            let place = bytes.short()?;
            if doc as usize >= places.len() {
                let why = format!("it refers to document {doc}, but there are only {} documents", places.len());
                return Err(Error::Damaged { path: path.to_path_buf(), why });
            }
            Ok(places.store(doc as usize, place))
        })?;
        Ok(Known { copies: head.copies.then_some(copies), stats, models, places: Some(places) })
    }
}

fn copies(session: &Session<'_>, rows: &mut RowsOf<'_>, links: u64) -> Result<Classes> {
    let equal = Link::new(session).shuffle(session, "equal-texts", links)?;
    let mut writer = equal.writer();
    rows.each(links, LinkLayout::new(session.documents()).width(), |row| writer.push(row))?;
    writer.flush()?;
    drop(writer);
    Classes::build(session, "copies", &equal.finish()?)
}

fn terms(engine: &Engine<'_>, name: &str, rows: &mut RowsOf<'_>, count: u64) -> Result<TermTable> {
    if count == 0 {
        return Ok(TermTable::empty());
    }
    let mut writer = TermTableWriter::create(&engine.dir.join(format!("{name}.terms")))?;
    rows.each(count, TERM_WIDTH, |row| {
        let (term, df, cf) = decode_term(row);
        writer.push(term, df, cf)
    })?;
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_kit::{Bench, with_session};

    /// Writes the words and features of a test.
    fn table(dir: &Path, name: &str, terms: &[(u64, u64, u64)]) -> TermTable {
        let mut writer = TermTableWriter::create(&dir.join(format!("{name}.terms-of-test"))).unwrap();
        terms.iter().for_each(|&(term, df, cf)| writer.push(term, df, cf).unwrap());
        writer.finish().unwrap()
    }

    fn classes(session: &Session<'_>, links: &[(u64, u64)]) -> Classes {
        let link = Link::new(session);
        let shuffle = link.shuffle(session, "links-of-test", links.len() as u64).unwrap();
        let mut writer = shuffle.writer();
        links.iter().for_each(|&(first, doc)| link.push(&mut writer, first, doc).unwrap());
        writer.flush().unwrap();
        drop(writer);
        Classes::build(session, "classes-of-test", &shuffle.finish().unwrap()).unwrap()
    }

    #[test]
    fn a_task_loads_what_the_driver_wrote() {
        let (bench, words) = (Bench::new(), [(3, 2, 9), (4, 1, 1), (70, 5, 5)]);
        let (opened, dir, path) = (bench.in_tasks(&[("algorithms", "exact")]), bench.dir(), bench.at("known"));
        let (models, last) = ([vec![], vec![5, 6, u64::MAX]], Bench::ROWS - 1);
        with_session(&opened, dir.path(), |session| {
            let copies = classes(session, &[(1, 1), (1, 8), (1, last), (4, 4), (4, 5)]);
            let [words, features] =
                [("words", &words[..]), ("features", &words[..1])].map(|(name, terms)| table(dir.path(), name, terms));
            let stats = CorpusStats::new(88, 1_234, 77, words, features);
            let places = AtomicCells::new(dir.path(), "places-of-test", Bench::ROWS as usize).unwrap();
            [(0, 1), (8, 5), (last, 3)].iter().for_each(|&(doc, place)| places.store(doc as usize, place));
            let facts = Facts { copies: Some(&copies), stats: &stats, models: &models, places: Some(&places) };
            write(&path, session, facts).unwrap();
        });
        let known = Known::read(&path, &opened, dir.path()).unwrap();
        let copies = known.copies.as_ref().unwrap();
        let members = |doc| copies.members(doc).iter().collect::<Vec<_>>();
        assert_eq!((members(8), members(4), members(0)), (vec![1, 8, last], vec![4, 5], vec![]));
        assert_eq!((known.stats.documents(), known.stats.tokens(), known.stats.snapshot()), (88, 1_234, 77));
        let terms = |table: &TermTable| (0..table.len()).map(|at| table.entry(at)).collect::<Vec<_>>();
        assert_eq!((terms(&known.stats.words), terms(&known.stats.features)), (words.to_vec(), words[..1].to_vec()));
        assert_eq!(known.models, models);
        let places = [0, 1, 8, last, last + 1].map(|doc| known.place(doc));
        assert_eq!(places, [Some(0), None, Some(4), Some(2), None]);
        // A file that ends early is damaged, wherever it ends.
        let bytes = std::fs::read(&path).unwrap();
        for length in (0..bytes.len()).step_by(13) {
            std::fs::write(&path, &bytes[..length]).unwrap();
            assert!(Known::read(&path, &opened, dir.path()).is_err(), "{length} of {}", bytes.len());
        }
        // A list that is longer than the file.
        let said = |wrong: &[u8]| {
            std::fs::write(&path, wrong).unwrap();
            Known::read(&path, &opened, dir.path()).err().unwrap().to_string()
        };
        let (declared, longer) = (&br#""models":[0,3]"#[..], &br#""models":[0,9]"#[..]);
        let at = bytes.windows(declared.len()).position(|part| part == declared).unwrap();
        let error = said(&[&bytes[..at], longer, &bytes[at + longer.len()..]].concat());
        assert!(error.contains("it declares 9 values of 8 bytes, but has 60 bytes"), "{error}");
        // A place of a document that does not exist.
        let mut wrong = bytes.clone();
        let at = bytes.len() - PLACE;
        wrong[at..at + 8].copy_from_slice(&Bench::ROWS.to_le_bytes());
        let error = said(&wrong);
        assert!(error.contains("document 90, but there are only 90"), "{error}");
    }

    #[test]
    fn copies_that_are_unknown_are_not_the_same_as_no_copies() {
        let bench = Bench::new();
        let (opened, dir, path) = (bench.in_tasks(&[("algorithms", "exact")]), bench.dir(), bench.at("known"));
        let stats = CorpusStats::none();
        for is_known in [false, true] {
            with_session(&opened, dir.path(), |session| {
                let none = classes(session, &[]);
                let copies = is_known.then_some(&none);
                write(&path, session, Facts { copies, stats: &stats, models: &[], places: None }).unwrap();
            });
            let known = Known::read(&path, &opened, dir.path()).unwrap();
            assert_eq!((known.copies.is_some(), known.place(0)), (is_known, None));
        }
    }
}
