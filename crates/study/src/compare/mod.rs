//! Implements `compare`, which is a run that removes nothing, followed by a study. The study pools the pairs of all algorithms and presets
//! that are compared, judges each pair by its texts, and counts the pairs.
//!
//! ```text
//! run --> pairs of each algorithm --pool--> (a, b, found by) --sample--> pairs to judge --read once--> verdicts --tally--> figures
//! ```
//!
//! The pool is read sequentially and never held in memory; the pairs to judge are stored in a temporary file. The figures, and how they are
//! estimated from a sample, are explained in [`sampling`] and [`crate::confidence`].

mod advice;
mod figures;
mod found_pairs;
mod judged;
mod oracle;
mod sampling;

use dupsift_engine::job::{GuardReport, Guarded};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::Serialize;

use crate::comparison::{ComparisonReport, JudgeReport};
use crate::finished::Finished;
use crate::finished::pool::{MOST_POOLED, Pooled};
use crate::review::page::{self, Page};
use advice::advice;
use dupsift_algorithms::judge::Judge;
use dupsift_algorithms::recipe::entries::{Entries, Entry, finders, related};
use dupsift_core::error::{Error, Result};
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::engine::threads::Engine;
use dupsift_engine::job::algorithm_state::AlgorithmState;
use dupsift_engine::job::pair::group::Relation;
use dupsift_engine::job::run::carry_out;
use dupsift_engine::job::run_report::{OtherInputReport, RunReport};
use dupsift_engine::job::story::{self, CompleteOutput, Variant};
use dupsift_engine::options::{RunOptions, Settings, resolve};
use dupsift_engine::reading::inputs::Inputs;
use dupsift_engine::session::Session;
use dupsift_publish::{Stage, TableWriter};
use dupsift_spill::shuffle::AtomicBits;
use dupsift_tables::{JudgedBuilder, judged_schema};
use figures::figures;
use found_pairs::{FoundList, FoundWriter};
use judged::{Texts, Verdicts, judge};
use oracle::Within;
use sampling::{Sampling, Tally};

/// Holds the options for a comparison, including the options that every run has.
#[derive(Clone)]
pub struct CompareOptions {
    /// The options of the run whose algorithms are compared.
    pub run: RunOptions,
    /// The algorithms and presets to compare; a preset combines several algorithms.
    pub entries: Vec<Entry>,
    /// The judge, which decides whether two documents are duplicates.
    pub judge: Judge,
    /// The sample size: if an algorithm found more pairs than this, about this many of them are sampled and judged.
    pub judge_sample: u64,
    /// The number of documents in the sample for the exact join; 0 for no exact join.
    pub oracle_sample: u64,
    /// The seed of both samples.
    pub seed: u64,
}

impl CompareOptions {
    /// Creates a comparison from complete settings.
    ///
    /// # Errors
    /// Returns an error if a comparison would reject an option.
    pub fn resolve(inputs: Vec<String>, settings: &Settings) -> Result<CompareOptions> {
        let number = |name: &str| settings.number(name).unwrap_or_default();
        let compared = match settings.text("preset") {
            Some(name) => Entries::of_preset(name)?,
            None => Entries::parse(settings.text("algorithms").unwrap_or_default())?,
        };
        let mut run = resolve(inputs, settings)?;
        run.removal.removes = false;
        Ok(CompareOptions {
            run,
            entries: compared.entries,
            judge: Judge::parse(settings.text("judge").unwrap_or_default())?,
            judge_sample: number("judge-sample"),
            oracle_sample: number("oracle-sample"),
            seed: number("seed"),
        })
    }
}

/// Holds the records of a comparison. The serialized form, `run.json`, contains only the record of the run.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Compared {
    /// The record of the run; the stages and costs in it include the study.
    pub run: RunReport,
    /// The record of the study, `compare/comparison.json`.
    #[serde(skip)]
    pub comparison: ComparisonReport,
}

impl Guarded for Compared {
    fn guards(&self) -> &[GuardReport] {
        &self.run.guards
    }

    fn other_inputs(&self) -> &[OtherInputReport] {
        &self.run.other_inputs
    }
}

/// Before any input is opened, checks the options that [`dupsift_engine::job::check()`] does not check.
///
/// # Errors
/// Returns an error if there are more than [`MOST_POOLED`] algorithms.
pub fn check(options: &CompareOptions) -> Result<()> {
    let algorithms = options.run.recipe.algorithms.len().max(options.entries.len());
    if algorithms > MOST_POOLED {
        return Err(Error::usage(format!(
            "`algorithms` lists {algorithms}, but at most {MOST_POOLED} can be compared in one run"
        )));
    }
    Ok(())
}

/// Runs the algorithms and compares them; `page` renders `report.html`.
///
/// # Errors
/// Returns an error if there are more than [`MOST_POOLED`] algorithms, or if the run cannot finish.
pub fn compare(
    options: &CompareOptions,
    inputs: Inputs,
    progress: &Progress,
    cancel: &AtomicBool,
    page: &Page<'_>,
) -> Result<Compared> {
    check(options)?;
    carry_out(&options.run, inputs, progress, cancel, |session, stage, losses, checkpoints| {
        let oracle = match options.oracle_sample {
            0 => None,
            most => Some(Sample { documents: oracle::choose(session, most, options.seed)?, within: Vec::new() }),
        };
        let mut comparing = Comparing { options, oracle, page, comparison: None };
        let run = story::attempt(session, stage, losses, checkpoints, &mut comparing)?;
        let none = || Error::Internal("the run ended without a comparison".into());
        Ok(Compared { run, comparison: comparing.comparison.ok_or_else(none)? })
    })
}

/// Extends a run so that its algorithms are compared.
struct Comparing<'c> {
    options: &'c CompareOptions,
    oracle: Option<Sample>,
    page: &'c Page<'c>,
    comparison: Option<ComparisonReport>,
}

impl Variant for Comparing<'_> {
    fn paired(&mut self, session: &Session<'_>, algorithms: &[AlgorithmState<'_, Relation>]) -> Result<()> {
        self.oracle.as_mut().map_or(Ok(()), |sample| sample.note(session, algorithms))
    }

    fn written(&mut self, CompleteOutput { session, stage, mut report, .. }: CompleteOutput<'_>) -> Result<RunReport> {
        let comparison = study(session, self.options, stage, &report, self.oracle.as_ref())?;
        let json = serde_json::to_vec_pretty(&comparison).map_err(Error::table("write comparison.json"))?;
        stage.write_bytes("compare/comparison.json", &json)?;
        self.comparison = Some(comparison);
        report.stages = session.engine.clock.stages();
        (report.seconds, report.cpu_seconds, report.peak_memory_bytes) = session.engine.clock.totals();
        page::write(session, stage, report, self.page)
    }
}

/// Holds the documents for the exact join, and the pairs that each algorithm found among these documents.
struct Sample {
    documents: AtomicBits,
    within: Vec<Within>,
}

impl Sample {
    fn note(&mut self, session: &Session<'_>, algorithms: &[AlgorithmState<'_, Relation>]) -> Result<()> {
        let within = algorithms.iter().map(|one| Within::new(session, &one.now, &self.documents));
        self.within = within.collect::<Result<_>>()?;
        Ok(())
    }
}

/// Holds the results of reading the pool.
struct Pooling {
    tally: Tally,
    chosen: FoundList,
}

fn study(
    session: &Session<'_>,
    options: &CompareOptions,
    stage: &Stage,
    run: &RunReport,
    oracle: Option<&Sample>,
) -> Result<ComparisonReport> {
    let before = session.engine.clock.stages().len();
    let finished = Finished::new(stage.path(), run.clone());
    let pairs = damaged(sizes(session.engine, options, &finished))?;
    let sampling = Sampling::new(&pairs, options.judge_sample, options.seed);
    let met = Arc::new(AtomicBits::new(session.engine.dir, "met", session.documents() as usize)?);
    let Pooling { mut tally, chosen } = damaged(pool(session.engine, options, &finished, &sampling, &met))?;
    if let Some(sample) = oracle {
        sample.documents.iter().for_each(|doc| _ = met.set(doc));
    }
    let texts = Texts::read(session, &options.judge, &met)?;
    let verdicts = judge(session.engine, &options.judge, &texts, &chosen)?;
    (0..chosen.len()).for_each(|at| tally.verdict(chosen.get(at).found, verdicts.of(at).is_some()));
    tally.settle();
    let labels: Vec<&str> = options.entries.iter().map(|one| one.name.as_str()).collect();
    write(stage, &labels, &chosen, &verdicts)?;
    let mut report = figures(&tally, &options.entries, &run.algorithms);
    if let Some(Sample { documents, within }) = oracle {
        let found = |a, b| finders(&options.entries, oracle::found(within, a, b));
        let (joined, recalls) = oracle::join(session, &options.judge, &texts, documents, found, pairs.len())?;
        report.oracle = Some(joined);
        report.algorithms.iter_mut().zip(recalls).for_each(|(one, recall)| one.oracle_recall = Some(recall));
    }
    report.judge = JudgeReport {
        name: options.judge.to_string(),
        documents: texts.read,
        judged: chosen.len() as u64,
        sample: options.judge_sample,
        sampled: (chosen.len() as u64) < report.pooled,
        seed: options.seed,
        by_words: verdicts.by_words,
        undecided: verdicts.undecided,
        cpu_seconds: session.engine.clock.stages()[before..].iter().map(|stage| stage.cpu_seconds).sum(),
    };
    report.advice = advice(&report);
    Ok(report)
}

/// Reports a bad file as [`Error::Damaged`]. The run has just written the table, so the table is not an input file that could be skipped.
fn damaged<T>(result: Result<T>) -> Result<T> {
    result.map_err(|error| match error {
        Error::BadFile { path, why } => Error::Damaged { path, why },
        other => other,
    })
}

/// Returns the number of pairs that each algorithm or preset found. If the algorithms of a preset found so many pairs in total that the
/// pairs may have to be sampled, they are counted in the pool, because only the pool shows which pairs were found by several algorithms.
fn sizes(engine: &Engine<'_>, options: &CompareOptions, finished: &Finished) -> Result<Vec<u64>> {
    let written =
        |one: &Entry| one.algorithms.iter().map(|&at| finished.report.algorithms[at].duplicates_written()).sum();
    let mut sizes: Vec<u64> = options.entries.iter().map(written).collect();
    let entries = || options.entries.iter().zip(&sizes);
    if !entries().any(|(one, &size)| one.algorithms.len() > 1 && size > options.judge_sample) {
        return Ok(sizes);
    }
    sizes.fill(0);
    for pair in finished.pool()? {
        engine.go_on()?;
        let found = finders(&options.entries, pair?.found);
        sizes.iter_mut().enumerate().for_each(|(at, size)| *size += found >> at & 1);
    }
    Ok(sizes)
}

/// Reads the pool, counts all pairs, and records which pairs to judge.
fn pool(
    engine: &Engine<'_>,
    options: &CompareOptions,
    finished: &Finished,
    sampling: &Sampling,
    met: &AtomicBits,
) -> Result<Pooling> {
    let running = engine.clock.stage("collect pairs");
    let mut tally = Tally::new(sampling.clone());
    tally.relate(related(&options.entries));
    let mut chosen = FoundWriter::new(engine.dir, "chosen")?;
    let bar = engine
        .bar("collect pairs", finished.report.algorithms.iter().map(|one| one.duplicates_written() as usize).sum());
    for pair in finished.pool()? {
        let mut pair = pair?;
        engine.go_on()?;
        bar.add(pair.found.count_ones().into());
        pair.found = finders(&options.entries, pair.found);
        tally.pair(pair.found);
        if sampling.takes(pair.a, pair.b, pair.found) {
            chosen.push(&pair)?;
            met.set(pair.a as usize);
            met.set(pair.b as usize);
        }
    }
    let chosen = chosen.end()?;
    tally.settle();
    running.end(tally.all().pairs(), chosen.len() as u64, chosen.len() as u64 * 24);
    Ok(Pooling { tally, chosen })
}

/// Writes the table of judged pairs, `compare/pairs.parquet`.
fn write(stage: &Stage, labels: &[&str], pairs: &FoundList, verdicts: &Verdicts) -> Result<()> {
    let mut writer = TableWriter::create(&stage.file("compare/pairs.parquet")?, judged_schema())?;
    let mut builder = JudgedBuilder::default();
    for at in 0..pairs.len() {
        let Pooled { a, b, found } = pairs.get(at);
        let finders = labels.iter().enumerate().filter(|(bit, _)| found >> bit & 1 == 1).map(|(_, label)| *label);
        builder.push(a, b, &finders.collect::<Vec<_>>().join(","), verdicts.of(at));
        if builder.is_full() {
            writer.write(&builder.finish()?)?;
        }
    }
    writer.write(&builder.finish()?)?;
    writer.close().map(drop)
}
