//! Selects the longest or heaviest distinct sentences of a document for `long_sent`, `heavy_sent` and `three_plus_five`. Sentences are
//! sorted by the number of words or by weight (descending), then by text (ascending).

use std::ops::Range;

use super::digest::StringKey;
use crate::algorithm::contract::{FeatureKind, Key, Kind, ParamSpec, Params};
use crate::corpus::CorpusStats;
use dupsift_core::hash::hash64;
use dupsift_text::Analysis;

/// The `max_sentence_df` parameter.
pub(crate) const MAX_SENTENCE_DF: ParamSpec = ParamSpec {
    name: "max_sentence_df",
    kind: Kind::Int(0, i64::MAX),
    default: "0",
    help: "drop sentences that occur in more documents than this (boilerplate, licenses); 0: drop none",
};

/// Counts sentences as features. A sentence is identified by the hash of its canonical form.
pub(crate) struct Sentences;

impl Sentences {
    /// Passes the hash and the canonical form of each sentence to `each`, in order.
    pub(crate) fn each(document: &Analysis<'_>, mut each: impl FnMut(u64, &str)) {
        let mut canonical = String::new();
        for sentence in document.sentences() {
            canonical.clear();
            document.write_sentence(sentence, &mut canonical);
            each(hash64(canonical.as_bytes()), &canonical);
        }
    }
}

impl FeatureKind for Sentences {
    fn name(&self) -> String {
        "sentences".into()
    }

    fn hashes(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        Sentences::each(document, |hash, _| out.push(hash));
    }
}

/// Returns the sentences as features to count, if [`MAX_SENTENCE_DF`] is set.
pub(crate) fn counted_sentences(params: &Params) -> Option<Box<dyn FeatureKind>> {
    (params.int(MAX_SENTENCE_DF.name) > 0).then(|| Box::new(Sentences) as Box<dyn FeatureKind>)
}

/// Returns the chosen sentences in readable form, sorted alphabetically.
pub(crate) fn words_of_sentences(mut chosen: Vec<String>) -> String {
    chosen.sort_unstable();
    chosen.join(" | ")
}

/// Returns the key of the chosen sentences, which are sorted alphabetically and joined. The key is flagged if the number of sentences is
/// below `wanted`.
pub(crate) fn key_of_sentences(mut chosen: Vec<String>, wanted: usize, key: &StringKey) -> Key {
    let flag = (chosen.len() < wanted).then_some("fewer sentences than the signature needs");
    chosen.sort_unstable();
    Key { number: key.of(&chosen.join(&key.sentence_separator().to_string())), flag }
}

/// The number of sentences that are sorted first, as a multiple of the requested number.
const FEW: usize = 4;

/// Returns the longest distinct sentences, longest first, as canonical strings (words joined with single spaces). `count` is the maximum
/// number of sentences. If `max_df` is above 0, sentences with a document frequency above `max_df` are skipped.
///
/// # Errors
/// Returns the reason why no sentences can be chosen.
pub(crate) fn longest_sentences(
    document: &Analysis<'_>,
    count: usize,
    max_df: u64,
    stats: &CorpusStats,
) -> Result<Vec<String>, &'static str> {
    heaviest_sentences(document, |sentence| sentence.len() as f64, count, max_df, stats)
}

/// Like [`longest_sentences`], but ranks sentences by weight instead of length. Sentences with the same words must have the same weight.
///
/// # Errors
/// Returns the reason why no sentences can be chosen.
pub(crate) fn heaviest_sentences(
    document: &Analysis<'_>,
    weight: impl Fn(&Range<u32>) -> f64,
    count: usize,
    max_df: u64,
    stats: &CorpusStats,
) -> Result<Vec<String>, &'static str> {
    let words = document.words();
    // Adding 0.0 turns -0.0 into 0.0, so that equal weights compare equal.
    let weighed = document.sentences().iter().map(|sentence| (weight(sentence) + 0.0, sentence));
    let mut sentences: Vec<(f64, &Range<u32>)> = weighed.collect();
    if sentences.is_empty() {
        return Err("no sentences");
    }
    let text = |sentence: &Range<u32>| {
        words[sentence.start as usize..sentence.end as usize].iter().map(|word| document.word(word))
    };
    // Comparing word by word is the same as comparing the canonical strings, because no word contains a character that sorts before the
    // space.
    let order =
        |a: &(f64, &Range<u32>), b: &(f64, &Range<u32>)| b.0.total_cmp(&a.0).then_with(|| text(a.1).cmp(text(b.1)));
    // The first few sentences are nearly always enough, so the rest need not be sorted. If they are not enough, copies of the last sentence
    // are dropped, because a sentence may occur a thousand times, and the next round sorts more of the remaining sentences.
    let mut few = FEW * count;
    let mut chosen: Vec<String> = Vec::with_capacity(count);
    while chosen.len() < count && !sentences.is_empty() {
        few = few.min(sentences.len());
        if few < sentences.len() {
            sentences.select_nth_unstable_by(few, order);
        }
        sentences[..few].sort_unstable_by(order);
        for (_, sentence) in &sentences[..few] {
            let mut canonical = String::new();
            document.write_sentence(sentence, &mut canonical);
            // Equal sentences are adjacent in this order.
            if chosen.last() == Some(&canonical) {
                continue;
            }
            if max_df > 0 && stats.feature_df(hash64(canonical.as_bytes())) > max_df {
                continue;
            }
            chosen.push(canonical);
            if chosen.len() == count {
                break;
            }
        }
        let last = sentences[few - 1];
        sentences.drain(..few);
        sentences.retain(|sentence| order(sentence, &last).is_ne());
        few *= 2;
    }
    if chosen.is_empty() { Err("all sentences are too common") } else { Ok(chosen) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_text::{Pipeline, TextOptions};

    fn longest(text: &str, count: usize) -> Result<Vec<String>, &'static str> {
        let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
        longest_sentences(&pipeline.analyse(text), count, 0, &CorpusStats::none())
    }

    #[test]
    fn length_then_text_and_each_once() {
        assert_eq!(longest("One two. A b c. Z y. A B C!", 9).unwrap(), ["a b c", "one two", "z y"]);
        assert_eq!(longest("One two. A b c. Z y. A B C!", 2).unwrap(), ["a b c", "one two"]);
        assert_eq!(longest("...", 2), Err("no sentences"));
    }

    proptest::proptest! {
        #[test]
        fn the_longest_are_those_of_sorting(text in "([ab]( [ab]){0,2}\\. ){1,200}", count in 1..6_usize) {
            let mut all: Vec<String> = text.split(". ").filter(|part| !part.is_empty()).map(str::to_owned).collect();
            all.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
            all.dedup();
            all.truncate(count);
            proptest::prop_assert_eq!(longest(&text, count), Ok(all));
        }
    }
}
