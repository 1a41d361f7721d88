//! `keyword_match`: two documents are a pair if they share m of their N most frequent words.
//!
//! Source: keyword signatures in the style of Manber, as described in the 2011 survey of page replicas; N = 10 and m = 8 are dupsift's
//! choice. Cost: a first pass for the counts, and N - m + 1 rows per document. Each row holds all keywords, so texts are not read a second
//! time. Any two lists of N words with m words in common share a word that is among the N - m + 1 rarest in both lists.
//!
//! ```text
//! N = 3, m = 2:  {a b c} and {b c d} are a pair, {a b c} and {c d e} are none
//! ```
//!
//! Limitations: without a list of stop words, the ten most frequent words are the same in every text; `weight=tf_idf` avoids that. The
//! order and counts of the words do not matter.

use super::contract::{Algorithm, Corpus, Facts, Kind, Needs, ParamSpec, Params, SignatureScheme, Signer};
use super::kit::top_words::Heaviest;
use crate::corpus::CorpusStats;
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::hash64;
use dupsift_core::row::{Row, RowShape, Score, Signatures};
use dupsift_text::Analysis;

/// Implements the `keyword_match` algorithm.
pub(crate) struct KeywordMatch;

const FACTS: Facts = Facts {
    name: "keyword_match",
    aliases: &["m_of_n"],
    source: "Manber 1994, Finding similar files in a large file system (signatures); the 2011 survey of page replicas (keywords)",
    summary: "Two documents are duplicates if they share enough of their most frequent words.",
    when_not_to_use: "without a list of stop words (`stop-words`), unless weight=tf_idf; on documents about the same topic",
    inputs: "text, word counts",
    params: &[
        ParamSpec { name: "words", kind: Kind::Int(1, 32), default: "10", help: "N: number of keywords per document" },
        ParamSpec {
            name: "common",
            kind: Kind::Int(1, 32),
            default: "8",
            help: "m: minimum number of shared keywords, at most `words`. Documents with fewer keywords have no signature",
        },
        ParamSpec {
            name: "weight",
            kind: Kind::Choice(&["tf", "tf_idf"]),
            default: "tf",
            help: "how to rank keywords: tf: by number of occurrences; tf_idf: by number of occurrences times ln(N / df)",
        },
    ],
    shorthands: &[],
    presets: &[],
    revision: 1,
};

impl Algorithm for KeywordMatch {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs(&self, _: &Params) -> Needs {
        Needs::counted_words()
    }

    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let (words, common) = (params.count("words"), params.count("common"));
        if common > words {
            return Err(Error::usage(format!(
                "keyword_match: common={common} is more than words={words}, so no pair can be found; expected common={words} or less"
            )));
        }
        let weigh_by_df = params.word("weight") == "tf_idf" && corpus.stats.documents() > 0;
        Ok(Box::new(KeywordMatchSigner { words, common, weigh_by_df, stats: corpus.stats }))
    }
}

struct KeywordMatchSigner<'c> {
    words: usize,
    common: usize,
    weigh_by_df: bool,
    stats: &'c CorpusStats,
}

impl Signer for KeywordMatchSigner<'_> {
    fn words_of_keys(&self, document: &Analysis<'_>, keys: &[u128]) -> Vec<Option<String>> {
        let words = || document.counted().iter().map(|counted| document.word(&counted.word));
        let word = |&key: &u128| words().find(|word| u128::from(hash64(word.as_bytes())) == key);
        keys.iter().map(|key| word(key).map(str::to_owned)).collect()
    }

    fn scheme(&self) -> SignatureScheme {
        // The sketch holds the hashes of the keywords, rarest first.
        let shape = RowShape { sketch: self.words * 8, ..RowShape::KEY64 };
        SignatureScheme { rules: &["keywords"], ..SignatureScheme::new(shape) }
    }

    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures) {
        let mut heaviest = Heaviest::new(self.words);
        for (counted, frequency) in document.counted().iter().zip(document.frequencies()) {
            let idf = if self.weigh_by_df { self.stats.idf(frequency.df) } else { 1.0 };
            if !counted.word.stop {
                heaviest.push(f64::from(counted.tf) * idf, document, counted);
            }
        }
        let hashes = heaviest.words().map(|word| hash64(word.as_bytes()));
        let mut keywords: Vec<(u64, u64)> = hashes.map(|hash| (self.stats.df(hash), hash)).collect();
        if keywords.is_empty() {
            return out.none("no words");
        }
        if keywords.len() < self.common {
            return out.none("fewer keywords than common");
        }
        keywords.sort_unstable();
        let mut sketch: Vec<u8> = keywords.iter().flat_map(|(_, hash)| hash.to_le_bytes()).collect();
        sketch.resize(self.words * 8, 0);
        for (_, hash) in &keywords[..=keywords.len() - self.common] {
            out.push(0, (*hash).into(), 0, &sketch);
        }
    }

    /// Judges a pair only at its rarest shared keyword.
    fn judge(&self, a: &Row<'_>, b: &Row<'_>) -> Option<Score> {
        let hashes = |row: &Row<'_>| row.sketch.chunks_exact(8).take_while(|bytes| **bytes != [0; 8]).count();
        let key = (a.key as u64).to_le_bytes();
        let others = b.sketch.as_chunks::<8>().0;
        let mut common = a.sketch.as_chunks::<8>().0.iter().filter(|one| **one != [0; 8] && others.contains(one));
        if *common.next()? != key {
            return None;
        }
        let common = 1 + common.count();
        let similarity = common as f32 / hashes(a).max(hashes(b)) as f32;
        (common >= self.common).then_some(Score { similarity, distance: None })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::testing::examples::{params, sign};
    use crate::testing::in_memory::{all_pairs, run, texts};

    #[test]
    fn worked_examples() {
        let of = |text: &str| text.to_string();
        let found = run(&KeywordMatch, "words=3,common=2", &[of("a b c"), of("b c d"), of("c d e"), of("a b")]);
        assert_eq!(found.numbers(), [(0, 1), (0, 3), (1, 2)].into());
        assert_eq!(found.pairs[&(0, 1)].score.similarity, 2.0 / 3.0);
        // Only the two rarest of the three keywords emit rows.
        assert_eq!(sign(&KeywordMatch, "words=3,common=2", "a a a b b c c d").unwrap().len(), 2);
        assert_eq!(sign(&KeywordMatch, "", "a b c"), Err("fewer keywords than common"));
        assert_eq!(sign(&KeywordMatch, "", "?"), Err("no words"));
        let stats = CorpusStats::none();
        let refused = KeywordMatch.signer(&params(&KeywordMatch, "words=4"), &Corpus::new(9, &stats)).err().unwrap();
        assert!(refused.to_string().contains("common=8 is more than words=4"));
    }

    #[test]
    fn finds_exactly_the_pairs_of_the_definition() {
        let texts = texts(9, 160, 40);
        let keywords: Vec<BTreeSet<&str>> = texts
            .iter()
            .map(|text| {
                let words: BTreeSet<&str> = text.split(' ').collect();
                let tf = |word: &str| text.split(' ').filter(|other| *other == word).count();
                let mut words: Vec<(usize, &str)> = words.into_iter().map(|word| (tf(word), word)).collect();
                words.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
                words.into_iter().take(10).map(|word| word.1).collect()
            })
            .collect();
        for common in [10, 8, 5, 2] {
            let found = run(&KeywordMatch, &format!("common={common}"), &texts);
            let expected = all_pairs(texts.len(), |a, b| keywords[a].intersection(&keywords[b]).count() >= common);
            assert!(expected.len() > 10, "{common}: {}", expected.len());
            assert_eq!(found.numbers(), expected, "{common}");
        }
        let by_idf = run(&KeywordMatch, "weight=tf_idf,common=5", &texts).numbers();
        assert!(!by_idf.is_empty() && by_idf != run(&KeywordMatch, "common=5", &texts).numbers());
    }
}
