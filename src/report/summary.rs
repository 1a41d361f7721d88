//! Formats the summary at the end of a run: what happened to the documents, what each algorithm found, warnings, and how to read the
//! result.
//!
//! The same record gives the same text; only times, rates and memory differ between two identical runs.

use std::collections::BTreeMap;
use std::path::Path;

use bytesize::ByteSize;

use super::losses::{guard, held, skipped};
use super::purified::purified;
use super::tables::table_of_numbers_without;
use super::{counted, other_inputs, rejections_of, thousands};
use dupsift_core::number::counted_as;
use dupsift_engine::job::{AlgorithmReport, CorpusReport, CutReport, FolderReport, Guarded, RunReport, stands_in};
use dupsift_study::{Applicable, AppliedReport, WholeCorpus, applicable};
use dupsift_tables::{REPRESENTATIVE, RejectReason};

/// Selects how detailed a summary is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Five lines, and one additional line for each kind of loss.
    Short,
    /// The short summary, followed by the rules, a table of the algorithms, and all notes.
    Full,
}

impl Detail {
    /// Returns the level of detail that corresponds to `--verbose`.
    pub fn verbose(verbose: bool) -> Detail {
        if verbose { Detail::Full } else { Detail::Short }
    }
}

/// The maximum width of a line in columns, except for long paths.
const COLUMNS: usize = 80;

/// Returns the summary of a run whose output is in `out`. The text ends with a line break.
pub fn summary(report: &RunReport, out: &Path, detail: Detail) -> String {
    let mut lines = result(report);
    lines.extend(losses(report));
    lines.push(cost(report));
    let mut text = lines.join("\n") + "\n";
    text += &held(report, out);
    let folder = stands_in(report, out);
    let has_page = report.options.get("no-report") != Some(&true.into());
    let see = match (report.warnings.len() as u64, has_page) {
        (0, true) => " (see report.html)".to_owned(),
        (0, false) => String::new(),
        (warnings, true) => format!(" ({}: see report.html)", counted(warnings, "warning")),
        (warnings, false) => format!(" ({}: see run.json)", counted(warnings, "warning")),
    };
    text += &format!("output: {}{see}\n", folder.display());
    text += &next(report, out);
    if detail == Detail::Full {
        text += &details(report, &folder);
    }
    text
}

/// Returns the output of a dry run on a sample: the counts of the sample, and estimates of the removed share and the time for the
/// complete corpus. The estimated time is proportional to the number of documents. It does not include the report and the cleaned corpus,
/// which a dry run does not write.
pub fn estimated(report: &RunReport) -> String {
    let mut lines = result(report);
    lines.extend(losses(report));
    let text = lines.join("\n") + "\n";
    let whole = WholeCorpus::of(report);
    text + &of_whole_corpus(&whole)
        + &format!("estimated time: {:.1} s ({:.1} s for the sample)\n", whole.seconds, report.seconds)
}

/// Returns the details that `-v` adds: the rules, the algorithms, the notes, and how to read the tables.
fn details(report: &RunReport, folder: &Path) -> String {
    let mut text = String::from("\n");
    if let Some(removal) = &report.removal {
        let per = match report.options.get("keep-per").and_then(|column| column.as_str()) {
            Some(column) => format!("; keep-per={column}"),
            None => String::new(),
        };
        let (keep, decide, rule) = (&removal.keep, &removal.decide, &removal.remove_if);
        text += &format!("options: keep={keep}{per}; decide={decide}; remove-if={rule}\n");
        text += &format!("removed{}\n", by_reason(&removal.reasons));
        if !removal.stays.is_empty() {
            text += &format!("similar but kept{}\n", by_reason(&removal.stays));
        }
    }
    text += &format!(
        "{}, not counting the first copy of each text\n",
        counted_as(report.documents.extra_copies, "exact copy|exact copies")
    );
    if !report.resumed.is_empty() {
        text += &format!("resumed from an earlier run: {}\n", report.resumed.join(", "));
    }
    text += &format!("{:.1} CPU seconds\n\n", report.cpu_seconds);
    text += &found(&report.algorithms);
    let notes = notes(report);
    if !notes.is_empty() {
        text += &format!("\n{}\n", notes.join("\n"));
    }
    // Uses the folder rather than its files, because the `algorithm` column comes from the folder names.
    let pairs = folder.join("pairs").display().to_string();
    text + &format!("\nin Python: import polars as pl; pl.scan_parquet({pairs:?})\n")
}

/// Returns the summary of a corpus that was written from a finished run into `out`. The text ends with a line break.
pub fn applied(report: &AppliedReport, out: &Path) -> String {
    let corpus = &report.corpus;
    let (rows, kept, removed) = (counted(corpus.rows, "row"), thousands(corpus.kept), thousands(corpus.removed));
    let rejected =
        if corpus.rejected > 0 { format!(", {} rejected", thousands(corpus.rejected)) } else { String::new() };
    let higher: Vec<String> =
        report.thresholds.iter().map(|(label, threshold)| format!("{label} >= {threshold}")).collect();
    let higher = if higher.is_empty() { String::new() } else { format!("; only pairs with {}", higher.join(", ")) };
    let rule = format!("options: remove-if={}{higher}", report.remove_if);
    format!(
        "{rows}: {kept} kept, {removed} removed{rejected}\n{rule}\n{}\noutput: {}\n",
        folders(corpus),
        out.display()
    )
}

/// Returns one line for each folder of the corpus that was written. Each line begins with a line break.
fn folders(corpus: &CorpusReport) -> String {
    let line = |(folder, written): (&String, &FolderReport)| {
        let (rows, files) = (counted(written.rows, "row"), counted(written.files, "file"));
        let whole =
            if written.whole > 0 { format!(", {} of them unchanged", thousands(written.whole)) } else { String::new() };
        format!("\n{folder}/: {rows} in {files}{whole}")
    };
    corpus.folders.iter().map(line).collect()
}

/// Returns the folders of the corpus that were written, or the command to write them.
fn next(report: &RunReport, out: &Path) -> String {
    if let Some(corpus) = &report.corpus {
        let one = |(folder, written): (&String, &FolderReport)| format!("{folder}/ {}", counted(written.rows, "row"));
        let folders: Vec<String> = corpus.folders.iter().map(one).collect();
        return format!("corpus: {}\n", folders.join(", "));
    }
    if report.documents.sampled_from.is_some() && report.removal.is_some() {
        return of_whole_corpus(&WholeCorpus::of(report));
    }
    if report.is_held() || applicable(report) == Applicable::Nothing {
        return String::new();
    }
    format!("next: dupsift apply {} --corpus keep\n", typed(out))
}

/// Returns a line with the estimate for the complete corpus.
fn of_whole_corpus(whole: &WholeCorpus) -> String {
    let error = if whole.is_rough() { "; the sample is too small for a better estimate" } else { "" };
    let [least, most] = whole.removed_share.map(|share| format!("{:.1}%", 100.0 * share));
    let shares = if least == most { least } else { format!("{least} to {most}") };
    format!("whole corpus: about {shares} would be removed{error}\n")
}

/// Quotes a path for the shell.
pub(super) fn typed(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+:,@%".contains(letter);
    if path.chars().all(is_plain) { path } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// Returns what happened to the documents.
fn result(report: &RunReport) -> Vec<String> {
    let files = counted(report.inputs.len() as u64, "file");
    let documents = match report.documents.sampled_from {
        None => format!("{} in {files}", counted(report.documents.used, "document")),
        Some(all) => format!("sample: {} of {} in {files}", thousands(report.documents.used), counted(all, "document")),
    };
    let mut lines = match &report.removal {
        None => vec![documents],
        Some(removal) => {
            let (kept, removed) = (thousands(removal.kept), thousands(removal.removed));
            let reasons = removal.reasons.iter().map(|(reason, &count)| removed_as(reason, count));
            let reasons = reasons.collect::<Vec<_>>().join(", ");
            let stay = thousands(removal.kept_similar());
            let reasons = if reasons.is_empty() { "none".to_owned() } else { reasons };
            let mut lines = vec![format!("{documents}: {kept} kept, {removed} removed")];
            if removal.removed > 0 || !removal.stays.is_empty() {
                lines.push(fitting(&format!("removed: {reasons}"), &format!("; similar but kept: {stay}")));
            }
            lines
        }
    };
    lines.extend(encodings(report));
    lines.extend(report.cut.as_ref().map(cut));
    lines.extend(met(report));
    lines
}

/// Returns the two parts as one line, or as two lines if they do not fit on one.
fn fitting(first: &str, second: &str) -> String {
    if first.chars().count() + second.chars().count() <= COLUMNS {
        return format!("{first}{second}");
    }
    format!("{first}\n{}", second.trim_start_matches("; "))
}

/// Describes how many documents were removed for one of the reasons that occur in the `removed` table.
fn removed_as(reason: &str, count: u64) -> String {
    match reason {
        "copy" => counted_as(count, "exact copy|exact copies"),
        "pair" => counted(count, "near-duplicate"),
        "seen" => counted_as(count, "seen before|seen before"),
        REPRESENTATIVE => counted_as(count, "original|originals"),
        other => format!("{} {other}", thousands(count)),
    }
}

/// The maximum number of skipped files that are listed.
const MOST_SKIPPED: usize = 3;

/// Returns the number of comparisons that limits skipped. The details say which limits.
fn limited(report: &RunReport) -> Option<String> {
    let of_pairs = report.algorithms.iter().map(|one| one.left_out + one.left_out_of_large_groups + one.undecided);
    let of_removal = report.removal.as_ref().map_or(0, |removal| removal.left_out + removal.not_looked_at);
    let skipped = of_pairs.sum::<u64>() + of_removal;
    let comparisons = counted(skipped, "comparison");
    (skipped > 0).then(|| format!("{comparisons} skipped because of a limit; duplicates may be missing"))
}

/// Returns a line for each kind of loss: rejected rows, skipped comparisons, generated ids, skipped files, losses in other inputs, and guards that fired.
fn losses(report: &RunReport) -> Vec<String> {
    let mut lines = Vec::new();
    if report.documents.rejections.rows > 0 || report.lost_of_others() {
        lines.push(rejections_of(&report.documents.rejections, report));
    }
    if report.documents.rejections.reasons.contains_key(RejectReason::NotUtf8.text()) {
        lines.push("help: `encoding=auto` detects the encoding of each file".to_owned());
    }
    lines.extend(report.documents.remarks());
    lines.extend(limited(report));
    if let Some(column) = &report.ids.likely_column {
        lines.push(format!("ids are FILE#ROW; `id-column={column}` uses the column {column:?} instead"));
    }
    lines.extend(skipped(&report.bad_inputs, MOST_SKIPPED));
    lines.extend(other_inputs(report));
    match report.accepted {
        Some(_) => lines.extend(report.guards.iter().map(|fired| format!("guard: {}", fired.sentence))),
        None => lines.extend(report.guards.iter().map(guard)),
    }
    lines
}

/// Returns the time, the rate and the memory of a run.
fn cost(report: &RunReport) -> String {
    format!(
        "{:.1} s for {:.1} MB of text: {:.1} MB/s{}",
        report.seconds,
        report.documents.megabytes(),
        report.megabytes_per_second(),
        peak_memory(report.peak_memory_bytes)
    )
}

/// Returns the end of a line about the cost of a run; nothing if the system does not report the memory of a process.
pub(super) fn peak_memory(bytes: u64) -> String {
    if bytes == 0 { String::new() } else { format!(", {} peak memory", ByteSize(bytes).display().iec()) }
}

/// Returns counts of the repeated passages that were found. These passages are removed only from the corpus in `deduped/`.
fn cut(found: &CutReport) -> String {
    let share = 100.0 * found.share();
    if found.passages == 0 && found.without_blank_lines > 0 {
        let lines = counted_as(found.without_blank_lines, "document has|documents have");
        return format!("0 repeated paragraphs; {lines} no blank lines: use --cut lines");
    }
    let passages = counted_as(found.passages, "repeated passage|repeated passages");
    let emptied = match found.emptied {
        0 => String::new(),
        emptied => format!("; {} removed because too little text remains", counted(emptied, "document")),
    };
    format!("{passages} in {}: {share:.1}% of the kept text{emptied}", counted(found.documents, "document"))
}

fn found(algorithms: &[AlgorithmReport]) -> String {
    let header = ["algorithm", "signed", "unsigned", "pairs", "clusters", "in them", "largest", "left out"];
    let rows = algorithms.iter().map(|one| {
        let unsigned = one.without_signature();
        let numbers = [one.signed, unsigned, one.pairs, one.clusters, one.clustered, one.largest_cluster, one.left_out];
        let [signed, unsigned, pairs, clusters, clustered, largest, left_out] = numbers.map(thousands);
        [one.label.clone(), signed, unsigned, pairs, clusters, clustered, largest, left_out]
    });
    table_of_numbers_without(header, rows, &["unsigned", "left out"])
}

/// Returns the number of files that were read in each detected encoding, most frequent encoding first.
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

/// Returns the remarks for the page: everything that was skipped, and all notes.
pub(super) fn remarks(report: &RunReport) -> Vec<String> {
    let mut remarks: Vec<String> = met(report).into_iter().chain(encodings(report)).collect();
    remarks.extend(notes(report));
    remarks.extend(losses(report));
    remarks
}

/// Returns all notes except notes about lost rows or files.
fn notes(report: &RunReport) -> Vec<String> {
    let mut remarks: Vec<String> = Vec::new();
    remarks.extend(report.purified.iter().flat_map(purified));
    for one in &report.algorithms {
        let label = &one.label;
        if !one.unsigned.is_empty() {
            remarks.push(format!("{label}: documents without a signature{}", by_reason(&one.unsigned)));
        }
        if !one.flagged.is_empty() {
            remarks.push(format!("{label}: unusual documents{}", by_reason(&one.flagged)));
        }
        remarks.extend(relations(one));
        if one.large_groups > 0 {
            remarks.push(format!(
                "{label}: {groups} larger than --max-group; {written} of {pairs} written (only pairs with the representative)",
                groups = counted(one.large_groups, "group"),
                written = thousands(one.pairs_written),
                pairs = counted(one.pairs, "pair")
            ));
        }
        if one.left_out > 0 {
            remarks.push(format!("{label}: {}", left_out(one.left_out)));
        }
        if one.undecided > 0 {
            let undecided = counted(one.undecided, "pair");
            remarks.push(format!("{label}: {undecided} undecided, because the texts are too long to compare"));
        }
        if let Some(expected) = one.expected_chance_collisions.filter(|expected| *expected >= 1.0) {
            let expected = counted(expected.round() as u64, "pair");
            remarks.push(format!("{label}: about {expected} expected by chance, given the width of the signature"));
        }
        remarks.extend(one.notes.iter().map(|note| format!("{label}: {note}")));
    }
    if let Some(removal) = report.removal.as_ref().filter(|removal| removal.left_out > 0) {
        let skipped =
            counted_as(removal.left_out, "comparison with a kept document was|comparisons with kept documents were");
        remarks.push(format!(
            "removal: {skipped} skipped because of --max-candidates, so the result depends on the order of the documents"
        ));
    }
    // The note on ids may already mention missing ids.
    if report.ids.missing > 0 && !report.ids.note.as_ref().is_some_and(|note| note.contains("FILE#ROW")) {
        remarks.push(format!(
            "ids: {} named FILE#ROW",
            counted_as(report.ids.missing, "row without an id is|rows without an id are")
        ));
    }
    // If a column probably contains ids, the summary has a separate line about this column.
    let note = report.ids.note.iter().filter(|_| report.ids.likely_column.is_none());
    remarks.extend(note.map(|note| format!("ids: {note}")));
    remarks.extend(report.warnings.iter().map(|warning| format!("warning: {warning}")));
    remarks.extend(report.accepted.iter().map(|accepted| {
        let reason = accepted.reason.as_deref().unwrap_or("no reason given");
        format!("guard: the result was held back and then accepted at {}: {reason}", accepted.time)
    }));
    remarks
}

/// Returns a line with the number of indexed documents that took part in an incremental run.
fn met(report: &RunReport) -> Option<String> {
    let index = report.index.as_ref()?;
    let joined = counted(index.indexed, "document");
    match () {
        () if index.indexed == 0 => None,
        () if index.generation == index.read_generation => Some(format!("{joined} from the reference matched")),
        () => {
            Some(format!("{} matched; indexed documents are never removed", counted(index.indexed, "indexed document")))
        }
    }
}

/// Returns notes on the relations of an algorithm's pairs.
fn relations(one: &AlgorithmReport) -> Vec<String> {
    let (label, mut remarks) = (&one.label, Vec::new());
    if let Some(told) = one.relations.filter(|told| told.template > 0) {
        remarks.push(format!(
            "{label}: {}, {}, {} (both documents kept)",
            counted_as(told.version, "pair of versions|pairs of versions"),
            counted_as(
                told.contained,
                "pair in which one document contains the other|pairs in which one document contains the other"
            ),
            counted_as(told.template, "pair that shares a template|pairs that share a template")
        ));
    }
    if let Some(told) = one.relations.filter(|told| told.other_titles > 0) {
        let pairs = counted(told.other_titles, "pair");
        remarks.push(format!(
            "{label}: in {pairs}, both documents were kept because their titles, code or labels refer to different things (other_title in pairs/)"
        ));
    }
    if let Some(told) = one.relations.filter(|told| told.cut_short > 0) {
        let short = counted(told.cut_short, "pair");
        remarks.push(format!("{label}: for {short}, only part of a large group was searched for the next-best match"));
    }
    remarks
}

/// Returns a line about the comparisons that `--max-candidates` skipped and the consequences of skipping them.
pub(super) fn left_out(comparisons: u64) -> String {
    let comparisons = counted(comparisons, "comparison");
    format!("{comparisons} skipped because of --max-candidates, so the pairs depend on the order of the documents")
}

/// Formats reasons as ` (no words 10, too short 2)`. Returns an empty string if there are no reasons.
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
    use dupsift_index::IndexReport;

    #[test]
    fn a_small_sample_says_so() {
        let told = of_whole_corpus(&WholeCorpus::of(&RunReport::default()));
        assert!(told.contains("about 0.0% would be removed; the sample is too small"), "{told}");
    }

    fn report() -> RunReport {
        let counts = |entries: &[(&str, u64)]| entries.iter().map(|(name, count)| (name.to_string(), *count)).collect();
        RunReport {
            inputs: vec![InputReport::default(), InputReport::default()],
            folder: "/data".into(),
            options: [("algorithms".to_owned(), "exact,minhash:as=minhash_loose".into())].into(),
            documents: DocumentsReport {
                rows: 100_012,
                used: 100_000,
                extra_copies: 314,
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

    fn without_limits() -> RunReport {
        let mut report = report();
        report.algorithms[1].left_out = 0;
        report
    }

    #[test]
    fn memory_that_the_system_does_not_report_is_not_mentioned() {
        let report = RunReport { peak_memory_bytes: 0, ..report() };
        assert_eq!(cost(&report), "12.3 s for 104.9 MB of text: 8.5 MB/s");
    }

    #[test]
    fn a_run_in_full() {
        expect![[r#"
            100,000 documents in 2 files: 94,250 kept, 5,750 removed
            removed: 5,750 near-duplicates; similar but kept: 1,500
            5 comparisons skipped because of a limit; duplicates may be missing
            12.3 s for 104.9 MB of text: 8.5 MB/s, 200.0 MiB peak memory
            output: out/mixed (see report.html)
            next: dupsift apply out/mixed --corpus keep

            options: keep=length desc, doc asc; decide=any; remove-if=contained:0.8:0.9
            removed (pair 5,750)
            similar but kept (different numbers 200, unique text 1,300)
            314 exact copies, not counting the first copy of each text
            24.0 CPU seconds

             algorithm        signed   unsigned       pairs   clusters   in them   largest   left out
            ------------------------------------------------------------------------------------------
             exact           100,000          0   1,234,567        200     1,950     1,500          0
             minhash_loose    99,990         10       8,000      3,000     7,000        40          5

            exact: 1 group larger than --max-group; 12,000 of 1,234,567 pairs written (only pairs with the representative)
            minhash_loose: documents without a signature (no shingles 10)
            minhash_loose: 1 pair of versions, 2 pairs in which one document contains the other, 5,000 pairs that share a template (both documents kept)
            minhash_loose: 5 comparisons skipped because of --max-candidates, so the pairs depend on the order of the documents
            minhash_loose: a table scheme

            in Python: import polars as pl; pl.scan_parquet("out/mixed/pairs")
        "#]].assert_eq(&summary(&report(), Path::new("out/mixed"), Detail::Full));
    }

    #[test]
    fn the_short_summary_has_five_lines_of_80_columns() {
        let [told, full] =
            [Detail::Short, Detail::Full].map(|detail| summary(&without_limits(), Path::new("out/mixed"), detail));
        assert!(full.starts_with(&format!("{told}\n")), "{full}");
        assert_eq!(told.lines().count(), 5, "{told}");
        let mut large = without_limits();
        large.documents.used = 7_700_000;
        let removal = large.removal.as_mut().expect("a removal");
        (removal.kept, removal.removed) = (5_700_000, 2_000_000);
        removal.reasons = [("copy".to_owned(), 1_000_000), ("pair".to_owned(), 1_000_000)].into();
        (large.seconds, large.documents.text_bytes) = (36_000.0, 20_000_000_000);
        let told = summary(&large, Path::new("out/mixed"), Detail::Short);
        assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
        assert_eq!(told.lines().count(), 6, "{told}");
    }

    #[test]
    fn a_detected_encoding_is_in_the_short_summary() {
        let mut report = report();
        report.inputs[1].encoding = Some("gb18030".into());
        for detail in [Detail::Short, Detail::Full] {
            let told = summary(&report, Path::new("out"), detail);
            assert_eq!(told.matches("\nencodings found: 1 file gb18030\n").count(), 1, "{told}");
        }
    }

    #[test]
    fn skipped_files_are_named_and_the_rest_is_counted() {
        let bad = |name: &str| BadInputReport { file: name.into(), why: "truncated".into() };
        let report = RunReport { bad_inputs: ["a", "b", "c", "d", "e"].map(bad).into(), ..report() };
        let told = summary(&report, Path::new("out"), Detail::Short);
        assert!(
            told.contains("\nskipped: c: truncated\nskipped: 2 more files; see bad_inputs in run.json\n"),
            "{told}"
        );
    }

    #[test]
    fn matching_indexed_documents_are_counted() {
        let told = |indexed, generation| {
            let index = IndexReport { indexed, generation, read_generation: 1, ..IndexReport::default() };
            summary(&RunReport { index: Some(index), ..report() }, Path::new("out"), Detail::Short)
        };
        assert!(told(823, 2).contains("\n823 indexed documents matched; indexed documents are never removed\n"));
        assert!(told(1, 1).contains("\n1 document from the reference matched\n"));
        assert!(!told(0, 2).contains("matched"));
    }

    #[test]
    fn no_loss_is_silent() {
        let mut report = report();
        report.documents.rejections.add(RejectReason::NotUtf8, 12);
        report.ids.missing = 3;
        report.ids.note = Some("written as text".into());
        report.removal.as_mut().expect("a removal").left_out = 9;
        report.algorithms[0].left_out_of_large_groups = 7;
        report.warnings.push("4 ids stood before".into());
        let sentence = "more than half of a.parquet is removed".into();
        report.guards.push(GuardReport { sentence, ..GuardReport::default() });
        report.bad_inputs.push(BadInputReport { file: "b.parquet".into(), why: "truncated".into() });
        report.algorithms[0].flagged.insert("long".into(), 2);
        report.algorithms[0].expected_chance_collisions = Some(2.4);
        let text = summary(&report, Path::new("out"), Detail::Full);
        let short = summary(&report, Path::new("out"), Detail::Short);
        for told in [
            "12 rows rejected: 12 not UTF-8; see rejected/\nhelp: `encoding=auto` detects the encoding of each file\n",
            "guard: more than half of a.parquet is removed\n",
            "skipped: b.parquet: truncated\n",
            "21 comparisons skipped because of a limit; duplicates may be missing\n",
            "output: out (1 warning: see report.html)\n",
        ] {
            assert!(short.contains(told), "{told} is missing in\n{short}");
        }
        for told in [
            "12 rows rejected: 12 not UTF-8; see rejected/",
            "ids: 3 rows without an id are named FILE#ROW",
            "ids: written as text",
            "removal: 9 comparisons with kept documents were skipped because of --max-candidates",
            "warning: 4 ids stood before",
            "guard: more than half of a.parquet is removed",
            "skipped: b.parquet: truncated",
            "exact: unusual documents (long 2)",
            "exact: about 2 pairs expected by chance",
        ] {
            assert!(text.contains(told), "{told} is missing in\n{text}");
        }
    }

    #[test]
    fn an_empty_run_has_a_summary() {
        let none = RunReport { removal: Some(RemovalReport::default()), ..RunReport::default() };
        let text = summary(&none, Path::new("out"), Detail::Full);
        assert!(text.starts_with("0 documents in 0 files: 0 kept, 0 removed\n"), "{text}");
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }
}
