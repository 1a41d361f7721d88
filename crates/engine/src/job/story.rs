//! Takes a run through its states in order, from opening the inputs to writing its record.
//!
//! All kinds of runs go through the same states (read, signed, paired, decided, written): plain runs over a corpus, runs against an index,
//! runs on a cluster, and comparisons of algorithms. Implementations of [`Variant`] define the differences.

use std::sync::Arc;

use super::algorithm_state::AlgorithmState;
use super::cut;
use super::passes::{Before, First, Passes, Stored, Waiting};
use super::read_back::Frozen;
use super::run_report::RunReport;
use super::saved::SavedState;
use crate::classes::Classes;
use crate::engine::checkpoints::Checkpoints;
use crate::job::decide::decided::Decided;
use crate::job::decide::decisions::{self, PairedCorpus};
use crate::job::pair::group::Relation;
use crate::job::pair::links::Earlier;
use crate::job::pair::relate;
use crate::job::pair::relate::relate;
use crate::job::read::intake::Taken;
use crate::job::read::learn;
use crate::job::read::saved_counts::SavedCounts;
use crate::job::read::saved_inputs;
use crate::job::write::output;
use crate::matching::indexed::Indexed;
use crate::matching::meeting::{Meeting, RecordedKeys};
use crate::reading::document::View;
use crate::reading::losses::Losses;
use crate::session::Session;
use crate::session::sample::Sample;
use dupsift_algorithms::algorithm::Corpus;
use dupsift_algorithms::corpus::CorpusStats;
use dupsift_algorithms::steps::plan::Plan;
use dupsift_core::error::Result;
use dupsift_input::Source;
use dupsift_publish::Stage;

/// Defines how a kind of run differs from a plain run over a corpus.
pub trait Variant {
    /// Returns the number of documents for which the row layouts are planned, or `None` to use the number of documents in the corpus.
    fn documents_planned(&self) -> Option<u64> {
        None
    }

    /// Prepares the run before the first pass.
    ///
    /// # Errors
    /// Returns any error that prevents the run from continuing.
    fn prepare(&mut self, _session: &Session<'_>, _plan: &Plan, _saved: &SavedState<'_>) -> Result<()> {
        Ok(())
    }

    /// Returns how documents from earlier runs are matched, or `None` if they are not matched.
    fn meeting(&self) -> Option<&dyn Meeting> {
        None
    }

    /// Adds documents from earlier runs after all signatures have been computed. `keys` holds the keys of each algorithm by label, and
    /// `copy_keys` holds the keys of exact copies. Returns the files of the added documents followed by the files of the corpus, or `None`
    /// if documents from earlier runs are not matched.
    ///
    /// # Errors
    /// Returns an error if the index is damaged or the disk is full.
    fn join(
        &mut self,
        _session: &Session<'_>,
        _keys: Vec<(String, RecordedKeys)>,
        _copy_keys: Option<RecordedKeys>,
    ) -> Result<Option<(Source, Indexed)>> {
        Ok(None)
    }

    /// Compares the corpus with the added documents.
    fn joined(&mut self, _session: &Session<'_>, _taken: &mut Taken, _copies: &Classes) {}

    /// Returns the results of earlier runs for the added documents.
    fn earlier(&self) -> Option<&dyn Earlier> {
        None
    }

    /// Inspects the pairs of all algorithms before anything is written.
    ///
    /// # Errors
    /// Returns an error if the disk is full or the run is interrupted.
    fn paired(&mut self, _session: &Session<'_>, _algorithms: &[AlgorithmState<'_, Relation>]) -> Result<()> {
        Ok(())
    }

    /// Returns whether the statistics used for signatures are written to the output as tables.
    fn writes_statistics(&self) -> bool {
        true
    }

    /// Finishes an output whose tables are complete, and returns the record of the run.
    ///
    /// # Errors
    /// Returns any error that prevents the run from finishing.
    fn written(&mut self, written: CompleteOutput<'_>) -> Result<RunReport>;
}

/// Holds an output whose tables are complete, and the data that [`Variant::written`] uses.
pub struct CompleteOutput<'w> {
    /// The session, including the added documents.
    pub session: &'w Session<'w>,
    /// The output folder, which is not published yet.
    pub stage: &'w Stage,
    /// The record of the run.
    pub report: RunReport,
    /// The row data that the first pass recorded.
    pub taken: &'w Taken,
    /// The files of the corpus, without the files of added documents.
    pub corpus: &'w Source,
    /// The exact copies.
    pub copies: &'w Arc<Classes>,
    /// The removal decisions, if documents are removed.
    pub decided: Option<&'w Decided>,
}

/// Attempts a run over all files that are not known to be damaged.
///
/// # Errors
/// Returns an error if a file is damaged, the disk is full, or the run is interrupted, and any error from the variant.
pub fn attempt(
    session: &Session<'_>,
    stage: &Stage,
    losses: &Losses<'_>,
    checkpoints: &Checkpoints<'_>,
    variant: &mut dyn Variant,
) -> Result<RunReport> {
    let (options, planned) = (session.options, variant.documents_planned());
    let mut frozen = options.duplicates.stats.as_deref().map(|dir| Frozen::read(session, dir)).transpose()?;
    if let (Some(frozen), Some(planned)) = (&mut frozen, planned) {
        frozen.report.documents_planned = planned;
    }
    let planned = planned.unwrap_or_else(|| session.sample.map_or(session.documents(), Sample::documents));
    let plan = Plan::new(&options.recipe, planned, options.resources.prefilter, frozen.is_some())?;
    let saved = SavedState::new(session, &plan, frozen.as_ref(), checkpoints, saved_inputs::columns(session));
    variant.prepare(session, &plan, &saved)?;

    let none = CorpusStats::none();
    let before = Before::new(session, frozen.as_ref(), &none, planned);
    let passes = Passes { session, saved: &saved };
    let First { mut taken, copies, counts, words, algorithms, mut stored, copy_keys } =
        passes.first(&before, variant.meeting())?;
    let SavedCounts { stats, cuts } = counts.unwrap_or_else(|| SavedCounts { stats: CorpusStats::none(), cuts: None });
    let stats = if variant.meeting().is_some() { stats.frozen() } else { stats };
    let view = if plan.counts.is_some() { View::after_count(session, cuts.as_ref(), &stats) } else { before.view };
    let corpus = Corpus::new(planned, &stats);
    let learnt = match &frozen {
        Some(_) => Vec::new(),
        None => learn::learn(session, &saved, &view, &corpus, plan.counts.map(|_| &*copies))?,
    };
    let models = frozen.as_ref().map_or(&learnt, |frozen| &frozen.models);
    let waiting = Waiting {
        view: &view,
        stats: &stats,
        copies: &copies,
        words,
        models,
        text_bytes: taken.text_bytes,
        documents_planned: planned,
        numbered: variant.meeting().map(|meeting| meeting.numbered()),
    };
    let (algorithms, of_second) = passes.second(algorithms, waiting)?;
    stored.extend(of_second);
    let (mut keys, earlier) = (Vec::new(), variant.earlier());
    for Stored { label, keys: known, noted } in stored {
        earlier.zip(noted).into_iter().for_each(|(earlier, noted)| earlier.add_noted(&label, noted));
        keys.push((label, known));
    }

    let corpus_files = session.source;
    let (source, with_indexed);
    let session = match variant.join(session, keys, copy_keys)? {
        None => session,
        Some((joined, indexed)) => {
            source = joined;
            with_indexed = session.joined(&source, indexed);
            variant.joined(&with_indexed, &mut taken, &copies);
            &with_indexed
        }
    };
    let view = view.over(session);
    let headings = taken.columns.headings.as_ref();
    let known = relate::SignedCorpus { copies: &copies, view: &view, headings, earlier: variant.earlier() };
    let (algorithms, contents) = relate(session, &saved, algorithms, known)?;
    variant.paired(session, &algorithms)?;

    let stats = frozen.as_ref().map_or(&stats, |frozen| &frozen.stats);
    let tables = frozen.as_ref().map(|frozen| frozen.tables).filter(|_| variant.writes_statistics());
    let tables = plan.counts.map(|counts| counts.needs).or(tables);
    let known = PairedCorpus { taken: &taken, copies: &copies, view: &view };
    let mut decisions = decisions::decide(session, &saved, algorithms, contents, known)?;
    let edits = match &mut decisions.decided {
        Some(decided) => cut::cut(session, &saved, &taken, decided, &decisions.ids)?,
        None => None,
    };
    let known = output::OutputCorpus { taken: &taken, copies: &copies, stats, tables, models, losses };
    let (mut report, decided) = output::write(session, stage, &saved, decisions, edits, known)?;
    report.resumed = checkpoints.resumed();
    report.frozen = frozen.map(|frozen| frozen.report);
    let decided = decided.as_ref();
    variant.written(CompleteOutput {
        session,
        stage,
        report,
        taken: &taken,
        corpus: corpus_files,
        copies: &copies,
        decided,
    })
}
