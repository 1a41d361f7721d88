//! Matches the ids in the truth to documents. The truth and the documents are sorted by the hash of the id, and then joined.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::files::{Label, TruthFiles};
use crate::evaluate::evaluation::TruthReport;
use crate::finished::Finished;
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::hash128;
use dupsift_core::number::counted;
use dupsift_core::row::number;
use dupsift_engine::engine::threads::Engine;
use dupsift_engine::reading::losses::{BadInputReport, CORPUS};
use dupsift_engine::session::Session;
use dupsift_input::{TableReader, Want, absolute};
use dupsift_publish::TableWriter;
use dupsift_spill::shuffle::{AtomicBits, Shuffle, Sorted, Writer};
use dupsift_tables::{REJECTED_COLUMNS, RejectReason, RejectedBuilder, Rejection, rejected_rows, rejected_schema};

/// The number of bytes in a position in the truth. A position consists of a row number and the index of one of the two ids in the row, which
/// is combined with [`UNDECIDED`] or [`DIFFERENT`].
pub(crate) const PLACE_BYTES: usize = 9;
/// Marks a row that is labeled as unsure, or not labeled.
pub(crate) const UNDECIDED: u8 = 2;
/// Marks a row that is labeled as a pair of different documents.
pub(crate) const DIFFERENT: u8 = 4;
/// The bit with the index of an id in its row.
const SIDE: u8 = 1;
/// The number of bytes in the hash of a cluster's name.
pub(crate) const CLUSTER_BYTES: usize = 16;

/// The number of bytes in the hash of an id. In a record, the hash is followed by a tag (0: a document, 1: a row of the truth). `DOC` is
/// the number of bytes in a document number.
const HASH: usize = 16;
const DOC: usize = 8;
/// The offset of the field after the tag: the position in the truth, or the document number.
const AFTER_TAG: usize = HASH + 1;
/// The offset of the cluster in a record of the truth.
const AFTER_PLACE: usize = AFTER_TAG + PLACE_BYTES;

/// The maximum number of unknown ids that are listed.
const NAMED: usize = 5;

/// Holds the rows of the truth, with document numbers instead of ids.
pub(crate) struct Resolved {
    /// The matched rows. If the truth consists of pairs: (position, document), grouped by row. If the truth consists of clusters: (hash of
    /// the cluster, document), grouped by hash.
    pub rows: Sorted,
    /// The counts that are known so far, for the record.
    pub report: TruthReport,
}

/// Holds the id counts of one thread.
#[derive(Clone, Debug, Default)]
struct Met {
    ids: u64,
    unknown: u64,
    ambiguous: u64,
    /// The positions at which the first unknown ids first occur.
    places: Vec<[u8; PLACE_BYTES]>,
}

impl Met {
    fn name(&mut self, place: [u8; PLACE_BYTES]) {
        self.places.push(place);
        self.places.sort_unstable();
        self.places.truncate(NAMED);
    }

    fn merge(mut self, other: Met) -> Met {
        self.ids += other.ids;
        self.unknown += other.unknown;
        self.ambiguous += other.ambiguous;
        other.places.into_iter().for_each(|place| self.name(place));
        self
    }
}

/// Matches the truth to the ids in the corpus. Unusable rows are listed in the `rejected` table, which is written
/// only if there are any.
pub(crate) fn resolve(
    session: &Session<'_>,
    finished: &Finished,
    truth: &TruthFiles,
    rejected: &Path,
) -> Result<Resolved> {
    let pairs = truth.are_pairs();
    let width = if pairs { AFTER_PLACE } else { AFTER_PLACE + CLUSTER_BYTES };
    let ids = session.engine.shuffle("ids", width, HASH, session.documents())?;
    let mut report = TruthReport {
        form: if pairs { "pairs" } else { "clusters" }.into(),
        files: truth.paths().map(|path| absolute(path).display().to_string()).collect(),
        unread_columns: truth.unread_columns().to_vec(),
        has_labels: truth.have_labels(),
        ..TruthReport::default()
    };
    push_corpus(session, finished, &ids, width)?;
    let mut writer = ids.writer();
    let mut record = vec![0; width];
    let mut table = TableWriter::create(rejected, rejected_schema())?;
    let mut listed = RejectedBuilder::new("truth");
    let damaged = truth.read(|row, (file, in_file), values| {
        session.engine.go_on()?;
        report.rows += 1;
        let mark;
        let [first, second] = match values {
            Ok((values, label)) => {
                match label {
                    Label::Duplicate => {}
                    Label::Different => report.different_rows += 1,
                    Label::Unsure => report.unsure_rows += 1,
                    Label::Empty => report.unlabeled_rows += 1,
                }
                mark = match label {
                    Label::Duplicate => 0,
                    Label::Different => DIFFERENT,
                    Label::Unsure | Label::Empty => UNDECIDED,
                };
                values
            }
            Err(Rejection { reason, detail }) => {
                report.null_rows += u64::from(reason == RejectReason::NullId);
                report.rejections.add(reason, 1);
                listed.push(&file.label, Some(in_file), None, reason, &detail);
                if listed.is_full() {
                    table.write(&listed.finish()?)?;
                }
                return Ok(true);
            }
        };
        record[HASH] = 1;
        record[AFTER_TAG + 8] = mark;
        record[AFTER_TAG..AFTER_TAG + 8].copy_from_slice(&row.to_be_bytes());
        record[..HASH].copy_from_slice(&hash128(first.as_bytes()).to_be_bytes());
        if pairs {
            writer.push(&record)?;
            record[..HASH].copy_from_slice(&hash128(second.as_bytes()).to_be_bytes());
            record[AFTER_TAG + 8] = mark | SIDE;
        } else {
            record[AFTER_PLACE..].copy_from_slice(&hash128(second.as_bytes()).to_be_bytes());
        }
        writer.push(&record)?;
        Ok(true)
    })?;
    for (file, why) in damaged {
        listed.push(&file.label, None, None, RejectReason::UnusableFile, &why);
        let file = absolute(&file.path).display().to_string();
        report.bad_inputs.push(BadInputReport { file, why });
    }
    if !listed.is_empty() {
        table.write(&listed.finish()?)?;
    }
    table.close()?;
    if !report.is_lossy() {
        // The `evaluation/` folder can be read as one table, so it contains a second table only if there is something to report.
        std::fs::remove_file(rejected).map_err(Error::io("remove", rejected))?;
        rejected.parent().map_or(Ok(()), std::fs::remove_dir).map_err(Error::io("remove the folder of", rejected))?;
    }
    writer.flush()?;
    drop(writer);
    let (rows, met) = join(session.engine, &ids.finish()?, pairs, report.rows)?;
    report.ids = met.ids;
    report.unknown_ids = met.unknown;
    report.ambiguous_ids = met.ambiguous;
    report.unknown = names(truth, &met.places)?;
    if met.unknown > 0 && met.unknown == met.ids {
        return Err(Error::usage(format!(
            "none of the {} in the truth is in the corpus ({}); expected values of the column {:?}, or FILE#ROW for rows without an id",
            counted(met.ids, "id"),
            report.unknown.iter().map(|id| format!("{id:?}")).collect::<Vec<_>>().join(", "),
            session.options.columns.id_column
        )));
    }
    Ok(Resolved { rows, report })
}

/// Adds the id of every document that the run used. A document without an id has the name `FILE#ROW`, with the file name from the run.
fn push_corpus(session: &Session<'_>, finished: &Finished, ids: &Shuffle, width: usize) -> Result<()> {
    let rejected = rejected(session, finished)?;
    let labels: Vec<(u64, &str)> = first_docs(session, finished).collect();
    let want = Want { text: false, id: true, batch_bytes: session.engine.budget.batch, ..Want::default() };
    let running = session.engine.clock.stage("read ids");
    session.read(
        "read ids",
        &want,
        || Ok((ids.writer(), String::new(), vec![0; width])),
        |(writer, name, record): &mut (Writer<'_>, String, Vec<u8>), batch| {
            for row in 0..batch.len() {
                let doc = batch.doc(row);
                if rejected.get(doc as usize) {
                    continue;
                }
                name.clear();
                // Writing to a String cannot fail.
                let _ = match batch.id(row) {
                    Some(id) => write!(name, "{id}"),
                    None => {
                        let (first, label) = labels[labels.partition_point(|(first, _)| *first <= doc) - 1];
                        write!(name, "{label}#{}", doc - first)
                    }
                };
                record[..HASH].copy_from_slice(&hash128(name.as_bytes()).to_be_bytes());
                record[AFTER_TAG..AFTER_TAG + DOC].copy_from_slice(&doc.to_be_bytes());
                writer.push(record)?;
            }
            Ok(())
        },
        |(mut writer, ..)| writer.flush(),
    )?;
    running.end(session.documents(), session.documents(), 0);
    Ok(())
}

/// Returns the number of the first document in each file, and the file's name in the record of the run. A file without rows has the
/// same number as the next file, so a document is in the last file whose number is not greater than the document's number.
fn first_docs<'f>(session: &'f Session<'_>, finished: &'f Finished) -> impl Iterator<Item = (u64, &'f str)> {
    let files = session.source.files.iter().zip(&finished.report.inputs);
    files.map(|(file, known)| (file.first_doc, known.file.as_str()))
}

/// Returns the rejected rows, which are not documents.
fn rejected(session: &Session<'_>, finished: &Finished) -> Result<AtomicBits> {
    let rejected = AtomicBits::new(session.engine.dir, "rejected", session.documents() as usize)?;
    let files: BTreeMap<&str, u64> = first_docs(session, finished).map(|(first, label)| (label, first)).collect();
    let path: PathBuf = finished.dir().join("rejected/part-00000.parquet");
    for batch in TableReader::open(&path, &REJECTED_COLUMNS)? {
        let wrong = |why: &str| Error::BadFile {
            path: path.clone(),
            why: format!("{why}; expected a table written by this run"),
        };
        for (file, row) in rejected_rows(&batch?, CORPUS).ok_or_else(|| wrong("a column has an unexpected type"))? {
            // A skipped file has no documents.
            let Some(row) = row else { continue };
            let doc = files.get(file.as_str()).and_then(|first| first.checked_add(row));
            let doc = doc
                .filter(|doc| *doc < session.documents())
                .ok_or_else(|| wrong("it refers to a row that does not exist"))?;
            rejected.set(doc as usize);
        }
    }
    Ok(rejected)
}

/// Joins records with equal ids; in each group, the documents precede the positions in the truth.
fn join(engine: &Engine<'_>, ids: &Sorted, pairs: bool, rows: u64) -> Result<(Sorted, Met)> {
    let (name, head, group) =
        if pairs { ("true-rows", PLACE_BYTES, 8) } else { ("true-members", CLUSTER_BYTES, CLUSTER_BYTES) };
    let out = engine.shuffle(name, head + DOC, group, rows)?;
    let bar = engine.bar("match ids", ids.partitions());
    let met = engine.work(
        ids.partitions(),
        || Ok((out.writer(), Met::default(), [0; CLUSTER_BYTES + DOC])),
        |(writer, met, row), partition| {
            let records = ids.load(partition, engine.budget.a_thread)?;
            for same in records.groups() {
                engine.go_on()?;
                let documents = same.clone().take_while(|&at| records.record(at)[HASH] == 0).count();
                let asked = same.start + documents..same.end;
                if asked.is_empty() {
                    continue;
                }
                // Of pairs that are not true, only those that contradict true ones matter, so their ids are not counted.
                let mut places = asked.clone().map(|at| &records.record(at)[AFTER_TAG..AFTER_PLACE]);
                let counted = places.find(|place| !pairs || place[PLACE_BYTES - 1] & DIFFERENT == 0);
                met.ids += u64::from(counted.is_some());
                met.ambiguous += u64::from(counted.is_some() && documents > 1);
                if documents == 0 {
                    if let Some(place) = counted.and_then(|place| place.try_into().ok()) {
                        met.unknown += 1;
                        met.name(place);
                    }
                    continue;
                }
                let doc = number(&records.record(same.start)[AFTER_TAG..AFTER_TAG + DOC]);
                for at in asked {
                    let from = if pairs { AFTER_TAG } else { AFTER_PLACE };
                    row[..head].copy_from_slice(&records.record(at)[from..from + head]);
                    row[head..head + DOC].copy_from_slice(&doc.to_be_bytes());
                    writer.push(&row[..head + DOC])?;
                }
            }
            ids.remove(partition)?;
            bar.add(1);
            Ok(())
        },
        |(mut writer, met, _)| writer.flush().map(|()| met),
    )?;
    Ok((out.finish()?, met.into_iter().fold(Met::default(), Met::merge)))
}

/// Returns the ids at these positions, which must be in order. The truth is read again up to the last position.
fn names(truth: &TruthFiles, places: &[[u8; PLACE_BYTES]]) -> Result<Vec<String>> {
    let mut names = Vec::new();
    if places.is_empty() {
        return Ok(names);
    }
    _ = truth.read(|row, _, values| {
        let here = |place: &&[u8; PLACE_BYTES]| number(&place[..8]) == row;
        for place in places.iter().skip(names.len()).take_while(here) {
            names.push(values.as_ref().map_or("", |(values, _)| values[usize::from(place[8] & SIDE)]).to_string());
        }
        Ok(names.len() < places.len())
    })?;
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_places_are_named_whatever_the_order() {
        let place = |row: u8| [0, 0, 0, 0, 0, 0, 0, row, 1];
        let of = |rows: &[u8]| {
            let mut met = Met { ids: 1, ..Met::default() };
            rows.iter().for_each(|row| met.name(place(*row)));
            met
        };
        let merged = of(&[9, 3, 7]).merge(of(&[8, 1, 2, 6, 5]));
        assert_eq!(merged.places, [1, 2, 3, 5, 6].map(place));
        assert_eq!(merged.ids, 2);
    }
}
