//! Splits Chinese text without a dictionary: every two adjacent characters form a word.

use std::ops::Range;

use super::Tokenizer;

/// A tokenizer that returns overlapping pairs of characters. A run of a single character is one word.
pub(crate) struct Bigram;

impl Tokenizer for Bigram {
    fn cut(&self, run: &str, out: &mut dyn FnMut(Range<usize>)) {
        let ends = run.char_indices().map(|(start, c)| start + c.len_utf8());
        let mut count = 0;
        for ((start, _), end) in run.char_indices().zip(ends.skip(1)) {
            out(start..end);
            count += 1;
        }
        if count == 0 && !run.is_empty() {
            out(0..run.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_overlap_and_a_single_character_stands_alone() {
        for (run, expected) in [
            ("中文分词", &["中文", "文分", "分词"][..]),
            ("中文", &["中文"]),
            ("𠀀中", &["𠀀中"]),
            ("中", &["中"]),
            ("", &[]),
        ] {
            let mut words = Vec::new();
            Bigram.cut(run, &mut |word| words.push(&run[word]));
            assert_eq!(words, expected, "{run}");
        }
    }
}
