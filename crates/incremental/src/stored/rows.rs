//! Writes the data that an index stores for documents in addition to their text: the rows that are used to match them with other documents,
//! and a few sketch words per document.

use std::path::Path;

use super::known_by::KnownBy;
use dupsift_core::doc::IndexDoc;
use dupsift_core::error::Result;
use dupsift_core::row::{Sketches as _, number};
use dupsift_engine::engine::sketches::SketchFile;
use dupsift_engine::engine::threads::Engine;
use dupsift_engine::matching::meeting::Numbered;
use dupsift_spill::shuffle::run::RunWriter;
use dupsift_spill::shuffle::{AtomicBits, Sorted};

/// The size of the document number that precedes the words, in bytes.
pub(crate) const DOC: usize = 8;

/// The number of documents whose words a thread processes at a time.
const STRETCH: u64 = 10_000;

/// Returns the name of the file with the sketch words of an algorithm.
pub(crate) fn sketches_of(label: &str) -> String {
    format!("+sketches-{label}")
}

/// Writes the rows of stored documents as a run, and returns the number of rows. The given rows refer to the first document that contains
/// each text. The written rows refer to the document under which the index stores that text.
///
/// # Errors
/// Returns an error if the disk is full.
pub(crate) fn write_rows(
    engine: &Engine<'_>,
    dir: &Path,
    label: &str,
    keys: &Sorted,
    (numbered, known): (Numbered, &KnownBy<'_>),
    stored: &AtomicBits,
) -> Result<u64> {
    let (width, group_width) = keys.widths();
    let doc_at = numbered.doc_at(width);
    let kept = engine.shuffle(&format!("{label}-kept"), width, group_width, keys.rows())?;
    engine.work(
        keys.partitions(),
        || Ok((kept.writer(), Vec::new())),
        |(writer, row), partition| {
            engine.go_on()?;
            let records = keys.load(partition, engine.budget.a_thread)?;
            for record in (0..records.len()).map(|at| records.record(at)) {
                let doc = numbered.doc(IndexDoc(number(&record[doc_at..])));
                match known.of(doc).filter(|&known| stored.get(known as usize)) {
                    Some(same) if same == doc => writer.push(record)?,
                    Some(_) => {
                        row.clear();
                        row.extend_from_slice(record);
                        known.rename_in(&mut row[doc_at..], numbered);
                        writer.push(row)?;
                    }
                    None => {}
                }
            }
            keys.remove(partition)
        },
        |(mut writer, _)| writer.flush(),
    )?;
    write_run(engine, dir, label, kept.finish()?, true)
}

/// Writes rows as a run with the name `label`, with or without a filter, and returns the number of rows.
///
/// # Errors
/// Returns an error if the disk is full.
pub(crate) fn write_run(engine: &Engine<'_>, dir: &Path, label: &str, rows: Sorted, filtered: bool) -> Result<u64> {
    let (width, group_width) = rows.widths();
    let counts: Vec<u64> = (0..rows.partitions()).map(|partition| rows.rows_of(partition)).collect();
    let writer = RunWriter::create(dir, &format!("{label}.run"), width, group_width, &counts, filtered)?;
    let memory = engine.budget.a_thread / 2;
    engine.work(
        rows.partitions(),
        || Ok(()),
        |(), partition| {
            engine.go_on()?;
            writer.write(partition, &rows.load(partition, memory)?, memory)?;
            rows.remove(partition)
        },
        Ok,
    )?;
    writer.finish()?;
    Ok(counts.iter().sum())
}

/// Writes the sketch words of stored documents as a run. Each row consists of a document number and the words.
///
/// # Errors
/// Returns an error if the disk is full.
pub(crate) fn write_sketches(
    engine: &Engine<'_>,
    dir: &Path,
    label: &str,
    sketches: &SketchFile,
    (numbered, known): (Numbered, &KnownBy<'_>),
    stored: &AtomicBits,
) -> Result<()> {
    let (name, words) = (sketches_of(label), sketches.words());
    let rows = engine.shuffle(&name, DOC + 8 * words, DOC, sketches.documents())?;
    let documents = sketches.documents();
    engine.work(
        documents.div_ceil(STRETCH) as usize,
        || Ok((rows.writer(), vec![0; words], Vec::new())),
        |(writer, sketch, row), stretch| {
            engine.go_on()?;
            let first = stretch as u64 * STRETCH;
            for own in first..documents.min(first + STRETCH) {
                let known = known.of(numbered.base + own).filter(|&known| stored.get(known as usize));
                let Some(known) = known else { continue };
                sketches.copy(own, sketch);
                row.clear();
                row.extend_from_slice(&numbered.number(known).0.to_be_bytes());
                sketch.iter().for_each(|word| row.extend_from_slice(&word.to_be_bytes()));
                writer.push(row)?;
            }
            Ok(())
        },
        |(mut writer, ..)| writer.flush(),
    )?;
    write_run(engine, dir, &name, rows.finish()?, false).map(|_| ())
}
