//! Tests folders to which other users may write. Files that other users prepare in these folders are refused, and no file of this user is
//! overwritten or removed.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use xxhash_rust::xxh3::xxh3_64;

use crate::kit::{Ran, json_lines, made_docs, names_in, program, record};

/// The user `nobody`.
const OTHER_USER: u32 = 65534;

/// The file names in a folder of temporary files.
const NAMES: [&str; 6] =
    ["ledger.json", "ledger.json.half", "standard-input", "00000000.indexed.parquet", "words.terms", "a.0.work"];

/// Holds a folder to which only this user may write. It contains a corpus, a file that must be kept, and a world-writable subfolder.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        fs::set_permissions(place.0.path(), Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(place.at("shared")).unwrap();
        fs::set_permissions(place.at("shared"), Permissions::from_mode(0o1777)).unwrap();
        fs::write(place.at("corpus.jsonl"), json_lines(&made_docs(60))).unwrap();
        fs::write(place.at("victim"), "mine").unwrap();
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns the folder of temporary files for `out` below `--work shared`.
    fn below_work(&self) -> PathBuf {
        let out = self.0.path().canonicalize().unwrap().join("out");
        let hash = xxh3_64(out.as_os_str().as_encoded_bytes()) >> 24;
        self.at("shared").join(format!(".out.dupsift-work-{hash:010x}"))
    }

    /// Runs the program in this folder; each step is saved.
    fn typed(&self, words: &[&str]) -> Ran {
        let mut command = program();
        command.current_dir(self.0.path()).args(words);
        if ["run", "stream", "purify", "compare"].contains(&words[0]) {
            command.args(["--threads", "2", "--memory", "256MiB", "--no-progress"]);
        }
        Ran::of(command.output().unwrap())
    }

    fn run(&self, more: &[&str]) -> Ran {
        let words = ["run", "corpus.jsonl", "--out", "out", "--algorithms", "exact,minhash", "--checkpoint", "0s"];
        self.typed(&[&words, more].concat())
    }

    #[track_caller]
    fn victim_stays(&self) {
        assert_eq!(fs::read_to_string(self.at("victim")).unwrap(), "mine");
    }

    /// Creates a folder in which each file name that the program uses is a link to the file that must be kept.
    fn prepare(&self, folder: &Path) {
        fs::create_dir(folder).unwrap();
        NAMES.iter().for_each(|name| symlink(self.at("victim"), folder.join(name)).unwrap());
    }
}

/// Runs a command as another user. Returns `false`, with a message, if this user does not have permission to do so.
fn as_other_user(script: &str) -> bool {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can act as a second user");
        return false;
    }
    let mut command = Command::new("sh");
    command.args(["-ec", script]).current_dir("/").uid(OTHER_USER).gid(OTHER_USER);
    assert!(command.status().unwrap().success(), "{script}");
    true
}

/// Lets another user create a world-writable folder in which the file names that the program uses are links to a file of this user.
fn prepared_by_other(place: &Place, folder: &Path) -> bool {
    let (folder, victim) = (folder.display(), place.at("victim"));
    let links = NAMES.map(|name| format!("ln -s '{}' '{folder}/{name}'", victim.display())).join("; ");
    as_other_user(&format!("mkdir '{folder}'; chmod 777 '{folder}'; {links}"))
}

#[test]
fn a_work_folder_that_another_user_prepared_is_refused() {
    for (way, beside) in [("below --work", false), ("beside the output", true)] {
        let place = Place::new();
        let out = if beside { "shared/out" } else { "out" };
        let folder = if beside { place.at("shared/.out.dupsift-work") } else { place.below_work() };
        if !prepared_by_other(&place, &folder) {
            return;
        }
        let typed = |words: &[&str]| {
            let work: &[&str] = if beside || words[0] == "clean" { &[] } else { &["--work", "shared"] };
            place.typed(&[words, work].concat())
        };
        let commands: [&[&str]; 5] = [
            &["run", "corpus.jsonl", "--out", out, "--algorithms", "exact", "--checkpoint", "0s"],
            &["compare", "corpus.jsonl", "--out", out, "--algorithms", "exact,tf"],
            &["stream", "corpus.jsonl", "--out", out],
            &["purify", "corpus.jsonl", "--out", out, "--html-column", "text"],
            &["clean", out],
        ];
        for words in commands {
            if words[0] == "clean" && !beside {
                continue;
            }
            typed(words).ends_with(2).says(&["belongs to another user", "dupsift-work"]);
            place.victim_stays();
            assert!(
                !place.at(out).exists() && beside == place.at("shared/.out.dupsift-work").exists(),
                "{way} {words:?}"
            );
            assert!(!place.at(".out.dupsift-work").exists(), "{way} {words:?}");
        }
        assert_eq!(names_in(&folder).len(), NAMES.len(), "{way}: nothing of it is removed");
        // A different name next to the prepared folder can be used.
        place.typed(&["run", "corpus.jsonl", "--out", "shared/other", "--algorithms", "exact"]).ends_with(0);
    }
}

/// Checks folders to which other users may write. Such users may have prepared files in the folder regardless of who created it. This test
/// does not require a second user.
#[test]
fn a_work_folder_that_others_may_write_is_refused() {
    for mode in [0o777, 0o770, 0o702] {
        let place = Place::new();
        place.prepare(&place.below_work());
        fs::set_permissions(place.below_work(), Permissions::from_mode(mode)).unwrap();
        place
            .run(&["--work", "shared"])
            .ends_with(2)
            .says(&["other users can write to it", &format!("mode {mode:04o}")]);
        place.victim_stays();
        fs::set_permissions(place.below_work(), Permissions::from_mode(0o700)).unwrap();
        place.run(&["--work", "shared"]).ends_with(0);
        place.victim_stays();
    }
    let place = Place::new();
    fs::create_dir(place.at("elsewhere")).unwrap();
    symlink(place.at("elsewhere"), place.below_work()).unwrap();
    place.run(&["--work", "shared"]).ends_with(2);
    assert!(names_in(&place.at("elsewhere")).is_empty());
}

/// Checks links in a folder of this user. The links were created while other users could write to the folder.
#[test]
fn links_in_a_work_folder_are_not_followed() {
    let place = Place::new();
    let folder = place.at(".out.dupsift-work");
    place.prepare(&folder);
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
    let script = r#"cat corpus.jsonl | "$0" run - --out out --algorithms exact,minhash --checkpoint 0s --no-progress"#;
    let mut command = Command::new("sh");
    command.args(["-c", script, crate::kit::built()]).current_dir(place.0.path());
    Ran::of(command.output().unwrap()).ends_with(0);
    place.victim_stays();
    assert_eq!(record(&place.at("out"))["documents"]["rows"], 60);
    fs::remove_dir_all(place.at("out")).unwrap();
    // Tests a hard link to the user's file.
    for name in ["lock", "ledger.json.half"] {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
        fs::hard_link(place.at("victim"), folder.join(name)).unwrap();
        let ran = place.run(&[]);
        assert_eq!(ran.code, if name == "lock" { 1 } else { 0 }, "{}", ran.stderr);
        place.victim_stays();
        let _ = fs::remove_dir_all(place.at("out"));
    }
    // The program does not wait for a pipe.
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
    assert!(Command::new("mkfifo").arg(folder.join("lock")).status().unwrap().success());
    place.run(&[]).ends_with(1).says(&["not a regular file"]);
}

/// Checks that only this user may write to the folder of temporary files and the unfinished result, and that the final result has the
/// permissions that the umask allows.
#[test]
fn nobody_else_may_write_where_a_result_is_made() {
    let place = Place::new();
    let script = r#"umask 0; exec "$0" run corpus.jsonl --out shared/out --work shared --algorithms all --no-progress"#;
    let mut command = Command::new("sh");
    command.args(["-c", script, crate::kit::built()]).current_dir(place.0.path());
    let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    let mut seen = Vec::new();
    while child.try_wait().unwrap().is_none() {
        for name in names_in(&place.at("shared")).into_iter().filter(|name| name.starts_with('.')) {
            let Ok(there) = place.at("shared").join(&name).symlink_metadata() else { continue };
            seen.push((name, there.mode() & 0o777));
        }
    }
    assert!(child.wait().unwrap().success());
    let kept = |part: &str| seen.iter().filter(|(name, _)| name.contains(part)).collect::<Vec<_>>();
    assert!(!kept("-partial-").is_empty() && kept("-work").len() > kept("-partial-").len() / 2, "{seen:?}");
    // The folder may be observed between two calls that create it.
    let open = kept("-work").into_iter().filter(|(_, mode)| *mode != 0o700).count();
    assert_eq!(open, 0, "{seen:?}");
    assert_eq!(kept("-partial-")[kept("-partial-").len() / 2].1, 0o700);
    assert_eq!(place.at("shared/out").metadata().unwrap().mode() & 0o777, 0o777);
}

/// Checks that an index can be written with any umask, and that its files have the permissions that the umask allows.
#[test]
fn an_index_has_the_rights_of_the_umask() {
    for (umask, file, folder) in [("002", 0o664, 0o775), ("022", 0o644, 0o755), ("077", 0o600, 0o700)] {
        let place = Place::new();
        for (corpus, out) in [("corpus.jsonl", "a"), ("other.jsonl", "b")] {
            fs::write(place.at("other.jsonl"), json_lines(&made_docs(90))).unwrap();
            for name in ["corpus.jsonl", "other.jsonl"] {
                fs::set_permissions(place.at(name), Permissions::from_mode(0o644)).unwrap();
            }
            let run = format!("umask {umask}; exec \"$0\" run {corpus} --out {out} --index seen --no-progress");
            let mut command = Command::new("sh");
            command.args(["-c", &run, crate::kit::built()]).current_dir(place.0.path());
            Ran::of(command.output().unwrap()).ends_with(0);
        }
        for kind in ["batches", "rows", "statistics"] {
            for name in names_in(&place.at(&format!("seen/{kind}"))) {
                let inside = place.at(&format!("seen/{kind}/{name}"));
                assert_eq!(inside.metadata().unwrap().mode() & 0o777, folder, "{}", inside.display());
                for path in
                    fs::read_dir(&inside).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file())
                {
                    assert_eq!(path.metadata().unwrap().mode() & 0o777, file, "{}", path.display());
                }
            }
        }
    }
}

/// Checks a shared folder in which a killed run may have moved aside a result of another user.
#[test]
fn an_earlier_result_of_another_user_is_put_back() {
    let place = Place::new();
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can act as a second user");
        return;
    }
    place.run(&[]).ends_with(0);
    let aside = place.at(".out.dupsift-old-7");
    let chown = |path: &Path| std::os::unix::fs::chown(path, Some(OTHER_USER), Some(OTHER_USER)).unwrap();
    chown(&place.at("out"));
    fs::rename(place.at("out"), &aside).unwrap();
    place.run(&[]).ends_with(2).says(&["already exists"]);
    assert_eq!(record(&place.at("out"))["documents"]["rows"], 60);
    // A result that is not needed and an unfinished result are reported and kept.
    let partial = place.at(".out.dupsift-partial-8");
    for folder in [&aside, &partial] {
        fs::create_dir(folder).unwrap();
        chown(folder);
    }
    place
        .typed(&["clean", "out"])
        .ends_with(0)
        .says(&["dupsift-old-7 is not removed: it belongs to another user (user ID 65534)"]);
    assert!(aside.is_dir() && partial.is_dir() && place.at("out").is_dir());
}

/// Checks that in a world-writable folder, an earlier result that a killed run moved aside is restored only if it belongs to this user.
#[test]
fn a_result_that_another_user_prepared_is_not_put_back() {
    let place = Place::new();
    let old = place.at("shared/.out.dupsift-old-7");
    let script = format!("mkdir '{0}'; echo '{{}}' > '{0}/run.json'; touch '{0}/_SUCCESS'", old.display());
    if !as_other_user(&script) {
        return;
    }
    let words = ["run", "corpus.jsonl", "--out", "shared/out", "--algorithms", "exact"];
    place.typed(&words).ends_with(0);
    assert_eq!(record(&place.at("shared/out"))["documents"]["rows"], 60);
    assert_eq!(names_in(&old), ["_SUCCESS", "run.json"]);
    let mine = place.at("shared/.out.dupsift-old-8");
    fs::rename(place.at("shared/out"), &mine).unwrap();
    place.typed(&words).ends_with(2).says(&["already exists"]);
    assert!(!mine.exists(), "one of this user's is put back");
}

/// Checks a lock file that contains the path of an earlier run's temporary files: the folder is cleared only if only this user may write to
/// it.
#[test]
fn a_folder_that_a_lock_names_is_not_cleared_if_others_may_write_it() {
    let place = Place::new();
    let other = place.below_work();
    fs::create_dir(&other).unwrap();
    fs::set_permissions(&other, Permissions::from_mode(0o777)).unwrap();
    fs::write(other.join("a.saved"), "theirs").unwrap();
    let folder = place.at(".out.dupsift-work");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
    let named = other.canonicalize().unwrap();
    let lock = serde_json::json!({ "process": 1, "host": "gone", "work": named });
    fs::write(folder.join("lock"), lock.to_string()).unwrap();
    place.run(&[]).ends_with(0);
    assert_eq!(names_in(&other), ["a.saved"]);
    // A folder to which only this user may write is cleared.
    fs::remove_dir_all(place.at("out")).unwrap();
    fs::set_permissions(&other, Permissions::from_mode(0o700)).unwrap();
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
    fs::write(folder.join("lock"), lock.to_string()).unwrap();
    place.run(&[]).ends_with(0);
    assert!(!other.exists());
}

#[test]
fn an_index_that_everybody_may_write_is_refused_and_no_link_in_one_is_followed() {
    let place = Place::new();
    let index = ["--index", "seen"];
    fs::create_dir(place.at("seen")).unwrap();
    let names = ["intent-00000001.json", "manifest-00000001.json", "held.json"];
    names.iter().for_each(|name| symlink(place.at("victim"), place.at("seen").join(name)).unwrap());
    fs::set_permissions(place.at("seen"), Permissions::from_mode(0o777)).unwrap();
    place.run(&index).ends_with(2).says(&["every user can write to it", "chmod o-w"]);
    place.victim_stays();
    fs::set_permissions(place.at("seen"), Permissions::from_mode(0o755)).unwrap();
    // The file is not a manifest, so the index counts as damaged, and nothing is written through the link.
    let ran = place.run(&index);
    assert_ne!(ran.code, 0, "{}", ran.stdout);
    place.victim_stays();
    fs::remove_dir_all(place.at("seen")).unwrap();
    // Tests a lock that is a link to a file, and folders that are links to a folder.
    fs::create_dir(place.at("seen")).unwrap();
    symlink(place.at("victim"), place.at("seen/lock")).unwrap();
    assert_ne!(place.run(&index).code, 0);
    fs::remove_file(place.at("seen/lock")).unwrap();
    fs::create_dir_all(place.at("home/b-00000009")).unwrap();
    fs::write(place.at("home/b-00000009/diary"), "mine").unwrap();
    for folder in ["batches", "rows", "statistics"] {
        symlink(place.at("home"), place.at("seen").join(folder)).unwrap();
        place.run(&index).ends_with(2).says(&[folder, "is a link"]);
        assert_eq!(fs::read_to_string(place.at("home/b-00000009/diary")).unwrap(), "mine");
        fs::remove_file(place.at("seen").join(folder)).unwrap();
    }
    // A link in place of the held batch counts as damage.
    symlink(place.at("victim"), place.at("seen/held.json")).unwrap();
    place.run(&index).ends_with(1).says(&["held.json"]);
    place.victim_stays();
}
