//! Estimates from a run on a sample what a run on the complete corpus would remove.

use dupsift_engine::job::RunReport;

/// Estimates the result for the complete corpus from a sample.
pub struct WholeCorpus {
    /// The number of removed documents in the sample.
    pub removed: u64,
    /// Bounds on the share of all documents that would be removed.
    pub removed_share: [f64; 2],
    /// The time for the complete corpus, proportional to the number of documents.
    pub seconds: f64,
}

/// If the sample has fewer removed documents than this, the sampling error exceeds a tenth of the estimated share.
const FEW: u64 = 100;

impl WholeCorpus {
    /// Returns the estimate for the complete corpus from the record of a run on a sample.
    pub fn of(report: &RunReport) -> WholeCorpus {
        let sampled = report.documents.rows;
        let all = report.documents.sampled_from.unwrap_or(sampled);
        let removed = report.removal.as_ref().map_or(0, |removal| removal.removed);
        WholeCorpus {
            removed,
            removed_share: removed_share(sampled, all, removed, report.documents.used),
            seconds: report.seconds * all as f64 / sampled.max(1) as f64,
        }
    }

    /// Returns whether the sampling error exceeds a tenth of the estimated share, because the sample has few removed documents.
    pub fn is_rough(&self) -> bool {
        self.removed < FEW
    }
}

/// Returns bounds on the share of all documents that would be removed, estimated from a sample. Assume that the sample is a share p of the
/// corpus. If a document has one duplicate, this duplicate is in the sample with probability p; if a document has several duplicates, at
/// least one of them is in the sample with a higher probability. Therefore, the share of removed documents in the sample, divided by p, is
/// exact if each document has at most one duplicate, and too high otherwise. Without the division, the share is too low.
fn removed_share(sampled: u64, all: u64, removed: u64, used: u64) -> [f64; 2] {
    let least = removed as f64 / used.max(1) as f64;
    [least, (least * all as f64 / sampled.max(1) as f64).min(1.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the bounds computed from the expected numbers enclose the share in the complete corpus. The corpus consists of groups of
    /// `size` identical documents, and a share p of the documents is sampled.
    #[test]
    fn a_sample_encloses_the_share_of_the_whole_corpus() {
        let bounds = |sampled, all, removed| removed_share(sampled, all, removed, sampled);
        for size in [2, 3, 10, 1000] {
            for share in [0.01_f64, 0.1, 0.5, 0.9, 1.0] {
                let (sampled, all) = (1e9 * share, 1e9);
                // One document of a group is kept if any document of the group is in the sample.
                let kept = (all / f64::from(size)) * (1.0 - (1.0 - share).powi(size));
                let [least, most] = bounds(sampled as u64, all as u64, (sampled - kept) as u64);
                let whole = f64::from(size - 1) / f64::from(size);
                assert!(least <= whole + 1e-4 && whole <= most + 1e-4, "{size} {share}: {least} {whole} {most}");
            }
        }
        assert_eq!(bounds(500, 1000, 100), [0.2, 0.4]);
        assert!(WholeCorpus::of(&RunReport::default()).is_rough());
    }
}
