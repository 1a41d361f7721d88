//! `fingerprint`: compares the heaviest words and their counts.
//!
//! Source: the "information fingerprint" method in a Chinese survey of page deduplication. Cost: O(words), one row per document; with
//! `weight=tf_over_df`, also a first pass for the corpus counts.
//!
//! Limitations: counts are part of the signature, so a copy in which one of these words occurs once more is missed. This is much stricter
//! than comparing the words alone (`tf`). If a document has fewer distinct words than the `words` parameter specifies, the signature
//! contains all of them; `min_distinct` skips such documents.
//!
//! ```text
//! "网页" 12 times, "搜索" 10, "引擎" 7, words=3 -> "网页 12 搜索 10 引擎 7"
//! faithful=true: "网页12搜索10引擎7" and a line feed, in GBK -> MD5 a7eb9d92a83cf438881915e0bc2df70b
//! ```
//!
//! GBK lacks many letters (most accented Latin letters, and all scripts except Chinese, Japanese kana, Greek and Russian). Such a letter
//! appears in the signature as a character reference, such as `&#233;`, and the document is counted under a flag.

use super::contract::{
    Algorithm, Corpus, Facts, Key, KeySigner, Kind, Needs, ParamSpec, Params, SignatureScheme, Signer,
};
use super::kit::digest::{DIGEST, StringKey, VERIFY_STRING};
use super::kit::top_words::{Heaviest, distinct_words};
use dupsift_core::error::Result;
use dupsift_core::row::Reason;
use dupsift_text::{Analysis, Counted};

/// Implements the `fingerprint` algorithm.
pub(crate) struct Fingerprint;

const FACTS: Facts = Facts {
    name: "fingerprint",
    aliases: &[],
    source: "survey of ten methods for deduplicating pages, information fingerprint",
    summary: "Two documents are duplicates if their heaviest words are the same and occur equally often.",
    when_not_to_use: "if copies differ in a header or footer, because a copy is missed if a frequent word occurs one more time",
    inputs: "text; word counts with weight=tf_over_df",
    params: &[
        ParamSpec { name: "words", kind: Kind::Int(1, 1000), default: "10", help: "number of words in the signature" },
        ParamSpec {
            name: "weight",
            kind: Kind::Choice(&["tf", "tf_over_df"]),
            default: "tf",
            help: "tf: occurrences in the document; tf_over_df: occurrences divided by the number of documents that contain the word",
        },
        ParamSpec {
            name: "order",
            kind: Kind::Choice(&["weight", "sorted"]),
            default: "weight",
            help: "weight: heaviest first; sorted: alphabetical",
        },
        ParamSpec {
            name: "min_distinct",
            kind: Kind::Int(1, 1000),
            default: "1",
            help: "documents with fewer distinct words have no signature",
        },
        ParamSpec {
            name: "faithful",
            kind: Kind::Flag,
            default: "false",
            help: "true: as in the survey (GBK, no separators between words and counts, a line feed at the end); false: UTF-8, separated by spaces",
        },
        ParamSpec { default: "md5", help: "digest of words and counts; the survey uses md5", ..DIGEST },
        VERIFY_STRING,
    ],
    shorthands: &[],
    presets: &[],
    revision: 1,
};

impl Algorithm for Fingerprint {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs(&self, params: &Params) -> Needs {
        Needs { word_counts: params.word("weight") == "tf_over_df", ..Needs::counted_words() }
    }

    fn signer<'c>(&self, params: &Params, _: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        Ok(Box::new(FingerprintSigner {
            words: params.count("words"),
            over_df: params.word("weight") == "tf_over_df",
            sorted: params.word("order") == "sorted",
            min_distinct: params.count("min_distinct"),
            faithful: params.flag("faithful"),
            key: StringKey::new("fingerprint", params)?,
        }))
    }
}

struct FingerprintSigner {
    words: usize,
    over_df: bool,
    sorted: bool,
    min_distinct: usize,
    faithful: bool,
    key: StringKey,
}

impl FingerprintSigner {
    /// Returns the heaviest words with their counts, in the order of the signature.
    fn chosen<'t>(&self, document: &'t Analysis<'_>, words: &[Counted]) -> Vec<(&'t str, u32)> {
        let mut heaviest = Heaviest::new(self.words);
        if self.over_df {
            let words = document.counted().iter().zip(document.frequencies()).filter(|(one, _)| !one.word.stop);
            words.for_each(|(one, frequency)| heaviest.push(f64::from(one.tf) / frequency.df as f64, document, one));
        } else {
            words.iter().for_each(|one| heaviest.push(one.tf.into(), document, one));
        }
        let mut chosen: Vec<(&str, u32)> = heaviest.in_order().collect();
        if self.sorted {
            chosen.sort_unstable();
        }
        chosen
    }

    /// Returns the string that is hashed.
    fn string(&self, chosen: &[(&str, u32)]) -> String {
        let space = if self.faithful { "" } else { " " };
        let mut string = String::new();
        for (at, (word, tf)) in chosen.iter().enumerate() {
            let before = if at > 0 { space } else { "" };
            let count = tf.to_string();
            [before, word, space, &count].iter().for_each(|part| string.push_str(part));
        }
        if self.faithful {
            string.push('\n');
        }
        string
    }
}

impl KeySigner for FingerprintSigner {
    fn key(&self, document: &Analysis<'_>) -> Result<Key, Reason> {
        let words = distinct_words(document);
        if words.is_empty() {
            return Err("no words");
        }
        if words.len() < self.min_distinct {
            return Err("fewer distinct words than min_distinct");
        }
        let string = self.string(&self.chosen(document, &words));
        if !self.faithful {
            return Ok(self.key.of(&string).into());
        }
        let (bytes, _, lacking) = encoding_rs::GBK.encode(&string);
        Ok(Key { number: self.key.of_bytes(&bytes), flag: lacking.then_some("characters that are not in GBK") })
    }

    fn words(&self, document: &Analysis<'_>) -> Option<String> {
        let chosen = self.chosen(document, &distinct_words(document));
        Some(chosen.iter().map(|(word, tf)| format!("{word} {tf}")).collect::<Vec<_>>().join(" "))
    }

    fn key_scheme(&self) -> SignatureScheme {
        SignatureScheme::one_key(self.key.bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::{CorpusStats, TermTable, TermTableWriter};
    use crate::testing::examples::{key, params, sign_counted};
    use dupsift_core::hash::{hash64, md5};
    use dupsift_core::row::Signatures;
    use dupsift_text::{Pipeline, TextOptions};

    /// Returns the words of the survey's example with the same counts.
    fn example() -> String {
        ["网页 ".repeat(12), "搜索 ".repeat(10), "引擎 ".repeat(7)].concat()
    }

    #[test]
    fn the_published_digest() {
        assert_eq!(key(&Fingerprint, "faithful=true", &example()), Ok(0xa7eb9d92a83cf438881915e0bc2df70b));
        assert_eq!(key(&Fingerprint, "", &example()), Ok(md5("网页 12 搜索 10 引擎 7".as_bytes())));
        let sorted = key(&Fingerprint, "order=sorted,words=2", &example());
        assert_eq!(sorted, Ok(md5("搜索 10 网页 12".as_bytes())));
    }

    #[test]
    fn counts_make_it_strict() {
        let of = |text| key(&Fingerprint, "words=2", text);
        assert_eq!(of("кот кот пёс дом"), of("дом кот, лес, кот"));
        assert_eq!(of("кот кот пёс дом"), Ok(md5("кот 2 дом 1".as_bytes())));
        assert_ne!(of("кот кот дом дом"), of("кот кот кот дом дом"));
        assert_eq!(of("?"), Err("no words"));
        assert_eq!(key(&Fingerprint, "min_distinct=2", "да да"), Err("fewer distinct words than min_distinct"));
    }

    #[test]
    fn letters_that_gbk_lacks_are_numbers_and_counted() {
        let stats = CorpusStats::none();
        let corpus = Corpus::new(9, &stats);
        let signer = Fingerprint.signer(&params(&Fingerprint, "faithful=true"), &corpus).unwrap();
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let sign = |text: &str| {
            let mut out = Signatures::default();
            signer.sign(&pipeline.analyse(text), &mut out);
            let key = out.rows(0).next().map(|row| row.key);
            (key, out.flags().to_vec())
        };
        assert_eq!(sign("한"), (Some(md5(b"&#54620;1\n")), vec!["characters that are not in GBK"]));
        assert_eq!(sign("ё").1, Vec::<&str>::new());
        assert_ne!(sign("한").0, sign("글").0);
    }

    #[test]
    fn words_of_few_documents_weigh_more() {
        let folder = tempfile::tempdir().unwrap();
        let mut terms: Vec<(u64, u64)> =
            [("кот", 9), ("дом", 2), ("пёс", 1)].iter().map(|(word, df)| (hash64(word.as_bytes()), *df)).collect();
        terms.sort_unstable();
        let mut writer = TermTableWriter::create(&folder.path().join("terms")).unwrap();
        terms.iter().for_each(|&(term, df)| writer.push(term, df, df).unwrap());
        let stats = CorpusStats::new(10, 40, 1, writer.finish().unwrap(), TermTable::empty());
        let params = params(&Fingerprint, "weight=tf_over_df,words=2");
        assert!(Fingerprint.needs(&params).word_counts);
        let signer = Fingerprint.signer(&params, &Corpus::new(10, &stats)).unwrap();
        // The weights are 4/9, 3/2 and 1.
        let rows = sign_counted(signer.as_ref(), &stats, "кот кот кот кот дом дом дом пёс").unwrap();
        assert_eq!(rows[0].1, md5("дом 3 пёс 1".as_bytes()));
    }
}
