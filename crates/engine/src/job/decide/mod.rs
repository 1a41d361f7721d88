//! Decides which documents are removed: applies `--decide`, `--keep`, `--remove-if` and `--chain` to the pairs. The result lists the removed
//! documents, each with the document that is kept instead.

pub mod decided;
pub(crate) mod decisions;
pub mod last_pass;
mod look_ahead;
mod per_value;

use std::collections::BTreeMap;

use crate::classes::Classes;
use crate::engine::numbers::Numbers;
use crate::job::pair::components::Components;
use crate::job::pair::contents::{Contents, Looking};
use crate::job::pair::group::Relation;
use crate::job::pair::links::Links;
use crate::job::read::keep::KeepOrder;
use crate::matching::indexed::Indexed;
use crate::options::Decide;
use crate::session::Session;
use decided::{Decided, ROW, push_representative, push_row};
use dupsift_algorithms::measure::Contained;
use dupsift_algorithms::recipe::remove_if::RemoveIf;
use dupsift_algorithms::steps::choose::{Chooser, best};
use dupsift_algorithms::steps::connect::Forest;
use dupsift_algorithms::steps::guard::{AS_NEAR, MANY_NEAR};
use dupsift_algorithms::steps::survive::{self, Finder, Lists, MOST_LISTED, Removal, Settled};
use dupsift_core::error::{Error, Result};
use dupsift_core::row::{Docs, Pair, Slots};
use dupsift_spill::shuffle::AtomicBits;
use look_ahead::{Asking, blocks};
use per_value::{ByValue, PerValue};

/// Decides which documents are removed. `shown` holds all documents in pairs. `contents` holds the contents of documents in pairs that are
/// not exact copies.
pub fn decide(
    session: &Session<'_>,
    relations: &[&Relation],
    copies: &Classes,
    keep: &KeepOrder,
    shown: &AtomicBits,
    contents: Option<&Contents>,
) -> Result<Decided> {
    let labels: Vec<&str> = relations.iter().map(|relation| relation.label.as_str()).collect();
    let deciding = Deciding::new(&session.options.removal.decide, &labels);
    let linked = || deciding.chosen.iter().map(|&at| Linked::new(session, relations[at], copies)).collect();
    let settled = settled(session, copies);
    decide_by(session, &deciding, linked, (keep, settled), shown, |doc, kept| {
        Ok(contents.and_then(|contents| contents.of(doc, kept)))
    })
}

/// Holds the algorithms whose pairs decide which documents are removed.
pub struct Deciding {
    /// The positions of the algorithms whose pairs decide which documents are removed.
    pub chosen: Vec<usize>,
    /// The number of these algorithms that must agree.
    pub needed: usize,
    /// The labels of these algorithms.
    pub labels: Vec<String>,
}

impl Deciding {
    /// Selects the algorithms whose pairs decide which documents are removed, according to `--decide`.
    pub fn new(decide: &Decide, labels: &[&str]) -> Deciding {
        let takes = |label: &str| !matches!(decide, Decide::Label(chosen) if chosen != label);
        let chosen: Vec<usize> = (0..labels.len()).filter(|&at| takes(labels[at])).collect();
        let needed = match decide {
            Decide::AtLeast(count) => *count,
            Decide::All => chosen.len(),
            Decide::Label(_) => 1,
        };
        let labels = chosen.iter().map(|&at| labels[at].to_owned()).collect();
        Deciding { chosen, needed, labels }
    }
}

/// Works like [`decide`], but for pairs from any relation. `settled` returns the decisions of earlier runs. `look` returns how much of a
/// document is contained in a kept document, and vice versa, or `None` for copies.
pub fn decide_by<R: survive::Relation + Sync>(
    session: &Session<'_>,
    deciding: &Deciding,
    linked: impl FnOnce() -> Result<Vec<R>>,
    (keep, settled): (&KeepOrder, impl Fn(u64) -> Option<Settled> + Sync),
    shown: &AtomicBits,
    look: impl Fn(u64, u64) -> Result<Option<[Contained; 2]>> + Sync,
) -> Result<Decided> {
    let running = session.engine.clock.stage("decide");
    let (linked, needed) = (linked()?, deciding.needed);

    let count = shown.count() as usize;
    let in_order = in_order(session, keep, shown)?;
    let order = in_order.docs(0..count);
    let out = session.engine.ordered(session.documents(), "removed", ROW, 8, 8, count as u64)?;
    let mut writer = out.writer();
    let (mut near_duplicates, mut of_templates) = (0, 0);
    let represents = match session.options.removal.keep.is_none {
        true => Some(AtomicBits::new(session.engine.dir, "represents", session.documents() as usize)?),
        false => None,
    };
    let mut push = |removal: Removal| {
        // Documents of the reference are never removed.
        if let Some(represents) = represents.as_ref().filter(|_| removal.kept >= session.base) {
            represents.set(removal.kept as usize);
        }
        if let Some(near) = near_duplicates_of(&linked, &removal) {
            near_duplicates += 1;
            of_templates += u64::from(near > MANY_NEAR);
        }
        push_row(&mut writer, &removal)
    };
    let remove_if = session.options.removal.remove_if;
    let mut memory = Memory::new(session, linked.len(), needed, remove_if)?;
    let per_value = |relation| PerValue::new(session, relation, keep, order);
    let removing = linked.iter().map(per_value).collect::<Result<Vec<_>>>()?;
    let mut finder = Finder::new(&removing, needed, MOST_LISTED);
    let mut held = None;
    if session.options.removal.chains {
        let mut finder = Finder::new(&linked, needed, MOST_LISTED);
        let by_value = ByValue::new(session, keep, order.len())?;
        chains(session, order, (&mut finder, &mut memory), by_value, &mut push)?;
    } else if let Some(bounds) = remove_if.bounds() {
        let mut looking = Looking::new(session.engine, shown)?;
        let chooser = Chooser::new(bounds, |a, b| keep.better(a, b));
        let better = |a, b| keep.better(a, b);
        let asking = Asking { engine: session.engine, relations: &removing, needed, settled, better, look };
        let staying =
            if_contained(&asking, &in_order, count, (&mut finder, &mut memory), chooser, &mut looking, &mut push)?;
        held = Some((staying, looking.end()?));
    } else {
        let better = |a, b| keep.better(a, b);
        let choose = |doc, partners: &mut [_], _| session.engine.go_on().map(|()| best(doc, partners, better));
        finder.survive(order, settled, &mut memory.lists(), choose, &mut push)?;
    }
    let clusters = || components(session, &linked, needed, order);
    let components =
        (session.options.output.corpus.annotate || !session.options.output.add.is_none()).then(clusters).transpose()?;
    // If containment is checked, comparisons that were skipped for a kept document are counted separately, and other skipped comparisons do
    // not matter.
    let left_out = if held.is_some() { 0 } else { finder.left_out };
    for doc in represents.iter().flat_map(AtomicBits::iter) {
        push_representative(&mut writer, doc as u64)?;
    }
    writer.flush()?;
    drop(writer);
    let rows = out.finish()?;
    running.end(count as u64, rows.rows(), rows.spilled_bytes());
    let algorithms = deciding.labels.clone();
    let looks = held.is_some();
    let (staying, looked_at) =
        held.map_or((Staying::default(), None), |(staying, looked_at)| (staying, Some(looked_at)));
    let Staying { stays, not_looked_at } = staying;
    Ok(Decided {
        rows,
        algorithms,
        looks,
        near_duplicates,
        of_templates,
        left_out,
        stays,
        not_looked_at,
        looked_at,
        components,
    })
}

/// Returns how many texts are more similar to a removed document than the kept document is, or about as similar (within [`AS_NEAR`]),
/// according to the algorithm that decided. Returns `None` for a copy of the kept document, and for a document that was removed for a
/// reason other than a pair.
fn near_duplicates_of<R: survive::Relation>(linked: &[R], removal: &Removal) -> Option<usize> {
    let (number, similarity) = removal.found?;
    let relation = &linked[number];
    let class = relation.class(removal.doc);
    let mut near = 0;
    relation.linked(class, &mut |_, other| near += usize::from(other >= similarity - AS_NEAR));
    (class != relation.class(removal.kept)).then_some(near)
}

/// Returns the documents in `shown`, in order of preference.
fn in_order(session: &Session<'_>, keep: &KeepOrder, shown: &AtomicBits) -> Result<Numbers> {
    let mut order = Numbers::new(session.engine.dir, "order", shown.count() as usize, session.documents())?;
    let mut slots = order.slots();
    shown.iter().enumerate().for_each(|(at, doc)| slots.set(at as u64, doc as u64));
    keep.sort(session.engine, slots)?;
    Ok(order)
}

/// Returns the clusters of the documents in `shown`, based on the pairs that decide which documents are removed. [`decide_by`] also returns
/// these clusters, together with its decisions.
///
/// # Errors
/// Returns an error if the disk is full or the run is interrupted.
pub fn clusters_by<R: survive::Relation + Sync>(
    session: &Session<'_>,
    deciding: &Deciding,
    linked: &[R],
    keep: &KeepOrder,
    shown: &AtomicBits,
) -> Result<Components> {
    let order = in_order(session, keep, shown)?;
    components(session, linked, deciding.needed, order.docs(0..shown.count() as usize))
}

/// Returns the clusters formed by the pairs that decide which documents are removed.
fn components<R: survive::Relation>(
    session: &Session<'_>,
    linked: &[R],
    needed: usize,
    order: Docs<'_>,
) -> Result<Components> {
    let mut memory = Memory::new(session, linked.len(), needed, session.options.removal.remove_if)?;
    let mut finder = Finder::new(linked, needed, MOST_LISTED);
    Components::new(session.engine.dir, session.documents(), order, |union| {
        finder.connect(order, &mut memory.lists(), union)
    })
}

/// The finder of kept documents, and the lists that the finder uses.
type Finding<'f, 'l, R> = (&'f mut Finder<'l, R>, &'f mut Memory);

/// Removes all documents in each connected component except the most preferred document, or the most preferred document of each value.
fn chains<R: survive::Relation>(
    session: &Session<'_>,
    order: Docs<'_>,
    (finder, memory): Finding<'_, '_, R>,
    by_value: Option<ByValue<'_>>,
    push: &mut impl FnMut(Removal) -> Result<()>,
) -> Result<()> {
    let documents = session.documents();
    let mut parents = Numbers::new(session.engine.dir, "decide-parents", documents as usize, documents)?;
    let mut forest = Forest::new(parents.slots());
    finder.connect(order, &mut memory.lists(), |x, y| forest.union(x, y));
    if let Some(mut by_value) = by_value {
        for doc in order.iter() {
            if let Some(kept) = by_value.add(doc, |doc| forest.root(doc)) {
                push(Removal { doc, kept, found: finder.pair(doc, kept), contained: None })?;
            }
        }
        return Ok(());
    }
    // The most preferred document represents its component.
    let mut representatives = Numbers::new(session.engine.dir, "decide-best", documents as usize, documents)?;
    let mut representatives = representatives.slots();
    for doc in order.iter() {
        let root = forest.root(doc);
        match representatives.get(root).checked_sub(1) {
            // A removed indexed document is represented by the document that was kept instead.
            None => representatives.set(root, stands_for(session, doc) + 1),
            Some(_) if doc < session.base => {}
            Some(kept) => push(Removal { doc, kept, found: finder.pair(doc, kept), contained: None })?,
        }
    }
    Ok(())
}

/// Returns a function that looks up the earlier decision about an indexed document, or about an indexed text that a new document repeats.
fn settled(session: &Session<'_>, copies: &Classes) -> impl Fn(u64) -> Option<Settled> + Sync {
    |doc| {
        let indexed = session.indexed.as_ref()?;
        if doc < session.base {
            return Some(if indexed.removed_for(doc).is_some() { Settled::Removed } else { Settled::Kept });
        }
        let first = Some(copies.representative(doc)).filter(|&first| first < session.base)?;
        indexed.removed_for(first).and_then(|kept| indexed.place(kept)).map(Settled::Copy)
    }
}

/// Returns the document that was kept instead of an indexed document, or the document itself if it was kept.
fn stands_for(session: &Session<'_>, doc: u64) -> u64 {
    let kept = |indexed: &Indexed| indexed.removed_for(doc).and_then(|kept| indexed.place(kept));
    session.indexed.as_ref().and_then(kept).unwrap_or(doc)
}

/// Counts documents that are kept although they form a pair with a kept document.
#[derive(Default)]
struct Staying {
    stays: BTreeMap<String, u64>,
    not_looked_at: u64,
}

/// Removes each document that is contained in a kept document with which it forms a pair. `count` is the number of documents to visit, from
/// the start of `order`.
fn if_contained<R, S, B, L>(
    asking: &Asking<'_, R, S, B, L>,
    order: &Numbers,
    count: usize,
    (finder, memory): Finding<'_, '_, R>,
    mut chooser: Chooser<impl Fn(u64, u64) -> bool>,
    looking: &mut Looking,
    push: &mut impl FnMut(Removal) -> Result<()>,
) -> Result<Staying>
where
    R: survive::Relation + Sync,
    S: Fn(u64) -> Option<Settled> + Sync,
    B: Fn(u64, u64) -> bool + Sync,
    L: Fn(u64, u64) -> Result<Option<[Contained; 2]>> + Sync,
{
    let mut lists = memory.lists();
    for block in blocks(count) {
        let docs = order.docs(block);
        let mut answers = asking.ahead(docs, &lists)?;
        let choose = |doc, partners: &mut [_], beyond| {
            asking.engine.go_on()?;
            let look = |kept| {
                let both = answers.of(doc, kept).map_or_else(|| (asking.look)(doc, kept), Ok)?;
                both.into_iter().for_each(|both| looking.push(kept, both));
                Ok::<_, Error>(both)
            };
            let chosen = match (asking.settled)(doc) {
                Some(Settled::Copy(_)) => chooser.choose_for_removed(doc, partners, look)?,
                _ => chooser.choose(doc, partners, beyond, look)?,
            };
            looking.next(doc)?;
            Ok(chosen)
        };
        finder.survive(docs, &asking.settled, &mut lists, choose, &mut *push)?;
    }
    let stays = chooser.stays.into_iter().map(|(why, count)| (why.name().to_string(), count)).collect();
    Ok(Staying { stays, not_looked_at: chooser.not_looked_at })
}

/// Holds the lists of kept documents, in temporary files.
struct Memory {
    heads: Vec<Numbers>,
    counts: Vec<Numbers>,
    next: Vec<Numbers>,
    longest: u64,
}

impl Memory {
    fn new(session: &Session<'_>, relations: usize, needed: usize, remove_if: RemoveIf) -> Result<Memory> {
        let documents = session.documents();
        let arrays = |name: &str, count: usize| -> Result<Vec<Numbers>> {
            (0..count).map(|_| Numbers::new(session.engine.dir, name, documents as usize, documents)).collect()
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

/// Holds the relation of one algorithm, with the links in arrays for random access.
struct Linked<'r> {
    relation: &'r Relation,
    copies: &'r Classes,
    links: Links,
}

impl<'r> Linked<'r> {
    /// Builds the links of a relation. Pairs of documents that share a template are not used for removal. Pairs of documents with different
    /// titles are used only if documents are removed regardless of containment.
    fn new(session: &Session<'_>, relation: &'r Relation, copies: &'r Classes) -> Result<Linked<'r>> {
        let any_title = session.options.removal.remove_if.bounds().is_none();
        let decides = |pair: &Pair| !pair.is_template() && (any_title || !pair.has_other_title());
        Ok(Linked { relation, copies, links: Links::new(session, (&relation.pairs, None), decides)? })
    }
}

impl survive::Relation for Linked<'_> {
    fn class(&self, doc: u64) -> u64 {
        self.relation.classes.representative(doc)
    }

    fn linked(&self, class: u64, each: &mut dyn FnMut(u64, f32)) {
        self.links.of(class).for_each(|(linked, similarity)| each(linked, similarity));
    }

    fn equal(&self) -> f32 {
        self.relation.equal.similarity
    }

    fn scope(&self, doc: u64) -> Option<u64> {
        self.relation.across.as_ref().map(|across| across.scope(doc))
    }

    fn are_copies(&self, x: u64, y: u64) -> bool {
        self.copies.representative(x) == self.copies.representative(y)
    }

    fn is_of_several(&self, class: u64) -> bool {
        self.relation.across.as_ref().is_some_and(|across| across.are_several(&self.relation.classes, class))
    }
}
