//! Reads the records of a web archive: the position, the header and the block of each record.
//!
//! Follows WARC/1.1 (ISO 28500:2017) leniently: accepts LF instead of CRLF, any case in field names, folded lines, and one line break after
//! a block instead of two. Anything that is not a record is reported as a broken record, and reading continues at the next line that begins
//! a record, or with the next member of a compressed file. A read that starts at a record for which [`Records::is_fresh`] returns `true`
//! finds the same records as a read from the beginning of the file, so the pieces of a file contain exactly the rows that were counted.

use crate::archive::head::{Fields, HEAD_BYTES};
use crate::archive::page::{broken, is_no_page, may_be_page};
use crate::compressed::members::{Fault, Members, Next, RECORD};
use crate::compressed::packing::Packing;
use crate::compressed::rest::Rest;
use dupsift_tables::Rejection;
use dupsift_tables::document::{MAX_TEXT_BYTES, too_long};
use std::fs::File;
use std::io;

/// The maximum size, in bytes, of a block that is held in memory: the longest allowed text plus a server header.
const MAX_BLOCK: u64 = (MAX_TEXT_BYTES + HEAD_BYTES) as u64;
/// The size, in bytes, below which a block does not count toward the memory of a read.
const LONG_BLOCK: u64 = 1 << 20;
/// The maximum length of the first line of a record.
const FIRST_LINE: usize = 32;

const ENDS: &str = "the file ends within it";
const DAMAGED: &str = "it cannot be decompressed";
const GARBAGE: &str = "it does not start with a record header";
const VERSION: &str = "an unknown WARC version";
const LONG_HEAD: &str = "its header is longer than 64 KiB";
const NO_END: &str = "its header does not end";
const NO_TYPE: &str = "its header has no type";
const NO_LENGTH: &str = "its header has no length";
const LENGTH: &str = "it does not have the length that its header declares";

/// A record, or data that is not a valid record.
#[derive(Debug)]
pub(super) enum NextRecord {
    /// The header of a record. The block follows, so [`Records::block`] must be called next.
    Head(Head),
    /// A broken record, or bytes that are not a record; the string describes the problem.
    Broken(&'static str),
}

/// The header of a record.
#[derive(Debug)]
pub(super) struct Head {
    /// `WARC-Type` in lowercase.
    pub kind: String,
    /// The length of the block in bytes according to the header.
    pub length: u64,
    pub fields: Fields,
}

/// The records of a file.
pub(super) struct Records {
    members: Members,
    /// Whether a member is open.
    inside: bool,
    /// Whether a record of the open member has been returned.
    told: bool,
    /// The position of the next record's first line, and whether the version in the line is supported; `None` if the line has not been read
    /// yet.
    begun: Option<(u64, bool)>,
    start: u64,
    fresh: bool,
    line: Vec<u8>,
}

impl Records {
    /// Opens a file to read its records, starting at this byte.
    ///
    /// # Errors
    /// Returns the same errors as [`Members::new`].
    pub(crate) fn new(file: File, packing: Packing, window_bytes: u64, from: u64) -> io::Result<Records> {
        let members = Members::new(file, packing, window_bytes, from)?;
        Ok(Records { members, inside: false, told: false, begun: None, start: from, fresh: false, line: Vec::new() })
    }

    /// Returns a description of the data after the last member; valid once the end is reached.
    pub(crate) fn rest(&self) -> Option<Rest> {
        self.members.rest()
    }

    /// Returns the position of the current record in a plain file, or the position of its member in a compressed file.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// Returns whether a read may begin at [`Records::start`].
    pub(crate) fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// Returns the next record; `None` at the end.
    ///
    /// # Errors
    /// Returns the I/O error; damage is returned as [`NextRecord::Broken`].
    pub(crate) fn next(&mut self) -> io::Result<Option<NextRecord>> {
        loop {
            if let Some((start, known)) = self.begun.take() {
                self.begin(start);
                return self.head(known).map(Some);
            }
            if !self.inside {
                match self.members.next()? {
                    Next::End => return Ok(None),
                    Next::Garbage(start) => {
                        (self.start, self.fresh) = (start, false);
                        return Ok(Some(NextRecord::Broken(GARBAGE)));
                    }
                    Next::Member => (self.inside, self.told) = (true, false),
                }
            }
            self.skip_blank()?;
            let start = self.members.position();
            if self.members.fill()?.is_empty() {
                self.inside = false;
                if let (Some(fault), false) = (self.members.fault(), self.told) {
                    self.begin(start);
                    return Ok(Some(NextRecord::Broken(said(fault))));
                }
                continue;
            }
            self.line.clear();
            self.read_line(FIRST_LINE)?;
            match version(&self.line) {
                Some(known) => self.begun = Some((start, known)),
                None => {
                    self.begin(start);
                    let fault = if self.search()? { None } else { self.members.fault() };
                    return Ok(Some(NextRecord::Broken(fault.map_or(GARBAGE, said))));
                }
            }
        }
    }

    /// Returns the number of bytes of the current record's block that a read may have to hold in memory; 0 if the block is small.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub(crate) fn held(&mut self, head: &Head) -> io::Result<u64> {
        let is_held = (LONG_BLOCK..=MAX_BLOCK).contains(&head.length);
        Ok(if is_held && !is_no_page(&head.fields, self.members.fill()?) { head.length } else { 0 })
    }

    /// Reads the block of the current record into `into`, or skips it.
    ///
    /// # Errors
    /// Returns the I/O error. The inner error contains the reason why the record is unusable: it is broken, or too long to be held in
    /// memory.
    pub(crate) fn block(&mut self, head: &Head, mut into: Option<&mut Vec<u8>>) -> io::Result<Result<(), Rejection>> {
        let from = self.members.position();
        let long = head.length > MAX_BLOCK;
        if self.members.is_plain() {
            // A length is trusted only if the record ends after that many bytes, which is checked before any data is held in memory. If a
            // wrong length extended into other records, those records would be lost.
            if self.members.skip(head.length)? < head.length || !self.ends()? {
                self.members.seek(from)?;
                let more = self.search()?;
                return Ok(Err(broken(if more { LENGTH } else { ENDS })));
            }
            if into.is_none() || long {
                return Ok(if long { Err(too_long(head.length as usize)) } else { Ok(()) });
            }
            self.members.seek(from)?;
        }
        let mut left = head.length;
        if let Some(into) = into.as_mut().filter(|_| !long) {
            into.clear();
            let mut looked = false;
            while left > 0 {
                let there = self.members.fill()?;
                let some = (there.len() as u64).min(left) as usize;
                if some == 0 {
                    break;
                }
                into.extend_from_slice(&there[..some]);
                self.members.consume(some);
                left -= some as u64;
                let look = into.len() >= HEAD_BYTES && !std::mem::replace(&mut looked, true);
                if look && !may_be_page(&head.fields, into) {
                    left -= self.members.skip(left)?;
                    break;
                }
            }
        } else {
            left -= self.members.skip(left)?;
        }
        if left > 0 || !self.ends()? {
            let more = self.search()?;
            let fault = if more { None } else { self.members.fault() };
            return Ok(Err(broken(fault.map_or(LENGTH, said))));
        }
        Ok(if long { Err(too_long(head.length as usize)) } else { Ok(()) })
    }

    /// Sets the position where a record begins.
    fn begin(&mut self, start: u64) {
        (self.start, self.fresh) = if self.members.is_plain() {
            (start, true)
        } else {
            (self.members.start(), !self.told && self.members.is_fresh())
        };
        self.told = true;
    }

    /// Continues reading after the first line.
    fn head(&mut self, known: bool) -> io::Result<NextRecord> {
        let mut lines = Vec::new();
        loop {
            let start = self.members.position();
            self.line.clear();
            self.read_line(HEAD_BYTES - lines.len() + 1)?;
            if self.line.is_empty() {
                return Ok(NextRecord::Broken(self.members.fault().map_or(NO_END, said)));
            }
            // The record is incomplete, and the next record follows.
            if let Some(known) = version(&self.line) {
                self.begun = Some((start, known));
                return Ok(NextRecord::Broken(NO_END));
            }
            if lines.len() + self.line.len() > HEAD_BYTES {
                self.search()?;
                return Ok(NextRecord::Broken(LONG_HEAD));
            }
            if self.line.trim_ascii().is_empty() {
                break;
            }
            lines.extend_from_slice(&self.line);
        }
        let fields = Fields::of(&lines);
        let length = fields.get("content-length").and_then(|length| length.parse().ok());
        let broken = match (fields.get("warc-type"), length) {
            _ if !known => VERSION,
            (Some(kind), Some(length)) => {
                return Ok(NextRecord::Head(Head { kind: kind.to_ascii_lowercase(), length, fields }));
            }
            (None, _) => NO_TYPE,
            (_, None) => NO_LENGTH,
        };
        self.search()?;
        Ok(NextRecord::Broken(broken))
    }

    /// Skips line breaks and zero padding between records.
    fn skip_blank(&mut self) -> io::Result<()> {
        loop {
            let there = self.members.fill()?;
            let blank = there.iter().take_while(|byte| matches!(byte, b'\r' | b'\n' | b' ' | b'\t' | 0)).count();
            let all = blank == there.len();
            self.members.consume(blank);
            if !all || blank == 0 {
                return Ok(());
            }
        }
    }

    /// Skips the end of a block. Returns whether the end is valid: two line breaks, or fewer line breaks if the next record or the end of
    /// the file follows.
    fn ends(&mut self) -> io::Result<bool> {
        let mut line_ends = 0;
        while line_ends < 2 {
            match self.members.fill()?.first() {
                Some(b'\r') => self.members.consume(1),
                Some(b'\n') => {
                    self.members.consume(1);
                    line_ends += 1;
                }
                _ => break,
            }
        }
        if self.members.fill()?.is_empty() {
            return Ok(self.members.fault().is_none());
        }
        Ok(line_ends == 2 || self.members.starts_with(RECORD)?)
    }

    /// Moves to the next line, within the open member, that begins a record. Returns whether such a line was found.
    fn search(&mut self) -> io::Result<bool> {
        loop {
            let start = self.members.position();
            let ended = self.line.is_empty() || self.line.ends_with(b"\n");
            self.line.clear();
            self.read_line(FIRST_LINE)?;
            if self.line.is_empty() {
                return Ok(false);
            }
            if let (true, Some(known)) = (ended, version(&self.line)) {
                self.begun = Some((start, known));
                return Ok(true);
            }
        }
    }

    /// Appends bytes to `line` until the line ends or `line` has this many bytes; appends nothing at the end of the member.
    fn read_line(&mut self, most: usize) -> io::Result<()> {
        loop {
            let there = self.members.fill()?;
            let there = &there[..there.len().min(most - self.line.len())];
            let end = there.iter().position(|&byte| byte == b'\n');
            let there = &there[..end.map_or(there.len(), |end| end + 1)];
            let read = there.len();
            self.line.extend_from_slice(there);
            self.members.consume(read);
            if end.is_some() || read == 0 {
                return Ok(());
            }
        }
    }
}

/// Returns `None` if the line is not the first line of a record. Otherwise, returns whether the version is supported: 0.17 to 1.1.
fn version(line: &[u8]) -> Option<bool> {
    let version = line.strip_prefix(RECORD)?.trim_ascii_end();
    let digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let dot = version.iter().position(|&byte| byte == b'.')?;
    let is = digits(&version[..dot]) && digits(&version[dot + 1..]) && line.ends_with(b"\n");
    is.then(|| [b"0.17".as_slice(), b"0.18", b"1.0", b"1.1"].contains(&version))
}

fn said(fault: Fault) -> &'static str {
    match fault {
        Fault::CutOff => ENDS,
        Fault::Damaged | Fault::Altered => DAMAGED,
    }
}
