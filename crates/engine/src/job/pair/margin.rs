//! Applies the margin rule (`steps/margin.rs`) to the pairs of one algorithm. First computes the highest similarity of each document, using
//! all threads; then filters the pairs.

use super::links::each_link;
use super::pair_list::PairList;
use crate::engine::numbers::Numbers;
use crate::session::Session;
use dupsift_algorithms::algorithm::Margin;
use dupsift_algorithms::steps::margin::{Whole, best, comes_within};
use dupsift_core::error::Result;
use dupsift_core::row::Pair;
use dupsift_spill::shuffle::{AtomicBits, AtomicCells, Sorted};

/// Returns the pairs that are kept. All pairs of the algorithm must already have been scored. `earlier` holds the pairs from earlier runs.
pub(crate) fn apply(
    session: &Session<'_>,
    label: &str,
    pairs: &PairList,
    margin: Margin,
    earlier: Option<&Sorted>,
) -> Result<PairList> {
    let running = session.engine.clock.stage(format!("margin {label}"));
    let documents = session.documents() as usize;
    let highest: AtomicCells<u32> = AtomicCells::new(session.engine.dir, &format!("{label}-best"), documents)?;
    session.engine.work(
        pairs.parts(),
        || Ok(()),
        |(), part| {
            for pair in pairs.part(part) {
                session.engine.go_on()?;
                best(&pair).into_iter().for_each(|(doc, similarity)| highest.raise(doc as usize, similarity));
            }
            Ok(())
        },
        Ok,
    )?;
    each_link(session.engine, earlier, |doc, _, similarity| {
        highest.raise(doc as usize, similarity.max(0.0).to_bits());
    })?;
    let stays = |pair: &Pair| comes_within(margin, pair, |doc| highest.load(doc as usize));
    let what = format!("margin {label}");
    let left = if Whole::is_asked(margin) && pairs.rows() > 0 {
        let mut parents = Numbers::new(session.engine.dir, &format!("{label}-margin"), documents, session.documents())?;
        let mut whole = Whole::new(margin, parents.slots());
        for pair in pairs.iter().filter(stays) {
            session.engine.go_on()?;
            whole.join(&pair);
        }
        // A lookup also shortens the stored paths, so a single thread performs all lookups and records one bit per pair.
        let together = AtomicBits::new(session.engine.dir, &format!("{label}-together"), pairs.rows() as usize)?;
        for (at, pair) in pairs.iter().enumerate() {
            session.engine.go_on()?;
            if whole.keeps(&pair) {
                together.set(at);
            }
        }
        pairs.filter(session.engine, &what, |at, pair| together.get(at) || stays(pair))?
    } else {
        pairs.filter(session.engine, &what, |_, pair| stays(pair))?
    };
    running.end(pairs.rows(), left.rows(), left.bytes());
    Ok(left)
}
