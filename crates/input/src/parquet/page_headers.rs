//! Reads the page headers of a column, which state the number of rows and the size in the file and in memory.
//!
//! A footer describes only whole column chunks, but the unit of unpacking is the page. The header before each page describes that page; the
//! header is a struct in Thrift's compact protocol, from which only the required numbers are read. Headers are untrusted input: their
//! numbers are checked against the size of the file.

use ::parquet::basic::{Compression, Type};
use ::parquet::file::metadata::ColumnChunkMetaData;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// The content of a page header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    /// The number of rows; 0 for pages without data.
    pub rows: u32,
    /// The number of values; for a dictionary page, the number of dictionary values.
    pub values: u32,
    /// The size in memory, in bytes.
    pub unpacked: u32,
    /// The size in the file, in bytes.
    pub packed: u32,
    /// Whether the page is the chunk's dictionary.
    pub is_dictionary: bool,
    /// Whether the values of the page are dictionary indexes.
    pub in_dictionary: bool,
    /// The number of bytes before the values that are never packed.
    pub levels: u32,
}

/// The maximum number of headers read per chunk. In a chunk with more headers, pages would be empty or only about a kilobyte long.
const MOST_PAGES: usize = 1 << 20;
/// The maximum nesting depth of structs in a header; the format has two levels.
const DEEPEST: usize = 8;

/// Returns the pages of a chunk, dictionary first. Returns `None` if a header cannot be read, if the row counts of the pages do not add up
/// to the row count of the chunk, or if there are too many pages.
pub(super) fn pages(file: File, chunk: &ColumnChunkMetaData) -> Option<Vec<Page>> {
    look(file, chunk).ok().flatten()
}

/// Returns the pages of a chunk, as [`pages`] does.
///
/// # Errors
/// Returns a message if a header states impossible lengths, because a decoder would allocate that much memory.
pub(super) fn look(file: File, chunk: &ColumnChunkMetaData) -> Result<Option<Vec<Page>>, String> {
    let most = Most::of(chunk)?;
    let mut pages = Vec::new();
    let Some(mut headers) = Headers::of(file, chunk) else { return Ok(None) };
    while headers.found < headers.rows {
        let Some(page) = headers.next().filter(|_| pages.len() < MOST_PAGES) else { return Ok(None) };
        most.check(&page)?;
        pages.push(page);
    }
    Ok((headers.found == headers.rows).then_some(pages))
}

/// Returns the position of the values of the larger of the chunk's first two pages, and their size in the file, in bytes. The first page may
/// be the dictionary. Returns `None` if a header cannot be read.
pub(super) fn values_of_first(file: &File, chunk: &ColumnChunkMetaData) -> Option<(u64, u64)> {
    let offsets = [chunk.dictionary_page_offset().filter(|&at| at > 0), Some(chunk.data_page_offset())];
    let found = offsets.into_iter().flatten().filter_map(|at| {
        let mut file = BufReader::with_capacity(4 << 10, file);
        file.seek(SeekFrom::Start(u64::try_from(at).ok()?)).ok()?;
        let page = page(&mut Compact { bytes: &mut file, depth: 0 }).ok()?;
        let bytes = page.packed.checked_sub(page.levels)?;
        Some((file.stream_position().ok()? + u64::from(page.levels), u64::from(bytes)))
    });
    found.max_by_key(|(_, bytes)| *bytes)
}

/// The limits on page lengths in a chunk.
struct Most {
    is_packed: bool,
    /// The unpacked size of all pages, in bytes.
    bytes: u64,
}

/// Footers may be slightly wrong, so a page may be up to `TIMES` times as large as the footer's total, plus `MORE` bytes.
const TIMES: u64 = 2;
const MORE: u64 = 64 << 10;
/// The unpacked size of a page may always be up to this multiple of its packed size, regardless of the footer.
const UNPACKED: u64 = 1 << 10;

impl Most {
    fn of(chunk: &ColumnChunkMetaData) -> Result<Most, String> {
        let bytes = u64::try_from(chunk.uncompressed_size()).unwrap_or(0);
        let descriptor = chunk.column_descr();
        let width = if chunk.column_type() == Type::FIXED_LEN_BYTE_ARRAY { descriptor.type_length().max(0) } else { 0 };
        if width as u64 > bytes.saturating_add(MORE) {
            return Err(format!("its values have {width} bytes each, but all pages together have {bytes} bytes"));
        }
        Ok(Most { is_packed: chunk.compression() != Compression::UNCOMPRESSED, bytes })
    }

    fn check(&self, page: &Page) -> Result<(), String> {
        let (unpacked, packed) = (u64::from(page.unpacked), u64::from(page.packed));
        let most = self.bytes.saturating_mul(TIMES).max(packed * UNPACKED).saturating_add(MORE);
        if self.is_packed && unpacked > most {
            return Err(format!(
                "a page of {packed} bytes would have {unpacked} bytes when decompressed, but all pages together have {} bytes",
                self.bytes
            ));
        }
        // A dictionary value takes at least one byte.
        let held = if self.is_packed { unpacked } else { packed };
        if page.is_dictionary && u64::from(page.values) > held {
            return Err(format!("a dictionary of {held} bytes cannot have {} values", page.values));
        }
        Ok(())
    }
}

/// The headers of a chunk, in order.
struct Headers {
    file: BufReader<File>,
    /// The number of bytes left in the chunk.
    left: u64,
    /// The number of rows in the chunk, and the number of rows in the pages read so far.
    rows: u64,
    found: u64,
}

impl Headers {
    fn of(file: File, chunk: &ColumnChunkMetaData) -> Option<Headers> {
        let rows = u64::try_from(chunk.num_values()).ok()?;
        let begin =
            chunk.dictionary_page_offset().filter(|&at| at > 0).unwrap_or(i64::MAX).min(chunk.data_page_offset());
        let begin = u64::try_from(begin).ok()?;
        let left = u64::try_from(chunk.compressed_size()).ok()?;
        let mut file = BufReader::with_capacity(4 << 10, file);
        file.seek(SeekFrom::Start(begin)).ok()?;
        Some(Headers { file, left, rows, found: 0 })
    }

    fn next(&mut self) -> Option<Page> {
        let mut header = Compact { bytes: self.file.by_ref().take(self.left), depth: 0 };
        let page = page(&mut header).ok()?;
        // The decoder reports a page that extends beyond its chunk.
        self.left = header.bytes.limit().checked_sub(page.packed.into())?;
        self.file.seek_relative(page.packed.into()).ok()?;
        self.found += u64::from(page.rows);
        Some(page)
    }
}

/// Parses a page header. Page types, encodings and fields are numbered as in the format definition.
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
                (5 | 6, INTEGER) => Ok(page.levels = page.levels.saturating_add(length(header.integer()?)?)),
                _ => header.skip(of),
            })?,
            _ => header.skip(of)?,
        }
        Ok(())
    })?;
    page.is_dictionary = kind == DICTIONARY;
    // The encodings PLAIN_DICTIONARY and RLE_DICTIONARY.
    page.in_dictionary = matches!(encoding, 2 | 8);
    page.rows = match kind {
        // A flat column has a value or a null for each row.
        DATA => values.ok_or_else(odd)?,
        DATA_V2 => rows.ok_or_else(odd)?,
        _ => 0,
    };
    page.values = page.values.max(page.rows);
    Ok(page)
}

fn odd() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not a page header")
}

fn length(number: i64) -> io::Result<u32> {
    i32::try_from(number).ok().and_then(|number| u32::try_from(number).ok()).ok_or_else(odd)
}

/// Type numbers in the protocol; all integers except single bytes are encoded in the same way.
const INTEGER: u8 = 5;
const STRUCT: u8 = 12;

/// A reader for the compact protocol.
struct Compact<R> {
    bytes: R,
    depth: usize,
}

impl<R: Read> Compact<R> {
    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.bytes.read_exact(&mut byte).map(|()| byte[0])
    }

    /// Reads a number that is stored with 7 bits per byte, lowest bits first.
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

    /// Reads a number with its sign in the lowest bit.
    fn integer(&mut self) -> io::Result<i64> {
        self.number().map(|number| (number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// Calls `each` with the number and the type of each field; `each` must read the value.
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
            // Types 4 to 6 are 16-bit, 32-bit and 64-bit integers.
            let of = if matches!(head & 15, 4 | 6) { INTEGER } else { head & 15 };
            each(self, field, of)?;
        }
    }

    fn skip(&mut self, of: u8) -> io::Result<()> {
        match of {
            // The value of a boolean is encoded in its type.
            1 | 2 => Ok(()),
            3 => self.byte().map(drop),
            INTEGER => self.number().map(drop),
            7 => self.skip_bytes(8),
            8 => self.number().and_then(|bytes| self.skip_bytes(bytes)),
            STRUCT => self.each_field(&mut |this, _, of| this.skip(of)),
            // Page headers contain no lists, sets or maps.
            _ => Err(odd()),
        }
    }

    fn skip_bytes(&mut self, bytes: u64) -> io::Result<()> {
        let skipped = io::copy(&mut self.bytes.by_ref().take(bytes), &mut io::sink())?;
        if skipped == bytes { Ok(()) } else { Err(odd()) }
    }
}
