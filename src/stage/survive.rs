//! survive: which documents stay, and which kept document each removed one is a duplicate of.
//!
//! Documents are visited in order of preference. One that forms a pair with a document kept before it is removed, else it
//! is kept; so no two kept documents are a pair, and each removed one has a kept partner (design.md 3). A pair counts if
//! at least `needed` algorithms found it.
//!
//! Pairs are never listed: each algorithm gives classes of equal documents and links between classes. For each class the
//! kept documents are chained in a list, so a document looks at the lists of its own class and of the linked ones.

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
/// Slices as long as there are documents, all 0 at the start.
pub struct Lists<'l> {
    /// By algorithm, by class.
    pub heads: Vec<&'l mut [u64]>,
    /// By algorithm, by document.
    pub next: Vec<&'l mut [u64]>,
}

impl Lists<'_> {
    fn insert(&mut self, relation: usize, class: u64, doc: u64) {
        let head = &mut self.heads[relation][class as usize];
        self.next[relation][doc as usize] = *head;
        *head = doc + 1;
    }

    fn is_empty(&self, relation: usize, class: u64) -> bool {
        self.heads[relation][class as usize] == 0
    }

    fn each(&self, relation: usize, class: u64, mut each: impl FnMut(u64) -> bool) {
        let mut at = self.heads[relation][class as usize];
        while at > 0 {
            if !each(at - 1) {
                return;
            }
            at = self.next[relation][at as usize - 1];
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
    met: Vec<(u64, usize, f32)>,
}

impl<'f, R: Relation> Finder<'f, R> {
    /// Pairs that `needed` of the relations found; a document is compared with at most `most` listed documents.
    pub fn new(relations: &'f [R], needed: usize, most: u64) -> Finder<'f, R> {
        Finder { relations, needed, most, left_out: 0, met: Vec::new() }
    }

    /// Each listed document that forms a pair with `doc`, with the best similarity and its algorithm.
    fn partners(&mut self, lists: &Lists<'_>, doc: u64, mut each: impl FnMut(u64, (usize, f32))) {
        let (met, most, left_out) = (&mut self.met, self.most, &mut self.left_out);
        met.clear();
        for (number, relation) in self.relations.iter().enumerate() {
            let Some(class) = relation.class(doc) else { continue };
            let mut look = |class, similarity| {
                lists.each(number, class, |kept| {
                    if met.len() as u64 >= most {
                        *left_out += 1;
                        return false;
                    }
                    met.push((kept, number, similarity));
                    true
                });
            };
            look(class, relation.equal());
            relation.linked(class, &mut look);
        }
        met.sort_unstable_by_key(|&(kept, number, _)| (kept, number));
        for run in met.chunk_by(|a, b| a.0 == b.0) {
            let algorithms = run.chunk_by(|a, b| a.1 == b.1).count();
            if algorithms >= self.needed {
                let best = run.iter().fold((run[0].1, run[0].2), |best, &(_, number, similarity)| {
                    if similarity > best.1 { (number, similarity) } else { best }
                });
                each(run[0].0, best);
            }
        }
    }

    /// The survivor rule. `order`: every document that may be in a pair, best first; `better(a, b)`: a comes before b.
    pub fn survive<E>(
        &mut self,
        order: &[u64],
        lists: &mut Lists<'_>,
        better: impl Fn(u64, u64) -> bool,
        mut removed: impl FnMut(Removal) -> Result<(), E>,
    ) -> Result<(), E> {
        for &doc in order {
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
    pub fn connect(&mut self, order: &[u64], lists: &mut Lists<'_>, mut union: impl FnMut(u64, u64)) {
        for &doc in order {
            self.partners(lists, doc, |other, _| union(doc, other));
            // One document of a class connects the whole class, where one algorithm is enough to make a pair.
            self.list(lists, doc, self.needed > 1);
        }
    }

    fn list(&self, lists: &mut Lists<'_>, doc: u64, always: bool) {
        for (number, relation) in self.relations.iter().enumerate() {
            if let Some(class) = relation.class(doc)
                && (always || lists.is_empty(number, class))
            {
                lists.insert(number, class, doc);
            }
        }
    }

    /// The similarity of two documents if they form a pair.
    pub fn pair(&self, x: u64, y: u64) -> Option<(usize, f32)> {
        let mut found: Vec<(usize, f32)> = Vec::new();
        for (number, relation) in self.relations.iter().enumerate() {
            let (Some(a), Some(b)) = (relation.class(x), relation.class(y)) else { continue };
            if a == b {
                found.push((number, relation.equal()));
            } else {
                let mut similarity = None;
                relation.linked(a, &mut |class, value| similarity = similarity.or((class == b).then_some(value)));
                found.extend(similarity.map(|value| (number, value)));
            }
        }
        if found.len() < self.needed {
            return None;
        }
        found.into_iter().reduce(|best, other| if other.1 > best.1 { other } else { best })
    }
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

    fn lists<'l>(memory: &'l mut [Vec<u64>]) -> Lists<'l> {
        let (heads, next) = memory.split_at_mut(2);
        let slices = |vectors: &'l mut [Vec<u64>]| vectors.iter_mut().map(|vector| &mut vector[..]).collect();
        Lists { heads: slices(heads), next: slices(next) }
    }

    proptest::proptest! {
        #[test]
        fn survivors_are_those_of_the_definition(
            labels in proptest::collection::vec(proptest::collection::vec(0u8..10, 8), 2),
            links in proptest::collection::vec(proptest::collection::vec((0u8..8, 0u8..8), 0..6), 2),
            needed in 1usize..3,
            order in proptest::sample::subsequence((0u64..8).collect::<Vec<_>>(), 8).prop_shuffle(),
        ) {
            let relations = [Plain::new(&labels[0], &links[0]), Plain::new(&labels[1], &links[1])];
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
            let mut memory = vec![vec![0; 8]; 4];
            let mut finder = Finder::new(&relations, needed, 100);
            let mut got = Vec::new();
            finder.survive(&order, &mut lists(&mut memory), |a, b| rank(a) < rank(b), |removal| {
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
            let mut memory = vec![vec![0; 8]; 4];
            let mut unions = Vec::new();
            finder.connect(&order, &mut lists(&mut memory), |x, y| unions.push((x, y)));
            proptest::prop_assert_eq!(spread(&unions), spread(&all));
            for x in 0..8 {
                for y in 0..x {
                    proptest::prop_assert_eq!(finder.pair(x, y).is_some(), is_pair(x, y));
                }
            }
        }
    }

    use proptest::strategy::Strategy;
}
