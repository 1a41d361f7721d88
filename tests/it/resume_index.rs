//! Tests that a killed run with an index or a reference resumes, and that the output and the index are the same as if it had not been
//! killed.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::kit::{Ran, assert_same_bytes, files_below, made_docs, program, record, sample_docs, write_docs};

/// Algorithms that use a rule over all pairs, relations, sketches in the index, and a check that rereads documents.
const ALGORITHMS: &str = "exact,versions,minhash:verify=jaccard:0.5,tf_idf:margin=0.1,verify=lcs:0.5";

/// Holds a folder with two batches.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        let docs: Vec<_> = sample_docs().into_iter().step_by(12).chain(made_docs(80)).collect();
        let (odd, even): (Vec<_>, Vec<_>) = docs.into_iter().enumerate().partition(|(at, _)| at % 2 == 1);
        for (name, docs) in [("monday", odd), ("tuesday", even)] {
            let docs: Vec<_> = docs.into_iter().map(|(_, doc)| doc).collect();
            write_docs(&place.at(&format!("{name}.parquet")), &docs, 30);
        }
        place
    }

    /// Returns a place whose index contains the first batch.
    fn after_monday() -> Place {
        let place = Place::new();
        place.run("monday", &["--checkpoint", "never"]).ends_with(0);
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn out(&self) -> PathBuf {
        self.at("out/tuesday")
    }

    /// Returns the command for a batch. The run saves each step, unless `more` changes this.
    fn command(&self, batch: &str, more: &[&str]) -> Command {
        let mut command = program();
        command.arg("run").arg(self.at(&format!("{batch}.parquet"))).arg("--out").arg(self.at("out").join(batch));
        command.args(["--no-progress", "--log-format", "json", "--threads", "2", "--memory", "512MiB"]);
        command.args(["--algorithms", ALGORITHMS, "--max-removed-share", "1", "--max-candidates-factor", "1000000"]);
        if !more.contains(&"--checkpoint") {
            command.args(["--checkpoint", "0s"]);
        }
        if !more.contains(&"--reference") {
            command.arg("--index").arg(self.at("seen"));
        }
        command.args(more);
        command
    }

    fn run(&self, batch: &str, more: &[&str]) -> Ran {
        Ran::of(self.command(batch, more).output().unwrap())
    }

    /// Kills a run when the stage at this position begins. Returns the name of the stage; `None` if the run has fewer stages.
    fn killed_in(&self, batch: &str, stage: usize, more: &[&str]) -> Option<String> {
        let mut child = self.command(batch, more).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = lines.map_while(Result::ok).filter(|line| line.contains("\"stage begins\"")).nth(stage);
        child.kill().unwrap();
        child.wait().unwrap();
        line
    }

    /// Returns the document files and row files in the index.
    fn index(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let below = |kind: &str| files_below(&self.at("seen").join(kind)).into_iter();
        let files = below("batches").chain(below("rows"));
        files.map(|path| (path.strip_prefix(self.0.path()).unwrap().into(), std::fs::read(&path).unwrap())).collect()
    }

    fn holds(&self) -> serde_json::Value {
        let ran = Ran::of(program().args(["index", "info", "--json"]).arg(self.at("seen")).output().unwrap());
        serde_json::from_str(&ran.ends_with(0).stdout).unwrap()
    }

    /// Fails unless the output and the index are the same as in another place.
    #[track_caller]
    fn is_as(&self, whole: &Place, batch: &str, what: &str) {
        let out = |place: &Place| place.at("out").join(batch);
        assert_same_bytes(&out(whole), &out(self), what);
        let (expected, found) = (whole.index(), self.index());
        assert_eq!(expected.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>(), "{what}");
        let differ: Vec<_> = expected.iter().filter(|(path, bytes)| found[*path] != **bytes).map(|one| one.0).collect();
        assert!(differ.is_empty(), "{what}: other bytes in {differ:?}");
        let of = |place: &Place| {
            let holds = place.holds();
            let batch = |batch: &serde_json::Value| (batch["name"].clone(), batch["documents"].clone());
            holds["batches"].as_array().unwrap().iter().map(batch).collect::<Vec<_>>()
        };
        assert_eq!(of(whole), of(self), "{what}");
        Ran::of(program().args(["index", "verify"]).arg(self.at("seen")).output().unwrap()).ends_with(0);
    }
}

fn resumed(out: &Path) -> Vec<String> {
    let names = record(out)["resumed"].as_array().cloned().unwrap_or_default();
    names.iter().map(|name| name.as_str().unwrap().to_string()).collect()
}

fn copy_folder(from: &Path, to: &Path) {
    for file in files_below(from) {
        let copy = to.join(file.strip_prefix(from).unwrap());
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        std::fs::copy(&file, &copy).unwrap();
    }
}

/// Kills a batch at each of its stages in turn, and resumes it after each kill.
fn killed_at_each_stage(batch: &str, begin: impl Fn() -> Place) {
    let whole = begin();
    whole.run(batch, &["--checkpoint", "never"]).ends_with(0);
    let (mut stages, mut went_on) = (0, 0);
    loop {
        let place = begin();
        let Some(stage) = place.killed_in(batch, stages, &[]) else { break };
        let out = place.at("out").join(batch);
        place.run(batch, &[]).ends_with(0);
        went_on += usize::from(!resumed(&out).is_empty());
        place.is_as(&whole, batch, &stage);
        stages += 1;
    }
    assert!(stages > 20 && went_on > stages / 2, "{went_on} of {stages} runs went on");
}

#[test]
fn the_first_batch_resumes_after_a_kill_in_any_stage() {
    killed_at_each_stage("monday", Place::new);
}

#[test]
fn a_later_batch_resumes_after_a_kill_in_any_stage() {
    let base = Place::after_monday();
    killed_at_each_stage("tuesday", || {
        let place = Place::new();
        for folder in ["seen", "out"] {
            copy_folder(&base.at(folder), &place.at(folder));
        }
        place
    });
}

/// Returns the last position at which this stage begins in a run that is not killed.
fn position(place: &Place, more: &[&str], stage: &str) -> usize {
    let ran = Ran::of(place.command("tuesday", more).output().unwrap()).ends_with(0);
    // If the reference consists of files, the same stages run first to index them.
    let stages: Vec<&str> = ran.stderr.lines().filter(|line| line.contains("\"stage begins\"")).collect();
    let last = stages.iter().rposition(|line| line.contains(&format!("\"{stage}\"")));
    last.unwrap_or_else(|| panic!("no stage {stage}"))
}

/// Checks runs that are killed at each step of the publication, while the index is changed.
#[test]
fn a_kill_while_a_batch_is_published_neither_loses_nor_repeats_it() {
    let base = Place::after_monday();
    let begin = || {
        let place = Place::new();
        for folder in ["seen", "out"] {
            copy_folder(&base.at(folder), &place.at(folder));
        }
        place
    };
    let whole = begin();
    whole.run("tuesday", &["--checkpoint", "never"]).ends_with(0);
    for step in ["documents", "rows", "intent", "documents named", "rows named", "output", "manifest", "swept"] {
        let place = begin();
        let died = place.command("tuesday", &[]).env("DUPSIFT_STOP_AT", step).output().unwrap();
        assert_eq!(died.status.code(), None, "{step}: {}", String::from_utf8_lossy(&died.stderr));
        let is_published = place.out().exists();
        place.run("tuesday", &[]).ends_with(0);
        // The run is complete once the output has its final name; until then, it still has to be finished.
        assert_eq!(resumed(&place.out()).is_empty(), is_published, "{step}");
        place.is_as(&whole, "tuesday", step);
        assert!(!place.at("out/.tuesday.dupsift-work").exists(), "{step}: checkpoints are left");
    }
}

/// Checks a run in which more indexed documents take part than expected, so that it starts over with more document numbers for these
/// documents. A resumed run has these numbers from the beginning.
#[test]
fn a_run_that_started_over_resumes() {
    let begin = || {
        let place = Place::new();
        write_docs(&place.at("monday.parquet"), &crate::kit::numbered(vec!["one text many times"; 70_000]), 10_000);
        write_docs(&place.at("tuesday.parquet"), &crate::kit::numbered(vec!["one text many times"; 3]), 10);
        place
    };
    let whole = begin();
    for batch in ["monday", "tuesday"] {
        whole.run(batch, &["--checkpoint", "never"]).ends_with(0);
    }
    let place = begin();
    place.run("monday", &["--checkpoint", "never"]).ends_with(0);
    place.killed_in("tuesday", 12, &[]).unwrap();
    place.run("tuesday", &[]).ends_with(0);
    place.is_as(&whole, "tuesday", "more indexed documents than reserved");
}

#[test]
fn a_batch_begins_anew_if_the_index_has_changed() {
    let place = Place::after_monday();
    write_docs(&place.at("wednesday.parquet"), &made_docs(50), 30);
    let whole = Place::after_monday();
    std::fs::copy(place.at("wednesday.parquet"), whole.at("wednesday.parquet")).unwrap();
    for batch in ["wednesday", "tuesday"] {
        whole.run(batch, &["--checkpoint", "never"]).ends_with(0);
    }
    let stages = place.killed_in("tuesday", 30, &[]);
    assert!(stages.is_some() && !place.out().exists());
    place.run("wednesday", &[]).ends_with(0);
    place.run("tuesday", &[]).ends_with(0).says(&["the index or reference has changed", "starts from the beginning"]);
    assert!(resumed(&place.out()).is_empty());
    place.is_as(&whole, "tuesday", "after wednesday");
}

/// Returns the number of temporary folders of references next to the output.
fn references_left(place: &Place) -> usize {
    let names = place.out().parent().unwrap().read_dir().unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().contains(".dupsift-reference-")).count()
}

#[test]
fn a_run_with_a_reference_resumes() {
    for reference in ["seen", "monday.parquet", "out/monday"] {
        let begin = Place::after_monday;
        let whole = begin();
        let path = |place: &Place| place.at(reference).to_string_lossy().into_owned();
        let more = |path: &'static str| ["--reference", path];
        let leaked = |place: &Place| -> &'static str { path(place).leak() };
        let last = position(&whole, &[&more(leaked(&whole))[..], &["--checkpoint", "0s"]].concat(), "write tables");
        let place = begin();
        let with = more(leaked(&place));
        assert!(place.killed_in("tuesday", last, &with).is_some());
        assert_eq!(references_left(&place), usize::from(reference != "seen"), "{reference}");
        place.run("tuesday", &with).ends_with(0);
        assert_eq!(references_left(&place), 0, "{reference}");
        let names = resumed(&place.out());
        assert!(names.iter().any(|name| name == "near versions"), "{reference}: {names:?}");
        assert_same_bytes(&whole.out(), &place.out(), reference);
    }
    // Different files count as a different reference.
    let place = Place::after_monday();
    let of_monday: &'static str = place.at("monday.parquet").to_string_lossy().into_owned().leak();
    place.killed_in("tuesday", 60, &["--reference", of_monday]).unwrap();
    write_docs(&place.at("monday.parquet"), &made_docs(60), 30);
    place.run("tuesday", &["--reference", of_monday]).ends_with(0).says(&["the index or reference has changed"]);
    assert!(resumed(&place.out()).is_empty());
}
