//! Finds the runs that occur more than once in the kept documents.
//!
//! A row for each run would be a row for nearly each character that recurs. Instead, the runs of a block are compared together: identical
//! runs are in blocks with the same anchor, so if all blocks with an anchor have the same text, all their runs occur together. Otherwise,
//! for example at the ends of a passage, the runs of these blocks are compared one by one.

use std::ops::Range;
use std::sync::Arc;

use super::order::Order;
use super::recurring::{Anchors, KEPT_BYTES};
use super::rows::{BYTES_OF_A_ROW, Characters, HASH, Row, U48};
use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_core::hash::hash128;
use dupsift_core::unread;
use dupsift_input::{RowFilter, Want};
use dupsift_passages::{Anchor, Folded, Runs, runs, shared};
use dupsift_spill::shuffle::{AtomicBits, FrozenHeap, Heap, Records, Sorted, Writer};
use dupsift_tables::Cell;
use zerocopy::big_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Describes a block of runs. Blocks are grouped by anchor.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct BlockRow {
    anchor: U64,
    /// A hash of the text of all runs.
    content: U64,
    place: U48,
    position: U32,
    start: U32,
    runs: U32,
    /// The offset of the text in the heap.
    begin: U48,
}

/// The number of bytes in an anchor, and the size of the group of a row.
const ANCHOR: usize = 8;
/// The number of runs that are compared one by one in memory. More runs are sorted instead.
const IN_MEMORY: usize = 1 << 14;

/// Holds the blocks of runs whose anchors all recur.
pub(crate) struct Blocks {
    rows: Sorted,
    /// The folded texts of the blocks.
    texts: FrozenHeap,
    /// The number of characters in a run.
    length: u32,
}

impl Blocks {
    /// Reads the documents that may have recurring runs.
    ///
    /// # Errors
    /// Returns an error if a file is damaged, the disk is full, or the run is interrupted.
    pub(crate) fn read(session: &Session<'_>, order: &Order, known: Anchors, text_bytes: u64) -> Result<Blocks> {
        let name = "read runs";
        let running = session.engine.clock.stage(name);
        let rows = text_bytes / BYTES_OF_A_ROW;
        let shuffle = session.engine.shuffle("blocks", size_of::<BlockRow>(), ANCHOR, rows)?;
        let texts = Heap::new(session.engine.dir, "texts-of-blocks")?;
        let recurring = &known.recurring;
        let winnow = recurring.winnow;
        // Most documents have no recurring runs and need not be read a second time.
        let wanted = AtomicBits::new(session.engine.dir, "may-recur", session.documents() as usize)?;
        let may_recur = |doc: &u64| known.may_recur(order, *doc);
        (0..session.documents()).filter(may_recur).for_each(|doc| _ = wanted.set(doc as usize));
        let filter = Some(RowFilter::Where(Arc::new(move |doc| wanted.get(doc as usize))));
        let want = Want { rows: filter, ..order.want(session) };
        session.read(
            name,
            &want,
            || Ok((shuffle.writer(), Folded::default(), Vec::<Anchor>::new())),
            |(writer, folded, anchors), batch| {
                for row in 0..batch.len() {
                    let (doc, Cell::Text(text)) = (batch.doc(row), batch.text(row)) else { continue };
                    let (text, _) = unread::split(text);
                    let _long = session.engine.long_document(text.len())?;
                    folded.fold(text);
                    known.of(doc, anchors);
                    let (place, salt) = (U48::new(order.place(doc)), order.salt(doc) as u64);
                    let stretches = winnow.stretches(&folded.text, anchors, |hash| recurring.has(hash ^ salt));
                    let (mut of_folded, mut of_text) = (Characters::new(&folded.text), Characters::new(text));
                    // Stretches and their blocks are in ascending order.
                    for stretch in stretches {
                        let begin = texts.append(&folded.text.as_bytes()[stretch.clone()])?;
                        winnow.blocks(folded, anchors, stretch.clone(), |block| {
                            let row = BlockRow {
                                anchor: (block.anchor ^ salt).into(),
                                content: (hash128(&folded.text.as_bytes()[block.start..block.end]) as u64).into(),
                                place,
                                position: of_folded.before(block.start).into(),
                                start: of_text.before(folded.original(block.start)).into(),
                                runs: block.runs.into(),
                                begin: U48::new(begin + (block.start - stretch.start) as u64),
                            };
                            writer.push(row.as_bytes())
                        })?;
                    }
                    if text.len() > KEPT_BYTES {
                        (*folded, *anchors) = Default::default();
                    }
                }
                Ok(())
            },
            |(mut writer, ..)| writer.flush(),
        )?;
        let (rows, texts) = (shuffle.finish()?, texts.freeze()?);
        running.end(order.count(), rows.rows(), rows.spilled_bytes() + texts.bytes().len() as u64);
        Ok(Blocks { rows, texts, length: winnow.length() })
    }

    /// Returns the rows for the runs that occur more than once.
    ///
    /// # Errors
    /// Returns an error if the disk is full or the run is interrupted.
    pub(crate) fn compare(self, session: &Session<'_>) -> Result<Sorted> {
        let engine = session.engine;
        let running = engine.clock.stage("compare runs");
        let shuffle = engine.shuffle("runs", size_of::<Row>(), HASH, self.rows.rows())?;
        engine.work(
            self.rows.partitions(),
            || Ok((shuffle.writer(), Vec::new())),
            |(writer, hashes), partition| {
                engine.go_on()?;
                let records = self.rows.load(partition, engine.budget.a_thread)?;
                for group in records.groups().filter(|group| group.len() > 1) {
                    let content = |at: usize| records.row::<BlockRow>(at).content;
                    // The rows of a group are sorted by content.
                    if content(group.start) == content(group.end - 1) {
                        for row in group.map(|at| records.row::<BlockRow>(at)) {
                            let hash = u128::from(row.anchor.get()) << 64 | u128::from(row.content.get());
                            push(writer, row, hash, 0..row.runs.get())?;
                        }
                    } else if !self.push_shared(writer, &records, group.clone(), hashes)? {
                        for row in group.map(|at| records.row::<BlockRow>(at)) {
                            self.runs(row, |number, hash| push(writer, row, hash, number..number + 1))?;
                        }
                    }
                }
                self.rows.remove(partition)
            },
            |(mut writer, _)| writer.flush(),
        )?;
        let rows = shuffle.finish()?;
        running.end(self.rows.rows(), rows.rows(), rows.spilled_bytes());
        Ok(rows)
    }

    /// Compares the runs of blocks with the same anchor. Returns false, and pushes no row, if there are too many.
    fn push_shared(
        &self,
        writer: &mut Writer<'_>,
        records: &Records,
        group: Range<usize>,
        hashes: &mut Vec<u128>,
    ) -> Result<bool> {
        hashes.clear();
        let row = |at: usize| records.row::<BlockRow>(at);
        // The blocks with different contents, and the number of the first row of each.
        let (mut blocks, mut firsts, mut at) = (Vec::new(), Vec::new(), group.start);
        while at < group.end {
            let (first, from) = (row(at), hashes.len());
            if from + first.runs.get() as usize > IN_MEMORY {
                return Ok(false);
            }
            self.runs(first, |_, hash| Ok(hashes.push(hash)))?;
            let copies = (at..group.end).take_while(|&at| row(at).content == first.content).count();
            blocks.push(Runs { hashes: from..hashes.len(), copies });
            firsts.push(at);
            at += copies;
        }
        shared(hashes, &blocks, |number, share| {
            let Runs { hashes: of_block, copies } = &blocks[number];
            let runs = (share.start - of_block.start) as u32..(share.end - of_block.start) as u32;
            (firsts[number]..firsts[number] + copies)
                .try_for_each(|at| push(writer, row(at), hashes[share.start], runs.clone()))
        })?;
        Ok(true)
    }

    /// Calls `each` with the number and the hash of each run of a block. Equal runs have equal hashes, if their documents are compared.
    fn runs(&self, row: &BlockRow, mut each: impl FnMut(u32, u128) -> Result<()>) -> Result<()> {
        let bytes = &self.texts.bytes()[row.begin.get() as usize..];
        let characters = (row.runs.get() + self.length - 1) as usize;
        let starts = bytes.iter().enumerate().filter(|(_, byte)| **byte as i8 >= -0x40);
        let end = starts.map(|(at, _)| at).nth(characters).unwrap_or(bytes.len());
        let text = std::str::from_utf8(&bytes[..end]).unwrap_or_default();
        runs(text, 0..text.len(), self.length, |run| each(run.number, run.hash ^ u128::from(row.anchor.get())))
    }
}

/// Pushes a row for some of the runs of a block.
fn push(writer: &mut Writer<'_>, block: &BlockRow, hash: u128, runs: Range<u32>) -> Result<()> {
    let row = Row {
        hash: hash.to_be_bytes(),
        place: block.place,
        position: (block.position.get() + runs.start).into(),
        start: (block.start.get() + runs.start).into(),
        runs: (runs.end - runs.start).into(),
    };
    writer.push(row.as_bytes())
}
