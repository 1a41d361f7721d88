//! Checks that only one run at a time can use a temporary folder, and that the leftovers of killed runs are found, even in other locations.

use std::fs;
use std::path::{Path, PathBuf};

use crate::output::sink::Stage;
use crate::place::Cleared;
use crate::place::work_files::LEDGER;
use crate::place::work_files::is_work_file;
use crate::temporary::lock::{Lock, Owner};
use crate::temporary::work_folder::{WorkFolder, clean_output};
use crate::test_kit::names;

fn take(out: &Path, work: Option<&Path>) -> WorkFolder {
    WorkFolder::take(out, work).expect("no other run")
}

/// Creates the leftovers of a killed run: the folders without the lock. Returns the folder that contains the temporary files.
fn killed(out: &Path, work: Option<&Path>) -> PathBuf {
    let folder = take(out, work);
    for (name, bytes) in [("a.saved", "12"), ("b.run", "345"), ("b.run.half", "6"), (LEDGER, "{}")] {
        fs::write(folder.path().join(name), bytes).expect("written");
    }
    folder.keep();
    folder.path().to_path_buf()
}

#[test]
fn a_second_run_on_an_output_reports_who_writes_it() {
    let place = tempfile::tempdir().expect("a folder");
    let (out, elsewhere) = (place.path().join("out"), place.path().join("elsewhere"));
    fs::create_dir(&elsewhere).expect("a folder");
    let first = Stage::begin(&out, false, None).expect("begun");
    let before = names(place.path());
    let expected = format!("another run is writing {}: process {}", out.display(), std::process::id());
    for work in [None, Some(&*elsewhere)] {
        let message = Stage::begin(&out, true, work).expect_err("refused").to_string();
        assert!(message.starts_with(&expected) && message.contains("`out`"), "{message}");
    }
    for refused in [Stage::check(&out, true, true).expect_err("told"), clean_output(&out, None).expect_err("told")] {
        assert!(refused.to_string().starts_with(&expected), "{refused}");
    }
    assert_eq!(names(place.path()), before);
    // A run on a different output is not affected.
    drop(Stage::begin(&place.path().join("out2"), false, Some(&elsewhere)).expect("begun"));
    drop(first);
    assert_eq!((names(place.path()), names(&elsewhere)), (vec!["elsewhere".to_owned()], vec![]));
    Stage::check(&out, false, true).expect("free");
}

#[test]
fn the_same_command_finds_its_work_again_and_another_clears_it_away() {
    let place = tempfile::tempdir().expect("a folder");
    let at = |name: &str| place.path().join(name);
    let out = at("deep/../out");
    fs::create_dir_all(at("deep")).expect("a folder");
    ["one", "two"].iter().for_each(|name| fs::create_dir(at(name)).expect("a folder"));
    let (one, two) = (at("one"), at("two"));
    for work in [None, Some(&*one)] {
        let first = killed(&out, work);
        let again = take(&at("out"), work);
        assert_eq!(again.path().canonicalize().expect("there"), first.canonicalize().expect("there"));
        assert_eq!(again.holds(), (4, 8));
        again.keep_only(|name| name == LEDGER || name == "b.run").expect("cleared");
        assert_eq!(names(again.path()), ["b.run", "ledger.json", "lock"]);
        // Dropping the value keeps everything, because the folder was not marked for removal.
        drop(again);
        let again = take(&out, work);
        assert_eq!(again.holds(), (2, 5));
        again.remove();
        assert_eq!((names(place.path()), names(&one)), (["deep", "one", "two"].map(String::from).to_vec(), vec![]));
    }
    let first = killed(&out, Some(&one));
    let other = take(&out, Some(&two));
    assert!(!first.exists() && names(&one).is_empty());
    assert_eq!(other.cleared(), [Cleared::Removed { path: first, files: 4, bytes: 8 }]);
    drop(other);
    killed(&out, Some(&two));
    drop(take(&out, None));
    assert_eq!((names(place.path()), names(&two)), (["deep", "one", "two"].map(String::from).to_vec(), vec![]));
}

#[test]
fn cleaning_says_what_it_removes_and_touches_nothing_else() {
    let place = tempfile::tempdir().expect("a folder");
    let at = |name: &str| place.path().join(name);
    let (out, work) = (at("out"), at("work"));
    fs::create_dir(&work).expect("a folder");
    assert_eq!(clean_output(&out, None).expect("nothing"), []);
    let first = killed(&out, Some(&work));
    fs::create_dir_all(at(".out.dupsift-partial-7/pairs")).expect("a folder");
    fs::write(at(".out.dupsift-partial-7/run.json"), "half").expect("written");
    for name in [".out.dupsift-partial-8", ".out.dupsift-partial-mine", ".out2.dupsift-work"] {
        fs::create_dir(at(name)).expect("a folder");
        fs::write(at(name).join("notes"), "user").expect("written");
    }
    fs::create_dir(at(".out.dupsift-old-9")).expect("a folder");
    fs::write(at(".out.dupsift-old-9/run.json"), "earlier").expect("written");
    let mut cleared = clean_output(&out, None).expect("cleaned");
    cleared.sort_by_key(|cleared| format!("{cleared:?}"));
    let removed = |path: PathBuf, files, bytes| Cleared::Removed { path, files, bytes };
    let expected = [
        Cleared::Left { path: at(".out.dupsift-partial-8"), foreign: "notes".into() },
        Cleared::PutBack(out.clone()),
        removed(at(".out.dupsift-partial-7"), 1, 4),
        removed(at(".out.dupsift-work"), 0, 0),
        removed(first, 4, 8),
    ];
    assert_eq!(cleared, expected);
    let left = [".out.dupsift-partial-8", ".out.dupsift-partial-mine", ".out2.dupsift-work", "out", "work"];
    assert_eq!((names(place.path()), names(&work)), (left.map(String::from).to_vec(), vec![]));
    assert_eq!(fs::read(out.join("run.json")).expect("there"), b"earlier");
}

#[test]
fn a_file_of_the_users_in_a_work_folder_stays() {
    let place = tempfile::tempdir().expect("a folder");
    let out = place.path().join("out");
    let folder = killed(&out, None);
    fs::write(folder.join("notes"), "user").expect("written");
    let cleared = clean_output(&out, None).expect("cleaned");
    assert_eq!(cleared, [Cleared::Left { path: folder.clone(), foreign: "notes".into() }]);
    assert_eq!(names(&folder), ["lock", "notes"]);
    // A folder is not emptied merely because the lock of a killed run lists it.
    fs::create_dir(place.path().join("mine")).expect("a folder");
    fs::write(place.path().join("mine/a.saved"), "user").expect("written");
    let Ok(crate::temporary::lock::Asked::Mine(lock)) = Lock::take(&folder) else { panic!("it is free") };
    lock.sign(&Owner::here(Some(&place.path().join("mine")))).expect("written");
    drop(lock);
    drop(take(&out, None));
    assert!(place.path().join("mine/a.saved").is_file());
}

#[test]
fn work_files_are_known_by_their_names() {
    for name in ["lock", "ledger.json", "rows.minhash.run", "words.saved", "words.saved.half", "sign.5.work"] {
        assert!(is_work_file(name), "{name}");
    }
    for name in ["lock.txt", "notes.json", ".run", "run", "a.parquet", ""] {
        assert!(!is_work_file(name), "{name}");
    }
}

/// Checks the leftovers of an addition that was killed while it removed the replaced folder, or between the two renames.
#[test]
fn an_interrupted_addition_is_completed() {
    for (moved, aside) in [(true, true), (false, true), (false, false)] {
        let place = tempfile::tempdir().expect("a folder");
        let at = |name: &str| place.path().join(name);
        let partial = at(".out.dupsift-partial-7");
        let folder = |path: &Path, text: &str| {
            fs::create_dir_all(path.join("lang=ru")).expect("a folder");
            fs::write(path.join("lang=ru/a.jsonl"), text).expect("written");
        };
        fs::create_dir_all(at("out")).expect("a folder");
        fs::create_dir_all(&partial).expect("a folder");
        folder(&if moved { at("out/deduped") } else { partial.join("deduped") }, "new");
        folder(&if aside { partial.join(".old-deduped") } else { at("out/deduped") }, "old");
        let cleared = clean_output(&at("out"), None).expect("cleaned");
        assert!(matches!(&*cleared, [Cleared::Removed { path, .. }] if *path == partial), "{cleared:?}");
        assert_eq!(names(place.path()), ["out"]);
        let expected = if aside { "new" } else { "old" };
        assert_eq!(fs::read_to_string(at("out/deduped/lang=ru/a.jsonl")).expect("there"), expected);
    }
    // Other folders with such a name are kept.
    let place = tempfile::tempdir().expect("a folder");
    fs::create_dir_all(place.path().join(".out.dupsift-partial-7/.old-notes")).expect("a folder");
    let cleared = clean_output(&place.path().join("out"), None).expect("cleaned");
    assert!(matches!(&*cleared, [Cleared::Left { foreign, .. }] if foreign == Path::new(".old-notes")), "{cleared:?}");
}

/// Checks replaced results whose removal was interrupted after the record had been removed.
#[test]
fn what_is_left_of_a_replaced_result_is_removed() {
    for out_is_there in [true, false] {
        let place = tempfile::tempdir().expect("a folder");
        let at = |name: &str| place.path().join(name);
        for name in [".out.dupsift-old-7/deduped", ".out.dupsift-old-7/pairs", ".out.held.dupsift-partial-7/texts"] {
            fs::create_dir_all(at(name)).expect("a folder");
        }
        fs::write(at(".out.dupsift-old-7/deduped/a.jsonl"), "text").expect("written");
        if out_is_there {
            fs::create_dir(at("out")).expect("a folder");
        }
        drop(take(&at("out"), None));
        assert_eq!(names(place.path()), if out_is_there { vec!["out".to_owned()] } else { Vec::new() });
    }
}
