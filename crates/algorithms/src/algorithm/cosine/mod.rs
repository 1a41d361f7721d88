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
//! The distance is the gap: the largest difference between the weights of the same word in the two texts (`vector.rs`). `versions` uses the
//! same signer with other parameters.
//!
//! `join=heavy` (`heavy_join.rs`) is not exact. Two texts are compared if they share two of their fifteen heaviest terms (56 rows of 12
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

mod evidence;
mod heavy;
mod heavy_join;
mod sign_sketch;
mod surplus;
mod titles;
mod vector;

use crate::algorithm::contract::{
    Algorithm, Corpus, Decided, Facts, Growth, Needs, Reads, SignatureScheme, Signer, TermVectors, Verify,
};
use crate::algorithm::kit::minwise::SEED;
use crate::algorithm::kit::prefix::{SKETCH, Term, bound_of_rows, push_leading};
use crate::algorithm::kit::units::{UNITS, Units};
use crate::algorithm::params::{Kind, ParamSpec, Params};
use crate::measure::{Surplus, TitleWords, Versions};
use dupsift_core::error::Result;
use dupsift_core::row::{Pair, Pairs, Row, RowShape, Score, Signatures, Window};
use dupsift_text::Analysis;
use heavy::HeavyTerms;
use heavy_join::{HeavyJoin, MOST_TERMS};
pub(super) use vector::{Weighing, idf};

/// The lowest threshold at which `join=heavy` was measured. No preset uses a lower threshold.
const LEAST_HEAVY: f64 = 0.6;

/// The parameter that selects how occurrences are counted.
pub(super) const TF: ParamSpec = ParamSpec {
    name: "tf",
    kind: Kind::Choice(&["raw", "sublinear"]),
    default: "raw",
    help: "raw: number of occurrences; sublinear: 1 + ln of that number",
};
/// The parameter that selects how pairs are found.
pub(super) const JOIN: ParamSpec = ParamSpec {
    name: "join",
    kind: Kind::Choice(&["exact", "heavy"]),
    default: "exact",
    help: "exact: finds every pair; heavy: finds pairs that share two of their heaviest terms and most random-projection signs. join=heavy avoids quadratic cost and, at thresholds of 0.6 or more, misses about one pair in a thousand",
};
/// The parameter for the number of terms per document that `join=heavy` uses.
pub(super) const HEAVY: ParamSpec = ParamSpec {
    name: "heavy",
    kind: Kind::Int(2, MOST_TERMS as i64),
    default: "15",
    help: "join=heavy: how many of the heaviest terms to use per text, not counting terms that occur in no other text",
};
/// The parameter for the highest document frequency of the terms that `join=heavy` uses.
pub(super) const MAX_DF: ParamSpec = ParamSpec {
    name: "max_df",
    kind: Kind::Real(0.0001, 1.0),
    default: "0.02",
    help: "join=heavy: ignore terms that occur in more than this share of all documents; terms in at most 400 documents are always used",
};
/// The parameter for the seed of the random projections.
pub(super) const PROJECTIONS: ParamSpec = ParamSpec { help: "join=heavy: seed of the random projections", ..SEED };

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

/// Signs documents by their vectors. `versions` also uses this signer.
pub(super) struct VectorSigner<'c> {
    /// The name of the algorithm, as the only rule.
    rules: &'static [&'static str],
    threshold: f64,
    /// The join by heavy terms, if `join=heavy`.
    heavy: Option<HeavyJoin>,
    /// The rule that distinguishes versions from pages with the same template, if pairs are classified.
    rule: Option<Versions>,
    weighing: Weighing<'c>,
    /// Notes about the algorithm, for run.json.
    notes: Vec<String>,
}

impl<'c> VectorSigner<'c> {
    /// Returns the signer of an algorithm with one rule. `rule` classifies pairs, if given.
    pub(super) fn new(
        rules: &'static [&'static str],
        params: &Params,
        weighing: Weighing<'c>,
        rule: Option<Versions>,
    ) -> VectorSigner<'c> {
        let threshold = params.real("threshold");
        let documents = weighing.stats.documents();
        let terms = HeavyTerms {
            most: params.count(HEAVY.name),
            most_documents: HeavyTerms::most_documents(params.real(MAX_DF.name), documents),
            threshold,
        };
        let heavy = || HeavyJoin::new(terms, params.count(PROJECTIONS.name) as u64);
        let heavy = (params.word(JOIN.name) == "heavy").then(heavy);
        VectorSigner { rules, threshold, heavy, rule, weighing, notes: Vec::new() }
    }

    /// Returns the signer with an additional note, if given.
    pub(super) fn with_note(mut self, note: Option<String>) -> VectorSigner<'c> {
        self.notes.extend(note);
        self
    }

    /// Emits the rows of a vector. `times` is the number of copies of this document's text that the corpus counts include.
    fn sign_vector(&self, terms: Vec<Term>, times: u64, out: &mut Signatures) {
        if terms.is_empty() {
            return out.none(if self.weighing.units.han_only { "no Han characters" } else { "no words" });
        }
        if let Some(heavy) = &self.heavy {
            return heavy.sign(&terms, if self.weighing.stats.covers() { times } else { 0 }, out);
        }
        push_leading(&terms, self.threshold, self.weighing.stats.covers(), out);
    }
}

impl Signer for VectorSigner<'_> {
    fn words_of_keys(&self, document: &Analysis<'_>, keys: &[u128]) -> Vec<Option<String>> {
        if self.heavy.is_none() {
            return vec![None; keys.len()];
        }
        heavy::words_of(keys, &document.words().iter().map(|word| (word.hash, document.word(word))).collect())
    }

    fn scheme(&self) -> SignatureScheme {
        let scheme = SignatureScheme {
            notes: self.notes.clone(),
            rules: self.rules,
            equal: Score { similarity: 1.0, distance: Some(0.0) },
            ..SignatureScheme::new(RowShape::KEY64)
        };
        let Some(heavy) = &self.heavy else {
            return SignatureScheme {
                shape: RowShape { sketch: SKETCH, ..RowShape::KEY64 },
                // The number of leading terms in a typical page.
                rows_per_document: 8,
                growth: Growth::MayBeQuadratic { instead: "join=heavy or a higher threshold" },
                ..scheme
            };
        };
        let note = || {
            format!(
                "the threshold is {}: below {LEAST_HEAVY}, join=heavy misses more pairs; join=exact finds all of them",
                self.threshold
            )
        };
        SignatureScheme {
            rows_per_document: heavy.rows_a_document(),
            sketch_words: heavy.sketch_words(),
            ranked: true,
            // An index keeps only the signs, without the term fingerprints.
            index_words: sign_sketch::WORDS,
            notes: (self.threshold < LEAST_HEAVY).then(note).into_iter().chain(self.notes.iter().cloned()).collect(),
            ..scheme
        }
    }

    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures) {
        self.sign_vector(self.weighing.vector(document).terms(), document.times(), out);
    }

    fn judge(&self, a: &Row<'_>, b: &Row<'_>) -> Option<Score> {
        bound_of_rows(a.sketch, b.sketch, self.threshold)
            .map(|bound| Score { similarity: bound.min(1.0) as f32, distance: None })
    }

    fn pairs(&self, window: &Window<'_>, out: &mut Pairs<'_>) {
        match &self.heavy {
            Some(heavy) => heavy.pairs(window, out),
            None => out.compare_all(window, |a, b| self.judge(a, b).map(|score| Pair::new(a.doc, b.doc, score, 1))),
        }
    }

    fn index_sketch(&self, signed: &Signatures, out: &mut Vec<u64>) {
        if self.heavy.is_some() {
            out.extend(signed.sketch_of_document().iter().take(sign_sketch::WORDS));
        }
    }

    fn may_be_pair(&self, a: &[u64], b: &[u64]) -> bool {
        self.heavy.as_ref().is_none_or(|heavy| heavy.judge_sketches(a, b))
    }

    fn verify(&self) -> Option<&dyn Verify> {
        Some(self)
    }

    fn vectors(&self) -> Option<&dyn TermVectors> {
        Some(self)
    }
}

impl TermVectors for VectorSigner<'_> {
    fn sign_with_evidence(&self, document: &Analysis<'_>, out: &mut Signatures, evidence: &mut Vec<u64>) {
        let vector = self.weighing.vector(document);
        self.weighing.evidence(&vector, evidence);
        self.sign_vector(vector.terms(), document.times(), out);
    }

    fn versions(&self) -> Option<&Versions> {
        self.rule.as_ref()
    }

    fn surplus(&self, a: &[u64], b: &[u64]) -> [Surplus; 2] {
        self.weighing.surplus(a, b)
    }

    fn titles(&self, a: &[u64], b: &[u64], few: u64) -> [TitleWords; 2] {
        self.weighing.titles(a, b, few)
    }

    fn is_word(&self, surplus: Surplus, hash: u64) -> bool {
        self.weighing.is_word(surplus, hash)
    }

    fn judges_each(&self, key: u128, rows: u64) -> bool {
        self.heavy.as_ref().is_none_or(|heavy| heavy.judges_each(key, rows))
    }

    fn window_rule(&self, key: u128) -> u64 {
        self.heavy.as_ref().map_or(0, |_| heavy::Kind::of(key) as u64)
    }

    fn describe_sketches(&self, a: &[u64], b: &[u64]) -> Option<String> {
        self.heavy.as_ref().and_then(|heavy| heavy.why_apart(a, b))
    }

    fn describe_window(&self, key: u128, rows: u64, a: &[u64], b: &[u64]) -> Option<String> {
        self.heavy.as_ref().and_then(|heavy| heavy.why_not_compared(key, rows, a, b))
    }
}

impl Verify for VectorSigner<'_> {
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
        self.weighing.evidence(&self.weighing.vector(document), out);
    }

    fn compare(&self, a: &[u64], b: &[u64], candidate: Pair) -> Decided<Pair> {
        Ok(self.weighing.compare(a, b, self.threshold).map(|likeness| {
            let score = Score { similarity: likeness.cosine as f32, distance: Some(likeness.gap as f32) };
            Pair { score, ..candidate }
        }))
    }
}

#[cfg(test)]
mod tests;
