//! Tests that read-only commands leave every file, name, time and inode unchanged, regardless of what else is in the folder.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::kit::{Ran, made_docs, program, run, write_docs};

const ROWS: usize = 60;

/// Returns the size, times, inode and kind of everything below a folder.
fn tree(folder: &Path) -> BTreeMap<PathBuf, String> {
    fn below(folder: &Path, tree: &mut BTreeMap<PathBuf, String>) {
        let of = |there: &fs::Metadata| {
            let (modified, changed) = ((there.mtime(), there.mtime_nsec()), (there.ctime(), there.ctime_nsec()));
            format!("{} {:o} {modified:?} {changed:?} {}", there.len(), there.mode(), there.ino())
        };
        tree.insert(folder.to_path_buf(), of(&folder.symlink_metadata().unwrap()));
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let there = path.symlink_metadata().unwrap();
            if there.is_dir() {
                below(&path, tree);
            } else {
                tree.insert(path, of(&there));
            }
        }
    }
    let mut all = BTreeMap::new();
    below(folder, &mut all);
    all
}

/// Holds a corpus, a result, a held result, a batch with its index, and the remains of killed runs next to them.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        write_docs(&place.at("docs/a.parquet"), &made_docs(ROWS), 10);
        write_docs(&place.at("more/a.parquet"), &made_docs(ROWS + 20), 10);
        fs::write(place.at("truth.jsonl"), "{\"id_a\": \"d0\", \"id_b\": \"d1\"}\n").unwrap();
        run(&[&place.at("docs")], &place.at("out"), &[]).ends_with(0);
        run(&[&place.at("docs")], &place.at("guarded"), &[]).ends_with(0);
        let limits = ["--overwrite", "--max-removed-share", "0.00001", "--guard-rows", "1"];
        run(&[&place.at("docs")], &place.at("guarded"), &limits).ends_with(4);
        let seen = place.at("seen");
        run(&[&place.at("docs")], &place.at("n1"), &["--index", seen.to_str().unwrap()]).ends_with(0);
        run(&[&place.at("more")], &place.at("n2"), &["--index", seen.to_str().unwrap()]).ends_with(0);
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Creates the files that killed runs leave next to an output.
    fn leave(&self, out: &str) {
        let partial = self.at(&format!(".{out}.dupsift-partial-99999"));
        fs::create_dir_all(partial.join("pairs")).unwrap();
        fs::create_dir_all(self.at(&format!(".{out}.dupsift-old-99998"))).unwrap();
        fs::create_dir_all(self.at(&format!(".{out}.dupsift-work"))).unwrap();
        fs::write(self.at(&format!(".{out}.dupsift-work/lock")), "").unwrap();
        fs::write(self.at(&format!(".{out}.dupsift-work/x.saved")), "half").unwrap();
    }

    #[track_caller]
    fn looks(&self, state: &str, arguments: &[&str], code: i32) {
        let before = tree(self.0.path());
        let ran = Ran::of(program().current_dir(self.0.path()).args(arguments).output().unwrap()).ends_with(code);
        let after = tree(self.0.path());
        let differ: Vec<&PathBuf> =
            before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path)).collect();
        assert!(differ.is_empty(), "{state}: {arguments:?} changed {differ:?}\n{}", ran.stderr);
    }

    /// Runs each command that only reads.
    #[track_caller]
    fn all_look(&self, state: &str) {
        for (out, doc) in [("out", "0"), ("guarded.held", "0"), ("n1", "0"), ("n2", "60")] {
            self.looks(state, &["explain", out, "--docs", doc, "1"], 0);
            self.looks(state, &["explain", out, "--docs", doc, "1", "--json"], 0);
        }
        self.looks(state, &["explain", "out", "none", "neither"], 2);
        self.looks(state, &["evaluate", "out", "--truth", "none.jsonl"], 2);
        self.looks(state, &["evaluate", "n2", "--truth", "truth.jsonl"], 2);
        let run = ["run", "docs", "--no-progress", "--dry-run", "--out"];
        for more in [
            &["out", "--overwrite"][..],
            &["new"],
            &["new/deep/out"],
            &["new", "--work", "docs"],
            &["n3", "--index", "seen"],
            &["n3", "--index", "other"],
            &["n1", "--index", "seen"],
            &["new", "--reference", "seen"],
            &["new", "--reference", "out"],
        ] {
            self.looks(state, &[&run[..], more].concat(), 0);
        }
        self.looks(state, &[&run[..], &["out"]].concat(), 2);
        self.looks(state, &["compare", "docs", "--no-progress", "--dry-run", "--out", "new"], 0);
        self.looks(state, &["stream", "docs", "--algorithms", "exact", "--dry-run", "--out", "new"], 0);
        for verb in [&["manual", "--help"][..], &["algorithms"], &["completions", "bash"], &["--version"], &["nightly"]]
        {
            self.looks(state, verb, 0);
        }
    }
}

#[test]
fn what_only_looks_changes_nothing() {
    let place = Place::new();
    place.all_look("clean results");
    for out in ["out", "guarded", "guarded.held", "new", "n1", "n2", "n3"] {
        place.leave(out);
    }
    place.all_look("what dead runs left");
    // Prepares an index whose last generation does not have its final name yet, with folders to which no generation refers.
    let seen = place.at("seen");
    let mut died = program();
    died.arg("run")
        .arg(place.at("more"))
        .arg("--out")
        .arg(place.at("n4"))
        .arg("--index")
        .arg(&seen)
        .arg("--no-progress");
    let died = died.env("DUPSIFT_STOP_AT", "intent").output().unwrap();
    assert!(died.status.code().is_none() && seen.join("intent-00000003.json").is_file(), "{died:?}");
    fs::create_dir_all(seen.join("batches/.partial-b-00000009")).unwrap();
    fs::create_dir_all(seen.join("rows/r-00000099")).unwrap();
    place.all_look("an intent");
}

/// Checks that only the page is rewritten, and that not even a folder of temporary files is created.
#[test]
fn a_report_writes_its_page_alone() {
    let place = Place::new();
    for out in ["out", "guarded", "guarded.held", "n2"] {
        place.leave(out);
    }
    for out in ["out", "guarded.held", "n2"] {
        let before = tree(place.0.path());
        Ran::of(program().arg("report").arg(place.at(out)).output().unwrap()).ends_with(0);
        let after = tree(place.0.path());
        let differ = before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path));
        let differ: std::collections::BTreeSet<&PathBuf> = differ.collect();
        // The folder also changes, because the page is a new file.
        assert_eq!(differ, [&place.at(out), &place.at(out).join("report.html")].into_iter().collect(), "{out}");
    }
}
