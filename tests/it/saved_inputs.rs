//! Tests that a file counts as unchanged if its content is the same. The same size and modification time are not sufficient, because
//! copying may preserve them. Different permissions, a temporary name or a different location on disk do not matter.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::kit::{Ran, assert_same_bytes, made_docs, program, record, run};

const ROWS: usize = 1_200;
const OPTIONS: [&str; 8] =
    ["--algorithms", "exact,minhash,tf_idf", "--keep", "score desc", "--threads", "2", "--memory", "512MiB"];

/// Writes two JSON lines files, which are larger than the beginnings and ends that are compared first.
fn corpus(folder: &Path) -> PathBuf {
    let (corpus, docs) = (folder.join("docs"), made_docs(ROWS));
    fs::create_dir(&corpus).unwrap();
    for (name, docs) in [("a.jsonl", &docs[..ROWS / 2]), ("b.jsonl", &docs[ROWS / 2..])] {
        let line = |(at, doc): (usize, &crate::kit::Doc)| {
            let value = serde_json::json!({"id": doc.id, "score": 100 + at % 7, "text": doc.text});
            format!("{value}\n")
        };
        let lines: String = docs.iter().enumerate().map(line).collect();
        assert!(lines.len() > 200_000, "{} bytes", lines.len());
        fs::write(corpus.join(name), lines).unwrap();
    }
    corpus
}

fn command(docs: &Path, out: &Path) -> Command {
    let mut command = program();
    command.arg("run").arg(docs).arg("--out").arg(out).args(OPTIONS);
    command.args(["--checkpoint", "0s", "--no-progress", "--log-format", "json"]);
    command
}

/// Calls `act` when a run reports that this stage begins. The run is then killed or continues to its end.
fn at_stage(mut command: Command, stage: &str, kills: bool, act: impl FnOnce()) {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let begins = |line: &str| line.contains("stage begins") && line.contains(&format!("\"{stage}\""));
    let (mut act, mut lines) = (Some(act), Vec::new());
    for line in BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok) {
        if begins(&line)
            && let Some(act) = act.take()
        {
            act();
            if kills {
                child.kill().unwrap();
            }
        }
        lines.push(line);
    }
    let ended = child.wait().unwrap();
    assert!(act.is_none(), "no stage {stage}: {lines:#?}");
    assert_eq!(ended.success(), !kills, "{lines:#?}");
}

/// Replaces bytes in the middle of a file with the same number of different bytes, and restores its modification time. If `anew` is set,
/// the file has a new inode.
fn change(path: &Path, from: &str, to: &str, anew: bool) {
    assert_eq!(from.len(), to.len());
    let (bytes, time) = (fs::read_to_string(path).unwrap(), fs::metadata(path).unwrap().modified().unwrap());
    let middle = bytes.ceil_char_boundary(bytes.len() / 2);
    let at = middle + bytes[middle..].find(from).unwrap_or_else(|| panic!("no {from}"));
    let changed = format!("{}{to}{}", &bytes[..at], &bytes[at + from.len()..]);
    let place = if anew { path.with_extension("half") } else { path.to_path_buf() };
    fs::write(&place, changed).unwrap();
    File::options().write(true).open(&place).unwrap().set_modified(time).unwrap();
    if anew {
        fs::rename(place, path).unwrap();
    }
    let now = fs::metadata(path).unwrap();
    assert_eq!((now.len(), now.modified().unwrap()), (bytes.len() as u64, time));
}

fn resumed(out: &Path) -> usize {
    record(out)["resumed"].as_array().map_or(0, Vec::len)
}

#[test]
fn what_changed_behind_size_and_time_is_not_taken_for_the_same() {
    for (from, to, anew, stage) in [
        ("\"text\":\"", "\"test\":\"", false, "write tables"),
        ("\"text\":\"", "\"test\":\"", true, "group minhash"),
        ("\"score\":103", "\"score\":999", false, "write tables"),
        ("\"id\":\"d", "\"id\":\"e", true, "write tables"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let docs = corpus(folder.path());
        let (out, fresh) = (folder.path().join("out"), folder.path().join("fresh"));
        at_stage(command(&docs, &out), stage, true, || ());
        change(&docs.join("b.jsonl"), from, to, anew);
        let ran = Ran::of(command(&docs, &out).output().unwrap());
        ran.says(&["b.jsonl has different contents; the saved state of an earlier run is discarded"]);
        assert_eq!(resumed(&out), 0, "{to}");
        run(&[&docs], &fresh, &OPTIONS);
        assert_same_bytes(&out, &fresh, to);
        assert_eq!(record(&out)["documents"], record(&fresh)["documents"], "{to}");
    }
}

/// Checks that partial checkpoints of a file are not used if the file changed while it was read for the first time.
#[test]
fn portions_of_another_file_are_not_taken_up() {
    let folder = tempfile::tempdir().unwrap();
    let docs = corpus(folder.path());
    let (out, fresh) = (folder.path().join("out"), folder.path().join("fresh"));
    at_stage(command(&docs, &out), "group copies", true, || ());
    change(&docs.join("a.jsonl"), "\"text\":\"", "\"test\":\"", false);
    Ran::of(command(&docs, &out).output().unwrap()).ends_with(3);
    run(&[&docs], &fresh, &OPTIONS).ends_with(3);
    assert_same_bytes(&out, &fresh, "portions");
    assert_eq!(record(&out)["documents"], record(&fresh)["documents"]);
}

/// The name of a change to a file, and the function that makes the change.
type Act = (&'static str, fn(&Path));

/// Checks that the saved state is used after changes that do not affect the content: permissions, a temporary name, a restored copy or a
/// different time.
#[test]
fn work_is_kept_where_the_contents_are_the_same() {
    let acts: [Act; 4] = [
        ("chmod", |file| fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap()),
        ("mv", |file| {
            fs::rename(file, file.with_extension("away")).unwrap();
            fs::rename(file.with_extension("away"), file).unwrap();
        }),
        ("cp -p", |file| {
            let time = fs::metadata(file).unwrap().modified().unwrap();
            fs::copy(file, file.with_extension("copy")).unwrap();
            File::options().write(true).open(file.with_extension("copy")).unwrap().set_modified(time).unwrap();
            fs::rename(file.with_extension("copy"), file).unwrap();
        }),
        ("touch", |file| {
            File::options().write(true).open(file).unwrap().set_modified(std::time::SystemTime::now()).unwrap();
        }),
    ];
    for stage in ["write tables", "group copies"] {
        for (name, act) in acts {
            let folder = tempfile::tempdir().unwrap();
            let docs = corpus(folder.path());
            let (out, fresh) = (folder.path().join("out"), folder.path().join("fresh"));
            at_stage(command(&docs, &out), stage, true, || ());
            act(&docs.join("b.jsonl"));
            let ran = Ran::of(command(&docs, &out).output().unwrap()).ends_with(0);
            assert!(!ran.stderr.contains("discarded"), "{name}: {}", ran.stderr);
            assert!(resumed(&out) > 0 || stage == "group copies", "{name} at {stage}: {}", ran.stderr);
            run(&[&docs], &fresh, &OPTIONS).ends_with(0);
            assert_same_bytes(&out, &fresh, name);
        }
    }
}

/// Checks that during a run, a change of permissions does not cause the loss of any rows, and a change to a text is detected.
#[test]
fn a_file_that_changes_under_a_run_is_looked_at_again() {
    for stage in ["group minhash", "read candidates"] {
        let folder = tempfile::tempdir().unwrap();
        let docs = corpus(folder.path());
        let (out, fresh) = (folder.path().join("out"), folder.path().join("fresh"));
        at_stage(command(&docs, &out), stage, false, || {
            fs::set_permissions(docs.join("b.jsonl"), fs::Permissions::from_mode(0o600)).unwrap();
        });
        run(&[&docs], &fresh, &OPTIONS).ends_with(0);
        assert_same_bytes(&out, &fresh, "permissions");
        assert_eq!(record(&out)["bad_inputs"], serde_json::json!([]));
        assert!(resumed(&out) > 0, "what was done stays");
    }
    let folder = tempfile::tempdir().unwrap();
    let docs = corpus(folder.path());
    let (out, fresh) = (folder.path().join("out"), folder.path().join("fresh"));
    at_stage(command(&docs, &out), "group minhash", false, || {
        change(&docs.join("b.jsonl"), "\"score\":103", "\"score\":999", false);
    });
    run(&[&docs], &fresh, &OPTIONS).ends_with(0);
    assert_same_bytes(&out, &fresh, "a value");
    assert_eq!((resumed(&out), &record(&out)["bad_inputs"]), (0, &serde_json::json!([])));
}

/// Checks that a damaged file that was skipped is read after it was replaced by an intact file with the same size and time.
#[test]
fn a_damaged_file_that_was_put_right_takes_part() {
    let folder = tempfile::tempdir().unwrap();
    let docs = crate::damage::corpus(folder.path());
    let file = docs.join("b.parquet");
    let (whole, time) = (fs::read(&file).unwrap(), fs::metadata(&file).unwrap().modified().unwrap());
    crate::damage::damage_last_texts(&file);
    let same_time = || File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
    same_time();
    let out = folder.path().join("out");
    let command = || {
        let mut command = program();
        command.arg("run").arg(&docs).arg("--out").arg(&out).args(["--algorithms", "exact,tf_idf", "--threads", "2"]);
        command.args(["--checkpoint", "0s", "--no-progress", "--log-format", "json"]);
        command
    };
    at_stage(command(), "group tf_idf", true, || ());
    assert_eq!(fs::metadata(&file).unwrap().len(), whole.len() as u64);
    fs::write(&file, &whole).unwrap();
    same_time();
    Ran::of(command().output().unwrap()).ends_with(0);
    assert_eq!(record(&out)["bad_inputs"], serde_json::json!([]));
}

/// Checks that the batch of an incremental run is also identified by its content.
#[test]
fn a_batch_with_another_text_is_not_published_already() {
    let folder = tempfile::tempdir().unwrap();
    let docs = corpus(folder.path());
    let (out, index) = (folder.path().join("n1"), folder.path().join("seen"));
    let incremental = || run(&[&docs], &out, &["--index", index.to_str().unwrap(), "--algorithms", "exact"]);
    incremental().ends_with(0);
    fs::set_permissions(docs.join("b.jsonl"), fs::Permissions::from_mode(0o600)).unwrap();
    incremental().ends_with(0).says(&["was already published"]);
    change(&docs.join("b.jsonl"), "\"id\":\"d", "\"id\":\"e", false);
    incremental().ends_with(2).says(&["is already in the index, but with different input files"]);
}

/// Checks that commands that inspect a result show no texts that the run did not read.
#[test]
fn a_look_knows_a_corpus_of_other_texts() {
    let folder = tempfile::tempdir().unwrap();
    let docs = corpus(folder.path());
    let out = folder.path().join("out");
    run(&[&docs], &out, &OPTIONS).ends_with(0);
    let look = |verb: &str, more: &[&str]| Ran::of(program().arg(verb).arg(&out).args(more).output().unwrap());
    fs::set_permissions(docs.join("b.jsonl"), fs::Permissions::from_mode(0o600)).unwrap();
    look("explain", &["--docs", "0", "1"]).ends_with(0);
    look("report", &[]).ends_with(0);
    let page = fs::read(out.join("report.html")).unwrap();
    change(&docs.join("b.jsonl"), "\"text\":\"", "\"test\":\"", false);
    look("explain", &["--docs", "0", "1"]).ends_with(2).says(&["b.jsonl has different contents"]);
    look("report", &[]).ends_with(2).says(&["b.jsonl has different contents", "report.html was not replaced"]);
    assert!(page == fs::read(out.join("report.html")).unwrap());
}
