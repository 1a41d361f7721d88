//! `cosine`: compares texts by the cosine of the angle between their TF-IDF vectors. Every pair that reaches the threshold is found,
//! except with `join=heavy`.
//!
//! Source: Salton, Wong, Yang 1975 (vector space model); Bayardo, Ma, Srikant 2007 (exact join by prefix filter); Charikar 2002 (signs of
//! `join=heavy`). Cost: a first pass for the counts; one row for each leading term that another document also contains; then a check of
//! every pair that the bound from the rows does not rule out. The leading terms are the rarest terms, up to the point where the rest of the
//! vector cannot reach the threshold. Low thresholds, or documents that consist of a few frequent terms, make the cost quadratic.
//!
//! ```text
//! weight = tf ln(1 + N / df)           tf=sublinear: (1 + ln tf) ln(1 + N / df)
//! cos(a, b) = sum a_i b_i / sqrt(sum a_i^2 sum b_i^2) >= threshold
//! "a b c d" and "d c b e", all weights 1: 3 / 4
//! ```
//!
//! The distance is the gap: the largest difference between the weights of the same word in the two texts (`kit/term_vectors/vector.rs`). `versions` uses the
//! same signer with other parameters.
//!
//! `join=heavy` (`kit/term_vectors/heavy_join.rs`) is not exact. Two texts are compared if they share two of their fifteen heaviest terms (56 rows of 12
//! bytes per document). They are candidates if the signs of random projections (96 bytes per document) differ in no more positions than
//! expected for a pair. On four corpora of up to 39,000 documents, `join=heavy` missed at most 0.04% of the pairs of the exact join at a
//! threshold of 0.68, and 0.14% at 0.6. There were 1.5 to 6 candidates per pair, so the number of candidates grows in proportion to the
//! number of pairs. Limitations: `join=heavy` misses versions that do not share two of their heaviest terms. If more than 64 texts share
//! two heavy terms, it misses pairs that do not share a third heavy term. At thresholds below 0.6, the texts of a pair have less in common,
//! so the share of missed pairs grows: 0.3% in the samples at 0.5, 45% at 0.3, 98% at 0.05. If the threshold is below 0.6, a note in
//! run.json says that more pairs are missed. If a document has more than 128 candidates, other pairs than those with its nearest
//! candidates may not be verified (`steps/nearest.rs`), so the cost grows in proportion to the corpus even if all documents are similar.
//!
//! dupsift uses ln(1 + N / df) instead of ln(N / df) so that text has a vector even if all of its words occur in every document. Terms that
//! occur in a single document get no row, because they cannot match another document. Limitations: word order and length do not count, so a
//! text counts as equal to the same text repeated twice. The `hanzi_cosine` preset is the Chinese variant that counts characters. There are
//! few distinct characters, and most are common, so many documents share each key.

use crate::algorithm::contract::{Algorithm, Corpus, Facts, Kind, Needs, ParamSpec, Params, Reads, Signer};
use crate::algorithm::kit::term_vectors::{HEAVY, JOIN, MAX_DF, PROJECTIONS, TF, VectorSigner, Weighing, idf};
use crate::algorithm::kit::units::{UNITS, Units};
use dupsift_core::error::Result;

/// Implements the `cosine` algorithm.
pub(crate) struct Cosine;

const FACTS: Facts = Facts {
    name: "cosine",
    aliases: &["vsm"],
    source: "Salton, Wong, Yang 1975, A vector space model for automatic indexing; Bayardo, Ma, Srikant 2007, Scaling up all pairs similarity search",
    summary: "Two documents are duplicates if the cosine of their TF-IDF vectors reaches the threshold.",
    when_not_to_use: "if word order matters; with join=exact and a threshold below about 0.8 on more than a few hundred thousand documents, because the number of candidates grows quadratically; with unit=hanzi on tens of thousands of documents or more",
    inputs: "text, word counts; character counts with unit=hanzi or han_bigram",
    params: &[
        ParamSpec {
            name: "threshold",
            kind: Kind::Real(0.01, 1.0),
            default: "0.9",
            help: "minimum cosine of a pair; join=exact finds every such pair",
        },
        TF,
        ParamSpec { name: "idf", kind: Kind::Flag, default: "true", help: "weight terms by ln(1 + N / df)" },
        JOIN,
        HEAVY,
        MAX_DF,
        PROJECTIONS,
        ParamSpec {
            name: "unit",
            kind: Kind::Choice(UNITS),
            default: "word",
            help: "word: words from the tokenizer; hanzi: words, but single characters for Han text; han_bigram: words, but pairs of characters for Han text",
        },
        ParamSpec {
            name: "han_only",
            kind: Kind::Flag,
            default: "false",
            help: "ignore everything except Han characters",
        },
    ],
    shorthands: &[],
    presets: &[("hanzi_cosine", "unit=hanzi,han_only=true,idf=false,threshold=0.98")],
    revision: 1,
};

impl Algorithm for Cosine {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs(&self, params: &Params) -> Needs {
        match units(params).features() {
            None => Needs { word_counts: true, reads: Reads::Words { first_line: false }, ..Needs::default() },
            features => Needs { features, ..Needs::default() },
        }
    }

    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let weighing = Weighing {
            sublinear: params.word(TF.name) == "sublinear",
            head: 0.0,
            units: units(params),
            stats: corpus.stats,
            idf: params.flag("idf").then(|| idf(corpus.stats)),
        };
        Ok(Box::new(VectorSigner::new(&["cosine"], params, weighing, None)))
    }
}

fn units(params: &Params) -> Units {
    Units { name: params.word("unit"), han_only: params.flag("han_only") }
}

#[cfg(test)]
mod tests;
