//! Extracts the text next to punctuation marks, and splits it into three parts (docs/methods/sentence_marks.md).
//!
//! Marks are found in the raw text, where full-width marks are unchanged and U+2026 has not become three dots. The text next to the marks
//! is taken from the normalized text.

use crate::algorithm::kit::passages::is_unspaced;
use crate::algorithm::kit::raw_places::RawPlaces;
use dupsift_core::hash::hash64;
use dupsift_text::Analysis;

/// Defines which characters are marks, which units next to them are used, and how the result is split.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marks {
    /// Whether units are letters instead of words in scripts written with spaces.
    pub letters: bool,
    /// Whether U+3001 and U+FF1B are marks.
    pub more: bool,
    /// Whether parts have the same number of characters instead of the same number of groups.
    pub by_chars: bool,
}

/// Holds the three parts of a document.
#[derive(Debug)]
pub(crate) struct Parts {
    /// The units of all groups. Each unit is followed by a space and each group by a line feed, unless parts are split by number of
    /// characters.
    string: String,
    /// The end of each part in the string.
    ends: [usize; 3],
}

impl Parts {
    /// Returns the texts of the parts.
    pub(crate) fn texts(&self) -> [&str; 3] {
        let [first, second, third] = self.ends;
        [&self.string[..first], &self.string[first..second], &self.string[second..third]]
    }

    /// Returns the hashes of the parts.
    pub(crate) fn hashes(&self) -> [u64; 3] {
        self.texts().map(|part| hash64(part.as_bytes()))
    }
}

/// Holds the units next to one mark: up to two on its left, and up to two on its right.
pub(crate) type Group<'t> = [Option<&'t str>; 4];

impl Marks {
    /// Returns three parts, or `None` if there are fewer than three groups. If the parts cannot be equally large, earlier parts are larger.
    pub(crate) fn parts(&self, document: &Analysis<'_>) -> Option<Parts> {
        let groups = self.groups(document);
        if groups.len() < 3 {
            return None;
        }
        let mut string = String::new();
        let mut ends = Vec::with_capacity(groups.len());
        for group in &groups {
            for unit in group.iter().flatten() {
                string.push_str(unit);
                if !self.by_chars {
                    string.push(' ');
                }
            }
            if !self.by_chars {
                string.push('\n');
                ends.push(string.len());
            }
        }
        if self.by_chars {
            ends.extend(string.char_indices().map(|(at, c)| at + c.len_utf8()));
        }
        let counts = [ends.len().div_ceil(3), (2 * ends.len()).div_ceil(3), ends.len()];
        Some(Parts { string, ends: counts.map(|count| ends[count - 1]) })
    }

    /// Returns the groups of a document in order, each with at least one unit. Units never extend past the next mark. White space and all
    /// other characters that are not letters or digits are skipped.
    pub(crate) fn groups<'t>(&self, document: &'t Analysis<'_>) -> Vec<Group<'t>> {
        let (raw, text) = (document.raw(), document.text());
        let mut places = RawPlaces::new(document);
        let mut groups: Vec<Group<'t>> = Vec::new();
        let mut close = |start: usize, end: usize, is_last: bool| {
            let piece = &text[start..end];
            if let Some(group) = groups.last_mut() {
                [group[2], group[3]] = two(piece, |rest| first_unit(rest, self.letters));
            }
            if !is_last {
                let [near, far] = two(piece, |rest| last_unit(rest, self.letters));
                groups.push([far, near, None, None]);
            }
        };
        let (mut start, mut at) = (0, 0);
        while at < raw.len() {
            let mark = self.mark_at(raw, at);
            if mark > 0 {
                close(start, places.to(at), false);
                start = places.to(at + mark);
            }
            at += mark.max(1);
        }
        close(start, text.len(), true);
        groups.retain(|group| group.iter().any(Option::is_some));
        groups
    }

    /// Returns the length of the mark that begins at this byte of the raw text, or 0 if there is none. A dot or comma between two digits
    /// is not a mark.
    fn mark_at(&self, raw: &str, at: usize) -> usize {
        let bytes = raw.as_bytes();
        match (bytes[at], bytes.get(at + 1), bytes.get(at + 2)) {
            (b'!' | b'?', ..) => 1,
            (b'.' | b',', ..) => {
                let is_digit = |c: char| c.is_ascii_digit() || ('０'..='９').contains(&c);
                let before = raw[..at].chars().next_back().is_some_and(is_digit);
                usize::from(!(before && raw[at + 1..].chars().next().is_some_and(is_digit)))
            }
            // U+3002; U+FF0C, U+FF01, U+FF1F; U+3001, U+FF1B.
            (0xE3, Some(0x80), Some(0x82)) | (0xEF, Some(0xBC), Some(0x8C | 0x81 | 0x9F)) => 3,
            (0xE3, Some(0x80), Some(0x81)) | (0xEF, Some(0xBC), Some(0x9B)) if self.more => 3,
            _ => 0,
        }
    }
}

/// Returns the first two units that `next` finds. `next` also returns the remaining text.
fn two<'t>(piece: &'t str, next: impl Fn(&'t str) -> Option<(&'t str, &'t str)>) -> [Option<&'t str>; 2] {
    let Some((first, rest)) = next(piece) else { return [None, None] };
    [Some(first), next(rest).map(|second| second.0)]
}

/// Returns whether a character continues a word.
fn goes_on(c: char, letters: bool) -> bool {
    !letters && c.is_alphanumeric() && !is_unspaced(c)
}

/// Returns the first unit of a piece, and the text after it.
fn first_unit(piece: &str, letters: bool) -> Option<(&str, &str)> {
    let start = piece.find(char::is_alphanumeric)?;
    let piece = &piece[start..];
    let first = piece.chars().next()?;
    let end = match goes_on(first, letters) {
        true => piece.find(|c| !goes_on(c, letters)).unwrap_or(piece.len()),
        false => first.len_utf8(),
    };
    Some(piece.split_at(end))
}

/// Returns the last unit of a piece, and the text before it.
fn last_unit(piece: &str, letters: bool) -> Option<(&str, &str)> {
    let end = piece.rfind(char::is_alphanumeric)?;
    let last = piece[end..].chars().next()?;
    let end = end + last.len_utf8();
    let start = match goes_on(last, letters) {
        true => piece[..end].trim_end_matches(|c| goes_on(c, letters)).len(),
        false => end - last.len_utf8(),
    };
    Some((&piece[start..end], &piece[..start]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_text::{Pipeline, TextOptions};

    const EXAMPLE: &str = "今天天气很好，我们去公园玩。大家都很高兴！你觉得怎么样？明天见。";
    const PLAIN: Marks = Marks { letters: false, more: false, by_chars: false };

    fn groups(marks: Marks, text: &str) -> Vec<String> {
        let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
        let document = pipeline.analyse(text);
        marks.groups(&document).iter().map(|group| group.map(Option::unwrap_or_default).join(" ")).collect()
    }

    #[test]
    fn worked_groups() {
        assert_eq!(groups(PLAIN, EXAMPLE), ["很 好 我 们", "园 玩 大 家", "高 兴 你 觉", "么 样 明 天", "天 见  "]);
        // Quotation marks and spaces are skipped if words are units, but punctuation marks are not. Marks in numbers do not count, and
        // neither does U+2026, although it becomes three dots when normalized. A group without units is dropped.
        assert_eq!(groups(PLAIN, "One two three, four «FIVE» six."), ["two three four five", "five six  "]);
        assert_eq!(groups(PLAIN, "В 3.14 и 1,000 Раза！…да"), ["000 раза да "]);
        assert_eq!(groups(PLAIN, "a?! b... c"), [" a  ", "  b ", " b  ", "  c "]);
        let letters = Marks { letters: true, ..PLAIN };
        assert_eq!(groups(letters, "One two, four 网."), ["w o f o", "r 网  "]);
        assert_eq!(groups(Marks { more: true, ..PLAIN }, "一、二；三"), [" 一 二 ", " 二 三 "]);
        assert!(groups(PLAIN, "一、二；三").is_empty());
    }

    #[test]
    fn worked_parts() {
        let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
        let parts = |marks: Marks, text: &str| marks.parts(&pipeline.analyse(text)).map(|parts| parts.hashes());
        let hashes = |parts: [&str; 3]| Some(parts.map(|part| hash64(part.as_bytes())));
        assert_eq!(
            parts(PLAIN, EXAMPLE),
            hashes(["很 好 我 们 \n园 玩 大 家 \n", "高 兴 你 觉 \n么 样 明 天 \n", "天 见 \n"])
        );
        let by_chars = Marks { by_chars: true, ..PLAIN };
        assert_eq!(parts(by_chars, EXAMPLE), hashes(["很好我们园玩", "大家高兴你觉", "么样明天天见"]));
        assert_eq!(parts(PLAIN, "one. two."), None);
    }
}
