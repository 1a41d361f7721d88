//! `idf_hash`: hashes the rarest words of a document as one string, with one of eight classic functions, and compares the hashes.
//!
//! Source: the "hash algorithm" method in a Chinese survey of page deduplication. The survey compares ELF, RS, JS, PJW, BKDR, SDBM,
//! DJB and AP. Cost: a first pass for the word counts, one sort of the distinct words, one row of 20 bytes per document.
//!
//! The distinct words are sorted by descending idf = ln(N / df), then alphabetically. The first 70% of them, at least one, form the string.
//! If two documents have equal hashes, their strings are compared, and only documents with equal strings are duplicates. So the key is the
//! 32-bit hash followed by 96 bits of another hash of the string, and the choice among the eight functions does not affect which pairs are
//! found. `cargo bench --bench string_hashes` counts how many different strings each function maps to the same value. The survey reports
//! hundreds of collisions among a thousand strings. 32-bit hashes cannot produce that many, so the survey must have counted after reducing
//! the hashes to the size of a table.
//!
//! Limitations: the string contains the rarest words by construction, so any typo changes it. The method is nearly an exact comparison of
//! the sets of words. Signatures are comparable only within one statistics snapshot.
//!
//! ```text
//! N = 10, df: и 10, кот 9, птица 2, окно 1;  share 0.7 of 4 words is 2  ->  "окно птица"
//! ```

use super::contract::{
    Algorithm, Corpus, Facts, Key, KeySigner, Kind, Needs, ParamSpec, Params, SignatureScheme, Signer,
};
use super::kit::top_words::share;
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::{StringHash, StringHasher, hash128};
use dupsift_core::row::Reason;
use dupsift_text::Analysis;

/// Implements the `idf_hash` algorithm.
pub(crate) struct IdfHash;

const FACTS: Facts = Facts {
    name: "idf_hash",
    aliases: &[],
    source: "survey of ten methods for deduplicating pages, hash algorithm; Partow, general purpose hash functions",
    summary: "Two documents are duplicates if the rarest 70% of their distinct words are the same.",
    when_not_to_use: "if copies differ in a typo, a date or a number, because all rare words are in the signature",
    inputs: "text, word counts",
    params: &[
        ParamSpec {
            name: "share",
            kind: Kind::Real(0.0, 1.0),
            default: "0.7",
            help: "share of the distinct words to use, rarest first; at least one word is used",
        },
        ParamSpec {
            name: "hash",
            kind: Kind::Choice(StringHash::NAMES),
            default: "ap",
            help: "32-bit hash of the string; pairs do not depend on it, because the strings themselves are compared",
        },
        ParamSpec {
            name: "ap_2010",
            kind: Kind::Flag,
            default: "false",
            help: "use the author's 2010 variant of hash=ap instead of the classic variant",
        },
        ParamSpec {
            name: "mask31",
            kind: Kind::Flag,
            default: "false",
            help: "clear the highest bit of the hash, as many ports do",
        },
        ParamSpec {
            name: "signed_char",
            kind: Kind::Flag,
            default: "false",
            help: "treat bytes of 0x80 and above as negative numbers, as C does on many platforms",
        },
    ],
    shorthands: &[],
    presets: &[],
    revision: 1,
};

impl Algorithm for IdfHash {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs(&self, _: &Params) -> Needs {
        Needs::counted_words()
    }

    fn signer<'c>(&self, params: &Params, _: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let name = params.word("hash");
        let hash = match (StringHash::by_name(name), params.flag("ap_2010")) {
            (Some(StringHash::Ap), true) => StringHash::Ap2010,
            (Some(hash), false) => hash,
            (Some(_), true) => {
                return Err(Error::usage(format!("idf_hash: ap_2010=true requires hash=ap, got hash={name}")));
            }
            (None, _) => return Err(Error::Internal(format!("idf_hash: no hash {name:?}"))),
        };
        Ok(Box::new(IdfHashSigner {
            share: params.real("share"),
            hasher: StringHasher { hash, mask31: params.flag("mask31"), signed_char: params.flag("signed_char") },
        }))
    }
}

struct IdfHashSigner {
    share: f64,
    hasher: StringHasher,
}

impl IdfHashSigner {
    /// Returns the rarest words, rarest first, joined with single spaces. Returns `None` if there is no word.
    fn string(&self, document: &Analysis<'_>) -> Option<String> {
        // idf decreases as df grows, so ascending order of df is descending order of idf.
        let mut rarest: Vec<(u64, &str)> = Vec::with_capacity(document.counted().len());
        let words = document.counted().iter().zip(document.frequencies()).filter(|(one, _)| !one.word.stop);
        rarest.extend(words.map(|(one, frequency)| (frequency.df, document.word(&one.word))));
        let count = share(rarest.len(), self.share).max(1);
        if count < rarest.len() {
            rarest.select_nth_unstable(count);
            rarest.truncate(count);
        }
        rarest.sort_unstable();
        let mut string = String::with_capacity(rarest.iter().map(|(_, word)| word.len() + 1).sum());
        for (at, (_, word)) in rarest.iter().enumerate() {
            string.push_str(if at > 0 { " " } else { "" });
            string.push_str(word);
        }
        (!string.is_empty()).then_some(string)
    }
}

impl KeySigner for IdfHashSigner {
    fn key(&self, document: &Analysis<'_>) -> Result<Key, Reason> {
        let string = self.string(document).ok_or("no words")?;
        let hash = u128::from(self.hasher.of(string.as_bytes()));
        Ok((hash << 96 | hash128(string.as_bytes()) >> 32).into())
    }

    fn words(&self, document: &Analysis<'_>) -> Option<String> {
        self.string(document)
    }

    fn key_scheme(&self) -> SignatureScheme {
        // The number of bits in the hash by which strings are compared. The eight string hashes are too weak for this.
        SignatureScheme::one_key(96)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::{CorpusStats, TermTable, TermTableWriter};
    use crate::testing::examples::{params, sign_counted};
    use dupsift_core::hash::hash64;

    /// Returns the key of a text in a corpus of ten documents, in which the words have these document frequencies.
    fn key(typed: &str, text: &str) -> std::result::Result<u128, &'static str> {
        let folder = tempfile::tempdir().unwrap();
        let mut terms: Vec<(u64, u64)> = [("кот", 9), ("окно", 1), ("птица", 2), ("и", 10)]
            .iter()
            .map(|(word, df)| (hash64(word.as_bytes()), *df))
            .collect();
        terms.sort_unstable();
        let mut writer = TermTableWriter::create(&folder.path().join("terms")).unwrap();
        terms.iter().for_each(|&(term, df)| writer.push(term, df, df).unwrap());
        let stats = CorpusStats::new(10, 40, 1, writer.finish().unwrap(), TermTable::empty());
        let signer = IdfHash.signer(&params(&IdfHash, typed), &Corpus::new(10, &stats)).unwrap();
        sign_counted(signer.as_ref(), &stats, text).map(|rows| rows[0].1)
    }

    fn of(typed: &str, string: &str) -> u128 {
        let (name, ap_2010) = if typed == "ap_2010" { ("ap", true) } else { (typed, false) };
        let hash = if ap_2010 { StringHash::Ap2010 } else { StringHash::by_name(name).unwrap() };
        let hasher = StringHasher { hash, mask31: false, signed_char: false };
        u128::from(hasher.of(string.as_bytes())) << 96 | hash128(string.as_bytes()) >> 32
    }

    #[test]
    fn worked_example() {
        let text = "Кот и птица; и окно.";
        assert_eq!(key("", text), Ok(of("ap", "окно птица")));
        assert_eq!(key("share=1", text), Ok(of("ap", "окно птица кот и")));
        // Words with the same frequency are sorted alphabetically. A share of less than one word counts as one.
        assert_eq!(key("share=1", "якорь окно"), Ok(of("ap", "окно якорь")));
        assert_eq!(key("share=0", "якорь окно"), Ok(of("ap", "окно")));
        assert_eq!(key("", "и"), Ok(of("ap", "и")));
        assert_eq!(key("", "?!"), Err("no words"));
    }

    #[test]
    fn the_hash_stands_in_front_and_the_string_decides() {
        let text = "Кот и птица; и окно.";
        for name in StringHash::NAMES {
            assert_eq!(key(&format!("hash={name}"), text), Ok(of(name, "окно птица")));
        }
        assert_eq!(key("ap_2010=true", text), Ok(of("ap_2010", "окно птица")));
        let low = |typed: &str| key(typed, text).unwrap() << 32;
        assert_eq!(low("hash=djb,mask31=true"), low("hash=elf,signed_char=true"));
        assert_eq!(key("mask31=true", text).unwrap() >> 127, 0);
        assert_ne!(key("signed_char=true", text), key("", text));
    }

    /// In ELF, raising one letter by one and lowering the next letter by sixteen cancel out.
    #[test]
    fn equal_hashes_of_different_strings_are_no_pair() {
        let (one, other) = (key("hash=elf", "aq").unwrap(), key("hash=elf", "ba").unwrap());
        assert_eq!(one >> 96, other >> 96);
        assert_ne!(one, other);
    }

    #[test]
    fn a_version_of_ap_is_of_ap_alone() {
        let stats = CorpusStats::none();
        let corpus = Corpus::new(10, &stats);
        let refused = IdfHash.signer(&params(&IdfHash, "hash=js,ap_2010=true"), &corpus).err().expect("refused");
        assert!(refused.to_string().contains("requires hash=ap"));
    }
}
