//! `imatch`: compares all words of a document that are neither too common nor too rare.
//!
//! Source: Chowdhury, Frieder, Grossman, McCabe 2002, Collection statistics for fast duplicate document detection. Cost: a first pass for
//! the counts, O(words), one sort of the lexicon's words, one row per document.
//!
//! ```text
//! lexicon: words with 0.2 <= nidf <= 0.8;  signature: digest of the document's distinct lexicon words in alphabetical order
//! nidf = ln(df_greatest / df) / ln(df_greatest / df_least)
//! ```
//!
//! Positions and frequencies are not used. The presets are the one-sided cutoffs of the 2002 paper. Words that occur once (typos, numbers)
//! set the highest IDF, so the cutoffs shift with the size of the corpus; `df_min` and `df_max` do not shift. `top` is a fixed-size variant
//! from a different source: instead of a lexicon, it uses the heaviest words by tf ln(N / df), without the first `skip` words. Limitations:
//! one changed lexicon word breaks the signature (`lex_rand` addresses that). Documents that have only a template in common have few
//! lexicon words; `min_terms` skips them. Signatures are comparable only within one statistics snapshot.

use super::contract::{
    Algorithm, Corpus, Facts, Key, KeySigner, Kind, Needs, ParamSpec, Params, SignatureScheme, Signer,
};
use super::kit::digest::{StringKey, VERIFY_STRING};
use super::kit::lexicon::{DF_MAX, DF_MIN, HI, LEXICON_DIGEST, LO, Lexicon, MIN_TERMS, join};
use super::kit::top_words::Heaviest;
use crate::corpus::CorpusStats;
use dupsift_core::error::{Error, Result};
use dupsift_core::row::Reason;
use dupsift_text::Analysis;

/// Implements the `imatch` algorithm.
pub(crate) struct IMatch;

const FACTS: Facts = Facts {
    name: "imatch",
    aliases: &["i_match"],
    source: "Chowdhury, Frieder, Grossman, McCabe 2002, Collection statistics for fast duplicate document detection",
    summary: "Two documents are duplicates if they have the same words of medium rarity.",
    when_not_to_use: "if copies differ in a word or two, which lex_rand tolerates; on short documents, which contain hardly any words from the lexicon",
    inputs: "text, word counts",
    params: &[
        LO,
        HI,
        DF_MIN,
        DF_MAX,
        MIN_TERMS,
        ParamSpec {
            name: "top",
            kind: Kind::Int(0, 1000),
            default: "0",
            help: "use this many of the words with the highest TF-IDF instead of the lexicon; 0: use the lexicon",
        },
        ParamSpec {
            name: "skip",
            kind: Kind::Int(0, 1000),
            default: "3",
            help: "with top: how many of the words with the highest TF-IDF to skip",
        },
        LEXICON_DIGEST,
        VERIFY_STRING,
    ],
    shorthands: &[],
    presets: &[("high_idf", "lo=0.5,hi=1"), ("low_cut", "lo=0.1,hi=1"), ("faithful", "digest=sha1")],
    revision: 1,
};

impl Algorithm for IMatch {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs(&self, _: &Params) -> Needs {
        Needs::counted_words()
    }

    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let (min_terms, top) = (params.count("min_terms"), params.count("top"));
        if top > 0 && top < min_terms {
            return Err(Error::usage(format!(
                "imatch: min_terms={min_terms} is more than top={top}, so no document would have a signature; expected min_terms={top} or less"
            )));
        }
        Ok(Box::new(IMatchSigner {
            lexicon: Lexicon::new("imatch", params, corpus.stats)?,
            min_terms,
            top,
            skip: params.count("skip"),
            key: StringKey::new("imatch", params)?,
            stats: corpus.stats,
        }))
    }
}

struct IMatchSigner<'c> {
    lexicon: Lexicon,
    min_terms: usize,
    top: usize,
    skip: usize,
    key: StringKey,
    stats: &'c CorpusStats,
}

impl IMatchSigner<'_> {
    /// Returns the heaviest words by tf idf, without the first `skip` words, in alphabetical order.
    fn top_words<'t>(&self, document: &'t Analysis<'_>) -> Vec<&'t str> {
        let mut heaviest = Heaviest::new(self.skip + self.top);
        for (counted, frequency) in document.counted().iter().zip(document.frequencies()) {
            if !counted.word.stop {
                heaviest.push(f64::from(counted.tf) * self.stats.idf(frequency.df), document, counted);
            }
        }
        let mut words: Vec<&str> = heaviest.words().skip(self.skip).collect();
        words.sort_unstable();
        words
    }

    /// Returns the words of the signature in alphabetical order, joined with single spaces.
    fn string(&self, document: &Analysis<'_>) -> Result<String, Reason> {
        if document.counted().is_empty() {
            return Err("no words");
        }
        let mut string = String::new();
        let terms = match self.top {
            0 => join(self.lexicon.words(document).iter().map(|entry| entry.word), &mut string),
            _ => join(self.top_words(document).into_iter(), &mut string),
        };
        if terms < self.min_terms {
            return Err("fewer lexicon words than min_terms");
        }
        Ok(string)
    }
}

impl KeySigner for IMatchSigner<'_> {
    fn key(&self, document: &Analysis<'_>) -> Result<Key, Reason> {
        Ok(self.key.of(&self.string(document)?).into())
    }

    fn words(&self, document: &Analysis<'_>) -> Option<String> {
        self.string(document).ok()
    }

    fn key_scheme(&self) -> SignatureScheme {
        let notes = if self.top == 0 { vec![self.lexicon.describe()] } else { Vec::new() };
        SignatureScheme { notes, ..SignatureScheme::one_key(self.key.bits()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::examples::{counted, key_over};
    use dupsift_core::hash::sha1;

    /// Returns statistics with frequencies from 1 to 1000, so the lexicon holds words in 4 to 251 documents.
    fn stats() -> CorpusStats {
        let words = [("и", 1000), ("на", 252), ("лес", 251), ("река", 90), ("бор", 20), ("гать", 4), ("опечатка", 3)];
        let words: Vec<(&str, u64, u64)> = words.iter().map(|&(word, df)| (word, df, df)).collect();
        counted(1000, 9000, &[&words[..], &[("раз", 1, 1)]].concat())
    }

    const TEXT: &str = "И на лес, и на гать; река опечатка бор! Раз.";

    fn key(typed: &str, text: &str) -> std::result::Result<u128, &'static str> {
        key_over(&IMatch, typed, &stats(), text)
    }

    #[test]
    fn medium_words_in_alphabetical_order() {
        let faithful = |typed: &str| key(&format!("digest=sha1,min_terms=3{typed}"), TEXT);
        assert_eq!(faithful(""), Ok(sha1("бор гать лес река".as_bytes())));
        // The order of words, the number of occurrences, and words outside the lexicon do not matter.
        assert_eq!(key("min_terms=4", TEXT), key("min_terms=4", "Река, река, лес. Бор бор гать на два"));
        assert_ne!(key("min_terms=3", TEXT), key("min_terms=3", "Река, река, лес. Бор бор на два"));
        assert_eq!(key("", TEXT), Err("fewer lexicon words than min_terms"));
        assert_eq!(key("", "..."), Err("no words"));
    }

    #[test]
    fn presets_and_absolute_cuts() {
        let faithful = |typed: &str| key(&format!("digest=sha1,min_terms=1,{typed}"), TEXT);
        // 1000^0.5 = 31.6, 1000^0.9 = 501.2.
        assert_eq!(faithful("lo=0.5,hi=1"), Ok(sha1("бор гать опечатка раз".as_bytes())));
        assert_eq!(faithful("lo=0.1,hi=1"), Ok(sha1("бор гать лес на опечатка раз река".as_bytes())));
        assert_eq!(faithful("df_min=4,df_max=20"), Ok(sha1("бор гать".as_bytes())));
        assert_eq!(faithful("df_min=21"), Ok(sha1("и лес на река".as_bytes())));
        assert_eq!(faithful("df_max=3"), Ok(sha1("опечатка раз".as_bytes())));
    }

    #[test]
    fn a_fixed_number_of_words_behind_the_first() {
        // The weights tf ln(N / df): раз 6.9, опечатка 5.8, гать 5.5, бор 3.9, на 2.8 (twice), река 2.4, лес 1.4, и 0.
        let faithful = |typed: &str| key(&format!("digest=sha1,min_terms=1,{typed}"), TEXT);
        assert_eq!(faithful("top=3"), Ok(sha1("бор на река".as_bytes())));
        assert_eq!(faithful("top=2,skip=0"), Ok(sha1("опечатка раз".as_bytes())));
        assert_eq!(key("top=3,skip=6,min_terms=3", TEXT), Err("fewer lexicon words than min_terms"));
    }
}
