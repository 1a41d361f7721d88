//! Holds the repacked text of a line-based file that cannot be split. The first read stores the text in a temporary file, in blocks that
//! are unpacked independently.

use crate::compressed::unpack::read_buffered;
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

/// A block of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// The position in the text where the block begins.
    pub start: u64,
    /// The position in the temporary file where the block begins.
    pub at: u64,
    /// The size of the block in the temporary file, in bytes.
    pub packed: u32,
    /// The unpacked size of the block, in bytes.
    pub bytes: u32,
}

/// The blocks of a file.
#[derive(Debug)]
pub struct Repacked {
    file: Arc<File>,
    blocks: Vec<Block>,
}

impl Repacked {
    /// Returns the text that consists of these blocks of a temporary file; `blocks` may be in any order.
    pub(crate) fn new(file: Arc<File>, mut blocks: Vec<Block>) -> Repacked {
        blocks.sort_unstable_by_key(|block| block.start);
        blocks.shrink_to_fit();
        Repacked { file, blocks }
    }

    /// Returns the size of these blocks in the temporary file, in bytes.
    pub fn bytes(&self) -> u64 {
        self.blocks.iter().map(|block| u64::from(block.packed)).sum()
    }

    fn unpack(&self, block: &Block, packed: &mut [u8], text: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(packed, block.at)?;
        match lz4_flex::block::decompress_into(packed, text) {
            Ok(bytes) if bytes == text.len() => Ok(()),
            _ => Err(io::Error::other("its bytes differ from the bytes that were written")),
        }
    }

    /// Returns a reader for the text from this byte onward.
    pub(crate) fn from(&self, byte: u64) -> Blocks<'_> {
        let next = self.blocks.partition_point(|block| block.start <= byte).saturating_sub(1);
        let skip = self.blocks.get(next).map_or(0, |block| byte - block.start) as usize;
        let (packed, text) = (Vec::new(), Vec::new());
        Blocks { of: self, next, skip, packed, text, at: 0 }
    }
}

/// An I/O error in the temporary file; the input file may be intact.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct InWorkFile(io::Error);

/// Returns the error in the temporary file if that error caused `error`; otherwise, returns `error` unchanged.
pub(crate) fn of_work_file(error: io::Error) -> std::result::Result<io::Error, io::Error> {
    error.downcast::<InWorkFile>().map(|InWorkFile(error)| error)
}

/// A reader over consecutive blocks.
pub(crate) struct Blocks<'r> {
    of: &'r Repacked,
    next: usize,
    /// The number of bytes to skip in the first block.
    skip: usize,
    packed: Vec<u8>,
    text: Vec<u8>,
    at: usize,
}

impl Read for Blocks<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        read_buffered(self, into)
    }
}

impl BufRead for Blocks<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.at >= self.text.len()
            && let Some(block) = self.of.blocks.get(self.next)
        {
            self.packed.resize(block.packed as usize, 0);
            self.text.resize(block.bytes as usize, 0);
            self.of
                .unpack(block, &mut self.packed, &mut self.text)
                .map_err(|error| io::Error::other(InWorkFile(error)))?;
            (self.next, self.at) = (self.next + 1, std::mem::take(&mut self.skip));
        }
        Ok(self.text.get(self.at..).unwrap_or_default())
    }

    fn consume(&mut self, count: usize) {
        self.at += count;
    }
}
