//! Records which passages are cut from each document.

use std::path::Path;
use std::sync::Arc;

use super::costliest::{Costliest, Costly};
use super::repeats::Repeats;
use crate::job::pair::classes::number;
use crate::job::write::removals::{self, Decided};
use crate::session::Session;
use dupsift_core::error::{Error, Result};
use dupsift_core::unread;
use dupsift_input::{RowFilter, Want};
use dupsift_passages::{Cut, Passage, Repeat, cut_out, cut_positions, passages, templates};
use dupsift_spill::shuffle::{AtomicBits, AtomicCells, FrozenHeap, Heap};
use dupsift_tables::{Cell, PassageFound};

/// The number of bytes in a saved passage.
const SAVED: usize = 32;
/// The number of bytes before a document's passages. These bytes hold the number of passages and the number of remaining characters.
const HEAD: usize = 8;

/// Holds all passages that are cut.
pub struct Cuts {
    /// The offset of each document's passages, plus one; 0 for a document without passages.
    begins: AtomicCells<u64>,
    heap: FrozenHeap,
    /// The documents that contain the first copy of a passage that is cut from another document.
    firsts: AtomicBits,
}

/// Holds the passages that are cut from one document.
#[derive(Clone, Copy)]
pub struct DocCuts<'c> {
    /// The number of characters that remain, or 0 if only white space remains.
    pub left: u32,
    saved: &'c [u8],
}

impl<'c> DocCuts<'c> {
    /// Returns the passages that are cut, in order.
    pub fn passages(self) -> impl Iterator<Item = Passage> + 'c {
        self.saved.chunks_exact(SAVED).map(|saved| {
            let short = |at: usize| number(&saved[at..at + 4]) as u32;
            Passage {
                start: short(0),
                end: short(4),
                start_byte: short(8),
                end_byte: short(12),
                copies: short(16),
                first_start: short(20),
                first_doc: number(&saved[24..]),
            }
        })
    }

    /// Returns the share of characters that are cut from a document with this many characters.
    pub fn share(self, characters: u32) -> f32 {
        let cut: u64 = self.passages().map(|one| u64::from(one.end - one.start)).sum();
        (cut as f64 / f64::from(characters.max(1))) as f32
    }

    /// Returns the text without the passages, or `None` if the text differs from the text that was read.
    pub fn cut_out(self, text: &str) -> Option<String> {
        let places = || self.passages().map(|one| (one.start_byte as usize, one.end_byte as usize));
        let is_there = |(start, end): (usize, usize)| text.get(start..end).is_some();
        places().all(is_there).then(|| cut_out(text, places()))
    }
}

impl Cuts {
    /// Returns whether anything is cut from a document.
    pub fn has(&self, doc: u64) -> bool {
        (doc as usize) < self.begins.len() && self.begins.load(doc as usize) != 0
    }

    /// Returns the passages that are cut from a document, or `None` if nothing is cut.
    pub fn of(&self, doc: u64) -> Option<DocCuts<'_>> {
        let begin = self.begins.load(doc as usize).checked_sub(1)?;
        let head = self.heap.get(begin, HEAD);
        let (count, left) = (number(&head[..4]) as usize, number(&head[4..]) as u32);
        Some(DocCuts { left, saved: self.heap.get(begin + HEAD as u64, count * SAVED) })
    }

    /// Returns the same cuts after setting the number of characters that remain in each document.
    fn measured(self, session: &Session<'_>) -> Result<Cuts> {
        let (name, engine, documents) = ("read cut documents", session.engine, self.begins.len());
        let running = engine.clock.stage(name);
        let wanted = AtomicBits::new(engine.dir, "cut-documents", documents)?;
        self.each(|doc, _| Ok(_ = wanted.set(doc as usize)))?;
        let count = wanted.count();
        let rows = Some(RowFilter::Where(Arc::new(move |doc| wanted.get(doc as usize))));
        let want = Want { rows, batch_bytes: engine.budget.batch, ..Want::default() };
        let begins = AtomicCells::new(engine.dir, "cuts-begin-measured", documents)?;
        let heap = Heap::new(engine.dir, "cuts-measured")?;
        session.read(
            name,
            &want,
            || Ok(Vec::new()),
            |bytes, batch| {
                for row in 0..batch.len() {
                    let (doc, Cell::Text(text)) = (batch.doc(row), batch.text(row)) else { continue };
                    let (text, _) = unread::split(text);
                    let Some(cuts) = self.of(doc) else { continue };
                    let left = cuts.cut_out(text).map_or(0, |left| characters_of(&left));
                    save(&cuts.passages().collect::<Vec<_>>(), left, bytes);
                    begins.store(doc as usize, heap.append(bytes)? + 1);
                }
                Ok(())
            },
            |_| Ok(()),
        )?;
        running.end(count, count, 0);
        Ok(Cuts { begins, heap: heap.freeze()?, firsts: self.firsts })
    }

    /// Calls `each` with every document from which something is cut, in order.
    ///
    /// # Errors
    /// Returns any error from `each`.
    pub fn each(&self, mut each: impl FnMut(u64, DocCuts<'_>) -> Result<()>) -> Result<()> {
        (0..self.begins.len() as u64).try_for_each(|doc| self.of(doc).map_or(Ok(()), |cuts| each(doc, cuts)))
    }

    /// Returns the documents that are removed because too little text remains: those with nothing left, and those with fewer characters than
    /// `min-chars-left`, except documents that keep the first copy of a passage. `compares` returns whether two documents are compared. A
    /// document in favor of which others were removed is kept if no document that is compared with them can take its place.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub fn emptied(
        &self,
        session: &Session<'_>,
        decided: &Decided,
        compares: &dyn Fn(u64, u64) -> bool,
    ) -> Result<Emptied> {
        let documents = AtomicBits::new(session.engine.dir, "emptied", self.begins.len())?;
        let cut = &session.options.cut;
        let keeps_first = |doc: u64| !cut.first && self.firsts.get(doc as usize);
        self.each(|doc, cuts| {
            if cuts.left == 0 || cuts.left < cut.min_left && !keeps_first(doc) {
                documents.set(doc as usize);
            }
            Ok(())
        })?;
        let mut emptied = Emptied::new(session.engine.dir, documents)?;
        emptied.choose(self, compares);
        let needed = AtomicBits::new(session.engine.dir, "needed", self.begins.len())?;
        removals::each(decided, session.engine.budget.a_thread, |doc, kept| {
            if emptied.has(kept) && !self.is_blank(kept) && emptied.instead_for(doc, kept, compares).is_none() {
                needed.set(kept as usize);
            }
            Ok(())
        })?;
        // The documents that stay may be kept instead of others.
        emptied.needed = needed;
        emptied.choose(self, compares);
        Ok(emptied)
    }

    /// Returns whether nothing remains of a document.
    fn is_blank(&self, doc: u64) -> bool {
        self.of(doc).is_some_and(|cuts| cuts.left == 0)
    }
}

/// Holds the documents that are removed because too little text remains.
pub struct Emptied {
    documents: AtomicBits,
    /// The documents that are kept, because no other document can take their place.
    needed: AtomicBits,
    /// The document that is kept instead of each document, plus one, and the one for documents that are not compared with it; 0 if there is
    /// none. Many documents may be removed in favor of one, so these are chosen once.
    instead: [AtomicCells<u64>; 2],
}

impl Emptied {
    fn new(dir: &Path, documents: AtomicBits) -> Result<Emptied> {
        let len = if documents.count() == 0 { 0 } else { documents.len() };
        let cells = |name| AtomicCells::new(dir, name, len);
        let instead = [cells("kept-instead")?, cells("kept-instead-elsewhere")?];
        Ok(Emptied { needed: AtomicBits::new(dir, "needed-none", documents.len())?, documents, instead })
    }

    /// Chooses the documents that are kept instead.
    fn choose(&self, cuts: &Cuts, compares: &dyn Fn(u64, u64) -> bool) {
        for doc in self.documents() {
            let first = self.largest(cuts, doc, |_| true);
            let second = first.and_then(|first| self.largest(cuts, doc, |other| compares(first, other)));
            for (cells, chosen) in self.instead.iter().zip([first, second]) {
                cells.store(doc as usize, chosen.map_or(0, |chosen| chosen + 1));
            }
        }
    }

    /// Returns the number of documents.
    pub fn count(&self) -> u64 {
        self.documents.count() - self.needed.count()
    }

    /// Returns whether a document is removed.
    pub fn has(&self, doc: u64) -> bool {
        let doc = doc as usize;
        doc < self.documents.len() && self.documents.get(doc) && !self.needed.get(doc)
    }

    /// Returns the document that is kept instead of an emptied one: the one that contains the first copy of the largest passage. Returns
    /// `None` if there is none, for example because the first copies are cut, too.
    pub fn instead(&self, doc: u64) -> Option<u64> {
        self.instead[0].load(doc as usize).checked_sub(1)
    }

    /// Works like [`Emptied::instead`], but chooses among the documents that are compared with `removed`, which was removed in favor of the
    /// emptied one. `compares` returns whether two documents have different scopes, or is always true.
    pub fn instead_for(&self, removed: u64, doc: u64, compares: &dyn Fn(u64, u64) -> bool) -> Option<u64> {
        let first = self.instead(doc)?;
        // If the scope of the removed document is that of the first choice, the second choice has another one.
        if compares(removed, first) { Some(first) } else { self.instead[1].load(doc as usize).checked_sub(1) }
    }

    /// Returns the document that contains the first copy of the largest passage, among the documents that `may_be` allows.
    fn largest(&self, cuts: &Cuts, doc: u64, may_be: impl Fn(u64) -> bool) -> Option<u64> {
        let kept = cuts.of(doc)?.passages().filter(|one| !self.has(one.first_doc) && may_be(one.first_doc));
        let largest = kept.reduce(|a, b| if b.end - b.start > a.end - a.start { b } else { a });
        largest.map(|one| one.first_doc)
    }

    /// Returns the documents in order.
    pub fn documents(&self) -> impl Iterator<Item = u64> + '_ {
        self.documents.iter().map(|doc| doc as u64).filter(|doc| self.has(*doc))
    }
}

/// Returns the passages that a finished run cut, according to its `passages/` table. The rows of this table are in document order. The
/// remaining characters are counted only if `measures` is set, because counting requires reading the documents.
///
/// # Errors
/// Returns any error from `rows`, or an error if a file is damaged, the disk is full, or the run is interrupted.
pub fn read_back(
    session: &Session<'_>,
    rows: impl Iterator<Item = Result<PassageFound>>,
    measures: bool,
) -> Result<Cuts> {
    let (engine, documents) = (session.engine, session.documents() as usize);
    let begins = AtomicCells::new(engine.dir, "cuts-begin", documents)?;
    let (heap, firsts) = (Heap::new(engine.dir, "cuts")?, AtomicBits::new(engine.dir, "first-copies", documents)?);
    let (mut found, mut bytes) = (Vec::new(), Vec::new());
    let mut store = |doc: u64, found: &mut Vec<Passage>| {
        if !found.is_empty() {
            save(found, 0, &mut bytes);
            begins.store(doc as usize, heap.append(&bytes)? + 1);
            found.clear();
        }
        Ok::<_, Error>(())
    };
    let mut last = 0;
    for row in rows {
        let row = row?;
        if row.doc != last {
            store(last, &mut found)?;
            last = row.doc;
        }
        let ([start, end], [start_byte, end_byte]) =
            (row.characters.map(|at| at as u32), row.bytes.map(|at| at as u32));
        let (copies, first_doc) = (row.copies as u32, row.first_doc.unwrap_or_default());
        found.push(Passage { start, end, start_byte, end_byte, copies, first_doc, first_start: 0 });
    }
    store(last, &mut found)?;
    let cuts = Cuts { begins, heap: heap.freeze()?, firsts };
    if measures { cuts.measured(session) } else { Ok(cuts) }
}

/// Holds the positions that are cut from each document: the numbers of units, or of characters in the folded text.
pub struct Covered {
    /// The offset of each document's ranges, plus one; 0 for a document from which nothing is cut.
    begins: AtomicCells<u64>,
    heap: FrozenHeap,
}

/// The number of bytes in a saved range of positions.
const RANGE: usize = 8;

impl Covered {
    /// Returns whether no part of a unit or run is cut from a document.
    pub fn is_whole(&self, doc: u64, position: u32, length: u32) -> bool {
        let Some(begin) = self.begins.load(doc as usize).checked_sub(1) else { return true };
        let count = number(self.heap.get(begin, 4)) as usize;
        let ranges = self.heap.get(begin + 4, count * RANGE).as_chunks::<RANGE>().0;
        // The first range that ends after the position.
        let next = ranges.partition_point(|range| number(&range[4..]) <= u64::from(position));
        ranges.get(next).is_none_or(|range| number(&range[..4]) >= u64::from(position) + u64::from(length))
    }

    /// Returns the positions that are cut if these repeats are. Only the ends of runs depend on the text.
    ///
    /// # Errors
    /// Returns an error if a file is damaged, the disk is full, or the run is interrupted.
    pub fn new(session: &Session<'_>, cut: Cut, repeats: &Repeats) -> Result<Covered> {
        let (name, engine, documents) = ("read first copies", session.engine, session.documents() as usize);
        let running = engine.clock.stage(name);
        let begins = AtomicCells::new(engine.dir, "covered-begin", documents)?;
        let heap = Heap::new(engine.dir, "covered")?;
        let add = |doc: u64, text: &str, of_document: &mut Vec<Repeat>, bytes: &mut Vec<u8>| {
            repeats.of(doc, of_document);
            let ranges = cut_positions(text, cut, session.options.cut.at, of_document);
            if ranges.is_empty() {
                return Ok(());
            }
            bytes.clear();
            bytes.extend_from_slice(&(ranges.len() as u32).to_be_bytes());
            for range in ranges {
                for at in [range.start, range.end] {
                    bytes.extend_from_slice(&(at as u32).to_be_bytes());
                }
            }
            begins.store(doc as usize, heap.append(bytes)? + 1);
            Ok::<_, Error>(())
        };
        let (wanted, count) = with_repeats(session, repeats)?;
        if cut.has_units() {
            let (mut of_document, mut bytes) = (Vec::new(), Vec::new());
            for doc in wanted.iter() {
                engine.go_on()?;
                add(doc as u64, "", &mut of_document, &mut bytes)?;
            }
        } else {
            session.read(
                name,
                &want(session, wanted),
                || Ok((Vec::new(), Vec::new())),
                |(of_document, bytes), batch| {
                    for row in 0..batch.len() {
                        let (doc, Cell::Text(text)) = (batch.doc(row), batch.text(row)) else { continue };
                        let (text, _) = unread::split(text);
                        let _long = engine.long_document(text.len())?;
                        add(doc, text, of_document, bytes)?;
                    }
                    Ok(())
                },
                |_| Ok(()),
            )?;
        }
        let heap = heap.freeze()?;
        running.end(count, heap.bytes().len() as u64 / RANGE as u64, heap.bytes().len() as u64);
        Ok(Covered { begins, heap })
    }
}

/// Returns the documents that have repeats, and their number.
fn with_repeats(session: &Session<'_>, repeats: &Repeats) -> Result<(Arc<AtomicBits>, u64)> {
    let documents = session.documents() as usize;
    let wanted = AtomicBits::new(session.engine.dir, "with-repeats", documents)?;
    (0..documents).filter(|&doc| repeats.has(doc as u64)).for_each(|doc| _ = wanted.set(doc));
    let count = wanted.count();
    Ok((Arc::new(wanted), count))
}

/// Returns the request for a pass over the text of these documents.
fn want(session: &Session<'_>, documents: Arc<AtomicBits>) -> Want {
    let rows = Some(RowFilter::Where(Arc::new(move |doc| documents.get(doc as usize))));
    Want { rows, batch_bytes: session.engine.budget.batch, ..Want::default() }
}

/// Reads the documents that contain repeats. Returns the passages that are cut from these documents, and the costliest passages.
///
/// # Errors
/// Returns an error if a file is damaged, the disk is full, or the run is interrupted.
pub fn find(session: &Session<'_>, cut: Cut, repeats: &Repeats) -> Result<(Cuts, Vec<Costly>)> {
    let (name, engine, documents) = ("read repeats", session.engine, session.documents() as usize);
    let running = engine.clock.stage(name);
    let begins = AtomicCells::new(engine.dir, "cuts-begin", documents)?;
    let (heap, firsts) = (Heap::new(engine.dir, "cuts")?, AtomicBits::new(engine.dir, "first-copies", documents)?);
    let (wanted, count) = with_repeats(session, repeats)?;
    let found = session.read(
        name,
        &want(session, wanted),
        || Ok((Vec::new(), Vec::new(), Costliest::default())),
        |(of_document, bytes, costliest), batch| {
            for row in 0..batch.len() {
                let (doc, Cell::Text(text)) = (batch.doc(row), batch.text(row)) else { continue };
                let (text, _) = unread::split(text);
                let _long = engine.long_document(text.len())?;
                repeats.of(doc, of_document);
                let found =
                    passages(text, cut, session.options.cut.at, of_document, |first| _ = firsts.set(first as usize));
                if found.is_empty() {
                    continue;
                }
                let places = found.iter().map(|one| (one.start_byte as usize, one.end_byte as usize));
                save(&found, characters_of(&cut_out(text, places)), bytes);
                begins.store(doc as usize, heap.append(bytes)? + 1);
                let copies = of_document.iter().map(|repeat| repeat.copies).max().unwrap_or(0);
                if costliest.may_take(text.len(), copies) {
                    templates(text, cut, of_document).iter().for_each(|one| costliest.add(doc, text, one));
                }
            }
            Ok(())
        },
        |(.., costliest)| Ok(costliest),
    )?;
    let heap = heap.freeze()?;
    running.end(count, heap.bytes().len() as u64 / SAVED as u64, heap.bytes().len() as u64);
    Ok((Cuts { begins, heap, firsts }, Costliest::of_all(found)))
}

/// Returns the number of characters in a text, or 0 if it consists of white space.
fn characters_of(text: &str) -> u32 {
    if text.trim_start().is_empty() { 0 } else { text.chars().count() as u32 }
}

fn save(found: &[Passage], left: u32, bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.extend_from_slice(&(found.len() as u32).to_be_bytes());
    bytes.extend_from_slice(&left.to_be_bytes());
    for one in found {
        for number in [one.start, one.end, one.start_byte, one.end_byte, one.copies, one.first_start] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes.extend_from_slice(&one.first_doc.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DOCUMENTS: usize = 8;

    fn passage(length: u32, first_doc: u64) -> Passage {
        Passage { start: 0, end: length, start_byte: 0, end_byte: length, copies: 2, first_start: 0, first_doc }
    }

    proptest! {
        /// The choice that is made once per document is that of a search for each removed document.
        #[test]
        fn the_document_kept_instead_has_the_largest_passage_among_those_compared(
            passages in proptest::collection::vec(
                proptest::collection::vec((1u32..5, 0..DOCUMENTS as u64), 0..6), DOCUMENTS),
            emptied in proptest::collection::vec(any::<bool>(), DOCUMENTS),
            scopes in proptest::option::of(proptest::collection::vec(0u8..3, DOCUMENTS)),
        ) {
            let folder = tempfile::tempdir().expect("a folder");
            let dir = folder.path();
            let begins = AtomicCells::new(dir, "begins", DOCUMENTS).expect("cells");
            let (heap, mut bytes) = (Heap::new(dir, "heap").expect("a heap"), Vec::new());
            for (doc, found) in passages.iter().enumerate().filter(|(_, found)| !found.is_empty()) {
                save(&found.iter().map(|(length, first)| passage(*length, *first)).collect::<Vec<_>>(), 0, &mut bytes);
                begins.store(doc, heap.append(&bytes).expect("saved") + 1);
            }
            let firsts = AtomicBits::new(dir, "firsts", DOCUMENTS).expect("bits");
            let cuts = Cuts { begins, heap: heap.freeze().expect("a heap"), firsts };
            let documents = AtomicBits::new(dir, "emptied", DOCUMENTS).expect("bits");
            (0..DOCUMENTS).filter(|doc| emptied[*doc]).for_each(|doc| _ = documents.set(doc));
            let compares = |a: u64, b: u64| {
                scopes.as_ref().is_none_or(|scopes| scopes[a as usize] != scopes[b as usize])
            };
            let all = Emptied::new(dir, documents).expect("cells");
            all.choose(&cuts, &compares);
            for doc in all.documents() {
                prop_assert_eq!(all.instead(doc), all.largest(&cuts, doc, |_| true));
                for removed in 0..DOCUMENTS as u64 {
                    let searched = all.largest(&cuts, doc, |first| compares(removed, first));
                    prop_assert_eq!(all.instead_for(removed, doc, &compares), searched);
                }
            }
        }
    }
}
