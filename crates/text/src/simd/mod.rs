//! Uses vector instructions for the two loops that process every byte of a corpus.
//!
//! * [`copy_plain`] copies a stretch of text in its normal form, up to the first byte that needs individual handling.
//! * [`classify`] determines for each byte of normalized text whether it belongs to a word, a border or a Han character. The results are
//!   64-bit masks.
//!
//! Each loop has three implementations: AVX-512, AVX2, and plain code. The fastest implementation that the processor supports is selected
//! at run time. All three produce the same class bits. The implementations differ in the length of the stretch that they copy: the AVX-512
//! code also collapses white space, ends sentences, and narrows full-width marks (`fold.rs`), while the AVX2 code and the plain code stop
//! at these characters, which `marks.rs` then copies one by one. Property tests check that all three give the same normal form.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod classes;
#[cfg(target_arch = "x86_64")]
mod fold;
#[cfg(test)]
mod laws;
mod marks;
mod plain;

pub(crate) use classes::Classes;

use super::pieces::Pieces;
use dupsift_core::cpu::Level;

/// Appends the normal form of the text from `from` to the first character that is not simple. Returns the position of that character, or
/// the length of the text. `from` must be a character boundary; the result is a character boundary as well. If the current piece is empty,
/// the text at `from` must not begin with white space.
///
/// Simple characters include U+0400 to U+045F, U+4000 to U+9FFF and most ASCII characters. The other ASCII characters are not simple:
/// control characters, `.`, `!`, `?`, and a space at the end of the text or before another space or a control character.
#[inline]
#[allow(unsafe_code)]
pub(crate) fn copy_plain(level: Level, text: &str, from: usize, out: &mut Pieces) -> usize {
    #[cfg(target_arch = "x86_64")]
    if level == Level::Avx512 && is_x86_feature_detected!("avx512vbmi2") {
        // SAFETY: the processor has these features.
        return unsafe { fold::copy_plain(text.as_bytes(), from, out) };
    }
    #[cfg(target_arch = "x86_64")]
    if level != Level::Plain {
        // SAFETY: the processor has AVX2.
        return unsafe { avx2::copy_plain(text.as_bytes(), from, out) };
    }
    marks::copy_with_marks(text.as_bytes(), from, out, plain::copy_lower)
}

/// Returns the number of characters, like `text.chars().count()`.
#[allow(unsafe_code)]
pub(crate) fn count_characters(text: &str) -> usize {
    #[cfg(target_arch = "x86_64")]
    if Level::best() != Level::Plain {
        // SAFETY: the processor has AVX2.
        return unsafe { avx2::count_characters(text.as_bytes()) };
    }
    text.chars().count()
}

/// Determines the classes of all bytes in normalized text, 64 bytes per entry. Two more entries follow, which contain only borders.
#[inline]
pub(crate) fn classify(text: &str, out: &mut Vec<Classes>) {
    out.clear();
    out.reserve(text.len() / 64 + 3);
    classify_by(Level::best(), text, out);
    out.extend([Classes { border: u64::MAX, ..Classes::default() }; 2]);
}

/// Appends `text` in lowercase, from `from` to the first character that is not listed at [`copy_plain`].
#[cfg(test)]
#[allow(unsafe_code)]
fn copy_lower_by(level: Level, text: &str, from: usize, out: &mut Vec<u8>) -> usize {
    match level {
        Level::Plain => plain::copy_lower(text.as_bytes(), from, out),
        // SAFETY: `Level::best` detected the features of this level.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2::copy_lower(text.as_bytes(), from, out) },
        // SAFETY: a processor with this level also has AVX2.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx2::copy_lower(text.as_bytes(), from, out) },
    }
}

#[inline]
#[allow(unsafe_code)]
fn classify_by(level: Level, text: &str, out: &mut Vec<Classes>) {
    match level {
        Level::Plain => plain::classify(text, out),
        // SAFETY: `Level::best` detected the features of this level.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2::classify(text.as_bytes(), out) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx512::classify(text.as_bytes(), out) },
    }
}
