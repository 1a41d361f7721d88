//! An algorithm bound to a corpus: its method, its rules that consider all pairs together, and the checks that verify pairs by comparing
//! the texts.

use crate::algorithm::kit::margin::MARGIN;
use crate::algorithm::kit::shingling::Shingling;
use crate::algorithm::kit::verify::{VERIFY, check as check_of};
use crate::algorithm::{Algorithm, Corpus, Margin, Params, SignatureScheme, Signer, TermVectors, Verify};
use crate::measure::{Decided, Versions};
use dupsift_core::error::{Error, Result};
use dupsift_core::row::{Pair, RowLayout};
use dupsift_text::Analysis;

/// Holds an algorithm bound to a corpus.
pub struct Bound<'c> {
    /// The name of the algorithm's output folder.
    pub label: String,
    /// The method that signs documents and finds pairs.
    pub signer: Box<dyn Signer + 'c>,
    /// The layout of the algorithm's signatures.
    pub scheme: SignatureScheme,
    /// The margin that filters the algorithm's judged pairs.
    pub margin: Option<Margin>,
    /// Whether documents are compared only within their scopes.
    pub scoped: bool,
    check: Option<Box<dyn Verify>>,
}

impl<'c> Bound<'c> {
    /// Binds an algorithm to a corpus.
    ///
    /// # Errors
    /// Returns an error for parameters that contradict each other.
    pub fn new(label: String, algorithm: &dyn Algorithm, params: &Params, corpus: &Corpus<'c>) -> Result<Bound<'c>> {
        let signer = algorithm.signer(params, corpus)?;
        // An algorithm that has its own `verify` parameter runs this check itself.
        let own = algorithm.facts().params.iter().any(|spec| spec.name == VERIFY.name);
        let check = params.verify(VERIFY.name).filter(|_| !own);
        let check = check.and_then(|(name, threshold)| check_of(name, threshold, Shingling::DEFAULT));
        let margin = params.margin(MARGIN.name);
        let scheme = signer.scheme();
        let bound = Bound { label, signer, scheme, margin, scoped: false, check };
        if margin.is_some() && bound.relating().is_some() {
            return Err(Error::usage(format!(
                "{}: margin= and relate= cannot be combined; remove one of them",
                bound.label
            )));
        }
        if margin.is_some() && bound.verify().is_none() && bound.scheme.is_equivalence() {
            return Err(Error::usage(format!(
                "{}: margin= requires similarities, but pairs with equal signatures have none; add verify=, or remove margin=",
                bound.label
            )));
        }
        Ok(bound)
    }

    /// Returns the layout of the algorithm's rows in a corpus with this many documents.
    pub fn layout(&self, documents: u64) -> RowLayout {
        RowLayout::new(self.scheme.shape, documents).scoped(self.scoped)
    }

    /// Returns the layout of the algorithm's second-round rows, if the method emits any.
    pub fn probe_layout(&self, documents: u64) -> Option<RowLayout> {
        self.scheme.probe_shape().map(|shape| RowLayout::new(shape, documents).scoped(self.scoped))
    }

    /// Returns the check that verifies pairs by comparing the texts: the method's own check, the check requested by `verify=`, or both.
    pub fn verify(&self) -> Option<Check<'_>> {
        match (self.signer.verify(), self.check.as_deref()) {
            (Some(own), Some(asked)) => Some(Check { first: own, second: Some(asked) }),
            (Some(one), None) | (None, Some(one)) => Some(Check { first: one, second: None }),
            (None, None) => None,
        }
    }

    /// Returns the check for candidates: all of [`Bound::verify`] except the part that runs after a rule that considers all pairs together.
    pub fn verify_candidates(&self) -> Option<Check<'_>> {
        if self.verifies_last() { self.signer.verify().map(Check::one) } else { self.verify() }
    }

    /// Returns the check requested by `verify=` if a rule that considers all pairs together runs before it. A margin, or the rule that
    /// distinguishes versions from pages with the same template, uses the method's own score, so this check can only remove pairs.
    pub fn verify_last(&self) -> Option<Check<'_>> {
        self.check.as_deref().filter(|_| self.verifies_last()).map(Check::one)
    }

    /// Returns whether the check requested by `verify=` runs after a rule that considers all pairs together. If documents with equal
    /// signatures form pairs without verification, the check runs before the rule, because these pairs have no other score.
    fn verifies_last(&self) -> bool {
        let has_score = self.signer.verify().is_some() || !self.scheme.is_equivalence();
        self.check.is_some() && has_score && (self.margin.is_some() || self.relating().is_some())
    }

    /// Returns the rule that classifies pairs, and the method that provides the words in which two texts differ. Returns `None` unless
    /// `relate=true`.
    pub fn relating(&self) -> Option<(&Versions, &dyn TermVectors)> {
        let vectors = self.signer.vectors()?;
        vectors.versions().map(|rule| (rule, vectors))
    }

    /// Returns the signer that also records the evidence for the check of candidates, or `None` if evidence requires a separate pass.
    pub(crate) fn with_evidence(&self) -> Option<&dyn TermVectors> {
        let own = self.check.is_none() || self.verifies_last();
        self.signer.vectors().filter(|_| own && self.signer.verify().is_some())
    }

    /// Returns whether each pair is judged independently of the other pairs in a window with this key and at most this many rows.
    pub fn judges_each(&self, key: u128, rows: u64) -> bool {
        self.signer.vectors().is_none_or(|vectors| vectors.judges_each(key, rows))
    }

    /// Returns whether the evidence for the check of candidates is recorded when a document is signed.
    pub fn takes_evidence_early(&self) -> bool {
        self.with_evidence().is_some()
    }

    /// Returns whether documents with equal keys form pairs without verification.
    pub fn equal_keys_are_pairs(&self) -> bool {
        self.verify().is_none() && (self.scheme.is_equivalence() || self.scheme.probe_shape().is_some())
    }
}

/// Holds one check on the texts, or two checks that a pair must pass in order.
#[derive(Clone, Copy)]
pub struct Check<'b> {
    first: &'b dyn Verify,
    second: Option<&'b dyn Verify>,
}

impl<'b> Check<'b> {
    fn one(first: &'b dyn Verify) -> Check<'b> {
        Check { first, second: None }
    }

    /// Returns the settings of the checks in the syntax of the options.
    pub fn name(&self) -> String {
        let second = self.second.map(|second| format!(" and {}", second.name()));
        self.first.name() + &second.unwrap_or_default()
    }

    /// Returns the checks in order.
    pub fn each(&self) -> impl Iterator<Item = &dyn Verify> {
        [Some(self.first), self.second].into_iter().flatten()
    }

    /// Appends the evidence for one document; if there are two checks, the length of the first check's evidence comes first.
    pub fn evidence(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        let Some(second) = self.second else { return self.first.evidence(document, out) };
        let at = out.len();
        out.push(0);
        self.first.evidence(document, out);
        out[at] = (out.len() - at - 1) as u64;
        second.evidence(document, out);
    }

    /// Returns the pair if it passes, with the similarity that the last check computed.
    ///
    /// # Errors
    /// Returns [`Undecided`](crate::measure::Undecided) from the first check that cannot decide, unless an earlier check rejects the pair.
    pub fn judge(&self, a: &[u64], b: &[u64], met: Pair) -> Decided<Pair> {
        let Some(second) = self.second else { return self.first.compare(a, b, met) };
        let (a, b) = (parts(a), parts(b));
        self.first.compare(a.0, b.0, met)?.map_or(Ok(None), |passed| second.compare(a.1, b.1, passed))
    }
}

/// Returns the evidence for the first check and for the second check. Both lists are empty for a document that was not read.
fn parts(evidence: &[u64]) -> (&[u64], &[u64]) {
    evidence.split_first().map_or((&[], &[]), |(&length, rest)| rest.split_at(length as usize))
}
