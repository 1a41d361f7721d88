//! Implements `copy_plain` and `classify` for processors with AVX2. The code processes 32 bytes at a time; plain code processes the end of
//! the text.

use std::arch::x86_64::*;

use super::marks::copy_with_marks;
use super::{Classes, plain};
use crate::pieces::Pieces;

#[inline]
#[target_feature(enable = "avx2")]
fn all(byte: u8) -> __m256i {
    _mm256_set1_epi8(byte as i8)
}

#[inline]
#[target_feature(enable = "avx2")]
fn is(bytes: __m256i, byte: u8) -> __m256i {
    _mm256_cmpeq_epi8(bytes, all(byte))
}

/// Returns a mask of the bytes whose value is at least `first` and less than `first + count`.
#[inline]
#[target_feature(enable = "avx2")]
fn within(bytes: __m256i, first: u8, count: u8) -> __m256i {
    let above = _mm256_sub_epi8(bytes, all(first));
    _mm256_cmpeq_epi8(_mm256_min_epu8(above, all(count - 1)), above)
}

#[inline]
#[target_feature(enable = "avx2")]
fn bits(lanes: __m256i) -> u32 {
    _mm256_movemask_epi8(lanes) as u32
}

#[inline]
#[target_feature(enable = "avx2")]
#[allow(unsafe_code)]
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: all 32 bytes are within `bytes`, and the load requires no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// Implements [`super::copy_plain`].
#[target_feature(enable = "avx2")]
pub(super) fn copy_plain(bytes: &[u8], from: usize, out: &mut Pieces) -> usize {
    out.text.reserve(bytes.len() - from + 64);
    copy_with_marks(bytes, from, out, |bytes, from, out| copy_lower(bytes, from, out))
}

/// Appends the text in lowercase, up to the first character that is not simple.
#[inline]
#[target_feature(enable = "avx2")]
#[allow(unsafe_code)]
pub(super) fn copy_lower(bytes: &[u8], from: usize, out: &mut Vec<u8>) -> usize {
    let space = all(b' ');
    // The number to add to the second byte of a Cyrillic capital, indexed by the upper four bits of that byte.
    let steps = _mm256_setr_epi8(
        0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0x20, -0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0x20, -0x20, 0, 0, 0,
        0, 0,
    );
    let mut place = from;
    out.reserve(bytes.len() - from + 32);
    while let (Some(here), Some(next)) = (
        bytes.get(place..).and_then(|rest| rest.first_chunk()),
        bytes.get(place + 1..).and_then(|rest| rest.first_chunk()),
    ) {
        let (here, next) = (load(here), load(next));
        let last = match place.checked_sub(1).and_then(|before| bytes[before..].first_chunk()) {
            Some(last) => load(last),
            // There is no byte before the first byte of the text.
            None => _mm256_alignr_epi8::<15>(here, _mm256_permute2x128_si256::<0x08>(here, here)),
        };
        let d0 = is(here, 0xD0);
        let mut stop = _mm256_or_si256(
            _mm256_or_si256(within(here, 0, 32), is(here, b'.')),
            _mm256_or_si256(
                _mm256_or_si256(is(here, b'!'), is(here, b'?')),
                _mm256_and_si256(is(here, b' '), within(next, 0, 33)),
            ),
        );
        let mut lower = _mm256_add_epi8(here, _mm256_and_si256(within(here, b'A', 26), space));
        let lead = within(here, 0xC0, 64);
        if bits(lead) != 0 {
            let d1 = is(here, 0xD1);
            let simple = _mm256_or_si256(_mm256_or_si256(d0, d1), within(here, 0xE4, 6));
            let old = _mm256_and_si256(d1, within(next, 0xA0, 96));
            stop = _mm256_or_si256(stop, _mm256_or_si256(_mm256_andnot_si256(simple, lead), old));
        }
        let behind_d0 = is(last, 0xD0);
        if bits(_mm256_or_si256(d0, behind_d0)) != 0 {
            let upper_bits = _mm256_and_si256(_mm256_srli_epi16::<4>(here), all(0x0F));
            let step = _mm256_and_si256(behind_d0, _mm256_shuffle_epi8(steps, upper_bits));
            // D0 becomes D1 before a byte from 80 to 8F or from A0 to AF.
            let moves = _mm256_and_si256(d0, is(_mm256_and_si256(next, all(0xD0)), 0x80));
            lower = _mm256_sub_epi8(_mm256_add_epi8(lower, step), moves);
        }
        let count = (bits(stop).trailing_zeros() as usize).min(32);
        let length = out.len();
        // SAFETY: 32 bytes were reserved in addition to the maximum size of the whole text; only the first `count` of them are kept. The
        // kept bytes are bytes of the text or their lowercase forms.
        unsafe {
            _mm256_storeu_si256(out.as_mut_ptr().add(length).cast(), lower);
            out.set_len(length + count);
        }
        place += count;
        if count < 32 {
            return place;
        }
    }
    // The 32 bytes may end within a character. In that case, plain code continues at the start of the character.
    while place > from && bytes.get(place).is_some_and(|byte| byte & 0xC0 == 0x80) {
        place -= 1;
        out.pop();
    }
    plain::copy_lower(bytes, place, out)
}

/// Implements [`super::count_characters`].
#[target_feature(enable = "avx2")]
pub(super) fn count_characters(bytes: &[u8]) -> usize {
    let (blocks, rest) = bytes.as_chunks::<32>();
    let mut count = plain::count_characters(rest);
    // Each of 32 sums counts at most 255 bytes.
    for part in blocks.chunks(u8::MAX as usize) {
        let mut sums = _mm256_setzero_si256();
        for block in part {
            // As signed numbers, the bytes that do not begin a character are those below -64.
            sums = _mm256_sub_epi8(sums, _mm256_cmpgt_epi8(load(block), all(0xBF)));
        }
        let sums = _mm256_sad_epu8(sums, _mm256_setzero_si256());
        let sums = [
            _mm256_extract_epi64::<0>(sums),
            _mm256_extract_epi64::<1>(sums),
            _mm256_extract_epi64::<2>(sums),
            _mm256_extract_epi64::<3>(sums),
        ];
        count += sums.iter().sum::<i64>() as usize;
    }
    count
}

/// Implements [`super::classify`].
#[target_feature(enable = "avx2")]
pub(super) fn classify(bytes: &[u8], out: &mut Vec<Classes>) {
    let mut over = Classes::default();
    let mut place = 0;
    while place < bytes.len() {
        let mut halves = [Classes::default(); 2];
        for (half, classes) in halves.iter_mut().enumerate() {
            let from = place + 32 * half;
            // Bytes beyond the end of the text are read as spaces, which are borders.
            let mut padded = [b' '; 34];
            let window: &[u8; 34] = match bytes.get(from..).and_then(|rest| rest.first_chunk()) {
                Some(window) => window,
                None => {
                    let rest = bytes.get(from..).unwrap_or_default();
                    padded[..rest.len()].copy_from_slice(rest);
                    &padded
                }
            };
            *classes = half_of(window, &mut over);
        }
        let [low, high] = halves;
        let join = |bits: fn(&Classes) -> u64| bits(&low) | bits(&high) << 32;
        let end = if bytes.len() - place >= 64 { u64::MAX } else { (1 << (bytes.len() - place)) - 1 };
        out.push(Classes {
            letter: join(|one| one.letter) & end,
            border: join(|one| one.border) | !end,
            han: join(|one| one.han) & end,
            other: join(|one| one.other) & end,
        });
        place += 64;
    }
}

/// Returns the classes of 32 bytes, which are followed by two more bytes. If a character extends into the next 32 bytes, its class is
/// carried over in `over`.
#[inline]
#[target_feature(enable = "avx2")]
fn half_of(window: &[u8; 34], over: &mut Classes) -> Classes {
    let ahead = |count: usize| match window[count..].first_chunk() {
        Some(bytes) => load(bytes),
        None => all(b' '),
    };
    let here = ahead(0);
    let high = bits(here);
    let small = _mm256_or_si256(here, all(0x20));
    let alphanumeric = bits(_mm256_or_si256(within(here, b'0', 10), within(small, b'a', 26)));
    let mark = bits(_mm256_or_si256(
        _mm256_or_si256(is(here, b'\''), is(here, b'.')),
        _mm256_or_si256(_mm256_or_si256(is(here, b','), is(here, b'"')), within(here, b':', 2)),
    ));
    let under = bits(is(here, b'_'));
    let mut letter = u64::from(alphanumeric) | over.letter;
    let mut border = u64::from(!(high | alphanumeric | mark | under)) | over.border;
    let mut han = over.han;
    let mut other = u64::from(under);
    *over = Classes::default();
    if high != 0 {
        let next = ahead(1);
        let cyrillic = u64::from(bits(is(_mm256_or_si256(here, all(1)), 0xD1)));
        letter |= cyrillic | cyrillic << 1;
        let e4 = _mm256_and_si256(is(here, 0xE4), within(next, 0xB8, 72));
        let leads = u64::from(bits(_mm256_or_si256(within(here, 0xE5, 5), e4)));
        han |= leads | leads << 1 | leads << 2;
        let (c2, e2, e3) = (is(here, 0xC2), is(here, 0xE2), is(here, 0xE3));
        if bits(_mm256_or_si256(c2, _mm256_or_si256(e2, e3))) != 0 {
            let third = ahead(2);
            let two = bits(_mm256_and_si256(c2, _mm256_or_si256(is(next, 0xAB), is(next, 0xBB))));
            let dashes =
                _mm256_or_si256(_mm256_or_si256(within(third, 0x93, 2), within(third, 0x9C, 3)), is(third, 0xA2));
            let stops = _mm256_or_si256(within(third, 0x81, 2), within(third, 0x88, 10));
            let three = _mm256_or_si256(_mm256_and_si256(e2, dashes), _mm256_and_si256(e3, stops));
            let (two, three) = (u64::from(two), u64::from(bits(_mm256_and_si256(three, is(next, 0x80)))));
            border |= two | two << 1 | three | three << 1 | three << 2;
        }
        other |= u64::from(high) & !(letter | border | han);
    }
    let low = u64::from(u32::MAX);
    (over.letter, over.border, over.han) = (letter >> 32, border >> 32, han >> 32);
    Classes { letter: letter & low, border: border & low, han: han & low, other: other & low }
}
