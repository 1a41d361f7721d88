//! The headers of the pages of a column: how many rows, and how many bytes in the file and in memory.
//!
//! A footer tells of whole column chunks; a page, which is unpacked as a whole, tells of itself in the header before it. A
//! header is a struct in the compact protocol of Thrift, of which the few numbers that are asked for are picked. Headers are
//! input: no number of theirs is believed further than the bytes of the file go.

use ::parquet::file::metadata::ColumnChunkMetaData;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// What a page says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    /// 0 for what is no page of data.
    pub rows: u32,
    /// Values, of a dictionary too.
    pub values: u32,
    /// Bytes in memory.
    pub unpacked: u32,
    /// Bytes in the file.
    pub packed: u32,
    /// Whether it is the dictionary of the chunk.
    pub is_dictionary: bool,
    /// Whether its values are places in the dictionary.
    pub in_dictionary: bool,
}

/// Headers of one chunk that are read at the most: pages are a kilobyte then, or empty.
const MOST_PAGES: usize = 1 << 20;
/// Structs within structs in a header; there are two.
const DEEPEST: usize = 8;

/// The pages of a chunk, the dictionary first; none where a header cannot be read, the rows of all pages are not those of the
/// chunk, or pages never end.
pub(super) fn pages(file: File, chunk: &ColumnChunkMetaData) -> Option<Vec<Page>> {
    let rows = u64::try_from(chunk.num_values()).ok()?;
    let begin = chunk.dictionary_page_offset().filter(|&at| at > 0).unwrap_or(i64::MAX).min(chunk.data_page_offset());
    let begin = u64::try_from(begin).ok()?;
    let mut left = u64::try_from(chunk.compressed_size()).ok()?;
    let mut file = BufReader::with_capacity(4 << 10, file);
    file.seek(SeekFrom::Start(begin)).ok()?;
    let (mut pages, mut found) = (Vec::new(), 0u64);
    while found < rows {
        if pages.len() == MOST_PAGES {
            return None;
        }
        let mut header = Compact { bytes: file.by_ref().take(left), depth: 0 };
        let page = page(&mut header).ok()?;
        left = header.bytes.limit().checked_sub(page.packed.into())?;
        file.seek_relative(page.packed.into()).ok()?;
        found += u64::from(page.rows);
        pages.push(page);
    }
    (found == rows).then_some(pages)
}

/// Numbers of the kinds of pages and encodings, and of the fields, in the definition of the format.
fn page(header: &mut Compact<impl Read>) -> io::Result<Page> {
    const DATA: i64 = 0;
    const DICTIONARY: i64 = 2;
    const DATA_V2: i64 = 3;
    let (mut kind, mut page) = (-1, Page::default());
    let (mut values, mut rows, mut encoding) = (None, None, 0);
    header.each_field(&mut |header, field, of| {
        match (field, of) {
            (1, INTEGER) => kind = header.integer()?,
            (2, INTEGER) => page.unpacked = length(header.integer()?)?,
            (3, INTEGER) => page.packed = length(header.integer()?)?,
            (5, STRUCT) => header.each_field(&mut |header, field, of| match (field, of) {
                (1, INTEGER) => Ok(values = Some(length(header.integer()?)?)),
                (2, INTEGER) => Ok(encoding = header.integer()?),
                _ => header.skip(of),
            })?,
            (7, STRUCT) => header.each_field(&mut |header, field, of| match (field, of) {
                (1, INTEGER) => Ok(page.values = length(header.integer()?)?),
                _ => header.skip(of),
            })?,
            (8, STRUCT) => header.each_field(&mut |header, field, of| match (field, of) {
                (3, INTEGER) => Ok(rows = Some(length(header.integer()?)?)),
                (4, INTEGER) => Ok(encoding = header.integer()?),
                _ => header.skip(of),
            })?,
            _ => header.skip(of)?,
        }
        Ok(())
    })?;
    page.is_dictionary = kind == DICTIONARY;
    // PLAIN_DICTIONARY and RLE_DICTIONARY.
    page.in_dictionary = matches!(encoding, 2 | 8);
    page.rows = match kind {
        // A flat column has a value, or a null, for each row.
        DATA => values.ok_or_else(odd)?,
        DATA_V2 => rows.ok_or_else(odd)?,
        _ => 0,
    };
    page.values = page.values.max(page.rows);
    Ok(page)
}

fn odd() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not the header of a page")
}

fn length(number: i64) -> io::Result<u32> {
    i32::try_from(number).ok().and_then(|number| u32::try_from(number).ok()).ok_or_else(odd)
}

/// The type numbers of the protocol that are asked for: all integers but those of a byte are written alike.
const INTEGER: u8 = 5;
const STRUCT: u8 = 12;

/// A reader of the compact protocol.
struct Compact<R> {
    bytes: R,
    depth: usize,
}

impl<R: Read> Compact<R> {
    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.bytes.read_exact(&mut byte).map(|()| byte[0])
    }

    /// 7 bits a byte, the lowest first.
    fn number(&mut self) -> io::Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(odd())
    }

    /// The same with the sign in the lowest bit.
    fn integer(&mut self) -> io::Result<i64> {
        self.number().map(|number| (number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// Calls `each` with the number and the type of each field, whose value it has to read.
    fn each_field(&mut self, each: &mut dyn FnMut(&mut Self, i64, u8) -> io::Result<()>) -> io::Result<()> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(odd());
        }
        let mut field = 0i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                self.depth -= 1;
                return Ok(());
            }
            field = match head >> 4 {
                0 => self.integer()?,
                more => field.saturating_add(more.into()),
            };
            // Integers of 16, 32 and 64 bits.
            let of = if matches!(head & 15, 4 | 6) { INTEGER } else { head & 15 };
            each(self, field, of)?;
        }
    }

    fn skip(&mut self, of: u8) -> io::Result<()> {
        match of {
            // The type is the value.
            1 | 2 => Ok(()),
            3 => self.byte().map(drop),
            INTEGER => self.number().map(drop),
            7 => self.skip_bytes(8),
            8 => self.number().and_then(|bytes| self.skip_bytes(bytes)),
            STRUCT => self.each_field(&mut |this, _, of| this.skip(of)),
            // Lists, sets and maps stand in no header of a page.
            _ => Err(odd()),
        }
    }

    fn skip_bytes(&mut self, bytes: u64) -> io::Result<()> {
        let skipped = io::copy(&mut self.bytes.by_ref().take(bytes), &mut io::sink())?;
        if skipped == bytes { Ok(()) } else { Err(odd()) }
    }
}
