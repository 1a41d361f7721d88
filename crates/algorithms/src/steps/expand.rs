//! expand: turns classes of equal documents, and pairs of their representatives, into pairs of documents.
//!
//! Equal texts form a star: for each text, the best document forms a pair with every other document that has this text, and only the best
//! document forms pairs with documents that have other texts. The number of pairs of copies therefore grows linearly with the number of
//! documents.
//!
//! A class of t different texts represents t (t - 1) / 2 pairs of texts. If the number of texts exceeds `max_group`, only the pairs with
//! the best document of the class (the center) are written, but all pairs are counted.
//!
//! ```text
//! class a a' b c (a' has the text of a)      a-a', a-b, a-c, b-c      max_group 2, best b: a-a', b-a, b-c
//! ```

use std::convert::Infallible;

use super::copies::Copies;
use crate::algorithm::SignatureScheme;
use dupsift_core::row::{self, Docs, Pair, Related};

/// The bit in [`Pair::matched`] that marks a pair of exact copies. This bit is higher than the bits of every method's rules.
pub const COPY: u16 = 1 << 15;

/// Returns the pair formed by two documents in the same class; `same` is the relation between equal documents, if the method classifies
/// pairs. Exact copies are marked as copies, not with a rule of the method.
#[inline]
pub fn of_class(
    scheme: &SignatureScheme,
    same: Option<Related>,
    a: u64,
    b: u64,
    are_copies: impl Fn(&Pair) -> bool,
) -> Pair {
    let pair = Pair { related: same, ..Pair::new(a, b, scheme.equal, 1) };
    Pair { matched: if are_copies(&pair) { COPY } else { 1 }, ..pair }
}

/// Returns the pair formed by a document in the first class and a document in the second class; the representatives of these classes are a
/// pair. Rules with a direction are mirrored if the smaller number is in the second class.
#[inline]
pub fn of_both(scheme: &SignatureScheme, representatives: &Pair, x: u64, y: u64) -> Pair {
    let Pair { score, matched, related, .. } = *representatives;
    let matched = if x < y { matched } else { scheme.mirrored(matched) };
    Pair { related, ..Pair::new(x, y, score, matched) }
}

/// Joins with `+` the names of the rules that found a pair, and caches the last result, because the next pair nearly always has the same
/// rules.
pub struct MatchedBy<'r> {
    rules: &'r [&'r str],
    matched: u16,
    joined: String,
}

impl<'r> MatchedBy<'r> {
    /// Creates a cache for the rules of a method; `rules` holds their names in the order of their bits.
    pub fn new(rules: &'r [&'r str]) -> MatchedBy<'r> {
        MatchedBy { rules, matched: 0, joined: String::new() }
    }

    /// Returns the names of the rules whose bits are set.
    pub fn of(&mut self, matched: u16) -> &str {
        if self.matched != matched {
            let names = self.rules.iter().enumerate().filter(|(bit, _)| matched >> bit & 1 == 1).map(|(_, name)| *name);
            self.joined = names.chain((matched & COPY != 0).then_some(row::COPY)).collect::<Vec<_>>().join("+");
            self.matched = matched;
        }
        &self.joined
    }
}

/// Holds the different texts in a class, each with the best document that has it.
pub struct Texts<'t, C, B> {
    class: Docs<'t>,
    copies: &'t C,
    best: B,
}

impl<'t, C: Copies, B: Fn(Docs<'_>) -> u64> Texts<'t, C, B> {
    /// Returns the texts in a class. The class must contain all copies of its documents; `best` selects the best of several documents.
    pub fn new(class: Docs<'t>, copies: &'t C, best: B) -> Texts<'t, C, B> {
        Texts { class, copies, best }
    }

    /// Calls `each` once for each text, with the best document and all documents that have this text.
    ///
    /// # Errors
    /// Returns the errors of `each`.
    pub fn each<E>(&self, mut each: impl FnMut(u64, Docs<'_>) -> Result<(), E>) -> Result<(), E> {
        self.class.iter().filter(|&doc| !self.copies.is_extra_copy(doc)).try_for_each(|doc| {
            let members = self.copies.members(doc);
            if members.is_empty() { each(doc, Docs::One(doc)) } else { each((self.best)(members), members) }
        })
    }

    /// Returns the number of texts.
    pub fn count(&self) -> u64 {
        // Classes of copies are common, and they are counted without a scan.
        if self.class.len() > 1 && self.copies.members(self.class.get(0)).len() == self.class.len() {
            return 1;
        }
        self.class.iter().filter(|&doc| !self.copies.is_extra_copy(doc)).count() as u64
    }

    /// Returns the best document of each text, or only the best document of the class if the number of texts exceeds `max_group`.
    pub fn listed(&self, max_group: u64) -> Vec<u64> {
        let count = self.count();
        if count == 1 || count > max_group {
            return vec![(self.best)(self.class)];
        }
        let mut listed = Vec::new();
        let Ok(()) = self.each(|best, _| Ok::<_, Infallible>(listed.push(best)));
        listed
    }
}

/// Calls `each` with the pairs of documents that have the same text. One document of each pair is the best document with this text. The
/// number of pairs is the number of documents minus the number of texts.
///
/// # Errors
/// Returns the errors of `each`.
pub fn equal_texts<C: Copies, E>(
    texts: &Texts<'_, C, impl Fn(Docs<'_>) -> u64>,
    mut each: impl FnMut(u64, u64) -> Result<(), E>,
) -> Result<(), E> {
    texts.each(|best, members| members.iter().filter(|&doc| doc != best).try_for_each(|doc| each(best, doc)))
}

/// Calls `each` with the pairs of different texts within one class.
///
/// # Errors
/// Returns the errors of `each`.
pub fn within<C: Copies, E>(
    texts: &Texts<'_, C, impl Fn(Docs<'_>) -> u64>,
    max_group: u64,
    mut each: impl FnMut(u64, u64) -> Result<(), E>,
) -> Result<(), E> {
    let listed = texts.listed(max_group);
    if let ([centre], 2..) = (&listed[..], texts.count()) {
        let centre = *centre;
        return texts.each(|best, _| if best == centre { Ok(()) } else { each(centre, best) });
    }
    let mut others = &listed[..];
    while let [first, rest @ ..] = others {
        rest.iter().try_for_each(|&other| each(*first, other))?;
        others = rest;
    }
    Ok(())
}

/// Given two classes that form a pair, calls `each` with the pairs of their texts.
///
/// # Errors
/// Returns the errors of `each`.
pub fn between<C: Copies, E>(
    a: &Texts<'_, C, impl Fn(Docs<'_>) -> u64>,
    b: &Texts<'_, C, impl Fn(Docs<'_>) -> u64>,
    max_group: u64,
    mut each: impl FnMut(u64, u64) -> Result<(), E>,
) -> Result<(), E> {
    let (a, b) = (a.listed(max_group), b.listed(max_group));
    a.iter().try_for_each(|&x| b.iter().try_for_each(|&y| each(x, y)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_core::row::{RelationKind, RowShape, Score, Why};

    #[test]
    fn rules_are_named() {
        let rules = ["first", "two_of_three"];
        let mut names = MatchedBy::new(&rules);
        for (matched, expected) in [(3, "first+two_of_three"), (2, "two_of_three"), (2, "two_of_three"), (COPY, "copy")]
        {
            assert_eq!(names.of(matched), expected);
        }
    }

    /// The first two documents have the same text, and so do 5 and 9.
    struct Known;
    impl Copies for Known {
        fn is_extra_copy(&self, doc: u64) -> bool {
            [2, 9].contains(&doc)
        }

        fn members(&self, doc: u64) -> Docs<'_> {
            match doc {
                1 | 2 => Docs::Wide(&[1, 2]),
                5 | 9 => Docs::Wide(&[5, 9]),
                _ => Docs::NONE,
            }
        }
    }

    type Found = Vec<(u64, u64)>;

    fn collect(run: impl FnOnce(&mut dyn FnMut(u64, u64) -> Result<(), ()>) -> Result<(), ()>) -> Found {
        let mut pairs = Vec::new();
        run(&mut |a, b| Ok(pairs.push((a, b)))).unwrap();
        pairs
    }

    #[test]
    fn equal_texts_are_a_star_and_many_different_ones_too() {
        // The last document is the best.
        let last = |members: Docs<'_>| members.iter().last().unwrap();
        let texts = |docs: &'static [u64]| Texts::new(Docs::Wide(docs), &Known, last);
        let all = texts(&[1, 2, 5, 7, 9]);
        assert_eq!(all.count(), 3);
        assert_eq!(collect(|each| equal_texts(&all, each)), [(2, 1), (9, 5)]);
        assert_eq!(collect(|each| within(&all, 3, each)), [(2, 9), (2, 7), (9, 7)]);
        assert_eq!(collect(|each| within(&all, 2, each)), [(9, 2), (9, 7)]);
        for docs in [&[1, 2][..], &[7]] {
            assert_eq!(collect(|each| within(&texts(docs), 1, each)), []);
        }
        let (pair, one) = (texts(&[1, 2, 7]), texts(&[5, 9]));
        assert_eq!(collect(|each| between(&pair, &one, 2, each)), [(2, 9), (7, 9)]);
        assert_eq!(collect(|each| between(&pair, &one, 1, each)), [(7, 9)]);
    }

    /// Holds the documents of eight texts, of which six form two classes. A document's text is its number modulo 8, so most texts have
    /// copies before and after every other text.
    struct Mixed {
        texts: Vec<Vec<u64>>,
    }

    impl Mixed {
        const DOCS: u64 = 24;
        const FIRST: [u64; 3] = [1, 4, 6];
        const SECOND: [u64; 3] = [0, 3, 7];

        fn new() -> Mixed {
            // Texts 4 and 7 have one document each.
            let is_there = |doc: &u64| ![4, 7].contains(&(doc % 8)) || *doc < 8;
            Mixed { texts: (0..8).map(|text| (text..Mixed::DOCS).step_by(8).filter(is_there).collect()).collect() }
        }

        fn class(&self, texts: [u64; 3]) -> Vec<u64> {
            let mut docs: Vec<u64> = texts.iter().flat_map(|&text| &self.texts[text as usize]).copied().collect();
            docs.sort_unstable();
            docs
        }
    }

    impl Copies for Mixed {
        fn is_extra_copy(&self, doc: u64) -> bool {
            self.texts[doc as usize % 8][0] != doc
        }

        fn members(&self, doc: u64) -> Docs<'_> {
            match &self.texts[doc as usize % 8] {
                docs if docs.len() > 1 => Docs::Wide(docs),
                _ => Docs::NONE,
            }
        }
    }

    /// The first rule has no direction. The second rule says that the document with the smaller number contains the other one, and the
    /// third rule says the opposite.
    fn directed() -> SignatureScheme {
        let rules = &["alike", "contains", "is_contained"];
        SignatureScheme { rules, opposite_rules: Some([1, 2]), ..SignatureScheme::new(RowShape::KEY64) }
    }

    const ALIKE: u16 = 0b001;
    const CONTAINS: u16 = 0b010;
    const IS_CONTAINED: u16 = 0b100;

    #[test]
    fn a_rule_with_a_direction_is_mirrored_if_the_smaller_number_is_in_the_second_class() {
        let (scheme, score) = (directed(), Score { similarity: 0.75, distance: Some(3.0) });
        for (matched, mirrored) in [
            (CONTAINS, IS_CONTAINED),
            (IS_CONTAINED, CONTAINS),
            (ALIKE, ALIKE),
            (ALIKE | CONTAINS, ALIKE | IS_CONTAINED),
            (CONTAINS | IS_CONTAINED, CONTAINS | IS_CONTAINED),
        ] {
            let found = Pair::new(4, 10, score, matched);
            let both = |x, y| of_both(&scheme, &found, x, y);
            // The representatives, copies of the first one, copies of the second one, and copies of both.
            for (x, y) in [(4, 10), (9, 10), (4, 30), (20, 30)] {
                assert_eq!(both(x, y), Pair::new(x, y, score, matched), "{x} {y}");
            }
            for (x, y) in [(11, 10), (30, 29)] {
                assert_eq!(both(x, y), Pair::new(y, x, score, mirrored), "{x} {y}");
            }
        }
        // A rule without a direction is never mirrored.
        let plain = SignatureScheme { opposite_rules: None, ..scheme };
        let found = Pair::new(4, 10, score, CONTAINS);
        assert_eq!(of_both(&plain, &found, 11, 10), Pair::new(10, 11, score, CONTAINS));
    }

    #[test]
    fn a_pair_of_copies_has_the_relation_of_its_representatives() {
        let related = Related { relation: RelationKind::Version, why: Why::Alone, next_best: 0.5, other_title: false };
        let found = Pair { related: Some(related), ..Pair::new(1, 2, Score::EQUAL, ALIKE) };
        for (x, y) in [(1, 2), (9, 2), (17, 26)] {
            assert!(of_both(&directed(), &found, x, y).related.is_some(), "{x} {y}");
        }
        let same = of_class(&directed(), Some(related), 3, 1, |_| false);
        assert_eq!((same.a, same.b, same.matched, same.related.is_some()), (1, 3, ALIKE, true));
        assert_eq!(of_class(&directed(), None, 3, 1, |pair| (pair.a, pair.b) == (1, 3)).matched, COPY);
    }

    /// Checks the direction of every pair of documents in two classes, for each choice of the best document.
    #[test]
    fn every_pair_between_two_classes_says_which_document_contains_the_other() {
        let mixed = Mixed::new();
        for containing in [Mixed::FIRST, Mixed::SECOND] {
            let contains = |doc: u64| containing.contains(&(doc % 8));
            let direction = |smaller: u64| if contains(smaller) { CONTAINS } else { IS_CONTAINED };
            // The first document of the second class has the smallest number.
            let (first, second) = (mixed.class(Mixed::SECOND), mixed.class(Mixed::FIRST));
            let representatives = Pair::new(first[0], second[0], Score::EQUAL, direction(first[0]));
            for best in 0..3 {
                let choose = |docs: Docs<'_>| docs.get(best * (docs.len() - 1) / 2);
                let [a, b] = [&first, &second].map(|class| Texts::new(Docs::Wide(class), &mixed, choose));
                for (max_group, pairs) in [(3, 9), (2, 1)] {
                    let found = collect(|each| between(&a, &b, max_group, each));
                    assert_eq!(found.len(), pairs);
                    for (x, y) in found {
                        let expected = Pair::new(x, y, Score::EQUAL, direction(x.min(y)));
                        assert_eq!(of_both(&directed(), &representatives, x, y), expected, "{x} {y}");
                    }
                }
            }
        }
    }
}
