//! Tests text in different encodings, compressed files with trailing data, unterminated lines, and files that each hold one document. The
//! tests check that results do not depend on the compression or the encoding, and that unusable input is reported.

use crate::compressed::coding::Coding;
use crate::corpus::source::{BadInput, Source};
use crate::find::inputs::find_all;
use crate::find::taking::Taking;
use crate::formats::TextFiles;
use crate::testkit::{Read, columns, copy, gz, read, whole, zst};
use dupsift_core::encoding::Encoding;
use dupsift_core::error::{Error, Result};
use dupsift_tables::Id;
use std::path::Path;

fn open(inputs: &[&Path], taking: Taking) -> Result<(Source, Vec<BadInput>)> {
    let inputs: Vec<String> = inputs.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    crate::corpus::source::open(find_all(&inputs, taking)?, &columns(), 2, None)
}

fn in_encoding(name: &str) -> Taking {
    let coding = Coding { encoding: Encoding::parse(name).expect("a name"), ..Coding::default() };
    Taking { coding, ..Taking::default() }
}

fn texts(rows: &[Read]) -> Vec<&str> {
    rows.iter().map(|row| row.1.as_ref().ok().and_then(Option::as_deref).unwrap_or("(none)")).collect()
}

fn lines(rows: usize, text: &str) -> String {
    (0..rows).map(|row| format!("{{\"id\":{row},\"text\":\"{row} {text}\"}}\r\n")).collect()
}

#[test]
fn json_lines_of_every_encoding_read_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let marked = |text: &str| [b"\xFF\xFE".as_slice(), &wide(text)].concat();
    let named = |label: &'static [u8]| {
        let encoding = encoding_rs::Encoding::for_label(label).expect("a label");
        move |text: &str| encoding.encode(text).0.into_owned()
    };
    let chinese = "这是一个关于汉字编码的例子，我们用它来试验程序。".repeat(20);
    let russian = "Съешь ещё этих мягких французских булок, да выпей чаю. ".repeat(20);
    type Encode<'e> = &'e dyn Fn(&str) -> Vec<u8>;
    let cases: [(&str, &str, Encode<'_>); 6] = [
        ("gbk", &chinese, &named(b"gbk")),
        ("big5", "這是一個關於漢字編碼的例子，我們用它來試驗程序。", &named(b"big5")),
        ("windows-1251", &russian, &named(b"windows-1251")),
        ("koi8-r", &russian, &named(b"koi8-r")),
        ("utf-16le", &chinese, &wide),
        ("utf-16le", &russian, &marked),
    ];
    for (name, text, encode) in cases {
        let all = lines(3000, text);
        let expected: Vec<String> = (0..3000).map(|row| format!("{row} {text}")).collect();
        let bytes = encode(&all);
        for (file, bytes) in [("a.jsonl", bytes.clone()), ("a.jsonl.gz", gz(&bytes)), ("a.json.zst", zst(&bytes, b""))]
        {
            let path = folder.path().join(file);
            std::fs::write(&path, bytes).expect("written");
            for asked in [name, "auto"] {
                let (source, bad) = open(&[&path], in_encoding(asked)).expect("opened");
                assert_eq!((bad.len(), source.documents()), (0, 3000), "{name} {asked} {file}");
                let rows = read(&source, &whole(), 100_000).expect("read");
                assert_eq!(texts(&rows), expected, "{name} as {asked} in {file}");
                assert_eq!(rows[2999].2, Some(Id::Int(2999)));
                // An uncompressed file is divided among threads if its text is split into lines before decoding.
                let cut = file == "a.jsonl" && !name.starts_with("utf-16") && text.len() > 1000;
                assert_eq!(source.splits(100_000).len() > 1, cut, "{name} {file}");
            }
            std::fs::remove_file(path).expect("removed");
        }
    }
}

#[test]
fn bytes_that_are_nothing_in_the_encoding_named_reject_their_row_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl");
    let good = encoding_rs::GBK.encode("{\"text\":\"汉字\"}\n").0.into_owned();
    let bytes = [good.clone(), b"{\"text\":\"\xFF\xFF\"}\n{\"text\":\"cut \xB0\n".to_vec(), good.clone()].concat();
    std::fs::write(&path, bytes).expect("written");
    let (source, _) = open(&[&path], in_encoding("gbk")).expect("opened");
    let rows = read(&source, &whole(), 1).expect("read");
    assert_eq!(rows.iter().map(|row| row.1.is_ok()).collect::<Vec<_>>(), [true, false, false, true]);
    assert!(rows[1].1.as_ref().is_err_and(|why| why.to_string().contains("not UTF-8")), "{:?}", rows[1]);
    // If the encoding option is missing, no row is usable.
    let (source, _) = open(&[&path], Taking::default()).expect("opened");
    assert!(read(&source, &whole(), 1).expect("read").iter().all(|row| row.1.is_err()));
}

#[test]
fn a_line_without_an_end_is_a_rejected_row_and_not_held() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl.gz");
    let long = 130usize << 20;
    let (begin, end) = (b"{\"text\":\"a\"}\n{\"text\":\"".as_slice(), b"\"}\n{\"text\":\"b\"}\n".as_slice());
    std::fs::write(&path, gz(&[begin, &vec![b'x'; long], end].concat())).expect("written");
    let (source, bad) = open(&[&path], Taking::default()).expect("opened");
    assert_eq!((bad.len(), source.documents()), (0, 3));
    // A read keeps at most `longest` bytes of a line in memory; `longest` is the length of the longest valid row.
    assert_eq!(source.files[0].longest, 12);
    let rows = read(&source, &whole(), 1).expect("read");
    assert_eq!(texts(&rows), ["a", "(none)", "b"]);
    let why = rows[1].1.as_ref().expect_err("too long").to_string();
    assert!(why.contains("the line has 1363148") && why.contains("at most"), "{why}");
    // A file that consists only of an overlong line has one rejected row, but no column is reported as missing.
    std::fs::write(&path, gz(&vec![b'x'; long])).expect("written");
    let (source, bad) = open(&[&path], Taking::default()).expect("opened");
    assert_eq!((bad.len(), source.documents(), source.files[0].longest), (0, 1, 0));
    assert!(read(&source, &whole(), 1).expect("read")[0].1.is_err());
}

#[test]
fn a_long_first_line_may_have_the_column() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl");
    let long = "x".repeat(17 << 20);
    std::fs::write(&path, format!("{{\"meta\":\"{long}\",\"text\":\"a\"}}\n{{\"text\":\"b\"}}\n")).expect("written");
    let (source, _) = open(&[&path], Taking::default()).expect("opened");
    assert_eq!(texts(&read(&source, &whole(), 1).expect("read")), ["a", "b"]);
}

#[test]
fn what_stands_behind_the_end_of_a_compressed_file_is_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let members = [gz(lines(10, "a").as_bytes()), gz(lines(5, "b").as_bytes())].concat();
    for (name, rest) in [("a.jsonl.gz", vec![0; 512]), ("b.jsonl.gz", b"-----BEGIN SIGNATURE".to_vec())] {
        let path = folder.path().join(name);
        std::fs::write(&path, [members.clone(), rest.clone()].concat()).expect("written");
        let (source, bad) = open(&[&path], Taking::default()).expect("opened");
        assert_eq!((bad.len(), source.documents(), source.files[0].notes.len()), (0, 15, 1), "{name}");
        let note = format!("the last {} bytes, from byte {}", rest.len(), members.len());
        assert!(source.files[0].notes[0].starts_with(&note), "{:?}", source.files[0].notes);
        assert_eq!(read(&source, &whole(), 1).expect("read").len(), 15);
    }
    let path = folder.path().join("c.jsonl.gz");
    std::fs::write(&path, &members[..members.len() - 1]).expect("written");
    // The last member's checksum is cut off, but the member's rows are still read.
    let (source, bad) = open(&[&path], Taking::default()).expect("opened");
    assert!(bad[0].why.contains("truncated") && bad[0].takes_part && source.documents() == 15, "{bad:?}");
}

/// Reads a damaged file as a whole and in small pieces, with and without repacking. Returns the rows, or `None` if no row is usable.
fn rows_before(path: &Path, bytes: &[u8], encoding: &str) -> Option<Vec<String>> {
    std::fs::write(path, bytes).expect("written");
    let coding = Coding { encoding: Encoding::parse(encoding).expect("a name"), ..Coding::default() };
    let taking = Taking { coding, ..Taking::default() };
    let (source, bad) = open(&[path], taking).expect("opened");
    assert!(bad.len() == 1 && bad[0].path == path && bad[0].bytes <= bytes.len() as u64, "{bad:?}");
    if source.files.is_empty() {
        assert!(!bad[0].takes_part);
        return None;
    }
    assert!(bad[0].takes_part && bad[0].why.ends_with("the rows before it are used"), "{bad:?}");
    let rows = read(&source, &whole(), usize::MAX).expect("read");
    assert_eq!(read(&source, &whole(), 1).expect("read"), rows);
    let work = tempfile::tempdir().expect("a folder");
    let found = crate::find::inputs::find_all(&[path.to_string_lossy().into_owned()], taking).expect("found");
    let (again, _) = crate::corpus::source::open(found, &columns(), 2, Some(work.path())).expect("opened");
    assert!(again.files[0].repacked.is_some());
    assert_eq!(read(&again, &whole(), 1).expect("read"), rows);
    Some(texts(&rows).into_iter().map(str::to_owned).collect())
}

#[test]
fn an_array_without_its_end_gives_the_items_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = |n: u64| format!("{n} of many, {}", "кот ".repeat(100));
    let items: Vec<String> = (0..6000).map(|n| format!("{{\"id\":\"{n}\",\"text\":\"{}\"}}", text(n))).collect();
    let expected: Vec<String> = (0..6000).map(text).collect();
    let all = format!("[\n{}", items.join(",\n"));
    let wide = |all: &str| all.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    for (encoding, name, encode) in [
        ("utf-8", "a.json", &(|text: &str| text.into()) as &dyn Fn(&str) -> Vec<u8>),
        ("utf-8", "a.json.gz", &|text: &str| gz(text.as_bytes())),
        ("utf-16le", "a.json", &wide),
    ] {
        for (bytes, rows, why) in [
            (encode(&all), 6000, "its array has no closing bracket"),
            (encode(&(all.clone() + ",\n{\"id\":\"6000\",\"te")), 6000, "the last item, which begins at byte "),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, &bytes).expect("written");
            let (source, bad) = open(&[&path], in_encoding(encoding)).expect("opened");
            assert!(bad.len() == 1 && bad[0].why.contains(why), "{name}: {bad:?}");
            assert!(bad[0].bytes < 10_000 && bad[0].why.ends_with("; the rows before it are used"), "{bad:?}");
            assert_eq!(source.documents(), rows);
            assert!(source.files[0].pieces.len() > 1 || name != "a.json" || encoding != "utf-8");
            for target in [1, 1 << 30] {
                let read = read(&source, &whole(), target).expect("read");
                assert_eq!(texts(&read), expected[..rows as usize], "{name}");
            }
        }
    }
    let path = folder.path().join("b.json");
    std::fs::write(&path, "[{\"text\":\"a").expect("written");
    let (source, bad) = open(&[&path], Taking::default()).expect("opened");
    assert_eq!((source.documents(), bad.len()), (0, 1), "{bad:?}");
}

#[test]
fn a_compressed_file_that_is_cut_off_or_damaged_gives_the_rows_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = |n: u64| format!("some text {} of {n}, \u{43a}\u{43e}\u{442}", n.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let json: String = (0..3000).map(|n| format!("{{\"id\":\"{n}\",\"text\":\"{}\"}}\n", text(n))).collect();
    let record = |n: u64| format!("{n},\"a\n,\n{}\"\n", text(n));
    let comma = "id,text\n".to_owned() + &(0..3000).map(record).collect::<String>();
    let wide = |all: &str| all.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let whole_json: Vec<String> = (0..3000).map(text).collect();
    let whole_comma: Vec<String> = (0..3000).map(|n| format!("a\n,\n{}", text(n))).collect();
    let cases = [
        ("a.jsonl", "utf-8", json.clone().into_bytes(), &whole_json),
        ("a.jsonl", "utf-16le", wide(&json), &whole_json),
        ("a.csv", "utf-8", comma.clone().into_bytes(), &whole_comma),
        ("a.csv", "utf-16le", wide(&comma), &whole_comma),
    ];
    for (name, encoding, bytes, expected) in cases {
        for (ending, packed, pack) in [
            ("gz", gz(&bytes), &gz as &dyn Fn(&[u8]) -> Vec<u8>),
            ("zst", zst(&bytes, b""), &|bytes: &[u8]| zst(bytes, b"")),
        ] {
            let path = folder.path().join(format!("{name}.{ending}"));
            let before = |bytes: &[u8]| rows_before(&path, bytes, encoding);
            // If the file is cut off, the first rows are unchanged, and few rows are lost.
            for share in [3, 5, 9] {
                let rows = before(&packed[..packed.len() * share / 10]).unwrap_or_default();
                assert_eq!(rows[..], expected[..rows.len()], "{name} {ending}");
                // Zstandard decodes blocks of 128 KiB.
                let least = if ending == "gz" { 280 * share } else { 0 };
                assert!((least..3000).contains(&rows.len()), "{name} {ending}: {} rows", rows.len());
            }
            assert_eq!(before(&packed[..20]), None);
            // If the second member is damaged or has a wrong checksum, all rows of the first member are used. The second member never
            // yields a row that was not written to it.
            let (first, second) = bytes.split_at(bytes.len() / 2);
            let members = [pack(first), pack(second)];
            for at in [members[1].len() / 2, members[1].len() - 6] {
                let mut damaged = members.concat();
                damaged[members[0].len() + at..members[0].len() + at + 5].fill(0xA5);
                let rows = before(&damaged).unwrap_or_default();
                assert_eq!(rows[..], expected[..rows.len()], "{name} {ending}");
                let least = if encoding == "utf-8" { 1480 } else { 0 };
                assert!((least..3000).contains(&rows.len()), "{name} {ending} {at}: {} rows", rows.len());
            }
            // If there is garbage between two members, the rows before it are used.
            let rows = before(&[&members[0][..], b"garbage", &members[1]].concat()).expect("rows");
            assert_eq!(rows[..], expected[..rows.len()], "{name} {ending}");
            assert!(rows.len() >= 1480, "{name} {ending}: {} rows", rows.len());
        }
    }
}

#[test]
fn a_copy_of_a_damaged_file_has_its_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, out) = (folder.path().join("a.jsonl.gz"), folder.path().join("b.jsonl.gz"));
    let packed = gz(lines(3000, "a").as_bytes());
    std::fs::write(&path, &packed[..packed.len() / 2]).expect("written");
    let (source, _) = open(&[&path], Taking::default()).expect("opened");
    let file = &source.files[0];
    assert!(!file.is_all_rows());
    copy(file, &|_| true, 0, &out).expect("copied");
    let (copy, bad) = open(&[&out], Taking::default()).expect("opened");
    assert!(bad.is_empty() && copy.files[0].is_all_rows());
    let of = |source: &Source| read(source, &whole(), usize::MAX).expect("read");
    assert_eq!(texts(&of(&copy)), texts(&of(&source)));
}

#[test]
fn a_file_of_no_objects_says_what_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl");
    for (text, said) in [
        ("[\"a\",\n\"b\"]\n", "item 1 is not JSON: it is not an object"),
        ("\n{\n  \"text\": \"a\"\n}\n", "line 2 is not JSON: an object that continues"),
        ("id,text\n1,a\n", "it is a table with commas, not JSON lines; rename it to .csv"),
    ] {
        std::fs::write(&path, text).expect("written");
        match open(&[&path], Taking::default()) {
            Err(Error::Usage { said: why, .. }) => assert!(why.contains(said), "{why}"),
            other => panic!("expected wrong usage, got {other:?}"),
        }
    }
    // A single object is enough for the message to list its fields.
    std::fs::write(&path, "[1]\n{\"body\":\"a\"}\n").expect("written");
    let why = open(&[&path], Taking::default()).expect_err("no text").to_string();
    assert!(why.contains("no column \"text\"; available: body"), "{why}");
}

#[test]
fn json_is_read_where_it_is_lines_and_left_where_it_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("a.json"), lines(3, "a")).expect("written");
    std::fs::write(at("b.json.gz"), gz(lines(4, "b").as_bytes())).expect("written");
    std::fs::write(at("c.ndjson.zst"), zst(lines(5, "c").as_bytes(), b"")).expect("written");
    std::fs::write(at("settings.json"), "{\n  \"version\": 1\n}\n").expect("written");
    let (source, bad) = open(&[folder.path()], Taking::default()).expect("opened");
    assert_eq!((bad.len(), source.documents()), (0, 12));
    assert_eq!(source.unread.by_ending().iter().collect::<Vec<_>>(), [(&".json".to_owned(), &1)]);
    let notes = source.unread.notes();
    assert!(notes[0].contains("settings.json is not read: line 1 is not JSON"), "{notes:?}");
    // The file is read as data if it is itself an input or the only file in the input folder.
    for input in [at("settings.json"), at("sett*")] {
        let why = open(&[&input], Taking::default()).expect_err("no lines").to_string();
        assert!(why.contains("line 1 is not JSON: an object that continues on the next line"), "{why}");
    }
}

#[test]
fn json_of_objects_without_the_column_is_a_bad_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("a.json.gz"), gz(lines(3, "a").as_bytes())).expect("written");
    std::fs::write(at("b.json.gz"), gz(lines(3, "b").replace("\"text\"", "\"content\"").as_bytes())).expect("written");
    std::fs::write(at("c.json"), "{\"content\":\"a\"}\n").expect("written");
    std::fs::write(at("d.json"), [0; 100]).expect("written");
    std::fs::write(at("e.json.zst"), zst(b"[1,\n2]\n", b"")).expect("written");
    std::fs::write(at("f.json"), "[\n{\"content\":1}\n]\n").expect("written");
    let (source, bad) = open(&[folder.path()], Taking::default()).expect("opened");
    let labels: Vec<&str> = bad.iter().map(|file| file.label.as_str()).collect();
    assert_eq!((source.documents(), labels), (3, vec!["b.json.gz", "c.json", "d.json", "e.json.zst", "f.json"]));
    assert!(bad.iter().all(|file| file.bytes > 0 && !file.takes_part));
    assert!(source.unread.is_empty());
}

#[test]
fn what_is_lost_behind_the_last_member_is_reported_of_a_file_that_takes_part() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut bytes = gz(lines(3, "a").as_bytes());
    let whole = bytes.len();
    bytes.extend_from_within(..);
    bytes[whole] ^= 0xFF;
    std::fs::write(folder.path().join("a.jsonl.gz"), bytes).expect("written");
    let (source, bad) = open(&[folder.path()], Taking::default()).expect("opened");
    assert_eq!((source.documents(), bad.len()), (3, 1));
    assert_eq!((bad[0].bytes, bad[0].takes_part), (whole as u64, true));
    assert!(bad[0].why.contains("the rows before them are used"), "{}", bad[0].why);
}

#[test]
fn a_file_may_be_one_document() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("d")).expect("a folder");
    std::fs::write(at("a.txt"), "\u{FEFF}first line\nкот\n").expect("written");
    std::fs::write(at("b.TXT.gz"), gz("packed".as_bytes())).expect("written");
    std::fs::write(at("c.txt"), encoding_rs::GBK.encode("这是一个关于汉字编码的例子。").0).expect("written");
    std::fs::write(at("d/e.html"), "<p>page</p>").expect("written");
    std::fs::write(at("d/empty.txt"), "").expect("written");
    std::fs::File::create(at("long.txt")).and_then(|file| file.set_len((128 << 20) + 1)).expect("written");
    let taking = Taking { text_files: TextFiles::Whole, ..in_encoding("auto") };
    let (source, bad) = open(&[folder.path()], taking).expect("opened");
    assert_eq!((bad.len(), source.documents(), source.has_pages()), (0, 6, true));
    let rows = read(&source, &whole(), 1).expect("read");
    let ids: Vec<String> = rows.iter().map(|row| row.2.as_ref().map_or_else(String::new, Id::to_string)).collect();
    assert_eq!(ids, ["a.txt", "b.TXT.gz", "c.txt", "d/e.html", "d/empty.txt", "long.txt"]);
    let expected = ["first line\nкот\n", "packed", "这是一个关于汉字编码的例子。", "<p>page</p>", "(none)", "(none)"];
    assert_eq!(texts(&rows), expected);
    let why = rows[5].1.as_ref().expect_err("too long").to_string();
    assert!(why.contains("134217729 bytes"), "{why}");
    assert_eq!(
        source.files.iter().map(|file| file.html).collect::<Vec<_>>(),
        [false, false, false, true, false, false]
    );
    // The third row of this file is not valid UTF-8.
    let (source, _) =
        open(&[&at("c.txt")], Taking { text_files: TextFiles::Whole, ..Taking::default() }).expect("opened");
    let why = read(&source, &whole(), 1).expect("read")[0].1.clone().expect_err("not UTF-8").to_string();
    assert!(why.contains("not UTF-8"), "{why}");
}

#[test]
fn the_content_decides_how_a_file_is_compressed() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    for (name, bytes) in [
        ("a.jsonl", gz(lines(3, "a").as_bytes())),
        ("b.csv.gz", b"id,text\n1,b\n".to_vec()),
        ("c.jsonl.gz", zst(lines(4, "c").as_bytes(), b"")),
        ("d.jl", lines(5, "d").into_bytes()),
        ("e.jsonlines.zst", b"[{\"text\":\"e\"}]".to_vec()),
    ] {
        std::fs::write(at(name), bytes).expect("written");
    }
    let (source, bad) = open(&[folder.path()], Taking::default()).expect("opened");
    let rows: Vec<(&str, u64)> = source.files.iter().map(|file| (&*file.label, file.rows)).collect();
    let expected = [("a.jsonl", 3), ("b.csv.gz", 1), ("c.jsonl.gz", 4), ("d.jl", 5), ("e.jsonlines.zst", 1)];
    assert_eq!((rows, bad), (expected.to_vec(), vec![]));
    // Bytes that are neither text nor compressed are damaged.
    std::fs::write(at("f.jsonl.gz"), b"\x1E\x8B\x08\0\0").expect("written");
    let (_, bad) = open(&[folder.path()], Taking::default()).expect("opened");
    assert!(bad.len() == 1 && bad[0].why.contains("it is not gzip data"), "{bad:?}");
}

#[test]
fn a_file_that_cannot_be_text_names_no_columns() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.csv");
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    for (bytes, said, hint) in [
        (wide("id,text\n1,a\n"), "the first line does not name the columns: it looks like UTF-16", "`encoding=auto`"),
        (b"id,text\r1,a\r2,b\r".to_vec(), "carriage return", "tr "),
        (
            "id,\u{442}\u{435}\u{43a}\u{441}\u{442}\n1,a\n".encode_utf16().flat_map(u16::to_be_bytes).collect(),
            "UTF-16",
            "auto",
        ),
    ] {
        std::fs::write(&path, bytes).expect("written");
        let why = open(&[&path], Taking::default()).expect_err("no columns").to_string();
        assert!(why.contains(said) && why.contains(hint) && !why.contains(['\0', '\r']), "{why:?}");
    }
}

/// Returns the CPU seconds of the process.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).map(|ticks| ticks.parse::<f64>().expect("a number")).sum::<f64>() / 100.0
}

#[test]
fn a_small_file_of_blank_lines_costs_little() {
    let folder = tempfile::tempdir().expect("a folder");
    let blank = |byte: u8| zst(&[b"[", &vec![byte; 40 << 20][..]].concat()[usize::from(byte != b',')..], b"");
    let white = zst(" \t \n".repeat(10 << 20).as_bytes(), b"");
    for (name, bytes) in [
        ("a.jsonl.zst", blank(b'\n')),
        ("b.json.zst", blank(b',')),
        ("c.csv.zst", blank(b'\n')),
        ("d.csv.zst", white.clone()),
        ("e.jsonl.zst", white),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        let start = cpu_seconds();
        let (source, _) = open(&[&path], Taking::default()).expect("opened");
        assert_eq!(source.documents(), 0, "{name}");
        // Reading each blank line singly takes more than 4 s.
        let seconds = cpu_seconds() - start;
        assert!(seconds < 1.5, "{name}: {seconds}");
    }
}

#[test]
fn lines_that_end_in_carriage_returns_are_noted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.txt");
    for (text, is_noted) in
        [("one\rtwo\r", true), ("one\r\n", false), ("one\ntwo\rthree\n", false), ("one\ntwo\rthree\rfour\n", true)]
    {
        std::fs::write(&path, text).expect("written");
        let (source, _) = open(&[&path], Taking { text_files: TextFiles::Lines, ..Taking::default() }).expect("opened");
        let notes = source.files[0].notes.join("; ");
        assert_eq!(notes.contains("carriage return without a line feed"), is_noted, "{text:?}: {notes}");
    }
}

#[test]
fn a_byte_order_mark_between_two_files_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, "\u{FEFF}{\"text\":\"a\"}\n\u{FEFF}{\"text\":\"b\"}\n{\"text\":\"c\"}\n").expect("written");
    let (source, _) = open(&[&path], Taking::default()).expect("opened");
    let rows = read(&source, &whole(), 1).expect("read");
    let why = rows[1].1.as_ref().expect_err("a mark").to_string();
    assert!(why.contains("byte order mark"), "{why}");
    assert_eq!((rows.len(), rows[0].1.is_ok(), rows[2].1.is_ok()), (3, true, true));
}
