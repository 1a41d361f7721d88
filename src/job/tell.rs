//! The rule that tells versions from forms, over the pairs of one algorithm: what each pair is, and why.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::contents::Contents;
use super::evidence::Evidence;
use super::headings::Headings;
use super::neighbours::Neighbours;
use super::pair_list::PairList;
use super::run_report::RelationsReport;
use super::workers::Job;
use crate::algorithm::Relating;
use crate::error::Result;
use crate::measure::{Both, Versions};
use crate::row::{Pair, RelationKind};
use crate::shuffle::AtomicBits;

/// All that is known of documents for the rule.
pub struct Known<'k> {
    /// What the method's check took down of each.
    pub evidence: &'k Evidence,
    /// What they say.
    pub contents: &'k Contents,
    /// Their first lines.
    pub headings: &'k Headings,
    /// The documents whose first line too many have.
    pub common: &'k AtomicBits,
}

impl Known<'_> {
    /// What the rule asks of two documents whose next best is known.
    fn both(&self, relating: &dyn Relating, pair: &Pair, next_best: f32) -> Both {
        Both {
            cosine: pair.score.similarity.into(),
            contained: self.contents.of(pair.a, pair.b).unwrap_or_default(),
            surplus: relating.surplus(&self.evidence.of(pair.a), &self.evidence.of(pair.b)),
            lines: self.headings.compare(self.common, pair.a, pair.b),
            next_best: next_best.into(),
        }
    }
}

/// Tells what each pair is; all pairs of the algorithm have been judged by its own score. Forms that are too far apart to be
/// reported are left out, and counted.
pub fn tell(
    job: &Job<'_>,
    label: &str,
    (rule, relating): (&Versions, &dyn Relating),
    pairs: &PairList,
    known: &Known<'_>,
) -> Result<(PairList, RelationsReport)> {
    let running = job.clock.stage(format!("tell {label}"));
    let neighbours = Neighbours::new(job, pairs, rule.near)?;
    let counts = [(); 3].map(|()| AtomicU64::new(0));
    let (left_out, cut_short) = (AtomicU64::new(0), AtomicU64::new(0));
    let layout = pairs.layout().telling();
    let told = pairs.revise(job, &format!("tell {label}"), layout, |_, pair| {
        let next = neighbours.next_best(pair.a, pair.b);
        let next_best = next.similarity.unwrap_or(rule.least as f32);
        let told = rule.relate(&known.both(relating, &pair, next_best));
        cut_short.fetch_add(next.cut_short.into(), Relaxed);
        let pair = Pair { told: Some(told), ..pair };
        if pair.is_form() && f64::from(pair.score.similarity) < rule.forms {
            left_out.fetch_add(1, Relaxed);
            return Ok(None);
        }
        counts[told.relation as usize].fetch_add(1, Relaxed);
        Ok(Some(pair))
    })?;
    running.end(pairs.rows(), told.rows(), told.bytes());
    let count = |kind: RelationKind| counts[kind as usize].load(Relaxed);
    let report = RelationsReport {
        version: count(RelationKind::Version),
        contained: count(RelationKind::Contained),
        form: count(RelationKind::Form),
        forms_left_out: left_out.into_inner(),
        cut_short: cut_short.into_inner(),
    };
    Ok((told, report))
}
