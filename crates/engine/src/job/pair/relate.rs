//! Computes the result of each algorithm (classes and verified pairs) from signature rows.

use std::sync::Arc;

use super::across::Across;
use super::classify::{StoredFacts, classify};
use super::contents::{Contents, TakingContents};
use super::group::{Grouped, Relation, group};
use super::links::Earlier;
use super::margin;
use super::pair_list::PairList;
use super::step::{FoundPairs, Met, Step, is_noted};
use super::verify::{Wanted, asks_contents, check_pairs, documents_of, take_evidence, verify_last};
use crate::classes::Classes;
use crate::engine::evidence::Evidence;
use crate::engine::threads::Engine;
use crate::job::algorithm_state::{AlgorithmState, each};
use crate::job::pair::saved_contents::SavedContents;
use crate::job::pair::saved_pairs::SavedPairs;
use crate::job::read::headings::Headings;
use crate::job::run_report::AlgorithmReport;
use crate::job::saved::SavedState;
use crate::reading::document::View;
use crate::session::Session;
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_core::error::{Error, Result};
use dupsift_spill::shuffle::{AtomicBits, Sorted};

/// Holds the data about the corpus that is available after all documents are signed.
#[derive(Clone, Copy)]
pub struct SignedCorpus<'c> {
    /// The exact copies.
    pub copies: &'c Arc<Classes>,
    /// The view through which documents are read.
    pub view: &'c View<'c>,
    /// The first lines of documents, if an algorithm uses them.
    pub headings: Option<&'c Headings>,
    /// The results of earlier runs, if the run uses an index.
    pub earlier: Option<&'c dyn Earlier>,
}

/// Groups the rows of each algorithm, verifies the candidates, and applies the rules that consider all pairs. Also returns the document
/// contents that were read for these steps.
pub fn relate<'c>(
    session: &Session<'_>,
    saved: &SavedState<'_>,
    algorithms: Vec<AlgorithmState<'c, Step>>,
    corpus: SignedCorpus<'_>,
) -> Result<(Vec<AlgorithmState<'c, Relation>>, Contents)> {
    let said = if asks_contents(session) { saved.restore::<SavedContents>(|keys| &keys.contained)? } else { None };
    let known = said.map_or_else(|| Contents::none(corpus.copies), |said| Contents::restored(corpus.copies, said));
    let algorithms = group_all(session, saved, algorithms, corpus.copies)?;
    let (algorithms, contents) = verify(session, saved, algorithms, corpus, known)?;
    let (algorithms, contents) = classify_all(session, algorithms, corpus, contents)?;
    let (algorithms, contents) = verify_last(session, algorithms, (corpus.view, contents))?;
    let mut place = 0..algorithms.len();
    let algorithms = each(algorithms, |bound, step, report| {
        let at = place.next().unwrap_or_default();
        let earlier = corpus.earlier.map(|earlier| (earlier, &*bound.label));
        let found = near(saved, at, step, earlier, report)?;
        let classes = found.classes.map_or_else(|| corpus.copies.clone(), Arc::new);
        let across = Across::new(session, &classes)?;
        let pairs = match &across {
            Some(across) => across.filter(session, &bound.label, &classes, &found.pairs)?,
            None => found.pairs,
        };
        Ok(Relation {
            label: bound.label.clone(),
            classes,
            pairs,
            across,
            equal: bound.scheme.equal,
            same: bound.relating().map(|(rule, _)| rule.same()),
        })
    });
    Ok((algorithms?, contents))
}

/// Returns the final pairs. If a checkpoint is due, saves the pairs and deletes the state from which they were computed.
fn near(
    saved: &SavedState<'_>,
    at: usize,
    step: Step,
    earlier: Option<(&dyn Earlier, &str)>,
    report: &AlgorithmReport,
) -> Result<FoundPairs> {
    match step {
        Step::Near(found) => Ok(found),
        Step::Found(FoundPairs { pairs, classes, evidence }) => {
            let due = saved.due();
            // The final pairs are useless without the index data for the pairs from which they were computed.
            if let Some((earlier, label)) = earlier.filter(|_| due)
                && let Some(noted) = earlier.take_noted(label)
            {
                earlier.add_noted(label, saved.offer(due, |keys| &keys.algorithms[at].noted, noted)?);
            }
            let pairs = SavedPairs { report: report.clone(), pairs, classes };
            let SavedPairs { pairs, classes, .. } = saved.offer(due, |keys| &keys.algorithms[at].near, pairs)?;
            if due {
                saved.forget(|keys| &keys.algorithms[at].pairs)?;
                saved.forget(|keys| &keys.algorithms[at].rows)?;
            }
            Ok(FoundPairs { pairs, classes, evidence })
        }
        Step::Rows(_) | Step::Met(_) => {
            Err(Error::Internal("the pairs of an algorithm were not found or not checked".into()))
        }
    }
}

/// Groups the rows of each algorithm. A check that requires no further pass runs immediately, so that its pairs can be saved.
fn group_all<'c>(
    session: &Session<'_>,
    saved: &SavedState<'_>,
    algorithms: Vec<AlgorithmState<'c, Step>>,
    copies: &Classes,
) -> Result<Vec<AlgorithmState<'c, Step>>> {
    let mut place = 0..algorithms.len();
    each(algorithms, |bound, step, report| {
        let at = place.next().unwrap_or_default();
        let Step::Rows(signed) = step else { return Ok(step) };
        let waits = bound.verify_candidates().is_some() && signed.evidence.is_none();
        let documents =
            || AtomicBits::new(session.engine.dir, &format!("{}-met", bound.label), session.documents() as usize);
        let documents = waits.then(documents).transpose()?.map(Arc::new);
        let grouped = group(session, bound, &signed, copies, documents.as_deref())?;
        report.note_comparisons(grouped.comparisons);
        report.spilled_bytes = grouped.spilled_bytes;
        Ok(match documents {
            Some(documents) => Step::Met(Met { grouped, documents }),
            None => Step::Found(check(session, saved, at, bound, grouped, signed.evidence, report)?),
        })
    })
}

/// Checks the candidates whose documents had to be read first, and applies the margin rule of each algorithm that has one.
fn verify<'c>(
    session: &Session<'_>,
    saved: &SavedState<'_>,
    algorithms: Vec<AlgorithmState<'c, Step>>,
    corpus: SignedCorpus<'_>,
    known: Contents,
) -> Result<(Vec<AlgorithmState<'c, Step>>, Contents)> {
    let wanted: Vec<Wanted<'_>> = algorithms.iter().map(of_candidates).collect();
    let (read, contents) = take_evidence(session, &wanted, corpus.view, known)?;
    drop(wanted);
    let mut read = read.into_iter().enumerate();
    let algorithms = each(algorithms, |bound, step, report| {
        let (at, evidence) = read.next().unwrap_or_default();
        let found = match step {
            Step::Met(met) => check(session, saved, at, bound, met.grouped, evidence, report)?,
            Step::Found(found) => found,
            _ => return Ok(step),
        };
        if let Some(earlier) = corpus.earlier.filter(|_| is_noted(bound)) {
            earlier.note(session, &bound.label, &found.pairs)?;
        }
        let Some(margin) = bound.margin else { return Ok(Step::Found(found)) };
        let earlier = links_of(session, corpus.earlier, &bound.label)?;
        let left = margin::apply(session, &bound.label, &found.pairs, margin, earlier.as_ref())?;
        report.beyond_margin = found.pairs.rows() - left.rows();
        Ok(Step::Found(FoundPairs { pairs: left, ..found }))
    });
    Ok((algorithms?, contents))
}

/// Returns the links that earlier runs found for indexed documents, if the run uses an index.
fn links_of(session: &Session<'_>, earlier: Option<&dyn Earlier>, label: &str) -> Result<Option<Sorted>> {
    earlier.map_or(Ok(None), |earlier| earlier.links(session, label))
}

/// Returns the check for an algorithm's candidates, and the documents that the check reads.
fn of_candidates<'m>(AlgorithmState { bound, now, .. }: &'m AlgorithmState<'_, Step>) -> Wanted<'m> {
    let (check, documents) = match now {
        Step::Met(met) => (bound.verify_candidates(), Some(met.documents.clone())),
        _ => (None, None),
    };
    Wanted { label: bound.label.clone(), check, documents }
}

/// Checks the candidates of one algorithm. If a checkpoint is due, saves the pairs that pass.
fn check(
    session: &Session<'_>,
    saved: &SavedState<'_>,
    at: usize,
    bound: &Bound<'_>,
    grouped: Grouped,
    evidence: Option<Evidence>,
    report: &mut AlgorithmReport,
) -> Result<FoundPairs> {
    let pairs = match (bound.verify_candidates(), &evidence) {
        (Some(check), Some(evidence)) => {
            let verified = check_pairs(session, bound, check, &grouped, evidence)?;
            (report.candidates, report.undecided) = (verified.candidates, verified.undecided);
            report.left_out_of_large_groups += verified.far;
            verified.pairs
        }
        _ => {
            let merged = merge(session.engine, &bound.label, &grouped)?;
            report.candidates = if bound.verify().is_some() { merged.rows() } else { 0 };
            merged
        }
    };
    let found = SavedPairs { report: report.clone(), pairs, classes: grouped.classes };
    let SavedPairs { pairs, classes, .. } = saved.offer(saved.due(), |keys| &keys.algorithms[at].pairs, found)?;
    Ok(FoundPairs { pairs, classes, evidence })
}

/// Returns the pairs of an algorithm whose candidates are not checked.
fn merge(engine: &Engine<'_>, label: &str, grouped: &Grouped) -> Result<PairList> {
    let what = format!("merge {label}");
    let running = engine.clock.stage(what.clone());
    let pairs = PairList::merge(engine, &what, &grouped.pairs, grouped.layout)?;
    running.end(grouped.pairs.rows(), pairs.rows(), pairs.bytes());
    Ok(pairs)
}

/// Classifies the pairs of each algorithm for which classification is enabled. The documents in these pairs are read once for all
/// algorithms.
fn classify_all<'c>(
    session: &Session<'_>,
    algorithms: Vec<AlgorithmState<'c, Step>>,
    corpus: SignedCorpus<'_>,
    contents: Contents,
) -> Result<(Vec<AlgorithmState<'c, Step>>, Contents)> {
    let mut wanted = Vec::new();
    for AlgorithmState { bound, now, .. } in &algorithms {
        if let (Some(_), Step::Found(found)) = (bound.relating(), now) {
            wanted.push(documents_of(session, &found.pairs)?);
        }
    }
    if let (Some(headings), Some(earlier)) = (corpus.headings, corpus.earlier)
        && algorithms.iter().any(|algorithm| algorithm.bound.relating().is_some())
    {
        headings.note(session, corpus.copies, earlier)?;
    }
    if wanted.is_empty() {
        return Ok((algorithms, contents));
    }
    let docs = wanted.iter().flat_map(|bits| bits.iter());
    let contents = TakingContents::new(session, contents, docs)?.read(session, corpus.view)?;
    let algorithms = each(algorithms, |bound, step, report| {
        let Step::Found(found) = step else { return Ok(step) };
        let (Some(relating), Some(headings), Some(evidence)) = (bound.relating(), corpus.headings, &found.evidence)
        else {
            return Ok(Step::Found(found));
        };
        let common = headings.common(session, corpus.copies, relating.0.titles, corpus.earlier)?;
        let earlier = links_of(session, corpus.earlier, &bound.label)?;
        let earlier = earlier.as_ref();
        let known = StoredFacts { evidence, contents: &contents, headings, common: &common, earlier };
        let (pairs, relations) = classify(session, &bound.label, relating, &found.pairs, &known)?;
        report.relations = Some(relations);
        Ok(Step::Found(FoundPairs { pairs, ..found }))
    });
    Ok((algorithms?, contents))
}
