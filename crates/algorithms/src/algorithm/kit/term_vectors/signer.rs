//! Signs documents by their term vectors, and finds and verifies pairs of similar vectors.

use super::heavy::{self, HeavyTerms, words_of};
use super::heavy_join::HeavyJoin;
use super::params::{HEAVY, JOIN, MAX_DF, PROJECTIONS};
use super::sign_sketch::WORDS;
use super::vector::Weighing;
use crate::algorithm::contract::{Decided, Growth, Params, SignatureScheme, Signer, TermVectors, Verify};
use crate::algorithm::kit::prefix::{SKETCH, Term, bound_of_rows, push_leading};
use crate::measure::{Surplus, TitleWords, Versions};
use dupsift_core::row::{Pair, Pairs, Row, RowShape, Score, Signatures, Window};
use dupsift_text::Analysis;

/// The lowest threshold at which `join=heavy` was measured. No preset uses a lower threshold.
const LEAST_HEAVY: f64 = 0.6;

/// Signs documents by their vectors.
pub(crate) struct VectorSigner<'c> {
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
    pub(crate) fn new(
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
    pub(crate) fn with_note(mut self, note: Option<String>) -> VectorSigner<'c> {
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
        words_of(keys, &document.words().iter().map(|word| (word.hash, document.word(word))).collect())
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
            index_words: WORDS,
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
            out.extend(signed.sketch_of_document().iter().take(WORDS));
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
