//! Recognizes the tokens that may be labels of choices: single letters and digits, and Roman numerals up to VIII.
//!
//! The same choices are labeled `A.`, `(a)`, `1)`, `Ⅰ.`, `①` or `Б)`, or not at all. N-grams skip such tokens, in items and in texts, so that
//! choices have the same n-grams with any labels. Two such tokens in a row are a part of a formula and are not skipped. Comparisons of an
//! item with a text skip nothing.

use std::sync::LazyLock;

use dupsift_core::hash::hash64;

/// The number of slots in the table of hashes, a power of two.
const SLOTS: usize = 1024;

/// The hashes of all labels in an open-addressing table; 0 is an empty slot.
static LABELS: LazyLock<Box<[u64; SLOTS]>> = LazyLock::new(|| {
    let mut table = Box::new([0; SLOTS]);
    let letters = ('a'..='z').chain('а'..='я').chain('0'..='9').map(String::from);
    for label in letters.chain(["ii", "iii", "iv", "vi", "vii", "viii"].map(String::from)) {
        let hash = hash64(label.as_bytes());
        let mut at = slot(hash);
        while table[at] != 0 {
            at = (at + 1) % SLOTS;
        }
        table[at] = hash;
    }
    table
});

fn slot(hash: u64) -> usize {
    (hash >> 40) as usize % SLOTS
}

/// Recognizes labels by their hash.
#[derive(Clone, Copy, Debug)]
struct Labels(&'static [u64; SLOTS]);

impl Labels {
    /// Returns the labels.
    fn new() -> Labels {
        Labels(&LABELS)
    }

    /// Returns whether the token with this hash may be a label.
    #[inline]
    fn has(self, hash: u64) -> bool {
        let mut at = slot(hash);
        loop {
            match self.0[at] {
                0 => return false,
                label if label == hash => return true,
                _ => at = (at + 1) % SLOTS,
            }
        }
    }
}

/// Calls `each` with the position and the hash of each token that is not a label between two other tokens.
#[inline]
pub(crate) fn each_without_labels(hashes: impl Iterator<Item = u64>, mut each: impl FnMut(u32, u64)) {
    let labels = Labels::new();
    // The last token, if it may be a label that is skipped.
    let (mut held, mut in_row) = (None, false);
    for (hash, at) in hashes.zip(0..) {
        if !labels.has(hash) {
            (held, in_row) = (None, false);
            each(at, hash);
        } else if in_row {
            each(at, hash);
        } else if let Some((before, label)) = held.take() {
            in_row = true;
            each(before, label);
            each(at, hash);
        } else {
            held = Some((at, hash));
        }
    }
}

/// Returns whether the token with this hash may be a label.
#[cfg(test)]
fn is_label(hash: u64) -> bool {
    Labels::new().has(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_single_letters_digits_and_roman_numerals() {
        let is = |token: &str| is_label(hash64(token.as_bytes()));
        assert!(["a", "d", "б", "я", "1", "9", "i", "iv", "viii"].into_iter().all(is));
        assert!(!["an", "to", "12", "甲", "xi", "ix", ""].into_iter().any(is));
    }

    #[test]
    fn labels_in_a_row_are_kept() {
        let kept = |text: &str| {
            let mut kept = Vec::new();
            let words: Vec<&str> = text.split(' ').collect();
            each_without_labels(words.iter().map(|word| hash64(word.as_bytes())), |at, _| {
                kept.push(words[at as usize])
            });
            kept.join(" ")
        };
        assert_eq!(kept("a red b green"), "red green");
        assert_eq!(kept("if x y then z"), "if x y then");
        assert_eq!(kept("g h i a g"), "g h i a g");
        assert_eq!(kept("to a"), "to");
    }
}
