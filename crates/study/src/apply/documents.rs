//! Reads the documents of a finished run again, for what its tables do not have: annotations of each row, the table of removals by another
//! rule, and the order of preference.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::deciding::DecidingPairs;
use super::own_tables::{REMOVED, cuts, removed};
use super::written_pairs::shown;
use crate::finished::Finished;
use dupsift_algorithms::steps::note;
use dupsift_core::error::Result;
use dupsift_engine::classes::Classes;
use dupsift_engine::job::decide::decided::{self, Decided};
use dupsift_engine::job::decide::last_pass;
use dupsift_engine::job::read::intake::Taken;
use dupsift_engine::job::read::keep::{KeepOrder, KeepRecorder};
use dupsift_engine::job::read::one_pass::note_again;
use dupsift_engine::job::run_report::CorpusReport;
use dupsift_engine::job::write::attributes::MarkSources;
use dupsift_engine::job::write::corpus_files;
use dupsift_engine::job::write::removals;
use dupsift_engine::reading::document::View;
use dupsift_engine::reading::ids::Ids;
use dupsift_engine::session::Session;
use dupsift_input::{RowFilter, Want};
use dupsift_publish::Stage;
use dupsift_spill::shuffle::AtomicBits;

/// Writes the parts that require reading the documents again: annotations for each row, and the removals according to a different rule.
pub(super) fn with_documents(
    session: &Session<'_>,
    finished: &Finished,
    stage: &Stage,
    pairs: &DecidingPairs,
    is_other: bool,
) -> Result<CorpusReport> {
    let (taken, copies) = note_again(session)?;
    let shown = Arc::new(shown(session.engine, session.documents(), &pairs.known)?);
    let decided = match is_other {
        true => pairs.decide(session, &taken.columns.keep, &shown)?,
        false => {
            let clusters = pairs.clusters(session, &taken.columns.keep, &shown)?;
            decided::decided_again(session, removed(session, finished)?, Some(clusters))?
        }
    };
    let cuts = cuts(session, finished, true)?;
    let ids = ids(session, &taken, &decided, shown)?;
    if is_other {
        write_removed(session, stage, &decided, (&copies, &taken), &ids)?;
    }
    let known = MarkSources { decided: &decided, taken: &taken, copies: &copies, ids: &ids, cuts: cuts.as_ref() };
    corpus_files::write(session, stage, known)
}

/// Reads the ids of the documents that are in pairs or removed, or the ids of all documents if each row is annotated.
fn ids<'s>(session: &Session<'s>, taken: &Taken, decided: &Decided, shown: Arc<AtomicBits>) -> Result<Ids<'s>> {
    decided::each(decided, session.engine.budget.a_thread, |doc, _| {
        shown.set(doc as usize);
        Ok(())
    })?;
    if session.options.output.corpus.annotate {
        (0..session.documents() as usize).for_each(|doc| _ = shown.set(doc));
    }
    last_pass::ids(session, &taken.ids_named(session), &shown)
}

fn write_removed(
    session: &Session<'_>,
    stage: &Stage,
    decided: &Decided,
    (copies, taken): (&Classes, &Taken),
    ids: &Ids<'_>,
) -> Result<()> {
    let running = session.engine.clock.stage("write removed/");
    stage.file(REMOVED)?;
    let part = |doc: u64| (taken.columns.shapes.load(doc as usize), taken.columns.keep.length(doc));
    let (removals, bytes) = removals::write(session, stage, decided, copies, ids, part)?;
    running.end(removals.removed, removals.removed, bytes);
    Ok(())
}

/// Reads the lengths and other columns of the documents in `shown`, and returns their order of preference. Columns are compared in the same
/// way as in the run.
pub(super) fn order(
    session: &Session<'_>,
    shown: &Arc<AtomicBits>,
    compared_as: &BTreeMap<String, String>,
) -> Result<KeepOrder> {
    let running = session.engine.clock.stage("read lengths");
    let (recorder, view, bits) = (KeepRecorder::new(session)?, View::first(session), shown.clone());
    let rows = RowFilter::Where(Arc::new(move |doc| bits.get(doc as usize)));
    let want = KeepRecorder::want(session, Want { rows: Some(rows), ..view.want() });
    session.read(
        "read lengths",
        &want,
        || Ok(Vec::new()),
        |lengths, batch| {
            let columns = view.columns(batch)?;
            lengths.clear();
            for row in 0..batch.len() {
                session.engine.go_on()?;
                let length = |text| note::length(&view.document(batch.doc(row), text, &columns, row));
                lengths.push(batch.text(row).text().map_or(0, length));
            }
            recorder.record(batch, lengths)
        },
        |_| Ok(()),
    )?;
    running.end(shown.count(), shown.count(), 0);
    recorder.finish_as(compared_as)
}
