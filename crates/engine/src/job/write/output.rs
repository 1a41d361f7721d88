//! Writes the tables of the output, and creates the record of the run.

use std::sync::Arc;

use super::attributes::MarkSources;
use super::corpus_files;
use super::describe;
use super::passages;
use super::removals;
use super::stored_texts;
use super::tables::{TableCounts, Tables};
use crate::classes::Classes;
use crate::job::algorithm_state::AlgorithmState;
use crate::job::decide::decided::Decided;
use crate::job::decide::decisions::{Decisions, Expanded};
use crate::job::guards;
use crate::job::pair::contents::Compared;
use crate::job::read::intake::Taken;
use crate::job::run_report::{CutReport, RunReport};
use crate::job::saved::SavedState;
use crate::job::text_edits::TextEdits;
use crate::reading::losses::Losses;
use crate::session::Session;
use dupsift_algorithms::algorithm::Stats;
use dupsift_algorithms::corpus::CorpusStats;
use dupsift_core::error::Result;
use dupsift_publish::Stage;

/// Holds the data about the corpus.
#[derive(Clone, Copy)]
pub(crate) struct OutputCorpus<'c> {
    /// The data recorded about the rows.
    pub taken: &'c Taken,
    /// The exact copies.
    pub copies: &'c Arc<Classes>,
    /// The counts of the first pass.
    pub stats: &'c CorpusStats,
    /// The statistics tables that exist.
    pub tables: Option<Stats>,
    /// The learned model of each algorithm; empty for an algorithm without a model.
    pub models: &'c [Vec<u64>],
    /// The rows and files that could not be read.
    pub losses: &'c Losses<'c>,
}

/// Writes all tables, and creates the record. `edits` holds the edits of texts and their record, if texts are edited.
///
/// # Errors
/// Returns an error if a file is damaged, the disk is full, or the run is interrupted.
pub(crate) fn write(
    session: &Session<'_>,
    stage: &Stage,
    saved: &SavedState<'_>,
    decisions: Decisions<'_>,
    edits: Option<(TextEdits, CutReport)>,
    corpus: OutputCorpus<'_>,
) -> Result<(RunReport, Option<Decided>)> {
    let OutputCorpus { taken, copies, stats, tables, models, losses } = corpus;
    let Decisions { mut algorithms, ids, mut decided, contents, rejected } = decisions;
    let (cuts, cut) = edits.unzip();
    let looked_at = decided.as_mut().and_then(|decided| decided.looked_at.take());
    let compared = looked_at.map(|looked_at| Compared { copies: copies.clone(), contents, looked_at });
    let label = |at: &usize| (&*algorithms[*at].bound.label, &*models[*at]);
    let tables = Tables {
        algorithms: &algorithms,
        keep: &taken.columns.keep,
        shapes: &taken.columns.shapes,
        copies,
        decided: decided.as_ref(),
        compared: compared.as_ref(),
        rejected: &taken.rejected,
        losses,
        ids: &ids,
        stats,
        needs: tables.unwrap_or_default(),
        models: &saved.plan().learns.iter().map(label).collect::<Vec<_>>(),
    };
    let written = tables.write(session, stage)?;
    note(&mut algorithms, &written);
    cuts.as_ref().map_or(Ok(()), |cuts| passages::write(session, stage, cuts, &ids))?;
    let known = |decided| MarkSources { decided, taken, copies, ids: &ids, cuts: cuts.as_ref() };
    let decisions = decided.as_ref().filter(|_| !session.options.output.corpus.is_none()).map(known);
    let copied = decisions.map(|known| corpus_files::write(session, stage, known)).transpose()?;
    let stored = decided.as_ref().filter(|_| session.options.output.keep_texts);
    let stored = stored.map(|decided| stored_texts::write(session, stage, decided)).transpose()?;
    let removal = decided.as_ref().map(|decided| describe::removal(session, taken, &written.removals, decided));
    let reports = algorithms.into_iter().map(|algorithm| algorithm.report).collect();
    let mut report = describe::report(session, taken, copies, stats, reports, removal, &written.removals, losses);
    let inputs = report.inputs.iter_mut().zip(&rejected[session.indexed_files()..]);
    inputs.for_each(|(input, rows)| input.rejected = *rows);
    report.corpus = copied;
    report.stored_texts = stored;
    report.warnings.extend(cut.iter().flat_map(CutReport::warnings));
    report.cut = cut;
    report.sources =
        removals::by_source(session, taken.columns.sources.as_ref(), decided.as_ref(), copies, cuts.as_ref())?;
    report.guards = guards::of_run(session, stage, losses, &report)?;
    Ok((report, decided))
}

/// Records how many rows the tables of each algorithm contain.
fn note(algorithms: &mut [AlgorithmState<'_, Expanded>], written: &TableCounts) {
    for ((AlgorithmState { report, .. }, pairs), counts) in
        algorithms.iter_mut().zip(&written.pairs).zip(&written.clusters)
    {
        [report.pairs_written, report.templates_written] = *pairs;
        (report.clusters, report.clustered, report.largest_cluster) =
            (counts.clusters, counts.clustered, counts.largest);
    }
}
