//! Classifies the pairs of one algorithm, using the rule that distinguishes versions from pages with the same template. The result is the
//! relation of each pair and the reason for this relation.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::contents::Contents;
use super::links::Links;
use super::pair_list::PairList;
use crate::engine::evidence::Evidence;
use crate::job::read::headings::Headings;
use crate::job::run_report::RelationsReport;
use crate::session::Session;
use dupsift_algorithms::algorithm::TermVectors;
use dupsift_algorithms::measure::{Contained, FirstLine, Subjects, Versions};
use dupsift_algorithms::steps::classify::{Known as Facts, as_near, classify as classify_pair, is_reported, near};
use dupsift_algorithms::steps::next_best::{MOST_PASSED, NextBest, Partner, Partners, next_best, order};
use dupsift_core::error::Result;
use dupsift_core::row::{Pair, RelationKind};
use dupsift_spill::shuffle::{AtomicBits, Sorted};

/// Holds the data about documents that the rule uses.
pub(crate) struct StoredFacts<'k> {
    /// The data that the algorithm's check recorded for each document.
    pub evidence: &'k Evidence,
    /// The contents of documents.
    pub contents: &'k Contents,
    /// The first lines of documents.
    pub headings: &'k Headings,
    /// The documents whose first line is too common to identify a title.
    pub common: &'k AtomicBits,
    /// The pairs that earlier runs found for documents of this run.
    pub earlier: Option<&'k Sorted>,
}

impl Facts for StoredFacts<'_> {
    fn evidence(&self, doc: u64) -> Cow<'_, [u64]> {
        self.evidence.of(doc)
    }

    fn compared(&self, a: u64, b: u64) -> Option<([Contained; 2], Subjects)> {
        self.contents.compared(a, b)
    }

    fn first_lines(&self, a: u64, b: u64) -> FirstLine {
        self.headings.compare(self.common, a, b)
    }
}

/// Classifies each pair. Each pair must already have passed the threshold for the algorithm's own score. Pairs of documents that share a
/// template but are too dissimilar to report are dropped and counted.
pub(crate) fn classify(
    session: &Session<'_>,
    label: &str,
    (rule, relating): (&Versions, &dyn TermVectors),
    pairs: &PairList,
    known: &StoredFacts<'_>,
) -> Result<(PairList, RelationsReport)> {
    let running = session.engine.clock.stage(format!("classify {label}"));
    let neighbours = Neighbours::new(session, (pairs, known.earlier), rule)?;
    let counts = [(); 3].map(|()| AtomicU64::new(0));
    let (left_out, cut_short, other_titles) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let layout = pairs.layout().with_relation();
    let related = pairs.revise(
        session.engine,
        &format!("classify {label}"),
        layout,
        || (),
        |(), _, pair| {
            let next = neighbours.next_best(&pair);
            let pair = classify_pair((rule, relating), pair, next, known);
            let reported = is_reported(rule, &pair);
            // The run in which the second of two indexed documents was new has counted their pair.
            if pair.a.max(pair.b) >= session.base {
                cut_short.fetch_add(next.cut_short.into(), Relaxed);
                left_out.fetch_add((!reported).into(), Relaxed);
                if reported {
                    other_titles.fetch_add(pair.has_other_title().into(), Relaxed);
                    pair.related.iter().for_each(|related| _ = counts[related.relation as usize].fetch_add(1, Relaxed));
                }
            }
            Ok(reported.then_some(pair))
        },
    )?;
    running.end(pairs.rows(), related.rows(), related.bytes());
    let count = |kind: RelationKind| counts[kind as usize].load(Relaxed);
    let report = RelationsReport {
        version: count(RelationKind::Version),
        contained: count(RelationKind::Contained),
        template: count(RelationKind::Template),
        templates_left_out: left_out.into_inner(),
        cut_short: cut_short.into_inner(),
        other_titles: other_titles.into_inner(),
    };
    Ok((related, report))
}

/// Holds the partners of each document in temporary files, in the order in which the next-best search visits them.
struct Neighbours<'r> {
    links: Links,
    rule: &'r Versions,
}

impl<'r> Neighbours<'r> {
    /// Builds the lists from the pairs of this run and of earlier runs.
    fn new(session: &Session<'_>, pairs: (&PairList, Option<&Sorted>), rule: &'r Versions) -> Result<Neighbours<'r>> {
        let mut links = Links::new(session, pairs, |_| true)?;
        links.sort(session, |x, y| order(near(rule), x, y))?;
        Ok(Neighbours { links, rule })
    }

    /// Returns the best partner of either document. Partners that are similar to both documents are excluded.
    fn next_best(&self, pair: &Pair) -> NextBest {
        next_best(&self.links, near(self.rule), MOST_PASSED, (pair.a, pair.b), as_near(self.rule, pair))
    }
}

impl Partners for Links {
    fn range(&self, doc: u64) -> Range<usize> {
        Links::range(self, doc)
    }

    fn get(&self, at: usize) -> Partner {
        Links::get(self, at)
    }
}
