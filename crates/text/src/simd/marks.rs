//! Copies the marks and white space at which the plain code and the AVX2 code stop, so that their callers see only rare characters.

use crate::pieces::Pieces;
use crate::sentence::is_white;

/// Appends the normal form of the text from `from`, with `copy` for simple characters. Implements [`super::copy_plain`].
#[inline(always)]
pub(super) fn copy_with_marks(
    bytes: &[u8],
    from: usize,
    out: &mut Pieces,
    copy: impl Fn(&[u8], usize, &mut Vec<u8>) -> usize,
) -> usize {
    let mut place = from;
    loop {
        place = copy(bytes, place, &mut out.text);
        match copy_mark(bytes, place, out) {
            Some(next) => place = next,
            None => return place,
        }
    }
}

/// Appends the normal form of the common mark or of the white space at `place`, and ends the piece if the text there ends a sentence. Returns
/// the position after it, or `None` if something else is at `place`. If the piece was ended, the position is after white space.
#[inline(always)]
fn copy_mark(bytes: &[u8], place: usize, out: &mut Pieces) -> Option<usize> {
    let rest = bytes.get(place..)?;
    match *rest {
        [mark @ (b'.' | b'!' | b'?'), next, _, ..] if is_white(next) => {
            out.text.push(mark);
            Some(end(bytes, place + 1, out))
        }
        [mark @ (b'.' | b'!' | b'?'), next, ..] if next.is_ascii_alphanumeric() || is_simple_lead(next) => {
            out.text.push(mark);
            Some(place + 1)
        }
        [b'\t'..=b'\r' | b' ', ..] => copy_white(bytes, place, out),
        // A Chinese period before a letter or white space.
        [0xE3, 0x80, 0x82, next, ..] if next.is_ascii_alphanumeric() || is_white(next) || is_simple_lead(next) => {
            out.text.extend_from_slice(&[0xE3, 0x80, 0x82]);
            Some(end(bytes, place + 3, out))
        }
        // Full-width forms, except the two that may end a sentence.
        [0xEF, 0xBC, third @ 0x81..=0xBF, ..] if !matches!(third, 0x81 | 0x9F) => {
            out.text.push((third - 0x60).to_ascii_lowercase());
            Some(place + 3)
        }
        [first @ 0xE3, second @ 0x80, third @ (0x81 | 0x83 | 0x85 | 0x87..=0x91), ..]
        | [first @ 0xE2, second @ 0x80, third @ (0x93 | 0x94 | 0x98 | 0x99 | 0x9C..=0x9E | 0xA2), ..] => {
            out.text.extend_from_slice(&[first, second, third]);
            Some(place + 3)
        }
        [first @ 0xC2, second @ (0xAB | 0xBB), ..] => {
            out.text.extend_from_slice(&[first, second]);
            Some(place + 2)
        }
        _ => None,
    }
}

/// Returns whether a byte begins a Cyrillic or Han character that `copy_plain` copies.
fn is_simple_lead(byte: u8) -> bool {
    matches!(byte, 0xD0 | 0xD1 | 0xE4..=0xE9)
}

/// Appends a space for the white space at `place`, or ends the piece if the white space contains a blank line. Returns `None` if the white
/// space may go on with a character that is not in ASCII.
fn copy_white(bytes: &[u8], place: usize, out: &mut Pieces) -> Option<usize> {
    let (mut after, mut line_ends) = (place, 0);
    loop {
        match *bytes.get(after)? {
            b'\n' if after > place && bytes[after - 1] == b'\r' => {}
            b'\n' | b'\r' => line_ends += 1,
            white if is_white(white) => {}
            b'!'..=b'~' => break,
            lead if is_simple_lead(lead) => break,
            _ => return None,
        }
        after += 1;
    }
    if line_ends >= 2 {
        out.end(after);
    } else if !out.is_behind_space() {
        out.text.push(b' ');
    }
    Some(after)
}

/// Ends the piece at `place`. Returns the position after the white space there.
fn end(bytes: &[u8], place: usize, out: &mut Pieces) -> usize {
    out.end(place);
    place + bytes[place..].iter().take_while(|&&byte| is_white(byte)).count()
}
