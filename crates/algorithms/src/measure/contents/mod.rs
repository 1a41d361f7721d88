//! The contents of a text: everything that a comparison of two texts reads, as a list of 64-bit values.
//!
//! A text has one value per distinct gram, one per line of code, and some 80 others.

mod grams;
mod identity;
mod numbers;

pub(super) use identity::{LABEL, Title};
pub(super) use numbers::{IN_FRAME, number_hash};

use dupsift_text::Analysis;
use grams::grams;
use identity::{write_code, write_label, write_title};
use numbers::write_numbers;

/// Appends the contents of a text: five lists, each with its length first, and the hashes of the distinct grams in ascending order. The
/// lists are the distinct numbers (hashes with `IN_FRAME`, in ascending order), the title, the lines of code, the label, and the distinct
/// long grams of a text that repeats few words.
pub fn write_contents(document: &Analysis<'_>, out: &mut Vec<u64>) {
    let (mut grams, mut long) = grams(document.tokens());
    counted_list(out, |out| write_numbers(document, out));
    counted_list(out, |out| write_title(document, out));
    counted_list(out, |out| write_code(document, out));
    counted_list(out, |out| write_label(document, out));
    counted_list(out, |out| out.append(&mut long));
    out.append(&mut grams);
}

/// Appends the values that `write` appends, and their number before them.
fn counted_list(out: &mut Vec<u64>, write: impl FnOnce(&mut Vec<u64>)) {
    let length = out.len();
    out.push(0);
    write(out);
    out[length] = (out.len() - length - 1) as u64;
}

/// Holds the parts of a text's contents.
pub(super) struct Contents<'c> {
    /// The distinct numbers; see [`IN_FRAME`].
    pub numbers: &'c [u64],
    /// The title; see [`Title`].
    pub title: &'c [u64],
    /// The hashes of the distinct lines of code.
    pub code: &'c [u64],
    /// The hash of the label, or nothing.
    pub label: &'c [u64],
    /// The distinct long grams, if the text repeats few words.
    pub long: &'c [u64],
    /// The distinct grams.
    pub grams: &'c [u64],
}

impl<'c> Contents<'c> {
    /// Reads the contents of a text as [`write_contents`] writes them.
    pub(super) fn of(contents: &'c [u64]) -> Contents<'c> {
        let (numbers, rest) = counted(contents);
        let (title, rest) = counted(rest);
        let (code, rest) = counted(rest);
        let (label, rest) = counted(rest);
        let (long, grams) = counted(rest);
        Contents { numbers, title, code, label, long, grams }
    }
}

/// Splits a length-prefixed list from the values that follow it.
fn counted(values: &[u64]) -> (&[u64], &[u64]) {
    let Some((&length, rest)) = values.split_first() else { return (&[], &[]) };
    rest.split_at_checked(length as usize).unwrap_or((rest, &[]))
}
