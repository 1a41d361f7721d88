//! The numbers in a text. A number may be written in digits, with or without thousands separators, or in words.
//!
//! Around its text, a saved web page has dates, counters and addresses that differ each time the page is saved. In a long text, numbers
//! that occur only in the first or last twentieth of the text, and not in the first line, therefore belong to the frame of the page and do
//! not count as facts. Nor does the number that leads the first line, as in "11. A triangle ...".

use dupsift_core::hash::hash64;
use dupsift_text::number_words::number_words;
use dupsift_text::numbers::{numbers, value};
use dupsift_text::{Analysis, ordinal};

/// The minimum number of tokens for a text to have a frame.
const LEAST_WITH_FRAME: usize = 500;
/// The frame consists of the first and the last 1/20 of the text.
const FRAME: usize = 20;
/// The lowest bit of a number's hash, which is set if the number occurs only in the frame.
pub(in crate::measure) const IN_FRAME: u64 = 1;

/// Writes the hash of each distinct number; a number written in words has the hash of its digits.
pub(super) fn write_numbers(document: &Analysis<'_>, out: &mut Vec<u64>) {
    let text = document.text();
    let frame = if document.tokens().len() < LEAST_WITH_FRAME { 0 } else { text.len() / FRAME };
    let inside = frame..text.len() - frame;
    let mut own = Vec::new();
    each_fact(text, |start, hash| own.push(hash | if inside.contains(&start) { 0 } else { IN_FRAME }));
    if let Some(line) = document.first_line().filter(|_| frame > 0) {
        each_fact(line.text(), |_, hash| own.push(hash));
    }
    // If a number also occurs outside the frame, that occurrence sorts first, and the occurrence in the frame is removed.
    own.sort_unstable();
    own.dedup_by_key(|number| *number & !IN_FRAME);
    out.append(&mut own);
}

/// Like [`each_number`], without the ordinal number that leads the text.
fn each_fact(text: &str, mut each: impl FnMut(usize, u64)) {
    let ordinal = ordinal(text);
    each_number(text, |start, hash| {
        if start >= ordinal {
            each(start, hash);
        }
    });
}

/// Calls `each` with the position and the hash, without `IN_FRAME`, of each number.
fn each_number(text: &str, mut each: impl FnMut(usize, u64)) {
    for number in numbers(text) {
        each(number.as_ptr() as usize - text.as_ptr() as usize, number_hash(&value(number)));
    }
    for (start, value) in number_words(text) {
        each(start, number_hash(&value.to_string()));
    }
}

/// Returns the hash of a number in digits, without `IN_FRAME`.
pub(in crate::measure) fn number_hash(value: &str) -> u64 {
    hash64(value.as_bytes()) & !IN_FRAME
}
