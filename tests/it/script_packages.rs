//! Tests that each executable script can be started, declares all packages that it imports, and finds them or reports how to install them.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::kit::Ran;

/// The folders of scripts; those in the second one use modules of the first one.
const FOLDERS: [&str; 2] = ["scripts", "benches/lab"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the files in a folder of scripts.
fn files(folder: &str) -> Vec<PathBuf> {
    let paths = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.is_file()).collect()
}

/// Returns the name, the path and the content of each Python script.
fn scripts() -> Vec<(String, PathBuf, String)> {
    let paths = FOLDERS.into_iter().flat_map(files);
    let python = paths.filter(|path| path.extension().is_some_and(|ending| ending == "py"));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path.file_stem().unwrap().to_str().unwrap().to_owned(), path, text)
    };
    python.map(read).collect()
}

/// Returns the packages declared in the header of a script, by import name.
fn declared(text: &str) -> BTreeSet<String> {
    let line = text.lines().find_map(|line| line.strip_prefix("# dependencies = [")).unwrap_or_default();
    let quoted = line.split('"').skip(1).step_by(2);
    quoted.map(|name| name.replace('-', "_")).collect()
}

/// Returns the packages, other than the standard library, that a script imports when it starts, directly and through neighboring modules.
fn imported(text: &str, all: &[(String, PathBuf, String)], standard: &BTreeSet<String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in text.lines() {
        let Some(rest) = line.strip_prefix("import ").or(line.strip_prefix("from ")) else { continue };
        let name = rest.split([' ', '.', ',']).next().unwrap().to_owned();
        match all.iter().find(|(beside, ..)| *beside == name) {
            Some((.., text)) => found.extend(imported(text, all, standard)),
            None if !standard.contains(&name) => _ = found.insert(name),
            None => {}
        }
    }
    found
}

#[test]
fn every_script_names_its_packages_and_can_be_started() {
    let listed = Command::new("python3").args(["-c", "import sys; print(*sys.stdlib_module_names)"]).output().unwrap();
    let standard = Ran::of(listed).ends_with(0).stdout.split_whitespace().map(str::to_string).collect();
    let all = scripts();
    let mut started = 0;
    for (name, path, text) in &all {
        if !text.starts_with("#!") {
            assert!(!text.contains("\n    parser = argparse"), "{name} is started by hand and has no first line");
            continue;
        }
        started += 1;
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o111, 0o111, "{name} cannot be started by its name");
        let (declared, imported) = (declared(text), imported(text, &all, &standard));
        assert!(declared.is_superset(&imported), "{name} imports {imported:?}, and declares {declared:?}");
        let finds = ["\nimport packages", "\nimport lab"].iter().any(|line| text.contains(line));
        assert!(imported.is_empty() || finds, "{name} does not look for its packages");
    }
    assert!(started > 15, "{started}");
}

#[test]
fn a_script_without_its_packages_goes_to_those_of_make_or_says_so() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    for folder in FOLDERS {
        fs::create_dir_all(at(folder)).unwrap();
        for path in files(folder) {
            fs::copy(&path, at(folder).join(path.file_name().unwrap())).unwrap();
        }
    }
    // Uses an interpreter that finds no installed packages.
    let typed = |script: &str| {
        let mut command = Command::new("python3");
        command.args(["-I", "-S", "-c"]).current_dir(place.path());
        let start = format!(
            "import sys, runpy; sys.path.insert(0, '{script}'.rpartition('/')[0]); sys.argv = ['{script}', 'a b']; runpy.run_path('{script}', run_name='__main__')"
        );
        Ran::of(command.arg(start).output().unwrap())
    };
    let shown = "error: scripts/overlap.py needs duckdb, pyarrow; ";
    typed("scripts/overlap.py").ends_with(1).says(&[shown, "`make .venv/ready` installs them into .venv"]);
    typed("benches/lab/spark_laws.py").ends_with(1).says(&[
        "dupsift, pyarrow, pyspark",
        "`make lab RUN=spark_laws`",
        ".venv-spark",
    ]);
    fs::create_dir_all(at(".venv/bin")).unwrap();
    let python = at(".venv/bin/python");
    fs::write(&python, "#!/bin/sh\nprintf '%s|' taken over by \"$@\"\n").unwrap();
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    // An incomplete environment is not used.
    typed("scripts/overlap.py").ends_with(1).says(&[shown]);
    fs::write(at(".venv/ready"), "").unwrap();
    assert_eq!(typed("scripts/overlap.py").ends_with(0).stdout, "taken|over|by|scripts/overlap.py|a b|");
}

#[test]
fn long_documents_of_one_size_have_a_cost_and_no_growth() {
    let mut command = Command::new("python3");
    command.arg(root().join("benches/lab/long_documents.py")).args(["--dupsift", crate::kit::built()]);
    command.args(["--shapes", "zipf", "--megabytes", "0.002", "--algorithms", "exact"]);
    let told = Ran::of(command.output().unwrap()).ends_with(0).stdout;
    let row = told.lines().find(|line| line.starts_with("| `exact` |")).unwrap();
    assert!(row.contains('.') && !row.contains('(') && !row.contains("nan"), "{told}");
}
