//! Tests folders that contain more than the corpus: data in other formats, caches, and tables of which only some files count.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};

use crate::kit::{Ran, program, record, removed_ids, run};

fn put(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn row(id: &str, text: &str) -> String {
    format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n")
}

const KEEPER: &str = "Why did the old keeper paint the northern door green before the storms came to the island?";

#[test]
fn data_in_a_format_that_is_not_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = folder.path().join("corpus");
    put(&corpus, "a.jsonl", row("1", "One text.") + &row("2", "Another text."));
    put(&corpus, "README.md", "About the corpus.");
    let out = folder.path().join("before");
    run(&[&corpus], &out, &["--algorithms", "exact"]).ends_with(0);
    put(&corpus, "d/b.jsonl.bz2", "BZh91AY&SY");
    put(&corpus, "c.orc", "ORC");
    let out = folder.path().join("out");
    let ran = run(&[&corpus], &out, &["--algorithms", "exact", "--corpus", "keep"]).ends_with(3);
    for line in ["skipped: c.orc: ORC is not read", "skipped: d/b.jsonl.bz2: its compression is not read"] {
        assert!(ran.stdout.contains(line), "{}", ran.stdout);
    }
    assert_eq!(record(&out)["unread"], serde_json::json!({".md": 1}));
    let strict = folder.path().join("strict");
    run(&[&corpus], &strict, &["--algorithms", "exact", "--strict"]).ends_with(1).says(&["c.orc: ORC is not read"]);
    // A pattern that does not match these files does not name them.
    let lines = corpus.join("*.jsonl");
    run(&[&lines], &folder.path().join("lines"), &["--algorithms", "exact"]).ends_with(0);
}

#[test]
fn data_of_a_reference_or_an_evaluation_set_that_is_not_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    put(folder.path(), "corpus.jsonl", row("1", KEEPER) + &row("2", "Another text stands here."));
    put(
        folder.path(),
        "exam/a.jsonl",
        "{\"id\": 1, \"question\": \"Which of the two rivers is longer than the other one?\"}\n",
    );
    put(folder.path(), "exam/b.avro", "Obj\x01");
    let against = |exam: &str, out: &str| {
        let mut command = program();
        command.arg("contaminated").arg(at("corpus.jsonl")).arg("--against").arg(at(exam)).arg("--out").arg(at(out));
        Ran::of(command.output().unwrap())
    };
    let ran = against("exam", "out").ends_with(3);
    assert!(ran.stdout.contains("skipped: b.avro: Avro is not read"), "{}", ran.stdout);
    // An array of items is read.
    put(folder.path(), "array/a.json", format!("[\n{{\"id\": 1, \"question\": \"{KEEPER}\"}}\n]\n"));
    let ran = against("array", "found").ends_with(0);
    assert!(ran.stdout.contains("1 of 2 documents contaminated"), "{}", ran.stdout);
    put(folder.path(), "reference/a.jsonl", row("r", "Something else."));
    put(folder.path(), "reference/b.csv.xz", "\u{fffd}");
    let reference = at("reference");
    let more = ["--algorithms", "exact", "--reference", reference.to_str().unwrap()];
    run(&[&at("corpus.jsonl")], &at("with"), &more).ends_with(3).says(&["b.csv.xz: its compression is not read"]);
}

#[test]
fn a_saved_dataset_is_read_without_its_caches() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("saved");
    let texts = |n: usize| format!("text number {} of the dataset", n % 40);
    for (name, rows) in [("data-00000-of-00001.arrow", 0..44), ("cache-0123456789abcdef.arrow", 0..44)] {
        let column = |value: &dyn Fn(usize) -> String| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(rows.clone().map(value)))
        };
        let id = column(&|n| format!("r{n}"));
        let batch = RecordBatch::try_from_iter([("id", id), ("text", column(&texts))]).unwrap();
        let mut bytes = Vec::new();
        let mut writer = arrow::ipc::writer::StreamWriter::try_new(&mut bytes, &batch.schema()).unwrap();
        writer.write(&batch).and_then(|()| writer.finish()).unwrap();
        drop(writer);
        put(&saved, &format!("train/{name}"), bytes);
    }
    put(&saved, "dataset_dict.json", "{\"splits\": [\"train\"]}");
    put(&saved, "train/dataset_info.json", "{\n  \"features\": {}\n}");
    let state = "{\n  \"_data_files\": [\n    {\n      \"filename\": \"data-00000-of-00001.arrow\"\n    }\n  ]\n}";
    put(&saved, "train/state.json", state);
    let out = folder.path().join("out");
    run(&[&saved], &out, &["--algorithms", "exact"]).ends_with(0).says(&["cache-0123456789abcdef.arrow is not read"]);
    assert_eq!(record(&out)["documents"]["used"], 44);
    assert_eq!(removed_ids(&out), ["r40", "r41", "r42", "r43"]);
}

#[test]
fn a_table_with_a_log_is_refused_by_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    put(folder.path(), "sales/_delta_log/00000000000000000000.json", "{}");
    put(folder.path(), "sales/part-0.jsonl", row("1", "One text."));
    put(folder.path(), "ice/metadata/v1.metadata.json", "{}");
    put(folder.path(), "ice/data/part-0.jsonl", row("1", "One text."));
    put(folder.path(), "corpus.jsonl", row("1", "One text."));
    let said = ["is a Delta table", "duckdb -c \"COPY (FROM delta_scan('"];
    run(&[&at("sales")], &at("out"), &["--algorithms", "exact"]).ends_with(2).says(&said);
    run(&[&at("ice")], &at("out"), &["--algorithms", "exact"])
        .ends_with(2)
        .says(&["is an Iceberg table", "iceberg_scan('"]);
    let reference = at("sales");
    let more = ["--algorithms", "exact", "--reference", reference.to_str().unwrap()];
    run(&[&at("corpus.jsonl")], &at("out"), &more).ends_with(2).says(&said);
    assert!(!at("out").exists());
}

/// Checks that the hints about the encoding and the separator do not depend on whether the name of the column is typed.
#[test]
fn hints_are_the_same_for_a_column_that_is_typed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    put(folder.path(), "a.csv", "id;text\n1;x\n");
    put(folder.path(), "b.csv", &encoding_rs::GBK.encode("编号,正文\n1,猫\n").0);
    put(folder.path(), "c.csv", "id,text\n1,x\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>());
    put(folder.path(), "d.csv", "id,text\r1,x\r2,y\r");
    for (name, column, said) in [
        ("a.csv", "text", "try `--separator ';'`"),
        ("b.csv", "正文", "the column names are not UTF-8 from byte 0 on; use `--encoding auto`"),
        ("c.csv", "text", "it looks like UTF-16; try `--encoding auto`"),
        ("d.csv", "text", "carriage return without a line feed"),
    ] {
        for more in [&["--text-column", column][..], &["--text-column", column, "--id-column", "no"], &[]] {
            let ran = run(&[&at(name)], &at("out"), more).ends_with(2).says(&[said]);
            assert!(!ran.stderr.contains(['\0', '\u{FFFD}']) && !ran.stderr.contains("\\u{"), "{}", ran.stderr);
        }
    }
}

#[test]
fn a_key_without_a_direction_says_what_it_keeps() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.jsonl");
    std::fs::write(&file, "{\"text\":\"x\",\"date\":\"2024\"}\n{\"text\":\"x\",\"date\":\"2023\"}\n").unwrap();
    let said = "keeps the smallest value, such as the oldest date";
    for (keep, says) in [("date", true), ("date asc", false), ("date desc", false)] {
        let out = folder.path().join(keep);
        let ran = run(&[&file], &out, &["--algorithms", "exact", "--keep", keep]).ends_with(0);
        assert_eq!(ran.stdout.contains(said), says, "{}", ran.stdout);
        assert_eq!(removed_ids(&out).len(), 1);
    }
}
