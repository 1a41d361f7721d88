//! Holds the bytes of a line while it is read, decoded if needed.

use crate::compressed::coding::decode_on;
use encoding_rs::Decoder;

/// The maximum number of bytes that stay allocated between two lines.
pub(super) const KEPT_BYTES: usize = 4 << 20;

/// The size, in bytes, of a block that the allocator maps separately and returns to the system in full. A buffer that grows on the heap
/// leaves behind fragments of about half its size.
const MAPPED_BYTES: usize = 33 << 20;

/// A line being read.
pub(super) struct Held<'l> {
    pub line: &'l mut Vec<u8>,
    /// The number of additional bytes of the file that may be held.
    pub room: u64,
    pub decoder: Option<Decoder>,
    /// The maximum number of decoded bytes that are held; further bytes are only counted.
    pub limit: u64,
    /// The number of bytes that were counted but not held.
    pub passed: u64,
}

impl Held<'_> {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let some = bytes.len().min(usize::try_from(self.room).unwrap_or(usize::MAX));
        self.room -= some as u64;
        if self.line.len() + some > KEPT_BYTES && self.line.capacity() < MAPPED_BYTES {
            self.line.reserve_exact(MAPPED_BYTES - self.line.len());
        }
        match &mut self.decoder {
            Some(decoder) => decode_on(decoder, &bytes[..some], false, self.line),
            None => self.line.extend_from_slice(&bytes[..some]),
        }
        if self.line.len() as u64 > self.limit {
            self.passed += self.line.len() as u64;
            self.line.clear();
        }
    }

    pub(crate) fn end(&mut self) {
        if let Some(decoder) = &mut self.decoder {
            decode_on(decoder, &[], true, self.line);
        }
    }
}
