//! Tests that an error of looking at a path is not taken for a missing file. A link to itself is such a path: the system can tell neither
//! that something is there nor that nothing is.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use crate::kit::{Ran, names_in, numbered, program, run, write_docs};

/// Holds a corpus, a finished run, and `loop`, a link to itself.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        write_docs(&place.at("c/a.parquet"), &numbered(["One text.", "One text.", "Two."]), 10);
        run(&[&place.at("c")], &place.at("out"), &["--algorithms", "exact"]).ends_with(0);
        symlink("loop", place.at("loop")).unwrap();
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn typed(&self, words: &[&str]) -> Ran {
        Ran::of(program().current_dir(self.0.path()).args(words).output().unwrap())
    }
}

#[test]
fn an_input_that_cannot_be_looked_at_is_not_called_missing() {
    let place = Place::new();
    let run = |words: &[&str]| place.typed(&[words, &["--out", "new", "--algorithms", "exact"]].concat());
    for words in [
        &["run", "loop"][..],
        &["run", "loop/x.parquet"],
        &["run", "loop/*.parquet"],
        &["run", "c", "--reference", "loop/x"],
        &["stream", "loop"],
    ] {
        let ran = run(words).ends_with(1);
        assert!(ran.stderr.contains("Too many levels of symbolic links"), "{words:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains("does not exist"), "{words:?}: {}", ran.stderr);
    }
    assert_eq!(names_in(place.0.path()), ["c", "loop", "out"]);
}

#[test]
fn a_result_whose_marker_cannot_be_looked_at_is_not_called_unfinished() {
    let place = Place::new();
    fs::remove_file(place.at("out/_SUCCESS")).unwrap();
    symlink("_SUCCESS", place.at("out/_SUCCESS")).unwrap();
    fs::write(place.at("truth.jsonl"), "{\"id_a\": \"d0\", \"id_b\": \"d1\"}\n").unwrap();
    for words in [
        &["explain", "out", "d0", "d1"][..],
        &["apply", "out", "--corpus", "keep"],
        &["evaluate", "out", "--truth", "truth.jsonl"],
        &["report", "out"],
        &["show", "out"],
        &["run", "c", "--out", "new", "--algorithms", "tf_idf", "--stats", "out"],
    ] {
        let ran = place.typed(words).ends_with(1);
        assert!(ran.stderr.contains("cannot look at out/_SUCCESS: Too many levels"), "{words:?}: {}", ran.stderr);
    }
    // The record of a folder inside of a corpus decides whether the folder is read.
    fs::create_dir(place.at("c/r")).unwrap();
    fs::write(place.at("c/r/_SUCCESS"), "").unwrap();
    symlink("run.json", place.at("c/r/run.json")).unwrap();
    place
        .typed(&["run", "c", "--out", "new", "--algorithms", "exact"])
        .ends_with(1)
        .says(&["cannot read c/r/run.json"]);
}

/// A library that makes calls fail as on a disk that does not answer: closing a list of a folder, and looking at a path that contains
/// `stale`.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
int closedir(DIR *folder) {
    int (*real)(DIR *) = (int (*)(DIR *))dlsym(RTLD_NEXT, "closedir");
    real(folder);
    errno = EIO;
    return -1;
}
int statx(int folder, const char *path, int flags, unsigned int mask, struct statx *out) {
    int (*real)(int, const char *, int, unsigned int, struct statx *) =
        (int (*)(int, const char *, int, unsigned int, struct statx *))dlsym(RTLD_NEXT, "statx");
    if (path && strstr(path, "stale")) { errno = ESTALE; return -1; }
    return real(folder, path, flags, mask, out);
}
"#;

#[cfg(target_os = "linux")]
#[test]
fn errors_of_a_disk_end_in_no_panic_and_hide_no_file() {
    let place = Place::new();
    fs::write(place.at("shim.c"), SHIM).unwrap();
    let mut compiler = Command::new("cc");
    compiler.current_dir(place.0.path()).args(["-shared", "-fPIC", "-o", "shim.so", "shim.c", "-ldl"]);
    if !compiler.status().is_ok_and(|status| status.success()) {
        return eprintln!("no C compiler here: not tested");
    }
    let typed = |words: &[&str]| {
        let mut command = program();
        command.current_dir(place.0.path()).args(words).env("LD_PRELOAD", place.at("shim.so"));
        Ran::of(command.output().unwrap())
    };
    let exact = ["--algorithms", "exact", "--threads", "2"];
    typed(&[&["run", "c", "--out", "new"], &exact[..]].concat()).ends_with(0);
    typed(&[&["run", "c", "--out", "new", "--overwrite"], &exact[..]].concat()).ends_with(0);
    typed(&[&["run", "c", "--out", "n1", "--index", "seen"], &exact[..]].concat()).ends_with(0);
    typed(&["index", "verify", "seen"]).ends_with(0);
    typed(&["clean", "new"]).ends_with(0);
    typed(&["apply", "new", "--corpus", "keep"]).ends_with(0);
    let looked = typed(&[&["run", "stale", "--out", "none"], &exact[..]].concat()).ends_with(1);
    assert!(looked.stderr.contains("cannot look at stale: Stale file handle"), "{}", looked.stderr);
    // An index that cannot be looked at is not a new index.
    let looked = typed(&[&["run", "c", "--out", "none", "--index", "stale"], &exact[..]].concat()).ends_with(1);
    assert!(looked.stderr.contains("stale") && !place.at("stale").exists(), "{}", looked.stderr);
}
