//! Tests the memory limit with scaled-down versions of difficult inputs. Measures the peak anonymous memory of a child process, for
//! every command that reads inputs. `make lab RUN=hostile` runs all shapes with more commands and threads.

use std::path::Path;

use crate::kit::python;

/// Runs `benches/lab/hostile.py` with some of its input shapes. The script exits with 0 if every limit is respected.
fn held(shapes: &str, verbs: &str, threads: &str) {
    if !Path::new("/proc/self/status").is_file() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = python("benches/lab/hostile.py");
    command.arg(folder.path()).args(["--dupsift", crate::kit::built(), "--small"]);
    command.args(["--shapes", shapes, "--verbs", verbs, "--threads", threads]);
    let output = command.output().unwrap();
    let (table, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{table}\n{said}");
    let rows = table.lines().filter(|line| line.ends_with("| held |")).count();
    assert!(rows >= shapes.split(',').count() * threads.split(',').count(), "{table}");
}

#[test]
fn large_pages_keep_the_promise_for_every_verb() {
    held("pages", "exact,minhash,balanced,stream,compare,evaluate,explain,purify", "8");
    held("pages", "minhash", "1,2,4");
}

#[test]
fn many_threads_keep_the_promise() {
    held("pages,long_documents,all_different", "minhash,balanced", "32");
}

#[test]
fn large_pages_of_two_columns_keep_the_promise() {
    held("packed_pages", "exact,balanced", "2,8");
}

#[test]
fn long_documents_keep_the_promise_for_every_verb() {
    held("long_documents", "minhash,balanced,stream,compare,evaluate,explain,purify", "8");
    held("long_documents", "balanced", "1,2,4");
}

/// Tests input shapes with potentially unbounded costs: pages from the same template, groups of identical texts, many long documents on the
/// report page, deep folders, dictionaries, footers and long values.
#[test]
fn costs_that_ran_away_keep_the_promise() {
    held("template", "minhash,balanced", "1,8");
    held("equal", "exact,minhash,balanced,stream", "8");
    held("near_copies", "minhash", "2");
    held("deep", "exact,stream", "8");
    held("long_dictionary,footers,long_sources", "exact", "1,8");
}

#[test]
fn long_values_beside_pages_keep_the_promise() {
    held("wide_rows", "purify", "1,2");
}

#[test]
fn documents_of_different_words_keep_the_promise() {
    held("all_different", "balanced", "1,8");
    held("one_different", "balanced", "1,8");
}

#[test]
fn long_documents_that_share_their_words_keep_the_promise() {
    held("near_copies", "balanced", "8");
}

#[test]
fn lines_of_another_encoding_keep_the_promise() {
    held("encoded_lines", "exact", "1,8");
    held("encoded_texts", "exact", "1,2");
}

#[test]
fn a_column_of_long_values_keeps_the_promise() {
    held("long_values", "purify", "1,8");
}

#[test]
fn long_values_of_parquet_keep_the_promise() {
    held("parquet_values,nested_values,repeated_values", "purify", "8");
    held("nested_values", "purify", "1");
}

#[test]
fn a_value_of_parquet_that_is_too_long_is_refused() {
    held("refused_values", "purify", "1");
}

#[test]
fn letters_that_become_many_keep_the_promise() {
    held("expanding", "exact,segments", "8");
}

#[test]
fn long_ids_keep_the_promise() {
    held("long_ids", "exact", "1,8");
}

#[test]
fn bodies_that_are_refused_when_they_are_unpacked_keep_the_promise() {
    held("packed_bodies", "exact,purify", "8");
}

/// Checks that a long value in a dictionary that all rows share is recorded only once, and not once per row.
#[test]
fn a_long_value_that_recurs_takes_its_size_once_on_disk() {
    use arrow::array::{ArrayRef, DictionaryArray, Int32Array, Int64Array, StringArray};
    use std::sync::Arc;
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("a.parquet"), folder.path().join("out"));
    let (rows, long) = (600, "x".repeat(900_000));
    let values = StringArray::from(vec![long.as_str(), "y"]);
    let keys = Int32Array::from_iter_values((0..rows).map(|row| i32::from(row == 301)));
    let columns: [(&str, ArrayRef); 3] = [
        ("id", Arc::new(Int64Array::from_iter_values(0..rows))),
        ("text", Arc::new(StringArray::from_iter_values((0..rows).map(|row| format!("text number {}", row / 2))))),
        ("v", Arc::new(DictionaryArray::new(keys, Arc::new(values)))),
    ];
    crate::kit::write_columns(&file, &columns, rows as usize);
    assert!(file.metadata().unwrap().len() < 2_000_000);
    // No file may be larger than 32 MiB; the values of all rows take up 540 MB.
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -f 65536 && exec \"$0\" \"$@\""]).arg(crate::kit::program().get_program());
    command.arg("run").arg(&file).arg("--out").arg(&out);
    command.args([
        "--algorithms",
        "exact",
        "--keep",
        "v desc",
        "--threads",
        "2",
        "--memory",
        "256MiB",
        "--no-progress",
    ]);
    crate::kit::Ran::of(command.output().unwrap()).ends_with(0);
    let removed = crate::kit::removed_ids(&out);
    assert_eq!(removed.len(), rows as usize / 2);
    // The larger value is preferred.
    assert!(removed.contains(&"300".to_owned()) && !removed.contains(&"301".to_owned()));
}
