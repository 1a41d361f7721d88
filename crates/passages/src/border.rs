//! Defines where a cut may begin or end: between words (each Han character counts as a word), but never within a grapheme cluster.

use dupsift_text::is_han;
use icu_segmenter::{GraphemeClusterSegmenter, GraphemeClusterSegmenterBorrowed};

const CLUSTERS: GraphemeClusterSegmenterBorrowed<'static> = GraphemeClusterSegmenter::new();

/// The number of characters to inspect before a position, which is more than a letter with its combining marks or a joined emoji contains.
const LOOKED_AT: usize = 24;

/// Returns whether a position in a text is between two words.
pub(crate) fn is_border(text: &str, at: usize) -> bool {
    let (Some(before), Some(after)) = (text[..at].chars().next_back(), text[at..].chars().next()) else { return true };
    if before == ' ' || after == ' ' {
        return true;
    }
    if before.is_ascii() && after.is_ascii() {
        return !joins(before, after, text[..at].chars().rev().nth(1), text[at..].chars().nth(1));
    }
    let from = text[..at].char_indices().rev().take(LOOKED_AT).last().map_or(0, |(from, _)| from);
    let to = at + after.len_utf8();
    let near = &text[from..to];
    let mut start = 0;
    for cluster in CLUSTERS.segment_str(near) {
        if from + cluster < at {
            start = cluster;
        } else if from + cluster == at {
            // The letter to which the combining marks before the position belong.
            let letter = near[start..].chars().next().unwrap_or(before);
            return !joins(letter, after, near[..start].chars().next_back(), text[to..].chars().next());
        }
    }
    false
}

/// Returns whether two neighboring characters belong to the same word. `first` and `last` are the characters on either side of the pair.
fn joins(before: char, after: char, first: Option<char>, last: Option<char>) -> bool {
    let letter = |c: char| (c.is_alphanumeric() || c == '_') && !is_han(c);
    let inner = |c: char| matches!(c, '\'' | '’');
    (letter(before) && letter(after))
        || (letter(before) && inner(after) && last.is_some_and(letter))
        || (inner(before) && letter(after) && first.is_some_and(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<&str> {
        let (mut parts, mut from) = (Vec::new(), 0);
        for (at, _) in text.char_indices().skip(1) {
            if is_border(text, at) {
                parts.push(&text[from..at]);
                from = at;
            }
        }
        parts.push(&text[from..]);
        parts
    }

    #[test]
    fn words_and_clusters_stay_whole() {
        for (text, expected) in [
            ("Don't cut, re-do.", &["Don't", " ", "cut", ",", " ", "re", "-", "do", "."][..]),
            ("中文a1字", &["中", "文", "a1", "字"]),
            ("и\u{306}е\u{301}ж. Мир", &["и\u{306}е\u{301}ж", ".", " ", "Мир"]),
            ("👩\u{200D}👩\u{200D}👧👍🏽!", &["👩\u{200D}👩\u{200D}👧", "👍🏽", "!"]),
            ("🇨🇳🇷🇺", &["🇨🇳", "🇷🇺"]),
            ("葛\u{E0100}城", &["葛\u{E0100}", "城"]),
            ("l’été", &["l’été"]),
            ("snake_case", &["snake_case"]),
        ] {
            assert_eq!(parts(text), expected);
        }
        assert!(is_border("", 0) && is_border("ab", 0) && is_border("ab", 2));
    }
}
