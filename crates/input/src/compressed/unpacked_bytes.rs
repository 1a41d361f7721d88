//! Counts the bytes that are unpacked from a compressed line-based file. The count shows whether the file is
//! unpacked repeatedly.

use crate::compressed::unpack::read_buffered;
use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counts the total number of bytes unpacked by all reads of one compressed line-based file.
#[derive(Clone, Debug, Default)]
pub struct UnpackedBytes(Arc<AtomicU64>);

impl UnpackedBytes {
    /// Adds unpacked bytes.
    pub(crate) fn add(&self, bytes: u64) {
        self.0.fetch_add(bytes, Relaxed);
    }

    /// Returns the number of bytes counted so far.
    pub(crate) fn so_far(&self) -> u64 {
        self.0.load(Relaxed)
    }

    /// Returns a reader that counts its bytes.
    pub(crate) fn count<R: BufRead>(&self, reader: R) -> Counted<R> {
        Counted { reader, bytes: 0, to: self.clone() }
    }
}

/// A reader that counts its bytes.
pub(crate) struct Counted<R> {
    reader: R,
    bytes: u64,
    to: UnpackedBytes,
}

impl<R> Drop for Counted<R> {
    fn drop(&mut self) {
        self.to.add(self.bytes);
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        read_buffered(self, into)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.bytes += count as u64;
        self.reader.consume(count);
    }
}
