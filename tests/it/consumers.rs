//! Python reads every table: pyarrow, polars, duckdb and pandas, each the same values of the documented types.
//!
//! The interpreter is that of `DUPSIFT_PYTHON`, else `.venv/bin/python` of the repository, which `make venv` makes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, Int32Array, Int64Array, StringArray};

use crate::kit::{ALL, Done, Table, done, ended, sample_docs, samples, write_columns};

fn python() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = std::env::var_os("DUPSIFT_PYTHON").map_or_else(|| root.join(".venv/bin/python"), PathBuf::from);
    assert!(
        python.is_file() || std::env::var_os("DUPSIFT_PYTHON").is_some(),
        "{} is not there; `make venv` makes it, or set DUPSIFT_PYTHON to a Python that has pyarrow, polars, duckdb and pandas",
        python.display()
    );
    python
}

/// A run over the first samples with ids of another type; one text is null, so that `rejected/` has a row.
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
    let mut command = Command::new(python());
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/consumers.py"));
    for (id_type, run) in &runs {
        command.arg(id_type).arg(run.out());
    }
    let output =
        command.output().unwrap_or_else(|error| panic!("cannot start {:?}: {error}; try `make venv`", command));
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "\n{stdout}\n{stderr}");
    assert!(stdout.contains("string: ") && stdout.contains("versions: "), "{stdout}");
}
