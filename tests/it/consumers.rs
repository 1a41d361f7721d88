//! Python reads every table: pyarrow, polars, duckdb and pandas all get the same values with the documented types.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, Int32Array, Int64Array, StringArray};

use crate::kit::{ALL, Done, Ran, Table, done, ended, program, python, sample_docs, samples, write_columns};

/// Runs over the first samples with ids of another type; one text is null, so that `rejected/` has a row.
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
    // The tables of an evaluation are read too.
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
