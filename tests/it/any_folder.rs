//! Tests that results of runs with relative paths can be inspected from any folder, even after the corpus and the results were moved
//! together.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::kit::{Doc, Ran, json_lines, made_docs, program, python, record, removed_ids};

/// Holds a folder that contains a two-file corpus, word lists, labels, a second corpus, and outputs.
struct Place {
    folder: tempfile::TempDir,
}

const WORDS: [&str; 4] = ["--stop-words", "words/stop.txt", "--dictionary", "words/dictionary.txt"];

impl Place {
    fn new() -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap() };
        let home = place.home("home");
        for folder in ["corpus", "words"] {
            std::fs::create_dir_all(home.join(folder)).unwrap();
        }
        let write = |name: &str, bytes: &[u8]| std::fs::write(home.join(name), bytes).unwrap();
        let docs = made_docs(60);
        // Adds a second version of every fourth document, so that the report pages have two texts to show.
        let version =
            |doc: &Doc| Doc { id: format!("{}v", doc.id), text: format!("{} And more of it.", doc.text), title: None };
        let versions: Vec<Doc> = docs.iter().step_by(4).map(version).collect();
        write("corpus/a.jsonl", &json_lines(&docs));
        write("more.jsonl", &json_lines(&versions));
        write("later.jsonl", &json_lines(&docs[10..30]));
        write("words/stop.txt", b"more\n");
        write("words/dictionary.txt", "词语 3\n".as_bytes());
        write(
            "labels.jsonl",
            format!("{{\"id_a\": \"{}\", \"id_b\": \"{}\"}}\n", docs[0].id, versions[0].id).as_bytes(),
        );
        place.typed("home", &[&["run", "corpus", "more.jsonl", "--out", "results/one"][..], &WORDS].concat());
        place.typed("home", &["compare", "corpus", "more.jsonl", "--out", "compared", "--algorithms", "exact,minhash"]);
        let batch = |input: &str, out: &str| {
            let line = ["run", input, "--out", out, "--index", "seen", "--algorithms", "exact,minhash"];
            place.typed("home", &line);
        };
        batch("corpus", "n0");
        batch("later.jsonl", "n1");
        place
    }

    fn home(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// Runs the program in the given subfolder of the test folder. `/` stands for the root folder of the machine.
    fn typed(&self, folder: &str, words: &[&str]) -> Ran {
        let folder = self.home(folder);
        Ran::of(program().current_dir(folder).args(words).output().unwrap()).ends_with(0)
    }

    /// Runs every command that inspects a result, in `folder`; `to` is the relative path to the outputs.
    fn is_looked_at(&self, folder: &str, to: &Path) {
        let at = |name: &str| to.join(name).to_str().unwrap().to_owned();
        let out = self.home(folder).join(at("results/one"));
        let page = |name: &str| std::fs::read_to_string(self.home(folder).join(at(name)).join("report.html")).unwrap();
        let removed = removed_ids(&out);
        assert!(removed.len() > 10, "{removed:?}");
        for name in ["results/one", "compared", "n0", "n1"] {
            let before = page(name);
            assert!(!before.contains("no texts"), "{name}");
            self.typed(folder, &["report", &at(name)]);
            assert!(page(name) == before, "{name}: the page is another one, seen from {folder}");
        }
        let told = self.typed(folder, &["explain", &at("results/one"), &removed[0]]).stdout;
        assert!(told.contains(" row ") && told.contains(&removed[0]), "{told}");
        self.typed(folder, &["explain", &at("n1"), &removed_ids(&self.home(folder).join(at("n1")))[0]]);
        let labels = at("labels.jsonl");
        let told = self.typed(folder, &["evaluate", &at("results/one"), "--truth", &labels]).stdout;
        assert!(told.contains("versions"), "{told}");
        for verb in ["info", "verify"] {
            self.typed(folder, &["index", verb, &at("seen")]);
        }
        // These runs use a result as a reference, as a source of statistics, and as the previous run for guards.
        let algorithms = ["--algorithms", "exact,minhash", "--overwrite"];
        let by = |option: &str, name: &str| {
            let line = ["run", &at("later.jsonl"), "--out", &at("next"), option, &at(name)];
            self.typed(folder, &[&line[..], &algorithms].concat());
            self.home(folder).join(at("next"))
        };
        let seen = record(&by("--reference", "n0"))["removal"]["reasons"]["seen"].clone();
        assert_eq!(seen, 20, "{}", self.home(folder).display());
        by("--previous", "n0");
        let line = ["run", &at("later.jsonl"), "--out", &at("next"), "--overwrite", "--stats", &at("results/one")];
        let words = WORDS.map(|word| if word.starts_with('-') { word.to_owned() } else { at(word) });
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.typed(folder, &[&line[..], &words].concat());
        // The script uses the paths in the record to find the corpus.
        let mut command = python("scripts/clusters.py");
        command.arg(at("results/one")).current_dir(self.home(folder));
        Ran::of(command.output().unwrap()).ends_with(0);
    }
}

#[test]
fn a_result_of_relative_paths_is_looked_at_from_any_folder() {
    let place = Place::new();
    std::fs::create_dir(place.home("elsewhere")).unwrap();
    let record = record(&place.home("home/results/one"));
    let named = |value: &serde_json::Value| PathBuf::from(value.as_str().unwrap());
    assert_eq!(named(&record["inputs"][0]["path"]), place.home("home/corpus/a.jsonl"));
    assert_eq!(named(&record["options"]["stop-words"]), place.home("home/words/stop.txt"));
    // The record contains the file names as typed.
    assert_eq!(record["inputs"][0]["file"], "corpus/a.jsonl");
    place.is_looked_at("elsewhere", Path::new("../home"));
    place.is_looked_at("home", Path::new(""));
    place.is_looked_at("home/words", &place.home("home"));
}

#[test]
fn a_result_is_looked_at_after_it_was_moved_with_its_corpus() {
    let place = Place::new();
    std::fs::create_dir(place.home("deeper")).unwrap();
    std::fs::rename(place.home("home"), place.home("deeper/moved")).unwrap();
    place.is_looked_at("", Path::new("deeper/moved"));
    place.is_looked_at("deeper/moved", Path::new(""));
}

/// Checks a held result that was moved together with its index.
#[test]
fn a_held_result_is_accepted_after_it_was_moved_with_its_index() {
    let place = Place::new();
    let home = place.home("home");
    let torn = "{\"id\": \"x\", \"text\": null}\n".repeat(3)
        + "{\"id\": \"y\", \"text\": \"A text of its own, and of no other one.\"}\n";
    std::fs::write(home.join("torn.jsonl"), torn).unwrap();
    let line =
        ["run", "torn.jsonl", "--out", "n2", "--previous", "n1", "--index", "seen", "--algorithms", "exact,minhash"];
    Ran::of(program().current_dir(&home).args(line).output().unwrap()).ends_with(4);
    std::fs::rename(&home, place.home("moved")).unwrap();
    place.typed("", &["accept", "moved/n2.held"]);
    let told = place.typed("", &["index", "info", "moved/seen"]).stdout;
    assert!(told.contains("n2"), "{told}");
}

/// Checks that paths in the log of an incremental run are valid in the working folder of the user who reads the log.
#[test]
fn a_run_with_relative_paths_prints_commands_that_work_in_any_folder() {
    let place = Place::new();
    let home = place.home("home");
    let batch = |corpus: &str, name: &str| {
        let mut command = Command::new("sh");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/nightly.sh");
        command.arg(script).args([
            "--index",
            "nightly/seen",
            corpus,
            "nightly/dedup",
            name,
            "--",
            "--algorithms",
            "exact",
        ]);
        let bin = Path::new(crate::kit::built());
        command.current_dir(&home).env("DUPSIFT", bin);
        Ran::of(command.output().unwrap())
    };
    batch("corpus", "a").ends_with(0);
    let torn = "{\"id\": \"x\", \"text\": null}\n".repeat(3) + "{\"id\": \"y\", \"text\": \"One more.\"}\n";
    std::fs::write(home.join("torn.jsonl"), torn).unwrap();
    let said = batch("torn.jsonl", "b").ends_with(4).stderr;
    let accept = said.split("it is correct, run: ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    let ran = Ran::of(Command::new("sh").args(["-c", accept]).current_dir("/").output().unwrap()).ends_with(0);
    assert!(ran.stdout.contains(home.join("nightly/dedup/b").to_str().unwrap()), "{}", ran.stdout);
    assert!(batch("torn.jsonl", "b").ends_with(0).stderr.contains("is already complete"));
    assert_eq!(std::fs::read_link(home.join("nightly/dedup/latest")).unwrap(), Path::new("b"));
}

/// Checks that file names and the order of files do not depend on the working folder. The order of files determines document numbers.
#[test]
fn files_have_one_order_from_wherever_they_are_named() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    for name in ["a", "z"] {
        std::fs::create_dir(at(name)).unwrap();
        let docs = [Doc { id: name.into(), text: format!("The text of {name}."), title: None }];
        std::fs::write(at(name).join("x.jsonl"), json_lines(&docs)).unwrap();
    }
    let files = |folder: &str, inputs: &[&str]| -> Vec<String> {
        let out = at(&format!("out-{}", folder.len() + inputs.concat().len()));
        let mut command = program();
        command.current_dir(at(folder)).arg("run").args(inputs).arg("--out").arg(&out);
        Ran::of(command.args(["--algorithms", "exact", "--overwrite"]).output().unwrap()).ends_with(0);
        let inputs = record(&out)["inputs"].as_array().unwrap().clone();
        inputs.iter().map(|input| input["file"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(files("", &["z", "a"]), ["a/x.jsonl", "z/x.jsonl"]);
    assert_eq!(files("z", &["x.jsonl", "../a"]), ["../a/x.jsonl", "x.jsonl"]);
    assert_eq!(files("a", &["x.jsonl", "../z"]), ["x.jsonl", "../z/x.jsonl"]);
    let whole = at("z").to_str().unwrap().to_owned();
    assert_eq!(files("a", &[".", &whole]), ["x.jsonl".to_owned(), format!("{whole}/x.jsonl")]);
}
