//! Splits raw text into clauses: the stretches between commas, semicolons, sentence ends and line breaks.
//!
//! The `sentence` module defines where sentences end; periods in numbers and addresses do not end a sentence. Likewise, a comma or
//! semicolon between two digits does not end a clause, nor does U+3001, the comma in Chinese lists. A clause includes the mark that ends
//! it, and any closing quotation marks and brackets right after that mark.
//!
//! ```text
//! "Yes," he said; it costs 1,000.5 now. -> "Yes,"|he said;|it costs 1,000.5 now.
//! ```

use std::ops::Range;

use super::sentence;

/// Returns whether a character ends a clause within a sentence: an ASCII, full-width or Arabic comma or semicolon.
pub fn is_clause_mark(c: char) -> bool {
    matches!(c, ',' | ';' | '\u{FF0C}' | '\u{FF1B}' | '\u{FE50}' | '\u{FE54}' | '\u{60C}' | '\u{61B}')
}

/// Returns the clauses of the text in order, as nonempty byte ranges without white space at either end.
pub fn clauses(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut line_start = 0;
    for line in text.split_inclusive(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']) {
        let mut from = 0;
        while from < line.len() {
            let end = sentence::piece_end(line, from);
            of_sentence(line, from..end, line_start, &mut found);
            from = end;
        }
        line_start += line.len();
    }
    found
}

/// Appends the clauses of one sentence in a line; the line begins at `offset`.
fn of_sentence(line: &str, sentence: Range<usize>, offset: usize, found: &mut Vec<Range<usize>>) {
    let mut push = |part: Range<usize>| {
        let text = &line[part.clone()];
        let start = offset + part.start + (text.len() - text.trim_start().len());
        let length = text.trim().len();
        if length > 0 {
            found.push(start..start + length);
        }
    };
    let mut start = sentence.start;
    let mut before = None;
    let mut characters = line[sentence.clone()].char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let behind = characters.peek().map(|&(_, next)| next);
        let in_number = before.is_some_and(char::is_numeric) && behind.is_some_and(char::is_numeric);
        before = Some(c);
        if !is_clause_mark(c) || in_number {
            continue;
        }
        let mut end = sentence.start + at + c.len_utf8();
        while let Some((_, closing)) = characters.next_if(|&(_, next)| sentence::is_closing(next)) {
            end += closing.len_utf8();
            before = Some(closing);
        }
        push(start..end);
        start = end;
    }
    push(start..sentence.end);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<&str> {
        clauses(text).into_iter().map(|place| &text[place]).collect()
    }

    #[test]
    fn table_of_cases() {
        for (text, expected) in [
            ("", &[][..]),
            (" \n ", &[]),
            ("one", &["one"]),
            ("\"Yes,\" he said; it costs 1,000.5 now.", &["\"Yes,\"", "he said;", "it costs 1,000.5 now."]),
            ("今天天气很好，我们去公园玩。红、黄、蓝；完", &["今天天气很好，", "我们去公园玩。", "红、黄、蓝；", "完"]),
            ("今天,明天", &["今天,", "明天"]),
            ("Кот, который спит. Он спит!", &["Кот,", "который спит.", "Он спит!"]),
            ("a title\nand a line, cut\r\n", &["a title", "and a line,", "cut"]),
            ("«Да,» — он", &["«Да,»", "— он"]),
            ("１，０００ 个，好", &["１，０００ 个，", "好"]),
            (",,", &[",", ","]),
            ("1, 2", &["1,", "2"]),
        ] {
            assert_eq!(cut(text), expected, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn only_white_space_is_lost(text in "[a1。，,;.!?…\"” \n\r\u{85}\u{2029}я中]{0,40}|\\PC{0,30}") {
            let mut next = 0;
            for place in clauses(&text) {
                let clause = &text[place.clone()];
                proptest::prop_assert!(!clause.is_empty() && clause == clause.trim());
                proptest::prop_assert!(text[next..place.start].trim().is_empty());
                next = place.end;
            }
            proptest::prop_assert!(text[next..].trim().is_empty());
        }
    }
}
