//! What `--decide`, `--keep`, `--remove-if` and `--chain` make of the pairs: which documents go, and for which kept ones.

use std::collections::BTreeMap;

use super::contents::{Contents, Looking};
use super::evidence::Evidence;
use super::group::Relation;
use super::keep::KeepOrder;
use super::linked::Linked;
use super::numbers::Numbers;
use super::options::Decide;
use super::removals::{ROW, push_row};
use super::workers::Job;
use crate::error::Result;
use crate::row::Slots;
use crate::shuffle::{AtomicBits, Sorted};
use crate::stage::choose::{Chooser, best};
use crate::stage::connect::Forest;
use crate::stage::remove_if::RemoveIf;
use crate::stage::survive::{Finder, Lists, MOST_LISTED, Removal};

/// What was decided.
pub struct Decided {
    /// The removals, as [`push_row`] takes them down.
    pub rows: Sorted,
    /// The labels of the algorithms whose pairs decided.
    pub algorithms: Vec<String>,
    /// Whether documents were held against the kept ones.
    pub looks: bool,
    /// Comparisons left out.
    pub left_out: u64,
    /// Documents that stay beside a kept one that they form a pair with, by reason.
    pub stays: BTreeMap<String, u64>,
    /// Kept partners of these that were not looked at.
    pub not_looked_at: u64,
    /// Which kept documents each one was held against.
    pub looked_at: Option<Evidence>,
}

/// Decides which documents are removed; all that stand in a pair are in `shown`. `contents` is what those say that are
/// in a pair with others than their copies.
pub fn decide(
    job: &Job<'_>,
    relations: &[&Relation],
    keep: &KeepOrder,
    shown: &AtomicBits,
    contents: Option<&Contents>,
) -> Result<Decided> {
    let running = job.clock.stage("decide");
    let chosen: Vec<&Relation> = match &job.options.decide {
        Decide::Label(label) => relations.iter().copied().filter(|relation| relation.label == *label).collect(),
        _ => relations.to_vec(),
    };
    let needed = match &job.options.decide {
        Decide::AtLeast(count) => *count,
        Decide::All => chosen.len(),
        Decide::Label(_) => 1,
    };
    let linked = chosen.iter().map(|relation| Linked::new(job, relation)).collect::<Result<Vec<_>>>()?;

    let count = shown.count() as usize;
    let mut order = Numbers::new(job.dir, "order", count, job.documents())?;
    let mut slots = order.slots();
    shown.iter().enumerate().for_each(|(at, doc)| slots.set(at as u64, doc as u64));
    keep.sort(job, slots)?;
    let order = order.docs(0..count);

    let out = job.ordered("removed", ROW, 8, 8, count as u64)?;
    let mut writer = out.writer();
    let mut push = |removal: Removal| push_row(&mut writer, &removal);
    let remove_if = job.options.remove_if;
    let mut memory = Memory::new(job, linked.len(), needed, remove_if)?;
    let mut finder = Finder::new(&linked, needed, MOST_LISTED);
    let better = |a, b| keep.better(a, b);
    let (mut stays, mut not_looked_at, mut looked_at) = (BTreeMap::new(), 0, None);
    if job.options.remove_chains {
        let documents = job.documents();
        let mut parents = Numbers::new(job.dir, "decide-parents", documents as usize, documents)?;
        let mut forest = Forest::new(parents.slots());
        finder.connect(order, &mut memory.lists(), |x, y| forest.union(x, y));
        // The first of each component in the order of preference represents it.
        let mut representatives = Numbers::new(job.dir, "decide-best", documents as usize, documents)?;
        let mut representatives = representatives.slots();
        for doc in order.iter() {
            let root = forest.root(doc);
            match representatives.get(root).checked_sub(1) {
                None => representatives.set(root, doc + 1),
                Some(kept) => push(Removal { doc, kept, found: finder.pair(doc, kept), contained: None })?,
            }
        }
    } else if let Some(bounds) = remove_if.bounds() {
        let mut chooser = Chooser::new(bounds, better);
        let mut looking = Looking::new(job, shown)?;
        finder.survive(
            order,
            &mut memory.lists(),
            |doc, partners, beyond| {
                job.go_on()?;
                let chosen = chooser.choose(doc, partners, beyond, |kept| {
                    let both = contents.and_then(|contents| contents.of(doc, kept));
                    both.into_iter().for_each(|both| looking.push(kept, both));
                    Ok::<_, crate::error::Error>(both)
                })?;
                looking.next(doc)?;
                Ok(chosen)
            },
            &mut push,
        )?;
        stays = chooser.stays.into_iter().map(|(why, count)| (why.name().to_string(), count)).collect();
        not_looked_at = chooser.not_looked_at;
        looked_at = Some(looking.end()?);
    } else {
        let choose = |doc, partners: &mut [_], _| job.go_on().map(|()| best(doc, partners, better));
        finder.survive(order, &mut memory.lists(), choose, &mut push)?;
    }
    // What a document that stays was not held against is counted, and what another one was not does not matter.
    let left_out = if looked_at.is_some() { 0 } else { finder.left_out };
    writer.flush()?;
    drop(writer);
    let rows = out.finish()?;
    running.end(count as u64, rows.rows(), rows.spilled_bytes());
    let algorithms = chosen.iter().map(|relation| relation.label.clone()).collect();
    Ok(Decided { rows, algorithms, looks: looked_at.is_some(), left_out, stays, not_looked_at, looked_at })
}

/// The lists of kept documents, in work files.
struct Memory {
    heads: Vec<Numbers>,
    counts: Vec<Numbers>,
    next: Vec<Numbers>,
    longest: u64,
}

impl Memory {
    fn new(job: &Job<'_>, relations: usize, needed: usize, remove_if: RemoveIf) -> Result<Memory> {
        let documents = job.documents();
        let arrays = |name: &str, count: usize| -> Result<Vec<Numbers>> {
            (0..count).map(|_| Numbers::new(job.dir, name, documents as usize, documents)).collect()
        };
        let long = if Lists::are_long(needed, remove_if) { relations } else { 0 };
        Ok(Memory {
            heads: arrays("kept-heads", relations)?,
            counts: arrays("kept-counts", long)?,
            next: arrays("kept-next", long)?,
            longest: Lists::longest(needed),
        })
    }

    fn lists(&mut self) -> Lists<'_> {
        fn slots(arrays: &mut [Numbers]) -> Vec<Slots<'_>> {
            arrays.iter_mut().map(Numbers::slots).collect()
        }
        let (heads, counts, next) = (slots(&mut self.heads), slots(&mut self.counts), slots(&mut self.next));
        Lists { heads, counts, next, longest: self.longest }
    }
}
