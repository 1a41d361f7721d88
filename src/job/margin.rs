//! The margin rule over the pairs of one algorithm: a fold for the best similarity of each document, then a filter.

use super::pair_list::PairList;
use super::workers::Job;
use crate::algorithm::Margin;
use crate::algorithm::kit::margin::stays;
use crate::error::Result;
use crate::shuffle::AtomicCells;

/// The pairs that come within the margin; all pairs of the algorithm have been judged.
pub fn apply(job: &Job<'_>, label: &str, pairs: &PairList, margin: Margin) -> Result<PairList> {
    let running = job.clock.stage(format!("margin {label}"));
    // Similarities are not negative, so their bits are in their order.
    let best: AtomicCells<u32> = AtomicCells::new(job.dir, &format!("{label}-best"), job.documents() as usize)?;
    job.work(
        pairs.parts(),
        || Ok(()),
        |(), part| {
            for pair in pairs.part(part) {
                job.go_on()?;
                let similarity = pair.score.similarity.max(0.0).to_bits();
                best.raise(pair.a as usize, similarity);
                best.raise(pair.b as usize, similarity);
            }
            Ok(())
        },
        Ok,
    )?;
    let of = |doc: u64| f32::from_bits(best.load(doc as usize));
    let left = pairs
        .filter(job, &format!("margin {label}"), |pair| stays(margin, pair.score.similarity, of(pair.a), of(pair.b)))?;
    running.end(pairs.rows(), left.rows(), left.bytes());
    Ok(left)
}
