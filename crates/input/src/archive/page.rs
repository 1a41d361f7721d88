//! Extracts the page from a record's block: the server response without its header, dechunked and unpacked.
//!
//! Archives are written by many crawlers. Some crawlers store a body that is already dechunked or unpacked, although the header fields
//! indicate that it is encoded (RFC 9112 section 7.1, RFC 9110 section 8.4). Therefore, a body that does not begin like data in the
//! indicated encoding is used unchanged.

use crate::archive::head::{Fields, HEAD_BYTES};
use dupsift_tables::document::{MAX_TEXT_BYTES, too_long};
use dupsift_tables::{RejectReason, Rejection};
use std::borrow::Cow;
use std::io::{self, Read};

/// Returns the rejection for a broken record.
pub(super) fn broken(what: &str) -> Rejection {
    Rejection::new(RejectReason::BrokenRecord, what)
}

/// The declared type, and the page or the reason why there is no page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Payload<'b> {
    /// The media type with its parameters, as sent by the server or stored in the archive.
    pub content_type: Option<String>,
    pub page: Result<Cow<'b, [u8]>, Rejection>,
}

/// Returns the page of a block. A block that begins like a server response is treated as a response; any other block is the page itself,
/// with the type from the record's header.
pub(super) fn payload<'b>(record: &Fields, block: &'b [u8]) -> Payload<'b> {
    let declared = record.get("content-type");
    if !block.starts_with(b"HTTP/") {
        let answer = declared.is_some_and(|declared| essence(declared) == "application/http");
        if answer {
            let why = if block.is_empty() { RejectReason::NoBody.into() } else { broken("no HTTP header") };
            return Payload { content_type: None, page: Err(why) };
        }
        return Payload { content_type: declared.map(str::to_owned), page: page(declared, block.into()) };
    }
    let Some((head, body)) = split(block).or_else(|| is_head(block).then_some((block, &[][..]))) else {
        return Payload { content_type: None, page: Err(broken("the HTTP header is not terminated")) };
    };
    let (status, fields) = parted(head);
    let content_type = fields.get("content-type").map(str::to_owned);
    let page = answered(status)
        .and_then(|()| named(content_type.as_deref()))
        .and_then(|()| unpacked(&fields, body))
        .and_then(|body| page(content_type.as_deref(), body));
    Payload { content_type, page }
}

/// Returns whether a block with this beginning may be a page; a block that cannot be a page need not be held in memory. `begin` is the
/// entire block, or its beginning up to the maximum size of a header.
pub(super) fn may_be_page(record: &Fields, begin: &[u8]) -> bool {
    if !begin.starts_with(b"HTTP/") {
        let declared = record.get("content-type");
        return declared
            .is_none_or(|declared| essence(declared) != "application/http" && named(Some(declared)).is_ok());
    }
    let Some((head, _)) = split(begin) else { return false };
    let (status, fields) = parted(head);
    answered(status).and_then(|()| named(fields.get("content-type"))).is_ok()
}

/// Returns whether these first bytes of a block show that the block is not a page.
pub(super) fn is_no_page(record: &Fields, begin: &[u8]) -> bool {
    let is_complete = if begin.starts_with(b"HTTP/") { split(begin).is_some() } else { begin.len() >= b"HTTP/".len() };
    is_complete && !may_be_page(record, begin)
}

/// Returns the first line and the fields of a header.
fn parted(head: &[u8]) -> (&[u8], Fields) {
    let (status, lines) = head.split_at(head.iter().position(|&byte| byte == b'\n').map_or(head.len(), |end| end + 1));
    (status, Fields::of(lines))
}

/// Splits a response into its header and its body.
fn split(block: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut begin = 0;
    for (at, _) in block.iter().enumerate().take(HEAD_BYTES).filter(|(_, byte)| **byte == b'\n') {
        if block[begin..at].trim_ascii().is_empty() {
            return Some((&block[..begin], &block[at + 1..]));
        }
        begin = at + 1;
    }
    None
}

/// Returns whether a block consists of a header alone. Some crawlers store a response without a body, such as a redirect, without the blank
/// line after its header.
fn is_head(block: &[u8]) -> bool {
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
    let is_field = |line: &[u8]| {
        let name = line.split(|byte| *byte == b':').next().filter(|name| name.len() < line.len());
        line.is_empty() || line.starts_with(b" ") || name.is_some_and(|name| name.iter().all(is_of_name))
    };
    block.len() <= HEAD_BYTES && block.split(|byte| *byte == b'\n').skip(1).all(|line| is_field(line.trim_ascii_end()))
}

/// Checks that the status line, such as `HTTP/1.1 200 OK`, reports success.
fn answered(line: &[u8]) -> Result<(), Rejection> {
    let mut parts = line.split(|byte| byte.is_ascii_whitespace()).skip(1).filter(|part| !part.is_empty());
    match parts.next() {
        Some([b'2', b'0'..=b'9', b'0'..=b'9']) => Ok(()),
        Some(status @ [b'1'..=b'9', b'0'..=b'9', b'0'..=b'9']) => {
            Err(Rejection::new(RejectReason::HttpStatus, String::from_utf8_lossy(status)))
        }
        _ => Err(broken("no HTTP status")),
    }
}

/// Returns the body if it is HTML or text and has between one and [`MAX_TEXT_BYTES`] bytes.
fn page<'b>(content_type: Option<&str>, body: Cow<'b, [u8]>) -> Result<Cow<'b, [u8]>, Rejection> {
    if body.is_empty() {
        return Err(RejectReason::NoBody.into());
    }
    named(content_type)?;
    if content_type.is_none() && !is_like_html(&body) {
        return Err(Rejection::new(RejectReason::NotHtml, "no content type"));
    }
    if body.len() > MAX_TEXT_BYTES {
        return Err(too_long(body.len()));
    }
    Ok(body)
}

/// Checks that the declared type is a type of page.
fn named(content_type: Option<&str>) -> Result<(), Rejection> {
    let Some(content_type) = content_type else { return Ok(()) };
    let name = essence(content_type);
    if matches!(name.as_str(), "text/html" | "application/xhtml+xml" | "text/plain") {
        return Ok(());
    }
    let sign = |sign: u8| sign.is_ascii_alphanumeric() || b"/.+-_".contains(&sign);
    let is_type = name.bytes().all(sign) && name.bytes().filter(|&sign| sign == b'/').count() == 1;
    let detail = if is_type && name.len() <= 80 { name } else { "unknown type".to_owned() };
    Err(Rejection::new(RejectReason::NotHtml, detail))
}

/// Returns the bare media type, such as `text/html` for `Text/HTML; charset=gbk`.
fn essence(content_type: &str) -> String {
    content_type.split([';', ',', ' ']).next().unwrap_or("").to_ascii_lowercase()
}

/// Returns whether the first character is `<`, in an encoding with one or two bytes per character.
fn is_like_html(body: &[u8]) -> bool {
    let body = [b"\xEF\xBB\xBF".as_slice(), b"\xFF\xFE", b"\xFE\xFF"]
        .iter()
        .find_map(|mark| body.strip_prefix(*mark))
        .unwrap_or(body);
    body.iter().find(|byte| !byte.is_ascii_whitespace() && **byte != 0) == Some(&b'<')
}

/// Returns the body after decoding its transfer and content encodings.
fn unpacked<'b>(fields: &Fields, body: &'b [u8]) -> Result<Cow<'b, [u8]>, Rejection> {
    let chunked = fields
        .all("transfer-encoding")
        .flat_map(|value| value.split(','))
        .any(|name| name.trim().eq_ignore_ascii_case("chunked"));
    let mut body = if chunked { dechunked(body) } else { body.into() };
    let codings: Vec<String> = fields
        .all("content-encoding")
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .filter(|name| !matches!(name.as_str(), "" | "identity" | "none" | "utf-8"))
        .collect();
    // The codings are listed in the order in which they were applied, so they are decoded in reverse order.
    for coding in codings.iter().rev() {
        let out = match coding.as_str() {
            "gzip" | "x-gzip" if !body.starts_with(&[0x1F, 0x8B]) => continue,
            "gzip" | "x-gzip" => whole(|| Ok(flate2::bufread::MultiGzDecoder::new(body.as_ref()))),
            "deflate" | "x-deflate" if is_zlib(&body) => whole(|| Ok(flate2::bufread::ZlibDecoder::new(body.as_ref()))),
            "deflate" | "x-deflate" if is_like_html(&body) => continue,
            "deflate" | "x-deflate" => whole(|| Ok(flate2::bufread::DeflateDecoder::new(body.as_ref()))),
            "zstd" if !body.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]) => continue,
            "zstd" => whole(|| zstd::Decoder::with_buffer(body.as_ref())),
            "br" | "compress" | "x-compress" | "dcb" | "dcz" => {
                return Err(Rejection::new(RejectReason::UnreadEncoding, coding.as_str()));
            }
            _ => return Err(Rejection::new(RejectReason::UnreadEncoding, "unknown name")),
        };
        body = Cow::Owned(out.map_err(|failed| match failed {
            Failed::Decoder => Rejection::new(RejectReason::DamagedBody, coding.as_str()),
            Failed::TooLong => {
                let detail = format!("a body that decompresses to more than {MAX_TEXT_BYTES} bytes");
                Rejection::new(RejectReason::TooLong, detail)
            }
        })?);
    }
    Ok(body)
}

fn is_zlib(body: &[u8]) -> bool {
    matches!(body, [first, second, ..] if first & 0xF == 8 && (u32::from(*first) << 8 | u32::from(*second)).is_multiple_of(31))
}

enum Failed {
    Decoder,
    TooLong,
}

/// The unpacked size, in bytes, above which the total size of a body is measured before the body is held in memory.
const HELD_UNSEEN: u64 = 4 << 20;

/// Returns the entire output of a decoder. If the input is truncated, returns the available part, as a browser does. A long body is
/// unpacked twice, so that an unusable body is never held in memory: a few kilobytes may unpack to more than the maximum text size.
fn whole<R: Read>(decoder: impl Fn() -> io::Result<R>) -> Result<Vec<u8>, Failed> {
    let mut begun = decoder().map_err(|_| Failed::Decoder)?;
    let mut out = Vec::new();
    let read = begun.by_ref().take(HELD_UNSEEN).read_to_end(&mut out);
    let held = out.len() as u64;
    if read.is_err() || held < HELD_UNSEEN {
        return if is_usable(&read, held) { Ok(out) } else { Err(Failed::Decoder) };
    }
    let (rest, read) = counted(begun.take(MAX_TEXT_BYTES as u64 + 1 - held));
    let all = held + rest;
    if all > MAX_TEXT_BYTES as u64 {
        return Err(Failed::TooLong);
    }
    if !is_usable(&read, all) {
        return Err(Failed::Decoder);
    }
    out.reserve_exact(rest as usize);
    let mut again = decoder().map_err(|_| Failed::Decoder)?.take(all);
    out.clear();
    let read = again.read_to_end(&mut out);
    if is_usable(&read, out.len() as u64) { Ok(out) } else { Err(Failed::Decoder) }
}

/// Returns whether the unpacked data is usable: complete, or partial because the input is truncated.
fn is_usable<T>(read: &io::Result<T>, bytes: u64) -> bool {
    read.as_ref().err().is_none_or(|error| error.kind() == io::ErrorKind::UnexpectedEof && bytes > 0)
}

/// Reads all data; returns the number of bytes read, and the error if reading failed.
fn counted(mut reader: impl Read) -> (u64, io::Result<()>) {
    let (mut bytes, mut buffer) = (0, vec![0; 64 << 10]);
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return (bytes, Ok(())),
            Ok(some) => bytes += some as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (bytes, Err(error)),
        }
    }
}

/// Joins the chunks. Data that does not parse as a chunk is used unchanged.
fn dechunked(body: &[u8]) -> Cow<'_, [u8]> {
    let mut out = Vec::new();
    let mut rest = body;
    while rest.first().is_some_and(u8::is_ascii_hexdigit) {
        let Ok(httparse::Status::Complete((line, size))) = httparse::parse_chunk_size(rest) else { break };
        if size == 0 {
            return Cow::Owned(out);
        }
        let chunk = &rest[line..];
        let Some((chunk, behind)) = usize::try_from(size).ok().and_then(|size| chunk.split_at_checked(size)) else {
            // The block was truncated inside this chunk.
            out.extend_from_slice(chunk);
            return Cow::Owned(out);
        };
        let line_end = [b"\r\n".as_slice(), b"\n"].iter().find_map(|end| behind.strip_prefix(*end));
        let Some(behind) = line_end.or(behind.is_empty().then_some(behind)) else { break };
        out.extend_from_slice(chunk);
        rest = behind;
    }
    if out.is_empty() {
        return Cow::Borrowed(body);
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
