//! Tests a corpus that changes during a run. The files of the corpus are listed once. A file that disappears is skipped and reported; a new
//! file is not read, but a note reports it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Parser as _;
use dupsift::cli::typed::args::{Arguments, Verb};
use dupsift::error::Error;
use dupsift_engine::engine::Progress;
use dupsift_engine::job::{RunReport, run as run_job};
use dupsift_engine::options::{RunOptions, resolve};
use dupsift_engine::reading::look;
use dupsift_study::{Review, with_page};

use crate::kit::{Ran, Table, assert_same_bytes, done, made_docs, program, record, write_docs};

const NAMES: [&str; 4] = ["a.parquet", "b.parquet", "c.parquet", "d.parquet"];

/// Writes four files with this many documents each.
fn corpus(folder: &Path, rows: usize) -> PathBuf {
    let docs = folder.join("docs");
    let made = made_docs(4 * rows);
    for (name, part) in NAMES.iter().zip(made.chunks(rows)) {
        write_docs(&docs.join(name), part, 100);
    }
    docs
}

/// Returns the options of a simple run, as the command line would set them.
fn options(docs: &Path, out: &Path) -> RunOptions {
    let typed = ["dupsift", "run", &docs.display().to_string(), "--out", &out.display().to_string()].map(String::from);
    let limits = ["--threads", "2", "--memory", "512MiB"].map(String::from);
    match Arguments::parse_from(typed.into_iter().chain(limits)).verb {
        Verb::Run(arguments) => {
            let (inputs, settings) = arguments.asked().unwrap();
            resolve(inputs, &settings).unwrap()
        }
        _ => unreachable!("another verb was typed"),
    }
}

fn bad_inputs(record: &serde_json::Value) -> Vec<String> {
    let bad = record["bad_inputs"].as_array().unwrap().iter();
    bad.map(|file| file["file"].as_str().unwrap().to_string()).collect()
}

fn run_changed(docs: &Path, out: &Path, change: impl FnOnce()) -> serde_json::Value {
    let options = options(docs, out);
    let inputs = look(&options, &AtomicBool::new(false)).unwrap();
    change();
    let page = |_: &RunReport, _: &Review| Ok(String::new());
    run_job(&options, inputs, &Progress::hidden(), &AtomicBool::new(false), &with_page(&page)).unwrap();
    record(out)
}

#[test]
fn what_is_gone_or_changed_after_the_list_was_made_is_set_aside_and_named() {
    let folder = tempfile::tempdir().unwrap();
    for gone in [true, false] {
        let docs = corpus(folder.path(), 300);
        let (file, out) = (docs.join("b.parquet"), folder.path().join("out"));
        let record = run_changed(&docs, &out, || {
            if gone {
                std::fs::remove_file(&file).unwrap();
            } else {
                write_docs(&file, &made_docs(70), 100);
            }
        });
        assert_eq!(bad_inputs(&record), ["b.parquet"]);
        let why = record["bad_inputs"][0]["why"].as_str().unwrap();
        assert!(why.contains(if gone { "can no longer be opened" } else { "the file changed" }), "{why}");
        assert_eq!(record["inputs"].as_array().unwrap().len(), 3);
        assert_eq!(Table::read(&out.join("rejected")).texts("file"), ["b.parquet"]);
        let _ = std::fs::remove_file(&file);
        assert_same_bytes(&out, &done(&docs, &[]).out(), "a corpus without the file");
        std::fs::remove_dir_all(&out).unwrap();
    }
}

#[test]
fn what_comes_after_the_list_was_made_does_not_join_and_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    let docs = corpus(folder.path(), 300);
    let before = done(&docs, &[]);
    let out = folder.path().join("out");
    let record = run_changed(&docs, &out, || {
        write_docs(&docs.join("aa.parquet"), &made_docs(70), 100);
        write_docs(&docs.join("more/e.parquet"), &made_docs(7), 100);
    });
    assert_same_bytes(&out, &before.out(), "a corpus without the new files");
    assert_eq!((record["inputs"].as_array().unwrap().len(), bad_inputs(&record).len()), (4, 0));
    let noted = record["warnings"].as_array().unwrap().iter();
    let noted: Vec<&str> =
        noted.map(|note| note.as_str().unwrap()).filter(|note| note.contains("appeared in")).collect();
    assert!(
        noted.len() == 1 && noted[0].starts_with("2 files appeared") && noted[0].contains("aa.parquet"),
        "{noted:?}"
    );
}

#[test]
fn a_file_that_is_gone_while_another_comes_is_still_named() {
    let folder = tempfile::tempdir().unwrap();
    let docs = corpus(folder.path(), 300);
    let out = folder.path().join("out");
    let record = run_changed(&docs, &out, || {
        std::fs::rename(docs.join("c.parquet"), docs.join("cc.parquet")).unwrap();
    });
    assert_eq!((bad_inputs(&record), record["inputs"].as_array().unwrap().len()), (vec!["c.parquet".into()], 3));
    assert!(record["warnings"].to_string().contains("1 file appeared"), "{}", record["warnings"]);
}

/// Checks that the tables of a run are written again if damage is found in its last pass, after the tables were written.
#[test]
fn what_shows_its_damage_after_the_tables_is_set_aside_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let docs = corpus(folder.path(), 300);
    let out = folder.path().join("out");
    let options = options(&docs, &out);
    let inputs = look(&options, &AtomicBool::new(false)).unwrap();
    let begun = AtomicBool::new(false);
    let page = |_: &RunReport, _: &Review| {
        if begun.swap(true, Ordering::Relaxed) {
            return Ok(String::new());
        }
        Err(Error::BadFile { path: docs.join("c.parquet"), why: "gone".into() })
    };
    run_job(&options, inputs, &Progress::hidden(), &AtomicBool::new(false), &with_page(&page)).unwrap();
    let record = record(&out);
    assert_eq!((bad_inputs(&record), record["inputs"].as_array().unwrap().len()), (vec!["c.parquet".into()], 3));
}

/// Checks that if a file is removed while a command runs, the command either uses all four files, or uses three and reports the fourth.
#[test]
fn no_moment_of_removal_is_silent_in_any_verb() {
    let folder = tempfile::tempdir().unwrap();
    let verbs: [&[&str]; 4] = [
        &["run", "--algorithms", "minhash,tf_idf,long_sent"],
        &["compare", "--algorithms", "exact,tf"],
        &["stream"],
        &["purify", "--html-column", "text"],
    ];
    for verb in verbs {
        for moment in 0..6 {
            let docs = corpus(folder.path(), 1_000);
            let out = folder.path().join("out");
            let mut command = program();
            command.args(verb).arg(&docs).arg("--out").arg(&out);
            command.args(["--no-progress", "--threads", "2", "--memory", "256MiB"]);
            let begun = Instant::now();
            let running = command.stderr(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
            let running = running.spawn().unwrap();
            let moment = Duration::from_millis(3 * (1 << moment));
            std::thread::sleep(moment.saturating_sub(begun.elapsed()));
            std::fs::remove_file(docs.join("c.parquet")).unwrap();
            let ran = Ran::of(running.wait_with_output().unwrap());
            assert!(out.join("run.json").exists(), "{verb:?} {moment:?}: {}\n{}", ran.code, ran.stderr);
            let record = record(&out);
            let rows = record["rows"].as_u64().or(record["documents"]["rows"].as_u64()).unwrap();
            let known = (ran.code, rows, bad_inputs(&record).concat());
            // In the last case, the file was removed before the list was made.
            let fine = [(0, 4_000, ""), (3, 3_000, "c.parquet"), (0, 3_000, "")]
                .map(|(code, rows, bad)| (code, rows, bad.to_string()));
            assert!(fine.contains(&known), "{verb:?} {moment:?}: {known:?}\n{}", ran.stderr);
            let warned = ran.stderr.lines().filter(|line| line.contains("WARN") && line.contains("c.parquet")).count();
            assert_eq!(warned, usize::from(ran.code == 3), "{verb:?} {moment:?}\n{}", ran.stderr);
            std::fs::remove_dir_all(&out).unwrap();
        }
    }
}
