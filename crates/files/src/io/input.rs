//! A file with a place in it that is always known: what members of compressed files and records of web archives are found by.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom};

const BUFFER_BYTES: usize = 128 << 10;

/// The bytes of a file from its beginning on.
pub(super) struct Input {
    file: BufReader<File>,
    at: u64,
    size: u64,
}

impl Input {
    /// From the first byte on.
    pub fn new(file: File) -> io::Result<Input> {
        let size = file.metadata()?.len();
        let mut file = BufReader::with_capacity(BUFFER_BYTES, file);
        file.seek(SeekFrom::Start(0))?;
        Ok(Input { file, at: 0, size })
    }

    /// Where the next byte stands.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// The next bytes; none at the end.
    pub fn fill(&mut self) -> io::Result<&[u8]> {
        self.file.fill_buf()
    }

    /// Steps over bytes that [`Input::fill`] gave, of which nothing else was asked since.
    pub fn consume(&mut self, bytes: usize) {
        self.file.consume(bytes);
        self.at += bytes as u64;
    }

    /// Goes to another place, at most to the end; what is in memory stays there where the place is near.
    pub fn seek(&mut self, to: u64) -> io::Result<()> {
        let to = to.min(self.size);
        match (i64::try_from(to), i64::try_from(self.at)) {
            (Ok(new), Ok(old)) => self.file.seek_relative(new - old)?,
            _ => drop(self.file.seek(SeekFrom::Start(to))?),
        }
        self.at = to;
        Ok(())
    }

    /// Steps over that many bytes, and says over how many, which are fewer at the end.
    pub fn skip(&mut self, bytes: u64) -> io::Result<u64> {
        let from = self.at;
        self.seek(from.saturating_add(bytes))?;
        Ok(self.at.saturating_sub(from))
    }

    /// The next bytes, which stay where they are; fewer at the end.
    pub fn peek<const N: usize>(&mut self) -> io::Result<Vec<u8>> {
        let there = self.fill()?;
        if there.len() >= N {
            return Ok(there[..N].to_vec());
        }
        let from = self.at;
        let bytes = self.take(N as u64)?;
        self.seek(from)?;
        Ok(bytes)
    }

    /// The next bytes, which are stepped over; fewer at the end.
    pub fn take(&mut self, bytes: u64) -> io::Result<Vec<u8>> {
        let mut taken = Vec::new();
        self.file.by_ref().take(bytes).read_to_end(&mut taken)?;
        self.at += taken.len() as u64;
        Ok(taken)
    }

    /// Steps over all bytes up to that one and over itself; false where it does not come any more.
    pub fn skip_until(&mut self, byte: u8) -> io::Result<bool> {
        loop {
            let there = self.fill()?;
            let (length, end) = (there.len(), there.iter().position(|&other| other == byte));
            self.consume(end.map_or(length, |end| end + 1));
            if end.is_some() || length == 0 {
                return Ok(end.is_some());
            }
        }
    }

    /// Goes to the next place where these few bytes stand, or to the end; says whether they do, and whether all that was
    /// stepped over was zeros.
    pub fn find(&mut self, what: &[u8]) -> io::Result<(bool, bool)> {
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
                // Looking ahead may have given up what was in memory, so this is no case for `consume`.
                self.skip(1)?;
            }
        }
    }
}
