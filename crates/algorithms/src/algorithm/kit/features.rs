//! Defines the features that vote on the bits of a fingerprint: words, shingles or characters, each as one 64-bit hash.

use super::units::pairs_of_han;
use crate::algorithm::contract::{Kind, ParamSpec, Params};
use dupsift_text::Analysis;
use dupsift_text::shingle::{char_shingles, char_windows, distinct, shingles};

/// The `features` parameter.
pub(crate) const FEATURES: ParamSpec = ParamSpec {
    name: "features",
    kind: Kind::Choice(&["auto", "words", "shingles", "chars"]),
    default: "auto",
    help: "auto: words, but pairs of characters for Han text; words: words from the tokenizer; shingles: shingles of ngram words; chars: shingles of ngram characters",
};

/// The `ngram` parameter for [`FEATURES`].
pub(crate) const FEATURE_NGRAM: ParamSpec = ParamSpec {
    name: "ngram",
    kind: Kind::Int(1, 100),
    default: "2",
    help: "units per shingle for features=shingles or chars",
};

/// The `min_features` parameter.
pub(crate) const MIN_FEATURES: ParamSpec = ParamSpec {
    name: "min_features",
    kind: Kind::Int(1, 100_000),
    default: "10",
    help: "documents with fewer distinct features have no signature",
};

/// Defines the features into which a document is split.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Features {
    kind: &'static str,
    ngram: usize,
}

impl Features {
    /// Returns the settings from the parameters [`FEATURES`] and [`FEATURE_NGRAM`].
    pub(crate) fn new(params: &Params) -> Features {
        Features { kind: params.word("features"), ngram: params.count("ngram") }
    }

    /// Appends the hashes of the features in order, including repetitions.
    pub(crate) fn cut(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        match self.kind {
            "words" => out.extend(document.words().iter().filter(|word| !word.stop).map(|word| word.hash)),
            "shingles" => shingles(document.tokens(), self.ngram, false, out),
            // A text without words has no features, even if it contains punctuation.
            "chars" if document.tokens().is_empty() => {}
            "chars" => char_shingles(document.text(), self.ngram, out),
            _ => pairs_of_han(document.tokens(), out),
        }
    }

    /// Passes the text of each feature to `each`, in order, if features are words or windows of characters. Other features have only
    /// hashes, so nothing is passed.
    pub(crate) fn texts(&self, document: &Analysis<'_>, each: impl FnMut(&str)) {
        match self.kind {
            "words" => document.words().iter().filter(|word| !word.stop).map(|word| document.word(word)).for_each(each),
            "chars" => char_windows(document.text(), self.ngram).for_each(each),
            _ => {}
        }
    }
}

/// Checks whether there are enough distinct features for a signature.
///
/// # Errors
/// Returns the reason why the document has no signature.
pub(crate) fn enough(features: &[u64], least: usize) -> Result<(), &'static str> {
    if features.is_empty() {
        Err("no features")
    } else if has_distinct(features, least) {
        Ok(())
    } else {
        Err("fewer features than min_features")
    }
}

/// Returns whether there are at least `least` distinct features.
fn has_distinct(features: &[u64], least: usize) -> bool {
    /// If at most this many features are required, they are scanned one by one, because the first few nearly always suffice.
    const FEW: usize = 32;
    if features.len() < least {
        return false;
    }
    if least <= FEW {
        let mut seen = Vec::with_capacity(FEW);
        for feature in features {
            if seen.len() >= least {
                break;
            }
            if !seen.contains(feature) {
                seen.push(*feature);
            }
        }
        return seen.len() >= least;
    }
    let mut all = features.to_vec();
    distinct(&mut all);
    all.len() >= least
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_text::{Pipeline, TextOptions};

    /// Checks that white space after a sentence does not matter, because editions differ more in line breaks than in words.
    #[test]
    fn a_space_behind_a_sentence_makes_no_other_text() {
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let of = |raw: &str| {
            let mut out = Vec::new();
            Features { kind: "chars", ngram: 5 }.cut(&pipeline.analyse(raw), &mut out);
            out
        };
        let whole = of("甲乙丙丁戊。己庚辛壬");
        assert_eq!(whole.len(), "甲乙丙丁戊。 己庚辛壬".chars().count() - 4);
        assert_eq!(whole, of("甲乙丙丁戊。 己庚辛壬"));
        assert_eq!(whole, of("甲乙丙丁戊。\n己庚辛壬"));
        // Within a sentence, a space makes a difference.
        assert_ne!(of("甲乙丙丁戊，己庚辛壬"), of("甲乙丙丁戊， 己庚辛壬"));
    }

    #[test]
    fn different_ones_are_counted() {
        let features: Vec<u64> = (0..999).map(|n| n * 3 % 77).collect();
        assert!(has_distinct(&features, 77) && !has_distinct(&features, 78) && has_distinct(&features, 10));
        assert!(has_distinct(&[1, 1, 2], 2) && !has_distinct(&[1, 1, 2], 3));
        assert_eq!(enough(&[], 1), Err("no features"));
    }
}
