//! `three_plus_five` (A12, "3+5"): two documents of similar length are a pair if they have the same longest sentence or share two of their
//! three longest sentences.
//!
//! Source: Zelenkov, Segalovich 2007, the experimental method 3+5. The method's recall of 0.96 and precision of 0.95 are the best in that
//! study. No publication explains the "5"; the constants are dupsift's interpretation, and you can change them with parameters. Cost:
//! O(words) time, one sort, and at most 4 rows per document: one for the longest sentence, and one for each pair of the three longest
//! sentences. Limitations: if the longest sentence of many pages is the same disclaimer, only the lengths of these pages distinguish them.
//!
//! Rows with the same key are ordered by length in words. A new chain starts if the next length times `ratio` exceeds the previous length.
//! Any two documents in the same chain are a pair. A document with fewer sentences than `small_doc_sentences` must also be similar enough
//! in length to each of its partners, not only to its neighbor in the chain.
//!
//! ```text
//! lengths 85 100 117 | 140 160        ratio 0.85: 117 x 0.85 <= 100; 140 x 0.85 = 119 > 117 starts a new chain
//! ```

use super::contract::{Algorithm, Corpus, Facts, Kind, Needs, ParamSpec, Params, SignatureScheme, Signer};
use super::kit::sentences::{MAX_SENTENCE_DF, counted_sentences, longest_sentences};
use crate::corpus::CorpusStats;
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::{Digest, combine};
use dupsift_core::row::{Pair, Pairs, Row, RowShape, Score, Signatures, Window};
use dupsift_text::Analysis;

/// Implements the `three_plus_five` algorithm.
pub(crate) struct ThreePlusFive;

const FACTS: Facts = Facts {
    name: "three_plus_five",
    aliases: &["A12", "3+5"],
    source: "Zelenkov, Segalovich 2007, 3+5",
    summary: "Two documents are duplicates if their lengths are similar and they share their longest sentence or two of their three longest sentences.",
    when_not_to_use: "on text without sentence punctuation; if the longest sentence on most pages is boilerplate, unless max_sentence_df drops it",
    inputs: "text; sentence counts with max_sentence_df",
    params: &[
        ParamSpec {
            name: "ratio",
            kind: Kind::Real(0.0, 1.0),
            default: "0.85",
            help: "minimum ratio of the word counts of neighbors in a chain",
        },
        ParamSpec {
            name: "chain",
            kind: Kind::Choice(&["neighbors", "pairwise", "off"]),
            default: "neighbors",
            help: "neighbors: chains as in the paper; pairwise: the lengths of each pair are within the ratio; off: documents of any length",
        },
        ParamSpec {
            name: "small_doc_sentences",
            kind: Kind::Int(0, 255),
            default: "5",
            help: "a document with fewer sentences forms pairs only with documents whose lengths are within the ratio; 0: no such requirement",
        },
        MAX_SENTENCE_DF,
        ParamSpec {
            name: "digest",
            kind: Kind::Choice(&["xxh3_64", "crc32"]),
            default: "xxh3_64",
            help: "hash of a sentence; the paper uses crc32",
        },
    ],
    shorthands: &[],
    presets: &[],
    revision: 1,
};

impl Algorithm for ThreePlusFive {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs(&self, params: &Params) -> Needs {
        Needs { features: counted_sentences(params), ..Needs::default() }
    }

    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let digest = Digest::by_name(params.word("digest"))
            .ok_or_else(|| Error::Internal(format!("three_plus_five: no digest {:?}", params.word("digest"))))?;
        let chain = match params.word("chain") {
            "pairwise" => Chain::Pairwise,
            "off" => Chain::Off,
            _ => Chain::Neighbours,
        };
        Ok(Box::new(ThreePlusFiveSigner {
            digest,
            chain,
            ratio: params.real("ratio"),
            small: params.count("small_doc_sentences") as u8,
            max_df: params.count("max_sentence_df") as u64,
            stats: corpus.stats,
        }))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Chain {
    Neighbours,
    Pairwise,
    Off,
}

struct ThreePlusFiveSigner<'c> {
    digest: Digest,
    chain: Chain,
    ratio: f64,
    small: u8,
    max_df: u64,
    stats: &'c CorpusStats,
}

/// The row position of the longest sentence's hash, and the bit of the `first` rule.
const FIRST: u32 = 0;
/// The row position of keys that combine two sentences, and the bit of the `two_of_three` rule.
const TWO: u32 = 1;

impl ThreePlusFiveSigner<'_> {
    fn two_key(&self, x: u64, y: u64) -> u64 {
        let (low, high) = (x.min(y), x.max(y));
        if self.digest == Digest::Crc32 { high << 32 | low } else { combine(low, high) }
    }

    /// Returns whether the ratio of the two lengths is at least `ratio`.
    fn near(&self, shorter: u32, longer: u32) -> bool {
        f64::from(longer) * self.ratio <= f64::from(shorter)
    }

    fn judge_lengths(&self, a: &Row<'_>, b: &Row<'_>) -> Option<Pair> {
        let is_small = |row: &Row<'_>| row.sketch.first().is_some_and(|&sentences| sentences < self.small);
        let must_be_near = self.chain == Chain::Pairwise || is_small(a) || is_small(b);
        if must_be_near && !self.near(a.order.min(b.order), a.order.max(b.order)) {
            return None;
        }
        Some(Pair::new(a.doc, b.doc, Score::EQUAL, 1 << a.position))
    }
}

impl Signer for ThreePlusFiveSigner<'_> {
    fn scheme(&self) -> SignatureScheme {
        // The sketch is the number of sentences, capped at 255.
        let shape = RowShape { positions: 2, key_bits: 64, ordered: true, sketch: 1 };
        let describe_row = |row: &Row<'_>| {
            let sentences = row.sketch.first().copied().unwrap_or_default();
            format!("{} words, {sentences} sentences", row.order)
        };
        SignatureScheme {
            rules: &["first", "two_of_three"],
            describe_row: Some(describe_row),
            ..SignatureScheme::new(shape)
        }
    }

    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures) {
        let longest = match longest_sentences(document, 3, self.max_df, self.stats) {
            Ok(sentences) => sentences,
            Err(reason) => return out.none(reason),
        };
        if longest.len() == 1 {
            out.flag("one sentence");
        }
        let hashes: Vec<u64> = longest.iter().map(|sentence| self.digest.of(sentence.as_bytes()) as u64).collect();
        let length = u32::try_from(document.words().len()).unwrap_or(u32::MAX);
        let sentences = [u8::try_from(document.sentences().len()).unwrap_or(u8::MAX)];
        out.push(FIRST, hashes[0].into(), length, &sentences);
        for i in 0..hashes.len() {
            for j in i + 1..hashes.len() {
                out.push(TWO, self.two_key(hashes[i], hashes[j]).into(), length, &sentences);
            }
        }
    }

    fn pairs(&self, window: &Window<'_>, out: &mut Pairs<'_>) {
        if self.chain != Chain::Neighbours {
            return out.compare_all(window, |a, b| self.judge_lengths(a, b));
        }
        let mut start = 0;
        for at in 1..=window.len() {
            let ends = at == window.len() || !self.near(window.row(at - 1).order, window.row(at).order);
            if ends {
                out.compare_all(&window.slice(start, at), |a, b| self.judge_lengths(a, b));
                start = at;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::examples::{D1, D2, D3, params, sign};
    use dupsift_core::row::RowLayout;

    #[test]
    fn worked_examples() {
        let rows = |text| sign(&ThreePlusFive, "digest=crc32", text).unwrap();
        let keys = |text| rows(text).into_iter().map(|row| (row.0, row.1)).collect::<Vec<_>>();
        assert_eq!(keys(D1)[0], (FIRST, 0x2FCC_3B1B));
        let two = |x: u128, y: u128| (TWO, x.max(y) << 32 | x.min(y));
        assert_eq!(
            keys(D1)[1..],
            [two(0x2FCC_3B1B, 0xC82B_8F67), two(0x2FCC_3B1B, 0x799D_6A89), two(0xC82B_8F67, 0x799D_6A89)]
        );
        assert_eq!(rows(D1), rows(D2));
        assert!(keys(D3).iter().all(|key| !keys(D1).contains(key)));
        assert_eq!(sign(&ThreePlusFive, "", "Кот спит").unwrap().len(), 1);
        assert_eq!(sign(&ThreePlusFive, "", "!?"), Err("no sentences"));
    }

    /// Returns the pairs among documents that share a key. `rows` holds the length and the number of sentences of each document.
    fn pairs(typed: &str, rows: &[(u32, u8)]) -> Vec<(u64, u64)> {
        let stats = CorpusStats::none();
        let corpus = Corpus::new(100, &stats);
        let signer = ThreePlusFive.signer(&params(&ThreePlusFive, typed), &corpus).unwrap();
        let layout = RowLayout::new(signer.scheme().shape, 100);
        let mut bytes = Vec::new();
        for (doc, (length, sentences)) in rows.iter().enumerate() {
            layout.encode(
                &Row { position: 0, key: 1, order: *length, doc: doc as u64, sketch: &[*sentences] },
                &mut bytes,
            );
        }
        let mut found = Vec::new();
        let mut sink = |pair: Pair| found.push((pair.a, pair.b));
        signer.pairs(&Window::new(layout, &bytes), &mut Pairs::new(1000, &mut sink));
        found
    }

    #[test]
    fn chains_follow_the_lengths() {
        let long = [(85, 10), (100, 10), (117, 10), (140, 10), (160, 10)];
        // 117 x 0.85 = 99.45 continues the chain, 140 x 0.85 = 119 starts a new chain, and 160 x 0.85 = 136 continues it.
        assert_eq!(pairs("", &long), [(0, 1), (0, 2), (1, 2), (3, 4)]);
        // The lengths 85 and 117 are in the same chain, but the ratio between them is too small.
        assert_eq!(pairs("chain=pairwise", &long), [(0, 1), (1, 2), (3, 4)]);
        assert_eq!(pairs("chain=off", &long).len(), 10);
        // A small document must be similar enough in length to each of its partners.
        let small = [(85, 4), (100, 10), (117, 10)];
        assert_eq!(pairs("", &small), [(0, 1), (1, 2)]);
        assert_eq!(pairs("small_doc_sentences=0", &small), [(0, 1), (0, 2), (1, 2)]);
    }
}
