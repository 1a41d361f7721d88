//! Splits Chinese text into single characters, for `tokenizer=char` and for shingle tokens (with any tokenizer).

use std::ops::Range;

use super::Tokenizer;

/// A tokenizer that returns every character as a word.
pub struct Char;

impl Tokenizer for Char {
    fn cut(&self, run: &str, out: &mut dyn FnMut(Range<usize>)) {
        for (start, c) in run.char_indices() {
            out(start..start + c.len_utf8());
        }
    }
}
