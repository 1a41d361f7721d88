//! Determines the charset of a page from the byte order mark, the server's declaration, the page's own declaration, or a guess, in this
//! order.
//!
//! A declaration that contradicts the bytes is ignored. UTF-8 is recognized from the bytes: in other charsets, letters beyond ASCII rarely
//! form valid UTF-8 sequences by chance. Therefore, bytes that are valid UTF-8 except for a few errors are read as UTF-8 regardless of the
//! declaration; all other bytes are never read as UTF-8. The order follows the Encoding and HTML standards; chardetng, Firefox's detector,
//! makes the guess.

use crate::page::RawPage;
use dupsift_core::encoding::detect::{SEQUENCES_AN_ERROR, Utf8Shape, beyond_ascii, guessed, wide};
use encoding_rs::{DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use std::borrow::Cow;

/// The number of bytes at the beginning of a page that may contain a declaration. The HTML standard requires 1024, but browsers read a
/// little more.
const DECLARED_WITHIN: usize = 4096;
/// The extra space in a buffer, in bytes: more than any decoder needs for one character.
const MORE_ROOM: usize = 16;
/// Bytes declared to be UTF-8 are read as UTF-8 if they contain at least this many UTF-8 sequences per error.
const SEQUENCES_AN_ERROR_DECLARED: usize = 3;
/// Bytes declared to be in a charset other than UTF-8 are read in that charset if they contain at least this many characters per error. The
/// lower limit `CHARACTERS_AN_ERROR_AT_LEAST` applies if the only alternative is a single-byte charset, in which nearly all bytes are
/// valid.
const CHARACTERS_AN_ERROR: usize = 50;
const CHARACTERS_AN_ERROR_AT_LEAST: usize = 8;

/// A decoded page.
pub(super) struct Decoded<'a> {
    pub text: Cow<'a, str>,
    pub encoding: &'static Encoding,
    pub malformed: bool,
    /// Whether the page was cut off at `max_bytes`.
    pub cut: bool,
}

/// Decodes a page to at most `max_bytes` bytes of UTF-8; the rest is not decoded.
pub(super) fn decode<'a>(raw: &RawPage<'a>, max_bytes: usize) -> Decoded<'a> {
    let (encoding, mark) = encoding_of(raw);
    let bytes = &raw.bytes[mark..];
    if encoding == UTF_8 {
        let within = &bytes[..bytes.len().min(max_bytes)];
        let cut = within.len() < bytes.len();
        match simdutf8::compat::from_utf8(within) {
            Ok(text) => return Decoded { text: Cow::Borrowed(text), encoding, malformed: false, cut },
            // The limit falls inside a character.
            Err(error) if cut && error.error_len().is_none() => {
                let text = String::from_utf8_lossy(&within[..error.valid_up_to()]);
                return Decoded { text, encoding, malformed: false, cut };
            }
            Err(_) => {}
        }
    }
    let mut decoder = encoding.new_decoder_without_bom_handling();
    // The buffer is larger than the limit, because the decoder stops a few bytes before the end of its buffer.
    let most = max_bytes.saturating_add(MORE_ROOM);
    let room = decoder.max_utf8_buffer_length(bytes.len()).map_or(most, |room| room.min(most));
    let mut text = String::with_capacity(room);
    let mut malformed = false;
    let mut at = 0;
    let mut full = false;
    while !full {
        let (result, read) = decoder.decode_to_string_without_replacement(&bytes[at..], &mut text, true);
        at += read;
        match result {
            DecoderResult::InputEmpty => break,
            DecoderResult::OutputFull => full = true,
            DecoderResult::Malformed(..) => {
                malformed = true;
                text.push(char::REPLACEMENT_CHARACTER);
                full = text.len() > max_bytes;
            }
        }
    }
    let cut = full || text.len() > max_bytes;
    text.truncate(text.floor_char_boundary(max_bytes));
    Decoded { text: Cow::Owned(text), encoding, malformed, cut }
}

/// Returns the charset, and the length of the byte order mark before the text.
fn encoding_of(raw: &RawPage<'_>) -> (&'static Encoding, usize) {
    if let Some(marked) = Encoding::for_bom(raw.bytes) {
        return marked;
    }
    let said = raw.content_type.and_then(of_content_type);
    if let Some(wide) = wide(raw.bytes).or(said.filter(|said| is_wide(said) && raw.bytes.contains(&0))) {
        return (wide, 0);
    }
    let bytes = beyond_ascii(raw.bytes);
    let (said, named) = (said.filter(|said| !is_wide(said)), of_page(raw.bytes));
    // Servers often declare ISO-8859-1 for content whose charset they do not know.
    let declared = if said == Some(WINDOWS_1252) { named.or(said) } else { said.or(named) };
    let declared_utf8 = declared == Some(UTF_8);
    let shape = Utf8Shape::of(bytes);
    if shape.sequences == 0 && shape.errors == 0 {
        return (declared.unwrap_or(UTF_8), 0);
    }
    let needed = if declared_utf8 { SEQUENCES_AN_ERROR_DECLARED } else { SEQUENCES_AN_ERROR };
    if shape.sequences > 0 && shape.errors.saturating_mul(needed) <= shape.sequences {
        return (UTF_8, 0);
    }
    let Some(declared) = declared.filter(|_| !declared_utf8) else {
        return (guessed(bytes, raw.url.and_then(top_level_domain).as_deref()), 0);
    };
    if declared == WINDOWS_1252 && stand_together(bytes) {
        return (guessed(bytes, raw.url.and_then(top_level_domain).as_deref()), 0);
    }
    let (errors, characters) = errors_of(declared, bytes);
    if errors.saturating_mul(CHARACTERS_AN_ERROR) <= characters {
        return (declared, 0);
    }
    let guess = guessed(bytes, raw.url.and_then(top_level_domain).as_deref());
    let stays = guess.is_single_byte() && errors.saturating_mul(CHARACTERS_AN_ERROR_AT_LEAST) <= characters;
    (if stays { declared } else { guess }, 0)
}

fn is_wide(encoding: &&'static Encoding) -> bool {
    *encoding == UTF_16LE || *encoding == UTF_16BE
}

/// Returns whether most non-ASCII bytes are adjacent to other non-ASCII bytes, as in Cyrillic and Chinese charsets. In Western languages,
/// such bytes are accented letters, which are usually isolated within a word.
fn stand_together(bytes: &[u8]) -> bool {
    let (mut all, mut together) = (0_usize, 0_usize);
    for pair in bytes.windows(2).filter(|pair| !pair[1].is_ascii()) {
        all += 1;
        together += usize::from(!pair[0].is_ascii());
    }
    all >= 8 && 2 * together > all
}

/// Returns the number of non-ASCII bytes that are invalid in the charset, and the number of valid characters.
fn errors_of(encoding: &'static Encoding, bytes: &[u8]) -> (usize, usize) {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut text = String::with_capacity(4096);
    let (mut at, mut errors, mut characters) = (0, 0_usize, 0_usize);
    loop {
        let (result, read) = decoder.decode_to_string_without_replacement(&bytes[at..], &mut text, false);
        at += read;
        // Undefined bytes of single-byte charsets become non-ASCII control characters.
        let odd = text.chars().filter(|c| matches!(c, '\u{80}'..='\u{9F}')).count();
        errors += odd;
        characters += text.chars().filter(|c| !c.is_ascii()).count() - odd;
        text.clear();
        match result {
            DecoderResult::InputEmpty => return (errors, characters),
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(..) => errors += 1,
        }
    }
}

/// Returns the last label of the host name in lowercase, which the detector requires.
fn top_level_domain(url: &str) -> Option<Vec<u8>> {
    let (_, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    let host = host.rsplit('@').next()?.split(':').next()?.trim_end_matches('.');
    let label = host.rsplit_once('.')?.1;
    let usable = !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    usable.then(|| label.to_ascii_lowercase().into_bytes())
}

/// Returns the charset in a content type such as `text/html; charset=gbk`, or in a bare charset name.
fn of_content_type(said: &str) -> Option<&'static Encoding> {
    let label = charset_in(said.as_bytes()).unwrap_or(said.trim().as_bytes());
    Encoding::for_label_no_replacement(label)
}

/// Returns whether the content is text without tags.
pub(super) fn is_plain(content_type: Option<&str>) -> bool {
    content_type
        .and_then(|said| said.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/plain"))
}

/// Returns the value after `charset=`, without quotes.
fn charset_in(text: &[u8]) -> Option<&[u8]> {
    let lower = text.to_ascii_lowercase();
    let mut from = 0;
    while let Some(found) = find(&lower[from..], b"charset") {
        from += found + b"charset".len();
        let rest = text[from..].trim_ascii_start();
        let Some(rest) = rest.strip_prefix(b"=") else { continue };
        let rest = rest.trim_ascii_start();
        let (rest, ends): (&[u8], &[u8]) = match rest.first() {
            Some(b'"') => (&rest[1..], b"\""),
            Some(b'\'') => (&rest[1..], b"'"),
            _ => (rest, b"; \t\r\n,\"'"),
        };
        let end = rest.iter().position(|byte| ends.contains(byte)).unwrap_or(rest.len());
        return Some(rest[..end].trim_ascii());
    }
    None
}

/// Returns the first charset that the page itself declares, in a `meta` element or an XML declaration.
fn of_page(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(DECLARED_WITHIN)];
    let lower = head.to_ascii_lowercase();
    let label = if lower.starts_with(b"<?xml") {
        let end = find(&lower, b">").unwrap_or(lower.len());
        let named = find(&lower[..end], b"encoding").map(|at| &head[at + b"encoding".len()..end]);
        named.and_then(|rest| rest.split(|byte| matches!(byte, b'"' | b'\'')).nth(1))
    } else {
        None
    };
    if let Some(encoding) = label.and_then(as_declared) {
        return Some(encoding);
    }
    let mut at = 0;
    while let Some(found) = find(&lower[at..], b"<") {
        at += found;
        if lower[at..].starts_with(b"<!--") {
            at += find(&lower[at..], b"-->")?;
        } else if lower[at..].starts_with(b"<meta") {
            let (label, end) = of_meta(&head[at + b"<meta".len()..]);
            if let Some(encoding) = label.and_then(as_declared) {
                return Some(encoding);
            }
            at += end;
        }
        at += 1;
    }
    None
}

/// Returns the label in a `meta` element: the `charset` attribute, or the charset in `content` if the element replaces a header.
fn of_meta(tag: &[u8]) -> (Option<&[u8]>, usize) {
    let (mut charset, mut content, mut is_header) = (None, None, false);
    let mut at = 0;
    let ended = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>' | b'=');
    while let Some(&byte) = tag.get(at) {
        if byte == b'>' {
            break;
        }
        if ended(&byte) {
            at += 1;
            continue;
        }
        let name = &tag[at..][..tag[at..].iter().position(ended).unwrap_or(tag.len() - at)];
        at += name.len();
        let rest = tag[at..].trim_ascii_start();
        let Some(rest) = rest.strip_prefix(b"=") else { continue };
        let rest = rest.trim_ascii_start();
        let quote = rest.first().filter(|byte| matches!(byte, b'"' | b'\''));
        let value = match quote {
            Some(quote) => rest[1..].split(|byte| byte == quote).next().unwrap_or_default(),
            None => rest.split(|byte| byte.is_ascii_whitespace() || *byte == b'>').next().unwrap_or_default(),
        };
        at = tag.len() - rest.len() + value.len() + if quote.is_some() { 2 } else { 0 };
        match name.to_ascii_lowercase().as_slice() {
            b"charset" => charset = charset.or(Some(value)),
            b"content" => content = content.or(charset_in(value)),
            b"http-equiv" => is_header = value.eq_ignore_ascii_case(b"content-type"),
            _ => {}
        }
    }
    (charset.or(content.filter(|_| is_header)), at)
}

/// Returns the charset for a label that a page declares. A page whose declaration is readable as ASCII cannot be UTF-16, and a label that
/// is meant only for use in scripts is ignored.
fn as_declared(label: &[u8]) -> Option<&'static Encoding> {
    match Encoding::for_label(label) {
        Some(encoding) if [UTF_16LE, UTF_16BE, X_USER_DEFINED, encoding_rs::REPLACEMENT].contains(&encoding) => {
            Some(UTF_8)
        }
        other => other,
    }
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
#[path = "charset_tests.rs"]
mod tests;
