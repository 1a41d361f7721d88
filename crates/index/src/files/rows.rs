//! Matches a batch with the index. The rows of the batch and the rows of the index are sorted by group in the same order, and each sequence
//! of rows is read once.

use std::ops::Range;

use dupsift_core::error::Result;
use dupsift_spill::shuffle::run::{Run, bucket_of};

/// The filter, which has one byte per row, is consulted first if there are at least this many rows for each group that is looked up.
const ROWS_A_GROUP: u64 = 32;

/// Holds the groups of some buckets, in the order used in a [`Run`].
#[derive(Debug, Default)]
pub struct Groups<'g>(Vec<Group<'g>>);

/// Holds a group and its position in the input.
#[derive(Clone, Copy, Debug)]
struct Group<'g> {
    place: (usize, &'g [u8]),
    number: usize,
}

impl<'g> Groups<'g> {
    /// Sorts groups by bucket; the groups must be given in byte order, without duplicates.
    pub fn new(groups: impl Iterator<Item = &'g [u8]>) -> Groups<'g> {
        let groups = groups.enumerate().map(|(number, group)| Group { place: (bucket_of(group), group), number });
        let mut groups: Vec<Group<'_>> = groups.collect();
        // The sort is stable: groups within a bucket stay in byte order.
        groups.sort_by_key(|group| group.place.0);
        Groups(groups)
    }
}

/// Calls `each` with every row in these buckets that belongs to one of `groups`, together with the group's number. Returns the number of
/// bytes read. Pieces that cannot contain any of the groups are not read. If there are few groups and many rows, most rows of a piece are
/// skipped (galloping search: Bentley and Yao 1976).
///
/// # Errors
/// Returns [`dupsift_core::error::Error::Damaged`] if a piece of the run was changed after it was written, or an error from `each`.
pub fn meet(
    run: &Run,
    buckets: Range<usize>,
    Groups(groups): &Groups<'_>,
    mut each: impl FnMut(usize, &[u8]) -> Result<()>,
) -> Result<u64> {
    let (width, group_width) = (run.width(), run.group_width());
    // Most pieces would contain at least one of a larger number of groups, so the filter would not help.
    let by_filter = groups.len() as u64 <= run.rows_of(buckets.clone()) / ROWS_A_GROUP;
    let (mut reader, mut at) = (run.read(buckets), 0);
    while let Some(&Group { place: (bucket, group), .. }) = groups.get(at) {
        if by_filter && !reader.may_have(bucket, group)? || !reader.seek(bucket, group)? {
            at += 1;
            continue;
        }
        let Some(block) = reader.next_block()? else { break };
        let rows = block.len() / width;
        let row = |number: usize| &block[number * width..(number + 1) * width];
        let place = |number: usize| {
            let group = &row(number)[..group_width];
            (bucket_of(group), group)
        };
        let mut next = 0;
        while at < groups.len() {
            next = first(next, rows, |number| place(number) >= groups[at].place);
            while next < rows && row(next)[..group_width] == *groups[at].place.1 {
                each(groups[at].number, row(next))?;
                next += 1;
            }
            if next == rows {
                // The group may continue in the next block.
                break;
            }
            at += 1;
        }
    }
    Ok(reader.bytes())
}

/// Returns the first number from `low` to `high` for which `is` returns `true`; the search starts near `low`. If `is` returns `true` for a
/// number, it must return `true` for all larger numbers.
fn first(low: usize, high: usize, is: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high, mut step) = (low, high, 1);
    while low < high {
        let look = low + step - 1;
        if look >= high {
            break;
        }
        if is(look) {
            high = look;
            break;
        }
        (low, step) = (look + 1, step * 2);
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if is(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_found_from_anywhere() {
        for high in 0..40 {
            for border in 0..=high {
                for low in 0..=border {
                    assert_eq!(first(low, high, |number| number >= border), border, "{low}..{high}");
                }
            }
        }
    }
}
