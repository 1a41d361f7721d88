//! Fences: what stands in a run of each piece of its rows.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

/// Bytes of a fence.
pub const FENCE: usize = 12;
/// Bytes of a group that a fence has.
const PREFIX: usize = 8;
/// Fences that are read at once.
const AT_ONCE: u64 = 1024;

/// The first bytes of the group of the first row of a piece, and the checksum of the piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    pub prefix: [u8; PREFIX],
    pub checksum: u32,
}

impl Fence {
    pub fn encode(&self) -> [u8; FENCE] {
        let mut bytes = [0; FENCE];
        bytes[..PREFIX].copy_from_slice(&self.prefix);
        bytes[PREFIX..].copy_from_slice(&self.checksum.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8; FENCE]) -> Fence {
        let [a, b, c, d, e, f, g, h, checksum @ ..] = *bytes;
        Fence { prefix: [a, b, c, d, e, f, g, h], checksum: u32::from_le_bytes(checksum) }
    }
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
    held: Vec<u8>,
}

impl Fences {
    /// The fence of a piece of so many, whose fences begin at that byte of the file.
    pub fn get(&mut self, piece: u64, pieces: u64, file: &File, begin: u64) -> std::io::Result<Fence> {
        let held = |fences: &Fences| {
            let at = usize::try_from(piece.checked_sub(fences.first)?).ok()?;
            fences.held.as_chunks::<FENCE>().0.get(at).map(Fence::decode)
        };
        if let Some(fence) = held(self) {
            return Ok(fence);
        }
        self.first = piece - piece % AT_ONCE;
        self.held.resize(AT_ONCE.min(pieces - self.first) as usize * FENCE, 0);
        file.read_exact_at(&mut self.held, begin + self.first * FENCE as u64)?;
        held(self).ok_or_else(|| std::io::ErrorKind::UnexpectedEof.into())
    }
}
