//! Fences: what stands in a run of each piece of its rows.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, FromZeros as _, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Bytes of a fence.
pub const FENCE: usize = size_of::<Fence>();
/// Bytes of a group that a fence has.
const PREFIX: usize = 8;
/// Fences that are read at once.
const AT_ONCE: u64 = 1024;

/// The first bytes of the group of the first row of a piece, and the checksum of the piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Fence {
    pub prefix: [u8; PREFIX],
    pub checksum: U32,
}

/// What a group begins with, as a fence has it. A smaller prefix is one of a smaller group.
pub fn prefix(group: &[u8]) -> [u8; PREFIX] {
    let mut prefix = [0; PREFIX];
    let taken = group.len().min(PREFIX);
    prefix[..taken].copy_from_slice(&group[..taken]);
    prefix
}

/// The checksum of a piece, before its first byte.
pub fn begun(piece: u64) -> crc32fast::Hasher {
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&piece.to_le_bytes());
    checksum
}

/// Some of the fences of a run, as one reader has them in memory.
#[derive(Debug, Default)]
pub struct Fences {
    first: u64,
    held: Vec<Fence>,
}

impl Fences {
    /// The fence of a piece of so many, whose fences begin at that byte of the file.
    pub fn get(&mut self, piece: u64, pieces: u64, file: &File, begin: u64) -> std::io::Result<Fence> {
        let held = |fences: &Fences| {
            let at = usize::try_from(piece.checked_sub(fences.first)?).ok()?;
            fences.held.get(at).copied()
        };
        if let Some(fence) = held(self) {
            return Ok(fence);
        }
        self.first = piece - piece % AT_ONCE;
        self.held.resize(AT_ONCE.min(pieces - self.first) as usize, Fence::new_zeroed());
        file.read_exact_at(self.held.as_mut_bytes(), begin + self.first * FENCE as u64)?;
        held(self).ok_or_else(|| std::io::ErrorKind::UnexpectedEof.into())
    }
}
