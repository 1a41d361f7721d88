//! Writes a row for each unit or run that may recur in the kept documents.

use std::sync::Arc;

use super::order::Order;
use super::recurring::{Anchors, KEPT_BYTES};
use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_core::unread;
use dupsift_input::{RowFilter, Want};
use dupsift_passages::{Anchor, Cut, Folded, Scratch, hashes, runs, units};
use dupsift_spill::shuffle::{AtomicBits, Sorted, Writer};
use dupsift_tables::Cell;

/// The number of bytes in a row: the hash, the document's position in the order, the position in the document, and the character position
/// in the text.
pub(crate) const ROW: usize = HASH + 14;
/// The number of bytes in the hash by which rows are grouped.
pub(crate) const HASH: usize = 16;

/// The approximate number of bytes of text per row.
const BYTES_OF_A_ROW: u64 = 64;

/// Returns the approximate size, in bytes, of the rows for this many bytes of text.
pub(crate) fn expected_bytes(text_bytes: u64) -> u64 {
    text_bytes / BYTES_OF_A_ROW * ROW as u64
}

fn push(writer: &mut Writer<'_>, hash: u128, place: u64, position: u32, start: u32) -> Result<()> {
    let mut row = [0; ROW];
    row[..HASH].copy_from_slice(&hash.to_be_bytes());
    row[HASH..HASH + 6].copy_from_slice(&place.to_be_bytes()[2..]);
    row[HASH + 6..HASH + 10].copy_from_slice(&position.to_be_bytes());
    row[HASH + 10..].copy_from_slice(&start.to_be_bytes());
    writer.push(&row)
}

/// Counts the characters between successive positions in a text.
struct Characters<'t> {
    text: &'t str,
    byte: usize,
    count: u32,
}

impl Characters<'_> {
    /// Returns the number of characters before a byte position. Successive calls must pass positions in ascending order.
    fn before(&mut self, byte: usize) -> u32 {
        // Continuation bytes are not counted.
        let more = self.text.as_bytes()[self.byte..byte].iter().filter(|&&byte| byte as i8 >= -0x40).count();
        (self.byte, self.count) = (byte, self.count + more as u32);
        self.count
    }
}

/// Returns the rows for lines, paragraphs or sentences, and, for paragraphs, the number of documents that have several lines and no blank
/// line.
///
/// # Errors
/// Returns an error if a file is damaged, the disk is full, or the run is interrupted.
pub(crate) fn of_units(session: &Session<'_>, order: &Order, cut: Cut, text_bytes: u64) -> Result<(Sorted, u64)> {
    let name = "read units";
    let running = session.engine.clock.stage(name);
    let shuffle = session.engine.shuffle("units", ROW, HASH, text_bytes / BYTES_OF_A_ROW)?;
    let (letters, least) = (session.options.recipe.text.letters(), session.options.cut.least_chars());
    let without_blank_lines = session.read(
        name,
        &order.want(session),
        || Ok((shuffle.writer(), Scratch::default(), 0)),
        |(writer, scratch, without_blank_lines), batch| {
            for row in 0..batch.len() {
                let (doc, Cell::Text(text)) = (batch.doc(row), batch.text(row)) else { continue };
                let (text, _) = unread::split(text);
                let _long = session.engine.long_document(text.len())?;
                let (place, salt) = (order.place(doc), order.salt(doc));
                let mut characters = Characters { text, byte: 0, count: 0 };
                let mut done = Ok(());
                hashes(text, cut, letters, least, scratch, &mut |number, start, hash| {
                    if done.is_ok() {
                        done = push(writer, hash ^ salt, place, number, characters.before(start));
                    }
                });
                done?;
                *without_blank_lines += u64::from(cut == Cut::Paragraphs && has_lines_only(text));
                if text.len() > KEPT_BYTES {
                    *scratch = Scratch::default();
                }
            }
            Ok(())
        },
        |(mut writer, _, without_blank_lines)| writer.flush().map(|()| without_blank_lines),
    )?;
    let rows = shuffle.finish()?;
    running.end(order.count(), rows.rows(), rows.spilled_bytes());
    Ok((rows, without_blank_lines.iter().sum()))
}

/// Returns whether a text has several lines and no blank line.
fn has_lines_only(text: &str) -> bool {
    let count = |cut| {
        let mut count = 0;
        units(text, cut, &mut |_| count += 1);
        count
    };
    count(Cut::Paragraphs) == 1 && count(Cut::Lines) > 1
}

/// Returns the rows for runs whose anchors all recur.
///
/// # Errors
/// Returns an error if a file is damaged, the disk is full, or the run is interrupted.
pub(crate) fn of_runs(session: &Session<'_>, order: &Order, known: &Anchors, text_bytes: u64) -> Result<Sorted> {
    let name = "read runs";
    let running = session.engine.clock.stage(name);
    let shuffle = session.engine.shuffle("runs", ROW, HASH, text_bytes / BYTES_OF_A_ROW)?;
    let recurring = &known.recurring;
    let winnow = recurring.winnow;
    // Most documents have no recurring runs and need not be read a second time.
    let wanted = AtomicBits::new(session.engine.dir, "may-recur", session.documents() as usize)?;
    let may_recur = |doc: &u64| known.may_recur(order, *doc);
    (0..session.documents()).filter(may_recur).for_each(|doc| _ = wanted.set(doc as usize));
    let filter = Some(RowFilter::Where(Arc::new(move |doc| wanted.get(doc as usize))));
    let want = Want { rows: filter, ..order.want(session) };
    session.read(
        name,
        &want,
        || Ok((shuffle.writer(), Folded::default(), Vec::<Anchor>::new())),
        |(writer, folded, anchors), batch| {
            for row in 0..batch.len() {
                let (doc, Cell::Text(text)) = (batch.doc(row), batch.text(row)) else { continue };
                let (text, _) = unread::split(text);
                let _long = session.engine.long_document(text.len())?;
                folded.fold(text);
                known.of(doc, anchors);
                let (place, salt) = (order.place(doc), order.salt(doc));
                let stretches = winnow.stretches(&folded.text, anchors, |hash| recurring.has(hash ^ salt as u64));
                let mut of_folded = Characters { text: &folded.text, byte: 0, count: 0 };
                let mut of_text = Characters { text, byte: 0, count: 0 };
                // Stretches and their runs are in ascending order.
                for stretch in stretches {
                    let first = of_folded.before(stretch.start);
                    runs(&folded.text, stretch, winnow.length(), |run| {
                        let start = of_text.before(folded.original(run.start));
                        push(writer, run.hash ^ salt, place, first + run.number, start)
                    })?;
                }
                if text.len() > KEPT_BYTES {
                    (*folded, *anchors) = Default::default();
                }
            }
            Ok(())
        },
        |(mut writer, ..)| writer.flush(),
    )?;
    let rows = shuffle.finish()?;
    running.end(order.count(), rows.rows(), rows.spilled_bytes());
    Ok(rows)
}
