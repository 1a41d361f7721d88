//! Counts the distinct words of a document.

use std::hint::select_unpredictable;

use super::pool;
use super::word::{Counted, Word};

/// Counts the distinct words with a hash table. Each used slot holds the number of a distinct word, starting at 1.
///
/// The processor cannot predict whether a word is new, so the code avoids a branch: every word is written after the distinct words, and
/// remains there if it is new.
pub(crate) fn count(words: &[Word]) -> Vec<Counted> {
    /// The number of words for which memory is reserved at a time.
    const AT_ONCE: usize = 64;
    const LONG: usize = 1 << 17;
    let Some(&any) = words.first() else { return Vec::new() };
    // The memory for a long document is reserved in one allocation, so the list is never copied to a larger one. Unused
    // memory is never touched.
    let room = if words.len() > LONG { words.len() + 1 } else { words.len() / 2 };
    let mut counted = pool::take(|pool| &mut pool.counted, room);
    let mut slots = pool::take(|pool| &mut pool.slots, 0);
    let size = (words.len() * 2).next_power_of_two();
    slots.resize(size, 0);
    let mut distinct = 0;
    for words in words.chunks(AT_ONCE) {
        counted.resize(distinct + words.len() + 1, Counted { word: any, tf: 0 });
        for &word in words {
            counted[distinct] = Counted { word, tf: 0 };
            let mut at = word.hash as usize & (size - 1);
            let number = loop {
                // If the slot is free, `number` is the number of the word that was just written after the distinct words.
                let number = select_unpredictable(slots[at] == 0, distinct, (slots[at] as usize).wrapping_sub(1));
                if counted[number].word.hash == word.hash {
                    break number;
                }
                at = (at + 1) & (size - 1);
            };
            slots[at] = number as u32 + 1;
            counted[number].tf += 1;
            distinct += usize::from(number == distinct);
        }
    }
    counted.truncate(distinct);
    pool::leave(|pool| &mut pool.slots, slots);
    counted
}
