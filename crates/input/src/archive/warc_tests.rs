//! Checks, for every compression format, that the rows of complete, damaged and truncated web archives do not depend on how the file is
//! read.

use crate::corpus::source::{Columns, Source};
use crate::format::want::{RowFilter, Want};
use crate::testkit;
use dupsift_core::error::Result;
use dupsift_tables::{Id, IdsSeen};
use std::io::Write as _;
use std::path::Path;

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

/// Returns a frame with a checksum.
fn zst(bytes: &[u8], dictionary: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::with_dictionary(Vec::new(), 1, dictionary).expect("memory");
    encoder.include_checksum(true).expect("a parameter");
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

/// Returns a record of this type for `http://x/NAME`, with additional header fields.
fn record(kind: &str, name: &str, more: &str, block: &[u8]) -> Vec<u8> {
    let head = format!(
        "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{name}>\r\nWARC-Date: 2024-05-06T07:08:09Z\r\n\
         WARC-Target-URI: http://x/{name}\r\n{more}Content-Length: {}\r\n\r\n",
        block.len()
    );
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

fn answer(name: &str, page: &str) -> Vec<u8> {
    let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{page}");
    let more = "Content-Type: application/http; msgtype=response\r\nWARC-Payload-Digest: sha1:ABC\r\n";
    record("response", name, more, block.as_bytes())
}

/// Returns one record of each kind. Three of the records are rows; the last of these rows is not a page.
fn small() -> Vec<Vec<u8>> {
    vec![
        record("warcinfo", "info", "", b"software: none\r\n"),
        record("request", "a", "", b"GET / HTTP/1.1\r\n\r\n"),
        answer("a", "<p>one</p>"),
        record("conversion", "b", "Content-Type: text/plain\r\n", "два\n\nWARC/ is a format".as_bytes()),
        record("revisit", "a", "", b""),
        record("resource", "c", "Content-Type: image/png\r\nWARC-Truncated: length\r\n", b"\x89PNG"),
    ]
}

/// Returns the contents of files with these records, in every format.
fn dressed(records: &[Vec<u8>]) -> [(&'static str, Vec<u8>); 5] {
    let each = |pack: &dyn Fn(&[u8]) -> Vec<u8>| records.iter().flat_map(|record| pack(record)).collect::<Vec<u8>>();
    let dictionary = b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:".repeat(20);
    let framed = |stored: &[u8]| {
        [
            &0x184D_2A5Du32.to_le_bytes(),
            &(stored.len() as u32).to_le_bytes(),
            stored,
            &each(&|record| zst(record, &dictionary)),
        ]
        .concat()
    };
    [
        ("a.warc", each(&|record| record.to_vec())),
        ("b.warc.gz", each(&gz)),
        ("c.warc.zst", each(&|record| zst(record, b""))),
        ("d.warc.zst", framed(&dictionary)),
        ("e.WET.ZST", framed(&zst(&dictionary, b""))),
    ]
}

#[derive(Clone, Debug, PartialEq)]
struct Row {
    doc: u64,
    page: std::result::Result<String, String>,
    id: Option<Id>,
    others: Vec<Option<String>>,
}

fn columns(id: &str) -> Columns {
    let others = ["url", "date", "content_type", "record_id", "digest", "title"].map(str::to_owned).to_vec();
    Columns { text: "text".into(), id: id.into(), id_required: true, others, ..Columns::default() }
}

fn open(path: &Path, id: &str) -> Source {
    let found = crate::find::inputs::find(&[path.to_string_lossy().into_owned()]).expect("found");
    let (source, bad) = crate::corpus::source::open(found, &columns(id), 1, None).expect("opened");
    assert_eq!(bad, []);
    source
}

fn want() -> Want {
    Want { id: true, others: columns("id").others, ..Want::default() }
}

fn rows(source: &Source, want: &Want, target: usize) -> Result<Vec<Row>> {
    let mut all = Vec::new();
    for split in source.splits(target) {
        source.read(&split, want, &mut |documents| {
            assert!(documents.is_html());
            let columns: Vec<_> = want.others.iter().map(|name| documents.text_column(name).unwrap()).collect();
            for row in 0..documents.len() {
                let page = documents.page(row).map(|page| String::from_utf8_lossy(page.unwrap_or(b"-")).into_owned());
                let other = |column: &Option<dupsift_tables::TextColumn>| match column.as_ref()?.get(row) {
                    dupsift_tables::Cell::Text(text) => Some(text.to_owned()),
                    _ => None,
                };
                all.push(Row {
                    doc: documents.doc(row),
                    page: page.map_err(ToString::to_string),
                    id: documents.id(row).map(Id::from),
                    others: columns.iter().map(other).collect(),
                });
            }
            Ok(())
        })?;
    }
    Ok(all)
}

/// Returns the pages of a file with these bytes, or the reasons why rows are invalid.
fn pages(name: &str, bytes: &[u8]) -> Vec<std::result::Result<String, String>> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("written");
    rows(&open(&path, "id"), &want(), 1 << 20).expect("read").into_iter().map(|row| row.page).collect()
}

fn broken(why: &str) -> std::result::Result<String, String> {
    Err(format!("broken record: {why}"))
}

#[test]
fn an_archive_reads_the_same_in_every_dress() {
    let text = |text: &str| Some(text.to_owned());
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in dressed(&small()) {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        let source = open(&path, "id");
        let file = &source.files[0];
        assert_eq!((file.rows, file.others.len()), (3, 5), "{name}");
        let archived = file.archived.clone().expect("an archive");
        assert_eq!(archived.truncated, 1);
        assert_eq!(
            archived.others.into_iter().collect::<Vec<_>>(),
            [("request".into(), 1), ("revisit".into(), 1), ("warcinfo".into(), 1)]
        );
        let date = text("2024-05-06T07:08:09Z");
        let row =
            |doc: u64, at: &str, page: std::result::Result<&str, &str>, content_type: &str, digest: Option<&str>| Row {
                doc,
                page: page.map(str::to_owned).map_err(str::to_owned),
                id: Some(Id::Text(format!("http://x/{at}"))),
                others: vec![
                    Some(format!("http://x/{at}")),
                    date.clone(),
                    text(content_type),
                    Some(format!("<urn:uuid:{at}>")),
                    digest.map(str::to_owned),
                    None,
                ],
            };
        let expected = [
            row(0, "a", Ok("<p>one</p>"), "text/html; charset=utf-8", Some("sha1:ABC")),
            row(1, "b", Ok("два\n\nWARC/ is a format"), "text/plain", None),
            row(2, "c", Err("not HTML: image/png"), "image/png", None),
        ];
        assert_eq!(rows(&source, &want(), 1).expect("read"), expected, "{name}");
        let ids: Vec<_> =
            rows(&open(&path, "record_id"), &want(), 1).expect("read").into_iter().map(|row| row.id).collect();
        assert_eq!(ids[0], Some(Id::Text("<urn:uuid:a>".to_owned())));
    }
}

#[test]
fn the_type_comes_with_the_pages_and_the_ids_are_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.warc");
    let nameless = b"WARC/1.0\r\nWARC-Type: resource\r\nContent-Type: text/html\r\nContent-Length: 1\r\n\r\nx\r\n\r\n";
    std::fs::write(&path, [small().concat(), nameless.to_vec(), b"garbage".to_vec()].concat()).expect("written");
    let source = open(&path, "url");
    let mut seen = IdsSeen::default();
    for (want, expected) in [
        (Want::default(), vec!["text", "content_type"]),
        (Want { text: false, id: true, ..Want::default() }, vec!["url"]),
        (want(), vec!["text", "url", "date", "content_type", "record_id", "digest"]),
    ] {
        seen = IdsSeen::default();
        let mut bad = 0;
        for split in source.splits(1) {
            source
                .read(&split, &want, &mut |documents| {
                    let schema = documents.rows.schema();
                    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
                    assert_eq!(names, expected);
                    seen.merge(documents.ids_seen());
                    bad += (0..documents.len()).filter(|&row| documents.page(row).is_err()).count();
                    Ok(())
                })
                .expect("read");
        }
        assert_eq!(bad, 2);
    }
    // One usable row has no id.
    assert_eq!((seen.nulls, seen.kinds.len()), (1, 1));
}

#[test]
fn heads_are_read_leniently() {
    let head = "WARC/0.17\nwarc-TYPE: Response\nWARC-Target-URI: <http://x/a\n b>\nContent-length: 51\n\nHTTP/1.1 200 OK\ncontent-type: text/html\n\n<p>one</p>";
    // The blocks are followed by any number of line breaks or by none, and there are zeros between records.
    let bytes = [head, "\n", head, head, "\n\n\n\r\n\0\0\0", head, "\r\n\r\n\0\0"].concat().into_bytes();
    assert_eq!(pages("a.warc", &bytes), vec![Ok("<p>one</p>".to_owned()); 4]);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.warc");
    std::fs::write(&path, &bytes).expect("written");
    assert_eq!(rows(&open(&path, "id"), &want(), 1).unwrap()[0].id, Some(Id::Text("http://x/a b".to_owned())));
}

#[test]
fn a_broken_record_keeps_its_number_and_takes_no_other_with_it() {
    let page = |name: &str| Ok(format!("<p>{name}</p>"));
    let good = |name: &str| answer(name, &format!("<p>{name}</p>"));
    let text = |record: &[u8]| String::from_utf8(record.to_vec()).expect("text");
    let long_head = text(&good("x")).replace("WARC-Date", &format!("X: {}\r\nWARC-Date", "y".repeat(70_000)));
    let with_length = |length: &str| {
        let record = text(&good("x"));
        let at = record.find("Content-Length: ").expect("there") + 16;
        format!("{}{length}{}", &record[..at], &record[at + record[at..].find('\r').expect("there")..])
    };
    for (what, why) in [
        (text(&good("x")).replace("WARC/1.1", "WARC/2.0"), "an unknown WARC version"),
        (text(&good("x")).replace("WARC-Type", "WARC-Kind"), "its header has no type"),
        (with_length("many"), "its header has no length"),
        (with_length("-1"), "its header has no length"),
        (with_length("99999999999999999999999"), "its header has no length"),
        (with_length("18446744073709551615"), "it does not have the length that its header declares"),
        (with_length("1000000000000"), "it does not have the length that its header declares"),
        (with_length("3"), "it does not have the length that its header declares"),
        (with_length("80"), "it does not have the length that its header declares"),
        (long_head, "its header is longer than 64 KiB"),
        ("WARC/1.1\r\nWARC-Type: response\r\n".to_owned(), "its header does not end"),
        ("some words\r\nthat are no record\r\n".to_owned(), "it does not start with a record header"),
    ] {
        for (name, bytes) in dressed(&[good("a"), what.clone().into_bytes(), good("b")]) {
            assert_eq!(pages(name, &bytes), [page("a"), broken(why), page("b")], "{name}: {what:.300}");
        }
        // One member contains several records, as in a file that was compressed as a whole. Seeking backward is impossible in such a file,
        // so a length that is too large causes the header of the next record to be lost.
        let bytes = gz(&[good("a"), what.clone().into_bytes(), good("b")].concat());
        let swallowed =
            ["18446744073709551615", "1000000000000", "Length: 80"].iter().any(|length| what.contains(length));
        let expected = if swallowed { vec![page("a"), broken(why)] } else { vec![page("a"), broken(why), page("b")] };
        assert_eq!(pages("a.warc.gz", &bytes), expected, "{what:.300}");
    }
}

#[test]
fn a_member_that_is_damaged_takes_no_other_with_it() {
    let page = |name: &str| Ok(format!("<p>{name}</p>"));
    let long: String = (0..2000u64).map(|n| format!("<p>{:x}</p>", dupsift_core::hash::mix64(n))).collect();
    let records = [answer("a", "<p>a</p>"), answer("x", &long), answer("b", "<p>b</p>")];
    for (name, pack) in [("a.warc.gz", &gz as &dyn Fn(&[u8]) -> Vec<u8>), ("a.warc.zst", &|bytes| zst(bytes, b""))] {
        let members: Vec<Vec<u8>> = records.iter().map(|record| pack(record)).collect();
        let with = |middle: &[u8]| pages(name, &[&members[0], middle, &members[2]].concat());
        let unpacked = broken("it cannot be decompressed");
        let flipped = |at: usize| {
            let mut member = members[1].clone();
            member[at] ^= 0x55;
            with(&member)
        };
        let length = members[1].len();
        // Damages the checksum, the data, the first bytes, or the length at the end of a member, or truncates the member.
        assert_eq!(flipped(length - 3), [page("a"), unpacked.clone(), page("b")], "{name}");
        let data = flipped(length / 2);
        assert_eq!((&data[0], &data[2], data.len()), (&page("a"), &page("b"), 3), "{name}: {data:?}");
        assert!(data[1].as_ref().is_err_and(|why| why.starts_with("broken record: ")), "{data:?}");
        let short = with(&members[1][..length / 2]);
        assert_eq!((&short[0], short[1].is_err(), &short[2], short.len()), (&page("a"), true, &page("b"), 3), "{name}");
        assert_eq!(flipped(0), [page("a"), broken("it does not start with a record header"), page("b")], "{name}");
        assert_eq!(with(b"\0\0\0\0"), [page("a"), page("b")]);
        assert_eq!(with(b"garbage"), [page("a"), broken("it does not start with a record header"), page("b")]);
        // Tests data after the last member.
        let whole = members.concat();
        let three = [page("a"), Ok(long.clone()), page("b")];
        assert_eq!(pages(name, &whole), three);
        assert_eq!(pages(name, &[whole.as_slice(), &[0; 1000]].concat()), three);
        let behind = pages(name, &[whole.as_slice(), b"garbage"].concat());
        assert_eq!((&behind[..3], &behind[3..]), (&three[..], &[broken("it does not start with a record header")][..]));
        let cut = pages(name, &whole[..whole.len() - 3]);
        assert_eq!((&cut[..2], &cut[2..]), (&three[..2], &[broken("the file ends within it")][..]));
        // Tests skippable frames.
        if name.ends_with("zst") {
            assert_eq!(with(b"\x50\x2A\x4D\x18\x03\0\0\0abc"), [page("a"), page("b")]);
        }
    }
}

#[test]
fn a_head_of_gzip_may_hold_a_name_and_more() {
    let one = answer("a", "<p>a</p>");
    let mut builder = flate2::GzBuilder::new()
        .filename("name")
        .comment("words")
        .extra(vec![7; 300])
        .write(Vec::new(), flate2::Compression::fast());
    builder.write_all(&one).expect("memory");
    let member = builder.finish().expect("memory");
    assert_eq!(pages("a.warc.gz", &[&member[..], &gz(&one), &member].concat()), vec![Ok("<p>a</p>".to_owned()); 3]);
}

#[test]
fn what_holds_no_record_is_a_bad_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.warc");
    let why = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        let (source, bad) = testkit::open(&[&path]).expect("opened");
        assert_eq!(source.documents(), 0);
        bad.into_iter().map(|bad| bad.why).collect::<Vec<_>>().concat()
    };
    assert_eq!(why("a.warc", b"<html>"), "cannot be read as a web archive: it has no records");
    assert_eq!(why("a.warc.gz", b"WARC/1.0\r\n"), "cannot be read as a web archive: it has no records");
    assert_eq!(why("a.warc.gz", &gz(b"WARC/1.0\r\n")), "cannot be read as a web archive in gzip: it has no records");
    let cut = why("a.wet.zst", b"\x5D\x2A\x4D\x18\xFF\0\0\0abc");
    assert_eq!(cut, "cannot be read as a web archive in Zstandard: the file ends within the dictionary");
    let huge = why("a.wet.zst", b"\x5D\x2A\x4D\x18\xFF\xFF\xFF\xFFabc");
    assert!(huge.contains("a dictionary of 4294967295 bytes; at most 67108864 can be used"), "{huge}");
    assert_eq!(why("a.warc", b""), "");
    // Tests a file that changes between opening and reading.
    std::fs::write(&path, small().concat()).expect("written");
    let source = open(&path, "id");
    std::fs::write(&path, small()[..4].concat()).expect("written");
    assert!(rows(&source, &want(), 1).expect_err("changed").to_string().contains("changed while it was being read"));
}

#[test]
fn a_block_that_is_too_long_is_not_held() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.warc");
    let head = "WARC/1.0\r\nWARC-Type: resource\r\nContent-Type: text/html\r\nContent-Length: 5000000000\r\n\r\n";
    // The block is a hole in a sparse file.
    let mut file = std::fs::File::create(&path).expect("a file");
    file.write_all(head.as_bytes()).expect("written");
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Current(5_000_000_000)).expect("sought");
    file.write_all(&[b"\r\n\r\n".to_vec(), answer("a", "<p>a</p>")].concat()).expect("written");
    let all = rows(&open(&path, "id"), &want(), 1).expect("read");
    assert_eq!(all[0].page, Err("too long: the text has 5000000000 bytes; expected at most 134217728".to_owned()));
    assert_eq!((all.len(), &all[1].page), (2, &Ok("<p>a</p>".to_owned())));
}

#[test]
fn pieces_of_a_large_file_have_the_rows_of_the_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    // The text cannot be compressed; some of the records are not rows, and some are broken.
    let records: Vec<Vec<u8>> = (0..400u64)
        .map(|n| {
            let text: String = (0..1000).map(|at| format!("{:x}", dupsift_core::hash::mix64(n * 1000 + at))).collect();
            match n % 10 {
                3 => record("request", &n.to_string(), "", text.as_bytes()),
                7 => answer(&n.to_string(), &text).replace_first(b"WARC-Type", b"WARC-Tipe"),
                _ => answer(&n.to_string(), &text),
            }
        })
        .collect();
    for (name, bytes) in dressed(&records) {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        let source = open(&path, "id");
        let whole = rows(&source, &want(), usize::MAX).expect("read");
        assert_eq!((whole.len(), source.splits(usize::MAX).len()), (360, 1));
        assert_eq!(whole.iter().filter(|row| row.page.is_err()).count(), 40);
        assert!(source.splits(1).len() > 2, "{name}: {:?}", source.splits(1));
        assert_eq!(rows(&source, &want(), 1).expect("read"), whole, "{name}");
        let tiny = Want { batch_bytes: 1, ..want() };
        assert_eq!(rows(&source, &tiny, 3 << 20).expect("read"), whole, "{name}");
        let some: Vec<u64> = (0..360).filter(|doc| doc % 7 == 0 || *doc == 359).collect();
        let expected: Vec<Row> = some.iter().map(|&doc| whole[doc as usize].clone()).collect();
        let chosen = Want { rows: Some(RowFilter::Docs(some.into())), ..want() };
        assert_eq!(rows(&source, &chosen, 1).expect("read"), expected, "{name}");
    }
}

trait ReplaceFirst {
    fn replace_first(self, what: &[u8], with: &[u8]) -> Vec<u8>;
}

impl ReplaceFirst for Vec<u8> {
    fn replace_first(mut self, what: &[u8], with: &[u8]) -> Vec<u8> {
        let at = self.windows(what.len()).position(|window| window == what).expect("there");
        self.splice(at..at + what.len(), with.iter().copied());
        self
    }
}
