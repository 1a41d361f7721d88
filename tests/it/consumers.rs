//! Tests that every table can be read from Python: pyarrow, Polars, DuckDB and pandas all return the same values with the documented types.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, Int32Array, Int64Array, StringArray};

use crate::kit::{ALL, Done, Ran, Table, done, ended, program, python, sample_docs, samples, write_columns};

/// Runs on the first samples with ids of a different type; one text is null, so that `rejected/` has a row.
fn with_ids(folder: &Path, name: &str, ids: ArrayRef) -> Done {
    let file = folder.join(format!("{name}.parquet"));
    let texts = sample_docs().into_iter().take(ids.len()).enumerate().map(|(at, doc)| (at != 5).then_some(doc.text));
    let texts: ArrayRef = Arc::new(texts.collect::<StringArray>());
    write_columns(&file, &[("id", ids), ("text", texts)], 100);
    ended(&file, &["--algorithms", "exact,simhash,minhash"], 3)
}

#[test]
fn python_reads_every_table_alike() {
    let folder = tempfile::tempdir().unwrap();
    let algorithms = format!("{ALL},three_plus_five:max_sentence_df=40,as=no_boilerplate");
    let text_ids = done(samples(), &["--algorithms", &algorithms]);
    assert!(Table::read(&text_ids.out().join("stats/features")).len() > 10);
    let bytes = (0..500u32).map(|n| Some(vec![0xFF, (n >> 8) as u8, n as u8]));
    let runs = [
        ("string", text_ids),
        ("int32", with_ids(folder.path(), "int32", Arc::new(Int32Array::from_iter_values((0..500).map(|n| n - 250))))),
        (
            "int64",
            with_ids(folder.path(), "int64", Arc::new(Int64Array::from_iter_values((0..500).map(|n| i64::MAX - n)))),
        ),
        ("binary", with_ids(folder.path(), "binary", Arc::new(bytes.collect::<BinaryArray>()))),
    ];
    // The check includes the tables of an evaluation.
    let truth = concat!(env!("CARGO_MANIFEST_DIR"), "/data-samples/truth/pairs.parquet");
    let out = runs[0].1.out();
    Ran::of(program().arg("evaluate").arg(out).args(["--truth", truth]).output().unwrap()).ends_with(0);
    let mut command = python("tests/consumers.py");
    for (id_type, run) in &runs {
        command.arg(id_type).arg(run.out());
    }
    let said = Ran::of(command.output().unwrap()).ends_with(0).stdout;
    assert!(said.contains("string: ") && said.contains("evaluation ") && said.contains("versions: "), "{said}");
}

/// Checks that pyarrow, Polars, DuckDB and pandas can read the output of a run with `--cut` in every format. The passages must be
/// missing from the texts, and all other columns must be unchanged.
#[test]
fn python_reads_texts_without_passages() {
    use arrow::array::builder::{ListBuilder, StringBuilder};
    use arrow::array::{Float64Array, TimestampMicrosecondArray};
    let folder = tempfile::tempdir().unwrap();
    let notice = "All rights of this notice are reserved; it recurs on each page of the site, 版权所有。";
    let text = |at: usize| match at {
        // This document is a copy, which is removed.
        7 => format!("own text 3, \"quoted\" and long enough to be kept\n{notice}\nend 3"),
        _ => format!("own text {at}, \"quoted\" and long enough to be kept\n{notice}\nend {at}"),
    };
    let (count, ids) = (40, |at: usize| format!("d{at}"));
    let number = |at: usize| (!at.is_multiple_of(3)).then_some(at as i64);
    let mut tags = ListBuilder::new(StringBuilder::new());
    (0..count).for_each(|at| tags.append_option((at % 4 > 0).then(|| [Some(format!("tag {at}")), None])));
    let columns: [(&str, ArrayRef); 6] = [
        ("id", Arc::new(StringArray::from_iter_values((0..count).map(ids)))),
        ("number", Arc::new((0..count).map(number).collect::<Int64Array>())),
        ("tags", Arc::new(tags.finish())),
        ("text", Arc::new(StringArray::from_iter_values((0..count).map(text)))),
        ("score", Arc::new(Float64Array::from_iter_values((0..count).map(|at| at as f64 / 7.0)))),
        ("seen", Arc::new(TimestampMicrosecondArray::from_iter_values((0..count).map(|at| at as i64 * 1_000_003)))),
    ];
    write_columns(&folder.path().join("a.parquet"), &columns, 9);
    let lines = (0..count).map(|at| {
        let row = serde_json::json!(
            { "id": ids(at), "number": at, "tags": [format!("tag {at}")], "text": text(at), "score": at as f64 / 8.0 });
        format!("{row}\n")
    });
    std::fs::write(folder.path().join("b.jsonl"), lines.collect::<String>()).unwrap();
    let quoted = |text: String| format!("\"{}\"", text.replace('"', "\"\""));
    let records = (0..count).map(|at| format!("{},{at},{}\n", ids(at), quoted(text(at))));
    std::fs::write(folder.path().join("c.csv"), format!("id,number,text\n{}", records.collect::<String>())).unwrap();
    for file in ["a.parquet", "b.jsonl", "c.csv"] {
        let input = folder.path().join(file);
        let cut = ["--algorithms", "exact", "--cut", "lines", "--corpus", "keep", "--min-chars-left", "1"];
        let run = done(&input, &[&cut[..], &["--max-cut-share", "1"]].concat());
        let mut command = python("tests/cut_consumers.py");
        let said = Ran::of(command.arg(&input).arg(run.out()).output().unwrap()).ends_with(0).stdout;
        assert!(said.contains("39 kept, 38 cut, 38 passages"), "{file}: {said}");
    }
}
