//! The third pass, first half: rows of equal keys become classes of equal documents, or candidate pairs.
//!
//! Three ways through, by what the method is:
//! * equal keys are duplicates and nothing is to be checked: groups become classes, at a cost of n;
//! * the same, but pairs reach further (a Hamming distance): each class sends second-round rows for its representative;
//! * all else: the rows of a key are compared by the method itself.
//!
//! Surplus copies, where they were not known before signing, are left out here; they come back when pairs are written.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::classes::{Classes, Link};
use super::pair_list::PairList;
use super::sign::SignedRows;
use super::workers::{Job, UNKNOWN};
use crate::error::Result;
use crate::hash::{combine, mix64};
use crate::row::{
    Docs, Pair, PairLayout, Pairs, Related, Row, RowLayout, RowShape, Score, Signatures, Sketches, Window,
};
use crate::shuffle::{AtomicBits, Mapped, Shuffle, Sorted, Writer};
use crate::stage::bound::Bound;

/// Bytes of a window without its surplus copies that may stand in memory; a larger one stands in a work file.
const SCRATCH: usize = 4 << 20;

/// What grouping found for one algorithm.
pub struct Grouped {
    /// Its own classes, where equal keys are duplicates; they hold the exact copies as well.
    pub classes: Option<Classes>,
    /// Pairs of representatives, candidates if a check on the texts follows; one pair may stand several times.
    pub pairs: Sorted,
    /// How pairs are laid out.
    pub layout: PairLayout,
    /// Comparisons made.
    pub compared: u64,
    /// Comparisons that `--max-candidates` left out.
    pub left_out: u64,
    /// Bytes that went to disk.
    pub spilled_bytes: u64,
}

/// Groups the rows of one algorithm; `met` takes the documents of candidate pairs, where a check on the texts follows.
pub fn group(
    job: &Job<'_>,
    bound: &Bound<'_>,
    signed: &SignedRows,
    copies: &Classes,
    met: Option<&AtomicBits>,
) -> Result<Grouped> {
    let running = job.clock.stage(format!("group {}", bound.label));
    let layout = PairLayout::new(job.documents());
    let pairs = job.ordered(
        &format!("{}-pairs", bound.label),
        layout.width(),
        layout.group_width(),
        layout.group_width() / 2,
        UNKNOWN,
    )?;
    let probe_layout = bound.signer.probe_shape().map(|shape| RowLayout::new(shape, job.documents()));

    let first = &signed.rows;
    let mut spilled = first.spilled_bytes();
    let (classes, counts) = if bound.equal_keys_are_pairs() || probe_layout.is_some() {
        let equal = Link::new(job).shuffle(job, &format!("{}-equal", bound.label), job.documents())?;
        let probes = match &probe_layout {
            Some(layout) => {
                let tables = bound.signer.probe_shape().map_or(1, |shape| u64::from(shape.positions));
                let rows = first.rows() * tables;
                Some(job.shuffle(&format!("{}-probes", bound.label), layout.width(), layout.group_width(), rows)?)
            }
            None => None,
        };
        fold(job, bound, signed, copies, &equal, probes.as_ref().zip(probe_layout))?;
        let equal = equal.finish()?;
        let classes =
            if bound.equal_keys_are_pairs() { Some(Classes::build(job, &bound.label, &equal)?) } else { None };
        spilled += equal.spilled_bytes();
        let counts = match (probes, probe_layout) {
            (Some(probes), Some(layout)) => {
                let probes = probes.finish()?;
                // The rows are of representatives already: nothing is left to leave out.
                let counts = compare(job, bound, &probes, layout, None, None, &pairs, met)?;
                spilled += probes.spilled_bytes();
                counts
            }
            _ => (0, 0),
        };
        (classes, counts)
    } else {
        let sketches = signed.sketches.as_ref().map(|sketches| sketches as &(dyn Sketches + Sync));
        (None, compare(job, bound, first, signed.layout, Some(copies), sketches, &pairs, met)?)
    };
    let pairs = pairs.finish()?;
    spilled += pairs.spilled_bytes();
    running.end(first.rows(), pairs.rows(), spilled);
    Ok(Grouped { classes, pairs, layout, compared: counts.0, left_out: counts.1, spilled_bytes: spilled })
}

/// Groups of equal keys become classes (unless a check on the texts has to see each pair), and second-round rows.
fn fold(
    job: &Job<'_>,
    bound: &Bound<'_>,
    signed: &SignedRows,
    copies: &Classes,
    equal: &Shuffle,
    probes: Option<(&Shuffle, RowLayout)>,
) -> Result<()> {
    let (collapse, link) = (bound.equal_keys_are_pairs(), Link::new(job));
    // Representatives whose class is more than their exact copies.
    let joined = AtomicBits::new(job.dir, "joined", if collapse { job.documents() as usize } else { 0 })?;
    let bar = job.bar(&format!("group {}", bound.label), signed.rows.partitions());
    job.work(
        signed.rows.partitions(),
        || Ok((equal.writer(), probes.map(|(probes, _)| probes.writer()), Signatures::default(), Vec::new())),
        |(equal, probe_writer, scratch, record), partition| {
            let records = signed.rows.load(partition, job.budget.a_thread)?;
            let width = records.width();
            for group in records.groups() {
                job.go_on()?;
                let window = Window::new(signed.layout, &records.bytes()[group.start * width..group.end * width]);
                // Most documents are alone with their key, and then no copy of another: nothing is looked up for them.
                let alone = window.len() == 1;
                let rows = (0..window.len()).map(|at| window.row(at));
                let mut representatives = rows.filter(|row| alone || !copies.is_surplus(row.doc));
                let Some(first) = representatives.next() else { continue };
                let mut probe = |row: &Row<'_>| -> Result<()> {
                    let (Some(writer), Some((_, layout))) = (probe_writer.as_mut(), probes) else { return Ok(()) };
                    scratch.clear();
                    bound.signer.probes(row, scratch);
                    scratch.rows(row.doc).try_for_each(|probe| {
                        record.clear();
                        layout.encode(&probe, record);
                        writer.push(record)
                    })
                };
                probe(&first)?;
                for row in representatives {
                    if !collapse {
                        probe(&row)?;
                        continue;
                    }
                    if joined.set(first.doc as usize) {
                        push_with_copies(link, equal, first.doc, first.doc, copies)?;
                    }
                    joined.set(row.doc as usize);
                    push_with_copies(link, equal, first.doc, row.doc, copies)?;
                }
            }
            signed.rows.remove(partition)?;
            bar.add(1);
            Ok(())
        },
        |(mut equal, probes, _, _)| {
            equal.flush()?;
            probes.map_or(Ok(()), |mut probes| probes.flush())
        },
    )?;
    if collapse {
        // The others' classes are their exact copies, which stand in order already.
        let mut writer = equal.writer();
        for class in copies.of(0..job.documents()) {
            job.go_on()?;
            let representative = class.get(0);
            if !joined.get(representative as usize) {
                class.iter().try_for_each(|doc| link.push(&mut writer, representative, doc))?;
            }
        }
        writer.flush()?;
    }
    Ok(())
}

fn push_with_copies(
    link: Link,
    writer: &mut Writer<'_>,
    representative: u64,
    doc: u64,
    copies: &Classes,
) -> Result<()> {
    let members = copies.members(doc);
    let members = if members.is_empty() { Docs::One(doc) } else { members };
    members.iter().try_for_each(|member| link.push(writer, representative, member))
}

/// Rows of a window whose documents are looked up among those of other windows, see [`Met`].
const LARGE_WINDOW: usize = 1000;

/// The large windows that were compared already, by a hash of their documents. Copies of one text with small differences
/// share all bands of `minhash`: where nothing but the documents can make a difference, each band finds the same pairs.
struct Met {
    seen: Mutex<HashSet<u128>>,
    asked: bool,
}

impl Met {
    fn new(bound: &Bound<'_>, shape: RowShape) -> Met {
        // Methods that keep sketches have several keys a document, too.
        let several = shape.positions > 1 || bound.signer.sketch_words() > 0;
        let documents_alone = several && !shape.ordered && shape.sketch == 0;
        // A check on the texts puts its similarity in the place of the method's score.
        let asked = documents_alone && bound.signer.rules().len() == 1 && bound.confirm().is_some();
        Met { seen: Mutex::default(), asked }
    }

    /// Whether a window with the same documents came before.
    fn again(&self, window: &Window<'_>) -> bool {
        if !self.asked || window.len() < LARGE_WINDOW {
            return false;
        }
        let documents = (0..window.len()).map(|at| window.row(at).doc);
        // Two halves of 64 bits each: as sure as the hash that tells texts apart.
        let (low, high) = documents.fold((0, 1), |(low, high), doc| (combine(low, doc), combine(high, mix64(doc))));
        let hash = u128::from(high) << 64 | u128::from(low);
        !self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(hash)
    }
}

/// The rows of each key are compared by the method; returns the comparisons made and left out.
fn compare(
    job: &Job<'_>,
    bound: &Bound<'_>,
    rows: &Sorted,
    layout: RowLayout,
    copies: Option<&Classes>,
    sketches: Option<&(dyn Sketches + Sync)>,
    pairs: &Shuffle,
    met: Option<&AtomicBits>,
) -> Result<(u64, u64)> {
    let pair_layout = PairLayout::new(job.documents());
    let large = Met::new(bound, layout.shape());
    let bar = job.bar(&format!("compare {}", bound.label), rows.partitions());
    let counts = job.work(
        rows.partitions(),
        || Ok((pairs.writer(), Vec::new(), (0, 0))),
        |(writer, record, counts), partition| {
            let records = rows.load(partition, job.budget.a_thread)?;
            let width = records.width();
            let mut failed = None;
            let mut sink = |pair: Pair| {
                if failed.is_some() {
                    return;
                }
                if let Some(met) = met {
                    met.set(pair.a as usize);
                    met.set(pair.b as usize);
                }
                record.clear();
                pair_layout.encode(&pair, record);
                failed = writer.push(record).err();
            };
            let sketches = sketches.map(|sketches| sketches as &dyn Sketches);
            let mut out = Pairs::new(job.options.max_candidates, &mut sink).with_sketches(sketches);
            for group in records.groups().filter(|group| group.len() > 1) {
                job.go_on()?;
                let bytes = &records.bytes()[group.start * width..group.end * width];
                without_surplus(job, layout, bytes, copies, |window| {
                    if window.len() > 1 && !large.again(&window) {
                        bound.signer.pairs(&window, &mut out);
                    }
                })?;
            }
            counts.0 += out.compared;
            counts.1 += out.left_out;
            if let Some(error) = failed {
                return Err(error);
            }
            rows.remove(partition)?;
            bar.add(1);
            Ok(())
        },
        |(mut writer, _, counts)| writer.flush().map(|()| counts),
    )?;
    Ok(counts.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1)))
}

/// Hands on the window without the rows of surplus copies, copied together where there are any.
fn without_surplus(
    job: &Job<'_>,
    layout: RowLayout,
    bytes: &[u8],
    copies: Option<&Classes>,
    then: impl FnOnce(Window<'_>),
) -> Result<()> {
    let whole = Window::new(layout, bytes);
    let Some(copies) = copies else {
        then(whole);
        return Ok(());
    };
    let width = layout.width();
    let stays = |row: &[u8]| !copies.is_surplus(layout.decode(row).doc);
    let kept = bytes.chunks_exact(width).filter(|row| stays(row)).count() * width;
    if kept == bytes.len() {
        then(whole);
    } else if kept <= SCRATCH {
        let rows: Vec<u8> = bytes.chunks_exact(width).filter(|row| stays(row)).flatten().copied().collect();
        then(Window::new(layout, &rows));
    } else {
        let mut rows: Mapped<u8> = Mapped::new(job.dir, "window", kept)?;
        for (to, from) in rows.chunks_exact_mut(width).zip(bytes.chunks_exact(width).filter(|row| stays(row))) {
            to.copy_from_slice(from);
        }
        then(Window::new(layout, &rows));
    }
    Ok(())
}

/// What one algorithm says of the corpus: classes of equal documents, and pairs of their representatives.
pub struct Relation {
    /// The name of its output folder.
    pub label: String,
    /// The classes: its own, or the exact copies. The latter are classes without any signature, too.
    pub classes: Arc<Classes>,
    /// Pairs of representatives.
    pub pairs: PairList,
    /// The score that all pairs of a class have.
    pub equal: Score,
    /// What a pair of equal documents is, where the method tells.
    pub same: Option<Related>,
}

impl Relation {
    /// The documents of the class of a representative, itself included.
    pub fn members(&self, representative: u64) -> Docs<'_> {
        let members = self.classes.members(representative);
        if members.is_empty() { Docs::One(representative) } else { members }
    }

    /// Hands on the pairs that make clusters, until an error: forms join nothing.
    pub fn each_joining(&self, mut each: impl FnMut(Pair) -> Result<()>) -> Result<()> {
        self.pairs.each(|pair| if pair.is_form() { Ok(()) } else { each(pair) })
    }

    /// The classes of two documents or more whose representatives are in a range of documents, in order of these.
    pub fn classes(&self, range: Range<u64>) -> impl Iterator<Item = Docs<'_>> {
        self.classes.of(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_window_comes_again_if_all_its_documents_do() {
        let layout = RowLayout::new(RowShape::KEY64, 1 << 20);
        let met = Met { seen: Mutex::default(), asked: true };
        let again = |met: &Met, key: u128, docs: &mut dyn Iterator<Item = u64>| {
            let mut bytes = Vec::new();
            docs.for_each(|doc| layout.encode(&Row { position: 0, key, order: 0, doc, sketch: &[] }, &mut bytes));
            met.again(&Window::new(layout, &bytes))
        };
        let large = LARGE_WINDOW as u64;
        assert!(!again(&met, 1, &mut (0..large)));
        assert!(again(&met, 2, &mut (0..large)));
        // One document more, one less at the front, one other at the end or in the middle: another window.
        assert!(!again(&met, 1, &mut (0..large + 1)));
        assert!(!again(&met, 1, &mut (1..large + 1)));
        assert!(!again(&met, 1, &mut (0..large - 1).chain([large])));
        assert!(!again(&met, 1, &mut (0..=large).filter(|&doc| doc != 500)));
        assert!(again(&met, 3, &mut (1..large + 1)));
        // Small ones are compared every time, and all where more than the documents counts.
        assert!((0..2).all(|_| !again(&met, 1, &mut (0..large - 1))));
        let never = Met { seen: Mutex::default(), asked: false };
        assert!((0..2).all(|_| !again(&never, 1, &mut (0..large))));
    }
}
