//! A run that was ended before its time goes on from what it had put down, and ends with the same bytes.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::kit::{Numbers, Ran, assert_same_bytes, names_in, program, record, samples};

/// Members of every kind: with counts or without, with a model, kept words, a check, evidence, sketches, a rule over all pairs.
const ALGORITHMS: &str = "exact,minhash,cosine:join=heavy,relate=true,three_plus_five,simhash,lsi,repeats,shingles,near_page,\
                          core_words:verify=jaccard:0.5,tf_idf:margin=0.1,verify=lcs:0.5,imatch,long_sent:max_sentence_df=9";

/// A folder in which runs of the samples write to `out`.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    fn work(&self) -> PathBuf {
        self.folder.path().join(".out.dupsift-work")
    }

    /// A run of the samples; each product is put down, unless `more` says otherwise.
    fn command(&self, more: &[&str]) -> Command {
        let mut command = program();
        command.arg("run").arg(samples()).arg("--out").arg(self.out()).args(["--no-progress", "--log-format", "json"]);
        for (flag, value) in
            [("--threads", "2"), ("--memory", "512MiB"), ("--checkpoint", "0s"), ("--algorithms", ALGORITHMS)]
        {
            if !more.contains(&flag) {
                command.args([flag, value]);
            }
        }
        command.args(more);
        command
    }

    fn run(&self, more: &[&str]) -> Ran {
        Ran::of(self.command(more).output().unwrap())
    }

    /// Kills a run after this time; whether it was still at work.
    fn killed_after(&self, time: Duration, more: &[&str]) -> bool {
        let mut child = self.command(more).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(time);
        child.kill().unwrap();
        !child.wait().unwrap().success()
    }

    /// Kills a run where it says that this stage begins.
    fn killed_in(&self, stage: &str, more: &[&str]) {
        let mut child = self.command(more).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let begins = |line: &String| line.contains("\"stage begins\"") && line.contains(&format!("\"{stage}\""));
        let found = lines.map_while(Result::ok).any(|line| begins(&line));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found, "no stage {stage}");
        assert!(!self.out().exists(), "{stage} was over");
    }

    /// What the run that stands here has taken up.
    fn taken_up(&self) -> BTreeSet<String> {
        let record = record(&self.out());
        let names = record["taken_up"].as_array().cloned().unwrap_or_default();
        names.iter().map(|name| name.as_str().unwrap().to_string()).collect()
    }
}

/// The result of a run that puts nothing down.
fn whole(more: &[&str]) -> Place {
    let place = Place::new();
    place.run(&[more, &["--checkpoint", "never"]].concat()).ends_with(0);
    assert!(place.taken_up().is_empty());
    place
}

/// Members whose rows, pairs and last pairs are products.
fn of_members(what: &str) -> BTreeSet<String> {
    let labels = [
        "exact",
        "minhash",
        "cosine",
        "three_plus_five",
        "simhash",
        "lsi",
        "repeats",
        "shingles",
        "near_page",
        "core_words",
        "tf_idf",
        "imatch",
        "long_sent",
    ];
    labels.iter().map(|label| format!("{what} {label}")).collect()
}

#[test]
fn a_killed_run_goes_on_and_ends_with_the_same_bytes() {
    let whole = whole(&[]);
    let began = Instant::now();
    Place::new().run(&[]).ends_with(0);
    let takes = began.elapsed();
    let (mut random, mut taken) = (Numbers(11), 0);
    for moment in 0..20 {
        let place = Place::new();
        let when = |random: &mut Numbers| takes.mul_f64(random.below(1000) as f64 / 1000.0);
        place.killed_after(when(&mut random), &[]);
        // Every other one is killed again while it goes on.
        if moment % 2 == 1 && !place.out().exists() {
            place.killed_after(when(&mut random) / 2, &[]);
        }
        if !place.out().exists() {
            place.run(&[]).ends_with(0);
            taken += usize::from(!place.taken_up().is_empty());
        }
        assert_same_bytes(&whole.out(), &place.out(), &format!("moment {moment}"));
        // Nothing is left beside it.
        assert_eq!(names_in(place.folder.path()), ["out"]);
    }
    assert!(taken >= 5, "of twenty runs {taken} went on");
}

#[test]
fn other_threads_and_another_memory_go_on_from_the_same_products() {
    let whole = whole(&[]);
    for (threads, memory) in [("1", "64MiB"), ("4", "2GiB")] {
        let place = Place::new();
        place.killed_in("write tables", &[]);
        let ran = place.run(&["--threads", threads, "--memory", memory]).ends_with(0);
        assert!(
            ran.stdout.contains("taken up from an earlier run: ") && ran.stdout.contains("near cosine"),
            "{}",
            ran.stdout
        );
        assert!(place.taken_up().is_superset(&of_members("near")), "{:?}", place.taken_up());
        assert_same_bytes(&whole.out(), &place.out(), threads);
    }
}

/// What has to be made again where an option differs, and what is taken up all the same.
#[test]
fn another_option_makes_what_depends_on_it_again_and_nothing_else() {
    let changed = |label: &str, from: &str, to: &str| {
        assert!(ALGORITHMS.contains(from));
        let algorithms = ALGORITHMS.replace(from, to);
        let more = ["--algorithms", algorithms.as_str()];
        let place = Place::new();
        place.killed_in("write tables", &[]);
        place.run(&more).ends_with(0);
        assert_same_bytes(&whole(&more).out(), &place.out(), to);
        let mut others = of_members("near");
        others.remove(&format!("near {label}"));
        let taken = place.taken_up();
        assert!(taken.is_superset(&others), "{to}: {taken:?}");
        assert!(!taken.contains(&format!("near {label}")), "{to}: {taken:?}");
        taken
    };
    changed("tf_idf", "tf_idf:margin=0.1", "tf_idf:margin=0.2");
    changed("core_words", "jaccard:0.5", "jaccard:0.6");
    changed("imatch", "imatch", "imatch:min_terms=9");
    changed("simhash", "simhash", "simhash:distance=4");
    // What a document says, or which is kept, is no matter of signatures.
    for more in [["--keep", "length asc"], ["--remove-if", "pair"], ["--decide", "all"], ["--max-group", "7"]] {
        let place = Place::new();
        place.killed_in("write tables", &[]);
        place.run(&more).ends_with(0);
        assert_same_bytes(&whole(&more).out(), &place.out(), more[0]);
        let taken = place.taken_up();
        assert!(taken.contains("counts") && taken.contains("copies"), "{more:?}: {taken:?}");
        assert_eq!(taken.contains("notes"), more[0] != "--keep", "{more:?}: {taken:?}");
    }
    // Of other words nothing can be used but what does not ask for words.
    let place = Place::new();
    place.killed_in("write tables", &[]);
    place.run(&["--tokenizer", "bigram"]).ends_with(0);
    assert_eq!(place.taken_up(), ["copies".to_string()].into());
    assert_same_bytes(&whole(&["--tokenizer", "bigram"]).out(), &place.out(), "bigram");
}

#[test]
fn a_run_may_begin_anew_and_another_program_takes_nothing_up() {
    let place = Place::new();
    place.killed_in("write tables", &[]);
    place.run(&["--resume=false"]).ends_with(0);
    assert!(place.taken_up().is_empty());

    let place = Place::new();
    place.killed_in("write tables", &[]);
    let other = place.folder.path().join("other");
    let mut bytes = std::fs::read(env!("CARGO_BIN_EXE_dupsift")).unwrap();
    bytes.push(0);
    std::fs::write(&other, bytes).unwrap();
    let permissions = std::fs::metadata(env!("CARGO_BIN_EXE_dupsift")).unwrap().permissions();
    std::fs::set_permissions(&other, permissions).unwrap();
    let mut command = Command::new(&other);
    command.args(place.command(&[]).get_args());
    Ran::of(command.output().unwrap()).ends_with(0).says(&["another build"]);
    assert!(place.taken_up().is_empty());
}

#[test]
fn what_is_damaged_in_the_work_folder_is_named_and_made_again() {
    let whole = whole(&[]);
    // The kinds of files: of rows and others, large and small.
    let files = {
        let place = Place::new();
        place.killed_in("group exact", &[]);
        let names = names_in(&place.work()).into_iter().filter(|name| name != "lock");
        let sized = names.map(|name| (std::fs::metadata(place.work().join(&name)).unwrap().len(), name));
        sized.collect::<BTreeSet<(u64, String)>>()
    };
    assert!(files.len() > 20, "{files:?}");
    let chosen: Vec<&(u64, String)> = files.iter().filter(|(bytes, _)| *bytes > 40).step_by(6).collect();
    let ledger = files.iter().find(|(_, name)| name == "ledger.json").unwrap();
    for (at, (_, name)) in chosen.into_iter().chain([ledger]).enumerate() {
        let place = Place::new();
        place.killed_in("group exact", &[]);
        let path = place.work().join(name);
        let mut bytes = std::fs::read(&path).unwrap();
        match at % 3 {
            0 => {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 4;
                std::fs::write(&path, bytes).unwrap();
            }
            1 => std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap(),
            _ => std::fs::remove_file(&path).unwrap(),
        }
        let removed = at % 3 == 2 && name == "ledger.json";
        let ran = place.run(&[]).ends_with(0);
        // A list that is not there says nothing of what could be taken up.
        assert!(removed || ran.stderr.contains(name.as_str()), "{name} is not named:\n{}", ran.stderr);
        assert_same_bytes(&whole.out(), &place.out(), name);
    }
}

#[test]
fn a_corpus_that_has_changed_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = folder.path().join("docs");
    std::fs::create_dir(&corpus).unwrap();
    for name in names_in(samples()) {
        std::fs::copy(samples().join(&name), corpus.join(&name)).unwrap();
    }
    let out = folder.path().join("out");
    let typed = |more: &[&str]| {
        let mut command = program();
        command.arg("run").arg(&corpus).arg("--out").arg(&out).args([
            "--algorithms",
            "exact,tf_idf",
            "--checkpoint",
            "0s",
        ]);
        command.args(["--threads", "2", "--memory", "512MiB", "--no-progress"]).args(more);
        command
    };
    // It ends when the disk is full for it: what was put down before stays.
    let mut command = typed(&[]);
    command.args(["--keep", "length asc"]);
    let ran = Ran::of(killed_at_tables(command));
    assert!(!out.exists(), "{}", ran.stderr);
    let first = names_in(&corpus).into_iter().next().unwrap();
    let bytes = std::fs::read(corpus.join(&first)).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    std::fs::write(corpus.join(&first), bytes).unwrap();
    Ran::of(typed(&["--keep", "length asc"]).output().unwrap()).ends_with(0);
    assert!(record(&out).get("taken_up").is_none(), "a file of another time is another file");
}

/// Runs a command, and kills it when it begins to write tables.
fn killed_at_tables(mut command: Command) -> std::process::Output {
    command.args(["--log-format", "json"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    lines.map_while(Result::ok).any(|line| line.contains("stage begins") && line.contains("write tables"));
    child.kill().unwrap();
    child.wait_with_output().unwrap()
}

/// A disk that is full for one file: the run ends with what it had put down, and goes on where there is room.
#[test]
fn a_full_disk_loses_nothing_that_was_put_down() {
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
            assert!(ran.stderr.contains("cannot "), "{}", ran.stderr);
            place.run(&[]).ends_with(0);
            went_on += usize::from(!place.taken_up().is_empty());
        }
        assert_same_bytes(&whole.out(), &place.out(), &format!("{kib} KiB"));
        assert_eq!(names_in(place.folder.path()), ["out"]);
    }
    assert!(went_on > 0);
}

/// Where no checkpoint is due, nothing is written for one, and a stop says so.
#[test]
fn a_short_run_puts_nothing_down() {
    let place = Place::new();
    place.killed_in("write tables", &["--checkpoint", "30s"]);
    assert!(names_in(&place.work()).iter().all(|name| name == "lock"), "{:?}", names_in(&place.work()));
    let _: &Path = place.folder.path();
    place.run(&["--checkpoint", "soon"]).ends_with(2).says(&["--checkpoint", "30s"]);
}
