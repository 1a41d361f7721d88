//! All pairs of documents, each once, in pieces of bounded size: for methods whose threshold is too low for any list of
//! rare features to leave much out.
//!
//! Documents are dealt to blocks by the hash of their text. A document sends rows to each pair of blocks that has its own
//! block in it: so the rows of a pair of blocks are compared with each other, and every two documents meet in one place.
//! The rows carry the [`bitmap`] of the document's set, cut into pieces that fit a row.
//!
//! Cost: n^2 / 2 comparisons of bitmaps, and as many rows a document as there are blocks, times the pieces of its bitmap.

use super::bitmap::{self, Folded, words_of};
use dupsift_core::cpu::Level;
use dupsift_core::hash::{combine, mix64};
use dupsift_core::row::{Pair, Pairs, RowShape, Score, Signatures, Window};

/// Documents of a block, about: twice as many bitmaps stand in memory for each thread.
const PER_BLOCK: u64 = 1_500;
/// The most blocks: each is a row a document.
const MOST_BLOCKS: u64 = 1_000;
/// Words of a piece.
const PIECE: usize = bitmap::LEAST_WORDS;
/// Bytes of a [`Size`] in a row.
pub const SIZE: usize = 8;

/// What is known of a set besides its bitmap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Different elements.
    pub distinct: u32,
    /// Elements, repeated ones as often as they occur.
    pub all: u32,
}

impl Size {
    /// Of so many different elements among so many.
    pub fn new(distinct: usize, all: usize) -> Size {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Size { distinct: count(distinct), all: count(all) }
    }

    /// As it stands in a row.
    pub fn to_bytes(self) -> [u8; SIZE] {
        (u64::from(self.distinct) << 32 | u64::from(self.all)).to_le_bytes()
    }

    /// From the front of the sketch of a row.
    pub fn of(sketch: &[u8]) -> Size {
        let number = sketch.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        Size { distinct: (number >> 32) as u32, all: number as u32 }
    }
}

/// A scheme of blocks.
#[derive(Clone, Copy, Debug)]
pub struct AllPairs {
    blocks: u64,
}

impl AllPairs {
    /// For about so many documents.
    pub fn new(documents: u64) -> AllPairs {
        AllPairs::of_blocks(documents.div_ceil(PER_BLOCK).clamp(1, MOST_BLOCKS))
    }

    fn of_blocks(blocks: u64) -> AllPairs {
        AllPairs { blocks }
    }

    /// How many blocks there are.
    pub fn blocks(self) -> u64 {
        self.blocks
    }

    /// The form of the rows.
    pub fn shape(self) -> RowShape {
        RowShape { positions: 1, key_bits: 64, ordered: true, sketch: SIZE + PIECE * 8 }
    }

    fn key(self, i: u64, j: u64) -> u64 {
        combine(i.min(j), i.max(j))
    }

    /// The rows of a document with this hash of its text and this set, which is not empty.
    pub fn push(self, text_hash: u128, size: Size, set: &[u64], out: &mut Signatures) {
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

    /// The pairs of a window whose sets may have at least `need` elements in common. `out` bounds the comparisons.
    pub fn pairs(self, window: &Window<'_>, out: &mut Pairs<'_>, need: impl Fn(Size, Size) -> f64) {
        let mut documents = gather(window);
        let Some(first) = documents.first().map(|document| document.block) else { return };
        let within = window.row(0).key == self.key(first.into(), first.into()).into();
        let of_first = documents.iter().filter(|document| document.block == first).count() as u64;
        let all = match within {
            true => of_first * (of_first - 1) / 2,
            false => of_first * (documents.len() as u64 - of_first),
        };
        // Those with small bitmaps come first: each is compared with all behind it, folded to its size.
        documents.sort_by_key(|document| (document.bits.len(), document.block, document.doc));
        let (mut compared, cpu) = (0, Level::best());
        let (mut from, mut folded) = (0, Vec::new());
        while from < documents.len() {
            let width = documents[from].bits.len();
            let small = documents[from..].partition_point(|document| document.bits.len() == width);
            folded.clear();
            documents[from..].iter().for_each(|document| bitmap::fold(&document.bits, width, &mut folded));
            let sets: Vec<(&Document, Folded<'_>)> = documents[from..]
                .iter()
                .zip(folded.chunks_exact(width))
                .map(|(document, bits)| (document, Folded::new(bits, document.size.distinct)))
                .collect();
            for (at, (x, x_bits)) in sets[..small].iter().enumerate() {
                let others = sets[at + 1..].iter().filter(|(other, _)| within || other.block != x.block);
                for (y, y_bits) in others.take((out.max_candidates - compared) as usize) {
                    compared += 1;
                    let need = need(x.size, y.size);
                    // Sizes alone decide many pairs.
                    let possible = f64::from(x.size.distinct.min(y.size.distinct)) >= need;
                    if possible && f64::from(x_bits.most_common(y_bits, cpu)) >= need {
                        out.push(Pair::new(x.doc, y.doc, Score::EQUAL, 1));
                    }
                }
            }
            from += small;
        }
        out.compared += compared;
        out.left_out += all - compared;
    }
}

/// A document of a window.
struct Document {
    doc: u64,
    block: u32,
    size: Size,
    bits: Vec<u64>,
}

/// Puts the bitmaps together again. Rows come by block and piece, and by document within these; so the documents that have
/// a further piece come in the order of those that have the one before.
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
        // Round the end of the list, which begins anew with each piece.
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

    /// Sets of many sizes, in families that have much in common.
    fn sets(count: u64) -> Vec<BTreeSet<u64>> {
        let of = |n: u64| {
            let size = 1 << (splitmix64(1, n / 4) % 13);
            (0..size)
                .map(|at| splitmix64(n / 4 + if splitmix64(n, at).is_multiple_of(3) { 1000 + n } else { 0 }, at))
                .collect()
        };
        (0..count).map(of).collect()
    }

    /// What meets and passes the bound, and the comparisons made and left out.
    fn meet(sets: &[BTreeSet<u64>], blocks: u64, most: u64) -> (BTreeMap<(u64, u64), u32>, u64, u64) {
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
        let counts = (out.compared, out.left_out);
        (met, counts.0, counts.1)
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
            // The bound leaves little that is not alike.
            assert!(alike > 100 && met.len() < alike + 50, "{alike} alike, {} met", met.len());
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
