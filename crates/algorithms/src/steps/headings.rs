//! headings: finds first lines that cannot be titles because too many documents share them.
//!
//! ```text
//! (line, document) of each representative -> sorted -> the documents whose line is too common to be a title
//! ```

use crate::measure::FirstLine;
use dupsift_core::row::{doc_width, number};
use dupsift_text::Heading;

/// The number of bytes in the hash of a line.
pub const GROUP: usize = 8;

/// Returns the number of bytes in a row, which holds the hash of the line and the number of the document.
pub fn width(documents: u64) -> usize {
    GROUP + doc_width(documents)
}

/// Returns the row of a document in an array large enough for the longest row; only the first [`width`] bytes are used. Copies share one
/// row.
pub fn row(documents: u64, heading: Heading, doc: u64) -> [u8; 16] {
    let (mut row, width) = ([0; 16], doc_width(documents));
    row[..GROUP].copy_from_slice(&heading.line().to_be_bytes());
    row[GROUP..GROUP + width].copy_from_slice(&doc.to_be_bytes()[8 - width..]);
    row
}

/// Processes all rows with the same line, and returns the documents in these rows if their number exceeds `most`.
pub fn common(documents: u64, rows: &[u8], most: u64) -> impl Iterator<Item = u64> + '_ {
    let width = width(documents);
    let rows = if (rows.len() / width) as u64 > most { rows } else { &[] };
    rows.chunks_exact(width).map(|row| number(&row[GROUP..]))
}

/// Compares the first lines of two documents; `is_common` returns whether too many documents have the first line of `a`.
pub fn compare(a: Option<Heading>, b: Option<Heading>, is_common: impl FnOnce() -> bool) -> FirstLine {
    let (Some(a), Some(b)) = (a, b) else { return FirstLine::default() };
    FirstLine { same: a.line() == b.line() && !is_common(), titles: a.may_be_title() && b.may_be_title() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_text::{Pipeline, TextOptions};

    #[test]
    fn a_line_that_too_many_have_is_none() {
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let heading = |text: &str| Heading::of(&pipeline.analyse(text));
        let rise = heading("Rates rise\nThe bank said so.").unwrap();
        let rows: Vec<u8> = [4, 7, 9].iter().flat_map(|&doc| row(10, rise, doc)[..width(10)].to_vec()).collect();
        let of = |most| common(10, &rows, most).collect::<Vec<_>>();
        assert_eq!((of(2), of(3)), (vec![4, 7, 9], vec![]));
        let other = heading("Rates fall\nThe bank said so.");
        let same = compare(Some(rise), heading("Rates rise\nNo."), || false);
        assert!(same.same && same.titles && !compare(Some(rise), Some(rise), || true).same);
        assert!(!compare(Some(rise), other, || false).same && !compare(Some(rise), None, || false).titles);
    }
}
