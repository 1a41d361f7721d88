//! Defines the lexicon of I-Match (words that are neither too common nor too rare) and finds the lexicon words in a document
//! (docs/methods/imatch.md).
//!
//! The normalized IDF of a word ranges from 0 for the most common word in the corpus to 1 for the rarest. The lexicon is an interval of
//! normalized IDF. IDF falls as the document frequency rises, so the interval is stored as a range of document frequencies.
//!
//! ```text
//! nidf(df) = ln(df_greatest / df) / ln(df_greatest / df_least)      1000 / 1: df 251 -> 0.2, df 4 -> 0.8
//! ```

use super::digest::DIGEST;
use crate::algorithm::contract::{Kind, ParamSpec, Params};
use crate::corpus::CorpusStats;
use dupsift_core::error::{Error, Result};
use dupsift_core::float;
use dupsift_text::Analysis;

/// The `lo` parameter.
pub(crate) const LO: ParamSpec = ParamSpec {
    name: "lo",
    kind: Kind::Real(0.0, 1.0),
    default: "0.2",
    help: "words with a lower normalized IDF are too common for the lexicon",
};

/// The `hi` parameter.
pub(crate) const HI: ParamSpec = ParamSpec {
    name: "hi",
    kind: Kind::Real(0.0, 1.0),
    default: "0.8",
    help: "words with a higher normalized IDF are too rare for the lexicon",
};

/// The `df_min` parameter.
pub(crate) const DF_MIN: ParamSpec = ParamSpec {
    name: "df_min",
    kind: Kind::Int(0, i64::MAX),
    default: "0",
    help: "absolute limit, instead of lo and hi: words in fewer documents are too rare; 0: no limit",
};

/// The `df_max` parameter.
pub(crate) const DF_MAX: ParamSpec = ParamSpec {
    name: "df_max",
    kind: Kind::Int(0, i64::MAX),
    default: "0",
    help: "absolute limit, instead of lo and hi: words in more documents are too common; 0: no limit",
};

/// The `min_terms` parameter.
pub(crate) const MIN_TERMS: ParamSpec = ParamSpec {
    name: "min_terms",
    kind: Kind::Int(1, 1_000_000),
    default: "5",
    help: "documents with fewer words from a lexicon have no signature for this lexicon",
};

/// The `digest` parameter for algorithms whose paper specifies SHA-1.
pub(crate) const LEXICON_DIGEST: ParamSpec = ParamSpec {
    name: DIGEST.name,
    kind: Kind::Choice(&["xxh3_64", "xxh3_128", "md5", "sha1", "crc32"]),
    default: DIGEST.default,
    help: "digest of the document's lexicon words in alphabetical order; the I-Match paper uses sha1, which dupsift truncates to the first 128 bits",
};

/// Holds the inclusive range of the document frequencies of lexicon words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lexicon {
    rarest: u64,
    commonest: u64,
}

impl Lexicon {
    /// Returns the lexicon for the parameters [`LO`], [`HI`], [`DF_MIN`] and [`DF_MAX`].
    ///
    /// # Errors
    /// Returns an error if the bounds are in the wrong order.
    pub(crate) fn new(owner: &str, params: &Params, stats: &CorpusStats) -> Result<Lexicon> {
        let (lo, hi) = (params.real(LO.name), params.real(HI.name));
        let (df_min, df_max) = (params.count(DF_MIN.name) as u64, params.count(DF_MAX.name) as u64);
        if lo > hi {
            return Err(Error::usage(format!("{owner}: lo={lo} is above hi={hi}, so no word is in the lexicon")));
        }
        if df_max > 0 && df_min > df_max {
            return Err(Error::usage(format!(
                "{owner}: df_min={df_min} is above df_max={df_max}, so no word is in the lexicon"
            )));
        }
        if df_min > 0 || df_max > 0 {
            return Ok(Lexicon { rarest: df_min, commonest: if df_max > 0 { df_max } else { u64::MAX } });
        }
        let (least, greatest) = stats.df_range();
        Ok(Lexicon::of_nidf(least, greatest, lo, hi))
    }

    /// Returns the document frequencies whose normalized IDF is from `lo` to `hi`. All frequencies are from `least` to `greatest`.
    fn of_nidf(least: u64, greatest: u64, lo: f64, hi: f64) -> Lexicon {
        if least >= greatest {
            // All words are equally common, so all are in the lexicon.
            return Lexicon { rarest: 0, commonest: u64::MAX };
        }
        let range = float::ln(greatest as f64 / least as f64);
        let nidf = |df: u64| float::ln(greatest as f64 / df as f64) / range;
        Lexicon {
            rarest: first(least, greatest + 1, |df| nidf(df) <= hi),
            commonest: first(least, greatest + 1, |df| nidf(df) < lo) - 1,
        }
    }

    /// Returns whether a word with this document frequency belongs to the lexicon.
    #[inline]
    pub(crate) fn has(&self, df: u64) -> bool {
        self.rarest <= df && df <= self.commonest
    }

    /// Returns the distinct lexicon words of a document in alphabetical order, without stop words.
    pub(crate) fn words<'t>(&self, document: &'t Analysis<'_>) -> Vec<Entry<'t>> {
        let words = document.counted().iter().zip(document.frequencies());
        let inside = words.filter(|(counted, frequency)| !counted.word.stop && self.has(frequency.df));
        let mut entries = Vec::with_capacity(document.counted().len());
        entries.extend(inside.map(|(counted, _)| Entry::new(document.word(&counted.word), counted.word.hash)));
        // Most words differ in their first eight bytes.
        entries.sort_unstable_by(|a, b| a.front.cmp(&b.front).then_with(|| a.word.cmp(b.word)));
        entries
    }

    /// Describes the lexicon of this corpus, for run.json.
    pub(crate) fn describe(&self) -> String {
        match self.commonest {
            u64::MAX => format!("lexicon: words in at least {} documents", self.rarest),
            _ => format!("lexicon: words in {} to {} documents", self.rarest, self.commonest),
        }
    }
}

/// Returns the first number in a range for which `holds` is true, or the end of the range if there is no such number. If `holds` is true
/// for a number, it must be true for all larger numbers.
fn first(mut from: u64, mut to: u64, holds: impl Fn(u64) -> bool) -> u64 {
    while from < to {
        let middle = from + (to - from) / 2;
        if holds(middle) { to = middle } else { from = middle + 1 }
    }
    from
}

/// Holds a lexicon word in a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'t> {
    /// The first eight bytes, most significant first, padded with zeros.
    front: u64,
    /// The letters of the word.
    pub word: &'t str,
    /// The hash of the word.
    pub hash: u64,
}

impl<'t> Entry<'t> {
    fn new(word: &'t str, hash: u64) -> Entry<'t> {
        let mut front = [0; 8];
        let length = word.len().min(8);
        front[..length].copy_from_slice(&word.as_bytes()[..length]);
        Entry { front: u64::from_be_bytes(front), word, hash }
    }
}

/// Clears the string and writes the words to it, joined with single spaces. Returns the number of words.
pub(crate) fn join<'t>(words: impl Iterator<Item = &'t str>, string: &mut String) -> usize {
    string.clear();
    let mut count = 0;
    for word in words {
        if count > 0 {
            string.push(' ');
        }
        string.push_str(word);
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::examples::counted;
    use dupsift_text::{Pipeline, TextOptions};

    #[test]
    fn the_interval_is_one_of_frequencies() {
        // 1000^0.8 = 251.2 and 1000^0.2 = 3.98.
        assert_eq!(Lexicon::of_nidf(1, 1000, 0.2, 0.8), Lexicon { rarest: 4, commonest: 251 });
        assert_eq!(Lexicon::of_nidf(1, 1000, 0.0, 1.0), Lexicon { rarest: 1, commonest: 1000 });
        assert_eq!(Lexicon::of_nidf(1, 1000, 0.1, 1.0).rarest, 1);
        // The interval contains no frequency.
        let none = Lexicon::of_nidf(1, 10, 0.95, 0.99);
        assert!((0..20).all(|df| !none.has(df)), "{none:?}");
        // All words are equally common.
        assert!(Lexicon::of_nidf(7, 7, 0.2, 0.8).has(7));
    }

    proptest! {
        #[test]
        fn a_word_is_in_if_its_normalised_idf_is(
            least in 1..50_u64, more in 1..500_u64, lo in 0.0..1.0_f64, wide in 0.0..1.0_f64,
        ) {
            let (greatest, hi) = (least + more, (lo + wide).min(1.0));
            let lexicon = Lexicon::of_nidf(least, greatest, lo, hi);
            let idf = |df: u64| (greatest as f64 / df as f64).ln();
            for df in least..=greatest {
                let nidf = idf(df) / idf(least);
                prop_assert_eq!(lexicon.has(df), lo <= nidf && nidf <= hi, "df {}", df);
            }
        }

        #[test]
        fn words_stand_in_the_order_of_the_alphabet(text in "[aбвz]{1,12}( [aбвz]{1,12}){0,30}") {
            let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
            let document = pipeline.analyse(&text);
            let all = Lexicon { rarest: 0, commonest: u64::MAX };
            let words: Vec<&str> = all.words(&document).iter().map(|entry| entry.word).collect();
            let mut expected: Vec<&str> = document.words().iter().map(|word| document.word(word)).collect();
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(words, expected);
        }
    }

    #[test]
    fn bounds_in_the_wrong_order_are_refused() {
        let stats = counted(10, 10, &[("a", 1, 1), ("b", 10, 10)]);
        let specs = [LO, HI, DF_MIN, DF_MAX];
        let lexicon = |typed: &[(&str, &str)]| {
            let typed: Vec<_> = typed.iter().map(|&(name, value)| (name.to_string(), value.to_string())).collect();
            Lexicon::new("imatch", &Params::check("imatch", &specs, &typed).expect("known names"), &stats)
        };
        assert!(lexicon(&[("lo", "0.9")]).unwrap_err().to_string().contains("lo=0.9 is above hi=0.8"));
        assert!(lexicon(&[("df_min", "9"), ("df_max", "3")]).is_err());
        assert_eq!(lexicon(&[("df_min", "3")]).unwrap(), Lexicon { rarest: 3, commonest: u64::MAX });
        assert_eq!(lexicon(&[("df_max", "3")]).unwrap(), Lexicon { rarest: 0, commonest: 3 });
        assert_eq!(lexicon(&[("lo", "0")]).unwrap().describe(), "lexicon: words in 2 to 10 documents");
    }
}
