//! The grams by which texts are compared.
//!
//! If fewer than half of a text's 3-grams are distinct, the text repeats a few words: random letters, a table of yes and no, the moves of a
//! game. Two such texts have the same 3-grams whatever they say. They are compared by their distinct 12-grams instead, which depend on the
//! order of the words.

use dupsift_text::Token;
use dupsift_text::shingle::{distinct, shingles};

/// The number of tokens in a gram. A shorter text counts as one gram if it has at least one token.
pub(super) const GRAM: usize = 3;
/// The number of tokens in a gram of two texts that repeat few words.
const LONG_GRAM: usize = 12;

/// Returns the distinct grams of a text, and the distinct long grams if the text repeats few words, both in ascending order.
pub(super) fn grams(tokens: &[Token]) -> (Vec<u64>, Vec<u64>) {
    let (mut grams, mut long) = (Vec::new(), Vec::new());
    shingles(tokens, GRAM, false, &mut grams);
    let all = grams.len();
    distinct(&mut grams);
    if 2 * grams.len() < all {
        shingles(tokens, LONG_GRAM, false, &mut long);
        distinct(&mut long);
    }
    (grams, long)
}
