//! Computes shingles: overlapping windows of tokens or characters, each represented by a 64-bit hash.
//!
//! The hash of a window of tokens t1 .. tn is `mix64` of the polynomial t1 R^(n-1) + t2 R^(n-2) + .. + tn mod 2^64 over the token hashes;
//! the hash of a window of characters is `hash64` of its UTF-8 bytes. Neither hash may ever change, because sketches are stored.
//!
//! The cost is proportional to the number of windows; for windows of characters, also to the size of a window, which is small.

use super::word::Token;
use dupsift_core::hash::{hash64, mix64};

/// Appends one hash for each window of `size` tokens, in order, including repeated windows.
///
/// If there is at least one token, but fewer than `size`, all tokens form a single shingle. Nothing is appended if there are no tokens or
/// if `size` is 0. If `circular` is set, windows wrap around at the end, so n tokens give n shingles if n is at least `size`.
///
/// ```text
/// tokens a b c d, size 3:  abc bcd            circular:  abc bcd cda dab
/// tokens a b,     size 3:  ab
/// ```
pub fn shingles(tokens: &[Token], size: usize, circular: bool, out: &mut Vec<u64>) {
    if tokens.is_empty() || size == 0 {
        return;
    }
    if tokens.len() < size {
        out.push(window_hash(tokens));
        return;
    }
    out.reserve(tokens.len());
    let (first, rest) = tokens.split_at(size);
    let mut hash = polynomial(first);
    out.push(mix64(hash));
    // Each window is the previous one without its first token and with one more at the end.
    let leaving = R.wrapping_pow(size as u32);
    out.extend(rest.iter().zip(tokens).map(|(last, before)| {
        hash = hash.wrapping_mul(R).wrapping_add(last.hash.wrapping_sub(before.hash.wrapping_mul(leaving)));
        mix64(hash)
    }));
    if circular {
        for start in tokens.len() - size + 1..tokens.len() {
            out.push(window_hash(tokens[start..].iter().chain(&tokens[..start + size - tokens.len()])));
        }
    }
}

/// The number R, which is odd: 2^64 divided by the golden ratio.
const R: u64 = 0x9E37_79B9_7F4A_7C15;

fn window_hash<'t>(window: impl IntoIterator<Item = &'t Token>) -> u64 {
    mix64(polynomial(window))
}

fn polynomial<'t>(window: impl IntoIterator<Item = &'t Token>) -> u64 {
    window.into_iter().fold(0u64, |hash, token| hash.wrapping_mul(R).wrapping_add(token.hash))
}

/// Sorts well-mixed hashes in about a quarter of the time that `sort_unstable` takes. Any other numbers are sorted as well.
pub(crate) fn sort_hashes(hashes: &mut Vec<u64>) {
    /// Shorter lists are not worth a second list.
    const LEAST: usize = 64;
    /// The most buckets, so that their ends stay in the cache.
    const MOST_BITS: u32 = 12;
    if hashes.len() < LEAST {
        return hashes.sort_unstable();
    }
    // The highest bits put each hash near its place.
    let bits = hashes.len().ilog2().min(MOST_BITS);
    let bucket = |hash: u64| (hash >> (u64::BITS - bits)) as usize;
    let mut places = vec![0; 1 << bits];
    hashes.iter().for_each(|&hash| places[bucket(hash)] += 1);
    let most = places.iter().copied().max().unwrap_or_default();
    if most > LEAST {
        return hashes.sort_unstable();
    }
    let mut place = 0;
    for count in &mut places {
        place += std::mem::replace(count, place);
    }
    let mut sorted = vec![0; hashes.len()];
    for &hash in hashes.iter() {
        let place = &mut places[bucket(hash)];
        sorted[*place] = hash;
        *place += 1;
    }
    for at in 1..sorted.len() {
        let (hash, mut place) = (sorted[at], at);
        while place > 0 && sorted[place - 1] > hash {
            sorted[place] = sorted[place - 1];
            place -= 1;
        }
        sorted[place] = hash;
    }
    *hashes = sorted;
}

/// Sorts the values and removes repeated values.
pub fn distinct(values: &mut Vec<u64>) {
    sort_hashes(values);
    values.dedup();
}

/// Appends one hash for each window of `size` Unicode scalar values in the text, in order; see [`char_windows`].
pub fn char_shingles(text: &str, size: usize, out: &mut Vec<u64>) {
    out.extend(char_windows(text, size).map(|window| hash64(window.as_bytes())));
}

/// Returns the windows of `size` Unicode scalar values in the text, in order.
///
/// Nonempty text that is shorter than a window is a single window. There are no windows if the text is empty or `size` is 0.
pub fn char_windows(text: &str, size: usize) -> impl Iterator<Item = &str> {
    let text = if size == 0 { "" } else { text };
    let starts = text.char_indices().map(|(start, _)| start);
    // The window that begins at the n-th character ends where the (n + size)-th character begins. The last window ends with the text.
    let mut ends = text.char_indices().map(|(start, _)| start).chain([text.len()]).skip(size).peekable();
    let whole = (!text.is_empty() && ends.peek().is_none()).then_some(text);
    starts.zip(ends).map(|(start, end)| &text[start..end]).chain(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token> {
        text.split(' ')
            .filter(|word| !word.is_empty())
            .map(|word| Token { hash: hash64(word.as_bytes()), han: false, joined: false })
            .collect()
    }

    fn of(text: &str, size: usize, circular: bool) -> Vec<u64> {
        let mut out = Vec::new();
        shingles(&tokens(text), size, circular, &mut out);
        out
    }

    #[test]
    fn windows_in_order_short_texts_whole_empty_texts_none() {
        let one = |text: &str| of(text, 9, false)[0];
        assert_eq!(of("a b c d", 3, false), [one("a b c"), one("b c d")]);
        assert_eq!(of("a b c d", 3, true), [one("a b c"), one("b c d"), one("c d a"), one("d a b")]);
        assert_eq!(of("a b c", 3, true).len(), 3);
        assert_eq!(of("a b", 3, true), [one("a b")]);
        assert_eq!(of("a", 1, true), [one("a")]);
        assert!(of("", 3, false).is_empty() && of("a b", 0, true).is_empty());
        assert_ne!(one("a b"), one("b a"));
        let hash = |word: &str| hash64(word.as_bytes());
        assert_eq!(one("a b"), mix64(hash("a").wrapping_mul(R).wrapping_add(hash("b"))));
    }

    #[test]
    fn characters_are_scalars() {
        let of = |text: &str, size| {
            let mut out = Vec::new();
            char_shingles(text, size, &mut out);
            out
        };
        let hash = |text: &str| hash64(text.as_bytes());
        assert_eq!(of("кот я", 4), [hash("кот "), hash("от я")]);
        assert_eq!(of("中文a", 2), [hash("中文"), hash("文a")]);
        assert_eq!(of("кот", 3), [hash("кот")]);
        assert_eq!(of("кот", 4), [hash("кот")]);
        assert!(of("", 4).is_empty() && of("кот", 0).is_empty());
    }

    proptest::proptest! {
        #[test]
        fn hashes_are_sorted(values in proptest::collection::vec(proptest::prelude::any::<u64>(), 0..300), shift in 0..64_u32) {
            let mut sorted: Vec<u64> = values.iter().map(|value| value >> shift).collect();
            let mut expected = sorted.clone();
            expected.sort_unstable();
            sort_hashes(&mut sorted);
            proptest::prop_assert_eq!(sorted, expected);
        }
    }

    #[test]
    fn a_set_has_each_value_once() {
        let mut values = vec![3, 1, 3, 2, 1];
        distinct(&mut values);
        assert_eq!(values, [1, 2, 3]);
    }

    proptest::proptest! {
        #[test]
        fn circular_shingles_do_not_depend_on_where_the_circle_is_cut(words in "[ab]( [ab]){2,12}", cut in 0_usize..8) {
            let whole = tokens(&words);
            let mut turned = whole.clone();
            turned.rotate_left(cut % whole.len());
            let (mut a, mut b) = (Vec::new(), Vec::new());
            shingles(&whole, 3, true, &mut a);
            shingles(&turned, 3, true, &mut b);
            a.sort_unstable();
            b.sort_unstable();
            proptest::prop_assert_eq!(a.len(), whole.len());
            proptest::prop_assert_eq!(a, b);
        }
    }
}
