//! `cosine`: the angle between the TF-IDF vectors of two texts; every pair within it is found, but with `join=heavy`.
//!
//! Source: Salton, Wong, Yang 1975 (the vector space model); the exact join by a prefix filter is of Bayardo, Ma, Srikant
//! 2007, the signs of `join=heavy` of Charikar 2002. Cost: a first pass for the counts; a row for each leading term of a document
//! that another document has too (its rarest terms, down to where the rest of the vector falls short of the threshold), then
//! the check of each pair that the bound on the rows leaves. Low thresholds and short lists of common terms make it quadratic.
//!
//! ```text
//! weight = tf ln(1 + N / df)           tf=sublinear: (1 + ln tf) ln(1 + N / df)
//! cos(a, b) = sum a_i b_i / sqrt(sum a_i^2 sum b_i^2) >= threshold
//! "a b c d" and "d c b e", all weights 1: 3 / 4
//! ```
//!
//! `kit/vector.rs` has the share of the first line (`head`) and the gap, the largest difference of one word's weight, which is
//! this method's distance. The preset `versions`, both with a margin and `join=heavy`, is ours.
//!
//! `join=heavy` (`kit/heavy_join.rs`) is not exact. Texts meet by two of their fifteen heaviest terms, 56 rows of 12 bytes a
//! document, and are candidates if the signs of random projections differ in no more places than those of a pair do, 96 bytes a
//! document. On four corpora of up to 39,000 documents it missed at most .04 % of the pairs of the exact join at a threshold of
//! .68, and .02 to .14 % at .6, for .3 to 2 candidates a document. These grow with the corpus, but far slower than its pairs.
//!
//! With ln(N / df) a text of nothing but words of all documents would have no vector; ln(1 + N / df) is ours. A term of a
//! single document is in no list, for nobody could be met there. Limits: order of words and length do not count, so a text
//! repeated twice over equals the text. The preset `hanzi_cosine` is the Chinese variant of counts of characters; characters
//! are few and common, so its lists are long.

use super::contract::{Algorithm, Confirm, Corpus, Decided, Facts, Features, Reads, Signer, Stats};
use super::kit::heavy::HeavyTerms;
use super::kit::heavy_join::{HeavyJoin, MOST_TERMS};
use super::kit::minwise::SEED;
use super::kit::prefix::{SKETCH, Term, bound_of_rows, push_leading};
use super::kit::units::{UNITS, Units};
use super::kit::vector::{Weighing, compare, idf};
use super::params::{Kind, ParamSpec, Params};
use crate::error::Result;
use crate::row::{Pair, Pairs, Row, RowShape, Score, Signatures, Window};
use crate::text::Analysis;

/// The member.
pub struct Cosine;

const FACTS: Facts = Facts {
    name: "cosine",
    aliases: &["vsm"],
    source: "Salton, Wong, Yang 1975, A vector space model for automatic indexing; Bayardo, Ma, Srikant 2007, Scaling up all pairs similarity search",
    summary: "Two documents are duplicates if the cosine of their TF-IDF vectors reaches the threshold.",
    when_not_to_use: "where the order of words matters, with thresholds below about .7 on large corpora, and for unit=hanzi on more than some ten thousand documents",
    inputs: "text, word counts; counts of characters with unit=hanzi or han_bigram",
    params: &[
        ParamSpec {
            name: "threshold",
            kind: Kind::Real(0.01, 1.0),
            default: "0.9",
            help: "the least cosine of a pair; every such pair is found",
        },
        ParamSpec {
            name: "tf",
            kind: Kind::Choice(&["raw", "sublinear"]),
            default: "raw",
            help: "raw: occurrences; sublinear: 1 + ln of them",
        },
        ParamSpec { name: "idf", kind: Kind::Flag, default: "true", help: "weigh terms by ln(1 + N / df)" },
        ParamSpec {
            name: "head",
            kind: Kind::Real(0.0, 0.9),
            default: "0",
            help: "the share H of the first line: (1 - H) cosine of the texts + H cosine of their first lines",
        },
        ParamSpec {
            name: "join",
            kind: Kind::Choice(&["exact", "heavy"]),
            default: "exact",
            help: "exact: every pair is found; heavy: pairs that share two of their heaviest terms and most signs of random projections, whose cost does not grow with the square of the corpus",
        },
        ParamSpec {
            name: "heavy",
            kind: Kind::Int(2, MOST_TERMS as i64),
            default: "15",
            help: "the heaviest terms of a text, of those that another text has, that join=heavy looks at",
        },
        ParamSpec {
            name: "max_df",
            kind: Kind::Real(0.0001, 1.0),
            default: "0.02",
            help: "the largest share of all documents that have a term which join=heavy looks at; terms of up to 400 always count",
        },
        ParamSpec { help: "seed of the random projections of join=heavy; other seeds, other chance", ..SEED },
        ParamSpec {
            name: "unit",
            kind: Kind::Choice(UNITS),
            default: "word",
            help: "word: of the tokenizer; hanzi: words, but Han as single characters; han_bigram: as pairs of characters",
        },
        ParamSpec {
            name: "han_only",
            kind: Kind::Flag,
            default: "false",
            help: "leave out everything that is not of Han characters",
        },
    ],
    presets: &[
        ("hanzi_cosine", "unit=hanzi,han_only=true,idf=false,threshold=0.98"),
        ("versions", "tf=sublinear,head=0.1,threshold=0.68,join=heavy,margin=either:0.02:0.25"),
    ],
};

impl Algorithm for Cosine {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs_stats(&self, params: &Params) -> Stats {
        if units(params).features().is_none() { Stats::WORDS } else { Stats::NONE }
    }

    fn reads(&self, params: &Params) -> Reads {
        if units(params).features().is_none() {
            Reads::Words { first_line: params.real("head") > 0.0 }
        } else {
            Reads::Text
        }
    }

    fn features(&self, params: &Params) -> Option<Box<dyn Features>> {
        units(params).features()
    }

    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let weighing = Weighing {
            sublinear: params.word("tf") == "sublinear",
            head: params.real("head"),
            units: units(params),
            stats: corpus.stats,
            idf: params.flag("idf").then(|| idf(corpus.stats)),
        };
        let threshold = params.real("threshold");
        let documents = corpus.stats.documents();
        let terms = HeavyTerms {
            most: params.count("heavy"),
            most_documents: HeavyTerms::most_documents(params.real("max_df"), documents),
            threshold,
        };
        let heavy = || HeavyJoin::new(terms, params.count("seed") as u64);
        Ok(Box::new(CosineSigner { threshold, heavy: (params.word("join") == "heavy").then(heavy), weighing }))
    }
}

fn units(params: &Params) -> Units {
    Units { name: params.word("unit"), han_only: params.flag("han_only") }
}

struct CosineSigner<'c> {
    threshold: f64,
    /// Where texts meet by heavy terms.
    heavy: Option<HeavyJoin>,
    weighing: Weighing<'c>,
}

impl CosineSigner<'_> {
    /// Rows of a vector; the counts hold the text so many times.
    fn sign_vector(&self, terms: Vec<Term>, times: u64, out: &mut Signatures) {
        if terms.is_empty() {
            return out.none(if self.weighing.units.han_only { "no Han characters" } else { "no words" });
        }
        if let Some(heavy) = &self.heavy {
            return heavy.sign(&terms, if self.weighing.stats.documents() > 0 { times } else { 0 }, out);
        }
        push_leading(&terms, self.threshold, self.weighing.stats.documents() > 0, out);
    }
}

impl Signer for CosineSigner<'_> {
    fn shape(&self) -> RowShape {
        RowShape { sketch: if self.heavy.is_some() { 0 } else { SKETCH }, ..RowShape::KEY64 }
    }

    /// The leading terms of a page of usual length.
    fn rows_a_document(&self) -> u64 {
        self.heavy.as_ref().map_or(8, HeavyJoin::rows_a_document)
    }

    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures) {
        self.sign_vector(self.weighing.vector(document), document.times(), out);
    }

    fn takes_evidence_early(&self) -> bool {
        true
    }

    fn sign_with_evidence(&self, document: &Analysis<'_>, out: &mut Signatures, evidence: &mut Vec<u64>) {
        let terms = self.weighing.vector(document);
        Weighing::evidence(&terms, evidence);
        self.sign_vector(terms, document.times(), out);
    }

    fn is_equivalence(&self) -> bool {
        false
    }

    fn judge(&self, a: &Row<'_>, b: &Row<'_>) -> Option<Score> {
        bound_of_rows(a.sketch, b.sketch, self.threshold)
            .map(|bound| Score { similarity: bound.min(1.0) as f32, distance: None })
    }

    fn pairs(&self, window: &Window<'_>, out: &mut Pairs<'_>) {
        match &self.heavy {
            Some(heavy) => heavy.pairs(window, out),
            None => {
                out.compare_all(window, |a, b| Signer::judge(self, a, b).map(|score| Pair::new(a.doc, b.doc, score, 1)))
            }
        }
    }

    fn sketch_words(&self) -> usize {
        self.heavy.as_ref().map_or(0, HeavyJoin::sketch_words)
    }

    fn judge_sketches(&self, a: &[u64], b: &[u64]) -> bool {
        self.heavy.as_ref().is_none_or(|heavy| heavy.judge_sketches(a, b))
    }

    fn told_of_sketches(&self, a: &[u64], b: &[u64]) -> Option<String> {
        self.heavy.as_ref().and_then(|heavy| heavy.told(a, b))
    }

    fn equal(&self) -> Score {
        Score { similarity: 1.0, distance: Some(0.0) }
    }

    fn rules(&self) -> &'static [&'static str] {
        &["cosine"]
    }

    fn confirm(&self) -> Option<&dyn Confirm> {
        Some(self)
    }
}

impl Confirm for CosineSigner<'_> {
    fn name(&self) -> String {
        let weighing = &self.weighing;
        let weight = match (weighing.sublinear, weighing.idf.is_some()) {
            (false, true) => "tf idf",
            (true, true) => "(1 + ln tf) idf",
            (false, false) => "tf",
            (true, false) => "1 + ln tf",
        };
        let head = if weighing.head > 0.0 { format!(", first line {}", weighing.head) } else { String::new() };
        format!("cosine:{} of {weight}, {}{head}", self.threshold, weighing.units.name)
    }

    fn evidence(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        Weighing::evidence(&self.weighing.vector(document), out);
    }

    fn confirm(&self, a: &[u64], b: &[u64]) -> Decided<f32> {
        Ok(compare(a, b, self.threshold).map(|likeness| likeness.cosine as f32))
    }

    fn judge(&self, a: &[u64], b: &[u64], met: Pair) -> Decided<Pair> {
        Ok(compare(a, b, self.threshold).map(|likeness| {
            let score = Score { similarity: likeness.cosine as f32, distance: Some(likeness.gap as f32) };
            Pair { score, ..met }
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::algorithm::kit::examples::sign;
    use crate::algorithm::kit::in_memory::{all_pairs, counts, run, texts};
    use crate::hash::hash64;
    use crate::measure::cosine;

    #[test]
    fn worked_values() {
        let of = |typed: &str, a: &str, b: &str| {
            let found = run(&Cosine, typed, &[a.to_string(), b.to_string()]);
            found.pairs.get(&(0, 1)).map(|pair| pair.score.similarity)
        };
        assert_eq!(of("idf=false,threshold=0.75", "a b c d", "d c b e"), Some(0.75));
        assert_eq!(of("idf=false,threshold=0.76", "a b c d", "d c b e"), None);
        // A text twice over points the same way.
        assert_eq!(of("idf=false,threshold=1", "a b b", "a b b, a b b."), Some(1.0));
        // Weights ln 2 of the common words and ln 3 of the others.
        let (common, own) = (2f64.ln().powi(2), 3f64.ln().powi(2));
        let expected = (3.0 * common / (3.0 * common + own)) as f32;
        assert_eq!(of("threshold=0.5", "a b c d", "d c b e"), Some(expected));
        // Characters: 网 2 页 2 against 网 2 页 1.
        let hanzi = of("unit=hanzi,han_only=true,idf=false,threshold=0.9", "网页 a 网页", "网页网 b").unwrap();
        assert!((f64::from(hanzi) - 6.0 / (8.0f64 * 5.0).sqrt()).abs() < 1e-6);
    }

    #[test]
    fn what_has_no_vector_has_no_signature() {
        assert_eq!(sign(&Cosine, "", "?!"), Err("no words"));
        assert_eq!(sign(&Cosine, "unit=hanzi,han_only=true", "no Chinese"), Err("no Han characters"));
        // Without a count each term may be anywhere: one of four equal terms leaves .87 of the length.
        assert_eq!(sign(&Cosine, "threshold=0.9", "a b c d").unwrap().len(), 1);
        assert_eq!(sign(&Cosine, "threshold=0.8", "a b c d").unwrap().len(), 2);
    }

    /// All pairs of random texts, against the definition.
    #[test]
    fn finds_exactly_the_pairs_of_the_definition() {
        let texts = texts(7, 160, 30);
        let counts = counts(&texts);
        let df = |word: &str| counts.iter().filter(|counts| counts.contains_key(word)).count() as f64;
        for (typed, sublinear, idf) in [("", false, true), ("tf=sublinear", true, true), ("idf=false", false, false)] {
            let vectors: Vec<Vec<(u64, f64)>> = counts
                .iter()
                .map(|counts| {
                    let weigh = |word: &str, tf: f64| {
                        let tf = if sublinear { 1.0 + tf.ln() } else { tf };
                        if idf { tf * (1.0 + texts.len() as f64 / df(word)).ln() } else { tf }
                    };
                    let terms = counts.iter().map(|(word, &tf)| (hash64(word.as_bytes()), weigh(word, tf)));
                    terms.collect::<BTreeMap<u64, f64>>().into_iter().collect()
                })
                .collect();
            for threshold in [0.95, 0.9, 0.6, 0.3] {
                let found = run(&Cosine, &format!("{typed},threshold={threshold}"), &texts);
                let expected = all_pairs(texts.len(), |a, b| cosine(&vectors[a], &vectors[b]) >= threshold);
                assert!(expected.len() > 20 && found.candidates < texts.len() * texts.len() / 2);
                assert_eq!(found.numbers(), expected, "{typed} {threshold}");
            }
        }
    }

    /// Against (1 - H) cosine + H cosine of the first lines, with weights over the whole corpus.
    #[test]
    fn the_share_of_the_first_line_keeps_the_join_exact() {
        // The first three words are a line of their own.
        let plain = texts(11, 140, 30);
        let broken: Vec<(String, String)> = plain
            .iter()
            .map(|text| {
                let place = text.match_indices(' ').nth(2).map_or(text.len(), |(place, _)| place);
                (text[..place].to_string(), format!("{}\n{}", &text[..place], text[place..].trim_start()))
            })
            .collect();
        let (lines, texts): (Vec<String>, Vec<String>) = broken.into_iter().unzip();
        let known = counts(&plain);
        let df = |word: &str| known.iter().filter(|counts| counts.contains_key(word)).count() as f64;
        let vectors = |texts: &[String]| -> Vec<Vec<(u64, f64)>> {
            let vector = |counts: &BTreeMap<&str, f64>| {
                let weigh = |word: &str, tf: f64| (1.0 + tf.ln()) * (1.0 + 140.0 / df(word)).ln();
                let terms = counts.iter().map(|(word, &tf)| (hash64(word.as_bytes()), weigh(word, tf)));
                terms.collect::<BTreeMap<u64, f64>>().into_iter().collect()
            };
            counts(texts).iter().map(vector).collect()
        };
        let (bodies, heads) = (vectors(&plain), vectors(&lines));
        for (head, threshold) in [(0.1, 0.7), (0.3, 0.8), (0.5, 0.5)] {
            let found = run(&Cosine, &format!("tf=sublinear,head={head},threshold={threshold}"), &texts);
            let expected = all_pairs(texts.len(), |a, b| {
                (1.0 - head) * cosine(&bodies[a], &bodies[b]) + head * cosine(&heads[a], &heads[b]) >= threshold
            });
            assert!(expected.len() > 20 && found.candidates < texts.len() * texts.len() / 2);
            assert_eq!(found.numbers(), expected, "{head} {threshold}");
        }
    }

    #[test]
    fn heavy_terms_find_nearly_all_of_what_is_near() {
        let texts = texts(5, 200, 30);
        let exact = run(&Cosine, "threshold=0.8", &texts);
        let heavy = run(&Cosine, "threshold=0.8,join=heavy,heavy=6", &texts);
        assert!(heavy.numbers().is_subset(&exact.numbers()));
        let (found, all) = (heavy.pairs.len(), exact.pairs.len());
        assert!(all > 20 && found * 100 >= all * 95, "{found} of {all}");
    }

    #[test]
    fn pairs_of_characters_are_found_as_well() {
        let texts = texts(3, 120, 30);
        // Each word becomes a Han character.
        let han: Vec<String> = texts
            .iter()
            .map(|text| {
                let number = |word: &str| word[1..].parse::<u32>().ok();
                text.split(' ').filter_map(|word| char::from_u32(0x4E00 + number(word)?)).collect()
            })
            .collect();
        let words = run(&Cosine, "idf=false,threshold=0.8", &texts).numbers();
        assert!(words.len() > 20);
        assert_eq!(run(&Cosine, "idf=false,threshold=0.8,unit=hanzi", &han).numbers(), words);
        let pairs: BTreeSet<_> = run(&Cosine, "idf=false,threshold=0.8,unit=han_bigram", &han).numbers();
        assert!(!pairs.is_empty() && pairs.is_subset(&words), "{} of {}", pairs.len(), words.len());
    }
}
