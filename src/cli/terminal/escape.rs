//! Escapes characters that a terminal would interpret: control characters, line and paragraph separators, and direction marks.

use std::borrow::Cow;

/// Escapes control characters (except line feeds and tabs), line and paragraph separators, and direction marks in JSON notation, as in `\u001b`. If the text is JSON, its
/// value does not change.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_obeyed(character) {
            shown += &format!("\\u{:04x}", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Escapes the same characters as [`escaped`] and also line feeds, for text that must fit on a single line.
pub fn one_line(text: &str) -> Cow<'_, str> {
    match escaped(text) {
        shown if shown.contains('\n') => Cow::Owned(shown.replace('\n', "\\n")),
        shown => shown,
    }
}

fn is_obeyed(character: char) -> bool {
    let direction =
        matches!(character, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    let separator = matches!(character, '\u{2028}' | '\u{2029}');
    direction || separator || (character.is_control() && character != '\n' && character != '\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_spelled() {
        assert_eq!(
            escaped("\u{1b}[31mкот\u{7}\r\u{9b}2J\u{202e}\t\n"),
            "\\u001b[31mкот\\u0007\\u000d\\u009b2J\\u202e\t\n"
        );
        assert_eq!(one_line("a\u{2028}b\u{2029}c\u{85}d\u{b}e"), "a\\u2028b\\u2029c\\u0085d\\u000be");
        assert!(matches!(escaped("猫 cat\n"), Cow::Borrowed("猫 cat\n")));
        assert_eq!(one_line("a\nb\u{7f}"), "a\\nb\\u007f");
        // Checks that escaping does not change the value of JSON text.
        let json = serde_json::to_string("\u{1b}\u{7f}\u{85}\u{2028}\n").unwrap();
        assert_eq!(serde_json::from_str::<String>(&escaped(&json)).unwrap(), "\u{1b}\u{7f}\u{85}\u{2028}\n");
    }
}
