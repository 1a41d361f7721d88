//! In which encoding bytes are that do not say it: by their shape, then a guess, which is Firefox's (chardetng).
//!
//! Text in UTF-8 is known by its bytes: in no other encoding do letters beyond ASCII come out as sequences of that shape by
//! chance more than a few times.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Where UTF-16 must show that no mark tells.
const WIDE_WITHIN: usize = 256;
/// How many bytes are looked at to compare encodings, and how many the detector is given.
const LOOKED_AT: usize = 1 << 20;
const FED: usize = 64 << 10;
/// The detector needs pairs of neighbours, not ASCII far from any other byte: it is fed the blocks that hold some.
const BLOCK: usize = 256;
/// So many sequences of UTF-8 must stand beside each error for the bytes to be UTF-8.
pub const SEQUENCES_AN_ERROR: usize = 10;

/// The encoding of a text.
pub fn of_text(bytes: &[u8]) -> &'static Encoding {
    if let Some((marked, _)) = Encoding::for_bom(bytes) {
        return marked;
    }
    if let Some(wide) = wide_text(bytes) {
        return wide;
    }
    let bytes = beyond_ascii(bytes);
    let shape = Utf8Shape::of(bytes);
    let is_utf8 = shape.errors.saturating_mul(SEQUENCES_AN_ERROR) <= shape.sequences;
    if is_utf8 { UTF_8 } else { guessed(bytes, None) }
}

/// UTF-16 without a mark: no other text has zeros. Line ends, blanks, quotes and commas tell which of the two it is, for read
/// in the wrong order they are no letters of any text.
fn wide_text(bytes: &[u8]) -> Option<&'static Encoding> {
    if !bytes.contains(&0) {
        return None;
    }
    let is_sign = |byte: u8| matches!(byte, b'\n' | b'\r' | b' ' | b'"' | b',');
    let (mut little, mut big) = (0_usize, 0_usize);
    for pair in bytes.chunks_exact(2) {
        little += usize::from(is_sign(pair[0]) && pair[1] == 0);
        big += usize::from(pair[0] == 0 && is_sign(pair[1]));
    }
    match (little > 10 * big, big > 10 * little) {
        (true, _) => Some(UTF_16LE),
        (_, true) => Some(UTF_16BE),
        _ => None,
    }
}

/// UTF-16 without a mark: a page begins with markup, in which every second byte is 0; an eighth is enough, for a title of Chinese
/// characters may stand in it.
pub fn wide(bytes: &[u8]) -> Option<&'static Encoding> {
    let pairs = bytes[..bytes.len().min(WIDE_WITHIN)].chunks_exact(2);
    let (mut all, mut first, mut second) = (0, 0, 0);
    for pair in pairs {
        all += 1;
        first += usize::from(pair[0] == 0 && pair[1] != 0);
        second += usize::from(pair[0] != 0 && pair[1] == 0);
    }
    let wide = |zeros: usize, others: usize| all >= 8 && 8 * zeros >= all && 20 * others <= zeros;
    match (wide(second, first), wide(first, second)) {
        (true, _) => Some(UTF_16LE),
        (_, true) => Some(UTF_16BE),
        _ => None,
    }
}

/// The part of a page that charsets are told by: from its first byte that is not ASCII on.
pub fn beyond_ascii(bytes: &[u8]) -> &[u8] {
    let start = bytes.chunks(BLOCK).take_while(|block| block.is_ascii()).map(<[u8]>::len).sum::<usize>();
    let rest = &bytes[start.min(bytes.len())..];
    &rest[..rest.len().min(LOOKED_AT)]
}

/// How bytes look when read as UTF-8.
#[derive(Default)]
pub struct Utf8Shape {
    /// Characters of more than one byte.
    pub sequences: usize,
    /// Bytes that are none.
    pub errors: usize,
}

impl Utf8Shape {
    /// Of these bytes.
    pub fn of(bytes: &[u8]) -> Utf8Shape {
        let mut shape = Utf8Shape::default();
        let mut rest = bytes;
        loop {
            let (valid, error) = match simdutf8::compat::from_utf8(rest) {
                Ok(text) => (text.len(), None),
                Err(error) => (error.valid_up_to(), Some(error)),
            };
            // Each character of more than one byte has one byte of this shape.
            shape.sequences += rest[..valid].iter().filter(|byte| **byte >= 0xC0).count();
            // A character cut off at the end says nothing.
            let Some(wrong) = error.and_then(|error| error.error_len()) else { return shape };
            shape.errors += 1;
            rest = &rest[valid + wrong..];
        }
    }
}

/// chardetng's guess from the parts of the bytes that are not ASCII, with the last label of a host name in small letters where
/// one is known; UTF-8 was ruled out before.
pub fn guessed(bytes: &[u8], domain: Option<&[u8]>) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let mut fed = 0;
    let mut inside = false;
    for block in bytes.chunks(BLOCK) {
        // A character may have begun with the last byte of the block before.
        if !inside && block.is_ascii() {
            continue;
        }
        detector.feed(block, false);
        inside = block.last().is_some_and(|last| !last.is_ascii());
        fed += block.len();
        if fed >= FED {
            break;
        }
    }
    detector.guess(domain, Utf8Detection::Deny)
}
