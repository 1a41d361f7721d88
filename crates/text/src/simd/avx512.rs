//! Classifies 64 bytes at a time, for processors with AVX-512 (BW and DQ).
//!
//! Loads are masked, so no memory outside the text is accessed; bytes beyond the end of the text are read as zeros.

use std::arch::x86_64::*;

use super::Classes;

/// Returns a mask of the `bits` lowest bits, or of all 64 bits if `bits` is larger than 64.
#[inline]
pub(super) fn low(bits: usize) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Implements [`super::classify`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
#[allow(unsafe_code)]
pub(super) fn classify(bytes: &[u8], out: &mut Vec<Classes>) {
    let all = |byte: u8| _mm512_set1_epi8(byte as i8);
    let is = |bytes: __m512i, byte: u8| _mm512_cmpeq_epi8_mask(bytes, all(byte));
    let within =
        |bytes: __m512i, first: u8, count: u8| _mm512_cmplt_epu8_mask(_mm512_sub_epi8(bytes, all(first)), all(count));
    // The classes of the bytes in the next block that belong to a character of this block.
    let mut over = Classes::default();
    let mut place = 0;
    while place < bytes.len() {
        let start = bytes.as_ptr().wrapping_add(place);
        let left = bytes.len() - place;
        // SAFETY: masked lanes are not accessed; all other lanes are within `bytes`.
        let load = |ahead: usize| unsafe {
            _mm512_maskz_loadu_epi8(low(left.saturating_sub(ahead)), start.wrapping_add(ahead).cast())
        };
        let here = load(0);
        let small = _mm512_or_si512(here, all(0x20));
        let high = _mm512_movepi8_mask(here);
        let alphanumeric = within(here, b'0', 10) | within(small, b'a', 26);
        let mark = is(here, b'\'') | is(here, b'.') | is(here, b',') | within(here, b':', 2) | is(here, b'"');
        let under = is(here, b'_');
        let mut classes = Classes {
            letter: alphanumeric | over.letter,
            border: !(high | alphanumeric | mark | under) | over.border,
            han: over.han,
            other: under,
        };
        over = Classes::default();
        if high != 0 {
            let next = load(1);
            let cyrillic = is(_mm512_or_si512(here, all(1)), 0xD1);
            classes.letter |= cyrillic | cyrillic << 1;
            over.letter = cyrillic >> 63;
            let han = within(here, 0xE5, 5) | (is(here, 0xE4) & _mm512_cmpge_epu8_mask(next, all(0xB8)));
            classes.han |= han | han << 1 | han << 2;
            over.han = han >> 63 | han >> 62;
            let (c2, e2, e3) = (is(here, 0xC2), is(here, 0xE2), is(here, 0xE3));
            if c2 | e2 | e3 != 0 {
                let third = load(2);
                let two = c2 & (is(next, 0xAB) | is(next, 0xBB));
                let dashes = within(third, 0x93, 2) | within(third, 0x9C, 3) | is(third, 0xA2);
                let stops = within(third, 0x81, 2) | within(third, 0x88, 10);
                let three = is(next, 0x80) & (e2 & dashes | e3 & stops);
                classes.border |= two | two << 1 | three | three << 1 | three << 2;
                over.border = two >> 63 | three >> 63 | three >> 62;
            }
            classes.other |= high & !(classes.letter | classes.border | classes.han);
        }
        let end = low(left);
        out.push(Classes {
            letter: classes.letter & end,
            border: classes.border | !end,
            han: classes.han & end,
            other: classes.other & end,
        });
        place += 64;
    }
}
