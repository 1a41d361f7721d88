//! Copies text in its normal form 64 bytes at a time, for processors with AVX-512 (BW and VBMI2).
//!
//! The code determines how many bytes of each 64-byte block can be copied, lowercases them, removes the bytes that folding makes redundant,
//! and ends a sentence if a `.`, `!` or `?` precedes white space. The code copies the characters listed at [`super::copy_plain`],
//! full-width forms of ASCII except `！` and `？`, which end sentences, and the most common marks that do not change: `«»–—‘’“”„•、〃々〇` and
//! U+3008 to U+3011. Everything else is left to the caller: control characters, blank lines, marks before a possible closing quotation
//! mark, and all other characters.

use std::arch::x86_64::*;

use super::avx512::low;
use crate::pieces::Pieces;

/// Implements [`super::copy_plain`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi2")]
#[allow(unsafe_code)]
pub(super) fn copy_plain(bytes: &[u8], from: usize, out: &mut Pieces) -> usize {
    let all = |byte: u8| _mm512_set1_epi8(byte as i8);
    let is = |bytes: __m512i, byte: u8| _mm512_cmpeq_epi8_mask(bytes, all(byte));
    let within =
        |bytes: __m512i, first: u8, count: u8| _mm512_cmplt_epu8_mask(_mm512_sub_epi8(bytes, all(first)), all(count));
    // The number to add to the second byte of a Cyrillic capital, indexed by the upper four bits of that byte.
    let steps = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0x20, -0x20, 0, 0, 0, 0, 0));
    let mut place = from;
    out.text.reserve(bytes.len() - from + 64);
    while place < bytes.len() {
        let start = bytes.as_ptr().wrapping_add(place);
        let left = bytes.len() - place;
        // SAFETY: masked lanes are not accessed; all other lanes are within `bytes`.
        let load = |ahead: usize| unsafe {
            _mm512_maskz_loadu_epi8(low(left.saturating_sub(ahead)), start.wrapping_add(ahead).cast())
        };
        let (here, next) = (load(0), load(1));
        let newline = is(here, b'\n');
        let white = is(here, b' ') | within(here, b'\t', 4);
        let mark = is(here, b'.') | is(here, b'!') | is(here, b'?');
        // Bytes that begin a character that is not simple. Bytes after the text are zeros, which are not simple.
        let mut hard = _mm512_cmplt_epu8_mask(here, all(b' ')) & !white;
        // Bytes that must not be copied before the rest of their character is available.
        let mut later = 0;
        let mut dropped = white & white << 1;
        let mut lower = _mm512_mask_add_epi8(here, within(here, b'A', 26), here, all(0x20));
        lower = _mm512_mask_mov_epi8(lower, white, all(b' '));

        let lead = _mm512_cmpge_epu8_mask(here, all(0xC0));
        let d0 = is(here, 0xD0);
        let (mut cyrillic, mut han) = (0, 0);
        if lead != 0 {
            let d1 = is(here, 0xD1);
            cyrillic = d0 | _mm512_mask_cmplt_epu8_mask(d1, next, all(0xA0));
            han = within(here, 0xE4, 6);
            let rare = lead & !(cyrillic | han);
            if rare != 0 {
                let third = load(2);
                let angled = is(here, 0xC2) & (is(next, 0xAB) | is(next, 0xBB));
                let quotes = within(third, 0x93, 2) | within(third, 0x98, 2) | within(third, 0x9C, 3) | is(third, 0xA2);
                let brackets = is(third, 0x81) | is(third, 0x83) | is(third, 0x85) | within(third, 0x87, 11);
                let kept = is(next, 0x80) & (is(here, 0xE2) & quotes | is(here, 0xE3) & brackets);
                let ends = is(third, 0x81) | is(third, 0x9F);
                let full = is(here, 0xEF)
                    & (is(next, 0xBC) & within(third, 0x81, 0x3F) & !ends | is(next, 0xBD) & within(third, 0x80, 0x1F));
                hard |= rare & !(angled | kept | full);
                later |= full & 3 << 62;
                dropped |= full << 1 | full << 2;
                let narrow = _mm512_mask_sub_epi8(_mm512_sub_epi8(third, all(0x60)), is(next, 0xBD), third, all(0x20));
                let narrow = _mm512_mask_add_epi8(narrow, within(narrow, b'A', 26), narrow, all(0x20));
                lower = _mm512_mask_mov_epi8(lower, full, narrow);
            }
        }
        // SAFETY: as for `load`; the byte before the first byte is not accessed.
        let last = unsafe {
            let before = if place == 0 { u64::MAX << 1 } else { u64::MAX };
            _mm512_maskz_loadu_epi8(before & low(left.saturating_add(1)), start.wrapping_sub(1).cast())
        };
        let behind_d0 = is(last, 0xD0);
        if d0 | behind_d0 != 0 {
            let upper_bits = _mm512_and_si512(_mm512_srli_epi16::<4>(here), all(0x0F));
            lower = _mm512_add_epi8(lower, _mm512_maskz_shuffle_epi8(behind_d0, steps, upper_bits));
            // D0 becomes D1 before a byte from 80 to 8F or from A0 to AF.
            let moves = _mm512_mask_cmpeq_epi8_mask(d0, _mm512_and_si512(next, all(0xD0)), all(0x80));
            lower = _mm512_mask_add_epi8(lower, moves, lower, all(1));
        }

        let mut stop = hard;
        let mut sentence_end = 0;
        if mark != 0 {
            let closing = is(here, b')') | is(here, b']') | is(here, b'}') | is(here, b'"') | is(here, b'\'');
            stop |= mark & (closing | lead & !(cyrillic | han) | hard) >> 1;
            sentence_end = mark & white >> 1;
            later |= mark & 1 << 63;
        }
        // White space is copied only if its end is within these bytes. White space may separate pieces if it contains a second line break,
        // or if it contains a line break and is followed by a character that is not simple. An addition carries the bit of each line break
        // to the end of the white space.
        later |= white & !low(64 - white.leading_ones() as usize);
        if newline != 0 {
            let again = newline << 1 & white;
            let second = newline & (!white.wrapping_add(again) | again);
            let behind = white.wrapping_add(newline) & !white;
            let divides = second & white | behind & hard;
            if divides != 0 {
                let before = !white & low(divides.trailing_zeros() as usize);
                stop |= 1 << (64 - before.leading_zeros());
            }
        }
        let mut count = (stop.trailing_zeros().min(later.trailing_zeros()) as usize).min(left);
        // A mark that ends a sentence is processed together with the space after it.
        if count > 0 && sentence_end >> (count - 1) & 1 == 1 {
            count -= 1;
        }
        let kept = low(count) & !dropped;
        let length = out.text.len();
        // SAFETY: 64 bytes were reserved in addition to the maximum size of the whole text, and no more bytes are written than were read.
        // The first `count` bytes are kept, except the bytes that folding makes redundant. The kept bytes are complete characters in
        // normal form.
        unsafe {
            let squeezed = _mm512_maskz_compress_epi8(kept, lower);
            _mm512_storeu_epi8(out.text.as_mut_ptr().add(length).cast(), squeezed);
            out.text.set_len(length + kept.count_ones() as usize);
        }
        let mut ends = sentence_end & low(count);
        while ends != 0 {
            let at = ends.trailing_zeros() as usize;
            let end = length + (kept & low(at + 1)).count_ones() as usize;
            out.ends.push(end as u32);
            (out.start, out.begin) = (end + 1, place + at + 1);
            ends &= ends - 1;
        }
        place += count;
        if count == 0 || stop & low(count + 2) != 0 {
            break;
        }
    }
    place
}
