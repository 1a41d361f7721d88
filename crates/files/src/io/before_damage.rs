//! How much of the text of a damaged compressed file can be read: what stands before the damage, up to the end of a row.
//!
//! Where a file is cut off, all rows before the cut are what was written. Where its data is damaged, a decoder may give wrong bytes for a while before it
//! notices, or notice by nothing but the checksum at the end. So the members before the damaged one are believed, and of this one the rows up to
//! a few thousand bytes before the first that is no row; if only the checksum tells that bytes are wrong, none of its rows is believed.

use super::coding::{Coding, Text};
use super::lines::{Line, Lines};
use super::rest::Lost;
use super::unpack::{Damage, Trust};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Seek as _};

/// Bytes before the first sign of a damage that are not believed either.
const DOUBTED_BYTES: u64 = 4 << 10;

/// Makes the records of a text of lines.
pub(super) type MakeLines<'l> = dyn Fn(Text) -> Lines<Text> + 'l;

/// Returns the coding with which a damaged file is read up to its last row that can be believed, and what is lost of it.
///
/// # Errors
/// What the system says.
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
    // About as much of the packed bytes as of the unpacked ones.
    let packed = if is_decoded { damage.at } else { share(damage.at, text, damage.bytes) };
    let bytes = file.metadata()?.len().saturating_sub(packed);
    let why = format!("{}; the rows before that take part", damage.why);
    Ok((Coding { text_bytes: Some(text), ..coding }, Lost { why, bytes }))
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
    // Bytes of members whose checksums are right; those of decoded texts stand elsewhere.
    let right = match damage.trust {
        Trust::All => u64::MAX,
        Trust::Before(_) | Trust::Checked(_) if is_decoded => 0,
        Trust::Before(bytes) | Trust::Checked(bytes) => bytes,
    };
    let (mut ends, mut sign, mut sure) = (VecDeque::from([0]), None, 0);
    while let Some((start, line)) = lines.next()? {
        let is_row = start < right || matches!(line, Line::Bytes(line) if is_row(line));
        if lines.is_open {
            break;
        }
        if !is_row {
            sign = Some(start);
            break;
        }
        let end = lines.offset;
        sure = if end <= right { end } else { sure };
        ends.push_back(end);
        while ends.len() > 1 && ends[1] + DOUBTED_BYTES < end {
            ends.pop_front();
        }
    }
    let last = ends.back().copied().unwrap_or_default();
    let shows = match damage.trust {
        Trust::All => return Ok(last),
        Trust::Before(_) => Some(sign.unwrap_or(last)),
        Trust::Checked(_) => sign,
    };
    let before = shows.map_or(0, |sign| sign.saturating_sub(DOUBTED_BYTES));
    Ok(ends.into_iter().filter(|end| *end <= before).max().unwrap_or_default().max(sure))
}
