//! Lines of a reader: one at a time, blank ones left out, none longer than a bound held in memory.

use super::coding::decode;
use crate::batch::document::MAX_TEXT_BYTES;
use encoding_rs::Encoding;
use std::io::{self, BufRead, Read};

/// The longest line in bytes that can be a row: the longest text, and what stands beside it. A longer one is stepped over
/// and counted as a row that cannot be used.
pub(super) const MAX_LINE_BYTES: u64 = MAX_TEXT_BYTES as u64 + (1 << 20);

/// The longest line in bytes that is looked into for what fields there are.
pub(super) const LOOKED_AT_BYTES: u64 = 16 << 20;

/// Memory that a line may leave behind for the next one.
const KEPT_BYTES: usize = 4 << 20;

/// One line that is not blank.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'l> {
    /// Its bytes, without the line end.
    Bytes(&'l [u8]),
    /// More bytes than a line may have: this many.
    TooLong(u64),
}

/// The lines of a reader.
pub(super) struct Lines<R> {
    reader: R,
    line: Vec<u8>,
    /// The line decoded, where it has to be.
    decoded: Vec<u8>,
    encoding: Option<&'static Encoding>,
    limit: u64,
    /// Bytes read so far: where the next line begins.
    pub offset: u64,
    /// The bytes of the last line without its end, as they are in the file.
    pub length: u64,
    /// The number of the last line, counted from 1, blank ones too.
    pub number: u64,
}

impl<R: BufRead> Lines<R> {
    /// The lines from the reader's place on, which is that many bytes into the file; of at most `limit` bytes each.
    pub fn new(reader: R, offset: u64, limit: u64) -> Lines<R> {
        Lines { reader, line: Vec::new(), decoded: Vec::new(), encoding: None, limit, offset, length: 0, number: 0 }
    }

    /// The same lines, each decoded from that encoding, whose line ends are those of ASCII.
    pub fn decoded(mut self, encoding: Option<&'static Encoding>) -> Lines<R> {
        self.encoding = encoding;
        self
    }

    /// What the lines are read from.
    pub fn reader(&self) -> &R {
        &self.reader
    }

    /// The next line that is not blank, with the byte at which it begins; none at the end.
    pub fn next(&mut self) -> io::Result<Option<(u64, Line<'_>)>> {
        loop {
            let start = self.offset;
            if self.line.capacity() > KEPT_BYTES {
                self.line = Vec::new();
            }
            if self.decoded.capacity() > KEPT_BYTES {
                self.decoded = Vec::new();
            }
            self.line.clear();
            // The line end is one byte more.
            let read = self.reader.by_ref().take(self.limit + 1).read_until(b'\n', &mut self.line)? as u64;
            self.offset += read;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            let ended = self.line.last() == Some(&b'\n');
            self.length = read - u64::from(ended);
            if self.length > self.limit {
                let rest = self.reader.skip_until(b'\n')? as u64;
                self.offset += rest;
                self.length += rest;
                return Ok(Some((start, Line::TooLong(self.length))));
            }
            // A byte order mark is a Windows editor's way to say UTF-8; it is no part of the first line.
            let mark = if start == 0 && self.line.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
            if self.line[mark..].trim_ascii().is_empty() {
                continue;
            }
            let line = self.line[mark..].trim_ascii_end();
            let Some(encoding) = self.encoding else { return Ok(Some((start, Line::Bytes(line)))) };
            decode(encoding, line, &mut self.decoded);
            return Ok(Some((start, Line::Bytes(&self.decoded))));
        }
    }

    /// Steps over the next line that is not blank, of any length: the byte at which it begins; none at the end.
    pub fn step(&mut self) -> io::Result<Option<u64>> {
        loop {
            let start = self.offset;
            let (mut blank, mut ended) = (true, false);
            self.length = 0;
            while !ended {
                let there = self.reader.fill_buf()?;
                if there.is_empty() {
                    break;
                }
                let end = memchr::memchr(b'\n', there);
                let part = &there[..end.unwrap_or(there.len())];
                blank = blank && part.iter().all(u8::is_ascii_whitespace);
                ended = end.is_some();
                let read = part.len() + usize::from(ended);
                self.length += part.len() as u64;
                self.offset += read as u64;
                self.reader.consume(read);
            }
            if self.offset == start {
                return Ok(None);
            }
            self.number += 1;
            if !blank {
                return Ok(Some(start));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn all(bytes: &[u8], limit: u64) -> Vec<(u64, Result<String, u64>)> {
        let mut lines = Lines::new(BufReader::with_capacity(3, bytes), 0, limit);
        let mut out = Vec::new();
        while let Some((start, line)) = lines.next().expect("memory does not fail") {
            out.push(match line {
                Line::Bytes(bytes) => (start, Ok(String::from_utf8_lossy(bytes).into_owned())),
                Line::TooLong(bytes) => (start, Err(bytes)),
            });
        }
        assert_eq!(lines.offset, bytes.len() as u64);
        out
    }

    #[test]
    fn blank_lines_are_no_rows_and_line_ends_of_all_systems_do() {
        let expected = [(3, Ok("a".to_owned())), (6, Ok(" \tb".to_owned())), (12, Ok("c".to_owned()))];
        assert_eq!(all(b"\n\r\na\r\n \tb\n\n\nc", 100), expected);
        assert_eq!(all(b"", 100), []);
        assert_eq!(all(b"\xEF\xBB\xBF{}\n", 100), [(0, Ok("{}".to_owned()))]);
        assert_eq!(all(b"\xEF\xBB\xBF\n", 100), []);
    }

    #[test]
    fn a_line_over_the_limit_is_counted_and_stepped_over() {
        assert_eq!(all(b"abcdefgh\nxy\n", 5), [(0, Err(9)), (9, Ok("xy".to_owned()))]);
        // Exactly at the limit, with and without a line end.
        assert_eq!(all(b"abcd\nabcde", 5), [(0, Ok("abcd".to_owned())), (5, Ok("abcde".to_owned()))]);
    }
}
