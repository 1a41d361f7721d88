//! Tests the partial checkpoints of a pass. A run that is killed in the middle of a long pass resumes from these checkpoints and ends with
//! the same bytes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::kit::{Ran, assert_same_bytes, files_below, program, record, sample_docs};

/// Algorithms that sign documents in the first or in a second pass, algorithms that need counts, and algorithms that keep words, sketches
/// and evidence.
const ALGORITHMS: &str = "exact,minhash,versions,simhash,lsi:dimensions=16,passes=1,as=lsi,imatch,shingles,long_sent";
/// Algorithms that compute signatures from the words that are kept in the first pass, so there is no second pass.
const OF_WORDS: &str = "exact,versions,tf_idf";

const FIRST: &str = "the first pass";
const SECOND: &str = "the second pass";
const KEPT: &str = "the kept words";

/// Holds the input, which consists of files with a few documents each, so that there are many pieces. Some lines are invalid; each document
/// has a host and a rank.
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

    /// Returns the same lines in one compressed file.
    fn packed(self) -> Place {
        let mut all = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        for path in files_below(&self.docs()) {
            all.write_all(&std::fs::read(&path).unwrap()).unwrap();
            all.write_all(b"\n").unwrap();
            std::fs::remove_file(path).unwrap();
        }
        std::fs::write(self.docs().join("all.jsonl.gz"), all.finish().unwrap()).unwrap();
        self
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

    /// Returns the output of a run without checkpoints.
    fn whole(&self) -> PathBuf {
        Ran::of(self.command("whole", "never", "2", "512MiB").output().unwrap()).ends_with(3);
        self.out("whole")
    }

    /// Kills a run after it has saved this many partial checkpoints of a pass. `reading` is `FIRST`, `SECOND` or `KEPT`.
    fn killed_after(&self, out: &str, reading: &str, portions: usize) {
        let mut child =
            self.command(out, "0s", "2", "512MiB").stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let is_one =
            |line: &String| line.contains("partial checkpoint saved") && line.contains(&format!("\"{reading}\""));
        let lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let found = lines.filter(is_one).take(portions).count();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(found, portions, "part of {reading}");
        assert!(!self.out(out).exists(), "it was over");
    }

    /// Runs the same command again, with a different number of threads and a different memory limit.
    fn goes_on(&self, out: &str) -> Ran {
        Ran::of(self.command(out, "0s", "3", "128MiB").output().unwrap()).ends_with(3)
    }

    fn resumed(&self, out: &str) -> Vec<String> {
        let taken = record(&self.out(out))["resumed"].as_array().cloned().unwrap_or_default();
        taken.iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    }

    /// Returns the files of partial checkpoints in the folder of temporary files, in document order.
    fn portions(&self, out: &str) -> Vec<PathBuf> {
        let mut portions = self.saved_files(out, |name| name.starts_with("part of "));
        portions.sort_by_key(|path| std::fs::metadata(path).unwrap().modified().unwrap());
        portions
    }

    /// Returns the first file of each saved part whose name satisfies `is_one`.
    fn saved_files(&self, out: &str, is_one: impl Fn(&str) -> bool) -> Vec<PathBuf> {
        let work = self.out(&format!(".{out}.dupsift-work"));
        let ledger: serde_json::Value =
            serde_json::from_slice(&std::fs::read(work.join("ledger.json")).unwrap()).unwrap();
        let entries = ledger["ledger"]["checkpoints"].as_object().unwrap().values();
        let of_it = entries.filter(|entry| is_one(entry["name"].as_str().unwrap()));
        of_it.map(|entry| work.join(entry["files"][0]["name"].as_str().unwrap())).collect()
    }
}

#[track_caller]
fn goes_on_from_portions(options: &[&'static str], kills: &[(&str, usize)]) {
    goes_on_in(Place::new(options), kills);
}

#[track_caller]
fn goes_on_in(place: Place, kills: &[(&str, usize)]) {
    let whole = place.whole();
    for &(reading, portions) in kills {
        let out = format!("{}-{portions}", reading.replace(' ', "-"));
        place.killed_after(&out, reading, portions);
        place.goes_on(&out);
        let name = format!("part of {reading}");
        assert!(place.resumed(&out).contains(&name), "{out}: {:?}", place.resumed(&out));
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
    goes_on_from_portions(&[], &[(FIRST, 1), (FIRST, 4), (SECOND, 2)]);
}

#[test]
fn a_reading_of_one_compressed_file_goes_on_in_its_middle() {
    goes_on_in(Place::new(&[]).packed(), &[(FIRST, 1), (FIRST, 2), (SECOND, 1)]);
}

#[test]
fn columns_sources_and_scopes_of_documents_that_were_read_are_known() {
    let options = ["--keep", "rank desc,length asc", "--source-column", "host", "--scope", "within:host"];
    goes_on_from_portions(&options, &[(FIRST, 3), (SECOND, 1)]);
}

#[test]
fn pages_that_were_purified_are_not_purified_again() {
    goes_on_from_portions(
        &["--html-column", "text", "--algorithms", "exact,near_page,core_words,minhash"],
        &[(FIRST, 3)],
    );
}

#[test]
fn portions_hold_for_a_prefilter_and_for_copies_that_are_known_before() {
    goes_on_from_portions(&["--prefilter"], &[(FIRST, 3)]);
    goes_on_from_portions(&["--count-copies", "false"], &[(FIRST, 3), (SECOND, 1)]);
}

#[test]
fn signing_from_kept_words_goes_on_where_it_was() {
    goes_on_from_portions(&["--algorithms", OF_WORDS], &[(KEPT, 1), (KEPT, 2), (FIRST, 2)]);
    goes_on_from_portions(&["--algorithms", OF_WORDS, "--count-copies", "false"], &[(KEPT, 2)]);
}

/// Checks that a run that is killed repeatedly in the same pass still finishes and never starts over.
#[test]
fn portions_add_up_over_many_runs() {
    let place = Place::new(&["--algorithms", "exact,minhash,versions"]);
    let whole = place.whole();
    for _ in 0..4 {
        place.killed_after("out", FIRST, 1);
    }
    assert_eq!(place.portions("out").len(), 4);
    let dry = place.command("out", "0s", "2", "512MiB").arg("--dry-run").output().unwrap();
    let said = String::from_utf8(dry.stderr).unwrap();
    assert!(said.contains("CPU s of work") && said.contains(": part of the first pass\""), "{said}");
    place.goes_on("out");
    assert_same_bytes(&whole, &place.out("out"), "after four kills");
}

/// Checks that the checkpoints after a damaged checkpoint are not used, because the documents of the damaged checkpoint are read again.
#[test]
fn a_damaged_portion_is_named_and_those_behind_it_are_read_again() {
    let place = Place::new(&["--algorithms", "exact,minhash,versions"]);
    let whole = place.whole();
    for damaged in 0..3 {
        let out = format!("damaged-{damaged}");
        place.killed_after(&out, FIRST, 3);
        let path = &place.portions(&out)[damaged];
        let mut bytes = std::fs::read(path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 16;
        std::fs::write(path, bytes).unwrap();
        let ran = place.goes_on(&out);
        let name = Path::new(path).file_name().unwrap().to_string_lossy().into_owned();
        assert!(ran.stderr.contains(&name), "not named:\n{}", ran.stderr);
        assert_eq!(place.resumed(&out).is_empty(), damaged == 0);
        assert_same_bytes(&whole, &place.out(&out), &out);
    }
}

/// Checks that no earlier checkpoint is used with the words of a repeated pass, because a repeated pass stores the words in a different
/// order.
#[test]
fn portions_of_kept_words_are_of_these_words_only() {
    let place = Place::new(&["--algorithms", OF_WORDS]);
    let whole = place.whole();
    place.killed_after("out", KEPT, 2);
    let words = place.saved_files("out", |name| name == "words").remove(0);
    let mut bytes = std::fs::read(&words).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 16;
    std::fs::write(&words, bytes).unwrap();
    place.goes_on("out");
    assert!(!place.resumed("out").contains(&format!("part of {KEPT}")), "{:?}", place.resumed("out"));
    assert_same_bytes(&whole, &place.out("out"), "other words");
}

/// Checks that checkpoints are used only with the same options and files.
#[test]
fn other_options_and_other_files_take_no_portions_up() {
    let place = Place::new(&["--algorithms", "exact,minhash"]);
    place.killed_after("out", FIRST, 2);
    let mut other = place.command("out", "0s", "2", "512MiB");
    Ran::of(other.args(["--limit", "600"]).output().unwrap()).ends_with(3);
    assert_eq!(place.resumed("out"), Vec::<String>::new());
    place.killed_after("again", FIRST, 2);
    std::fs::write(place.docs().join("16.jsonl"), "{\"id\": \"x\", \"text\": \"another text\"}\n").unwrap();
    place.goes_on("again");
    assert_eq!(place.resumed("again"), Vec::<String>::new());
    assert_same_bytes(&place.whole(), &place.out("again"), "another file");
}
