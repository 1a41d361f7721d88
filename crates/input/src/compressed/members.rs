//! Reads the bytes of a file member by member. A plain file is one member. A gzip-compressed web archive usually has one member per record;
//! the members of a Zstandard file are its frames.
//!
//! A record that cannot be unpacked must not prevent the rest of the file from being read. Therefore, every member is opened separately, at
//! a known position; after damage, the next member is found by its first bytes. The decoders are called directly, because the usual readers
//! do not report where a failed member ends.

use crate::compressed::input::Input;
use crate::compressed::packing::Packing;
use crate::compressed::rest::Rest;
use crate::compressed::zstd_frames::{ZST, dictionary, skippable, too_large, window_log};
use flate2::{Crc, Decompress, FlushDecompress, Status};
use std::fs::File;
use std::io;
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation as _, OutBuffer};

/// The size of the buffer for unpacked bytes.
const OUT_BYTES: usize = 64 << 10;
/// The number of bytes to unpack if only the first few bytes are needed.
const LOOK_BYTES: usize = 16;
/// The first bytes of a record.
pub(crate) const RECORD: &[u8] = b"WARC/";

const GZ: &[u8] = &[0x1F, 0x8B, 8];

/// The next part of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A member, which is now open.
    Member,
    /// Bytes that are not a member and were skipped, starting at this position.
    Garbage(u64),
    /// The end of the file.
    End,
}

/// The fault that was found in a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The file ends inside the member.
    CutOff,
    /// The member cannot be unpacked.
    Damaged,
    /// The data of the member does not match its checksum.
    Altered,
}

enum Codec {
    Plain,
    Gz(Decompress, Crc),
    Zst(Decoder<'static>),
}

/// The members of a file, in order.
pub(crate) struct Members {
    input: Input,
    codec: Codec,
    out: Vec<u8>,
    /// The positions where the unread bytes of `out` begin and end.
    from: usize,
    to: usize,
    /// Whether the codec may return more bytes.
    open: bool,
    fault: Option<Fault>,
    /// Whether the position of the next member is unknown.
    lost: bool,
    /// Whether the open member was found after garbage and has not been reported yet.
    found: bool,
    /// The position where the open member begins.
    start: u64,
    /// The position up to which damaged members were unpacked. Bytes before this position are not unpacked again.
    furthest: u64,
    window_bytes: u64,
    rest: Option<Rest>,
}

impl Members {
    /// Opens the members from position `from`, where a member begins.
    ///
    /// # Errors
    /// Returns the I/O error, or an error if a dictionary is unusable.
    pub(crate) fn new(file: File, packing: Packing, window_bytes: u64, from: u64) -> io::Result<Members> {
        let mut input = Input::new(file)?;
        let codec = match packing {
            Packing::Gzip => Codec::Gz(Decompress::new(false), Crc::new()),
            Packing::Zstd => {
                let mut decoder = Decoder::with_dictionary(&dictionary(&mut input)?)?;
                decoder.set_parameter(DParameter::WindowLogMax(window_log(window_bytes)))?;
                Codec::Zst(decoder)
            }
            Packing::Plain => Codec::Plain,
        };
        let out = vec![0; if matches!(codec, Codec::Plain) { 0 } else { OUT_BYTES }];
        input.seek(from)?;
        let (open, lost, found) = (false, false, false);
        Ok(Members {
            input,
            codec,
            out,
            from: 0,
            to: 0,
            open,
            fault: None,
            lost,
            found,
            start: from,
            furthest: 0,
            window_bytes,
            rest: None,
        })
    }

    /// Sets the size of the buffer for unpacked bytes. A larger buffer reduces the cost per byte for long members, because some bytes are
    /// copied a second time at the end of each buffer.
    pub(crate) fn holding(mut self, bytes: usize) -> Members {
        if !self.is_plain() {
            self.out = vec![0; bytes];
        }
        self
    }

    /// Returns whether the file is uncompressed, so that any position can be reached by seeking.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.codec, Codec::Plain)
    }

    /// Returns where the open member begins in the file.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// Returns whether a read that starts at the open member would return the same data as this read.
    pub(crate) fn is_fresh(&self) -> bool {
        self.start >= self.furthest
    }

    /// Returns the position of the next unread byte of the file.
    pub(crate) fn position(&self) -> u64 {
        self.input.at()
    }

    /// Moves to a position in a plain file.
    pub(crate) fn seek(&mut self, to: u64) -> io::Result<()> {
        self.input.seek(to)
    }

    /// Returns the fault of the member, if any; valid once all bytes of the member have been read.
    pub(crate) fn fault(&self) -> Option<Fault> {
        self.fault
    }

    /// Returns the next bytes of the open member; empty at its end.
    pub(crate) fn fill(&mut self) -> io::Result<&[u8]> {
        if self.is_plain() {
            return self.input.fill();
        }
        while self.from == self.to && self.open {
            self.step(self.out.len())?;
        }
        Ok(&self.out[self.from..self.to])
    }

    /// Advances past bytes returned by [`Members::fill`].
    pub(crate) fn consume(&mut self, bytes: usize) {
        if self.is_plain() { self.input.consume(bytes) } else { self.from += bytes }
    }

    /// Advances by up to this many bytes. Returns the number of skipped bytes, which is smaller if the member ends first.
    pub(crate) fn skip(&mut self, bytes: u64) -> io::Result<u64> {
        if self.is_plain() {
            return self.input.skip(bytes);
        }
        let mut left = bytes;
        while left > 0 {
            let some = left.min(self.fill()?.len() as u64);
            if some == 0 {
                break;
            }
            self.consume(some as usize);
            left -= some;
        }
        Ok(bytes - left)
    }

    /// Returns whether the unread part of the open member begins with `what`, which must be short.
    pub(crate) fn starts_with(&mut self, what: &[u8]) -> io::Result<bool> {
        if self.is_plain() {
            return Ok(self.input.peek::<8>()?.starts_with(what));
        }
        if self.to - self.from < what.len() {
            self.out.copy_within(self.from..self.to, 0);
            (self.from, self.to) = (0, self.to - self.from);
        }
        while self.to - self.from < what.len() && self.open {
            self.step(LOOK_BYTES)?;
        }
        Ok(self.out[self.from..self.to].starts_with(what))
    }

    /// Moves to the next member. The open member must have been read to its end.
    pub(crate) fn next(&mut self) -> io::Result<Next> {
        if std::mem::take(&mut self.found) {
            return Ok(Next::Member);
        }
        if std::mem::take(&mut self.lost) {
            let fresh = self.is_fresh();
            self.furthest = self.furthest.max(self.input.at());
            self.input.seek(if fresh { self.start + 1 } else { self.furthest })?;
            return Ok(if self.search()?.0 { Next::Member } else { Next::End });
        }
        let start = self.input.at();
        if let Some(next) = self.begin()? {
            return Ok(next);
        }
        let (found, only_zeros) = self.search()?;
        // Zeros are padding from tapes or file systems; no data is lost.
        if only_zeros {
            if !found {
                self.rest = Some(Rest { start, bytes: self.input.at() - start, only_zeros, is_damaged: false });
            }
            return Ok(if found { Next::Member } else { Next::End });
        }
        self.found = found;
        Ok(Next::Garbage(start))
    }

    /// Moves to the next member of a file whose members together form a single stream of text. [`Members::rest`] reports the data after the
    /// last member. Such data counts as garbage if no member precedes it, or if bytes that look like the start of a member follow it.
    pub(crate) fn next_whole(&mut self) -> io::Result<Next> {
        let start = self.input.at();
        if let Some(next) = self.begin()? {
            return Ok(next);
        }
        let magic = if matches!(self.codec, Codec::Gz(..)) { GZ } else { ZST };
        let head = self.input.peek::<4>()?;
        let is_damaged =
            head.iter().zip(magic).filter(|(there, expected)| there == expected).count() + 1 == magic.len();
        let (more, only_zeros) = self.input.find(magic)?;
        if more || start == 0 {
            return Ok(Next::Garbage(start));
        }
        self.rest = Some(Rest { start, bytes: self.input.at() - start, only_zeros, is_damaged });
        Ok(Next::End)
    }

    /// Returns a description of the data after the last member; valid once the end is reached.
    pub(crate) fn rest(&self) -> Option<Rest> {
        self.rest
    }

    /// Opens the member at the current position. Returns `None` if no member begins there.
    fn begin(&mut self) -> io::Result<Option<Next>> {
        (self.from, self.to, self.open, self.fault, self.lost) = (0, 0, true, None, false);
        loop {
            self.start = self.input.at();
            let bytes = self.input.peek::<10>()?;
            if bytes.is_empty() {
                self.open = false;
                return Ok(Some(Next::End));
            }
            let magic = match &mut self.codec {
                Codec::Plain => return Ok(Some(Next::Member)),
                Codec::Gz(..) => GZ,
                Codec::Zst(_) => ZST,
            };
            let known = bytes.len().min(magic.len());
            if bytes[..known] == magic[..known] {
                let whole = known == magic.len() && self.head(&bytes)?;
                if !whole {
                    self.end(Some(Fault::CutOff), true);
                }
                return Ok(Some(Next::Member));
            }
            let skipped = if matches!(self.codec, Codec::Zst(_)) { skippable(&bytes) } else { None };
            let Some(bytes) = skipped else {
                self.open = false;
                return Ok(None);
            };
            self.input.skip(bytes)?;
        }
    }

    /// Prepares the codec for the member that begins with these bytes, and skips the header of a gzip member. Returns `false` if the file
    /// ends inside the header.
    fn head(&mut self, bytes: &[u8]) -> io::Result<bool> {
        match &mut self.codec {
            Codec::Plain => Ok(true),
            Codec::Zst(decoder) => decoder.reinit().map(|()| true),
            Codec::Gz(inflate, crc) => {
                inflate.reset(false);
                crc.reset();
                let &[_, _, _, flags, ..] = bytes else { return Ok(false) };
                let mut whole = self.input.skip(10)? == 10;
                if flags & 4 != 0 {
                    let length = self.input.peek::<2>()?;
                    let length = u64::from(length.first().copied().unwrap_or(0))
                        | u64::from(length.get(1).copied().unwrap_or(0)) << 8;
                    whole &= self.input.skip(2 + length)? == 2 + length;
                }
                // These flags indicate a name and a comment, each terminated by a zero byte.
                for flag in [8, 16] {
                    whole &= flags & flag == 0 || self.input.skip_until(0)?;
                }
                let checksum = if flags & 2 != 0 { 2 } else { 0 };
                Ok(whole && self.input.skip(checksum)? == checksum)
            }
        }
    }

    /// Unpacks at most this many more bytes and appends them to the unread bytes.
    fn step(&mut self, most: usize) -> io::Result<()> {
        if self.from == self.to {
            (self.from, self.to) = (0, 0);
        }
        let packed = self.input.fill()?;
        if packed.is_empty() {
            self.end(Some(Fault::CutOff), true);
            return Ok(());
        }
        let until = self.out.len().min(self.to + most);
        let out = &mut self.out[self.to..until];
        let (mut refused, mut fault) = (None, Fault::Damaged);
        let (used, made, ended) = match &mut self.codec {
            Codec::Plain => (0, 0, Ok(true)),
            Codec::Gz(inflate, crc) => {
                let before = (inflate.total_in(), inflate.total_out());
                let status = inflate.decompress(packed, out, FlushDecompress::None);
                let used = (inflate.total_in() - before.0) as usize;
                let made = (inflate.total_out() - before.1) as usize;
                crc.update(&out[..made]);
                (used, made, status.map(|status| status == Status::StreamEnd).map_err(drop))
            }
            Codec::Zst(decoder) => {
                let (mut packed, mut out) = (InBuffer::around(packed), OutBuffer::around(out));
                let left = decoder.run(&mut packed, &mut out);
                refused = left.as_ref().err().and_then(|error| too_large(error, self.window_bytes));
                if left.as_ref().is_err_and(|error| error.to_string().contains("checksum")) {
                    fault = Fault::Altered;
                }
                (packed.pos(), out.pos(), left.map(|left| left == 0).map_err(drop))
            }
        };
        if let Some(error) = refused {
            return Err(error);
        }
        self.input.consume(used);
        self.to += made;
        match ended {
            Ok(true) => {
                // Damaged data may appear to end in the middle of the next member, so the position is uncertain after a wrong checksum.
                let fault = self.checked()?;
                self.end(fault, fault.is_some());
            }
            Ok(false) if used > 0 || made > 0 => {}
            _ => self.end(Some(fault), true),
        }
        Ok(())
    }

    /// Reads the trailer of a gzip member: its checksum and its length.
    fn checked(&mut self) -> io::Result<Option<Fault>> {
        let Codec::Gz(_, crc) = &self.codec else { return Ok(None) };
        let expected = [crc.sum().to_le_bytes(), crc.amount().to_le_bytes()].concat();
        let there = self.input.peek::<8>()?;
        self.input.skip(8)?;
        Ok(match there.len() {
            8 if there == expected => None,
            8 => Some(Fault::Altered),
            _ => Some(Fault::CutOff),
        })
    }

    fn end(&mut self, fault: Option<Fault>, lost: bool) {
        (self.open, self.fault, self.lost) = (false, fault, lost);
    }

    /// Searches from the current position for the next member that begins like a record, and opens this member. Returns whether a member
    /// was found, and whether only zeros were skipped.
    fn search(&mut self) -> io::Result<(bool, bool)> {
        let mut only_zeros = true;
        loop {
            let magic = if matches!(self.codec, Codec::Gz(..)) { GZ } else { ZST };
            let (there, zeros) = self.input.find(magic)?;
            only_zeros &= zeros;
            if !there {
                (self.from, self.to) = (0, 0);
                self.end(None, false);
                return Ok((false, only_zeros));
            }
            let at = self.input.at();
            if self.begin()? == Some(Next::Member) && self.starts_with(RECORD)? {
                return Ok((true, only_zeros));
            }
            only_zeros = false;
            self.input.seek(at + 1)?;
        }
    }
}
