//! Tests that a run restores its saved state regardless of how it was interrupted: by a signal, by a full disk, or after it skipped a file.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

use crate::damage::{corpus, damage_last_texts};
use crate::kit::{Ran, assert_same_bytes, done, files_below, names_in, program, record};
use crate::resume::{Place, whole};
use crate::signals::{SIGNALS, listening};

#[test]
fn a_stopped_run_reports_what_is_kept_and_the_same_command_resumes() {
    let whole = whole(&[]);
    for (signal, code) in SIGNALS {
        let place = Place::new();
        let typed = place.command(&[]);
        let mut command = listening();
        command.args(typed.get_args()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("\"save notes\"") {
            assert!(lines.read_line(&mut said).unwrap() > 0, "nothing is saved\n{said}");
        }
        while !said.contains("\"group exact\"") {
            assert!(lines.read_line(&mut said).unwrap() > 0, "it does not group\n{said}");
        }
        let asked = Command::new("kill").arg(signal).arg(child.id().to_string()).status().unwrap();
        assert!(asked.success());
        lines.read_to_string(&mut said).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{said}");
        let last = said.lines().last().unwrap();
        assert!(
            last.contains("run the same command again to resume (") && last.contains(" CPU s of work saved, "),
            "{last}"
        );
        place.run(&[]).ends_with(0);
        // The run may have progressed further before it stopped.
        let taken = place.resumed();
        let of_exact = ["rows exact", "pairs exact", "near exact"].iter().any(|checkpoint| taken.contains(*checkpoint));
        assert!(taken.contains("notes") && of_exact, "{signal}: {taken:?}");
        assert_same_bytes(&whole.out(), &place.out(), signal);
        assert_eq!(names_in(place.folder.path()), ["out"]);
    }
}

/// Checks a limit on file size, which acts like a full disk: the run ends with its saved state, and resumes when there is space.
#[test]
fn a_full_disk_loses_no_checkpoint() {
    let whole = whole(&[]);
    let mut went_on = 0;
    for kib in [4, 40, 120, 300, 600] {
        let place = Place::new();
        let typed = place.command(&[]);
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("ulimit -f {}; exec \"$0\" \"$@\"", kib * 2)])
            .arg(typed.get_program())
            .args(typed.get_args());
        let ran = Ran::of(command.env("NO_COLOR", "1").output().unwrap());
        if !place.out().exists() {
            assert!(ran.stderr.contains("cannot ") && ran.stderr.contains("`ulimit -f`"), "{}", ran.stderr);
            place.run(&[]).ends_with(0);
            went_on += usize::from(!place.resumed().is_empty());
        }
        assert_same_bytes(&whole.out(), &place.out(), &format!("{kib} KiB"));
        assert_eq!(names_in(place.folder.path()), ["out"]);
    }
    assert!(went_on > 0);
}

/// A script that runs a command on a disk of `$1` KiB in a separate namespace, if the system allows this, and then runs the same command
/// again with enough space.
const ON_A_SMALL_DISK: &str = "mount -t tmpfs -o size=$1k none \"$2\" || exit 77; shift 2; \"$@\"; echo first $?; \
    mount -o remount,size=1g \"$DISK\"; \"$@\"; echo second $?; cp -r \"$DISK/out\" \"$RESULT\"; ls -A \"$DISK\" | sed 's/^/left /'";

#[test]
fn a_full_disk_says_how_much_more_is_needed() {
    let (mut full, whole) = (0, whole(&[]));
    for kib in [1_000, 3_000, 8_000] {
        let place = Place::new();
        let disk = place.folder.path().join("disk");
        std::fs::create_dir(&disk).unwrap();
        let typed = place.command(&[]);
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-c", ON_A_SMALL_DISK, "sh", &kib.to_string()]).arg(&disk).arg(typed.get_program());
        let out = |word: &std::ffi::OsStr| if word == place.out() { disk.join("out").into() } else { word.to_owned() };
        command.args(typed.get_args().map(out)).env("DISK", &disk).env("RESULT", place.out());
        let Ok(output) = command.output() else { return eprintln!("no unshare here: not tested") };
        let ran = Ran::of(output);
        if !ran.stdout.contains("first ") {
            assert!(!ran.stderr.contains("dupsift"), "{}", ran.stderr);
            return eprintln!("no disk of our own here, so this is not tested: {}", ran.stderr);
        }
        if ran.stdout.contains("first 0") {
            continue;
        }
        assert!(ran.stdout.contains("second 0") && ran.stdout.contains("left out\n"), "{}\n{}", ran.stdout, ran.stderr);
        assert_same_bytes(&whole.out(), &place.out(), &format!("{kib} KiB"));
        if ran.stdout.contains("first 1") {
            // If the disk was full only when the run tried to save a part, the run continued.
            let is_last = |line: &&str| line.contains("No space left on device") && !line.contains("continues without");
            let said = ran.stderr.lines().find(is_last).unwrap();
            assert!(said.contains(" more is needed in ") || said.contains(" needs more than the expected "), "{said}");
            let kept = said.contains("completed work is not lost: run the same command again to resume (");
            assert_eq!(kept, !place.resumed().is_empty(), "{said}");
            full += usize::from(kept);
        }
    }
    assert!(full > 0, "on no disk was anything kept");
}

/// Checks that a file whose damage is found while the file is read is also skipped when the run resumes.
#[test]
fn a_file_that_was_set_aside_stays_so_for_the_run_that_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let docs = corpus(folder.path());
    damage_last_texts(&docs.join("b.parquet"));
    let out = folder.path().join("out");
    let algorithms = ["--algorithms", "exact,minhash,tf_idf", "--threads", "2", "--memory", "512MiB"];
    let command = || {
        let mut command = program();
        command.arg("run").arg(&docs).arg("--out").arg(&out).args(algorithms);
        command.args(["--checkpoint", "0s", "--no-progress", "--log-format", "json"]);
        command
    };
    let mut child = command().stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let lines: Vec<String> = BufReader::new(child.stderr.take().unwrap())
        .lines()
        .map_while(Result::ok)
        .take_while(|line| !(line.contains("stage begins") && line.contains("write tables")))
        .collect();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!out.exists() && lines.iter().any(|line| line.contains("starts over without this file")), "{lines:?}");

    let ran = Ran::of(command().output().unwrap()).ends_with(3);
    assert!(ran.stderr.contains("found by an earlier run"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("starts again"), "{}", ran.stderr);
    let record = record(&out);
    let taken: Vec<&str> = record["resumed"].as_array().unwrap().iter().filter_map(|name| name.as_str()).collect();
    assert!(taken.contains(&"notes") && taken.contains(&"near tf_idf"), "{taken:?}");
    let (bad, rows) = (&record["bad_inputs"][0]["file"], &record["documents"]["rows"]);
    assert_eq!((bad.as_str(), rows.as_u64()), (Some("b.parquet"), Some(1_000)));
    // The result is the same as for a corpus without the file.
    let rest = folder.path().join("rest/docs");
    std::fs::create_dir_all(&rest).unwrap();
    for name in ["a.parquet", "c.parquet"] {
        std::fs::copy(docs.join(name), rest.join(name)).unwrap();
    }
    assert_same_bytes(&out, &done(&rest, &algorithms).out(), "without the file");
}

/// Returns the saved parts that can be restored according to a dry run.
fn said(place: &Place, more: &[&str]) -> BTreeSet<String> {
    let ran = place.run(&[&["--dry-run"], more].concat()).ends_with(0);
    let mut lines = ran.stderr.lines().filter_map(|line| line.split_once("resumed from an earlier run ("));
    let Some((_, line)) = lines.next() else { return BTreeSet::new() };
    let (work, names) = line.split_once("): ").unwrap();
    assert!(work.contains(" CPU s of work, ") && lines.next().is_none(), "{}", ran.stderr);
    names.trim_end_matches(['"', '}']).split(", ").map(str::to_string).collect()
}

#[test]
fn a_dry_run_says_what_would_be_resumed_and_changes_nothing() {
    let place = Place::new();
    assert!(said(&place, &[]).is_empty());
    place.killed_in("write tables", &[]);
    let files =
        || files_below(&place.work()).into_iter().map(|path| (std::fs::read(&path).unwrap(), path)).collect::<Vec<_>>();
    let before = files();
    let all = said(&place, &[]);
    assert!(all.contains("notes") && all.contains("near exact") && all.contains("contained"), "{all:?}");
    // The dry run lists only the parts that a run with these options would restore.
    let some = said(&place, &["--max-candidates", "77"]);
    assert!(some.contains("model lsi") && !some.contains("near exact"), "{some:?}");
    assert!(said(&place, &["--resume=false"]).is_empty() && said(&place, &["--limit", "9"]).is_empty());
    assert!(!place.out().exists() && files() == before, "a dry run changes nothing");
    place.run(&[]).ends_with(0);
    let taken = place.resumed();
    assert!(taken.is_subset(&all) && !taken.is_empty(), "{taken:?} of {all:?}");
}
