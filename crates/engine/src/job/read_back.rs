//! Reads the statistics and models that a finished run used for its signatures, from `stats/`.
//!
//! Commands that inspect a run use this data to compute the same signatures. If `--stats` is given, another run uses this data in place of
//! its own counts, models and planned size ([`Frozen`]). Each signature then depends only on its document, so documents from different
//! batches can be compared (docs/methods/common.md). Nothing is counted or learned, and all algorithms sign in the first pass.

use std::path::Path;

use super::run_report::{FrozenReport, RunReport, SCHEMA_VERSION, StatisticsReport};
use crate::engine::threads::Engine;
use crate::session::Session;
use dupsift_algorithms::algorithm::{Corpus, Stats};
use dupsift_algorithms::corpus::{CorpusStats, TermTable, TermTableWriter, snapshot};
use dupsift_algorithms::recipe::{Chosen, Recipe};
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::hash64;
use dupsift_core::safe_fs::listing::{is_absent, is_file};
use dupsift_core::safe_fs::{self, MOST_JSON};
use dupsift_index::{Index, State, statistics_in};
use dupsift_input::{TableReader, absolute};
use dupsift_publish::SUCCESS;
use dupsift_tables::{MODEL_COLUMNS, TERM_COLUMNS, model_values, terms_found};

/// Holds the output folder and the record of a finished run.
#[derive(Clone, Copy)]
pub struct Of<'r> {
    /// The output folder.
    pub dir: &'r Path,
    /// The run's record, from run.json.
    pub report: &'r RunReport,
}

/// Returns the statistics of the run, and puts their tables in the job's temporary folder. The statistics cover the run's own corpus unless
/// they are frozen.
///
/// # Errors
/// Returns [`Error::Usage`] if the statistics are not from this run, or if this version splits text into words differently, because
/// signatures would then differ.
pub fn statistics(session: &Session<'_>, run: Of<'_>) -> Result<CorpusStats> {
    let Some(known) = &run.report.statistics else { return Ok(CorpusStats::none()) };
    // The output of a run with frozen counts contains all of the tables.
    let needs = session.options.recipe.needs_stats().union(there(run.dir));
    let stats = counted(session, run.dir, known, needs)?;
    Ok(if run.report.frozen.is_some() { stats.frozen() } else { stats })
}

/// Returns the number of documents for which table schemes were chosen.
pub fn documents_planned(run: Of<'_>) -> u64 {
    run.report.frozen.as_ref().map_or(run.report.documents.rows, |frozen| frozen.documents_planned)
}

/// Returns the word statistics of a run. The run must have split text into words in the same way as this job.
///
/// # Errors
/// Returns [`Error::Usage`] if the run counted no words, or split text into words differently.
pub fn words(session: &Session<'_>, run: Of<'_>) -> Result<CorpusStats> {
    let (known, needs) = counted_words(run)?;
    counted(session, run.dir, known, needs)
}

/// Returns the record of a run's word statistics, and the kinds of statistics that the run has.
///
/// # Errors
/// Returns [`Error::Usage`] if the run counted no words.
pub fn counted_words(run: Of<'_>) -> Result<(&StatisticsReport, Stats)> {
    let needs = there(run.dir);
    match &run.report.statistics {
        Some(known) if needs.words => Ok((known, needs)),
        _ => Err(Error::usage(format!(
            "{} has no word statistics; expected the output of a run with an algorithm that needs them, such as versions or tf_idf",
            run.dir.display()
        ))),
    }
}

/// Returns the kinds of statistics for which an output has tables.
pub fn there(dir: &Path) -> Stats {
    let there = |name: &str| dir.join(format!("stats/{name}/part-00000.parquet")).is_file();
    Stats { words: there("words"), features: there("features") }
}

/// Returns the statistics from the tables in `needs`. The snapshot in the record covers all tables in the output.
pub fn counted(session: &Session<'_>, dir: &Path, known: &StatisticsReport, needs: Stats) -> Result<CorpusStats> {
    let table =
        |wanted: bool, name: &str| if wanted { terms(session.engine, dir, name) } else { Ok(TermTable::empty()) };
    let (words, features) = (table(needs.words, "words")?, table(needs.features, "features")?);
    let identity = hash64(session.pipeline.identity().as_bytes());
    let id = snapshot(identity, known.documents, known.tokens, &words, &features);
    if format!("{id:016x}") != known.snapshot {
        return Err(Error::usage(format!(
            "the statistics in {} are damaged, or were written with different text options (`tokenizer`, `stem`, word lists) or by a different version; run again with `overwrite`",
            dir.join("stats").display()
        )));
    }
    Ok(CorpusStats::new(known.documents, known.tokens, id, words, features))
}

fn terms(engine: &Engine<'_>, dir: &Path, name: &str) -> Result<TermTable> {
    let path = dir.join(format!("stats/{name}/part-00000.parquet"));
    let mut writer = TermTableWriter::create(&engine.dir.join(format!("{name}.terms")))?;
    for batch in TableReader::open(&path, &TERM_COLUMNS)? {
        engine.go_on()?;
        let rows = terms_found(&batch?).ok_or_else(|| wrong_type(&path))?;
        rows.into_iter().try_for_each(|(term, df, cf)| writer.push(term, df, cf))?;
    }
    writer.finish()
}

/// Returns the run's model of each algorithm. The model is empty for algorithms that learn nothing.
///
/// # Errors
/// Returns an error if a model is missing or damaged.
pub fn models(session: &Session<'_>, run: Of<'_>, corpus: &Corpus<'_>) -> Result<Vec<Vec<u64>>> {
    let recipe = &session.options.recipe;
    let mut models = vec![Vec::new(); recipe.algorithms.len()];
    for (at, _) in recipe.learners(corpus)? {
        let label = &recipe.algorithms[at].label;
        let path = run.dir.join(format!("stats/models/{label}.parquet"));
        for batch in TableReader::open(&path, &MODEL_COLUMNS)? {
            models[at].append(&mut model_values(&batch?).ok_or_else(|| wrong_type(&path))?);
        }
        let recorded = run.report.algorithms.iter().find(|one| one.label == *label);
        if recorded.and_then(|one| one.model.as_ref()).is_some_and(|recorded| *recorded != digest(&models[at])) {
            return Err(Error::usage(format!(
                "{} does not match the record of this run; run again with `overwrite`",
                path.display()
            )));
        }
    }
    Ok(models)
}

fn wrong_type(path: &Path) -> Error {
    Error::BadFile {
        path: path.to_path_buf(),
        why: "a column has an unexpected type; expected a table written by dupsift".into(),
    }
}

/// Returns the hash of a model, as recorded in run.json.
pub fn digest(model: &[u64]) -> String {
    format!("{:016x}", hash64(bytemuck::cast_slice(model)))
}

/// Holds the data that affects signatures, apart from the documents themselves.
pub struct Frozen {
    /// The counts, which are not from this corpus.
    pub stats: CorpusStats,
    /// The statistics tables that exist.
    pub tables: Stats,
    /// The learned model of each algorithm. The model is empty for an algorithm that learns nothing.
    pub models: Vec<Vec<u64>>,
    /// The output from which the counts and models were taken, and the number of documents for which table schemes are chosen.
    pub report: FrozenReport,
}

impl Frozen {
    /// Reads the statistics and models from an output.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the folder is not the output of a run, or lacks statistics or models that the algorithms of this run
    /// require.
    pub fn read(session: &Session<'_>, dir: &Path) -> Result<Frozen> {
        // An index contains the statistics of its first output, with a checksum for each file. All generations of the index share these
        // statistics.
        let in_index = statistics_in(dir)?;
        if let Some(index) = Index::look(dir, |_| Ok(State::Lost))? {
            index.check_statistics()?;
        }
        let dir = in_index.as_deref().unwrap_or(dir);
        let report = record(dir)?;
        let (run, recipe) = (Of { dir, report: &report }, &session.options.recipe);
        let tables = check(dir, &report, recipe)?;
        let running = session.engine.clock.stage("read statistics");
        let stats = match &report.statistics {
            Some(known) if recipe.needs_stats().any() => counted(session, dir, known, tables)?,
            _ => CorpusStats::none(),
        };
        let documents_planned = documents_planned(run);
        let models = models(session, run, &Corpus::new(documents_planned, &stats))?;
        running.end(0, (stats.words.len() + stats.features.len()) as u64, 0);
        let from = absolute(dir).display().to_string();
        Ok(Frozen { stats: stats.frozen(), tables, models, report: FrozenReport { from, documents_planned } })
    }

    /// Returns one line that identifies the counts, the models and the planned size.
    pub fn line(&self) -> String {
        let models: Vec<String> = self.models.iter().map(|model| digest(model)).collect();
        format!("frozen {:016x} {} {models:?}", self.stats.snapshot(), self.report.documents_planned)
    }
}

fn wrong(dir: &Path, why: impl std::fmt::Display) -> Error {
    Error::wrong("stats", format!("{}: {why}", dir.display()))
}

fn record(dir: &Path) -> Result<RunReport> {
    let path = dir.join("run.json");
    let json = match safe_fs::read(&path, MOST_JSON) {
        Ok(json) if is_file(&dir.join(SUCCESS))? => json,
        Err(error) if error.raw_os_error().is_some() && !is_absent(&error) => {
            return Err(Error::reading("read", &path)(error));
        }
        _ => {
            return Err(wrong(
                dir,
                "it is not the output of a finished run; expected the output folder of dupsift run",
            ));
        }
    };
    let report: RunReport = serde_json::from_slice(&json).map_err(|error| wrong(dir, format!("run.json: {error}")))?;
    if report.schema_version == SCHEMA_VERSION {
        return Ok(report);
    }
    let version = report.schema_version;
    Err(wrong(dir, format!("its run.json has version {version}; this version of dupsift expects {SCHEMA_VERSION}")))
}

/// Checks that the run has all statistics and models that these algorithms require. Returns the kinds of statistics for which the run has
/// tables.
fn check(dir: &Path, report: &RunReport, recipe: &Recipe) -> Result<Stats> {
    let (needs, there) = (recipe.needs_stats(), there(dir));
    let theirs = Recipe::parse_algorithms(&report.recipe.algorithms.join(","))
        .map_err(|error| wrong(dir, format!("its algorithms: {error}")))?;
    let names = |algorithms: &[Chosen]| -> Vec<String> {
        let kinds = algorithms.iter().filter_map(|chosen| chosen.algorithm.needs(&chosen.params).features);
        kinds.map(|kind| kind.name()).collect()
    };
    let (wanted, counted) = (names(&recipe.algorithms), names(&theirs));
    let missing = wanted.iter().find(|name| !counted.contains(name));
    if needs.words && !there.words {
        return Err(wrong(
            dir,
            "it has no word statistics, which these algorithms need; expected a run with the same algorithms",
        ));
    }
    if let Some(kind) = missing {
        return Err(wrong(
            dir,
            format!(
                "it has no statistics about {kind}, which these algorithms need; expected a run with the same algorithms"
            ),
        ));
    }
    for chosen in &recipe.algorithms {
        let none = CorpusStats::none();
        if chosen.algorithm.learner(&chosen.params, &Corpus::new(1, &none))?.is_none() {
            continue;
        }
        let same = |other: &&Chosen| other.label == chosen.label;
        match theirs.iter().find(same).map(ToString::to_string) {
            Some(other) if other == chosen.to_string() => {}
            Some(other) => {
                return Err(wrong(
                    dir,
                    format!(
                        "the model for {} was trained with different parameters: {other} instead of {chosen}",
                        chosen.label
                    ),
                ));
            }
            None => {
                return Err(wrong(
                    dir,
                    format!("it has no model for {}; expected a run with the same algorithms", chosen.label),
                ));
            }
        }
    }
    Ok(there)
}
