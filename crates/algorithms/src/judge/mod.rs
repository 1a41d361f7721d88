//! Decides from the texts of two documents whether they are duplicates, independently of any algorithm.
//!
//! The default, `versions`, requires evidence that one text is a version of the other or contains it ([`versions`] has the
//! definition). Cost: O(|a| + |b|).
//!
//! `lcs` is the judge in the 2007 study by Zelenkov and Segalovich: Perl's String::Similarity with a threshold of 0.85. The similarity is 2
//! LCS / (|a| + |b|) on the characters of the canonical text ([`crate::measure::lcs_similarity`]). Cost: O(|a| |b| / 64) within a band, for
//! pairs that cannot be decided by lengths and character counts alone. `lcs` counts pages with the same template and different facts as
//! duplicates.
//!
//! Paraphrases are not recognized. `lcs` and `words` also miss texts whose sentences were reordered.

pub mod versions;

use std::fmt;

use self::versions::{ENOUGH, may_be_version, version, write_evidence};
use crate::algorithm::kit::shingling::Shingling;
use crate::algorithm::kit::verify::{LCS_CHARACTERS, pack};
use crate::measure::{Decided, Profile, jaccard, lcs_similarity, may_reach, most_common};
use dupsift_core::error::{Error, Result, did_you_mean};
use dupsift_text::Analysis;

/// Lists the comparisons that a judge can perform, with their names in options.
const KINDS: [(&str, Kind); 4] =
    [("versions", Kind::Versions), ("lcs", Kind::Characters), ("words", Kind::Words), ("jaccard", Kind::Shingles)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Versions,
    Characters,
    Words,
    Shingles,
}

/// Holds a similarity measure and the threshold at which two texts are duplicates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judge {
    kind: Kind,
    threshold: f64,
    shingling: Shingling,
}

/// The number of values before the profile. These values are the number of characters compared (0 if there are too many of them) and the
/// number of words.
const HEAD: usize = 2;
/// The number of values in a packed profile.
const PROFILE: usize = 128;

impl Judge {
    /// Parses `versions`, `versions:T`, `lcs:0.85`, `words:T` or `jaccard:T`.
    ///
    /// # Errors
    /// Returns an error that lists the known names for any other value.
    pub fn parse(typed: &str) -> Result<Judge> {
        let (name, threshold) = typed.split_once(':').unwrap_or((typed, ""));
        let Some(&(_, kind)) = KINDS.iter().find(|(known, _)| *known == name) else {
            let hint = did_you_mean(name, KINDS.iter().map(|(known, _)| *known));
            return Err(Error::wrong(
                "judge",
                format_args!(
                    "there is no judge {name:?}{hint}; expected versions, versions:T, lcs:T, words:T or jaccard:T"
                ),
            ));
        };
        if kind == Kind::Versions && typed == name {
            return Ok(Judge { kind, threshold: ENOUGH, shingling: Shingling::DEFAULT });
        }
        match threshold.parse() {
            Ok(threshold) if threshold > 0.0 && threshold <= 1.0 => {
                Ok(Judge { kind, threshold, shingling: Shingling::DEFAULT })
            }
            _ => Err(Error::wrong_value(
                "judge",
                typed,
                format_args!("expected a threshold above 0 and at most 1, such as {name}:0.85"),
            )),
        }
    }

    /// Parses a measure without a threshold: `lcs`, `words`, `jaccard`, `jaccard:words5` or `jaccard:chars5`.
    ///
    /// # Errors
    /// Returns an error that lists the known names for any other value.
    pub fn measure(typed: &str) -> Result<Judge> {
        let (name, unit) = typed.split_once(':').map_or((typed, None), |(name, unit)| (name, Some(unit)));
        let kind = KINDS.iter().find(|(known, kind)| *known == name && *kind != Kind::Versions).map(|(_, kind)| *kind);
        let shingling = match unit {
            None => Some(Shingling::DEFAULT),
            Some(unit) if kind == Some(Kind::Shingles) => Shingling::parse(unit),
            Some(_) => None,
        };
        kind.zip(shingling).map(|(kind, shingling)| Judge { kind, threshold: 0.0, shingling }).ok_or_else(|| {
            let hint = did_you_mean(name, ["lcs", "words", "jaccard"].into_iter().filter(|known| *known != name));
            let expected =
                "expected lcs, words, jaccard, or jaccard with different shingles, such as jaccard:words5 or jaccard:chars5";
            Error::usage(format!("there is no measure {typed:?}{hint}; {expected}"))
        })
    }

    /// Appends the evidence for one document. The evidence is identical for identical canonical texts. Appends nothing for a text without
    /// words; such a text is a duplicate only of its byte-for-byte copies.
    pub fn evidence(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        let words = document.words();
        if words.is_empty() {
            return;
        }
        let hashes = || words.iter().map(|word| word.hash as u32);
        match self.kind {
            Kind::Versions => write_evidence(document, out),
            Kind::Shingles => self.shingling.cut(document, out),
            Kind::Words => {
                out.extend([0, words.len() as u64]);
                pack(Profile::of(hashes()).0.into_iter(), out);
                pack(hashes(), out);
            }
            Kind::Characters => {
                let canonical = document.canonical();
                let characters = canonical.chars().count();
                let kept = if characters > LCS_CHARACTERS { 0 } else { characters };
                let units = || canonical.chars().take(kept).map(u32::from);
                out.extend([kept as u64, words.len() as u64]);
                pack(Profile::of(units()).0.into_iter(), out);
                pack(units(), out);
                pack(hashes(), out);
            }
        }
    }

    /// Returns whether the two documents may be duplicates, according to a cheap upper bound on their similarity.
    pub fn may(&self, a: &[u64], b: &[u64]) -> bool {
        if a.is_empty() || b.is_empty() {
            return false;
        }
        if self.kind == Kind::Versions {
            return may_be_version(a, b);
        }
        if self.kind == Kind::Shingles {
            // This is a quotient, as in the similarity, because a product would round differently.
            return a.len().min(b.len()) as f64 / a.len().max(b.len()) as f64 >= self.threshold;
        }
        let (a, b) = (Units::of(a), Units::of(b));
        let (x, y) = a.compared_with(&b);
        // The profile covers the words only if nothing but words is compared.
        let profiled = self.kind == Kind::Words || !x.is_empty() && x.len() == a.characters.len();
        let all = x.len() + y.len();
        may_reach(x.len().min(y.len()), all, self.threshold)
            && (!profiled || may_reach(most_common(a.profile, b.profile), all, self.threshold))
    }

    /// Returns the similarity if it reaches the threshold.
    ///
    /// # Errors
    /// Returns [`Undecided`](crate::measure::Undecided) for texts so long that one comparison would take more than about a second.
    pub fn judge(&self, a: &[u64], b: &[u64]) -> Decided<f32> {
        Ok(self.similarity(a, b)?.map(|similarity| similarity as f32))
    }

    /// Like [`Judge::judge`], in full precision.
    ///
    /// # Errors
    /// Returns the same errors as [`Judge::judge`].
    pub fn similarity(&self, a: &[u64], b: &[u64]) -> Decided<f64> {
        if !self.may(a, b) {
            return Ok(None);
        }
        Ok(match self.kind {
            Kind::Versions => version(a, b, self.threshold),
            Kind::Shingles => Some(jaccard(a, b)).filter(|similarity| *similarity >= self.threshold),
            Kind::Characters | Kind::Words => {
                let (a, b) = (Units::of(a), Units::of(b));
                let (x, y) = a.compared_with(&b);
                lcs_similarity(x, y, self.threshold)?
            }
        })
    }

    /// Returns whether words are compared instead of characters because one of the texts is too long.
    pub fn by_words(&self, a: &[u64], b: &[u64]) -> bool {
        let long = |evidence: &[u64]| !evidence.is_empty() && Units::of(evidence).characters.is_empty();
        self.kind == Kind::Characters && (long(a) || long(b))
    }
}

impl fmt::Display for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = KINDS.iter().find(|(_, kind)| *kind == self.kind).map_or("", |(name, _)| name);
        write!(f, "{name}:{}", self.threshold)
    }
}

/// Holds the unpacked evidence for one document.
struct Units<'e> {
    profile: &'e [u32],
    /// The characters; empty if there are too many, or if they are not needed.
    characters: &'e [u32],
    words: &'e [u32],
}

impl<'e> Units<'e> {
    fn of(evidence: &'e [u64]) -> Units<'e> {
        let (head, packed) = evidence.split_at(HEAD);
        let (characters, words) = (head[0] as usize, head[1] as usize);
        let (profile, units) = bytemuck::cast_slice::<u64, u32>(packed).split_at(2 * PROFILE);
        let from = characters.next_multiple_of(2);
        Units { profile, characters: &units[..characters], words: &units[from..from + words] }
    }

    /// Returns the characters of both texts if both have them, otherwise the words.
    fn compared_with(&self, other: &Units<'e>) -> (&'e [u32], &'e [u32]) {
        if self.characters.is_empty() || other.characters.is_empty() {
            (self.words, other.words)
        } else {
            (self.characters, other.characters)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_text::{Pipeline, TextOptions};
    use std::sync::LazyLock;

    fn judged(judge: &str, a: &str, b: &str) -> (Option<f32>, bool) {
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let judge = Judge::parse(judge).unwrap();
        let evidence = |text: &str| {
            let mut out = Vec::new();
            judge.evidence(&pipeline.analyse(text), &mut out);
            out
        };
        let (a, b) = (evidence(a), evidence(b));
        assert_eq!(judge.judge(&a, &b), judge.judge(&b, &a));
        (judge.judge(&a, &b).unwrap(), judge.by_words(&a, &b))
    }

    #[test]
    fn worked_values() {
        // The canonical texts are seven characters long and differ in one character.
        assert_eq!(judged("lcs:0.85", "a b c d", "A, b c; e!"), (Some(12.0 / 14.0), false));
        assert_eq!(judged("lcs:0.9", "a b c d", "a b c e"), (None, false));
        assert_eq!(judged("words:0.7", "one two three four", "one two three five"), (Some(0.75), false));
        assert_eq!(judged("words:0.8", "one two three four", "one two three five"), (None, false));
        // The first text has the five-word shingles abcde and bcdef, and the second text has bcdef and cdefg, so the texts share one of
        // three shingles.
        assert_eq!(judged("jaccard:0.3", "a b c d e f", "b c d e f g").0, Some(1.0 / 3.0));
        assert_eq!(judged("jaccard:0.4", "a b c d e f", "b c d e f g").0, None);
        for judge in ["versions:0.01", "lcs:0.01", "words:0.01", "jaccard:0.01"] {
            assert_eq!(judged(judge, "?!", "?!").0, None, "nothing is no duplicate of nothing");
            assert_eq!(judged(judge, "Кот спит.", "кот спит").0, Some(1.0));
            assert_eq!(judged(judge, "кот", "").0, None);
        }
    }

    #[test]
    fn a_text_too_long_for_characters_is_judged_by_words() {
        let long = "слово ".repeat(LCS_CHARACTERS / 5);
        let (similarity, by_words) = judged("lcs:0.85", &long, &format!("{long} конец"));
        assert!(by_words && similarity.is_some_and(|value| value > 0.9999 && value < 1.0));
        assert_eq!(judged("lcs:0.85", &long, "слово"), (None, true));
    }

    #[test]
    fn judges_are_parsed_and_printed_back() {
        assert_eq!(Judge::parse("versions").unwrap(), Judge::parse("versions:0.8").unwrap());
        for typed in ["versions:0.8", "lcs:0.85", "words:1", "jaccard:0.5"] {
            assert_eq!(Judge::parse(typed).unwrap().to_string(), typed);
        }
        let fail = |typed: &str| Judge::parse(typed).unwrap_err().to_string();
        assert!(
            fail("lsc:0.85")
                .contains("did you mean \"lcs\"?; expected versions, versions:T, lcs:T, words:T or jaccard:T")
        );
        for typed in ["versions:", "versions:2", "lcs", "lcs:", "lcs:0", "lcs:1.1", "lcs:NaN", "words:half"] {
            assert!(fail(typed).contains("above 0 and at most 1"), "{typed}");
        }
    }

    proptest::proptest! {
        /// The bound never rejects a pair that the alignment accepts, for Chinese characters as well as for letters.
        #[test]
        fn a_bound_is_a_bound(a in "[абв天地人 ]{0,60}", b in "[абв天地人 ]{0,60}", t in 0.05f64..1.0) {
            // The pipeline is created only once, because creating it takes longer than all tests in this module.
            static PIPELINE: LazyLock<Pipeline> = LazyLock::new(|| Pipeline::new(&TextOptions::default()).unwrap());
            let pipeline = &*PIPELINE;
            let judge = Judge { kind: Kind::Characters, threshold: t, shingling: Shingling::DEFAULT };
            let (mut x, mut y) = (Vec::new(), Vec::new());
            judge.evidence(&pipeline.analyse(&a), &mut x);
            judge.evidence(&pipeline.analyse(&b), &mut y);
            if !x.is_empty() && !y.is_empty() {
                let exact = lcs_similarity(Units::of(&x).characters, Units::of(&y).characters, t);
                proptest::prop_assert_eq!(judge.judge(&x, &y), exact.map(|found| found.map(|value| value as f32)));
            }
        }
    }
}
