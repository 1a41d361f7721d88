//! classify: classifies each pair with the rule that distinguishes versions from pages with the same template, using all data about the two
//! documents.
//!
//! The rule runs after the check of candidates, because the next best partner of a document is chosen among judged pairs, and before
//! the last check, which can only remove pairs.

use std::borrow::Cow;

use super::next_best::NextBest;
use crate::algorithm::TermVectors;
use crate::measure::{Both, Contained, FirstLine, Subjects, Versions};
use dupsift_core::row::{Pair, RelationKind};

/// Gives access to the driver's data about documents.
pub trait Known {
    /// Returns the evidence that the method's check recorded for a document.
    fn evidence(&self, doc: u64) -> Cow<'_, [u64]>;

    /// Returns how much of each document the other contains, and compares what identifies them. Returns `None` for copies.
    fn compared(&self, a: u64, b: u64) -> Option<([Contained; 2], Subjects)>;

    /// Compares the first lines of two documents.
    fn first_lines(&self, a: u64, b: u64) -> FirstLine;
}

/// Returns the minimum similarity of two near documents, as a Float32 because similarities are Float32.
pub fn near(rule: &Versions) -> f32 {
    rule.near as f32
}

/// Returns the minimum similarity at which another document counts as about as similar as the partner in this pair.
pub fn as_near(rule: &Versions, pair: &Pair) -> f32 {
    pair.score.similarity - rule.gap as f32
}

/// Returns the classified pair; `next_best` is the result of [`next_best`](super::next_best::next_best()).
pub fn classify(
    (rule, relating): (&Versions, &dyn TermVectors),
    pair: Pair,
    next_best: NextBest,
    known: &impl Known,
) -> Pair {
    let (contained, subjects) = known.compared(pair.a, pair.b).unwrap_or_default();
    let both = Both {
        cosine: pair.score.similarity.into(),
        contained,
        surplus: relating.surplus(&known.evidence(pair.a), &known.evidence(pair.b)),
        lines: known.first_lines(pair.a, pair.b),
        next_best: next_best.similarity.unwrap_or(rule.least as f32).into(),
        in_group: next_best.in_group,
        crowded: next_best.crowded,
    };
    let mut related = rule.relate(&both);
    if related.relation != RelationKind::Template {
        let titles = relating.titles(&known.evidence(pair.a), &known.evidence(pair.b), rule.titles);
        related.other_title = rule.other_title(&both, related, titles, subjects);
    }
    Pair { related: Some(related), ..pair }
}

/// Returns whether a classified pair is reported. Pages with the same template are not reported if they are too dissimilar.
pub fn is_reported(rule: &Versions, pair: &Pair) -> bool {
    !pair.is_template() || f64::from(pair.score.similarity) >= rule.templates
}
