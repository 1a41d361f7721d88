//! `lex_rand` (A7): extends I-Match to several lexicons. Each lexicon except the first lacks a random subset of the words.
//!
//! Source: Kołcz, Chowdhury, Alspector 2004, Improved robustness of signature-based near-replica detection via lexicon randomization;
//! Zelenkov, Segalovich 2007, Lex Rand: recall 0.50, precision 0.97 in that study. Cost: a first pass for the counts, O(words), one sort
//! of the lexicon's words, and one digest and row per lexicon.
//!
//! A word is in lexicon k unless the hash of seed, k and word, scaled to [0, 1), is below p, so no lexicon is stored. If n words of the
//! lexicon change, at least one of the K signatures from random lexicons survives with probability 1 - (1 - p^n)^K:
//!
//! | p, K | n = 1 | 2 | 3 | 5 |
//! | --- | --- | --- | --- | --- |
//! | 0.33, 10 (default) | 0.98 | 0.68 | 0.31 | 0.04 |
//!
//! The 2004 paper uses 10 random lexicons and the complete lexicon; the `seed` preset follows a summary that mentions 11 random lexicons
//! and 30%. Limitations: an edit to a long document always changes at least one lexicon word. Documents that share only a template contain
//! few lexicon words; `min_terms` skips them. Signatures are comparable only within one statistics snapshot.
//!
//! ```text
//! lexicon words of a document: бор гать лес река
//! lexicon 0: all four;  1: without гать;  2: without бор and река;  ...: a row (k, digest of the words) each
//! ```

use super::contract::{Algorithm, Corpus, Facts, Kind, Needs, ParamSpec, Params, SharedKey, SignatureScheme, Signer};
use super::kit::digest::{StringKey, VERIFY_STRING};
use super::kit::lexicon::{DF_MAX, DF_MIN, Entry, HI, LEXICON_DIGEST, LO, Lexicon, MIN_TERMS, join};
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::{mix64, splitmix64};
use dupsift_core::row::{Pair, Pairs, RowShape, Score, Signatures, Window};
use dupsift_text::Analysis;

/// Implements the `lex_rand` algorithm.
pub(crate) struct LexRand;

const FACTS: Facts = Facts {
    name: "lex_rand",
    aliases: &["A7"],
    source: "Kołcz, Chowdhury, Alspector 2004; Zelenkov, Segalovich 2007, Lex Rand",
    summary: "Two documents are duplicates if they have the same words of medium rarity, ignoring a random subset of these words.",
    when_not_to_use: "on long documents with several changed words; on short documents, which contain hardly any words from the lexicon",
    inputs: "text, word counts",
    params: &[
        ParamSpec {
            name: "k_random",
            kind: Kind::Int(0, 63),
            default: "10",
            help: "number of random lexicons; each adds one row per document",
        },
        ParamSpec {
            name: "include_base",
            kind: Kind::Flag,
            default: "true",
            help: "also add a row for the complete lexicon, as imatch does",
        },
        ParamSpec {
            name: "p",
            kind: Kind::Real(0.0, 0.99),
            default: "0.33",
            help: "share of the words that a random lexicon leaves out",
        },
        LO,
        HI,
        DF_MIN,
        DF_MAX,
        MIN_TERMS,
        ParamSpec { name: "seed", kind: Kind::Int(0, i64::MAX), default: "42", help: "seed of the random lexicons" },
        LEXICON_DIGEST,
        VERIFY_STRING,
    ],
    shorthands: &[],
    presets: &[("seed", "k_random=11,include_base=false,p=0.3,digest=sha1"), ("faithful", "digest=sha1")],
    revision: 1,
};

impl Algorithm for LexRand {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs(&self, _: &Params) -> Needs {
        Needs::counted_words()
    }

    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let (random, base) = (params.count("k_random") as u64, params.flag("include_base"));
        if random == 0 && !base {
            return Err(Error::usage("lex_rand: k_random=0 with include_base=false leaves no lexicon"));
        }
        let seed = params.count("seed") as u64;
        Ok(Box::new(LexRandSigner {
            lexicon: Lexicon::new("lex_rand", params, corpus.stats)?,
            base,
            seeds: (1..=random).map(|k| splitmix64(seed, k)).collect(),
            // The cast stays within range, because p is below 1.
            removed: (params.real("p") * 2f64.powi(64)) as u64,
            min_terms: params.count("min_terms"),
            key: StringKey::new("lex_rand", params)?,
        }))
    }
}

struct LexRandSigner {
    lexicon: Lexicon,
    base: bool,
    seeds: Vec<u64>,
    /// A random lexicon lacks the words whose hash is below this value.
    removed: u64,
    min_terms: usize,
    key: StringKey,
}

impl LexRandSigner {
    /// Returns a bit set of the random lexicons that contain a word of the complete lexicon.
    fn lexicons_of(&self, word: u64) -> u64 {
        let seeds = self.seeds.iter().enumerate();
        seeds.fold(0, |mask, (k, seed)| mask | u64::from(mix64(word ^ seed) >= self.removed) << k)
    }

    /// Calls `each` with the position and the joined words of every lexicon that contains enough of the document's words.
    fn strings(&self, words: &[Entry<'_>], masks: &[u64], mut each: impl FnMut(usize, &str)) {
        let mut string = String::new();
        if self.base && join(words.iter().map(|entry| entry.word), &mut string) >= self.min_terms {
            each(0, &string);
        }
        for k in 0..self.seeds.len() {
            let kept = words.iter().zip(masks).filter(|(_, mask)| *mask >> k & 1 == 1);
            if join(kept.map(|(entry, _)| entry.word), &mut string) >= self.min_terms {
                each(k + usize::from(self.base), &string);
            }
        }
    }
}

impl Signer for LexRandSigner {
    fn scheme(&self) -> SignatureScheme {
        let shape = RowShape { positions: self.seeds.len() as u32 + u32::from(self.base), ..self.key.shape() };
        SignatureScheme {
            // A single lexicon defines an equivalence relation; several lexicons do not.
            shared_key: if shape.positions == 1 { SharedKey::Duplicates } else { SharedKey::Compared },
            rules: match (self.base, self.seeds.is_empty()) {
                (true, false) => &["lexicon", "random_lexicon"],
                (true, true) => &["lexicon"],
                _ => &["random_lexicon"],
            },
            // Each lexicon adds its own chance of a collision: sixteen lexicons cost four bits.
            signature_bits: Some(self.key.bits() - shape.positions.next_power_of_two().trailing_zeros()),
            notes: vec![self.lexicon.describe()],
            ..SignatureScheme::new(shape)
        }
    }

    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures) {
        if document.counted().is_empty() {
            return out.none("no words");
        }
        let words = self.lexicon.words(document);
        let mut masks = out.take_numbers();
        masks.extend(words.iter().map(|entry| self.lexicons_of(entry.hash)));
        let mut rows = 0;
        self.strings(&words, &masks, |position, string| {
            out.push(position as u32, self.key.of(string), 0, &[]);
            rows += 1;
        });
        out.leave_numbers(masks);
        if rows == 0 {
            out.none("fewer lexicon words than min_terms");
        }
    }

    fn words_of_keys(&self, document: &Analysis<'_>, keys: &[u128]) -> Vec<Option<String>> {
        let words = self.lexicon.words(document);
        let masks: Vec<u64> = words.iter().map(|entry| self.lexicons_of(entry.hash)).collect();
        let mut found = vec![None; keys.len()];
        self.strings(&words, &masks, |_, string| {
            let key = self.key.of(string);
            let same = found.iter_mut().zip(keys).filter(|(_, other)| **other == key);
            same.for_each(|(words, _)| *words = Some(string.to_owned()));
        });
        found
    }

    fn pairs(&self, window: &Window<'_>, out: &mut Pairs<'_>) {
        out.compare_all(window, |a, b| {
            let rule = if self.base && a.position > 0 { 2 } else { 1 };
            Some(Pair::new(a.doc, b.doc, Score::EQUAL, rule))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::CorpusStats;
    use crate::testing::examples::{counted, params, sign_over};
    use dupsift_core::hash::sha1;

    /// Returns the counts for one very common word, one very rare word, and `слово0` to `слово199` in between.
    fn stats() -> CorpusStats {
        let middle: Vec<String> = (0..200).map(|n| format!("слово{n}")).collect();
        let mut words = vec![("и", 1000, 1000), ("раз", 1, 1)];
        words.extend(middle.iter().map(|word| (word.as_str(), 30, 30)));
        counted(1000, 9000, &words)
    }

    fn text(words: std::ops::Range<usize>) -> String {
        words.map(|n| format!("слово{n} и ")).collect::<String>() + "раз"
    }

    fn rows_over(stats: &CorpusStats, typed: &str, text: &str) -> Vec<(u32, u128)> {
        sign_over(&LexRand, typed, stats, text).unwrap().into_iter().map(|row| (row.0, row.1)).collect()
    }

    fn rows(typed: &str, text: &str) -> Vec<(u32, u128)> {
        rows_over(&stats(), typed, text)
    }

    #[test]
    fn the_whole_lexicon_and_ten_random_ones() {
        let all = rows("digest=sha1", &text(0..30));
        assert_eq!(all.iter().map(|row| row.0).collect::<Vec<_>>(), (0..11).collect::<Vec<_>>());
        let mut words: Vec<String> = (0..30).map(|n| format!("слово{n}")).collect();
        words.sort_unstable();
        assert_eq!(all[0].1, sha1(words.join(" ").as_bytes()));
        let mut keys: Vec<u128> = all.iter().map(|row| row.1).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 11, "random lexicons differ");
        assert_eq!(rows("k_random=11,include_base=false", &text(0..30)).len(), 11);
        assert_eq!(rows("k_random=0", &text(0..30)), [(0, rows("", &text(0..30))[0].1)]);
        assert_ne!(rows("seed=7", &text(0..30))[1], rows("", &text(0..30))[1]);
        // Nothing is removed: all lexicons equal the complete lexicon.
        assert!(rows("p=0", &text(0..30)).windows(2).all(|two| two[0].1 == two[1].1));
    }

    /// Compares the formula with the share of documents that keep a signature after some of their words change.
    #[test]
    fn signatures_survive_changes_as_the_formula_says() {
        let stats = stats();
        let (k, p) = (10, 0.33);
        for (changed, expected) in [(1, 0.98), (2, 0.68), (3, 0.31), (5, 0.04)] {
            let formula = 1.0 - (1.0 - f64::powi(p, changed)).powi(k);
            assert!((formula - expected).abs() < 0.005, "{changed}: {formula}");
            let trials = 400;
            let survives = |trial: usize| {
                let typed = format!("seed={trial}");
                let base = rows_over(&stats, &typed, &text(0..20));
                let other = rows_over(&stats, &typed, &text(changed as usize..20));
                base.iter().any(|row| other.contains(row))
            };
            // Each trial uses a different seed; the removed words are always the same.
            let share = (0..trials).filter(|&trial| survives(trial)).count() as f64 / trials as f64;
            assert!((share - expected).abs() < 0.08, "{changed}: {share}, not {expected}");
        }
    }

    #[test]
    fn few_words_and_no_lexicon() {
        let sign = |typed: &str, text: &str| sign_over(&LexRand, typed, &stats(), text);
        assert_eq!(sign("", "..."), Err("no words"));
        assert_eq!(sign("", &text(0..4)), Err("fewer lexicon words than min_terms"));
        // The text has enough words for the complete lexicon, but too few for most random lexicons.
        let positions: Vec<u32> = sign("", &text(0..5)).unwrap().iter().map(|row| row.0).collect();
        assert!(positions[0] == 0 && positions.len() < 6, "{positions:?}");
        let stats = stats();
        let none = LexRand.signer(&params(&LexRand, "k_random=0,include_base=false"), &Corpus::new(9, &stats));
        assert!(none.err().expect("no lexicon").to_string().contains("leaves no lexicon"));
        let one = LexRand.signer(&params(&LexRand, "k_random=0"), &Corpus::new(9, &stats)).unwrap().scheme();
        assert!(one.is_equivalence() && one.rules == ["lexicon"]);
        let several = LexRand.signer(&params(&LexRand, ""), &Corpus::new(9, &stats)).unwrap().scheme();
        assert!(!several.is_equivalence() && several.signature_bits == Some(60));
    }
}
