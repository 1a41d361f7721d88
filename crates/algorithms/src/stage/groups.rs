//! groups: rows in order, in any cuts, as whole groups.
//!
//! A driver hands the rows of a bucket to a scan in blocks, cut where it likes. A group that ends inside of a block is a
//! slice of it; only a group that goes on in the next block is held, in memory that the driver gives.

use dupsift_core::error::Result;

/// Memory for rows that have to stand side by side; the driver decides where it is.
pub trait Scratch {
    /// At least so many bytes; of those that were there before, the content stays.
    ///
    /// # Errors
    /// Where the memory is a file: a full disk.
    fn bytes(&mut self, len: usize) -> Result<&mut [u8]>;

    /// What stands there is not needed any more.
    fn clear(&mut self) {}
}

/// Ordinary memory, for drivers that have it.
impl Scratch for Vec<u8> {
    fn bytes(&mut self, len: usize) -> Result<&mut [u8]> {
        if self.len() < len {
            self.resize(len, 0);
        }
        Ok(self)
    }
}

/// Puts groups together from rows in order.
pub struct Groups<S> {
    width: usize,
    group_width: usize,
    scratch: S,
    /// Bytes of the group that may go on.
    held: usize,
}

impl<S: Scratch> Groups<S> {
    /// Of rows of `width` bytes, of which the first `group_width` name the group.
    pub fn new(width: usize, group_width: usize, scratch: S) -> Groups<S> {
        Groups { width, group_width, scratch, held: 0 }
    }

    /// Takes the next rows; `each` gets every group that has ended.
    ///
    /// # Errors
    /// Of the scratch, and what `each` returns.
    pub fn push(&mut self, rows: &[u8], mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        debug_assert_eq!(rows.len() % self.width, 0);
        let goes_on = if self.held == 0 {
            0
        } else {
            let name = &self.scratch.bytes(self.held)?[..self.group_width];
            same_group(rows, self.width, name)
        };
        self.hold(&rows[..goes_on])?;
        let rest = &rows[goes_on..];
        if rest.is_empty() {
            return Ok(());
        }
        self.end(&mut each)?;
        let mut begin = 0;
        loop {
            let group = begin + same_group(&rest[begin..], self.width, &rest[begin..begin + self.group_width]);
            if group == rest.len() {
                return self.hold(&rest[begin..]);
            }
            each(&rest[begin..group])?;
            begin = group;
        }
    }

    /// No more rows come: `each` gets the last group.
    ///
    /// # Errors
    /// As [`Groups::push`].
    pub fn finish(mut self, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.end(&mut each)
    }

    fn hold(&mut self, rows: &[u8]) -> Result<()> {
        if !rows.is_empty() {
            let to = self.held + rows.len();
            self.scratch.bytes(to)?[self.held..to].copy_from_slice(rows);
            self.held = to;
        }
        Ok(())
    }

    fn end(&mut self, each: &mut impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let held = std::mem::take(&mut self.held);
        if held > 0 {
            each(&self.scratch.bytes(held)?[..held])?;
            self.scratch.clear();
        }
        Ok(())
    }
}

/// The groups of a few rows that stand in memory, in any order.
pub fn of_rows(mut rows: Vec<Vec<u8>>, group_width: usize) -> Vec<Vec<u8>> {
    rows.sort_unstable();
    rows.chunk_by(|a, b| a[..group_width] == b[..group_width]).map(<[_]>::concat).collect()
}

/// The bytes of the rows at the front whose group has this name.
fn same_group(rows: &[u8], width: usize, name: &[u8]) -> usize {
    rows.chunks_exact(width).take_while(|row| &row[..name.len()] == name).count() * width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_the_same_in_all_cuts() {
        let rows: Vec<[u8; 2]> = [(1, 1), (1, 2), (2, 1), (4, 1), (4, 1), (4, 7), (9, 0)].map(|(a, b)| [a, b]).into();
        let expected: Vec<Vec<u8>> = rows.chunk_by(|a, b| a[0] == b[0]).map(<[_]>::concat).collect();
        assert_eq!(of_rows(rows.iter().rev().map(|row| row.to_vec()).collect(), 1), expected);
        for cuts in 0..1u32 << (rows.len() - 1) {
            let mut groups = Groups::new(2, 1, Vec::new());
            let mut found: Vec<Vec<u8>> = Vec::new();
            let mut each = |group: &[u8]| Ok(found.push(group.to_vec()));
            let mut begin = 0;
            for at in 1..=rows.len() {
                if at == rows.len() || cuts >> (at - 1) & 1 == 1 {
                    groups.push(&rows[begin..at].concat(), &mut each).unwrap();
                    groups.push(&[], &mut each).unwrap();
                    begin = at;
                }
            }
            groups.finish(&mut each).unwrap();
            assert_eq!(found, expected, "cuts {cuts:b}");
        }
    }

    #[test]
    fn no_rows_are_no_group() {
        let mut groups = Groups::new(2, 1, Vec::new());
        groups.push(&[], |_| unreachable!()).unwrap();
        groups.finish(|_| unreachable!()).unwrap();
    }
}
