//! Tests the commands in the environments that users have: any umask, no home folder, a temporary folder elsewhere, any locale.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::kit::{Ran, files_below, json_lines, names_in, numbered};

/// A folder with a corpus, from which commands are run in one environment.
struct Place {
    folder: tempfile::TempDir,
    umask: &'static str,
    program: PathBuf,
    set: Vec<(&'static str, &'static str)>,
    unset: Vec<&'static str>,
}

impl Place {
    fn new(umask: &'static str) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let program = crate::kit::built().into();
        let place = Place { folder, umask, program, set: Vec::new(), unset: Vec::new() };
        let sentence = |at: usize| format!("Предложение {at} говорит о числе {}. ", at * 7);
        let text = |from: usize| (from..from + 12).map(sentence).collect::<String>();
        let (first, copy) = (text(100), text(100));
        let texts = [first, copy, text(300), format!("{}И ещё одно слово.", text(300)), text(500)];
        fs::write(place.at("corpus.jsonl"), json_lines(&numbered(texts.clone()))).unwrap();
        fs::write(place.at("more.jsonl"), json_lines(&numbered([texts[0].clone(), text(700)]))).unwrap();
        fs::write(place.at("pairs.csv"), "id_a,id_b\nd0,d1\n").unwrap();
        // An output is not more readable than its inputs.
        for name in ["corpus.jsonl", "more.jsonl", "pairs.csv"] {
            fs::set_permissions(place.at(name), fs::Permissions::from_mode(0o644)).unwrap();
        }
        fs::create_dir(place.tmp()).unwrap();
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The temporary folder of the commands. Its name contains a space.
    fn tmp(&self) -> PathBuf {
        self.at("a tmp")
    }

    #[track_caller]
    fn ends_well(&self, words: &[&str]) -> Ran {
        let mut command = Command::new("sh");
        let script = format!("umask {}; exec \"$0\" \"$@\"", self.umask);
        command.args(["-c", &script]).arg(&self.program).args(words);
        command.current_dir(self.folder.path()).env("NO_COLOR", "1").env_remove("RUST_LOG").env("TMPDIR", self.tmp());
        self.unset.iter().for_each(|name| _ = command.env_remove(name));
        command.envs(self.set.iter().copied());
        let ran = Ran::of(command.output().unwrap());
        assert_eq!(ran.code, 0, "umask {}: {words:?}\n{}\n{}", self.umask, ran.stdout, ran.stderr);
        ran
    }

    /// Runs the commands that write a result or read one.
    #[track_caller]
    fn every_command_ends_well(&self) {
        let small: [&str; 5] = ["--threads", "2", "--memory", "256MiB", "--no-progress"];
        let run = |words: &[&str]| self.ends_well(&[&["run"], words, &small].concat());
        run(&["corpus.jsonl", "--out", "out"]);
        assert!(self.ends_well(&["explain", "out", "d1"]).stdout.contains("d0"));
        assert!(self.ends_well(&["explain", "out", "d2", "d3"]).stdout.contains("d3"));
        self.ends_well(&["apply", "out", "--corpus", "keep,drop"]);
        assert_eq!(fs::read_to_string(self.at("out/deduped/corpus.jsonl")).unwrap().lines().count(), 3);
        self.ends_well(&["apply", "out", "--corpus", "keep", "--overwrite"]);
        self.ends_well(&["report", "out"]);
        self.ends_well(&["evaluate", "out", "--truth", "pairs.csv"]);
        run(&["more.jsonl", "--reference", "corpus.jsonl", "--out", "by-file"]);
        run(&["more.jsonl", "--reference", "out", "--out", "by-result"]);
        run(&["corpus.jsonl", "--index", "seen", "--out", "batch-1"]);
        run(&["more.jsonl", "--index", "seen", "--out", "batch-2"]);
        self.ends_well(&["explain", "batch-2", "d0"]);
        self.ends_well(&["index", "compact", "seen"]);
        run(&["corpus.jsonl", "--dry-run", "--sample", "4"]);
        run(&["corpus.jsonl", "--work", "a tmp", "--out", "with-work"]);
        self.ends_well(&["stream", "corpus.jsonl", "--out", "streamed"]);
        self.ends_well(&[
            "contaminated",
            "corpus.jsonl",
            "--against",
            "more.jsonl",
            "--item-column",
            "text",
            "--out",
            "found",
        ]);
        self.ends_well(&["clean", "out"]);
        assert!(names_in(&self.tmp()).is_empty(), "{:?}", names_in(&self.tmp()));
        let hidden: Vec<String> =
            names_in(self.folder.path()).into_iter().filter(|name| name.starts_with('.')).collect();
        assert!(hidden.is_empty(), "{hidden:?}");
    }

    #[track_caller]
    fn mode(&self, path: &Path) -> u32 {
        path.metadata().unwrap().mode() & 0o777
    }
}

#[test]
fn every_command_works_under_any_umask() {
    for (umask, folder, file) in
        [("002", 0o775, 0o664), ("007", 0o770, 0o660), ("077", 0o700, 0o600), ("000", 0o777, 0o666)]
    {
        let place = Place::new(umask);
        place.every_command_ends_well();
        // Results have the permissions that the umask allows.
        for out in ["out", "out/deduped", "batch-2", "out/removed"] {
            assert_eq!(place.mode(&place.at(out)), folder, "umask {umask}: {out}");
        }
        for path in files_below(&place.at("out")) {
            if !path.starts_with(place.at("out/deduped")) && !path.starts_with(place.at("out/dropped")) {
                assert_eq!(place.mode(&path), file, "umask {umask}: {}", path.display());
            }
        }
    }
}

#[test]
fn every_command_works_without_a_home_folder_and_in_any_locale() {
    for locale in ["C", "ru_RU.KOI8-R", "zh_CN.GB18030"] {
        let mut place = Place::new("002");
        place.set = vec![("LC_ALL", locale), ("LANG", locale)];
        place.unset = vec!["HOME", "USER", "LOGNAME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"];
        place.every_command_ends_well();
    }
    let mut place = Place::new("077");
    place.set = vec![("HOME", "/nonexistent/home"), ("TERM", "dumb")];
    place.every_command_ends_well();
}

/// Checks a program in a folder with a space in its name, to which nobody may write.
#[test]
fn the_program_may_be_installed_anywhere() {
    let mut place = Place::new("022");
    let folder = place.at("read only");
    fs::create_dir(&folder).unwrap();
    place.program = folder.join("dupsift");
    // A link to the same file needs no space; a copy is made if the build folder is on another disk.
    let built = crate::kit::built();
    fs::hard_link(built, &place.program).or_else(|_| fs::copy(built, &place.program).map(drop)).unwrap();
    let set = |mode| fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
    set(0o555);
    place.every_command_ends_well();
    assert_eq!(names_in(&folder), ["dupsift"]);
    set(0o755);
}
