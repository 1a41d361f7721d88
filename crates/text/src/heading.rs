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

/// The maximum number of digits in an ordinal number. A longer number is a year or a quantity.
const MOST_DIGITS: usize = 3;

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

/// The lines that may state what a document is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TitleLines<'a> {
    /// The first nonblank line.
    pub first: &'a str,
    /// The next line that contains a letter or digit; `None` if the first line is the complete text.
    pub next: Option<&'a str>,
}

impl<'a> TitleLines<'a> {
    /// Returns the lines of a document whose first line may be a title or is the complete text.
    pub fn of(document: &Analysis<'a>) -> Option<TitleLines<'a>> {
        let raw = document.raw().trim();
        let (first, may_be_title) = first_line(raw)?;
        let rest = raw[first.len()..].split(['\n', '\r']);
        let next = rest.map(str::trim).find(|line| line.contains(char::is_alphanumeric));
        (may_be_title || first.len() == raw.len()).then_some(TitleLines { first, next })
    }

    /// Returns the first line without the number that leads it and without a remark in parentheses at its end. Neither says what the
    /// document is about: a question keeps its meaning under another number, and `Portable` in `CMake (Portable)` names a variant.
    pub fn core(&self) -> &'a str {
        let line = self.first.trim_start_matches('#').trim();
        let line = line[ordinal(line)..].trim_start();
        let has_words = |line: &&str| line.contains(char::is_alphanumeric);
        without_remark(line).filter(has_words).unwrap_or(line)
    }

    /// Returns the next line if it may be part of a title: it is short, and does not begin a section or a list, as in a list of changes.
    pub fn short_next(&self) -> Option<&'a str> {
        self.next.filter(|line| line.chars().nth(LONGEST).is_none() && !begins_section(line))
    }
}

/// Returns whether a line is a heading or an item of a list.
fn begins_section(line: &str) -> bool {
    let text = line.trim_start_matches('#');
    let text = if text.len() < line.len() { text } else { line.trim_start_matches(['*', '-', '+', '•']) };
    text.len() < line.len() && text.starts_with(char::is_whitespace)
}

/// Returns the last line that contains a letter, if it is not the only line that does and has at most `most` bytes and no digits.
pub fn short_last_line<'a>(document: &Analysis<'a>, most: usize) -> Option<&'a str> {
    let raw = document.raw().trim_end();
    let start = raw.rfind(['\n', '\r'])? + 1;
    let last = raw[start..].trim();
    let is_short = last.len() <= most && last.contains(char::is_alphabetic) && !last.contains(char::is_numeric);
    (is_short && raw[..start].contains(char::is_alphanumeric)).then_some(last)
}

/// Returns the length of the ordinal number that leads a line, with the marks around it, or 0: `11. `, `(3) `, `# 2、`. A decimal, a year
/// and a number that nothing follows are not ordinals.
pub fn ordinal(line: &str) -> usize {
    let number = line.trim_start_matches(|mark: char| mark.is_whitespace() || "#(（[【".contains(mark));
    let behind = number.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let digits = number.len() - behind.len();
    let mut rest = behind.trim_start().chars();
    let is_mark = rest.next().is_some_and(|mark| ".)、．）]】".contains(mark));
    let rest = rest.as_str();
    let is_ordinal = (1..=MOST_DIGITS).contains(&digits) && is_mark && !rest.starts_with(|c: char| c.is_ascii_digit());
    if is_ordinal && rest.contains(char::is_alphanumeric) { line.len() - rest.len() } else { 0 }
}

/// Returns a line without the parentheses at its end; `None` if there are none.
fn without_remark(line: &str) -> Option<&str> {
    let inside = line.trim_end().strip_suffix([')', '）'])?;
    let open = inside.rfind(['(', '（', ')', '）'])?;
    inside[open..].starts_with(['(', '（']).then(|| line[..open].trim_end())
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
    let text = raw[end..].trim_start();
    let goes_on = text.chars().next().is_none_or(char::is_lowercase) && !is_name_with_signature(first, text);
    Some((first, !goes_on && !first.starts_with(NO_TITLE_BEGINS) && !first.ends_with(NO_TITLE_ENDS)))
}

/// Returns whether a line is a name, and the text after it begins with a qualified name or a signature: `argmin`, `pandas.Series.argmin()`.
fn is_name_with_signature(line: &str, text: &str) -> bool {
    let word = text.split(char::is_whitespace).next().unwrap_or_default();
    // A mark at the end of a word is punctuation.
    let inside = word.trim_end_matches(|mark: char| !mark.is_alphanumeric() && mark != ')');
    !line.contains(char::is_whitespace) && inside.contains(['.', '(', '_', ':'])
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
    fn a_number_before_a_title_and_a_remark_behind_it_are_no_part_of_it() {
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let core = |text: &str| TitleLines::of(&pipeline.analyse(text)).map(|lines| lines.core().to_owned());
        let is = |text: &str, expected: &str| assert_eq!(core(text).as_deref(), Some(expected), "{text}");
        is("11. A triangle\nFind it", "A triangle");
        is("# 3) A triangle (5 points)\nFind it", "A triangle");
        is("15. （5 分）数列", "（5 分）数列");
        is("CMake (Portable)\nBuilds", "CMake");
        is("辦法（107.09.21訂定）\n第 1 條", "辦法");
        is("1.5 degrees\nThe", "1.5 degrees");
        is("2016. A year\nThe", "2016. A year");
        is("(all of it)\nThe", "(all of it)");
        is("12.\nThe", "12.");
        assert_eq!(core("and so on,\nThe"), None);
    }

    #[test]
    fn the_next_line_and_the_last_one() {
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let next = |text: &str| TitleLines::of(&pipeline.analyse(text)).map(|lines| lines.next.map(str::to_owned));
        assert_eq!(next("fold\n----\n\n  nn.fold(x)\nFolds"), Some(Some("nn.fold(x)".to_owned())));
        assert_eq!(next("only this line"), Some(None));
        let short = |text: &str| {
            TitleLines::of(&pipeline.analyse(text)).and_then(|lines| lines.short_next().map(str::to_owned))
        };
        assert_eq!(short("fold\n\n  nn.fold(x)\nFolds"), Some("nn.fold(x)".to_owned()));
        for section in ["### Added", "* Adds a file", "- Adds", "• Adds"] {
            assert_eq!(short(&format!("# [Unreleased]\n\n{section}\nMore")), None, "{section}");
        }
        assert_eq!(short("nn.fold\n-x --y\nFolds"), Some("-x --y".to_owned()));
        let last = |text: &str| short_last_line(&pipeline.analyse(text), 32).map(str::to_owned);
        assert_eq!(last("Is it?\nYes.\n"), Some("Yes.".to_owned()));
        assert_eq!((last("Yes."), last("Is it?\n© 2019 Ann"), last("Is it?\n***")), (None, None, None));
    }

    #[test]
    fn a_title_has_a_text_behind_it_and_is_no_half_sentence() {
        let is_title = |text: &str| of(text).is_some_and(Heading::may_be_title);
        assert!(is_title("Rates rise\n\nThe bank said") && is_title("通知\n各位") && is_title("Rates rise\n1. of all"));
        assert!(!is_title("Rates rise") && !is_title("Rates rise\nand fall"));
        assert!(is_title("argmin\npandas.Series.argmin(axis=None)\nReturns") && is_title("dump\njson.dump\nWrites"));
        assert!(
            !is_title("argmin\nreturns the position")
                && !is_title("Rates\nrise. The")
                && !is_title("Rates rise\nin a.b")
        );
        assert!(!is_title("> Rates rise\nNo") && !is_title("John wrote:\nNo") && !is_title("今天，\nNo"));
    }
}
