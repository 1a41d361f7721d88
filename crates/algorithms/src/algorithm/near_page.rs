//! `near_page`: compares the most frequent keywords of each document. The number of keywords compared is a share of all keywords, rounded
//! down to a multiple of the interval.
//!
//! Source: the "near page discovery" method in a Chinese survey of page deduplication. Cost: O(words), one sort of the distinct
//! words, one row per document.
//!
//! A document has sum1 distinct keywords. sum2 is the share `percentage` of sum1, and sum3 is sum2 rounded down to a multiple of
//! `interval`. The most frequent keywords, sum3 in number (ties in reverse alphabetical order), are sorted in reverse alphabetical order
//! and hashed. One new word rarely changes sum3.
//!
//! Limitations: keywords that occur once make the end of the list unstable, so a small share is safer. The survey specifies no values for
//! the parameters. A document whose number of keywords is below interval / percentage has no signature, unless `min_one_interval` is set.
//!
//! ```text
//! b 4 times, a 3, e d c 2, and z y x w v u t s r q p f once; percentage 0.5, interval 5
//! sum1 = 17, sum2 = 8, sum3 = 5: b a e d c -> "edcba"
//! ```

use super::contract::{Algorithm, Corpus, Facts, Key, KeySigner, Kind, ParamSpec, Params, SignatureScheme, Signer};
use super::kit::digest::{DIGEST, StringKey, VERIFY_STRING};
use super::kit::top_words::{distinct_words, share};
use dupsift_core::error::Result;
use dupsift_core::row::Reason;
use dupsift_text::Analysis;

/// Implements the `near_page` algorithm.
pub(crate) struct NearPage;

const FACTS: Facts = Facts {
    name: "near_page",
    aliases: &[],
    source: "survey of ten methods for deduplicating pages, near page discovery (Percentage, Sum_interval)",
    summary: "Two documents are duplicates if they have the same most frequent keywords. The number of keywords is a fixed share of all keywords, rounded down to a multiple of the interval.",
    when_not_to_use: "on short documents, which have fewer keywords than one interval, or in which each keyword occurs only once",
    inputs: "text",
    params: &[
        ParamSpec {
            name: "percentage",
            kind: Kind::Real(0.001, 1.0),
            default: "0.2",
            help: "share of the distinct keywords to use, most frequent first",
        },
        ParamSpec {
            name: "interval",
            kind: Kind::Int(1, 1000),
            default: "5",
            help: "the number of keywords is rounded down to a multiple of this (Sum_interval)",
        },
        ParamSpec {
            name: "min_one_interval",
            kind: Kind::Flag,
            default: "false",
            help: "if the share is less than one interval, use one interval (or all keywords if there are fewer) instead of creating no signature",
        },
        ParamSpec {
            name: "faithful",
            kind: Kind::Flag,
            default: "false",
            help: "true: join the keywords without separators, as in the survey, so \"ab c\" equals \"a bc\"; false: join them with single spaces",
        },
        ParamSpec { default: "md5", help: "digest of the keywords; the survey uses md5", ..DIGEST },
        VERIFY_STRING,
    ],
    shorthands: &[],
    presets: &[],
    revision: 1,
};

impl Algorithm for NearPage {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn signer<'c>(&self, params: &Params, _: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        Ok(Box::new(NearPageSigner {
            percentage: params.real("percentage"),
            interval: params.count("interval"),
            min_one_interval: params.flag("min_one_interval"),
            separator: if params.flag("faithful") { "" } else { " " },
            key: StringKey::new("near_page", params)?,
        }))
    }
}

struct NearPageSigner {
    percentage: f64,
    interval: usize,
    min_one_interval: bool,
    separator: &'static str,
    key: StringKey,
}

impl NearPageSigner {
    /// Returns the chosen keywords in descending alphabetical order, joined with a separator.
    fn joined(&self, document: &Analysis<'_>, separator: &str) -> Result<String, Reason> {
        let words = distinct_words(document);
        if words.is_empty() {
            return Err("no keywords");
        }
        let mut count = share(words.len(), self.percentage) / self.interval * self.interval;
        if count == 0 && self.min_one_interval {
            count = words.len().min(self.interval);
        }
        if count == 0 {
            return Err("fewer keywords than one interval");
        }
        let mut words: Vec<(u32, &str)> = words.iter().map(|one| (one.tf, document.word(&one.word))).collect();
        if count < words.len() {
            // Moves the most frequent keywords to the front, unsorted; `count` is their number.
            words.select_nth_unstable_by(count - 1, |a, b| b.cmp(a));
        }
        let chosen = &mut words[..count];
        chosen.sort_unstable_by(|a, b| b.1.cmp(a.1));
        let mut string = String::new();
        for (at, (_, word)) in chosen.iter().enumerate() {
            string.push_str(if at > 0 { separator } else { "" });
            string.push_str(word);
        }
        Ok(string)
    }
}

impl KeySigner for NearPageSigner {
    fn key(&self, document: &Analysis<'_>) -> Result<Key, Reason> {
        Ok(self.key.of(&self.joined(document, self.separator)?).into())
    }

    fn words(&self, document: &Analysis<'_>) -> Option<String> {
        self.joined(document, " ").ok()
    }

    fn key_scheme(&self) -> SignatureScheme {
        SignatureScheme::one_key(self.key.bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::examples::key;
    use dupsift_core::hash::md5;

    const TEXT: &str = "b b b b a a a e e d d c c z y x w v u t s r q p f";

    #[test]
    fn worked_examples() {
        let faithful = "faithful=true,interval=5";
        let of = |percentage: &str| key(&NearPage, &format!("{faithful},percentage={percentage}"), TEXT);
        assert_eq!(of("0.5"), Ok(0x295228f3d82d344bbcf2f0030519c2ea));
        assert_eq!(of("0.6"), Ok(md5(b"zyxwvedcba")));
        let spaced = key(&NearPage, "percentage=0.5", TEXT);
        assert_eq!(spaced, Ok(md5(b"e d c b a")));
    }

    #[test]
    fn one_new_word_changes_nothing_and_order_does_not_count() {
        let of = |text: &str| key(&NearPage, "percentage=0.5", text);
        assert_eq!(of(TEXT), of(&format!("g {TEXT}")));
        assert_eq!(of(TEXT), of("f p q r s t u v w x y z c c d d e e a a a b b b b"));
        assert_ne!(of(TEXT), of(&format!("d {TEXT} g h i j")));
    }

    #[test]
    fn less_than_one_interval() {
        assert_eq!(key(&NearPage, "", TEXT), Err("fewer keywords than one interval"));
        assert_eq!(key(&NearPage, "min_one_interval=true", TEXT), Ok(md5(b"e d c b a")));
        assert_eq!(key(&NearPage, "min_one_interval=true", "да нет да"), Ok(md5("нет да".as_bytes())));
        assert_eq!(key(&NearPage, "min_one_interval=true", "?"), Err("no keywords"));
        assert_eq!(key(&NearPage, "interval=1,percentage=1", "б а"), Ok(md5("б а".as_bytes())));
    }
}
