//! Holds a text of an evaluation set as words.

use dupsift_text::numbers::value;
use dupsift_text::{Analysis, Token};

/// The number of words of an item that a text must contain. Fewer words are a name or a stock phrase, which many texts contain.
pub const LEAST_WORDS: f32 = 9.0;

/// The number of words that a choice or an answer beside a question counts as, if it is shorter.
pub(crate) const LEAST_BESIDE: f32 = 2.0;

/// The number of words that a Chinese character counts as.
const HAN_WORD: f32 = 0.6;

/// Holds the tokens of a question, a choice or an answer.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// The token hashes.
    pub hashes: Vec<u64>,
    /// The hash and the digits of each token that contains digits.
    pub(crate) digits: Vec<(u64, Box<str>)>,
    /// The number of words.
    pub(crate) size: f32,
}

impl Words {
    /// Returns the words of a text.
    pub fn of(text: &Analysis<'_>) -> Words {
        let tokens = text.tokens();
        let digits = digits(text).into_iter().map(|(at, digits)| (tokens[at as usize].hash, digits.into()));
        Words {
            hashes: tokens.iter().map(|token| token.hash).collect(),
            digits: digits.collect(),
            size: tokens.iter().map(size).sum(),
        }
    }

    /// Returns words with these hashes.
    #[cfg(test)]
    pub(crate) fn made(hashes: &[u64]) -> Words {
        Words { hashes: hashes.to_vec(), digits: Vec::new(), size: hashes.len() as f32 }
    }

    /// Returns the size in bytes while an item is being read.
    pub fn bytes(&self) -> u64 {
        let digits: usize = self.digits.iter().map(|(_, digits)| digits.len() + A_NUMBER).sum();
        (8 * self.hashes.len() + digits + size_of::<Words>()) as u64
    }
}

/// The number of bytes that a token with digits takes in addition to its digits, in the list and in the map of all of them.
const A_NUMBER: usize = 96;

/// Returns the number of words that a token counts as.
pub(crate) fn size(token: &Token) -> f32 {
    if token.han { HAN_WORD } else { 1.0 }
}

/// Returns the positions of the tokens that contain digits, with their digits, in order. Thousands separators and zeros at the end of a
/// fraction are left out, so that the same value has the same digits.
pub(crate) fn digits(text: &Analysis<'_>) -> Vec<(u32, String)> {
    let normal = text.text();
    let (mut found, mut at) = (Vec::new(), 0);
    if !normal.bytes().any(|byte| byte.is_ascii_digit()) {
        return found;
    }
    text.each_token(&mut |place| {
        if let Some(digits) = digits_of(&normal[place]) {
            found.push((at, digits));
        }
        at += 1;
    });
    found
}

fn digits_of(token: &str) -> Option<String> {
    if !token.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value = value(token);
    let whole = match value.split_once(['.', ',']) {
        Some((_, fraction)) if fraction.bytes().all(|byte| byte.is_ascii_digit()) => value.trim_end_matches('0'),
        _ => &value,
    };
    Some(whole.chars().filter(char::is_ascii_digit).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_value_has_the_same_digits() {
        for (token, digits) in [
            ("1,200", "1200"),
            ("1200", "1200"),
            ("100.00", "100"),
            ("3.50", "35"),
            ("3.5", "35"),
            ("0,030", "003"),
            ("0.03", "003"),
            ("10.2.0", "1020"),
            ("co2", "2"),
            ("2:30", "230"),
        ] {
            assert_eq!(digits_of(token).as_deref(), Some(digits), "{token}");
        }
        assert_eq!(digits_of("twelve"), None);
    }
}
