//! Copying lines as they stand in their file: bytes for bytes, in the same packing.

use super::coding::Coding;
use super::copying::{Copying, Output, Stop};
use super::lines::Lines;
use super::packing::Packing;
use crate::error::Result;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{self, BufRead, BufWriter, Read, Write};

/// Bytes that are written at a time.
const BUFFER_BYTES: usize = 256 << 10;
/// Rows between two looks at whether to go on.
const ROWS: u64 = 4096;

/// Whether lines of a file so coded can be copied.
///
/// # Errors
/// Why not, with the way out.
pub(super) fn check(coding: Coding) -> std::result::Result<(), String> {
    if coding.has_lines_of_ascii() {
        return Ok(());
    }
    let encoding = coding.of_all().map_or("UTF-8", |encoding| encoding.name());
    Err(format!(
        "its lines are in {encoding}, and lines are copied in encodings with the line ends of ASCII alone; write the file again \
         in UTF-8, or go by removed/"
    ))
}

/// Copies the rows that are chosen. Blank lines before a row go its way, and those behind the last row stay. Rows are lines, or
/// with a delimiter the records behind the first one, which is copied too.
pub(super) fn copy(file: File, copying: &Copying<'_>, delimiter: Option<u8>) -> Result<()> {
    let stop = Stop::default();
    let out = BufWriter::with_capacity(BUFFER_BYTES, Output::create(copying.out, &stop)?);
    let done = copying.coding.unpacked(file).and_then(|bytes| {
        let out = Packed::new(out, copying.coding.packing)?;
        let mut lines = Lines::new(Tee { bytes, out, passes: true, failed: None }, 0, 0);
        if let Some(delimiter) = delimiter {
            lines = lines.quoted(delimiter);
            lines.step()?;
        }
        let mut row = 0;
        loop {
            if row % ROWS == 0
                && let Err(error) = (copying.go_on)()
            {
                stop.note(error);
                return Ok(row);
            }
            lines.reader_mut().passes = row >= copying.rows || (copying.chosen)(row);
            if lines.step()?.is_none() {
                break;
            }
            row += 1;
        }
        lines.into_reader().out.end()?;
        Ok(row)
    });
    stop.check()?;
    match done {
        Ok(row) if row == copying.rows => Ok(()),
        Ok(row) => {
            Err(copying
                .bad(format!("the file changed while it was being read: {} lines then, {row} now", copying.rows)))
        }
        Err(error) => Err(copying.bad(format!("cannot be read on: {error}"))),
    }
}

/// A reader that writes down what is read of it while it passes.
struct Tee<R> {
    bytes: R,
    out: Packed,
    passes: bool,
    failed: Option<io::Error>,
}

impl<R: BufRead> Read for Tee<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        super::unpack::read_buffered(self, into)
    }
}

impl<R: BufRead> BufRead for Tee<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.failed.take().map_or(Ok(()), Err)?;
        self.bytes.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        if self.passes && self.failed.is_none() {
            let there = self.bytes.fill_buf();
            let written = there.and_then(|there| self.out.write_all(there.get(..count).unwrap_or(there)));
            self.failed = written.err();
        }
        self.bytes.consume(count);
    }
}

/// A file that is compressed while it is written.
enum Packed {
    Plain(BufWriter<Output>),
    Gzip(Box<GzEncoder<BufWriter<Output>>>),
    Zstd(zstd::Encoder<'static, BufWriter<Output>>),
}

impl Packed {
    fn new(out: BufWriter<Output>, packing: Packing) -> io::Result<Packed> {
        Ok(match packing {
            Packing::Plain => Packed::Plain(out),
            Packing::Gzip => Packed::Gzip(Box::new(GzEncoder::new(out, flate2::Compression::default()))),
            Packing::Zstd => Packed::Zstd(zstd::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?),
        })
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Packed::Plain(out) => out.write_all(bytes),
            Packed::Gzip(out) => out.write_all(bytes),
            Packed::Zstd(out) => out.write_all(bytes),
        }
    }

    fn end(self) -> io::Result<()> {
        let mut out = match self {
            Packed::Plain(out) => out,
            Packed::Gzip(out) => out.finish()?,
            Packed::Zstd(out) => out.finish()?,
        };
        out.flush()
    }
}
