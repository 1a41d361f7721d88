//! Versions, contained texts and pages with the same template: a rule with six conditions, for pairs found by cosine.
//!
//! Source: dupsift's own rule, found by experiment; docs/versions.md describes its results, the effect of each condition, and open
//! questions. Cost: a few microseconds per pair. Limitations: two short texts that differ in one word may be an original and its
//! correction, or two pages from the same template.
//!
//! 1. The facts agree. The text with fewer distinct numbers shares at least the fraction `numbers` of them with the other text, or each
//!    text shares at least the fraction `both` of its 3-grams with the other text.
//! 2. No single word distinguishes the two texts. The surplus of a word in one text over the other text is at most the fraction `word` of
//!    the text's weight or, in a short text, the weight of a few average words (as many as `short`). This condition is skipped if the first
//!    lines are equal.
//! 3. The texts of a pair that passes conditions 1 and 2 are versions of each other if one text is contained in the other: at least the
//!    fraction `contained` of its 3-grams is in the other text. In this case, condition 2 applies only to the better contained text,
//!    because the other text may add anything. If both are equally well contained, it applies to both.
//! 4. The texts are also versions if the pair is isolated: its cosine exceeds the next best cosine of either document outside the near
//!    group by `gap`. The near group consists of the two documents and all documents with a cosine of at least `near` to either of them.
//! 5. The texts are also versions if they have the same title and no document outside the near group is more similar. In all other pairs,
//!    the texts share only a template.
//! 6. Documents from the same template share the text of the template. If more than ten other documents are about as similar to the better
//!    contained text as its partner is (the difference is less than `gap`), at least the fraction `crowd` of this text's 3-grams must be in
//!    the partner.
//!
//! ```text
//! u "report for 3 May: rates rise"      v "report for 4 May: rates rise"
//! numbers: 0 of 1 agree, 3-grams: 1 of 4 are in the other  -> same template, the numbers differ
//! ```

use super::Contained;
use dupsift_core::row::{Related, RelationKind, Why};

/// If less than this share of the larger text is in the other text, the relation is `contained` and not `version`.
const MOST_OF_BOTH: f64 = 0.8;
/// The tolerance for comparisons, which is needed because similarities are Float32.
pub(super) const HAIR: f64 = 1e-6;

/// The maximum number of other documents that may be about as similar to a document as its partner; a larger number is a crowd.
pub const CROWD: usize = 10;

/// Holds the limits of the rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Versions {
    /// The minimum cosine of a pair, which is also used as the next best cosine if there is no other partner.
    pub least: f64,
    /// The minimum share of numbers that must also be in the other text. The share refers to the text with fewer numbers.
    pub numbers: f64,
    /// The share of each text's 3-grams that must be in the other text if the numbers differ.
    pub both: f64,
    /// The maximum surplus of one word, as a share of the text's weight.
    pub word: f64,
    /// The maximum surplus in a short text, in average words.
    pub short: f64,
    /// The minimum share of a text's 3-grams that must be in the other text for the text to count as contained.
    pub contained: f64,
    /// The minimum share of a text's 3-grams that must be in the other text if many other documents are about as similar.
    pub crowd: f64,
    /// The minimum difference between the cosine of a pair and the next best cosine.
    pub gap: f64,
    /// The minimum cosine within a near group.
    pub near: f64,
    /// The maximum number of texts that may share a title. A first line shared by more texts is not a title.
    pub titles: u64,
    /// The minimum cosine at which two pages with the same template are reported as a pair.
    pub templates: f64,
    /// The maximum relative drop in frequency, from one text to the other, of a word in the title.
    pub title: f64,
    /// The share of a text's weight that must come from shared rare words to compensate for a changed title. Five times this share is
    /// required if the word that is missing from one text occurs more than once in the other. A word is rare if its document frequency is
    /// at most `titles`.
    pub rare: f64,
}

/// Holds the result of comparing two first lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FirstLine {
    /// Whether the two first lines are equal and few other documents share this line.
    pub same: bool,
    /// Whether both first lines may be titles.
    pub titles: bool,
}

/// Describes the word that, by weight, is most over-represented in one text compared with another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surplus {
    /// The surplus of the word as a share of the text's weight.
    pub share: f64,
    /// The word, as a number defined by the algorithm that found it; 0 if there is none.
    pub word: u64,
    /// The number of words in the text, including repetitions.
    pub words: u64,
}

/// Holds the data that the rule needs about two documents, a and b.
#[derive(Clone, Copy, Debug)]
pub struct Both {
    /// The cosine of the two documents.
    pub cosine: f64,
    /// The part of a that is in b, and the part of b that is in a.
    pub contained: [Contained; 2],
    /// The surplus of a over b, and of b over a.
    pub surplus: [Surplus; 2],
    /// The result of comparing the first lines of a and b.
    pub lines: FirstLine,
    /// The best cosine of either document outside the near group.
    pub next_best: f64,
    /// Whether the near group has a third document.
    pub in_group: bool,
    /// Whether many other documents are about as similar to a as b is, and to b as a is.
    pub crowded: [bool; 2],
}

impl Both {
    /// Returns the share of each text's 3-grams that the other text contains.
    fn shares(&self) -> [f64; 2] {
        self.contained.map(|contained| contained.grams.share().unwrap_or(0.0))
    }

    /// Returns whether each text is at least as well contained in the other text as the other text is in it. Both are if the shares are
    /// equal, so the result does not depend on which document comes first.
    pub fn inner(&self) -> [bool; 2] {
        let [a, b] = self.shares();
        [a >= b, b >= a]
    }
}

impl Versions {
    /// The limits found by experiment, for pairs with a [`cosine`](super::cosine()) of at least 0.6.
    pub const DEFAULT: Versions = Versions {
        least: 0.6,
        numbers: 0.7,
        both: 0.75,
        word: 0.02,
        short: 2.0,
        contained: 0.88,
        crowd: 0.95,
        gap: 0.15,
        near: 0.9,
        titles: 10,
        templates: 0.68,
        title: 0.5,
        rare: 0.02,
    };

    /// Returns the relation between identical texts.
    pub fn same(&self) -> Related {
        Related { relation: RelationKind::Version, why: Why::Same, next_best: self.least as f32, other_title: false }
    }

    /// Applies all six conditions.
    pub fn relate(&self, both: &Both) -> Related {
        let related = self.relate_two(both);
        let (inner, shares) = (both.inner(), both.shares());
        let is_too_little = |side: usize| inner[side] && both.crowded[side] && shares[side] < self.crowd;
        if related.relation != RelationKind::Template && (is_too_little(0) || is_too_little(1)) {
            return Related { relation: RelationKind::Template, why: Why::Crowd, ..related };
        }
        related
    }

    /// Applies the first five conditions in order.
    fn relate_two(&self, both: &Both) -> Related {
        let outcome = |relation, why| Related { relation, why, next_best: both.next_best as f32, other_title: false };
        let shares = both.shares();
        let (larger, smaller) = (shares[0].max(shares[1]), shares[0].min(shares[1]));
        if !self.facts_agree(both.contained, smaller) {
            return outcome(RelationKind::Template, Why::Numbers);
        }
        let tells = both.surplus.map(|surplus| !both.lines.same && self.tells_apart(surplus));
        let inner = both.inner();
        let inner_told_apart = (0..2).any(|side| inner[side] && tells[side]);
        let contained = larger >= self.contained;
        let relation =
            if contained && smaller < MOST_OF_BOTH { RelationKind::Contained } else { RelationKind::Version };
        if contained && !inner_told_apart {
            return outcome(relation, Why::Contained);
        }
        let gap = both.cosine - both.next_best + HAIR;
        let (alone, told_apart) = (gap >= self.gap, tells[0] || tells[1]);
        match () {
            () if alone && !told_apart => outcome(relation, Why::Alone),
            () if both.lines.same && both.lines.titles && gap >= 0.0 => outcome(relation, Why::Title),
            () if told_apart && (alone || contained) => outcome(RelationKind::Template, Why::Word),
            () if both.next_best <= self.least + HAIR => outcome(RelationKind::Template, Why::Far),
            () => outcome(RelationKind::Template, Why::Near),
        }
    }

    /// Returns the maximum surplus of one word, as a share of the text's weight.
    pub fn most(&self, surplus: Surplus) -> f64 {
        self.word.max(self.short / surplus.words.max(1) as f64)
    }

    fn tells_apart(&self, surplus: Surplus) -> bool {
        surplus.share > self.most(surplus)
    }

    fn facts_agree(&self, [a, b]: [Contained; 2], smaller: f64) -> bool {
        let fewer = a.numbers.all.min(b.numbers.all);
        fewer == 0 || a.numbers.common as f64 / fewer as f64 >= self.numbers || smaller >= self.both
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Part;

    fn contained(grams: (u64, u64), numbers: (u64, u64)) -> Contained {
        let part = |(common, all)| Part { common, all };
        Contained { grams: part(grams), numbers: part(numbers), ..Contained::default() }
    }

    /// Returns the data about two 1000-word texts. The texts share 500 of 1000 3-grams and contain no numbers, and no word distinguishes
    /// them. Other documents are nearly as similar.
    fn both() -> Both {
        let surplus = Surplus { share: 0.01, word: 7, words: 1000 };
        let contained = contained((500, 1000), (0, 0));
        Both {
            cosine: 0.7,
            contained: [contained; 2],
            surplus: [surplus; 2],
            lines: FirstLine::default(),
            next_best: 0.69,
            in_group: false,
            crowded: [false; 2],
        }
    }

    fn outcome(both: Both) -> (RelationKind, Why) {
        let Related { relation, why, .. } = Versions::DEFAULT.relate(&both);
        (relation, why)
    }

    #[test]
    fn facts_come_first() {
        let of = |grams, numbers, other| {
            let contained = [contained(grams, numbers), contained(grams, other)];
            outcome(Both { contained, next_best: 0.5, ..both() })
        };
        assert_eq!(of((500, 1000), (6, 10), (6, 9)), (RelationKind::Template, Why::Numbers));
        assert_eq!(of((500, 1000), (7, 12), (7, 10)), (RelationKind::Version, Why::Alone));
        // If three quarters of each text are also in the other text, different numbers do not matter. If a text contains no numbers, the
        // numbers do not differ.
        assert_eq!(of((750, 1000), (6, 10), (6, 10)), (RelationKind::Version, Why::Alone));
        assert_eq!(of((500, 1000), (0, 9), (0, 0)), (RelationKind::Version, Why::Alone));
    }

    #[test]
    fn one_word_tells_two_texts_apart() {
        let heavy = Surplus { share: 0.021, word: 7, words: 1000 };
        let alone = Both { next_best: 0.55, ..both() };
        for surplus in [[heavy, alone.surplus[0]], [alone.surplus[0], heavy]] {
            assert_eq!(outcome(Both { surplus, ..alone }), (RelationKind::Template, Why::Word));
            // Condition 2 is skipped if the first lines are equal.
            let lines = FirstLine { same: true, titles: false };
            assert_eq!(outcome(Both { surplus, lines, ..alone }), (RelationKind::Version, Why::Alone));
        }
        // In a text of 80 words, a share of 0.025 is allowed.
        let short = Surplus { words: 80, ..heavy };
        assert_eq!(outcome(Both { surplus: [short; 2], ..alone }), (RelationKind::Version, Why::Alone));
    }

    #[test]
    fn what_is_contained_may_be_in_a_text_that_adds_what_it_likes() {
        let heavy = Surplus { share: 0.3, word: 7, words: 1000 };
        let light = Surplus { share: 0.001, word: 7, words: 1000 };
        let of = |common, all_a, all_b, surplus| {
            let contained = [contained((common, all_a), (0, 0)), contained((common, all_b), (0, 0))];
            outcome(Both { contained, surplus, ..both() })
        };
        assert_eq!(of(880, 1000, 2000, [light, heavy]), (RelationKind::Contained, Why::Contained));
        assert_eq!(of(880, 2000, 1000, [heavy, light]), (RelationKind::Contained, Why::Contained));
        assert_eq!(of(880, 1000, 1100, [light, light]), (RelationKind::Version, Why::Contained));
        assert_eq!(of(880, 1000, 2000, [heavy, light]), (RelationKind::Template, Why::Word));
        assert_eq!(of(879, 1000, 2000, [light, heavy]), (RelationKind::Template, Why::Near));
    }

    /// One word of two versions was replaced, so both have the same share in common. Which of them comes first does not matter.
    #[test]
    fn swapping_two_documents_changes_nothing() {
        let heavy = Surplus { share: 0.3, word: 7, words: 1000 };
        let light = Surplus { share: 0.001, word: 7, words: 1000 };
        let equal = Both { contained: [contained((900, 1000), (0, 0)); 2], ..both() };
        for surplus in [[light, heavy], [heavy, light]] {
            assert_eq!(outcome(Both { surplus, ..equal }), (RelationKind::Template, Why::Word));
        }
        for crowded in [[true, false], [false, true]] {
            assert_eq!(outcome(Both { crowded, ..equal }), (RelationKind::Template, Why::Crowd));
        }
    }

    /// Documents with different answers after the same long prompt share nine tenths of their text.
    #[test]
    fn in_a_crowd_nearly_all_must_be_contained() {
        let of = |common, crowded| {
            let contained = [contained((common, 1000), (0, 0)), contained((common, 1010), (0, 0))];
            outcome(Both { contained, crowded, ..both() })
        };
        assert_eq!(of(949, [true, false]), (RelationKind::Template, Why::Crowd));
        assert_eq!(of(950, [true, false]), (RelationKind::Version, Why::Contained));
        // Only the better contained text counts.
        assert_eq!(of(949, [false, true]), (RelationKind::Version, Why::Contained));
        // A pair whose documents share only a template keeps its reason.
        assert_eq!(of(500, [true, true]), (RelationKind::Template, Why::Near));
    }

    #[test]
    fn what_stands_alone_and_what_has_one_title() {
        // A gap of 0.15, written as a decimal number, is enough.
        assert_eq!(outcome(Both { cosine: 0.85, next_best: 0.7, ..both() }), (RelationKind::Version, Why::Alone));
        assert_eq!(outcome(Both { cosine: 0.84, next_best: 0.7, ..both() }), (RelationKind::Template, Why::Near));
        let titles = Both { lines: FirstLine { same: true, titles: true }, ..both() };
        assert_eq!(outcome(titles), (RelationKind::Version, Why::Title));
        assert_eq!(outcome(Both { next_best: 0.71, ..titles }), (RelationKind::Template, Why::Near));
        assert_eq!(
            outcome(Both { lines: FirstLine { same: true, titles: false }, ..titles }),
            (RelationKind::Template, Why::Near)
        );
        assert_eq!(Versions::DEFAULT.relate(&titles).next_best, 0.69);
        // If there is no next best partner, the minimum cosine is used as a Float32, and no other document counts as near.
        let none = Both { cosine: 0.74, next_best: 0.6f32.into(), ..both() };
        assert_eq!(outcome(none), (RelationKind::Template, Why::Far));
        assert_eq!(outcome(Both { next_best: 0.61, ..none }), (RelationKind::Template, Why::Near));
    }
}
