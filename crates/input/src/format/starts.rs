//! Describes the rows of a piece at which a read can begin.

use crate::format::columns::Columns;
use crate::format::read::Shared;
use std::path::Path;
use std::sync::Arc;

/// The location of a piece in its file; see [`Format::starts_within`](crate::format::Format::starts_within).
pub struct Within<'r> {
    /// The path of the file.
    pub path: &'r Path,
    /// The position where the piece begins, as in [`Piece::start`](crate::format::open::Piece::start).
    pub start: u64,
    /// The columns of the corpus.
    pub columns: &'r Columns,
    /// The values that all reads of a corpus share.
    pub shared: &'r Shared,
}

/// The rows at which a read of a piece may begin, in ascending order. Rows are counted from the first row of the piece.
pub(crate) type Starts = Arc<[u64]>;

/// Returns the page start nearest to `row`; `row` itself if no page start is known.
pub(crate) fn nearest(starts: &[u64], row: u64) -> u64 {
    let behind = starts.partition_point(|&start| start < row);
    let around = [behind.checked_sub(1), Some(behind)].into_iter().flatten().filter_map(|at| starts.get(at));
    around.copied().min_by_key(|start| start.abs_diff(row)).unwrap_or(row)
}
