//! The margin rule over the pairs of one algorithm: a fold for the best similarity of each document, then a filter; where
//! clusters are to stay whole, the components of what came through, and the filter once more.

use super::numbers::Numbers;
use super::pair_list::PairList;
use super::workers::Job;
use crate::algorithm::Margin;
use crate::algorithm::kit::margin::{keeps_whole, within};
use crate::error::Result;
use crate::row::Pair;
use crate::shuffle::{AtomicBits, AtomicCells};
use crate::stage::connect::Forest;

/// The pairs that stay; all pairs of the algorithm have been judged.
pub fn apply(job: &Job<'_>, label: &str, pairs: &PairList, margin: Margin) -> Result<PairList> {
    let running = job.clock.stage(format!("margin {label}"));
    let documents = job.documents() as usize;
    // Similarities are not negative, so their bits are in their order.
    let best: AtomicCells<u32> = AtomicCells::new(job.dir, &format!("{label}-best"), documents)?;
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
    let comes_within = |pair: &Pair| within(margin, pair.score.similarity, of(pair.a), of(pair.b));
    let what = format!("margin {label}");
    let left = if margin.whole.is_some() && pairs.rows() > 0 {
        let mut parents = Numbers::new(job.dir, &format!("{label}-margin"), documents, job.documents())?;
        let mut forest = Forest::new(parents.slots());
        for pair in pairs.iter().filter(comes_within) {
            job.go_on()?;
            forest.union(pair.a, pair.b);
        }
        // Paths are halved by looking, so the looks are made by one thread, and noted a bit a pair.
        let together = AtomicBits::new(job.dir, &format!("{label}-together"), pairs.rows() as usize)?;
        for (at, pair) in pairs.iter().enumerate() {
            job.go_on()?;
            if keeps_whole(margin, pair.score) && forest.root(pair.a) == forest.root(pair.b) {
                together.set(at);
            }
        }
        pairs.filter(job, &what, |at, pair| together.get(at) || comes_within(pair))?
    } else {
        pairs.filter(job, &what, |_, pair| comes_within(pair))?
    };
    running.end(pairs.rows(), left.rows(), left.bytes());
    Ok(left)
}
