//! Looking at many bytes at once: the two loops that every byte of a corpus goes through.
//!
//! * [`copy_lower`] copies a stretch of text that normalisation leaves alone but for its capitals, up to the first byte that
//!   has to be looked at by itself.
//! * [`classify`] tells for each byte of a normalised text whether it belongs to a word, a border or a Han character, as bits
//!   of 64-bit numbers.
//!
//! Each exists three times: in AVX-512, in AVX2, and in plain code, which says what the others must do. The fastest one
//! that the processor has is chosen when the program runs; all give the same bytes and bits, which laws hold.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(test)]
mod laws;
mod plain;

use crate::cpu::Level;

/// What 64 bytes of a normalised text are, a bit a byte, the first byte lowest. A byte that is none of these is an ASCII
/// mark that may stand inside a word (`'` `.` `:` `,` `;` `"`). The text ends in borders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// Of an ASCII letter or digit, or of a letter from U+0400 to U+047F.
    pub letter: u64,
    /// Of an ASCII character that ends words, a quotation mark, dash or Chinese mark that does.
    pub border: u64,
    /// Of a character from U+4E00 to U+9FFF.
    pub han: u64,
    /// Of any other character: whoever meets it has to look at the characters themselves.
    pub other: u64,
}

/// Appends the bytes of `text` from `from` on in lower case, up to the first that is not simple; returns its place, or the
/// length of the text. `from` is the start of a character, and so is what is returned.
///
/// Simple are: ASCII but for control characters, `.`, `!`, `?` and a space before another, before a control character or
/// at the end; U+0400 to U+045F; U+4000 to U+9FFF.
#[inline]
pub fn copy_lower(text: &str, from: usize, out: &mut Vec<u8>) -> usize {
    copy_lower_by(Level::best(), text, from, out)
}

/// The classes of all bytes of a normalised text, 64 bytes an entry, and two entries of borders behind them.
#[inline]
pub fn classify(text: &str, out: &mut Vec<Classes>) {
    out.clear();
    out.reserve(text.len() / 64 + 3);
    classify_by(Level::best(), text, out);
    out.extend([Classes { border: u64::MAX, ..Classes::default() }; 2]);
}

#[inline]
#[allow(unsafe_code)]
fn copy_lower_by(level: Level, text: &str, from: usize, out: &mut Vec<u8>) -> usize {
    match level {
        Level::Plain => plain::copy_lower(text.as_bytes(), from, out),
        // SAFETY: `Level::best` found the features of this level.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2::copy_lower(text.as_bytes(), from, out) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx512::copy_lower(text.as_bytes(), from, out) },
    }
}

#[inline]
#[allow(unsafe_code)]
fn classify_by(level: Level, text: &str, out: &mut Vec<Classes>) {
    match level {
        Level::Plain => plain::classify(text, out),
        // SAFETY: `Level::best` found the features of this level.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2::classify(text.as_bytes(), out) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx512::classify(text.as_bytes(), out) },
    }
}
