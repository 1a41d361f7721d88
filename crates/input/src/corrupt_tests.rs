//! Checks that damaged files are reported with the cause, do not stop the process, and never yield rows that were not written.

use crate::testkit::{batch, open, read, whole, write_parquet};
use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::file::metadata::{ParquetMetaDataReader, ParquetMetaDataWriter};
use ::parquet::file::properties::WriterProperties;
use arrow::array::{ArrayRef, BinaryArray, RecordBatch, StringArray};
use dupsift_core::error::Error;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

fn rows() -> RecordBatch {
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..500).map(|row| format!("text number {row}"))));
    batch(vec![("text", texts)])
}

fn plain() -> WriterProperties {
    WriterProperties::builder().set_dictionary_enabled(false).build()
}

/// Returns the error message from reading the file, after checking that the error names the file.
fn why(path: &Path) -> String {
    let (source, bad) = open(&[path]).expect("opened");
    assert!(bad.is_empty(), "{bad:?}");
    match read(&source, &whole(), 1 << 20) {
        Err(Error::BadFile { path: named, why }) => {
            assert_eq!(named, path);
            why
        }
        other => panic!("expected a bad file, got {other:?}"),
    }
}

#[test]
fn bytes_flipped_inside_a_page_name_file_and_column() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.parquet");
    let zstd = Compression::ZSTD(ZstdLevel::try_new(3).expect("a level"));
    write_parquet(&path, &rows(), WriterProperties::builder().set_compression(zstd).build());
    let mut bytes = std::fs::read(&path).expect("there");
    let middle = bytes.len() / 4;
    bytes[middle..middle + 40].fill(0xAA);
    std::fs::write(&path, bytes).expect("written");
    assert!(why(&path).starts_with("column \"text\", rows 0 to 500 of row group 0: "));
}

#[test]
fn a_string_that_is_not_utf8_costs_its_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.parquet");
    write_parquet(&path, &rows(), plain());
    let mut bytes = std::fs::read(&path).expect("there");
    let at = bytes.windows(8).position(|window| window == b"number 7").expect("a plain page");
    bytes[at] = 0xFF;
    std::fs::write(&path, bytes).expect("written");
    let (source, bad) = open(&[&path]).expect("opened");
    assert!(bad.is_empty(), "{bad:?}");
    let read = read(&source, &whole(), usize::MAX).expect("read");
    let wrong: Vec<(u64, String)> = read.iter().filter_map(|row| Some((row.0, row.1.clone().err()?))).collect();
    assert_eq!((read.len(), wrong), (500, vec![(7, "not UTF-8: byte 5 of the text is invalid".to_owned())]));
}

/// Inserts the checksum of the only page into the page's header, because the writer omits the checksum. In Thrift's compact protocol, `15`
/// means "next field, number", `2C` means "field after next, struct", and `1C` means "next field, struct".
fn with_checksum(path: &Path) {
    let file = std::fs::read(path).expect("there");
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&bytes::Bytes::from(file.clone())).expect("Parquet");
    let column = metadata.row_group(0).column(0).clone();
    let end = 4 + column.compressed_size() as usize;
    let header = file[4..end].windows(2).position(|window| window == [0x2C, 0x15]).expect("the page header") + 4;
    let body_bytes = column.uncompressed_size() as usize;
    let header_bytes = (header..end).find(|&at| end - at == page_bytes(&file[4..])).expect("the page");
    let crc = dupsift_core::hash::crc32(&file[header_bytes..end]) as i32;
    let mut zigzag = ((crc << 1) ^ (crc >> 31)) as u32;
    let mut field = vec![0x15];
    while zigzag >= 0x80 {
        field.push(zigzag as u8 | 0x80);
        zigzag >>= 7;
    }
    field.push(zigzag as u8);
    let mut out = file[..header].to_vec();
    out.extend(&field);
    out.push(0x1C);
    out.extend(&file[header + 1..end]);
    let grown = column
        .into_builder()
        .set_total_compressed_size((end - 4 + field.len()) as i64)
        .set_total_uncompressed_size((body_bytes + field.len()) as i64)
        .build()
        .expect("a column");
    let group =
        metadata.row_group(0).clone().into_builder().set_column_metadata(vec![grown]).build().expect("a row group");
    let metadata = metadata.into_builder().set_row_groups(vec![group]).set_page_index(None).build();
    ParquetMetaDataWriter::new(&mut out, &metadata).finish().expect("a footer");
    std::fs::write(path, out).expect("written");
}

/// Returns the third number in a page header, which is the size of the page in bytes.
fn page_bytes(header: &[u8]) -> usize {
    let mut at = 0;
    let mut number = 0;
    for _ in 0..3 {
        assert_eq!(header[at], 0x15);
        (at, number) = (at + 1, 0);
        let mut shift = 0;
        loop {
            number |= usize::from(header[at] & 0x7F) << shift;
            (at, shift) = (at + 1, shift + 7);
            if header[at - 1] & 0x80 == 0 {
                break;
            }
        }
    }
    number >> 1
}

#[test]
fn a_wrong_checksum_is_found_where_nothing_else_would_tell() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.parquet");
    let one_page = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_statistics_enabled(::parquet::file::properties::EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .build();
    write_parquet(&path, &rows(), one_page);
    with_checksum(&path);
    let (source, _) = open(&[&path]).expect("opened");
    assert_eq!(read(&source, &whole(), 1 << 20).expect("the checksum is right").len(), 500);
    // After one letter is replaced, the text is still valid UTF-8 and has the same length.
    let mut bytes = std::fs::read(&path).expect("there");
    let at = bytes.windows(9).position(|window| window == b"number 77").expect("a plain page");
    bytes[at] = b'N';
    std::fs::write(&path, bytes).expect("written");
    assert!(why(&path).contains("CRC"), "{}", why(&path));
}

#[test]
fn one_damaged_file_of_many_is_named_and_takes_no_numbers() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    write_parquet(&at("a.parquet"), &rows(), plain());
    write_parquet(&at("d.parquet"), &rows(), plain());
    let whole_file = std::fs::read(at("a.parquet")).expect("there");
    std::fs::write(at("b.parquet"), &whole_file[..whole_file.len() - 100]).expect("written");
    std::fs::write(at("c.parquet"), b"").expect("written");
    std::fs::write(at("c2.parquet"), b"these are no columns at all").expect("written");
    std::fs::create_dir(at("c3.parquet")).expect("a folder, which is looked into");
    let (source, bad) = open(&[folder.path()]).expect("opened");
    let bad: Vec<(&str, &str)> = bad.iter().map(|bad| (bad.label.as_str(), bad.why.as_str())).collect();
    assert_eq!(bad.iter().map(|bad| bad.0).collect::<Vec<_>>(), ["b.parquet", "c.parquet", "c2.parquet"]);
    assert!(bad[0].1.starts_with("not a complete Parquet file"), "{bad:?}");
    assert_eq!(bad[1].1, "0 bytes; expected a Parquet file");
    assert_eq!((source.documents(), source.locate(500).0.label.as_str()), (1000, "d.parquet"));
    // If damage is found late, documents are renumbered without the damaged file, and footers and pages are located again.
    let mut source = source;
    let before = read(&source, &whole(), 1 << 12).expect("read");
    let late = BTreeMap::from([(at("a.parquet"), "column \"text\": broken".to_owned())]);
    let bad = source.skip(&late);
    assert_eq!((source.documents(), bad.len(), bad[0].why.as_str()), (500, 1, "column \"text\": broken"));
    let after = read(&source, &whole(), 1 << 12).expect("read");
    assert_eq!(after[499], (499, before[999].1.clone(), before[999].2.clone()));
    assert_eq!(source.locate(0).0.label, "d.parquet");
}

#[test]
fn compressed_lines_that_are_cut_off_are_a_bad_file_with_the_rows_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines: String = (0..5000).map(|row| format!("{{\"text\":\"{}\"}}\n", dupsift_core::hash::mix64(row))).collect();
    let zst = zstd::encode_all(lines.as_bytes(), 1).expect("memory");
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gz, lines.as_bytes()).expect("memory");
    let gz = gz.finish().expect("memory");
    for (name, bytes) in [("a.jsonl.gz", gz), ("b.jsonl.zst", zst)] {
        let path = folder.path().join(name);
        for keep in [bytes.len() / 2, bytes.len() - 1] {
            std::fs::write(&path, &bytes[..keep]).expect("written");
            let (source, bad) = open(&[&path]).expect("opened");
            assert!(bad.len() == 1 && bad[0].why.contains("the file is truncated"), "{name} {keep}: {bad:?}");
            assert_eq!(bad[0].takes_part, source.documents() > 0, "{name} {keep}");
            let rows =
                if source.documents() > 0 { read(&source, &whole(), 1 << 20).expect("read") } else { Vec::new() };
            let expected = (0..5000).map(|row| dupsift_core::hash::mix64(row).to_string());
            let read = rows.iter().map(|row| row.1.as_ref().ok().and_then(Option::as_deref).unwrap_or_default());
            assert!(read.zip(expected).all(|(read, expected)| read == expected), "{name} {keep}");
            // Zstandard decodes blocks of 128 KiB.
            let least = if name.ends_with("gz") { 5000 * keep / bytes.len() - 100 } else { 0 };
            assert!((least..=5000).contains(&rows.len()), "{name} {keep}: {}", rows.len());
        }
        std::fs::write(&path, &bytes).expect("written");
        assert_eq!(open(&[&path]).expect("opened").0.documents(), 5000);
    }
}

fn packed(text: &str) -> [(&'static str, Vec<u8>); 2] {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gz, text.as_bytes()).expect("memory");
    [("gz", gz.finish().expect("memory")), ("zst", zstd::encode_all(text.as_bytes(), 1).expect("memory"))]
}

/// Returns 20,000 records, in which `other` replaces the record at position `at`.
fn records(row: impl Fn(u64) -> String, (at, other): (u64, &str)) -> String {
    (0..20_000)
        .map(|number| if number == at { other.to_owned() } else { row(dupsift_core::hash::mix64(number)) })
        .collect()
}

#[test]
fn a_stray_quote_in_a_file_that_is_cut_off_costs_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let row = |number: u64| format!("{number},text {number}\n");
    // No closing quote follows this quote.
    for (name, bytes) in packed(&format!("id,text\n{}", records(row, (10, "7,\"stray quote\n")))) {
        let path = folder.path().join(format!("a.csv.{name}"));
        std::fs::write(&path, &bytes[..bytes.len() / 2]).expect("written");
        let (source, bad) = open(&[&path]).expect("opened");
        assert!(bad.len() == 1 && bad[0].why.contains("the file is truncated"), "{name}: {bad:?}");
        assert!((5000..15_000).contains(&source.documents()), "{name}: {}", source.documents());
        let rows = read(&source, &whole(), 1 << 20).expect("read");
        let wrong = rows.iter().filter(|row| row.1.is_err()).count();
        assert_eq!((wrong, rows.len() as u64), (1, source.documents()), "{name}");
    }
    // If a record is cut off inside quotation marks, neither the record nor any of its lines is used.
    let text = format!("id,text\n1,one\n2,two\n3,\"{}", "a line of it\nand, with commas, another one\n".repeat(9000));
    let path = folder.path().join("b.csv.gz");
    let (_, bytes) = packed(&text).into_iter().next().expect("gzip");
    std::fs::write(&path, &bytes[..bytes.len() - 9]).expect("written");
    let (source, bad) = open(&[&path]).expect("opened");
    assert_eq!((source.documents(), bad.len()), (2, 1), "{bad:?}");
}

#[test]
fn one_broken_row_is_no_sign_of_damage() {
    let folder = tempfile::tempdir().expect("a folder");
    let row = |number: u64| format!("{{\"text\":\"text {number}\"}}\n");
    // Only gzip is tested, because a damaged Zstandard block may yield nothing.
    for (name, bytes) in packed(&records(row, (10, "no line of JSON\n"))).into_iter().take(1) {
        let path = folder.path().join(format!("a.jsonl.{name}"));
        let mut damaged = bytes.clone();
        let middle = bytes.len() / 2;
        damaged[middle..middle + 40].fill(0xAA);
        std::fs::write(&path, &damaged).expect("written");
        let (source, bad) = open(&[&path]).expect("opened");
        assert_eq!(bad.len(), 1, "{name}");
        assert!((5000..10_500).contains(&source.documents()), "{name}: {} {bad:?}", source.documents());
        let rows = read(&source, &whole(), 1 << 20).expect("read");
        assert_eq!(rows.iter().filter(|row| row.1.is_err()).count(), 1, "{name}");
    }
}

#[test]
fn a_file_that_changes_after_it_was_opened_is_a_bad_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (table, lines) = (folder.path().join("a.parquet"), folder.path().join("b.jsonl"));
    write_parquet(&table, &rows(), plain());
    std::fs::write(&lines, "{\"text\":\"a\"}\n").expect("written");
    let (source, _) = open(&[folder.path()]).expect("opened");
    write_parquet(&table, &rows().slice(0, 499), plain());
    std::fs::remove_file(&lines).expect("removed");
    for (split, expected) in
        source.splits(1 << 20).iter().zip(["changed while it was being read", "can no longer be opened"])
    {
        match source.read(split, &whole(), &mut |_| Ok(())) {
            Err(Error::BadFile { why, .. }) => assert!(why.contains(expected), "{why}"),
            other => panic!("expected a bad file, got {other:?}"),
        }
    }
}

/// Checks that a file with any one byte changed yields either rows, which may differ, or an error that names the file, and never causes a
/// panic.
#[test]
fn no_flipped_byte_stops_the_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.parquet");
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..60).map(|row| format!("text {}", row % 7))));
    let ids: ArrayRef = Arc::new(BinaryArray::from_iter_values((0..60u8).map(|row| [row; 3])));
    let groups = WriterProperties::builder().set_max_row_group_row_count(Some(25)).build();
    write_parquet(&path, &batch(vec![("text", texts), ("id", ids)]), groups);
    let bytes = std::fs::read(&path).expect("there");
    let (mut refused, mut failed, mut read_on) = (0, 0, 0);
    for step in 0..1000u64 {
        let mut flipped = bytes.clone();
        let at = (dupsift_core::hash::splitmix64(7, step) % bytes.len() as u64) as usize;
        flipped[at] = dupsift_core::hash::splitmix64(8, step) as u8;
        std::fs::write(&path, &flipped).expect("written");
        match open(&[&path]) {
            Ok((source, bad)) if bad.is_empty() => match read(&source, &whole(), 200) {
                Ok(_) => read_on += 1,
                Err(Error::BadFile { .. }) => failed += 1,
                Err(other) => panic!("byte {at}: {other:?}"),
            },
            Ok(_) | Err(Error::Usage { .. }) => refused += 1,
            Err(other) => panic!("byte {at}: {other:?}"),
        }
    }
    assert!(refused > 50 && failed > 50 && read_on > 50, "{refused} {failed} {read_on}");
}
