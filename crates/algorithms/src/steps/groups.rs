//! groups: assembles complete groups from blocks of ordered rows.
//!
//! A driver passes the rows of a bucket in blocks with arbitrary boundaries. A group that ends inside a block is passed as a slice of the
//! block; only a group that may continue in the next block is copied to memory that the driver provides.

use dupsift_core::error::Result;

/// Provides contiguous memory for rows; the driver decides where it is located.
pub trait Scratch {
    /// Returns a buffer of at least this many bytes. Existing bytes keep their values.
    ///
    /// # Errors
    /// Returns an error if the memory is a file and the disk is full.
    fn bytes(&mut self, len: usize) -> Result<&mut [u8]>;

    /// Marks the content as no longer needed.
    fn clear(&mut self) {}
}

/// Keeps rows in ordinary memory.
impl Scratch for Vec<u8> {
    fn bytes(&mut self, len: usize) -> Result<&mut [u8]> {
        if self.len() < len {
            self.resize(len, 0);
        }
        Ok(self)
    }
}

/// Assembles groups from ordered rows.
pub struct Groups<S> {
    width: usize,
    group_width: usize,
    scratch: S,
    /// The number of saved bytes of a group that may continue.
    held: usize,
}

impl<S: Scratch> Groups<S> {
    /// Returns an assembler for rows of this width in bytes. The first `group_width` bytes of a row identify its group.
    pub fn new(width: usize, group_width: usize, scratch: S) -> Groups<S> {
        Groups { width, group_width, scratch, held: 0 }
    }

    /// Adds the next rows and passes every complete group to `each`.
    ///
    /// # Errors
    /// Returns the errors of the scratch memory and of `each`.
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

    /// Ends the input and passes the last group to `each`.
    ///
    /// # Errors
    /// Returns the same errors as [`Groups::push`].
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

/// Returns the groups of a few rows, which may be in any order.
pub fn of_rows(mut rows: Vec<Vec<u8>>, group_width: usize) -> Vec<Vec<u8>> {
    rows.sort_unstable();
    rows.chunk_by(|a, b| a[..group_width] == b[..group_width]).map(<[_]>::concat).collect()
}

/// Returns the number of bytes in the leading rows that belong to the group `name`.
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
