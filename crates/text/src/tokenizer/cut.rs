//! What a tokenizer is, and how the words that one has cut ahead are handed out.

use std::ops::Range;

use super::han_words::HanWords;
use crate::simd::Classes;

/// Something that cuts a run of one script into words.
pub trait Tokenizer {
    /// Calls `out` with the byte range of each word of the run, in order.
    fn cut(&self, run: &str, out: &mut dyn FnMut(Range<usize>));

    /// Cuts the run of Han characters that begins at a place of a text, or the first part of a long one, and as many runs
    /// behind it as do well together; the classes of bytes show them. False if there is nothing to be won by that: the run is given to [`Tokenizer::cut`] then.
    fn cut_several(&self, _text: &str, _classes: &[Classes], _from: usize, _han_words: &mut HanWords) -> bool {
        false
    }
}

impl HanWords {
    /// Calls `out` with the byte range of each word of a run: the first after the last that was asked for, or a later one.
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
            // Runs that were not asked for are left behind.
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
