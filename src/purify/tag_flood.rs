//! A single tag with very many attributes, which the tokenizer would compare each with each.
//!
//! The tokenizer hands a tag over when it is complete, so nothing behind it can stop one that grows. What shows from outside
//! is a long stretch of text without a token. That may as well be a comment, or one long value; so the text is given a mark,
//! the same attribute twice: where attributes stand, this is an error that the tokenizer reports, and anywhere else it is
//! part of a comment or a value, from which it is taken out again. If it is reported, the rest of the tag is left out.

use html5ever::tendril::StrTendril;

/// An attribute twice, set off on both sides.
const MARK: &str = " dupsift-probe dupsift-probe ";

/// Bytes that the tokenizer is given at a time: a tag that is longer than twice that shows.
pub(super) const PIECE: usize = 1024;

/// What was seen of stretches without tokens.
#[derive(Default)]
pub(super) struct Flood {
    probed: bool,
    cut: bool,
}

impl Flood {
    /// Where the piece that begins at `start` ends: behind a letter, if one comes soon, and not inside of a character
    /// reference, so that the mark does not part what belongs together (`--` and `>`, `=` and a quote).
    pub(super) fn end_of_piece(&self, text: &str, start: usize) -> usize {
        let least = text.floor_char_boundary(start + PIECE);
        let bytes = text.as_bytes();
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
        let most = text.floor_char_boundary(start + 2 * PIECE);
        let may_end = |end: &usize| {
            let before = bytes[start..*end].iter().rev().find(|byte| !is_word(byte));
            is_word(&bytes[*end - 1]) && text.is_char_boundary(*end) && !matches!(before, Some(b'&' | b'#'))
        };
        (least..most).find(may_end).unwrap_or(most)
    }

    /// Where to go on after the piece up to `end` was read. `silent`: it gave no token. `is_in_tag` gives the tokenizer the
    /// mark, and says whether it reported an error: it then stands before the name of an attribute.
    pub(super) fn after(
        &mut self,
        text: &str,
        end: usize,
        silent: bool,
        is_in_tag: impl FnOnce(&str) -> bool,
    ) -> usize {
        if !silent || end == text.len() {
            return end;
        }
        self.probed = true;
        if !is_in_tag(MARK) {
            return end;
        }
        self.cut = true;
        end_of_tag(text, end)
    }

    /// Whether the mark may stand in an attribute.
    pub(super) fn has_probed(&self) -> bool {
        self.probed
    }

    /// Whether the rest of a tag was left out.
    pub(super) fn has_cut(&self) -> bool {
        self.cut
    }

    /// Takes the mark out of a value.
    pub(super) fn take_out(value: &mut StrTendril) {
        if value.len() >= MARK.len() && value.contains(MARK) {
            *value = StrTendril::from(value.replace(MARK, ""));
        }
    }
}

/// The place of the `>` that ends a tag whose attributes go on at `at`; the end of the text if there is none.
fn end_of_tag(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'>' => return at,
            b'=' => {
                at += 1;
                while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
                    at += 1;
                }
                if let Some(quote) = bytes.get(at).filter(|byte| matches!(byte, b'"' | b'\'')) {
                    let value = &bytes[at + 1..];
                    at += 1 + value.iter().position(|byte| byte == quote).map_or(value.len(), |length| length + 1);
                }
            }
            _ => at += 1,
        }
    }
    text.len()
}
