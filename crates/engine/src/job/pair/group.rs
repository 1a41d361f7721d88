//! Groups rows by key, using `steps/group.rs`. Each thread processes one partition at a time.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::across::Across;
use super::new_documents::NewDocuments;
use super::pair_list::PairList;
use crate::classes::{Classes, Link};
use crate::engine::scratch::WorkScratch;
use crate::engine::threads::UNKNOWN;
use crate::job::read::sign::SignedRows;
use crate::session::Session;
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_algorithms::steps::clusters;
use dupsift_algorithms::steps::group::{Compared, Equal, EqualKeys, Windows, folds, link_copies};
use dupsift_core::error::Result;
use dupsift_core::hash::{combine, mix64};
use dupsift_core::row::{Docs, Pair, PairLayout, Pairs, Related, RowLayout, RowShape, Score, Sketches, Window};
use dupsift_spill::shuffle::{AtomicBits, Shuffle, Sorted, Writer};

/// Holds the result of grouping for one algorithm.
pub struct Grouped {
    /// The algorithm's own classes, which include the exact copies, if equal keys are duplicates.
    pub classes: Option<Classes>,
    /// The pairs of class representatives, or candidate pairs if verification follows. A pair may occur several times.
    pub pairs: Sorted,
    /// The layout of the pairs.
    pub layout: PairLayout,
    /// The number of comparisons made, and the number of comparisons skipped.
    pub comparisons: Compared,
    /// The number of bytes spilled to disk.
    pub spilled_bytes: u64,
}

/// Groups the rows of one algorithm. If verification follows, `met` records the documents in candidate pairs.
pub fn group(
    session: &Session<'_>,
    bound: &Bound<'_>,
    signed: &SignedRows,
    copies: &Classes,
    met: Option<&AtomicBits>,
) -> Result<Grouped> {
    let running = session.engine.clock.stage(format!("group {}", bound.label));
    let layout = PairLayout::new(session.documents());
    let pairs = occurrences(session, bound)?;
    let probe_layout = bound.probe_layout(session.documents());

    let first = &signed.rows;
    let mut spilled = first.spilled_bytes();
    let (classes, counts) = if folds(bound) {
        let Folding { equal, joined, probes } = Folding::new(session, bound, first.rows())?;
        fold(session, bound, signed, copies, (&equal, &joined), probes.as_ref())?;
        let (classes, of_links) = classes(session, bound, copies, equal, &joined)?;
        spilled += of_links;
        let counts = match (probes, probe_layout) {
            (Some(probes), Some(layout)) => {
                let probes = probes.finish()?;
                // These rows come from representatives only, so there are no copies to exclude.
                let new = NewDocuments::new(session, classes.as_ref())?;
                let counts = compare(session, bound, &probes, layout, None, None, &pairs, met, &new)?;
                spilled += probes.spilled_bytes();
                counts
            }
            _ => Compared::default(),
        };
        (classes, counts)
    } else {
        let sketches = signed.sketches.as_ref().map(|sketches| sketches as &(dyn Sketches + Sync));
        let new = NewDocuments::new(session, None)?;
        (None, compare(session, bound, first, signed.layout, Some(copies), sketches, &pairs, met, &new)?)
    };
    let pairs = pairs.finish()?;
    spilled += pairs.spilled_bytes();
    running.end(first.rows(), pairs.rows(), spilled);
    Ok(Grouped { classes, pairs, layout, comparisons: counts, spilled_bytes: spilled })
}

/// Collects the results of folding groups of equal keys.
pub struct Folding {
    /// The links between the documents of each class.
    pub equal: Shuffle,
    /// The documents that have a link.
    pub joined: AtomicBits,
    /// The second-round rows, if the algorithm emits any.
    pub probes: Option<Shuffle>,
}

impl Folding {
    /// Creates the destinations for the results of an algorithm with this many rows.
    pub fn new(session: &Session<'_>, bound: &Bound<'_>, rows: u64) -> Result<Folding> {
        let tables = bound.scheme.probe_shape().map_or(1, |shape| u64::from(shape.positions));
        let name = format!("{}-probes", bound.label);
        let probes =
            |layout: RowLayout| session.engine.shuffle(&name, layout.width(), layout.group_width(), rows * tables);
        let bits = if bound.equal_keys_are_pairs() { session.documents() as usize } else { 0 };
        Ok(Folding {
            equal: Link::new(session).shuffle(session, &format!("{}-equal", bound.label), session.documents())?,
            joined: AtomicBits::new(session.engine.dir, "joined", bits)?,
            probes: bound.probe_layout(session.documents()).map(probes).transpose()?,
        })
    }
}

/// Returns the classes of an algorithm for which any two documents with the same key form a pair. The classes are built from the links of
/// all groups. `joined` marks the documents that have a link. Also returns the number of bytes spilled to disk.
pub fn classes(
    session: &Session<'_>,
    bound: &Bound<'_>,
    copies: &Classes,
    equal: Shuffle,
    joined: &AtomicBits,
) -> Result<(Option<Classes>, u64)> {
    if !bound.equal_keys_are_pairs() {
        return Ok((None, equal.finish()?.spilled_bytes()));
    }
    let (link, mut writer) = (Link::new(session), equal.writer());
    // The classes of copies are already in order.
    for class in copies.of(0..session.documents()) {
        session.engine.go_on()?;
        link_copies(class, |doc| joined.get(doc as usize), |first, doc| link.push(&mut writer, first, doc))?;
    }
    writer.flush()?;
    drop(writer);
    let equal = equal.finish()?;
    Ok((Some(Classes::build(session, &bound.label, &equal)?), equal.spilled_bytes()))
}

/// Turns groups of equal keys into second-round rows and, unless each pair must be verified, into classes.
pub fn fold(
    session: &Session<'_>,
    bound: &Bound<'_>,
    signed: &SignedRows,
    copies: &Classes,
    (equal, joined): (&Shuffle, &AtomicBits),
    probes: Option<&Shuffle>,
) -> Result<()> {
    let (link, new) = (Link::new(session), NewDocuments::new(session, None)?);
    let bar = session.engine.bar(&format!("group {}", bound.label), signed.rows.partitions());
    session.engine.work(
        signed.rows.partitions(),
        || {
            let out = EqualRows { link, joined, equal: equal.writer(), probes: probes.map(Shuffle::writer) };
            Ok((out, EqualKeys::new(bound, session.documents(), copies)))
        },
        |(out, keys), partition| {
            let records = signed.rows.load(partition, session.engine.budget.a_thread)?;
            let width = records.width();
            for group in records.groups() {
                session.engine.go_on()?;
                let rows = &records.bytes()[group.start * width..group.end * width];
                // Only one document of each class has second-round rows, and the other documents are found through this document.
                let links = bound.scheme.probe_shape().is_some() || new.is_in(signed.layout, rows);
                keys.group(rows, links, out)?;
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
    Ok(())
}

/// Compares the rows assigned to one of several processes. The rows are signature rows, or second-round rows if `copies` is `None`.
pub fn compare_part(
    session: &Session<'_>,
    bound: &Bound<'_>,
    (rows, layout): (&Sorted, RowLayout),
    copies: Option<&Classes>,
    sketches: Option<&(dyn Sketches + Sync)>,
) -> Result<(Sorted, Compared)> {
    let pairs = occurrences(session, bound)?;
    let new = NewDocuments::new(session, None)?;
    let counts = compare(session, bound, rows, layout, copies, sketches, &pairs, None, &new)?;
    Ok((pairs.finish()?, counts))
}

/// Returns a shuffle for candidate pairs, in document order.
pub fn occurrences(session: &Session<'_>, bound: &Bound<'_>) -> Result<Shuffle> {
    let layout = PairLayout::new(session.documents());
    let (name, half) = (format!("{}-pairs", bound.label), layout.group_width() / 2);
    session.engine.ordered(session.documents(), &name, layout.width(), layout.group_width(), half, UNKNOWN)
}

/// Holds the destinations to which one thread writes its results for groups of equal keys.
struct EqualRows<'w> {
    link: Link,
    /// The documents that have a link.
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

/// The minimum number of rows in a window that is looked up among earlier windows; see [`Met`].
const LARGE_WINDOW: usize = 1000;

/// Records the large windows that have already been compared. A window is identified by a hash of its documents. Slightly different copies
/// of a document can share all bands of `minhash`. If the result of a comparison depends only on the documents, every band yields the same
/// pairs.
struct Met {
    seen: Mutex<HashSet<u128>>,
    asked: bool,
}

impl Met {
    fn new(bound: &Bound<'_>, shape: RowShape) -> Met {
        // Algorithms with sketches also have several keys per document.
        let several = shape.positions > 1 || bound.scheme.sketch_words > 0;
        // The order of the documents in a window determines which rows are close to each other, and the hash of a window depends on this
        // order.
        let documents_alone = several && (!shape.ordered || bound.scheme.nearest) && shape.sketch == 0;
        // Verification replaces the algorithm's score with the similarity of the texts.
        let asked = documents_alone && bound.scheme.rules.len() == 1 && bound.verify().is_some();
        Met { seen: Mutex::default(), asked }
    }

    /// Returns whether an earlier window had the same documents and a key of the same rule.
    fn again(&self, window: &Window<'_>, rule: u64) -> bool {
        if !self.asked || window.len() < LARGE_WINDOW {
            return false;
        }
        let documents = (0..window.len()).map(|at| window.row(at).doc);
        // The hash has two 64-bit halves, so it is as reliable as the hash by which exact copies are found.
        let (low, high) =
            documents.fold((rule, mix64(rule + 1)), |(low, high), doc| (combine(low, doc), combine(high, mix64(doc))));
        let hash = u128::from(high) << 64 | u128::from(low);
        !self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(hash)
    }
}

/// Compares the rows of each key according to the algorithm.
fn compare(
    session: &Session<'_>,
    bound: &Bound<'_>,
    rows: &Sorted,
    layout: RowLayout,
    copies: Option<&Classes>,
    sketches: Option<&(dyn Sketches + Sync)>,
    pairs: &Shuffle,
    met: Option<&AtomicBits>,
    new: &NewDocuments<'_>,
) -> Result<Compared> {
    let pair_layout = PairLayout::new(session.documents());
    let large = Met::new(bound, layout.shape());
    let bar = session.engine.bar(&format!("compare {}", bound.label), rows.partitions());
    let counts = session.engine.work(
        rows.partitions(),
        || Ok((pairs.writer(), Vec::new(), WorkScratch::new(session.engine.dir), Compared::default())),
        |(writer, record, scratch, counts), partition| {
            let records = rows.load(partition, session.engine.budget.a_thread)?;
            let width = records.width();
            let mut failed = None;
            let mut sink = |pair: Pair| {
                if failed.is_some() || !(new.is(pair.a) || new.is(pair.b)) {
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
            let out = Pairs::new(session.options.duplicates.max_candidates, &mut sink).with_sketches(sketches);
            let mut windows = Windows::new(&*bound.signer, layout, copies, out);
            let vectors = bound.signer.vectors();
            let rule_of = |window: &Window<'_>| vectors.map_or(0, |vectors| vectors.window_rule(window.row(0).key));
            for group in records.groups().filter(|group| group.len() > 1) {
                session.engine.go_on()?;
                let bytes = &records.bytes()[group.start * width..group.end * width];
                if !new.is_in(layout, bytes) {
                    continue;
                }
                windows.group(bytes, scratch, |window| large.again(window, rule_of(window)))?;
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

/// Holds the result of one algorithm: the classes of equal documents, and the pairs of class representatives.
pub struct Relation {
    /// The label of the algorithm, which is also the name of its output folder.
    pub label: String,
    /// The algorithm's own classes, or the exact copies. Exact copies also include documents without a signature.
    pub classes: Arc<Classes>,
    /// The pairs of class representatives.
    pub pairs: PairList,
    /// The scopes, if documents are compared across scopes.
    pub across: Option<Across>,
    /// The score of all pairs within a class.
    pub equal: Score,
    /// The relation of two equal documents, if the algorithm classifies pairs.
    pub same: Option<Related>,
}

impl Relation {
    /// Returns the documents in a representative's class, including the representative.
    pub fn members(&self, representative: u64) -> Docs<'_> {
        let members = self.classes.members(representative);
        if members.is_empty() { Docs::One(representative) } else { members }
    }

    /// Calls `each` with the pairs that form clusters, until an error occurs. Pairs of documents that merely share a template are skipped.
    pub fn each_joining(&self, mut each: impl FnMut(Pair) -> Result<()>) -> Result<()> {
        self.pairs.each(|pair| if pair.is_template() { Ok(()) } else { each(pair) })
    }

    /// Returns the classes with at least two documents whose representatives are in a range of documents, ordered by representative.
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
    use dupsift_core::row::Row;

    #[test]
    fn a_large_window_comes_again_if_all_its_documents_do() {
        let layout = RowLayout::new(RowShape::KEY64, 1 << 20);
        let met = Met { seen: Mutex::default(), asked: true };
        let again = |met: &Met, key: u128, docs: &mut dyn Iterator<Item = u64>| {
            let mut bytes = Vec::new();
            docs.for_each(|doc| layout.encode(&Row { position: 0, key, order: 0, doc, sketch: &[] }, &mut bytes));
            met.again(&Window::new(layout, &bytes), u64::from(key > 9))
        };
        let large = LARGE_WINDOW as u64;
        assert!(!again(&met, 1, &mut (0..large)));
        assert!(again(&met, 2, &mut (0..large)));
        // Keys above 9 belong to a different rule, which may find different pairs among the same documents.
        assert!(!again(&met, 10, &mut (0..large)));
        assert!(again(&met, 11, &mut (0..large)));
        // A window is different if it has an additional document at the end, lacks the first document, or has a different document at the
        // end or in the middle.
        assert!(!again(&met, 1, &mut (0..large + 1)));
        assert!(!again(&met, 1, &mut (1..large + 1)));
        assert!(!again(&met, 1, &mut (0..large - 1).chain([large])));
        assert!(!again(&met, 1, &mut (0..=large).filter(|&doc| doc != 500)));
        assert!(again(&met, 3, &mut (1..large + 1)));
        // Small windows are always compared. If the result does not depend only on the documents, all windows are compared.
        assert!((0..2).all(|_| !again(&met, 1, &mut (0..large - 1))));
        let never = Met { seen: Mutex::default(), asked: false };
        assert!((0..2).all(|_| !again(&never, 1, &mut (0..large))));
    }
}
