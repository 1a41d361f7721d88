//! Copies lines of a file, or items of a JSON array, byte for byte. The copy has the same compression.

use crate::compressed::coding::Coding;
use crate::copy::copying::Copying;
use crate::copy::edits::CHANGED;
use crate::copy::output::{Output, Packed, Stop};
use crate::lines::line::{Line, Lines, MAX_LINE_BYTES, turn_for};
use crate::lines::quotes::Dialect;
use dupsift_core::error::Result;
use std::fs::File;
use std::io::{self, Read as _};

/// The number of rows copied between checks that the run may continue.
const ROWS: u64 = 4096;

/// Checks that lines in this encoding can be copied.
///
/// # Errors
/// Returns the reason why the lines cannot be copied, and what to do instead.
pub(super) fn check(coding: Coding) -> std::result::Result<(), String> {
    if coding.has_lines_of_ascii() {
        return Ok(());
    }
    let encoding = coding.of_all().map_or("UTF-8", |encoding| encoding.name());
    if coding.is_array {
        return Err(format!(
            "it is a JSON array in {encoding}, and items can be copied only in UTF-8; convert the file to UTF-8, or use the removed/ table"
        ));
    }
    Err(format!(
        "its lines are in {encoding}, and lines can be copied only in encodings with ASCII line breaks; convert the file to UTF-8, or use the removed/ table"
    ))
}

/// Specifies how records of separated values are read.
#[derive(Clone, Copy)]
pub(super) struct Records {
    /// The delimiter and the quoting of fields.
    pub dialect: Dialect,
    /// The number of columns in the header.
    pub columns: usize,
    /// The column whose text is edited, if any.
    pub text: Option<usize>,
}

/// Copies the chosen rows. Blank lines before a row are copied if the row is copied; blank lines after the last row are always copied. Rows
/// are lines or, if `records` is given, the records after the header. The header is always copied.
pub(super) fn copy(file: File, copying: &Copying<'_>, records: Option<Records>) -> Result<()> {
    let stop = Stop::default();
    let out = Output::create(copying.out, &stop)?;
    let done = copying.coding.unpacked(file).and_then(|bytes| {
        let mut out = Packed::new(out, copying.coding.packing)?;
        let bytes = bytes.take(copying.coding.text_bytes.unwrap_or(u64::MAX));
        // Lines are copied as they are; the encoding decides which of them are blank.
        let mut lines = Lines::new(bytes, 0, 0).decoded(copying.coding.of_lines());
        if let Some(Records { dialect, columns, .. }) = records {
            lines = lines.records(dialect, Some(columns), MAX_LINE_BYTES).taking_turns();
            match copying.added {
                None => _ = lines.step_with(|bytes| out.write_all(bytes))?,
                Some(added) => {
                    let mut header = Vec::new();
                    lines.step_with(|bytes| Ok(header.extend_from_slice(bytes)))?;
                    out.write_all(&added.header(&header, dialect.delimiter))?;
                }
            }
        }
        let mut row = 0;
        loop {
            if row % ROWS == 0
                && let Err(error) = (copying.go_on)()
            {
                stop.note(error);
                return Ok(row);
            }
            let passes = row >= copying.rows || (copying.chosen)(row);
            let is_row = passes && row < copying.rows;
            let (edits, added) = (copying.edits_of(row).filter(|_| is_row), copying.added.filter(|_| is_row));
            if edits.is_some() || added.is_some() {
                let (mut line, mut turn) = (Vec::new(), None);
                let stepped = lines.step_with(|bytes| {
                    // The record reader has already waited for its turn.
                    turn = turn.take().or_else(|| records.is_none().then(|| turn_for(line.len())).flatten());
                    Ok(line.extend_from_slice(bytes))
                })?;
                if stepped.is_none() {
                    break;
                }
                if let Some(edits) = edits {
                    let edited = match &records {
                        None => edits.json(row, &line),
                        Some(Records { dialect, text: Some(text), .. }) => edits.record(row, &line, *dialect, *text),
                        Some(_) => Err(CHANGED.to_owned()),
                    };
                    line = edited.map_err(io::Error::other)?;
                }
                if let Some(added) = added {
                    line = match &records {
                        None => added.json(row, &line),
                        Some(Records { dialect, .. }) => added.record(row, &line, *dialect),
                    }
                    .map_err(io::Error::other)?;
                }
                out.write_all(&line)?;
            } else if lines.step_with(|bytes| if passes { out.write_all(bytes) } else { Ok(()) })?.is_none() {
                break;
            }
            row += 1;
        }
        out.end()?;
        Ok(row)
    });
    stop.check()?;
    ended(done, copying)
}

/// Copies the chosen items of a JSON array, each with its bytes. The copy is an array with one line break between two items.
pub(super) fn copy_items(file: File, copying: &Copying<'_>) -> Result<()> {
    let stop = Stop::default();
    let out = Output::create(copying.out, &stop)?;
    let done = copying.coding.unpacked(file).and_then(|bytes| {
        let mut out = Packed::new(out, copying.coding.packing)?;
        let bytes = bytes.take(copying.coding.text_bytes.unwrap_or(u64::MAX));
        let mut lines = Lines::new(bytes, 0, MAX_LINE_BYTES).items(copying.coding).taking_turns();
        let (mut row, mut before) = (0, &b"[\n"[..]);
        loop {
            if row % ROWS == 0
                && let Err(error) = (copying.go_on)()
            {
                stop.note(error);
                return Ok(row);
            }
            if row >= copying.rows || !(copying.chosen)(row) {
                if lines.step()?.is_none() {
                    break;
                }
                row += 1;
                continue;
            }
            let item = match lines.next()? {
                None => break,
                Some((_, Line::Bytes(item))) => item.trim_ascii(),
                Some((_, Line::TooLong(bytes))) => {
                    return Err(io::Error::other(format!("item {} has {bytes} bytes", row + 1)));
                }
            };
            out.write_all(before)?;
            before = b",\n";
            let edited =
                copying.edits_of(row).map(|edits| edits.json(row, item)).transpose().map_err(io::Error::other)?;
            let item = edited.as_deref().unwrap_or(item);
            match copying.added {
                None => out.write_all(item)?,
                Some(added) => out.write_all(&added.json(row, item).map_err(io::Error::other)?)?,
            }
            row += 1;
        }
        out.write_all(if before == b",\n" { b"\n]\n" } else { b"[]\n" })?;
        out.end()?;
        Ok(row)
    });
    stop.check()?;
    ended(done, copying)
}

/// Checks that all rows were read.
fn ended(done: io::Result<u64>, copying: &Copying<'_>) -> Result<()> {
    match done {
        Ok(row) if row == copying.rows => Ok(()),
        Ok(row) => {
            Err(copying
                .bad(format!("the file changed while it was being read: {} lines before, {row} now", copying.rows)))
        }
        Err(error) => Err(copying.bad(format!("cannot be read any further: {error}"))),
    }
}
