//! Lines of a reader: one at a time, blank ones left out, none longer than a bound.

use std::io::{self, BufRead, Read};

/// The longest line in bytes that is looked at: 2 GiB. A longer one is counted as a row that cannot be used.
pub(super) const MAX_LINE_BYTES: u64 = 2 << 30;

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
    limit: u64,
    /// Bytes read so far: where the next line begins.
    pub offset: u64,
}

impl<R: BufRead> Lines<R> {
    /// The lines from the reader's place on, which is that many bytes into the file.
    pub fn new(reader: R, offset: u64, limit: u64) -> Lines<R> {
        Lines { reader, line: Vec::new(), limit, offset }
    }

    /// The next line that is not blank, with the byte at which it begins; none at the end.
    pub fn next(&mut self) -> io::Result<Option<(u64, Line<'_>)>> {
        loop {
            let start = self.offset;
            if self.line.capacity() > KEPT_BYTES {
                self.line = Vec::new();
            }
            self.line.clear();
            let read = self.reader.by_ref().take(self.limit).read_until(b'\n', &mut self.line)? as u64;
            self.offset += read;
            if read == 0 {
                return Ok(None);
            }
            if read == self.limit && self.line.last() != Some(&b'\n') {
                let rest = self.reader.skip_until(b'\n')? as u64;
                self.offset += rest;
                if rest > 0 {
                    return Ok(Some((start, Line::TooLong(read + rest))));
                }
            }
            // A byte order mark is a Windows editor's way to say UTF-8; it is no part of the first line.
            let mark = if start == 0 && self.line.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
            if !self.line[mark..].trim_ascii().is_empty() {
                return Ok(Some((start, Line::Bytes(self.line[mark..].trim_ascii_end()))));
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
