//! Drift: under counts of another time more and more documents meet without being alike. What a night costs tells it: candidates a
//! document, against those of the night that made the counts.

use crate::index::{Batch, Manifest};
use crate::job::run_report::RunReport;
use crate::number::{counted, thousands};
use crate::spelling::opt;

/// So many times the candidates a document are worth a warning.
const FACTOR: f64 = 4.0;
/// Fewer candidates say nothing.
const LEAST: u64 = 1_000;
/// So many times the documents of the first night are worth another one.
const GROWN: u64 = 8;

/// Notes what the night cost, and warns where it is much more than at first.
pub fn watch(report: &mut RunReport, manifest: &mut Manifest, appends: bool) {
    if !appends {
        return;
    }
    let Some(night) = manifest.batches.last_mut() else { return };
    night.used = report.documents.used;
    night.candidates = report.algorithms.iter().map(|one| (one.label.clone(), one.candidates)).collect();
    let (night, first) = (&manifest.batches[manifest.batches.len() - 1], &manifest.batches[0]);
    let rate = |batch: &Batch, label: &str| {
        batch.candidates.get(label).copied().unwrap_or_default() as f64 / batch.used.max(1) as f64
    };
    for (label, _) in night.candidates.iter().filter(|(_, count)| **count >= LEAST) {
        let (now, then) = (rate(night, label), rate(first, label));
        if now > FACTOR * then.max(1.0 / first.used.max(1) as f64) {
            report.warnings.push(format!(
                "{label}: {now:.2} candidates a document, and {then:.2} in the night that made the statistics of the index: these may not be of these documents any more"
            ));
        }
    }
    let made_of = first.rows;
    if report.statistics.is_some() && manifest.batches.len() > 1 && manifest.next_doc >= GROWN * made_of.max(1) {
        report.warnings.push(format!(
            "the index has {}, and its statistics are of {}; one that is made with {} of a larger run knows more words",
            counted(manifest.next_doc, "document"),
            thousands(made_of),
            opt("stats")
        ));
    }
}
