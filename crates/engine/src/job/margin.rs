//! The margin rule (`stage/margin.rs`) over the pairs of one algorithm: a fold on all threads, then a filter.

use super::links::each_link;
use super::pair_list::PairList;
use crate::engine::numbers::Numbers;
use crate::engine::threads::Engine;
use crate::reading::reader::Reader;
use dupsift_algorithms::algorithm::Margin;
use dupsift_algorithms::stage::margin::{Whole, best, comes_within};
use dupsift_core::error::Result;
use dupsift_core::row::Pair;
use dupsift_spill::shuffle::{AtomicBits, AtomicCells, Sorted};

/// The pairs that stay; all pairs of the algorithm have been judged. `earlier` are those of earlier nights.
pub fn apply(
    engine: &Engine<'_>,
    reader: &Reader<'_>,
    label: &str,
    pairs: &PairList,
    margin: Margin,
    earlier: Option<&Sorted>,
) -> Result<PairList> {
    let running = engine.clock.stage(format!("margin {label}"));
    let documents = reader.documents() as usize;
    let highest: AtomicCells<u32> = AtomicCells::new(engine.dir, &format!("{label}-best"), documents)?;
    engine.work(
        pairs.parts(),
        || Ok(()),
        |(), part| {
            for pair in pairs.part(part) {
                engine.go_on()?;
                best(&pair).into_iter().for_each(|(doc, similarity)| highest.raise(doc as usize, similarity));
            }
            Ok(())
        },
        Ok,
    )?;
    each_link(engine, earlier, |doc, _, similarity| {
        highest.raise(doc as usize, similarity.max(0.0).to_bits());
    })?;
    let stays = |pair: &Pair| comes_within(margin, pair, |doc| highest.load(doc as usize));
    let what = format!("margin {label}");
    let left = if Whole::is_asked(margin) && pairs.rows() > 0 {
        let mut parents = Numbers::new(engine.dir, &format!("{label}-margin"), documents, reader.documents())?;
        let mut whole = Whole::new(margin, parents.slots());
        for pair in pairs.iter().filter(stays) {
            engine.go_on()?;
            whole.join(&pair);
        }
        // Paths are halved by looking, so the looks are made by one thread, and noted a bit a pair.
        let together = AtomicBits::new(engine.dir, &format!("{label}-together"), pairs.rows() as usize)?;
        for (at, pair) in pairs.iter().enumerate() {
            engine.go_on()?;
            if whole.keeps(&pair) {
                together.set(at);
            }
        }
        pairs.filter(engine, &what, |at, pair| together.get(at) || stays(pair))?
    } else {
        pairs.filter(engine, &what, |_, pair| stays(pair))?
    };
    running.end(pairs.rows(), left.rows(), left.bytes());
    Ok(left)
}
