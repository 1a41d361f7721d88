//! Tests how pages are extracted from blocks: server headers, chunks, encodings, types, and the reasons for rejections.

use crate::archive::page::*;
use std::io::Write as _;

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

/// Returns the page of a response with these fields; the type is HTML unless the fields contain a type.
fn answer(fields: &str, body: &[u8]) -> Result<Vec<u8>, Rejection> {
    let html = if fields.to_ascii_lowercase().contains("content-type") { "" } else { "Content-Type: text/html\r\n" };
    let block = [format!("HTTP/1.1 200 OK\r\n{html}{fields}\r\n").as_bytes(), body].concat();
    let record = Fields::of(b"Content-Type: application/http; msgtype=response\r\n");
    payload(&record, &block).page.map(Cow::into_owned)
}

fn good(fields: &str, body: &[u8]) -> Vec<u8> {
    answer(fields, body).expect("a page")
}

const PAGE: &[u8] = b"<html><p>one two three one two three one two three</p></html>";

#[test]
fn every_packing_is_undone_in_the_order_in_which_it_was_put_on() {
    assert_eq!(good("", PAGE), PAGE);
    for (name, packed) in [
        ("gzip", gz(PAGE)),
        ("x-gzip", gz(PAGE)),
        ("GZip", [gz(&PAGE[..10]), gz(&PAGE[10..])].concat()),
        ("deflate", zlib(PAGE)),
        ("deflate", deflate(PAGE)),
        ("zstd", zstd::encode_all(PAGE, 1).expect("memory")),
        ("identity", PAGE.to_vec()),
        ("deflate, gzip", gz(&zlib(PAGE))),
        ("gzip, identity , zstd", zstd::encode_all(gz(PAGE).as_slice(), 1).expect("memory")),
    ] {
        assert_eq!(good(&format!("Content-Encoding: {name}\r\n"), &packed), PAGE, "{name}");
    }
    assert_eq!(
        good("content-encoding: gzip\nContent-Encoding: zstd\n", &zstd::encode_all(gz(PAGE).as_slice(), 1).unwrap()),
        PAGE
    );
    // The body is compressed and chunked for transport.
    let packed = gz(PAGE);
    let chunked = [format!("{:x}\r\n", packed.len()).as_bytes(), &packed, b"\r\n0\r\n\r\n"].concat();
    assert_eq!(good("Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", &chunked), PAGE);
}

#[test]
fn a_body_that_was_unpacked_before_it_was_stored_is_taken_as_it_is() {
    for name in ["gzip", "deflate", "zstd"] {
        assert_eq!(good(&format!("Content-Encoding: {name}\r\n"), PAGE), PAGE);
    }
    // Common Crawl stores unpacked bodies and renames the fields.
    assert_eq!(good("X-Crawl-Content-Encoding: br\r\nX-Crawl-Transfer-Encoding: chunked\r\n", PAGE), PAGE);
    assert_eq!(good("Transfer-Encoding: chunked\r\n", PAGE), PAGE);
    // The beginning of the text looks like a chunk length, but no chunk of this length follows.
    let text = b"cafe\r\nhalf past seven, and nobody there";
    let short = b"5\r\nhalf past seven, and nobody there";
    assert_eq!(good("Transfer-Encoding: chunked\r\n", short), short);
    assert_eq!(good("Content-Type: text/plain\r\n", text), text);
}

#[test]
fn chunks_are_put_together() {
    let chunked = "Transfer-Encoding: Chunked\r\n";
    assert_eq!(good(chunked, b"6\r\n<html>\r\n3;name=value\r\nabc\r\n0\r\nTrailer: x\r\n\r\n"), b"<html>abc");
    assert_eq!(good(chunked, b"6\r\n<html>\n3\r\nabc"), b"<html>abc");
    // The first body is truncated inside a chunk, the second after a chunk.
    assert_eq!(good(chunked, b"6\r\n<html>\r\nFF\r\nabc"), b"<html>abc");
    assert_eq!(good(chunked, b"6\r\n<html>\r\n"), b"<html>");
    // Data that is not a chunk is used unchanged.
    assert_eq!(good(chunked, b"6\r\n<html>\r\n<p>no chunk"), b"<html><p>no chunk");
    assert_eq!(answer(chunked, b"0\r\n\r\n"), Err(RejectReason::NoBody.into()));
    assert_eq!(good(chunked, b"6\r\n<html>\r\nFFFFFFFFFFFFFFFF\r\nabc"), b"<html>abc");
}

#[test]
fn what_is_cut_off_is_used_and_what_is_damaged_is_not() {
    let long: Vec<u8> = (0..50_000u64).flat_map(|n| dupsift_core::hash::mix64(n).to_le_bytes()).collect();
    let packed = gz(&long);
    let part = good("Content-Encoding: gzip\r\n", &packed[..packed.len() / 2]);
    assert!(part.len() > 10_000 && long.starts_with(&part));
    assert_eq!(
        answer("Content-Encoding: gzip\r\n", &packed[..5]),
        Err(Rejection::new(RejectReason::DamagedBody, "gzip"))
    );
    let mut damaged = packed;
    let last = damaged.len() - 6;
    damaged[last] ^= 1;
    assert_eq!(answer("Content-Encoding: gzip\r\n", &damaged), Err(Rejection::new(RejectReason::DamagedBody, "gzip")));
    assert_eq!(
        answer("Content-Encoding: deflate\r\n", b"\xFF\xFFxx"),
        Err(Rejection::new(RejectReason::DamagedBody, "deflate"))
    );
}

#[test]
fn a_body_that_unpacks_without_end_is_refused() {
    let zeros = vec![b' '; MAX_TEXT_BYTES + 1];
    let detail = format!("a body that decompresses to more than {MAX_TEXT_BYTES} bytes");
    let why = Rejection::new(RejectReason::TooLong, detail);
    assert_eq!(answer("Content-Encoding: gzip\r\n", &gz(&zeros)), Err(why.clone()));
    assert_eq!(answer("Content-Encoding: gzip\r\n", &gz(&zeros[1..])).map(|page| page.len()), Ok(MAX_TEXT_BYTES));
    assert_eq!(answer("Content-Encoding: zstd\r\n", &zstd::encode_all(zeros.as_slice(), 1).unwrap()), Err(why));
    assert_eq!(answer("", &zeros), Err(too_long(MAX_TEXT_BYTES + 1)));
}

#[test]
fn packings_that_are_not_read_are_named() {
    let why = |name: &str| answer(&format!("Content-Encoding: {name}\r\n"), b"abc").expect_err("no page").to_string();
    assert_eq!(why("BR"), "encoding not read: br");
    assert_eq!(why("gzip, br"), "encoding not read: br");
    assert_eq!(why("rot13-of-my-own"), "encoding not read: unknown name");
}

#[test]
fn only_html_and_text_are_pages() {
    let of = |content_type: &str| answer(&format!("Content-Type: {content_type}\r\n"), b"abc");
    for content_type in
        ["text/html", "TEXT/HTML;charset=GBK", "text/html, text/html", "application/xhtml+xml", "text/plain ; x=y"]
    {
        assert_eq!(of(content_type), Ok(b"abc".to_vec()), "{content_type}");
    }
    assert_eq!(of("image/PNG; q=1"), Err(Rejection::new(RejectReason::NotHtml, "image/png")));
    assert_eq!(of("text/x-%ff<script>"), Err(Rejection::new(RejectReason::NotHtml, "unknown type")));
    assert_eq!(of(&format!("a/{}", "b".repeat(100))), Err(Rejection::new(RejectReason::NotHtml, "unknown type")));
    // Without a declared type, the first character decides whether the body is HTML.
    assert_eq!(answer("Content-Type:\r\n", b"a"), Err(Rejection::new(RejectReason::NotHtml, "no content type")));
    for page in [b"<p>".as_slice(), b"\xEF\xBB\xBF \r\n<!doctype html>", b"\xFF\xFE<\0p\0>\0", b"\0<\0p\0>"] {
        assert_eq!(answer("Content-Type:\r\n", page), Ok(page.to_vec()));
    }
    assert!(answer("Content-Type:\r\n", b"%PDF-1.4 <").is_err());
}

#[test]
fn status_and_head_of_the_server() {
    let record = Fields::of(b"Content-Type: application/http\r\n");
    let of = |block: &str| payload(&record, block.as_bytes()).page.map(Cow::into_owned);
    let page = Ok(b"<p>".to_vec());
    for line in ["HTTP/1.1 200 OK", "HTTP/1.0 200", "HTTP/2 203 x", "HTTP/1.1  200\tOK", "HTTP/0.9 299 \u{43E}"] {
        assert_eq!(of(&format!("{line}\r\nContent-Type: text/html\r\n\r\n<p>")), page, "{line}");
    }
    assert_eq!(of("HTTP/1.1 200 OK\nX:\n\n<p>"), page);
    assert_eq!(of("HTTP/1.1 404 Not Found\r\n\r\n<p>"), Err(Rejection::new(RejectReason::HttpStatus, "404")));
    // The status is checked before the type.
    assert_eq!(
        of("HTTP/1.1 301 Moved\r\nContent-Type: image/png\r\n\r\n"),
        Err(Rejection::new(RejectReason::HttpStatus, "301"))
    );
    assert_eq!(of("HTTP/1.1 OK\r\n\r\n<p>"), Err(broken("no HTTP status")));
    // A header may be all that there is, with or without a blank line.
    for end in ["", "\r\n", "\r\n\r\n"] {
        let no_body = Err(RejectReason::NoBody.into());
        assert_eq!(of(&format!("HTTP/1.1 200 OK\r\nX-Y: z{end}")), no_body);
        assert_eq!(of(&format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0{end}")), no_body);
        let status = |status: &str| Err(Rejection::new(RejectReason::HttpStatus, status));
        assert_eq!(of(&format!("HTTP/1.1 302 Found\r\nLocation: http://a/?b:c{end}")), status("302"));
        assert_eq!(of(&format!("HTTP/1.1 301 Moved{end}")), status("301"));
    }
    for text in ["HTTP/1.1 200 OK\r\n<p>a", "HTTP/1.1 200 OK\r\nX: y\r\n<a href='http://b'>"] {
        assert_eq!(of(text), Err(broken("the HTTP header is not terminated")));
    }
    let long = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n<p>", "y".repeat(HEAD_BYTES));
    assert_eq!(of(&long), Err(broken("the HTTP header is not terminated")));
    assert_eq!(of("<p>"), Err(broken("no HTTP header")));
    assert_eq!(of(""), Err(RejectReason::NoBody.into()));
}

#[test]
fn a_record_that_is_no_answer_is_the_page_itself() {
    let of = |head: &str, block: &'static str| payload(&Fields::of(head.as_bytes()), block.as_bytes());
    let wet = of("Content-Type: text/plain; charset=utf-8\r\n", "кот");
    assert_eq!(wet.content_type.as_deref(), Some("text/plain; charset=utf-8"));
    assert_eq!(wet.page.as_deref(), Ok("кот".as_bytes()));
    assert_eq!(
        of("Content-Type: text/dns\r\n", "1.2.3.4").page,
        Err(Rejection::new(RejectReason::NotHtml, "text/dns"))
    );
    assert_eq!(of("", "<p>").page.as_deref(), Ok(b"<p>".as_slice()));
    // The type is reported even if the block is not a page.
    let image = of("Content-Type: application/http\r\n", "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\nx");
    assert_eq!((image.content_type.as_deref(), image.page.is_err()), (Some("image/png"), true));
}

#[test]
fn what_the_head_of_a_server_refuses_is_not_held() {
    use crate::archive::records::{NextRecord, Records};
    use crate::compressed::packing::Packing;
    use crate::testkit::file_of;
    let long = "a".repeat(8 << 20);
    let record = |block: &str| {
        let head = "WARC/1.1\r\nWARC-Type: response\r\nContent-Type: application/http\r\n";
        format!("{head}Content-Length: {}\r\n\r\n{block}\r\n\r\n", block.len())
    };
    let ok = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";
    for (block, reason) in [
        (format!("{ok}X: {long}\r\n\r\n<p>a"), Some(RejectReason::BrokenRecord)),
        (format!("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n{long}"), Some(RejectReason::NotHtml)),
        (format!("HTTP/1.1 404 No\r\nContent-Type: text/html\r\n\r\n{long}"), Some(RejectReason::HttpStatus)),
        (format!("{ok}\r\n{long}"), None),
    ] {
        let file = file_of([record(&block), record(&format!("{ok}\r\n<p>last"))].concat().as_bytes());
        let mut records = Records::new(file, Packing::Plain, 1 << 20, 0).expect("opened");
        let mut held = Vec::new();
        let Some(NextRecord::Head(head)) = records.next().expect("read") else { panic!("a record") };
        records.block(&head, Some(&mut held)).expect("read").expect("whole");
        assert_eq!(payload(&head.fields, &held).page.err().map(|why| why.reason), reason);
        assert_eq!(payload(&head.fields, &held).page.err(), payload(&head.fields, block.as_bytes()).page.err());
        assert_eq!(held.capacity() < 2 << 20, reason.is_some(), "{}", held.capacity());
        // The position of the next record is unaffected.
        let Some(NextRecord::Head(head)) = records.next().expect("read") else { panic!("a record") };
        records.block(&head, Some(&mut held)).expect("read").expect("whole");
        assert!(held.ends_with(b"<p>last"));
    }
}
