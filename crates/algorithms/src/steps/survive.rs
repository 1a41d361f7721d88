//! survive: decides which documents are kept, and which kept document each removed document duplicates.
//!
//! Documents are visited in order of preference. A document is removed if it may be removed in favor of a document kept before it;
//! otherwise, it is kept. This guarantees that no kept document may be removed in favor of a document kept before it, and that each removed
//! document has a kept partner. The partners of a document are the documents with which it forms a pair, and a rule selects one of them
//! (`choose`): the best partner, or the partner that contains the largest part of the document. A pair counts if at least `needed`
//! algorithms found it.
//!
//! Pairs are never listed: each algorithm provides classes of equal documents and links between classes. The kept documents of each class
//! form a linked list, so the kept partners of a document are in the lists of its own class and of the linked classes.
//!
//! If K of n algorithms must agree, at least one of any n - K + 1 algorithms finds each pair. Only the algorithms with the shortest lists
//! are therefore searched, and the remaining algorithms only check the documents that were found. With `--decide all`, a class of a hundred
//! thousand documents that are all kept costs nothing if another algorithm distinguishes them.

use crate::measure::Contained;
use crate::recipe::remove_if::{MOST_LOOKED_AT, RemoveIf};
use dupsift_core::row::{Docs, Slots};

/// The maximum number of documents found for one document; further documents are skipped and counted.
pub const MOST_LISTED: u64 = 100_000;

/// Provides the relations between documents according to one algorithm.
pub trait Relation {
    /// Returns the document's class, identified by its smallest document number. A document without a signature is in a class with its
    /// copies.
    fn class(&self, doc: u64) -> u64;
    /// Calls `each` with every class that forms pairs with this class, and with the similarity of these pairs.
    fn linked(&self, class: u64, each: &mut dyn FnMut(u64, f32));
    /// Returns the similarity of two documents in the same class.
    fn equal(&self) -> f32;
    /// Returns the scope of a document if only documents from different scopes form pairs, or `None` if all documents may form pairs.
    fn scope(&self, _doc: u64) -> Option<u64> {
        None
    }
    /// Returns whether two documents have the same text; used only if there are scopes.
    fn are_copies(&self, _x: u64, _y: u64) -> bool {
        false
    }
    /// Returns whether a class contains documents from several scopes; used only if there are scopes.
    fn is_of_several(&self, _class: u64) -> bool {
        false
    }
}

/// Returns whether two documents may form a pair in a relation.
fn may_pair<R: Relation>(relation: &R, x: u64, y: u64) -> bool {
    relation.scope(x).is_none_or(|scope| relation.scope(y) != Some(scope))
}

/// Describes the decision of an earlier run about a document or its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The document was kept.
    Kept,
    /// The document was removed.
    Removed,
    /// The document is new, and a document with the same text was removed in favor of this kept document. The new document is removed as
    /// well: in favor of the partner that the rule selects or, if there is none, in favor of this kept document.
    Copy(u64),
}

impl Settled {
    /// Returns whether the decision concerns the document itself, so that the rule does not apply.
    pub fn is_final(self) -> bool {
        !matches!(self, Settled::Copy(_))
    }
}

/// Holds a removed document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Removal {
    /// The document.
    pub doc: u64,
    /// The kept document: the best document with which the removed document forms a pair, the document at the end of a chain of pairs, or
    /// the document in favor of which the same text was removed in an earlier run.
    pub kept: u64,
    /// The algorithm that gives the pair its highest similarity, and that similarity. `None` if the two documents are not a pair.
    pub found: Option<(usize, f32)>,
    /// The share of the document that the kept document contains, if it was computed.
    pub contained: Option<Contained>,
}

/// Holds a kept document that forms a pair with the current document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Partner {
    /// The kept document.
    pub kept: u64,
    /// The algorithm and similarity, as in [`Removal::found`].
    pub found: (usize, f32),
}

/// Holds the linked lists of kept documents. Each algorithm has a head for each class and a next document for each document. 0 means none,
/// and n + 1 means document n. The arrays have one element per document, all 0 at the start.
///
/// If one algorithm is enough for a pair and a pair is enough for removal, a class never has two listed documents. In this case, only
/// `heads` is used, and `counts` and `next` are empty.
pub struct Lists<'l> {
    /// The heads, by algorithm and class.
    pub heads: Vec<Slots<'l>>,
    /// The number of kept documents, listed or not, by algorithm and class.
    pub counts: Vec<Slots<'l>>,
    /// The next document in the same list, by algorithm and document.
    pub next: Vec<Slots<'l>>,
    /// The maximum number of kept documents that are listed per class; the first documents are listed.
    pub longest: u64,
}

impl Lists<'_> {
    /// Returns whether `counts` and `next` are needed in addition to `heads`, if `needed` algorithms must agree.
    pub fn are_long(needed: usize, remove_if: RemoveIf) -> bool {
        needed > 1 || remove_if != RemoveIf::Pair
    }

    /// Returns [`Lists::longest`] if `needed` algorithms must agree. All documents in a class are equally similar, so only the first
    /// documents are ever compared. If several algorithms must agree, the documents on which they agree may be anywhere in the list.
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
            // Several documents of a class may have been kept before: the best document is listed first.
            return;
        }
        heads.set(class, doc + 1);
    }

    /// Lists a document, regardless of the number of listed documents, and counts it.
    fn put(&mut self, relation: usize, class: u64, doc: u64) {
        self.next[relation].set(doc, self.heads[relation].get(class));
        self.heads[relation].set(class, doc + 1);
        self.add(relation, class);
    }

    /// Counts a document that is not listed.
    fn add(&mut self, relation: usize, class: u64) {
        let counts = &mut self.counts[relation];
        counts.set(class, counts.get(class) + 1);
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

/// States whether a kept document is listed if only documents from different scopes form pairs.
enum Place {
    /// The document is listed.
    Listed,
    /// Enough other documents are already listed.
    Beyond,
    /// A listed document has the same text and scope, so it forms the same pairs.
    Again,
}

/// Finds the pairs that a document forms with listed documents.
pub struct Finder<'f, R> {
    relations: &'f [R],
    needed: usize,
    most: u64,
    /// The number of comparisons skipped because more than `most` documents were found for one document.
    pub left_out: u64,
    /// The number of listed documents that each relation links to the current document, and the index of the relation, in ascending order.
    lengths: Vec<(u64, usize)>,
    met: Vec<(u64, usize, f32)>,
    partners: Vec<Partner>,
}

impl<'f, R: Relation> Finder<'f, R> {
    /// Returns a finder for pairs that at least `needed` relations found; `needed` is at least 1. A document is compared with at most
    /// `most` listed documents.
    pub fn new(relations: &'f [R], needed: usize, most: u64) -> Finder<'f, R> {
        let (lengths, met, partners) = (Vec::new(), Vec::new(), Vec::new());
        Finder { relations, needed, most, left_out: 0, lengths, met, partners }
    }

    /// Gathers the listed documents that form a pair with `doc`, each with the best similarity of the pair and the algorithm that found the
    /// pair. Returns how many more kept documents might form a pair with `doc`: the documents beyond `most`, and the documents that are not
    /// listed.
    fn gather(&mut self, lists: &Lists<'_>, doc: u64) -> u64 {
        // The lists of a single relation are searched in any case, so no lengths are needed.
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
                let mut apart = 0;
                lists.each(number, class, |kept| {
                    if !may_pair(relation, doc, kept) {
                        apart += 1;
                        return apart < most;
                    }
                    let fits = (met.len() as u64) < most;
                    if fits {
                        met.push((kept, number, similarity));
                    }
                    fits
                });
                beyond += lists.count(number, class) - (met.len() as u64 - before) - apart;
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

    /// Returns the partners of a document that are kept and listed, and the number of further partners that it may have, as passed to
    /// `choose`.
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

    /// Applies the survivor rule. `order` holds every document that may be in a pair, best first, and may be passed in consecutive parts.
    /// `choose` receives a document, its kept partners (at least one), and the number of further possible partners that were not gathered;
    /// it selects the partner that replaces the document. Partners that `choose` never receives count as skipped. `settled` returns earlier
    /// decisions about documents and texts.
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

    /// Calls `union` for enough pairs to produce the same connected components as all pairs.
    pub fn connect(&mut self, order: Docs<'_>, lists: &mut Lists<'_>, mut union: impl FnMut(u64, u64)) {
        if self.needed == 1
            && self
                .relations
                .iter()
                .any(|relation| order.iter().next().is_some_and(|doc| relation.scope(doc).is_some()))
        {
            return self.connect_classes(order, union);
        }
        for doc in order.iter() {
            self.left_out += self.gather(lists, doc);
            self.partners.iter().for_each(|partner| union(doc, partner.kept));
            // If one algorithm is enough for a pair, one document of a class connects the whole class.
            for (number, relation) in self.relations.iter().enumerate() {
                let class = relation.class(doc);
                if self.needed > 1 || lists.count(number, class) == 0 {
                    lists.insert(number, class, doc);
                }
            }
        }
    }

    /// Works like [`Finder::connect`] if only documents from different scopes form pairs and one algorithm is enough: a class with several
    /// scopes is connected, and so are two linked classes.
    fn connect_classes(&self, order: Docs<'_>, mut union: impl FnMut(u64, u64)) {
        for relation in self.relations {
            for doc in order.iter() {
                let class = relation.class(doc);
                let mut is_connected = relation.is_of_several(class);
                relation.linked(class, &mut |linked, _| {
                    is_connected = true;
                    union(class, linked);
                });
                if is_connected {
                    union(class, doc);
                }
            }
        }
    }

    fn list(&self, lists: &mut Lists<'_>, doc: u64, always: bool) {
        for (number, relation) in self.relations.iter().enumerate() {
            let class = relation.class(doc);
            if let Some(scope) = relation.scope(doc).filter(|_| !lists.counts.is_empty()) {
                match self.place(lists, (number, class), doc, scope) {
                    Place::Listed => lists.put(number, class, doc),
                    Place::Beyond => lists.add(number, class),
                    Place::Again => {}
                }
            } else if always || lists.count(number, class) == 0 {
                lists.insert(number, class, doc);
            }
        }
    }

    /// Returns whether a kept document is listed if only documents from different scopes form pairs. A document needs at most `longest`
    /// partners in a class, so this document is not listed if the documents of every other scope already have that many listed partners.
    fn place(&self, lists: &Lists<'_>, (number, class): (usize, u64), doc: u64, scope: u64) -> Place {
        let relation = &self.relations[number];
        let (mut is_again, mut listed, mut scopes) = (false, 0, Vec::<(u64, u64)>::new());
        lists.each(number, class, |kept| {
            let of = relation.scope(kept).unwrap_or_default();
            is_again = of == scope && relation.are_copies(kept, doc);
            listed += 1;
            if lists.longest < u64::MAX {
                match scopes.iter_mut().find(|(known, _)| *known == of) {
                    Some((_, count)) => *count += 1,
                    None => scopes.push((of, 1)),
                }
            }
            !is_again
        });
        let most = scopes.iter().filter(|(of, _)| *of != scope).map(|(_, count)| *count).max().unwrap_or(0);
        match listed - most {
            _ if is_again => Place::Again,
            others if others < lists.longest => Place::Listed,
            _ => Place::Beyond,
        }
    }

    /// Returns the similarity of two documents if they form a pair.
    pub fn pair(&self, x: u64, y: u64) -> Option<(usize, f32)> {
        let found = |number| Some((number, related(&self.relations[number], x, y)?));
        let found: Vec<(usize, f32)> = (0..self.relations.len()).filter_map(found).collect();
        if found.len() < self.needed {
            return None;
        }
        found.into_iter().reduce(better)
    }
}

/// Returns the similarity of two documents in one relation, if they form a pair in this relation.
fn related<R: Relation>(relation: &R, x: u64, y: u64) -> Option<f32> {
    if !may_pair(relation, x, y) {
        return None;
    }
    let (a, b) = (relation.class(x), relation.class(y));
    if a == b {
        return Some(relation.equal());
    }
    let mut similarity = None;
    relation.linked(a, &mut |class, value| similarity = similarity.or((class == b).then_some(value)));
    similarity
}

/// Returns the higher of two similarities. If the similarities are equal, returns the similarity from the earlier algorithm.
fn better(x: (usize, f32), y: (usize, f32)) -> (usize, f32) {
    if y.1 > x.1 || (y.1 == x.1 && y.0 < x.0) { y } else { x }
}

#[cfg(test)]
#[path = "survive_tests.rs"]
mod tests;
