//! Tests that a resumed run detects inputs that have changed, and that no saved state is lost until the result has its final name.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::damage::{corpus, damage_last_texts};
use crate::kit::{Ran, assert_same_bytes, done, made_docs, names_in, program, record, write_docs};
use crate::resume::{Place, whole};

const ALGORITHMS: [&str; 6] = ["--algorithms", "exact,minhash,tf_idf", "--threads", "2", "--memory", "512MiB"];

/// Returns the command for a run on these documents. The run saves everything.
fn command(docs: &Path, out: &Path) -> Command {
    let mut command = program();
    command.arg("run").arg(docs).arg("--out").arg(out).args(ALGORITHMS);
    command.args(["--checkpoint", "0s", "--no-progress", "--log-format", "json"]);
    command
}

/// Starts a run, calls `act` when the run reports that the stage `at` begins, and kills the run when the stage `end` begins.
fn killed_after(mut command: Command, at: &str, act: impl FnOnce(), end: &str) -> Vec<String> {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let begins = |line: &str, stage: &str| line.contains("stage begins") && line.contains(&format!("\"{stage}\""));
    let (mut act, mut lines) = (Some(act), Vec::new());
    for line in BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok) {
        if act.is_some() && begins(&line, at) {
            act.take().unwrap()();
        }
        let ends = act.is_none() && begins(&line, end);
        lines.push(line);
        if ends {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(act.is_none(), "no stage {at}: {lines:?}");
    lines
}

/// Replaces a file with a file that has the same name but contains different texts.
fn replace(path: &Path) {
    let other = path.with_extension("other");
    let docs: Vec<_> = made_docs(900).split_off(400);
    write_docs(&other, &docs, 100);
    std::fs::rename(other, path).unwrap();
}

fn resumed(out: &Path) -> Vec<String> {
    let record = record(out);
    let names = record["resumed"].as_array().cloned().unwrap_or_default();
    names.iter().filter_map(|name| name.as_str().map(String::from)).collect()
}

/// Checks that nothing computed from the old file is reused for the new file, and that the new file is not skipped because of the old file.
#[test]
fn a_file_that_is_replaced_while_it_is_read_is_read_by_the_run_that_goes_on() {
    for stage in ["save copies", "save rows exact", "save pairs exact"] {
        let folder = tempfile::tempdir().unwrap();
        let docs = corpus(folder.path());
        let out = folder.path().join("out");
        let lines = killed_after(command(&docs, &out), stage, || replace(&docs.join("b.parquet")), "write tables");
        assert!(!out.exists(), "{stage}: it had ended");
        let began_again = lines.iter().any(|line| line.contains("starts over without this file"));
        let ran = Ran::of(command(&docs, &out).output().unwrap()).ends_with(0);
        assert!(!ran.stderr.contains("found by an earlier run"), "{stage} ({began_again}): {}", ran.stderr);
        assert_same_bytes(&out, &done(&docs, &ALGORITHMS).out(), stage);
        assert!(resumed(&out).is_empty(), "{stage} ({began_again}): {:?}", resumed(&out));
        assert_eq!(names_in(folder.path()), ["docs", "out"]);
    }
}

/// Checks that the message explains how to read a file that an earlier run skipped.
#[test]
fn a_file_that_was_set_aside_can_be_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let docs = corpus(folder.path());
    damage_last_texts(&docs.join("b.parquet"));
    let out = folder.path().join("out");
    let lines = killed_after(command(&docs, &out), "group tf_idf", || (), "write tables");
    assert!(lines.iter().any(|line| line.contains("starts over without this file")), "{lines:?}");
    let ran = Ran::of(command(&docs, &out).output().unwrap()).ends_with(3);
    assert!(ran.stderr.contains("found by an earlier run; `--resume=false` reads the file again"), "{}", ran.stderr);
    std::fs::remove_dir_all(&out).unwrap();
    let ran = Ran::of(command(&docs, &out).args(["--resume", "false"]).output().unwrap()).ends_with(3);
    assert!(ran.stderr.contains("starts over without this file"), "{}", ran.stderr);
}

/// Checks that if the final name is already taken, this is reported at the end and no saved state is lost.
#[test]
fn work_is_kept_until_the_result_has_its_name() {
    let whole = whole(&[]);
    let place = Place::new();
    let mut command = place.command(&[]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let theirs: PathBuf = place.out().join("theirs.txt");
    let mut lines = String::new();
    for line in BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok) {
        if line.contains("\"stage begins\"") && line.contains("\"write tables\"") {
            std::fs::create_dir(place.out()).unwrap();
            std::fs::write(&theirs, "theirs").unwrap();
        }
        lines += &line;
    }
    assert!(!child.wait().unwrap().success(), "{lines}");
    assert!(lines.contains("already exists"), "{lines}");
    assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "theirs");
    std::fs::remove_dir_all(place.out()).unwrap();
    place.run(&[]).ends_with(0);
    assert!(place.resumed().contains("near versions"), "{:?}", place.resumed());
    assert_same_bytes(&whole.out(), &place.out(), "after the place was free");
    assert_eq!(names_in(place.folder.path()), ["out"]);
}

/// Checks that a run with a different folder for temporary files reports that it does not use the saved state in the first folder.
#[test]
fn another_folder_for_work_files_gives_up_what_was_kept_and_says_so() {
    let place = Place::new();
    let elsewhere = tempfile::tempdir().unwrap();
    place.killed_in("write tables", &[]);
    let ran = place.run(&["--work", elsewhere.path().to_str().unwrap()]).ends_with(0);
    assert!(ran.stderr.contains("is not used, because `--work` has changed"), "{}", ran.stderr);
    assert!(place.resumed().is_empty());
    assert_eq!((names_in(place.folder.path()), names_in(elsewhere.path())), (vec!["out".to_string()], vec![]));
}

/// Checks that the record of a resumed run also lists the models.
#[test]
fn the_record_of_a_run_that_went_on_names_the_models() {
    let models = |place: &Place| -> Vec<(String, String)> {
        let record = record(&place.out());
        let of = |one: &serde_json::Value| (one["label"].to_string(), one["model"].to_string());
        record["algorithms"].as_array().unwrap().iter().map(of).collect()
    };
    let whole = whole(&[]);
    assert!(models(&whole).iter().any(|(_, model)| model.len() > 8), "{:?}", models(&whole));
    let place = Place::new();
    place.killed_in("group lsi", &[]);
    place.run(&[]).ends_with(0);
    assert!(place.resumed().contains("rows lsi"), "{:?}", place.resumed());
    assert_eq!(models(&place), models(&whole));
}
