//! Formats the output of `evaluate`: the figures for each algorithm, and the labels that could not be used.

use std::path::Path;

use super::losses::rejected;
use super::{counted, table_of_numbers, thousands};
use dupsift_core::number::share;
use dupsift_study::{EvaluationReport, LabeledRemovals, TruthReport};

/// Returns the evaluation of the run in `dir`, with all columns if `full` is set, and with five columns otherwise. Undefined figures are
/// shown as `-`. The text ends with a line break.
pub fn evaluation(report: &EvaluationReport, dir: &Path, full: bool) -> String {
    let mut text = headline(report);
    // If you labeled removals, this is the answer; the figures below say little about removals.
    if let Some(labeled) = &report.labeled_removals {
        text += &format!("\n{}\n", removals(labeled, report.rows().next().is_some()));
    }
    if report.rows().next().is_some() {
        text += "\n";
        text += &if full { all_figures(report) } else { figures(report) };
        text += "\n";
        text += &explained(report, full);
    } else {
        text += "No row is labeled as a duplicate, so there are no figures for the algorithms.\n";
    }
    let remarks = remarks(report);
    if !remarks.is_empty() {
        text += &format!("\n{}\n", remarks.join("\n"));
    }
    text + &format!("\noutput: {}\n", dir.join("evaluation").display())
}

fn headline(report: &EvaluationReport) -> String {
    let truth = &report.truth;
    let origin = if truth.form == "pairs" { " formed by the pairs" } else { "" };
    format!(
        "{documents} evaluated against {pairs} from {files}: {pages} in {clusters}{origin}\n",
        documents = counted(report.documents, "document"),
        pairs = counted(truth.pairs, "true pair"),
        files = counted(truth.files.len() as u64, "file"),
        pages = counted(truth.pages, "duplicate page"),
        clusters = counted(truth.clusters, "cluster"),
    )
}

fn shown(figure: Option<f64>) -> String {
    figure.map_or_else(|| "-".to_string(), share)
}

fn figures(report: &EvaluationReport) -> String {
    let header = ["algorithm", "pairs", "precision", "recall", "F1", "B-cubed F1"];
    let rows = report.rows().map(|one| {
        let pairs = &one.pairwise;
        let [p, r, f, b] = [pairs.precision, pairs.recall, pairs.f1, one.b_cubed.f1].map(shown);
        [one.label.clone(), thousands(one.pairs), p, r, f, b]
    });
    table_of_numbers(header, rows)
}

fn all_figures(report: &EvaluationReport) -> String {
    let header =
        ["algorithm", "pairs", "P", "R", "F1", "page P", "page R", "page F1", "gamma", "B3 P", "B3 R", "B3 F1", "ARI"];
    let rows = report.rows().map(|one| {
        let [p, r, f, pp, pr, pf, gamma, bp, br, bf, ari] = one.figures().map(shown);
        [one.label.clone(), thousands(one.pairs), p, r, f, pp, pr, pf, gamma, bp, br, bf, ari]
    });
    table_of_numbers(header, rows)
}

/// Explains the columns and the rows.
fn explained(report: &EvaluationReport, full: bool) -> String {
    let mut lines = vec![
        "precision: the share of the found pairs that are true; recall: the share of the true pairs that are found; F1: their \
            harmonic mean",
    ];
    lines.push("B-cubed: precision and recall of each document's cluster, averaged over all documents");
    if full {
        lines.push("P, R: precision and recall; page: the same for documents in a pair; gamma: page P R / (P + R); B3: B-cubed; ARI: adjusted \
            Rand index of clusters");
    }
    if report.run.is_some() {
        lines.push("(run): the pairs that decide which documents are removed; (removed): pairs among a kept document and the documents removed in favor of it");
    }
    lines.join("\n") + "\n"
}

/// Says how many of the labeled removals are right, and what the labels can and cannot say.
fn removals(labeled: &LabeledRemovals, has_figures: bool) -> String {
    let LabeledRemovals { removals, right, wrong, undecided, precision, interval } = *labeled;
    let of_all = counted(removals, "removed near-duplicate");
    let (Some(precision), Some([low, high])) = (precision, interval) else {
        return format!(
            "removals: none of {of_all} is labeled as right or wrong, so the labels say nothing about the removals; \n\
             `dupsift sample OUT` draws removals for labeling"
        );
    };
    let unsure =
        if undecided > 0 { format!(", {} unsure or not labeled", thousands(undecided)) } else { String::new() };
    format!(
        "removals: {} of {} labeled are right{unsure}: precision {}\n\
         (95% interval {}-{}) for all {of_all}, if the labeled ones\n\
         are a random sample.{}",
        thousands(right),
        thousands(right + wrong),
        share(precision),
        share(low),
        share(high),
        if has_figures {
            " In the table, found pairs that are in no row count as\n\
             wrong, and recall holds only if all duplicates in the corpus are labeled."
        } else {
            ""
        }
    )
}

/// Returns notes, including notes on everything that was ignored.
fn remarks(report: &EvaluationReport) -> Vec<String> {
    let truth: &TruthReport = &report.truth;
    let mut remarks = Vec::new();
    if truth.unknown_ids > 0 {
        let named: Vec<String> = truth.unknown.iter().map(|id| format!("{id:?}")).collect();
        let more = if truth.unknown_ids > named.len() as u64 { " ..." } else { "" };
        remarks.push(format!(
            "truth: {} of {} not in the corpus, so {} skipped: {}{more}",
            thousands(truth.unknown_ids),
            counted(truth.ids, "id"),
            counted(truth.unknown_rows, "row"),
            named.join(", ")
        ));
    }
    remarks.extend(
        truth.bad_inputs.iter().map(|file| format!("truth: only part of {} was read: {}", file.file, file.why)),
    );
    if truth.rejections.rows > 0 {
        remarks.push(format!("truth: {}; see evaluation/rejected", rejected(&truth.rejections)));
    }
    let labeled = [
        (truth.different_rows, "different documents"),
        (truth.unsure_rows, "unsure"),
        (truth.unlabeled_rows, "without a label"),
    ];
    let labeled = labeled.into_iter().filter(|(count, _)| *count > 0);
    let labeled: Vec<String> = labeled.map(|(count, what)| format!("{} {what}", thousands(count))).collect();
    if !labeled.is_empty() {
        remarks.push(format!("truth: rows that are not labeled as duplicates: {}", labeled.join(", ")));
    }
    let undecided = report.rows().filter(|row| row.pairs_undecided > 0);
    let undecided: Vec<String> =
        undecided.map(|row| format!("{} {}", row.label, thousands(row.pairs_undecided))).collect();
    if !undecided.is_empty() {
        remarks.push(format!(
            "found pairs whose row is unsure or not labeled count neither as right nor as wrong: {}",
            undecided.join(", ")
        ));
    }
    for (count, what) in
        [(truth.self_pairs, "rows with the same document twice"), (truth.repeated_rows, "repeated rows")]
    {
        if count > 0 {
            remarks.push(format!("truth: skipped {what}: {}", thousands(count)));
        }
    }
    remarks.extend(report.warnings.iter().map(|warning| format!("warning: {warning}")));
    remarks
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use dupsift_algorithms::measure::Retrieval;
    use dupsift_engine::reading::RejectionsReport;
    use dupsift_study::EvaluatedReport;
    use dupsift_study::FiguresReport;
    use dupsift_tables::RejectReason;

    #[test]
    fn an_evaluation_in_full() {
        let figures = |correct, found, relevant| FiguresReport::from(Retrieval::of_counts(correct, found, relevant));
        let mut rejections = RejectionsReport::default();
        rejections.add(RejectReason::NullId, 1);
        let report = EvaluationReport {
            documents: 2_455,
            truth: TruthReport {
                form: "pairs".into(),
                files: vec!["truth.parquet".into()],
                rows: 1_510,
                null_rows: 1,
                rejections,
                ids: 2_000,
                unknown_ids: 6,
                unknown: ["a", "b", "c", "d", "e"].map(String::from).into(),
                unknown_rows: 5,
                repeated_rows: 2,
                self_pairs: 1,
                pairs: 1_501,
                clusters: 700,
                pages: 1_990,
                ..TruthReport::default()
            },
            algorithms: vec![
                EvaluatedReport {
                    label: "minhash".into(),
                    pairs: 1_000,
                    pairs_true: 900,
                    pairwise: figures(900, 1_000, 1_501),
                    pagewise: figures(1_100, 1_200, 1_990),
                    b_cubed: Retrieval::of(Some(0.97), Some(0.91)).into(),
                    ari: Some(0.8125),
                    ..EvaluatedReport::default()
                },
                EvaluatedReport {
                    label: "opt_freq".into(),
                    pairwise: figures(0, 0, 1_501),
                    pagewise: figures(0, 0, 1_990),
                    b_cubed: Retrieval::of(Some(1.0), Some(0.5)).into(),
                    ari: Some(0.0),
                    ..EvaluatedReport::default()
                },
            ],
            warnings: vec!["minhash: 7 pairs are not written".into()],
            ..EvaluationReport::default()
        };
        expect![[r#"
            2,455 documents evaluated against 1,501 true pairs from 1 file: 1,990 duplicate pages in 700 clusters formed by the pairs

             algorithm   pairs       P       R      F1   page P   page R   page F1   gamma    B3 P    B3 R   B3 F1     ARI
            ---------------------------------------------------------------------------------------------------------------
             minhash     1,000   0.900   0.600   0.720    0.917    0.553     0.690   0.345   0.970   0.910   0.939   0.812
             opt_freq        0       -   0.000       -        -    0.000         -       -   1.000   0.500   0.667   0.000

            precision: the share of the found pairs that are true; recall: the share of the true pairs that are found; F1: their harmonic mean
            B-cubed: precision and recall of each document's cluster, averaged over all documents
            P, R: precision and recall; page: the same for documents in a pair; gamma: page P R / (P + R); B3: B-cubed; ARI: adjusted Rand index of clusters

            truth: 6 of 2,000 ids not in the corpus, so 5 rows skipped: "a", "b", "c", "d", "e" ...
            truth: 1 row rejected: 1 null id; see evaluation/rejected
            truth: skipped rows with the same document twice: 1
            truth: skipped repeated rows: 2
            warning: minhash: 7 pairs are not written

            output: out/evaluation
        "#]].assert_eq(&evaluation(&report, Path::new("out"), true));
    }
}
