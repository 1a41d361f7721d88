//! Reads ahead, so that the end of a record can be found before the record is used.

use crate::lines::held::KEPT_BYTES;
use std::io::{self, BufRead};

/// Bytes that were read ahead and have not been fully used yet.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    pub bytes: Vec<u8>,
    /// The number of bytes already used.
    at: usize,
}

impl Ahead {
    /// Returns the next bytes; empty only once all bytes have been used.
    pub(crate) fn look<'a, R: BufRead>(&'a self, reader: &'a mut R) -> io::Result<&'a [u8]> {
        if self.at < self.bytes.len() { Ok(&self.bytes[self.at..]) } else { filled(reader) }
    }

    /// Marks bytes as used.
    pub(crate) fn consume<R: BufRead>(&mut self, reader: &mut R, bytes: usize) {
        if self.at == self.bytes.len() {
            return reader.consume(bytes);
        }
        self.at += bytes;
        if self.at == self.bytes.len() {
            self.at = 0;
            self.bytes.clear();
            if self.bytes.capacity() > KEPT_BYTES {
                self.bytes = Vec::new();
            }
        }
    }

    /// Reads more bytes and keeps the current bytes. Returns `false` at the end.
    pub(crate) fn more<R: BufRead>(&mut self, reader: &mut R) -> io::Result<bool> {
        self.bytes.drain(..self.at);
        self.at = 0;
        if self.bytes.is_empty() {
            self.take(reader)?;
        }
        Ok(self.take(reader)? > 0)
    }

    fn take<R: BufRead>(&mut self, reader: &mut R) -> io::Result<usize> {
        let there = filled(reader)?;
        let bytes = there.len();
        self.bytes.extend_from_slice(there);
        reader.consume(bytes);
        Ok(bytes)
    }
}

fn filled<R: BufRead>(reader: &mut R) -> io::Result<&[u8]> {
    loop {
        match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(_) => break,
        }
    }
    reader.fill_buf()
}
