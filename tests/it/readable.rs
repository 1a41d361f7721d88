//! Tests that no output is more readable than the files from which it was made.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::kit::{Ran, files_below, json_lines, numbered};

struct Place(tempfile::TempDir);

impl Place {
    /// Creates a folder with two corpora: `open.jsonl`, which everybody may read, and `closed.jsonl`, with this mode.
    fn new(mode: u32) -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        let text = |from: usize| {
            (from..from + 12).map(|at| format!("Sentence {at} is about {}. ", at * 7)).collect::<String>()
        };
        let docs =
            |from: usize| numbered([text(from), text(from), text(from + 300), format!("{}Really.", text(from + 300))]);
        place.write("open.jsonl", &json_lines(&docs(0)), 0o644);
        place.write("closed.jsonl", &json_lines(&docs(90)), mode);
        place.write("pairs.csv", b"id_a,id_b\nd0,d1\n", 0o644);
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8], mode: u32) {
        fs::write(self.at(name), bytes).unwrap();
        fs::set_permissions(self.at(name), Permissions::from_mode(mode)).unwrap();
    }

    #[track_caller]
    fn typed(&self, words: &[&str], code: i32) -> Ran {
        let mut command = Command::new("sh");
        command.args(["-c", "umask 022; exec \"$0\" \"$@\"", crate::kit::built()]).args(words);
        command.current_dir(self.0.path()).env("NO_COLOR", "1").env_remove("RUST_LOG");
        if words[0] == "run" {
            command.args(["--threads", "2", "--memory", "256MiB", "--no-progress"]);
            if !words.contains(&"--algorithms") {
                command.args(["--algorithms", "exact,minhash"]);
            }
        }
        Ran::of(command.output().unwrap()).ends_with(code)
    }

    /// Fails unless each file below a folder has this mode.
    #[track_caller]
    fn has_modes(&self, out: &str, mode: u32, parts: &[&str]) {
        let files = files_below(&self.at(out));
        for part in parts {
            assert!(files.iter().any(|file| file.starts_with(self.at(out).join(part))), "{part} in {files:?}");
        }
        // The markers contain no data.
        for file in files.into_iter().filter(|file| !file.ends_with("_SUCCESS") && !file.ends_with("_HELD")) {
            assert_eq!(mode_of(&file), mode, "{}", file.display());
        }
    }
}

fn mode_of(path: &Path) -> u32 {
    path.metadata().unwrap().mode() & 0o777
}

#[test]
fn an_output_is_as_readable_as_its_least_readable_input() {
    for (given, expected) in [(0o600, 0o600), (0o640, 0o640), (0o644, 0o644), (0o666, 0o644), (0o444, 0o644)] {
        let place = Place::new(given);
        let all = ["--corpus", "keep,drop,annotate", "--keep-texts"];
        place.typed(&[&["run", "open.jsonl", "closed.jsonl", "--out", "out"], &all[..]].concat(), 0);
        let parts = ["deduped", "dropped", "attributes", "texts", "report.html", "removed", "run.json"];
        place.has_modes("out", expected, &parts);
        // Folders can be listed as the umask allows.
        assert_eq!((mode_of(&place.at("out")), mode_of(&place.at("out/deduped"))), (0o755, 0o755));
        // Commands that add to the output.
        place.typed(&["report", "out"], 0);
        place.typed(&["evaluate", "out", "--truth", "pairs.csv"], 0);
        place.typed(&["apply", "out", "--corpus", "keep,drop", "--overwrite"], 0);
        place.has_modes("out", expected, &["evaluation", "deduped", "applied.json"]);
        place.typed(&["apply", "out", "--corpus", "keep", "--remove-if", "pair", "--out", "other"], 0);
        place.has_modes("other", expected, &["deduped", "removed"]);
        // An output of readable files alone.
        place.typed(&["run", "open.jsonl", "--out", "open"], 0);
        place.has_modes("open", 0o644, &["report.html"]);
    }
}

#[test]
fn the_other_commands_and_inputs_are_limited_too() {
    let place = Place::new(0o600);
    place.typed(&["stream", "closed.jsonl", "--out", "stream"], 0);
    place.typed(&["purify", "closed.jsonl", "--html-column", "text", "--out", "pages"], 0);
    let found =
        ["contaminated", "open.jsonl", "--against", "closed.jsonl", "--item-column", "text", "--corpus", "keep"];
    place.typed(&[&found[..], &["--out", "found"]].concat(), 0);
    place.typed(&["run", "open.jsonl", "--reference", "closed.jsonl", "--out", "reference"], 0);
    for out in ["stream", "pages", "found", "reference"] {
        place.has_modes(out, 0o600, &["run.json"]);
    }
    // The texts in an index, and the next batch, which may show them.
    place.typed(&["run", "closed.jsonl", "--index", "seen", "--out", "batch-1"], 0);
    place.has_modes("seen/batches/b-00000001", 0o600, &[]);
    place.typed(&["run", "open.jsonl", "--index", "seen", "--out", "batch-2"], 0);
    place.has_modes("batch-2", 0o600, &["report.html"]);
    // Everything in the index names the inputs, or contains words or hashes of their texts.
    for part in ["statistics", "batches", "rows"] {
        place.has_modes(&format!("seen/{part}"), 0o600, &[]);
    }
    assert_eq!(mode_of(&place.at("seen/manifest-00000002.json")), 0o600);
    place.typed(&["index", "forget", "seen", "--id", "d0"], 0);
    assert_eq!(mode_of(&place.at("seen/manifest-00000003.json")), 0o600);
    place.typed(&["run", "open.jsonl", "--index", "open", "--out", "open-1"], 0);
    for part in ["statistics", "batches", "rows"] {
        place.has_modes(&format!("open/{part}"), 0o644, &[]);
    }
    assert_eq!(mode_of(&place.at("open/manifest-00000001.json")), 0o644);
    // Word counts of private texts.
    let cosine = ["--algorithms", "cosine", "--out"];
    place.typed(&[&["run", "closed.jsonl"][..], &cosine, &["counts"]].concat(), 0);
    place.typed(&[&["run", "open.jsonl", "--stats", "counts"][..], &cosine, &["counted"]].concat(), 0);
    place.has_modes("counted", 0o600, &["run.json"]);
}

#[test]
fn standard_input_counts_if_it_is_a_file() {
    let place = Place::new(0o600);
    let run = |how: &str, out: &str| {
        let mut command = Command::new("sh");
        let tail = format!("\"$0\" run - --out {out} --corpus keep --algorithms exact --no-progress");
        command
            .args(["-c", &format!("umask 022; {}", how.replace("RUN", &tail)), crate::kit::built()])
            .current_dir(place.0.path());
        Ran::of(command.output().unwrap()).ends_with(0);
    };
    run("RUN < closed.jsonl", "file");
    place.has_modes("file", 0o600, &["deduped"]);
    // The program cannot know where the other end of a pipe comes from.
    run("cat closed.jsonl | RUN", "pipe");
    place.has_modes("pipe", 0o644, &["deduped"]);
}

#[test]
fn a_result_that_is_held_back_stays_limited_when_it_is_accepted() {
    let place = Place::new(0o640);
    let two = ["run", "closed.jsonl", "open.jsonl", "--out", "out"];
    place.typed(&two, 0);
    let closed = [fs::read(place.at("closed.jsonl")).unwrap(), b"{\"id\": \"n\", \"text\": null}\n".to_vec()].concat();
    place.write("closed.jsonl", &closed, 0o640);
    place.typed(&[&two[..], &["--overwrite", "--max-rejected-share", "0"]].concat(), 4);
    place.has_modes("out.held", 0o640, &["report.html"]);
    place.typed(&["accept", "out.held"], 0);
    place.has_modes("out", 0o640, &["report.html", "run.json"]);
}
