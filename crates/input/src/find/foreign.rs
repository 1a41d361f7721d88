//! Describes files whose name or content shows that they hold data in a format that is not read, so that they are not overlooked.

use crate::compressed::packing::Packing;
use crate::find::found_file::FoundFile;
use crate::format::open::Unusable;
use crate::format::signs::of_text;
use crate::formats;
use crate::formats::TextFiles;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// The extensions of files that contain rows or other files, with what to do about them.
const ENDINGS: &[(&str, &[&str])] = &[
    ("Avro is not read; convert it to Parquet or JSON lines", &[".avro"]),
    ("ORC is not read; convert it to Parquet or JSON lines", &[".orc"]),
    ("Lance is not read; convert it to Parquet or JSON lines", &[".lance"]),
    ("TFRecord is not read; convert it to Parquet or JSON lines", &[".tfrecord", ".tfrecords"]),
    ("HDF5 is not read; convert it to Parquet or JSON lines", &[".h5", ".hdf5"]),
    ("MDS is not read; convert it to Parquet or JSON lines", &[".mds"]),
    ("MessagePack is not read; convert it to Parquet or JSON lines", &[".msgpack"]),
    ("pickle is not read; convert it to Parquet or JSON lines", &[".pkl", ".pickle"]),
    ("databases are not read; export it to Parquet, JSON lines or CSV", &[".sqlite", ".sqlite3", ".duckdb", ".mdb"]),
    (
        "files of statistics programs are not read; convert it to Parquet or CSV",
        &[".dta", ".sav", ".sas7bdat", ".rds", ".rdata"],
    ),
    (
        "archives are not read; unpack it",
        &[".zip", ".tar", ".tgz", ".tbz", ".tbz2", ".txz", ".7z", ".rar", ".tar.gz", ".tar.zst"],
    ),
    ("the extension of Parquet files is .parquet; rename it", &[".pq", ".parq"]),
    ("the extension of Arrow files is .arrow; rename it", &[".ipc", ".arrows"]),
    ("the extension of JSON lines is .jsonl; rename it", &[".ldjson", ".ndj"]),
    ("the extension of tab-separated values is .tsv; rename it", &[".tab"]),
    ("the extension of separated values is .csv; rename it, and pass `separator`", &[".psv"]),
    (
        "its compression is not read; decompress it, or compress it with gzip (.gz) or Zstandard (.zst)",
        &[".bz2", ".xz", ".lzma", ".lz4", ".lzo", ".lz", ".br", ".snappy", ".sz", ".deflate", ".z"],
    ),
    ("the extensions of compressed files are .gz and .zst; rename it", &[".gzip", ".zstd"]),
    (
        "only lines, web archives and text files can be compressed, and the extension before .gz or .zst shows the format; rename or decompress it",
        &[".gz", ".zst"],
    ),
];

/// Returns why a file that contains data, judging by its extension, is not read; `None` if the extension is not one of data.
pub(crate) fn why_unread(path: &Path) -> Option<String> {
    if is_part(path) {
        return why_part(path);
    }
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    // The options for text files say how these are read.
    if formats::of(path, TextFiles::Whole).is_some() {
        return None;
    }
    let found = ENDINGS.iter().find(|(_, endings)| endings.iter().any(|ending| name.ends_with(ending)));
    found.map(|(why, _)| (*why).to_owned())
}

/// Returns whether a file is a part of the output of Hadoop or a similar program, such as `part-00000` or `part-r-00000`. Only the content
/// of such a file tells whether it contains data.
pub(crate) fn is_part(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    name.strip_prefix("part-").is_some_and(|rest| {
        rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
            && rest.ends_with(|last: char| last.is_ascii_digit())
    })
}

/// Returns why a part without an extension is not read; `None` if its content is not that of a known format.
fn why_part(path: &Path) -> Option<String> {
    let begin = begin(&File::open(path).ok()?);
    let why = "it has no extension that shows the format";
    let text = std::str::from_utf8(&begin).or_else(|error| std::str::from_utf8(&begin[..error.valid_up_to()])).ok()?;
    Some(match SIGNS.iter().find(|(sign, ..)| begin.starts_with(sign)) {
        Some((_, what, "")) => format!("it is {what}"),
        Some((_, what, ending)) => format!("{why}: it is {what}; rename it to {ending}"),
        None if begin.starts_with(b"\x1F\x8B") => {
            format!("{why}: it is compressed with gzip; rename it, for example to .jsonl.gz")
        }
        None if text.starts_with(['{', '[']) => format!("{why}: it looks like JSON lines; rename it to .jsonl"),
        None if !text.is_empty() && of_text(text.as_bytes()).is_none() => {
            format!("{why}: it is text; rename it to .csv, .tsv or .txt")
        }
        None => return None,
    })
}

/// The first bytes of formats, with the name of each, and its extension if it is read.
const SIGNS: &[(&[u8], &str, &str)] = &[
    (b"PAR1", "a Parquet file", ".parquet"),
    (b"ARROW1", "an Arrow file", ".arrow"),
    (b"FEA1", "a Feather file of version 1 (write it again with pyarrow.feather)", ""),
    (b"ORC", "an ORC file", ""),
    (b"Obj\x01", "an Avro file", ""),
    (b"BZh", "compressed with bzip2", ""),
    (b"\xFD7zXZ\0", "compressed with xz", ""),
    (b"\x04\x22\x4D\x18", "compressed with LZ4", ""),
    (b"7z\xBC\xAF\x27\x1C", "a 7z archive", ""),
    (b"PK\x03\x04", "a ZIP archive", ""),
    (b"SQLite format 3\0", "an SQLite database", ""),
    (b"\x89HDF\r\n\x1A\n", "an HDF5 file", ""),
    (b"WARC/1", "a web archive", ".warc"),
    (b"%PDF-", "a PDF file", ""),
];

/// The beginning of a file that stands for the data that Git LFS stores elsewhere.
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// Returns the reason why a file has no data if it is a pointer of Git LFS.
pub(crate) fn pointer(file: &File) -> Option<String> {
    let why = "it is a Git LFS pointer to the data; fetch the data with git lfs pull";
    begin(file).starts_with(POINTER).then(|| why.to_owned())
}

/// Replaces the reason why a file is unusable if its first bytes show that it has a different format.
pub(crate) fn named(found: &FoundFile, why: Unusable) -> Unusable {
    let begin = File::open(found.on_disk()).map(|file| begin(&file)).unwrap_or_default();
    let format = found.format.facts();
    let is_other = |(what, ending): (&str, &str)| match (format.endings.contains(&ending), ending) {
        (true, _) => None,
        (false, "") => Some(format!("it is {what}, not {}", format.name)),
        (false, ending) => Some(format!("it is {what}, not {}; rename it to {ending}", format.name)),
    };
    if let Some((_, what, ending)) = SIGNS.iter().find(|(sign, ..)| begin.starts_with(sign)) {
        return is_other((what, ending)).map_or(why, Unusable::Bad);
    }
    let text = if found.is_guess { None } else { of_packed(&begin, format.is_packed).or_else(|| of_lines(&begin)) };
    let Some(said) = text.and_then(is_other) else { return why };
    // Separated values may have any separator.
    if matches!(format.name, "CSV" | "TSV") && !begin.starts_with(b"{") {
        return why;
    }
    match why {
        Unusable::Bad(_) => Unusable::Bad(said),
        Unusable::Lacks(_) => Unusable::Lacks(said),
        Unusable::Other(_) => Unusable::Other(said),
    }
}

/// Returns what a file contains that begins like a compressed file, unless its format may be compressed.
fn of_packed(begin: &[u8], may_be: bool) -> Option<(&'static str, &'static str)> {
    match Packing::of_bytes(begin) {
        _ if may_be => None,
        Packing::Plain => None,
        Packing::Gzip => Some(("compressed with gzip", "")),
        Packing::Zstd => Some(("compressed with Zstandard", "")),
    }
}

/// Returns which lines a file contains that begins like text.
fn of_lines(begin: &[u8]) -> Option<(&'static str, &'static str)> {
    let text = std::str::from_utf8(begin).or_else(|error| std::str::from_utf8(&begin[..error.valid_up_to()])).ok()?;
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let first = text.lines().next().filter(|_| of_text(text.as_bytes()).is_none())?;
    match first {
        _ if first.starts_with(['{', '[']) => Some(("JSON lines", ".jsonl")),
        _ if first.contains('\t') => Some(("a table with tabs", ".tsv")),
        _ if first.contains(',') => Some(("a table with commas", ".csv")),
        _ => None,
    }
}

fn begin(file: &File) -> Vec<u8> {
    let mut bytes = vec![0; 64];
    let read = file.read_at(&mut bytes, 0).unwrap_or(0);
    bytes.truncate(read);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::source::open;
    use crate::find::inputs::find_all;
    use crate::find::taking::Taking;
    use crate::testkit::columns;

    #[test]
    fn extensions_of_data_are_known_and_those_of_other_files_are_not() {
        for name in
            ["a.avro", "A.ORC", "b.jsonl.bz2", "c.csv.XZ", "a.parquet.gz", "x.tar.gz", "d.gz", "a.jsonl.gzip", "a.pq"]
        {
            assert!(why_unread(Path::new(name)).is_some(), "{name}");
        }
        for name in
            ["README", "a.png", "a.xlsx", "LICENSE.txt", "a.txt.gz", "a.html", "a.jsonl.gz", "model.safetensors", "gz"]
        {
            assert_eq!(why_unread(Path::new(name)), None, "{name}");
        }
        assert!(why_unread(Path::new("a.tar.gz")).is_some_and(|why| why.contains("unpack it")));
        assert!(why_unread(Path::new("a.h5")).is_some() && why_unread(Path::new("shard.00000.mds")).is_some());
    }

    #[test]
    fn parts_without_an_extension_are_named_by_their_content() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, bytes, says) in [
            ("part-00000", &b"{\"text\":\"a\"}\n"[..], Some(".jsonl")),
            ("part-r-00001", "id\tтекст\n".as_bytes(), Some(".tsv")),
            ("part-m-00002", b"PAR1\0\0", Some(".parquet")),
            ("part-00003", b"", None),
            ("part-00004", b"\0\x01\x02\x03", None),
            ("part-time", b"text", None),
            ("parts-00000", b"text", None),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).expect("written");
            let why = why_unread(&path);
            assert_eq!(why.is_some(), says.is_some(), "{name}: {why:?}");
            assert!(why.unwrap_or_default().contains(says.unwrap_or_default()), "{name}");
        }
    }

    #[test]
    fn a_part_behind_a_link_that_is_not_followed_is_not_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let input = folder.path().join("in");
        std::fs::create_dir(&input).expect("a folder");
        for (name, bytes) in [("in/a.jsonl", "{\"text\":\"a\"}\n"), ("in/x", "id\ttext\n"), ("secret", "{\"key\":1}\n")]
        {
            std::fs::write(folder.path().join(name), bytes).expect("written");
        }
        std::os::unix::fs::symlink("../secret", input.join("part-00000")).expect("a link");
        std::os::unix::fs::symlink("x", input.join("part-00001")).expect("a link");
        let input = [input.to_string_lossy().into_owned()];
        let said = |follow_links: bool| {
            let mut found = find_all(&input, Taking { follow_links, ..Taking::default() }).expect("found");
            let bad: Vec<_> = found.bad.iter().chain(&found.unread.take_data()).map(|bad| bad.why.clone()).collect();
            assert_eq!(bad.len(), 2, "{bad:?}");
            bad
        };
        let [outside, inside] = &said(false)[..] else { unreachable!("two files") };
        assert!(outside.contains("leads out of the inputs") && !outside.contains("JSON"), "{outside}");
        assert!(inside.contains("it is text"), "{inside}");
        assert!(said(true).iter().any(|why| why.contains("it looks like JSON lines")));
    }

    #[test]
    fn files_of_data_that_are_not_read_are_bad_inputs() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, bytes) in [
            ("a.jsonl", &b"{\"text\":\"a\"}\n"[..]),
            ("b.jsonl.bz2", b"BZh91AY"),
            ("c.avro", b"Obj\x01"),
            ("d.png", b"\x89PNG"),
            ("e.jsonl", b"PAR1\0\0\0\0PAR1"),
            ("f.csv", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"),
            ("g.parquet", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"),
            ("h.csv", b"PK\x03\x04\x14\0\0\0"),
            ("i.parquet", b"{\"text\":\"a\"}\n"),
            ("j.arrow", b"\x1F\x8B\x08\0\0\0\0\0"),
            ("k.arrow", b"PAR1\0\0\0\0PAR1"),
            ("l.jsonl", b"id,text\n1,a\n"),
            ("m.csv", b"{\"text\":\"a\"}\n"),
            ("n.parquet", b"id\ttext\n1\ta\n"),
        ] {
            std::fs::write(folder.path().join(name), bytes).expect("written");
        }
        let found = find_all(&[folder.path().to_string_lossy().into_owned()], Default::default()).expect("found");
        let (source, bad) = open(found, &columns(), 2, None).expect("opened");
        let said: Vec<String> = bad.iter().map(|bad| format!("{}: {}", bad.label, bad.why)).collect();
        let expected = [
            ("b.jsonl.bz2", "its compression is not read"),
            ("c.avro", "Avro is not read"),
            ("e.jsonl", "it is a Parquet file, not JSON lines; rename it to .parquet"),
            ("f.csv", "it is a Git LFS pointer"),
            ("g.parquet", "it is a Git LFS pointer"),
            ("h.csv", "it is a ZIP archive, not CSV"),
            ("i.parquet", "it is JSON lines, not Parquet; rename it to .jsonl"),
            ("j.arrow", "it is compressed with gzip, not Arrow"),
            ("k.arrow", "it is a Parquet file, not Arrow IPC; rename it to .parquet"),
            ("l.jsonl", "it is a table with commas, not JSON lines; rename it to .csv"),
            ("m.csv", "it is JSON lines, not CSV; rename it to .jsonl"),
            ("n.parquet", "it is a table with tabs, not Parquet; rename it to .tsv"),
        ];
        assert_eq!(said.len(), expected.len(), "{said:?}");
        for (name, why) in expected {
            assert!(said.iter().any(|said| said.starts_with(&format!("{name}: {why}"))), "{name}: {said:?}");
        }
        assert!(bad.iter().all(|bad| bad.bytes > 0));
        assert_eq!((source.documents(), source.unread.by_ending().clone()), (1, [(".png".to_owned(), 1)].into()));
    }
}
