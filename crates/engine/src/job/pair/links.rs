//! Provides random access, by document, to a list of pairs.
//!
//! All data is stored and sorted in temporary files, because a document may form pairs with every other document and memory must not grow
//! with the number of partners.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use super::pair_list::PairList;
use crate::engine::numbers::Numbers;
use crate::engine::threads::Engine;
use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_core::row::{Pair, number};
use dupsift_spill::shuffle::run::Run;
use dupsift_spill::shuffle::{Mapped, Records, Sorted};
use dupsift_text::Heading;

/// Holds the partners of each document with their similarities, as arrays in temporary files.
pub struct Links {
    /// The position of each document's first link, and the position after the last document's links. This array is empty if there are no
    /// links.
    begins: Numbers,
    /// The linked documents, each with its similarity.
    links: Linked,
}

impl Links {
    /// Builds the links from the pairs that pass a filter, and from links that earlier runs found.
    pub fn new(
        session: &Session<'_>,
        (pairs, earlier): (&PairList, Option<&Sorted>),
        passes: impl Fn(&Pair) -> bool,
    ) -> Result<Links> {
        let most = 2 * pairs.rows() + earlier.map_or(0, Sorted::rows);
        // The array has two more entries than there are documents. While the links are filled in, entry d + 1 moves from the first link of
        // document d to the end of that document's links.
        let places = if most == 0 { 0 } else { session.documents() + 2 };
        let mut begins = Numbers::new(session.engine.dir, "link-begins", places as usize, most)?;
        let mut at = begins.slots();
        pairs.each(|pair| {
            for doc in [pair.a, pair.b].into_iter().filter(|_| passes(&pair)) {
                at.set(doc + 2, at.get(doc + 2) + 1);
            }
            session.engine.go_on()
        })?;
        each_link(session.engine, earlier, |doc, _, _| at.set(doc + 2, at.get(doc + 2) + 1))?;
        let mut count = 0;
        for place in 0..places {
            count += at.get(place);
            at.set(place, count);
        }
        // Partners that do not take part in this run have higher numbers than any document.
        let beyond = earlier.map_or(0, |_| session.number(session.base));
        let mut links = Linked::new(session.engine.dir, count as usize, session.documents() + beyond)?;
        pairs.each(|pair| {
            for (from, linked) in [(pair.a, pair.b), (pair.b, pair.a)].into_iter().filter(|_| passes(&pair)) {
                let place = at.get(from + 1);
                links.set(place as usize, linked, pair.score.similarity);
                at.set(from + 1, place + 1);
            }
            session.engine.go_on()
        })?;
        each_link(session.engine, earlier, |doc, linked, similarity| {
            let place = at.get(doc + 1);
            links.set(place as usize, linked, similarity);
            at.set(doc + 1, place + 1);
        })?;
        Ok(Links { begins, links })
    }

    /// Returns the range of a document's links.
    pub fn range(&self, doc: u64) -> Range<usize> {
        if self.links.is_empty() {
            return 0..0;
        }
        self.begins.get(doc) as usize..self.begins.get(doc + 1) as usize
    }

    /// Returns one link: the document and the similarity.
    #[inline]
    pub fn get(&self, at: usize) -> (u64, f32) {
        self.links.get(at)
    }

    /// Returns a document's links.
    pub fn of(&self, doc: u64) -> impl Iterator<Item = (u64, f32)> + '_ {
        self.range(doc).map(|at| self.get(at))
    }

    /// Sorts the links of each document.
    pub fn sort(&mut self, session: &Session<'_>, order: impl Fn(&(u64, f32), &(u64, f32)) -> Ordering) -> Result<()> {
        for doc in 0..session.documents() {
            let range = self.range(doc);
            if range.len() > 1 {
                session.engine.go_on()?;
                self.links.sort(range, &order);
            }
        }
        Ok(())
    }
}

/// Holds an array of documents with similarities in a temporary file. An entry consists of the document number and the bits of the
/// similarity. The number takes one word if the largest number fits in one word, and two words (lower word first) otherwise.
enum Linked {
    Narrow(Mapped<[u32; 2]>),
    Wide(Mapped<[u32; 3]>),
}

impl Linked {
    /// Creates an array with this many entries for document numbers up to `most`.
    fn new(dir: &Path, len: usize, most: u64) -> Result<Linked> {
        Ok(if most <= u32::MAX.into() {
            Linked::Narrow(Mapped::new(dir, "links", len)?)
        } else {
            Linked::Wide(Mapped::new(dir, "links", len)?)
        })
    }

    fn is_empty(&self) -> bool {
        match self {
            Linked::Narrow(links) => links.is_empty(),
            Linked::Wide(links) => links.is_empty(),
        }
    }

    fn set(&mut self, at: usize, doc: u64, similarity: f32) {
        match self {
            Linked::Narrow(links) => links[at] = [doc as u32, similarity.to_bits()],
            Linked::Wide(links) => links[at] = [doc as u32, (doc >> 32) as u32, similarity.to_bits()],
        }
    }

    #[inline]
    fn get(&self, at: usize) -> (u64, f32) {
        match self {
            Linked::Narrow(links) => narrow(&links[at]),
            Linked::Wide(links) => wide(&links[at]),
        }
    }

    fn sort(&mut self, range: Range<usize>, order: impl Fn(&(u64, f32), &(u64, f32)) -> Ordering) {
        match self {
            Linked::Narrow(links) => links[range].sort_unstable_by(|x, y| order(&narrow(x), &narrow(y))),
            Linked::Wide(links) => links[range].sort_unstable_by(|x, y| order(&wide(x), &wide(y))),
        }
    }
}

fn narrow(&[doc, similarity]: &[u32; 2]) -> (u64, f32) {
    (doc.into(), f32::from_bits(similarity))
}

fn wide(&[low, high, similarity]: &[u32; 3]) -> (u64, f32) {
    (u64::from(high) << 32 | u64::from(low), f32::from_bits(similarity))
}

/// Provides the results of earlier runs to a run that uses an index, and records results for later runs.
pub trait Earlier: Sync {
    /// Records the accepted pairs of an algorithm. Pairs of two indexed documents have already been recorded by the runs that found them.
    fn note(&self, session: &Session<'_>, label: &str, pairs: &PairList) -> Result<()>;

    /// Removes and returns the rows that [`Earlier::note`] recorded for an algorithm, for example to save them. [`Earlier::add_noted`] puts
    /// the rows back.
    fn take_noted(&self, label: &str) -> Option<Sorted>;

    /// Adds the rows that this process or an earlier process recorded for an algorithm.
    fn add_noted(&self, label: &str, rows: Sorted);

    /// Returns the pairs between participating indexed documents and other indexed documents, as link rows with the document numbers of
    /// this run. A partner that does not take part has a higher number than any document. Returns `None` if no indexed documents take part.
    /// If the text of an indexed document occurs in the batch, this run finds the document's pairs a second time.
    fn links(&self, session: &Session<'_>, label: &str) -> Result<Option<Sorted>>;

    /// Records first lines, each with a document of the batch.
    fn note_lines(&self, engine: &Engine<'_>, lines: &mut dyn Iterator<Item = (Heading, u64)>) -> Result<()>;

    /// Returns the first lines of indexed documents.
    fn lines(&self) -> Result<Vec<Run>>;

    /// Maps each first line in one partition to the number of indexed documents with this line. `records` holds the partition's records,
    /// the partition's number and the number of partitions.
    fn count_lines(&self, lines: &[Run], records: (&Records, usize, usize)) -> Result<HashMap<u64, u64>>;
}

/// The number of bytes in a link row: two document numbers and a similarity.
pub const LINK: usize = 20;

/// Returns the row for a link found by an earlier run.
pub fn row(doc: u64, partner: u64, similarity: f32) -> [u8; LINK] {
    let mut row = [0; LINK];
    row[..8].copy_from_slice(&doc.to_be_bytes());
    row[8..16].copy_from_slice(&partner.to_be_bytes());
    row[16..].copy_from_slice(&similarity.to_bits().to_be_bytes());
    row
}

/// Reads a document, its partner and their similarity from a row.
pub fn read(row: &[u8]) -> (u64, u64, f32) {
    (number(&row[..8]), number(&row[8..16]), f32::from_bits(number(&row[16..]) as u32))
}

/// Calls `each` with the contents of every row, in any order.
pub(crate) fn each_link(engine: &Engine<'_>, rows: Option<&Sorted>, mut each: impl FnMut(u64, u64, f32)) -> Result<()> {
    let Some(rows) = rows else { return Ok(()) };
    for partition in 0..rows.partitions() {
        engine.go_on()?;
        let records = rows.load(partition, engine.budget.a_thread)?;
        for at in 0..records.len() {
            let (doc, partner, similarity) = read(records.record(at));
            each(doc, partner, similarity);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_sorted_in_its_place_whatever_the_width() {
        let dir = tempfile::tempdir().expect("a folder");
        for most in [u64::from(u32::MAX), u64::from(u32::MAX) + 1] {
            let mut links = Linked::new(dir.path(), 6, most).expect("an array");
            assert!(!links.is_empty() && matches!(links, Linked::Narrow(_)) == (most < 1 << 32));
            let all = [(9, 0.9), (most, 0.25), (3, 0.5), (4, 0.75), (1, 0.5), (0, 0.1)];
            all.iter().enumerate().for_each(|(at, &(doc, similarity))| links.set(at, doc, similarity));
            links.sort(1..5, |x, y| y.1.total_cmp(&x.1).then(x.0.cmp(&y.0)));
            let sorted: Vec<(u64, f32)> = (0..6).map(|at| links.get(at)).collect();
            assert_eq!(sorted, [(9, 0.9), (4, 0.75), (1, 0.5), (3, 0.5), (most, 0.25), (0, 0.1)]);
        }
        assert!(Linked::new(dir.path(), 0, 5).expect("no array").is_empty());
    }
}
