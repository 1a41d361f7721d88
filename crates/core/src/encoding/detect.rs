//! Detects the encoding of bytes that do not declare an encoding: first by byte patterns, then with chardetng, Firefox's detector.
//!
//! UTF-8 is recognized from the bytes: in other encodings, letters beyond ASCII rarely form valid UTF-8 sequences by chance.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{
    Encoding, IBM866, ISO_2022_JP, KOI8_R, KOI8_U, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1251, X_MAC_CYRILLIC,
};

/// The number of bytes that are examined to recognize UTF-32, or UTF-16 without a byte order mark.
const WIDE_WITHIN: usize = 256;
/// The maximum number of bytes that are read to compare encodings or passed to the detector.
const LOOKED_AT: usize = 1 << 20;
const FED: usize = 64 << 10;
/// The size of a block in bytes. The detector evaluates pairs of adjacent bytes and does not need ASCII bytes far from non-ASCII bytes, so
/// it receives only the blocks that contain non-ASCII bytes.
const BLOCK: usize = 256;
/// Bytes count as UTF-8 if they contain at least this many UTF-8 sequences per error.
pub const SEQUENCES_AN_ERROR: usize = 10;

/// Returns the encoding of the text in these bytes.
///
/// # Errors
/// Returns the name of an encoding that is not supported.
pub fn of_text(bytes: &[u8]) -> Result<&'static Encoding, &'static str> {
    if is_utf32(bytes) {
        return Err("UTF-32");
    }
    if let Some((marked, _)) = Encoding::for_bom(bytes) {
        return Ok(marked);
    }
    if let Some(wide) = wide_text(bytes) {
        return Ok(wide);
    }
    if let Some(escaped) = escaped(bytes) {
        return escaped;
    }
    let bytes = beyond_ascii(bytes);
    let shape = Utf8Shape::of(bytes);
    let is_utf8 = shape.errors.saturating_mul(SEQUENCES_AN_ERROR) <= shape.sequences;
    if is_utf8 {
        return Ok(UTF_8);
    }
    // A UTF-8 line says nothing about the encoding of the other lines, and its bytes may be invalid in the encoding of those lines.
    let others = bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| simdutf8::basic::from_utf8(line).is_err());
    let others = others.collect::<Vec<_>>().concat();
    let encoding = guessed(&others, None);
    let may_be_mac = [WINDOWS_1251, IBM866].contains(&encoding) && is_mac_cyrillic(&others);
    Ok(if may_be_mac { X_MAC_CYRILLIC } else { encoding })
}

/// Returns whether a line or record is UTF-8 although a different encoding was guessed for the file. In most encodings, non-ASCII letters
/// do not form valid UTF-8 by chance; in multi-byte encodings and KOI8, a few letters may.
pub fn is_utf8_after_all(bytes: &[u8], encoding: &'static Encoding) -> bool {
    if bytes.is_ascii() {
        return true;
    }
    let Ok(text) = simdutf8::basic::from_utf8(bytes) else { return false };
    let beyond = || text.chars().filter(|letter| !letter.is_ascii());
    let many = |least: usize| beyond().nth(least - 1).is_some();
    // In the guessed encoding, a letter followed by a punctuation mark may have the same two bytes as a UTF-8 letter that the guessed
    // encoding does not contain.
    let has = |letter: char| {
        let (_, _, is_missing) = encoding.encode(letter.encode_utf8(&mut [0; 4]));
        !is_missing || letter.len_utf8() > 2
    };
    match () {
        () if !encoding.is_single_byte() => many(6),
        () if encoding == KOI8_U || encoding == KOI8_R => many(3),
        () => many(3) || beyond().all(has),
    }
}

/// Returns whether the bytes are UTF-32, with or without a byte order mark: every character must have a value below 2^21.
fn is_utf32(bytes: &[u8]) -> bool {
    let looked_at = &bytes[..bytes.len().min(WIDE_WITHIN) / 4 * 4];
    let zeros_at = |high: [usize; 2]| {
        looked_at.len() >= 8
            && looked_at.chunks_exact(4).all(|four| four[high[0]] == 0 && four[high[1]] <= 0x10)
            && looked_at.chunks_exact(4).any(|four| four[1..3] != [0, 0] || (four[0] != 0) != (four[3] != 0))
    };
    zeros_at([0, 1]) || zeros_at([3, 2])
}

/// Detects encodings that write non-ASCII characters as ASCII bytes after an escape sequence.
pub fn escaped(bytes: &[u8]) -> Option<Result<&'static Encoding, &'static str>> {
    const ESCAPE: u8 = 0x1B;
    if !bytes.is_ascii() {
        return None;
    }
    let sequences = bytes.iter().enumerate().filter(|(_, byte)| **byte == ESCAPE).map(|(at, _)| &bytes[at..]);
    sequences.map(|rest| &rest[..rest.len().min(4)]).find_map(|sequence| match sequence {
        [_, b'$', b'B' | b'@', ..] | [_, b'(', b'I' | b'J', ..] => Some(Ok(ISO_2022_JP)),
        [_, b'$', b')', b'C'] => Some(Err("ISO-2022-KR")),
        [_, b'$', b')', b'A' | b'G'] => Some(Err("ISO-2022-CN")),
        // Other escape sequences, such as terminal colors.
        _ => None,
    })
}

/// Returns whether the bytes are Mac Cyrillic, which the detector does not support. In Mac Cyrillic, lowercase letters except я have the
/// same bytes as in Windows-1251. The byte of я in Mac Cyrillic is the capital letter Я in Windows-1251, and within a word, a capital
/// letter does not follow a lowercase letter. The bytes of capital letters are punctuation marks in Windows-1251.
fn is_mac_cyrillic(bytes: &[u8]) -> bool {
    let is_small = |byte: u8| (0xE0..=0xFE).contains(&byte);
    let after_small = |wanted: u8| bytes.windows(2).filter(|pair| is_small(pair[0]) && pair[1] == wanted).count();
    after_small(0xDF) > 2 * after_small(0xFF)
}

/// Detects UTF-16 without a byte order mark by its zero bytes, which no other text contains. Line breaks, spaces, quotation marks and
/// commas determine the byte order, because none of these characters becomes a letter of any script if its bytes are swapped.
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

/// Detects UTF-16 without a byte order mark in a page. A page begins with markup, in which every second byte is 0; one eighth of the bytes
/// is enough, because the markup may include a Chinese title.
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

/// Returns the part of a page from which the charset is detected. This part begins with the block that contains the first non-ASCII byte.
pub fn beyond_ascii(bytes: &[u8]) -> &[u8] {
    let start = bytes.chunks(BLOCK).take_while(|block| block.is_ascii()).map(<[u8]>::len).sum::<usize>();
    let rest = &bytes[start.min(bytes.len())..];
    &rest[..rest.len().min(LOOKED_AT)]
}

/// Counts of valid and invalid sequences in bytes that are read as UTF-8.
#[derive(Default)]
pub struct Utf8Shape {
    /// The number of multi-byte characters.
    pub sequences: usize,
    /// The number of invalid bytes.
    pub errors: usize,
}

impl Utf8Shape {
    /// Counts the sequences and errors in these bytes.
    pub fn of(bytes: &[u8]) -> Utf8Shape {
        let mut shape = Utf8Shape::default();
        let mut rest = bytes;
        loop {
            let (valid, error) = match simdutf8::compat::from_utf8(rest) {
                Ok(text) => (text.len(), None),
                Err(error) => (error.valid_up_to(), Some(error)),
            };
            // Each multi-byte character contains exactly one such byte.
            shape.sequences += rest[..valid].iter().filter(|byte| **byte >= 0xC0).count();
            // A character that is cut off at the end is not an error.
            let Some(wrong) = error.and_then(|error| error.error_len()) else { return shape };
            shape.errors += 1;
            rest = &rest[valid + wrong..];
        }
    }
}

/// Returns chardetng's guess for the non-ASCII parts of the bytes. `domain` is the last label of the host name in lowercase, if known. The
/// caller must have ruled out UTF-8.
pub fn guessed(bytes: &[u8], domain: Option<&[u8]>) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let mut fed = 0;
    let mut inside = false;
    for block in bytes.chunks(BLOCK) {
        // A character may begin with the last byte of the previous block.
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

#[cfg(test)]
mod tests {
    use super::*;

    const RUSSIAN: &str = "Городской совет собрался во вторник вечером, чтобы обсудить старый мост через реку. Следующая встреча состоится в мае.";

    #[test]
    fn encodings_that_a_guess_does_not_know() {
        for encoding in [WINDOWS_1251, X_MAC_CYRILLIC, IBM866, KOI8_R] {
            let found = of_text(&encoding.encode(RUSSIAN).0).expect("read");
            assert!(
                found == encoding || (encoding, found) == (KOI8_R, KOI8_U),
                "{}: {}",
                encoding.name(),
                found.name()
            );
        }
        let japanese = ISO_2022_JP.encode("これは日本語の文章です。").0;
        assert_eq!(of_text(&japanese), Ok(ISO_2022_JP));
        assert_eq!(of_text(b"\x1B$)C\x0E0!\x0F"), Err("ISO-2022-KR"));
        assert_eq!(of_text(b"\x1B[31mred\x1B[0m"), Ok(UTF_8));
        for text in [RUSSIAN, "plain ASCII text", "中文字符编码"] {
            let little: Vec<u8> = text.chars().flat_map(|c| (c as u32).to_le_bytes()).collect();
            let big: Vec<u8> = text.chars().flat_map(|c| (c as u32).to_be_bytes()).collect();
            for bytes in
                [&little, &big, &[b"\xFF\xFE\0\0", &little[..]].concat(), &[b"\0\0\xFE\xFF", &big[..]].concat()]
            {
                assert_eq!(of_text(bytes), Err("UTF-32"), "{text}");
            }
            let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            assert_ne!(of_text(&wide), Err("UTF-32"), "{text}");
        }
        assert_eq!(of_text(&[0; 64]), Ok(UTF_8));
    }

    #[test]
    fn lines_in_utf8_do_not_mislead_the_guess() {
        let line = [&*WINDOWS_1251.encode(RUSSIAN).0, b"\n"].concat();
        let mixed = [line.repeat(9), RUSSIAN.as_bytes().to_vec(), b"\n".to_vec(), line].concat();
        assert_eq!(of_text(&mixed), Ok(WINDOWS_1251));
    }

    #[test]
    fn a_line_in_utf8_is_one_in_a_file_of_another_encoding() {
        assert!(is_utf8_after_all("мост".as_bytes(), WINDOWS_1251) && is_utf8_after_all(b"bridge", WINDOWS_1251));
        assert!(!is_utf8_after_all(&WINDOWS_1251.encode(RUSSIAN).0, WINDOWS_1251));
        // The KOI8 bytes of "её" and two GBK characters are also valid UTF-8.
        assert!(!is_utf8_after_all(&KOI8_R.encode("её").0, KOI8_R));
        assert!(!is_utf8_after_all(b"\xC4\xA3\xCA\xBD", encoding_rs::GBK));
        assert!(is_utf8_after_all("中文字符编码".as_bytes(), encoding_rs::GBK));
        // A letter and the punctuation mark after it form a UTF-8 letter of a different script.
        for line in ["Ich weiß… nicht", "BEYONCÉ’S NEW ALBUM", "PUBLICITÉ\u{A0}: café", "weiß–blau"] {
            assert!(!is_utf8_after_all(&encoding_rs::WINDOWS_1252.encode(line).0, encoding_rs::WINDOWS_1252), "{line}");
            assert!(is_utf8_after_all(line.as_bytes(), encoding_rs::WINDOWS_1252), "{line}");
        }
    }

    #[test]
    fn colors_of_a_terminal_are_no_other_encoding() {
        assert_eq!(escaped(b"\x1B[31mred\x1B[0m"), None);
        assert_eq!(escaped(b"\x1B[31mred \x1B$B0l"), Some(Ok(ISO_2022_JP)));
    }
}
