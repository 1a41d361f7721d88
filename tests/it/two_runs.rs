//! Tests that only one run at a time may write an output. A second run is refused, and the remains of a killed run are cleaned up
//! automatically or by hand.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::kit::{Ran, assert_same_bytes, json_lines, made_docs, names_in, numbered, program, run};
use crate::signals::listening;

/// Returns a folder with a large corpus and a small corpus.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("long.jsonl"), json_lines(&made_docs(60_000))).unwrap();
    std::fs::write(folder.path().join("short.jsonl"), json_lines(&numbered(["One text.", "One text.", "Two."])))
        .unwrap();
    std::fs::create_dir(folder.path().join("work")).unwrap();
    folder
}

/// Starts a run that writes to `out`, and waits until the run is working.
fn at_work(folder: &Path, more: &[&str]) -> Child {
    let mut command = listening();
    command.current_dir(folder).args(["run", "long.jsonl", "--out", "out", "--threads", "2", "--memory", "512MiB"]);
    command.args(["--algorithms", "all"]).args(more);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    // The folder for the output is created first, then the folder of temporary files.
    let made = |folder: &Path, start: &str| names_in(folder).iter().any(|name| name.starts_with(start));
    let work = if more.contains(&"--work") { folder.join("work") } else { folder.to_owned() };
    while !made(folder, ".out.dupsift-partial-") || !made(&work, ".out.dupsift-work") {
        assert!(child.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_secs(60), "it never begins");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

fn typed(folder: &Path, words: &[&str]) -> Ran {
    Ran::of(program().current_dir(folder).args(words).output().unwrap())
}

#[test]
fn a_second_run_on_an_output_is_reported_at_the_start() {
    let folder = folder();
    let mut first = at_work(folder.path(), &[]);
    let before = names_in(folder.path());
    let who = format!("out: process {}", first.id());
    let told = |words: &[&str]| {
        let ran = typed(folder.path(), words).ends_with(2).says(&["another run is writing ", &who]);
        // The error precedes all lines of the plan.
        assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
        assert_eq!(names_in(folder.path()), before, "{words:?}");
    };
    told(&["run", "short.jsonl", "--out", "out"]);
    told(&["run", "short.jsonl", "--out", "work/../out", "--overwrite", "--work", "work"]);
    told(&["compare", "short.jsonl", "--out", "out", "--algorithms", "exact,tf"]);
    told(&["stream", "short.jsonl", "--out", "out"]);
    told(&["purify", "short.jsonl", "--out", "out", "--html-column", "text"]);
    told(&["clean", "out"]);
    // A different output in the same folder can be used.
    typed(folder.path(), &["run", "short.jsonl", "--out", "out2", "--algorithms", "exact", "--work", "work"])
        .ends_with(0);
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(names_in(&folder.path().join("work")), [""; 0]);
}

#[test]
fn what_a_killed_run_left_is_cleared_away_by_the_next() {
    let folder = folder();
    let out = |name: &str| folder.path().join(name);
    run(&[&out("short.jsonl")], &out("alone"), &["--algorithms", "exact"]).ends_with(0);
    for more in [&[][..], &["--work", "work"]] {
        let mut killed = at_work(folder.path(), more);
        killed.kill().unwrap();
        killed.wait().unwrap();
        let left = names_in(folder.path());
        assert!(left.contains(&".out.dupsift-work".to_owned()), "{left:?}");
        // The folder of temporary files is also found without `--work`.
        run(&[&out("short.jsonl")], &out("out"), &["--algorithms", "exact"]).ends_with(0);
        assert_same_bytes(&out("alone"), &out("out"), "after a killed run");
        std::fs::remove_dir_all(out("out")).unwrap();
        assert_eq!(names_in(folder.path()), ["alone", "long.jsonl", "short.jsonl", "work"]);
        assert_eq!(names_in(&out("work")), [""; 0]);
    }
}

#[test]
fn what_a_killed_run_left_is_removed_by_hand() {
    let folder = folder();
    let mut killed = at_work(folder.path(), &["--work", "work"]);
    killed.kill().unwrap();
    killed.wait().unwrap();
    std::fs::write(folder.path().join(".out.dupsift-partial-mine"), b"user").unwrap();
    // The run may have been killed while it determined the permissions of new folders.
    std::fs::create_dir(folder.path().join(format!(".out.dupsift-partial-{}/.mode", killed.id()))).unwrap();
    let work = names_in(&folder.path().join("work"));
    assert!(work.len() == 1 && work[0].starts_with(".out.dupsift-work-"), "{work:?}");
    let cleaned = typed(folder.path(), &["clean", "out"]).ends_with(0).stdout;
    for removed in [&format!(".out.dupsift-partial-{}", killed.id()), ".out.dupsift-work ", &work[0]] {
        assert!(cleaned.lines().any(|line| line.starts_with("removed ") && line.contains(removed)), "{cleaned}");
    }
    assert_eq!(names_in(folder.path()), [".out.dupsift-partial-mine", "long.jsonl", "short.jsonl", "work"]);
    assert_eq!(names_in(&folder.path().join("work")), [""; 0]);
    let nothing = typed(folder.path(), &["clean", "out"]).ends_with(0).stdout;
    assert_eq!(nothing, "no temporary files of killed runs found for out\n");
    typed(folder.path(), &["clean", "nowhere/out"]).ends_with(2).says(&["nowhere is not a folder"]);
}
