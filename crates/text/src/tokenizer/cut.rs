//! Defines the interface of tokenizers, and returns Han words that were found in advance.

use std::ops::Range;

use super::han_words::HanWords;
use crate::simd::Classes;

/// Splits runs of one script into words.
pub trait Tokenizer {
    /// Calls `out` with the byte range of each word in the run, in order.
    fn cut(&self, run: &str, out: &mut dyn FnMut(Range<usize>));

    /// Splits the Han run that begins at `from` (or the first part of a long run) and as many of the following runs as is efficient.
    /// The byte classes show where the runs are. Returns `false` if this tokenizer splits each run alone, with [`Tokenizer::cut`].
    fn cut_several(&self, _text: &str, _classes: &[Classes], _from: usize, _han_words: &mut HanWords) -> bool {
        false
    }
}

impl HanWords {
    /// Calls `out` with the byte range of each word in a run. Runs must be requested in text order, but some runs may be skipped.
    #[inline]
    pub fn words<T: Tokenizer + ?Sized>(
        &mut self,
        han: &T,
        text: &str,
        classes: &[Classes],
        run: Range<usize>,
        out: &mut impl FnMut(Range<usize>, bool),
    ) {
        let mut start = run.start;
        while start < run.end {
            if start >= self.until && !han.cut_several(text, classes, start, self) {
                han.cut(&text[run.clone()], &mut |word| out(run.start + word.start..run.start + word.end, true));
                return;
            }
            // Words of runs that were not requested are skipped.
            while self.ends.get(self.next).is_some_and(|&end| end as usize <= start) {
                self.next += 1;
            }
            while let Some(&end) = self.ends.get(self.next).filter(|&&end| end as usize <= run.end) {
                out(start..end as usize, true);
                start = end as usize;
                self.next += 1;
            }
        }
    }
}
