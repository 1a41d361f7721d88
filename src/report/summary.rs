//! The summary that ends a run: what happened to the documents, what each algorithm found, what a reader must know besides,
//! and how to read the result.
//!
//! The same record gives the same text; only times, rates and memory differ between two runs of one job.

use std::collections::BTreeMap;
use std::path::Path;

use bytesize::ByteSize;

use super::losses::{guard, held};
use super::pages::purified;
use super::tables::table_of_numbers_without;
use super::{counted, other_inputs, rejections_of, thousands};
use dupsift_core::number::counted_as;
use dupsift_engine::job::{
    AlgorithmReport, CorpusReport, CutReport, FolderReport, Guarded, RemovalReport, RunReport, stands_in,
};
use dupsift_files::io::DASH;
use dupsift_study::study::AppliedReport;

/// The summary of a run whose output stands in `out`; ends with a line break.
pub fn summary(report: &RunReport, out: &Path) -> String {
    let mut text = headline(report);
    text += "\n";
    text += &found(&report.algorithms);
    let remarks = remarks(report);
    if !remarks.is_empty() {
        text += &format!("\n{}\n", remarks.join("\n"));
    }
    let held = held(report, out);
    if !held.is_empty() {
        text += &format!("\n{held}");
    }
    let out = &stands_in(report, out);
    text += &report.corpus.as_ref().map(folders).unwrap_or_default();
    // The folder, not its files: so the column `algorithm` is there, which is in their names.
    let pairs = out.join("pairs");
    text += &format!("\noutput: {}\n", out.display());
    text += &format!("in Python: import polars as pl; pl.scan_parquet({:?})\n", pairs.display().to_string());
    text + &next(report, out)
}

/// Returns the summary of a corpus that was written from a finished run into `out`; ends with a line break.
pub fn applied(report: &AppliedReport, out: &Path) -> String {
    let corpus = &report.corpus;
    let (rows, kept, removed) = (counted(corpus.rows, "row"), thousands(corpus.kept), thousands(corpus.removed));
    let rejected =
        if corpus.rejected > 0 { format!(", {} rejected", thousands(corpus.rejected)) } else { String::new() };
    let higher: Vec<String> =
        report.thresholds.iter().map(|(label, threshold)| format!("{label} >= {threshold}")).collect();
    let higher = if higher.is_empty() { String::new() } else { format!("; pairs of {}", higher.join(", ")) };
    let rule = format!("removed if {}{higher}", report.remove_if);
    format!(
        "{rows}: {kept} kept, {removed} removed{rejected}\n{rule}\n{}\noutput: {}\n",
        folders(corpus),
        out.display()
    )
}

/// Says what was written of the corpus, a line a folder, each after a line break.
fn folders(corpus: &CorpusReport) -> String {
    let line = |(folder, written): (&String, &FolderReport)| {
        let (rows, files) = (counted(written.rows, "row"), counted(written.files, "file"));
        let whole =
            if written.whole > 0 { format!(", {} of them unchanged", thousands(written.whole)) } else { String::new() };
        format!("\n{folder}/: {rows} in {files}{whole}")
    };
    corpus.folders.iter().map(line).collect()
}

/// Returns the command that writes the corpus, if the run wrote none and there is one to write.
fn next(report: &RunReport, out: &Path) -> String {
    let can_be_written = report.inputs.iter().all(|input| input.path != DASH && !input.not_copied);
    if report.removal.is_none() || report.corpus.is_some() || report.is_held() || !can_be_written {
        return String::new();
    }
    let out = out.display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+:,@%".contains(letter);
    let out = if out.chars().all(is_plain) { out } else { format!("'{}'", out.replace('\'', r"'\''")) };
    format!("to write the corpus without the removed documents: dupsift apply {out} --corpus keep\n")
}

fn headline(report: &RunReport) -> String {
    let documents = &report.documents;
    let files = counted(report.inputs.len() as u64, "file");
    let removed = |removal: &RemovalReport| {
        let (kept, removed) = (thousands(removal.kept), thousands(removal.removed));
        format!(": {kept} kept, {removed} removed{}", by_reason(&removal.reasons))
    };
    let removed = report.removal.as_ref().map(removed).unwrap_or_default();
    let mut text = format!("{} in {files}{removed}\n", counted(documents.used, "document"));
    let rejected = rejections_of(&documents.rejections, report);
    text += &format!(
        "{} beyond the first of each text; {rejected}\n",
        counted_as(documents.surplus_copies, "exact copy|exact copies")
    );
    if let Some(removal) = &report.removal {
        text += &format!("kept by {}; decided by {}; removed if {}\n", removal.keep, removal.decide, removal.remove_if);
        let stay: u64 = removal.stays.values().sum();
        if stay > 0 {
            text += &format!("{} beside a kept partner{}\n", stay_beside(stay), by_reason(&removal.stays));
        }
    }
    text += &report.cut.as_ref().map(cut).unwrap_or_default();
    let rate = documents.text_bytes as f64 / 1e6 / report.seconds.max(1e-3);
    if !report.resumed.is_empty() {
        text += &format!("resumed from an earlier run: {}\n", report.resumed.join(", "));
    }
    text + &format!(
        "{:.1} s for {:.1} MB of text: {rate:.1} MB/s, {:.1} CPU seconds, {} of memory at the peak\n",
        report.seconds,
        documents.text_bytes as f64 / 1e6,
        report.cpu_seconds,
        ByteSize(report.peak_memory_bytes).display().iec()
    )
}

/// What was found of repeated passages. Only the copy of the corpus in deduped/ is without them.
fn cut(found: &CutReport) -> String {
    let share = 100.0 * found.characters as f64 / found.characters_kept.max(1) as f64;
    let passages = counted_as(found.passages, "repeated passage|repeated passages");
    let emptied = match found.emptied {
        0 => String::new(),
        emptied => format!("; {} removed for lack of other text", counted(emptied, "document")),
    };
    format!("{passages} in {}: {share:.1}% of the kept text{emptied}\n", counted(found.documents, "document"))
}

fn found(algorithms: &[AlgorithmReport]) -> String {
    let header = ["algorithm", "signed", "unsigned", "pairs", "clusters", "in them", "largest", "left out"];
    let rows = algorithms.iter().map(|one| {
        let unsigned = one.unsigned.values().sum();
        let numbers = [one.signed, unsigned, one.pairs, one.clusters, one.clustered, one.largest_cluster, one.left_out];
        let [signed, unsigned, pairs, clusters, clustered, largest, left_out] = numbers.map(thousands);
        [one.label.clone(), signed, unsigned, pairs, clusters, clustered, largest, left_out]
    });
    table_of_numbers_without(header, rows, &["unsigned", "left out"])
}

/// Returns how many files were read in each encoding that was found, the most frequent first.
fn encodings(report: &RunReport) -> Option<String> {
    let mut files = BTreeMap::<&str, u64>::new();
    report
        .inputs
        .iter()
        .filter_map(|file| file.encoding.as_deref())
        .for_each(|name| *files.entry(name).or_default() += 1);
    let mut files: Vec<(&str, u64)> = files.into_iter().collect();
    files.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let told: Vec<String> = files.iter().map(|(name, count)| format!("{} {name}", counted(*count, "file"))).collect();
    (!told.is_empty()).then(|| format!("encodings found: {}", told.join(", ")))
}

/// Everything that was cut, set aside or noticed: nothing of it may pass in silence.
pub(super) fn remarks(report: &RunReport) -> Vec<String> {
    let mut remarks: Vec<String> = encodings(report).into_iter().collect();
    remarks.extend(report.purified.iter().flat_map(purified));
    remarks.extend(met(report));
    for one in &report.algorithms {
        let label = &one.label;
        if !one.unsigned.is_empty() {
            remarks.push(format!("{label}: documents without a signature{}", by_reason(&one.unsigned)));
        }
        if !one.flagged.is_empty() {
            remarks.push(format!("{label}: documents to know about{}", by_reason(&one.flagged)));
        }
        remarks.extend(relations(one));
        if one.large_groups > 0 {
            remarks.push(format!(
                "{label}: {} above --max-group; {} of {} are written, those with the representative",
                counted(one.large_groups, "group"),
                thousands(one.pairs_written),
                counted(one.pairs, "pair")
            ));
        }
        if one.left_out > 0 {
            remarks.push(format!("{label}: {}", left_out(one.left_out)));
        }
        if one.undecided > 0 {
            let undecided = counted(one.undecided, "pair");
            remarks.push(format!("{label}: {undecided} left undecided, the texts too long to be compared"));
        }
        if let Some(expected) = one.expected_chance_collisions.filter(|expected| *expected >= 1.0) {
            let expected = counted(expected.round() as u64, "pair");
            remarks.push(format!("{label}: about {expected} by chance expected, from the width of the signature"));
        }
        remarks.extend(one.notes.iter().map(|note| format!("{label}: {note}")));
    }
    if let Some(removal) = report.removal.as_ref().filter(|removal| removal.left_out > 0) {
        let left_out = counted(removal.left_out, "comparison");
        remarks.push(format!(
            "removal: {left_out} with kept documents left out by --max-candidates, so what is removed depends on the order of the documents"
        ));
    }
    // Where the note on ids says so itself, that is enough.
    if report.ids.missing > 0 && !report.ids.note.as_ref().is_some_and(|note| note.contains("FILE#ROW")) {
        remarks.push(format!("ids: {} without one, named FILE#ROW", counted(report.ids.missing, "row")));
    }
    remarks.extend(report.ids.note.iter().map(|note| format!("ids: {note}")));
    remarks.extend(report.warnings.iter().map(|warning| format!("warning: {warning}")));
    remarks.extend(report.bad_inputs.iter().map(|bad| format!("set aside: {}: {}", bad.file, bad.why)));
    remarks.extend(other_inputs(report));
    match report.accepted {
        Some(_) => remarks.extend(report.guards.iter().map(|fired| format!("guard: {}", fired.sentence))),
        None => remarks.extend(report.guards.iter().map(guard)),
    }
    remarks.extend(report.accepted.iter().map(|accepted| {
        let reason = accepted.reason.as_deref().unwrap_or("no reason is given");
        format!("guard: held back for this, and accepted all the same at {}: {reason}", accepted.time)
    }));
    remarks
}

/// What else the tables of a night name.
fn met(report: &RunReport) -> Option<String> {
    let index = report.index.as_ref()?;
    let met = counted(index.guests, "document");
    match () {
        () if index.guests == 0 => None,
        () if index.generation == index.read_generation => {
            Some(format!("{met} of the reference took part; pairs and clusters name those that are alike"))
        }
        () => Some(format!(
            "{met} of earlier nights took part; pairs and clusters name those that are alike, and none of them goes"
        )),
    }
}

/// What the pairs of a method are that tells versions from forms.
fn relations(one: &AlgorithmReport) -> Vec<String> {
    let (label, mut remarks) = (&one.label, Vec::new());
    if let Some(told) = one.relations.filter(|told| told.template > 0) {
        remarks.push(format!(
            "{label}: {}, {} contained, {} same template (different facts: kept, and in no cluster)",
            counted(told.version, "version"),
            thousands(told.contained),
            thousands(told.template)
        ));
    }
    if let Some(told) = one.relations.filter(|told| told.other_titles > 0) {
        let pairs = counted(told.other_titles, "pair");
        remarks.push(format!(
            "{label}: {pairs} of these have titles that name different things (other_title in pairs/): both are kept"
        ));
    }
    if let Some(told) = one.relations.filter(|told| told.cut_short > 0) {
        let short = counted(told.cut_short, "pair");
        remarks.push(format!("{label}: the next best of {short} was sought in a part of a large near group only"));
    }
    remarks
}

/// `1 document stays`, `2 documents stay`.
pub(super) fn stay_beside(documents: u64) -> String {
    format!("{} {}", counted(documents, "document"), if documents == 1 { "stays" } else { "stay" })
}

/// What `--max-candidates` left out, and what that means.
pub(super) fn left_out(comparisons: u64) -> String {
    let comparisons = counted(comparisons, "comparison");
    format!("{comparisons} left out by --max-candidates, so its pairs depend on the order of the documents")
}

/// ` (no words 10, too short 2)`, or nothing.
pub(super) fn by_reason(reasons: &BTreeMap<String, u64>) -> String {
    let reasons: Vec<String> =
        reasons.iter().map(|(reason, count)| format!("{reason} {}", thousands(*count))).collect();
    if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use dupsift_engine::job::{
        BadInputReport, DocumentsReport, GuardReport, InputReport, RelationsReport, RemovalReport,
    };
    use dupsift_files::tables::RejectReason;
    use dupsift_index::IndexReport;

    fn report() -> RunReport {
        let counts = |entries: &[(&str, u64)]| entries.iter().map(|(name, count)| (name.to_string(), *count)).collect();
        RunReport {
            inputs: vec![InputReport::default(), InputReport::default()],
            documents: DocumentsReport {
                rows: 100_012,
                used: 100_000,
                surplus_copies: 314,
                text_bytes: 104_857_600,
                ..Default::default()
            },
            algorithms: vec![
                AlgorithmReport {
                    label: "exact".into(),
                    signed: 100_000,
                    pairs: 1_234_567,
                    pairs_written: 12_000,
                    large_groups: 1,
                    clusters: 200,
                    clustered: 1_950,
                    largest_cluster: 1_500,
                    ..Default::default()
                },
                AlgorithmReport {
                    label: "minhash_loose".into(),
                    signed: 99_990,
                    unsigned: counts(&[("no shingles", 10)]),
                    pairs: 8_000,
                    pairs_written: 8_000,
                    clusters: 3_000,
                    clustered: 7_000,
                    largest_cluster: 40,
                    left_out: 5,
                    notes: vec!["a table scheme".into()],
                    relations: Some(RelationsReport {
                        version: 1,
                        contained: 2,
                        template: 5_000,
                        ..Default::default()
                    }),
                    ..Default::default()
                },
            ],
            removal: Some(RemovalReport {
                decide: "any".into(),
                keep: "length desc, doc asc".into(),
                removed: 5_750,
                kept: 94_250,
                reasons: counts(&[("pair", 5_750)]),
                remove_if: "contained:0.8:0.9".into(),
                stays: counts(&[("different numbers", 200), ("unique text", 1_300)]),
                ..RemovalReport::default()
            }),
            seconds: 12.34,
            cpu_seconds: 24.0,
            peak_memory_bytes: 200 << 20,
            ..RunReport::default()
        }
    }

    #[test]
    fn a_run_in_full() {
        expect![[r#"
            100,000 documents in 2 files: 94,250 kept, 5,750 removed (pair 5,750)
            314 exact copies beyond the first of each text; no rows rejected
            kept by length desc, doc asc; decided by any; removed if contained:0.8:0.9
            1,500 documents stay beside a kept partner (different numbers 200, unique text 1,300)
            12.3 s for 104.9 MB of text: 8.5 MB/s, 24.0 CPU seconds, 200.0 MiB of memory at the peak

             algorithm        signed   unsigned       pairs   clusters   in them   largest   left out
            ------------------------------------------------------------------------------------------
             exact           100,000          0   1,234,567        200     1,950     1,500          0
             minhash_loose    99,990         10       8,000      3,000     7,000        40          5

            exact: 1 group above --max-group; 12,000 of 1,234,567 pairs are written, those with the representative
            minhash_loose: documents without a signature (no shingles 10)
            minhash_loose: 1 version, 2 contained, 5,000 same template (different facts: kept, and in no cluster)
            minhash_loose: 5 comparisons left out by --max-candidates, so its pairs depend on the order of the documents
            minhash_loose: a table scheme

            output: out/mixed
            in Python: import polars as pl; pl.scan_parquet("out/mixed/pairs")
            to write the corpus without the removed documents: dupsift apply out/mixed --corpus keep
        "#]]
        .assert_eq(&summary(&report(), Path::new("out/mixed")));
    }

    #[test]
    fn what_a_night_met_is_told() {
        let told = |guests, generation| {
            let index = IndexReport { guests, generation, read_generation: 1, ..IndexReport::default() };
            summary(&RunReport { index: Some(index), ..report() }, Path::new("out"))
        };
        assert!(told(823, 2).contains("\n823 documents of earlier nights took part; pairs"));
        assert!(told(1, 1).contains("\n1 document of the reference took part; pairs"));
        assert!(!told(0, 2).contains("took part"));
    }

    #[test]
    fn no_loss_is_silent() {
        let mut report = report();
        report.documents.rejections.add(RejectReason::NotUtf8, 12);
        report.ids.missing = 3;
        report.ids.note = Some("written as text".into());
        report.removal.as_mut().expect("a removal").left_out = 9;
        report.warnings.push("4 ids stood before".into());
        let sentence = "more than half of a.parquet is removed".into();
        report.guards.push(GuardReport { sentence, ..GuardReport::default() });
        report.bad_inputs.push(BadInputReport { file: "b.parquet".into(), why: "truncated".into() });
        report.algorithms[0].flagged.insert("long".into(), 2);
        report.algorithms[0].expected_chance_collisions = Some(2.4);
        let text = summary(&report, Path::new("out"));
        for told in [
            "12 rows rejected: 12 not UTF-8; see rejected/",
            "ids: 3 rows without one, named FILE#ROW",
            "ids: written as text",
            "removal: 9 comparisons with kept documents left out by --max-candidates, so what is removed depends on the order",
            "warning: 4 ids stood before",
            "guard: more than half of a.parquet is removed",
            "set aside: b.parquet: truncated",
            "exact: documents to know about (long 2)",
            "exact: about 2 pairs by chance expected",
        ] {
            assert!(text.contains(told), "{told} is missing in\n{text}");
        }
    }

    #[test]
    fn an_empty_run_has_a_summary() {
        let none = RunReport { removal: Some(RemovalReport::default()), ..RunReport::default() };
        let text = summary(&none, Path::new("out"));
        assert!(text.starts_with("0 documents in 0 files: 0 kept, 0 removed\n"), "{text}");
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }
}
