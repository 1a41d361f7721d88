//! Words that are not in the dictionary: a hidden Markov model of how characters stand in words.
//!
//! Each character begins a word, continues it, ends it or is one; the likeliest course (Viterbi 1967) over the characters
//! that the dictionary left single says which of them are words together. The model is jieba's: the logarithms of where a
//! text begins, of what follows what, and of each character in each of the four places.
//!
//! The sums are taken in jieba's order, to the last bit: characters that the model has not met in some place weigh
//! -3.14e100, beside which all else is lost in rounding, so that ties are frequent there and their rule decides.

use std::borrow::Cow;

use super::letters::Letters;
use super::tables::Reader;

/// Where a character stands in its word.
const BEGIN: usize = 0;
const END: usize = 1;
const MIDDLE: usize = 2;
const SINGLE: usize = 3;

/// The weight of a character in a place in which the model has not met it.
pub(super) const NEVER: f64 = -3.14e100;

/// The model.
pub struct Unknown {
    pub(super) first: [f64; 4],
    /// By the place before, then the place after.
    pub(super) follows: [[f64; 4]; 4],
    /// By the number of the character.
    pub(super) seen: Cow<'static, [[f64; 4]]>,
}

impl Unknown {
    /// A model as the tables have it.
    pub fn read(tables: &mut Reader) -> Unknown {
        Unknown { first: tables.array(), follows: tables.array(), seen: tables.list() }
    }

    /// The same model for other letters, which have all characters that it has met.
    pub fn renumbered(&self, from: &Letters, to: &Letters) -> Unknown {
        let mut seen = vec![[NEVER; 4]; to.covered() as usize + 1];
        for (c, number) in from.known().filter(|&(_, number)| number < from.covered()) {
            seen[to.number(c) as usize] = self.seen[number as usize];
        }
        Unknown { first: self.first, follows: self.follows, seen: seen.into() }
    }

    /// Joins characters, each of them single so far, to words: sets the length where a word begins.
    ///
    /// `covered` is the largest number of a character that the model covers.
    pub fn join(&self, letters: &[u16], lengths: &mut [u16], covered: u16) {
        let mut from = 0;
        while from < letters.len() {
            let is_covered = letters[from] <= covered;
            let rest = &letters[from..];
            let count = rest.iter().take_while(|&&letter| (letter <= covered) == is_covered).count();
            if !is_covered {
                // What the model does not cover is not divided.
                lengths[from] = count as u16;
            } else if count > 1 {
                self.viterbi(&rest[..count], &mut lengths[from..from + count]);
            }
            from += count;
        }
    }

    fn viterbi(&self, letters: &[u16], lengths: &mut [u16]) {
        let weights = |letter: u16| self.seen.get(letter as usize).copied().unwrap_or([NEVER; 4]);
        let here = weights(letters[0]);
        let mut best = [0, 1, 2, 3].map(|place| self.first[place] + here[place]);
        for (&letter, length) in letters.iter().zip(&mut *lengths).skip(1) {
            let here = weights(letter);
            // Of the two places that may stand before one, the second wins a tie. Which of them won is kept as a bit.
            let mut choices = 0;
            let mut better = |place: usize, one: usize, other: usize| {
                let one = best[one] + self.follows[one][place] + here[place];
                let other = best[other] + self.follows[other][place] + here[place];
                choices |= u16::from(one <= other) << place;
                if one > other { one } else { other }
            };
            best = [
                better(BEGIN, END, SINGLE),
                better(END, BEGIN, MIDDLE),
                better(MIDDLE, BEGIN, MIDDLE),
                better(SINGLE, END, SINGLE),
            ];
            *length = choices;
        }
        let mut place = if best[END] > best[SINGLE] { END } else { SINGLE };
        let mut end = letters.len();
        for at in (1..letters.len()).rev() {
            const BEFORE: [[usize; 2]; 4] = [[END, SINGLE], [BEGIN, MIDDLE], [BEGIN, MIDDLE], [END, SINGLE]];
            place = BEFORE[place][(lengths[at] >> place & 1) as usize];
            if place == END || place == SINGLE {
                lengths[at] = (end - at) as u16;
                end = at;
            }
        }
        lengths[0] = end as u16;
    }
}
