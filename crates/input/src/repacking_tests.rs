//! Checks that line-based files that cannot be split give the same result with and without repacking, and that repacked files are not
//! unpacked again.

use crate::compressed::coding::Coding;
use crate::compressed::repacking::{Again, Repacking, has_room};
use crate::corpus::source::{BadInput, Source};
use crate::find::inputs::find_all;
use crate::find::taking::Taking;
use crate::lines::jsonl;
use crate::testkit::{Read, columns, file_of, gz, read, whole, zst};
use dupsift_core::encoding::Encoding;
use std::fs::File;
use std::path::Path;

fn open(path: &Path, encoding: &str, threads: usize, work: Option<&Path>) -> (Source, Vec<BadInput>) {
    let coding = Coding { encoding: Encoding::parse(encoding).expect("a name"), ..Coding::default() };
    let found = find_all(&[path.to_string_lossy().into_owned()], Taking { coding, ..Taking::default() });
    crate::corpus::source::open(found.expect("found"), &columns(), threads, work).expect("opened")
}

/// Returns rows of all kinds, including blank lines, a byte order mark at the beginning, invalid JSON, and a line that spans several
/// blocks.
fn lines() -> String {
    let mut all = "\u{FEFF}\n".to_owned();
    for row in 0..6000u64 {
        let text = format!("строка {row} 行 ").repeat(1 + (row * 7919 % 40) as usize);
        all += &match row % 1000 {
            500 => "no JSON\n".to_owned(),
            600 => format!("  \r\n\n{{\"text\": \"{text}\"}}\r\n"),
            700 if row == 2700 => format!("{{\"id\": {row}, \"text\": \"{}\"}}\n", text.repeat(9000)),
            _ => format!("{{\"id\": {row}, \"text\": \"{text}\", \"title\": \"t\"}}\n"),
        };
    }
    all
}

/// Overwrites a file with different bytes of the same length, and restores its modification time.
fn spoil(path: &Path) {
    let (bytes, file) =
        (std::fs::read(path).expect("a file").len(), File::options().write(true).open(path).expect("open"));
    let time = file.metadata().and_then(|metadata| metadata.modified()).expect("a time");
    std::io::Write::write_all(&mut &file, &vec![b'x'; bytes]).expect("written");
    file.set_modified(time).expect("a time");
}

#[test]
fn a_file_that_is_packed_again_reads_the_same_and_is_not_unpacked_any_more() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = lines();
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let members = [gz(&text.as_bytes()[..700_001]), gz(&text.as_bytes()[700_001..])].concat();
    let cases = [
        ("a.jsonl.gz", "utf-8", gz(text.as_bytes())),
        ("b.jsonl.gz", "utf-8", members),
        ("c.jsonl.zst", "utf-8", zst(text.as_bytes(), b"")),
        ("d.jsonl", "utf-16le", wide.clone()),
        ("e.jsonl.zst", "auto", zst(&wide, b"")),
    ];
    for (name, encoding, bytes) in cases {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        let (as_it_is, bad) = open(&path, encoding, 1, None);
        assert!(bad.is_empty() && as_it_is.splits(1).len() == 1, "{name}");
        let expected: Vec<Read> = read(&as_it_is, &whole(), usize::MAX).expect("read");
        assert!(expected.len() >= 6000 && expected.iter().filter(|row| row.1.is_err()).count() % 6 == 0, "{name}");
        let opened = [1, 4].map(|threads| open(&path, encoding, threads, Some(folder.path())).0);
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "the work file has no name");
        for source in &opened {
            assert!(source.splits(1).len() > 3, "{name}");
            let unpacked = source.unpacked_bytes();
            assert_eq!(source.files[0].text_bytes, as_it_is.files[0].text_bytes, "{name}");
            for target in [1, 3 << 20, usize::MAX] {
                assert!(read(source, &whole(), target).expect("read") == expected, "{name} in pieces of {target}");
            }
            assert_eq!(source.unpacked_bytes(), unpacked, "{name}");
        }
        // A different file with the same size and modification time is not mistaken for the repacked file.
        spoil(&path);
        for source in &opened {
            assert!(read(source, &whole(), usize::MAX).is_err(), "{name}");
        }
        std::fs::remove_file(&path).expect("removed");
    }
}

#[test]
fn separated_values_that_are_packed_again_read_the_same() {
    // The column names are read from the original file.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.tsv.gz");
    let rows = (0..60_000).map(|row| format!("{row}\t\"a \"\"quoted\"\"\n{row}\"\t{}\n", "t".repeat(row % 60)));
    let table: String = std::iter::once("id\ttext\ttitle\r\n".to_owned()).chain(rows).collect();
    std::fs::write(&path, gz(table.as_bytes())).expect("written");
    let expected = read(&open(&path, "utf-8", 1, None).0, &whole(), usize::MAX).expect("read");
    let source = open(&path, "utf-8", 3, Some(folder.path())).0;
    assert!(expected.len() == 60_000 && source.splits(1).len() > 2);
    assert!(read(&source, &whole(), 1).expect("read") == expected);
}

#[test]
fn a_file_that_is_cut_off_is_reported_as_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl.gz");
    let bytes = gz(lines().as_bytes());
    std::fs::write(&path, &bytes[..bytes.len() - 9]).expect("written");
    let whys = [None, Some(folder.path())].map(|work| open(&path, "utf-8", 2, work).1);
    assert!(whys[0].len() == 1 && whys[0] == whys[1], "{whys:?}");
}

#[test]
fn where_the_disk_does_not_take_the_text_the_file_is_one_piece() {
    // A file that was opened for reading cannot be written to.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("read");
    std::fs::write(&path, b"").expect("written");
    let repacking = Repacking::over(File::open(&path).expect("open"), folder.path(), 1);
    let coding = Coding { packing: crate::compressed::packing::Packing::Gzip, ..Coding::default() };
    let scanned = jsonl::scan(file_of(&gz(lines().as_bytes())), coding, &columns(), Some(&repacking));
    assert!(matches!(repacking.finish(scanned.expect("read").written), Again::Lost));
}

#[test]
fn damage_of_the_work_file_is_not_one_of_the_input() {
    let text = lines();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl.gz");
    std::fs::write(&path, gz(text.as_bytes())).expect("written");
    let place = folder.path().join("work");
    let file = File::options().read(true).write(true).create_new(true).open(&place).expect("a file");
    let repacking = Repacking::over(file, folder.path(), 1);
    let coding = Coding { packing: crate::compressed::packing::Packing::Gzip, ..Coding::default() };
    let scanned = jsonl::scan(file_of(&gz(text.as_bytes())), coding, &columns(), Some(&repacking)).expect("read");
    let Again::Whole(repacked) = repacking.finish(scanned.written) else { panic!("it is not there") };
    let mut source = open(&path, "utf-8", 1, None).0;
    source.files[0].take_again(Again::Whole(repacked));
    assert!(read(&source, &whole(), usize::MAX).is_ok());
    spoil(&place);
    let error = read(&source, &whole(), usize::MAX).expect_err("other bytes");
    assert!(matches!(error, dupsift_core::error::Error::Io { .. }), "{error:?}");
    assert!(error.to_string().contains("temporary file"), "{error}");
}

#[test]
fn the_copy_leaves_as_much_space_as_it_takes() {
    assert!(has_room(1 << 30, 1 << 30) && !has_room(1 << 30, (1 << 30) - 1));
}
