//! The third pass, first half: the rows of each key, a partition a thread, go through `stage/group.rs`.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::classes::{Classes, Link};
use super::pair_list::PairList;
use super::scratch::WorkScratch;
use super::sign::SignedRows;
use super::workers::{Job, UNKNOWN};
use crate::error::Result;
use crate::hash::{combine, mix64};
use crate::row::{Docs, Pair, PairLayout, Pairs, Related, RowLayout, RowShape, Score, Sketches, Window};
use crate::shuffle::{AtomicBits, Shuffle, Sorted, Writer};
use crate::stage::bound::Bound;
use crate::stage::clusters;
use crate::stage::group::{Compared, Equal, EqualKeys, Windows, folds, link_copies, probe_layout};

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
    let probe_layout = probe_layout(bound, job.documents());

    let first = &signed.rows;
    let mut spilled = first.spilled_bytes();
    let (classes, counts) = if folds(bound) {
        let equal = Link::new(job).shuffle(job, &format!("{}-equal", bound.label), job.documents())?;
        let probes = match &probe_layout {
            Some(layout) => {
                let tables = bound.signer.probe_shape().map_or(1, |shape| u64::from(shape.positions));
                let rows = first.rows() * tables;
                Some(job.shuffle(&format!("{}-probes", bound.label), layout.width(), layout.group_width(), rows)?)
            }
            None => None,
        };
        fold(job, bound, signed, copies, &equal, probes.as_ref())?;
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
            _ => Compared::default(),
        };
        (classes, counts)
    } else {
        let sketches = signed.sketches.as_ref().map(|sketches| sketches as &(dyn Sketches + Sync));
        (None, compare(job, bound, first, signed.layout, Some(copies), sketches, &pairs, met)?)
    };
    let pairs = pairs.finish()?;
    spilled += pairs.spilled_bytes();
    running.end(first.rows(), pairs.rows(), spilled);
    Ok(Grouped { classes, pairs, layout, compared: counts.made, left_out: counts.left_out, spilled_bytes: spilled })
}

/// Groups of equal keys become classes (unless a check on the texts has to see each pair), and second-round rows.
fn fold(
    job: &Job<'_>,
    bound: &Bound<'_>,
    signed: &SignedRows,
    copies: &Classes,
    equal: &Shuffle,
    probes: Option<&Shuffle>,
) -> Result<()> {
    let (collapse, link) = (bound.equal_keys_are_pairs(), Link::new(job));
    let joined = AtomicBits::new(job.dir, "joined", if collapse { job.documents() as usize } else { 0 })?;
    let bar = job.bar(&format!("group {}", bound.label), signed.rows.partitions());
    job.work(
        signed.rows.partitions(),
        || {
            let out = EqualRows { link, joined: &joined, equal: equal.writer(), probes: probes.map(Shuffle::writer) };
            Ok((out, EqualKeys::new(bound, job.documents(), copies)))
        },
        |(out, keys), partition| {
            let records = signed.rows.load(partition, job.budget.a_thread)?;
            let width = records.width();
            for group in records.groups() {
                job.go_on()?;
                keys.group(&records.bytes()[group.start * width..group.end * width], out)?;
            }
            signed.rows.remove(partition)?;
            bar.add(1);
            Ok(())
        },
        |(mut out, _)| {
            out.equal.flush()?;
            out.probes.map_or(Ok(()), |mut probes| probes.flush())
        },
    )?;
    if collapse {
        // Copies stand in order already.
        let mut writer = equal.writer();
        for class in copies.of(0..job.documents()) {
            job.go_on()?;
            link_copies(class, |doc| joined.get(doc as usize), |first, doc| link.push(&mut writer, first, doc))?;
        }
        writer.flush()?;
    }
    Ok(())
}

/// Where one thread writes what equal keys give.
struct EqualRows<'w> {
    link: Link,
    /// Documents that stand in a link.
    joined: &'w AtomicBits,
    equal: Writer<'w>,
    probes: Option<Writer<'w>>,
}

impl Equal for EqualRows<'_> {
    fn link(&mut self, representative: u64, doc: u64) -> Result<()> {
        self.joined.set(doc as usize);
        self.link.push(&mut self.equal, representative, doc)
    }

    fn probe(&mut self, row: &[u8]) -> Result<()> {
        self.probes.as_mut().map_or(Ok(()), |probes| probes.push(row))
    }
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

/// The rows of each key are compared by the method.
fn compare(
    job: &Job<'_>,
    bound: &Bound<'_>,
    rows: &Sorted,
    layout: RowLayout,
    copies: Option<&Classes>,
    sketches: Option<&(dyn Sketches + Sync)>,
    pairs: &Shuffle,
    met: Option<&AtomicBits>,
) -> Result<Compared> {
    let pair_layout = PairLayout::new(job.documents());
    let large = Met::new(bound, layout.shape());
    let bar = job.bar(&format!("compare {}", bound.label), rows.partitions());
    let counts = job.work(
        rows.partitions(),
        || Ok((pairs.writer(), Vec::new(), WorkScratch::new(job.dir), Compared::default())),
        |(writer, record, scratch, counts), partition| {
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
            let out = Pairs::new(job.options.max_candidates, &mut sink).with_sketches(sketches);
            let mut windows = Windows::new(&*bound.signer, layout, copies, out);
            for group in records.groups().filter(|group| group.len() > 1) {
                job.go_on()?;
                let bytes = &records.bytes()[group.start * width..group.end * width];
                windows.group(bytes, scratch, |window| large.again(window))?;
            }
            *counts = counts.plus(windows.finish());
            if let Some(error) = failed {
                return Err(error);
            }
            rows.remove(partition)?;
            bar.add(1);
            Ok(())
        },
        |(mut writer, _, _, counts)| writer.flush().map(|()| counts),
    )?;
    Ok(counts.into_iter().fold(Compared::default(), Compared::plus))
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

impl clusters::Classes for Relation {
    fn representative(&self, doc: u64) -> u64 {
        self.classes.representative(doc)
    }

    fn members(&self, representative: u64) -> Docs<'_> {
        Relation::members(self, representative)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Row;

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
