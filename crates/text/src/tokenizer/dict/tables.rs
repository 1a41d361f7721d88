//! Reads tables from bytes that the build script embeds in the program. The program uses the bytes in place.
//!
//! A table consists of its length in bytes (a 64-bit number) and its contents, which begin at the next multiple of [`ALIGNMENT`] and are in
//! the byte order of the target machine. Tables have no names: they are read in the order in which `write.rs` writes them.

use std::borrow::Cow;

use bytemuck::AnyBitPattern;

/// The alignment of tables, which is the size of a cache line.
pub(crate) const ALIGNMENT: usize = 64;

/// Reads tables. Each table must be read as the type with which it was written.
pub(crate) struct Reader {
    rest: &'static [u8],
}

impl Reader {
    /// Creates a reader at the first table. The address of the bytes must be a multiple of [`ALIGNMENT`].
    pub(crate) fn new(bytes: &'static [u8]) -> Reader {
        Reader { rest: bytes }
    }

    /// Returns the next table without copying it, or an empty table after the last table.
    pub(crate) fn list<T: AnyBitPattern>(&mut self) -> Cow<'static, [T]> {
        let length = self.rest.first_chunk().map_or(0, |&length| u64::from_ne_bytes(length) as usize);
        let from = ALIGNMENT.min(self.rest.len());
        let end = (from + length).min(self.rest.len());
        let table = &self.rest[from..end];
        self.rest = &self.rest[end.next_multiple_of(ALIGNMENT).min(self.rest.len())..];
        Cow::Borrowed(bytemuck::try_cast_slice(table).unwrap_or_default())
    }

    /// Returns a copy of the next table, which must have this many entries.
    pub(crate) fn array<T: AnyBitPattern, const N: usize>(&mut self) -> [T; N] {
        self.list().first_chunk().copied().unwrap_or([T::zeroed(); N])
    }
}
