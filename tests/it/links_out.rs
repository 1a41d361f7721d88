//! Tests that links which lead out of the inputs are followed to data files only, unless `--follow-links` is given. A corpus from somebody
//! else could otherwise publish any file that its reader may read.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::kit::{Ran, json_lines, names_in, numbered, program, record, run, write_docs};

const SECRET: &str = "-----BEGIN PRIVATE KEY----- nobody else may read these words";

/// Holds a corpus `c` of one text, with links to a key, to a page and to a folder outside of the corpus, and data files behind links.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        for folder in ["c/sub", "secret/deep", "blobs"] {
            fs::create_dir_all(place.at(folder)).unwrap();
        }
        fs::write(place.at("c/a.txt"), "The only text of this corpus has some words.").unwrap();
        fs::write(place.at("secret/key"), SECRET).unwrap();
        fs::write(place.at("secret/page.html"), format!("<p>{SECRET}</p>")).unwrap();
        fs::write(place.at("secret/deep/b.txt"), format!("{SECRET} in a folder")).unwrap();
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Adds the links that are not followed.
    fn linked(self) -> Place {
        symlink(self.at("secret/key"), self.at("c/key.txt")).unwrap();
        symlink("../../secret/page.html", self.at("c/sub/page.html")).unwrap();
        symlink(self.at("secret/deep"), self.at("c/deep")).unwrap();
        self
    }

    fn run(&self, out: &str, more: &[&str]) -> Ran {
        run(&[&self.at("c")], &self.at(out), &[&["--algorithms", "exact", "--corpus", "keep"], more].concat())
    }

    /// Returns whether any file below a folder contains the secret.
    fn published(&self, out: &str) -> bool {
        let files = crate::kit::files_below(&self.at(out));
        assert!(!files.is_empty(), "{out}");
        files.iter().any(|file| fs::read(file).unwrap().windows(11).any(|bytes| bytes == b"PRIVATE KEY"))
    }
}

/// Returns the files that a run could not use, by name.
fn bad(out: &Path) -> Vec<String> {
    let record = record(out);
    record["bad_inputs"].as_array().unwrap().iter().map(|bad| bad["file"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn texts_and_folders_behind_links_out_of_the_corpus_are_left_out_and_named() {
    let place = Place::new().linked();
    let ran = place.run("out", &["--whole-files"]).ends_with(3);
    assert!(ran.stdout.contains("skipped: deep: it is a link that leads out of the inputs, to "), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("\nhelp: `--follow-links` reads what links out of the inputs lead to\n"),
        "{}",
        ran.stdout
    );
    assert_eq!(
        (record(&place.at("out"))["documents"]["rows"].as_u64(), bad(&place.at("out"))),
        (Some(1), ["deep", "key.txt", "sub/page.html"].map(str::to_owned).to_vec())
    );
    assert!(!place.published("out"));
    place.run("strict", &["--whole-files", "--strict"]).ends_with(1).says(&["leads out of the inputs"]);
    place.run("all", &["--whole-files", "--follow-links"]).ends_with(0);
    assert_eq!(record(&place.at("all"))["documents"]["rows"], 4);
    assert!(place.published("all"));
    // Each line of a text file is a document, so the file is a text as well.
    place.run("lines", &["--text-lines"]).ends_with(3);
    assert!(!place.published("lines"));
    // If nothing else is there, the message says so.
    fs::remove_file(place.at("c/a.txt")).unwrap();
    place.run("none", &["--whole-files"]).ends_with(2).says(&["3 links lead out of it; pass `--follow-links`"]);
}

#[test]
fn data_files_and_links_inside_of_the_inputs_are_followed() {
    let place = Place::new();
    // A dataset cache consists of links to files without a suffix.
    write_docs(&place.at("blobs/part.parquet"), &numbered(["One text.", "One text."]), 10);
    fs::rename(place.at("blobs/part.parquet"), place.at("blobs/0123abcd")).unwrap();
    fs::write(place.at("blobs/rows"), json_lines(&numbered(["Two texts."]))).unwrap();
    fs::create_dir_all(place.at("snapshots/main")).unwrap();
    symlink("../../blobs/0123abcd", place.at("snapshots/main/a.parquet")).unwrap();
    symlink("../../blobs/rows", place.at("snapshots/main/b.jsonl")).unwrap();
    run(&[&place.at("snapshots")], &place.at("cache"), &["--algorithms", "exact"]).ends_with(0);
    assert_eq!(record(&place.at("cache"))["documents"]["rows"], 3);
    // A link inside of the corpus may lead to anything in it, and to anything in another input.
    symlink("sub", place.at("c/same")).unwrap();
    fs::write(place.at("c/sub/d.txt"), "Another text.").unwrap();
    symlink(place.at("secret/key"), place.at("c/key.txt")).unwrap();
    let (corpus, secret) = (place.at("c"), place.at("secret"));
    run(&[&corpus, &secret], &place.at("both"), &["--algorithms", "exact", "--whole-files"]).ends_with(0);
    // A link that is an input itself is followed.
    run(&[&corpus.join("key.txt")], &place.at("named"), &["--algorithms", "exact", "--whole-files"]).ends_with(0);
    assert!(place.published("secret") && record(&place.at("named"))["documents"]["rows"] == 1);
}

#[test]
fn a_glob_leaves_out_the_folders_that_it_would_have_read() {
    let place = Place::new();
    fs::create_dir_all(place.at("c/in")).unwrap();
    write_docs(&place.at("c/in/a.parquet"), &numbered(["One text."]), 10);
    write_docs(&place.at("blobs/b.parquet"), &numbered(["Another text."]), 10);
    symlink(place.at("blobs"), place.at("c/out")).unwrap();
    let glob = |pattern: &str, out: &str, more: &[&str]| {
        let options = [&["--algorithms", "exact"], more].concat();
        run(&[&place.at("c").join(pattern)], &place.at(out), &options)
    };
    for (at, pattern) in ["*/*.parquet", "**/*.parquet", "o*", "*"].into_iter().enumerate() {
        let out = format!("o{at}");
        match pattern {
            "o*" => _ = glob(pattern, &out, &[]).ends_with(2).says(&["1 link leads out of it"]),
            _ => {
                glob(pattern, &out, &[]).ends_with(3);
                assert_eq!(bad(&place.at(&out)), ["out"], "{pattern}");
            }
        }
        glob(pattern, &format!("{out}-all"), &["--follow-links"]).ends_with(0);
    }
    glob("in/*.parquet", "in", &[]).ends_with(0);
}

#[test]
fn every_command_and_every_other_input_leaves_them_out() {
    let place = Place::new().linked();
    let typed = |words: &[&str]| {
        let mut command = program();
        command.current_dir(place.0.path()).args(words).args(["--no-progress", "--threads", "2"]);
        Ran::of(command.output().unwrap())
    };
    fs::create_dir(place.at("pages")).unwrap();
    fs::write(place.at("pages/a.html"), "<html><body><p>A page of some words.</p></body></html>").unwrap();
    symlink(place.at("secret/page.html"), place.at("pages/b.html")).unwrap();
    let docs = json_lines(&numbered(["One text of words.", "Another text of other words."]));
    fs::write(place.at("docs.jsonl"), docs).unwrap();
    let whole = "--whole-files";
    for (name, words) in [
        ("stream", &["stream", "c", whole, "--algorithms", "exact"][..]),
        ("purify", &["purify", "pages", whole]),
        ("contaminated", &["contaminated", "c", whole, "--against", "docs.jsonl", "--item-column", "text"]),
        ("compare", &["compare", "c", whole, "--algorithms", "exact,minhash"]),
        ("against", &["contaminated", "docs.jsonl", "--against", "c", whole]),
        ("reference", &["run", "docs.jsonl", "--reference", "c", whole, "--algorithms", "exact"]),
    ] {
        let ran = typed(&[words, &["--out", name]].concat()).ends_with(3);
        assert!(ran.stdout.contains("`--follow-links`"), "{name}: {}", ran.stdout);
        assert!(!place.published(name), "{name}");
        typed(&[words, &["--out", &format!("{name}-all"), "--follow-links"]].concat()).ends_with(0);
    }
    assert_eq!(names_in(&place.at("secret")), ["deep", "key", "page.html"]);
}
