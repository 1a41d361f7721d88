//! Readings of a file that was looked at: where its text is now, and how often it was unpacked for that.

use super::format::Piece;
use super::packing::Packing;
use super::repacking::Again;
use super::source::{InputFile, Source};
use super::unpack::read_buffered;
use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes of lines that were unpacked of one compressed file, in all readings.
#[derive(Clone, Debug, Default)]
pub struct UnpackedBytes(Arc<AtomicU64>);

impl UnpackedBytes {
    /// The same reader, whose bytes are counted.
    pub(super) fn count<R: BufRead>(&self, reader: R) -> Counted<R> {
        Counted { reader, bytes: 0, to: self.clone() }
    }
}

/// A reader whose bytes are counted.
pub(super) struct Counted<R> {
    reader: R,
    bytes: u64,
    to: UnpackedBytes,
}

impl<R> Drop for Counted<R> {
    fn drop(&mut self) {
        self.to.0.fetch_add(self.bytes, Relaxed);
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

impl InputFile {
    /// Its text is read from where it was packed again; where that is not whole, the file is one piece.
    pub(super) fn take_again(&mut self, again: Again) {
        if self.format.names_columns() && self.coding.packing != Packing::Plain {
            self.unpacked.0.fetch_add(self.text_bytes, Relaxed);
        }
        match again {
            Again::No => {}
            Again::Lost => self.pieces = vec![Piece { rows: self.rows, bytes: self.text_bytes, ..Piece::default() }],
            Again::Whole(repacked) => self.repacked = Some(Arc::new(repacked)),
        }
    }
}

impl Source {
    /// Bytes of lines that were unpacked of compressed files so far: as many as these hold where each was read through once.
    pub fn unpacked_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.unpacked.0.load(Relaxed)).sum()
    }

    /// Bytes of work files that hold texts which were packed again.
    pub fn repacked_bytes(&self) -> u64 {
        self.files.iter().filter_map(|file| file.repacked.as_ref()).map(|repacked| repacked.bytes()).sum()
    }
}
