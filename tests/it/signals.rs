//! A request to stop is heard wherever the program waits: nothing stands at the output then, and nothing is left beside it.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::kit::{done, numbered, program, write_docs};

/// JSON lines that take minutes to be counted, in a few megabytes: a gzip file may have many members, and here they are all one.
fn endless(path: &Path) {
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

fn end(child: &Child) {
    let status = Command::new("kill").arg("-TERM").arg(child.id().to_string()).status().unwrap();
    assert!(status.success());
}

/// Fails unless the program, asked to end after this time, ends long before its work would.
#[track_caller]
fn ends(command: &mut Command, after: Duration) {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(after);
    assert!(child.try_wait().unwrap().is_none(), "{command:?} ended before it was asked to");
    end(&child);
    let asked = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(asked.elapsed() < Duration::from_secs(20), "{command:?} does not hear");
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && stderr.contains("interrupted"), "{stderr}");
}

#[test]
fn opening_large_inputs_is_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    endless(&folder.path().join("a.jsonl.gz"));
    let typed = |words: &[&str]| {
        let mut command = program();
        command.current_dir(folder.path()).args(words);
        ends(&mut command, Duration::from_millis(700));
    };
    typed(&["run", "a.jsonl.gz", "--out", "out"]);
    typed(&["compare", "a.jsonl.gz", "--out", "out", "--algorithms", "exact,tf"]);
    typed(&["stream", "a.jsonl.gz", "--out", "out"]);
    typed(&["purify", "a.jsonl.gz", "--out", "out"]);
    typed(&["purify", "a.jsonl.gz", "--out", "out", "--train", "topic"]);
    // A look at a run whose corpus has become so large since.
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
