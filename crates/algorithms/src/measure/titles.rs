//! Documents that are about different things: the last check before a document is removed in favor of another document.
//!
//! Two texts can share nearly everything and still be about different things, such as the rules of two committees or the pages about two
//! functions. [`Subjects`] states what the two documents show alone. Where it does not decide, the words of the complete texts do: a
//! document is kept if its first line contains a word that is far rarer in the other text, unless the two texts share rare words. Texts
//! about the same thing share rare words; pages from the same template do not. More rare words are needed if one text repeats the word and
//! the other text lacks it. Titles of one pattern need no such comparison if each has a word that the other text lacks. Neither is asked
//! if the two texts are far more similar to each other than to any other text.
//!
//! ```text
//! u "Rules of the Hualien committee ..."  Hualien: 2 in u, 0 in v -> 1.0 missing, more than 0.5   -> the titles differ
//! v "How Yilan regulates ..."             words of at most 10 documents in both: none
//! ```
//!
//! Source: dupsift's own rule, found by experiment; docs/versions.md shows its results. Cost: about a microsecond per pair. Limitations:
//! two pages with the same title of several words are not distinguished, nor are two pages that share rare words and have titles with
//! little in common.

use super::versions::{Both, HAIR};
use super::{Subjects, Versions};
use dupsift_core::row::{Related, RelationKind};

/// The maximum number of words in a title; a longer first line is a paragraph and not a title.
pub(crate) const LONGEST_TITLE: u64 = 40;
/// The minimum number of different shared rare words. In a short text, a single rare word has a large share of the weight.
const RARE_WORDS: u64 = 3;
/// The factor by which the required weight of shared rare words is multiplied if the word that is missing from one text occurs more than
/// once in the other.
const REPEATED: f64 = 5.0;

/// Holds the result of comparing one text's first line with another text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TitleWords {
    /// The largest relative drop in frequency, from this text to the other text, among the words of the first line. The value is 1 if the
    /// other text lacks the word, and 0 if there is no title.
    pub missing: f64,
    /// The number that identifies the word with the largest drop, as in [`Surplus`](super::Surplus), or 0 if no word is missing.
    pub word: u64,
    /// The number of different words in the first line.
    pub words: u64,
    /// Whether some word of the first line occurs at least twice in this text and never in the other text.
    pub repeated: bool,
    /// Whether the first line is the complete text.
    pub complete: bool,
    /// The share of the text's weight that comes from rare words in both texts.
    pub rare: f64,
    /// The number of different rare words that both texts contain.
    pub rare_words: u64,
}

impl Versions {
    /// Returns whether two documents are about different things. If one text contains the other, only the title of the contained text
    /// counts; for two versions, both titles count.
    ///
    /// Two texts are assumed to be about the same thing if their near group has no third document and their cosine exceeds the next best
    /// cosine by twice `gap`, unless `subjects` shows otherwise.
    pub fn other_title(&self, both: &Both, related: Related, titles: [TitleWords; 2], subjects: Subjects) -> bool {
        if self.title >= 1.0 || related.relation == RelationKind::Template {
            return false;
        }
        match subjects {
            Subjects::Name | Subjects::Code | Subjects::Label => return true,
            Subjects::Same => return false,
            Subjects::Pattern | Subjects::Unknown => {}
        }
        if !both.in_group && both.cosine - both.next_best + HAIR >= 2.0 * self.gap {
            return false;
        }
        if subjects == Subjects::Pattern && titles.iter().all(|title| title.missing >= 1.0) {
            return true;
        }
        // The first line of an email or of a paragraph is not a title. In a one-line text, all words count.
        if !both.lines.titles && !titles.iter().all(|title| title.complete) {
            return false;
        }
        let inner = both.inner();
        let differs = |side: usize| {
            let title = titles[side];
            let rare = if title.repeated { self.rare * REPEATED } else { self.rare };
            title.missing > self.title && (title.rare_words < RARE_WORDS || title.rare < rare)
        };
        (0..2).any(|side| (inner[side] || related.relation == RelationKind::Version) && differs(side))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Contained, FirstLine, Part, Surplus};
    use dupsift_core::row::Why;

    /// Returns the data about two texts. The second text contains the first, and no other text is as similar.
    fn both() -> Both {
        let contained = |common| Contained { grams: Part { common, all: 100 }, ..Contained::default() };
        Both {
            cosine: 0.9,
            contained: [contained(95), contained(60)],
            surplus: [Surplus::default(); 2],
            lines: FirstLine { same: false, titles: true },
            next_best: 0.85,
            in_group: false,
            crowded: [false; 2],
        }
    }

    fn differ(both: &Both, relation: RelationKind, titles: [TitleWords; 2]) -> bool {
        let related = Related { relation, why: Why::Contained, next_best: 0.85, other_title: false };
        Versions::DEFAULT.other_title(both, related, titles, Subjects::Unknown)
    }

    #[test]
    fn a_name_that_the_other_text_lacks() {
        let equal = TitleWords { words: 4, ..TitleWords::default() };
        let missing = TitleWords { missing: 1.0, word: 7, ..equal };
        assert!(differ(&both(), RelationKind::Contained, [missing, equal]));
        assert!(!differ(&both(), RelationKind::Contained, [TitleWords { missing: 0.5, ..missing }, equal]));
        assert!(!differ(&both(), RelationKind::Template, [missing, missing]));
        // The larger text may have its own title, but two versions must have the same title.
        assert!(!differ(&both(), RelationKind::Contained, [equal, missing]));
        assert!(differ(&both(), RelationKind::Version, [equal, missing]));
    }

    #[test]
    fn rare_words_make_up_for_a_changed_title() {
        let equal = TitleWords { words: 4, ..TitleWords::default() };
        let changed = TitleWords { missing: 1.0, word: 7, words: 4, rare: 0.02, rare_words: 3, ..equal };
        assert!(!differ(&both(), RelationKind::Contained, [changed, equal]));
        assert!(differ(&both(), RelationKind::Contained, [TitleWords { rare: 0.019, ..changed }, equal]));
        assert!(differ(&both(), RelationKind::Contained, [TitleWords { rare: 0.5, rare_words: 2, ..changed }, equal]));
        // If the text repeats the name, a larger share of rare words is required.
        let repeated = TitleWords { repeated: true, rare: 0.099, ..changed };
        assert!(differ(&both(), RelationKind::Contained, [repeated, equal]));
        assert!(!differ(&both(), RelationKind::Contained, [TitleWords { rare: 0.1, ..repeated }, equal]));
    }

    #[test]
    fn what_stands_clearly_alone_is_not_asked_for_its_words() {
        let missing = TitleWords { missing: 1.0, word: 7, words: 4, ..TitleWords::default() };
        let asked = |rule: Versions, next_best: f64, relation, titles, subjects| {
            let related = Related { relation, why: Why::Contained, next_best: 0.6, other_title: false };
            rule.other_title(&Both { next_best, ..both() }, related, titles, subjects)
        };
        let (rule, version, unknown) = (Versions::DEFAULT, RelationKind::Version, Subjects::Unknown);
        // 0.9 exceeds 0.6 by twice the gap of 0.15.
        assert!(asked(rule, 0.61, version, [missing; 2], unknown) && !asked(rule, 0.6, version, [missing; 2], unknown));
        let related = Related { relation: version, why: Why::Contained, next_best: 0.6, other_title: false };
        let group = Both { next_best: 0.6, in_group: true, ..both() };
        assert!(rule.other_title(&group, related, [missing; 2], unknown));
        for subjects in [Subjects::Name, Subjects::Code, Subjects::Label] {
            assert!(asked(rule, 0.6, version, [missing; 2], subjects));
            assert!(asked(rule, 0.6, RelationKind::Contained, [missing; 2], subjects));
            assert!(!asked(rule, 0.6, RelationKind::Template, [missing; 2], subjects));
            assert!(!asked(Versions { title: 1.0, ..rule }, 0.6, version, [missing; 2], subjects));
        }
        // In a pattern, each title must have a word that the other text lacks entirely. Rare words then do not help.
        let rare = TitleWords { rare: 0.2, rare_words: 9, ..missing };
        let there = TitleWords { missing: 0.9, ..rare };
        assert!(asked(rule, 0.7, version, [rare, rare], Subjects::Pattern));
        assert!(!asked(rule, 0.7, version, [rare, there], Subjects::Pattern));
        assert!(!asked(rule, 0.7, version, [rare, rare], unknown));
        assert!(!asked(rule, 0.6, version, [rare, rare], Subjects::Pattern));
        // Titles that are the same are not asked for their words.
        assert!(!asked(rule, 0.7, version, [missing; 2], Subjects::Same));
    }

    #[test]
    fn what_is_no_title_is_not_asked() {
        let lines = FirstLine { same: false, titles: false };
        let missing = TitleWords { missing: 1.0, word: 7, words: 4, ..TitleWords::default() };
        assert!(!differ(&Both { lines, ..both() }, RelationKind::Version, [missing, missing]));
        let line = TitleWords { complete: true, ..missing };
        assert!(differ(&Both { lines, ..both() }, RelationKind::Version, [line, line]));
        assert!(!differ(&Both { lines, ..both() }, RelationKind::Version, [line, missing]));
    }
}
