//! Tests the selection of columns by name: missing columns, columns inside structs and objects, and columns in folder names.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, ListArray, StringArray, StructArray, types::Int32Type};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{Field, Fields};

use crate::kit::{
    Doc, Ran, Table, assert_same_bytes, done, ended, json_lines, made_docs, program, python, record, removed_ids, run,
    write_columns, write_docs,
};

fn verb(verb: &[&str], input: &Path, out: &Path, more: &[&str]) -> Ran {
    let mut command = program();
    command.args(verb).arg(input).arg("--out").arg(out).args(["--no-progress", "--threads", "2"]).args(more);
    Ran::of(command.output().unwrap())
}

#[test]
fn a_column_that_no_file_has_is_an_error_in_every_verb() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let docs = made_docs(20);
    let (parquet, lines) = (folder.path().join("a.parquet"), folder.path().join("a.jsonl"));
    write_docs(&parquet, &docs, 100);
    std::fs::write(&lines, json_lines(&docs)).unwrap();
    let options = [
        ("--url-column", "idd"),
        ("--content-type-column", "idd"),
        ("--title-column", "idd"),
        ("--keywords-column", "idd"),
        ("--description-column", "idd"),
        ("--keep", "idd desc"),
    ];
    for input in [&parquet, &lines] {
        for verb_of in [&["run"][..], &["compare", "--algorithms", "exact,tf"], &["stream"]] {
            for (option, value) in options {
                let ran = verb(verb_of, input, &out, &[option, value]).ends_with(2);
                ran.says(&[
                    &format!("`{option}`"),
                    "names the column \"idd\", which no input file has; available: id",
                    "did you mean \"id\"?",
                ]);
            }
        }
        let purify = |more: &[&str]| verb(&["purify", "--html-column", "text"], input, &out, more).ends_with(2);
        purify(&["--url-column", "idd"]).says(&["`--url-column", "\"idd\"", "did you mean \"id\"?"]);
        purify(&["--train", "idd"]).says(&["`--train", "\"idd\"", "did you mean \"id\"?"]);
        purify(&["--columns", "idd"]).says(&["`--columns", "\"idd\"", "did you mean \"id\"?"]);
    }
    assert!(!out.exists());
    // A missing column is not an error if its name is a default that was not given explicitly, or if at least one file has the column.
    run(&[&parquet], &out, &["--keep", "id desc", "--url-column", "id"]).ends_with(0);
    let only_lines = Doc { id: "x".into(), text: "some words of a text".into(), title: Some("t".into()) };
    std::fs::write(&lines, json_lines(&[only_lines])).unwrap();
    let done = done(folder.path().join("a.*").as_path(), &["--title-column", "title", "--url-column", "title"]);
    for verb in ["report", "evaluate"] {
        let mut command = program();
        command.arg(verb).arg(done.out());
        if verb == "evaluate" {
            let truth = folder.path().join("truth.jsonl");
            std::fs::write(&truth, "{\"id_a\": \"d0\", \"id_b\": \"d1\"}\n").unwrap();
            command.arg("--truth").arg(truth);
        }
        Ran::of(command.output().unwrap()).ends_with(0);
    }
}

/// Returns documents in structs. Some rows have no struct, and some structs have no value.
fn nested(docs: &[Doc]) -> Vec<(&'static str, ArrayRef)> {
    let texts = docs.iter().enumerate().map(|(at, doc)| (at % 11 != 3).then_some(doc.text.as_str()));
    let texts: ArrayRef = Arc::new(texts.collect::<StringArray>());
    let score: ArrayRef = Arc::new(Int64Array::from_iter_values((0..docs.len() as i64).map(|at| at * 7 % 13)));
    let ids: ArrayRef = Arc::new(StringArray::from_iter_values(docs.iter().map(|doc| &doc.id)));
    let field = |name: &str, array: &ArrayRef| Field::new(name, array.data_type().clone(), array.is_nullable());
    let meta = Fields::from(vec![field("score", &score), field("id", &ids)]);
    let meta: ArrayRef = Arc::new(StructArray::new(meta, vec![score, ids], None));
    let there: NullBuffer = (0..docs.len()).map(|at| at % 7 != 5).collect();
    let inside = Fields::from(vec![field("meta", &meta), field("text", &texts)]);
    let doc: ArrayRef = Arc::new(StructArray::new(inside, vec![meta, texts], Some(there)));
    let tags: ArrayRef =
        Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(docs.iter().map(|_| Some([Some(1)]))));
    vec![("tags", tags), ("doc", doc)]
}

/// Returns the same columns as [`nested`], but without structs.
fn plain(docs: &[Doc]) -> Vec<(&'static str, ArrayRef)> {
    let here = |at: usize| at % 7 != 5;
    let texts = docs.iter().enumerate().map(|(at, doc)| (here(at) && at % 11 != 3).then_some(doc.text.as_str()));
    let ids = docs.iter().enumerate().map(|(at, doc)| here(at).then_some(doc.id.as_str()));
    let score = (0..docs.len()).map(|at| here(at).then_some(at as i64 * 7 % 13));
    vec![
        ("text", Arc::new(texts.collect::<StringArray>())),
        ("id", Arc::new(ids.collect::<StringArray>())),
        ("doc.meta.score", Arc::new(score.collect::<Int64Array>())),
    ]
}

/// Returns the same rows as [`nested`], as JSON lines.
fn nested_lines(docs: &[Doc]) -> String {
    let line = |(at, doc): (usize, &Doc)| {
        if at % 7 == 5 {
            return [r#"{"doc":null}"#, "{}"][at % 2].to_string() + "\n";
        }
        let mut fields = serde_json::json!({"meta": {"score": at * 7 % 13, "id": doc.id}});
        if at % 11 != 3 {
            fields["text"] = doc.text.as_str().into();
        }
        serde_json::json!({ "tags": [1], "doc": fields }).to_string() + "\n"
    };
    docs.iter().enumerate().map(line).collect()
}

const BY_PATH: [&str; 6] = ["--text-column", "doc.text", "--id-column", "doc.meta.id", "--keep", "doc.meta.score desc"];

#[test]
fn columns_in_structs_are_read_by_their_paths() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| {
        std::fs::create_dir_all(folder.path().join(name)).unwrap();
        folder.path().join(name).join("a.parquet")
    };
    let docs = made_docs(1_500);
    write_columns(&at("plain"), &plain(&docs), 200);
    write_columns(&at("nested"), &nested(&docs), 200);
    let lines = at("lines").with_extension("jsonl");
    std::fs::write(&lines, nested_lines(&docs)).unwrap();
    let algorithms = ["--algorithms", "exact,minhash,tf_idf,cosine"];
    let expected = ended(&at("plain"), &[&algorithms[..], &["--keep", "doc.meta.score desc"]].concat(), 3);
    let rejected = record(&expected.out())["documents"]["rejected"].as_u64();
    assert!(rejected > Some(300));
    for input in [at("nested"), lines] {
        let by_path = ended(&input, &[&algorithms[..], &BY_PATH].concat(), 3);
        // The generated ids of rows without an id contain the file name, so the bytes are equal only if the file names are equal.
        if input.extension() == at("plain").extension() {
            assert_same_bytes(&by_path.out(), &expected.out(), "columns in structs");
        }
        let numbers = |out: &Path| Table::read(&out.join("removed")).numbers("doc");
        assert_eq!(numbers(&by_path.out()), numbers(&expected.out()));
        assert_eq!(record(&by_path.out())["documents"]["rejected"].as_u64(), rejected);
    }
}

#[test]
fn paths_stand_in_messages_and_lists_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("a.parquet"), folder.path().join("out"));
    let docs = made_docs(10);
    write_columns(&file, &nested(&docs), 10);
    let ran = run(&[&file], &out, &[]).ends_with(2);
    ran.says(&["tags (a list)", "doc.text (Utf8)", "doc.meta.score (Int64)", "try `--text-column doc.text`"]);
    let text = ["--text-column", "doc.text"];
    let fails = |more: &[&str]| run(&[&file], &out, &[&text[..], more].concat()).ends_with(2);
    fails(&["--keep", "tags desc"])
        .says(&["`--keep` names the column \"tags\", which is a list; expected a plain column"]);
    fails(&["--keep", "doc.meta desc"])
        .says(&["\"doc.meta\", which no input file has", "did you mean \"doc.meta.score\"?"]);
    fails(&["--id-column", "tags"]).says(&["column \"tags\" is a list", "try `--id-column doc.meta.id`"]);
    run(&[&file], &out, &["--text-column", "tags"])
        .ends_with(2)
        .says(&["\"tags\" is a list", "try `--text-column doc.text`"]);
    // A column whose own name contains a dot takes precedence over a column in a struct.
    let mut columns = nested(&docs);
    columns.push(("doc.text", Arc::new(StringArray::from(vec!["all the same words"; 10]))));
    write_columns(&file, &columns, 10);
    run(&[&file], &out, &text).ends_with(0);
    assert_eq!(record(&out)["removal"]["removed"].as_u64(), Some(9));
}

#[test]
fn purify_takes_columns_out_of_structs_where_they_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let docs = made_docs(30);
    write_columns(&folder.path().join("a.parquet"), &nested(&docs), 10);
    std::fs::write(folder.path().join("b.jsonl"), nested_lines(&docs)).unwrap();
    for input in ["a.parquet", "b.jsonl"] {
        let more = ["--columns", "doc.meta.score,doc.meta.id", "--overwrite", "--id-column", "doc.meta.id"];
        verb(&["purify", "--html-column", "doc.text"], &folder.path().join(input), &out, &more).ends_with(3);
        let table = Table::read(&out.join("pages"));
        let used = (0..30usize).filter(|at| at % 7 != 5 && at % 11 != 3);
        let expected: Vec<_> = used.map(|at| (format!("d{at}"), (at * 7 % 13).to_string())).collect();
        let came: Vec<_> = table.texts("doc.meta.id").into_iter().zip(table.texts("doc.meta.score")).collect();
        assert_eq!((came, table.texts("page_id").len()), (expected.clone(), expected.len()), "{input}");
    }
}

/// Runs `tests/hive.py`.
fn hive(arguments: &[&Path], what: &str) -> String {
    Ran::of(python("tests/hive.py").arg(what).args(arguments).output().unwrap()).ends_with(0).stdout
}

#[test]
fn columns_of_folders_are_those_that_pyarrow_and_polars_read() {
    let folder = tempfile::tempdir().unwrap();
    let (docs, out) = (folder.path().join("docs"), folder.path().join("out"));
    hive(&[&docs], "write");
    verb(&["purify", "--html-column", "html"], &docs, &out, &[]).ends_with(0);
    assert_eq!(hive(&[&docs, &out.join("pages")], "check"), "same\n");
    verb(&["purify", "--html-column", "html"], &docs, &out, &["--columns", "n,lang", "--overwrite"]).ends_with(0);
    assert_eq!(Table::read(&out.join("pages")).0.schema().field(0).name(), "lang");
}

#[test]
fn columns_of_folders_decide_what_is_kept_and_name_documents() {
    let folder = tempfile::tempdir().unwrap();
    let (docs, out) = (folder.path().join("docs"), folder.path().join("out"));
    let text = "The quick brown fox jumps over the lazy dog near the old stone bridge.";
    let doc = |id: &str| Doc { id: id.into(), text: text.into(), title: None };
    write_docs(&docs.join("lang=ru/n=3/a.parquet"), &[doc("a")], 10);
    std::fs::create_dir_all(docs.join("lang=en/n=20")).unwrap();
    std::fs::write(docs.join("lang=en/n=20/b.jsonl"), json_lines(&[doc("b")])).unwrap();
    write_docs(&docs.join("lang=en/n=__HIVE_DEFAULT_PARTITION__/c.parquet"), &[doc("c")], 10);
    let removed = |more: &[&str]| {
        run(&[&docs], &out, &[&["--algorithms", "exact", "--overwrite"], more].concat()).ends_with(0);
        removed_ids(&out).concat()
    };
    // Values are compared as numbers: 20 comes before 3, and null comes last.
    assert_eq!(removed(&["--keep", "n desc"]), "ca");
    assert_eq!(removed(&["--keep", "lang desc"]), "bc");
    assert_eq!(removed(&["--id-column", "lang", "--keep", "n asc"]), "enen");
    let fails = |more: &[&str]| run(&[&docs], &out, &[&["--overwrite"], more].concat()).ends_with(2);
    fails(&["--keep", "m desc"]).says(&["`--keep` names the column \"m\""]);
    fails(&["--text-column", "lang"]).says(&["no column \"lang\""]);
    // A finished run is reopened from the paths of its files.
    removed(&["--keep", "lang desc, n desc"]);
    Ran::of(program().arg("report").arg(&out).output().unwrap()).ends_with(0);
    // The column in the file takes precedence, and this is reported.
    let own: ArrayRef = Arc::new(Int64Array::from(vec![100]));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(StringArray::from(vec!["d"]))),
        ("text", Arc::new(StringArray::from(vec![text]))),
        ("n", own),
    ];
    write_columns(&docs.join("n=1/d.parquet"), &columns, 10);
    assert_eq!(removed(&["--keep", "n desc"]), "bca");
    let warnings = record(&out)["warnings"].to_string();
    assert!(
        warnings.contains("column n occurs both in the files and in their folder names (first in n=1/d.parquet)"),
        "{warnings}"
    );
}

#[test]
fn every_codec_of_pyarrow_is_read_and_what_is_encrypted_is_called_so() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    Ran::of(python("tests/codecs.py").arg(folder.path()).output().unwrap()).ends_with(0);
    let ends = |name: &str, code: i32| {
        let file = folder.path().join("x.parquet");
        std::fs::copy(folder.path().join(name), &file).unwrap();
        run(&[&file], &out, &["--algorithms", "exact", "--overwrite"]).ends_with(code)
    };
    for codec in ["none", "snappy", "gzip", "zstd", "brotli", "lz4"] {
        ends(&format!("{codec}.parquet"), 0);
        assert_eq!(record(&out)["removal"]["removed"].as_u64(), Some(20), "{codec}");
    }
    ends("footer.encrypted", 1).says(&["the Parquet file is encrypted; use a decrypted copy"]);
    ends("text.encrypted", 1).says(&["column \"text\" is encrypted; use a decrypted copy of the Parquet file"]);
    // A column may be encrypted if it is not requested.
    ends("note.encrypted", 0);
    // A copy from which rows were removed still has all columns.
    let file = folder.path().join("x.parquet");
    run(&[&file], &out, &["--algorithms", "exact", "--overwrite", "--corpus", "keep"])
        .ends_with(1)
        .says(&["column \"note\" is encrypted; use a decrypted copy of the Parquet file"]);
    // Lempel-Ziv-Oberhumer, a codec that no writer uses, is reported when the file is opened, before a row is read.
    let mut bytes = std::fs::read(folder.path().join("none.parquet")).unwrap();
    let text = b"\x18\x04text\x15\x00";
    let at = bytes.windows(text.len()).rposition(|window| window == text).unwrap();
    bytes[at + text.len() - 1] = 3 << 1;
    std::fs::write(folder.path().join("lzo.parquet"), bytes).unwrap();
    let ran = ends("lzo.parquet", 1).says(&["column \"text\" is compressed with LZO; expected none, Snappy"]);
    assert!(!ran.stderr.contains("starts again"), "{}", ran.stderr);
}

/// A column that probably contains ids is suggested once in the summary, and only if documents have no ids.
#[test]
fn a_column_that_probably_has_ids_is_suggested() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let ran = |input: &str, out: &str, more: &[&str]| {
        run(&[&at(input)], &at(out), &[&["--algorithms", "exact"], more].concat()).ends_with(0).stdout
    };
    let texts = |names: &[&str]| -> ArrayRef { Arc::new(StringArray::from(names.to_vec())) };
    let text = || texts(&["one two three", "four five six"]);
    let lines =
        "{\"url\": \"http://a.org\", \"text\": \"one two\"}\n{\"url\": \"http://b.org\", \"text\": \"three\"}\n";
    std::fs::write(at("a.jsonl"), lines).unwrap();
    std::fs::write(at("b.csv"), "Doc_ID,text\n1,one two\n2,three\n").unwrap();
    write_columns(&at("c.parquet"), &[("text", text()), ("url", text()), ("warc_record_id", text())], 10);
    write_columns(&at("none.parquet"), &[("text", text()), ("score", text())], 10);
    write_columns(&at("id.parquet"), &[("text", text()), ("id", text()), ("url", text())], 10);
    for (input, column) in [("a.jsonl", "url"), ("b.csv", "Doc_ID"), ("c.parquet", "warc_record_id")] {
        let said = format!("\nids are FILE#ROW; `--id-column {column}` uses the column {column:?} instead\n");
        let told = ran(input, input.split('.').next().unwrap(), &[]);
        assert_eq!(told.matches("FILE#ROW").count(), 1, "{told}");
        assert!(told.contains(&said), "{told}");
        // The suggested option works, and the suggestion is then no longer made.
        let told = ran(input, &format!("{column}-used"), &["--id-column", column]);
        assert!(!told.contains("FILE#ROW"), "{told}");
    }
    assert_eq!(record(&at("a"))["ids"]["likely_column"], "url");
    for input in ["none.parquet", "id.parquet"] {
        let told = ran(input, input.split('.').next().unwrap(), &[]);
        assert!(!told.contains("ids are FILE#ROW"), "{told}");
        assert!(record(&at(input.split('.').next().unwrap()))["ids"]["likely_column"].is_null());
    }
}
