//! Finds words that are not in the dictionary, with a hidden Markov model of the positions of characters in words.
//!
//! Each character begins a word, continues a word, ends a word, or is a word of its own. Among the characters that the dictionary did
//! not join, the most probable sequence of these positions (Viterbi 1967) determines the words. The model is jieba's: log
//! probabilities of the first position, of each transition, and of each character in each of the four positions.
//!
//! The sums are computed in the same order as in jieba, so they are equal down to the last bit. A character that the model has never seen
//! in a position has the weight -3.14e100 in that position. In a sum with this weight, all other weights are lost to rounding. Ties are
//! therefore frequent, and a fixed rule breaks them.

use std::borrow::Cow;

use super::letters::Letters;
use super::tables::Reader;

/// The four positions that a character can have in its word.
const BEGIN: usize = 0;
const END: usize = 1;
const MIDDLE: usize = 2;
const SINGLE: usize = 3;

/// The weight of a character in a position in which the model has never seen it.
pub(super) const NEVER: f64 = -3.14e100;

/// The model of unknown words.
pub(crate) struct Unknown {
    pub(super) first: [f64; 4],
    /// The weight of each transition, indexed by the previous and the next position.
    pub(super) follows: [[f64; 4]; 4],
    /// The weights of each character in the four positions, indexed by its number.
    pub(super) seen: Cow<'static, [[f64; 4]]>,
}

impl Unknown {
    /// Reads a model from the tables.
    pub(crate) fn read(tables: &mut Reader) -> Unknown {
        Unknown { first: tables.array(), follows: tables.array(), seen: tables.list() }
    }

    /// Returns the model with different letter numbers. The new numbers must include all characters that the model covers.
    pub(crate) fn renumbered(&self, from: &Letters, to: &Letters) -> Unknown {
        let mut seen = vec![[NEVER; 4]; to.covered() as usize + 1];
        for (c, number) in from.known().filter(|&(_, number)| number < from.covered()) {
            seen[to.number(c) as usize] = self.seen[number as usize];
        }
        Unknown { first: self.first, follows: self.follows, seen: seen.into() }
    }

    /// Joins single characters into words, and sets the length at the beginning of each word.
    ///
    /// `covered` is the largest number among the characters that the model covers.
    pub(crate) fn join(&self, letters: &[u16], lengths: &mut [u16], covered: u16) {
        let mut from = 0;
        while from < letters.len() {
            let is_covered = letters[from] <= covered;
            let rest = &letters[from..];
            let count = rest.iter().take_while(|&&letter| (letter <= covered) == is_covered).count();
            if !is_covered {
                // Consecutive characters that the model does not cover form one word.
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
            // Each position has two possible previous positions, and the second wins a tie. The winner is stored as a bit.
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
