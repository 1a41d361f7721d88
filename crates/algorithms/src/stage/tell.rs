//! tell: what each pair is to the rule that tells versions from forms, by all that is known of its two documents.
//!
//! It comes after the check of candidates, for the next best partner of a document is sought among pairs that were judged, and
//! before the last check, which can only take pairs away.

use std::borrow::Cow;

use super::next_best::NextBest;
use crate::algorithm::TermVectors;
use crate::measure::{Both, Contained, FirstLine, TitleDifference, Versions};
use dupsift_core::row::{Pair, RelationKind};

/// What the driver knows of documents.
pub trait Known {
    /// What the method's check recorded of one.
    fn evidence(&self, doc: u64) -> Cow<'_, [u64]>;

    /// Returns how much of each is contained in the other one, and how their titles differ. `None` for copies.
    fn compared(&self, a: u64, b: u64) -> Option<([Contained; 2], Option<TitleDifference>)>;

    /// What their first lines say.
    fn first_lines(&self, a: u64, b: u64) -> FirstLine;
}

/// From which similarity on two documents are near: a similarity is a Float32, so the bound is one too.
pub fn near(rule: &Versions) -> f32 {
    rule.near as f32
}

/// The pair with what it is; `next_best` is what [`next_best`](super::next_best::next_best()) found.
pub fn tell(
    (rule, relating): (&Versions, &dyn TermVectors),
    pair: Pair,
    next_best: NextBest,
    known: &impl Known,
) -> Pair {
    let (contained, difference) = known.compared(pair.a, pair.b).unwrap_or_default();
    let both = Both {
        cosine: pair.score.similarity.into(),
        contained,
        surplus: relating.surplus(&known.evidence(pair.a), &known.evidence(pair.b)),
        lines: known.first_lines(pair.a, pair.b),
        next_best: next_best.similarity.unwrap_or(rule.least as f32).into(),
        in_group: next_best.in_group,
    };
    let mut told = rule.relate(&both);
    if told.relation != RelationKind::Template {
        let titles = relating.titles(&known.evidence(pair.a), &known.evidence(pair.b), rule.titles);
        told.other_title = rule.other_title(&both, told, titles, difference);
    }
    Pair { told: Some(told), ..pair }
}

/// Whether a pair that was told is reported: forms that are too far apart are not.
pub fn is_reported(rule: &Versions, pair: &Pair) -> bool {
    !pair.is_template() || f64::from(pair.score.similarity) >= rule.templates
}
