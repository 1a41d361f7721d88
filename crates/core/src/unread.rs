//! Marks a text whose document also has parts that cannot be read, such as pictures and audio. The mark is a last line with a digest of these
//! parts. It therefore travels with the text, and texts with different parts differ, but the words of the text do not include the mark.
//!
//! ```text
//! Is there a traffic light in this picture?
//! yes
//! ￼6c1f0e8fd7a4b3925e0d1c2b3a495867
//! ```

/// The first character of the mark, which stands for an embedded object.
const SIGN: &str = "\u{FFFC}";
/// The number of digits after the sign.
const DIGITS: usize = 32;
/// The size of the mark in bytes, without the line feed before it.
const BYTES: usize = SIGN.len() + DIGITS;

/// The digest of parts that cannot be told apart, such as a part that only says that there is a picture.
const UNKNOWN: u128 = 0;

/// The parts of a document that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// Parts with this digest. Documents with the same text and the same digest are copies.
    Digest(u128),
    /// Parts that the document does not contain, such as a picture that is stored elsewhere. Such a document is a copy of no other.
    Unknown,
}

/// Appends a mark to a text.
pub fn mark(text: &mut String, unread: Unread) {
    let digest = match unread {
        Unread::Digest(digest) => digest.max(1),
        Unread::Unknown => UNKNOWN,
    };
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&format!("{SIGN}{digest:032x}"));
}

/// Returns a text without its mark, and the parts that the mark stands for.
#[inline]
pub fn split(text: &str) -> (&str, Option<Unread>) {
    let begin = text.len().wrapping_sub(BYTES);
    // The sign is checked first, because it decides for nearly all texts.
    match text.as_bytes().get(begin..) {
        Some(mark) if mark.starts_with(SIGN.as_bytes()) => split_at(text, begin),
        _ => (text, None),
    }
}

#[cold]
fn split_at(text: &str, begin: usize) -> (&str, Option<Unread>) {
    let (before, mark) = text.split_at(begin);
    let digits = &mark[SIGN.len()..];
    let is_line = before.is_empty() || before.ends_with('\n');
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    match u128::from_str_radix(digits, 16) {
        Ok(digest) if is_line && digits.bytes().all(is_digit) => {
            let unread = if digest == UNKNOWN { Unread::Unknown } else { Unread::Digest(digest) };
            (before.strip_suffix('\n').unwrap_or(before), Some(unread))
        }
        _ => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_back_and_nothing_else_is_a_mark() {
        for text in ["", "a", "a\n", "кот\n￼", "￼0123456789abcdef0123456789abcdef"] {
            for unread in [Unread::Digest(1), Unread::Digest(u128::MAX), Unread::Unknown] {
                let mut marked = text.to_owned();
                mark(&mut marked, unread);
                assert_eq!(split(&marked), (text, Some(unread)));
            }
        }
        let digits = "0123456789abcdef0123456789abcdef";
        let others = [
            format!("a￼{digits}"),
            format!("\n￼{}G", &digits[1..]),
            format!("\n￼{digits} "),
            format!("￼+{}", &digits[1..]),
        ];
        for other in others.iter().map(String::as_str).chain(["", "a", "￼", &"￼".repeat(20), &"я".repeat(40)]) {
            assert_eq!(split(other), (other, None), "{other}");
        }
    }
}
