//! `megashingles` (A6): hashes groups of shingle minima, and uses pairs of groups as signatures.
//!
//! Source: Broder, Glassman, Manasse, Zweig 1997 (supershingles); Fetterly, Manasse, Najork 2003 (84 minima, 6 groups of 14, 15
//! megashingles); Zelenkov, Segalovich 2007 with 36 minima, 6 groups of 6: recall 0.36, precision 0.91 in that study. Cost: one hash
//! evaluation per shingle and minimum, 15 rows per document.
//!
//! Each of m seeded functions yields its minimum over the shingles. A group of r minima is hashed to a supershingle. Each pair of
//! supershingles, together with its number, is hashed to a megashingle. Two documents are duplicates if they share at least one
//! megashingle, that is, if they agree in at least two groups. P(pair | Jaccard p) = P(at least 2 of 6 groups agree), each with probability
//! p^r:
//!
//! | p | 0.5 | 0.6 | 0.7 | 0.8 | 0.85 | 0.9 | 0.95 | 0.99 |
//! | --- | --- | --- | --- | --- | --- | --- | --- | --- |
//! | 6 groups of 6 (default) | 0.004 | 0.029 | 0.151 | 0.495 | 0.730 | 0.917 | 0.994 | 1.0 |
//! | 6 groups of 14 (`preset=fetterly`) | 0 | 0 | 0.001 | 0.026 | 0.120 | 0.415 | 0.879 | 1.0 |
//!
//! Limitations: very short documents have few distinct shingles, so they match or miss at random; `min_words=5` skips documents
//! without a complete shingle. In Han text, each character counts as a word, as in all shingles.
//!
//! If more than 256 documents, such as pages with the same template, share a megashingle, they are not compared exhaustively. Each document
//! is compared with its nearest documents in the order of the next four megashingles, and with the first documents of the group.
//!
//! ```text
//! "a b c d e f" -> {a b c d e, b c d e f} -> m0 .. m35 -> s0 .. s5 -> (s0 s1) (s0 s2) .. (s4 s5)
//! ```

use super::contract::{Algorithm, Corpus, Facts, Kind, ParamSpec, Params, SharedKey, SignatureScheme, Signer};
use super::kit::minwise::{FAMILY, Family, SEED};
use super::kit::shingling::{NGRAM, word_texts};
use dupsift_core::error::Result;
use dupsift_core::hash::{combine, mix64};
use dupsift_core::row::{Pair, Pairs, RowShape, Score, Signatures, Window, order_by};
use dupsift_text::Analysis;
use dupsift_text::shingle::shingles;

/// Implements the `megashingles` algorithm.
pub(crate) struct Megashingles;

const FACTS: Facts = Facts {
    name: "megashingles",
    aliases: &["A6"],
    source: "Broder and others 1997; Fetterly, Manasse, Najork 2003; Zelenkov, Segalovich 2007, Megashingles",
    summary: "Two documents are duplicates if at least two groups of their shingle minima match.",
    when_not_to_use: "on short documents, or if more than 10% of the text may differ: use minhash with suitable bands instead",
    inputs: "text",
    params: &[
        ParamSpec {
            name: "groups",
            kind: Kind::Int(2, 60),
            default: "6",
            help: "number of supershingles; each pair of supershingles forms a megashingle, which takes one row",
        },
        ParamSpec { name: "group_size", kind: Kind::Int(1, 100), default: "6", help: "minima per supershingle" },
        NGRAM,
        ParamSpec {
            name: "circular",
            kind: Kind::Flag,
            default: "false",
            help: "wrap shingles around the end of the text, so that n words yield n shingles",
        },
        ParamSpec {
            name: "min_words",
            kind: Kind::Int(1, 1_000_000),
            default: "1",
            help: "documents with fewer words (or Han characters) have no signature; a document shorter than ngram is a single shingle",
        },
        ParamSpec { default: "mix64", ..FAMILY },
        SEED,
    ],
    shorthands: &[],
    presets: &[("seed", "groups=6,group_size=6"), ("fetterly", "groups=6,group_size=14")],
    revision: 2,
};

impl Algorithm for Megashingles {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn signer<'c>(&self, params: &Params, _: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        Ok(Box::new(MegashinglesSigner::new(params)))
    }
}

struct MegashinglesSigner {
    groups: usize,
    group_size: usize,
    ngram: usize,
    circular: bool,
    min_words: usize,
    family: Family,
}

impl MegashinglesSigner {
    fn new(params: &Params) -> MegashinglesSigner {
        let (groups, group_size) = (params.count("groups"), params.count("group_size"));
        MegashinglesSigner {
            groups,
            group_size,
            ngram: params.count("ngram"),
            circular: params.flag("circular"),
            min_words: params.count("min_words"),
            family: Family::new(params.word("family"), groups * group_size, params.count("seed") as u64),
        }
    }

    /// Passes the megashingles of a nonempty set of shingles to `each`, in the order of the pairs of groups.
    fn megashingles(&self, shingles: &[u64], mut each: impl FnMut(u64)) {
        let mut minima = Vec::new();
        self.family.minima(shingles, &mut minima);
        self.combine_groups(&mut minima, |key, _| each(key));
    }

    /// Passes each megashingle with the numbers of its two groups to `each`, in the order of the pairs of groups. The minima are
    /// overwritten.
    fn combine_groups(&self, minima: &mut [u64], mut each: impl FnMut(u64, [usize; 2])) {
        // The supershingles overwrite the first minima, which have already been read.
        for group in 0..self.groups {
            let values = &minima[group * self.group_size..(group + 1) * self.group_size];
            minima[group] = values.iter().fold(0, |hash, &value| combine(hash, value));
        }
        for g in 0..self.groups {
            for h in g + 1..self.groups {
                let pair = mix64((g << 8 | h) as u64);
                each(combine(combine(pair, minima[g]), minima[h]), [g, h]);
            }
        }
    }
}

impl Signer for MegashinglesSigner {
    fn scheme(&self) -> SignatureScheme {
        let shape =
            RowShape { positions: (self.groups * (self.groups - 1) / 2) as u32, ordered: true, ..RowShape::KEY64 };
        SignatureScheme {
            shared_key: SharedKey::Candidates,
            rules: &["megashingle"],
            nearest: true,
            ..SignatureScheme::new(shape)
        }
    }

    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures) {
        let words = document.tokens();
        if words.is_empty() {
            return out.none("no words");
        }
        if words.len() < self.min_words {
            return out.none("fewer words than min_words");
        }
        if words.len() < self.ngram {
            out.flag("shorter than a shingle");
        }
        // A repeated shingle does not change any minimum.
        let mut set = out.take_numbers();
        shingles(words, self.ngram, self.circular, &mut set);
        let mut keys = Vec::with_capacity(self.groups * self.groups);
        self.megashingles(&set, |key| keys.push(key));
        for (position, &key) in keys.iter().enumerate() {
            let others = keys.iter().cycle().skip(position + 1).take(keys.len() - 1);
            out.push(position as u32, key.into(), order_by(others.copied()), &[]);
        }
        out.leave_numbers(set);
    }

    /// Returns two shingles for each megashingle: for each of its groups, the first shingle in the text that has one of the group's minima.
    fn words_of_keys(&self, document: &Analysis<'_>, keys: &[u128]) -> Vec<Option<String>> {
        let mut set = Vec::new();
        shingles(document.tokens(), self.ngram, self.circular, &mut set);
        if set.is_empty() {
            return vec![None; keys.len()];
        }
        let mut minima = Vec::new();
        self.family.minima(&set, &mut minima);
        let first = self.family.first_of_bands(&set, &minima, self.group_size);
        let mut known = Vec::with_capacity(self.groups * self.groups);
        self.combine_groups(&mut minima, |key, groups| known.push((u128::from(key), groups)));
        let texts = word_texts(document, self.ngram, self.circular);
        let words = |key: &u128| {
            let (_, groups) = known.iter().find(|(known, _)| known == key)?;
            let [one, other] = groups.map(|group| first[group].and_then(|at| texts.get(at)));
            let (one, other) = (one?, other?);
            Some(if one == other { one.to_string() } else { format!("{one} + {other}") })
        };
        keys.iter().map(words).collect()
    }

    fn pairs(&self, window: &Window<'_>, out: &mut Pairs<'_>) {
        out.compare_nearest(window, |a, b| Some(Pair::new(a.doc, b.doc, Score::EQUAL, 1)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::examples::{params, sign, words_of_rows};
    use dupsift_core::hash::splitmix64;
    use dupsift_text::{Pipeline, TextOptions};

    fn keys(typed: &str, text: &str) -> Vec<u128> {
        sign(&Megashingles, typed, text).unwrap().into_iter().map(|row| row.1).collect()
    }

    #[test]
    fn a_row_a_pair_of_groups() {
        let text = "Кот спит на окне и видит птицу за окном";
        let rows = sign(&Megashingles, "", text).unwrap();
        assert_eq!(rows.iter().map(|row| row.0).collect::<Vec<_>>(), (0..15).collect::<Vec<_>>());
        assert_eq!(keys("", text), keys("groups=6,group_size=6", "кот СПИТ на окне и видит: птицу за окном!"));
        assert_eq!(keys("groups=2", text).len(), 1);
        let other = keys("", "Совсем другие слова стоят здесь без всякой связи");
        assert!(keys("", text).iter().all(|key| !other.contains(key)));
        assert!(keys("circular=true", text).iter().zip(keys("", text)).any(|(a, b)| *a != b));
        // If shingles wrap around, it does not matter where a text begins.
        assert_eq!(keys("circular=true", text), keys("circular=true", "птицу за окном Кот спит на окне и видит"));
    }

    #[test]
    fn each_megashingle_has_shingles_of_the_text() {
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let words = |typed: &str, text: &str| {
            words_of_rows(&MegashinglesSigner::new(&params(&Megashingles, typed)), &pipeline.analyse(text))
        };
        let text = "кот спит на окне и видит птицу за окном";
        for typed in ["ngram=2", "ngram=2,groups=3,group_size=14,family=mersenne61", "ngram=2,family=multiply32"] {
            let words = words(typed, text);
            let shingles: Vec<&str> = words.iter().flat_map(|words| words.split(" + ")).collect();
            assert!(shingles.iter().all(|one| text.contains(one)), "{words:?}");
            assert!(shingles.iter().all(|one| one.split(' ').count() == 2), "{words:?}");
            // The first megashingles contain the same group.
            assert!(words[..2].iter().all(|words| words.starts_with(shingles[0])), "{words:?}");
        }
        assert_eq!(words("groups=2", "Нет. Да!"), ["нет. да"]);
        let circular = words("groups=30,group_size=1,ngram=2,circular=true", "one two");
        assert!(circular.iter().any(|words| words == "one two + two … one"), "{circular:?}");
        let signer = MegashinglesSigner::new(&params(&Megashingles, ""));
        assert_eq!(signer.words_of_keys(&pipeline.analyse("!"), &[1]), [None]);
    }

    #[test]
    fn short_documents() {
        assert_eq!(sign(&Megashingles, "", "?!"), Err("no words"));
        assert_eq!(sign(&Megashingles, "min_words=5", "a b c d"), Err("fewer words than min_words"));
        assert_eq!(keys("", "нет да"), keys("", "Нет. Да!"));
        assert!(keys("", "нет да").iter().all(|key| !keys("", "да нет").contains(key)));
    }

    /// Checks, for every resemblance and both presets, that the share of random pairs found matches the table to within four standard
    /// deviations plus 0.01.
    #[test]
    fn pairs_are_found_as_often_as_the_table_says() {
        const UNION: u64 = 200;
        const PAIRS: u64 = 400;
        let found = |signer: &MegashinglesSigner, common: u64, pair: u64| {
            let own = (UNION - common) / 2;
            let of = |from: u64| -> Vec<u64> { (from..from + common + own).map(|n| splitmix64(pair, n)).collect() };
            let (mut a, mut b) = (Vec::new(), Vec::new());
            signer.megashingles(&of(0), |key| a.push(key));
            signer.megashingles(&of(own), |key| b.push(key));
            a.iter().zip(&b).any(|(a, b)| a == b)
        };
        for (group_size, table) in [
            (
                6,
                [
                    (0.5, 0.004),
                    (0.6, 0.029),
                    (0.7, 0.151),
                    (0.8, 0.495),
                    (0.85, 0.730),
                    (0.9, 0.917),
                    (0.95, 0.994),
                    (0.99, 1.0),
                ],
            ),
            (
                14,
                [
                    (0.5, 0.0),
                    (0.6, 0.0),
                    (0.7, 0.001),
                    (0.8, 0.026),
                    (0.85, 0.120),
                    (0.9, 0.415),
                    (0.95, 0.879),
                    (0.99, 1.0),
                ],
            ),
        ] {
            for (p, expected) in table {
                let common = (p * UNION as f64).round() as u64;
                // Uses a different seed for each tenth of the pairs, so that the hash functions differ.
                let hits: u64 = (0..10)
                    .map(|seed| {
                        let typed = format!("group_size={group_size},seed={seed}");
                        let signer = MegashinglesSigner::new(&params(&Megashingles, &typed));
                        let pairs = seed * PAIRS / 10..(seed + 1) * PAIRS / 10;
                        pairs.filter(|&pair| found(&signer, common, pair)).count() as u64
                    })
                    .sum();
                let share = hits as f64 / PAIRS as f64;
                let deviation = (expected * (1.0 - expected) / PAIRS as f64).sqrt();
                assert!(
                    (share - expected).abs() <= 4.0 * deviation + 0.01,
                    "{group_size}, {p}: {share} for {expected}"
                );
            }
        }
    }
}
