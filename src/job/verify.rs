//! The check on the texts: only documents that stand in a candidate pair are read again, each once for all algorithms.
//!
//! What a check needs of a document (its shingles, its characters) is taken down in a memory-mapped work file, so that a
//! document in a thousand candidate pairs is cut once and memory does not grow with the candidates.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::contents::{Contents, TakingContents};
use super::document::View;
use super::evidence::{Evidence, Taking};
use super::group::Grouped;
use super::pair_list::PairList;
use super::sign::SignedRows;
use super::workers::Job;
use crate::batch::Cell;
use crate::error::Result;
use crate::io::{RowFilter, Want};
use crate::measure::Undecided;
use crate::row::Pair;
use crate::shuffle::AtomicBits;
use crate::stage::bound::{Bound, Check};

/// What a check on the texts left of the candidates of one algorithm.
pub struct Verified {
    /// The pairs that passed.
    pub pairs: PairList,
    /// Different candidates.
    pub candidates: u64,
    /// Candidates for which one comparison would have taken too long; none of them is a pair.
    pub undecided: u64,
}

/// Checks the candidates of every algorithm that has a check; `met[i]` are the documents of its candidates, where their
/// evidence was not taken when they were signed. Also returns what the documents say that were read for it, where that will be
/// asked.
pub fn verify(
    job: &Job<'_>,
    bound: &[Bound<'_>],
    signed: &[SignedRows],
    grouped: &[Grouped],
    met: &[Option<Arc<AtomicBits>>],
    (view, contents): (&View<'_>, Contents),
) -> Result<(Vec<Option<Verified>>, Contents)> {
    let checks: Vec<_> = bound.iter().map(Bound::confirm_candidates).collect();
    let (late, contents) = take_evidence(job, bound, (&checks, met), view, contents)?;
    let mut results = Vec::new();
    for ((((check, bound), signed), grouped), late) in checks.into_iter().zip(bound).zip(signed).zip(grouped).zip(&late)
    {
        results.push(match (check, signed.evidence.as_ref().or(late.as_ref())) {
            (Some(check), Some(evidence)) => Some(confirm(job, &bound.label, check, grouped, evidence)?),
            _ => None,
        });
    }
    Ok((results, contents))
}

/// Makes the checks that come after a rule over all pairs; also returns how many pairs each algorithm's check left undecided.
pub fn verify_last(
    job: &Job<'_>,
    bound: &[Bound<'_>],
    pairs: Vec<PairList>,
    (view, contents): (&View<'_>, Contents),
) -> Result<(Vec<(PairList, u64)>, Contents)> {
    let checks: Vec<_> = bound.iter().map(Bound::confirm_last).collect();
    let mut met = Vec::new();
    for (check, pairs) in checks.iter().zip(&pairs) {
        met.push(check.as_ref().map(|_| documents_of(job, pairs)).transpose()?);
    }
    let (taken, contents) = take_evidence(job, bound, (&checks, &met), view, contents)?;
    let mut checked = Vec::new();
    for (((bound, check), pairs), evidence) in bound.iter().zip(checks).zip(pairs).zip(taken) {
        let (Some(check), Some(evidence)) = (check, evidence) else {
            checked.push((pairs, 0));
            continue;
        };
        let what = format!("verify {}", bound.label);
        let (running, undecided) = (job.clock.stage(what.clone()), AtomicU64::new(0));
        let passed = pairs.revise(job, &what, pairs.layout(), |_, pair| {
            Ok(judge(check, &evidence.of(pair.a), &evidence.of(pair.b), pair, &undecided))
        })?;
        running.end(pairs.rows(), passed.rows(), passed.bytes());
        checked.push((passed, undecided.into_inner()));
    }
    Ok((checked, contents))
}

/// The documents of some pairs.
pub fn documents_of(job: &Job<'_>, pairs: &PairList) -> Result<Arc<AtomicBits>> {
    let documents = AtomicBits::new(job.dir, "documents-of-pairs", job.documents() as usize)?;
    pairs.each(|pair| {
        documents.set(pair.a as usize);
        documents.set(pair.b as usize);
        job.go_on()
    })?;
    Ok(Arc::new(documents))
}

/// Which algorithm checks what of which documents.
type Wanted<'w> = (&'w [Option<Check<'w>>], &'w [Option<Arc<AtomicBits>>]);

/// Reads the documents of each algorithm's candidates, and takes down what its check needs of them.
fn take_evidence(
    job: &Job<'_>,
    bound: &[Bound<'_>],
    (checks, met): Wanted<'_>,
    view: &View<'_>,
    known: Contents,
) -> Result<(Vec<Option<Evidence>>, Contents)> {
    let all: Vec<Arc<AtomicBits>> = met.iter().flatten().filter(|met| met.count() > 0).cloned().collect();
    if all.is_empty() {
        return Ok((bound.iter().map(|_| None).collect(), known));
    }
    let running = job.clock.stage("read candidates");
    let stores = bound.iter().zip(checks).zip(met).map(|((bound, check), met)| {
        met.as_ref().filter(|_| check.is_some()).map(|met| Taking::new(job.dir, &bound.label, met))
    });
    let stores = stores.map(Option::transpose).collect::<Result<Vec<_>>>()?;
    // Documents whose contents are asked for are mostly candidates: then their texts are not read once more for it.
    let removal_asks = job.options.removes && job.options.remove_if.bounds().is_some();
    let asks = removal_asks || job.options.recipe.relates();
    let wanted = all.iter().flat_map(|met| met.iter()).filter(|_| asks);
    let contents = TakingContents::new(job, known, wanted)?;
    let filter = RowFilter::Where(Arc::new(move |doc| all.iter().any(|met| met.get(doc as usize))));
    let want = Want { rows: Some(filter), ..view.want() };
    let read = job.read(
        "read candidates",
        &want,
        || Ok((Vec::new(), 0u64, 0u64)),
        |(numbers, count, segmented), batch| {
            let columns = view.columns(batch)?;
            for row in 0..batch.len() {
                let (doc, Cell::Text(text)) = (batch.doc(row), batch.text(row)) else { continue };
                *count += 1;
                let _long = job.long_document(View::bytes(text, &columns, row))?;
                let analysis = view.document(doc, text, &columns, row);
                for (check, store) in checks.iter().zip(&stores) {
                    let (Some(check), Some(store)) = (check, store) else { continue };
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
            job.segmented.fetch_add(segmented, Relaxed);
            Ok(count)
        },
    )?;
    let evidence = stores.into_iter().map(|store| store.map(Taking::end).transpose()).collect::<Result<Vec<_>>>()?;
    let contents = contents.end()?;
    let written = evidence.iter().flatten().map(Evidence::bytes).sum::<u64>() + contents.bytes();
    let count = read.iter().sum();
    running.end(count, count, written);
    Ok((evidence, contents))
}

/// What the check makes of a pair; what it cannot decide is counted, and is none.
fn judge(check: Check<'_>, a: &[u64], b: &[u64], pair: Pair, undecided: &AtomicU64) -> Option<Pair> {
    check.judge(a, b, pair).unwrap_or_else(|Undecided| {
        undecided.fetch_add(1, Relaxed);
        None
    })
}

fn confirm(job: &Job<'_>, label: &str, check: Check<'_>, grouped: &Grouped, evidence: &Evidence) -> Result<Verified> {
    let undecided = AtomicU64::new(0);
    let running = job.clock.stage(format!("verify {label}"));
    // Pairs come in order of their first document, whose evidence is read once.
    let (pairs, candidates) = PairList::make(
        job,
        &format!("verify {label}"),
        &grouped.pairs,
        grouped.layout,
        || None,
        |first, pair| {
            if first.as_ref().is_none_or(|(doc, _)| *doc != pair.a) {
                *first = Some((pair.a, evidence.of(pair.a)));
            }
            let a: &[u64] = first.as_ref().map_or(&[], |(_, numbers)| numbers);
            judge(check, a, &evidence.of(pair.b), pair, &undecided)
        },
    )?;
    running.end(candidates, pairs.rows(), pairs.bytes());
    Ok(Verified { pairs, candidates, undecided: undecided.into_inner() })
}
