//! A reading puts down what it knows so far, a portion: who is killed in the middle of a long reading goes on from there, and ends with the
//! same bytes.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::kit::{Ran, assert_same_bytes, program, record, sample_docs};

/// Members that sign in the first reading or in a second one, that count, keep words, sketches and evidence.
const ALGORITHMS: &str = "exact,minhash,cosine:join=heavy,relate=true,simhash,lsi,imatch,shingles,long_sent";

/// What is read: files of a few documents each, so that there are many pieces. Some lines cannot be used; each document has a host and a
/// rank, which is a text in some files.
struct Place {
    folder: tempfile::TempDir,
    options: Vec<&'static str>,
}

impl Place {
    fn new(options: &[&'static str]) -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap(), options: options.to_vec() };
        let html = options.contains(&"--html-column");
        std::fs::create_dir(place.docs()).unwrap();
        let docs = sample_docs();
        for (file, docs) in docs.chunks(docs.len() / 17).enumerate() {
            let mut lines = Vec::new();
            for (row, doc) in docs.iter().enumerate() {
                let paragraphs: String = doc.text.lines().map(|line| format!("<p>{line}</p>")).collect();
                let text = if html {
                    format!("<html><head><title>Page {row} of {file}</title></head><body>{paragraphs}</body></html>")
                } else {
                    doc.text.clone()
                };
                let (host, rank) = (format!("host{}", row % 3), (row * 7) % 50);
                lines.push(json!({"id": doc.id, "text": text, "host": host, "rank": rank}).to_string());
                if row % 40 == 7 {
                    lines.push(format!("{{\"id\": \"no {file} {row}\", \"text\": "));
                }
            }
            std::fs::write(place.docs().join(format!("{file:02}.jsonl")), lines.join("\n")).unwrap();
        }
        place
    }

    fn docs(&self) -> PathBuf {
        self.folder.path().join("docs")
    }

    fn out(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, out: &str, checkpoint: &str, threads: &str, memory: &str) -> Command {
        let mut command = program();
        command.arg("run").arg(self.docs()).arg("--out").arg(self.out(out)).args(&self.options);
        command.args([
            "--no-progress",
            "--log-format",
            "json",
            "--max-rejected-share",
            "1",
            "--checkpoint",
            checkpoint,
        ]);
        command.args(["--threads", threads, "--memory", memory]);
        if !self.options.contains(&"--algorithms") {
            command.args(["--algorithms", ALGORITHMS]);
        }
        command
    }

    /// What a run makes that rests nowhere.
    fn whole(&self) -> PathBuf {
        Ran::of(self.command("whole", "never", "2", "512MiB").output().unwrap()).ends_with(3);
        self.out("whole")
    }

    /// Kills a run where so many portions of this reading were put down.
    fn killed_after(&self, out: &str, reading: &str, portions: usize) {
        let mut child =
            self.command(out, "0s", "2", "512MiB").stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let is_one =
            |line: &String| line.contains("portion put down") && line.contains(&format!("\"the {reading} reading\""));
        let lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let found = lines.filter(is_one).take(portions).count();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(found, portions, "portions of the {reading} reading");
        assert!(!self.out(out).exists(), "it was over");
    }

    /// The same command again, with other threads and memory.
    fn goes_on(&self, out: &str) -> Ran {
        Ran::of(self.command(out, "0s", "3", "128MiB").output().unwrap()).ends_with(3)
    }

    fn taken_up(&self, out: &str) -> Vec<String> {
        let taken = record(&self.out(out))["taken_up"].as_array().cloned().unwrap_or_default();
        taken.iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    }

    /// The files of portions in the work folder, by the order of documents.
    fn portions(&self, out: &str) -> Vec<PathBuf> {
        let work = self.out(&format!(".{out}.dupsift-work"));
        let ledger: serde_json::Value =
            serde_json::from_slice(&std::fs::read(work.join("ledger.json")).unwrap()).unwrap();
        let entries = ledger["ledger"]["products"].as_object().unwrap().values();
        let mut portions: Vec<(String, PathBuf)> = entries
            .filter(|entry| entry["name"].as_str().unwrap().starts_with("portions of "))
            .map(|entry| {
                (entry["data"]["cpu_seconds"].to_string(), work.join(entry["files"][0]["name"].as_str().unwrap()))
            })
            .collect();
        portions.sort_by_key(|(_, path)| std::fs::metadata(path).unwrap().modified().unwrap());
        portions.into_iter().map(|(_, path)| path).collect()
    }
}

#[track_caller]
fn goes_on_from_portions(options: &[&'static str], kills: &[(&str, usize)]) {
    let place = Place::new(options);
    let whole = place.whole();
    for &(reading, portions) in kills {
        let out = format!("{reading}-{portions}");
        place.killed_after(&out, reading, portions);
        place.goes_on(&out);
        let name = format!("portions of the {reading} reading");
        assert!(place.taken_up(&out).contains(&name), "{out}: {:?}", place.taken_up(&out));
        assert_same_bytes(&whole, &place.out(&out), &out);
        let (whole, again) = (record(&whole), record(&place.out(&out)));
        for key in
            ["documents", "rejected", "rejected_reasons", "text_bytes", "purify", "sources", "parts", "duplicate_ids"]
        {
            let without_times = |record: &serde_json::Value| {
                let mut value = record[key].clone();
                value.as_object_mut().map(|value| value.remove("seconds"));
                value
            };
            assert_eq!(without_times(&again), without_times(&whole), "{key}");
        }
        assert!(!place.out(&format!(".{out}.dupsift-work")).exists());
    }
}

#[test]
fn a_run_goes_on_in_the_middle_of_a_reading() {
    goes_on_from_portions(&[], &[("first", 1), ("first", 4), ("second", 2)]);
}

#[test]
fn columns_sources_and_scopes_of_documents_that_were_read_are_known() {
    let options = ["--keep", "rank desc,length", "--source-column", "host", "--scope", "within:host"];
    goes_on_from_portions(&options, &[("first", 3), ("second", 1)]);
}

#[test]
fn pages_that_were_purified_are_not_purified_again() {
    goes_on_from_portions(
        &["--html-column", "text", "--algorithms", "exact,near_page,core_words,minhash"],
        &[("first", 3)],
    );
}

#[test]
fn portions_hold_for_a_sieve_and_for_copies_that_are_known_before() {
    goes_on_from_portions(&["--sift"], &[("first", 3)]);
    goes_on_from_portions(&["--count-copies", "false"], &[("first", 3), ("second", 1)]);
}

/// A run that is killed again and again in one reading ends all the same, and never begins anew.
#[test]
fn portions_add_up_over_many_runs() {
    let place = Place::new(&["--algorithms", "exact,minhash,cosine:join=heavy,relate=true"]);
    let whole = place.whole();
    for _ in 0..4 {
        place.killed_after("out", "first", 1);
    }
    assert_eq!(place.portions("out").len(), 4);
    let dry = place.command("out", "0s", "2", "512MiB").arg("--dry-run").output().unwrap();
    let said = String::from_utf8(dry.stderr).unwrap();
    assert!(said.contains("CPU s of work") && said.contains(": portions of the first reading\""), "{said}");
    place.goes_on("out");
    assert_same_bytes(&whole, &place.out("out"), "after four kills");
}

/// What is behind a damaged portion does not join on to what is read again.
#[test]
fn a_damaged_portion_is_named_and_those_behind_it_are_read_again() {
    let place = Place::new(&["--algorithms", "exact,minhash,cosine:join=heavy,relate=true"]);
    let whole = place.whole();
    for damaged in 0..3 {
        let out = format!("damaged-{damaged}");
        place.killed_after(&out, "first", 3);
        let path = &place.portions(&out)[damaged];
        let mut bytes = std::fs::read(path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 16;
        std::fs::write(path, bytes).unwrap();
        let ran = place.goes_on(&out);
        let name = Path::new(path).file_name().unwrap().to_string_lossy().into_owned();
        assert!(ran.stderr.contains(&name), "not named:\n{}", ran.stderr);
        assert_eq!(place.taken_up(&out).is_empty(), damaged == 0);
        assert_same_bytes(&whole, &place.out(&out), &out);
    }
}

/// Portions are of the options that they were made with, and of the files.
#[test]
fn other_options_and_other_files_take_no_portions_up() {
    let place = Place::new(&["--algorithms", "exact,minhash"]);
    place.killed_after("out", "first", 2);
    let mut other = place.command("out", "0s", "2", "512MiB");
    Ran::of(other.args(["--limit", "600"]).output().unwrap()).ends_with(3);
    assert_eq!(place.taken_up("out"), Vec::<String>::new());
    place.killed_after("again", "first", 2);
    std::fs::write(place.docs().join("16.jsonl"), "{\"id\": \"x\", \"text\": \"another text\"}\n").unwrap();
    place.goes_on("again");
    assert_eq!(place.taken_up("again"), Vec::<String>::new());
    assert_same_bytes(&place.whole(), &place.out("again"), "another file");
}
