//! survive: which documents stay, and which kept document each removed one is a duplicate of.
//!
//! Documents are visited in order of preference. One that may be removed for a document kept before it goes, else it is kept:
//! so no kept document may be removed for one that is kept before it, and each removed one has a kept partner. It may be
//! removed for a partner, a document that it forms a pair with, and a rule chooses among these (`choose`): the best one, or
//! the one that contains most of it. A pair counts if at least `needed` algorithms found it.
//!
//! Pairs are never listed: each algorithm gives classes of equal documents and links between classes. For each class the
//! kept documents are chained in a list, so a document looks at the lists of its own class and of the linked ones.
//!
//! Where K of n algorithms must agree, a pair is known to at least one of any n - K + 1 of them. So only those with the
//! shortest lists are looked through, and the others are asked about what was met there: a class of a hundred thousand
//! documents that all stay costs nothing to `--decide all` if another algorithm tells them apart.

use super::remove_if::{MOST_LOOKED_AT, RemoveIf};
use crate::measure::Contained;
use dupsift_core::row::{Docs, Slots};

/// How many documents may be met for one document before the rest is left out and counted.
pub const MOST_LISTED: u64 = 100_000;

/// What one algorithm knows of documents.
pub trait Relation {
    /// The document's class, named by its smallest document. One without a signature has a class with its copies.
    fn class(&self, doc: u64) -> u64;
    /// The classes that form pairs with this one, each with the similarity.
    fn linked(&self, class: u64, each: &mut dyn FnMut(u64, f32));
    /// The similarity of two documents of one class.
    fn equal(&self) -> f32;
}

/// What an earlier run decided about a document, or about its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It was kept.
    Kept,
    /// It was removed.
    Removed,
    /// The document is new, and a document with the same text was removed in favor of this kept one. So it is removed as well: in favor of
    /// the partner that the rule chooses, or else of this document.
    Copy(u64),
}

impl Settled {
    /// Whether the document itself was decided about, so that the rule does not ask for it.
    pub fn is_final(self) -> bool {
        !matches!(self, Settled::Copy(_))
    }
}

/// A document that goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Removal {
    /// The document.
    pub doc: u64,
    /// The best kept document that it forms a pair with, that its chain leads to, or in favor of which its text was removed before.
    pub kept: u64,
    /// Which algorithm's similarity it is: the highest among those that found the pair. `None` if the two are no pair.
    pub found: Option<(usize, f32)>,
    /// How much of it stands in the kept one, where that was looked at.
    pub contained: Option<Contained>,
}

/// A kept document that forms a pair with the document at hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Partner {
    /// The kept document.
    pub kept: u64,
    /// As [`Removal::found`].
    pub found: (usize, f32),
}

/// The lists of kept documents: for each algorithm a head a class and a next a document, 0 for none, n + 1 for n.
/// Arrays as long as there are documents, all 0 at the start.
///
/// Where one algorithm is enough to make a pair and a pair is enough to remove, two documents of a class are never both listed:
/// then the heads are all there is, and the other two stay empty.
pub struct Lists<'l> {
    /// By algorithm, by class.
    pub heads: Vec<Slots<'l>>,
    /// By algorithm, by class: how many kept documents it has, listed or not.
    pub counts: Vec<Slots<'l>>,
    /// By algorithm, by document.
    pub next: Vec<Slots<'l>>,
    /// So many kept documents of a class are listed, the first ones.
    pub longest: u64,
}

impl Lists<'_> {
    /// Whether counts and next are needed beside the heads, where `needed` algorithms must agree.
    pub fn are_long(needed: usize, remove_if: RemoveIf) -> bool {
        needed > 1 || remove_if != RemoveIf::Pair
    }

    /// [`Lists::longest`], where `needed` algorithms must agree. All of a class are equally similar, so that no more than the first
    /// ones are ever looked at. Where several must agree, those that they agree on may stand anywhere.
    pub fn longest(needed: usize) -> u64 {
        if needed > 1 { u64::MAX } else { MOST_LOOKED_AT as u64 }
    }

    fn insert(&mut self, relation: usize, class: u64, doc: u64) {
        let heads = &mut self.heads[relation];
        if let (Some(counts), Some(next)) = (self.counts.get_mut(relation), self.next.get_mut(relation)) {
            let listed = counts.get(class);
            counts.set(class, listed + 1);
            if listed >= self.longest {
                return;
            }
            next.set(doc, heads.get(class));
        } else if heads.get(class) > 0 {
            // Of documents that were kept before, several may be of one class: the best one came first.
            return;
        }
        heads.set(class, doc + 1);
    }

    fn count(&self, relation: usize, class: u64) -> u64 {
        match self.counts.get(relation) {
            Some(counts) => counts.get(class),
            None => u64::from(self.heads[relation].get(class) > 0),
        }
    }

    fn each(&self, relation: usize, class: u64, mut each: impl FnMut(u64) -> bool) {
        let mut at = self.heads[relation].get(class);
        while at > 0 {
            if !each(at - 1) {
                return;
            }
            at = self.next.get(relation).map_or(0, |next| next.get(at - 1));
        }
    }
}

/// Finds the pairs of a document with documents in the lists.
pub struct Finder<'f, R> {
    relations: &'f [R],
    needed: usize,
    most: u64,
    /// Comparisons left out because one document met more than `most`.
    pub left_out: u64,
    /// The relations by how many listed documents they link to the document at hand, the fewest first.
    lengths: Vec<(u64, usize)>,
    met: Vec<(u64, usize, f32)>,
    partners: Vec<Partner>,
}

impl<'f, R: Relation> Finder<'f, R> {
    /// Pairs that `needed` of the relations found, at least one; a document is compared with at most `most` listed ones.
    pub fn new(relations: &'f [R], needed: usize, most: u64) -> Finder<'f, R> {
        let (lengths, met, partners) = (Vec::new(), Vec::new(), Vec::new());
        Finder { relations, needed, most, left_out: 0, lengths, met, partners }
    }

    /// Gathers the listed documents that form a pair with `doc`, each with the best similarity and its algorithm. Returns how
    /// many kept documents it might form a pair with besides: those beyond `most`, and those that are not listed.
    fn gather(&mut self, lists: &Lists<'_>, doc: u64) -> u64 {
        // Of one relation the lists are looked through in any case: then nothing has to be measured.
        if self.relations.len() == 1 && self.needed == 1 {
            self.lengths.clear();
            self.lengths.push((u64::MAX, 0));
        } else {
            self.measure(lists, doc);
        }
        let (searched, asked) = self.lengths.split_at((self.relations.len() + 1).saturating_sub(self.needed));
        let (met, most, mut beyond) = (&mut self.met, self.most, 0);
        met.clear();
        for &(length, number) in searched {
            let relation = &self.relations[number];
            if length == 0 {
                continue;
            }
            let class = relation.class(doc);
            let mut look = |class, similarity| {
                let before = met.len() as u64;
                lists.each(number, class, |kept| {
                    let fits = (met.len() as u64) < most;
                    if fits {
                        met.push((kept, number, similarity));
                    }
                    fits
                });
                beyond += lists.count(number, class) - (met.len() as u64 - before);
            };
            look(class, relation.equal());
            relation.linked(class, &mut look);
        }
        met.sort_unstable_by_key(|&(kept, number, _)| (kept, number));
        self.partners.clear();
        for run in met.chunk_by(|a, b| a.0 == b.0) {
            let kept = run[0].0;
            let mut algorithms = run.chunk_by(|a, b| a.1 == b.1).count();
            if algorithms + asked.len() < self.needed {
                continue;
            }
            let found = run.iter().map(|&(_, number, similarity)| (number, similarity)).reduce(better);
            let more =
                asked.iter().filter_map(|&(_, number)| Some((number, related(&self.relations[number], doc, kept)?)));
            let best = found.into_iter().chain(more.inspect(|_| algorithms += 1)).reduce(better);
            if let Some(found) = best.filter(|_| algorithms >= self.needed) {
                self.partners.push(Partner { kept, found });
            }
        }
        beyond
    }

    /// The kept partners of a document among those that are listed, and how many more it may have, as `choose` gets them.
    pub fn partners(&mut self, lists: &Lists<'_>, doc: u64) -> (&mut [Partner], u64) {
        let beyond = self.gather(lists, doc);
        (&mut self.partners, beyond)
    }

    /// Fills `lengths` for one document.
    fn measure(&mut self, lists: &Lists<'_>, doc: u64) {
        self.lengths.clear();
        for (number, relation) in self.relations.iter().enumerate() {
            let class = relation.class(doc);
            let mut length = lists.count(number, class);
            relation.linked(class, &mut |linked, _| length += lists.count(number, linked));
            self.lengths.push((length, number));
        }
        self.lengths.sort_unstable();
    }

    /// The survivor rule. `order`: every document that may be in a pair, best first. `choose` gets a document, its kept
    /// partners, at least one, and how many more there may be that were not gathered; it says for which of them the document
    /// goes. Those of which it never hears count as left out. `settled` knows what was decided about documents and texts before.
    /// The order may come in parts, one after the other.
    pub fn survive<E>(
        &mut self,
        order: Docs<'_>,
        settled: impl Fn(u64) -> Option<Settled>,
        lists: &mut Lists<'_>,
        mut choose: impl FnMut(u64, &mut [Partner], u64) -> Result<Option<Removal>, E>,
        mut removed: impl FnMut(Removal) -> Result<(), E>,
    ) -> Result<(), E> {
        for doc in order.iter() {
            let before = settled(doc);
            match before {
                None | Some(Settled::Copy(_)) => {}
                Some(Settled::Kept) => {
                    self.list(lists, doc, true);
                    continue;
                }
                Some(Settled::Removed) => continue,
            }
            let beyond = self.gather(lists, doc);
            let chosen = if self.partners.is_empty() { None } else { choose(doc, &mut self.partners, beyond)? };
            let chosen = match (chosen, before) {
                (None, Some(Settled::Copy(kept))) => {
                    Some(Removal { doc, kept, found: self.pair(doc, kept), contained: None })
                }
                (chosen, _) => chosen,
            };
            match chosen {
                Some(removal) => removed(removal)?,
                None => self.list(lists, doc, true),
            }
            self.left_out += beyond;
        }
        Ok(())
    }

    /// `union` for each pair of the relation that is needed to connect what the pairs connect.
    pub fn connect(&mut self, order: Docs<'_>, lists: &mut Lists<'_>, mut union: impl FnMut(u64, u64)) {
        for doc in order.iter() {
            self.left_out += self.gather(lists, doc);
            self.partners.iter().for_each(|partner| union(doc, partner.kept));
            // One document of a class connects the whole class, where one algorithm is enough to make a pair.
            self.list(lists, doc, self.needed > 1);
        }
    }

    fn list(&self, lists: &mut Lists<'_>, doc: u64, always: bool) {
        for (number, relation) in self.relations.iter().enumerate() {
            let class = relation.class(doc);
            if always || lists.count(number, class) == 0 {
                lists.insert(number, class, doc);
            }
        }
    }

    /// The similarity of two documents if they form a pair.
    pub fn pair(&self, x: u64, y: u64) -> Option<(usize, f32)> {
        let found = |number| Some((number, related(&self.relations[number], x, y)?));
        let found: Vec<(usize, f32)> = (0..self.relations.len()).filter_map(found).collect();
        if found.len() < self.needed {
            return None;
        }
        found.into_iter().reduce(better)
    }
}

/// The similarity of two documents to one relation, if they are a pair there.
fn related<R: Relation>(relation: &R, x: u64, y: u64) -> Option<f32> {
    let (a, b) = (relation.class(x), relation.class(y));
    if a == b {
        return Some(relation.equal());
    }
    let mut similarity = None;
    relation.linked(a, &mut |class, value| similarity = similarity.or((class == b).then_some(value)));
    similarity
}

/// The higher of two similarities, of equal ones that of the earlier algorithm.
fn better(x: (usize, f32), y: (usize, f32)) -> (usize, f32) {
    if y.1 > x.1 || (y.1 == x.1 && y.0 < x.0) { y } else { x }
}

#[cfg(test)]
#[path = "survive_tests.rs"]
mod tests;
