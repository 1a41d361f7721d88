//! Hashes consecutive runs of L characters with rolling hashes.
//!
//! A hash is a pair of polynomials over the characters, modulo the prime 2^61 - 1, with two fixed bases. The probability that two different
//! runs of the same length have the same hash is about (L / 2^61)^2.

use std::ops::Range;

use dupsift_core::hash::mix64;

const PRIME: u64 = (1 << 61) - 1;
const BASES: [u64; 2] = [0x1A2B_9F3C_6D5E_8071, 0x0C61_7E95_38D4_AB2F];

/// Describes a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The position of the run's first byte in the folded text.
    pub start: usize,
    /// The number of the run's first character, counted from the start of the stretch.
    pub number: u32,
    /// The hash of the run's characters.
    pub hash: u128,
}

fn times(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    reduced((product as u64 & PRIME) + (product >> 61) as u64)
}

/// Reduces a number modulo the prime. The number must be less than twice the prime.
fn reduced(sum: u64) -> u64 {
    if sum >= PRIME { sum - PRIME } else { sum }
}

/// Calls `each` with each run of `length` characters in a stretch of a folded text, in order.
///
/// # Errors
/// Returns any error from `each`.
pub fn runs<E>(
    text: &str,
    stretch: Range<usize>,
    length: u32,
    mut each: impl FnMut(Run) -> Result<(), E>,
) -> Result<(), E> {
    let part = &text[stretch.clone()];
    let out = BASES.map(|base| (1..length).fold(1, |power, _| times(power, base)));
    let mut hashes = [0; 2];
    let mut ahead = part.chars();
    let value = |c: char| u64::from(u32::from(c)) + 1;
    for _ in 0..length {
        let Some(c) = ahead.next() else { return Ok(()) };
        for (hash, base) in hashes.iter_mut().zip(BASES) {
            *hash = reduced(times(*hash, base) + value(c));
        }
    }
    for (number, (at, gone)) in part.char_indices().enumerate() {
        // The polynomials alone would mix the leading bits of the two halves poorly.
        let [one, other] = hashes;
        let hash = u128::from(mix64(one)) << 64 | u128::from(mix64(other ^ BASES[0]));
        each(Run { start: stretch.start + at, number: number as u32, hash })?;
        let Some(next) = ahead.next() else { return Ok(()) };
        for ((hash, base), out) in hashes.iter_mut().zip(BASES).zip(out) {
            let rest = reduced(*hash + PRIME - times(value(gone), out));
            *hash = reduced(times(rest, base) + value(next));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::convert::Infallible;

    fn all(text: &str, length: u32) -> Vec<Run> {
        let mut out = Vec::new();
        let done = runs(text, 0..text.len(), length, |run| Ok::<_, Infallible>(out.push(run)));
        done.expect("no error");
        out
    }

    #[test]
    fn a_text_has_a_run_from_each_character_on() {
        assert!(all("abc", 4).is_empty());
        assert_eq!(all("中bé", 3).iter().map(|run| (run.start, run.number)).collect::<Vec<_>>(), [(0, 0)]);
        assert_eq!(all("中bé", 2).iter().map(|run| (run.start, run.number)).collect::<Vec<_>>(), [(0, 0), (3, 1)]);
    }

    proptest::proptest! {
        /// Checks that the hashes of two runs are equal if and only if their characters are equal.
        #[test]
        fn hashes_tell_runs_apart(text in "[ab中é]{1,80}", length in 1..12u32) {
            let mut known: HashMap<u128, String> = HashMap::new();
            let mut texts: HashMap<String, u128> = HashMap::new();
            for run in all(&text, length) {
                let characters: String = text[run.start..].chars().take(length as usize).collect();
                let known = known.entry(run.hash).or_insert_with(|| characters.clone());
                proptest::prop_assert_eq!(&*known, &characters);
                proptest::prop_assert_eq!(*texts.entry(characters).or_insert(run.hash), run.hash);
            }
        }
    }
}
