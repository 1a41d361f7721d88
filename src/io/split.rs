//! Cutting a corpus into pieces of work of about the same number of text bytes.
//!
//! A file may be one row group of gigabytes, or a million row groups of a kilobyte. So a large row group is cut into
//! ranges of rows (the reader skips whole pages by their headers) and small neighbours are read together.

use super::source::{InputFile, Piece, Pieces, Source};

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

/// Where the piece is in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Some row groups, after the first so many rows of them.
    RowGroups { first: usize, count: usize, skip: u64 },
    /// The lines that begin from one byte up to another.
    Lines { from: u64, to: u64 },
    /// The records of a web archive that begin from one byte of the file up to another.
    Records { from: u64, to: u64 },
    /// All of it.
    Whole,
}

impl Source {
    /// All documents, in order, in pieces of about that many bytes of text (a single row is never cut).
    pub fn splits(&self, target_bytes: usize) -> Vec<Split> {
        let target = (target_bytes as u64).max(1);
        let mut splits = Vec::new();
        for (at, file) in self.files.iter().enumerate().filter(|(_, file)| file.rows > 0) {
            let mut next = file.first_doc;
            for (rows, text_bytes, part) in cut(file, target) {
                if rows > 0 {
                    splits.push(Split { file: at, first_doc: next, rows, text_bytes, part });
                    next += rows;
                }
            }
        }
        splits
    }
}

fn cut(file: &InputFile, target: u64) -> Vec<(u64, u64, Part)> {
    match &file.pieces {
        Pieces::Whole => vec![(file.rows, file.text_bytes, Part::Whole)],
        Pieces::Lines(pieces) => {
            let mut from = 0;
            together(pieces, target)
                .map(|(_, _, sum)| {
                    let to = from + sum.bytes;
                    (sum.rows, sum.bytes, Part::Lines { from: std::mem::replace(&mut from, to), to })
                })
                .collect()
        }
        Pieces::Records { pieces, starts } => together(pieces, target)
            .map(|(first, count, sum)| {
                let start = |at: usize| starts.get(at).copied().unwrap_or(u64::MAX);
                (sum.rows, sum.bytes, Part::Records { from: start(first), to: start(first + count) })
            })
            .collect(),
        Pieces::RowGroups(pieces) => {
            let mut parts = Vec::new();
            for (first, count, sum) in together(pieces, target) {
                let ranges = if count == 1 { sum.bytes.div_ceil(target).clamp(1, sum.rows.max(1)) } else { 1 };
                for range in 0..ranges {
                    // In 128 bits, because rows times ranges may be large in a file that lies about its sizes.
                    let edge = |range: u64| (u128::from(sum.rows) * u128::from(range) / u128::from(ranges)) as u64;
                    let rows = edge(range + 1) - edge(range);
                    parts.push((rows, sum.bytes / ranges, Part::RowGroups { first, count, skip: edge(range) }));
                }
            }
            parts
        }
    }
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
        let pieces: Vec<Piece> = [3, 3, 3, 100, 1, 9, 1].map(|bytes| Piece { rows: 10, bytes }).to_vec();
        let cut: Vec<_> =
            together(&pieces, 10).map(|(first, count, sum)| (first, count, sum.rows, sum.bytes)).collect();
        assert_eq!(cut, [(0, 3, 30, 9), (3, 1, 10, 100), (4, 2, 20, 10), (6, 1, 10, 1)]);
    }

    proptest! {
        #[test]
        fn every_piece_is_in_exactly_one_part(sizes in proptest::collection::vec((0u64..50, 0u64..300), 0..40), target in 1u64..200) {
            let pieces: Vec<Piece> = sizes.iter().map(|&(rows, bytes)| Piece { rows, bytes }).collect();
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
