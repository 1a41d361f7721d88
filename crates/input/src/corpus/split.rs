//! Splits a corpus into pieces of work that contain about the same number of text bytes.
//!
//! A file may have a single row group of several gigabytes, or a million row groups of a kilobyte each. Therefore, a large row group is
//! split into ranges of rows (the reader skips whole pages after reading their headers), and small adjacent row groups are read together.

use crate::corpus::source::{InputFile, Source};
use crate::format::open::Piece;
use crate::format::read::Part;
use crate::format::starts::Starts;
use crate::format::starts::nearest;

/// A piece of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The index of the file in [`Source::files`].
    pub file: usize,
    /// The number of the first document in the piece.
    pub first_doc: u64,
    /// The number of documents.
    pub rows: u64,
    /// The approximate size of the text, in bytes.
    pub text_bytes: u64,
    pub(crate) part: Part,
}

impl Source {
    /// Returns all documents, in order, in pieces of about this many bytes of text (a single row is never split).
    pub fn splits(&self, target_bytes: usize) -> Vec<Split> {
        self.cut(&|_| target_bytes as u64, &|_, _| Starts::default())
    }

    /// Returns pieces of varying size: given the number of remaining text bytes, `target` returns the size of the next piece. Row groups
    /// are split between pages; a page that is larger than the target size is a separate piece. Reads the page headers of each row group
    /// that is split into pieces of less than `large` bytes, so this method is meant only for a small number of pieces, or for pieces that
    /// make up a large share of the corpus.
    pub fn splits_between_pages(&self, target: &dyn Fn(u64) -> u64, large: u64) -> Vec<Split> {
        self.cut(target, &|at, (piece, size)| {
            if size < large { self.starts_within(at, piece) } else { Starts::default() }
        })
    }

    fn cut(&self, target: &dyn Fn(u64) -> u64, page_starts: &dyn Fn(usize, (usize, u64)) -> Starts) -> Vec<Split> {
        let mut left = self.files.iter().map(|file| file.text_bytes).sum::<u64>();
        let mut splits = Vec::new();
        for (at, file) in self.files.iter().enumerate() {
            let behind = left.saturating_sub(file.text_bytes);
            // Wrong sizes in one file must not affect other files.
            let target = |left: u64| target(behind.saturating_add(left)).max(1);
            let mut next = file.first_doc;
            for (rows, text_bytes, part) in cut(file, &target, &|group| page_starts(at, group)) {
                if rows > 0 {
                    splits.push(Split { file: at, first_doc: next, rows, text_bytes, part });
                    next += rows;
                }
            }
            left = behind;
        }
        splits
    }
}

/// Splits a file; given the number of remaining bytes of the file, `target` returns the size of a piece.
fn cut(
    file: &InputFile,
    target: &dyn Fn(u64) -> u64,
    page_starts: &dyn Fn((usize, u64)) -> Starts,
) -> Vec<(u64, u64, Part)> {
    let mut parts = Vec::new();
    let mut left = file.text_bytes;
    for (first, count, sum) in together(&file.pieces, left, target) {
        let to = file.pieces.get(first + count).map_or(u64::MAX, |next| next.start);
        let divided = count == 1 && file.format.facts().divides_pieces;
        let ends = if divided { ends(sum, left, target) } else { vec![sum.bytes] };
        let starts = if ends.len() > 1 { page_starts((first, target(left))) } else { Starts::default() };
        let (mut row, mut byte) = (0, 0);
        for (at, &end) in ends.iter().enumerate() {
            let edge = if at + 1 == ends.len() { sum.rows } else { edge(sum, end, &starts) };
            parts.push((edge - row, end - byte, Part { from: sum.start, to, skip: row }));
            (row, byte) = (edge, end);
        }
        left = left.saturating_sub(sum.bytes);
    }
    parts
}

/// Returns the positions where the ranges of a row group end, in bytes of text. No range is smaller than an average row.
fn ends(group: Piece, left: u64, target: &dyn Fn(u64) -> u64) -> Vec<u64> {
    let row = group.bytes.div_ceil(group.rows.max(1)).max(1);
    let mut ends = Vec::new();
    let mut end = 0u64;
    while end < group.bytes {
        end = end.saturating_add(target(left.saturating_sub(end)).max(row)).min(group.bytes);
        ends.push(end);
    }
    if ends.is_empty() { vec![0] } else { ends }
}

/// Returns the row at which a range of a row group ends; this is the start of a page if page starts are known. A range may be empty.
fn edge(group: Piece, end: u64, starts: &[u64]) -> u64 {
    // Uses 128 bits, because rows times bytes may overflow in a file with wrong sizes.
    let even = (u128::from(group.rows) * u128::from(end) / u128::from(group.bytes.max(1))) as u64;
    nearest(starts, even).min(group.rows)
}

/// Combines adjacent pieces up to the target size, which depends on the number of remaining bytes; a piece that is larger than the target
/// size is not combined. Returns (first, count, sum) for each resulting piece.
fn together(
    pieces: &[Piece],
    mut left: u64,
    target: &dyn Fn(u64) -> u64,
) -> impl Iterator<Item = (usize, usize, Piece)> {
    let mut first = 0;
    std::iter::from_fn(move || {
        let mut sum = *pieces.get(first)?;
        let target = target(left);
        let mut end = first + 1;
        while let Some(piece) = pieces.get(end).filter(|piece| sum.bytes.saturating_add(piece.bytes) <= target) {
            sum.bytes += piece.bytes;
            sum.rows += piece.rows;
            end += 1;
        }
        left = left.saturating_sub(sum.bytes);
        let start = std::mem::replace(&mut first, end);
        Some((start, end - start, sum))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_neighbours_go_together_and_a_large_piece_stands_alone() {
        let pieces: Vec<Piece> =
            [3, 3, 3, 100, 1, 9, 1].map(|bytes| Piece { rows: 10, bytes, ..Piece::default() }).to_vec();
        let cut = |target: &dyn Fn(u64) -> u64| -> Vec<_> {
            together(&pieces, 120, target).map(|(first, count, sum)| (first, count, sum.rows, sum.bytes)).collect()
        };
        assert_eq!(cut(&|_| 10), [(0, 3, 30, 9), (3, 1, 10, 100), (4, 2, 20, 10), (6, 1, 10, 1)]);
        // The target is a twentieth of the remaining bytes: first 6, then 5. The pieces in the last 11 bytes are not combined.
        assert_eq!(
            cut(&|left| left / 20),
            [(0, 2, 20, 6), (2, 1, 10, 3), (3, 1, 10, 100), (4, 1, 10, 1), (5, 1, 10, 9), (6, 1, 10, 1)]
        );
    }

    #[test]
    fn ranges_of_a_row_group_are_the_smaller_the_less_is_left() {
        let group = Piece { rows: 100, bytes: 1000, ..Piece::default() };
        assert_eq!(ends(group, 1000, &|_| 300), [300, 600, 900, 1000]);
        assert_eq!(ends(group, 1600, &|left| (left / 4).max(120)), [400, 700, 925, 1000]);
        // A row has 10 bytes on average, so there are at most 100 ranges.
        assert_eq!(ends(group, 1000, &|_| 1).len(), 100);
        assert_eq!(ends(Piece { rows: 3, ..Piece::default() }, 0, &|_| 1), [0]);
        assert_eq!(edge(group, 300, &[0, 28, 61]), 28);
        assert_eq!((edge(group, 300, &[]), edge(group, 300, &[900])), (30, 100));
    }

    proptest! {
        #[test]
        fn edges_follow_each_other_and_are_where_pages_begin(
            rows in 1u64..5000,
            bytes in 1u64..100_000,
            target in 1u64..40_000,
            falls in 1u64..9,
            mut starts in proptest::collection::vec(0u64..5000, 0..60),
        ) {
            starts.sort_unstable();
            let group = Piece { rows, bytes, ..Piece::default() };
            let ends = ends(group, bytes, &|left| (left / falls).min(target).max(1));
            prop_assert!(ends.is_sorted() && ends.last() == Some(&bytes) && ends.len() as u64 <= rows);
            let edges: Vec<u64> = ends.iter().map(|&end| edge(group, end, &starts)).collect();
            prop_assert!(edges.is_sorted());
            for (&end, &edge) in ends.iter().zip(&edges) {
                let even = (u128::from(rows) * u128::from(end) / u128::from(bytes)) as u64;
                let nearest = starts.iter().map(|start| start.abs_diff(even)).min();
                prop_assert!(edge == rows || edge.abs_diff(even) == nearest.unwrap_or(0));
            }
        }

        #[test]
        fn every_piece_is_in_exactly_one_part(sizes in proptest::collection::vec((0u64..50, 0u64..300), 0..40), target in 1u64..200) {
            let pieces: Vec<Piece> = sizes.iter().map(|&(rows, bytes)| Piece { rows, bytes, ..Piece::default() }).collect();
            let mut next = 0;
            for (first, count, sum) in together(&pieces, 0, &|_| target) {
                prop_assert_eq!(first, next);
                prop_assert!(count == 1 || sum.bytes <= target);
                prop_assert_eq!(sum.rows, pieces[first..first + count].iter().map(|piece| piece.rows).sum::<u64>());
                next = first + count;
            }
            prop_assert_eq!(next, pieces.len());
        }
    }
}
