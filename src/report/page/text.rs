//! Formats text and numbers for the page.

use std::borrow::Cow;

use serde::Serialize;

use crate::report::thousands;
use dupsift_core::number;

/// The maximum length of a name in a heading, in characters.
const HEADING_CHARACTERS: usize = 80;
/// The maximum length of an id that is shown next to another id, in characters.
const BESIDE_CHARACTERS: usize = 48;

/// Makes external text safe to show. Control characters become visible symbols, and line separators and direction marks are spelled out, so
/// that readers see the actual text.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            // A Windows line break counts as one line break.
            '\r' if rest.peek() == Some(&'\n') => {}
            '\u{0}'..='\u{1F}' if is_unsafe(letter) => safe.extend(char::from_u32(0x2400 + letter as u32)),
            '\u{7F}' => safe.push('\u{2421}'),
            letter if is_unsafe(letter) => safe += &format!("[U+{:04X}]", letter as u32),
            letter => safe.push(letter),
        }
    }
    Cow::Owned(safe)
}

/// Returns a name in the form that headings use: made safe by [`plain`], on one line, and without its middle if it is long. The complete
/// name belongs in a title attribute.
pub(crate) fn heading(name: &str) -> String {
    without_middle(&one_line(name), HEADING_CHARACTERS)
}

/// Returns an id for a line that also shows another id. The beginning and end that both ids share are shortened, so that the difference is
/// visible.
pub(crate) fn beside(id: &str, other: &str) -> String {
    let (id, other): (Vec<char>, Vec<char>) = (one_line(id).chars().collect(), one_line(other).chars().collect());
    if id.len() <= BESIDE_CHARACTERS {
        return id.into_iter().collect();
    }
    let same = |one: &mut dyn Iterator<Item = (&char, &char)>| one.take_while(|(x, y)| x == y).count();
    let before = same(&mut id.iter().zip(&other));
    let shorter = id.len().min(other.len());
    let behind = same(&mut id.iter().rev().zip(other.iter().rev())).min(shorter - before);
    let part = |from: usize, to: usize, most: usize| without_middle(&id[from..to].iter().collect::<String>(), most);
    let end = id.len() - behind;
    part(0, before, BESIDE_CHARACTERS / 3)
        + &part(before, end, BESIDE_CHARACTERS)
        + &part(end, id.len(), BESIDE_CHARACTERS / 3)
}

fn one_line(name: &str) -> String {
    plain(name).replace(['\n', '\t'], " ")
}

/// Shortens text to at most `most` characters by omitting the middle.
fn without_middle(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let first = most / 2;
    let last = most - first - 1;
    let begin: String = text.chars().take(first).collect();
    let end: String = text.chars().skip(count - last).collect();
    format!("{begin}…{end}")
}

fn is_unsafe(letter: char) -> bool {
    let direction =
        matches!(letter, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    let separator = matches!(letter, '\u{2028}' | '\u{2029}');
    let code = letter as u32;
    let no_character = (0xFDD0..=0xFDEF).contains(&code) || code & 0xFFFE == 0xFFFE;
    (letter.is_control() && letter != '\n' && letter != '\t') || direction || separator || no_character
}

/// Returns a value as JSON for an attribute that the script of the page reads. Characters that [`plain`] would replace are escaped, so that
/// the script reads the value unchanged.
pub(crate) fn json(value: &impl Serialize) -> String {
    let mut text = String::new();
    for letter in serde_json::to_string(value).unwrap_or_default().chars() {
        match is_unsafe(letter) || letter.is_whitespace() && letter != ' ' {
            true => letter.encode_utf16(&mut [0; 2]).iter().for_each(|unit| text += &format!("\\u{unit:04x}")),
            false => text.push(letter),
        }
    }
    text
}

/// Formats a share or a similarity like `0.874` or `1`, or as `?` if it is unknown.
pub(crate) fn share(value: impl Into<f64>) -> String {
    let value = value.into();
    if !value.is_finite() {
        return "?".into();
    }
    if value >= 1.0 { "1".into() } else { number::share(value) }
}

/// Formats a percentage like `12.3%`. Returns an empty string if `whole` is 0.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { String::new() } else { format!("{:.1}%", 100.0 * part as f64 / whole as f64) }
}

/// Formats a duration like `0.25 s`, `12.3 s` or `3 min 20 s`.
pub(crate) fn seconds(seconds: f64) -> String {
    match seconds {
        below if below < 10.0 => format!("{below:.2} s"),
        below if below < 120.0 => format!("{below:.1} s"),
        more if more < 7200.0 => format!("{} min {} s", more as u64 / 60, more as u64 % 60),
        more => format!("{} h {} min", thousands(more as u64 / 3600), more as u64 / 60 % 60),
    }
}

/// Formats a size in bytes like `37.2 MiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    bytesize::ByteSize(bytes).display().iec().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_long_ids_show_where_they_differ() {
        let id = |version: &str| format!("psdocs:{version}/Microsoft.PowerShell.Core/About/about_Line_Editing");
        assert_eq!(beside(&id("5.1"), &id("7.6")), "psdocs:5.1/Microso…Editing");
        assert_eq!(beside("a/1", "a/2"), "a/1");
        let long = "x".repeat(60);
        assert_eq!(beside(&long, &format!("{long}y")).chars().count(), 16);
        assert_eq!(heading(&"ab".repeat(60)).chars().count(), HEADING_CHARACTERS);
    }

    #[test]
    fn nothing_of_a_text_steers_the_page() {
        assert!(matches!(plain("два\n字\tb"), Cow::Borrowed(_)));
        assert_eq!(plain("a\u{0}b\u{1B}[31m\r\nc\rd\u{7F}"), "a␀b␛[31m\nc␍d␡");
        assert_eq!(plain("x\u{202E}y\u{2069}\u{200F}"), "x[U+202E]y[U+2069][U+200F]");
        assert_eq!(plain("\u{85}\u{FFFE}\u{1FFFF}"), "[U+0085][U+FFFE][U+1FFFF]");
    }

    #[test]
    fn values_for_the_script_are_unchanged() {
        let ids = ["a\u{0}\u{85}\u{202E}\n\u{FFFE}\u{1FFFF}", "\"字\" 'и' </script>"];
        let written = json(&ids);
        assert_eq!(serde_json::from_str::<[String; 2]>(&written).expect("JSON"), ids);
        assert_eq!(plain(&written), written);
    }

    #[test]
    fn long_names_are_cut_in_headings() {
        let long = "имя".repeat(100);
        let shown = heading(&long);
        let (begin, end) = shown.split_once('…').expect("a gap");
        assert_eq!(shown.chars().count(), HEADING_CHARACTERS);
        assert!(long.starts_with(begin) && long.ends_with(end));
        assert_eq!(heading(&long[..160]), long[..160]);
        assert_eq!(heading("a\nb\u{202E}"), "a b[U+202E]");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            [0.0, 0.7, 0.87449, 0.9999, 1.0, f64::NAN].map(share),
            ["0.000", "0.700", "0.874", "0.999", "1", "?"]
        );
        assert_eq!([0.254, 12.34, 200.0, 7261.0].map(seconds), ["0.25 s", "12.3 s", "3 min 20 s", "2 h 1 min"]);
        assert_eq!((percent(1, 8), percent(0, 0)), ("12.5%".into(), String::new()));
    }
}
