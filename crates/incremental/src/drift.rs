//! Detects drift: if statistics are outdated, more and more documents share keys without being similar. To measure drift, the number of
//! candidate pairs per document is compared with the numbers in earlier batches.
//!
//! A document in a later batch can match more documents, and the number of candidates grows no faster than the number of documents that can
//! match. Therefore, the number of candidates in an earlier batch is multiplied by the growth in the number of documents that can match.
//! The expected number of candidates is the median of these products over the earlier batches. As a result, a small first batch does not
//! trigger warnings for all later batches, but a single unusual batch stands out.
//!
//! ```text
//! batch 1: 1,000 documents can match 500 others each, 0.2 candidates per document      batch 2: 2,000 can match 1,000 + 1,000 others
//! expected: 0.2 x 2,000 / 500 = 0.8                                                     reported from 3.2 on
//! ```

use dupsift_algorithms::steps::guard::{Fired, candidates};
use dupsift_core::number::{counted, thousands};
use dupsift_engine::job::run_report::RunReport;
use dupsift_index::{Batch, Manifest};

/// A warning is given if the number of candidates per document exceeds this multiple of the expected number.
const FACTOR: f64 = 4.0;
/// The minimum number of candidates required for a warning.
const LEAST: u64 = 1_000;
/// A new index is suggested if the index has at least this many times as many documents as its first batch.
const GROWN: u64 = 8;

/// The number of earlier batches to use for comparison. Batches with fewer than an eighth as many documents as this batch are ignored.
const RECENT: usize = 7;
const EIGHTH: u64 = 8;

/// Records the candidates of the batch, and warns if there are many more candidates than expected. Returns the guards that fired
/// because the number of candidates exceeds `factor` times the expected number.
pub(crate) fn watch(report: &mut RunReport, manifest: &mut Manifest, appends: bool, factor: u64) -> Vec<Fired> {
    let mut fired = Vec::new();
    let Some(batch) = manifest.batches.last_mut().filter(|_| appends) else { return fired };
    batch.used = report.documents.used;
    batch.candidates = report.algorithms.iter().map(|one| (one.label.clone(), one.candidates)).collect();
    let Some((batch, earlier)) = manifest.batches.split_last() else { return fired };
    for (label, _) in batch.candidates.iter().filter(|(_, count)| **count >= LEAST) {
        let now = rate(batch, label);
        let Some(expected) = expected(earlier, batch, label) else { continue };
        match candidates(label, now, expected, factor) {
            Some(guard) => fired.push(guard),
            None if now > FACTOR * expected => report.warnings.push(format!(
                "{label}: {now:.2} candidates per document, but {expected:.2} were expected from earlier runs; the statistics of the index may no longer fit these documents"
            )),
            None => {}
        }
    }
    let made_of = manifest.batches[0].rows;
    if report.statistics.is_some() && manifest.batches.len() > 1 && manifest.next_doc >= GROWN * made_of.max(1) {
        report.warnings.push(format!(
            "the index has {}, but its statistics come from {}; create a new index with `stats` from a larger run",
            counted(manifest.next_doc, "document"),
            thousands(made_of)
        ));
    }
    fired
}

/// Returns the number of candidates per document.
fn rate(batch: &Batch, label: &str) -> f64 {
    batch.candidates.get(label).copied().unwrap_or_default() as f64 / batch.used.max(1) as f64
}

/// Returns the number of other documents that a document in the batch can match: all documents in the index, and half of the documents in
/// the batch.
fn others(batch: &Batch) -> f64 {
    batch.first_doc as f64 + batch.used.max(1) as f64 / 2.0
}

/// Returns the expected number of candidates per document; `None` if there is no earlier batch.
fn expected(earlier: &[Batch], current: &Batch, label: &str) -> Option<f64> {
    let is_large = |batch: &&Batch| batch.used * EIGHTH >= current.used && batch.candidates.contains_key(label);
    let mut batches: Vec<&Batch> = earlier.iter().rev().filter(is_large).take(RECENT).collect();
    if batches.is_empty() {
        batches = earlier.iter().rev().take(RECENT).collect();
    }
    let grown = |batch: &Batch| {
        rate(batch, label).max(1.0 / batch.used.max(1) as f64) * (others(current) / others(batch)).max(1.0)
    };
    let mut rates: Vec<f64> = batches.into_iter().map(grown).collect();
    rates.sort_unstable_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_engine::job::AlgorithmReport;

    fn batch(first_doc: u64, used: u64, candidates: u64) -> Batch {
        Batch { first_doc, used, candidates: [("cosine".to_owned(), candidates)].into(), ..Batch::default() }
    }

    #[test]
    fn the_expectation_grows_with_the_index_and_follows_earlier_batches() {
        let first = batch(0, 1_000, 200);
        assert_eq!(expected(&[], &first, "cosine"), None);
        let second = batch(1_000, 2_000, 0);
        assert_eq!(expected(std::slice::from_ref(&first), &second, "cosine"), Some(0.8));
        // The expected number of candidates is the median over the last seven batches of similar size. One batch is unusual, and one has
        // only three documents.
        let mut batches: Vec<Batch> = (0..9).map(|at| batch(1_000_000 + 10 * at, 1_000, 2_000)).collect();
        batches[4] = batch(1_000_040, 1_000, 900_000);
        batches.push(batch(1_000_095, 3, 0));
        let found = expected(&batches, &batch(1_000_100, 1_000, 0), "cosine").expect("some");
        assert!((found - 2.0).abs() < 0.001, "{found}");
        // If an earlier batch of a thousand documents has no candidates, one candidate is assumed.
        assert_eq!(expected(&[batch(0, 1_000, 0)], &batch(0, 1_000, 5), "cosine"), Some(0.001));
    }

    /// Returns the warnings and the guards after a batch of 1,000 documents with this many candidates.
    fn watched(candidates: u64, factor: u64, earlier: Vec<Batch>) -> (Vec<String>, usize) {
        let mut report = RunReport::default();
        report.documents.used = 1_000;
        report.algorithms = vec![AlgorithmReport { label: "cosine".into(), candidates, ..AlgorithmReport::default() }];
        let first_doc = earlier.iter().map(|batch| batch.used).sum();
        let batches = earlier.into_iter().chain([Batch { first_doc, ..Batch::default() }]).collect();
        let mut manifest = Manifest { batches, ..Manifest::default() };
        let fired = watch(&mut report, &mut manifest, true, factor).len();
        let batch = manifest.batches.last().unwrap();
        assert_eq!((batch.used, batch.candidates["cosine"]), (1_000, candidates));
        (report.warnings, fired)
    }

    #[test]
    fn many_more_candidates_than_expected_are_reported() {
        // With the index, a document can match 1,500 others instead of 500, so 6,000 candidates are expected.
        let earlier = || vec![batch(0, 1_000, 2_000)];
        assert_eq!(watched(24_000, 100, earlier()), (vec![], 0));
        let (warnings, fired) = watched(24_001, 100, earlier());
        assert!(
            fired == 0 && warnings[0].contains("24.00 candidates per document, but 6.00 were expected"),
            "{warnings:?}"
        );
        assert_eq!(watched(24_001, 4, earlier()), (vec![], 1));
        // Few candidates are never reported, and neither is the first batch.
        assert_eq!(watched(999, 100, vec![batch(0, 1_000, 0)]), (vec![], 0));
        assert_eq!(watched(1_000_000, 4, vec![]), (vec![], 0));
    }
}
