//! Holds a text of an evaluation set as words.

use dupsift_core::hash::mix64;
use dupsift_text::number_words::number_words;
use dupsift_text::numbers::value;
use dupsift_text::{Analysis, Token};

/// The number of words of an item that a text must contain. Fewer words are a name or a stock phrase, which many texts contain.
pub const LEAST_WORDS: f32 = 9.0;

/// The number of words that a choice or an answer beside a question counts as, if it is shorter.
pub(crate) const LEAST_BESIDE: f32 = 2.0;

/// The dash that is used in ranges, and often as a minus sign.
const EN_DASH: char = '\u{2013}';

/// The number of words that a Chinese character counts as.
const HAN_WORD: f32 = 0.6;

/// Holds the tokens of a question, a choice or an answer.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// The token hashes.
    pub hashes: Vec<u64>,
    /// The numbers of a question.
    pub(crate) numbers: Numbers,
    /// The number of words.
    pub(crate) size: f32,
}

impl Words {
    /// Returns the words of a choice or an answer.
    pub fn of(text: &Analysis<'_>) -> Words {
        let tokens = text.tokens();
        Words {
            hashes: tokens.iter().map(|token| token.hash).collect(),
            numbers: Numbers::default(),
            size: tokens.iter().map(size).sum(),
        }
    }

    /// Returns the words of a question, with its numbers.
    pub fn of_question(text: &Analysis<'_>) -> Words {
        Words { numbers: Numbers { digits: with_digits(text), words: in_words(text) }, ..Words::of(text) }
    }

    /// Returns words with these hashes.
    #[cfg(test)]
    pub(crate) fn made(hashes: &[u64]) -> Words {
        Words { hashes: hashes.to_vec(), numbers: Numbers::default(), size: hashes.len() as f32 }
    }

    /// Returns the size in bytes while an item is being read.
    pub fn bytes(&self) -> u64 {
        (8 * self.hashes.len() + size_of::<Words>()) as u64 + self.number_bytes()
    }

    /// Returns the size of the numbers in bytes.
    pub fn number_bytes(&self) -> u64 {
        let bytes = |number: &Number| 2 * size_of::<Number>() + number.value.len().next_multiple_of(16) + 16;
        let words = 2 * size_of_val(&self.numbers.words[..]);
        (self.numbers.digits.iter().map(bytes).sum::<usize>() + words) as u64
    }
}

/// Returns the number of words that a token counts as.
pub(crate) fn size(token: &Token) -> f32 {
    if token.han { HAN_WORD } else { 1.0 }
}

/// Holds the numbers of a text, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbers {
    /// The tokens that contain digits.
    pub digits: Vec<Number>,
    /// The first token and the value of each number that is written in words.
    pub words: Vec<(u32, u64)>,
}

/// Holds a token that contains digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    /// The position of the token.
    pub at: u32,
    /// The digits, and a point before a fraction. There are no thousands separators and no zeros at the end of a fraction, so that the same
    /// value is the same string.
    pub value: Box<str>,
    /// Whether the token continues the number in the token before it.
    pub is_joined: bool,
    /// The sign before the number.
    pub sign: Sign,
}

/// The sign before a number. A dash may be a minus sign or part of a range, so it differs only from a plus sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sign {
    #[default]
    None,
    Plus,
    /// A minus sign between two operands, or a dash.
    Dash,
    /// A minus sign that belongs to the number.
    Minus,
}

impl Sign {
    /// Returns whether numbers with these signs differ, if their digits are the same.
    pub(crate) fn differs(self, other: Sign) -> bool {
        let is = |one, two| (self, other) == (one, two) || (other, self) == (one, two);
        is(Sign::Plus, Sign::Minus) || is(Sign::Plus, Sign::Dash) || is(Sign::None, Sign::Minus)
    }
}

/// Returns a hash of a text's words, except those with digits. Copies of a page that differ only in page numbers or dates have the same hash.
pub fn wording(text: &Analysis<'_>) -> u64 {
    let (normal, tokens) = (text.text(), text.tokens());
    let (mut hash, mut at) = (0, 0);
    text.each_token(&mut |place| {
        if !normal[place].bytes().any(|byte| byte.is_ascii_digit()) {
            hash = mix64(hash ^ tokens[at].hash);
        }
        at += 1;
    });
    hash
}

/// Returns the tokens of a text that contain digits, in order.
pub(crate) fn with_digits(text: &Analysis<'_>) -> Vec<Number> {
    let normal = text.text();
    let (mut found, mut at, mut end) = (Vec::new(), 0, 0);
    if !normal.bytes().any(|byte| byte.is_ascii_digit()) {
        return found;
    }
    text.each_token(&mut |place| {
        let token = &normal[place.clone()];
        if token.bytes().any(|byte| byte.is_ascii_digit()) {
            let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
            let mark = &normal[end..place.start];
            let is_joined = matches!(mark, "." | "," | ":")
                && is_digit(normal[..end].chars().next_back())
                && is_digit(token.chars().next());
            let is_group = mark == "," && token.split('.').next().is_some_and(|whole| whole.len() == 3);
            let value = if is_joined && !is_group { value_of(&format!("{mark}{token}")) } else { value_of(token) };
            found.push(Number { at, value: value.into(), is_joined, sign: sign_before(&normal[..place.start]) });
        }
        end = place.end;
        at += 1;
    });
    found
}

/// Returns the first token and the value of each number that is written in words, in order.
pub(crate) fn in_words(text: &Analysis<'_>) -> Vec<(u32, u64)> {
    let mut numbers = number_words(text.text()).into_iter().peekable();
    let (mut found, mut at) = (Vec::new(), 0);
    if numbers.peek().is_none() {
        return found;
    }
    text.each_token(&mut |place| {
        found.extend(numbers.next_if(|(start, _)| *start <= place.start).map(|(_, value)| (at, value)));
        at += 1;
    });
    found
}

/// Returns the digits of a token, with a point before each part but the first one.
fn value_of(token: &str) -> String {
    let value = value(token);
    let mut parts = value.split(['.', ',', ':']);
    let is_fraction = parts.clone().count() == 2 && !value.contains(':');
    let digits = |part: &str| part.chars().filter(char::is_ascii_digit).collect::<String>();
    let mut all = parts.next().map(digits).unwrap_or_default();
    for part in parts.map(digits) {
        let part = if is_fraction { part.trim_end_matches('0') } else { &part };
        if !part.is_empty() {
            all.extend([".", part]);
        }
    }
    all
}

/// Returns the numbers as one string, with a space between two numbers. Groups of three digits count as part of the number before them, so
/// that `1 200` and `1200` are equal.
pub(crate) fn joined<'n>(numbers: impl Iterator<Item = &'n Number>) -> String {
    let mut all = String::new();
    for number in numbers {
        let last = &all[all.rfind(' ').map_or(0, |space| space + 1)..];
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let whole = number.value.split('.').next().unwrap_or_default();
        let is_group = whole.len() == 3 && digits(last) && !last.is_empty() && !last.starts_with('0');
        if !all.is_empty() && !number.is_joined && !is_group {
            all.push(' ');
        }
        all.push_str(&number.value);
    }
    all
}

/// Returns the sign at the end of the text before a number.
fn sign_before(before: &str) -> Sign {
    let sign = before.trim_end();
    let is_attached = sign.len() == before.len();
    match sign.chars().next_back() {
        Some('+') => Sign::Plus,
        Some(minus @ ('-' | '\u{2212}' | EN_DASH)) => {
            let left = &sign[..sign.len() - minus.len_utf8()];
            // An en dash after a number is part of a range (`10 –15`).
            let is_range = minus == EN_DASH && left.trim_end().ends_with(|c: char| c.is_ascii_digit());
            match left.chars().next_back() {
                Some(' ' | '(' | '[' | '=' | '<' | '>' | '^' | '*' | '/' | ',' | ':') if is_attached && !is_range => {
                    Sign::Minus
                }
                _ => Sign::Dash,
            }
        }
        _ => Sign::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_text::{Pipeline, TextOptions};

    #[test]
    fn the_same_value_is_the_same_string() {
        for (token, value) in [
            ("1,200", "1200"),
            ("1200", "1200"),
            ("100.00", "100"),
            ("3.50", "3.5"),
            ("3.5", "3.5"),
            ("3,5", "3.5"),
            ("0,030", "0.03"),
            ("72.5", "72.5"),
            ("725", "725"),
            ("10.2.0", "10.2.0"),
            ("co2", "2"),
            ("2:30", "2.30"),
        ] {
            assert_eq!(value_of(token), value, "{token}");
        }
    }

    #[test]
    fn numbers_have_decimal_points_and_no_separators() {
        let pipeline = Pipeline::new(&TextOptions::default()).expect("valid options");
        let of = |text: &str| joined(with_digits(&pipeline.analyse(text)).iter());
        for (text, numbers) in [
            ("72.5 and 725", "72.5 725"),
            ("72,5 or 3,50 or 100,00", "72.5 3.5 100"),
            ("1,200 and 1 200 and 1200", "1200 1200 1200"),
            ("1,200.50", "1200.5"),
            ("12:30 on 15.03.2024", "12.30 15.03.2024"),
            ("1, 2, 3", "1 2 3"),
            ("12 3", "12 3"),
            ("no number", ""),
        ] {
            assert_eq!(of(text), numbers, "{text}");
        }
    }

    #[test]
    fn numbers_do_not_change_the_wording() {
        let pipeline = Pipeline::new(&TextOptions::default()).expect("valid options");
        let of = |text: &str| wording(&pipeline.analyse(text));
        assert_eq!(of("Page 7 of 20. A text"), of("page 12 of 1,200: a text"));
        assert_ne!(of("A text"), of("text A"));
        assert_ne!(of("第三页"), of("第四页"));
    }

    #[test]
    fn a_sign_belongs_to_the_number_after_it() {
        for (before, sign) in [
            ("3x+", Sign::Plus),
            ("3x + ", Sign::Plus),
            ("3x-", Sign::Dash),
            ("3x \u{2212} ", Sign::Dash),
            ("3x\u{2013}", Sign::Dash),
            ("3x \u{2013} ", Sign::Dash),
            ("10-", Sign::Dash),
            ("10\u{2013}", Sign::Dash),
            ("10 \u{2013}", Sign::Dash),
            ("is -", Sign::Minus),
            ("(\u{2212}", Sign::Minus),
            ("10^-", Sign::Minus),
            ("is \u{2013}", Sign::Minus),
            ("- ", Sign::Dash),
            ("", Sign::None),
            ("x ", Sign::None),
        ] {
            assert_eq!(sign_before(before), sign, "{before}");
        }
        assert!(Sign::Plus.differs(Sign::Dash) && Sign::Minus.differs(Sign::None));
        assert!(
            !Sign::Dash.differs(Sign::None) && !Sign::Dash.differs(Sign::Minus),
            "a range, or another way to write it"
        );
    }
}
