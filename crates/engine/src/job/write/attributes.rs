//! Writes `attributes/`. The folder contains one file per input file, with a row of marks for each row of the input file.

use std::sync::{Mutex, PoisonError};

use crate::classes::Classes;
use crate::engine::numbers::Numbers;
use crate::job::decide::decided::{self, Decided, fate};
use crate::job::pair::components::Components;
use crate::job::read::intake::Taken;
use crate::job::run_report::FolderReport;
use crate::job::text_edits::TextEdits;
use crate::options::DUPLICATES;
use crate::reading::ids::Ids;
use crate::reading::rejected::Rejected;
use crate::reading::source_values::SourceValues;
use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_core::row::number;
use dupsift_publish::{Stage, TableWriter};
use dupsift_tables::{
    AttributeBuilder, AttributeExtras, AttributeRow, EMPTIED, IdRef, IdType, REASONS, RejectReason, attribute_schema,
};

/// Holds the marks of each document.
struct Marks {
    /// The number of the document that was kept instead of each document, plus one.
    kept: Numbers,
    /// The number that identifies the reason for each document's removal or rejection; 0 if the document is kept. The numbers from 1
    /// on refer to the entries of [`REASONS`], and the numbers after these refer to rejection codes.
    reasons: Numbers,
}

impl Marks {
    fn new(session: &Session<'_>, decided: &Decided, copies: &Classes, rejected: &Rejected) -> Result<Marks> {
        let documents = session.documents();
        let numbers = |name| Numbers::new(session.engine.dir, name, documents as usize, documents);
        let (mut kept, mut reasons) = (numbers("marks-kept")?, numbers("marks-reasons")?);
        let (mut kept_for, mut why) = (kept.slots(), reasons.slots());
        for partition in 0..decided.rows.partitions() {
            let records = decided.rows.load(partition, session.engine.budget.a_thread)?;
            for at in 0..records.len() {
                let (doc, partner, reason) = fate(session, records.row(at), copies);
                let number = REASONS.iter().position(|known| *known == reason).unwrap_or_default();
                kept_for.set(doc, partner + 1);
                why.set(doc, number as u64 + 1);
            }
        }
        rejected.each(session.engine, |doc, reason, _| {
            why.set(doc, (1 + REASONS.len()) as u64 + u64::from(reason.code()));
            Ok(())
        })?;
        Ok(Marks { kept, reasons })
    }

    /// Returns whether a document is removed, and the reason for its removal or rejection.
    fn of(&self, doc: u64) -> (Option<bool>, Option<&'static str>) {
        match self.reasons.get(doc) as usize {
            0 => (Some(false), None),
            number if number <= REASONS.len() => (Some(true), Some(REASONS[number - 1])),
            number => {
                let reason = RejectReason::of_code((number - 1 - REASONS.len()) as u8);
                (None, reason.map(RejectReason::text))
            }
        }
    }
}

/// Holds the data from which the marks are computed.
#[derive(Clone, Copy)]
pub struct MarkSources<'k> {
    /// The removal decisions.
    pub decided: &'k Decided,
    /// The data recorded about the rows.
    pub taken: &'k Taken,
    /// The exact copies.
    pub copies: &'k Classes,
    /// The ids of all documents.
    pub ids: &'k Ids<'k>,
    /// The passages cut from kept documents, if passages are cut.
    pub cuts: Option<&'k TextEdits>,
}

/// Holds the values of the columns that are added to the kept rows.
pub struct ClusterColumns<'c> {
    names: Vec<&'static str>,
    components: &'c Components,
    copies: &'c Classes,
    /// The number of sources in each cluster, by representative.
    sources: Option<Numbers>,
    /// The documents that each document replaces, and their ids, if they are added.
    replaced: Option<(Replaced, &'c Ids<'c>)>,
}

impl<'c> ClusterColumns<'c> {
    /// Returns the columns listed in the option `add`, or `None` if the list is empty.
    ///
    /// # Errors
    /// Returns an error if the disk is full or the run is interrupted.
    pub fn new(session: &Session<'_>, known: MarkSources<'c>) -> Result<Option<ClusterColumns<'c>>> {
        let (add, components) = (session.options.output.add, known.decided.components.as_ref());
        let Some(components) = components.filter(|_| !add.is_none()) else { return Ok(None) };
        let sources = match &known.taken.columns.sources {
            _ if !add.sources => None,
            Some(sources) => Some(in_clusters(session, sources, components)?),
            None => Some(files_in_clusters(session, components)?),
        };
        let replaced = add.duplicates.then(|| Replaced::new(session, known.decided)).transpose()?;
        let names = add.names().into_iter().filter(|name| *name != DUPLICATES).collect();
        let replaced = replaced.map(|replaced| (replaced, known.ids));
        Ok(Some(ClusterColumns { names, components, copies: known.copies, sources, replaced }))
    }

    /// Returns the names of the integer columns.
    pub fn names(&self) -> &[&'static str] {
        &self.names
    }

    /// Returns the type of the ids in the column `duplicates`, if this column is added.
    pub fn list(&self) -> Option<IdType> {
        self.replaced.as_ref().map(|(_, ids)| ids.kind())
    }

    /// Calls `each` with the id of every document that was removed in favor of `doc`, in document order.
    pub fn duplicates(&self, doc: u64, each: &mut dyn FnMut(IdRef<'_>)) {
        let Some((replaced, ids)) = &self.replaced else { return };
        replaced.of(doc).for_each(|doc| each(ids.of(doc).as_ref()));
    }

    /// Returns the value of a document in the column at position `at`.
    pub fn value(&self, doc: u64, at: usize) -> u64 {
        match self.names[at] {
            "cluster_size" => self.components.size(doc),
            "copies" => copies_of(self.copies, doc),
            // The number is 0 if no source in the cluster is known.
            _ => self.sources.as_ref().map_or(0, |sources| sources.get(self.components.representative(doc))),
        }
    }
}

/// Holds the documents that were removed in favor of each document.
struct Replaced {
    /// The position in `docs` of the first document that each document replaces, and at the end the length of `docs`.
    starts: Numbers,
    docs: Numbers,
}

impl Replaced {
    fn new(session: &Session<'_>, decided: &Decided) -> Result<Replaced> {
        let (documents, memory) = (session.documents(), session.engine.budget.a_thread);
        let numbers = |name, count| Numbers::new(session.engine.dir, name, count, documents);
        let (mut starts, mut docs) =
            (numbers("replaced-starts", documents as usize + 2)?, numbers("replaced", decided.rows.rows() as usize)?);
        let (mut ends, mut slots) = (starts.slots(), docs.slots());
        decided::each(decided, memory, |_, kept| Ok(ends.set(kept + 2, ends.get(kept + 2) + 1)))?;
        (2..documents + 2).for_each(|at| ends.set(at, ends.get(at) + ends.get(at - 1)));
        // The end of a document's list is the start of the next one when all lists are full.
        decided::each(decided, memory, |doc, kept| {
            slots.set(ends.get(kept + 1), doc);
            Ok(ends.set(kept + 1, ends.get(kept + 1) + 1))
        })?;
        Ok(Replaced { starts, docs })
    }

    fn of(&self, doc: u64) -> impl Iterator<Item = u64> {
        (self.starts.get(doc)..self.starts.get(doc + 1)).map(|at| self.docs.get(at))
    }
}

/// Returns the number of documents with the same text as `doc`, including `doc` itself.
fn copies_of(copies: &Classes, doc: u64) -> u64 {
    copies.members(doc).len().max(1) as u64
}

/// Returns the number of files that contain documents of each cluster, by representative.
fn files_in_clusters(session: &Session<'_>, clusters: &Components) -> Result<Numbers> {
    let documents = session.documents();
    let numbers = |name| Numbers::new(session.engine.dir, name, documents as usize, documents);
    let (mut counts, mut last) = (numbers("cluster-files")?, numbers("cluster-last-file")?);
    let (mut counts_of, mut last_of) = (counts.slots(), last.slots());
    // Documents are in file order, so a file is new to a cluster if it differs from the file that was last counted for the cluster.
    for (at, file) in session.source.files.iter().enumerate() {
        session.engine.go_on()?;
        for doc in file.first_doc..(file.first_doc + file.rows).min(documents) {
            let representative = clusters.representative(doc);
            if last_of.get(representative) != at as u64 + 1 {
                last_of.set(representative, at as u64 + 1);
                counts_of.set(representative, counts_of.get(representative) + 1);
            }
        }
    }
    Ok(counts)
}

/// Writes one table per file.
pub fn write(session: &Session<'_>, stage: &Stage, known: MarkSources<'_>) -> Result<FolderReport> {
    let Some(components) = &known.decided.components else { return Ok(FolderReport::default()) };
    let running = session.engine.clock.stage("write attributes/");
    let marks = Marks::new(session, known.decided, known.copies, &known.taken.rejected)?;
    let sources =
        known.taken.columns.sources.as_ref().map(|sources| in_clusters(session, sources, components)).transpose()?;
    let extras = AttributeExtras { sources: sources.is_some(), cut: known.cuts.is_some() };
    let (files, indexed) = (&session.source.files, session.indexed_files());
    let places = session.source.places(indexed)?;
    let bar = session.engine.bar("write attributes/", files.len() - indexed);
    let report = Mutex::new(FolderReport::default());
    let write = |at: usize| {
        let rows = files[at].first_doc..(files[at].first_doc + files[at].rows).min(session.documents());
        let place = format!("attributes/{}", named(&places, at - indexed));
        let written = stage.fitting(&place);
        let path = stage.file(&written)?;
        let mut writer = TableWriter::create(&path, attribute_schema(known.ids.kind(), extras))?;
        let mut builder = AttributeBuilder::new(known.ids.kind(), extras);
        for doc in rows {
            push(session, &mut builder, doc, &marks, (components, sources.as_ref()), known)?;
            if builder.is_full() {
                session.engine.go_on()?;
                writer.write(&builder.finish()?)?;
            }
        }
        if !builder.is_empty() {
            writer.write(&builder.finish()?)?;
        }
        let (rows, bytes) = writer.close()?;
        bar.add(1);
        let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
        report.files += 1;
        report.rows += rows;
        report.bytes += bytes;
        report.shortened(place, written);
        Ok(())
    };
    session.engine.work(files.len() - indexed, || Ok(()), |(), at| write(indexed + at), Ok)?;
    let report = report.into_inner().unwrap_or_else(PoisonError::into_inner);
    report.warn_of_shortened();
    running.end(report.rows, report.rows, report.bytes);
    Ok(report)
}

/// Returns the number of source values in each cluster, by representative.
fn in_clusters(session: &Session<'_>, sources: &SourceValues, clusters: &Components) -> Result<Numbers> {
    let shuffle = session.engine.shuffle("cluster-sources", 16, 8, session.rows())?;
    sources.spread(session, &shuffle, |doc, hash| {
        let mut row = [0; 16];
        row[..8].copy_from_slice(&clusters.representative(doc).to_be_bytes());
        row[8..].copy_from_slice(&hash.to_be_bytes());
        row
    })?;
    let rows = shuffle.finish()?;
    let documents = session.documents();
    let mut counts = Numbers::new(session.engine.dir, "cluster-sources", documents as usize, documents)?;
    let mut slots = counts.slots();
    let mut hashes = Vec::new();
    for partition in 0..rows.partitions() {
        session.engine.go_on()?;
        let records = rows.load(partition, session.engine.budget.a_thread)?;
        for group in records.groups() {
            let representative = number(&records.record(group.start)[..8]);
            hashes.clear();
            hashes.extend(group.map(|at| number(&records.record(at)[8..])));
            hashes.sort_unstable();
            hashes.dedup();
            slots.set(representative, hashes.len() as u64);
        }
        rows.remove(partition)?;
    }
    Ok(counts)
}

fn push(
    session: &Session<'_>,
    builder: &mut AttributeBuilder,
    doc: u64,
    marks: &Marks,
    (components, sources): (&Components, Option<&Numbers>),
    known: MarkSources<'_>,
) -> Result<()> {
    let (removed, reason) = marks.of(doc);
    let kept = marks.kept.get(doc).checked_sub(1).unwrap_or(doc);
    let representative = components.representative(doc);
    // Documents that were removed in favor of another document were not searched for passages.
    let is_text = removed == Some(false) || reason == Some(EMPTIED);
    let characters = known.taken.columns.keep.length(doc);
    let cut = |cuts: &TextEdits| match cuts.of(doc) {
        Some(cuts) => (cuts.share(characters), u64::from(cuts.left)),
        None => (0.0, u64::from(characters)),
    };
    builder.push(&AttributeRow {
        id: known.ids.of(doc).as_ref(),
        doc: session.number(doc),
        removed,
        kept_id: known.ids.of(kept).as_ref(),
        reason,
        cluster_id: known.ids.of(representative).as_ref(),
        cluster_size: components.size(doc),
        is_representative: representative == doc,
        copies: copies_of(known.copies, doc),
        sources: sources.map(|sources| sources.get(representative)),
        cut: known.cuts.filter(|_| is_text).map(cut),
    })
}

/// Returns the name of the table for an input file, which is the name of the file itself. The extension `.parquet` is added if it is
/// missing. If two tables would have the same name, the extension is added twice to one of the names.
fn named(places: &[String], at: usize) -> String {
    const ENDING: &str = ".parquet";
    let place = &places[at];
    let is_free = |stem: &str| places.iter().all(|other| other != stem);
    if place.strip_suffix(ENDING).is_some_and(is_free) { place.clone() } else { format!("{place}{ENDING}") }
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn tables_are_called_like_their_files() {
        let places = ["en.parquet", "a.jsonl", "b.jsonl", "b.jsonl.parquet"].map(str::to_owned);
        let names = [0, 1, 2, 3].map(|at| named(&places, at));
        assert_eq!(names, ["en.parquet", "a.jsonl.parquet", "b.jsonl.parquet", "b.jsonl.parquet.parquet"]);
    }
}
