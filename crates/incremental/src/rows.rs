//! What an index has of documents beside their texts: the rows that they meet others by, and a few words of each.

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

/// Bytes of the number of a document before its words.
pub const DOC: usize = 8;

/// Documents whose words a thread takes at once.
const STRETCH: u64 = 10_000;

/// The name of the file of words of an algorithm.
pub fn sketches_of(label: &str) -> String {
    format!("+sketches-{label}")
}

/// The rows of stored documents, as a run. They have the first document of each text, and are written with the one that the index knows.
///
/// # Errors
/// A full disk.
pub fn write_rows(
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

/// Rows as a run of that name, with a filter or without; gives how many there are.
///
/// # Errors
/// A full disk.
pub fn write_run(engine: &Engine<'_>, dir: &Path, label: &str, rows: Sorted, filtered: bool) -> Result<u64> {
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

/// The words of stored documents, as a run: a number, the words.
///
/// # Errors
/// A full disk.
pub fn write_sketches(
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
