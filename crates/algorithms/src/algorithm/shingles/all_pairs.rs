//! Compares every pair of documents once, in blocks of bounded size. Methods use this join if their threshold is so low that lists of rare
//! features would rule out few pairs.
//!
//! Documents are distributed among blocks by the hash of their text. A document emits rows for each pair of blocks that includes its own
//! block. The rows of a pair of blocks are compared with each other, so any two documents are compared in exactly one window. The rows
//! carry the [`bitmap`] of the document's set, split into pieces that fit in a row.
//!
//! Documents with the same template are compared with the nearest documents in their [crowd](super::crowds).
//!
//! Cost: n^2 / 2 bitmap comparisons. The number of rows per document is the number of blocks times the number of bitmap pieces.

use super::bitmap::{self, Folded, words_of};
use super::crowds::{Crowds, FIRST, Finding, NEAREST, own_key};
use dupsift_core::cpu::Level;
use dupsift_core::hash::{combine, mix64};
use dupsift_core::row::{Pair, Pairs, RowShape, Score, Signatures, Window};

/// The approximate number of documents per block. Each thread holds the bitmaps of twice as many documents in memory.
const PER_BLOCK: u64 = 1_500;
/// The maximum number of blocks. Each block adds one row per document.
const MOST_BLOCKS: u64 = 1_000;
/// The minimum share of the larger set that a document in a crowd must have in common with the head. Pages of a manual have less in common,
/// so all of them are compared.
const CROWDED: f64 = 0.8;
/// The number of words in a piece of a bitmap.
const PIECE: usize = bitmap::LEAST_WORDS;
/// The number of bytes that a [`Size`] occupies in a row.
pub(crate) const SIZE: usize = 8;

/// Holds the size of a set, with and without repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// The number of distinct elements.
    pub distinct: u32,
    /// The number of elements, including repetitions.
    pub all: u32,
}

impl Size {
    /// Returns the size of a set, given its number of distinct elements and its total number of elements.
    pub(crate) fn new(distinct: usize, all: usize) -> Size {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Size { distinct: count(distinct), all: count(all) }
    }

    /// Returns the size as it is stored in a row.
    pub(crate) fn to_bytes(self) -> [u8; SIZE] {
        (u64::from(self.distinct) << 32 | u64::from(self.all)).to_le_bytes()
    }

    /// Reads the size from the start of a row's sketch.
    pub(crate) fn of(sketch: &[u8]) -> Size {
        let number = sketch.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        Size { distinct: (number >> 32) as u32, all: number as u32 }
    }
}

/// Splits the comparisons into blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AllPairs {
    blocks: u64,
}

impl AllPairs {
    /// Returns the scheme for approximately this many documents.
    pub(crate) fn new(documents: u64) -> AllPairs {
        AllPairs::of_blocks(documents.div_ceil(PER_BLOCK).clamp(1, MOST_BLOCKS))
    }

    fn of_blocks(blocks: u64) -> AllPairs {
        AllPairs { blocks }
    }

    /// Returns the number of blocks.
    pub(crate) fn blocks(self) -> u64 {
        self.blocks
    }

    /// Returns the shape of the rows.
    pub(crate) fn shape(self) -> RowShape {
        RowShape { positions: 1, key_bits: 64, ordered: true, sketch: SIZE + PIECE * 8 }
    }

    fn key(self, i: u64, j: u64) -> u64 {
        combine(i.min(j), i.max(j))
    }

    /// Emits the rows of a document with this text hash and this nonempty set.
    pub(crate) fn push(self, text_hash: u128, size: Size, set: &[u64], out: &mut Signatures) {
        let mut bits = Vec::new();
        bitmap::write(set, &mut bits);
        let block = mix64(text_hash as u64) % self.blocks;
        let mut sketch = Vec::with_capacity(SIZE + PIECE * 8);
        for (piece, words) in bits.chunks(PIECE).enumerate() {
            sketch.clear();
            sketch.extend_from_slice(&size.to_bytes());
            words.iter().for_each(|word| sketch.extend_from_slice(&word.to_le_bytes()));
            let order = (block as u32) << 16 | piece as u32;
            (0..self.blocks).for_each(|other| out.push(0, self.key(block, other).into(), order, &sketch));
        }
    }

    /// Finds the pairs in a window whose sets may share enough elements; `need` returns the required number. In [crowds](super::crowds),
    /// only the nearest documents are compared. `out` limits the number of comparisons.
    pub(crate) fn pairs(self, window: &Window<'_>, out: &mut Pairs<'_>, need: impl Fn(Size, Size) -> f64) {
        let mut documents = gather(window);
        let Some(first) = documents.first().map(|document| document.block) else { return };
        let within = window.row(0).key == self.key(first.into(), first.into()).into();
        let of_first = documents.iter().filter(|document| document.block == first).count() as u64;
        let all = match within {
            true => of_first * (of_first - 1) / 2,
            false => of_first * (documents.len() as u64 - of_first),
        };
        // Documents with small bitmaps come first. Each document is compared with all later documents, whose bitmaps are folded to the size
        // of its bitmap.
        documents.sort_by_key(|document| (document.bits.len(), document.block, document.doc));
        let mut crowds = Crowds::new(documents.len());
        let mut meeting = Meeting { within, cpu: Level::best(), need, compared: 0, out };
        let (mut from, mut folded) = (0, Vec::new());
        while from < documents.len() {
            let width = documents[from].bits.len();
            let small = documents[from..].partition_point(|document| document.bits.len() == width);
            folded.clear();
            documents[from..].iter().for_each(|document| bitmap::fold(&document.bits, width, &mut folded));
            let sets: Vec<Set<'_>> = documents[from..]
                .iter()
                .zip(folded.chunks_exact(width))
                .map(|(document, bits)| (document, Folded::new(bits, document.size.distinct)))
                .collect();
            for at in 0..small {
                let mut finding = Finding::new(from + at);
                for other in at + 1..sets.len() {
                    if crowds.mask(from + at) & crowds.mask(from + other) == 0
                        && meeting.compare(&sets[at], &sets[other])
                    {
                        finding.add(from + other, &mut crowds);
                    }
                }
                if let Some(crowd) = finding.crowd() {
                    // Documents in the head's own block are compared in a different window. In this window, they only join the crowd.
                    for other in at + 1..sets.len() {
                        if !meeting.meet(&sets[at], &sets[other])
                            && meeting.likeness(&sets[at], &sets[other]) == Likeness::Similar
                        {
                            crowds.join(crowd, from + other);
                        }
                    }
                    let members = crowds.members(crowd).filter(|&place| place > from + at);
                    let members: Vec<&Set<'_>> = members.map(|place| &sets[place - from]).collect();
                    meeting.within_crowd(&sets[at], members);
                }
            }
            from += small;
        }
        let compared = meeting.compared;
        out.compared += compared;
        let beyond = if compared < out.max_candidates { &mut out.far } else { &mut out.left_out };
        *beyond += all.saturating_sub(compared);
    }
}

/// Holds a document with its bitmap in comparable form.
type Set<'d> = (&'d Document, Folded<'d>);

/// Holds the result of comparing the bitmaps of two documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Likeness {
    /// The documents are not a pair.
    Different,
    /// The documents may be a pair.
    Possible,
    /// The documents may be a pair, and have at least the share [`CROWDED`] of the larger set in common, like pages built from the same
    /// template.
    Similar,
}

/// Holds the state of the comparisons in a window.
struct Meeting<'m, 'p, N> {
    within: bool,
    cpu: Level,
    need: N,
    compared: u64,
    out: &'m mut Pairs<'p>,
}

impl<N: Fn(Size, Size) -> f64> Meeting<'_, '_, N> {
    /// Returns whether two documents are compared in this window.
    fn meet(&self, x: &Set<'_>, y: &Set<'_>) -> bool {
        self.within || x.0.block != y.0.block
    }

    fn likeness(&self, (x, x_bits): &Set<'_>, (y, y_bits): &Set<'_>) -> Likeness {
        let need = (self.need)(x.size, y.size);
        // The sizes alone rule out many pairs.
        if f64::from(x.size.distinct.min(y.size.distinct)) < need {
            return Likeness::Different;
        }
        let most = x_bits.most_common(y_bits, self.cpu);
        if f64::from(most) < need {
            return Likeness::Different;
        }
        let beyond = x_bits.beyond_chance(y_bits, most);
        if 2.0 * beyond < need || x_bits.share_in_common(y_bits, beyond) < CROWDED {
            Likeness::Possible
        } else {
            Likeness::Similar
        }
    }

    /// Compares two documents if they belong to this window and the bound on comparisons allows it. Returns whether the documents are
    /// similar.
    fn compare(&mut self, x: &Set<'_>, y: &Set<'_>) -> bool {
        if !self.meet(x, y) || self.compared >= self.out.max_candidates {
            return false;
        }
        self.compared += 1;
        let likeness = self.likeness(x, y);
        if likeness != Likeness::Different {
            self.out.push(Pair::new(x.0.doc, y.0.doc, Score::EQUAL, 1));
        }
        likeness == Likeness::Similar
    }

    /// Compares each document of a crowd with its nearest documents and with the first documents of the crowd. There are as many windows
    /// as pairs of blocks, so documents in two different blocks get fewer comparisons.
    fn within_crowd(&mut self, head: &Set<'_>, members: Vec<&Set<'_>>) {
        let (nearest, firsts) = if self.within { (NEAREST, FIRST) } else { (1, 1) };
        let mut near: Vec<(u64, &Set<'_>)> =
            members.into_iter().map(|set| (own_key(set.1.bits(), head.1.bits(), 0), set)).collect();
        near.sort_unstable_by_key(|(key, set)| (*key, set.0.doc));
        for (at, (key, x)) in near.iter().enumerate() {
            let followers = near[at + 1..].iter().take(2 * NEAREST);
            // Documents from two blocks are compared only if they agree in the first two bits that the head lacks.
            let followers = followers.take_while(|(other, _)| self.within || key >> 32 == other >> 32).map(|(_, y)| *y);
            let followers: Vec<&Set<'_>> = followers.filter(|y| self.meet(x, y)).take(nearest).collect();
            followers.into_iter().for_each(|y| {
                self.compare(x, y);
            });
        }
        // The first documents of each block are compared with all other documents. The head has already been compared with its crowd.
        near.push((0, head));
        near.sort_unstable_by_key(|(_, set)| set.0.doc);
        let mut blocks: Vec<u32> = near.iter().map(|(_, set)| set.0.block).collect();
        blocks.sort_unstable();
        blocks.dedup();
        for block in blocks {
            let of_block = near.iter().enumerate().filter(|(_, (_, set))| set.0.block == block);
            let firsts: Vec<usize> = of_block.map(|(at, _)| at).take(firsts).collect();
            let is_head = |at: usize| near[at].1.0.doc == head.0.doc;
            for (number, &first) in firsts.iter().enumerate().filter(|(_, first)| !is_head(**first)) {
                for (at, (_, other)) in near.iter().enumerate() {
                    if !firsts[..=number].contains(&at) && !is_head(at) {
                        self.compare(near[first].1, other);
                    }
                }
            }
        }
    }
}

struct Document {
    doc: u64,
    block: u32,
    size: Size,
    bits: Vec<u64>,
}

/// Reassembles the bitmaps. Rows are sorted by block and piece, then by document. So the documents with a further piece appear in the same
/// order as in the previous piece.
fn gather(window: &Window<'_>) -> Vec<Document> {
    let mut documents: Vec<Document> = Vec::new();
    let mut at = 0;
    for row in (0..window.len()).map(|row| window.row(row)) {
        let (block, piece) = (row.order >> 16, row.order & 0xFFFF);
        let words = row.sketch.as_chunks::<8>().0.iter().skip(SIZE / 8).map(|bytes| u64::from_le_bytes(*bytes));
        if piece == 0 {
            let size = Size::of(row.sketch);
            let mut bits = Vec::with_capacity(words_of(size.distinct));
            bits.extend(words);
            at = documents.len();
            documents.push(Document { doc: row.doc, block, size, bits });
            continue;
        }
        // Wraps around at the end of the list, because each piece starts over.
        for _ in 0..documents.len() {
            at = if at + 1 < documents.len() { at + 1 } else { 0 };
            if documents[at].doc == row.doc {
                documents[at].bits.extend(words);
                break;
            }
        }
    }
    documents
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use dupsift_core::hash::splitmix64;
    use dupsift_core::row::RowLayout;

    /// Returns sets of many sizes, in groups that have much in common.
    fn sets(count: u64) -> Vec<BTreeSet<u64>> {
        let of = |n: u64| {
            let size = 1 << (splitmix64(1, n / 4) % 13);
            (0..size)
                .map(|at| splitmix64(n / 4 + if splitmix64(n, at).is_multiple_of(3) { 1000 + n } else { 0 }, at))
                .collect()
        };
        (0..count).map(of).collect()
    }

    /// Returns the pairs that pass the bound, and the numbers of performed and skipped comparisons.
    fn meet(sets: &[BTreeSet<u64>], blocks: u64, most: u64) -> (BTreeMap<(u64, u64), u32>, u64, u64) {
        let (met, [compared, far, left_out]) = meet_all(sets, blocks, most);
        assert_eq!(far, 0);
        (met, compared, left_out)
    }

    fn meet_all(sets: &[BTreeSet<u64>], blocks: u64, most: u64) -> (BTreeMap<(u64, u64), u32>, [u64; 3]) {
        let scheme = AllPairs::of_blocks(blocks);
        let layout = RowLayout::new(scheme.shape(), sets.len() as u64);
        let mut rows = Vec::new();
        for (doc, set) in sets.iter().enumerate() {
            let size = Size { distinct: set.len() as u32, all: set.len() as u32 };
            assert_eq!(Size::of(&size.to_bytes()), size);
            let mut out = Signatures::default();
            let elements: Vec<u64> = set.iter().copied().collect();
            scheme.push(u128::from(splitmix64(77, doc as u64)), size, &elements, &mut out);
            for row in out.rows(doc as u64) {
                let mut bytes = Vec::new();
                layout.encode(&row, &mut bytes);
                rows.push(bytes);
            }
        }
        rows.sort();
        let mut met = BTreeMap::new();
        let mut sink = |pair: Pair| *met.entry((pair.a, pair.b)).or_insert(0) += 1;
        let mut out = Pairs::new(most, &mut sink);
        for group in rows.chunk_by(|a, b| a[..layout.group_width()] == b[..layout.group_width()]) {
            let need = |a: Size, b: Size| f64::from(a.distinct + b.distinct) / 6.0;
            scheme.pairs(&Window::new(layout, &group.concat()), &mut out, need);
        }
        let counts = [out.compared, out.far, out.left_out];
        (met, counts)
    }

    #[test]
    fn every_pair_that_has_enough_in_common_meets_once() {
        let sets = sets(120);
        let all = 120 * 119 / 2;
        for blocks in [1, 2, 7] {
            let (met, compared, left_out) = meet(&sets, blocks, u64::MAX);
            assert_eq!((compared, left_out), (all, 0), "{blocks} blocks");
            assert!(met.values().all(|&times| times == 1));
            let mut alike = 0;
            for a in 0..sets.len() {
                for b in a + 1..sets.len() {
                    let common = sets[a].intersection(&sets[b]).count();
                    if common * 6 >= sets[a].len() + sets[b].len() {
                        alike += 1;
                        assert!(met.contains_key(&(a as u64, b as u64)), "{a} {b}");
                    }
                }
            }
            // The bound lets few dissimilar pairs pass.
            assert!(alike > 100 && met.len() < alike + 50, "{alike} alike, {} met", met.len());
        }
    }

    /// Checks pages with the same template: all pages share 60 elements, and small groups of pages share ten more.
    #[test]
    fn pages_of_a_template_are_compared_in_proportion() {
        let page = |n: u64| -> BTreeSet<u64> {
            let own = (0..10).map(|at| splitmix64(9 + n % (1 << 20) / 3, at));
            (0..60).map(|at| splitmix64(1, at)).chain(own).collect()
        };
        let run = |count: u64, blocks| meet_all(&(0..count).map(page).collect::<Vec<_>>(), blocks, u64::MAX);
        let mut before = 0;
        for (count, blocks) in [(1_500, 1), (3_000, 2), (6_000, 4)] {
            let (met, [compared, far, left_out]) = run(count, blocks);
            assert_eq!((compared + far, left_out), (count * (count - 1) / 2, 0));
            assert!(compared < 24 * count, "{compared} of {count}");
            assert!(before == 0 || 5 * compared < 14 * before, "{compared} after {before}");
            before = compared;
            // All pairs of pages that share the same few elements are found, and each page is found to be similar to the first page.
            let together = (0..count / 3).filter(|group| {
                let pairs = [(0, 1), (0, 2), (1, 2)].map(|(a, b)| (group * 3 + a, group * 3 + b));
                pairs.iter().all(|pair| met.contains_key(pair))
            });
            let together = together.count() as u64;
            assert!(blocks > 1 || together == count / 3, "{together} of {} in {blocks} blocks", count / 3);
            assert!(2 * together > count / 3, "{together} of {} in {blocks} blocks", count / 3);
            assert!((1..count).all(|other| met.contains_key(&(0, other))), "{blocks}");
        }
    }

    #[test]
    fn comparisons_are_bounded_and_what_is_left_out_is_counted() {
        let sets = sets(60);
        let (_, compared, left_out) = meet(&sets, 2, 100);
        assert_eq!((compared, left_out), (300, 60 * 59 / 2 - 300));
        assert_eq!(AllPairs::new(20_000).blocks(), 14);
        assert_eq!(AllPairs::new(3).blocks(), 1);
    }
}
