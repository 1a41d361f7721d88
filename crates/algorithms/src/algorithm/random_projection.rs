//! `random_projection`: compares the signs of 384 random projections, of which a few may differ.
//!
//! Source: Charikar 2002; Henzinger 2006, Finding near-duplicate web pages, algorithm C (384 bits, near-duplicates if at least 372 are
//! equal; precision 0.50 in that paper, compared with 0.38 for supershingles). Cost: about five operations per feature for every 64 bits,
//! one 68-byte row per document, then one row per block for each distinct vector.
//!
//! Each token has a random vector of +1 and -1 components. The vector is the output of a generator seeded with the token's hash, so no
//! table of vectors is kept. The vectors of all tokens of a document, including repetitions, are added; the signs of the sums are the bits
//! of the document. Two documents at distance k agree in at least one of k + 1 blocks, so the search is complete. Each pair is reported
//! once.
//!
//! Limitations: this algorithm is a wider variant of `simhash`, so its limitations are similar. Short texts produce both false and missed
//! pairs, and near-duplicate pairs form chains. If pages from the same site share much boilerplate, most of their bits are equal.
//!
//! ```text
//! the:  + + - +        V = sum = + + - +   (2, 0, -2, 2)  ->  bits V > 0:  1 0 0 1
//! cat:  + - - +
//! ```

use super::contract::{Algorithm, Corpus, Facts, Kind, ParamSpec, Params, SharedKey, SignatureScheme, Signer};
use super::kit::bits::{Wide, differing};
use super::kit::blocks::Blocks;
use super::kit::features::{FEATURE_NGRAM, FEATURES, Features, MIN_FEATURES, enough};
use super::kit::minwise::SEED;
use super::kit::near_words;
use super::kit::votes::majority;
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::{hash128, mix64, splitmix64};
use dupsift_core::row::{Pairs, Row, RowShape, Score, Signatures, Window};
use dupsift_text::Analysis;
use dupsift_text::shingle::distinct;

/// Implements the `random_projection` algorithm.
pub(crate) struct RandomProjection;

const FACTS: Facts = Facts {
    name: "random_projection",
    aliases: &[],
    source: "Charikar 2002; Henzinger 2006, Finding near-duplicate web pages, algorithm C",
    summary: "Two documents are duplicates if nearly all signs of their random projections match.",
    when_not_to_use: "on short documents; on pages from the same site that share most of their text without being copies",
    inputs: "text",
    params: &[
        ParamSpec {
            name: "bits",
            kind: Kind::Choice(&["384", "256", "128", "64"]),
            default: "384",
            help: "width of the vector",
        },
        ParamSpec {
            name: "max_distance",
            kind: Kind::Int(0, 24),
            default: "11",
            help: "maximum number of bits in which the vectors of a pair may differ, at most 1/16 of the width; every such pair is found",
        },
        ParamSpec { default: "words", ..FEATURES },
        FEATURE_NGRAM,
        ParamSpec {
            name: "weight",
            kind: Kind::Choice(&["tf", "one"]),
            default: "tf",
            help: "tf: each occurrence of a feature counts; one: each feature counts once",
        },
        MIN_FEATURES,
        SEED,
    ],
    shorthands: &[],
    presets: &[
        ("bits256", "bits=256,max_distance=7"),
        ("bits128", "bits=128,max_distance=3"),
        ("bits64", "bits=64,max_distance=3"),
    ],
    revision: 1,
};

impl Algorithm for RandomProjection {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let bits = match params.word("bits") {
            "256" => 256,
            "128" => 128,
            "64" => 64,
            _ => 384,
        };
        let distance = params.count("max_distance") as u32;
        // If the distance is larger, the keys of the tables are shorter than 16 bits, and unrelated texts become candidates.
        if distance > bits / 16 {
            return Err(Error::usage(format!(
                "random_projection: max_distance={distance} is too high for bits={bits}; expected at most {}, or preset=bits256, bits128 or bits64",
                bits / 16
            )));
        }
        Ok(Box::new(RandomProjectionSigner {
            bits,
            blocks: Blocks::new(bits, distance, corpus.documents, 0),
            features: Features::new(params),
            once: params.word("weight") == "one",
            min_features: params.count("min_features"),
            seed: mix64(params.count("seed") as u64),
        }))
    }
}

struct RandomProjectionSigner {
    bits: u32,
    blocks: Blocks<Wide>,
    features: Features,
    once: bool,
    min_features: usize,
    seed: u64,
}

impl RandomProjectionSigner {
    /// Returns the vector of the features. Every occurrence of a feature is one vote.
    fn vector(&self, features: &[u64]) -> Wide {
        let word = |at: u64| majority(features, false, |feature| splitmix64(feature ^ self.seed, at));
        Wide(std::array::from_fn(|at| if (at as u32) < self.bits / 64 { word(at as u64) } else { 0 }))
    }
}

impl Signer for RandomProjectionSigner {
    fn scheme(&self) -> SignatureScheme {
        // The key is a hash of the vector, because documents with equal vectors are merged into classes first.
        let shape = RowShape { key_bits: 128, sketch: self.bits as usize / 8, ..RowShape::KEY64 };
        let probes = RowShape { positions: self.blocks.tables() as u32, key_bits: 64, ..shape };
        SignatureScheme {
            shared_key: SharedKey::DuplicatesAndProbes(probes),
            rules: &["hamming"],
            equal: Score { similarity: 1.0, distance: Some(0.0) },
            index_words: self.bits as usize / 64,
            notes: vec![self.blocks.describe()],
            ..SignatureScheme::new(shape)
        }
    }

    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures) {
        let mut features = out.take_numbers();
        self.features.cut(document, &mut features);
        if self.once {
            distinct(&mut features);
        }
        if let Err(reason) = enough(&features, self.min_features) {
            return out.none(reason);
        }
        let mut bytes = Vec::with_capacity(self.bits as usize / 8);
        self.vector(&features).write(self.bits, &mut bytes);
        out.leave_numbers(features);
        out.push(0, hash128(&bytes), 0, &bytes);
    }

    fn probes(&self, row: &Row<'_>, out: &mut Signatures) {
        for (table, key) in self.blocks.keys(Wide::read(row.sketch)).enumerate() {
            out.push(table as u32, key.into(), 0, row.sketch);
        }
    }

    fn judge(&self, a: &Row<'_>, b: &Row<'_>) -> Option<Score> {
        let distance = self.blocks.judge(a.position, Wide::read(a.sketch), Wide::read(b.sketch))?;
        let similarity = 1.0 - distance as f32 / self.bits as f32;
        Some(Score { similarity, distance: Some(distance as f32) })
    }

    fn pairs(&self, window: &Window<'_>, out: &mut Pairs<'_>) {
        near_words::compare(window, self.blocks.distance(), out, |a, b| self.judge(a, b));
    }

    fn index_sketch(&self, signed: &Signatures, out: &mut Vec<u64>) {
        let words = signed.rows(0).flat_map(|row| row.sketch.as_chunks::<8>().0);
        out.extend(words.map(|word| u64::from_le_bytes(*word)));
    }

    fn may_be_pair(&self, a: &[u64], b: &[u64]) -> bool {
        differing(a, b) <= self.blocks.distance()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::kit::bits::Bits;
    use crate::corpus::CorpusStats;
    use crate::testing::examples::{params, sign};

    fn vector(typed: &str, text: &str) -> std::result::Result<Wide, &'static str> {
        sign(&RandomProjection, typed, text).map(|rows| Wide::read(&rows[0].3))
    }

    /// Returns a 200-word text; `changed` is the number of words that are replaced at its beginning.
    fn text(changed: usize) -> String {
        (0..200).map(|n| if n < changed { format!("other{n} ") } else { format!("word{n} ") }).collect()
    }

    #[test]
    fn bits_are_signs_of_the_sum() {
        let typed = "min_features=1,seed=7";
        let token = |word: &str, bit: u32| {
            let word = splitmix64(dupsift_core::hash::hash64(word.as_bytes()) ^ mix64(7), u64::from(bit) / 64);
            if word >> (bit % 64) & 1 == 1 { 1i32 } else { -1 }
        };
        let found = vector(typed, "Кот, пёс и кот.").unwrap();
        for bit in 0..384 {
            let sum = 2 * token("кот", bit) + token("пёс", bit) + token("и", bit);
            assert_eq!((found & Wide::span(bit, bit + 1)).ones() == 1, sum > 0, "bit {bit}");
        }
        assert_eq!(found, vector(typed, "и кот, кот, пёс").unwrap());
        assert_ne!(found, vector("min_features=1,seed=7,weight=one", "Кот, пёс и кот.").unwrap());
    }

    #[test]
    fn the_distance_grows_with_the_share_of_other_words() {
        for (preset, bits) in [("", 384), ("bits=256,max_distance=7", 256), ("bits=64,max_distance=3", 64)] {
            let apart = |changed| (vector(preset, &text(0)).unwrap() ^ vector(preset, &text(changed)).unwrap()).ones();
            assert_eq!(apart(0), 0);
            assert!(apart(2) <= bits / 8 && apart(2) < apart(200), "{bits}");
            assert!(apart(200) > bits / 4 && apart(200) < bits * 3 / 4, "{bits}");
        }
    }

    #[test]
    fn short_texts_and_contradictions() {
        assert_eq!(vector("", "один два"), Err("fewer features than min_features"));
        assert_eq!(vector("", "?"), Err("no features"));
        let stats = CorpusStats::none();
        let corpus = Corpus::new(10, &stats);
        let signer = |typed| RandomProjection.signer(&params(&RandomProjection, typed), &corpus);
        assert!(signer("bits=64").err().expect("too far").to_string().contains("at most 4"));
        assert!(signer("max_distance=24").is_ok());
        for (_, preset) in FACTS.presets {
            assert!(signer(preset).is_ok());
        }
    }
}
