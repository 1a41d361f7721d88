//! Tests Arrow files and streams: every variant must return the correct rows, and damaged files must not cause a panic.

use crate::arrow::ipc::*;
use crate::format::want::{RowFilter, Want};
use crate::testkit::Read as Row;
use crate::testkit::{batch, open, read, whole};
use arrow::array::{ArrayRef, DictionaryArray, Int64Array, LargeStringArray, StringArray, StringViewArray};
use arrow::datatypes::Int32Type;
use arrow::ipc::CompressionType;
use arrow::ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use dupsift_tables::Id;
use std::path::Path;
use std::sync::Arc;

fn rows(from: i64, to: i64) -> RecordBatch {
    let texts: ArrayRef =
        Arc::new(LargeStringArray::from_iter((from..to).map(|n| (n % 5 != 3).then(|| format!("кот {n} ").repeat(40)))));
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(from..to));
    let other: ArrayRef = Arc::new(StringArray::from_iter_values((from..to).map(|n| format!("not asked for {n}"))));
    batch(vec![("other", other), ("text", texts), ("id", ids)])
}

fn bytes(batches: &[RecordBatch], is_file: bool, packed: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(packed).expect("a codec");
    let schema = batches[0].schema();
    let mut out = Vec::new();
    if is_file {
        let mut writer = FileWriter::try_new_with_options(&mut out, &schema, options).expect("a writer");
        batches.iter().for_each(|rows| writer.write(rows).expect("written"));
        writer.finish().expect("written");
    } else {
        let mut writer = StreamWriter::try_new_with_options(&mut out, &schema, options).expect("a writer");
        batches.iter().for_each(|rows| writer.write(rows).expect("written"));
        writer.finish().expect("written");
    }
    out
}

fn rows_of(path: &Path, bytes: &[u8]) -> Vec<Row> {
    std::fs::write(path, bytes).expect("written");
    let (source, bad) = open(&[path]).expect("opened");
    assert!(bad.is_empty(), "{bad:?}");
    let rows = read(&source, &whole(), usize::MAX).expect("read");
    assert_eq!(read(&source, &whole(), 1).expect("read"), rows, "in pieces");
    let docs: Arc<[u64]> = rows.iter().map(|row| row.0).filter(|doc| doc % 7 < 3).collect();
    let some = Want { rows: Some(RowFilter::Docs(docs)), ..whole() };
    let chosen: Vec<Row> = rows.iter().filter(|row| row.0 % 7 < 3).cloned().collect();
    assert_eq!(read(&source, &some, 1 << 20).expect("read"), chosen, "chosen rows");
    rows
}

#[test]
fn every_form_gives_the_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let batches = [rows(0, 1500), rows(1500, 1500), rows(1500, 1503), rows(1503, 3000)];
    for packed in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
        for (name, is_file) in [("a.arrow", true), ("b.feather", true), ("c.arrow", false)] {
            let read = rows_of(&folder.path().join(name), &bytes(&batches, is_file, packed));
            assert_eq!(read.len(), 3000);
            for (at, (doc, text, id)) in read.into_iter().enumerate() {
                let expected = (at % 5 != 3).then(|| format!("кот {at} ").repeat(40));
                assert_eq!((doc, text, id), (at as u64, Ok(expected), Some(Id::Int(at as i64))));
            }
        }
    }
    // A stream may end without an end marker, and a file may have no rows.
    let mut open_end = bytes(&batches, false, None);
    open_end.truncate(open_end.len() - 8);
    assert_eq!(rows_of(&folder.path().join("d.arrow"), &open_end).len(), 3000);
    assert_eq!(rows_of(&folder.path().join("e.arrow"), &bytes(&[rows(0, 0)], true, None)), []);
}

#[test]
fn dictionaries_are_read_where_they_stand() {
    let folder = tempfile::tempdir().expect("a folder");
    let part = |from: i64| {
        let words = (from..from + 40).map(|n| format!("text {}", n % 3 + from));
        let words: Vec<String> = words.collect();
        let texts: ArrayRef = Arc::new(words.iter().map(String::as_str).collect::<DictionaryArray<Int32Type>>());
        batch(vec![("text", texts), ("id", Arc::new(Int64Array::from_iter_values(from..from + 40)))])
    };
    let one = rows_of(&folder.path().join("a.arrow"), &bytes(&[part(0)], true, None));
    assert_eq!((one.len(), one[4].1.clone()), (40, Ok(Some("text 1".to_owned()))));
    // A stream with a dictionary between two batches is a single piece.
    let (path, both) = (folder.path().join("b.arrow"), bytes(&[part(0), part(40)], false, None));
    let two = rows_of(&path, &both);
    assert_eq!((two.len(), two[44].1.clone()), (80, Ok(Some("text 42".to_owned()))));
    assert_eq!(open(&[&path]).expect("opened").0.splits(1).len(), 1);
}

#[test]
fn what_is_held_is_reported_before_it_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.arrow");
    for packed in [None, Some(CompressionType::ZSTD)] {
        let all = bytes(&[rows(0, 4000), rows(4000, 4010)], true, packed);
        std::fs::write(&path, &all).expect("written");
        let (source, _) = open(&[&path]).expect("opened");
        // The average text is at least 288 bytes long, because four out of five rows have at least 40 × 9 bytes.
        let large = source.beyond(&|bytes, _| bytes <= 1 << 20).expect("read").expect("a large batch");
        assert!(large.bytes > 4000 * 288 && large.column == "text", "{large:?}");
        assert_eq!(source.beyond(&|bytes, _| bytes <= 1 << 24).expect("read"), None);
    }
}

#[test]
fn damage_is_reported_and_never_a_panic() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.arrow");
    let whole_file = bytes(&[rows(0, 30), rows(30, 60)], true, Some(CompressionType::LZ4_FRAME));
    let outcome = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("written");
        match open(&[&path]) {
            Ok((source, bad)) if bad.is_empty() => {
                read(&source, &whole(), 1).map(|rows| rows.len()).map_err(|error| error.to_string())
            }
            Ok((_, bad)) => Err(bad[0].why.clone()),
            Err(error) => Err(error.to_string()),
        }
    };
    for length in (0..whole_file.len()).step_by(97) {
        let said = outcome(&whole_file[..length]).expect_err("cut off");
        assert!(said.contains("Arrow") || said.contains("only input"), "{length}: {said}");
    }
    let streamed = bytes(&[rows(0, 30), rows(30, 60)], false, None);
    for (at, all) in [&whole_file, &streamed].into_iter().enumerate() {
        for place in (0..all.len()).step_by(31) {
            let mut damaged = all.clone();
            damaged[place] ^= 0x55;
            // The result must be rows or an error message, never a panic.
            let _ = outcome(&damaged);
        }
        assert_eq!(outcome(all), Ok(60), "{at}");
    }
    // A truncated file is read as a stream.
    let first = bytes(&[rows(0, 30)], false, Some(CompressionType::LZ4_FRAME)).len();
    for (length, rows) in [(whole_file.len() - 1, 60), (whole_file.len() - 60, 60), (first + 120, 30)] {
        std::fs::write(&path, &whole_file[..length]).expect("written");
        let (source, bad) = open(&[&path]).expect("opened");
        assert!(bad.len() == 1 && bad[0].takes_part && bad[0].why.contains("truncated or damaged"), "{bad:?}");
        assert_eq!(read(&source, &whole(), usize::MAX).expect("read").len(), rows, "{length}");
    }
    // If a stream is truncated, only the missing batches are lost.
    let first = bytes(&[rows(0, 30)], false, None).len();
    std::fs::write(&path, &streamed[..first + 40]).expect("written");
    let (source, bad) = open(&[&path]).expect("opened");
    assert!(bad.len() == 1 && bad[0].takes_part && bad[0].why.contains("truncated or damaged"), "{bad:?}");
    assert_eq!(read(&source, &whole(), usize::MAX).expect("read").len(), 30);
    assert!(outcome(b"").expect_err("nothing").contains("it has no schema"));
    assert!(outcome(b"id,text\n1,a\n").expect_err("text").contains("it is a table with commas, not Arrow IPC"));
    let no_text = batch(vec![("words", Arc::new(StringArray::from(vec!["a"])) as ArrayRef)]);
    assert!(
        outcome(&bytes(&[no_text], true, None))
            .expect_err("no text")
            .contains("no column \"text\"; available: words (Utf8)")
    );
}

#[test]
fn a_length_that_cannot_be_is_refused_before_memory_is_allocated_for_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.arrow");
    let constant = batch(vec![
        ("text", Arc::new(StringArray::from_iter_values(vec!["one text"; 60_000])) as ArrayRef),
        ("id", Arc::new(Int64Array::from(vec![7; 60_000]))),
    ]);
    for codec in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        // Even data with the highest possible compression ratio is read.
        assert_eq!(rows_of(&path, &bytes(std::slice::from_ref(&constant), true, Some(codec))).len(), 60_000);
        let small = bytes(&[rows(0, 3)], false, Some(codec));
        // The buffer's length precedes the compressed frame.
        let frame = if codec == CompressionType::ZSTD { [0x28, 0xB5, 0x2F, 0xFD] } else { [0x04, 0x22, 0x4D, 0x18] };
        let at = small.windows(4).position(|bytes| bytes == frame).expect("a packed buffer");
        let mut damaged = small.clone();
        damaged[at - 8..at].copy_from_slice(&(1_i64 << 60).to_le_bytes());
        std::fs::write(&path, &damaged).expect("written");
        let (_, bad) = open(&[&path]).expect("opened");
        assert!(bad[0].why.contains("cannot decompress to 1152921504606846976 bytes"), "{bad:?}");
    }
    assert!(room_for(1 << 60).is_err() && room_for(1 << 10).is_ok());
}

#[test]
fn a_string_that_is_not_utf8_costs_its_row_in_every_type() {
    let folder = tempfile::tempdir().expect("a folder");
    // Changes one value in the bytes of the file, because the writer accepts only valid values.
    for long in ["", " of which there is more than fits a view"] {
        let words = ["one".to_owned(), format!("caf~ au lait{long}"), "three".to_owned()];
        let words = || words.iter().map(String::as_str);
        let columns: [ArrayRef; 4] = [
            Arc::new(StringArray::from_iter_values(words())),
            Arc::new(LargeStringArray::from_iter_values(words())),
            Arc::new(StringViewArray::from_iter_values(words())),
            Arc::new(words().collect::<DictionaryArray<Int32Type>>()),
        ];
        for (column, is_file) in columns.into_iter().flat_map(|column| [(column.clone(), true), (column, false)]) {
            let what = format!("{} {is_file} {long:?}", column.data_type());
            let rows = batch(vec![("text", column), ("id", Arc::new(Int64Array::from(vec![1, 2, 3])))]);
            let mut all = bytes(&[rows], is_file, None);
            let places: Vec<usize> = (0..all.len() - 4).filter(|&at| all[at..].starts_with(b"caf~")).collect();
            places.into_iter().for_each(|at| all[at + 3] = 0xE9);
            let read = rows_of(&folder.path().join("a.arrow"), &all);
            let texts: Vec<_> = read.iter().map(|row| row.1.clone()).collect();
            assert_eq!((&texts[0], &texts[2]), (&Ok(Some("one".to_owned())), &Ok(Some("three".to_owned()))), "{what}");
            let why = texts[1].as_ref().expect_err("a row that cannot be used").to_string();
            assert!(why.contains("not UTF-8: byte 3"), "{what}: {why}");
        }
    }
}
