//! Implements `evaluate`, which compares the pairs and clusters of a finished run with labeled pairs or clusters.
//!
//! Pairs are counted per distinct text ([`texts`]): two documents count as a pair if the documents that represent their texts form a
//! pair.
//!
//! Pairs are compared by document number; both the tables of a run and the true pairs are sorted. A page (a document) counts as
//! detected if it is in a reported pair, and as correctly detected if it is in a reported pair that is true. Clusters are compared cell
//! by cell; see [`dupsift_algorithms::measure::Partitions`]. A document that is in no cluster counts as a cluster of its own. If the truth
//! consists of pairs, the true clusters are their connected components. If the truth consists of clusters, the true pairs are all pairs
//! within these clusters.
//!
//! A run does not write all pairs of a group that is larger than `--max-group`. If the number of pairs that the run counted equals the
//! number of pairs within its clusters, the run found exactly the pairs within its clusters, and the figures are computed from the
//! clusters. Otherwise, figures that depend on the unwritten pairs are null.

mod clusters;
pub(crate) mod evaluation;
mod pairs;
mod removal;
mod texts;
pub(crate) mod truth;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::finished::{EVALUATION, Finished};
use clusters::EvaluatedClusters;
use dupsift_algorithms::measure::Retrieval;
use dupsift_algorithms::steps::guard::{ReadCounts, reading};
use dupsift_core::error::{Error, Result};
use dupsift_core::number::{counted, counted_as, thousands};
use dupsift_core::safe_fs::listing::is_file;
use dupsift_engine::engine::interruptible::interruptible;
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::job::check::check_resources;
use dupsift_engine::job::run_report::AlgorithmReport;
use dupsift_engine::options::{RunOptions, Settings};
use dupsift_engine::reading::again::work_again;
use dupsift_engine::session::Session;
use dupsift_input::Quoting;
use dupsift_publish::{Stage, TableWriter};
use dupsift_tables::{EvaluationRow, evaluation_schema, evaluation_table};
use evaluation::{EvaluatedReport, EvaluationReport, FiguresReport, TruthReport};
use pairs::measure_pairs;
use texts::Texts;
use truth::Truth;
use truth::files::TruthFiles;
use truth::ids::resolve;

/// The version of the record and the table.
const SCHEMA_VERSION: u32 = 1;

/// Returns the quoting rules for CSV and TSV label files, according to the options.
pub fn truth_quotes(settings: &Settings) -> Quoting {
    settings.text("truth-quotes").map_or(Quoting::Double, Quoting::of)
}

/// The table of unusable labels; it is written only if there are any.
const REJECTED: &str = "rejected/part-00000.parquet";

/// Measures every algorithm in a run against the truth in these files, and writes the result to `evaluation/` in the folder of the run.
/// An earlier evaluation is replaced.
///
/// # Errors
/// Returns [`Error::Usage`] if the truth cannot be interpreted or contains no id from the corpus, or if the corpus has changed since the
/// run, and [`Error::BadFile`] if a file is damaged. After an error, the folder is unchanged.
pub fn evaluate(
    finished: &Finished,
    options: &RunOptions,
    truth: &[String],
    quotes: Quoting,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<EvaluationReport> {
    finished.unless_replaced(|| evaluated(finished, options, truth, quotes, progress, cancel))
}

fn evaluated(
    finished: &Finished,
    options: &RunOptions,
    truth: &[String],
    quotes: Quoting,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<EvaluationReport> {
    check_resources(options)?;
    let truth = truth.to_vec();
    let files = interruptible(cancel, move || TruthFiles::find(&truth, quotes))?;
    finished.is_of_its_corpus()?;
    let inputs = finished.corpus(options, progress, cancel)?;
    let out = finished.dir().join("evaluation");
    Stage::look(&out, true, false)?;
    let (report, stage) = work_again(options, &inputs.source, progress, cancel, |session| {
        finished.check_contents(session)?;
        let stage = Stage::begin(&out, true, None)?;
        stage.reads(files.paths().chain([&*finished.dir().join("run.json")]));
        let resolved = resolve(session, finished, &files, &stage.file(REJECTED)?)?;
        keeps_earlier(&resolved.report, &out, session.options.guards.max_rejected_share)?;
        let mut truth = Truth::new(session, resolved, finished.report.removal.is_some())?;
        let labeled_removals = removal::labeled(session, finished, &truth)?;
        let texts = Texts::new(session, finished, &truth.pages)?;
        truth.count_texts(session, &texts)?;
        // Without true pairs, every found pair would count as wrong.
        let has_pairs = truth.report.pairs > 0;
        let algorithms = if has_pairs { measure_all(session, finished, (&truth, &texts))? } else { Vec::new() };
        let (run, removed) = match finished.report.removal.is_some() && has_pairs {
            false => (None, None),
            true => {
                let run = removal::run(session, finished, options, (&truth, &texts), &algorithms)?;
                (Some(run), Some(removal::removed(session, finished, (&truth, &texts))?))
            }
        };
        session.engine.none_bad()?;
        let report = EvaluationReport { run, removed, labeled_removals, ..record(finished, truth, algorithms) };
        Ok((report, stage))
    })?;
    if cancel.load(Ordering::Relaxed) {
        return Err(Error::Interrupted);
    }
    let json = serde_json::to_vec_pretty(&report).map_err(Error::table("write evaluation.json"))?;
    stage.write_bytes(EVALUATION, &json)?;
    let mut writer = TableWriter::create(&stage.file("evaluation.parquet")?, evaluation_schema())?;
    let rows: Vec<EvaluationRow<'_>> = report.rows().map(row).collect();
    writer.write(&evaluation_table(&rows)?)?;
    writer.close()?;
    stage.commit_if(false, || finished.check_not_replaced())?;
    Ok(report)
}

/// Returns an error if an earlier evaluation exists and the share of invalid label rows is too high to replace it.
fn keeps_earlier(truth: &TruthReport, out: &Path, share: Option<f64>) -> Result<()> {
    let (rows, broken) = (truth.rows, truth.rejections.broken);
    let read = ReadCounts { rows, broken, used: rows - truth.rejections.rows, ..ReadCounts::default() };
    if broken == 0 || reading(&read, share).is_empty() || !is_file(&out.join(EVALUATION))? {
        return Ok(());
    }
    Err(Error::wrong(
        "truth",
        format_args!(
            "{} of {} cannot be used, so the previous evaluation is kept; fix the labels, or remove {} first",
            thousands(broken),
            counted(rows, "row"),
            out.display()
        ),
    ))
}

fn record(finished: &Finished, truth: Truth, algorithms: Vec<EvaluatedReport>) -> EvaluationReport {
    let run = &finished.report;
    let mut warnings = Vec::new();
    for one in algorithms.iter().filter(|one| one.pairs_not_written > 0) {
        // If the pairs are exactly the pairs within the clusters, unwritten pairs are also counted.
        let known = run.algorithms.iter().any(|ran| ran.label == one.label && ran.pairs == one.pairs);
        let what = if known {
            "every pair within a cluster counts, so the figures are computed from the clusters".to_string()
        } else {
            format!(
                "pair precision is measured on the {} written; pair recall and the figures for pages are unknown",
                thousands(one.pairs)
            )
        };
        warnings.push(format!(
            "{}: because of groups larger than `max-group`, {} not written; {what}",
            one.label,
            counted_as(one.pairs_not_written, "pair was|pairs were")
        ));
    }
    if !truth.report.unread_columns.is_empty() {
        warnings.push(format!("columns of the truth that are not read: {}", truth.report.unread_columns.join(", ")));
    }
    if truth.report.contradictory_pairs > 0 {
        warnings.push(format!(
            "{} labeled both as duplicates and as different documents, such as {}; they count neither way",
            counted_as(truth.report.contradictory_pairs, "pair of the truth is|pairs of the truth are"),
            truth.report.contradictory.join(" and ")
        ));
    }
    if truth.report.ambiguous_ids > 0 {
        warnings.push(format!(
            "ids in the truth that belong to several documents: {}; for each such id, the first document is used",
            truth.report.ambiguous_ids
        ));
    }
    EvaluationReport {
        schema_version: SCHEMA_VERSION,
        dupsift: env!("CARGO_PKG_VERSION").into(),
        recipe: run.recipe.identity.clone(),
        documents: run.documents.used,
        truth: truth.report,
        algorithms,
        warnings,
        ..EvaluationReport::default()
    }
}

fn row(one: &EvaluatedReport) -> EvaluationRow<'_> {
    EvaluationRow {
        algorithm: &one.label,
        counts: [one.pairs, one.pairs_true, one.pairs_not_written, one.pages, one.pages_true],
        figures: one.figures(),
    }
}

/// Measures all algorithms, several at a time, and returns the results in the order of the recipe.
fn measure_all(session: &Session<'_>, finished: &Finished, truth: (&Truth, &Texts)) -> Result<Vec<EvaluatedReport>> {
    let algorithms = &finished.report.algorithms;
    let measured = Mutex::new(Vec::new());
    let running = session.engine.clock.stage("measure");
    let bar = session.engine.bar("measure", algorithms.len());
    session.engine.work(
        algorithms.len(),
        || Ok(()),
        |(), at| {
            let report = measure(session, finished, truth, &algorithms[at])?;
            measured.lock().unwrap_or_else(PoisonError::into_inner).push((at, report));
            bar.add(1);
            Ok(())
        },
        Ok,
    )?;
    // A damaged table is an error, because its algorithm could not be measured.
    session.engine.none_bad()?;
    let mut measured = measured.into_inner().unwrap_or_else(PoisonError::into_inner);
    measured.sort_by_key(|(at, _)| *at);
    running.end(algorithms.len() as u64, measured.len() as u64, 0);
    Ok(measured.into_iter().map(|(_, report)| report).collect())
}

/// Measures the clusters and the pairs of one algorithm. If some pairs are not written, all pairs are derived from the
/// clusters.
fn measure(
    session: &Session<'_>,
    finished: &Finished,
    (truth, texts): (&Truth, &Texts),
    one: &AlgorithmReport,
) -> Result<EvaluatedReport> {
    let mut report = EvaluatedReport {
        label: one.label.clone(),
        pairs_not_written: one.pairs.saturating_sub(one.pairs_written),
        ..EvaluatedReport::default()
    };
    let all_written = report.pairs_not_written == 0;
    let clusters = EvaluatedClusters::new(session, finished, (truth, texts), one, !all_written)?;
    report.b_cubed = clusters.partitions.b_cubed().into();
    report.ari = clusters.partitions.ari();
    // Every pair is within a cluster, except pairs of pages from the same template. If the counts are equal, the algorithm therefore found
    // exactly the pairs within its clusters.
    let all_within = one.pairs.saturating_sub(one.templates) == clusters.pairs;
    if !all_written && all_within {
        report.pairs_undecided = clusters.undecided_pairs(session, truth)?;
        (report.pairs, report.pages) = (clusters.pairs.saturating_sub(report.pairs_undecided), clusters.pages);
        (report.pairs_true, report.pages_true) = clusters.true_pairs(session, (truth, texts))?;
    } else {
        let (pairs, table) = (finished.pairs(&report.label)?, finished.pair_table(&report.label));
        measure_pairs(session, (pairs, &table), (truth, texts), &mut report)?;
    }
    let (pairs, pages) = (truth.report.pairs, truth.report.pages);
    report.pairwise = Retrieval::of_counts(report.pairs_true, report.pairs, pairs).into();
    report.pagewise = Retrieval::of_counts(report.pages_true, report.pages, pages).into();
    if !all_written && !all_within {
        // An unwritten pair may be true, or may contain pages that are in no written pair, so only the precision of the
        // written pairs is known.
        report.pairwise = FiguresReport { precision: report.pairwise.precision, ..FiguresReport::default() };
        report.pagewise = FiguresReport::default();
    }
    Ok(report)
}
