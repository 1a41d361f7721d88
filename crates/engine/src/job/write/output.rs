//! Decides which documents are removed, and then writes the tables of the output and creates the record of the run.

use std::sync::Arc;

use super::attributes::MarkSources;
use super::corpus_files;
use super::describe;
use super::last_pass;
use super::pairs;
use super::passages;
use super::removals;
use super::stored_texts;
use super::tables::{Expanded, TableCounts, Tables};
use crate::classes::Classes;
use crate::job::algorithm_state::{AlgorithmState, each};
use crate::job::decide;
use crate::job::decide::decided::Decided;
use crate::job::guards;
use crate::job::pair::contents::{Alike, Compared, Contents};
use crate::job::pair::group::Relation;
use crate::job::read::intake::Taken;
use crate::job::run_report::{CutReport, RunReport};
use crate::job::saved::SavedState;
use crate::job::text_edits::TextEdits;
use crate::reading::document::View;
use crate::reading::ids::Ids;
use crate::reading::losses::Losses;
use crate::session::Session;
use dupsift_algorithms::algorithm::Stats;
use dupsift_algorithms::corpus::CorpusStats;
use dupsift_core::error::Result;
use dupsift_publish::Stage;
use dupsift_spill::shuffle::AtomicBits;

/// Holds the data about the corpus.
#[derive(Clone, Copy)]
pub struct OutputCorpus<'c> {
    /// The data recorded about the rows.
    pub taken: &'c Taken,
    /// The exact copies.
    pub copies: &'c Arc<Classes>,
    /// The view through which documents are read.
    pub view: &'c View<'c>,
    /// The counts of the first pass.
    pub stats: &'c CorpusStats,
    /// The statistics tables that exist.
    pub tables: Option<Stats>,
    /// The learned model of each algorithm; empty for an algorithm without a model.
    pub models: &'c [Vec<u64>],
    /// The rows and files that could not be read.
    pub losses: &'c Losses<'c>,
}

/// Holds the pairs of documents and the removal decisions, before anything is written.
pub struct Decisions<'d> {
    algorithms: Vec<AlgorithmState<'d, Expanded>>,
    /// The ids of the documents that appear in a table.
    pub ids: Ids<'d>,
    /// The removal decisions; `None` if nothing is removed.
    pub decided: Option<Decided>,
    contents: Option<Contents>,
    /// The number of rejected rows of each file.
    rejected: Vec<u64>,
}

/// Expands the pairs of all algorithms, and decides which documents are removed. `contents` holds the previously recorded document contents.
///
/// # Errors
/// Returns an error if a file is damaged, the disk is full, or the run is interrupted.
pub fn decide<'d>(
    session: &Session<'d>,
    saved: &SavedState<'_>,
    algorithms: Vec<AlgorithmState<'d, Relation>>,
    contents: Contents,
    corpus: OutputCorpus<'_>,
) -> Result<Decisions<'d>> {
    let OutputCorpus { taken, copies, view, .. } = corpus;
    let shown = Arc::new(AtomicBits::new(session.engine.dir, "shown", session.documents() as usize)?);
    let alike = Alike::new(session, copies)?;
    let algorithms = each(algorithms, |bound, relation, report| {
        let pairs = pairs::expand(session, bound, &relation, &alike, &taken.columns.keep, &shown)?;
        pairs.note(report);
        if bound.verify().is_none() {
            report.candidates = relation.pairs.rows();
        }
        Ok(Expanded { relation, pairs })
    })?;
    let rejected = rejected_by_file(session, taken, &shown)?;
    let taking = alike.begin(session, contents)?;
    let (ids, contents) = last_pass::read(session, view, &taken.ids_named(session), &named(session, &shown)?, taking)?;
    let contents = contents.map(|contents| contents.offer(saved)).transpose()?;
    let relations: Vec<&Relation> = algorithms.iter().map(|algorithm| &algorithm.now.relation).collect();
    let decide = || decide::decide(session, &relations, copies, &taken.columns.keep, &shown, contents.as_ref());
    let decided = session.options.removal.removes.then(decide).transpose()?;
    Ok(Decisions { algorithms, ids, decided, contents, rejected })
}

/// Writes all tables, and creates the record. `edits` holds the edits of texts and their record, if texts are edited.
///
/// # Errors
/// Returns an error if a file is damaged, the disk is full, or the run is interrupted.
pub fn write(
    session: &Session<'_>,
    stage: &Stage,
    saved: &SavedState<'_>,
    decisions: Decisions<'_>,
    edits: Option<(TextEdits, CutReport)>,
    corpus: OutputCorpus<'_>,
) -> Result<(RunReport, Option<Decided>)> {
    let OutputCorpus { taken, copies, view: _, stats, tables, models, losses } = corpus;
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

/// Returns the documents whose ids are read, that is, the documents that appear in a table. All indexed documents that take part may appear
/// in a table, even those in no pair: a removed document refers to the kept document at the end of its chain, and a cluster includes all
/// documents of a class.
fn named(session: &Session<'_>, shown: &Arc<AtomicBits>) -> Result<Arc<AtomicBits>> {
    let (indexed, annotates) = (session.indexed.as_ref(), session.options.names_all());
    if indexed.is_none_or(|indexed| indexed.count() == 0) && !annotates {
        return Ok(shown.clone());
    }
    let all = AtomicBits::new(session.engine.dir, "named", session.documents() as usize)?;
    let first = indexed.map_or(session.base, |indexed| indexed.first());
    let end = if annotates { session.documents() } else { session.base };
    (first as usize..end as usize).chain(shown.iter()).for_each(|doc| _ = all.set(doc));
    Ok(Arc::new(all))
}

/// Counts the rejected rows of each file and adds them to `shown`.
fn rejected_by_file(session: &Session<'_>, taken: &Taken, shown: &AtomicBits) -> Result<Vec<u64>> {
    let mut rows = vec![0; session.source.files.len()];
    taken.rejected.each(session.engine, |doc, _, _| {
        shown.set(doc as usize);
        rows[session.source.place(doc)] += 1;
        Ok(())
    })?;
    Ok(rows)
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
