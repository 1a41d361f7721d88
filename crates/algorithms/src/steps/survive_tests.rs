//! Compares the survivor rule with its definition, and tests its limits.

use super::*;
use crate::steps::choose::best;
use std::collections::BTreeSet;

/// Holds a relation as its definition describes it: class labels (documents with the same label are equal) and linked classes.
struct Plain {
    class: Vec<u64>,
    links: Vec<(u64, u64)>,
}

impl Plain {
    fn new(labels: &[u8], links: &[(u8, u8)]) -> Plain {
        let first = |label: &u8| labels.iter().position(|other| other == label).unwrap_or(0) as u64;
        let class: Vec<u64> = labels.iter().map(first).collect();
        let docs = labels.len() as u64;
        let of = |doc: u8| class[(u64::from(doc) % docs) as usize];
        let links = links.iter().map(|&(x, y)| (of(x), of(y)));
        let links = links.filter(|(x, y)| x != y).collect();
        Plain { class, links }
    }

    fn is_pair(&self, x: usize, y: usize) -> bool {
        let (a, b) = (self.class[x], self.class[y]);
        a == b || self.links.contains(&(a, b)) || self.links.contains(&(b, a))
    }
}

impl Relation for Plain {
    fn class(&self, doc: u64) -> u64 {
        self.class[doc as usize]
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

/// Returns lists for this many relations. The lists have only heads if one relation is enough.
fn lists(memory: &mut [Vec<u64>], relations: usize) -> Lists<'_> {
    let (heads, rest) = memory.split_at_mut(relations);
    let (counts, next) = rest.split_at_mut(rest.len() / 2);
    fn slices(vectors: &mut [Vec<u64>]) -> Vec<Slots<'_>> {
        vectors.iter_mut().map(|vector| Slots::Wide(vector)).collect()
    }
    Lists { heads: slices(heads), counts: slices(counts), next: slices(next), longest: u64::MAX }
}

proptest::proptest! {
    #[test]
    fn survivors_are_those_of_the_definition(
        labels in proptest::collection::vec(proptest::collection::vec(0u8..10, 8), 3),
        links in proptest::collection::vec(proptest::collection::vec((0u8..8, 0u8..8), 0..6), 3),
        (count, needed) in (1usize..4).prop_flat_map(|count| (proptest::strategy::Just(count), 1..=count)),
        holds in proptest::collection::vec(proptest::collection::vec(proptest::bool::ANY, 8), 8),
        order in proptest::sample::subsequence((0u64..8).collect::<Vec<_>>(), 8).prop_shuffle(),
    ) {
        let relations: Vec<Plain> = (0..count).map(|at| Plain::new(&labels[at], &links[at])).collect();
        let is_pair = |x: u64, y: u64| {
            relations.iter().filter(|relation| relation.is_pair(x as usize, y as usize)).count() >= needed
        };
        let rank = |doc: u64| order.iter().position(|&other| other == doc);
        // This loop applies the definition.
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
        let better = |a, b| rank(a) < rank(b);
        let choose = |doc, partners: &mut [Partner], _| Ok(best(doc, partners, better));
        finder.survive(Docs::Wide(&order), |_| None, &mut lists(&mut memory, count), choose, |removal| {
            Ok::<_, ()>(got.push((removal.doc, removal.kept)))
        }).unwrap();
        proptest::prop_assert_eq!(got, expected);

        // This loop applies the definition if a document is removed only in favor of a document that contains it.
        let (mut kept, mut expected) = (Vec::new(), Vec::new());
        for &doc in &order {
            let partners = || kept.iter().copied().filter(|&other| is_pair(doc, other));
            match partners().find(|&other| holds[doc as usize][other as usize]) {
                Some(other) => expected.push((doc, other)),
                None => kept.push(doc),
            }
        }
        let mut memory = vec![vec![0; 8]; 3 * count];
        let mut finder = Finder::new(&relations, needed, 100);
        let mut got = Vec::new();
        let choose = |doc: u64, partners: &mut [Partner], beyond| {
            assert_eq!(beyond, 0);
            let mut partners: Vec<Partner> = partners.to_vec();
            partners.retain(|partner| holds[doc as usize][partner.kept as usize]);
            Ok(best(doc, &partners, better))
        };
        finder.survive(Docs::Wide(&order), |_| None, &mut lists(&mut memory, count), choose, |removal| {
            Ok::<_, ()>(got.push((removal.doc, removal.kept)))
        }).unwrap();
        proptest::prop_assert_eq!(got, expected);

        // The listed pairs produce the same components as all pairs.
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

/// One algorithm treats a hundred documents as equal, and the other distinguishes them. A copy of each document follows. Every copy is
/// found, although at most ten listed documents may be compared.
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
    let choose = |doc, partners: &mut [Partner], _| Ok(best(doc, partners, |a, b| a < b));
    finder.survive(Docs::Wide(&order), |_| None, &mut lists(&mut memory, 2), choose, push).unwrap();
    assert_eq!(removed, (100..200).map(|doc| (doc, doc - 100)).collect::<Vec<_>>());
    assert_eq!(finder.left_out, 0);

    // If nothing distinguishes the documents, skipped comparisons are counted individually.
    let relations = [Plain { class: vec![0; 200], links: vec![] }, Plain { class: vec![0; 200], links: vec![] }];
    let mut finder = Finder::new(&relations, 2, 10);
    let mut memory = vec![vec![0; 200]; 6];
    let mut all = lists(&mut memory, 2);
    (0..30).for_each(|doc| (0..2).for_each(|relation| all.insert(relation, 0, doc)));
    assert_eq!(finder.gather(&all, 30), 20);

    // This repeats the test with a single algorithm, whose lists are not measured.
    let links = (1..=30).map(|doc| (0, doc)).collect();
    let relations = [Plain { class: (0..200).collect(), links }];
    let (mut finder, mut memory) = (Finder::new(&relations, 1, 10), vec![vec![0; 200]; 1]);
    let mut all = lists(&mut memory, 1);
    (1..=30).for_each(|doc| all.insert(0, doc, doc));
    assert_eq!((finder.gather(&all, 0), finder.partners.len()), (20, 10));
}

/// All thirty documents in one class are kept. The first three are listed, and the remaining documents are only counted.
#[test]
fn the_first_of_a_class_are_listed_where_no_more_are_looked_at() {
    let relations = [Plain { class: vec![0; 40], links: vec![] }];
    let mut memory = vec![vec![0; 40]; 3];
    let mut all = Lists { longest: 3, ..lists(&mut memory, 1) };
    (0..30).for_each(|doc| all.insert(0, 0, doc));
    let mut finder = Finder::new(&relations, 1, 100);
    assert_eq!(finder.gather(&all, 30), 27);
    assert_eq!(finder.partners.iter().map(|partner| partner.kept).collect::<Vec<_>>(), [0, 1, 2]);
}

/// Returns the removed documents with the kept documents that replace them. The better of two documents is earlier in `ranks`.
fn gone(
    relations: &[Plain],
    needed: usize,
    order: &[u64],
    ranks: &[u64],
    settled: impl Fn(u64) -> Option<Settled>,
) -> Vec<(u64, u64)> {
    let rank = |doc: u64| ranks.iter().position(|&other| other == doc);
    let mut memory = vec![vec![0; ranks.len()]; 3 * relations.len()];
    let mut finder = Finder::new(relations, needed, 100);
    let mut got = Vec::new();
    let choose = |doc, partners: &mut [Partner], _| Ok(best(doc, partners, |a, b| rank(a) < rank(b)));
    let push = |removal: Removal| Ok::<_, ()>(got.push((removal.doc, removal.kept)));
    finder.survive(Docs::Wide(order), settled, &mut lists(&mut memory, relations.len()), choose, push).unwrap();
    got
}

#[test]
fn a_copy_of_a_removed_document_goes_in_favor_of_the_same_one() {
    // Documents 1 and 3 were removed in favor of 0, but they form no pair with 0 in this relation. 2 is a copy of 1; 4 is a copy of 3, and
    // both form a pair with 5.
    let relations = [Plain::new(&[0, 1, 1, 3, 3, 5, 6], &[(4, 5)])];
    let settled = |doc| match doc {
        0 | 5 => Some(Settled::Kept),
        1 | 3 => Some(Settled::Removed),
        2 | 4 => Some(Settled::Copy(0)),
        _ => None,
    };
    let order: Vec<u64> = vec![0, 5, 1, 3, 2, 4, 6];
    assert_eq!(gone(&relations, 1, &order, &order, settled), [(2, 0), (4, 5)]);
}

proptest::proptest! {
    /// Processing each component separately gives the same survivors, and so does processing in rounds; the run may stop after any round.
    /// Each round removes the documents that have a better partner that was kept, then keeps the documents whose better partners were all
    /// removed.
    #[test]
    fn components_alone_and_rounds_leave_the_same_survivors(
        labels in proptest::collection::vec(proptest::collection::vec(0u8..14, 12), 2),
        links in proptest::collection::vec(proptest::collection::vec((0u8..12, 0u8..12), 0..9), 2),
        needed in 1usize..=2,
        rounds in 0usize..5,
        order in proptest::sample::subsequence((0u64..12).collect::<Vec<_>>(), 12).prop_shuffle(),
    ) {
        let relations: Vec<Plain> = labels.iter().zip(&links).map(|(labels, links)| Plain::new(labels, links)).collect();
        let expected: BTreeSet<(u64, u64)> = gone(&relations, needed, &order, &order, |_| None).into_iter().collect();
        let agree = |x: u64, y: u64| relations.iter().filter(|of| of.is_pair(x as usize, y as usize)).count();

        // The components are computed over the links of all relations, so they may be larger than the components that the pairs form.
        let mut components: Vec<u64> = (0..12).collect();
        for (x, y) in (0..12 * 144).map(|at| (at / 12 % 12, at % 12)).filter(|&(x, y)| agree(x, y) > 0) {
            let label = components[x as usize].min(components[y as usize]);
            components[x as usize] = label;
            components[y as usize] = label;
        }
        let mut got = BTreeSet::new();
        for component in 0..12 {
            let alone: Vec<u64> = order.iter().copied().filter(|&doc| components[doc as usize] == component).collect();
            got.extend(gone(&relations, needed, &alone, &order, |_| None));
        }
        proptest::prop_assert_eq!(&got, &expected);

        let mut known = [None; 12];
        for _ in 0..rounds {
            for (becomes, any) in [(Settled::Removed, Settled::Kept), (Settled::Kept, Settled::Removed)] {
                let before = known;
                for (at, &doc) in order.iter().enumerate() {
                    let mut partners = order[..at].iter().filter(|&&other| agree(doc, other) >= needed);
                    let is_it = |other: &u64| before[*other as usize] == Some(any);
                    let follows = if any == Settled::Kept { partners.any(is_it) } else { partners.all(is_it) };
                    if follows && before[doc as usize].is_none() {
                        known[doc as usize] = Some(becomes);
                    }
                }
            }
        }
        let rest = gone(&relations, needed, &order, &order, |doc| known[doc as usize]);
        let decided = |doc: &u64| known[*doc as usize] == Some(Settled::Removed);
        let all: BTreeSet<u64> = rest.iter().map(|(doc, _)| *doc).chain((0..12).filter(decided)).collect();
        proptest::prop_assert_eq!(all, expected.iter().map(|(doc, _)| *doc).collect());
        proptest::prop_assert!(rest.iter().all(|removal| expected.contains(removal)));
    }
}

use proptest::strategy::Strategy;
