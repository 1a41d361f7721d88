//! Checks that reads return the rows and columns that were found when the files were opened.

use crate::format::want::Want;
use crate::testkit::{batch, open, read, whole, write_parquet};
use ::parquet::file::properties::WriterProperties;
use arrow::array::{ArrayRef, Float64Array, Int64Array, StringArray, StringViewArray};
use dupsift_core::error::Error;
use proptest::prelude::*;
use std::sync::Arc;

#[test]
fn a_list_of_json_lines_is_null_where_a_plain_column_is_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.jsonl"), "{\"text\":\"a\",\"title\":[1, 2]}\n{\"text\":\"b\",\"title\":7}\n")
        .expect("written");
    let (source, _) = open(&[folder.path()]).expect("opened");
    let title = |want: Want| {
        let mut title = None;
        source.read(&source.splits(1)[0], &want, &mut |rows| Ok(title = rows.column("title").cloned())).expect("read");
        title
    };
    let others = vec!["title".to_owned()];
    let plain = title(Want { others: others.clone(), plain: others.clone(), ..whole() }).expect("a column");
    assert_eq!(plain.as_any().downcast_ref::<Int64Array>(), Some(&Int64Array::from(vec![None, Some(7)])));
    let all = title(Want { others, ..whole() }).expect("a column");
    assert_eq!(all.as_any().downcast_ref::<StringViewArray>(), Some(&StringViewArray::from(vec!["[1,2]", "7"])));
    assert!(title(whole()).is_none());
}

#[test]
fn an_id_column_of_a_type_that_is_no_id_is_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["a.parquet", "b.parquet"] {
        let ids: ArrayRef = Arc::new(Float64Array::from(vec![1.0]));
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
        write_parquet(
            &folder.path().join(name),
            &batch(vec![("id", ids), ("text", texts)]),
            WriterProperties::default(),
        );
    }
    let (source, _) = open(&[folder.path()]).expect("opened");
    let said = source.notes.join("\n");
    assert!(said.starts_with("a.parquet and 1 more: column \"id\" is Float64; expected strings"), "{said}");
    assert!(said.contains("FILE#ROW"), "{said}");
}

#[test]
fn rows_beyond_those_that_opening_counted_are_an_error_before_they_are_passed_on() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.jsonl"), "{\"text\":\"a\"}\n".repeat(3)).expect("written");
    let (mut source, _) = open(&[folder.path()]).expect("opened");
    source.files[0].pieces[0].rows = 2;
    let mut passed = 0;
    let outcome = source.read(&source.splits(1)[0], &whole(), &mut |documents| {
        passed += documents.len();
        Ok(())
    });
    assert!(matches!(outcome, Err(Error::BadFile { why, .. }) if why.contains("now has more")), "{passed}");
    assert_eq!(passed, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn opening_counts_the_rows_that_reading_gives(
        mark in any::<bool>(),
        lines in proptest::collection::vec((0usize..50, 0usize..4, 0usize..50, 0usize..3), 1..12),
        cut in any::<bool>(),
    ) {
        let mut bytes = if mark { b"\xEF\xBB\xBF".to_vec() } else { Vec::new() };
        let mut expected = 0;
        for (before, what, behind, end) in lines {
            let what = ["", "{\"text\":\"a\"}", "{\"text\":\"a longer text\",\"id\":1}", ""][what];
            bytes.extend(format!("{}{what}{}{}", " ".repeat(before), "\t".repeat(behind), ["\n", "\r\n", "\n\r\n"][end]).bytes());
            expected += u64::from(!what.is_empty());
        }
        if cut {
            bytes.pop();
        }
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.jsonl"), &bytes).expect("written");
        let (source, bad) = open(&[folder.path()]).expect("opened");
        prop_assert_eq!((bad.len(), source.documents()), (0, expected));
        let all = read(&source, &whole(), 1).expect("the rows that were counted");
        prop_assert_eq!(all.len() as u64, expected);
        prop_assert!(all.iter().all(|(_, text, _)| text.as_ref().is_ok_and(Option::is_some)));
    }
}
