//! Splits the title of a page into parts: its topic, and often the name of its site.
//!
//! A title is split at each `|`, and at each `_`, hyphen, dash or U+00B7 that has a space on both sides. The split uses the normalized
//! text, where full-width punctuation is ASCII. The algorithm decides which part is the name of the site: the part that many titles share,
//! or every part except the longest.
//!
//! ```text
//! "Погода в Москве - Новости" -> "погода в москве", "новости"      "one-two_three" -> "one-two_three"
//! ```

use std::ops::Range;

/// The minimum length of an informative part, in characters.
const LEAST_CHARACTERS: usize = 4;

/// Returns the ranges of the nonempty parts of a normalized title.
pub(crate) fn parts(title: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut push = |part: Range<usize>| {
        let text = &title[part.clone()];
        let start = part.start + (text.len() - text.trim_start().len());
        parts.extend((!text.trim().is_empty()).then(|| start..start + text.trim().len()));
    };
    let mut start = 0;
    for (at, mark) in title.match_indices(['_', '|', '-', '–', '—', '·']) {
        let end = at + mark.len();
        if mark == "|" || title[..at].ends_with(' ') && title[end..].starts_with(' ') {
            push(start..at);
            start = end;
        }
    }
    push(start..title.len());
    parts
}

/// Returns the range of the longest part (the first one if several parts are equally long). If the longest part has fewer than four
/// characters, returns the whole title.
pub(crate) fn longest(title: &str) -> Range<usize> {
    let length = |part: &Range<usize>| title[part.clone()].chars().count();
    let longest = parts(title).into_iter().rev().max_by_key(length);
    longest.filter(|part| length(part) >= LEAST_CHARACTERS).unwrap_or(0..title.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_text::{Pipeline, TextOptions};

    #[test]
    fn parts_end_at_marks_between_spaces() {
        for (title, expected, longest_is) in [
            ("Погода в Москве - Новости", &["погода в москве", "новости"][..], "погода в москве"),
            ("新浪网｜网页去重算法", &["新浪网", "网页去重算法"], "网页去重算法"),
            ("网页去重算法_新浪网", &["网页去重算法_新浪网"], "网页去重算法_新浪网"),
            ("网页去重算法 _ 新浪网", &["网页去重算法", "新浪网"], "网页去重算法"),
            ("Site · The well-known title — Blog", &["site", "the well-known title", "blog"], "the well-known title"),
            ("abcd | efgh", &["abcd", "efgh"], "abcd"),
            ("one-two", &["one-two"], "one-two"),
            ("| a || - ", &["a", "-"], "| a || -"),
            // No part is long enough.
            ("a | b - c", &["a", "b", "c"], "a | b - c"),
            ("", &[], ""),
        ] {
            let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
            let document = pipeline.analyse(title);
            let text = document.text();
            assert_eq!(parts(text).into_iter().map(|part| &text[part]).collect::<Vec<_>>(), expected, "{title:?}");
            assert_eq!(&text[longest(text)], longest_is, "{title:?}");
        }
    }
}
