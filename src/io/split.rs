//! Cutting a corpus into pieces of work of about the same number of text bytes.
//!
//! A file may be one row group of gigabytes, or a million row groups of a kilobyte. So a large row group is cut into
//! ranges of rows (the reader skips whole pages by their headers) and small neighbours are read together.

use super::format::{Part, Piece, Starts};
use super::page_starts::nearest;
use super::source::{InputFile, Source};

/// A piece of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Which file, as an index into [`Source::files`].
    pub file: usize,
    /// The number of its first document.
    pub first_doc: u64,
    /// How many documents.
    pub rows: u64,
    /// About how many bytes of text.
    pub text_bytes: u64,
    pub(super) part: Part,
}

impl Source {
    /// All documents, in order, in pieces of about that many bytes of text (a single row is never cut).
    pub fn splits(&self, target_bytes: usize) -> Vec<Split> {
        self.cut(target_bytes, &|_, _| Starts::default())
    }

    /// The same with row groups cut between two pages, a page that is larger being a piece of its own. Reads the headers of
    /// pages of each row group of more than that many bytes: this is for pieces that are a good part of the corpus.
    pub fn splits_between_pages(&self, target_bytes: usize) -> Vec<Split> {
        self.cut(target_bytes, &|at, piece| self.starts_within(at, piece))
    }

    fn cut(&self, target_bytes: usize, page_starts: &dyn Fn(usize, usize) -> Starts) -> Vec<Split> {
        let target = (target_bytes as u64).max(1);
        let mut splits = Vec::new();
        for (at, file) in self.files.iter().enumerate().filter(|(_, file)| file.rows > 0) {
            let mut next = file.first_doc;
            for (rows, text_bytes, part) in cut(file, target, &|group| page_starts(at, group)) {
                if rows > 0 {
                    splits.push(Split { file: at, first_doc: next, rows, text_bytes, part });
                    next += rows;
                }
            }
        }
        splits
    }
}

fn cut(file: &InputFile, target: u64, page_starts: &dyn Fn(usize) -> Starts) -> Vec<(u64, u64, Part)> {
    let mut parts = Vec::new();
    for (first, count, sum) in together(&file.pieces, target) {
        let to = file.pieces.get(first + count).map_or(u64::MAX, |next| next.start);
        let divided = count == 1 && file.format.divides_pieces();
        let ranges = if divided { sum.bytes.div_ceil(target).clamp(1, sum.rows.max(1)) } else { 1 };
        let starts = if ranges > 1 { page_starts(first) } else { Starts::default() };
        let edge = |range: u64| range_edge(range, ranges, sum.rows, &starts);
        for range in 0..ranges {
            let rows = edge(range + 1) - edge(range);
            parts.push((rows, sum.bytes / ranges, Part { from: sum.start, to, skip: edge(range) }));
        }
    }
    parts
}

/// The first row of one of so many ranges of a row group: where a page begins, if that is known. A range may be empty.
fn range_edge(range: u64, ranges: u64, rows: u64, starts: &[u64]) -> u64 {
    if range == 0 || range >= ranges {
        return if range == 0 { 0 } else { rows };
    }
    // In 128 bits, because rows times ranges may be large in a file that lies about its sizes.
    let even = (u128::from(rows) * u128::from(range) / u128::from(ranges)) as u64;
    nearest(starts, even).min(rows)
}

/// Neighbouring pieces put together up to the target; a larger piece stands alone. Gives (first, count, sum).
fn together(pieces: &[Piece], target: u64) -> impl Iterator<Item = (usize, usize, Piece)> {
    let mut first = 0;
    std::iter::from_fn(move || {
        let mut sum = *pieces.get(first)?;
        let mut end = first + 1;
        while let Some(piece) = pieces.get(end).filter(|piece| sum.bytes.saturating_add(piece.bytes) <= target) {
            sum.bytes += piece.bytes;
            sum.rows += piece.rows;
            end += 1;
        }
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
        let cut: Vec<_> =
            together(&pieces, 10).map(|(first, count, sum)| (first, count, sum.rows, sum.bytes)).collect();
        assert_eq!(cut, [(0, 3, 30, 9), (3, 1, 10, 100), (4, 2, 20, 10), (6, 1, 10, 1)]);
    }

    proptest! {
        #[test]
        fn ranges_follow_each_other_and_begin_where_pages_do(
            rows in 1u64..5000,
            ranges in 1u64..40,
            mut starts in proptest::collection::vec(0u64..5000, 0..60),
        ) {
            starts.sort_unstable();
            let ranges = ranges.min(rows);
            let edges: Vec<u64> = (0..=ranges).map(|range| range_edge(range, ranges, rows, &starts)).collect();
            prop_assert_eq!((edges[0], edges[ranges as usize]), (0, rows));
            prop_assert!(edges.is_sorted());
            for (range, &edge) in edges.iter().enumerate().take(ranges as usize).skip(1) {
                let even = rows * range as u64 / ranges;
                let nearest = starts.iter().map(|start| start.abs_diff(even)).min();
                prop_assert!(edge == rows || edge.abs_diff(even) == nearest.unwrap_or(0));
            }
        }

        #[test]
        fn every_piece_is_in_exactly_one_part(sizes in proptest::collection::vec((0u64..50, 0u64..300), 0..40), target in 1u64..200) {
            let pieces: Vec<Piece> = sizes.iter().map(|&(rows, bytes)| Piece { rows, bytes, ..Piece::default() }).collect();
            let mut next = 0;
            for (first, count, sum) in together(&pieces, target) {
                prop_assert_eq!(first, next);
                prop_assert!(count == 1 || sum.bytes <= target);
                prop_assert_eq!(sum.rows, pieces[first..first + count].iter().map(|piece| piece.rows).sum::<u64>());
                next = first + count;
            }
            prop_assert_eq!(next, pieces.len());
        }
    }
}
