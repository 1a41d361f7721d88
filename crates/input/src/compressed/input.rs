//! Reads a file and tracks the current position. The position is needed to find the members of compressed files and the records of web
//! archives.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom};

const BUFFER_BYTES: usize = 128 << 10;

/// The bytes of a file, read from its beginning.
pub(super) struct Input {
    file: BufReader<File>,
    at: u64,
    size: u64,
}

impl Input {
    /// Creates an input that starts at the first byte.
    pub(crate) fn new(file: File) -> io::Result<Input> {
        let size = file.metadata()?.len();
        let mut file = BufReader::with_capacity(BUFFER_BYTES, file);
        file.seek(SeekFrom::Start(0))?;
        Ok(Input { file, at: 0, size })
    }

    /// Returns the position of the next byte.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// Returns the next bytes, or no bytes at the end of the file.
    pub(crate) fn fill(&mut self) -> io::Result<&[u8]> {
        self.file.fill_buf()
    }

    /// Advances past bytes that the preceding call to [`Input::fill`] returned.
    pub(crate) fn consume(&mut self, bytes: usize) {
        self.file.consume(bytes);
        self.at += bytes as u64;
    }

    /// Moves to a position, or to the end of the file if the position is beyond the end. The buffer is kept if the new position is in it.
    pub(crate) fn seek(&mut self, to: u64) -> io::Result<()> {
        let to = to.min(self.size);
        match (i64::try_from(to), i64::try_from(self.at)) {
            (Ok(new), Ok(old)) => self.file.seek_relative(new - old)?,
            _ => drop(self.file.seek(SeekFrom::Start(to))?),
        }
        self.at = to;
        Ok(())
    }

    /// Advances by `bytes` bytes. Returns the number of bytes skipped, which is less than `bytes` if the file ends first.
    pub(crate) fn skip(&mut self, bytes: u64) -> io::Result<u64> {
        let from = self.at;
        self.seek(from.saturating_add(bytes))?;
        Ok(self.at.saturating_sub(from))
    }

    /// Returns the next `N` bytes without advancing, or fewer bytes at the end of the file.
    pub(crate) fn peek<const N: usize>(&mut self) -> io::Result<Vec<u8>> {
        let there = self.fill()?;
        if there.len() >= N {
            return Ok(there[..N].to_vec());
        }
        let from = self.at;
        let bytes = self.take(N as u64)?;
        self.seek(from)?;
        Ok(bytes)
    }

    /// Returns the next `bytes` bytes (or fewer at the end of the file), and advances past them.
    pub(crate) fn take(&mut self, bytes: u64) -> io::Result<Vec<u8>> {
        let mut taken = Vec::new();
        self.file.by_ref().take(bytes).read_to_end(&mut taken)?;
        self.at += taken.len() as u64;
        Ok(taken)
    }

    /// Advances past the next occurrence of `byte`. Returns `false` if there is no further occurrence.
    pub(crate) fn skip_until(&mut self, byte: u8) -> io::Result<bool> {
        loop {
            let there = self.fill()?;
            let (length, end) = (there.len(), there.iter().position(|&other| other == byte));
            self.consume(end.map_or(length, |end| end + 1));
            if end.is_some() || length == 0 {
                return Ok(end.is_some());
            }
        }
    }

    /// Moves to the next occurrence of `what`, or to the end of the file. Returns whether `what` was found, and whether only zeros were
    /// skipped.
    pub(crate) fn find(&mut self, what: &[u8]) -> io::Result<(bool, bool)> {
        let mut only_zeros = true;
        loop {
            let there = self.fill()?;
            let (length, place) = (there.len(), there.iter().position(|byte| what.first() == Some(byte)));
            if length == 0 {
                return Ok((false, only_zeros));
            }
            let before = place.unwrap_or(length);
            only_zeros &= there[..before].iter().all(|&byte| byte == 0);
            self.consume(before);
            if place.is_some() {
                if self.peek::<8>()?.starts_with(what) {
                    return Ok((true, only_zeros));
                }
                only_zeros = false;
                // `skip` is used instead of `consume` because `peek` may have discarded the buffer.
                self.skip(1)?;
            }
        }
    }
}
