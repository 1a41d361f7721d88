//! Normalisation: what makes two spellings of one text the same bytes.
//!
//! Invisible characters go first, so that neither a sentence rule nor a normal form ever sees them; then the whole text is
//! brought to NFC, then cut into sentences (full-width marks still are what they are), and each piece is lower-cased,
//! brought to NFKC and its white space folded. Nothing here changes a letter into another one, but for ё where asked:
//! й stays й, traditional and simplified characters stay apart.
//!
//! Most pieces hold nothing but ASCII, basic Cyrillic, Han and their punctuation, for which all of that is a copy with small
//! letters (`text/lanes/`) and, at marks and white space, a small table (`plain`); a piece with any other character takes the
//! way through the libraries. A law holds both ways equal.

use std::borrow::Cow;
use std::ops::Range;

use icu_normalizer::{ComposingNormalizer, ComposingNormalizerBorrowed};

use super::lanes::copy_lower;
use super::{sentence, spare};

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
        // Nearly every text is composed as it is, which shows while it is copied; else the work starts again.
        let mut normal = match Normal::of_composed(raw, false) {
            Some(normal) => normal,
            None => Normal::of_composed(&composed(raw), true)?,
        };
        if yo_to_e {
            normal.text = normal.text.replace('ё', "е");
        }
        // The bound on the raw text makes this certain; were it wrong, places would wrap, so it is checked all the same.
        (normal.text.len() <= (u32::MAX / 2) as usize).then_some(normal)
    }

    /// Normalises a text in NFC without invisible characters; where that is not `certain`, a text that may be another
    /// gives `None`.
    fn of_composed(text: &str, certain: bool) -> Option<Normal> {
        let bytes = text.as_bytes();
        let mut out = Pieces {
            text: spare::take(|spare| &mut spare.text, text.len() + 64),
            ends: spare::take(|spare| &mut spare.ends, 0),
            start: 0,
        };
        // Where the piece at hand begins in the text.
        let mut begin = 0;
        let mut place = 0;
        while place < bytes.len() {
            if out.is_behind_space() {
                // One space is there, or none is wanted at the start of a piece.
                place += bytes[place..].iter().take_while(|&&byte| byte == b' ').count();
            }
            place = copy_lower(text, place, &mut out.text);
            let Some(&first) = bytes.get(place) else { break };
            let c = match first {
                0..=0x7F => first as char,
                _ => text[place..].chars().next()?,
            };
            if !certain && first > 0x7F && !is_surely_composed(c) {
                return None;
            }
            let end = sentence::boundary_at(text, place);
            let simple = match end {
                Some(end) => text[place..end].chars().all(|c| out.push(c)),
                None => out.push(c),
            };
            place = end.unwrap_or(place + c.len_utf8());
            if !simple {
                // A character that is not in the table: the whole piece takes the long way.
                place = end.unwrap_or_else(|| sentence::piece_end(text, place));
                let piece = &text[begin..place];
                if !certain && !piece.chars().all(is_surely_composed) {
                    return None;
                }
                out.text.truncate(out.start);
                push_any(piece, &mut out.text);
            }
            if end.is_some() || !simple {
                out.end();
                begin = place;
            }
        }
        out.end();
        if !out.ends.is_empty() {
            // The separator behind the last piece.
            out.text.pop();
        }
        let text = checked(out.text)?;
        Some(Normal { text, ends: out.ends })
    }

    /// Leaves the lists to the next document.
    pub fn leave(self) {
        spare::leave(|spare| &mut spare.text, self.text.into_bytes());
        spare::leave(|spare| &mut spare.ends, self.ends);
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

/// The pieces written so far, and the one at hand.
struct Pieces {
    text: Vec<u8>,
    ends: Vec<u32>,
    /// Where the piece at hand starts.
    start: usize,
}

impl Pieces {
    #[inline]
    fn is_behind_space(&self) -> bool {
        self.text.len() == self.start || self.text.last() == Some(&b' ')
    }

    /// Appends one character in its final form; `false` if it is none of the plain ones.
    #[inline]
    fn push(&mut self, c: char) -> bool {
        match plain(c) {
            Some(' ') => {
                if !self.is_behind_space() {
                    self.text.push(b' ');
                }
            }
            Some(ascii @ '\0'..='\x7F') => self.text.push(ascii as u8),
            Some(normal) => self.text.extend_from_slice(normal.encode_utf8(&mut [0; 4]).as_bytes()),
            None => return false,
        }
        true
    }

    /// Ends the piece at hand; one without a visible character is none.
    fn end(&mut self) {
        if self.text.len() > self.start && self.text.last() == Some(&b' ') {
            self.text.pop();
        }
        if self.text.len() > self.start {
            self.ends.push(self.text.len() as u32);
            self.text.push(b' ');
            self.start = self.text.len();
        }
    }
}

/// The bytes as a text, after a look at them with vector code: a tenth of what the standard library takes for it.
#[allow(unsafe_code)]
fn checked(bytes: Vec<u8>) -> Option<String> {
    simdutf8::basic::from_utf8(&bytes).ok()?;
    // SAFETY: the bytes were found to be UTF-8 a line above.
    Some(unsafe { String::from_utf8_unchecked(bytes) })
}

/// Normalises a single word, of a stop-word list or a dictionary, as the same word would be in a text.
pub fn normal_word(word: &str, yo_to_e: bool) -> String {
    let mut text = Vec::with_capacity(word.len());
    push_any(&composed(word), &mut text);
    let mut text = String::from_utf8(text).unwrap_or_default();
    if text.ends_with(' ') {
        text.pop();
    }
    if yo_to_e { text.replace('ё', "е") } else { text }
}

/// Characters that show nothing and stand inside words: soft hyphen, zero-width space and joiners, direction marks, BOM.
const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}')
}

/// The text without invisible characters, in NFC.
fn composed(raw: &str) -> Cow<'_, str> {
    if !raw.contains(is_invisible) {
        return NFC.normalize(raw);
    }
    let mut visible = String::with_capacity(raw.len());
    raw.split(is_invisible).for_each(|part| visible.push_str(part));
    Cow::Owned(NFC.normalize(&visible).into_owned())
}

/// Whether a text is in NFC, and without invisible characters, if all of its characters are such: ASCII, basic Cyrillic, Han,
/// common punctuation and symbols. `false` says nothing.
#[inline]
fn is_surely_composed(c: char) -> bool {
    matches!(c,
        '\0'..='\x7F' | '\u{80}'..='\u{AC}' | '\u{AE}'..='\u{2FF}' | '\u{400}'..='\u{47F}'
        | '\u{2010}'..='\u{203F}' | '\u{20A0}'..='\u{20CF}' | '\u{2100}'..='\u{2125}' | '\u{2150}'..='\u{2328}'
        | '\u{232B}'..='\u{27FF}' | '\u{3000}'..='\u{3029}' | '\u{3400}'..='\u{9FFF}' | '\u{FF00}'..='\u{FF7F}'
        | '\u{1F300}'..='\u{1FAFF}')
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

/// Appends a piece in its final form, with at most one space at its end: the definition that all else abbreviates.
fn push_any(piece: &str, out: &mut Vec<u8>) {
    let lower = piece.to_lowercase();
    let mut after_space = true;
    for c in NFKC.normalize(&lower).chars() {
        let white = c.is_whitespace();
        if white && !after_space {
            out.push(b' ');
        } else if !white {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
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
            let any = long_way(&NFC.normalize(&raw));
            longest = longest.max(any.len().div_ceil(raw.len()));
            assert!(!any.contains(is_invisible) || is_invisible(c), "{c:?}");
            assert!(!any.contains(|d: char| d.is_whitespace() && d != ' '), "{c:?}");
            if plain(c).is_some() {
                assert!(is_surely_composed(c), "{c:?} would not reach the table");
                // Between two letters, so that white space and final forms show.
                let framed = format!("я{c}b");
                let normal = Normal::of(&framed, false).expect("short");
                assert_eq!(normal.text, by_definition(&framed), "{c:?}");
            }
            // Also behind a letter that much composes with.
            if is_surely_composed(c) {
                assert!(NFC.is_normalized(&format!("e{c}")) && !is_invisible(c), "{c:?}");
            }
        }
        assert_eq!(longest, EXPANSION);
    }

    fn long_way(piece: &str) -> String {
        let mut out = Vec::new();
        push_any(piece, &mut out);
        String::from_utf8(out).expect("UTF-8")
    }

    /// Every piece by the long way.
    fn by_definition(raw: &str) -> String {
        let text = composed(raw);
        let mut pieces = Vec::new();
        let mut start = 0;
        while start < text.len() {
            let end = sentence::piece_end(&text, start);
            let piece = long_way(&text[start..end]);
            pieces.extend(Some(piece.trim_end_matches(' ').to_owned()).filter(|piece| !piece.is_empty()));
            start = end;
        }
        pieces.join(" ")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2048))]

        #[test]
        fn the_short_way_is_the_long_way(
            text in "[ -~\t\nА-яЁёѐѓЋѠ\u{a0}\u{3000}\u{2029}，。！Ａ-ｚ一-龥«»“”—…é\u{301}\u{ad}]{0,120}|[а-яА-ЯЁё ]{50,90}|\\PC{0,60}",
            yo in any::<bool>()
        ) {
            let normal = Normal::of(&text, yo).expect("short");
            let mut expected = by_definition(&text);
            if yo {
                expected = expected.replace('ё', "е");
            }
            prop_assert_eq!(&normal.text, &expected);
            // Pieces end where one begins, and none is empty.
            let mut next = 0;
            for piece in normal.pieces() {
                prop_assert!(piece.start == next && !piece.is_empty());
                next = piece.end + 1;
            }
            prop_assert!(next == normal.text.len() + usize::from(next > 0));
        }

        #[test]
        fn composed_and_decomposed_agree(text in "\\PC{0,30}") {
            let decomposed = icu_normalizer::DecomposingNormalizer::new_nfd().normalize(&text).into_owned();
            prop_assert_eq!(normal(&decomposed), normal(&text));
        }
    }
}
