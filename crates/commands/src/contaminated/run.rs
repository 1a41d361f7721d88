//! Runs a contamination search.

use std::sync::atomic::AtomicBool;

use super::fates::Fates;
use super::places::Places;
use super::reference::{self, Against};
use super::report::{ContaminationReport, PUBLIC_ITEMS};
use super::search::{Searched, search};
use super::verdicts::Verdicts;
use super::{Contaminated, write};
use dupsift_contamination::SHARED;
use dupsift_core::error::Result;
use dupsift_core::number::counted;
use dupsift_engine::pass::{
    GuardReport, Inputs, Losses, Progress, SCHEMA_VERSION, Session, carry_out, check_editing, guards, input_notes,
    notes, write_rejected,
};
use dupsift_publish::Stage;

/// Renders the report page from a record.
pub type Page<'p> = dyn Fn(&ContaminationReport) -> String + 'p;

/// Searches the documents of `inputs` for items.
pub(super) fn contaminated(
    options: &Contaminated,
    inputs: Inputs,
    against: &Against,
    progress: &Progress,
    cancel: &AtomicBool,
    page: Option<&Page<'_>>,
) -> Result<ContaminationReport> {
    carry_out(&options.run, inputs, progress, cancel, |session, stage, losses, _| {
        stage.spares(against.files())?;
        stage.reads(against.files());
        attempt(options, session, stage, losses, against, page)
    })
}

fn attempt(
    options: &Contaminated,
    session: &Session<'_>,
    stage: &Stage,
    losses: &Losses<'_>,
    against: &Against,
    page: Option<&Page<'_>>,
) -> Result<ContaminationReport> {
    if options.cut_spans {
        check_editing(session.options, session.source, "cut-spans")?;
    }
    let reference = reference::read(session, options, against)?;
    // The items use part of the memory reserved for rows.
    let _held = session.engine.memory.lend(reference.bytes as usize)?;
    let losses = &losses.clone().with(Some(&reference.losses));
    let searched = search(session, &reference)?;
    let verdicts = Verdicts::new(session, options, &reference, &searched)?;
    let places = Places::find(session, options, &searched, &verdicts)?;
    let fates = Fates::new(session, options, &places)?;
    write_rejected(session, stage, &searched.rejected, losses, &places.ids)?;
    let written = write::tables(session, stage, &reference, &verdicts, &places)?;
    let corpus = session.options.output.corpus.copies();
    let corpus = corpus.then(|| write::corpus(session, options, stage, &fates, &searched)).transpose()?;

    let Searched { rejected, documents, text_bytes, lost, .. } = &searched;
    let rejections = rejected.report();
    let mut report = ContaminationReport {
        schema_version: SCHEMA_VERSION,
        dupsift: env!("CARGO_PKG_VERSION").to_string(),
        against: options.against.clone(),
        ngram: options.ngram,
        threshold: options.threshold,
        cut_spans: options.cut_spans,
        text: session.pipeline.identity(),
        bad_inputs: losses.bad_inputs(),
        other_inputs: losses.other_inputs(),
        unread: session.source.unread.by_ending().clone(),
        skipped_folders: session.source.unread.skipped_folders(),
        rows: session.documents(),
        documents: *documents,
        text_bytes: *text_bytes,
        items: reference.known.len() as u64,
        item_bytes: reference.bytes,
        suites: written.suites,
        public_documents: options.public_documents,
        contaminated: fates.contaminated.count(),
        kept_public: fates.public,
        kept_variants: fates.variants,
        shared_items: written.shared,
        found: written.found,
        corpus,
        examples: written.examples,
        public: written.public,
        rejections,
        ..ContaminationReport::default()
    };
    report.warnings.extend(input_notes::other_encoding(session, &report.rejections));
    report.warnings.extend(lost.warnings());
    if report.shared_items > 0 {
        report.warnings.push(format!(
            "{} not searched for, because each is a part of more than {SHARED} other items",
            counted(report.shared_items, "item")
        ));
    }
    let too_short: u64 = report.suites.iter().map(|suite| suite.too_short).sum();
    if too_short > 0 && too_short == report.items {
        report.warnings.push(format!("all items are too short ({})", counted(report.items, "item")));
    }
    report.warnings.extend(notes(session, losses.bad));
    report.guards = guards::of_reading(session, stage, losses, report.documents, &report.rejections, None)?;
    report.guards.extend(public(&report));
    report.stages = session.engine.clock.stages();
    (report.seconds, report.cpu_seconds, report.peak_memory_bytes) = session.engine.clock.totals();
    if let Some(page) = page.filter(|_| session.options.output.report) {
        stage.write_bytes("report.html", page(&report).as_bytes())?;
    }
    Ok(report)
}

/// Returns the guard that fires if documents with public items are kept.
fn public(report: &ContaminationReport) -> Option<GuardReport> {
    let sentence = format!(
        "{} kept that contain a public item, neither with its answer nor with another item; an item is public above `public-documents={}`",
        counted(report.kept_public, "document"),
        report.public_documents
    );
    (report.kept_public > 0).then(|| {
        tracing::warn!("{sentence}");
        GuardReport {
            name: PUBLIC_ITEMS.to_owned(),
            measured: report.kept_public as f64,
            limit: report.public_documents as f64,
            sentence,
            held: false,
        }
    })
}
