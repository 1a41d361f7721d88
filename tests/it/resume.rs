//! Tests that an interrupted run resumes from its saved state and ends with the same bytes.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, RecordBatch, UInt64Array};
use arrow::compute::take_record_batch;

use crate::kit::{
    Numbers, Ran, Table, assert_same_bytes, files_below, names_in, program, record, samples, write_columns,
};

/// Algorithms of every kind: with and without counts, and with a model (a small one, because these tests run often), kept words,
/// verification, evidence, sketches, and a rule over all pairs.
const ALGORITHMS: &str = "exact,minhash,versions,three_plus_five,simhash,lsi:dimensions=16,passes=1,as=lsi,repeats,shingles,near_page,\
                          core_words:verify=jaccard:0.5,tf_idf:margin=0.1,verify=lcs:0.5,imatch,long_sent:max_sentence_df=9";

/// Holds the folder to which runs write their output `out`, and the folder of the corpus. The corpus consists of every third document in
/// the samples, because these tests run often.
pub(crate) struct Place {
    pub folder: tempfile::TempDir,
    corpus: Rc<tempfile::TempDir>,
}

impl Place {
    pub(crate) fn new() -> Place {
        static DOCS: OnceLock<RecordBatch> = OnceLock::new();
        let docs = DOCS.get_or_init(|| {
            let Table(all) = Table::read(samples());
            let every_third = UInt64Array::from_iter_values((0..all.num_rows() as u64).step_by(3));
            take_record_batch(&all, &every_third).unwrap()
        });
        let place = Place { folder: tempfile::tempdir().unwrap(), corpus: Rc::new(tempfile::tempdir().unwrap()) };
        let schema = docs.schema();
        let names = schema.fields().iter().map(|field| field.name().as_str());
        let columns: Vec<(&str, ArrayRef)> = names.zip(docs.columns().iter().cloned()).collect();
        write_columns(&place.corpus.path().join("docs.parquet"), &columns, 100);
        place
    }

    /// Returns a copy of the place, with the same temporary files and the same corpus.
    fn copied(&self) -> Place {
        let copy = Place { folder: tempfile::tempdir().unwrap(), corpus: Rc::clone(&self.corpus) };
        for file in files_below(&self.work()) {
            let to = copy.folder.path().join(file.strip_prefix(self.folder.path()).unwrap());
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(file, to).unwrap();
        }
        copy
    }

    pub(crate) fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join(".out.dupsift-work")
    }

    /// Returns the command for a run on the corpus; each step is saved, unless `more` changes this.
    pub(crate) fn command(&self, more: &[&str]) -> Command {
        let mut command = program();
        command.arg("run").arg(self.corpus.path()).arg("--out").arg(self.out()).args([
            "--no-progress",
            "--log-format",
            "json",
        ]);
        for (flag, value) in [
            ("--threads", "2"),
            ("--memory", "512MiB"),
            ("--checkpoint", "0s"),
            ("--max-template-share", "1"),
            ("--algorithms", ALGORITHMS),
        ] {
            if !more.contains(&flag) {
                command.args([flag, value]);
            }
        }
        command.args(more);
        command
    }

    pub(crate) fn run(&self, more: &[&str]) -> Ran {
        Ran::of(self.command(more).output().unwrap())
    }

    /// Kills a run after this time; returns whether it was still running.
    fn killed_after(&self, time: Duration, more: &[&str]) -> bool {
        let mut child = self.command(more).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(time);
        child.kill().unwrap();
        !child.wait().unwrap().success()
    }

    /// Kills a run when it reports that this stage begins.
    pub(crate) fn killed_in(&self, stage: &str, more: &[&str]) {
        let mut child = self.command(more).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let begins = |line: &String| line.contains("\"stage begins\"") && line.contains(&format!("\"{stage}\""));
        let found = lines.map_while(Result::ok).any(|line| begins(&line));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found, "no stage {stage}");
        assert!(!self.out().exists(), "{stage} was over");
    }

    /// Returns the saved parts that the run with this output restored.
    pub(crate) fn resumed(&self) -> BTreeSet<String> {
        let record = record(&self.out());
        let names = record["resumed"].as_array().cloned().unwrap_or_default();
        names.iter().map(|name| name.as_str().unwrap().to_string()).collect()
    }
}

/// Returns the result of a run that saves nothing.
pub(crate) fn whole(more: &[&str]) -> Place {
    let place = Place::new();
    place.run(&[more, &["--checkpoint", "never"]].concat()).ends_with(0);
    assert!(place.resumed().is_empty());
    place
}

/// Returns the saved rows, pairs or final pairs of algorithms.
fn of_algorithms(what: &str) -> BTreeSet<String> {
    let labels = [
        "exact",
        "minhash",
        "versions",
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
    for moment in 0..12 {
        let place = Place::new();
        let when = |random: &mut Numbers| takes.mul_f64(random.below(1000) as f64 / 1000.0);
        place.killed_after(when(&mut random), &[]);
        // Every second run is killed again after it resumes.
        if moment % 2 == 1 && !place.out().exists() {
            place.killed_after(when(&mut random) / 2, &[]);
        }
        if !place.out().exists() {
            place.run(&[]).ends_with(0);
            taken += usize::from(!place.resumed().is_empty());
        } else {
            // The result may get its final name just before the folder of temporary files is removed.
            Ran::of(program().arg("clean").arg(place.out()).output().unwrap()).ends_with(0);
        }
        assert_same_bytes(&whole.out(), &place.out(), &format!("moment {moment}"));
        // Nothing remains next to the output.
        assert_eq!(names_in(place.folder.path()), ["out"]);
    }
    assert!(taken >= 3, "of twelve runs {taken} went on");
}

#[test]
fn a_run_resumes_with_other_threads_and_memory() {
    let whole = whole(&[]);
    for (threads, memory) in [("1", "64MiB"), ("4", "2GiB")] {
        let place = Place::new();
        place.killed_in("write tables", &[]);
        let ran = place.run(&["--threads", threads, "--memory", memory]).ends_with(0);
        assert!(place.resumed().contains("near versions"), "{}", ran.stdout);
        assert!(place.resumed().is_superset(&of_algorithms("near")), "{:?}", place.resumed());
        assert_same_bytes(&whole.out(), &place.out(), threads);
    }
}

/// Returns the saved parts that a run with different options restores from a killed run.
fn taken_with(killed: &Place, more: &[&str]) -> BTreeSet<String> {
    let place = killed.copied();
    place.run(more).ends_with(0);
    assert_same_bytes(&whole(more).out(), &place.out(), &format!("{more:?}"));
    place.resumed()
}

/// Returns all parts that are saved by the time tables are written.
fn all_checkpoints() -> BTreeSet<String> {
    let mut all = of_algorithms("near");
    all.extend(["notes", "copies", "counts", "model lsi", "model repeats", "contained"].map(String::from));
    all
}

/// Returns all saved parts except these parts and the parts computed from them.
fn all_but(changed: &[&str]) -> BTreeSet<String> {
    let mut all = all_checkpoints();
    changed.iter().for_each(|name| assert!(all.remove(*name), "{name}"));
    all
}

/// Returns the list of algorithms after replacing one of them.
fn algorithms_with(from: &str, to: &str) -> String {
    assert!(ALGORITHMS.contains(from));
    ALGORITHMS.replace(from, to)
}

#[test]
fn another_option_makes_what_depends_on_it_again_and_nothing_else() {
    let killed = Place::new();
    killed.killed_in("write tables", &[]);
    let taken_with = |more: &[&str]| taken_with(&killed, more);
    for (label, from, to) in [
        ("tf_idf", "tf_idf:margin=0.1", "tf_idf:margin=0.2"),
        ("core_words", "jaccard:0.5", "jaccard:0.6"),
        ("imatch", "imatch", "imatch:min_terms=9"),
        ("simhash", "simhash", "simhash:distance=4"),
    ] {
        let algorithms = algorithms_with(from, to);
        let taken = taken_with(&["--algorithms", &algorithms]);
        assert_eq!(taken, all_but(&["contained", &format!("near {label}")]), "{to}");
    }
    // If an algorithm is added, only this algorithm signs documents.
    let more = format!("{ALGORITHMS},megashingles");
    assert_eq!(taken_with(&["--algorithms", &more]), all_but(&["contained"]));
    // The limit for large groups, the choice of algorithms that decide what is removed, and the required containment do not affect pairs.
    for more in [
        "--remove-if pair",
        "--remove-if contained:0.5:0.5",
        "--remove-if pair --chain remove",
        "--decide all",
        "--max-group 7",
        "--threads 1",
    ] {
        assert_eq!(taken_with(&more.split(' ').collect::<Vec<_>>()), all_checkpoints(), "{more}");
    }
    // Only the values that `--keep` uses are recorded again.
    assert_eq!(taken_with(&["--keep", "length asc"]), all_but(&["notes"]));
    let first: BTreeSet<String> = ["notes", "copies", "counts", "model lsi", "model repeats"].map(String::from).into();
    assert_eq!(taken_with(&["--max-candidates", "999"]), first);
    assert_eq!(taken_with(&["--prefilter"]), first);
    // If words are segmented differently, only saved parts that do not depend on words can be used.
    assert_eq!(taken_with(&["--tokenizer", "bigram"]), ["copies".to_string()].into());
}

/// Checks two interrupted runs. A run that ended while candidates were read has saved all rows, and the pairs of algorithms that do not
/// read candidates. A run that ended while it classified versions has saved all pairs.
#[test]
fn another_threshold_resumes_from_the_states_before_it() {
    let taken = |stage: &str, from: &str, to: &str| {
        let place = Place::new();
        place.killed_in(stage, &[]);
        let algorithms = algorithms_with(from, to);
        let more = ["--algorithms", algorithms.as_str()];
        place.run(&more).ends_with(0);
        assert_same_bytes(&whole(&more).out(), &place.out(), to);
        place.resumed()
    };
    let verify = taken("read candidates", "core_words:verify=jaccard:0.5", "core_words:verify=jaccard:0.6");
    assert!(verify.contains("rows core_words") && !verify.contains("pairs core_words"), "{verify:?}");
    assert!(verify.contains("pairs exact") && verify.contains("pairs near_page"), "{verify:?}");
    let margin = taken("classify versions", "tf_idf:margin=0.1", "tf_idf:margin=0.2");
    assert!(margin.contains("pairs tf_idf") && !margin.contains("near tf_idf"), "{margin:?}");
    assert!(!margin.contains("rows tf_idf"), "{margin:?}");
}

/// Checks that the contents of documents in pairs are not read again, although they are the last part that is saved before tables are
/// written.
#[test]
fn texts_of_pairs_are_read_once() {
    let place = Place::new();
    let stages = |place: &Place| -> BTreeSet<String> {
        let record = record(&place.out());
        record["stages"].as_array().unwrap().iter().map(|stage| stage["stage"].as_str().unwrap().into()).collect()
    };
    let more = ["--algorithms", "exact,simhash"];
    assert!(stages(&whole(&more)).contains("read ids and pairs"));
    place.killed_in("write tables", &more);
    place.run(&more).ends_with(0);
    assert!(place.resumed().contains("contained"), "{:?}", place.resumed());
    assert!(stages(&place).contains("read ids") && !stages(&place).contains("read ids and pairs"));
    // If the contents are not required, they are not read.
    let place = Place::new();
    place.killed_in("write tables", &more);
    place.run(&[&more[..], &["--remove-if", "pair"]].concat()).ends_with(0);
    assert!(!place.resumed().contains("contained"), "{:?}", place.resumed());
}

#[test]
fn a_run_may_begin_anew_and_another_program_takes_nothing_up() {
    let place = Place::new();
    place.killed_in("write tables", &[]);
    place.run(&["--resume=false"]).ends_with(0);
    assert!(place.resumed().is_empty());

    let place = Place::new();
    place.killed_in("write tables", &[]);
    let other = place.folder.path().join("other");
    let mut bytes = std::fs::read(crate::kit::built()).unwrap();
    bytes.push(0);
    std::fs::write(&other, bytes).unwrap();
    let permissions = std::fs::metadata(crate::kit::built()).unwrap().permissions();
    std::fs::set_permissions(&other, permissions).unwrap();
    let mut command = Command::new(&other);
    command.args(place.command(&[]).get_args());
    Ran::of(command.output().unwrap()).ends_with(0).says(&["a different build"]);
    assert!(place.resumed().is_empty());
}

/// Lists the ways to damage a file.
#[derive(Clone, Copy, Debug)]
enum Damage {
    Flipped,
    Cut,
    Gone,
}

impl Damage {
    fn to(self, path: &Path) {
        let mut bytes = std::fs::read(path).unwrap();
        let middle = bytes.len() / 2;
        match self {
            Damage::Flipped => {
                bytes[middle] ^= 4;
                std::fs::write(path, bytes).unwrap();
            }
            Damage::Cut => std::fs::write(path, &bytes[..bytes.len() - 1]).unwrap(),
            Damage::Gone => std::fs::remove_file(path).unwrap(),
        }
    }
}

/// Returns the smallest, a medium-sized and the largest file of each kind: rows, other saved parts, and the ledger.
fn kinds_of_work_files(place: &Place) -> Vec<String> {
    let sized = |ending: &str| {
        let names = names_in(&place.work()).into_iter().filter(|name| name.ends_with(ending));
        let sized = names.map(|name| (std::fs::metadata(place.work().join(&name)).unwrap().len(), name));
        // Files of 16 bytes contain no data.
        sized.filter(|(bytes, _)| *bytes > 40).collect::<BTreeSet<(u64, String)>>().into_iter().map(|(_, name)| name)
    };
    let (runs, saved): (Vec<String>, Vec<String>) = (sized(".run").collect(), sized(".saved").collect());
    assert!(runs.len() > 10 && saved.len() > 5, "{runs:?} {saved:?}");
    let chosen = |names: &[String]| [&names[0], &names[names.len() / 2], &names[names.len() - 1]].map(String::clone);
    chosen(&runs).into_iter().chain(chosen(&saved)).chain(["ledger.json".to_string()]).collect()
}

#[test]
fn what_is_damaged_in_the_work_folder_is_named_and_made_again() {
    let whole = whole(&[]);
    let killed = Place::new();
    killed.killed_in("group exact", &[]);
    for name in kinds_of_work_files(&killed) {
        for damage in [Damage::Flipped, Damage::Cut, Damage::Gone] {
            let place = killed.copied();
            damage.to(&place.work().join(&name));
            let ran = place.run(&[]).ends_with(0);
            // A missing ledger cannot be reported.
            let is_silent = name == "ledger.json" && matches!(damage, Damage::Gone);
            assert!(is_silent || ran.stderr.contains(&name), "{name}, {damage:?}: not named:\n{}", ran.stderr);
            assert_eq!(place.resumed().is_empty(), name == "ledger.json", "{name}, {damage:?}");
            assert_same_bytes(&whole.out(), &place.out(), &format!("{name}, {damage:?}"));
        }
    }
}

#[test]
fn a_corpus_that_was_written_again_is_known_by_its_contents() {
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
    // The run ends because the disk is full; the parts saved before that are kept.
    let mut command = typed(&[]);
    command.args(["--keep", "length asc"]);
    let ran = Ran::of(killed_at_tables(command));
    assert!(!out.exists(), "{}", ran.stderr);
    let first = names_in(&corpus).into_iter().next().unwrap();
    let bytes = std::fs::read(corpus.join(&first)).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    std::fs::write(corpus.join(&first), bytes).unwrap();
    Ran::of(typed(&["--keep", "length asc"]).output().unwrap()).ends_with(0);
    assert!(record(&out).get("resumed").is_some(), "a file of another time that holds the same is the same file");
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

/// Checks that nothing is saved before a checkpoint is due, and that an invalid value of `--checkpoint` is rejected.
#[test]
fn a_short_run_saves_nothing() {
    let place = Place::new();
    place.killed_in("write tables", &["--checkpoint", "30s"]);
    assert!(names_in(&place.work()).iter().all(|name| name == "lock"), "{:?}", names_in(&place.work()));
    let _: &Path = place.folder.path();
    place.run(&["--checkpoint", "soon"]).ends_with(2).says(&["`--checkpoint", "30s"]);
}
