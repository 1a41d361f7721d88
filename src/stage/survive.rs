//! survive: which documents stay, and which kept document each removed one is a duplicate of.
//!
//! Documents are visited in order of preference. One that forms a pair with a document kept before it is removed, else it
//! is kept; so no two kept documents are a pair, and each removed one has a kept partner (design.md 3). A pair counts if
//! at least `needed` algorithms found it.
//!
//! Pairs are never listed: each algorithm gives classes of equal documents and links between classes. For each class the
//! kept documents are chained in a list, so a document looks at the lists of its own class and of the linked ones.
//!
//! Where K of n algorithms must agree, a pair is known to at least one of any n - K + 1 of them. So only those with the
//! shortest lists are looked through, and the others are asked about what was met there: a class of a hundred thousand
//! documents that all stay costs nothing to `--decide all` if another algorithm tells them apart.

use crate::row::{Docs, Slots};

/// What one algorithm knows of documents.
pub trait Relation {
    /// The document's class, named by its smallest document; none where it has no signature.
    fn class(&self, doc: u64) -> Option<u64>;
    /// The classes that form pairs with this one, each with the similarity.
    fn linked(&self, class: u64, each: &mut dyn FnMut(u64, f32));
    /// The similarity of two documents of one class.
    fn equal(&self) -> f32;
}

/// A document that goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Removal {
    /// The document.
    pub doc: u64,
    /// The best kept document that it forms a pair with, or that its chain leads to.
    pub kept: u64,
    /// Which algorithm's similarity it is: the highest among those that found the pair. None for a chain.
    pub found: Option<(usize, f32)>,
}

/// The lists of kept documents: for each algorithm a head a class and a next a document, 0 for none, n + 1 for n.
/// Arrays as long as there are documents, all 0 at the start.
///
/// Where one algorithm is enough to make a pair, two documents of a class are never both listed: then the heads are all
/// there is, and the other two stay empty.
pub struct Lists<'l> {
    /// By algorithm, by class.
    pub heads: Vec<Slots<'l>>,
    /// By algorithm, by class: how many documents its list has.
    pub counts: Vec<Slots<'l>>,
    /// By algorithm, by document.
    pub next: Vec<Slots<'l>>,
}

impl Lists<'_> {
    fn insert(&mut self, relation: usize, class: u64, doc: u64) {
        let heads = &mut self.heads[relation];
        if let (Some(counts), Some(next)) = (self.counts.get_mut(relation), self.next.get_mut(relation)) {
            next.set(doc, heads.get(class));
            counts.set(class, counts.get(class) + 1);
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
}

impl<'f, R: Relation> Finder<'f, R> {
    /// Pairs that `needed` of the relations found, at least one; a document is compared with at most `most` listed ones.
    pub fn new(relations: &'f [R], needed: usize, most: u64) -> Finder<'f, R> {
        Finder { relations, needed, most, left_out: 0, lengths: Vec::new(), met: Vec::new() }
    }

    /// Each listed document that forms a pair with `doc`, with the best similarity and its algorithm.
    fn partners(&mut self, lists: &Lists<'_>, doc: u64, mut each: impl FnMut(u64, (usize, f32))) {
        // Of one relation the lists are looked through, whatever stands in them: then nothing has to be measured.
        let alone = self.relations.len() == 1 && self.needed == 1;
        if alone {
            self.lengths.clear();
            self.lengths.push((u64::MAX, 0));
        } else {
            self.measure(lists, doc);
        }
        let (searched, asked) = self.lengths.split_at((self.relations.len() + 1).saturating_sub(self.needed));
        let met = &mut self.met;
        met.clear();
        for &(length, number) in searched {
            let relation = &self.relations[number];
            let Some(class) = relation.class(doc).filter(|_| length > 0) else { continue };
            let room = self.most - met.len() as u64;
            let (most, mut no_room) = (self.most, 0);
            let mut look = |class, similarity| {
                lists.each(number, class, |kept| {
                    let fits = (met.len() as u64) < most;
                    if fits {
                        met.push((kept, number, similarity));
                    } else {
                        no_room += 1;
                    }
                    fits
                });
            };
            look(class, relation.equal());
            relation.linked(class, &mut look);
            // A list of one relation alone has one document; longer ones are not looked through to their end.
            self.left_out += if alone { no_room } else { length.saturating_sub(room) };
        }
        met.sort_unstable_by_key(|&(kept, number, _)| (kept, number));
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
            if let Some(best) = best.filter(|_| algorithms >= self.needed) {
                each(kept, best);
            }
        }
    }

    /// Fills `lengths` for one document.
    fn measure(&mut self, lists: &Lists<'_>, doc: u64) {
        self.lengths.clear();
        for (number, relation) in self.relations.iter().enumerate() {
            let mut length = 0;
            if let Some(class) = relation.class(doc) {
                length += lists.count(number, class);
                relation.linked(class, &mut |linked, _| length += lists.count(number, linked));
            }
            self.lengths.push((length, number));
        }
        self.lengths.sort_unstable();
    }

    /// The survivor rule. `order`: every document that may be in a pair, best first; `better(a, b)`: a comes before b.
    pub fn survive<E>(
        &mut self,
        order: Docs<'_>,
        lists: &mut Lists<'_>,
        better: impl Fn(u64, u64) -> bool,
        mut removed: impl FnMut(Removal) -> Result<(), E>,
    ) -> Result<(), E> {
        for doc in order.iter() {
            let mut best: Option<Removal> = None;
            self.partners(lists, doc, |kept, found| {
                if best.is_none_or(|removal| better(kept, removal.kept)) {
                    best = Some(Removal { doc, kept, found: Some(found) });
                }
            });
            match best {
                Some(removal) => removed(removal)?,
                None => self.list(lists, doc, true),
            }
        }
        Ok(())
    }

    /// `union` for each pair of the relation that is needed to connect what the pairs connect.
    pub fn connect(&mut self, order: Docs<'_>, lists: &mut Lists<'_>, mut union: impl FnMut(u64, u64)) {
        for doc in order.iter() {
            self.partners(lists, doc, |other, _| union(doc, other));
            // One document of a class connects the whole class, where one algorithm is enough to make a pair.
            self.list(lists, doc, self.needed > 1);
        }
    }

    fn list(&self, lists: &mut Lists<'_>, doc: u64, always: bool) {
        for (number, relation) in self.relations.iter().enumerate() {
            if let Some(class) = relation.class(doc)
                && (always || lists.count(number, class) == 0)
            {
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
    let (a, b) = (relation.class(x)?, relation.class(y)?);
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
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// A relation by definition: class labels (documents with the same label are equal; 9: unsigned) and linked classes.
    struct Plain {
        class: Vec<u64>,
        links: Vec<(u64, u64)>,
    }

    impl Plain {
        fn new(labels: &[u8], links: &[(u8, u8)]) -> Plain {
            let class: Vec<u64> = labels
                .iter()
                .map(|label| match label {
                    9 => 9999,
                    label => labels.iter().position(|other| other == label).unwrap_or(0) as u64,
                })
                .collect();
            let docs = labels.len() as u64;
            let of = |doc: u8| class[(u64::from(doc) % docs) as usize];
            let links = links.iter().map(|&(x, y)| (of(x), of(y)));
            let links = links.filter(|(x, y)| x != y && *x != 9999 && *y != 9999).collect();
            Plain { class, links }
        }

        fn is_pair(&self, x: usize, y: usize) -> bool {
            let (a, b) = (self.class[x], self.class[y]);
            a != 9999 && b != 9999 && (a == b || self.links.contains(&(a, b)) || self.links.contains(&(b, a)))
        }
    }

    impl Relation for Plain {
        fn class(&self, doc: u64) -> Option<u64> {
            Some(self.class[doc as usize]).filter(|&class| class != 9999)
        }

        fn linked(&self, class: u64, each: &mut dyn FnMut(u64, f32)) {
            for &(a, b) in self.links.iter().collect::<BTreeSet<_>>() {
                if a == class {
                    each(b, 0.5);
                }
                if b == class {
                    each(a, 0.5);
                }
            }
        }

        fn equal(&self) -> f32 {
            1.0
        }
    }

    /// Lists for so many relations; heads alone where one of them is enough.
    fn lists(memory: &mut [Vec<u64>], relations: usize) -> Lists<'_> {
        let (heads, rest) = memory.split_at_mut(relations);
        let (counts, next) = rest.split_at_mut(rest.len() / 2);
        fn slices(vectors: &mut [Vec<u64>]) -> Vec<Slots<'_>> {
            vectors.iter_mut().map(|vector| Slots::Wide(vector)).collect()
        }
        Lists { heads: slices(heads), counts: slices(counts), next: slices(next) }
    }

    proptest::proptest! {
        #[test]
        fn survivors_are_those_of_the_definition(
            labels in proptest::collection::vec(proptest::collection::vec(0u8..10, 8), 3),
            links in proptest::collection::vec(proptest::collection::vec((0u8..8, 0u8..8), 0..6), 3),
            (count, needed) in (1usize..4).prop_flat_map(|count| (proptest::strategy::Just(count), 1..=count)),
            order in proptest::sample::subsequence((0u64..8).collect::<Vec<_>>(), 8).prop_shuffle(),
        ) {
            let relations: Vec<Plain> = (0..count).map(|at| Plain::new(&labels[at], &links[at])).collect();
            let is_pair = |x: u64, y: u64| {
                relations.iter().filter(|relation| relation.is_pair(x as usize, y as usize)).count() >= needed
            };
            let rank = |doc: u64| order.iter().position(|&other| other == doc);
            // The definition.
            let (mut kept, mut expected) = (Vec::new(), Vec::new());
            for &doc in &order {
                match kept.iter().copied().find(|&other| is_pair(doc, other)) {
                    Some(best) => expected.push((doc, best)),
                    None => kept.push(doc),
                }
            }
            let mut memory = vec![vec![0; 8]; if needed == 1 { count } else { 3 * count }];
            let mut finder = Finder::new(&relations, needed, 100);
            let mut got = Vec::new();
            finder.survive(Docs::Wide(&order), &mut lists(&mut memory, count), |a, b| rank(a) < rank(b), |removal| {
                Ok::<_, ()>(got.push((removal.doc, removal.kept)))
            }).unwrap();
            proptest::prop_assert_eq!(got, expected);

            // Components over listed pairs are those over all pairs.
            let spread = |edges: &[(u64, u64)]| {
                let mut labels: Vec<u64> = (0..8).collect();
                for _ in 0..8 {
                    for &(x, y) in edges {
                        let label = labels[x as usize].min(labels[y as usize]);
                        labels[x as usize] = label;
                        labels[y as usize] = label;
                    }
                }
                labels
            };
            let all: Vec<(u64, u64)> =
                (0..8).flat_map(|x| (0..x).map(move |y| (x, y))).filter(|&(x, y)| is_pair(x, y)).collect();
            let mut memory = vec![vec![0; 8]; if needed == 1 { count } else { 3 * count }];
            let mut unions = Vec::new();
            finder.connect(Docs::Wide(&order), &mut lists(&mut memory, count), |x, y| unions.push((x, y)));
            proptest::prop_assert_eq!(spread(&unions), spread(&all));
            for x in 0..8 {
                for y in 0..x {
                    proptest::prop_assert_eq!(finder.pair(x, y).is_some(), is_pair(x, y));
                }
            }
        }
    }

    /// A hundred documents that one algorithm calls equal and the other tells apart, then a copy of each: every copy is
    /// found, although no more than ten listed documents may be looked at.
    #[test]
    fn a_large_class_of_one_algorithm_does_not_hide_what_another_tells_apart() {
        let docs = 200;
        let pairs: Vec<u64> = (0..docs).map(|doc| doc % 100).collect();
        let relations = [Plain { class: vec![0; 200], links: vec![] }, Plain { class: pairs, links: vec![] }];
        let mut memory = vec![vec![0; 200]; 6];
        let mut finder = Finder::new(&relations, 2, 10);
        let order: Vec<u64> = (0..docs).collect();
        let mut removed = Vec::new();
        let push = |removal: Removal| Ok::<_, ()>(removed.push((removal.doc, removal.kept)));
        finder.survive(Docs::Wide(&order), &mut lists(&mut memory, 2), |a, b| a < b, push).unwrap();
        assert_eq!(removed, (100..200).map(|doc| (doc, doc - 100)).collect::<Vec<_>>());
        assert_eq!(finder.left_out, 0);

        // Where nothing tells them apart, what is left out is counted one by one.
        let relations = [Plain { class: vec![0; 200], links: vec![] }, Plain { class: vec![0; 200], links: vec![] }];
        let mut finder = Finder::new(&relations, 2, 10);
        let mut memory = vec![vec![0; 200]; 6];
        let mut all = lists(&mut memory, 2);
        (0..30).for_each(|doc| (0..2).for_each(|relation| all.insert(relation, 0, doc)));
        finder.partners(&all, 30, |_, _| ());
        assert_eq!(finder.left_out, 20);

        // So it is where one algorithm alone is asked, whose lists are not measured.
        let links = (1..=30).map(|doc| (0, doc)).collect();
        let relations = [Plain { class: (0..200).collect(), links }];
        let (mut finder, mut memory, mut met) = (Finder::new(&relations, 1, 10), vec![vec![0; 200]; 1], 0);
        let mut all = lists(&mut memory, 1);
        (1..=30).for_each(|doc| all.insert(0, doc, doc));
        finder.partners(&all, 0, |_, _| met += 1);
        assert_eq!((met, finder.left_out), (10, 20));
    }

    use proptest::strategy::Strategy;
}
