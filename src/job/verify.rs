//! The check on the texts: only documents that stand in a candidate pair are read again, each once for all algorithms.
//!
//! What a check needs of a document (its shingles, its characters) is taken down in a memory-mapped work file, so that a
//! document in a thousand candidate pairs is cut once and memory does not grow with the candidates.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::document::View;
use super::evidence::{Evidence, Taking};
use super::group::Grouped;
use super::pair_list::PairList;
use super::sign::SignedRows;
use super::workers::Job;
use crate::batch::Cell;
use crate::error::Result;
use crate::io::{RowFilter, Want};
use crate::measure::{Undecided, write_contents};
use crate::shuffle::AtomicBits;
use crate::stage::recipe::{Bound, Check};

/// What a check on the texts left of the candidates of one algorithm.
pub struct Verified {
    /// The pairs that passed.
    pub pairs: PairList,
    /// Different candidates.
    pub candidates: u64,
    /// Candidates for which one comparison would have taken too long; none of them is a pair.
    pub undecided: u64,
}

/// What a reading of the candidates took down: the evidence of each algorithm, and what the documents say where removal asks.
type Taken = (Vec<Option<Evidence>>, Option<Evidence>);

/// Checks the candidates of every algorithm that has a check; `met[i]` are the documents of its candidates, where their
/// evidence was not taken when they were signed. Also returns what the documents say that were read for it, where removal asks
/// for that.
pub fn verify(
    job: &Job<'_>,
    bound: &[Bound<'_>],
    signed: &[SignedRows],
    grouped: &[Grouped],
    met: &[Option<Arc<AtomicBits>>],
    view: &View<'_>,
) -> Result<(Vec<Option<Verified>>, Option<Evidence>)> {
    let (late, contents) = if met.iter().flatten().any(|met| met.count() > 0) {
        take_evidence(job, bound, met, view)?
    } else {
        (bound.iter().map(|_| None).collect(), None)
    };
    let mut results = Vec::new();
    for (((bound, signed), grouped), late) in bound.iter().zip(signed).zip(grouped).zip(&late) {
        results.push(match (bound.confirm(), signed.evidence.as_ref().or(late.as_ref())) {
            (Some(check), Some(evidence)) => Some(confirm(job, &bound.label, check, grouped, evidence)?),
            _ => None,
        });
    }
    Ok((results, contents))
}

fn take_evidence(
    job: &Job<'_>,
    bound: &[Bound<'_>],
    met: &[Option<Arc<AtomicBits>>],
    view: &View<'_>,
) -> Result<Taken> {
    let running = job.clock.stage("read candidates");
    let stores = bound.iter().zip(met).map(|(bound, met)| {
        met.as_ref().filter(|_| bound.confirm().is_some()).map(|met| Taking::new(job.dir, &bound.label, met))
    });
    let stores = stores.map(Option::transpose).collect::<Result<Vec<_>>>()?;
    let all: Vec<Arc<AtomicBits>> = met.iter().flatten().cloned().collect();
    // Documents that removal looks at are mostly candidates: then their texts are not read once more for it.
    let contents = match job.options.remove_if.bounds().filter(|_| job.options.removes) {
        Some(_) => Some(Taking::new(job.dir, "contents-of-candidates", &union(job, &all)?)?),
        None => None,
    };
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
                for (bound, store) in bound.iter().zip(&stores) {
                    let (Some(check), Some(store)) = (bound.confirm(), store) else { continue };
                    store.take(doc, numbers, |numbers| check.evidence(&analysis, numbers))?;
                }
                if let Some(contents) = &contents {
                    contents.take(doc, numbers, |numbers| write_contents(&analysis, numbers))?;
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
    let contents = contents.map(Taking::end).transpose()?;
    let written = evidence.iter().flatten().chain(&contents).map(Evidence::bytes).sum();
    let count = read.iter().sum();
    running.end(count, count, written);
    Ok((evidence, contents))
}

/// The documents in any of these.
fn union(job: &Job<'_>, all: &[Arc<AtomicBits>]) -> Result<AtomicBits> {
    let union = AtomicBits::new(job.dir, "candidates", job.documents() as usize)?;
    all.iter().flat_map(|bits| bits.iter()).for_each(|doc| _ = union.set(doc));
    Ok(union)
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
            check.judge(a, &evidence.of(pair.b), pair).unwrap_or_else(|Undecided| {
                undecided.fetch_add(1, Relaxed);
                None
            })
        },
    )?;
    running.end(candidates, pairs.rows(), pairs.bytes());
    Ok(Verified { pairs, candidates, undecided: undecided.into_inner() })
}
