//! Verifies candidate pairs by comparing the text of the documents. Only documents in candidate pairs are reread, and each document is read
//! once for all algorithms.
//!
//! A memory-mapped temporary file holds the document data that a check uses (shingles, characters). Therefore, even a document that occurs
//! in a thousand candidate pairs is split into words only once, and memory use does not grow with the number of candidates.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::contents::{Contents, TakingContents};
use super::group::Grouped;
use super::nearest::nearest;
use super::pair_list::PairList;
use super::step::{FoundPairs, Step};
use crate::engine::evidence::{Evidence, Taking};
use crate::engine::threads::Engine;
use crate::job::algorithm_state::AlgorithmState;
use crate::reading::document::View;
use crate::session::Session;
use dupsift_algorithms::recipe::bound::{Bound, Check};
use dupsift_algorithms::steps::verify::{documents as evidence_of, judge};
use dupsift_core::error::Result;
use dupsift_input::{RowFilter, Want};
use dupsift_spill::shuffle::AtomicBits;
use dupsift_tables::Cell;

/// Holds the candidates of one algorithm that passed verification.
pub struct Verified {
    /// The pairs that passed.
    pub pairs: PairList,
    /// The number of distinct candidates.
    pub candidates: u64,
    /// The number of candidates that were not checked, because both documents have many nearer candidates.
    pub far: u64,
    /// The number of candidates whose comparison would have taken too long. These candidates do not count as pairs.
    pub undecided: u64,
}

/// Holds the data for an algorithm's check.
pub struct Wanted<'w> {
    /// The algorithm.
    pub label: String,
    /// The check, if the algorithm has one.
    pub check: Option<Check<'w>>,
    /// The documents that the check will use, if the evidence for these documents must still be collected.
    pub documents: Option<Arc<AtomicBits>>,
}

/// Runs the checks of algorithms that verify pairs only after applying a rule that considers all pairs.
pub fn verify_last<'c>(
    session: &Session<'_>,
    algorithms: Vec<AlgorithmState<'c, Step>>,
    (view, contents): (&View<'_>, Contents),
) -> Result<(Vec<AlgorithmState<'c, Step>>, Contents)> {
    let mut wanted = Vec::new();
    for AlgorithmState { bound, now, .. } in &algorithms {
        let (check, documents) = match (bound.verify_last(), now) {
            (Some(check), Step::Found(found)) => (Some(check), Some(documents_of(session, &found.pairs)?)),
            _ => (None, None),
        };
        wanted.push(Wanted { label: bound.label.clone(), check, documents });
    }
    let (taken, contents) = take_evidence(session, &wanted, view, contents)?;
    drop(wanted);
    let algorithms = algorithms.into_iter().zip(taken).map(|(algorithm, evidence)| {
        algorithm.then(|bound, step, report| {
            let (Some(check), Some(evidence)) = (bound.verify_last(), evidence) else { return Ok(step) };
            let Step::Found(now) = step else { return Ok(step) };
            let what = format!("verify {}", bound.label);
            let (running, undecided) = (session.engine.clock.stage(what.clone()), AtomicU64::new(0));
            let count = || _ = undecided.fetch_add(1, Relaxed);
            let pairs = check_all(session.engine, &what, check, &now.pairs, &evidence, count)?;
            running.end(now.pairs.rows(), pairs.rows(), pairs.bytes());
            report.undecided += undecided.into_inner();
            Ok(Step::Found(FoundPairs { pairs, ..now }))
        })
    });
    Ok((algorithms.collect::<Result<_>>()?, contents))
}

/// Returns the documents that appear in these pairs.
pub fn documents_of(session: &Session<'_>, pairs: &PairList) -> Result<Arc<AtomicBits>> {
    let documents = AtomicBits::new(session.engine.dir, "documents-of-pairs", session.documents() as usize)?;
    pairs.each(|pair| {
        evidence_of(&pair).into_iter().for_each(|doc| _ = documents.set(doc as usize));
        session.engine.go_on()
    })?;
    Ok(Arc::new(documents))
}

/// Reads the documents of each algorithm's candidates, and records the data for the algorithm's check. Also returns the contents of these
/// documents if a later step uses them.
pub(crate) fn take_evidence(
    session: &Session<'_>,
    wanted: &[Wanted<'_>],
    view: &View<'_>,
    known: Contents,
) -> Result<(Vec<Option<Evidence>>, Contents)> {
    let documents = wanted.iter().filter_map(|one| one.documents.clone());
    let all: Vec<Arc<AtomicBits>> = documents.filter(|documents| documents.count() > 0).collect();
    if all.is_empty() {
        return Ok((wanted.iter().map(|_| None).collect(), known));
    }
    let running = session.engine.clock.stage("read candidates");
    let stores = wanted.iter().map(|one| {
        one.documents
            .as_ref()
            .filter(|_| one.check.is_some())
            .map(|documents| Taking::new(session.engine.dir, &one.label, documents))
    });
    let stores = stores.map(Option::transpose).collect::<Result<Vec<_>>>()?;
    // Most documents whose contents are needed are in candidate pairs. Recording the contents now avoids reading these documents a second
    // time.
    let asks = asks_contents(session);
    let docs = all.iter().flat_map(|documents| documents.iter()).filter(|_| asks);
    let contents = TakingContents::new(session, known, docs)?;
    let filter = RowFilter::Where(Arc::new(move |doc| all.iter().any(|documents| documents.get(doc as usize))));
    let want = Want { rows: Some(filter), ..view.want() };
    let read = session.read(
        "read candidates",
        &want,
        || Ok((Vec::new(), 0u64, 0u64)),
        |(numbers, count, segmented), batch| {
            let columns = view.columns(batch)?;
            for row in 0..batch.len() {
                let (doc, Cell::Text(text)) = (batch.doc(row), batch.text(row)) else { continue };
                *count += 1;
                session.kept_texts.offer(session.engine.dir, doc, text)?;
                let _long = session.engine.long_document(View::bytes(text, &columns, row))?;
                let analysis = view.document(doc, text, &columns, row);
                for (one, store) in wanted.iter().zip(&stores) {
                    let (Some(check), Some(store)) = (&one.check, store) else { continue };
                    store.take(doc, numbers, |numbers| check.evidence(&analysis, numbers))?;
                }
                if contents.wants(doc) {
                    contents.take(doc, &analysis, numbers)?;
                }
                *segmented += analysis.segmented();
            }
            Ok(())
        },
        |(_, count, segmented)| {
            session.segmented.fetch_add(segmented, Relaxed);
            Ok(count)
        },
    )?;
    let evidence = stores.into_iter().map(|store| store.map(Taking::end).transpose()).collect::<Result<Vec<_>>>()?;
    let (contents, count) = (contents.end()?, read.iter().sum());
    running.end(count, count, evidence.iter().flatten().map(Evidence::bytes).sum::<u64>() + contents.bytes());
    Ok((evidence, contents))
}

/// Returns whether a later step uses the contents of documents that occur in pairs.
pub fn asks_contents(session: &Session<'_>) -> bool {
    let removal_asks = session.options.removal.removes && session.options.removal.remove_if.bounds().is_some();
    removal_asks || session.options.recipe.relates()
}

/// Checks the candidates of one algorithm. If the algorithm ranks them, only the nearest candidates of each document are checked.
pub fn check_pairs(
    session: &Session<'_>,
    bound: &Bound<'_>,
    check: Check<'_>,
    grouped: &Grouped,
    evidence: &Evidence,
) -> Result<Verified> {
    let (engine, undecided, what) = (session.engine, AtomicU64::new(0), format!("verify {}", bound.label));
    let running = engine.clock.stage(what.clone());
    let merged = PairList::merge(engine, &what, &grouped.pairs, grouped.layout)?;
    let candidates = merged.rows();
    let checked = if bound.scheme.ranked { nearest(engine, &what, session.documents(), merged)? } else { merged };
    let count = || _ = undecided.fetch_add(1, Relaxed);
    let pairs = check_all(engine, &what, check, &checked, evidence, count)?;
    running.end(candidates, pairs.rows(), pairs.bytes());
    Ok(Verified { pairs, candidates, far: candidates - checked.rows(), undecided: undecided.into_inner() })
}

/// Returns the pairs that pass a check, and calls `undecided` for each pair that it cannot decide.
fn check_all(
    engine: &Engine<'_>,
    what: &str,
    check: Check<'_>,
    pairs: &PairList,
    evidence: &Evidence,
    undecided: impl Fn() + Sync,
) -> Result<PairList> {
    // Pairs arrive in order of their first document, so the evidence for that document is read only once.
    pairs.revise(
        engine,
        what,
        pairs.layout(),
        || None,
        |first, _, pair| {
            if first.as_ref().is_none_or(|(doc, _)| *doc != pair.a) {
                *first = Some((pair.a, evidence.of(pair.a)));
            }
            let a: &[u64] = first.as_ref().map_or(&[], |(_, numbers)| numbers);
            Ok(judge(check, [a, &evidence.of(pair.b)], pair, &undecided))
        },
    )
}
