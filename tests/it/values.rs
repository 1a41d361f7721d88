//! Tests that a bad value causes no other losses: text in string columns that is not UTF-8, ids that cannot be read, and values that are
//! not numbers in a column of `--keep`.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array, RecordBatch,
    StringArray, StructArray, TimestampMicrosecondArray, UInt64Array, new_null_array,
};
use arrow::datatypes::{DataType, Field, Fields, Schema};
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::arrow::{ArrowSchemaConverter, ArrowWriter};
use parquet::basic::Encoding;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::SchemaDescriptor;

use crate::kit::{Ran, Table, files_below, program, record, run, write_columns};

/// A text with more than six words.
const TEXT: &str = "The quick brown fox jumps over the lazy dog near the old stone bridge";

fn bytes(values: &[&[u8]]) -> ArrayRef {
    Arc::new(BinaryArray::from_iter_values(values))
}

fn strings(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

/// Returns the data type with strings instead of bytes.
fn as_strings(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Binary => DataType::Utf8,
        DataType::Struct(fields) => {
            let inside = |field: &Arc<Field>| field.as_ref().clone().with_data_type(as_strings(field.data_type()));
            DataType::Struct(fields.iter().map(inside).collect())
        }
        other => other.clone(),
    }
}

/// Writes columns of arbitrary bytes as strings.
fn write_strings(path: &Path, columns: &[(&str, ArrayRef)], properties: WriterProperties) {
    let field = |(name, array): &(&str, ArrayRef)| Field::new(*name, as_strings(array.data_type()), true);
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    write_as(path, columns, properties, ArrowSchemaConverter::new().convert(&schema).unwrap());
}

fn write_as(path: &Path, columns: &[(&str, ArrayRef)], properties: WriterProperties, schema: SchemaDescriptor) {
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.iter().map(|(name, array)| (*name, array.clone(), true)).collect::<Vec<_>>(),
    )
    .unwrap();
    let options = ArrowWriterOptions::new()
        .with_properties(properties)
        .with_skip_arrow_metadata(true)
        .with_parquet_schema(schema);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new_with_options(file, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn plain() -> WriterProperties {
    WriterProperties::builder().set_max_row_group_row_count(Some(100)).build()
}

/// Returns 240 texts, three of which are not UTF-8: one because of a single byte, and two because a character is split between them.
fn broken_texts() -> Vec<Vec<u8>> {
    let mut texts: Vec<Vec<u8>> = (0..240).map(|row| format!("{TEXT}, text {row}").into_bytes()).collect();
    texts[150] = b"caf\xE9 au lait".to_vec();
    (texts[50], texts[51]) = (b"one \xC3".to_vec(), b"\xA9 two".to_vec());
    texts[239] = texts[0].clone();
    texts
}

#[test]
fn a_text_that_is_not_utf8_costs_its_row_in_every_encoding() {
    let folder = tempfile::tempdir().unwrap();
    let texts = broken_texts();
    let text = bytes(&texts.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(1000..1240));
    let builder = || WriterProperties::builder().set_max_row_group_row_count(Some(100));
    let encoded = |encoding| {
        builder().set_column_dictionary_enabled("text".into(), false).set_column_encoding("text".into(), encoding)
    };
    let version_2 = |encoding| encoded(encoding).set_writer_version(WriterVersion::PARQUET_2_0);
    for (name, properties) in [
        ("dictionary", builder()),
        ("plain", encoded(Encoding::PLAIN)),
        ("lengths", encoded(Encoding::DELTA_LENGTH_BYTE_ARRAY)),
        ("delta", encoded(Encoding::DELTA_BYTE_ARRAY)),
        ("second", version_2(Encoding::DELTA_BYTE_ARRAY)),
    ] {
        let (docs, out) = (folder.path().join(name), folder.path().join(format!("{name}-out")));
        let columns = [("id", ids.clone()), ("text", text.clone())];
        write_strings(&docs.join("a.parquet"), &columns, properties.build());
        write_columns(
            &docs.join("b.parquet"),
            &[("id", Arc::new(Int64Array::from(vec![1]))), ("text", strings(&["x"]))],
            9,
        );
        let more = ["--algorithms", "exact", "--corpus", "annotate,keep,drop"];
        run(&[&docs], &out, &more).ends_with(3);
        let report = record(&out);
        assert_eq!(
            (report["documents"]["used"].as_u64(), report["documents"]["rows"].as_u64()),
            (Some(238), Some(241)),
            "{name}"
        );
        assert_eq!(report["documents"]["rejected_reasons"], serde_json::json!({"not UTF-8": 3}), "{name}");
        assert!(report["bad_inputs"].as_array().unwrap().is_empty(), "{name}");
        let rejected = Table::read(&out.join("rejected"));
        assert_eq!(
            (rejected.texts("row"), rejected.texts("id")),
            (["50", "51", "150"].map(String::from).to_vec(), ["1050", "1051", "1150"].map(String::from).to_vec()),
            "{name}"
        );
        assert_eq!(rejected.texts("detail")[2], "byte 3 of the text is invalid", "{name}");
        // Every row is annotated, and ids have the same type as in the files.
        let marks = Table::read(&out.join("attributes"));
        assert_eq!(
            (marks.len(), marks.numbers("id")[150], marks.texts("reason")[150].as_str()),
            (241, 1150, "not UTF-8"),
            "{name}"
        );
        let removed = Table::read(&out.join("removed"));
        assert_eq!((removed.numbers("id"), removed.numbers("kept_id")), (vec![1239], vec![1000]), "{name}");
        let kept = Table::read(&out.join("deduped/a.parquet"));
        let expected: Vec<String> =
            (0..239).filter(|row| ![50, 51, 150].contains(row)).map(|row| format!("{TEXT}, text {row}")).collect();
        assert_eq!(kept.texts("text"), expected, "{name}");
        assert_eq!(Table::read(&out.join("dropped/a.parquet")).len(), 1, "{name}");
        // The rows are the same if the pieces have different sizes.
        let one = folder.path().join(format!("{name}-one"));
        run(&[&docs], &one, &[&more[..], &["--threads", "1", "--memory", "64MiB"]].concat()).ends_with(3);
        for file in files_below(&out).into_iter().filter(|file| file.extension().is_some_and(|end| end == "parquet")) {
            let same = one.join(file.strip_prefix(&out).unwrap());
            assert!(std::fs::read(&file).unwrap() == std::fs::read(&same).unwrap(), "{name}: {}", file.display());
        }
    }
}

#[test]
fn texts_of_other_logical_types_and_in_structs_are_checked_too() {
    let folder = tempfile::tempdir().unwrap();
    let text = bytes(&[b"one text of some words", b"caf\xE9 of some words", b"one text of some words"]);
    let reasons = |path: &Path, column: &str| {
        let out = folder.path().join("out");
        let more = ["--algorithms", "exact", "--overwrite", "--max-rejected-share", "1", "--text-column", column];
        run(&[path], &out, &more).ends_with(3);
        (record(&out)["documents"]["rejected_reasons"].to_string(), Table::read(&out.join("removed")).len())
    };
    let expected = (r#"{"not UTF-8":1}"#.to_owned(), 1);
    for logical in ["(STRING)", "(UTF8)", "(JSON)", ""] {
        let message = format!("message rows {{ optional binary text {logical}; }}");
        let schema = SchemaDescriptor::new(Arc::new(parse_message_type(&message).unwrap()));
        let path = folder.path().join("a.parquet");
        write_as(&path, &[("text", text.clone())], plain(), schema);
        assert_eq!(reasons(&path, "text"), expected, "{logical}");
    }
    let fields: Fields = vec![Field::new("body", DataType::Binary, true)].into();
    let inside: ArrayRef = Arc::new(StructArray::new(fields, vec![text], None));
    let path = folder.path().join("b.parquet");
    write_strings(&path, &[("doc", inside)], plain());
    assert_eq!(reasons(&path, "doc.body"), expected);
    // If a text consists of several columns, one usable column is sufficient.
    let path = folder.path().join("c.parquet");
    write_strings(
        &path,
        &[("title", bytes(&[b"a", b"\xFF", b"a"])), ("text", bytes(&[b"one", b"one", b"one"]))],
        plain(),
    );
    assert_eq!(reasons(&path, "title,text"), expected);
}

#[test]
fn any_other_value_that_is_not_utf8_is_null_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let urls: [&[u8]; 5] = [b"http://x/5", b"http://x/\xFF", b"http://x/2", b"http://x/3", b"http://x/4"];
    let mut columns = vec![("text", strings(&[TEXT; 5])), ("url", bytes(&urls))];
    write_strings(&path, &columns, plain());
    let out = folder.path().join("out");
    let ran =
        |more: &[&str]| run(&[&path], &out, &[&["--algorithms", "exact", "--overwrite"], more].concat()).ends_with(0);
    let kept = || Table::read(&out.join("removed")).texts("kept_id")[0].clone();
    let lost = serde_json::json!({"url": {"not UTF-8": 1}});
    let said = "column \"url\": 1 value is not UTF-8 and counts as null";
    for (order, expected) in [("url asc", "a.parquet#2"), ("url desc", "a.parquet#0")] {
        let ran = ran(&["--keep", order]);
        assert!(format!("{}{}", ran.stdout, ran.stderr).contains(said), "{}", ran.stdout);
        assert_eq!((kept().as_str(), &record(&out)["lost_values"]), (expected, &lost), "{order}");
    }
    ran(&["--id-column", "url", "--corpus", "annotate"]);
    let ids = Table::read(&out.join("attributes")).texts("id");
    assert_eq!(ids, ["http://x/5", "a.parquet#1", "http://x/2", "http://x/3", "http://x/4"]);
    assert_eq!((record(&out)["ids"]["missing"].as_u64(), &record(&out)["lost_values"]), (Some(1), &lost));
    ran(&["--source-column", "url"]);
    assert_eq!((record(&out)["lost_values"].clone(), Table::read(&out.join("removed")).len()), (lost.clone(), 4));
    ran(&["--scope", "within:url"]);
    assert_eq!(record(&out)["lost_values"], lost);
    let flags = folder.path().join("flags");
    let stream =
        |more: &[&str]| program().arg("stream").arg(&path).arg("--out").arg(&flags).args(more).output().unwrap();
    Ran::of(stream(&["--keys", "100", "--id-column", "url"])).ends_with(0);
    assert!(record(&flags)["warnings"].to_string().contains("1 value is not UTF-8"), "{}", record(&flags)["warnings"]);
    assert_eq!(Table::read(&flags.join("flags")).texts("id")[1], "a.parquet#1");
    // A title is not part of the text, so a bad title does not cause a row to be rejected.
    columns.push(("title", bytes(&[b"t", b"\xFF", b"t", b"t", b"t"])));
    write_strings(&path, &columns, plain());
    run(&[&path], &out, &["--algorithms", "core_words", "--overwrite"]).ends_with(0);
    assert_eq!(record(&out)["lost_values"]["title"]["not UTF-8"], 1);
}

#[test]
fn times_of_a_named_zone_and_days_out_of_range_cost_no_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let times = TimestampMicrosecondArray::from(vec![0, 3_000_000, 2_000_000]).with_timezone("UTC");
    let days = Date32Array::from(vec![1, i32::MAX, 2]);
    let columns: [(&str, ArrayRef); 3] =
        [("text", strings(&[TEXT; 3])), ("time", Arc::new(times)), ("day", Arc::new(days))];
    write_columns(&path, &columns, 9);
    let out = folder.path().join("out");
    let ran =
        |more: &[&str]| run(&[&path], &out, &[&["--algorithms", "exact", "--overwrite"], more].concat()).ends_with(0);
    let lost = serde_json::json!({"day": {"out of range": 1}});
    for column in ["time", "day"] {
        // `--keep` compares the stored numbers, so no value is lost.
        ran(&["--keep", &format!("{column} desc")]);
        assert_eq!(Table::read(&out.join("removed")).texts("kept_id")[0], "a.parquet#1", "{column}");
        assert!(record(&out)["lost_values"].as_object().is_none_or(serde_json::Map::is_empty), "{column}");
        let lost = if column == "day" { lost.clone() } else { serde_json::json!({}) };
        let lost_values = || Some(record(&out)["lost_values"].clone()).filter(|lost| !lost.is_null());
        ran(&["--scope", &format!("within:{column}")]);
        assert_eq!(lost_values().unwrap_or(serde_json::json!({})), lost, "{column}");
        ran(&["--source-column", column, "--guard-rows", "1", "--max-removed-share", "1"]);
        assert_eq!(lost_values().unwrap_or(serde_json::json!({})), lost, "{column}");
        let sources = record(&out)["sources"].clone();
        assert_eq!(sources[0]["source"], if column == "day" { "1970-01-02" } else { "1970-01-01T00:00:00Z" });
        ran(&["--text-column", &format!("text,{column}")]);
        assert_eq!(lost_values().unwrap_or(serde_json::json!({})), lost, "{column}");
    }
}

#[test]
fn a_label_that_is_not_utf8_rejects_its_page() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let columns = [
        ("html", strings(&["<p>one page of words</p>", "<p>another page of words</p>", "<p>a third page</p>"])),
        ("label", bytes(&[b"news", b"caf\xE9", b"shop"])),
    ];
    write_strings(&path, &columns, plain());
    let out = folder.path().join("model");
    let said = program()
        .args(["purify", "--html-column", "html", "--train", "label", "--out"])
        .arg(&out)
        .arg(&path)
        .output()
        .unwrap();
    Ran::of(said).ends_with(3);
    let rejected = Table::read(&out.join("rejected"));
    assert_eq!(rejected.texts("reason"), ["not UTF-8"]);
    assert_eq!(rejected.texts("detail"), ["byte 3 of column \"label\" is invalid"]);
}

#[test]
fn pages_in_a_column_of_strings_may_be_in_any_charset() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let page =
        |text: &str| format!("<html><head><meta charset=\"windows-1251\"></head><body><p>{text}</p></body></html>");
    let (page, text) =
        (page("@"), "Городской совет собрался во вторник вечером, чтобы обсудить старый мост через реку.");
    let (before, behind) = page.split_once('@').unwrap();
    let in_1251: Vec<u8> = text
        .chars()
        .map(|sign| match sign as u32 {
            plain @ 0..128 => plain as u8,
            letter => (letter - 0x410 + 0xC0) as u8,
        })
        .collect();
    let page = [before.as_bytes(), &in_1251, behind.as_bytes()].concat();
    let urls = bytes(&[b"http://x/1", b"http://x/\xFF"]);
    write_strings(&path, &[("page", bytes(&[&page, &page])), ("url", urls)], plain());
    let out = folder.path().join("out");
    run(&[&path], &out, &["--html-column", "page", "--algorithms", "exact"]).ends_with(0);
    assert_eq!(record(&out)["documents"]["used"], 2);
    assert_eq!(Table::read(&out.join("removed")).len(), 1);
    let purified = folder.path().join("pages");
    let purify = program()
        .arg("purify")
        .arg(&path)
        .arg("--out")
        .arg(&purified)
        .args(["--html-column", "page", "--keep-html"])
        .output();
    Ran::of(purify.unwrap()).ends_with(0);
    let pages = Table::read(&purified.join("pages"));
    assert!(
        pages.texts("page_body").iter().all(|body| body.contains("Городской совет")),
        "{:?}",
        pages.texts("page_body")
    );
    assert_eq!(
        (pages.texts("url"), pages.texts("page")),
        (vec!["http://x/1".into(), "null".into()], vec!["null".to_owned(); 2])
    );
    let warnings = record(&purified)["warnings"].to_string();
    assert!(warnings.contains("url") && warnings.contains("page"), "{warnings}");
}

#[test]
fn every_verb_reads_a_corpus_with_a_value_that_is_not_utf8() {
    let folder = tempfile::tempdir().unwrap();
    let (docs, out) = (folder.path().join("docs"), folder.path().join("out"));
    let texts = broken_texts();
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..240));
    let text = bytes(&texts.iter().map(Vec::as_slice).collect::<Vec<_>>());
    write_strings(&docs.join("a.parquet"), &[("id", ids), ("text", text)], plain());
    run(&[&docs], &out, &["--algorithms", "exact"]).ends_with(3);
    let verb = |verb: &[&str]| {
        let output = program().args(verb).output().unwrap();
        let output = Ran::of(output);
        assert!([0, 3].contains(&output.code), "{verb:?}: {}{}", output.stdout, output.stderr);
        output.stdout
    };
    let out = out.to_str().unwrap();
    assert!(verb(&["explain", out, "239"]).contains("was removed in favor of "));
    verb(&["report", out]);
    let truth = folder.path().join("truth.jsonl");
    std::fs::write(&truth, "{\"id_a\": 0, \"id_b\": 239}\n").unwrap();
    verb(&["evaluate", out, "--truth", truth.to_str().unwrap()]);
    let compared = folder.path().join("compared");
    verb(&["compare", docs.to_str().unwrap(), "--algorithms", "exact", "--out", compared.to_str().unwrap()]);
    let (mine, referred) = (folder.path().join("mine.jsonl"), folder.path().join("referred"));
    std::fs::write(&mine, format!("{{\"id\": \"m\", \"text\": \"{TEXT}, text 100\"}}\n")).unwrap();
    let ran = run(
        &[&mine],
        &referred,
        &["--reference", docs.to_str().unwrap(), "--algorithms", "exact", "--max-removed-share", "1"],
    );
    assert!([0, 3].contains(&ran.code), "{}", ran.stderr);
    assert_eq!(Table::read(&referred.join("removed")).texts("id"), ["m"]);
}

#[test]
fn tables_with_a_row_for_every_row_name_the_rows_whose_id_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let out = folder.path().join("out");
    let stream = |out: &Path| {
        let mut command = program();
        command.arg("stream").arg(&path).arg("--out").arg(out).args([
            "--keys",
            "100",
            "--overwrite",
            "--max-rejected-share",
            "1",
        ]);
        Ran::of(command.output().unwrap()).ends_with(3);
        Table::read(&out.join("flags"))
    };
    let lines =
        |torn: &str| format!("{{\"id\":1,\"text\":\"first text\"}}\n{{\"id\":2,\"text\":\"first text\"}}\n{torn}\n");
    let annotate = ["--algorithms", "exact", "--corpus", "annotate", "--overwrite", "--max-rejected-share", "1"];
    for (torn, third) in [
        ("{\"id\":3,\"text\":\"torn", "a.jsonl#2"),
        ("{\"id\":3,\"text\":7}", "3"),
        ("{\"id\":1.5,\"text\":\"\"}", "a.jsonl#2"),
        ("{\"id\":\"x\",\"text\":7}", "x"),
        ("[]", "a.jsonl#2"),
    ] {
        std::fs::write(&path, lines(torn)).unwrap();
        run(&[&path], &out, &annotate).ends_with(3);
        let marks = Table::read(&out.join("attributes"));
        assert_eq!(marks.texts("id"), ["1", "2", third], "{torn}");
        assert_eq!(marks.texts("kept_id"), ["1", "1", third], "{torn}");
        assert_eq!(Table::read(&out.join("removed")).texts("id"), ["2"], "{torn}");
        assert_eq!(Table::read(&out.join("rejected")).texts("id"), [third], "{torn}");
        let flags = stream(&folder.path().join("flags"));
        assert_eq!(
            (flags.texts("id"), flags.flags_or_null("duplicate")),
            (vec!["1".into(), "2".into(), third.to_owned()], vec![Some(false), Some(true), None]),
            "{torn}"
        );
    }
    // Without `attributes/`, the row is mentioned only in `rejected/`, and the ids of the other rows are still numbers.
    std::fs::write(&path, lines("torn")).unwrap();
    run(&[&path], &out, &["--algorithms", "exact", "--overwrite"]).ends_with(3);
    assert_eq!(Table::read(&out.join("removed")).numbers("id"), [2]);
    assert_eq!(record(&out)["ids"]["missing"], 0);
    // The same is true if the saved state of the first pass is reused with `attributes/`.
    run(&[&path], &out, &annotate).ends_with(3);
    assert_eq!(
        (Table::read(&out.join("removed")).texts("id"), record(&out)["ids"]["missing"].as_u64()),
        (vec!["2".to_owned()], Some(1))
    );
    // Tests a corpus without usable rows.
    std::fs::write(&path, "torn\n{\"id\":7,\"text\":null}\n").unwrap();
    // A guard fires, which would hold the result back if there were an earlier result.
    let nothing = folder.path().join("nothing");
    run(&[&path], &nothing, &annotate).ends_with(3);
    assert_eq!(Table::read(&nothing.join("attributes")).texts("id"), ["a.jsonl#0", "7"]);
    assert_eq!(stream(&folder.path().join("no flags")).texts("id"), ["a.jsonl#0", "7"]);
    // Tests ids of several types, in files of several formats.
    let docs = folder.path().join("docs");
    std::fs::create_dir(&docs).unwrap();
    std::fs::write(docs.join("a.jsonl"), lines("torn")).unwrap();
    write_columns(
        &docs.join("b.parquet"),
        &[("id", Arc::new(UInt64Array::from(vec![u64::MAX]))), ("text", strings(&["b"]))],
        9,
    );
    write_columns(&docs.join("c.parquet"), &[("id", bytes(&[b"\xFF"])), ("text", strings(&["c"]))], 9);
    std::fs::write(docs.join("d.csv"), "id,text\n007,d\n").unwrap();
    run(&[&docs], &out, &annotate).ends_with(3);
    assert_eq!(
        Table::read(&out.join("attributes")).texts("id"),
        ["1", "2", "a.jsonl#2", "18446744073709551615", "0xff", "007"]
    );
}

#[test]
fn a_later_batch_with_a_row_that_cannot_be_read_marks_every_row() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("one.jsonl"), "{\"id\":1,\"text\":\"first text\"}\n{\"id\":2,\"text\":\"second text\"}\n")
        .unwrap();
    std::fs::write(at("two.jsonl"), "{\"id\":3,\"text\":\"first text\"}\ntorn\n").unwrap();
    std::fs::write(at("three.jsonl"), "{\"id\":\"c\",\"text\":\"second text\"}\ntorn\n").unwrap();
    let index = at("index");
    let more = [
        "--algorithms",
        "exact",
        "--corpus",
        "annotate",
        "--index",
        index.to_str().unwrap(),
        "--max-rejected-share",
        "1",
        "--max-removed-share",
        "1",
    ];
    run(&[&at("one.jsonl")], &at("out1"), &more).ends_with(0);
    for (batch, id, kept) in [("two", "3", "1"), ("three", "c", "2")] {
        let out = at(&format!("out-{batch}"));
        let ran = run(&[&at(&format!("{batch}.jsonl"))], &out, &more);
        assert!([0, 3].contains(&ran.code), "{}", ran.stderr);
        let marks = Table::read(&out.join("attributes"));
        assert_eq!(marks.texts("id"), [id.to_owned(), format!("{batch}.jsonl#1")]);
        assert_eq!(marks.texts("kept_id"), [kept.to_owned(), format!("{batch}.jsonl#1")]);
    }
}

/// Runs the program on rows with the same text. Returns the row that is kept according to the column, and the counted losses.
fn kept_by(folder: &Path, order: &str, input: &Path, more: &[&str]) -> (String, serde_json::Value) {
    let out = folder.join("out");
    let more = [&["--algorithms", "exact", "--overwrite", "--keep", order, "--max-removed-share", "1"], more].concat();
    run(&[input], &out, &more).ends_with(0);
    let kept = Table::read(&out.join("removed")).texts("kept_id");
    assert!(kept.iter().all(|id| *id == kept[0]));
    (kept[0].clone(), record(&out)["lost_values"].clone())
}

#[test]
fn numbers_of_keep_compare_as_numbers_and_the_rest_comes_last() {
    let folder = tempfile::tempdir().unwrap();
    let null = serde_json::Value::Null;
    let lost = |values: u64| serde_json::json!({"q": {"not a number": values}});
    let cases: &[(&[&str], &str, &str, serde_json::Value)] = &[
        (&["10", "9", "100"], "100", "9", null.clone()),
        (&["10", "9", "100", "-"], "100", "9", lost(1)),
        (&["-", "10", "9", "n/a", "100"], "100", "9", lost(2)),
        (&["10", "9", "1e2"], "1e2", "9", null.clone()),
        (&["10", "9", "+100"], "+100", "9", null.clone()),
        (&["10", "9", "007"], "10", "007", null.clone()),
        (&["10", "9", " 100"], " 100", "9", null.clone()),
        (&["10", "9", "1_000"], "10", "9", lost(1)),
        (&["10", "NaN", "9"], "10", "9", null.clone()),
        (&["10", "inf", "-inf", "9"], "inf", "-inf", null.clone()),
        (
            &["9007199254740993", "9007199254740992", "9007199254740993.5"],
            "9007199254740993.5",
            "9007199254740992",
            null.clone(),
        ),
        (&["true", "false"], "true", "false", null.clone()),
        // String columns are compared as strings, even if individual values look like numbers or dates.
        (&["2024-01-02", "2023-05-06", "2023"], "2024-01-02", "2023", null.clone()),
        (&["b", "a", "9", "10", "c"], "c", "10", null),
    ];
    for (values, best, least, lost) in cases {
        let csv = folder.path().join("k.csv");
        let rows: String = values.iter().enumerate().map(|(at, value)| format!("v{at},{TEXT},{value}\n")).collect();
        std::fs::write(&csv, format!("id,text,q\n{rows}")).unwrap();
        let json = folder.path().join("k.jsonl");
        let row = |(at, value): (usize, &&str)| {
            format!("{}\n", serde_json::json!({"id": format!("v{at}"), "text": TEXT, "q": value}))
        };
        std::fs::write(&json, values.iter().enumerate().map(row).collect::<String>()).unwrap();
        let parquet = folder.path().join("k.parquet");
        let ids: Vec<String> = (0..values.len()).map(|at| format!("v{at}")).collect();
        let columns = [
            ("id", strings(&ids.iter().map(String::as_str).collect::<Vec<_>>())),
            ("text", strings(&vec![TEXT; values.len()])),
            ("q", strings(values)),
        ];
        write_columns(&parquet, &columns, 2);
        let id = |value: &str| format!("v{}", values.iter().position(|one| *one == value).unwrap());
        for input in [&csv, &json, &parquet] {
            assert_eq!(
                kept_by(folder.path(), "q desc", input, &[]),
                (id(best), lost.clone()),
                "{values:?} {}",
                input.display()
            );
            assert_eq!(
                kept_by(folder.path(), "q asc", input, &[]),
                (id(least), lost.clone()),
                "{values:?} {}",
                input.display()
            );
        }
    }
}

#[test]
fn values_of_many_types_compare_over_all_files() {
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs");
    std::fs::create_dir(&docs).unwrap();
    let line = |id: &str, value: &str| format!("{{\"id\":\"{id}\",\"text\":\"{TEXT}\",\"q\":{value}}}\n");
    let lines = [
        line("j9", "9"),
        line("j10", "\"10\""),
        line("j100", "100"),
        line("jnull", "null"),
        line("jlist", "[1]"),
        line("jtext", "\"-\""),
    ];
    std::fs::write(docs.join("a.jsonl"), lines.concat()).unwrap();
    let write = |name: &str, ids: &[&str], values: ArrayRef| {
        let columns = [("id", strings(ids)), ("text", strings(&vec![TEXT; ids.len()])), ("q", values)];
        write_columns(&docs.join(name), &columns, 9);
    };
    let kept = |order: &str| kept_by(folder.path(), order, &docs, &[]);
    let lost = serde_json::json!({"q": {"not a number": 1}});
    assert_eq!(kept("q desc"), ("j100".to_owned(), lost.clone()));
    assert_eq!(kept("q asc"), ("j9".to_owned(), lost.clone()));
    write("b.parquet", &["i", "large"], Arc::new(Int64Array::from(vec![(1 << 53) + 1, 5])));
    write("c.parquet", &["f", "small"], Arc::new(Float64Array::from(vec![(1i64 << 53) as f64, -0.5])));
    assert_eq!((kept("q desc").0, kept("q asc").0), ("i".to_owned(), "small".to_owned()));
    let decimals = Decimal128Array::from(vec![900_719_925_474_099_350, -60]).with_precision_and_scale(20, 2).unwrap();
    write("d.parquet", &["d", "least"], Arc::new(decimals));
    write("e.parquet", &["t", "u"], Arc::new(BooleanArray::from(vec![true, false])));
    assert_eq!((kept("q desc").0, kept("q asc").0), ("d".to_owned(), "least".to_owned()));
    write("f.parquet", &["n"], new_null_array(&DataType::Int64, 1));
    // The result is the same if the order of the files or the number of threads is different.
    std::fs::rename(docs.join("a.jsonl"), docs.join("z.jsonl")).unwrap();
    for threads in ["1", "4"] {
        assert_eq!(kept_by(folder.path(), "q asc", &docs, &["--threads", threads]), ("least".to_owned(), lost.clone()));
    }
}

#[test]
fn a_column_compares_alike_however_it_is_cut_and_over_saved_state() {
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs");
    std::fs::create_dir(&docs).unwrap();
    // In every eleventh block of 100 rows, the values are not numbers. Rows 2n and 2n + 1 are copies.
    let value = |row: usize| if row / 100 % 11 == 5 { format!("x{row}") } else { format!("{}", row * 7919 % 5000) };
    let line = |row: usize| {
        let quoted = if row.is_multiple_of(3) { value(row) } else { format!("\"{}\"", value(row)) };
        let quoted = if quoted.starts_with('x') { format!("\"{quoted}\"") } else { quoted };
        format!("{{\"id\":{row},\"text\":\"{TEXT} {}\",\"q\":{quoted}}}\n", row / 2)
    };
    std::fs::write(docs.join("a.jsonl"), (0..3000).map(line).collect::<String>()).unwrap();
    let rows: String = (3000..6000).map(|row| format!("{row},{TEXT} {},{}\n", row / 2, value(row))).collect();
    std::fs::write(docs.join("b.csv"), format!("id,text,q\n{rows}")).unwrap();
    let order = ["--algorithms", "exact", "--keep", "q desc", "--max-removed-share", "1"];
    let at = |name: &str| folder.path().join(name);
    run(&[&docs], &at("one"), &[&order[..], &["--threads", "1"]].concat()).ends_with(0);
    let removed = Table::read(&at("one/removed"));
    let number = |row: usize| value(row).parse::<i64>().ok();
    let expected: Vec<String> = (0..3000)
        .map(|pair| (2 * pair, 2 * pair + 1))
        .map(|(a, b)| if number(a) >= number(b) { b.to_string() } else { a.to_string() })
        .collect();
    assert_eq!(removed.texts("id"), expected);
    run(&[&docs], &at("many"), &[&order[..], &["--threads", "3", "--memory", "64MiB"]].concat()).ends_with(0);
    crate::kit::assert_same_bytes(&at("one"), &at("many"), "threads");
    let columns = record(&at("one"))["removal"]["keep_columns"].clone();
    assert_eq!(columns, serde_json::json!({"q": "numbers"}));
}
