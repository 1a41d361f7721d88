//! Where a night and the index meet: two sequences in one order of groups, each gone through once.

use std::ops::Range;

use dupsift_core::error::Result;
use dupsift_spill::shuffle::run::{Run, bucket_of};

/// From so many rows for each group that is looked for, the filter is asked first: it is a byte a row.
const ROWS_A_GROUP: u64 = 32;

/// The groups of some buckets, in the order in which a [`Run`] has them.
#[derive(Debug, Default)]
pub struct Groups<'g>(Vec<Group<'g>>);

/// A group, and where it stood among those that were given.
#[derive(Clone, Copy, Debug)]
struct Group<'g> {
    place: (usize, &'g [u8]),
    number: usize,
}

impl<'g> Groups<'g> {
    /// Of groups in byte order, each once.
    pub fn new(groups: impl Iterator<Item = &'g [u8]>) -> Groups<'g> {
        let groups = groups.enumerate().map(|(number, group)| Group { place: (bucket_of(group), group), number });
        let mut groups: Vec<Group<'_>> = groups.collect();
        // Stable: within a bucket they stay in byte order.
        groups.sort_by_key(|group| group.place.0);
        Groups(groups)
    }
}

/// Hands on the rows of a run whose group is among these, of these buckets, with the number of the group; gives the bytes that were
/// read. Pieces that can have none of the groups are not read; where there are few groups for many rows, most rows of a piece are
/// not looked at (galloping: Bentley and Yao 1976).
///
/// # Errors
/// [`dupsift_core::error::Error::Damaged`] where a piece of the run is not what was written; what `each` returns.
pub fn meet(
    run: &Run,
    buckets: Range<usize>,
    Groups(groups): &Groups<'_>,
    mut each: impl FnMut(usize, &[u8]) -> Result<()>,
) -> Result<u64> {
    let (width, group_width) = (run.width(), run.group_width());
    // Where there are more groups, most pieces hold one that is there.
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
                // The group may go on in the next block.
                break;
            }
            at += 1;
        }
    }
    Ok(reader.bytes())
}

/// The first of the numbers from `low` to `high` for which `is` says yes, as it does for all behind it: looked for near `low` first.
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
