//! What a finished run knew of its corpus when it signed: the statistics and models in `stats/`, read back.

use super::finished::Finished;
use super::run_report::StatisticsReport;
use super::workers::Job;
use crate::algorithm::{Corpus, Stats};
use crate::batch::{MODEL_COLUMNS, TERM_COLUMNS, model_values, terms_found};
use crate::corpus::{CorpusStats, TermTable, TermTableWriter, snapshot};
use crate::error::{Error, Result};
use crate::hash::hash64;
use crate::io::TableReader;

/// The statistics of the run, their tables in the job's work folder.
///
/// # Errors
/// [`Error::Usage`] where they are not those of the run and of this version's words: signatures would be others.
pub fn statistics(job: &Job<'_>, finished: &Finished) -> Result<CorpusStats> {
    let Some(known) = &finished.report.statistics else { return Ok(CorpusStats::none()) };
    counted(job, finished, known, job.options.recipe.needs_stats())
}

/// The words that a run counted, whatever it counted besides; the run must have cut words as this job does.
///
/// # Errors
/// [`Error::Usage`] where the run counted no words, or other ones.
pub fn words(job: &Job<'_>, finished: &Finished) -> Result<CorpusStats> {
    let (known, needs) = counted_words(finished)?;
    counted(job, finished, known, needs)
}

/// What the run says of the words that it counted, and what it counted besides.
///
/// # Errors
/// [`Error::Usage`] where it counted no words.
pub fn counted_words(finished: &Finished) -> Result<(&StatisticsReport, Stats)> {
    let there = |name: &str| finished.dir().join(format!("stats/{name}/part-00000.parquet")).is_file();
    let needs = Stats { words: there("words"), features: there("features") };
    match &finished.report.statistics {
        Some(known) if needs.words => Ok((known, needs)),
        _ => Err(Error::Usage(format!(
            "{} has no statistics of words: expected the output of a run with an algorithm that needs them, such as cosine or tf_idf",
            finished.dir().display()
        ))),
    }
}

fn counted(job: &Job<'_>, finished: &Finished, known: &StatisticsReport, needs: Stats) -> Result<CorpusStats> {
    let table = |wanted: bool, name: &str| if wanted { terms(job, finished, name) } else { Ok(TermTable::empty()) };
    let (words, features) = (table(needs.words, "words")?, table(needs.features, "features")?);
    let identity = hash64(job.pipeline.identity().as_bytes());
    let id = snapshot(identity, known.documents, known.tokens, &words, &features);
    if format!("{id:016x}") != known.snapshot {
        return Err(Error::Usage(format!(
            "the statistics in {} are not those of this run: damaged, or of words that are cut otherwise than here (--tokenizer, --stem, lists of words, version); run again with --overwrite",
            finished.dir().join("stats").display()
        )));
    }
    Ok(CorpusStats::new(known.documents, known.tokens, id, words, features))
}

fn terms(job: &Job<'_>, finished: &Finished, name: &str) -> Result<TermTable> {
    let path = finished.dir().join(format!("stats/{name}/part-00000.parquet"));
    let mut writer = TermTableWriter::create(&job.dir.join(format!("{name}.terms")))?;
    for batch in TableReader::open(&path, &TERM_COLUMNS)? {
        job.go_on()?;
        let rows = terms_found(&batch?).ok_or_else(|| wrong_type(&path))?;
        rows.into_iter().try_for_each(|(term, df, cf)| writer.push(term, df, cf))?;
    }
    writer.finish()
}

/// The models of the run by algorithm, empty for those that learn nothing.
///
/// # Errors
/// A model that is not there or damaged.
pub fn models(job: &Job<'_>, finished: &Finished, corpus: &Corpus<'_>) -> Result<Vec<Vec<u64>>> {
    let recipe = &job.options.recipe;
    let mut models = vec![Vec::new(); recipe.algorithms.len()];
    for (at, _) in recipe.learners(corpus)? {
        let path = finished.dir().join(format!("stats/models/{}.parquet", recipe.algorithms[at].label));
        for batch in TableReader::open(&path, &MODEL_COLUMNS)? {
            models[at].append(&mut model_values(&batch?).ok_or_else(|| wrong_type(&path))?);
        }
        let recorded = finished.report.algorithms.get(at).and_then(|one| one.model.as_ref());
        if recorded.is_some_and(|recorded| *recorded != digest(&models[at])) {
            return Err(Error::Usage(format!(
                "{} is not what this run learnt, as its record says; run again with --overwrite",
                path.display()
            )));
        }
    }
    Ok(models)
}

/// A hash of a model, as the record has it.
pub fn digest(model: &[u64]) -> String {
    format!("{:016x}", hash64(bytemuck::cast_slice(model)))
}

fn wrong_type(path: &std::path::Path) -> Error {
    Error::BadFile {
        path: path.to_path_buf(),
        why: "a column is of another type; expected a table as dupsift writes it".into(),
    }
}
