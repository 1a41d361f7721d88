//! Writes a row for each unit in the kept documents.

use super::order::Order;
use super::recurring::KEPT_BYTES;
use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_core::row::number;
use dupsift_core::unread;
use dupsift_passages::{Cut, Scratch, hashes, units};
use dupsift_spill::shuffle::Sorted;
use dupsift_tables::Cell;
use zerocopy::big_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The number of bytes in the hash by which rows are grouped.
pub(crate) const HASH: usize = 16;

/// Describes an occurrence of a unit, or of consecutive runs that always occur together. Rows with the same hash have the same number of
/// runs, and are sorted by preference.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Row {
    /// The hash of the unit or of the runs.
    pub hash: [u8; HASH],
    /// The document's position in the order.
    pub place: U48,
    /// The number of the unit, or of the first run's first character in the folded text.
    pub position: U32,
    /// The position in the text, in characters.
    pub start: U32,
    /// The number of runs; 1 for a unit.
    pub runs: U32,
}

/// Holds a number below 2^48.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct U48([u8; 6]);

impl U48 {
    /// Encodes a number.
    pub(crate) fn new(number: u64) -> U48 {
        let [_, _, bytes @ ..] = number.to_be_bytes();
        U48(bytes)
    }

    /// Returns the number.
    pub(crate) fn get(self) -> u64 {
        number(&self.0)
    }
}

/// The approximate number of bytes of text per row.
pub(crate) const BYTES_OF_A_ROW: u64 = 64;

/// Returns the approximate size, in bytes, of the rows for this many bytes of text.
pub(crate) fn expected_bytes(text_bytes: u64) -> u64 {
    text_bytes / BYTES_OF_A_ROW * size_of::<Row>() as u64
}

/// Counts the characters between successive positions in a text.
pub(crate) struct Characters<'t> {
    text: &'t str,
    byte: usize,
    count: u32,
}

impl Characters<'_> {
    /// Begins at the start of a text.
    pub(crate) fn new(text: &str) -> Characters<'_> {
        Characters { text, byte: 0, count: 0 }
    }

    /// Returns the number of characters before a byte position. Successive calls must pass positions in ascending order.
    pub(crate) fn before(&mut self, byte: usize) -> u32 {
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
    let shuffle = session.engine.shuffle("units", size_of::<Row>(), HASH, text_bytes / BYTES_OF_A_ROW)?;
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
                let (place, salt) = (U48::new(order.place(doc)), order.salt(doc));
                let mut characters = Characters::new(text);
                let mut done = Ok(());
                hashes(text, cut, letters, least, scratch, &mut |number, start, hash| {
                    if done.is_ok() {
                        let row = Row {
                            hash: (hash ^ salt).to_be_bytes(),
                            place,
                            position: number.into(),
                            start: characters.before(start).into(),
                            runs: 1.into(),
                        };
                        done = writer.push(row.as_bytes());
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
