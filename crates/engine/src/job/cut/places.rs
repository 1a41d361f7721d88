//! Finds which passages are cut from each document.

use std::sync::Arc;

use super::costliest::{Costliest, Costly};
use super::covered::{want, with_repeats};
use super::repeats::Repeats;
use crate::job::text_edits::{SAVED, TextEdits, save};
use crate::session::Session;
use dupsift_core::error::{Error, Result};
use dupsift_core::unread;
use dupsift_input::{RowFilter, Want};
use dupsift_passages::{Cut, Passage, cut_out, passages, templates};
use dupsift_spill::shuffle::{AtomicBits, AtomicCells, Heap};
use dupsift_tables::{Cell, PassageFound};

/// Returns the passages that a finished run cut, according to its `passages/` table. The rows of this table are in document order. The
/// remaining characters are counted only if `measures` is set, because counting requires reading the documents.
///
/// # Errors
/// Returns any error from `rows`, or an error if a file is damaged, the disk is full, or the run is interrupted.
pub fn read_back(
    session: &Session<'_>,
    rows: impl Iterator<Item = Result<PassageFound>>,
    measures: bool,
) -> Result<TextEdits> {
    let (engine, documents) = (session.engine, session.documents() as usize);
    let begins = AtomicCells::new(engine.dir, "cuts-begin", documents)?;
    let (heap, firsts) = (Heap::new(engine.dir, "cuts")?, AtomicBits::new(engine.dir, "first-copies", documents)?);
    let (mut found, mut bytes) = (Vec::new(), Vec::new());
    let mut store = |doc: u64, found: &mut Vec<Passage>| {
        if !found.is_empty() {
            save(found, 0, &mut bytes);
            begins.store(doc as usize, heap.append(&bytes)? + 1);
            found.clear();
        }
        Ok::<_, Error>(())
    };
    let mut last = 0;
    for row in rows {
        let row = row?;
        if row.doc != last {
            store(last, &mut found)?;
            last = row.doc;
        }
        let ([start, end], [start_byte, end_byte]) =
            (row.characters.map(|at| at as u32), row.bytes.map(|at| at as u32));
        let (copies, first_doc) = (row.copies as u32, row.first_doc.unwrap_or_default());
        found.push(Passage { start, end, start_byte, end_byte, copies, first_doc, first_start: 0 });
    }
    store(last, &mut found)?;
    let cuts = TextEdits { begins, heap: heap.freeze()?, firsts };
    if measures { measured(cuts, session) } else { Ok(cuts) }
}

/// Reads the documents that contain repeats. Returns the passages that are cut from these documents, and the costliest passages.
///
/// # Errors
/// Returns an error if a file is damaged, the disk is full, or the run is interrupted.
pub(crate) fn find(session: &Session<'_>, cut: Cut, repeats: &Repeats) -> Result<(TextEdits, Vec<Costly>)> {
    let (name, engine, documents) = ("read repeats", session.engine, session.documents() as usize);
    let running = engine.clock.stage(name);
    let begins = AtomicCells::new(engine.dir, "cuts-begin", documents)?;
    let (heap, firsts) = (Heap::new(engine.dir, "cuts")?, AtomicBits::new(engine.dir, "first-copies", documents)?);
    let (wanted, count) = with_repeats(session, repeats)?;
    let found = session.read(
        name,
        &want(session, wanted),
        || Ok((Vec::new(), Vec::new(), Costliest::default())),
        |(of_document, bytes, costliest), batch| {
            for row in 0..batch.len() {
                let (doc, Cell::Text(text)) = (batch.doc(row), batch.text(row)) else { continue };
                let (text, _) = unread::split(text);
                let _long = engine.long_document(text.len())?;
                repeats.of(doc, of_document);
                let found =
                    passages(text, cut, session.options.cut.at, of_document, |first| _ = firsts.set(first as usize));
                if found.is_empty() {
                    continue;
                }
                let places = found.iter().map(|one| (one.start_byte as usize, one.end_byte as usize));
                save(&found, characters_of(&cut_out(text, places)), bytes);
                begins.store(doc as usize, heap.append(bytes)? + 1);
                let copies = of_document.iter().map(|repeat| repeat.copies).max().unwrap_or(0);
                if costliest.may_take(text.len(), copies) {
                    templates(text, cut, of_document).iter().for_each(|one| costliest.add(doc, text, one));
                }
            }
            Ok(())
        },
        |(.., costliest)| Ok(costliest),
    )?;
    let heap = heap.freeze()?;
    running.end(count, heap.bytes().len() as u64 / SAVED as u64, heap.bytes().len() as u64);
    Ok((TextEdits { begins, heap, firsts }, Costliest::of_all(found)))
}

/// Returns the number of characters in a text, or 0 if it consists of white space.
fn characters_of(text: &str) -> u32 {
    if text.trim_start().is_empty() { 0 } else { text.chars().count() as u32 }
}

/// Returns the same cuts after setting the number of characters that remain in each document.
fn measured(edits: TextEdits, session: &Session<'_>) -> Result<TextEdits> {
    let (name, engine, documents) = ("read cut documents", session.engine, edits.begins.len());
    let running = engine.clock.stage(name);
    let wanted = AtomicBits::new(engine.dir, "cut-documents", documents)?;
    edits.each(|doc, _| Ok(_ = wanted.set(doc as usize)))?;
    let count = wanted.count();
    let rows = Some(RowFilter::Where(Arc::new(move |doc| wanted.get(doc as usize))));
    let want = Want { rows, batch_bytes: engine.budget.batch, ..Want::default() };
    let begins = AtomicCells::new(engine.dir, "cuts-begin-measured", documents)?;
    let heap = Heap::new(engine.dir, "cuts-measured")?;
    session.read(
        name,
        &want,
        || Ok(Vec::new()),
        |bytes, batch| {
            for row in 0..batch.len() {
                let (doc, Cell::Text(text)) = (batch.doc(row), batch.text(row)) else { continue };
                let (text, _) = unread::split(text);
                let Some(cuts) = edits.of(doc) else { continue };
                let left = cuts.cut_out(text).map_or(0, |left| characters_of(&left));
                save(&cuts.passages().collect::<Vec<_>>(), left, bytes);
                begins.store(doc as usize, heap.append(bytes)? + 1);
            }
            Ok(())
        },
        |_| Ok(()),
    )?;
    running.end(count, count, 0);
    Ok(TextEdits { begins, heap: heap.freeze()?, firsts: edits.firsts })
}
