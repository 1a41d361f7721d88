//! Tests that results and indexes of dupsift inside a corpus are not treated as part of the corpus. These results and indexes are skipped
//! wherever the corpus is listed, and the run reports them.

use std::path::{Path, PathBuf};

use crate::kit::{Ran, made_docs, program, record, run, write_docs};

const ROWS: usize = 40;

/// Creates a folder `c` with two files in hive-partitioned folders, 40 rows in all.
fn corpus(folder: &Path) -> PathBuf {
    let (corpus, docs) = (folder.join("c"), made_docs(ROWS));
    write_docs(&corpus.join("lang=ru/a.parquet"), &docs[..25], 10);
    write_docs(&corpus.join("lang=en/b.parquet"), &docs[25..], 10);
    corpus
}

fn rows(out: &Path) -> u64 {
    let record = record(out);
    record["rows"].as_u64().or(record["documents"]["rows"].as_u64()).unwrap()
}

/// Returns the folders that were skipped according to the record, by path below the corpus.
fn skipped(out: &Path, corpus: &Path) -> Vec<(String, String)> {
    let record = record(out);
    let folders = record["skipped_folders"].as_object().cloned().unwrap_or_default();
    let name = |path: &str| Path::new(path).strip_prefix(corpus).unwrap().to_string_lossy().into_owned();
    folders.iter().map(|(path, kind)| (name(path), kind.as_str().unwrap().to_owned())).collect()
}

fn verb(verb: &str, inputs: &[&Path], out: &Path, more: &[&str]) -> Ran {
    let mut command = program();
    command.arg(verb).args(inputs).arg("--out").arg(out).args(["--no-progress", "--threads", "2"]).args(more);
    Ran::of(command.output().unwrap())
}

fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
    of.iter().map(|(path, kind)| ((*path).to_owned(), (*kind).to_owned())).collect()
}

/// Checks that nothing is removed from a corpus if the only copies of its documents are in an earlier result.
#[test]
fn a_result_inside_the_corpus_is_skipped_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = corpus(folder.path());
    let first = corpus.join("r1");
    run(&[&corpus], &first, &["--corpus", "keep"]).ends_with(0);
    assert!(first.join("deduped").is_dir() && rows(&first) == ROWS as u64);
    let removed = record(&first)["removal"]["removed"].clone();
    let second = corpus.join("lang=ru/r2");
    let ran = run(&[&corpus], &second, &["--corpus", "keep"]).ends_with(0);
    let said = format!(
        "1 output folder of dupsift was skipped: {} (result); to read it, pass it as an input",
        first.display()
    );
    ran.says(&[&said]);
    assert_eq!((rows(&second), skipped(&second, &corpus)), (ROWS as u64, pairs(&[("r1", "result")])));
    assert_eq!(record(&second)["removal"]["removed"], removed);
    // The earlier output of the run is not an input either, so it can be replaced.
    run(&[&corpus], &second, &["--overwrite"]).ends_with(0);
    assert_eq!(skipped(&second, &corpus), pairs(&[("lang=ru/r2", "result"), ("r1", "result")]));
    assert_eq!(rows(&second), ROWS as u64);
    // A folder that is given explicitly is read.
    let named = folder.path().join("named");
    run(&[&first.join("deduped")], &named, &[]).ends_with(0);
    assert_eq!(rows(&named), record(&first)["removal"]["kept"].as_u64().unwrap());
    let both = folder.path().join("both");
    run(&[&corpus, &first.join("deduped")], &both, &[]).ends_with(0);
    assert_eq!(rows(&both), rows(&named) + ROWS as u64);
}

#[test]
fn every_verb_skips_results_of_every_verb_and_indexes() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = corpus(folder.path());
    run(&[&corpus], &corpus.join("night"), &["--index", &corpus.join("seen").to_string_lossy()]).ends_with(0);
    verb("stream", &[&corpus], &corpus.join("s"), &["--algorithms", "exact"]).ends_with(0);
    verb("purify", &[&corpus], &corpus.join("p"), &["--html-column", "text"]).ends_with(0);
    verb("compare", &[&corpus], &corpus.join("deep/x"), &["--algorithms", "exact,minhash"]).ends_with(0);
    // Creates a result that a guard holds back.
    let small = folder.path().join("small");
    write_docs(&small.join("a.parquet"), &made_docs(ROWS), 10);
    run(&[&small], &corpus.join("h"), &[]).ends_with(0);
    let held = ["--overwrite", "--max-removed-share", "0.00001", "--guard-rows", "1"];
    run(&[&small], &corpus.join("h"), &held).ends_with(4);
    assert!(corpus.join("h.held/_HELD").is_file());
    std::os::unix::fs::symlink("night", corpus.join("latest")).unwrap();
    std::os::unix::fs::symlink("night/pairs", corpus.join("within")).unwrap();
    std::os::unix::fs::symlink("../night/pairs/algorithm=exact/part-00000.parquet", corpus.join("deep/one.parquet"))
        .unwrap();
    let all = pairs(&[
        ("deep/one.parquet", "result"),
        ("deep/x", "result"),
        ("h", "result"),
        ("h.held", "result"),
        ("latest", "result"),
        ("night", "result"),
        ("p", "pages"),
        ("s", "result"),
        ("seen", "index"),
        ("within", "result"),
    ]);
    for (name, more) in [
        ("run", &[][..]),
        ("compare", &["--algorithms", "exact,minhash"]),
        ("stream", &["--algorithms", "exact"]),
        ("purify", &["--html-column", "text"]),
    ] {
        let out = folder.path().join(name);
        let ran = verb(name, &[&corpus], &out, more).ends_with(0);
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert!(told.contains("10 output folders of dupsift"), "{name}: {told}");
        assert_eq!((rows(&out), skipped(&out, &corpus)), (ROWS as u64, all.clone()), "{name}");
    }
    // If the corpus is used as a reference, the results in it are not matched.
    let (other, out) = (folder.path().join("other"), folder.path().join("out"));
    write_docs(&other.join("a.parquet"), &made_docs(ROWS), 10);
    let reference = corpus.to_string_lossy().into_owned();
    run(&[&other], &out, &["--algorithms", "exact", "--reference", &reference])
        .ends_with(0)
        .says(&["10 output folders"]);
    let kept = record(&out)["removal"]["kept"].as_u64();
    assert_eq!(kept, Some(0), "each text is in the reference");
}

#[test]
fn a_pattern_reads_a_result_only_where_it_spells_a_name_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = corpus(folder.path());
    let first = corpus.join("r1");
    run(&[&corpus], &first, &["--corpus", "keep"]).ends_with(0);
    let kept = record(&first)["removal"]["kept"].as_u64().unwrap();
    let out = folder.path().join("out");
    let read = |pattern: &str| {
        let _ = std::fs::remove_dir_all(&out);
        run(&[&corpus.join(pattern)], &out, &[]).ends_with(0);
        (rows(&out), skipped(&out, &corpus).len())
    };
    assert_eq!(read("**/*.parquet"), (ROWS as u64, 1));
    assert_eq!(read("*"), (ROWS as u64, 1));
    assert_eq!(read("*/*.parquet"), (ROWS as u64, 1));
    assert_eq!(read("*/deduped/**/*.parquet"), (kept, 0));
    assert_eq!(read("**/deduped/**/*.parquet"), (kept, 0));
    assert_eq!(read("r1/deduped/*/*.parquet"), (kept, 0));
}

/// Checks that a folder that contains only results causes a specific error.
#[test]
fn a_folder_of_results_alone_says_that_one_may_be_named() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = corpus(folder.path());
    let results = folder.path().join("results");
    run(&[&corpus], &results.join("one"), &[]).ends_with(0);
    run(&[&results], &folder.path().join("out"), &[]).ends_with(2).says(&[
        "nothing to read in",
        "results/one (result)",
        "pass it as an input",
    ]);
    // A folder that a different program wrote counts as a corpus even if it uses the same names.
    let spark = folder.path().join("spark");
    write_docs(&spark.join("day/part-00000.parquet"), &made_docs(7), 10);
    std::fs::write(spark.join("day/_SUCCESS"), "").unwrap();
    std::fs::write(spark.join("day/run.json"), "{\"run\": 1}\n").unwrap();
    let out = folder.path().join("of-spark");
    run(&[&spark], &out, &["--text-column", "text"]);
    assert_eq!(skipped(&out, &spark).len(), 0);
    assert!(rows(&out) >= 7);
}

/// Checks the nightly script with its outputs and its index inside the crawl that it reads.
#[test]
fn runs_inside_the_corpus_do_not_remove_it() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = corpus(folder.path());
    let nightly = |name: &str| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/nightly.sh");
        let mut command = std::process::Command::new("sh");
        command.env("DUPSIFT", crate::kit::built()).arg(script).arg(&corpus).arg(corpus.join("dedup"));
        command.arg(name).args(["--", "--corpus", "keep", "--threads", "2"]);
        Ran::of(command.output().unwrap()).ends_with(0);
    };
    let removed = |name: &str| record(&corpus.join("dedup").join(name))["removal"]["removed"].as_u64().unwrap();
    nightly("1");
    nightly("2");
    nightly("3");
    assert_eq!((removed("2"), removed("3")), (removed("1"), removed("1")));
    let third = corpus.join("dedup/3");
    assert_eq!(rows(&third), ROWS as u64);
    let all = pairs(&[("dedup/1", "result"), ("dedup/2", "result"), ("dedup/latest", "result")]);
    assert_eq!(skipped(&third, &corpus), all);
}

/// Checks that a folder counts as an output of dupsift only if it contains nothing else, because other programs also write `run.json` and
/// `_SUCCESS`.
#[test]
fn an_output_may_lie_in_the_output_of_another_program() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("corpus.jsonl"), crate::kit::json_lines(&crate::kit::made_docs(4))).unwrap();
    std::fs::create_dir(at("spark")).unwrap();
    std::fs::write(at("spark/_SUCCESS"), "").unwrap();
    std::fs::write(at("spark/run.json"), "{\"run\": 5}").unwrap();
    let more = ["--algorithms", "exact", "--no-report"];
    crate::kit::run(&[&at("corpus.jsonl")], &at("spark/out"), &more).ends_with(0);
    crate::kit::run(&[&at("corpus.jsonl")], &at("spark/out/deeper"), &more).ends_with(2).says(&["a dupsift output"]);
}
