//! Turns the bytes of a file into text by unpacking and decoding them.
//!
//! UTF-8 passes through unchanged. Most other encodings have the same line breaks as ASCII, so the text is first split into lines, which
//! are then decoded one by one. UTF-16 and ISO-2022-JP are decoded before the text is split into lines.

use crate::compressed::packing::Packing;
use crate::compressed::rest::Behind;
use crate::compressed::unpack::{Damage, Unpack, read_buffered};
use crate::cut_off::CutOff;
use crate::dialect::{Quoting, Separator};
use dupsift_core::encoding::{Encoding, detect};
use encoding_rs::{DecoderResult, UTF_8};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek as _};
use std::os::unix::fs::FileExt as _;

/// The number of bytes read at a time.
const BUFFER_BYTES: usize = 256 << 10;
/// The size of the buffer for decoded bytes.
const DECODED_BYTES: usize = 64 << 10;
/// The number of bytes that are used to detect an encoding. Blocks of this size that contain only ASCII are skipped.
const SAMPLE_BYTES: usize = 1 << 20;
/// The byte that replaces an invalid byte sequence. This byte is never valid in UTF-8, so the row is rejected.
const MALFORMED: u8 = 0xFF;

/// Describes how the bytes of a file are turned into text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coding {
    /// The compression of the file.
    pub packing: Packing,
    /// The encoding of the text in the file.
    pub encoding: Encoding,
    /// Whether the encoding was guessed; if so, lines that are valid UTF-8 are read as UTF-8.
    pub guessed: bool,
    /// Whether the text is one JSON array whose items are the rows, instead of JSON lines.
    pub is_array: bool,
    /// The first item of the array that is cut off, if there is one.
    pub cut_off: Option<CutOff>,
    /// The field separator of separated values; `None` means that it is derived from the file name.
    pub separator: Option<Separator>,
    /// Whether fields of separated values may be quoted.
    pub quoting: Quoting,
    /// The number of bytes of text before the damage in a compressed file or in an array, measured in the text that `Coding::text` returns;
    /// `None` if the file is intact.
    pub text_bytes: Option<u64>,
    /// The memory limit for unpacking one file, in bytes; larger Zstandard windows are rejected.
    pub window_bytes: u64,
    /// The memory limit for the footer of one Parquet file, in bytes.
    pub footer_bytes: u64,
}

impl Default for Coding {
    /// Returns the coding for uncompressed UTF-8 with double quotes and without a limit on the Zstandard window.
    fn default() -> Coding {
        Coding {
            packing: Packing::Plain,
            encoding: Encoding::Utf8,
            guessed: false,
            is_array: false,
            cut_off: None,
            separator: None,
            quoting: Quoting::Double,
            text_bytes: None,
            window_bytes: 2 << 30,
            footer_bytes: u64::MAX,
        }
    }
}

impl Coding {
    /// Returns the unpacked bytes of a file.
    pub(crate) fn unpacked(&self, file: File) -> io::Result<Unpacked> {
        Ok(match self.packing {
            Packing::Plain => Unpacked::Plain(BufReader::with_capacity(BUFFER_BYTES, file)),
            packing => Unpacked::Packed(Box::new(Unpack::new(file, packing, self.window_bytes)?)),
        })
    }

    /// Returns the coding with a detected encoding, if detection was requested.
    pub(crate) fn resolved(self, file: &File) -> io::Result<Coding> {
        if self.encoding != Encoding::Auto {
            return Ok(self);
        }
        let mut bytes = self.unpacked(file.try_clone()?)?;
        let mut sample = Vec::new();
        loop {
            sample.clear();
            let read = bytes.by_ref().take(SAMPLE_BYTES as u64).read_to_end(&mut sample)?;
            // A file that begins with ASCII may be in any encoding, so the encoding is detected from the first non-ASCII bytes.
            if read < SAMPLE_BYTES || !sample.is_ascii() || detect::escaped(&sample).is_some() {
                break;
            }
        }
        let encoding = detect::of_text(&sample).map_err(|name| {
            let why = format!(
                "its text looks like {name}, which is not supported; convert it with iconv -f {name} -t UTF-8 FILE"
            );
            io::Error::new(io::ErrorKind::InvalidData, why)
        })?;
        let encoding = if encoding == UTF_8 { Encoding::Utf8 } else { Encoding::Named(encoding) };
        let mut file = file;
        file.rewind()?;
        Ok(Coding { encoding, guessed: true, ..self })
    }

    /// Returns the coding of a JSON file: its text is an array if it begins with a bracket.
    pub(crate) fn of_json(self, file: &File) -> io::Result<Coding> {
        let sign = |bytes: &[u8]| {
            let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
            bytes.iter().copied().find(|byte| !byte.is_ascii_whitespace())
        };
        let mut begin = [0; 64];
        let read = if self.can_be_cut() { file.read_at(&mut begin, 0)? } else { 0 };
        if let Some(sign) = sign(&begin[..read]) {
            return Ok(Coding { is_array: sign == b'[', ..self });
        }
        let mut text = self.text(file.try_clone()?)?;
        let found = loop {
            let bytes = text.fill_buf()?;
            if let (false, found @ Some(_)) | (true, found) = (bytes.is_empty(), sign(bytes)) {
                break found;
            }
            let bytes = bytes.len();
            text.consume(bytes);
        };
        let mut file = file;
        file.rewind()?;
        Ok(Coding { is_array: found == Some(b'['), ..self })
    }

    /// Returns the encoding of lines that are decoded one by one, if any.
    pub(crate) fn of_lines(&self) -> Option<LineEncoding> {
        match self.encoding {
            Encoding::Named(encoding) if self.of_stream().is_none() => {
                Some(LineEncoding { encoding, guessed: self.guessed })
            }
            _ => None,
        }
    }

    /// Returns the encoding unless it is UTF-8.
    pub(crate) fn of_all(&self) -> Option<&'static encoding_rs::Encoding> {
        if let Encoding::Named(encoding) = self.encoding { Some(encoding) } else { None }
    }

    /// Returns the encoding that must be decoded before lines are split, if any. In an array, a byte of a Chinese character could be taken
    /// for a bracket.
    fn of_stream(&self) -> Option<&'static encoding_rs::Encoding> {
        match self.encoding {
            Encoding::Named(encoding) if self.is_array || !encoding.is_ascii_compatible() => Some(encoding),
            _ => None,
        }
    }

    /// Returns whether lines in the unpacked bytes end with ASCII line breaks.
    pub(crate) fn has_lines_of_ascii(&self) -> bool {
        self.of_stream().is_none()
    }

    /// Returns whether a reader can seek to the start of a line in the file.
    pub(crate) fn can_be_cut(&self) -> bool {
        self.packing == Packing::Plain && self.of_stream().is_none()
    }

    /// Returns whether the bytes of the file are its text, without unpacking or decoding.
    pub(crate) fn is_plain(&self) -> bool {
        self.packing == Packing::Plain && self.encoding == Encoding::Utf8
    }

    /// Returns the text of a file: the unpacked bytes, which are decoded unless lines are decoded one by one.
    pub(crate) fn text(&self, file: File) -> io::Result<Text> {
        let decoding = self.of_stream().map(|encoding| Decoding {
            decoder: encoding.new_decoder(),
            out: vec![0; DECODED_BYTES],
            from: 0,
            to: 0,
            ended: false,
        });
        Ok(Text { bytes: self.unpacked(file)?, decoding, left: self.text_bytes.unwrap_or(u64::MAX) })
    }
}

/// The encoding of individual lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineEncoding {
    /// The encoding, which has the same line breaks as ASCII.
    pub encoding: &'static encoding_rs::Encoding,
    /// Whether the encoding was guessed; if so, lines in UTF-8 are not decoded.
    pub guessed: bool,
}

impl From<&'static encoding_rs::Encoding> for LineEncoding {
    /// Wraps an encoding that was given by name and not guessed.
    fn from(encoding: &'static encoding_rs::Encoding) -> LineEncoding {
        LineEncoding { encoding, guessed: false }
    }
}

/// The unpacked bytes of a file.
pub(crate) enum Unpacked {
    Plain(BufReader<File>),
    Packed(Box<Unpack>),
}

impl Unpacked {
    /// Returns a description of the data after the last compressed part, if any. The result is valid only after everything has been read.
    pub(crate) fn behind(&self) -> Option<Behind> {
        if let Unpacked::Packed(unpack) = self { unpack.behind() } else { None }
    }

    /// Returns the damage that makes the bytes end early, if any. The result is valid only after everything has been read.
    pub(crate) fn damage(&self) -> Option<&Damage> {
        if let Unpacked::Packed(unpack) = self { unpack.damage() } else { None }
    }
}

impl Read for Unpacked {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Unpacked::Plain(file) => file.read(into),
            Unpacked::Packed(unpack) => unpack.read(into),
        }
    }
}

impl BufRead for Unpacked {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self {
            Unpacked::Plain(file) => file.fill_buf(),
            Unpacked::Packed(unpack) => unpack.fill_buf(),
        }
    }

    fn consume(&mut self, bytes: usize) {
        match self {
            Unpacked::Plain(file) => file.consume(bytes),
            Unpacked::Packed(unpack) => unpack.consume(bytes),
        }
    }
}

/// The text of a file before it is split into lines.
pub(crate) struct Text {
    bytes: Unpacked,
    decoding: Option<Decoding>,
    /// The number of remaining bytes.
    left: u64,
}

struct Decoding {
    decoder: encoding_rs::Decoder,
    out: Vec<u8>,
    from: usize,
    to: usize,
    ended: bool,
}

impl Text {
    /// Returns the same as [`Unpacked::behind`].
    pub(crate) fn behind(&self) -> Option<Behind> {
        self.bytes.behind()
    }

    /// Returns the same as [`Unpacked::damage`].
    pub(crate) fn damage(&self) -> Option<&Damage> {
        self.bytes.damage()
    }
}

impl Decoding {
    fn step(&mut self, bytes: &mut Unpacked) -> io::Result<()> {
        let raw = bytes.fill_buf()?;
        let last = raw.is_empty();
        // One byte is reserved for the replacement of a malformed sequence.
        let room = self.out.len() - 1;
        let (result, read, written) = self.decoder.decode_to_utf8_without_replacement(raw, &mut self.out[..room], last);
        bytes.consume(read);
        (self.from, self.to) = (0, written);
        match result {
            DecoderResult::Malformed(..) => {
                self.out[written] = MALFORMED;
                self.to += 1;
            }
            DecoderResult::InputEmpty => self.ended = last,
            DecoderResult::OutputFull => {}
        }
        Ok(())
    }
}

impl Read for Text {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        read_buffered(self, into)
    }
}

impl BufRead for Text {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.left == 0 {
            return Ok(&[]);
        }
        let there = match &mut self.decoding {
            None => self.bytes.fill_buf()?,
            Some(decoding) => {
                while decoding.from == decoding.to && !decoding.ended {
                    decoding.step(&mut self.bytes)?;
                }
                &decoding.out[decoding.from..decoding.to]
            }
        };
        let some = usize::try_from(self.left).map_or(there.len(), |left| left.min(there.len()));
        Ok(&there[..some])
    }

    fn consume(&mut self, bytes: usize) {
        self.left -= bytes as u64;
        match &mut self.decoding {
            None => self.bytes.consume(bytes),
            Some(decoding) => decoding.from += bytes,
        }
    }
}

/// Clears `into`, then decodes bytes into it. Invalid sequences become bytes that are never valid UTF-8.
pub(crate) fn decode(encoding: &'static encoding_rs::Encoding, bytes: &[u8], into: &mut Vec<u8>) {
    into.clear();
    decode_on(&mut encoding.new_decoder_without_bom_handling(), bytes, true, into);
}

/// Decodes bytes with a decoder that keeps its state between calls, and appends the result to `into`. The bytes are decoded in small steps
/// because the output may be three times as long as the input.
pub(crate) fn decode_on(decoder: &mut encoding_rs::Decoder, mut bytes: &[u8], last: bool, into: &mut Vec<u8>) {
    loop {
        let from = into.len();
        let longest = decoder.max_utf8_buffer_length_without_replacement(bytes.len()).unwrap_or(DECODED_BYTES);
        into.resize(from + longest.min(DECODED_BYTES) + 1, 0);
        let (result, used, written) = decoder.decode_to_utf8_without_replacement(bytes, &mut into[from..], last);
        into.truncate(from + written);
        bytes = &bytes[used..];
        match result {
            DecoderResult::InputEmpty => return,
            DecoderResult::Malformed(..) => into.push(MALFORMED),
            DecoderResult::OutputFull => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::file_of as file;
    use encoding_rs::{GBK, UTF_16BE, UTF_16LE};

    fn coding(encoding: Encoding) -> Coding {
        Coding { encoding, ..Coding::default() }
    }

    fn wide(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    fn text(coding: Coding, bytes: &[u8]) -> Vec<u8> {
        let mut all = Vec::new();
        coding.text(file(bytes)).expect("opened").read_to_end(&mut all).expect("read");
        all
    }

    #[test]
    fn wide_encodings_are_decoded_before_lines_are_cut() {
        let long = "кот 猫\n".repeat(20_000);
        let wide = |text: &str| wide(text);
        assert_eq!(text(coding(Encoding::Named(UTF_16LE)), &wide(&long)), long.as_bytes());
        // A byte order mark overrides the named encoding and is not part of the text.
        let marked = [b"\xFF\xFE".as_slice(), &wide("кот")].concat();
        assert_eq!(text(coding(Encoding::Named(UTF_16BE)), &marked), "кот".as_bytes());
        // The text contains half of a surrogate pair, and ends with half of a code unit.
        assert_eq!(text(coding(Encoding::Named(UTF_16LE)), b"a\0\x00\xD8b\0c"), b"a\xFFb\xFF");
        assert_eq!(text(coding(Encoding::Utf8), b"\xFFa"), b"\xFFa");
    }

    #[test]
    fn lines_are_decoded_one_by_one() {
        let mut out = Vec::new();
        let (bytes, _, _) = GBK.encode("汉字 abc");
        decode(GBK, &bytes, &mut out);
        assert_eq!(out, "汉字 abc".as_bytes());
        decode(GBK, b"a\xFF\xFFb\x81", &mut out);
        assert_eq!(out, b"a\xFF\xFFb\xFF");
        decode(GBK, b"", &mut out);
        assert!(out.is_empty());
    }

    #[test]
    fn the_encoding_is_found_out_from_the_first_bytes_that_are_not_ascii() {
        let found = |bytes: &[u8]| {
            let file = file(bytes);
            let coding = coding(Encoding::Auto).resolved(&file).expect("read");
            let mut all = Vec::new();
            coding.unpacked(file).expect("opened").read_to_end(&mut all).expect("read");
            assert_eq!(all, bytes, "the file is read from its beginning again");
            coding.encoding
        };
        assert_eq!(found(b"{\"text\": \"only ASCII\"}\n"), Encoding::Utf8);
        assert_eq!(found("{\"text\": \"кот и пёс\"}\n".as_bytes()), Encoding::Utf8);
        assert_eq!(found(&wide("{\"text\": \"кот и пёс\"}\n")), Encoding::Named(UTF_16LE));
        let chinese = "{\"text\": \"这是一个关于汉字编码的例子，我们用它来试验。\"}\n".repeat(20);
        let late = "{\"text\": \"abc\"}\n".repeat(100_000) + &chinese;
        assert_eq!(found(&GBK.encode(&chinese).0), Encoding::Named(GBK));
        assert_eq!(found(&GBK.encode(&late).0), Encoding::Named(GBK));
    }
}
