//! `dupsift stream`: flags in the order of the input, the filter as what one run leaves for the next, old versions taken out.

use std::path::Path;

use crate::kit::{Ran, Table, numbered, program, record, write_docs};

/// Runs the verb over one file.
fn stream(input: &Path, out: &Path, more: &[&str]) -> Ran {
    let mut command = program();
    command.arg("stream").arg(input).arg("--out").arg(out).args([
        "--threads",
        "2",
        "--memory",
        "64MiB",
        "--no-progress",
    ]);
    Ran::of(command.args(more).output().unwrap())
}

fn flags(out: &Path) -> Vec<Option<bool>> {
    let table = Table::read(&out.join("flags"));
    assert!(table.numbers("doc").iter().enumerate().all(|(at, &doc)| at as i64 == doc), "in order of the input");
    table.flags_or_null("duplicate")
}

/// Texts `from..to`, each different.
fn texts(from: usize, to: usize) -> Vec<String> {
    (from..to).map(|n| format!("Текст номер {n}, каких больше нет.")).collect()
}

#[test]
fn the_next_run_knows_what_earlier_ones_saw_and_forgets_what_it_is_told_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let write = |name: &str, texts: Vec<String>| write_docs(&path(name), &numbered(texts), 100);
    let first: Vec<String> = texts(0, 1000).into_iter().chain(texts(10, 20)).chain([" ".into()]).collect();
    write("first.parquet", first);
    stream(&path("first.parquet"), &path("first"), &[]).ends_with(0);
    let came: Vec<Option<bool>> =
        (0..1000).map(|_| Some(false)).chain((0..10).map(|_| Some(true))).chain([None]).collect();
    assert_eq!(flags(&path("first")), came);
    let report = record(&path("first"));
    assert_eq!((report["duplicates"].as_u64(), report["keys"].as_u64()), (Some(10), Some(1010)));
    assert_eq!(report["unsigned"]["empty text"].as_u64(), Some(1), "{report}");

    // The next night: half of it is known.
    write("second.parquet", texts(500, 1500));
    let filter = path("first").join("filter.bloom");
    let filter = filter.to_str().unwrap();
    stream(&path("second.parquet"), &path("second"), &["--filter", filter]).ends_with(0);
    assert!(flags(&path("second")).iter().enumerate().all(|(at, flag)| *flag == Some(at < 500)));

    // Old versions are taken out: one that stood twice stays known, the others are new again.
    write("old.parquet", texts(0, 20));
    write("third.parquet", texts(0, 30));
    let old = path("old.parquet");
    stream(&path("third.parquet"), &path("third"), &["--filter", filter, "--forget", old.to_str().unwrap()])
        .ends_with(0);
    assert!(flags(&path("third")).iter().enumerate().all(|(at, flag)| *flag == Some(at >= 10)));
    assert_eq!(record(&path("third"))["forgotten"].as_u64(), Some(20));
}

#[test]
fn what_cannot_be_a_key_or_is_no_filter_of_this_recipe_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let input = path("a.parquet");
    write_docs(&input, &numbered(texts(0, 9)), 100);
    let refused = |more: &[&str]| stream(&input, &path("out"), more).ends_with(2);
    refused(&["--algorithms", "minhash"]).says(&["minhash cannot be a key", "exact"]);
    refused(&["--algorithms", "tf_idf"]).says(&["without statistics"]);
    refused(&["--algorithms", "exact,tf"]).says(&["one algorithm"]);
    refused(&["--rate", "0"]).says(&["between 0 and 1"]);
    stream(&input, &path("exact"), &[]).ends_with(0);
    let filter = path("exact").join("filter.bloom");
    refused(&["--algorithms", "tf", "--filter", filter.to_str().unwrap()]).says(&["holds keys of exact"]);
    refused(&["--filter", input.to_str().unwrap()]).says(&["filter.bloom"]);
    assert!(!path("out").exists());
}
