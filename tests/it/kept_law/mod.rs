//! Tests that every removed document is represented by a kept document, regardless of what is run, forgotten, compacted, recomputed, held,
//! accepted or killed. Runs random sequences of these steps with an index, and checks the tables of all outputs after every step.
//!
//! `DUPSIFT_LAW=1000..1200` runs sequences other than the default sequences.

mod checks;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use arrow::array::{ArrayRef, Int64Array, StringArray};
use dupsift::Job;
use dupsift_incremental::upkeep::{self, Forget};
use dupsift_index::{Index, Manifest};

use crate::kit::{Numbers, Ran, Table, files_below, program, record, write_columns};

/// The default sequences, one for each combination of an algorithm, a rule and an order.
const ALWAYS: Range<u64> = 0..(ALGORITHMS.len() * RULES.len() * ORDERS.len()) as u64;
/// The number of steps in a sequence.
const STEPS: usize = 9;

const ALGORITHMS: [Option<&str>; 3] = [Some("exact"), Some("exact,minhash"), None];
/// The values of `--remove-if` and `--chain`.
const RULES: [[&str; 2]; 4] =
    [["pair", "keep"], ["pair", "remove"], ["contained:0.8:0.9", "keep"], ["contained:1", "keep"]];
const ORDERS: [&str; 4] = ["length desc", "length asc", "score desc", "doc desc"];
const STOPS: [&str; 9] =
    ["documents", "rows", "statistics named", "documents named", "rows named", "intent", "output", "manifest", "swept"];

/// Lists the kinds of steps in a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// A new batch.
    Run,
    /// A recomputation of the last batch, with `--overwrite`.
    Remake,
    ForgetBatch,
    ForgetIds,
    Compact,
    /// A batch that a guard holds back. The batch is then accepted, or the index changes first and the batch is run again.
    Hold,
    /// A new batch, during which the process is killed, and the recovery.
    Kill,
    /// A recomputation of the last batch, during which the process is killed, and the recovery.
    KillRemake,
}

/// The steps, each repeated according to its frequency.
const DRAWN: [Step; 16] = [
    Step::Run,
    Step::Run,
    Step::Run,
    Step::Run,
    Step::Run,
    Step::ForgetBatch,
    Step::ForgetBatch,
    Step::ForgetIds,
    Step::ForgetIds,
    Step::ForgetIds,
    Step::Remake,
    Step::Remake,
    Step::Compact,
    Step::Hold,
    Step::Kill,
    Step::KillRemake,
];

struct Row {
    id: Option<String>,
    /// The text; a row without text is rejected.
    text: Option<String>,
    score: i64,
}

struct Batch {
    name: String,
    rows: Vec<Row>,
    first_doc: i64,
    kept: Vec<bool>,
    forgotten: Vec<bool>,
}

struct Law {
    folder: tempfile::TempDir,
    numbers: Numbers,
    algorithms: Option<&'static str>,
    rule: usize,
    order: &'static str,
    /// Whether each run uses a random rule.
    mixed: bool,
    report: bool,
    batches: Vec<Batch>,
    /// Texts that form the steps of chains: they change from document to document across all batches.
    walks: Vec<String>,
    /// The number of batches that were written, whether published or not.
    written: usize,
    said: Vec<String>,
    chained: usize,
    orphaned: usize,
}

impl Law {
    fn new(seed: u64) -> Law {
        let at = seed as usize;
        let [algorithms, rules, orders] = [ALGORITHMS.len(), RULES.len(), ORDERS.len()];
        Law {
            folder: tempfile::tempdir().unwrap(),
            numbers: Numbers(seed << 32),
            algorithms: ALGORITHMS[at % algorithms],
            rule: at / algorithms % rules,
            order: ORDERS[at / (algorithms * rules) % orders],
            mixed: seed % 5 == 4,
            report: seed % 8 == 5,
            batches: Vec::new(),
            walks: Vec::new(),
            written: 0,
            said: vec![format!("sequence {seed}")],
            chained: 0,
            orphaned: 0,
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn out(&self, name: &str) -> PathBuf {
        self.at(&format!("out/{name}"))
    }

    fn index(&self) -> PathBuf {
        self.at("index")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.at(&format!("in/{name}.parquet"))
    }

    fn says(&mut self, what: String) {
        self.said.push(what);
    }

    fn manifest(&self) -> Option<Manifest> {
        let index = if self.index().is_dir() {
            Index::look(&self.index(), |_| Ok(dupsift_index::State::Lost)).unwrap()
        } else {
            None
        };
        index.and_then(|mut index| index.manifest.take())
    }

    fn step(&mut self, step: Step) {
        let before = self.said.len();
        match step {
            Step::Run => {
                let batch = self.write();
                self.run(batch, &[]);
            }
            Step::Remake => self.remake(),
            Step::ForgetBatch => self.forget_batch(),
            Step::ForgetIds => self.forget_ids(),
            Step::Compact => {
                self.says("compact".into());
                upkeep::compact(&self.index(), 256 << 20, 2, &AtomicBool::new(false)).unwrap();
            }
            Step::Hold => self.hold(),
            Step::Kill => {
                let batch = self.write();
                self.kill(batch, false);
            }
            Step::KillRemake => self.kill_last(),
        }
        assert!(self.said.len() > before || self.batches.is_empty());
        self.no_text_is_kept_twice();
    }

    /// Writes a batch that consists of groups of texts that are edited versions of each other, and of copies of kept or removed texts from
    /// any batch.
    fn write(&mut self) -> Batch {
        let name = format!("n{}", self.written);
        self.written += 1;
        let (first, has_ids) = (self.batches.is_empty(), self.numbers.below(4) > 0);
        let mut texts: Vec<String> = Vec::new();
        for _ in 0..14 + self.numbers.below(8) + if first { 12 } else { 0 } {
            let own = !texts.is_empty() && self.numbers.below(3) == 0;
            let from = if own { Some(texts[self.numbers.below(texts.len())].clone()) } else { self.any_text() };
            let text = match (self.numbers.below(12), from) {
                (0..3, Some(from)) => from,
                (3..6, Some(from)) => self.edited(&from),
                (6..10, _) => self.walked(),
                _ => self.words(90),
            };
            texts.push(text);
        }
        let rows = texts.into_iter().enumerate().map(|(at, text)| Row {
            id: has_ids.then(|| format!("{name}-{at}")),
            text: Some(text).filter(|_| self.numbers.below(20) > 0),
            score: self.numbers.below(5) as i64,
        });
        let rows: Vec<Row> = rows.collect();
        let texts: ArrayRef = Arc::new(rows.iter().map(|row| row.text.as_deref()).collect::<StringArray>());
        let scores: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.score)));
        let places: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows.len() as i64));
        let mut columns = vec![("text", texts), ("score", scores), ("place", places)];
        if has_ids {
            let ids = rows.iter().map(|row| row.id.as_deref()).collect::<StringArray>();
            columns.push(("id", Arc::new(ids) as ArrayRef));
        }
        write_columns(&self.file(&name), &columns, 9);
        let count = rows.len();
        Batch { name, rows, first_doc: 0, kept: vec![false; count], forgotten: vec![false; count] }
    }

    fn any_text(&mut self) -> Option<String> {
        if self.batches.is_empty() {
            return None;
        }
        // Recent batches are chosen more often, so that chains grow.
        let back = self.numbers.below(4).min(self.numbers.below(self.batches.len()));
        let rows = &self.batches[self.batches.len() - 1 - back].rows;
        rows[self.numbers.below(rows.len())].text.clone()
    }

    /// Returns the next step of one of three chains.
    fn walked(&mut self) -> String {
        let at = self.numbers.below(3);
        if at >= self.walks.len() {
            let text = self.words(90);
            self.walks.push(text.clone());
            return text;
        }
        let more = self.words(6);
        let words: Vec<&str> = self.walks[at].split(' ').skip(6).collect();
        let text = words.join(" ") + " " + &more;
        self.walks[at].clone_from(&text);
        text
    }

    /// Returns the text without a few words at one end and with new words at the other end, or sometimes only with new words.
    fn edited(&mut self, text: &str) -> String {
        let words: Vec<&str> = text.split(' ').collect();
        let count = 1 + self.numbers.below(8);
        let more = self.words(count);
        match self.numbers.below(4) {
            0 => format!("{text} {more}"),
            1 => format!("{more} {}", words[..words.len() - words.len().min(count)].join(" ")),
            2 => words[..words.len() - words.len().min(count)].join(" ") + " " + &more,
            _ => words[..words.len() - count.min(words.len() / 2)].join(" "),
        }
    }

    fn words(&mut self, count: usize) -> String {
        let word = |numbers: &mut Numbers| match numbers.below(20) {
            0 => numbers.below(1000).to_string(),
            _ => format!("w{}", numbers.below(3000)),
        };
        (0..count).map(|_| word(&mut self.numbers)).collect::<Vec<_>>().join(" ")
    }

    /// Returns the options for the run of the batch with this name.
    fn options(&mut self, name: &str, more: &[(&'static str, String)]) -> Vec<(&'static str, String)> {
        let rule = if self.mixed { self.numbers.below(RULES.len()) } else { self.rule };
        let [remove_if, chain] = RULES[rule];
        let corpus = if self.numbers.below(4) == 0 { "keep,annotate" } else { "keep" };
        let path = |path: PathBuf| path.to_str().unwrap().to_owned();
        let mut options = vec![
            ("out", path(self.out(name))),
            ("index", path(self.index())),
            ("remove-if", remove_if.into()),
            ("chain", chain.into()),
            ("keep", self.order.into()),
            ("corpus", corpus.into()),
            ("threads", "2".into()),
            ("memory", "512MiB".into()),
            ("max-rejected-share", "1".into()),
        ];
        if !self.report {
            options.push(("no-report", "true".into()));
        }
        if let Some(algorithms) = self.algorithms {
            options.push(("algorithms", algorithms.into()));
        }
        for (option, value) in more {
            options.retain(|(known, _)| known != option);
            options.push((option, value.clone()));
        }
        self.says(format!("{name}: {remove_if} {chain} {} {corpus} {more:?}", self.order));
        options
    }

    /// Runs a batch that is new, or that was previously killed or held.
    fn run(&mut self, batch: Batch, more: &[(&'static str, String)]) {
        let options = self.options(&batch.name, more);
        self.run_with(batch, &options);
    }

    fn job(&self, name: &str, options: &[(&'static str, String)]) -> Job {
        let job = Job::new().input(self.file(name));
        options.iter().fold(job, |job, (name, value)| job.option(*name, value))
    }

    /// Runs a batch with these options.
    fn run_with(&mut self, batch: Batch, options: &[(&'static str, String)]) {
        self.job(&batch.name, options).run().unwrap_or_else(|error| panic!("{error}"));
        self.published(batch);
    }

    /// Records a published batch and checks everything in its tables.
    fn published(&mut self, mut batch: Batch) {
        if self.batches.last().is_some_and(|last| last.name == batch.name) {
            let last = self.batches.pop().unwrap();
            // If a text is forgotten, all of its copies are forgotten.
            let texts: BTreeSet<&String> = last
                .rows
                .iter()
                .zip(&last.forgotten)
                .filter(|(_, gone)| **gone)
                .filter_map(|(row, _)| row.text.as_ref())
                .collect();
            let is_equal = |row: &Row| row.text.as_ref().is_some_and(|text| texts.contains(text));
            batch.forgotten = last.rows.iter().zip(&last.forgotten).map(|(row, gone)| *gone || is_equal(row)).collect();
        }
        let out = self.out(&batch.name);
        batch.first_doc = record(&out)["index"]["first_doc"].as_i64().unwrap();
        self.batches.push(batch);
        self.each_row_is_somewhere();
        self.each_removed_has_a_kept_one();
        self.ids_are_those_of_documents();
    }

    fn remake(&mut self) {
        let Some(last) = self.batches.last() else { return };
        let (name, rows) = (last.name.clone(), last.rows.iter().map(again).collect::<Vec<_>>());
        let count = rows.len();
        let batch = Batch { name, rows, first_doc: 0, kept: vec![false; count], forgotten: vec![false; count] };
        let keep = ORDERS[self.numbers.below(ORDERS.len())];
        self.run(batch, &[("overwrite", "true".into()), ("keep", keep.into())]);
    }

    fn forget(&mut self, what: &Forget) {
        if let Err(error) = upkeep::forget(&self.index(), what) {
            panic!("{error}");
        }
    }

    fn forget_batch(&mut self) {
        if self.batches.is_empty() {
            return;
        }
        let at = self.numbers.below(self.batches.len());
        let name = self.batches[at].name.clone();
        self.says(format!("forget {name}"));
        self.forget(&Forget::Batch(name));
        self.batches[at].forgotten.fill(true);
    }

    /// Forgets some documents. A kept document is always found by its id; a removed document is found only if no kept document has the same
    /// text.
    fn forget_ids(&mut self) {
        let (mut ids, count) = (BTreeMap::new(), 1 + self.numbers.below(3));
        for _ in 0..40 {
            if self.batches.is_empty() || ids.len() == count {
                break;
            }
            let batch = self.numbers.below(self.batches.len());
            let row = self.numbers.below(self.batches[batch].rows.len());
            if self.batches[batch].kept[row] && !self.batches[batch].forgotten[row] {
                ids.insert(self.id(batch, row), (batch, row));
            }
        }
        self.says(format!("forget {ids:?}"));
        if !ids.is_empty() {
            self.forget(&Forget::Ids(ids.keys().cloned().collect()));
        }
        for (batch, row) in ids.into_values() {
            self.batches[batch].forgotten[row] = true;
        }
    }

    /// Returns the id of a document in the tables.
    fn id(&self, batch: usize, row: usize) -> String {
        let Batch { name, rows, .. } = &self.batches[batch];
        rows[row].id.clone().unwrap_or_else(|| format!("{name}.parquet#{row}"))
    }

    fn hold(&mut self) {
        let Some(last) = self.batches.last() else { return };
        let previous = self.out(&last.name).to_str().unwrap().to_owned();
        let batch = self.write();
        let name = batch.name.clone();
        let more = [("previous", previous), ("guard-rows", "1".to_owned()), ("max-removed-share", "0".to_owned())];
        let options = self.options(&name, &more);
        self.job(&name, &options).run().unwrap();
        let held = self.at(&format!("out/{name}.held"));
        if !held.is_dir() {
            return self.published(batch);
        }
        match self.numbers.below(3) {
            0 => {
                // The held batch can no longer be accepted, because the index has changed.
                self.forget_ids();
                self.run(batch, &[("accept", "true".into())]);
            }
            1 => self.says(format!("{name} is held back and given up")),
            _ => {
                self.says(format!("{name} is accepted"));
                Ran::of(program().arg("accept").arg(&held).output().unwrap()).ends_with(0);
                self.published(batch);
            }
        }
    }

    fn kill_last(&mut self) {
        let Some(last) = self.batches.last() else { return };
        let (name, rows) = (last.name.clone(), last.rows.iter().map(again).collect::<Vec<_>>());
        let count = rows.len();
        let batch = Batch { name, rows, first_doc: 0, kept: vec![false; count], forgotten: vec![false; count] };
        self.kill(batch, true);
    }

    /// Runs a batch that is killed at some step. Then either the same command is repeated, or a different command opens the index.
    fn kill(&mut self, batch: Batch, overwrite: bool) {
        let stop = STOPS[self.numbers.below(STOPS.len())];
        let more = if overwrite { vec![("overwrite", "true".to_owned())] } else { Vec::new() };
        let folder = |manifest: Option<Manifest>| Some(manifest?.batches.last()?.folder.clone());
        let before = folder(self.manifest());
        let mut command = program();
        command.arg("run").arg(self.file(&batch.name)).arg("--no-progress").env("DUPSIFT_STOP_AT", stop);
        let options = self.options(&batch.name, &more);
        for (option, value) in &options {
            match *option {
                "no-report" | "overwrite" => command.arg(format!("--{option}")),
                _ => command.arg(format!("--{option}={value}")),
            };
        }
        // The run completes if the step is not reached.
        let code = Ran::of(command.output().unwrap()).code;
        assert!([-1, 0, 3].contains(&code), "{code}");
        let again = self.numbers.below(2) == 0;
        self.says(format!("{} was killed at {stop} ({code}), again: {again}", batch.name));
        if again {
            return self.run_with(batch, &options);
        }
        self.step(Step::Compact);
        let after = folder(self.manifest());
        let is_there = self.manifest().is_some_and(|index| index.batches.iter().any(|one| one.name == batch.name));
        if is_there && after != before {
            self.published(batch);
        }
    }

    fn fail(&self, why: &str) -> ! {
        panic!("{why}")
    }
}

/// Prints the steps before a failure.
impl Drop for Law {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.said.join("\n"));
        }
    }
}

fn is_of_the_work_folder(text: &str) -> bool {
    text.contains("dupsift-work") || text.contains("indexed.parquet")
}

fn again(row: &Row) -> Row {
    Row { id: row.id.clone(), text: row.text.clone(), score: row.score }
}

/// Returns the sequences to run.
fn seeds() -> Range<u64> {
    let Ok(asked) = std::env::var("DUPSIFT_LAW") else { return ALWAYS };
    let (from, to) = asked.split_once("..").expect("DUPSIFT_LAW has the form FROM..TO");
    from.parse().unwrap()..to.parse().unwrap()
}

/// Runs a sequence. Returns the number of documents that were removed because of a chain, and the number of texts that were kept only in
/// forgotten documents.
fn sequence(seed: u64) -> [usize; 2] {
    let mut law = Law::new(seed);
    law.step(Step::Run);
    for _ in 0..STEPS {
        let step = DRAWN[law.numbers.below(DRAWN.len())];
        law.step(step);
    }
    law.step(Step::Run);
    [law.chained, law.orphaned]
}

#[test]
fn every_removed_document_has_a_kept_one_whatever_comes() {
    let (seeds, next) = (seeds(), AtomicU64::new(0));
    let run = || {
        let seeds =
            std::iter::from_fn(|| Some(seeds.start + next.fetch_add(1, Relaxed)).filter(|it| seeds.contains(it)));
        seeds.map(sequence).fold([0, 0], |sums, counts| [sums[0] + counts[0], sums[1] + counts[1]])
    };
    let [one, other] = std::thread::scope(|scope| {
        let threads = [scope.spawn(run), scope.spawn(run)];
        threads.map(|thread| thread.join().unwrap())
    });
    let (chained, orphaned) = (one[0] + other[0], one[1] + other[1]);
    let shows = seeds != ALWAYS || chained > 20 && orphaned > 20;
    assert!(shows, "{chained} removed by chains, {orphaned} texts of forgotten documents");
}

/// Checks the only exception: `--keep none` also removes the documents that would otherwise be kept instead of other documents.
#[test]
fn only_keep_none_leaves_removed_documents_without_a_kept_one() {
    let mut represented = 0;
    for seed in 0..(ALGORITHMS.len() * RULES.len()) as u64 {
        let mut law = Law::new(seed);
        let batch = law.write();
        let removed = |law: &mut Law, keep: &str| {
            let more = [("keep", keep.to_owned()), ("out", law.out(keep).display().to_string())];
            let mut options = law.options("n0", &more);
            options.retain(|(name, _)| *name != "index");
            law.job(&batch.name, &options).run().unwrap_or_else(|error| panic!("{error}"));
            let table = Table::read(&law.out(keep).join("removed"));
            let rows = table.numbers("doc").into_iter().zip(table.numbers("kept_doc")).zip(table.texts("reason"));
            rows.map(|((doc, kept), reason)| (doc, (kept, reason))).collect::<BTreeMap<_, _>>()
        };
        law.mixed = false;
        let mut expected = removed(&mut law, "length desc");
        let kept: BTreeSet<i64> = expected.values().map(|(kept, _)| *kept).collect();
        assert!(kept.iter().all(|kept| !expected.contains_key(kept)), "{seed}");
        represented += kept.len();
        expected.extend(kept.into_iter().map(|doc| (doc, (doc, "representative".to_owned()))));
        assert_eq!(removed(&mut law, "none"), expected, "{seed}");
        let record = record(&law.out("none"));
        assert_eq!(record["removal"]["removed"], expected.len(), "{seed}");
        let deduped: BTreeSet<i64> =
            Table::read(&law.out("none").join("deduped")).numbers("place").into_iter().collect();
        let rows = batch.rows.iter().enumerate().filter(|(_, row)| row.text.is_some()).map(|(at, _)| at as i64);
        assert_eq!(deduped, rows.filter(|doc| !expected.contains_key(doc)).collect(), "{seed}");
    }
    assert!(represented > 20, "{represented}");
}
