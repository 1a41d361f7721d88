//! The exact join of sets one of which is contained in the other: by the rarest elements of the smaller one.
//!
//! The prefix filter (Chaudhuri, Ganti, Kaushik 2006; Bayardo, Ma, Srikant 2007), for a measure that is not symmetric. All
//! documents have their elements in one order, rare first. Of a set of n, n - m may be missing in one that contains it, where m
//! is the threshold times n, rounded up; so of its n - m + 1 rarest at least one is there. A set asks by these, and is found by
//! all of its elements; the smaller set of a pair asks, of two of one size the document that comes first.
//!
//! Each element that a set asks by heads a group, and the next rarest follow, dealt out in turn, up to four a group. If at most
//! n - m elements are missing, then of n - m + 1 groups one is there as a whole. So a set that has the head of a group
//! must have those that follow as well. A bitmap of each document tells ahead of the check whether they may be there, and whether more
//! than n - m elements are missing, for each bit that is missing is one at least; it never says no where it is yes.
//!
//! ```text
//! a b c d e f g h i j, threshold 0.8: m 8, three groups        a d g j    b e h    c f i
//! a set without b and c holds a d g j; one with a and without d is no candidate
//! ```
//!
//! An element of one document makes no row, and a window without a document that asks costs nothing.

use std::ops::Range;

use crate::algorithm::kit::prefix::{Term, rare_first};
use crate::algorithm::params::Params;
use dupsift_core::hash::mix64;
use dupsift_core::row::{Pair, Pairs, RowShape, Score, Signatures, Sketches, Window};

/// Words of a document's bitmap.
const WORDS: usize = 128;
/// Elements that follow the head of a group at most.
const FOLLOWERS: usize = 4;
/// Bytes of the sketch of a row: the bits of those that follow.
const SKETCH: usize = FOLLOWERS * 2;
/// The sketch of a row that does not ask.
const SILENT: [u16; FOLLOWERS] = [u16::MAX; FOLLOWERS];
/// In place of a bit: a group that is smaller.
const NONE: u16 = u16::MAX - 1;
/// Documents whose bitmaps stand in memory at once, 1 MB; and those that ask them.
const BLOCK: usize = 1 << 10;

/// From this threshold on join=auto takes the rarest shingles: below it most of a text would have to ask, common ones too.
const LEAST_RAREST: f64 = 0.5;

/// Whether texts meet by their rarest shingles.
pub fn by_rarest(params: &Params) -> bool {
    let join = params.word("join");
    let fits = params.word("measure") == "containment" && params.word("sketch") != "min_s" && !params.flag("seed_code");
    fits && (join == "rarest" || join == "auto" && params.real("threshold") >= LEAST_RAREST)
}

/// A document's bitmap.
type Bitmap = [u64; WORDS];

/// The join at a threshold.
#[derive(Clone, Copy, Debug)]
pub struct RarestJoin {
    threshold: f64,
}

impl RarestJoin {
    /// Of sets that share at least so much of the smaller one.
    pub fn new(threshold: f64) -> RarestJoin {
        RarestJoin { threshold }
    }

    /// The form of the rows: ordered by the size of the set.
    pub fn shape(self) -> RowShape {
        RowShape { positions: 1, key_bits: 64, ordered: true, sketch: SKETCH }
    }

    /// Words of the sketch of a document.
    pub fn sketch_words(self) -> usize {
        WORDS
    }

    /// How many groups a set of so many asks by.
    fn groups(self, size: usize) -> usize {
        size + 1 - least(self.threshold, size)
    }

    /// The rows and the bitmap of a set, not empty, each element with its document frequency. Elements of at most `own`
    /// documents stand in no other text; 0 where nothing was counted.
    pub fn push(self, elements: &mut Vec<Term>, own: u64, out: &mut Signatures) {
        rare_first(elements);
        let (size, groups) = (elements.len(), self.groups(elements.len()));
        let order = u32::try_from(size).unwrap_or(u32::MAX);
        let mut pushed = false;
        for (at, element) in elements.iter().enumerate() {
            // One row there must be, by which the document is known as signed.
            if element.df <= own && (pushed || at + 1 < size) {
                continue;
            }
            let mut followers = SILENT;
            if at < groups {
                let next = |which: usize| elements.get(at + (which + 1) * groups).map_or(NONE, |term| bit(term.hash));
                followers = std::array::from_fn(next);
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

    /// The candidates of a window. `out` bounds the comparisons: where they are more, each document that asks is compared with
    /// those of the next larger sizes only, and what that leaves out is counted.
    pub fn pairs(self, window: &Window<'_>, out: &mut Pairs<'_>) {
        let rows = window.len();
        let asks = |at: usize| followers(window.row(at).sketch) != SILENT;
        let (mut asking, mut all) = (0, 0);
        (0..rows).filter(|&at| asks(at)).for_each(|at| {
            asking += 1;
            all += (rows - at - 1) as u64;
        });
        if all == 0 {
            return;
        }
        let reach = if all <= out.max_candidates { rows } else { (out.max_candidates / asking).max(1) as usize };
        let end = |at: usize| (at + 1).saturating_add(reach).min(rows);
        let (sketches, mut compared) = (out.sketches(), 0);
        let mut meet = |asking: &[Asking], own: &Bitmaps, others: Range<usize>, held: &Bitmaps| {
            for (number, one) in asking.iter().enumerate() {
                let (from, to) = (others.start.max(one.at + 1), others.end.min(end(one.at)));
                for at in from..to {
                    let place = at - others.start;
                    if held.has_all(place, &one.followers) && held.may_hold(place, own.bitmap(number), one.may_miss) {
                        out.push(Pair::new(one.doc, held.docs[at - others.start], Score::EQUAL, 1));
                    }
                }
                compared += to.saturating_sub(from) as u64;
            }
        };
        let (mut held, mut own) = (Bitmaps::default(), Bitmaps::default());
        let mut list: Vec<Asking> = Vec::with_capacity(BLOCK.min(rows));
        let mut at = 0;
        while at < rows {
            list.clear();
            while at < rows && list.len() < BLOCK {
                let row = window.row(at);
                let followers = followers(row.sketch);
                if followers != SILENT {
                    let size = row.order as usize;
                    list.push(Asking {
                        at,
                        doc: row.doc,
                        followers,
                        may_miss: size - least(self.threshold, size).min(size),
                    });
                }
                at += 1;
            }
            let Some(first) = list.first() else { break };
            own.of(list.iter().map(|one| one.doc), sketches);
            let last = list.iter().map(|one| end(one.at)).max().unwrap_or(0);
            for start in (first.at + 1..last).step_by(BLOCK) {
                let others = start..last.min(start + BLOCK);
                held.of(others.clone().map(|at| window.row(at).doc), sketches);
                meet(&list, &own, others, &held);
            }
        }
        out.compared += compared;
        out.left_out += all - compared;
    }
}

/// How many elements of a set of so many a set must have that contains it: at least one.
pub fn least(threshold: f64, size: usize) -> usize {
    // A hair less, for it was rounded.
    ((threshold * size as f64 * (1.0 - 1e-9)).ceil() as usize).clamp(1, size.max(1))
}

/// The place of an element in a bitmap.
fn bit(element: u64) -> u16 {
    (mix64(element ^ 0x5DEE_CE66) % (WORDS as u64 * 64)) as u16
}

fn set(bitmap: &mut [u64], bit: u16) {
    bitmap[usize::from(bit / 64)] |= 1 << (bit % 64);
}

/// The bits of a row's sketch.
fn followers(sketch: &[u8]) -> [u16; FOLLOWERS] {
    let mut bits = SILENT;
    bits.iter_mut().zip(sketch.as_chunks::<2>().0).for_each(|(bit, bytes)| *bit = u16::from_le_bytes(*bytes));
    bits
}

/// A document that asks which others have a group of its elements.
struct Asking {
    at: usize,
    doc: u64,
    followers: [u16; FOLLOWERS],
    /// Elements that a set may lack that contains it.
    may_miss: usize,
}

/// The documents of some rows of a window, with their bitmaps.
#[derive(Default)]
struct Bitmaps {
    docs: Vec<u64>,
    /// None where no sketches are at hand.
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

    /// Whether one of them may hold a set with that bitmap, of which so many elements may be missing: each bit that it lacks is an
    /// element at least.
    fn may_hold(&self, at: usize, other: Option<&Bitmap>, may_miss: usize) -> bool {
        let (Some(own), Some(other)) = (self.bitmap(at), other) else { return true };
        let missing: u32 = other.iter().zip(own).map(|(other, own)| (other & !own).count_ones()).sum();
        missing as usize <= may_miss
    }

    /// Whether one of them may have all the elements of these bits.
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

    /// Sets of many sizes: parts of a few sources, with elements that are common and others that are rare.
    fn sets(count: u64, common: u64) -> Vec<BTreeSet<u64>> {
        let of = |n: u64| -> BTreeSet<u64> {
            let (source, size) = (n % (count / 8), 1 + splitmix64(1, n) % 90);
            let skipped = |at: u64| splitmix64(n, at).is_multiple_of(2 + splitmix64(2, n) % 12);
            let element = |at: u64| if at.is_multiple_of(3) { splitmix64(5, at % common) } else { source << 32 | at };
            (0..size).filter(|&at| !skipped(at)).map(element).chain([7]).collect()
        };
        (0..count).map(of).collect()
    }

    /// The candidates with how often each was met, comparisons made and left out, and rows.
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
        // 0.7 times 10 is more than 7 by a hair.
        assert_eq!((least(0.7, 10), least(0.8, 0)), (7, 1));
    }

    #[test]
    fn the_groups_of_the_worked_example() {
        // a to j, all in two documents: hashes in ascending order.
        let mut elements: Vec<Term> = (1..=10).map(|hash| Term { hash, weight: 1.0, df: 2 }).collect();
        let mut out = Signatures::default();
        RarestJoin::new(0.8).push(&mut elements, 1, &mut out);
        let asked: Vec<_> = out.rows(0).map(|row| (row.key as u64, row.order, followers(row.sketch))).collect();
        let bits = |elements: [u64; 4]| elements.map(|element| if element == 0 { NONE } else { bit(element) });
        assert_eq!(
            asked[..3],
            [(1, 10, bits([4, 7, 10, 0])), (2, 10, bits([5, 8, 0, 0])), (3, 10, bits([6, 9, 0, 0]))]
        );
        assert!(asked.len() == 10 && asked[3..].iter().all(|row| row.2 == SILENT));
        // Of one document alone: a row all the same.
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
            // Bitmaps and counts leave few others.
            assert!(threshold < 0.8 || (least < expected.len() * 3 / 2 && least * 5 < all), "{threshold}: {least}");
        }
    }

    #[test]
    fn windows_of_many_documents_are_worked_through_in_blocks() {
        // Every document has the same rarest element: each asks all of its size and larger ones.
        let count = BLOCK as u64 + 300;
        let sets: Vec<BTreeSet<u64>> = (0..count).map(|n| [1, 2, 10 + n].into()).collect();
        let (met, compared, left_out, rows) = meet(&sets, 0.6, (true, true), u64::MAX);
        let all = count * (count - 1) / 2;
        assert_eq!((met.len() as u64, left_out, rows as u64), (all, 0, 2 * count));
        // Two groups of one and two elements; the own one makes no row, so one window is asked.
        assert_eq!(compared, all);
        let (met, compared, left_out, _) = meet(&sets, 0.6, (true, true), 10 * count);
        assert_eq!((compared + left_out, met.len() as u64), (all, compared));
        assert!(left_out > 0 && compared >= 10 * count - 100);
    }

    #[test]
    fn pages_of_a_template_meet_in_proportion() {
        // Sixty elements of all pages, forty of three each: below the threshold, but for those of one group.
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
