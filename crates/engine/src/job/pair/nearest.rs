//! Drops the candidate pairs that are not verified, because both of their documents have many nearer candidates.

use super::pair_list::PairList;
use crate::engine::threads::Engine;
use dupsift_algorithms::steps::nearest::{farthest, is_verified, nearness};
use dupsift_core::error::Result;
use dupsift_core::row::NEAREST_CANDIDATES;
use dupsift_spill::shuffle::AtomicCells;

/// The number of bytes in a document number, and in the nearness of a candidate.
const NUMBER: usize = 8;

/// Returns the candidates to verify. `documents` is the number of documents in the corpus.
pub(crate) fn nearest(engine: &Engine<'_>, what: &str, documents: u64, candidates: PairList) -> Result<PairList> {
    let counts = AtomicCells::<u32>::new(engine.dir, "candidates", documents as usize)?;
    let mut crowded = false;
    candidates.each(|pair| {
        for doc in [pair.a as usize, pair.b as usize] {
            let count = counts.load(doc).saturating_add(1);
            crowded |= count as usize > NEAREST_CANDIDATES;
            counts.store(doc, count);
        }
        engine.go_on()
    })?;
    if !crowded {
        return Ok(candidates);
    }
    let shuffle = engine.shuffle(what, 2 * NUMBER, NUMBER, 2 * candidates.rows())?;
    let mut writer = shuffle.writer();
    candidates.each(|pair| {
        for doc in [pair.a, pair.b] {
            if counts.load(doc as usize) as usize > NEAREST_CANDIDATES {
                let mut row = [0; 2 * NUMBER];
                row[..NUMBER].copy_from_slice(&doc.to_be_bytes());
                row[NUMBER..].copy_from_slice(&nearness(&pair, doc).to_number().to_be_bytes());
                writer.push(&row)?;
            }
        }
        engine.go_on()
    })?;
    writer.flush()?;
    drop((writer, counts));
    let sorted = shuffle.finish()?;
    // The farthest candidate plus one, or 0 if a document is compared with all of its candidates.
    let last = AtomicCells::<u64>::new(engine.dir, "farthest-candidates", documents as usize)?;
    engine.work(
        sorted.partitions(),
        || Ok(()),
        |(), partition| {
            let rows = sorted.load(partition, engine.budget.a_thread)?;
            for group in rows.groups() {
                engine.go_on()?;
                let number = |at: usize, from: usize| {
                    u64::from_be_bytes(rows.record(at)[from..from + NUMBER].try_into().unwrap_or_default())
                };
                let doc = number(group.start, 0);
                if let Some(far) = farthest(group.map(|at| number(at, NUMBER))) {
                    last.store(doc as usize, far + 1);
                }
            }
            sorted.remove(partition)
        },
        |()| Ok(()),
    )?;
    candidates.filter(engine, what, |_, pair| is_verified(pair, |doc| last.load(doc as usize).checked_sub(1)))
}
