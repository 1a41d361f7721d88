//! Counts the rows in the table of removals, and finds the fates of the documents that are shown.

use serde::Serialize;
use std::collections::BTreeMap;

use super::lowest::Lowest;
use super::tally::{BINS, bin, bin_range};
use crate::doubt::{Facts, doubt};
use dupsift_algorithms::recipe::remove_if::Bounds;
use dupsift_core::error::Result;
use dupsift_core::hash::mix64;
use dupsift_tables::{EMPTIED, REPRESENTATIVE, RemovalFound};

/// The number of rows between two checks for an interruption.
const ASKED: usize = 4096;

/// The thresholds for counting removed documents by the share of their 3-grams in the kept document.
const SHARES: [f64; 6] = [0.8, 0.85, 0.9, 0.95, 0.99, 1.0];

/// The maximum number of removals that are sampled for inspection.
const SAMPLED: usize = 200;

/// Holds a sampled removal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RemovalSample {
    /// The removed document.
    pub doc: u64,
    /// The document that was kept instead.
    pub kept: u64,
    /// The similarity of the two documents; `None` if only a chain of pairs connects them.
    pub similarity: Option<f32>,
    /// The reason: `pair` or `chain`.
    pub reason: &'static str,
    /// The doubt, from 0 to 1; docs/report.md describes the score.
    pub doubt: f32,
    /// Whether the titles, code or labels refer to different things.
    pub other_title: bool,
    /// Whether another document is about as similar.
    pub others_as_near: bool,
    /// The position of this removal in the random order in which the sample was drawn.
    pub rank: usize,
}

/// Holds counts and a sample of the removed documents.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RemovedReview {
    /// The number of removed documents in each bin, by similarity to the kept document.
    pub scores: [u64; BINS],
    /// The number of documents that are connected to the kept document only by a chain of pairs.
    pub chained: u64,
    /// The number of documents that have at least this share of their 3-grams in the kept document, for each share in
    /// `SHARES`.
    pub contained: [u64; SHARES.len()],
    /// The fates of the documents that are shown, by number.
    pub fates: BTreeMap<u64, Fate>,
    /// A random sample of the removals, drawn with a fixed seed; the most doubtful come first. Exact copies are excluded.
    pub sample: Vec<RemovalSample>,
}

impl RemovedReview {
    /// Returns thresholds and, for each of them, the number of removals with at least this similarity. The first threshold includes all
    /// removals; lower thresholds are omitted.
    pub fn at_thresholds(&self) -> Vec<(f64, u64)> {
        let Some(first) = self.scores.iter().position(|&count| count > 0) else { return Vec::new() };
        (first..BINS).map(|bin| (bin_range(bin).0, self.scores[bin..].iter().sum())).collect()
    }

    /// Returns the shares of 3-grams that a rule may ask for and, for each of them, the number of removals that remain. The shares are at
    /// least those of the rule of the run.
    pub fn under_rules(&self, bounds: Bounds) -> impl Iterator<Item = (f64, u64)> {
        SHARES.into_iter().zip(self.contained).filter(move |(share, _)| *share >= bounds.grams)
    }
}

/// Holds the reason why a document is removed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Fate {
    /// The document that was kept instead.
    pub kept: u64,
    /// One of [`dupsift_tables::REASONS`].
    pub reason: String,
}

/// Reads the table of removals, and returns the sampled rows in random order beside the review. `shown` selects the documents whose fates are recorded; `note` is called for every
/// removed document.
pub(crate) fn read(
    rows: impl Iterator<Item = Result<RemovalFound>>,
    shown: impl Fn(u64) -> bool,
    note: &dyn Fn(u64) -> Result<()>,
    go_on: &dyn Fn() -> Result<()>,
) -> Result<(RemovedReview, Vec<RemovalFound>)> {
    let mut review = RemovedReview::default();
    let mut sample = Lowest::new(SAMPLED);
    for (at, row) in rows.enumerate() {
        if at % ASKED == 0 {
            go_on()?;
        }
        let row = row?;
        let RemovalFound { doc, kept, similarity, reason, contained, .. } = row;
        if let Some(contained) = contained {
            // Tables store shares as 32-bit floats.
            let counts = review.contained.iter_mut().zip(SHARES);
            counts.for_each(|(count, share)| *count += u64::from(contained >= share as f32));
        }
        match similarity {
            Some(similarity) => review.scores[bin(similarity)] += 1,
            None if matches!(reason, EMPTIED | REPRESENTATIVE) => {}
            None => review.chained += 1,
        }
        note(doc)?;
        if matches!(reason, "pair" | "chain") {
            sample.offer((mix64(doc), doc), || row);
        }
        if shown(doc) {
            review.fates.insert(doc, Fate { kept, reason: reason.to_string() });
        }
    }
    let sample: Vec<RemovalFound> = sample.into_values().collect();
    for one in &sample {
        review.fates.insert(one.doc, Fate { kept: one.kept, reason: one.reason.to_string() });
    }
    Ok((review, sample))
}

/// Returns the sampled removals, most doubtful first. The arguments are the rows in random order, and what the tables of pairs say about
/// pairs (a, b) with a < b: whether the titles refer to different things, and whether another document is about as similar.
pub(crate) fn most_doubtful_first(
    sample: &[RemovalFound],
    pairs: &BTreeMap<(u64, u64), [bool; 2]>,
) -> Vec<RemovalSample> {
    let rated = sample.iter().enumerate().map(|(rank, one)| {
        let pair = (one.doc.min(one.kept), one.doc.max(one.kept));
        let [other_title, others_as_near] = pairs.get(&pair).copied().unwrap_or_default();
        RemovalSample {
            doc: one.doc,
            kept: one.kept,
            similarity: one.similarity,
            reason: one.reason,
            doubt: doubt(Facts::of(one, [other_title, others_as_near])),
            other_title,
            others_as_near,
            rank,
        }
    });
    let mut rated: Vec<RemovalSample> = rated.collect();
    rated.sort_by(|a, b| b.doubt.total_cmp(&a.doubt).then(a.doc.cmp(&b.doc)));
    rated
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn each_threshold_keeps_what_rests_on_more() {
        let mut review = RemovedReview::default();
        assert!(review.at_thresholds().is_empty());
        (review.scores[17], review.scores[19], review.scores[BINS - 1]) = (5, 2, 10);
        assert_eq!(review.at_thresholds(), [(0.85, 17), (0.9, 12), (0.95, 12), (1.0, 10)]);
    }

    #[test]
    fn only_rules_that_are_as_strict_are_counted() {
        let review = RemovedReview { contained: [60, 50, 40, 30, 20, 10], ..RemovedReview::default() };
        let rules: Vec<(f64, u64)> = review.under_rules(Bounds { grams: 0.95, numbers: 0.9 }).collect();
        assert_eq!(rules, [(0.95, 30), (0.99, 20), (1.0, 10)]);
    }

    #[test]
    fn removals_are_counted_by_similarity_and_noted() {
        let gone = RefCell::new(Vec::new());
        let row = |doc, similarity, reason| {
            let contained = (doc != 4).then_some(if doc == 1 { 1.0 } else { 0.9 });
            Ok(RemovalFound { doc, kept: 0, similarity, reason, contained, numbers: None })
        };
        let rows = [row(1, Some(1.0), "copy"), row(3, Some(0.72), "pair"), row(4, None, "chain")];
        let note = |doc| Ok(gone.borrow_mut().push(doc));
        let (review, sample) = read(rows.into_iter(), |doc| doc == 3, &note, &|| Ok(())).unwrap();
        assert_eq!((review.scores[BINS - 1], review.scores[14], review.chained), (1, 1, 1));
        let fate = |reason: &str| Fate { kept: 0, reason: reason.into() };
        assert_eq!(review.fates, BTreeMap::from([(3, fate("pair")), (4, fate("chain"))]));
        // Exact copies are not sampled.
        let rated = most_doubtful_first(&sample, &BTreeMap::from([((0, 3), [true, false])]));
        // Document 3 has another title; only a chain connects document 4.
        assert_eq!(rated.iter().map(|one| (one.doc, one.doubt)).collect::<Vec<_>>(), [(3, 0.55), (4, 0.5)]);
        assert_eq!((rated[0].rank + rated[1].rank, rated[0].other_title), (1, true));
        assert_eq!(review.contained, [2, 2, 2, 1, 1, 1]);
        assert_eq!(gone.take(), [1, 3, 4]);
    }
}
