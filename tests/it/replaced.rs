//! Tests that no command mixes two results if a run replaces the output while the command reads it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use dupsift::error::Error;
use dupsift_engine::engine::Progress;
use dupsift_engine::options::CorpusFiles;
use dupsift_study::{self as study, ApplyOptions, Finished, truth_quotes};

use crate::kit::{Ran, names_in, numbered, program, record, run, write_docs};

/// Holds an output that was opened, and that a run over another corpus has then replaced.
struct Place {
    folder: tempfile::TempDir,
    opened: Finished,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        write_docs(&at("old/a.parquet"), &numbered(["One text.", "One text.", "Two."]), 10);
        write_docs(&at("new/a.parquet"), &numbered(["Three.", "Four texts.", "Four texts.", "Five."]), 10);
        run(&[&at("old")], &at("out"), &["--algorithms", "exact,minhash"]).ends_with(0);
        let opened = Finished::open(&at("out")).unwrap();
        run(&[&at("new")], &at("out"), &["--algorithms", "exact,minhash", "--overwrite"]).ends_with(0);
        Place { folder, opened }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

#[track_caller]
fn says_so<T>(done: Result<T, Error>) {
    let error = done.err().expect("the output was replaced").to_string();
    assert!(
        error.contains("another run replaced the folder while it was being read; run the command again"),
        "{error}"
    );
}

fn keep(out: Option<PathBuf>) -> ApplyOptions {
    ApplyOptions { corpus: CorpusFiles::parse("keep").unwrap(), out, ..ApplyOptions::default() }
}

fn rows(folder: &Path) -> u64 {
    let record: serde_json::Value = serde_json::from_slice(&fs::read(folder.join("applied.json")).unwrap()).unwrap();
    record["corpus"]["rows"].as_u64().unwrap()
}

#[test]
fn apply_writes_the_corpus_of_the_result_that_it_locked() {
    let place = Place::new();
    let (progress, cancel) = (Progress::hidden(), AtomicBool::new(false));
    let settings = Default::default();
    study::apply(&place.opened, &settings, &keep(None), &progress, &cancel).unwrap();
    assert_eq!((rows(&place.at("out")), record(&place.at("out"))["documents"]["rows"].as_u64()), (4, Some(4)));
    // Another folder is written only from the result that was opened.
    says_so(study::apply(&place.opened, &settings, &keep(Some(place.at("other"))), &progress, &cancel));
    assert_eq!(names_in(place.folder.path()), ["new", "old", "out"]);
}

#[test]
fn commands_that_only_read_do_not_mix_two_results() {
    let place = Place::new();
    let (progress, cancel) = (Progress::hidden(), AtomicBool::new(false));
    let (opened, settings) = (&place.opened, Default::default());
    let options = opened.options(&settings).unwrap();
    says_so(study::explain(opened, &options, &["0".into(), "1".into()], true, &progress, &cancel));
    says_so(study::survivors(opened, &options, &ApplyOptions::default(), &progress, &cancel));
    fs::write(place.at("truth.jsonl"), "{\"id_a\": \"d0\", \"id_b\": \"d1\"}\n").unwrap();
    let truth = [place.at("truth.jsonl").to_string_lossy().into_owned()];
    says_so(study::evaluate(opened, &options, &truth, truth_quotes(&settings), &progress, &cancel));
    let before = fs::read(place.at("out/report.html")).unwrap();
    says_so(study::write_again(opened, Ok(options), &progress, &cancel, &|_, _| Ok("another page".to_owned())));
    assert_eq!(fs::read(place.at("out/report.html")).unwrap(), before);
    assert!(!names_in(&place.at("out")).iter().any(|name| name.contains("evaluation") || name.starts_with('.')));
}

#[test]
fn apply_is_refused_while_a_run_writes_the_output() {
    let place = Place::new();
    let lock = dupsift_publish::WorkFolder::take(&place.at("out"), None).unwrap();
    let apply = || Ran::of(program().arg("apply").arg(place.at("out")).args(["--corpus", "keep"]).output().unwrap());
    // The lock of this process is seen by another process.
    apply().ends_with(2).says(&["another run is writing ", "help: wait until it ends"]);
    drop(lock);
    apply().ends_with(0);
    assert_eq!(rows(&place.at("out")), 4);
}
