//! Tests batches of documents.

use crate::document::*;
use arrow::array::{
    BinaryArray, DictionaryArray, FixedSizeBinaryArray, Float32Array, Int8Array, LargeStringArray, StringArray,
};
use arrow::datatypes::Int8Type;

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))
        .expect("a batch")
}

#[test]
fn a_blank_text_is_rejected_in_every_type_of_column() {
    let texts = [Some(""), Some(" \t\n"), Some("\u{a0}\u{3000}"), None, Some(" a"), Some("\u{301}"), Some("!")];
    let columns: [ArrayRef; 2] = [
        Arc::new(StringArray::from(texts.to_vec())),
        Arc::new(texts.iter().map(|text| text.map(str::as_bytes)).collect::<BinaryArray>()),
    ];
    for column in columns {
        let documents = Documents::of_columns((0..7).collect(), vec![("text", column)], Some("text"), None).unwrap();
        let reasons: Vec<_> = (0..7).map(|row| documents.text(row).text().map_err(|why| why.reason)).collect();
        let (empty, null) = (Err(RejectReason::EmptyText), Err(RejectReason::NullText));
        assert_eq!(reasons, [empty, empty, empty, null, Ok(" a"), Ok("\u{301}"), Ok("!")]);
    }
}

#[test]
fn numbers_and_truth_values_are_spelled() {
    let numbers: DictionaryArray<Int8Type> =
        DictionaryArray::new(Int8Array::from(vec![Some(1), None, Some(0)]), Arc::new(Int64Array::from(vec![7, -2])));
    let decimals = arrow::array::Decimal64Array::from(vec![Some(150), None, Some(5)]);
    let columns: [(&str, ArrayRef); 9] = [
        ("decimal", Arc::new(decimals.with_precision_and_scale(10, 2).expect("fits"))),
        ("float", Arc::new(arrow::array::Float64Array::from(vec![Some(2020.0), None, Some(0.5)]))),
        ("narrow", Arc::new(Float32Array::from(vec![Some(-7.0), None, Some(0.1)]))),
        ("day", Arc::new(arrow::array::Date32Array::from(vec![Some(0), None, Some(1)]))),
        ("whole", Arc::new(Int8Array::from(vec![Some(-3), None, Some(12)]))),
        ("truth", Arc::new(arrow::array::BooleanArray::from(vec![Some(true), None, Some(false)]))),
        ("dictionary", Arc::new(numbers)),
        ("text", Arc::new(arrow::array::StringArray::from(vec![Some("x"), None, Some("")]))),
        ("nothing", arrow::array::new_null_array(&DataType::Null, 3)),
    ];
    let documents = Documents::new(0, batch(columns.to_vec()), None, None).expect("documents");
    let spelled = |name: &str| {
        let column = documents.spelled_column(name).expect("a column")?;
        Some([0, 1, 2].map(|row| match column.get(row) {
            Cell::Text(text) => Some(text.to_string()),
            _ => None,
        }))
    };
    let told = |first: &str, last: &str| Some([Some(first.to_string()), None, Some(last.to_string())]);
    assert_eq!(spelled("whole"), told("-3", "12"));
    // An integer in a float column is written as an integer, because many programs store integer columns with nulls as floats.
    assert_eq!((spelled("float"), spelled("narrow")), (told("2020", "0.5"), told("-7", "0.1")));
    assert_eq!(spelled("decimal"), told("1.50", "0.05"));
    assert_eq!(spelled("day"), told("1970-01-01", "1970-01-02"));
    assert_eq!(spelled("truth"), told("true", "false"));
    assert_eq!(spelled("dictionary"), told("-2", "7"));
    assert_eq!(spelled("text"), told("x", ""));
    assert_eq!((spelled("nothing"), spelled("absent")), (Some([None, None, None]), None));
}

#[test]
fn every_string_type_reads_the_same() {
    let values = [Some("кот"), None, Some("")];
    let dictionary: DictionaryArray<Int8Type> = values.iter().copied().collect();
    for column in [
        Arc::new(LargeStringArray::from_iter(values)) as ArrayRef,
        Arc::new(arrow::array::StringArray::from_iter(values)),
        Arc::new(StringViewArray::from_iter(values)),
        Arc::new(dictionary),
        Arc::new(BinaryArray::from_iter(values.map(|value| value.map(str::as_bytes)))),
    ] {
        let documents = Documents::new(7, batch(vec![("t", column.clone())]), Some("t"), Some("t")).expect("text");
        assert_eq!(documents.text(0), Cell::Text("кот"), "{}", column.data_type());
        assert_eq!((documents.text(1), documents.text(2)), (Cell::Null, Cell::Bad(RejectReason::EmptyText.into())));
        assert_eq!(documents.id(0).map(|id| id.to_string()), Some("кот".to_owned()));
        assert_eq!((documents.id(1), documents.ids_seen().nulls, documents.doc(2)), (None, 1, 9));
    }
}

#[test]
fn ids_of_each_kind() {
    let ids: ArrayRef = Arc::new(Int8Array::from(vec![Some(-1), None]));
    let documents = Documents::new(0, batch(vec![("id", ids)]), None, Some("id")).expect("ids");
    assert_eq!((documents.id(0), documents.id(1)), (Some(IdRef::Int(-1)), None));
    assert!(documents.ids_seen().kinds.contains(&IdKind::Int32));
    let ids: ArrayRef = Arc::new(UInt64Array::from(vec![3, u64::MAX]));
    let documents = Documents::new(0, batch(vec![("id", ids)]), None, Some("id")).expect("ids");
    assert_eq!((documents.id(1), documents.ids_seen().max_unsigned), (Some(IdRef::UInt(u64::MAX)), u64::MAX));
    let ids: ArrayRef = Arc::new(FixedSizeBinaryArray::try_from_iter([[1u8, 255]].into_iter()).expect("two bytes"));
    let documents = Documents::new(0, batch(vec![("id", ids)]), None, Some("id")).expect("ids");
    assert_eq!(documents.id(0), Some(IdRef::Bytes(&[1, 255])));
    let floats: ArrayRef = Arc::new(Float32Array::from(vec![1.0]));
    assert!(Documents::new(0, batch(vec![("id", floats.clone())]), None, Some("id")).is_err());
    assert!(Documents::new(0, batch(vec![("t", floats)]), Some("t"), None).is_err());
}

fn broken(detail: &str) -> Rejection {
    Rejection::new(RejectReason::BrokenRecord, detail)
}

#[test]
fn a_bad_row_says_why_and_keeps_its_number() {
    let texts: ArrayRef = Arc::new(BinaryArray::from_iter_values([&b"ok"[..], b"a\xFFb"]));
    let documents = Documents::new(0, batch(vec![("t", texts)]), Some("t"), None).expect("text");
    let documents = documents.with_docs(vec![4, 9]);
    assert_eq!((documents.text(0), documents.doc(0), documents.doc(1)), (Cell::Text("ok"), 4, 9));
    assert!(
        matches!(documents.text(1), Cell::Bad(why) if why.reason == RejectReason::NotUtf8 && why.detail.contains("byte 1"))
    );
    let documents = documents.with_bad(BTreeMap::from([(0, broken("a reason"))]));
    assert_eq!(documents.text(0), Cell::Bad(broken("a reason")));
}

#[test]
fn pages_become_texts_and_bad_rows_stay_bad() {
    let pages: ArrayRef = Arc::new(BinaryArray::from_iter([Some(&b"<p>\xFF"[..]), None, Some(b"x"), Some(b"y")]));
    let titles: ArrayRef = Arc::new(arrow::array::StringArray::from(vec!["a", "b", "c", "d"]));
    let rows = batch(vec![("html", pages), ("title", titles)]);
    let documents = Documents::new(5, rows, Some("html"), None).expect("pages").with_html(true);
    let documents = documents.with_bad(BTreeMap::from([(3, broken("x"))]));
    assert_eq!(documents.page(0), Ok(Some(&b"<p>\xFF"[..])));
    assert_eq!((documents.page(1), documents.page(3)), (Ok(None), Err(&broken("x"))));
    let texts = StringViewArray::from(vec![Some("text"), None, None, None]);
    let titles = StringViewArray::from(vec![Some("T"), None, None, None]);
    let bad = BTreeMap::from([(2, RejectReason::NoBody.into())]);
    let purified = documents.purified(("html", texts), vec![("title".into(), titles)], bad).expect("purified");
    assert!(!purified.is_html() && purified.doc(1) == 6);
    assert_eq!((purified.text(0), purified.text(1)), (Cell::Text("text"), Cell::Null));
    assert_eq!(purified.text(2), Cell::Bad(RejectReason::NoBody.into()));
    assert_eq!(purified.text(3), Cell::Bad(broken("x")));
    let titles = purified.text_column("title").expect("strings").expect("a column");
    assert_eq!((titles.get(0), titles.get(1)), (Cell::Text("T"), Cell::Null));
}
