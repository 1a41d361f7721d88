//! `shingles`: compares texts by all of their five-character windows. By default, two texts are similar if they share at least a fifth of
//! all their windows.
//!
//! Source: Broder 1997 (resemblance, containment, sketches); windows of characters with a threshold of 0.2, as in a Chinese article on
//! duplicate pages. Cost: in a corpus of up to `exact_limit` documents, all documents are compared with each other. Bitmaps rule out nearly
//! every pair before the text check. For n documents, this takes n^2 / 2 comparisons of a few hundred bytes, and the rows are n / 1,500
//! times as large as the text. In a larger corpus, the minima of `bands` x `rows` hash functions find the candidates. Contained texts are
//! found by the rarest shingles of the smaller text (`rarest.rs`), which a first pass counts.
//!
//! ```text
//! P(candidate | resemblance s) = 1 - (1 - s^rows)^bands        2 x 64: 0.927 at s = 0.2, 0.998 at 0.3
//! resemblance |A n B| / |A u B|          containment |A n B| / |A| or |A n B| / |B|, whichever is larger
//! ```
//!
//! If more than 256 documents, such as pages with the same template, share a band, they are not compared exhaustively. Each document is
//! compared with its nearest documents in the order of the next four bands, and with the first documents of the band. The other joins bound
//! the cost of groups of more than 256 documents that are all similar to one document (`crowds.rs`).
//!
//! Limitations: at 0.2, two pages with the same template are similar. White space counts as one character; see `spaces`. `seed_code`
//! reproduces the article's code, for comparison only: Dice instead of Jaccard, without the last window, and with repeated windows of one
//! text counted against the set of the other text (the larger value of the two directions; values above 1 count as 1). Sketches are
//! estimates: for many short texts, `mod_m` keeps no shingle, and `min_s` cannot estimate containment.

mod all_pairs;
mod bitmap;
mod crowds;
mod rarest;
mod shingle_set;

use crate::algorithm::contract::{
    Algorithm, Corpus, Decided, Facts, FeatureKind, Growth, Kind, Needs, ParamSpec, Params, SignatureScheme, Signer,
    Verify,
};
use crate::algorithm::kit::minwise::{Family, SEED, band_keys};
use crate::algorithm::kit::shingling::{NGRAM, words_of_hashes};
use crate::corpus::CorpusStats;
use all_pairs::{AllPairs, SIZE, Size};
use dupsift_core::error::{Error, Result};
use dupsift_core::row::{Pair, Pairs, Row, RowShape, Score, Signatures, Window, order_by};
use dupsift_text::Analysis;
use rarest::{RarestJoin, by_rarest};
use shingle_set::{Measure, ShingleSets};

/// Implements the `shingles` algorithm.
pub(crate) struct Shingles;

const FACTS: Facts = Facts {
    name: "shingles",
    aliases: &["shingle"],
    source: "Broder 1997, On the resemblance and containment of documents",
    summary: "Two documents are duplicates if they share enough character n-grams.",
    when_not_to_use: "on tens of thousands of documents or more with a low threshold (minhash finds similar documents at a fraction of the cost); with measure=containment and a threshold below 0.5 (all documents are compared with each other); on pages with the same template",
    inputs: "text; shingle counts with measure=containment",
    params: &[
        ParamSpec {
            name: "threshold",
            kind: Kind::Real(0.01, 1.0),
            default: "0.2",
            help: "minimum resemblance or containment of a pair",
        },
        NGRAM,
        ParamSpec {
            name: "unit",
            kind: Kind::Choice(&["scalar", "grapheme", "word"]),
            default: "scalar",
            help: "scalar: code points of the normalized text; grapheme: user-perceived characters; word: words, but single characters for Han text",
        },
        ParamSpec { name: "spaces", kind: Kind::Flag, default: "true", help: "count whitespace as a character" },
        ParamSpec {
            name: "measure",
            kind: Kind::Choice(&["resemblance", "containment"]),
            default: "resemblance",
            help: "resemblance: number of shared shingles divided by the total number of distinct shingles in both texts; containment: number of shared shingles divided by the number of shingles in one text",
        },
        ParamSpec {
            name: "sketch",
            kind: Kind::Choice(&["full", "min_s", "mod_m"]),
            default: "full",
            help: "full: compare all shingles; min_s: estimate from the s smallest hashes; mod_m: estimate from the hashes divisible by m",
        },
        ParamSpec {
            name: "s",
            kind: Kind::Int(1, 1_000_000),
            default: "200",
            help: "number of hashes for sketch=min_s",
        },
        ParamSpec { name: "m", kind: Kind::Int(1, 1_000_000), default: "25", help: "divisor for sketch=mod_m" },
        ParamSpec {
            name: "seed_code",
            kind: Kind::Flag,
            default: "false",
            help: "compute the measure as the code that accompanies the paper does, for comparison only",
        },
        ParamSpec {
            name: "join",
            kind: Kind::Choice(&["auto", "exact", "rarest", "lsh"]),
            default: "auto",
            help: "exact: compares all documents with each other; rarest: finds every pair with measure=containment through the rarest shingles of the smaller text; lsh: finds candidates by minima; auto: rarest for a containment of at least 0.5; otherwise exact for up to exact_limit documents, and lsh for more",
        },
        ParamSpec {
            name: "exact_limit",
            kind: Kind::Int(0, 10_000_000),
            default: "20000",
            help: "maximum number of input rows for which join=auto compares all documents with each other",
        },
        ParamSpec {
            name: "bands",
            kind: Kind::Int(1, 1000),
            default: "64",
            help: "number of bands for join=lsh; each adds one row per document",
        },
        ParamSpec { name: "rows", kind: Kind::Int(1, 100), default: "2", help: "rows per band of join=lsh" },
        SEED,
    ],
    shorthands: &[],
    presets: &[
        ("broder", "unit=word,ngram=10,sketch=mod_m,m=25,threshold=0.5"),
        ("contained", "measure=containment,threshold=0.8"),
        ("seed", "seed_code=true"),
    ],
    revision: 2,
};

impl Algorithm for Shingles {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs(&self, params: &Params) -> Needs {
        // Shingle counts determine which shingles are the rarest.
        let features = by_rarest(params).then(|| Box::new(ShingleSets::new(params)) as Box<dyn FeatureKind>);
        Needs { features, ..Needs::default() }
    }

    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let sets = ShingleSets::new(params);
        let (measure, sketch, join) = (params.word("measure"), params.word("sketch"), params.word("join"));
        if sets.measure == Measure::SeedCode && (measure != "resemblance" || sketch != "full") {
            return Err(Error::usage(format!(
                "shingles: seed_code=true requires measure=resemblance and sketch=full; got measure={measure} and sketch={sketch}"
            )));
        }
        if measure == "containment" && sketch == "min_s" {
            return Err(Error::usage(
                "shingles: measure=containment cannot be computed from the smallest hashes; use sketch=full or mod_m",
            ));
        }
        if measure != "containment" && join == "rarest" {
            return Err(Error::usage(format!(
                "shingles: join=rarest requires measure=containment, got measure={measure}; use join=exact or join=lsh, or leave join out"
            )));
        }
        let exact = match join {
            "auto" => corpus.documents <= params.count("exact_limit") as u64,
            join => join == "exact",
        };
        let (bands, rows, threshold) = (params.count("bands"), params.count("rows"), params.real("threshold"));
        let join = if by_rarest(params) {
            Join::Rarest(RarestJoin::new(threshold), corpus.stats)
        } else if exact {
            Join::Exact(AllPairs::new(corpus.documents))
        } else {
            Join::Lsh { bands, rows, family: Family::new("multiply32", bands * rows, params.count("seed") as u64) }
        };
        let bitmap = matches!(join, Join::Lsh { .. });
        Ok(Box::new(ShinglesSigner { sets: ShingleSets { bitmap, ..sets }, threshold, join }))
    }
}

/// The completeness that `join=exact` and `join=rarest` guarantee.
const COMPLETE: &str =
    "finds every pair, except in groups of more than 256 documents that are all similar to one document";

enum Join<'c> {
    /// Compares all documents with each other.
    Exact(AllPairs),
    /// Compares two documents if one document contains one of the rarest shingles of the other.
    Rarest(RarestJoin, &'c CorpusStats),
    /// Compares documents that agree in a band.
    Lsh { bands: usize, rows: usize, family: Family },
}

struct ShinglesSigner<'c> {
    sets: ShingleSets,
    threshold: f64,
    join: Join<'c>,
}

impl Signer for ShinglesSigner<'_> {
    fn scheme(&self) -> SignatureScheme {
        let rules = &["resemblance", "a_in_b", "b_in_a"];
        let scheme = |shape| SignatureScheme { rules, opposite_rules: Some([1, 2]), ..SignatureScheme::new(shape) };
        match &self.join {
            Join::Rarest(rarest, _) => SignatureScheme {
                // The number of shingles that a typical page shares with at least one other document.
                rows_per_document: 1_000,
                sketch_words: rarest.sketch_words(),
                growth: Growth::MayBeQuadratic { instead: "join=lsh or a higher threshold" },
                notes: vec![format!("compares documents that share one of their rarest shingles; {COMPLETE}")],
                ..scheme(rarest.shape())
            },
            Join::Exact(all) => SignatureScheme {
                growth: Growth::Quadratic { rows: all.blocks(), instead: "join=lsh" },
                notes: vec![format!("compares all documents with each other, in {} blocks; {COMPLETE}", all.blocks())],
                ..scheme(all.shape())
            },
            Join::Lsh { bands, rows, .. } => {
                let missed = (1.0 - self.threshold.powi(*rows as i32)).powi(*bands as i32);
                let contained = match self.sets.measure {
                    Measure::Containment => ", and far fewer of the texts contained in much longer ones",
                    _ => "",
                };
                let note = format!(
                    "{bands} bands of {rows} minima find about {share:.1}% of the pairs with resemblance {threshold}{contained}",
                    threshold = self.threshold,
                    share = 100.0 * (1.0 - missed)
                );
                let shape = RowShape { positions: *bands as u32, key_bits: 64, ordered: true, sketch: SIZE };
                SignatureScheme { notes: vec![note], nearest: true, ..scheme(shape) }
            }
        }
    }

    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures) {
        let mut set = out.take_numbers();
        let (size, short) = self.sets.of(document, &mut set);
        if set.is_empty() {
            out.none(if size.all == 0 { "no shingles" } else { "no shingle is in the sketch" });
            return out.leave_numbers(set);
        }
        if short {
            out.flag("shorter than a shingle");
        }
        match &self.join {
            Join::Exact(all) => all.push(document.raw_hash(), size, &set, out),
            Join::Rarest(rarest, stats) => {
                // A shingle in at most this many documents occurs only in copies of this text.
                let own = if stats.covers() { document.times() } else { 0 };
                rarest.push(&mut self.sets.counted(&set, stats), own, out);
            }
            Join::Lsh { rows, family, .. } => {
                let mut minima = Vec::new();
                family.minima(&set, &mut minima);
                let keys = band_keys(&minima, *rows);
                for (band, &key) in keys.iter().enumerate() {
                    let others = keys.iter().cycle().skip(band + 1).take(keys.len() - 1);
                    out.push(band as u32, key.into(), order_by(others.copied()), &size.to_bytes());
                }
            }
        }
        out.leave_numbers(set);
    }

    /// Returns one entry per key: the shingle with this hash or, for a band, the first shingle in the text that has one of the band's
    /// minima. The keys of `join=exact` do not represent shingles.
    fn words_of_keys(&self, document: &Analysis<'_>, keys: &[u128]) -> Vec<Option<String>> {
        match &self.join {
            Join::Exact(_) => vec![None; keys.len()],
            Join::Rarest(..) => words_of_hashes(&self.sets.with_texts(document), keys),
            Join::Lsh { rows, family, .. } => family.words_of_bands(&self.sets.with_texts(document), *rows, keys),
        }
    }

    /// Returns whether the sizes of two sets allow them to be similar.
    fn judge(&self, a: &Row<'_>, b: &Row<'_>) -> Option<Score> {
        let (a, b) = (Size::of(a.sketch), Size::of(b.sketch));
        let most = f64::from(a.distinct.min(b.distinct));
        (most >= self.sets.need(self.threshold, a, b)).then_some(Score::EQUAL)
    }

    fn pairs(&self, window: &Window<'_>, out: &mut Pairs<'_>) {
        match &self.join {
            Join::Exact(all) => all.pairs(window, out, |a, b| self.sets.need(self.threshold, a, b)),
            Join::Rarest(rarest, _) => rarest.pairs(window, out),
            Join::Lsh { .. } => {
                out.compare_nearest(window, |a, b| self.judge(a, b).map(|score| Pair::new(a.doc, b.doc, score, 1)));
            }
        }
    }

    fn verify(&self) -> Option<&dyn Verify> {
        Some(self)
    }
}

impl Verify for ShinglesSigner<'_> {
    fn name(&self) -> String {
        self.sets.check_name(self.threshold)
    }

    fn evidence(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        self.sets.evidence(document, out);
    }

    /// Sets the direction if the measure has one.
    fn compare(&self, a: &[u64], b: &[u64], candidate: Pair) -> Decided<Pair> {
        Ok(self.sets.reach(self.threshold, a, b).map(|(a_in_b, b_in_a)| {
            let enough = |share: f64| u16::from(share >= self.threshold);
            let contained = self.sets.measure == Measure::Containment;
            let matched = if contained { enough(a_in_b) << 1 | enough(b_in_a) << 2 } else { 1 };
            Pair { score: Score { similarity: a_in_b.max(b_in_a) as f32, distance: None }, matched, ..candidate }
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::testing::examples::{params, sign, words_of_rows};
    use crate::testing::in_memory::{all_pairs, run, texts};
    use dupsift_text::{Pipeline, TextOptions};

    fn similarity(typed: &str, a: &str, b: &str) -> Option<(f32, u16)> {
        let found = run(&Shingles, typed, &[a.to_string(), b.to_string()]);
        found.pairs.get(&(0, 1)).map(|pair| (pair.score.similarity, pair.matched))
    }

    #[test]
    fn each_key_has_a_shingle_of_the_text() {
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let stats = CorpusStats::none();
        let corpus = Corpus::new(9, &stats);
        let words = |typed: &str, text: &str| {
            words_of_rows(&*Shingles.signer(&params(&Shingles, typed), &corpus).unwrap(), &pipeline.analyse(text))
        };
        let text = "кот спит на окне и видит птицу";
        for typed in ["", "sketch=min_s,s=4", "sketch=mod_m,m=2", "seed_code=true", "unit=grapheme"] {
            let words = words(&format!("join=lsh,bands=20,rows=3,{typed}"), text);
            assert_eq!(words.len(), 20);
            assert!(words.iter().all(|one| text.contains(one) && one.chars().count() == 5), "{typed}: {words:?}");
        }
        let bands = words("join=lsh,bands=20,unit=word,ngram=2", text);
        assert!(bands.iter().all(|one| text.contains(one) && one.split(' ').count() == 2), "{bands:?}");
        let contained = |typed: &str, text| {
            let mut words = words(&format!("measure=containment,join=rarest,{typed}"), text);
            words.sort();
            words
        };
        assert_eq!(contained("ngram=3", "аб вг аб"), [" аб", " вг", "аб ", "б в", "вг ", "г а"]);
        assert_eq!(contained("ngram=3,spaces=false", "аб вг"), ["абв", "бвг"]);
        assert_eq!(contained("ngram=2,unit=word", "One, two; three"), ["one, two", "two; three"]);
        assert_eq!(contained("ngram=2,unit=grapheme", "x\u{301}yz"), ["x\u{301}y", "yz"]);
        assert_eq!(contained("", "да"), ["да"]);
        let signer = |typed| Shingles.signer(&params(&Shingles, typed), &corpus).unwrap();
        assert_eq!(signer("join=exact").words_of_keys(&pipeline.analyse(text), &[1, 2]), [None, None]);
        assert_eq!(signer("join=lsh").words_of_keys(&pipeline.analyse("!"), &[1]), [None]);
    }

    #[test]
    fn worked_values() {
        // abcde bcdef cdefg, and bcdef cdefg defgh: two of four.
        assert_eq!(similarity("", "abcdefg", "bcdefgh"), Some((0.5, 1)));
        assert_eq!(similarity("threshold=0.51", "abcdefg", "bcdefgh"), None);
        // Without the last windows, abcde bcdef and bcdef cdefg remain: 2 x 1 / (2 + 2).
        assert_eq!(similarity("seed_code=true", "abcdefg", "bcdefgh"), Some((0.5, 1)));
        // All occurrences of a window in the first text are counted: aaaaa counts six times, although it occurs only once in the second
        // text.
        assert_eq!(similarity("seed_code=true,threshold=0.9", "aaaaaaaaaab", "aaaaab"), Some((1.0, 1)));
        assert_eq!(similarity("", "网页去重复的文章", "网页去重复的文档"), Some((3.0 / 5.0, 1)));
        // The second text contains all of the first, and the first contains a third of the second.
        let (short, long) = ("abcdefg", "abcdefghijklm");
        assert_eq!(similarity("measure=containment,threshold=0.8", short, long), Some((1.0, 0b010)));
        assert_eq!(similarity("measure=containment,threshold=0.8", long, short), Some((1.0, 0b100)));
        assert_eq!(similarity("measure=containment,threshold=0.3", long, short), Some((1.0, 0b110)));
        assert_eq!(similarity("ngram=2,unit=word", "one two three", "zero one two"), Some((1.0 / 3.0, 1)));
    }

    #[test]
    fn short_and_empty_texts_and_contradictions() {
        assert_eq!(sign(&Shingles, "", ""), Err("no shingles"));
        assert_eq!(similarity("", "да", "да "), Some((1.0, 1)));
        assert_eq!(similarity("", "да", "нет"), None);
        assert_eq!(sign(&Shingles, "sketch=mod_m,m=1000000", "abcdefg"), Err("no shingle is in the sketch"));
        let stats = CorpusStats::none();
        let of = |typed| Shingles.signer(&params(&Shingles, typed), &Corpus::new(30_000, &stats));
        assert!(of("seed_code=true,sketch=min_s").err().unwrap().to_string().contains("seed_code=true"));
        assert!(of("measure=containment,sketch=min_s").err().unwrap().to_string().contains("mod_m"));
        assert!(of("").unwrap().scheme().notes[0].contains("about 92.7% of the pairs"));
        assert!(
            of("exact_limit=30000").unwrap().scheme().notes[0]
                .contains("20 blocks; finds every pair, except in groups")
        );
        assert!(of("join=exact").unwrap().scheme().notes[0].contains("finds every pair"));
        assert!(of("join=rarest").err().unwrap().to_string().contains("measure=containment"));
        assert!(
            of("measure=containment,threshold=0.8").unwrap().scheme().notes[0]
                .contains("one of their rarest shingles; finds every pair")
        );
    }

    #[test]
    fn the_exact_join_finds_exactly_the_pairs_of_the_definition() {
        let texts = texts(21, 140, 40);
        let sets: Vec<BTreeSet<&str>> =
            texts.iter().map(|text| (5..=text.len()).map(|end| &text[end - 5..end]).collect()).collect();
        let common = |a: usize, b: usize| sets[a].intersection(&sets[b]).count() as f64;
        for threshold in [0.2, 0.5, 0.9] {
            let jaccard = |a: usize, b: usize| common(a, b) / ((sets[a].len() + sets[b].len()) as f64 - common(a, b));
            let found = run(&Shingles, &format!("threshold={threshold}"), &texts);
            let expected = all_pairs(texts.len(), |a, b| jaccard(a, b) >= threshold);
            assert!(expected.len() > 10);
            assert_eq!(found.numbers(), expected, "{threshold}");

            let contained = |a: usize, b: usize| common(a, b) / sets[a].len().min(sets[b].len()) as f64;
            let expected = all_pairs(texts.len(), |a, b| contained(a, b) >= threshold);
            for join in ["auto", "exact", "rarest"] {
                let found = run(&Shingles, &format!("measure=containment,threshold={threshold},join={join}"), &texts);
                assert_eq!(found.numbers(), expected, "{threshold} {join}");
            }

            // The article's code counts the windows of either text that are in the set of the other text: all windows except the last, with
            // repetitions.
            let lists: Vec<Vec<&str>> =
                texts.iter().map(|text| (5..text.len()).map(|end| &text[end - 5..end]).collect()).collect();
            let times = |a: usize, b: usize| lists[a].iter().filter(|window| lists[b].contains(window)).count();
            let dice = |a: usize, b: usize| {
                2.0 * times(a, b).max(times(b, a)) as f64 / (lists[a].len() + lists[b].len()) as f64
            };
            let found = run(&Shingles, &format!("seed_code=true,threshold={threshold}"), &texts);
            assert_eq!(found.numbers(), all_pairs(texts.len(), |a, b| dice(a, b) >= threshold), "{threshold}");
        }
    }

    #[test]
    fn candidates_by_minima_and_sketches_find_most() {
        let texts = texts(22, 120, 200);
        let exact = run(&Shingles, "threshold=0.5", &texts).numbers();
        let lsh = run(&Shingles, "threshold=0.5,join=lsh", &texts).numbers();
        // At a similarity of 0.5, the probability of missing a pair is 10^-8.
        assert!(exact.len() > 50 && lsh == exact);
        for sketch in ["min_s,s=100", "mod_m,m=5"] {
            // The estimates are within 0.2 of the true value.
            let (loose, strict) = (run(&Shingles, "threshold=0.3", &texts), run(&Shingles, "threshold=0.7", &texts));
            let found = run(&Shingles, &format!("sketch={sketch},threshold=0.5"), &texts).numbers();
            assert!(strict.numbers().is_subset(&found) && found.is_subset(&loose.numbers()), "{sketch}");
        }
    }
}
