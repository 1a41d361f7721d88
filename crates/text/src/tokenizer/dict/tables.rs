//! Tables as bytes: what the build script put into the program is used where it stands.
//!
//! A table is the number of its bytes (64 bits), then the bytes from the next multiple of [`ALIGNMENT`] on, in the order of
//! the machine that the program is built for. No table has a name: they are read in the order in which `write.rs` writes them.

use std::borrow::Cow;

use bytemuck::AnyBitPattern;

/// Where tables begin: where lines of the processor's cache do.
pub const ALIGNMENT: usize = 64;

/// Reads tables, each as the type that it was written as.
pub struct Reader {
    rest: &'static [u8],
}

impl Reader {
    /// Begins at the first table. The bytes begin at a multiple of [`ALIGNMENT`].
    pub fn new(bytes: &'static [u8]) -> Reader {
        Reader { rest: bytes }
    }

    /// The next table, where it stands; an empty one behind the last.
    pub fn list<T: AnyBitPattern>(&mut self) -> Cow<'static, [T]> {
        let length = self.rest.first_chunk().map_or(0, |&length| u64::from_ne_bytes(length) as usize);
        let from = ALIGNMENT.min(self.rest.len());
        let end = (from + length).min(self.rest.len());
        let table = &self.rest[from..end];
        self.rest = &self.rest[end.next_multiple_of(ALIGNMENT).min(self.rest.len())..];
        Cow::Borrowed(bytemuck::try_cast_slice(table).unwrap_or_default())
    }

    /// The next table, of so many entries.
    pub fn array<T: AnyBitPattern, const N: usize>(&mut self) -> [T; N] {
        self.list().first_chunk().copied().unwrap_or([T::zeroed(); N])
    }
}
