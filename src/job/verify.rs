//! The check on the texts: only documents that stand in a candidate pair are read again, each once for all algorithms.
//!
//! What a check needs of a document (its shingles, its characters) is taken down in a memory-mapped work file, so that a
//! document in a thousand candidate pairs is cut once and memory does not grow with the candidates.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::document::View;
use super::group::Grouped;
use super::pair_list::PairList;
use super::workers::Job;
use crate::batch::Cell;
use crate::error::Result;
use crate::io::{RowFilter, Want};
use crate::shuffle::{AtomicBits, AtomicCells, FrozenHeap, Heap, Ranks};
use crate::stage::recipe::{Bound, Check};

/// The evidence of one check.
struct Evidence {
    numbers: FrozenHeap,
    met: Ranks,
    /// For each document in `met` where its evidence begins, plus one.
    begins: AtomicCells<u64>,
}

impl Evidence {
    /// The numbers of a document; none if it was not read. Every entry is a whole number of words, so nothing is copied.
    fn of(&self, doc: u64) -> Cow<'_, [u64]> {
        let begin = self.met.rank(doc as usize).and_then(|rank| self.begins.load(rank).checked_sub(1));
        let Some(begin) = begin else { return Cow::Borrowed(&[]) };
        let words = |at: u64, count: usize| -> Cow<'_, [u64]> {
            let bytes = self.numbers.get(at, count * 8);
            match bytemuck::try_cast_slice(bytes) {
                Ok(words) => Cow::Borrowed(words),
                Err(_) => Cow::Owned(bytemuck::allocation::pod_collect_to_vec(bytes)),
            }
        };
        let length = words(begin, 1)[0] as usize;
        words(begin + 8, length)
    }
}

/// Checks the candidates of every algorithm that has a check; `met[i]` are the documents of its candidates.
/// Returns the confirmed pairs by algorithm, with the number of different candidates.
pub fn verify(
    job: &Job<'_>,
    bound: &[Bound<'_>],
    grouped: &[Grouped],
    met: &[Option<Arc<AtomicBits>>],
    view: &View<'_>,
) -> Result<Vec<Option<(PairList, u64)>>> {
    let mut results = Vec::new();
    if met.iter().flatten().all(|met| met.count() == 0) {
        results.resize_with(bound.len(), || None);
        return Ok(results);
    }
    let evidence = take_evidence(job, bound, met, view)?;
    for ((bound, grouped), evidence) in bound.iter().zip(grouped).zip(&evidence) {
        results.push(match (bound.confirm(), evidence) {
            (Some(check), Some(evidence)) => Some(confirm(job, &bound.label, check, grouped, evidence)?),
            _ => None,
        });
    }
    Ok(results)
}

fn take_evidence(
    job: &Job<'_>,
    bound: &[Bound<'_>],
    met: &[Option<Arc<AtomicBits>>],
    view: &View<'_>,
) -> Result<Vec<Option<Evidence>>> {
    let running = job.clock.stage("read candidates");
    let stores = bound.iter().zip(met).map(|(bound, met)| {
        met.as_ref().filter(|_| bound.confirm().is_some()).map(|met| {
            let ranks = Ranks::new(job.dir, &format!("{}-ranks", bound.label), met)?;
            let begins = AtomicCells::<u64>::new(job.dir, &format!("{}-begins", bound.label), ranks.count() as usize)?;
            Ok((Heap::new(job.dir, &format!("{}-evidence", bound.label))?, ranks, begins))
        })
    });
    let stores = stores.map(Option::transpose).collect::<Result<Vec<_>>>()?;
    let all: Vec<Arc<AtomicBits>> = met.iter().flatten().cloned().collect();
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
                let analysis = view.document(doc, text, &columns, row);
                for (bound, store) in bound.iter().zip(&stores) {
                    let (Some(check), Some((heap, ranks, begins))) = (bound.confirm(), store) else { continue };
                    let Some(rank) = ranks.rank(doc as usize) else { continue };
                    numbers.clear();
                    numbers.push(0);
                    check.evidence(&analysis, numbers);
                    numbers[0] = numbers.len() as u64 - 1;
                    begins.store(rank, heap.append(bytemuck::cast_slice(numbers))? + 1);
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
    let mut written = 0;
    let evidence = stores
        .into_iter()
        .map(|store| {
            store.map(|(heap, met, begins)| {
                let numbers = heap.freeze()?;
                written += numbers.bytes().len() as u64;
                Ok(Evidence { numbers, met, begins })
            })
        })
        .map(Option::transpose)
        .collect::<Result<Vec<_>>>()?;
    let count = read.iter().sum();
    running.end(count, count, written);
    Ok(evidence)
}

fn confirm(
    job: &Job<'_>,
    label: &str,
    check: Check<'_>,
    grouped: &Grouped,
    evidence: &Evidence,
) -> Result<(PairList, u64)> {
    let running = job.clock.stage(format!("verify {label}"));
    // Pairs come in order of their first document, whose evidence is read once.
    let (confirmed, candidates) = PairList::make(
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
            check.judge(a, &evidence.of(pair.b), pair)
        },
    )?;
    running.end(candidates, confirmed.rows(), confirmed.bytes());
    Ok((confirmed, candidates))
}
