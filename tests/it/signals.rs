//! Tests that a request to stop takes effect wherever the program waits. There is no output, and nothing is left behind.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::kit::{Doc, Ran, done, json_lines, made_docs, names_in, numbered, program, write_docs};

/// Writes a few megabytes of compressed JSON lines that take minutes to count. A gzip file may have many members; in this file, all members
/// are identical.
pub(crate) fn endless(path: &Path) {
    let words = "words and words ".repeat(500);
    let line = format!("{{\"text\": \"{words}\", \"html\": \"\", \"topic\": \"\"}}\n");
    let mut member = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..4_000 {
        member.write_all(line.as_bytes()).unwrap();
    }
    let member = member.finish().unwrap();
    let mut file = std::fs::File::create(path).unwrap();
    for _ in 0..20_000 {
        file.write_all(&member).unwrap();
    }
}

fn ask(child: &Child, signal: &str) {
    let status = Command::new("kill").arg(signal).arg(child.id().to_string()).status().unwrap();
    assert!(status.success());
}

/// Returns a command for the program. The program receives stop signals even if the shell that runs the tests ignores some of these
/// signals.
#[allow(unsafe_code)]
pub(crate) fn listening() -> Command {
    let mut command = program();
    let hear = || {
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
            // SAFETY: SIG_DFL runs none of our code in a signal handler.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: only signal(2) is called between fork and exec, which is allowed.
    unsafe { command.pre_exec(hear) };
    command
}

/// Asks a program to stop, and fails with the message `slow` if this takes longer than `within`.
#[track_caller]
fn end(child: &mut Child, signal: &str, within: Duration, slow: &str) {
    ask(child, signal);
    let asked = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(asked.elapsed() < within, "{slow}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Asks the program to stop after this time, and fails unless it ends long before its work would be finished.
#[track_caller]
fn ends(command: &mut Command, after: Duration) {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(after);
    assert!(child.try_wait().unwrap().is_none(), "{command:?} ended before it was asked to");
    end(&mut child, "-TERM", Duration::from_secs(20), &format!("{command:?} does not hear"));
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(143), "{stderr}");
    assert!(stderr.lines().last().is_some_and(|line| line.contains("stopped ")), "{stderr}");
}

#[test]
fn opening_large_inputs_is_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    endless(&folder.path().join("a.jsonl.gz"));
    let typed = |words: &[&str]| {
        let mut command = listening();
        command.current_dir(folder.path()).args(words);
        ends(&mut command, Duration::from_millis(700));
    };
    typed(&["run", "a.jsonl.gz", "--out", "out"]);
    typed(&["compare", "a.jsonl.gz", "--out", "out", "--algorithms", "exact,tf"]);
    typed(&["stream", "a.jsonl.gz", "--out", "out"]);
    typed(&["purify", "a.jsonl.gz", "--out", "out"]);
    std::fs::write(folder.path().join("items.jsonl"), "{\"question\": \"One question of some words?\"}\n").unwrap();
    typed(&["contaminated", "a.jsonl.gz", "--out", "out", "--against", "items.jsonl", "--item-column", "question"]);
    std::fs::remove_file(folder.path().join("items.jsonl")).unwrap();
    typed(&["purify", "a.jsonl.gz", "--out", "out", "--train", "topic"]);
    // Tests commands that read a finished run whose corpus has grown to this size since the run.
    let docs = folder.path().join("docs");
    write_docs(&docs.join("a.parquet"), &numbered(["One text.", "One text."]), 10);
    let done = done(&docs, &["--algorithms", "exact"]);
    std::fs::remove_file(docs.join("a.parquet")).unwrap();
    std::fs::rename(folder.path().join("a.jsonl.gz"), docs.join("a.jsonl.gz")).unwrap();
    let record = done.out().join("run.json");
    let text = std::fs::read_to_string(&record).unwrap().replace("a.parquet", "a.jsonl.gz");
    std::fs::write(&record, text).unwrap();
    let truth = folder.path().join("truth.jsonl");
    std::fs::write(&truth, "{\"id_a\": \"d0\", \"id_b\": \"d1\"}\n").unwrap();
    let out = done.out().display().to_string();
    typed(&["explain", &out, "d0", "d1"]);
    typed(&["report", &out]);
    typed(&["evaluate", &out, "--truth", "truth.jsonl"]);
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

/// The signals that tell a process to stop, and the exit codes that shells expect.
pub(crate) const SIGNALS: [(&str, i32); 3] = [("-TERM", 143), ("-INT", 130), ("-HUP", 129)];

#[test]
fn each_signal_has_the_exit_code_that_shells_expect() {
    let folder = tempfile::tempdir().unwrap();
    endless(&folder.path().join("a.jsonl.gz"));
    for (signal, code) in SIGNALS {
        let mut command = listening();
        command.current_dir(folder.path()).args(["run", "a.jsonl.gz", "--out", "out"]).stderr(Stdio::piped());
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(700));
        end(&mut child, signal, Duration::from_secs(20), &format!("{signal} is not heard"));
        let last = "error: stopped before the first stage; no output was written\n";
        let ran = Ran::of(child.wait_with_output().unwrap()).ends_with(code);
        assert!(ran.stderr.ends_with(last), "{signal}\n{}", ran.stderr);
    }
}

/// Checks a process that is started as if by `nohup`.
#[test]
fn a_signal_that_the_process_was_started_to_ignore_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    endless(&folder.path().join("a.jsonl.gz"));
    let mut command = Command::new("sh");
    command.current_dir(folder.path()).args(["-c", "trap '' HUP; exec \"$0\" run a.jsonl.gz --out out"]);
    let mut child = command.arg(crate::kit::built()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    ask(&child, "-HUP");
    std::thread::sleep(Duration::from_millis(700));
    assert!(child.try_wait().unwrap().is_none(), "it ends");
    end(&mut child, "-TERM", Duration::from_secs(20), "it does not hear");
    Ran::of(child.wait_with_output().unwrap()).ends_with(143);
}

/// The number of attempts to hit a stage that may be over before the request arrives.
const TRIALS: usize = 8;

/// Asks the program to stop when it reports that this stage begins, and fails unless it ends in this stage and leaves nothing behind.
#[track_caller]
fn stopped_in(folder: &Path, stage: &str, words: &[&str]) {
    let before = names_in(folder);
    for trial in 0..TRIALS {
        let mut command = listening();
        command.current_dir(folder).args(words).args(["--log-format", "json", "--threads", "2", "--memory", "512MiB"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while !begun(&said).contains(&stage) {
            assert!(lines.read_line(&mut said).unwrap() > 0, "{command:?} never comes to {stage:?}\n{said}");
        }
        let rest = std::thread::spawn(move || {
            let mut rest = String::new();
            lines.read_to_string(&mut rest).map(|_| rest)
        });
        // The limit is two seconds, but other processes also use this machine.
        let slow = format!("{command:?} does not hear in {stage:?}");
        let (signal, code) = SIGNALS[trial % SIGNALS.len()];
        end(&mut child, signal, Duration::from_secs(10), &slow);
        said += &rest.join().unwrap().unwrap();
        if begun(&said).last() != Some(&stage) {
            // The stage was over, so this attempt does not count.
            let _ = std::fs::remove_dir_all(folder.join("out"));
            continue;
        }
        assert_eq!(child.wait().unwrap().code(), Some(code), "{stage}\n{said}");
        let last = format!("stopped in \\\"{stage}\\\"; no output was written");
        assert_eq!(said.matches("; no output was written").count(), 1, "{stage}\n{said}");
        assert!(said.lines().last().is_some_and(|line| line.contains(&last)), "{stage}\n{said}");
        assert_eq!(names_in(folder), before, "{stage}");
        return;
    }
    panic!("{stage:?} is over too soon to be stopped in {words:?}");
}

/// Returns the names of the stages that began, according to the log.
fn begun(said: &str) -> Vec<&str> {
    let lines = said.lines().filter(|line| line.contains("\"stage begins\""));
    lines.filter_map(|line| line.split_once("\"stage\":\"")?.1.split_once('"')).map(|(stage, _)| stage).collect()
}

/// Writes many copies of a few texts, so that there is little to read but a pair for each document.
fn copies(folder: &Path) {
    let texts = (0..400_000).map(|at| format!("Text number {}, and more of it that stands in many copies.", at % 12));
    std::fs::write(folder.join("copies.jsonl"), json_lines(&numbered(texts))).unwrap();
}

#[test]
fn a_run_is_stopped_in_its_first_stages() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("docs.jsonl"), json_lines(&made_docs(60_000))).unwrap();
    let stopped_in = |stage: &str, algorithms: &str| {
        // Saving is turned off, because a run on a slow machine would otherwise reach a checkpoint.
        let words = ["run", "docs.jsonl", "--out", "out", "--checkpoint", "never", "--algorithms", algorithms];
        stopped_in(folder.path(), stage, &words);
    };
    stopped_in("count", "exact,tf_idf");
    stopped_in("sign", "exact,minhash:bands=100");
    stopped_in("read saved words", "cosine,idf_hash,imatch,minhash,opt_freq,tf_idf");
    stopped_in("collect training data", "lsi");
    stopped_in("learn lsi", "lsi:vocabulary=1000000,dimensions=248");
    stopped_in("group shingles", "shingles");
}

#[test]
fn a_run_is_stopped_while_it_checks_pairs() {
    let folder = tempfile::tempdir().unwrap();
    // Writes long texts that are all similar to each other.
    let words = |at: usize| (0..12_000).map(move |word| if (word + at).is_multiple_of(19) { word * at } else { word });
    let text = |at: usize| words(at).map(|word| format!("w{word} ")).collect::<String>();
    write_docs(&folder.path().join("long.parquet"), &numbered((0..96).map(text)), 8);
    let algorithms = "exact,cosine:threshold=0.1,verify=lcs:0.5";
    for stage in ["read candidates", "verify cosine"] {
        stopped_in(folder.path(), stage, &["run", "long.parquet", "--out", "out", "--algorithms", algorithms]);
    }
}

#[test]
fn a_run_and_a_comparison_are_stopped_in_their_last_stages() {
    let folder = tempfile::tempdir().unwrap();
    copies(folder.path());
    for stage in ["expand tf", "write tables", "report"] {
        stopped_in(folder.path(), stage, &["run", "copies.jsonl", "--out", "out", "--algorithms", "exact,tf"]);
    }
    let compare = ["compare", "copies.jsonl", "--out", "out", "--algorithms", "exact,tf", "--no-report"];
    let compare = [&compare[..], &["--judge-sample", "2000000"]].concat();
    for stage in ["collect pairs", "judge"] {
        stopped_in(folder.path(), stage, &compare);
    }
}

#[test]
fn looks_at_a_run_that_is_done_are_stopped() {
    let folder = tempfile::tempdir().unwrap();
    copies(folder.path());
    let run = ["run", "copies.jsonl", "--out", "done", "--algorithms", "exact,tf", "--no-report"];
    // Every document whose text occurs in an earlier document is a copy, and a guard warns about these copies.
    Ran::of(program().current_dir(folder.path()).args(run).output().unwrap()).ends_with(3);
    std::fs::write(folder.path().join("truth.jsonl"), "{\"id_a\": \"d0\", \"id_b\": \"d12\"}\n").unwrap();
    let done = folder.path().join("done");
    let before = names_in(&done);
    stopped_in(folder.path(), "measure", &["evaluate", "done", "--truth", "truth.jsonl"]);
    stopped_in(folder.path(), "report", &["report", "done"]);
    // Without the corpus, there is no pass over documents that would check the flag.
    std::fs::rename(folder.path().join("copies.jsonl"), folder.path().join("gone.jsonl")).unwrap();
    stopped_in(folder.path(), "report", &["report", "done"]);
    assert_eq!(names_in(&done), before);
}

#[test]
fn an_explanation_of_two_long_documents_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let text = |at: usize| (0..400_000).map(|word| format!("w{} ", word * at % 99_991)).collect::<String>();
    let docs: Vec<Doc> = numbered([text(3), text(5)]);
    std::fs::write(folder.path().join("long.jsonl"), json_lines(&docs)).unwrap();
    let run = ["run", "long.jsonl", "--out", "done", "--algorithms", "exact,minhash", "--no-report"];
    Ran::of(program().current_dir(folder.path()).args(run).output().unwrap()).ends_with(0);
    stopped_in(folder.path(), "compare both documents", &["explain", "done", "d0", "d1"]);
}

#[test]
fn a_stream_and_a_purification_are_stopped() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("docs.jsonl"), json_lines(&made_docs(60_000))).unwrap();
    stopped_in(folder.path(), "stream", &["stream", "docs.jsonl", "--out", "out"]);
    let purify = ["purify", "docs.jsonl", "--out", "out", "--html-column", "text"];
    stopped_in(folder.path(), "purify", &purify);
    std::fs::write(folder.path().join("items.jsonl"), json_lines(&made_docs(100))).unwrap();
    let contaminated =
        ["contaminated", "docs.jsonl", "--out", "out", "--against", "items.jsonl", "--item-column", "text"];
    stopped_in(folder.path(), "search", &contaminated);
}

/// Checks that the process ends even during a step that does not check the flag. A 60 MB document is read in a single step and counted
/// in a single step.
#[test]
fn one_very_long_document_does_not_keep_a_run_from_being_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let text: String = (0..6_000_000).map(|word| format!("слово{} ", word % 1_000_003)).collect();
    write_docs(&folder.path().join("long.parquet"), &numbered([text]), 1);
    for (stage, algorithms) in [("count", "cosine,tf_idf"), ("sign", "shingles,sim")] {
        stopped_in(folder.path(), stage, &["run", "long.parquet", "--out", "out", "--algorithms", algorithms]);
    }
}

/// The usual capacity of a pipe.
const PIPE: usize = 1 << 16;

/// Checks that the program ends even if nobody reads its output, although the flag cannot interrupt the write.
#[cfg(target_os = "linux")]
#[test]
fn a_reader_that_does_not_read_keeps_no_process() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("docs.jsonl"), json_lines(&made_docs(40))).unwrap();
    let blocked = |words: &[&str], code: i32, ready: &dyn Fn() -> bool| {
        let (_unread, mut full) = std::io::pipe().unwrap();
        full.write_all(&[b'x'; PIPE]).unwrap();
        let mut command = listening();
        command.current_dir(folder.path()).args(words).args(["--threads", "2", "--memory", "512MiB"]);
        let mut child = command.stdout(full).stderr(Stdio::piped()).spawn().unwrap();
        let begun = Instant::now();
        while !ready() || begun.elapsed() < Duration::from_secs(1) {
            assert!(begun.elapsed() < Duration::from_secs(60), "{words:?} does not come so far");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(child.try_wait().unwrap().is_none(), "{words:?} prints into a full pipe");
        end(&mut child, "-TERM", Duration::from_secs(10), &format!("{words:?} waits for its reader"));
        Ran::of(child.wait_with_output().unwrap()).ends_with(code)
    };
    // The result is complete, and the exit code reflects this.
    let stands = || folder.path().join("done/_SUCCESS").is_file();
    blocked(&["run", "docs.jsonl", "--out", "done", "--algorithms", "exact"], 0, &stands);
    assert_eq!(names_in(folder.path()), ["docs.jsonl", "done"]);
    blocked(&["explain", "done", "d0", "d1"], 143, &|| true).says(&["stopped in \"compare both documents\""]);
    assert_eq!(names_in(folder.path()), ["docs.jsonl", "done"]);
}
