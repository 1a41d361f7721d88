//! Finds how much text of a damaged compressed file is readable: everything before the damage, up to the end of a row.
//!
//! If a file is truncated, the remaining complete rows are intact. If its data is damaged, a decoder may return wrong bytes for a while
//! before it detects the damage, or only the checksum at the end may reveal the damage. Therefore, only the members before the damaged
//! member are fully trusted. In the damaged member, rows are trusted only up to a point a few thousand bytes before the first broken row.
//! If only the checksum reveals the damage, no row of the member is trusted. Undamaged files may contain broken rows as well, so a single
//! broken row among many intact rows does not indicate damage. An unclosed quote counts as stray if many lines follow it and most of them
//! are rows.

use crate::compressed::coding::{Coding, Text};
use crate::compressed::rest::Lost;
use crate::compressed::unpack::{Damage, Trust};
use crate::lines::jsonl::Scan;
use crate::lines::line::{Line, Lines};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Seek as _};

/// The number of untrusted bytes before the first sign of damage.
const DOUBTED_BYTES: u64 = 4 << 10;

/// A broken row does not count as damage if at least this many bytes of intact rows follow it. An open quote may count as stray only if at
/// least this many bytes of text follow it.
const GOOD_BYTES: u64 = 64 << 10;

/// A function that returns an iterator over the lines of a [`Text`].
pub(super) type MakeLines<'l> = dyn Fn(Text) -> Lines<Text> + 'l;

/// Returns the coding that reads a damaged file up to the last trusted row, and a description of the lost part.
///
/// # Errors
/// Returns the I/O error.
pub(super) fn before_damage(
    mut file: &File,
    coding: Coding,
    damage: &Damage,
    lines: &MakeLines<'_>,
    is_row: &dyn Fn(&[u8]) -> bool,
) -> io::Result<(Coding, Lost)> {
    file.rewind()?;
    let is_decoded = !coding.has_lines_of_ascii();
    let text = text_bytes(damage, lines(coding.text(file.try_clone()?)?), is_decoded, is_row)?;
    file.rewind()?;
    // The packed size is estimated in proportion to the unpacked size.
    let packed = if is_decoded { damage.at } else { share(damage.at, text, damage.bytes) };
    let bytes = file.metadata()?.len().saturating_sub(packed);
    let why = format!("{}; the rows before it are used", damage.why);
    Ok((Coding { text_bytes: Some(text), ..coding }, Lost { why, bytes }))
}

/// Scans a file. A damaged file is scanned a second time, up to the damage. An array in which an item may be cut off is scanned once more for
/// items in it. Returns the result of the last scan, its coding, and a
/// description of the lost part.
///
/// # Errors
/// Returns an I/O error, or the damage if no trusted row precedes it.
pub(super) fn scan_trusted(
    mut file: &File,
    coding: Coding,
    scan: &dyn Fn(Coding) -> io::Result<Scan>,
    lines: &dyn Fn(Coding, Text) -> Lines<Text>,
    is_row: &dyn Fn(&[u8]) -> bool,
) -> io::Result<(Scan, Coding, Option<Lost>)> {
    let (mut whole, mut coding) = (scan(coding)?, coding);
    if whole.cut_off.is_some() {
        file.rewind()?;
        let split = Coding { cut_off: whole.cut_off, ..coding };
        let found = scan(split)?;
        if !found.is_truncated {
            (whole, coding) = (found, split);
        }
    }
    let Some(damage) = whole.damage.take() else {
        return Ok((whole, coding, None));
    };
    let (before, lost) = before_damage(file, coding, &damage, &|text| lines(coding, text), is_row)?;
    let trusted = scan(before)?;
    if trusted.rows == 0 {
        return Err(io::Error::other(damage.why));
    }
    Ok((trusted, before, Some(lost)))
}

/// A broken row that may be a sign of damage.
struct Sign {
    start: u64,
    end: u64,
    /// The end positions of the last rows before the broken row.
    ends: VecDeque<u64>,
}

/// A quote in trusted bytes that may never be closed.
struct OpenQuote {
    start: u64,
    /// The end positions of the last rows before the quote, and the number of bytes that are certain to be correct.
    ends: VecDeque<u64>,
    sure: u64,
    /// After the quote, the number of lines that are rows and the number of lines that are not.
    rows: u64,
    others: u64,
}

fn share(of: u64, part: u64, all: u64) -> u64 {
    (u128::from(of) * u128::from(part.min(all)) / u128::from(all.max(1))) as u64
}

fn text_bytes(
    damage: &Damage,
    mut lines: Lines<Text>,
    is_decoded: bool,
    is_row: &dyn Fn(&[u8]) -> bool,
) -> io::Result<u64> {
    // The number of bytes in members with correct checksums. The number is not used for decoded text because decoding changes the offsets.
    let right = match damage.trust {
        Trust::All => u64::MAX,
        Trust::Before(_) | Trust::Checked(_) if is_decoded => 0,
        Trust::Before(bytes) | Trust::Checked(bytes) => bytes,
    };
    let (mut ends, mut sure) = (VecDeque::from([0]), 0);
    let (mut sign, mut open): (Option<Sign>, Option<OpenQuote>) = (None, None);
    while let Some((start, line)) = lines.next()? {
        let is_looked_at = start >= right || open.is_some();
        let is_row = !is_looked_at || matches!(line, Line::Bytes(line) if is_row(line));
        let (end, has_open_quote) = (lines.offset, lines.has_open_quote);
        if lines.is_cut {
            break;
        }
        if start >= right {
            if !is_row || has_open_quote {
                if sign.is_some() {
                    break;
                }
                sign = Some(Sign { start, end, ends: ends.clone() });
            } else if sign.as_ref().is_some_and(|sign| end - sign.end >= GOOD_BYTES) {
                sign = None;
            }
        } else if let Some(open) = &mut open {
            *(if is_row { &mut open.rows } else { &mut open.others }) += 1;
            // The last lines may belong to a truncated record.
            if !is_row {
                continue;
            }
        } else if has_open_quote {
            open = Some(OpenQuote { start, ends: ends.clone(), sure, rows: 0, others: 0 });
        }
        sure = if end <= right { end } else { sure };
        ends.push_back(end);
        while ends.len() > 1 && ends[1] + DOUBTED_BYTES < end {
            ends.pop_front();
        }
    }
    // If the quote is not stray, its record is cut off inside quotation marks, and the lines after the record's first line are part of its
    // text.
    let is_stray = |open: &OpenQuote, end: u64| open.rows > open.others && end - open.start >= GOOD_BYTES;
    let end = ends.back().copied().unwrap_or_default();
    if let Some(open) = open.filter(|open| !is_stray(open, end)) {
        (ends, sure) = (open.ends, open.sure);
    } else if let Some(sign) = &mut sign {
        ends = std::mem::take(&mut sign.ends);
    }
    let sign = sign.map(|sign| sign.start);
    let last = ends.back().copied().unwrap_or_default();
    let shows = match damage.trust {
        Trust::All => return Ok(last),
        Trust::Before(_) => Some(sign.unwrap_or(last)),
        Trust::Checked(_) => sign,
    };
    let before = shows.map_or(0, |sign| sign.saturating_sub(DOUBTED_BYTES));
    Ok(ends.into_iter().filter(|end| *end <= before).max().unwrap_or_default().max(sure))
}
