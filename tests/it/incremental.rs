//! Tests `scripts/nightly.sh` with three batches from the samples, a crash in the second batch and a guard in the third, without and with
//! an index.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::kit::{Ran, names_in, numbered, program, record, sample_docs, write_docs};

/// Wraps the program, and kills it once, as soon as it has saved something.
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

struct Runs {
    folder: tempfile::TempDir,
}

impl Runs {
    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, name: &str) -> Ran {
        Ran::of(self.command(&[], name).output().unwrap())
    }

    /// Returns the command with an index and more options.
    fn indexed(&self, name: &str, more: &[&str]) -> Command {
        let index = self.at("seen");
        let mut command = self.command(&["--index", index.to_str().unwrap()], name);
        command.args(["--algorithms", "exact,minhash"]).args(more);
        command
    }

    fn command(&self, first: &[&str], name: &str) -> Command {
        let mut command = Command::new("sh");
        command.arg(script()).args(first).arg(self.at("corpus")).arg(self.at("out")).arg(name);
        command.args(["--", "--memory", "512MiB", "--threads", "2", "--guard-rows", "100", "--corpus", "keep"]);
        command.env("DUPSIFT", self.at("dupsift")).env("PROGRAM", crate::kit::built()).env("KEEP", "2");
        command.env("CRASH", self.at("crash")).env("WORK", self.at(&format!("out/.{name}.dupsift-work")));
        command
    }

    /// Returns information about the index.
    fn held(&self) -> serde_json::Value {
        held(&self.at("seen"))
    }

    fn latest(&self) -> String {
        std::fs::read_link(self.at("out/latest")).unwrap().to_string_lossy().into_owned()
    }
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/nightly.sh")
}

/// Checks that the program can print the script, because a wheel contains no scripts.
#[test]
fn the_program_prints_the_script_and_it_runs() {
    let ran = Ran::of(program().arg("nightly").output().unwrap()).ends_with(0);
    assert_eq!(ran.stdout, std::fs::read_to_string(script()).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("nightly.sh"), ran.stdout).unwrap();
    write_docs(&at("corpus/a.parquet"), &numbered(vec!["one text", "another text"]), 10);
    let mut run = Command::new("sh");
    run.arg(at("nightly.sh")).arg(at("corpus")).arg(at("out")).arg("monday");
    run.env("DUPSIFT", crate::kit::built());
    Ran::of(run.output().unwrap()).ends_with(0).says(&["monday is published"]);
    assert_eq!(names_in(&at("out")), [".nightly.lock", ".nightly.published", "latest", "monday"]);
}

fn held(index: &Path) -> serde_json::Value {
    let ran = Ran::of(program().args(["index", "info", "--json"]).arg(index).output().unwrap()).ends_with(0);
    serde_json::from_str(&ran.stdout).unwrap()
}

fn batches_in(held: &serde_json::Value) -> Vec<&str> {
    held["batches"].as_array().unwrap().iter().map(|run| run["name"].as_str().unwrap()).collect()
}

#[test]
fn runs_resume_after_a_crash_and_are_compared_with_each_other() {
    use std::os::unix::fs::PermissionsExt as _;
    let runs = Runs { folder: tempfile::tempdir().unwrap() };
    std::fs::write(runs.at("dupsift"), CRASHES_ONCE).unwrap();
    std::fs::set_permissions(runs.at("dupsift"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let docs = sample_docs();
    let cut = |from: usize, to: usize| {
        write_docs(&runs.at("corpus/a.parquet"), &docs[from * docs.len() / 6..to * docs.len() / 6], 500)
    };
    cut(0, 4);
    runs.run("2026-11-20").ends_with(0).says(&["2026-11-20 is published"]);
    runs.run("2026-11-20").ends_with(0).says(&["is already complete"]);
    // The second run is killed and resumes from its saved state.
    cut(1, 5);
    std::fs::write(runs.at("crash"), "").unwrap();
    runs.run("2026-11-21").ends_with(137).says(&["run the same command again to resume"]);
    assert_eq!((runs.latest().as_str(), runs.at("out/2026-11-21").exists()), ("2026-11-20", false));
    runs.run("2026-11-21").ends_with(0);
    let second = record(&runs.at("out/2026-11-21"));
    assert!(!second["resumed"].as_array().unwrap().is_empty(), "{}", second["resumed"]);
    assert!(second["options"]["previous"].as_str().unwrap().ends_with("2026-11-20"));
    assert_eq!((runs.latest().as_str(), &second["corpus"]["written"]), ("2026-11-21", &"keep".into()));
    // In the third run, one source consists of copies of the same page.
    write_docs(&runs.at("corpus/b.parquet"), &numbered(vec!["please enable scripts to read this page"; 200]), 500);
    runs.run("2026-11-22").ends_with(4).says(&["held back", "accept", "199 of the 200 documents in b.parquet"]);
    assert_eq!(runs.latest(), "2026-11-21");
    Ran::of(program().arg("accept").arg(runs.at("out/2026-11-22.held")).output().unwrap()).ends_with(0);
    runs.run("2026-11-22").ends_with(0).says(&["is already complete"]);
    assert_eq!(runs.latest(), "2026-11-22");
    // The accepted result counts as the previous run, and only the newest results are kept.
    std::fs::remove_file(runs.at("corpus/b.parquet")).unwrap();
    runs.run("2026-11-23").ends_with(0);
    let fourth = record(&runs.at("out/2026-11-23"));
    assert!(fourth["options"]["previous"].as_str().unwrap().ends_with("2026-11-22"));
    assert_eq!(
        names_in(&runs.at("out")),
        [".nightly.lock", ".nightly.published", "2026-11-22", "2026-11-23", "latest"]
    );
    // Results are listed in order of publication, regardless of their names.
    runs.run("10").ends_with(0);
    runs.run("9").ends_with(0);
    assert!(record(&runs.at("out/9"))["options"]["previous"].as_str().unwrap().ends_with("/10"));
    assert_eq!(
        (names_in(&runs.at("out")), runs.latest().as_str()),
        (vec![".nightly.lock".into(), ".nightly.published".into(), "10".into(), "9".into(), "latest".into()], "9")
    );
}

/// Runs the program, and then changes the start time in the record.
const WRONG_CLOCK: &str = r#"#!/bin/sh
"$PROGRAM" "$@" || exit
[ -z "${STARTED-}" ] || sed -i "s/^  \"started\": .*/  \"started\": \"$STARTED\",/" "$RESULT/run.json"
"#;

fn executable(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Checks that results are listed in order of publication, regardless of the clock, so that a result that was just published is not
/// deleted.
#[test]
fn a_wrong_clock_deletes_nothing() {
    let runs = Runs { folder: tempfile::tempdir().unwrap() };
    executable(&runs.at("dupsift"), WRONG_CLOCK);
    let docs = sample_docs();
    write_docs(&runs.at("corpus/a.parquet"), &docs[..200], 500);
    let run = |name: &str, started: &str| {
        let mut command = runs.command(&[], name);
        command.env("STARTED", started).env("RESULT", runs.at("out").join(name)).env("KEEP", "3");
        Ran::of(command.output().unwrap()).ends_with(0).says(&[&format!("{name} is published")]);
        assert!(runs.at("out").join(name).join("_SUCCESS").is_file(), "{name} was deleted");
        assert_eq!(runs.latest(), name);
        names_in(&runs.at("out"))
            .into_iter()
            .filter(|name| !name.starts_with('.') && name != "latest")
            .collect::<Vec<_>>()
    };
    for name in ["2026-11-20", "2026-11-21", "2026-11-22"] {
        run(name, &format!("{name}T02:30:00Z"));
    }
    assert_eq!(run("2000-01-01", "2000-01-01T00:00:00Z"), ["2000-01-01", "2026-11-21", "2026-11-22"]);
    assert_eq!(run("2026-11-24", "2026-11-24T02:30:00Z"), ["2000-01-01", "2026-11-22", "2026-11-24"]);
    assert!(record(&runs.at("out/2026-11-24"))["options"]["previous"].as_str().unwrap().ends_with("2000-01-01"));
    // In one run, the clock shows a date in the future. More runs with the correct date follow.
    assert_eq!(run("2099-01-01", "2099-01-01T00:00:00Z"), ["2000-01-01", "2026-11-24", "2099-01-01"]);
    assert_eq!(run("2026-11-25", "2026-11-25T02:30:00Z"), ["2026-11-24", "2026-11-25", "2099-01-01"]);
    assert_eq!(run("2026-11-26", "2026-11-26T02:30:00Z"), ["2026-11-25", "2026-11-26", "2099-01-01"]);
    assert_eq!(run("2026-11-27", "2026-11-27T02:30:00Z"), ["2026-11-25", "2026-11-26", "2026-11-27"]);
    // If the list is lost, only the start times of results remain. The next published result is still kept.
    std::fs::remove_file(runs.at("out/.nightly.published")).unwrap();
    assert_eq!(run("1999-01-01", "1999-01-01T00:00:00Z"), ["1999-01-01", "2026-11-26", "2026-11-27"]);
    // A name in the list that leads elsewhere is ignored.
    std::fs::write(runs.at("out/.nightly.published"), "../corpus\n\n2026-11-26\n2026-11-27\n1999-01-01\n").unwrap();
    assert_eq!(run("a", ""), ["1999-01-01", "2026-11-27", "a"]);
    assert!(runs.at("corpus/a.parquet").is_file());
    // A result that is removed and published again counts as the newest result.
    std::fs::remove_dir_all(runs.at("out/2026-11-27")).unwrap();
    run("2026-11-27", "2026-11-27T02:30:00Z");
    assert_eq!(std::fs::read_to_string(runs.at("out/.nightly.published")).unwrap().lines().last(), Some("2026-11-27"));
}

/// Checks a run that was killed after its result had its final name, while the clock was wrong: the same command updates
/// `latest`.
#[test]
fn a_run_that_was_not_listed_yet_is_the_newest() {
    let runs = Runs { folder: tempfile::tempdir().unwrap() };
    executable(&runs.at("dupsift"), WRONG_CLOCK);
    write_docs(&runs.at("corpus/a.parquet"), &sample_docs()[..50], 500);
    runs.run("2026-11-20").ends_with(0);
    // Publishes the result by hand, as the script does.
    let out = runs.at("out/2000-01-01");
    crate::kit::run(&[&runs.at("corpus")], &out, &["--corpus", "keep"]).ends_with(0);
    let json = std::fs::read_to_string(out.join("run.json")).unwrap();
    let started = record(&out)["started"].as_str().unwrap().to_owned();
    std::fs::write(out.join("run.json"), json.replace(&started, "2000-01-01T00:00:00Z")).unwrap();
    runs.run("2000-01-01").ends_with(0).says(&["is already complete"]);
    assert_eq!(runs.latest(), "2000-01-01");
}

/// Checks that a result that is accepted after the next result was published does not count as the newest result.
#[test]
fn an_older_run_that_is_accepted_does_not_move_latest_back() {
    let runs = Runs { folder: tempfile::tempdir().unwrap() };
    std::os::unix::fs::symlink(crate::kit::built(), runs.at("dupsift")).unwrap();
    let text_of = |at: usize| (0..60).map(|n| format!("w{at}x{n}")).collect::<Vec<_>>().join(" ");
    write_docs(&runs.at("corpus/a.parquet"), &numbered((0..300).map(text_of)), 500);
    // One source consists of copies of the same page, and is then removed again.
    let torn = |name: &str| {
        let page = "please enable scripts to read this page";
        write_docs(&runs.at("corpus/b.parquet"), &numbered(vec![page; 200]), 500);
        runs.run(name).ends_with(4);
        std::fs::remove_file(runs.at("corpus/b.parquet")).unwrap();
    };
    let accepted = |name: &str| {
        Ran::of(program().arg("accept").arg(runs.at(&format!("out/{name}.held"))).output().unwrap()).ends_with(0);
        runs.run(name).ends_with(0).says(&["is already complete"]);
        std::fs::read_to_string(runs.at("out/.nightly.published")).unwrap()
    };
    for name in ["2026-11-19", "2026-11-20"] {
        runs.run(name).ends_with(0);
    }
    torn("2026-11-21");
    // Later runs name the result that waits for a decision.
    let waiting = format!("{} is still held back", runs.at("out/2026-11-21.held").display());
    for name in ["2026-11-22", "2026-11-23", "2026-11-23"] {
        runs.run(name).ends_with(0).says(&[&waiting, "accept ", "reject "]);
    }
    assert_eq!(accepted("2026-11-21"), "2026-11-21\n2026-11-22\n2026-11-23\n");
    assert_eq!(runs.latest(), "2026-11-23");
    // A result that is accepted before the next run counts as the newest result.
    torn("2026-11-24");
    accepted("2026-11-24");
    assert_eq!(runs.latest(), "2026-11-24");
    // A rejected result is gone, and later runs no longer name it.
    torn("2026-11-25");
    Ran::of(program().arg("reject").arg(runs.at("out/2026-11-25.held")).output().unwrap()).ends_with(0);
    let ran = runs.run("2026-11-26").ends_with(0);
    assert!(!ran.stderr.contains("still held back"), "{}", ran.stderr);
    assert_eq!(runs.latest(), "2026-11-26");
}

/// Checks that a batch that is computed again after later batches, because the index no longer has it, does not count as the newest result,
/// and that other files do not take its place.
#[test]
fn an_older_batch_that_is_computed_again_does_not_move_latest_back() {
    let runs = Runs { folder: tempfile::tempdir().unwrap() };
    std::os::unix::fs::symlink(crate::kit::built(), runs.at("dupsift")).unwrap();
    let text_of = |at: usize| (0..60).map(|n| format!("w{at}x{n}")).collect::<Vec<_>>().join(" ");
    let day = |name: usize| {
        write_docs(&runs.at("corpus/a.parquet"), &numbered((name * 120..name * 120 + 120).map(text_of)), 500);
        let name = format!("day{name}");
        Ran::of(runs.indexed(&name, &[]).output().unwrap())
    };
    let torn = || write_docs(&runs.at("corpus/b.parquet"), &numbered(vec!["please enable scripts"; 200]), 500);
    day(1).ends_with(0);
    torn();
    day(2).ends_with(4);
    std::fs::remove_file(runs.at("corpus/b.parquet")).unwrap();
    for name in [3, 4] {
        day(name).ends_with(0).says(&["day2.held is still held back", "the name day2 and -- --accept"]);
    }
    let held = runs.at("out/day2.held");
    let accept = Ran::of(program().arg("accept").arg(&held).output().unwrap());
    accept.ends_with(2).says(&["because it has changed since", "on the same files", "dupsift reject"]);
    let again = || Ran::of(runs.indexed("day2", &["--accept"]).output().unwrap());
    again().ends_with(2).says(&["day2.held is the result of other files", "b.parquet"]);
    assert!(held.exists());
    write_docs(&runs.at("corpus/a.parquet"), &numbered((240..360).map(text_of)), 500);
    torn();
    again().ends_with(0).says(&["day2 is published"]);
    assert!(!held.exists());
    assert_eq!(runs.latest(), "day4");
}

/// Checks that the list of results is written under an unpredictable name, and that a write error is reported.
#[test]
fn a_link_in_place_of_the_list_is_not_written_to() {
    let runs = Runs { folder: tempfile::tempdir().unwrap() };
    std::os::unix::fs::symlink(crate::kit::built(), runs.at("dupsift")).unwrap();
    write_docs(&runs.at("corpus/a.parquet"), &sample_docs()[..50], 500);
    std::fs::create_dir(runs.at("out")).unwrap();
    for name in ["first", "second"] {
        std::fs::write(runs.at(name), "mine\n").unwrap();
    }
    std::os::unix::fs::symlink(runs.at("first"), runs.at("out/.nightly.published.new")).unwrap();
    std::os::unix::fs::symlink(runs.at("second"), runs.at("out/.nightly.published")).unwrap();
    runs.run("2026-11-20").ends_with(0);
    for name in ["first", "second"] {
        assert_eq!(std::fs::read_to_string(runs.at(name)).unwrap(), "mine\n", "{name}");
    }
    let list = runs.at("out/.nightly.published");
    assert!(!list.is_symlink());
    assert_eq!(std::fs::read_to_string(list).unwrap(), "2026-11-20\n");
    // If grep fails as it would on a full disk, the list does not change, and the script reports the error.
    executable(&runs.at("grep"), "#!/bin/sh\ncase $1 in -Fxv) exit 2 ;; *) PATH=${PATH#*:} exec grep \"$@\" ;; esac\n");
    let mut command = runs.command(&[], "2026-11-21");
    command.env("PATH", format!("{}:{}", runs.at("").display(), std::env::var("PATH").unwrap()));
    Ran::of(command.output().unwrap()).ends_with(1).says(&["could not be written"]);
    assert_eq!(std::fs::read_to_string(runs.at("out/.nightly.published")).unwrap(), "2026-11-20\n");
    assert!(names_in(&runs.at("out")).iter().all(|name| !name.starts_with(".nightly.new")));
}

#[test]
fn a_second_run_in_one_folder_is_reported() {
    let runs = Runs { folder: tempfile::tempdir().unwrap() };
    std::fs::create_dir(runs.at("out")).unwrap();
    std::os::unix::fs::symlink(crate::kit::built(), runs.at("dupsift")).unwrap();
    let lock = std::fs::File::create(runs.at("out/.nightly.lock")).unwrap();
    lock.lock().unwrap();
    runs.run("2026-11-20").ends_with(75).says(&["another run is in progress"]);
    drop(lock);
    runs.run("../x").ends_with(2).says(&["is not a valid name for a run"]);
}

#[test]
fn runs_with_an_index_are_added_once_they_are_published() {
    let runs = Runs { folder: tempfile::tempdir().unwrap() };
    std::os::unix::fs::symlink(crate::kit::built(), runs.at("dupsift")).unwrap();
    let run = |name: &str, more: &[&str]| Ran::of(runs.indexed(name, more).output().unwrap());
    let docs = sample_docs();
    let cut = |from: usize, to: usize| {
        write_docs(&runs.at("corpus/a.parquet"), &docs[from * docs.len() / 6..to * docs.len() / 6], 500)
    };
    cut(0, 3);
    run("2026-11-20", &[]).ends_with(0).says(&["2026-11-20 is published", "1 row folder; nothing to merge yet"]);
    // The second run is killed before its result is published, and killed again when its output is complete but not in the index yet.
    cut(2, 4);
    let killed = |step: &str| Ran::of(runs.indexed("2026-11-21", &[]).env("DUPSIFT_STOP_AT", step).output().unwrap());
    killed("intent").says(&["dupsift exited with code 134", "run the same command again to resume"]);
    assert!(!runs.at("out/2026-11-21").exists());
    assert_eq!(batches_in(&runs.held()), ["2026-11-20"]);
    killed("output").says(&["dupsift exited with code 134"]);
    assert_eq!((runs.latest().as_str(), runs.at("out/2026-11-21").exists()), ("2026-11-20", true));
    run("2026-11-21", &[]).ends_with(0).says(&["is already complete"]);
    assert_eq!((runs.latest().as_str(), batches_in(&runs.held()).len()), ("2026-11-21", 2));
    let second = record(&runs.at("out/2026-11-21"));
    assert_eq!(
        (&second["index"]["first_doc"], &second["index"]["batch"]),
        (&(docs.len() as u64 / 2).into(), &"2026-11-21".into())
    );
    // The complete batch of the previous run is repeated. The repeated documents count as seen, so no guard fires.
    run("2026-11-22", &[]).ends_with(0);
    let third = record(&runs.at("out/2026-11-22"));
    let read = third["documents"]["used"].as_u64().unwrap();
    assert_eq!(third["index"]["texts"], 0, "no text is new");
    assert!(third["index"]["seen"].as_u64() > Some(read / 2), "{}", third["index"]);
    assert!(third["options"]["previous"].as_str().unwrap().ends_with("2026-11-21"));
    // A held batch is not in the index until it is accepted.
    write_docs(&runs.at("corpus/b.parquet"), &numbered(vec!["please enable scripts to read this page"; 200]), 500);
    run("2026-11-23", &[]).ends_with(4).says(&["held back", "accept"]);
    assert_eq!(batches_in(&runs.held()), ["2026-11-20", "2026-11-21", "2026-11-22"]);
    Ran::of(program().arg("accept").arg(runs.at("out/2026-11-23.held")).output().unwrap()).ends_with(0);
    assert_eq!(batches_in(&runs.held()), ["2026-11-20", "2026-11-21", "2026-11-22", "2026-11-23"]);
    // All documents count as seen.
    run("2026-11-24", &[]).ends_with(0);
    run("2026-11-24", &[]).ends_with(0).says(&["was already published", "is already complete"]);
    assert_eq!(record(&runs.at("out/2026-11-24"))["index"]["texts"], 0);
    assert_eq!(
        names_in(&runs.at("out")),
        [".nightly.lock", ".nightly.published", "2026-11-23", "2026-11-24", "latest"]
    );
    // A different corpus with the name of a finished batch is not accepted as that batch.
    write_docs(&runs.at("corpus/b.parquet"), &numbered(vec!["a text of another day"]), 500);
    run("2026-11-24", &[]).ends_with(2).says(&[
        "with different input files",
        "is not the result of this corpus",
        "CORPUS OUT NAME",
    ]);
    run("2026-11-25", &[]).ends_with(0).says(&["2026-11-25 is published"]);
    Ran::of(Command::new("sh").arg(script()).arg("--index").output().unwrap()).ends_with(2).says(&["--index expects"]);
}

/// Runs the crontab line in docs/scheduling.md in the same way as cron, for two days, in a folder that represents the machine.
#[test]
fn the_line_for_cron_works_as_it_is_printed() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/scheduling.md")).unwrap();
    let line = page.lines().find(|line| line.starts_with("30 2 * * * ")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let machine = |path: &str| folder.path().join(path);
    for path in ["usr/local/bin", "usr/local/lib/dupsift", "data/crawl/today", "bin"] {
        std::fs::create_dir_all(machine(path)).unwrap();
    }
    symlink(crate::kit::built(), machine("usr/local/bin/dupsift")).unwrap();
    symlink(script(), machine("usr/local/lib/dupsift/nightly.sh")).unwrap();
    std::fs::write(machine("bin/date"), "#!/bin/sh\n[ \"$*\" = +%F ] && echo \"$TODAY\"\n").unwrap();
    std::fs::set_permissions(machine("bin/date"), std::fs::Permissions::from_mode(0o755)).unwrap();
    // cron passes the line to sh, with `\%` replaced by `%`.
    let typed = line.strip_prefix("30 2 * * * ").unwrap().replace("\\%", "%");
    assert!(!typed.contains('\\'), "{typed}");
    let here = folder.path().to_str().unwrap();
    let typed = typed.replace("/usr/local/", &format!("{here}/usr/local/")).replace("/data/", &format!("{here}/data/"));
    let docs = sample_docs();
    for (today, (from, to)) in [("2026-11-22", (0, docs.len() - 100)), ("2026-11-23", (100, docs.len()))] {
        write_docs(&machine("data/crawl/today/a.parquet"), &docs[from..to], 500);
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &typed]).env_clear().env("PATH", format!("{here}/bin:/usr/bin:/bin")).env("TODAY", today);
        let ran = Ran::of(command.output().unwrap());
        let log = std::fs::read_to_string(machine("data/dedup.log")).unwrap();
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""), "{log}");
        assert!(log.contains(&format!("{today} is published")), "{log}");
        assert_eq!(std::fs::read_link(machine("data/dedup/latest")).unwrap(), Path::new(today));
    }
    assert_eq!(batches_in(&held(&machine("data/seen"))), ["2026-11-22", "2026-11-23"]);
    // On a day without a crawl, the script fails, and cron mails the end of the log.
    std::fs::remove_file(machine("data/crawl/today/a.parquet")).unwrap();
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", &typed])
        .env_clear()
        .env("PATH", format!("{here}/bin:/usr/bin:/bin"))
        .env("TODAY", "2026-11-24");
    let mailed = Ran::of(command.output().unwrap()).stdout;
    assert!(mailed.contains("dupsift exited with code 2") && mailed.lines().count() <= 20, "{mailed}");
    let second = record(&machine("data/dedup/latest"));
    assert!(second["index"]["seen"].as_u64() > Some(1700), "{}", second["index"]);
    // Copies of documents in the previous batch form pairs, but guards do not count these pairs.
    let exact = &second["algorithms"][0];
    let (pairs, of_batch) = (exact["pairs"].as_u64().unwrap(), exact["pairs_of_batch"].as_u64().unwrap());
    assert!(of_batch + 2000 < pairs, "{exact}");
}
