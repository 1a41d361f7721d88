//! Finds the first line of a document, and checks whether that line may be a title.
//!
//! ```text
//! "\nRates rise\nThe bank said ..."    -> "rates rise", and may be a title
//! "> Rates rise:\nno, they fall"       -> "> rates rise:", and is no title: a quotation, half a sentence
//! ```

use super::analysis::Analysis;
use dupsift_core::hash::hash64;

/// The maximum number of characters in a first line. A longer line is body text.
const LONGEST: usize = 200;
/// The maximum number of bytes in a first line, including trailing white space.
const LONGEST_BYTES: usize = 1024;
/// A line that begins with one of these characters is part of a quotation or a table.
const NO_TITLE_BEGINS: [char; 2] = ['>', '|'];
/// A line that ends with one of these characters is an incomplete sentence.
const NO_TITLE_ENDS: [char; 8] = [',', ':', ';', '-', '、', '，', '：', '；'];

/// The first nonblank line of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heading {
    /// A hash of the line's normal form; the lowest bit is set if the line may be a title.
    packed: u64,
}

impl Heading {
    /// Returns the heading of a document; `None` if there is no first line or if it has more than 200 characters.
    pub fn of(document: &Analysis<'_>) -> Option<Heading> {
        let (first, may_be_title) = first_line(document.raw())?;
        let hash = hash64(document.beside(first).text().as_bytes());
        Some(Heading { packed: (hash & !1).max(2) | u64::from(may_be_title) })
    }

    /// Packs the heading into a nonzero number.
    pub fn pack(self) -> u64 {
        self.packed
    }

    /// Unpacks the output of [`Heading::pack`]; returns `None` for 0.
    pub fn unpack(packed: u64) -> Option<Heading> {
        (packed != 0).then_some(Heading { packed })
    }

    /// Returns a hash of the line's normal form.
    pub fn line(self) -> u64 {
        self.packed & !1
    }

    /// Returns whether the line may be a title.
    pub fn may_be_title(self) -> bool {
        self.packed & 1 == 1
    }
}

/// Returns the first line of a document, unchanged, if that line may be a title.
pub fn first_title<'a>(document: &Analysis<'a>) -> Option<&'a str> {
    first_line(document.raw()).filter(|(_, may_be_title)| *may_be_title).map(|(first, _)| first)
}

/// Returns the first nonblank line, and whether that line may be a title.
fn first_line(raw: &str) -> Option<(&str, bool)> {
    // Only the beginning of the text is read.
    let raw = raw.trim_start();
    let end = match memchr::memchr2(b'\n', b'\r', &raw.as_bytes()[..raw.len().min(LONGEST_BYTES + 1)]) {
        Some(end) => end,
        None if raw.len() <= LONGEST_BYTES => raw.len(),
        None => return None,
    };
    let first = raw[..end].trim_end();
    if first.is_empty() || first.chars().nth(LONGEST).is_some() {
        return None;
    }
    // The text after a title does not continue the title's sentence.
    let goes_on = raw[end..].trim_start().chars().next().is_none_or(char::is_lowercase);
    Some((first, !goes_on && !first.starts_with(NO_TITLE_BEGINS) && !first.ends_with(NO_TITLE_ENDS)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pipeline, TextOptions};

    fn of(text: &str) -> Option<Heading> {
        let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
        Heading::of(&pipeline.analyse(text))
    }

    #[test]
    fn lines_are_equal_in_their_normal_form() {
        let line = |text: &str| of(text).map(Heading::line);
        assert_eq!(line("Rates rise\nThe bank"), line("\r\n \n  RATES\u{3000} rise\t\r\nAnother text"));
        assert_ne!(line("Rates rise\nThe bank"), line("Rates fall\nThe bank"));
        assert_eq!(line("网页 １\n正文"), line("网页 1\n另一篇"));
        assert!(of("").is_none() && of(" \n\t\n").is_none());
        assert!(of(&"а".repeat(200)).is_some() && of(&"а".repeat(201)).is_none());
        assert_eq!(of("a\nB").map(|heading| Heading::unpack(heading.pack())), Some(of("a\nB")));
        assert_eq!(Heading::unpack(0), None);
    }

    #[test]
    fn a_title_has_a_text_behind_it_and_is_no_half_sentence() {
        let is_title = |text: &str| of(text).is_some_and(Heading::may_be_title);
        assert!(is_title("Rates rise\n\nThe bank said") && is_title("通知\n各位") && is_title("Rates rise\n1. of all"));
        assert!(!is_title("Rates rise") && !is_title("Rates rise\nand fall"));
        assert!(!is_title("> Rates rise\nNo") && !is_title("John wrote:\nNo") && !is_title("今天，\nNo"));
    }
}
