//! The title of a page without the name of its site.
//!
//! A title is split at `_` and `|`, and at a hyphen, a dash or U+00B7 between two spaces; its longest part (the first of
//! equal ones) is the title proper, if that has at least four characters (algorithms.md 7.9). All of it on the normalised
//! text, where full-width marks are ASCII.
//!
//! ```text
//! "Погода в Москве - Новости" -> "погода в москве"      "网页去重算法_新浪网" -> "网页去重算法"
//! ```

use std::ops::Range;

use crate::text::Analysis;

/// A part with fewer characters says too little.
const LEAST_CHARACTERS: usize = 4;

/// Where the title proper stands in a normalised title.
pub fn proper(title: &str) -> Range<usize> {
    let mut best = (0, 0..title.len());
    let mut consider = |part: Range<usize>| {
        let text = &title[part.clone()];
        let start = part.start + (text.len() - text.trim_start().len());
        let text = text.trim();
        let length = text.chars().count();
        if length > best.0 {
            best = (length, start..start + text.len());
        }
    };
    let mut start = 0;
    for (at, mark) in title.match_indices(['_', '|', '-', '–', '—', '·']) {
        let end = at + mark.len();
        let between_spaces = title[..at].ends_with(' ') && title[end..].starts_with(' ');
        if between_spaces || mark == "_" || mark == "|" {
            consider(start..at);
            start = end;
        }
    }
    consider(start..title.len());
    if best.0 >= LEAST_CHARACTERS { best.1 } else { 0..title.len() }
}

/// The title proper as a document of its own: its words are those of that part alone, also where an underscore makes one
/// word of its last word and the site's name.
pub fn without_site<'t>(title: &'t Analysis<'_>) -> Analysis<'t> {
    title.part(proper(title.text()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Pipeline, TextOptions};

    #[test]
    fn the_longest_part_is_the_title() {
        for (title, expected) in [
            ("Погода в Москве - Новости", "погода в москве"),
            ("网页去重算法_新浪网", "网页去重算法"),
            ("新浪网｜网页去重算法", "网页去重算法"),
            ("Site · The well-known title — Blog", "the well-known title"),
            ("abcd | efgh", "abcd"),
            ("one-two", "one-two"),
            // No part is long enough.
            ("a | b - c", "a | b - c"),
            ("", ""),
        ] {
            let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
            let document = pipeline.analyse(title);
            assert_eq!(&document.text()[proper(document.text())], expected);
        }
    }

    #[test]
    fn words_of_the_title_alone_also_as_stems() {
        for (stem, title, expected) in [
            (false, "Новости дня - Погода стала лучше в Москве", "погода стала лучше в москве"),
            (true, "Новости дня - Погода стала лучше в Москве", "погод стал лучш в москв"),
            (true, "Cat's running dogs' houses | Pets", "cat run dog hous"),
            (true, "Pets | Cat's running dogs' houses", "cat run dog hous"),
            (false, "网页去重算法_新浪网", "网页 去 重 算法"),
            (false, "Long title words_Site", "long title words"),
            (true, "Погода в Москве завтра_Новости", "погод в москв завтр"),
        ] {
            let pipeline = Pipeline::new(&TextOptions { stem, ..TextOptions::default() }).expect("default options");
            let document = pipeline.analyse(title);
            assert_eq!(without_site(&document).canonical(), expected);
        }
    }
}
