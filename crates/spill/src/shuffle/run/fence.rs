//! Defines fences, which are the data that a run stores about each piece of its rows.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, FromZeros as _, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The size of a fence in bytes.
pub(crate) const FENCE: usize = size_of::<Fence>();
/// The number of leading bytes of a group that are stored in a fence.
const PREFIX: usize = 8;
/// The number of fences read at a time.
const AT_ONCE: u64 = 1024;

/// The leading bytes of the group to which a piece's first row belongs, and the checksum of the piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Fence {
    pub prefix: [u8; PREFIX],
    pub checksum: U32,
}

/// Returns the leading bytes of a group as stored in a fence. If two groups have different prefixes, the group with the smaller prefix is
/// the smaller one.
pub(crate) fn prefix(group: &[u8]) -> [u8; PREFIX] {
    let mut prefix = [0; PREFIX];
    let taken = group.len().min(PREFIX);
    prefix[..taken].copy_from_slice(&group[..taken]);
    prefix
}

/// Starts the checksum of a piece.
pub(crate) fn begun(piece: u64) -> crc32fast::Hasher {
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&piece.to_le_bytes());
    checksum
}

/// The fences of a run that one reader holds in memory.
#[derive(Debug, Default)]
pub(crate) struct Fences {
    first: u64,
    held: Vec<Fence>,
}

impl Fences {
    /// Returns the fence of a piece. `pieces` is the number of pieces, and `begin` is the file offset of the first
    /// fence.
    pub(crate) fn get(&mut self, piece: u64, pieces: u64, file: &File, begin: u64) -> std::io::Result<Fence> {
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
