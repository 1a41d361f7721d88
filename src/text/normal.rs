//! Normalisation: what makes two spellings of one text the same bytes.
//!
//! Invisible characters go first, so that neither a sentence rule nor a normal form ever sees them; then the whole text is
//! brought to NFC, then cut into sentences (full-width marks still are what they are), and each piece is lower-cased,
//! brought to NFKC and its white space folded. Nothing here changes a letter into another one, but for ё where asked:
//! й stays й, traditional and simplified characters stay apart.
//!
//! Most pieces hold nothing but ASCII, basic Cyrillic, Han and their punctuation, for which all of that is a small table
//! (`plain`); a piece with any other character takes the way through the libraries. A law holds both ways equal.

use std::borrow::Cow;
use std::ops::Range;

use icu_normalizer::{ComposingNormalizer, ComposingNormalizerBorrowed};

use super::sentence;

/// The longest raw text that is analysed, in bytes (128 MiB); readers reject rows above it.
///
/// Places in the normalised text are 32-bit numbers. NFKC makes a text at most [`EXPANSION`] times as long, and stems may
/// double that, so this bound keeps every place below 2^32 whatever the text holds.
pub const MAX_TEXT_BYTES: usize = 128 << 20;

/// How many times longer, in bytes, a character can become (U+FDFA: 3 bytes, then 33); a test tries them all.
pub const EXPANSION: usize = 11;

const NFC: ComposingNormalizerBorrowed<'static> = ComposingNormalizer::new_nfc();
const NFKC: ComposingNormalizerBorrowed<'static> = ComposingNormalizer::new_nfkc();

/// A normalised text and where its pieces (sentences, with or without words) end.
#[derive(Debug, Default)]
pub struct Normal {
    /// The pieces, one U+0020 between two of them.
    pub text: String,
    /// The end of each piece, in bytes; the next begins one byte later. No piece is empty.
    ends: Vec<u32>,
}

impl Normal {
    /// Normalises a raw text of at most [`MAX_TEXT_BYTES`]; a longer one gives `None`.
    pub fn of(raw: &str, yo_to_e: bool) -> Option<Normal> {
        if raw.len() > MAX_TEXT_BYTES {
            return None;
        }
        let composed = composed(raw);
        let mut text = String::with_capacity(composed.len());
        let mut ends = Vec::new();
        sentence::for_each_piece(&composed, |piece| {
            let before = text.len();
            if before > 0 {
                text.push(' ');
            }
            let start = text.len();
            push_piece(piece, yo_to_e, &mut text);
            if text.len() > start {
                ends.push(text.len() as u32);
            } else {
                text.truncate(before);
            }
        });
        // The bound on the raw text makes this certain; were it wrong, places would wrap, so it is checked all the same.
        (text.len() <= (u32::MAX / 2) as usize).then_some(Normal { text, ends })
    }

    /// The byte range of each piece in the text, in order.
    pub fn pieces(&self) -> impl ExactSizeIterator<Item = Range<usize>> + '_ {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let piece = start..end as usize;
            start = end as usize + 1;
            piece
        })
    }
}

/// Normalises a single word, of a stop-word list or a dictionary, as the same word would be in a text.
pub fn normal_word(word: &str, yo_to_e: bool) -> String {
    let mut text = String::with_capacity(word.len());
    push_piece(&composed(word), yo_to_e, &mut text);
    text
}

/// Characters that show nothing and stand inside words: soft hyphen, zero-width space and joiners, direction marks, BOM.
const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}')
}

/// The text without invisible characters, in NFC.
fn composed(raw: &str) -> Cow<'_, str> {
    if is_surely_composed(raw) {
        return Cow::Borrowed(raw);
    }
    if !raw.contains(is_invisible) {
        return NFC.normalize(raw);
    }
    let mut visible = String::with_capacity(raw.len());
    raw.split(is_invisible).for_each(|part| visible.push_str(part));
    Cow::Owned(NFC.normalize(&visible).into_owned())
}

/// Whether the bytes alone show that a text is in NFC and has no invisible characters: it is ASCII, basic Cyrillic, Han and
/// common punctuation. `false` says nothing.
fn is_surely_composed(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut place = 0;
    while let Some(&first) = bytes.get(place) {
        place += match first {
            0..=0x7F => 1,
            // U+0400 to U+047F.
            0xD0 | 0xD1 => 2,
            // U+4000 to U+9FFF.
            0xE4..=0xE9 => 3,
            // U+0080 to U+00BF but for the soft hyphen.
            0xC2 if bytes.get(place + 1) != Some(&0xAD) => 2,
            0xE2 | 0xE3 | 0xEF => match (first, bytes.get(place + 1), bytes.get(place + 2)) {
                // U+2010 to U+203F, U+3000 to U+3029, U+FF00 to U+FF7F.
                (0xE2, Some(0x80), Some(0x90..)) | (0xE3, Some(0x80), Some(..=0xA9)) | (0xEF, Some(0xBC | 0xBD), _) => {
                    3
                }
                _ => return false,
            },
            _ => return false,
        };
    }
    true
}

/// Appends a piece in its final form, without white space at its ends.
fn push_piece(piece: &str, yo_to_e: bool, out: &mut String) {
    let start = out.len();
    if !push_plain(piece, yo_to_e, out) {
        out.truncate(start);
        push_any(piece, yo_to_e, out);
    }
    if out.len() > start && out.ends_with(' ') {
        out.pop();
    }
}

/// What normalisation makes of one character of the plain set; `None` for the many others.
#[inline]
fn plain(c: char) -> Option<char> {
    const LOW: [u16; 0x460] = {
        let mut table = [0; 0x460];
        let mut c = 0;
        while c < table.len() {
            table[c] = match c as u16 {
                0x09..=0x0D | 0xA0 => 0x20,
                upper @ (0x41..=0x5A | 0x410..=0x42F) => upper + 0x20,
                upper @ 0x400..=0x40F => upper + 0x50,
                same @ (1..=0x7F | 0xAB | 0xBB | 0x430..=0x45F) => same,
                _ => 0,
            };
            c += 1;
        }
        table
    };
    if let Some(&normal) = LOW.get(c as usize) {
        return if normal == 0 { None } else { char::from_u32(normal.into()) };
    }
    Some(match c {
        '\u{3400}'..='\u{9FFF}' => c,
        '\u{FF01}'..='\u{FF5E}' => ((c as u32 - 0xFEE0) as u8 as char).to_ascii_lowercase(),
        '\u{2028}' | '\u{2029}' | '\u{3000}' => ' ',
        '–' | '—' | '‘' | '’' | '“' | '”' | '„' | '•' => c,
        '\u{3001}'..='\u{3003}' | '\u{3005}' | '\u{3007}'..='\u{3011}' => c,
        _ => return None,
    })
}

/// Appends a piece of plain characters; `false`, with rubbish appended, if it holds any other.
///
/// Stretches that stay as they are, or have no other capitals than those of ASCII, are copied whole.
fn push_plain(piece: &str, yo_to_e: bool, out: &mut String) -> bool {
    let piece = piece.trim_start();
    let bytes = piece.as_bytes();
    let start = out.len();
    let (mut copied, mut place) = (0, 0);
    while let Some(&first) = bytes.get(place) {
        // What stays as it is shows in its bytes. A space before another or at the end does not; that is asked without a
        // branch, because nothing is harder to foretell than the end of a word.
        let second = bytes.get(place + 1).copied().unwrap_or_default();
        let stays = match first {
            0..=0x7F => usize::from((first >= b' ') & !((first == b' ') & (second <= b' '))),
            // а to џ, counted from U+0400.
            0xD0 | 0xD1 => {
                let letter = (first & 1) << 6 | second & 0x3F;
                2 * usize::from((0x30..0x60).contains(&letter) & !(yo_to_e & (letter == 0x51)))
            }
            // U+4000 to U+9FFF.
            0xE4..=0xE9 => 3,
            _ => 0,
        };
        if stays > 0 {
            place += stays;
            continue;
        }
        let rest = &piece[place..];
        let Some(c) = rest.chars().next() else { break };
        let Some(normal) = plain(c) else { return false };
        if normal == ' ' {
            out.push_str(&piece[copied..place]);
            if out.len() > start && !out.ends_with(' ') {
                out.push(' ');
            }
            place = piece.len() - rest.trim_start().len();
            copied = place;
            continue;
        }
        let normal = if normal == 'ё' && yo_to_e { 'е' } else { normal };
        if normal != c {
            out.push_str(&piece[copied..place]);
            out.push(normal);
            copied = place + c.len_utf8();
        }
        place += c.len_utf8();
    }
    out.push_str(&piece[copied..]);
    out[start..].make_ascii_lowercase();
    true
}

/// Appends any piece: the definition that [`push_plain`] abbreviates.
fn push_any(piece: &str, yo_to_e: bool, out: &mut String) {
    let lower = piece.to_lowercase();
    let mut after_space = true;
    for c in NFKC.normalize(&lower).chars() {
        let white = c.is_whitespace();
        if white && !after_space {
            out.push(' ');
        } else if !white {
            out.push(if c == 'ё' && yo_to_e { 'е' } else { c });
        }
        after_space = white;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn normal(raw: &str) -> String {
        Normal::of(raw, false).expect("short").text
    }

    #[test]
    fn spellings_that_mean_the_same_become_the_same() {
        for (raw, expected) in [
            ("Ｆｕｌｌ　Ｗｉｄｔｈ １２３", "full width 123"),
            ("и\u{306}од Йод", "йод йод"),
            ("Ёлка\tи  \u{A0}её", "ёлка и её"),
            ("zero\u{200B}width so\u{AD}ft \u{FEFF}bom", "zerowidth soft bom"),
            ("e\u{200D}\u{301}", "é"),
            ("ｶﾞ", "ガ"),
            ("ΟΔΟΣ", "οδος"),
            ("ﬁn", "fin"),
            ("हिन्दी عَرَبِيّ", "हिन्दी عَرَبِيّ"),
            ("漢字 汉字 戶户", "漢字 汉字 戶户"),
            ("\u{F900}", "\u{8C48}"),
            ("", ""),
            (" \n\t ", ""),
        ] {
            assert_eq!(normal(raw), expected, "{raw:?}");
        }
        assert_ne!(normal("й"), normal("и"));
        assert_eq!(Normal::of("Ёлка ё", true).expect("short").text, "елка е");
        assert_eq!(normal_word(" Ｔｈｅ\u{200B} ", false), "the");
    }

    #[test]
    fn pieces_are_separated_by_one_space_and_none_is_empty() {
        let normal = Normal::of(" А.  \n\n \n\n Б！Ｃ  ", false).expect("short");
        assert_eq!(normal.text, "а. б! c");
        let pieces: Vec<&str> = normal.pieces().map(|piece| &normal.text[piece]).collect();
        assert_eq!(pieces, ["а.", "б!", "c"]);
    }

    #[test]
    fn a_text_above_the_bound_is_refused_and_one_at_the_bound_is_not() {
        assert!(Normal::of(&" ".repeat(MAX_TEXT_BYTES + 1), false).is_none());
        assert!(Normal::of(&" ".repeat(MAX_TEXT_BYTES), false).is_some());
        assert!(MAX_TEXT_BYTES * EXPANSION * 2 <= u32::MAX as usize);
    }

    /// Every character by itself: how long it becomes, that nothing invisible and no odd white space is left, and that
    /// the table agrees with the libraries.
    #[test]
    fn every_character() {
        let mut longest = 0;
        for c in '\0'..=char::MAX {
            let raw = c.to_string();
            let mut any = String::new();
            push_any(&NFC.normalize(&raw), false, &mut any);
            longest = longest.max(any.len().div_ceil(raw.len()));
            assert!(!any.contains(is_invisible) || is_invisible(c), "{c:?}");
            assert!(!any.contains(|d: char| d.is_whitespace() && d != ' '), "{c:?}");
            if plain(c).is_some() {
                // Between two letters, so that white space and final forms show.
                let framed = format!("я{c}b");
                let (mut short, mut long) = (String::new(), String::new());
                assert!(push_plain(&framed, false, &mut short));
                push_any(&framed, false, &mut long);
                assert_eq!(short, long, "{c:?}");
                assert!(NFC.is_normalized(&framed), "{c:?} would not reach the table as it is");
            }
            // Also behind a letter that much composes with.
            if is_surely_composed(&raw) {
                assert!(NFC.is_normalized(&format!("e{c}")) && !is_invisible(c), "{c:?}");
            }
        }
        assert_eq!(longest, EXPANSION);
    }

    proptest! {
        #[test]
        fn the_short_way_is_the_long_way(text in "[ -~\t\nА-яЁёѐѓЋ\u{a0}，。！Ａ-ｚ一-龥«»“”—]{0,40}", yo in any::<bool>()) {
            let (mut short, mut long) = (String::new(), String::new());
            prop_assert!(push_plain(&text, yo, &mut short));
            push_any(&text, yo, &mut long);
            prop_assert_eq!(short, long);
        }

        #[test]
        fn composed_and_decomposed_agree(text in "\\PC{0,30}") {
            let decomposed = icu_normalizer::DecomposingNormalizer::new_nfd().normalize(&text).into_owned();
            prop_assert_eq!(normal(&decomposed), normal(&text));
        }
    }
}
