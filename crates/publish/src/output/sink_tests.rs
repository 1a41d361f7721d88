//! Checks that the output folder is either complete or missing, and that no other files are changed.

use crate::output::sink::*;
use crate::test_kit::names;
use dupsift_core::error::Result;
use std::fs;
use std::path::Path;

fn run(out: &Path, overwrite: bool, content: &str) -> Result<()> {
    let stage = Stage::begin(out, overwrite, None)?;
    stage.write_bytes("run.json", content.as_bytes())?;
    stage.write_bytes("pairs/algorithm=exact/part-00000.parquet", b"...")?;
    assert!(!out.join("pairs").exists() || overwrite);
    stage.commit(true)
}

#[test]
fn a_result_appears_whole_and_leaves_nothing_beside_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("deep/out");
    run(&out, false, "1").expect("done");
    assert_eq!(names(&out), ["_SUCCESS", "pairs", "run.json"]);
    assert_eq!(names(&folder.path().join("deep")), ["out"]);
    let message = run(&out, false, "2").expect_err("it is there").to_string();
    assert!(message.contains("`overwrite`"), "{message}");
    run(&out, true, "3").expect("replaced");
    assert_eq!(fs::read(out.join("run.json")).expect("there"), b"3");
    assert_eq!(names(&folder.path().join("deep")), ["out"]);
}

#[test]
fn what_cannot_be_begun_is_reported_before() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("file"), b"user").expect("a file");
    assert!(Stage::check(&folder.path().join("new/deep"), false, true).is_ok());
    assert_eq!(names(folder.path()), ["file"]);
    for out in ["file", "file/out", "file/deep/out"] {
        let message = Stage::check(&folder.path().join(out), true, true).expect_err(out).to_string();
        assert!(message.contains("`out"), "{message}");
    }
    assert!(Stage::check(folder.path(), false, true).is_err());
}

#[test]
fn a_run_that_ends_early_leaves_the_earlier_result() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    drop(Stage::begin(&out, false, None).expect("begun"));
    assert_eq!(names(folder.path()), [""; 0]);
    run(&out, false, "1").expect("done");
    let stage = Stage::begin(&out, true, None).expect("begun");
    stage.write_bytes("run.json", b"2").expect("written");
    drop(stage);
    assert_eq!(
        (names(folder.path()), fs::read(out.join("run.json")).expect("there")),
        (vec!["out".into()], b"1".to_vec())
    );
}

#[test]
fn the_users_own_folder_is_never_touched() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let refused = |what: &str| {
        let message = run(&out, true, "1").expect_err("refused").to_string();
        assert!(message.contains(what) && message.contains("`out"), "{message}");
    };
    // Spark also marks its outputs with `_SUCCESS`.
    fs::create_dir(&out).expect("a folder");
    for name in ["_SUCCESS", "part-0.parquet"] {
        fs::write(out.join(name), b"user").expect("a file");
    }
    refused("\"part-0.parquet\"");
    fs::remove_file(out.join("part-0.parquet")).expect("removed");
    refused("run.json");
    fs::write(out.join("run.json"), b"{}").expect("a file");
    fs::write(out.join("my notes"), b"user").expect("a file");
    refused("\"my notes\"");
    assert_eq!(names(folder.path()), ["out"]);
    fs::remove_dir_all(&out).expect("removed");
    fs::write(&out, b"user").expect("a file");
    refused("is a file");
    fs::remove_file(&out).expect("removed");
    fs::create_dir(&out).expect("a folder");
    run(&out, true, "1").expect("an empty folder may be replaced");
    assert!(Stage::begin(Path::new("/"), true, None).is_err());
}

#[test]
fn a_file_of_the_users_is_found_however_deep_it_lies() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    run(&out, false, "1").expect("done");
    let mine = ["pairs/notes.csv", "pairs/algorithm=exact/scores/a.parquet", "stats/words/mine.txt", "removed/b.csv"];
    for name in mine {
        let path = out.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(&path, b"user").expect("a file");
        let message = run(&out, true, "2").expect_err("refused").to_string();
        let first = name.split("/a.parquet").next().expect("a part");
        assert!(message.contains(first) && message.contains("`overwrite`"), "{message}");
        assert_eq!(fs::read(&path).expect("there"), b"user");
        fs::remove_file(&path).expect("removed");
        if name.contains("scores") {
            fs::remove_dir(path.parent().expect("a folder")).expect("removed");
        }
    }
    run(&out, true, "3").expect("replaced");
}

#[test]
fn a_file_that_the_record_does_not_list_is_the_users_whatever_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let run = || {
        let stage = Stage::begin(&out, true, None)?;
        for file in ["pairs/algorithm=exact/part-00000.parquet", "pages/part-00000.parquet", "stats/models/a.parquet"] {
            stage.write_bytes(file, b"...")?;
        }
        stage.write_record("{\n  \"a\": [\n    1\n  ]\n}")?;
        stage.commit(true)
    };
    run().expect("done");
    let record = fs::read_to_string(out.join("run.json")).expect("there");
    expect_test::expect![[r#"
        {
          "a": [
            1
          ],
          "files": [
            "pages/part-00000.parquet",
            "pairs/algorithm=exact/part-00000.parquet",
            "stats/models/a.parquet"
          ]
        }"#]]
    .assert_eq(&record);
    // Files added later are recognized by their names.
    for later in ["report.html", "evaluation/evaluation.json", ".evaluation.dupsift-partial-5/evaluation.parquet"] {
        fs::create_dir_all(out.join(later).parent().expect("a folder")).expect("made");
        fs::write(out.join(later), b"...").expect("written");
    }
    for mine in [
        "removed/part-00000.parquet",
        "pairs/algorithm=foo/part-00000.parquet",
        "pages/part-00001.parquet",
        "stats/models/b.parquet",
        ".evaluation.dupsift-partial-5/u.txt",
    ] {
        let path = out.join(mine);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(&path, b"user").expect("a file");
        let message = run().expect_err("refused").to_string();
        assert!(message.contains(mine), "{message}");
        assert_eq!(fs::read(&path).expect("there"), b"user");
        fs::remove_file(&path).expect("removed");
    }
    run().expect("replaced");
    assert_eq!(names(&out), ["_SUCCESS", "pages", "pairs", "run.json", "stats"]);
}

#[test]
fn a_file_of_the_users_under_the_name_of_a_dead_run_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let [mine, dead] = [".out.dupsift-partial-1", ".out.dupsift-partial-2"];
    for name in [mine, dead] {
        fs::create_dir_all(at(name).join(".dupsift-work-x1/run")).expect("folders");
        fs::create_dir_all(at(name).join("pairs/algorithm=exact")).expect("folders");
        fs::write(at(name).join("pairs/algorithm=exact/part-00000.parquet"), b"half").expect("a file");
    }
    fs::write(at(mine).join("mine.txt"), b"user").expect("a file");
    run(&at("out"), false, "1").expect("done");
    assert_eq!(names(folder.path()), [mine, "out"]);
    assert_eq!(fs::read(at(mine).join("mine.txt")).expect("there"), b"user");
}

#[test]
fn an_output_has_a_folder_of_its_own_apart_from_its_inputs() {
    for out in ["/", ".", "..", "./", "../."] {
        let message = Stage::begin(Path::new(out), true, None).expect_err("refused").to_string();
        assert!(message.contains("a separate folder"), "{out}: {message}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    run(&out, false, "1").expect("done");
    let (inside, beside) = (out.join("pairs/algorithm=exact/part-00000.parquet"), folder.path().join("a"));
    fs::write(&beside, b"").expect("a file");
    let stage = Stage::begin(&out, true, None).expect("begun");
    stage.spares([&*beside]).expect("it lies beside");
    let message = stage.spares([&*beside, &*inside]).expect_err("it lies in it").to_string();
    assert!(message.contains("would be replaced, but contains the input"), "{message}");
}

#[cfg(unix)]
#[test]
fn links_under_our_hidden_names_are_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let mine = at("mine");
    fs::create_dir(&mine).expect("a folder");
    fs::write(mine.join("run.json"), b"user").expect("a file");
    let links = [".out.dupsift-old-5", ".out.dupsift-partial-5", ".out.held.dupsift-old-5"];
    links.iter().for_each(|name| std::os::unix::fs::symlink(&mine, at(name)).expect("a link"));
    // An unrelated folder with the name of a replaced result is not moved either.
    fs::create_dir(at(".out.dupsift-old-6")).expect("a folder");
    fs::write(at(".out.dupsift-old-6").join("notes"), b"user").expect("a file");
    run(&at("out"), false, "1").expect("done");
    run(&at("out"), true, "2").expect("replaced");
    let stage = Stage::begin(&at("out"), true, None).expect("begun");
    stage.write_bytes("run.json", b"3").expect("written");
    assert_eq!(stage.hold().expect("held"), at("out.held"));
    assert!(links.iter().all(|name| at(name).is_symlink()) && at(".out.dupsift-old-6/notes").is_file());
    assert_eq!(fs::read(mine.join("run.json")).expect("there"), b"user");
    assert_eq!(fs::read(at("out/run.json")).expect("there"), b"2");
    // dupsift never writes links into an output.
    std::os::unix::fs::symlink(&mine, at("out/stats")).expect("a link");
    assert!(run(&at("out"), true, "4").expect_err("refused").to_string().contains("\"stats\""));
}

#[test]
fn what_dead_runs_left_is_cleared_away_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let at = |name: &str| folder.path().join(name);
    let dead = ".out.dupsift-partial-1";
    for name in [dead, ".out.dupsift-partial-mine", ".other.dupsift-partial-1", ".out.old-5"] {
        fs::create_dir(at(name)).expect("a folder");
    }
    fs::write(at(dead).join("run.json"), b"half").expect("a file");
    let before = names(folder.path());
    run(&out, false, "1").expect("done");
    let mut after: Vec<String> = before.into_iter().filter(|name| name != dead).collect();
    after.push("out".to_owned());
    assert_eq!(names(folder.path()), after);
    // If a run was killed between its two renames, the previous result is restored.
    fs::rename(&out, at(".out.dupsift-old-5")).expect("renamed");
    assert!(Stage::begin(&out, false, None).is_err());
    assert_eq!(fs::read(out.join("run.json")).expect("there"), b"1");
    // Simulates a run that was killed while it was removing the replaced result.
    fs::create_dir_all(at(".out.dupsift-old-6/pairs")).expect("a folder");
    drop(Stage::begin(&out, true, None).expect("begun"));
    assert!(!at(".out.dupsift-old-6").exists() && at(".out.old-5").exists());
}

#[test]
fn files_stay_inside_and_a_name_taken_meanwhile_stops_the_commit() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let stage = Stage::begin(&out, false, None).expect("begun");
    for path in ["../x", "/x", "", "a/../../x"] {
        assert!(stage.write_bytes(path, b"").is_err(), "{path}");
    }
    fs::create_dir(&out).expect("a folder");
    assert!(stage.commit(true).is_err());
    assert_eq!(names(folder.path()), ["out"]);
}

#[cfg(unix)]
#[test]
fn permissions_are_what_the_umask_says_and_a_link_stays_one() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let plain = folder.path().join("plain");
    fs::create_dir(&plain).expect("a folder");
    let out = folder.path().join("link");
    std::os::unix::fs::symlink(folder.path().join("real"), &out).expect("a link");
    fs::create_dir(folder.path().join("real")).expect("a folder");
    run(&out, true, "1").expect("done");
    assert!(out.is_symlink() && folder.path().join("real/run.json").is_file());
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode();
    assert_eq!(mode(&out), mode(&plain));
    fs::write(folder.path().join("file"), b"").expect("a file");
    assert_eq!(mode(&out.join("run.json")), mode(&folder.path().join("file")));
}
