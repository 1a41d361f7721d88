//! `minhash`: finds candidates that agree in a band of MinHash minima, and checks their exact Jaccard similarity.
//!
//! Source: Broder 1997 (min-wise hashing), Indyk, Motwani 1998 (banding). Cost: m hash evaluations per shingle, one row per band and
//! document, and a text check for each candidate pair. P(candidate | Jaccard s) = 1 - (1 - s^r)^b:
//!
//! | bands x rows | s = 0.5 | 0.7 | 0.8 | 0.9 |
//! | --- | --- | --- | --- | --- |
//! | 14 x 8 (default) | 0.05 | 0.56 | 0.92 | 1.0 |
//! | 20 x 5 | 0.47 | 0.98 | 1.0 | 1.0 |
//! | 13 x 7 (`threshold=0.8`) | 0.10 | 0.67 | 0.95 | 1.0 |
//!
//! `threshold=T` chooses the bands as described in `contract/banding.rs`. `threshold=0.8` is `bands=13,rows=7,verify=jaccard:0.8`: in pairs
//! with similarity 0.8, all 7 minima of a band agree with probability 0.8^7 = 0.21, so 13 bands find 1 - 0.79^13 = 0.95 of these pairs.
//!
//! Limitations: pages that share a template and little else are in fact similar, so they are reported. The estimate is coarse for documents
//! with few shingles; the check corrects that. A document without words has no signature, so empty documents do not match each other.
//! Without the check (`verify=none`), `similarity` is an estimate from one byte of each minimum (b-bit minwise hashing, Li and König 2010).
//!
//! Thousands of pages with the same template may share a band. If more than 256 documents share a band, they are not compared exhaustively:
//! each document is compared with its nearest documents in the order of the next four bands, and with the first documents of the band. The
//! cost is therefore linear in the number of documents. Two documents that are similar beyond their template share more than one band, so
//! they are close together in the order of the next four bands.
//!
//! ```text
//! "a b c d e f" -> {a b c d e, b c d e f};  "网页搜索引擎" -> {网页搜索引, 页搜索引擎}
//! ```

use super::contract::banding::{Banding, LOWEST};
use super::contract::{
    Algorithm, Corpus, Facts, Kind, ParamSpec, Params, SharedKey, Shorthand, SignatureScheme, Signer, Verify,
};
use super::kit::minwise::{FAMILY, Family, SEED, band_keys};
use super::kit::shingling::{NGRAM, Shingling, UNIT};
use super::kit::verify::{CHECKS, VERIFY, check};
use dupsift_core::error::Result;
use dupsift_core::hash::mix64;
use dupsift_core::row::{Pair, Pairs, Row, RowShape, Score, Signatures, Window, order_by};
use dupsift_text::Analysis;
use dupsift_text::shingle::distinct;

/// Implements the `minhash` algorithm.
pub(crate) struct MinHash;

const FACTS: Facts = Facts {
    name: "minhash",
    aliases: &["min_hash"],
    source: "Broder 1997, On the resemblance and containment of documents; Indyk, Motwani 1998",
    summary: "Two documents are duplicates if the Jaccard similarity of their shingle sets reaches a threshold.",
    when_not_to_use: "if short texts are contained in long ones; if pages with the same template must be distinguished",
    inputs: "text",
    params: &[
        ParamSpec {
            name: "bands",
            kind: Kind::Int(1, 1000),
            default: "14",
            help: "number of bands; each adds one row per document",
        },
        ParamSpec { name: "rows", kind: Kind::Int(1, 1000), default: "8", help: "rows per band" },
        NGRAM,
        UNIT,
        ParamSpec {
            name: "min_shingles",
            kind: Kind::Int(1, 1_000_000),
            default: "1",
            help: "documents with fewer distinct shingles have no signature",
        },
        FAMILY,
        SEED,
        ParamSpec { name: "verify", kind: Kind::Verify(CHECKS), default: "jaccard:0.7", help: VERIFY.help },
    ],
    shorthands: &[THRESHOLD],
    presets: &[
        ("fineweb", "bands=14,rows=8,ngram=5,verify=none"),
        ("core", "bands=50,rows=4,ngram=2,verify=jaccard:0.5"),
    ],
    revision: 2,
};

const THRESHOLD: Shorthand = Shorthand {
    name: "threshold",
    kind: Kind::Real(LOWEST, 1.0),
    help: "sets bands and rows so that 95% of the pairs with this similarity become candidates, and checks them with verify=jaccard",
    decides: &["bands", "rows"],
    stands_for: |threshold| {
        let Banding { bands, rows } = Banding::for_threshold(threshold);
        vec![("bands", bands.to_string()), ("rows", rows.to_string()), ("verify", format!("jaccard:{threshold}"))]
    },
};

impl Algorithm for MinHash {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn signer<'c>(&self, params: &Params, _: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let (bands, rows) = (params.count("bands"), params.count("rows"));
        let shingling = Shingling::new(params);
        let verify = params.verify("verify").and_then(|(name, threshold)| check(name, threshold, shingling));
        Ok(Box::new(MinHashSigner {
            bands,
            rows,
            shingling,
            min_shingles: params.count("min_shingles"),
            family: Family::new(params.word("family"), bands * rows, params.count("seed") as u64),
            sketch: if verify.is_some() { 0 } else { (bands * rows).min(256) },
            verify,
        }))
    }
}

struct MinHashSigner {
    bands: usize,
    rows: usize,
    shingling: Shingling,
    min_shingles: usize,
    family: Family,
    /// The number of minima stored with a row, one byte each, if the texts are not checked.
    sketch: usize,
    verify: Option<Box<dyn Verify>>,
}

impl Signer for MinHashSigner {
    /// Returns one shingle for each band: the first shingle in the text that has one of the band's minima.
    fn words_of_keys(&self, document: &Analysis<'_>, keys: &[u128]) -> Vec<Option<String>> {
        self.family.words_of_bands(&self.shingling.with_texts(document), self.rows, keys)
    }

    fn scheme(&self) -> SignatureScheme {
        let ordered = self.bands > 1;
        let shape = RowShape { positions: self.bands as u32, key_bits: 64, ordered, sketch: self.sketch };
        SignatureScheme {
            shared_key: SharedKey::Candidates,
            rules: &["band"],
            banding: Some(Banding { bands: self.bands, rows: self.rows }),
            nearest: true,
            ..SignatureScheme::new(shape)
        }
    }

    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures) {
        let mut shingles = out.take_numbers();
        // A repeated shingle does not change any minimum. The shingles are sorted only if distinct shingles must be counted.
        self.shingling.cut_all(document, &mut shingles);
        if shingles.is_empty() {
            return out.none("no shingles");
        }
        if self.min_shingles > 1 {
            distinct(&mut shingles);
        }
        if shingles.len() < self.min_shingles {
            return out.none("fewer shingles than min_shingles");
        }
        let mut minima = Vec::new();
        self.family.minima(&shingles, &mut minima);
        out.leave_numbers(shingles);
        // The minima of a hash family are not uniform in their low bits; a mixer turns each minimum into one uniform byte.
        let sketch: Vec<u8> = minima.iter().take(self.sketch).map(|&minimum| (mix64(minimum) >> 56) as u8).collect();
        let keys = band_keys(&minima, self.rows);
        for (band, &key) in keys.iter().enumerate() {
            let others = keys.iter().cycle().skip(band + 1).take(keys.len() - 1);
            out.push(band as u32, key.into(), order_by(others.copied()), &sketch);
        }
    }

    /// Returns the estimate if there is no check. Two bytes agree by chance with probability 1/256; this share is
    /// subtracted.
    fn judge(&self, a: &Row<'_>, b: &Row<'_>) -> Option<Score> {
        if self.sketch == 0 {
            return Some(Score::EQUAL);
        }
        let equal = a.sketch.iter().zip(b.sketch).filter(|(x, y)| x == y).count();
        let share = equal as f64 / self.sketch as f64;
        let estimate = ((share - 1.0 / 256.0) / (1.0 - 1.0 / 256.0)).max(0.0);
        Some(Score { similarity: estimate as f32, distance: None })
    }

    fn pairs(&self, window: &Window<'_>, out: &mut Pairs<'_>) {
        out.compare_nearest(window, |a, b| self.judge(a, b).map(|score| Pair::new(a.doc, b.doc, score, 1)));
    }

    fn verify(&self) -> Option<&dyn Verify> {
        self.verify.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::examples::sign;

    fn keys(typed: &str, text: &str) -> Vec<(u32, u128)> {
        sign(&MinHash, typed, text).unwrap().into_iter().map(|row| (row.0, row.1)).collect()
    }

    #[test]
    fn one_row_a_band_and_equal_sets_meet_in_all() {
        let one = keys("bands=20,rows=5", "Кот спит на окне и видит птицу за окном");
        assert_eq!(one.iter().map(|row| row.0).collect::<Vec<_>>(), (0..20).collect::<Vec<_>>());
        assert_eq!(one, keys("bands=20,rows=5", "кот СПИТ на окне и видит: птицу за окном!"));
        let other = keys("bands=20,rows=5", "Совсем другие слова стоят здесь без всякой связи");
        assert!(one.iter().all(|row| !other.contains(row)));
        assert_ne!(one, keys("bands=20,rows=5,seed=43", "Кот спит на окне и видит птицу за окном"));
    }

    #[test]
    fn each_band_has_a_shingle_of_the_text() {
        let text = "Кот спит на окне и видит птицу за окном";
        let params = crate::testing::examples::params(&MinHash, "ngram=2,bands=20,rows=5");
        let stats = crate::corpus::CorpusStats::none();
        let signer = MinHash.signer(&params, &Corpus::new(1, &stats)).unwrap();
        let pipeline = dupsift_text::Pipeline::new(&dupsift_text::TextOptions::default()).unwrap();
        let document = pipeline.analyse(text);
        let keys: Vec<u128> = keys("ngram=2,bands=20,rows=5", text).into_iter().map(|row| row.1).collect();
        let words = signer.words_of_keys(&document, &[&keys[..], &[7]].concat());
        let (last, words) = words.split_last().unwrap();
        assert!(last.is_none() && words.len() == 20, "{words:?}");
        assert!(words.iter().flatten().all(|words| words.split(' ').count() == 2), "{words:?}");
        assert!(words.iter().all(|words| document.text().contains(words.as_deref().unwrap())), "{words:?}");
        assert_eq!(signer.words_of_keys(&pipeline.analyse("!"), &keys[..1]), [None]);
    }

    #[test]
    fn short_and_empty_documents() {
        assert_eq!(sign(&MinHash, "", "!!!"), Err("no shingles"));
        assert_ne!(keys("", "да"), keys("", "нет"));
        assert_eq!(keys("", "网页"), keys("", "网页。"));
        assert_eq!(sign(&MinHash, "min_shingles=3", "a b c d e f"), Err("fewer shingles than min_shingles"));
    }

    /// Compares the estimate with the definition on synthetic sets.
    #[test]
    fn the_estimate_without_a_check_is_near_the_truth() {
        let text = |from: usize| (from..from + 400).map(|n| format!("слово{n}")).collect::<Vec<_>>().join(" ");
        let rows = |from| sign(&MinHash, "verify=none,ngram=1,bands=32,rows=8", &text(from)).unwrap();
        let (one, other) = (rows(0), rows(100));
        let stats = crate::corpus::CorpusStats::none();
        let params = crate::testing::examples::params(&MinHash, "verify=none,bands=32,rows=8");
        let signer = MinHash.signer(&params, &Corpus::new(9, &stats)).unwrap();
        let row = |sketch| Row { position: 0, key: 0, order: 0, doc: 0, sketch };
        // 300 of 500 words are shared, so the Jaccard similarity is 0.6. With 256 positions, the standard deviation is
        // 0.03.
        let score = signer.judge(&row(&one[0].3), &row(&other[0].3)).unwrap();
        assert!((score.similarity - 0.6).abs() < 0.12, "{score:?}");
        assert_eq!(signer.judge(&row(&one[0].3), &row(&one[0].3)).unwrap().similarity, 1.0);
    }
}
