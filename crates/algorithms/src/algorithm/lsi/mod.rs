//! `lsi`: compares documents by their cosine in the space of the first singular vectors of the corpus.
//!
//! Source: Deerwester, Dumais, Furnas, Landauer, Harshman 1990, Indexing by latent semantic analysis; method (a) of the "general treatment"
//! in a survey of page deduplication. Cost: one pass for the counts, one for the notes (16 bytes per word and sampled document), the passes
//! of `svd.rs` over the notes, then one multiplication per word and dimension, and one row per document and table. Each candidate pair is
//! compared exactly.
//!
//! ```text
//! x = (1 + ln tf) ln(N / df) for the words of the vocabulary, of unit length; the sample's x are the rows of A = U S V^T
//! document in the space: S^-1 V^T x (scaling=whitened) or V^T x (scaling=singular), of unit length;  pair: cosine >= threshold
//! ```
//!
//! Candidates (`join=bits`) agree in all signs of at least one table; `tables` is the number of tables, and `bits` is the number of random
//! directions in each. Two documents at an angle a agree in a sign with probability s = 1 - a / pi, so a pair is found with probability 1 -
//! (1 - s^bits)^tables. Some pairs are missed; run.json reports what share of the pairs at the threshold is found. `join=exact` compares
//! every pair of documents using coordinates rounded to a byte, and allows for the rounding error, so no pair is missed. This join is meant
//! for small corpora, because each document in a corpus of N documents has N / 2,000 rows. Limitations: texts on the same topic and in the
//! same genre are similar in this space even if they are not copies. The space depends on the corpus, so vectors are comparable only within
//! one run.

mod latent;
mod signs;
mod svd;

use crate::algorithm::contract::{
    Algorithm, Corpus, Decided, Facts, Growth, Kind, Learner, Needs, ParamSpec, Params, SignatureScheme, Signer, Verify,
};
use crate::algorithm::kit::training::{SAMPLE, Sample, frequency_for};
use dupsift_core::error::Result;
use dupsift_core::row::{Pair, Pairs, Signatures, Window};
use dupsift_text::Analysis;
use latent::{Latent, LatentLearner, dot};
use signs::{AllPairs, Signs};

/// Implements the `lsi` algorithm.
pub(crate) struct Lsi;

const FACTS: Facts = Facts {
    name: "lsi",
    aliases: &["svd"],
    source: "Deerwester et al. 1990, Indexing by latent semantic analysis; Halko, Martinsson, Tropp 2011 for the decomposition",
    summary: "Two documents are duplicates if the cosine of their vectors, projected onto the main directions of the corpus, reaches the threshold.",
    when_not_to_use: "if documents about the same subject must be distinguished; if every pair must be found in a large corpus; on tens of thousands of documents or more, because there are dozens of candidates per document, and more in larger corpora",
    inputs: "text, word counts, a sample of the corpus",
    params: &[
        ParamSpec { name: "dimensions", kind: Kind::Int(1, 248), default: "100", help: "singular vectors" },
        ParamSpec {
            name: "threshold",
            kind: Kind::Real(0.0, 1.0),
            default: "0.9",
            help: "minimum cosine of a pair's projected vectors",
        },
        ParamSpec {
            name: "scaling",
            kind: Kind::Choice(&["whitened", "singular"]),
            default: "whitened",
            help: "whitened: all directions have the same weight, because they are divided by their singular values; singular: directions keep their weight in the corpus",
        },
        ParamSpec {
            name: "vocabulary",
            kind: Kind::Int(1, 1_000_000),
            default: "20000",
            help: "maximum number of words: the most frequent words that occur in at least 2 documents and at most half of all documents",
        },
        ParamSpec {
            name: "passes",
            kind: Kind::Int(1, 100),
            default: "4",
            help: "number of passes for the decomposition",
        },
        ParamSpec { default: "20000", ..SAMPLE },
        ParamSpec {
            name: "join",
            kind: Kind::Choice(&["bits", "exact"]),
            default: "bits",
            help: "bits: finds candidates by sign bits and misses some pairs; exact: compares every pair of documents",
        },
        ParamSpec {
            name: "tables",
            kind: Kind::Int(1, 256),
            default: "32",
            help: "number of sign-bit tables; each adds one row per document",
        },
        ParamSpec {
            name: "bits",
            kind: Kind::Int(0, 64),
            default: "0",
            help: "sign bits per table; 0: from 8 to 24, depending on the number of documents",
        },
        ParamSpec {
            name: "seed",
            kind: Kind::Int(0, i64::MAX),
            default: "42",
            help: "seed of the random directions and of the decomposition",
        },
    ],
    shorthands: &[],
    presets: &[],
    revision: 1,
};

impl Algorithm for Lsi {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs(&self, _: &Params) -> Needs {
        Needs { word_counts: true, ..Needs::default() }
    }

    fn learner<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Option<Box<dyn Learner + 'c>>> {
        let documents = corpus.stats.documents();
        Ok(Some(Box::new(LatentLearner {
            rarest: frequency_for(corpus.stats, 2, documents / 2, params.count("vocabulary")),
            commonest: documents / 2,
            sample: Sample::new(params.count("sample"), documents),
            dimensions: params.count("dimensions"),
            passes: params.count("passes"),
            seed: params.count("seed") as u64,
            stats: corpus.stats,
        })))
    }

    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let whitened = params.word("scaling") == "whitened";
        let latent = Latent::new(corpus, params.count("dimensions"), whitened);
        let (dimensions, threshold) = (latent.dimensions(), params.real("threshold"));
        let bits = match params.count("bits") {
            0 => (corpus.documents.max(1).ilog2() as usize).clamp(8, 24),
            bits => bits,
        };
        let join = match params.word("join") {
            "exact" => Join::Exact(AllPairs::new(corpus.documents, dimensions, threshold)),
            _ => Join::Bits(Signs::new(params.count("tables"), bits, dimensions, params.count("seed") as u64)),
        };
        Ok(Box::new(LsiSigner { latent, join, threshold }))
    }
}

/// Defines how candidates are found.
enum Join {
    Bits(Signs),
    Exact(AllPairs),
}

struct LsiSigner<'c> {
    latent: Latent<'c>,
    join: Join,
    threshold: f64,
}

impl Signer for LsiSigner<'_> {
    fn scheme(&self) -> SignatureScheme {
        let mut notes: Vec<String> = self.latent.describe().into_iter().collect();
        let (shape, growth) = match &self.join {
            Join::Bits(signs) => {
                notes.push(signs.describe(self.threshold));
                (signs.shape(), Growth::Linear)
            }
            Join::Exact(all) => (all.shape(), Growth::Quadratic { rows: all.blocks(), instead: "join=bits" }),
        };
        SignatureScheme { rules: &["cosine"], growth, notes, ..SignatureScheme::new(shape) }
    }

    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures) {
        if document.words().is_empty() {
            return out.none("no words");
        }
        let Some(vector) = self.latent.vector(document) else { return out.none("no words from the vocabulary") };
        match &self.join {
            Join::Bits(signs) => signs.push(&vector, out),
            Join::Exact(all) => all.push(document, &vector, out),
        }
    }

    fn pairs(&self, window: &Window<'_>, out: &mut Pairs<'_>) {
        match &self.join {
            Join::Bits(_) => out.compare_all(window, Signs::met),
            Join::Exact(all) => all.pairs(window, out),
        }
    }

    fn verify(&self) -> Option<&dyn Verify> {
        Some(self)
    }
}

impl Verify for LsiSigner<'_> {
    fn name(&self) -> String {
        format!("latent cosine:{}", self.threshold)
    }

    /// Appends the vector, packed two coordinates per number.
    fn evidence(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        let vector = self.latent.vector(document).unwrap_or_default();
        let pairs = vector.chunks(2).map(|pair| [pair[0], pair.get(1).copied().unwrap_or(0.0)]);
        out.extend(pairs.map(bytemuck::cast::<[f32; 2], u64>));
    }

    fn compare(&self, a: &[u64], b: &[u64], candidate: Pair) -> Decided<Pair> {
        // The coordinates are rounded, so the cosine of a vector with itself may differ slightly from 1.
        let cosine = dot(bytemuck::cast_slice(a), bytemuck::cast_slice(b)) as f32;
        let reaches = f64::from(cosine) + 1e-6 >= self.threshold;
        Ok(reaches.then(|| candidate.with_similarity(cosine.clamp(0.0, 1.0))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::contract::Notes;
    use crate::corpus::CorpusStats;
    use crate::testing::examples::{Emitted, counted, params, sign_with, similarity};
    use dupsift_text::{Pipeline, TextOptions};

    /// Returns 20 documents on each of two topics. Each document contains eight of the twelve words of its topic.
    fn texts() -> Vec<String> {
        let word = |subject: usize, n: usize| format!("{}{}", ["лес", "море"][subject], n % 12);
        let text = |at: usize| (0..8).map(|n| word(at % 2, at * 5 + n * (1 + at % 3))).collect::<Vec<_>>().join(" ");
        (0..40).map(text).collect()
    }

    fn stats(texts: &[String]) -> CorpusStats {
        let mut words: Vec<&str> = texts.iter().flat_map(|text| text.split(' ')).collect();
        words.sort_unstable();
        words.dedup();
        let df = |word: &str| texts.iter().filter(|text| text.split(' ').any(|one| one == word)).count() as u64;
        let counts: Vec<(&str, u64, u64)> = words.iter().map(|&word| (word, df(word), df(word))).collect();
        counted(texts.len() as u64, 320, &counts)
    }

    fn learnt(typed: &str, stats: &CorpusStats, texts: &[String]) -> Vec<u64> {
        let corpus = Corpus::new(40, stats);
        let learner = Lsi.learner(&params(&Lsi, typed), &corpus).unwrap().unwrap();
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let note = |text: &String| {
            let mut out = Vec::new();
            learner.note(&pipeline.analyse(text).counted_over(stats), &mut out);
            out
        };
        let notes: Vec<_> = texts.iter().map(note).collect();
        learner.learn(&Notes::in_memory(&notes)).unwrap()
    }

    #[test]
    fn two_directions_tell_two_subjects_apart() {
        let texts = texts();
        let stats = stats(&texts);
        let typed = "dimensions=2,scaling=singular,threshold=0.9";
        let model = learnt(typed, &stats, &texts);
        let corpus = Corpus { model: &model, ..Corpus::new(40, &stats) };
        let signer = Lsi.signer(&params(&Lsi, typed), &corpus).unwrap();
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let check = signer.verify().unwrap();
        let evidence = |text: &str| {
            let mut out = Vec::new();
            check.evidence(&pipeline.analyse(text), &mut out);
            out
        };
        for (a, one) in texts.iter().enumerate() {
            for (b, other) in texts.iter().enumerate() {
                assert_eq!(
                    similarity(check, &evidence(one), &evidence(other)).unwrap().is_some(),
                    a % 2 == b % 2,
                    "{a} {b}"
                );
            }
        }
        // Word order and unknown words make no difference.
        let words = "лес1 лес2 лес3 лес4";
        assert_eq!(similarity(check, &evidence(words), &evidence("Лес4, лес3: лес2 новое лес1")), Ok(Some(1.0)));
        let sign = |text: &str| -> Emitted { sign_with(signer.as_ref(), text) };
        assert_eq!(sign(words), sign("Лес4, лес3: лес2 новое лес1"));
        assert_eq!(sign("совсем новое"), Err("no words from the vocabulary"));
        assert_eq!(sign("..."), Err("no words"));
        assert_eq!(sign(words).unwrap().len(), 32);
        assert_eq!(signer.scheme().notes[0], "2 directions for 24 words, learned from 40 documents");
    }

    /// If there are as many directions as words, V^T only rotates the vectors, so their cosine equals the cosine of the TF-IDF vectors.
    #[test]
    fn all_directions_keep_the_cosine() {
        let texts = texts();
        let stats = stats(&texts);
        let typed = "dimensions=24,scaling=singular,threshold=0";
        let model = learnt(typed, &stats, &texts);
        let corpus = Corpus { model: &model, ..Corpus::new(40, &stats) };
        let signer = Lsi.signer(&params(&Lsi, typed), &corpus).unwrap();
        let check = signer.verify().unwrap();
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let vector = |text: &str| -> Vec<(u64, f64)> {
            let document = pipeline.analyse(text);
            let of = |one: &dupsift_text::Counted| {
                (one.word.hash, (1.0 + f64::from(one.tf).ln()) * stats.idf(stats.df(one.word.hash)))
            };
            let mut vector: Vec<(u64, f64)> = document.counted().iter().map(of).collect();
            vector.sort_unstable_by_key(|one| one.0);
            vector
        };
        for pair in texts.windows(3) {
            let evidence = |text: &str| {
                let mut out = Vec::new();
                check.evidence(&pipeline.analyse(text), &mut out);
                out
            };
            let found = similarity(check, &evidence(&pair[0]), &evidence(&pair[2])).unwrap().unwrap();
            let expected = crate::measure::cosine(&vector(&pair[0]), &vector(&pair[2]));
            assert!((f64::from(found) - expected).abs() < 1e-5, "{found}, not {expected}");
        }
    }
}
