//! Checks that data is read as it was written, for every type of text and id, every format, and every way of splitting files and choosing
//! rows.

use crate::format::want::{RowFilter, Want};
use crate::testkit::{batch, columns, open, read, whole, write_parquet};
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use arrow::array::builder::{ListBuilder, StringBuilder};
use arrow::array::*;
use arrow::datatypes::{Int32Type, UInt8Type};
use dupsift_core::error::Error;
use dupsift_tables::{Id, IdKind, IdType, IdsSeen};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

const TEXTS: [Option<&str>; 5] =
    [Some("кот"), None, Some(""), Some("a text that is longer than a view holds inline"), Some("猫")];

fn texts() -> Vec<ArrayRef> {
    let bytes = TEXTS.map(|text| text.map(str::as_bytes));
    vec![
        Arc::new(StringArray::from_iter(TEXTS)),
        Arc::new(LargeStringArray::from_iter(TEXTS)),
        Arc::new(StringViewArray::from_iter(TEXTS)),
        Arc::new(TEXTS.into_iter().collect::<DictionaryArray<Int32Type>>()),
        Arc::new(TEXTS.into_iter().collect::<DictionaryArray<UInt8Type>>()),
        Arc::new(BinaryArray::from_iter(bytes)),
        Arc::new(LargeBinaryArray::from_iter(bytes)),
        Arc::new(BinaryViewArray::from_iter(bytes)),
    ]
}

/// Converts a number to an id of some type.
type Made = fn(i64) -> Id;

/// Returns, for every id type, a column with the ids 1, 2, 3, null and 4, and the expected ids, kind and type.
fn ids() -> Vec<(ArrayRef, Made, IdKind)> {
    let numbers = [Some(1), Some(2), Some(3), None, Some(4)];
    let strings = numbers.map(|number: Option<i32>| number.map(|number| number.to_string()));
    let bytes = strings.clone().map(|text| text.map(String::into_bytes));
    let int = |number: i64| Id::Int(number);
    let text = |number: i64| Id::Text(number.to_string());
    let byte = |number: i64| Id::Bytes(number.to_string().into_bytes());
    let fixed = bytes.clone().into_iter();
    vec![
        (Arc::new(StringArray::from_iter(strings.clone())), text, IdKind::Text),
        (Arc::new(LargeStringArray::from_iter(strings.clone())), text, IdKind::Text),
        (Arc::new(StringViewArray::from_iter(strings.clone())), text, IdKind::Text),
        (Arc::new(strings.iter().map(Option::as_deref).collect::<DictionaryArray<Int32Type>>()), text, IdKind::Text),
        (Arc::new(BinaryArray::from_iter(bytes.clone())), byte, IdKind::Bytes),
        (Arc::new(LargeBinaryArray::from_iter(bytes.clone())), byte, IdKind::Bytes),
        (Arc::new(BinaryViewArray::from_iter(bytes)), byte, IdKind::Bytes),
        (
            Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(fixed, 1).expect("one byte")),
            byte,
            IdKind::Bytes,
        ),
        (Arc::new(Int8Array::from_iter(numbers.map(|n| n.map(|n| n as i8)))), int, IdKind::Int32),
        (Arc::new(Int16Array::from_iter(numbers.map(|n| n.map(|n| n as i16)))), int, IdKind::Int32),
        (Arc::new(Int32Array::from_iter(numbers)), int, IdKind::Int32),
        (Arc::new(Int64Array::from_iter(numbers.map(|n| n.map(i64::from)))), int, IdKind::Int64),
        (Arc::new(UInt8Array::from_iter(numbers.map(|n| n.map(|n| n as u8)))), int, IdKind::Int32),
        (Arc::new(UInt16Array::from_iter(numbers.map(|n| n.map(|n| n as u16)))), int, IdKind::Int32),
        (Arc::new(UInt32Array::from_iter(numbers.map(|n| n.map(|n| n as u32)))), int, IdKind::Int64),
        (Arc::new(UInt64Array::from_iter(numbers.map(|n| n.map(|n| n as u64)))), int, IdKind::UInt64),
    ]
}

#[test]
fn every_type_of_text_and_id_comes_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.parquet");
    let some_id: ArrayRef = Arc::new(Int32Array::from_iter_values(0..5));
    for text in texts() {
        write_parquet(
            &path,
            &batch(vec![("text", text.clone()), ("id", some_id.clone())]),
            WriterProperties::default(),
        );
        let (source, bad) = open(&[&path]).expect("opened");
        assert!(bad.is_empty());
        let all = read(&source, &whole(), 1 << 20).expect("read");
        for (row, (doc, came, id)) in all.into_iter().enumerate() {
            let came_back = match TEXTS[row] {
                Some("") => Err("empty text".to_owned()),
                known => Ok(known.map(str::to_owned)),
            };
            let expected = (row as u64, came_back, Some(Id::Int(row as i64)));
            assert_eq!((doc, came, id), expected, "{}", text.data_type());
        }
    }
    for (id, made, kind) in ids() {
        write_parquet(
            &path,
            &batch(vec![("id", id.clone()), ("text", texts().remove(0))]),
            WriterProperties::default(),
        );
        let (source, _) = open(&[&path]).expect("opened");
        assert_eq!(source.files[0].id, Some(kind), "{}", id.data_type());
        let mut seen = IdsSeen::default();
        let split = &source.splits(1 << 20)[0];
        let want = whole();
        source
            .read(split, &want, &mut |documents| {
                seen.merge(documents.ids_seen());
                Ok(())
            })
            .expect("read");
        assert_eq!((seen.nulls, seen.kinds.into_iter().collect::<Vec<_>>()), (1, vec![kind]));
        let came: Vec<Option<Id>> = read(&source, &want, 1 << 20).expect("read").into_iter().map(|row| row.2).collect();
        assert_eq!(came, [Some(made(1)), Some(made(2)), Some(made(3)), None, Some(made(4))], "{}", id.data_type());
    }
}

#[test]
fn what_is_not_asked_for_is_not_decoded() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.parquet");
    let mut nested = ListBuilder::new(StringBuilder::new());
    for row in 0..100 {
        nested.append_value([Some(format!("needle-{row}"))]);
    }
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..100).map(|row| format!("text {row}"))));
    let titles: ArrayRef = Arc::new(StringArray::from_iter_values((0..100).map(|row| format!("title {row}"))));
    let rows = batch(vec![("nested", Arc::new(nested.finish())), ("title", titles), ("text", texts)]);
    let plain =
        WriterProperties::builder().set_dictionary_enabled(false).set_statistics_enabled(EnabledStatistics::None);
    write_parquet(&path, &rows, plain.build());
    // Destroys the pages of the nested column, so that decoding the column would fail.
    let mut bytes = std::fs::read(&path).expect("there");
    let end = bytes.windows(9).position(|window| window == b"needle-99").expect("plain pages");
    bytes[4..end].fill(0xFF);
    std::fs::write(&path, bytes).expect("written");
    let (source, bad) = open(&[&path]).expect("opened");
    assert!(bad.is_empty() && source.files[0].id_note.is_none());
    let mut rows = 0;
    let want = Want { others: vec!["title".into()], ..whole() };
    source
        .read(&source.splits(1 << 20)[0], &want, &mut |documents| {
            let names: Vec<String> =
                documents.rows.schema().fields().iter().map(|field| field.name().clone()).collect();
            assert_eq!(names, ["text", "title"]);
            let titles = documents.text_column("title").unwrap().unwrap();
            assert_eq!(titles.get(0), dupsift_tables::Cell::Text(&format!("title {rows}")));
            assert_eq!(documents.id(0), None);
            rows += documents.len();
            Ok(())
        })
        .expect("read");
    assert_eq!(rows, 100);
}

/// Tests a file of a few kilobytes whose values would take hundreds of megabytes in a single batch, with and without size statistics.
#[test]
fn a_long_value_of_a_dictionary_counts_in_each_row() {
    const LONG: usize = 1 << 20;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.parquet");
    let long = "x".repeat(LONG);
    let titles: DictionaryArray<Int32Type> =
        (0..400).map(|row| Some(if row % 8 == 0 { "short" } else { long.as_str() })).collect();
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..400).map(|row| format!("text {row}"))));
    let rows = batch(vec![("title", Arc::new(titles)), ("text", texts)]);
    let compression = ::parquet::basic::Compression::ZSTD(Default::default());
    let properties = WriterProperties::builder().set_compression(compression);
    let page = 2 * LONG;
    write_parquet(&path, &rows, properties.set_dictionary_page_size_limit(page).build());
    assert!(std::fs::metadata(&path).expect("there").len() < 100_000);
    let (source, _) = open(&[&path]).expect("opened");
    let want = Want { others: vec!["title".into()], batch_bytes: 4 << 20, ..whole() };
    let (mut largest, mut count) = (0, 0);
    for split in source.splits(1 << 20) {
        source
            .read(&split, &want, &mut |documents| {
                let titles = documents.column("title").expect("asked for");
                let lengths = titles.as_string_view_opt().expect("views").lengths();
                largest = largest.max(lengths.map(|length| length as usize).sum());
                count += documents.len();
                Ok(())
            })
            .expect("read");
    }
    assert_eq!(count, 400);
    // The limit is the target size plus one step of rows.
    assert!(largest > LONG && largest <= 20 * LONG, "{largest} bytes in a batch");
}

fn numbered(rows: usize) -> RecordBatch {
    let text = |row: usize| format!("{row} {}", "слово ".repeat(dupsift_core::hash::mix64(row as u64) as usize % 40));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..rows).map(text)));
    batch(vec![("text", texts), ("id", Arc::new(Int64Array::from_iter_values(0..rows as i64)))])
}

/// Returns writer properties that produce small pages in one large row group.
fn small_pages() -> WriterProperties {
    WriterProperties::builder().set_data_page_row_count_limit(100).set_write_batch_size(50).build()
}

#[test]
fn ranges_of_one_row_group_and_neighbours_together_equal_the_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let (large, small) = (folder.path().join("large.parquet"), folder.path().join("small.parquet"));
    write_parquet(&large, &numbered(5000), small_pages());
    let groups = WriterProperties::builder().set_max_row_group_row_count(Some(64)).build();
    write_parquet(&small, &numbered(3000), groups);
    let (source, _) = open(&[folder.path()]).expect("opened");
    let whole_read = read(&source, &whole(), usize::MAX).expect("read");
    assert_eq!(source.splits(usize::MAX).len(), 2);
    assert_eq!((whole_read.len(), whole_read[5007].0, &whole_read[5007].2), (8000, 5007, &Some(Id::Int(7))));
    for target in [20_000, 50_000, 1_000_000] {
        let splits = source.splits(target);
        assert_eq!(splits.iter().map(|split| split.rows).sum::<u64>(), 8000);
        assert!(splits.iter().all(|split| split.text_bytes <= target as u64), "{splits:?}");
        let (of_large, of_small): (Vec<_>, Vec<_>) = splits.iter().partition(|split| split.file == 0);
        assert!(target != 50_000 || (of_large.len() > 10 && of_small.len() > 5 && of_small.len() < 47));
        assert_eq!(read(&source, &whole(), target).expect("read"), whole_read);
    }
    let tiny = Want { batch_bytes: 1, ..whole() };
    assert_eq!(read(&source, &tiny, 5_000).expect("read"), whole_read);
}

#[test]
fn a_filter_gives_exactly_the_rows_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    write_parquet(&folder.path().join("a.parquet"), &numbered(3000), small_pages());
    let lines: String = (0..3000).map(|row| format!("{{\"text\":\"{row}\",\"id\":{row}}}\n")).collect();
    std::fs::write(folder.path().join("b.jsonl"), lines).expect("written");
    let (source, _) = open(&[folder.path()]).expect("opened");
    let all = read(&source, &whole(), usize::MAX).expect("read");
    let some: Vec<u64> = (0..6000).filter(|doc| doc % 7 == 0 || (250..260).contains(doc) || *doc == 5999).collect();
    let every: Vec<u64> = (0..6000).collect();
    for docs in [vec![], vec![0], vec![2999, 3000], vec![5999], some, every] {
        let expected: Vec<_> = docs.iter().map(|&doc| all[doc as usize].clone()).collect();
        let set: BTreeSet<u64> = docs.iter().copied().collect();
        for filter in [RowFilter::Docs(docs.clone().into()), RowFilter::Where(Arc::new(move |doc| set.contains(&doc)))]
        {
            let want = Want { rows: Some(filter), ..whole() };
            for target in [9_000, usize::MAX] {
                assert_eq!(read(&source, &want, target).expect("read"), expected);
            }
        }
    }
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

#[test]
fn json_lines_read_the_same_in_every_dress() {
    let folder = tempfile::tempdir().expect("a folder");
    let filler = "слово ".repeat(100);
    let lines: String =
        (0..4000).map(|row| format!("{{\"id\":\"n{row}\",\"text\":\"{row} {filler}\"}}\r\n\n")).collect();
    let (first, second) = lines.as_bytes().split_at(lines.len() / 2);
    let zst = |bytes: &[u8]| zstd::encode_all(bytes, 1).expect("memory");
    for (name, bytes) in [
        ("a.jsonl", lines.as_bytes().to_vec()),
        ("b.jsonl.gz", [gz(first), gz(second)].concat()),
        ("c.jsonl.zst", [zst(first), zst(second)].concat()),
    ] {
        std::fs::write(folder.path().join(name), bytes).expect("written");
    }
    let (source, bad) = open(&[folder.path()]).expect("opened");
    assert_eq!((bad.len(), source.documents(), source.locate(4000).0.label.as_str()), (0, 12_000, "b.jsonl.gz"));
    assert_eq!(source.name_of(8003), "c.jsonl.zst#3");
    assert!(source.splits(1).iter().filter(|split| split.file == 0).count() >= 4);
    let all = read(&source, &whole(), 1).expect("read");
    for (at, (doc, text, id)) in all.iter().enumerate() {
        let row = at % 4000;
        assert_eq!((*doc, id.clone()), (at as u64, Some(Id::Text(format!("n{row}")))));
        assert!(text.as_ref().is_ok_and(|text| text.as_ref().is_some_and(|text| *text == format!("{row} {filler}"))));
    }
}

#[test]
fn a_bad_line_keeps_its_number_and_mixed_ids_become_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl");
    let lines: [&[u8]; 8] = [
        b"{\"text\":\"a\",\"id\":1,\"title\":2}",
        b"{\"text\":\"b\",",
        b"{\"text\":\"c\xFF\"}",
        b"{\"id\":\"four\"}",
        b"",
        b"{\"text\":5,\"id\":18446744073709551615}",
        b"7",
        b"{\"text\":\"h\",\"id\":null}",
    ];
    std::fs::write(&path, lines.join(&b'\n')).expect("written");
    let (source, _) = open(&[&path]).expect("opened");
    let all = read(&source, &whole(), 1).expect("read");
    assert_eq!(all.iter().map(|row| row.1.is_err()).collect::<Vec<_>>(), [false, true, true, false, true, true, false]);
    let id = |row: usize| all[row].2.as_ref().map(Id::to_string);
    assert_eq!([id(0), id(3), id(4), id(6)], [Some("1".into()), Some("four".into()), Some(u64::MAX.to_string()), None]);
    let mut seen = IdsSeen::default();
    let want = whole();
    source
        .read(&source.splits(1)[0], &want, &mut |documents| {
            seen.merge(documents.ids_seen());
            Ok(())
        })
        .expect("read");
    // One usable row has no id.
    assert_eq!((seen.nulls, seen.max_unsigned, seen.kinds.len(), seen.id_type().0), (1, u64::MAX, 3, IdType::Text));
}

#[test]
fn a_document_of_50_megabytes_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let long = "длинный текст ".repeat(2_000_000);
    std::fs::write(folder.path().join("a.jsonl"), format!("{{\"text\":\"{long}\"}}\n{{\"text\":\"b\"}}"))
        .expect("written");
    let texts: ArrayRef = Arc::new(LargeStringArray::from_iter_values([long.as_str(), "b"]));
    write_parquet(&folder.path().join("b.parquet"), &batch(vec![("text", texts)]), WriterProperties::default());
    let (source, _) = open(&[folder.path()]).expect("opened");
    let all = read(&source, &Want::default(), 1 << 20).expect("read");
    let lengths: Vec<_> =
        all.iter().map(|row| row.1.as_ref().ok().and_then(|text| text.as_ref()).map(String::len)).collect();
    assert_eq!(lengths, [Some(long.len()), Some(1), Some(long.len()), Some(1)]);
}

#[test]
fn files_without_rows_take_no_numbers() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    write_parquet(&at("a.parquet"), &numbered(0), WriterProperties::default());
    write_parquet(&at("b.parquet"), &numbered(3), WriterProperties::default());
    std::fs::write(at("c.jsonl"), "\n\n").expect("written");
    std::fs::write(at("d.jsonl"), "{\"text\":\"x\"}").expect("written");
    let (source, bad) = open(&[folder.path()]).expect("opened");
    assert_eq!((bad.len(), source.files.len(), source.documents()), (0, 4, 4));
    assert_eq!((source.locate(0).0.label.as_str(), source.locate(2).1), ("b.parquet", 2));
    assert_eq!((source.locate(3).0.label.as_str(), source.locate(3).1), ("d.jsonl", 0));
    assert_eq!(read(&source, &whole(), 1).expect("read").len(), 4);
}

#[test]
fn a_missing_column_is_wrong_usage_in_all_files_and_a_bad_file_in_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let (good, lacking) = (folder.path().join("good.parquet"), folder.path().join("lacking.parquet"));
    write_parquet(&good, &numbered(3), WriterProperties::default());
    let content: ArrayRef = Arc::new(StringArray::from_iter_values(["a"]));
    write_parquet(&lacking, &batch(vec![("content", content)]), WriterProperties::default());
    let (source, bad) = open(&[folder.path()]).expect("opened");
    assert_eq!((source.documents(), bad.len(), bad[0].path == lacking), (3, 1, true));
    let message = |path: &Path| match open(&[path]) {
        Err(Error::Usage { said: message, .. }) => message,
        other => panic!("expected wrong usage, got {other:?}"),
    };
    assert!(
        message(&lacking)
            .ends_with("lacking.parquet: no column \"text\"; available: content (Utf8); try `text-column=content`")
    );
    let lines = folder.path().join("l.jsonl");
    std::fs::write(&lines, "{\"body\":\"x\",\"n\":1}\n5\n").expect("written");
    assert!(message(&lines).ends_with("no column \"text\"; available: body, n; try `text-column=body`"));
    let asked = crate::corpus::source::Columns { id: "key".into(), id_required: true, ..columns() };
    let found = crate::find::inputs::find(&[good.to_string_lossy().into_owned()]).expect("found");
    let outcome = crate::corpus::source::open(found, &asked, 1, None);
    assert!(
        matches!(outcome, Err(Error::Usage { said: why, .. }) if why.contains("no column \"key\"; available: text (Utf8), id (Int64)"))
    );
}
