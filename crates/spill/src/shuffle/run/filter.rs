//! Implements the filter of a run, which, without reading rows, rules out most groups that are not in the run.
//!
//! The filter is a split block Bloom filter (Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007; Parquet
//! uses the same blocks): one block of eight 32-bit words for every 32 rows. A group belongs to one block and sets one bit in each of its
//! words. The filter takes one byte per row, and about 3% of the groups that are not in the run pass the filter.
//!
//! Blocks are numbered consecutively. A bucket with rows `start..end` has the blocks `start / 32 ..= end / 32`, but at most 32,768 of them,
//! so adjacent buckets may share a block. Let h be the hash of a group (see [`super`]) and n the number of blocks: the group belongs to
//! block number (bits 20 to 51 of h) * n / 2^32. Let l be the upper half of h * 9e3779b97f4a7c15: the number of the group's bit in word i
//! is the top five bits of l * SALTS\[i\]. A piece consists of 127 blocks and a checksum.

use std::ops::Range;

use super::fence::begun;

/// The size of a piece in bytes.
pub(crate) const FILTER_PIECE: usize = 4096;
/// The number of rows per block.
pub(crate) const BLOCK_ROWS: u32 = 32;

/// The number of blocks per piece. The last 4 bytes of a piece are a CRC-32 of the piece number (8 bytes) and all preceding bytes.
const BLOCKS: u64 = 127;
const BLOCK: usize = 32;
/// The maximum number of blocks per bucket; limited because a bucket with millions of rows may consist of a single group.
const MOST: u64 = 1 << 15;
/// Arbitrary odd numbers, the same as in Parquet.
const SALTS: [u32; 8] =
    [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];

pub(crate) type Block = [u32; 8];
/// An offset in the concatenated pieces, and the bytes at that offset.
pub(crate) type Placed = (u64, Vec<u8>);
/// A block number and the block itself.
pub(crate) type Numbered = (u64, Block);

/// Returns the number of filter pieces for this many rows.
pub(crate) fn filter_pieces(rows: u64) -> u64 {
    if rows == 0 { 0 } else { (rows / u64::from(BLOCK_ROWS) + 1).div_ceil(BLOCKS) }
}

/// Returns the block numbers of the bucket that contains these rows.
pub(crate) fn blocks_of(rows: &Range<u64>) -> Range<u64> {
    let Range { start, end } = blocks_over(rows);
    start..end.min(start + MOST)
}

/// Returns the block numbers of several buckets that together contain these rows.
pub(crate) fn blocks_over(rows: &Range<u64>) -> Range<u64> {
    rows.start / u64::from(BLOCK_ROWS)..rows.end / u64::from(BLOCK_ROWS) + 1
}

/// Returns the pieces that contain these blocks.
pub(crate) fn pieces_of(blocks: &Range<u64>) -> Range<u64> {
    blocks.start / BLOCKS..blocks.end.div_ceil(BLOCKS)
}

/// A range of consecutive blocks.
#[derive(Debug)]
pub(crate) struct Filter {
    first: u64,
    blocks: Vec<Block>,
}

impl Filter {
    /// Creates a filter with these blocks and no groups.
    pub(crate) fn new(blocks: Range<u64>) -> Filter {
        Filter { first: blocks.start, blocks: vec![Block::default(); (blocks.end - blocks.start) as usize] }
    }

    /// Decodes a filter that consists of these blocks. `pieces` contains the bytes of the pieces with these blocks. If a piece is damaged,
    /// returns its number as an error.
    pub(crate) fn decode(blocks: Range<u64>, pieces: &[u8]) -> Result<Filter, u64> {
        let (first, mut decoded) = (blocks.start - blocks.start % BLOCKS, Vec::new());
        for (piece, bytes) in (first / BLOCKS..).zip(pieces.as_chunks::<FILTER_PIECE>().0) {
            let (held, expected) = bytes.split_at(FILTER_PIECE - 4);
            if checksum(piece, held).to_le_bytes() != expected {
                return Err(piece);
            }
            decoded.extend(held.as_chunks::<BLOCK>().0.iter().map(block));
        }
        decoded.truncate((blocks.end - first) as usize);
        decoded.drain(..((blocks.start - first) as usize).min(decoded.len()));
        Ok(Filter { first: blocks.start, blocks: decoded })
    }

    /// Adds a group, given by its hash, to the bucket with these blocks.
    pub(crate) fn insert(&mut self, of: &Range<u64>, hash: u64) {
        let block = &mut self.blocks[(place(of, hash) - self.first) as usize];
        block.iter_mut().zip(mask(hash)).for_each(|(word, bit)| *word |= bit);
    }

    /// Returns whether the bucket that consists of all blocks in this filter may contain the group with this hash. Never returns `false`
    /// for a group that the bucket contains.
    pub(crate) fn may_have(&self, hash: u64) -> bool {
        let of = self.first..self.first + self.blocks.len() as u64;
        let block = &self.blocks[(place(&of, hash) - self.first) as usize];
        block.iter().zip(mask(hash)).all(|(word, bit)| word & bit != 0)
    }

    /// Returns the bytes of all blocks except the first and the last. The bytes are split where pieces end, and each part is returned with
    /// its offset in the concatenated pieces. Also returns the first and the last block, which are shared with adjacent buckets.
    pub(crate) fn encode(&self) -> (Vec<Placed>, Vec<Numbered>) {
        let last = self.blocks.len() as u64 - 1;
        let number = |at: u64| self.first + at;
        let edges = [0, last].map(|at| (number(at), self.blocks[at as usize]));
        let mut parts: Vec<Placed> = Vec::new();
        for at in 1..last {
            if parts.is_empty() || number(at).is_multiple_of(BLOCKS) {
                parts.push((place_of(number(at)), Vec::new()));
            }
            if let Some((_, bytes)) = parts.last_mut() {
                self.blocks[at as usize].iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
            }
        }
        (parts, edges[..if last == 0 { 1 } else { 2 }].to_vec())
    }
}

/// Merges into a piece the blocks that several buckets share, and appends the checksum of the piece.
pub(crate) fn seal<'b>(piece: u64, bytes: &mut [u8; FILTER_PIECE], shared: impl Iterator<Item = (&'b u64, &'b Block)>) {
    for (number, block) in shared {
        let at = (place_of(*number) % FILTER_PIECE as u64) as usize;
        let words = bytes[at..at + BLOCK].as_chunks_mut::<4>().0;
        words.iter_mut().zip(block).for_each(|(word, more)| *word = (u32::from_le_bytes(*word) | more).to_le_bytes());
    }
    let (held, sum) = bytes.split_at_mut(FILTER_PIECE - 4);
    sum.copy_from_slice(&checksum(piece, held).to_le_bytes());
}

/// Returns the block numbers of a piece.
pub(crate) fn blocks_in(piece: u64) -> Range<u64> {
    piece * BLOCKS..(piece + 1) * BLOCKS
}

/// Returns the offset of a block in the concatenated pieces.
fn place_of(block: u64) -> u64 {
    block / BLOCKS * FILTER_PIECE as u64 + block % BLOCKS * BLOCK as u64
}

/// Returns the block of a group.
fn place(of: &Range<u64>, hash: u64) -> u64 {
    of.start + ((u64::from((hash >> 20) as u32) * (of.end - of.start)) >> 32)
}

/// Returns the bit of the group in each word of its block.
fn mask(hash: u64) -> Block {
    let low = (hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32;
    SALTS.map(|salt| 1 << (low.wrapping_mul(salt) >> 27))
}

fn block(bytes: &[u8; BLOCK]) -> Block {
    let mut block = Block::default();
    block.iter_mut().zip(bytes.as_chunks::<4>().0).for_each(|(word, bytes)| *word = u32::from_le_bytes(*bytes));
    block
}

fn checksum(piece: u64, held: &[u8]) -> u32 {
    let mut checksum = begun(piece);
    checksum.update(held);
    checksum.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_core::hash::splitmix64;

    /// Compares the filter with values that were computed by a different program according to the description of this module.
    #[test]
    fn a_worked_example() {
        let hash = 0x0123_4567_89ab_cdef;
        assert_eq!(place(&(10..110), hash), WORKED_PLACE);
        assert_eq!(mask(hash), WORKED_MASK.map(|bit| 1 << bit));
        assert_eq!((blocks_of(&(31..32)), blocks_of(&(64..96)), blocks_of(&(0..1 << 40))), (0..2, 2..4, 0..32_768));
        assert_eq!([0, 1, 32 * 127 - 1, 32 * 127].map(filter_pieces), [0, 1, 1, 2]);
    }

    const WORKED_PLACE: u64 = 30;
    const WORKED_MASK: [u32; 8] = [31, 2, 1, 15, 25, 25, 20, 1];

    #[test]
    fn three_of_a_hundred_others_pass() {
        let rows = 0..20_000_u64;
        let of = blocks_of(&rows);
        let mut filter = Filter::new(of.clone());
        rows.clone().for_each(|row| filter.insert(&of, splitmix64(1, row)));
        assert!(rows.clone().all(|row| filter.may_have(splitmix64(1, row))));
        let pass = (0..100_000).filter(|&other| filter.may_have(splitmix64(2, other))).count();
        assert!((1_000..4_000).contains(&pass), "{pass} of 100,000");
    }
}
