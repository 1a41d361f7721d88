//! Builds the record of a run, including warnings, from the results of the stages.

use super::removals::Removals;
use crate::classes::Classes;
use crate::engine::{StageReport, now};
use crate::job::check::address_note;
use crate::job::decide::decided::Decided;
use crate::job::read::intake::Taken;
use crate::job::run_report::{
    AlgorithmReport, DocumentsReport, IdsReport, InputReport, RecipeReport, RelationsReport, RemovalReport, RunReport,
    SCHEMA_VERSION, StatisticsReport,
};
use crate::options::record;
use crate::reading::input_notes;
use crate::reading::inputs::notes;
use crate::reading::losses::Losses;
use crate::reading::purified;
use crate::session::Session;
use crate::session::content_hashes;
use dupsift_algorithms::corpus::CorpusStats;
use dupsift_algorithms::recipe::remove_if::MOST_LOOKED_AT;
use dupsift_algorithms::steps::guard::{corpus_note, template_note};
use dupsift_algorithms::steps::parts::{Amount, LENGTHS, PartReport, Parts, PartsReport};
use dupsift_core::number::{counted, counted_as, thousands};
use dupsift_input::{absolute, likely_id};
use dupsift_publish::DASH;
use std::path::Path;

/// Returns the report on removed documents.
pub(crate) fn removal(session: &Session<'_>, taken: &Taken, removals: &Removals, decided: &Decided) -> RemovalReport {
    let options = session.options;
    RemovalReport {
        decide: options.removal.decide.to_string(),
        keep: options.removal.keep.to_string(),
        keep_columns: taken.columns.keep.compared_as(),
        removed: removals.removed,
        kept: taken.used - removals.removed.min(taken.used),
        reasons: removals.reasons.clone(),
        near_duplicates: decided.near_duplicates,
        of_templates: decided.of_templates,
        left_out: decided.left_out,
        remove_if: options.removal.remove_if.to_string(),
        stays: decided.stays.clone(),
        not_looked_at: decided.not_looked_at,
        copied_bytes: removals.copied_bytes,
    }
}

/// Returns the complete record.
pub(crate) fn report(
    session: &Session<'_>,
    taken: &Taken,
    copies: &Classes,
    stats: &CorpusStats,
    algorithms: Vec<AlgorithmReport>,
    removal: Option<RemovalReport>,
    removals: &Removals,
    losses: &Losses<'_>,
) -> RunReport {
    let options = session.options;
    let (seconds, cpu_seconds, peak_memory_bytes) = session.engine.clock.totals();
    let ids_named = taken.ids_named(session);
    let (id_type, id_note) = ids_named.id_type();
    let others = [&*options.columns.id_column, &*options.columns.text_column];
    let likely_column = match ids_named.kinds.is_empty() && ids_named.nulls > 0 && !options.columns.id_required {
        true => likely_id(&session.source.files[session.indexed_files()..], &others),
        false => None,
    };
    let mut report = RunReport {
        schema_version: SCHEMA_VERSION,
        dupsift: env!("CARGO_PKG_VERSION").to_string(),
        started: session.engine.clock.began().to_owned(),
        ended: now(),
        host: sysinfo::System::host_name().unwrap_or_default(),
        command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        folder: std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned(),
        purified: purified::report(session),
        segmented_characters: session.segmented.load(std::sync::atomic::Ordering::Relaxed),
        recipe: recipe(session),
        options: record(options),
        input_paths: options.input.paths.iter().map(|input| absolute_input(&options.input.folder, input)).collect(),
        inputs: inputs(session, taken, removals),
        bad_inputs: losses.bad_inputs(),
        other_inputs: losses.other_inputs(),
        unread: session.source.unread.by_ending().clone(),
        skipped_folders: session.source.unread.skipped_folders(),
        downloads: session.source.downloads.clone(),
        documents: documents(session, taken, copies),
        lost_values: taken.lost_values(),
        ids: IdsReport {
            written_as: format!("{id_type:?}"),
            note: id_note,
            likely_column,
            missing: ids_named.nulls,
            duplicates: taken.duplicate_ids,
        },
        statistics: options.recipe.needs_stats().any().then(|| statistics(stats)),
        algorithms,
        parts: Some(parts(&taken.parts, &removals.parts)),
        removal,
        stages: session.engine.clock.stages(),
        seconds,
        cpu_seconds,
        peak_memory_bytes,
        ..RunReport::default()
    };
    for one in &mut report.algorithms {
        let own = |stage: &&StageReport| stage.stage.split_once(' ').is_some_and(|(_, label)| label == one.label);
        one.pair_cpu_seconds = report.stages.iter().filter(own).map(|stage| stage.cpu_seconds).sum();
    }
    report.warnings = notes(session, losses.bad);
    report.warnings.extend(input_notes::other_encoding(session, &report.documents.rejections));
    report.warnings.extend(report.lost_values.warnings());
    report.warnings.extend(ids_named.warning());
    let keep = options.removal.keep.notes();
    keep.iter().for_each(|note| tracing::warn!("{note}"));
    report.warnings.extend(keep);
    report.warnings.extend(taken.columns.keep.warnings().iter().cloned());
    report.warnings.extend(address_note(options));
    report.warnings.extend(warnings(&report));
    report
}

/// Returns document counts by script and length, for all documents and for removed documents.
fn parts(all: &Parts, removed: &Parts) -> PartsReport {
    let part =
        |name: String, (all, removed): (&Amount, &Amount)| PartReport { part: name, all: *all, removed: *removed };
    let script = |name: &str| part(name.to_owned(), (&all.of_script(name), &removed.of_script(name)));
    let lengths = all.by_length.iter().zip(&removed.by_length).zip(LENGTHS);
    PartsReport {
        by_script: all.scripts().into_iter().map(script).collect(),
        by_length: lengths.map(|(amounts, least)| part(least.to_string(), amounts)).collect(),
    }
}

/// Returns the absolute path of an input that is relative to a folder. Standard input has no path.
fn absolute_input(folder: &Path, input: &str) -> String {
    match input {
        DASH => input.to_owned(),
        input => absolute(&folder.join(input)).to_string_lossy().into_owned(),
    }
}

fn recipe(session: &Session<'_>) -> RecipeReport {
    let recipe = &session.options.recipe;
    RecipeReport {
        algorithms: recipe.algorithms.iter().map(ToString::to_string).collect(),
        text: session.pipeline.identity(),
        count_copies: recipe.count_copies,
        identity: session.options.identity(session.pipeline, session.has_pages()),
    }
}

fn documents(session: &Session<'_>, taken: &Taken, copies: &Classes) -> DocumentsReport {
    DocumentsReport {
        rows: session.rows_read(),
        sampled_from: session.sample.map(|_| session.rows()),
        used: taken.used,
        rejections: taken.rejected.report(),
        extra_copies: copies.extra_copies(),
        with_unread_parts: taken.with_unread_parts,
        without_words: taken.without_words,
        text_bytes: taken.text_bytes,
        unpacked_bytes: session.source.unpacked_bytes(),
    }
}

fn inputs(session: &Session<'_>, taken: &Taken, removals: &Removals) -> Vec<InputReport> {
    let indexed = session.indexed_files();
    // On a cluster, each task reads only part of a file, so no hash of the whole file is recorded.
    let contents = |at: usize| taken.contents.get(at - indexed).map(content_hashes::word);
    let files = session.source.files.iter().enumerate().skip(indexed);
    let input = files.map(|(at, file)| InputReport {
        file: file.label.clone(),
        path: file.recorded_path(),
        rows: file.rows,
        bytes: file.bytes,
        stamp: file.seen().to_string(),
        etag: file.staged.as_ref().and_then(|staged| staged.etag.clone()),
        version: file.staged.as_ref().and_then(|staged| staged.version.clone()),
        contents: contents(at),
        encoding: file.coding.guessed.then(|| file.coding.encoding.to_string()),
        not_copied: !file.can_be_copied(),
        removed: removals.by_file.get(at).copied().unwrap_or_default(),
        seen: removals.seen_by_file.get(at).copied().unwrap_or_default(),
        rejected: 0,
    });
    input.collect()
}

fn statistics(stats: &CorpusStats) -> StatisticsReport {
    StatisticsReport {
        documents: stats.documents(),
        tokens: stats.tokens(),
        words: stats.words.len() as u64,
        repeated_features: stats.features.len() as u64,
        snapshot: format!("{:016x}", stats.snapshot()),
    }
}

fn warnings(report: &RunReport) -> Vec<String> {
    let mut warnings = Vec::new();
    if report.ids.duplicates > 0 {
        warnings.push(format!(
            "{rows_have} the same id as an earlier row: removing by id would also remove kept documents with the same id; use the row number (doc) in removed/, clusters/ and pairs/",
            rows_have = counted_as(report.ids.duplicates, "row has|rows have")
        ));
    }
    for one in &report.algorithms {
        if one.left_out > 0 {
            warnings.push(format!(
                "{}: {comparisons_were} skipped in large groups{effect}; raise `max-candidates` to include them",
                one.label,
                comparisons_were = counted_as(one.left_out, "comparison was|comparisons were"),
                // Skipped pairs are not considered in the search for the next-best document.
                effect = if one.relations.is_some() {
                    ", so pages with the same template may count as versions and be removed"
                } else {
                    ""
                }
            ));
        }
        if one.left_out_of_large_groups > 0 {
            warnings.push(format!(
                "{}: {comparisons_were} skipped in large groups of similar documents, such as pages with the same template; each document is compared only with the nearest documents in its group",
                one.label,
                comparisons_were = counted_as(one.left_out_of_large_groups, "comparison was|comparisons were"),
            ));
        }
        if let Some(RelationsReport { version, contained, template, other_titles, .. }) = one.relations {
            let pairs = version + contained + template;
            warnings.extend(corpus_note(&one.label, template + other_titles, pairs, report.documents.used));
        }
        if one.undecided > 0 {
            warnings.push(format!(
                "{}: {pairs_were} not checked, because the texts are too long to compare; these pairs are not written",
                one.label,
                pairs_were = counted_as(one.undecided, "pair was|pairs were")
            ));
        }
        if one.large_groups > 0 {
            warnings.push(format!(
                "{}: {groups_have} more texts than `max-group` allows; only the pairs with the representative are written (found: {}, written: {})", one.label, counted(one.pairs, "pair"), thousands(one.pairs_written), groups_have = counted_as(one.large_groups, "group has|groups have")));
        }
    }
    let Some(removal) = &report.removal else { return warnings };
    if removal.not_looked_at > 0 {
        warnings.push(format!(
            "each kept document was compared only with the {MOST_LOOKED_AT} most similar kept documents; {comparisons_were} skipped",
            comparisons_were = counted_as(removal.not_looked_at, "comparison was|comparisons were")
        ));
    }
    if let Some(note) = template_note(removal.of_templates, removal.near_duplicates) {
        let is_guarded = report.guards.iter().any(|guard| guard.name == "max-template-share");
        warnings.extend(Some(note).filter(|_| !is_guarded));
    }
    if removal.left_out > 0 {
        let skipped =
            counted_as(removal.left_out, "comparison with a kept document was|comparisons with kept documents were");
        warnings.push(format!("{skipped} skipped while deciding which documents to remove"));
    }
    warnings
}
