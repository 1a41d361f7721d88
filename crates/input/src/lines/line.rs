//! Reads lines, or the items of a JSON array, one at a time. Skips blank lines, and holds at most a fixed number of bytes of each line.

use crate::compressed::coding::{Coding, LineEncoding, decode};
use crate::compressed::unpack::{Damage, Trust};
use crate::cut_off::CutOff;
use crate::lines::ahead::Ahead;
use crate::lines::begun::{Begun, MARK};
use crate::lines::held::{Held, KEPT_BYTES};
use crate::lines::items::Items;
use crate::lines::quotes::{Dialect, Quotes, RecordEnd};
use dupsift_core::encoding::detect::is_utf8_after_all;
use dupsift_tables::document::MAX_TEXT_BYTES;
use std::io::{self, BufRead};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The maximum size, in bytes, of a line that can be a row; leaves room for the longest text and other fields. A longer line is skipped and
/// counted as an unusable row.
pub(super) const MAX_LINE_BYTES: u64 = MAX_TEXT_BYTES as u64 + (1 << 20);

/// The maximum size, in bytes, of a line that is inspected for its fields.
pub(crate) const LOOKED_AT_BYTES: u64 = 16 << 20;

/// Locked by the reader that is holding a long line, if readers take turns.
static TURN: Mutex<()> = Mutex::new(());

/// One line that is not blank.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'l> {
    /// The bytes of the line, without the line break.
    Bytes(&'l [u8]),
    /// The size in bytes of a line that exceeds the limit.
    TooLong(u64),
}

/// The lines of a reader.
pub(super) struct Lines<R> {
    reader: R,
    /// The line without a byte order mark, decoded if needed.
    line: Vec<u8>,
    /// The decoded line, if its encoding was guessed.
    spare: Vec<u8>,
    encoding: Option<LineEncoding>,
    records: Option<Records>,
    items: Option<Items>,
    /// The item from which on items may be cut off.
    cut_off: Option<CutOff>,
    ahead: Ahead,
    takes_turns: bool,
    turn: Option<MutexGuard<'static, ()>>,
    limit: u64,
    /// The limit for the decoded size of a line.
    decoded_limit: u64,
    /// The number of bytes in the current line after decoding.
    decoded: u64,
    /// The number of bytes read so far, which is also the position where the next line begins.
    pub offset: u64,
    /// The length of the current line in the file, in bytes, without its line break.
    pub length: u64,
    /// The number of the current line, counted from 1, including blank lines.
    pub number: u64,
    /// Whether the current line has no line break and may therefore be incomplete.
    pub is_cut: bool,
    /// Whether the current line was read as a single-line record because it opens a quote that is not properly closed before the end of the
    /// file.
    pub has_open_quote: bool,
    /// The number of lines after the first that begin with a byte order mark.
    pub marks: u64,
    /// The beginning of an item that is not complete at the end of the file.
    incomplete: Option<u64>,
    /// The beginning of the current line, if no item precedes this place in the line.
    line_start: Option<u64>,
}

/// Waits until this thread may hold a long line; returns `None` without waiting if a line of this size does not count as long.
pub(super) fn turn_for(bytes: usize) -> Option<MutexGuard<'static, ()>> {
    (bytes > KEPT_BYTES).then(|| TURN.lock().unwrap_or_else(PoisonError::into_inner))
}

impl<R: BufRead> Lines<R> {
    /// Returns the lines from the reader's current position, byte `offset` of the file; a line may have at most `limit` bytes.
    pub(crate) fn new(reader: R, offset: u64, limit: u64) -> Lines<R> {
        let (line, encoding, records, takes_turns, turn) = (Vec::new(), None, None, false, None);
        let (decoded_limit, decoded, length, number) = (MAX_LINE_BYTES, 0, 0, 0);
        Lines {
            reader,
            line,
            spare: Vec::new(),
            encoding,
            records,
            items: None,
            cut_off: None,
            ahead: Ahead::default(),
            takes_turns,
            turn,
            limit,
            decoded_limit,
            decoded,
            offset,
            length,
            number,
            is_cut: false,
            has_open_quote: false,
            marks: 0,
            incomplete: None,
            line_start: Some(offset),
        }
    }

    /// Reads records of separated values instead of lines; white space belongs to the fields. A multi-line record has at most `longest`
    /// bytes and, if `expected` is given, exactly that many fields.
    pub(crate) fn records(mut self, dialect: Dialect, expected: Option<usize>, longest: u64) -> Lines<R> {
        self.records = Some(Records { dialect, expected, longest, hopeless: 0 });
        self
    }

    /// Reads the items of a JSON array instead of lines, if the coding says so. The reader must be at the beginning of the file or of an
    /// item.
    pub(crate) fn items(mut self, coding: Coding) -> Lines<R> {
        self.items = coding.is_array.then(|| Items::new(self.offset == 0));
        self.cut_off = coding.cut_off;
        self
    }

    /// Returns the number of missing, misplaced and surplus commas and brackets between items so far.
    pub(crate) fn defects(&self) -> u64 {
        self.items.as_ref().map_or(0, Items::defects)
    }

    /// Returns whether the last item has no end, and the file does not end in a bracket; valid once everything has been read.
    pub(crate) fn is_truncated(&self) -> bool {
        self.incomplete.is_some() && !self.items.as_ref().is_some_and(Items::ends_with_bracket)
    }

    /// Returns the first item that may be cut off, if lines in it may be items; valid once everything has been read.
    pub(crate) fn cut_off(&self) -> Option<CutOff> {
        self.items.as_ref().and_then(Items::cut_off).filter(|_| self.cut_off.is_none())
    }

    /// Returns the damage of a file whose array is not closed; valid once everything has been read. The file has `bytes` bytes.
    pub(crate) fn unclosed(&self, bytes: u64) -> Option<Damage> {
        let why = match self.incomplete {
            Some(at) => format!(
                "the last item, which begins at byte {at}, has no end: the file is truncated, or a quote or brace is missing"
            ),
            None if self.items.as_ref().is_some_and(Items::lacks_end) => {
                "the file is truncated: its array has no closing bracket".to_owned()
            }
            None => return None,
        };
        Some(Damage { why, trust: Trust::All, at: bytes, bytes: self.offset })
    }

    /// Sets the number of fields that each subsequent multi-line record must have.
    pub(crate) fn expect_fields(&mut self, expected: usize) {
        if let Some(records) = &mut self.records {
            records.expected = Some(expected);
        }
    }

    /// Decodes each line from this encoding, in which line breaks must be the same bytes as in ASCII.
    pub(crate) fn decoded(mut self, encoding: Option<LineEncoding>) -> Lines<R> {
        self.encoding = encoding;
        self
    }

    /// Allows only one thread of the process to hold a long line at a time; intended for reads that do not reserve memory. The thread holds
    /// the line until the line is released or the next line is read.
    pub(crate) fn taking_turns(mut self) -> Lines<R> {
        self.takes_turns = true;
        self
    }

    /// Returns the reader.
    pub(crate) fn reader(&self) -> &R {
        &self.reader
    }

    /// Returns the reader, which may be modified between two lines.
    pub(crate) fn reader_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Returns the next non-blank line and the offset at which the line begins; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<(u64, Line<'_>)>> {
        let Some(start) = self.row(self.limit, |_| Ok(()))? else { return Ok(None) };
        let is_long = self.length > self.limit || self.decoded > self.decoded_limit;
        let bytes = self.length.max(self.decoded);
        let line = match self.records {
            None => self.line.trim_ascii_end(),
            Some(_) => self.line.strip_suffix(b"\r").unwrap_or(&self.line),
        };
        Ok(Some((start, if is_long { Line::TooLong(bytes) } else { Line::Bytes(line) })))
    }

    /// Frees the memory of a long line that is no longer needed.
    pub(crate) fn let_go(&mut self) {
        if self.line.capacity() > KEPT_BYTES {
            self.line = Vec::new();
        }
        if self.ahead.bytes.len() <= KEPT_BYTES {
            self.turn = None;
        }
    }

    /// Skips the next non-blank line, regardless of its length. Returns the offset at which the line begins; `None` at the end.
    pub(crate) fn step(&mut self) -> io::Result<Option<u64>> {
        self.row(0, |_| Ok(()))
    }

    /// Skips the next line like [`Lines::step`] and calls `each` with all skipped bytes.
    pub(crate) fn step_with(&mut self, each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<Option<u64>> {
        self.row(0, each)
    }

    /// Reads the next non-blank line and holds at most `hold` bytes of the line. Returns the offset at which the line begins. All reads
    /// count rows in the same way, because only this function decides which lines are rows.
    fn row(&mut self, hold: u64, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<Option<u64>> {
        self.let_go();
        (self.is_cut, self.has_open_quote) = (false, false);
        loop {
            let white = self.records.as_ref().map_or(u8::is_ascii_whitespace as fn(&u8) -> bool, Records::white);
            self.skip_blank(white, &mut each)?;
            let (start, is_utf8) = (self.offset, self.encoding.is_none());
            let column = self.line_start.map(|line| start - line);
            if let Some(items) = &mut self.items {
                items.begin(start, column, self.cut_off);
            }
            let mut begun = Begun::new(start == 0, white, is_utf8);
            let mut quotes = self.records.as_ref().map(|records| records.begin(start == 0));
            // The number of bytes before the end of the record, if the end is already known.
            let (mut known, mut ended) = (None, false);
            let (mut begins_next, mut indentation) = (false, None);
            // The number of bytes at the beginning of the line that belong to a byte order mark within the file.
            let mut marked = 0;
            self.length = 0;
            let mut line = std::mem::take(&mut self.line);
            line.clear();
            // Decodes while reading, so that a line is not held in two encodings at the same time. The exception is a guessed encoding: it
            // may be wrong for this line, which can be detected only at the end of the line.
            let encoding = self.encoding.filter(|_| hold > 0);
            let decoder = encoding.filter(|lines| !lines.guessed);
            let decoder = decoder.map(|lines| lines.encoding.new_decoder_without_bom_handling());
            let mut held = Held { line: &mut line, room: hold, decoder, limit: self.decoded_limit, passed: 0 };
            while !ended {
                let there = self.ahead.look(&mut self.reader)?;
                if there.is_empty() {
                    break;
                }
                let end = match (&mut known, &mut quotes) {
                    (Some(left), _) => {
                        let end = usize::try_from(*left).ok().filter(|left| *left < there.len());
                        *left -= end.unwrap_or(there.len()) as u64;
                        end
                    }
                    (None, None) => match &mut self.items {
                        None => memchr::memchr(b'\n', there),
                        Some(items) => items.end(there).map(|end| {
                            (begins_next, indentation) = (end.begins_next, end.indentation);
                            end.at
                        }),
                    },
                    (None, Some(quotes)) => match quotes.find(there) {
                        None => None,
                        Some(RecordEnd::Inside(line)) => {
                            known = Some(self.end_of_record(quotes, line)? as u64);
                            continue;
                        }
                        // Before the first line break, only `End` is possible.
                        Some(RecordEnd::End(end) | RecordEnd::Broken(end) | RecordEnd::Miscounted(end)) => Some(end),
                    },
                };
                let part = &there[..end.unwrap_or(there.len())];
                if start > 0 && marked < MARK.len() && self.length == marked as u64 {
                    marked += part.iter().zip(&MARK[marked..]).take_while(|(byte, mark)| byte == mark).count();
                    self.marks += u64::from(marked == MARK.len());
                }
                let (no_mark, behind) = begun.goes_on(part);
                held.push(no_mark);
                held.push(behind);
                if self.takes_turns && self.turn.is_none() && held.line.len() > KEPT_BYTES {
                    self.turn = Some(TURN.lock().unwrap_or_else(PoisonError::into_inner));
                }
                ended = end.is_some();
                let read = part.len() + usize::from(ended && !begins_next);
                self.length += part.len() as u64;
                self.offset += read as u64;
                each(&there[..read])?;
                self.ahead.consume(&mut self.reader, read);
            }
            if self.offset == start {
                return Ok(None);
            }
            self.number += 1;
            self.is_cut = !ended && !self.items.as_ref().is_some_and(Items::is_complete);
            self.incomplete = (self.is_cut && self.items.is_some()).then_some(start);
            held.push(begun.ends());
            held.end();
            let passed = held.passed;
            if let Some(LineEncoding { encoding, guessed: true }) = encoding
                && passed == 0
                && !is_utf8_after_all(&line, encoding)
            {
                decode(encoding, &line, &mut self.spare);
                std::mem::swap(&mut line, &mut self.spare);
                if self.spare.capacity() > KEPT_BYTES {
                    self.spare = Vec::new();
                }
            }
            self.decoded = passed + line.len() as u64;
            self.line = line;
            if !begun.is_blank {
                // If the comma before the next item begins a line, no item precedes the next one there.
                self.line_start = indentation.map(|bytes| self.offset - u64::from(!begins_next) - bytes);
                return Ok(Some(start));
            }
        }
    }
}

impl<R: BufRead> Lines<R> {
    /// Skips blank lines, and the empty items of an array, at the cost of a search: a small compressed file may hold millions of them.
    fn skip_blank(&mut self, white: fn(&u8) -> bool, each: &mut impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let (are_items, may_be_comma) = (self.items.is_some(), self.items.as_ref().is_some_and(Items::has_begun));
        let is_blank = |byte: &u8| *byte == b'\n' || white(byte) || (may_be_comma && *byte == b',');
        loop {
            let there = self.ahead.look(&mut self.reader)?;
            // Nearly all lines begin with text.
            if !there.first().is_some_and(is_blank) {
                return Ok(());
            }
            let run = &there[..there.iter().position(|byte| !is_blank(byte)).unwrap_or(there.len())];
            // White space at the beginning of a line belongs to the line.
            let run = if are_items { run } else { &run[..memchr::memrchr(b'\n', run).map_or(0, |last| last + 1)] };
            if run.is_empty() {
                return Ok(());
            }
            each(run)?;
            let bytes = run.len();
            if let Some(items) = &mut self.items {
                items.skipped(memchr::memchr_iter(b',', run).count());
                let line = memchr::memrchr(b'\n', run).map(|last| self.offset + last as u64 + 1);
                self.line_start = line.or(self.line_start);
            }
            self.number += memchr::memchr_iter(b'\n', run).count() as u64;
            self.offset += bytes as u64;
            self.ahead.consume(&mut self.reader, bytes);
        }
    }

    /// Returns how many of the next bytes belong to a record whose first line break inside quotes is at `line`. If the record turns out to
    /// be incomplete, only its first line belongs to it.
    fn end_of_record(&mut self, quotes: &mut Quotes, line: usize) -> io::Result<usize> {
        let Some(records) = &mut self.records else { return Ok(line) };
        if self.offset + (line as u64) < records.hopeless {
            return Ok(line);
        }
        let longest = records.longest.saturating_sub(self.length);
        let mut seen = line + 1;
        loop {
            let there = self.ahead.look(&mut self.reader)?;
            match quotes.find(&there[seen..]) {
                Some(RecordEnd::End(end)) => return Ok(if (seen + end) as u64 <= longest { seen + end } else { line }),
                Some(RecordEnd::Broken(at)) => {
                    records.hopeless = self.offset + (seen + at) as u64;
                    return Ok(line);
                }
                Some(RecordEnd::Miscounted(_)) => return Ok(line),
                Some(RecordEnd::Inside(_)) | None => {}
            }
            seen = there.len();
            if seen as u64 > longest {
                return Ok(line);
            }
            if self.takes_turns && self.turn.is_none() && seen > KEPT_BYTES {
                self.turn = Some(TURN.lock().unwrap_or_else(PoisonError::into_inner));
            }
            if !self.ahead.more(&mut self.reader)? {
                if quotes.may_end() {
                    return Ok(seen);
                }
                self.has_open_quote = true;
                // A record that begins in a later line may have a different number of fields.
                if quotes.is_inside() {
                    records.hopeless = u64::MAX;
                }
                return Ok(line);
            }
        }
    }
}

/// The parameters for finding records of separated values.
#[derive(Clone, Copy, Debug)]
struct Records {
    dialect: Dialect,
    expected: Option<usize>,
    longest: u64,
    /// If a quote is still open at a line break before this byte, an earlier lookup has shown that the quote is never properly closed. If
    /// two lookups are inside quotes at the same line break, both end at the same place: at text after a closing quote, or at the end of
    /// the file. This field avoids repeated lookups and does not change the result.
    hopeless: u64,
}

impl Records {
    /// Returns the function that tells which bytes may occur in a blank line. White space that separates fields is no blank line.
    fn white(&self) -> fn(&u8) -> bool {
        match self.dialect.delimiter {
            b'\t' => |byte| *byte != b'\t' && byte.is_ascii_whitespace(),
            b' ' => |byte| *byte != b' ' && byte.is_ascii_whitespace(),
            delimiter if delimiter.is_ascii_whitespace() => |byte| *byte == b'\r',
            _ => u8::is_ascii_whitespace,
        }
    }

    fn begin(&self, is_first: bool) -> Quotes {
        Quotes::new(self.dialect, self.expected, is_first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
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
        assert_eq!(all(b"abcdefgh\nxy\n", 5), [(0, Err(8)), (9, Ok("xy".to_owned()))]);
        // Tests lines of exactly the maximum length, with and without a line break.
        assert_eq!(all(b"abcd\nabcde", 5), [(0, Ok("abcd".to_owned())), (5, Ok("abcde".to_owned()))]);
    }

    #[test]
    fn a_blank_line_is_no_row_at_any_length() {
        let blanks = " ".repeat(40);
        let rows = [(0, Ok("{}".to_owned())), (44, Ok("[]".to_owned()))];
        assert_eq!(all(format!("{{}}\n{blanks}\n[]\n{blanks}").as_bytes(), 5), rows);
        assert_eq!(all(format!("\u{FEFF}{blanks}\n").as_bytes(), 5), []);
        assert_eq!(all(b"\xEF\xBB", 1), [(0, Err(2))]);
    }

    #[test]
    fn white_space_of_every_kind_is_blank_and_a_separator_is_not() {
        let all = "a\n \n\u{3000}\u{a0}\u{2028}\n\u{3000}b\n\u{3001}\n  \r\n\t\nc\n\u{3000}";
        let rows = |delimiter: Option<u8>| {
            let mut lines = Lines::new(BufReader::with_capacity(2, all.as_bytes()), 0, 100);
            if let Some(delimiter) = delimiter {
                lines = lines.records(Dialect { delimiter, ..Dialect::default() }, None, 100);
            }
            let mut rows = Vec::new();
            while let Some((_, Line::Bytes(line))) = lines.next().expect("memory") {
                rows.push(String::from_utf8_lossy(line).into_owned());
            }
            rows
        };
        let expected = ["a", "\u{3000}b", "\u{3001}", "c"];
        assert_eq!((rows(None), rows(Some(b','))), (expected.map(str::to_owned).to_vec(), rows(None)));
        assert_eq!(rows(Some(b'\t')), ["a", "\u{3000}b", "\u{3001}", "\t", "c"]);
        assert_eq!(rows(Some(b' ')), ["a", " ", "\u{3000}b", "\u{3001}", "  ", "c"]);
        // In another encoding, the same bytes are letters.
        let mut lines = Lines::new(&b"\xC2\xA0\n"[..], 0, 100).decoded(Some(encoding_rs::WINDOWS_1251.into()));
        assert!(lines.next().expect("memory").is_some());
        // Half a character is no white space.
        assert_eq!(super::tests::all(b"\xE3\x80\n\xC2\n", 9).len(), 2);
    }

    #[test]
    fn marks_within_a_file_are_counted() {
        let all = "\u{feff}a\n\u{feff}b\nc\u{feff}\n\u{feff}\u{feff}\n\u{fefe}\n".as_bytes();
        for buffer in 1..=all.len() {
            let mut lines = Lines::new(BufReader::with_capacity(buffer, all), 0, 100);
            while lines.step().expect("memory").is_some() {}
            assert_eq!(lines.marks, 2, "{buffer}");
        }
    }

    #[test]
    fn a_record_that_is_only_miscounted_at_the_end_costs_no_later_one() {
        let dialect = Dialect { delimiter: b',', ..Dialect::default() };
        let text = b"\"a\np,y\",\"b\nc\"";
        let mut lines = Lines::new(BufReader::with_capacity(3, &text[..]), 0, 100).records(dialect, Some(3), 100);
        assert_eq!(lines.next().expect("memory"), Some((0, Line::Bytes(b"\"a"))));
        assert!(lines.has_open_quote && !lines.is_cut);
        assert_eq!(lines.next().expect("memory"), Some((3, Line::Bytes(b"p,y\",\"b\nc\""))));
        assert!(!lines.has_open_quote && lines.is_cut);
    }

    /// Generates a line: optional text surrounded by white space, followed by any kind of line break.
    fn lines() -> impl Strategy<Value = Vec<u8>> {
        let blanks = proptest::collection::vec(prop::sample::select(b" \t\r\x0C".to_vec()), 0..30);
        let letters =
            prop::sample::select(vec!["", "", "a", "{\"a\": 1}", "\u{FEFF}", "\u{FEFF} b", "b                c"]);
        let ends = prop::sample::select(vec!["\n", "\r\n", "\n\n", "\r"]);
        (blanks.clone(), letters, blanks, ends).prop_map(|(before, letters, behind, end)| {
            [&before[..], letters.as_bytes(), &behind, end.as_bytes()].concat()
        })
    }

    proptest! {
        #[test]
        fn every_reading_finds_the_same_rows(
            mark in prop::sample::select(vec!["", "", "\u{FEFF}", "\u{FEFF}\u{FEFF}"]),
            lines in proptest::collection::vec(lines(), 0..12),
            (limit, buffer) in (0u64..60, 1usize..9),
        ) {
            let bytes = [mark.as_bytes(), &lines.concat()].concat();
            let open = |limit| Lines::new(BufReader::with_capacity(buffer, &bytes[..]), 0, limit);
            // Counts the non-blank lines in the entire input.
            let body = bytes.strip_prefix(MARK).unwrap_or(&bytes);
            let not_blank = body.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
            let mut stepping = open(0);
            let mut stepped = Vec::new();
            while let Some(start) = stepping.step().unwrap() {
                stepped.push((start, stepping.length));
            }
            prop_assert_eq!(stepped.len(), not_blank);
            let mut reading = open(limit);
            let mut read = Vec::new();
            while let Some((start, line)) = reading.next().unwrap() {
                let is_long = matches!(line, Line::TooLong(_));
                read.push((start, reading.length));
                prop_assert_eq!(is_long, reading.length > limit);
            }
            prop_assert_eq!(read, stepped);
        }
    }

    #[test]
    fn a_line_is_decoded_as_it_comes() {
        let (text, _, _) = encoding_rs::GBK.encode("汉字 abc \n\r\n猫\r\n");
        let bytes = [&text[..], b"\x81\r\n\xEF\xBB"].concat();
        let expected = ["汉字 abc".as_bytes(), "猫".as_bytes(), b"\xFF", "锘".as_bytes()];
        for buffer in 1..9 {
            let reader = BufReader::with_capacity(buffer, &bytes[..]);
            let mut lines = Lines::new(reader, 0, 100).decoded(Some(encoding_rs::GBK.into()));
            for expected in expected {
                assert_eq!(lines.next().unwrap().map(|(_, line)| line), Some(Line::Bytes(expected)), "{buffer}");
            }
            assert_eq!(lines.next().unwrap(), None);
            // An incomplete byte order mark is part of the first line.
            let mut lines = Lines::new(BufReader::with_capacity(buffer, &b"\xEF\xBB\xBF\xEF\xBB\n"[..]), 0, 100);
            assert_eq!(lines.next().unwrap(), Some((0, Line::Bytes(b"\xEF\xBB"))));
            let mut lines = Lines::new(BufReader::with_capacity(buffer, &b"\xEF\xBBa"[..]), 0, 100);
            assert_eq!(lines.next().unwrap(), Some((0, Line::Bytes(b"\xEF\xBBa"))));
        }
    }

    #[test]
    fn decoding_takes_no_more_memory_than_the_text_needs() {
        let text = "a".repeat(20 << 20);
        let mut lines = Lines::new(text.as_bytes(), 0, 32 << 20).decoded(Some(encoding_rs::WINDOWS_1251.into()));
        assert!(lines.next().unwrap().is_some_and(|(_, line)| line == Line::Bytes(text.as_bytes())));
        assert!(lines.line.capacity() <= 2 * text.len() + (1 << 20), "{}", lines.line.capacity());
        lines.let_go();
        assert_eq!(lines.line.capacity(), 0);
    }

    #[test]
    fn a_line_that_becomes_too_long_is_counted_and_not_held() {
        let (text, _, _) = encoding_rs::WINDOWS_1251.encode("слово слово слово\nслово\n");
        for buffer in 1..40 {
            let reader = BufReader::with_capacity(buffer, &text[..]);
            let mut lines = Lines::new(reader, 0, 100).decoded(Some(encoding_rs::WINDOWS_1251.into()));
            lines.decoded_limit = 20;
            assert_eq!(lines.next().unwrap(), Some((0, Line::TooLong(32))), "{buffer}");
            assert!(lines.line.capacity() < 100);
            assert_eq!(lines.next().unwrap(), Some((18, Line::Bytes("слово".as_bytes()))));
        }
    }
}
