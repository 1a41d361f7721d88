//! `scripts/nightly.sh`: three nights cut from the samples, a crash in the second, a guard in the third.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::kit::{Ran, names_in, numbered, program, record, sample_docs, write_docs};

/// Kills the run that it stands for once, as soon as that has put something down.
const CRASHES_ONCE: &str = r#"#!/bin/sh
if [ -e "$CRASH" ]; then
  rm -- "$CRASH"
  "$PROGRAM" "$@" --checkpoint 0s &
  until [ -e "$WORK/ledger.json" ]; do sleep 0.02; done
  kill -9 $!
  wait $!
  exit
fi
exec "$PROGRAM" "$@"
"#;

struct Nights {
    folder: tempfile::TempDir,
}

impl Nights {
    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn night(&self, name: &str) -> Ran {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/nightly.sh");
        let mut command = Command::new("sh");
        command.arg(script).arg(self.at("corpus")).arg(self.at("out")).arg(name);
        command.args(["--", "--memory", "512MiB", "--threads", "2", "--guard-rows", "100", "--corpus", "keep"]);
        command.env("DUPSIFT", self.at("dupsift")).env("PROGRAM", env!("CARGO_BIN_EXE_dupsift")).env("KEEP", "2");
        command.env("CRASH", self.at("crash")).env("WORK", self.at(&format!("out/.{name}.dupsift-work")));
        Ran::of(command.output().unwrap())
    }

    fn latest(&self) -> String {
        std::fs::read_link(self.at("out/latest")).unwrap().to_string_lossy().into_owned()
    }
}

#[test]
fn nights_go_on_after_a_crash_and_are_held_against_each_other() {
    use std::os::unix::fs::PermissionsExt as _;
    let nights = Nights { folder: tempfile::tempdir().unwrap() };
    std::fs::write(nights.at("dupsift"), CRASHES_ONCE).unwrap();
    std::fs::set_permissions(nights.at("dupsift"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let docs = sample_docs();
    let cut = |from: usize, to: usize| {
        write_docs(&nights.at("corpus/a.parquet"), &docs[from * docs.len() / 6..to * docs.len() / 6], 500)
    };
    cut(0, 4);
    nights.night("2026-11-20").ends_with(0).says(&["2026-11-20 is published"]);
    nights.night("2026-11-20").ends_with(0).says(&["is done already"]);
    // The second night is killed, and goes on from what it had put down.
    cut(1, 5);
    std::fs::write(nights.at("crash"), "").unwrap();
    nights.night("2026-11-21").ends_with(137).says(&["the same command goes on from there"]);
    assert_eq!((nights.latest().as_str(), nights.at("out/2026-11-21").exists()), ("2026-11-20", false));
    nights.night("2026-11-21").ends_with(0);
    let second = record(&nights.at("out/2026-11-21"));
    assert!(!second["taken_up"].as_array().unwrap().is_empty(), "{}", second["taken_up"]);
    assert!(second["options"]["previous"].as_str().unwrap().ends_with("2026-11-20"));
    assert_eq!((nights.latest().as_str(), &second["corpus"]["written"]), ("2026-11-21", &"keep".into()));
    // In the third one a source has become a page of one template.
    write_docs(&nights.at("corpus/b.parquet"), &numbered(vec!["please enable scripts to read this page"; 200]), 500);
    nights.night("2026-11-22").ends_with(4).says(&["held back", "accept", "199 of the 200 documents of b.parquet"]);
    assert_eq!(nights.latest(), "2026-11-21");
    Ran::of(program().arg("accept").arg(nights.at("out/2026-11-22.held")).output().unwrap()).ends_with(0);
    // What was accepted is the night before; of the others the newest are kept.
    std::fs::remove_file(nights.at("corpus/b.parquet")).unwrap();
    nights.night("2026-11-23").ends_with(0);
    let fourth = record(&nights.at("out/2026-11-23"));
    assert!(fourth["options"]["previous"].as_str().unwrap().ends_with("2026-11-22"));
    assert_eq!(names_in(&nights.at("out")), [".nightly.lock", "2026-11-22", "2026-11-23", "latest"]);
}

#[test]
fn a_second_night_in_one_folder_is_told() {
    let nights = Nights { folder: tempfile::tempdir().unwrap() };
    std::fs::create_dir(nights.at("out")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_dupsift"), nights.at("dupsift")).unwrap();
    let lock = std::fs::File::create(nights.at("out/.nightly.lock")).unwrap();
    lock.lock().unwrap();
    nights.night("2026-11-20").ends_with(75).says(&["another night is at work"]);
    drop(lock);
    nights.night("../x").ends_with(2).says(&["cannot be the name of a night"]);
}
