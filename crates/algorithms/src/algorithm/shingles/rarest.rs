//! Implements the exact join for sets that are contained in other sets. The rarest elements of the smaller set find the candidates.
//!
//! This is the prefix filter (Chaudhuri, Ganti, Kaushik 2006; Bayardo, Ma, Srikant 2007) for a measure that is not symmetric. The elements
//! of every document are sorted in the same order, rarest first. A set that contains a set of n elements may lack up to n - m of these
//! elements, where m is the threshold times n, rounded up. So a containing set must have at least one of the n - m + 1 rarest elements. A
//! set probes the index with these elements (its probing elements), and is indexed by all of its elements. The smaller set of a pair probes
//! the index; if both sets have the same size, the set of the earlier document probes it.
//!
//! Each probing element is the head of a group. The next rarest elements are dealt to the groups in turn, up to four per group. If at most
//! n - m elements are missing, at least one of the n - m + 1 groups is complete. So a set that contains the head of this group must also
//! contain its followers. Before the check, a bitmap of each document shows whether the followers may be present. The bitmap also shows
//! whether more than n - m elements are missing, because each missing bit stands for at least one missing element. The bitmap never rules
//! out a true match.
//!
//! ```text
//! a b c d e f g h i j, threshold 0.8: m 8, three groups        a d g j    b e h    c f i
//! a set without b and c holds a d g j; one with a and without d is no candidate
//! ```
//!
//! An element that occurs in a single document emits no row, and a window without a probing document costs nothing.
//!
//! Documents with the same template share most of their probing elements, and form a [crowd](super::crowds) in the window of each of
//! these elements. The documents of a crowd are compared only in a few windows: each document marks four of its probing elements that
//! many other documents contain. Documents with the same elements mark the same four elements.

use super::crowds::{Crowds, FIRST, Finding, NEAREST, WHOLE, own_key};
use crate::algorithm::contract::Params;
use crate::algorithm::kit::prefix::{Term, rare_first};
use dupsift_core::hash::mix64;
use dupsift_core::row::{Pair, Pairs, RowShape, Score, Signatures, Sketches, Window};

/// The number of words in a document's bitmap.
const WORDS: usize = 128;
/// The maximum number of elements that follow the head of a group.
const FOLLOWERS: usize = 4;
/// The number of bytes in the sketch of a row: the bits of the followers.
const SKETCH: usize = FOLLOWERS * 2;
/// The sketch of a row that does not probe.
const SILENT: [u16; FOLLOWERS] = [BITS; FOLLOWERS];
/// Stands for a missing follower in a smaller group.
const NONE: u16 = BITS - 1;
/// The mask of a follower's bit position in its two bytes.
const BITS: u16 = 0x3FFF;
/// A flag in the first follower: the document takes part in the comparisons of a crowd.
const MARK: u16 = 0x8000;
/// The number of elements that a document marks.
const MARKED: usize = 4;
/// The maximum number of documents whose bitmaps are in memory at the same time (1 MB), and the maximum number of documents that probe
/// them.
const BLOCK: usize = 1 << 10;
/// A document with at least this many similar documents is expected to become the head of a crowd.
const FOUND: usize = 16;
/// The number of documents that probe at the same time in a window that can have crowds.
const FEW: usize = 256;

/// The lowest threshold at which join=auto uses the rarest shingles. Below this threshold, most elements of a text would have to probe,
/// including common elements.
const LEAST_RAREST: f64 = 0.5;

/// Returns whether candidates are found by their rarest shingles.
pub(crate) fn by_rarest(params: &Params) -> bool {
    let join = params.word("join");
    let fits = params.word("measure") == "containment" && params.word("sketch") != "min_s" && !params.flag("seed_code");
    fits && (join == "rarest" || join == "auto" && params.real("threshold") >= LEAST_RAREST)
}

type Bitmap = [u64; WORDS];

/// Implements the join at a given threshold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RarestJoin {
    threshold: f64,
}

impl RarestJoin {
    /// Returns the join for sets that share at least this fraction of the smaller set.
    pub(crate) fn new(threshold: f64) -> RarestJoin {
        RarestJoin { threshold }
    }

    /// Returns the shape of the rows, which are ordered by the size of the set.
    pub(crate) fn shape(self) -> RowShape {
        RowShape { positions: 1, key_bits: 64, ordered: true, sketch: SKETCH }
    }

    /// Returns the number of words in a document's sketch.
    pub(crate) fn sketch_words(self) -> usize {
        WORDS
    }

    /// Returns the number of groups for a probing set of this size.
    fn groups(self, size: usize) -> usize {
        size + 1 - least(self.threshold, size)
    }

    /// Emits the rows and the bitmap of a nonempty set. Each element is given with its document frequency. An element with a document
    /// frequency of at most `own` occurs in no other text; `own` is 0 if nothing was counted.
    pub(crate) fn push(self, elements: &mut Vec<Term>, own: u64, out: &mut Signatures) {
        rare_first(elements);
        let (size, groups) = (elements.len(), self.groups(elements.len()));
        let order = u32::try_from(size).unwrap_or(u32::MAX);
        // The document marks elements that many documents contain, or any elements if nothing was counted.
        let mut marks: Vec<(bool, u64)> =
            elements[..groups.min(size)].iter().map(|term| (term.df <= WHOLE, mix64(term.hash))).collect();
        marks.sort_unstable();
        let last_mark = marks.get(MARKED.min(marks.len()) - 1).copied();
        let mut pushed = false;
        for (at, element) in elements.iter().enumerate() {
            // At least one row is needed, so that the document counts as signed.
            if element.df <= own && (pushed || at + 1 < size) {
                continue;
            }
            let mut followers = SILENT;
            if at < groups {
                let next = |which: usize| elements.get(at + (which + 1) * groups).map_or(NONE, |term| bit(term.hash));
                followers = std::array::from_fn(next);
                let is_marked = last_mark.is_some_and(|last| (element.df <= WHOLE, mix64(element.hash)) <= last);
                followers[0] |= if is_marked { MARK } else { 0 };
            }
            let mut sketch = [0; SKETCH];
            sketch.as_chunks_mut::<2>().0.iter_mut().zip(followers).for_each(|(to, bit)| *to = bit.to_le_bytes());
            out.push(0, element.hash.into(), order, &sketch);
            pushed = true;
        }
        let bitmap = out.document_sketch();
        bitmap.resize(WORDS, 0);
        elements.iter().for_each(|element| set(bitmap, bit(element.hash)));
    }

    /// Finds the candidates in a window. In crowds, only the nearest documents are compared. `out` limits the number of comparisons. If the
    /// limit may be exceeded, each probing document is compared with its share of the next larger documents, and the skipped comparisons
    /// are counted.
    pub(crate) fn pairs(self, window: &Window<'_>, out: &mut Pairs<'_>) {
        let rows = window.len();
        let asking: Vec<usize> = (0..rows).filter(|&at| followers(window.row(at).sketch).0 != SILENT).collect();
        let all: u64 = asking.iter().map(|at| (rows - at - 1) as u64).sum();
        if all == 0 {
            return;
        }
        let share =
            if all <= out.max_candidates { rows } else { (out.max_candidates / asking.len() as u64).max(1) as usize };
        let crowds = Crowds::new(rows);
        let (own, held) = (Bitmaps::default(), Bitmaps::default());
        let mut meeting = Meeting { join: self, window, share, crowds, compared: 0, left_out: 0, own, held, out };
        // Documents that are not yet in a crowd probe first, a few at a time. Then the documents of each crowd probe the documents outside
        // the crowd.
        let (mut next, mut later) = (0, Vec::new());
        let at_once = if meeting.crowds.is_open() { FEW } else { BLOCK };
        let mut list: Vec<usize> = Vec::with_capacity(BLOCK.min(rows));
        while next < asking.len() {
            list.clear();
            while next < asking.len() && list.len() < at_once {
                let to = if meeting.crowds.mask(asking[next]) == 0 { &mut list } else { &mut later };
                to.push(asking[next]);
                next += 1;
            }
            meeting.ask(&list, 0);
        }
        later.sort_by_key(|&at| (meeting.crowds.mask(at), at));
        let mut at = 0;
        while at < later.len() {
            let mask = meeting.crowds.mask(later[at]);
            let end = later[at..].iter().take(BLOCK).take_while(|place| meeting.crowds.mask(**place) == mask).count();
            meeting.ask(&later[at..at + end.max(1)], mask);
            at += end.max(1);
        }
        let (compared, left_out) = (meeting.compared, meeting.left_out);
        out.compared += compared;
        out.left_out += left_out;
        out.far += all.saturating_sub(compared + left_out);
    }
}

/// Holds the state of the comparisons in a window.
struct Meeting<'m, 'p, 'w> {
    join: RarestJoin,
    window: &'m Window<'w>,
    /// The maximum number of comparisons for a probing document that is not the head of a crowd.
    share: usize,
    crowds: Crowds,
    compared: u64,
    left_out: u64,
    own: Bitmaps,
    held: Bitmaps,
    out: &'m mut Pairs<'p>,
}

impl Meeting<'_, '_, '_> {
    /// Compares the documents of the rows in `list` with the documents in the window that have larger sets, except for documents in the
    /// crowds given by `mask`. All documents in `list` belong to these crowds.
    fn ask(&mut self, list: &[usize], mask: u64) {
        let Some(&first) = list.first() else { return };
        let mut asking: Vec<Asking> = list.iter().map(|&at| Asking::new(self.join, self.window, at)).collect();
        let sketches = self.out.sketches();
        self.own.of(asking.iter().map(|one| one.doc), sketches);
        let others: Vec<usize> =
            (first + 1..self.window.len()).filter(|&at| self.crowds.mask(at) & mask == 0).collect();
        for others in others.chunks(BLOCK) {
            self.held.of(others.iter().map(|&at| self.window.row(at).doc), sketches);
            for (number, one) in asking.iter_mut().enumerate() {
                let from = others.partition_point(|at| *at <= one.at);
                for (place, &at) in others.iter().enumerate().skip(from) {
                    if self.crowds.mask(one.at) & self.crowds.mask(at) != 0 {
                        continue;
                    }
                    if one.compared >= self.share && one.finding.crowd().is_none() {
                        self.left_out += (others.len() - place) as u64;
                        break;
                    }
                    (self.compared, one.compared) = (self.compared + 1, one.compared + 1);
                    // Documents that are similar but lack a follower of this element belong to the crowd as well.
                    let has_all = self.held.has_all(place, &one.followers);
                    if (has_all || one.finding.found() >= FOUND)
                        && self.held.may_hold(place, self.own.bitmap(number), one.may_miss)
                    {
                        one.finding.add(at, &mut self.crowds);
                        // The head is compared with its crowd in the windows that the crowd's documents mark.
                        let is_reported = one.finding.crowd().is_none() || followers(self.window.row(at).sketch).1;
                        if has_all && is_reported {
                            self.out.push(Pair::new(one.doc, self.held.docs[place], Score::EQUAL, 1));
                        }
                    }
                }
            }
        }
        for (number, one) in asking.iter().enumerate() {
            if let Some(crowd) = one.finding.crowd() {
                let head = self.own.bitmap(number).copied();
                self.within_crowd(one.at, crowd, head);
            }
        }
    }

    /// Compares the documents of a crowd that mark this element: each with its nearest documents and with the first
    /// documents of the crowd.
    fn within_crowd(&mut self, head: usize, crowd: u64, head_bits: Option<Bitmap>) {
        let window = self.window;
        let marked = |at: &usize| *at != head && followers(window.row(*at).sketch).1;
        let members: Vec<usize> = self.crowds.members(crowd).filter(marked).collect();
        let sketches = self.out.sketches();
        let key_of_window = window.row(0).key as usize % WORDS;
        let mut near: Vec<(u64, usize)> = Vec::with_capacity(members.len());
        for members in members.chunks(BLOCK) {
            self.held.of(members.iter().map(|&at| window.row(at).doc), sketches);
            near.extend(members.iter().enumerate().map(|(place, &at)| {
                let bits = self.held.bitmap(place).zip(head_bits.as_ref());
                (bits.map_or(0, |(bits, head)| own_key(bits, head, key_of_window)), at)
            }));
        }
        near.sort_unstable();
        let mut block: Vec<usize> = Vec::with_capacity(BLOCK);
        for start in (0..near.len()).step_by(BLOCK - NEAREST) {
            block.clear();
            block.extend(near[start..].iter().take(BLOCK).map(|(_, at)| *at));
            self.held.of(block.iter().map(|&at| window.row(at).doc), sketches);
            for x in 0..block.len().min(BLOCK - NEAREST) {
                for y in x + 1..block.len().min(x + 1 + NEAREST) {
                    self.compare(&block, x, y);
                }
            }
        }
        let mut by_doc = members;
        by_doc.sort_unstable_by_key(|&at| window.row(at).doc);
        let (firsts, others) = by_doc.split_at(FIRST.min(by_doc.len()));
        for others in others.chunks(BLOCK - FIRST) {
            block.clear();
            block.extend(firsts.iter().chain(others));
            self.held.of(block.iter().map(|&at| window.row(at).doc), sketches);
            for x in 0..firsts.len() {
                (firsts.len()..block.len()).for_each(|y| self.compare(&block, x, y));
            }
        }
    }

    /// Compares two documents in a block, the smaller with the larger.
    fn compare(&mut self, block: &[usize], x: usize, y: usize) {
        let (small, large) = if block[x] < block[y] { (x, y) } else { (y, x) };
        self.compared += 1;
        let one = Asking::new(self.join, self.window, block[small]);
        if self.held.may_hold(large, self.held.bitmap(small), one.may_miss) {
            self.out.push(Pair::new(one.doc, self.held.docs[large], Score::EQUAL, 1));
        }
    }
}

/// Returns the number of elements (at least one) that a set must share with a set of this size to contain it.
pub(crate) fn least(threshold: f64, size: usize) -> usize {
    // The product is lowered slightly, because it was rounded.
    ((threshold * size as f64 * (1.0 - 1e-9)).ceil() as usize).clamp(1, size.max(1))
}

/// Returns the position of an element in a bitmap.
fn bit(element: u64) -> u16 {
    (mix64(element ^ 0x5DEE_CE66) % (WORDS as u64 * 64)) as u16
}

fn set(bitmap: &mut [u64], bit: u16) {
    bitmap[usize::from(bit / 64)] |= 1 << (bit % 64);
}

/// Returns the bits of a row's sketch, and whether the document marks the element.
fn followers(sketch: &[u8]) -> ([u16; FOLLOWERS], bool) {
    let mut bits = SILENT;
    bits.iter_mut().zip(sketch.as_chunks::<2>().0).for_each(|(bit, bytes)| *bit = u16::from_le_bytes(*bytes));
    let is_marked = bits[0] & MARK != 0;
    bits[0] &= BITS;
    (bits, is_marked)
}

/// Holds a probing document, which searches for documents that contain one of its groups of elements.
struct Asking {
    at: usize,
    doc: u64,
    followers: [u16; FOLLOWERS],
    /// The number of elements that a containing set may lack.
    may_miss: usize,
    compared: usize,
    finding: Finding,
}

impl Asking {
    fn new(join: RarestJoin, window: &Window<'_>, at: usize) -> Asking {
        let row = window.row(at);
        let size = row.order as usize;
        let (followers, _) = followers(row.sketch);
        let may_miss = size - least(join.threshold, size).min(size);
        Asking { at, doc: row.doc, followers, may_miss, compared: 0, finding: Finding::new(at) }
    }
}

/// Holds the documents of some rows of a window, with their bitmaps.
#[derive(Default)]
struct Bitmaps {
    docs: Vec<u64>,
    /// The list is empty if no sketches are available.
    bitmaps: Vec<u64>,
}

impl Bitmaps {
    fn of(&mut self, docs: impl Iterator<Item = u64>, sketches: Option<&dyn Sketches>) {
        self.docs.clear();
        self.docs.extend(docs);
        let Some(sketches) = sketches else { return };
        self.bitmaps.resize(self.docs.len() * WORDS, 0);
        let bitmaps = self.bitmaps.as_chunks_mut::<WORDS>().0;
        bitmaps.iter_mut().zip(&self.docs).for_each(|(bitmap, &doc)| sketches.copy(doc, bitmap));
    }

    fn bitmap(&self, at: usize) -> Option<&Bitmap> {
        self.bitmaps.as_chunks::<WORDS>().0.get(at)
    }

    /// Returns whether the document at this position may contain a set with this bitmap; `may_miss` is the number of elements that may be
    /// missing. Each missing bit stands for at least one missing element.
    fn may_hold(&self, at: usize, other: Option<&Bitmap>, may_miss: usize) -> bool {
        let (Some(own), Some(other)) = (self.bitmap(at), other) else { return true };
        let missing: u32 = other.iter().zip(own).map(|(other, own)| (other & !own).count_ones()).sum();
        missing as usize <= may_miss
    }

    /// Returns whether the document at this position may contain all elements with these bits.
    fn has_all(&self, at: usize, bits: &[u16; FOLLOWERS]) -> bool {
        let Some(bitmap) = self.bitmap(at) else { return true };
        let mut wanted = bits.iter().take_while(|bit| **bit != NONE);
        wanted.all(|&bit| bitmap[usize::from(bit / 64) % WORDS] >> (bit % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use dupsift_core::hash::splitmix64;
    use dupsift_core::row::RowLayout;

    struct InMemory(Vec<Vec<u64>>);

    impl Sketches for InMemory {
        fn copy(&self, doc: u64, to: &mut [u64]) {
            to.copy_from_slice(&self.0[doc as usize][..to.len()]);
        }
    }

    /// Returns sets of many sizes: subsets of a few source sets, with both common and rare elements.
    fn sets(count: u64, common: u64) -> Vec<BTreeSet<u64>> {
        let of = |n: u64| -> BTreeSet<u64> {
            let (source, size) = (n % (count / 8), 1 + splitmix64(1, n) % 90);
            let skipped = |at: u64| splitmix64(n, at).is_multiple_of(2 + splitmix64(2, n) % 12);
            let element = |at: u64| if at.is_multiple_of(3) { splitmix64(5, at % common) } else { source << 32 | at };
            (0..size).filter(|&at| !skipped(at)).map(element).chain([7]).collect()
        };
        (0..count).map(of).collect()
    }

    /// Returns the candidates, how often each was found, the numbers of performed and skipped comparisons, and the rows.
    fn meet(
        sets: &[BTreeSet<u64>],
        threshold: f64,
        (sketched, counted): (bool, bool),
        most: u64,
    ) -> (BTreeMap<(u64, u64), u32>, u64, u64, usize) {
        let join = RarestJoin::new(threshold);
        let mut df = BTreeMap::<u64, u64>::new();
        sets.iter().flatten().for_each(|element| *df.entry(*element).or_insert(0) += 1);
        let layout = RowLayout::new(join.shape(), sets.len() as u64);
        let (mut rows, mut bitmaps) = (Vec::new(), Vec::new());
        for (doc, set) in sets.iter().enumerate() {
            let mut out = Signatures::default();
            let of = |hash: &u64| Term { hash: *hash, weight: 1.0, df: if counted { df[hash] } else { 1 } };
            join.push(&mut set.iter().map(of).collect(), u64::from(counted), &mut out);
            assert!(out.reason().is_none());
            bitmaps.push(out.sketch_of_document().to_vec());
            for row in out.rows(doc as u64) {
                let mut bytes = Vec::new();
                layout.encode(&row, &mut bytes);
                rows.push(bytes);
            }
        }
        rows.sort();
        let bitmaps = InMemory(bitmaps);
        let mut met = BTreeMap::new();
        let mut sink = |pair: Pair| *met.entry((pair.a, pair.b)).or_insert(0) += 1;
        let mut out = Pairs::new(most, &mut sink).with_sketches(sketched.then_some(&bitmaps));
        for group in rows.chunk_by(|a, b| a[..layout.group_width()] == b[..layout.group_width()]) {
            join.pairs(&Window::new(layout, &group.concat()), &mut out);
        }
        let (compared, left_out) = (out.compared, out.left_out);
        (met, compared, left_out, rows.len())
    }

    fn contained(sets: &[BTreeSet<u64>], threshold: f64) -> BTreeSet<(u64, u64)> {
        let all = (0..sets.len()).flat_map(|a| (a + 1..sets.len()).map(move |b| (a, b)));
        let share = |a: usize, b: usize| {
            sets[a].intersection(&sets[b]).count() as f64 / sets[a].len().min(sets[b].len()) as f64
        };
        all.filter(|&(a, b)| share(a, b) >= threshold).map(|(a, b)| (a as u64, b as u64)).collect()
    }

    #[test]
    fn how_many_must_be_there() {
        let of = |threshold| [1, 4, 5, 6, 10, 11].map(|size| least(threshold, size));
        assert_eq!(of(0.8), [1, 4, 4, 5, 8, 9]);
        assert_eq!(of(1.0), [1, 4, 5, 6, 10, 11]);
        assert_eq!(of(0.01), [1; 6]);
        // 0.7 times 10 is slightly more than 7.
        assert_eq!((least(0.7, 10), least(0.8, 0)), (7, 1));
    }

    #[test]
    fn the_groups_of_the_worked_example() {
        // The elements are a to j, each in two documents, with hashes in ascending order.
        let mut elements: Vec<Term> = (1..=10).map(|hash| Term { hash, weight: 1.0, df: 2 }).collect();
        let mut out = Signatures::default();
        RarestJoin::new(0.8).push(&mut elements, 1, &mut out);
        let asked: Vec<_> = out.rows(0).map(|row| (row.key as u64, row.order, followers(row.sketch).0)).collect();
        let bits = |elements: [u64; 4]| elements.map(|element| if element == 0 { NONE } else { bit(element) });
        assert_eq!(
            asked[..3],
            [(1, 10, bits([4, 7, 10, 0])), (2, 10, bits([5, 8, 0, 0])), (3, 10, bits([6, 9, 0, 0]))]
        );
        assert!(asked.len() == 10 && asked[3..].iter().all(|row| row.2 == SILENT));
        // If all elements occur in a single document, one row is still emitted.
        let mut out = Signatures::default();
        RarestJoin::new(0.8).push(&mut elements, 2, &mut out);
        assert_eq!(out.rows(0).count(), 1);
    }

    #[test]
    fn every_pair_that_is_contained_meets() {
        let sets = sets(240, 9);
        let all = 240 * 239 / 2;
        for threshold in [0.3, 0.5, 0.8, 0.9, 1.0] {
            let expected = contained(&sets, threshold);
            assert!(expected.len() > 40, "{threshold}: {}", expected.len());
            let mut least = usize::MAX;
            for how in [(false, false), (false, true), (true, false), (true, true)] {
                let (met, _, left_out, _) = meet(&sets, threshold, how, u64::MAX);
                assert!(expected.iter().all(|pair| met.contains_key(pair)) && left_out == 0, "{threshold} {how:?}");
                least = least.min(met.len());
            }
            // Bitmaps and counts let few other candidates pass.
            assert!(threshold < 0.8 || (least < expected.len() * 3 / 2 && least * 5 < all), "{threshold}: {least}");
        }
    }

    #[test]
    fn windows_of_many_documents_are_worked_through_in_blocks() {
        // All documents have the same rarest elements, but few pairs have enough elements in common.
        let count = BLOCK as u64 + 300;
        let set = |n: u64| -> BTreeSet<u64> { [1, 2].into_iter().chain((0..8).map(|at| 100 * (n / 3) + at)).collect() };
        let sets: Vec<BTreeSet<u64>> = (1..=count).map(set).collect();
        let (met, compared, left_out, _) = meet(&sets, 0.6, (true, false), u64::MAX);
        let expected = contained(&sets, 0.6);
        assert!(expected.len() as u64 > count - 4 && expected.iter().all(|pair| met.contains_key(pair)));
        assert!(left_out == 0 && compared > count * (count - 1) / 2);
        let (_, fewer, left_out, _) = meet(&sets, 0.6, (true, false), 10 * count);
        assert!(left_out > 0 && fewer < compared / 10, "{fewer} and {left_out} of {compared}");
    }

    #[test]
    fn crowds_are_compared_in_proportion() {
        // The template has sixty elements. Each page lacks one of these elements, and has a few elements that only two other pages share.
        let page = |n: u64| -> BTreeSet<u64> {
            let own = (0..3).map(move |at| (n / 3) << 8 | at);
            (0..60).filter(|at| *at != n / 3 % 60).map(|at| (1 << 40) + at).chain(own).collect()
        };
        let mut before = 0;
        for count in [900, 1_800, 3_600] {
            let sets: Vec<_> = (0..count).map(page).collect();
            let (met, compared, left_out, rows) = meet(&sets, 0.8, (true, true), u64::MAX);
            assert!(left_out == 0 && compared < 8 * rows as u64, "{compared} of {rows} rows");
            assert!(before == 0 || 10 * compared < 26 * before, "{compared} after {before}");
            before = compared;
            let pushed: u64 = met.values().map(|times| u64::from(*times)).sum();
            assert!(pushed <= 80 * count, "{pushed} candidates of {count} pages");
            assert!(
                (0..count).all(|n| n % 3 == 2 || met.contains_key(&(n, n + 1))),
                "those with the same own elements"
            );
        }
    }

    #[test]
    fn pages_of_a_template_meet_in_proportion() {
        // All pages share sixty elements, too few to reach the threshold. Groups of three pages share forty more elements.
        let page = |n: u64| -> BTreeSet<u64> {
            (0..60).map(|at| (1 << 40) + at).chain((0..40).map(move |at| (n / 3) << 8 | at)).collect()
        };
        let of = |count: u64| meet(&(0..count).map(page).collect::<Vec<_>>(), 0.8, (true, true), u64::MAX);
        for count in [300, 1_200] {
            let (met, compared, ..) = of(count);
            assert_eq!((met.len() as u64, compared), (count, 21 * count));
        }
    }
}
