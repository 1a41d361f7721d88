//! Computes the similarity of two texts by several standard measures, independently of the algorithms of a run.

use dupsift_algorithms::algorithm::kit::shingling::Shingling;
use dupsift_algorithms::measure::{common, cosine, jaccard, lcs_similarity};
use dupsift_text::Analysis;

/// The number of units (characters or words) per text above which the longest common subsequence is not computed, because its cost is
/// proportional to the product of the lengths.
pub(crate) const LCS_UNITS: usize = 200_000;

/// Holds the overlap of two sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Overlap {
    /// The size of the intersection divided by the size of the union; 1 for two empty sets.
    pub jaccard: f64,
    /// The share of the first set's elements that the second set contains; `None` for an empty set.
    pub a_in_b: Option<f64>,
    /// The share of the second set's elements that the first set contains; `None` for an empty set.
    pub b_in_a: Option<f64>,
}

/// Defines the units of the longest common subsequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LcsOf {
    /// Characters of the canonical text, in which words are separated by single spaces.
    Characters,
    /// Words, because one text has more than [`LCS_UNITS`] characters.
    Words,
}

/// Holds the similarity of two texts by each measure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Likeness {
    /// The overlap of five-character windows of the normalized text.
    pub five_characters: Overlap,
    /// The overlap of windows of five words, or of five characters in Han text.
    pub five_words: Overlap,
    /// The overlap of the sets of words.
    pub words: Overlap,
    /// The number of distinct words that both texts contain.
    pub common_words: u64,
    /// The cosine similarity of the word counts.
    pub cosine: f64,
    /// Twice the length of the longest common subsequence, divided by the sum of the lengths of the texts (0 to 1); `None` if the texts are
    /// too long to be compared even word by word.
    pub lcs: Option<(f64, LcsOf)>,
}

/// Computes the similarity of two texts by each measure.
pub(crate) fn likeness(a: &Analysis<'_>, b: &Analysis<'_>) -> Likeness {
    let shingles = |ngram, chars| {
        let cut = |document: &Analysis<'_>| {
            let mut set = Vec::new();
            Shingling { ngram, chars }.cut(document, &mut set);
            set
        };
        overlap(&cut(a), &cut(b))
    };
    let (a_words, b_words) = (words(a), words(b));
    let set = |words: &[(u64, f64)]| words.iter().map(|word| word.0).collect::<Vec<u64>>();
    let (a_set, b_set) = (set(&a_words), set(&b_words));
    Likeness {
        five_characters: shingles(5, true),
        five_words: shingles(5, false),
        words: overlap(&a_set, &b_set),
        common_words: common(&a_set, &b_set) as u64,
        cosine: cosine(&a_words, &b_words),
        lcs: lcs(a, b),
    }
}

fn overlap(a: &[u64], b: &[u64]) -> Overlap {
    let both = common(a, b) as f64;
    let share = |of: &[u64]| (!of.is_empty()).then(|| both / of.len() as f64);
    Overlap { jaccard: jaccard(a, b), a_in_b: share(a), b_in_a: share(b) }
}

/// Returns the words with their counts, sorted by hash.
fn words(document: &Analysis<'_>) -> Vec<(u64, f64)> {
    let mut words: Vec<(u64, f64)> =
        document.counted().iter().map(|counted| (counted.word.hash, f64::from(counted.tf))).collect();
    words.sort_unstable_by_key(|word| word.0);
    words
}

fn lcs(a: &Analysis<'_>, b: &Analysis<'_>) -> Option<(f64, LcsOf)> {
    let characters = |document: &Analysis<'_>| document.canonical().chars().map(u32::from).collect::<Vec<u32>>();
    let (x, y) = (characters(a), characters(b));
    if x.len().max(y.len()) <= LCS_UNITS {
        return lcs_similarity(&x, &y, 0.0).ok()?.map(|similarity| (similarity, LcsOf::Characters));
    }
    let words = |document: &Analysis<'_>| document.words().iter().map(|word| word.hash as u32).collect::<Vec<u32>>();
    let (x, y) = (words(a), words(b));
    if x.len().max(y.len()) > LCS_UNITS {
        return None;
    }
    lcs_similarity(&x, &y, 0.0).ok()?.map(|similarity| (similarity, LcsOf::Words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_text::{Pipeline, TextOptions};

    fn between(a: &str, b: &str) -> Likeness {
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        likeness(&pipeline.analyse(a), &pipeline.analyse(b))
    }

    #[test]
    fn worked_values() {
        let found = between("a b c d e f", "A b c d e!");
        // The first text has the five-word windows abcde and bcdef; the second text has only abcde.
        assert_eq!(found.five_words, Overlap { jaccard: 0.5, a_in_b: Some(0.5), b_in_a: Some(1.0) });
        assert_eq!(found.words, Overlap { jaccard: 5.0 / 6.0, a_in_b: Some(5.0 / 6.0), b_in_a: Some(1.0) });
        assert_eq!(found.common_words, 5);
        assert!((found.cosine - 5.0 / 30f64.sqrt()).abs() < 1e-12);
        // The texts have eleven and nine characters; the longer text contains the shorter one.
        assert_eq!(found.lcs, Some((18.0 / 20.0, LcsOf::Characters)));
    }

    #[test]
    fn texts_without_words_have_no_shares() {
        let found = between("!", "кот");
        assert_eq!(found.words, Overlap { jaccard: 0.0, a_in_b: None, b_in_a: Some(0.0) });
        assert_eq!((found.common_words, found.cosine), (0, 0.0));
    }

    #[test]
    fn long_texts_are_compared_by_words_and_longer_ones_not_at_all() {
        let long = "слово ".repeat(LCS_UNITS / 5);
        assert_eq!(between(&long, "слово").lcs.map(|lcs| lcs.1), Some(LcsOf::Words));
        let longer = "a ".repeat(LCS_UNITS + 1);
        assert_eq!(between(&longer, "a").lcs, None);
    }
}
