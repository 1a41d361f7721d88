//! Maps positions in the raw text to positions in the normalized text.
//!
//! Line breaks and the width of punctuation exist only in the raw text. Code that needs this information finds the positions in the raw
//! text and continues with the normalized text, so that all text options (ё, width, case) apply. Normalization does not move or join
//! anything across white space, line breaks or sentence punctuation. So a position next to white space, a line break or punctuation is
//! identified by the number of non-space bytes before it. Cost: one step per character; a stretch between two spaces that contains a rare
//! character is normalized separately.

use dupsift_text::Analysis;
use dupsift_text::normal::visible_length;

/// Follows ascending positions through the raw and the normalized text of a document.
pub(crate) struct RawPlaces<'t> {
    raw: &'t str,
    text: &'t [u8],
    at: usize,
    place: usize,
}

impl<'t> RawPlaces<'t> {
    /// Starts at the beginning of both texts.
    pub(crate) fn new(document: &'t Analysis<'_>) -> RawPlaces<'t> {
        RawPlaces { raw: document.raw(), text: document.text().as_bytes(), at: 0, place: 0 }
    }

    /// Returns the position in the normalized text that corresponds to a position in the raw text. The result is directly after the
    /// last visible character that precedes the raw position. The raw position must be at a line break, or next to white space or
    /// punctuation, and must not precede the previous position.
    pub(crate) fn to(&mut self, raw: usize) -> usize {
        let passed = self.raw.get(self.at..raw).unwrap_or_default();
        let mut visible: usize = passed.split_whitespace().map(visible_bytes).sum();
        self.at = raw;
        while let (1.., Some(&byte)) = (visible, self.text.get(self.place)) {
            visible -= usize::from(byte != b' ');
            self.place += 1;
        }
        self.place
    }
}

/// Returns the number of non-space bytes in the normalized form of a stretch without white space.
fn visible_bytes(stretch: &str) -> usize {
    if stretch.is_ascii() {
        return stretch.len();
    }
    let mut bytes = 0;
    for c in stretch.chars() {
        bytes += match c {
            '\0'..='\x7F' | '\u{FF01}'..='\u{FF5E}' => 1,
            '«' | '»' | '\u{400}'..='\u{45F}' => 2,
            '\u{3400}'..='\u{9FFF}' | '\u{3001}'..='\u{3003}' | '\u{3005}' | '\u{3007}'..='\u{3011}' => 3,
            '–' | '—' | '‘' | '’' | '“' | '”' | '„' | '•' => 3,
            // Normalization may change any other character, alone or in combination with its neighbors.
            _ => return visible_length(stretch),
        };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use dupsift_text::normal::normal_word;
    use dupsift_text::{Pipeline, TextOptions};

    /// Splits the text at all line breaks and punctuation, and checks that each stretch of the normalized text equals the corresponding raw
    /// stretch normalized separately.
    fn check(raw: &str, yo_to_e: bool) {
        let options = TextOptions { yo_to_e, traditional: yo_to_e, ..TextOptions::default() };
        let (pipeline, letters) = (Pipeline::new(&options).expect("default options"), options.letters());
        let document = pipeline.analyse(raw);
        let mut places = RawPlaces::new(&document);
        let visible = |text: &str| text.replace(' ', "");
        let mut start = 0;
        for (at, mark) in raw.match_indices(['\n', '.', ',', '。', '，', '\u{2029}', '\r']).chain([(raw.len(), "")]) {
            let piece = raw.get(start..at).expect("a place");
            let from = places.to(start);
            let to = places.to(at);
            assert_eq!(visible(&document.text()[from..to]), visible(&normal_word(piece, letters)), "{raw:?}");
            start = at + mark.len();
        }
    }

    #[test]
    fn odd_characters_are_followed() {
        for raw in [
            "Ｆｕｌｌ　Ｗｉｄｔｈ，３.１４。ﬁn…end. №5 ½",
            "e\u{301}, E\u{301}. и\u{306}\n\u{301}x\u{AD}y \u{200B}\n\u{200B}\u{301}.z",
            "ΟΔΟΣ. İstanbul, ﷺ。ｶﾞ\u{85}a\u{1C}b\0c ¨,¨",
            "",
        ] {
            check(raw, false);
            check(raw, true);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2048))]

        #[test]
        fn stretches_are_those_normalised_alone(
            raw in "[a-c.,。，\n\r\t яёЁЙ中文Ａ１\u{301}\u{306}é…ﬁ½\u{ad}\u{200b}\u{2029}\u{85}¨“]{0,40}|\\PC{0,40}", yo in any::<bool>()
        ) {
            check(&raw, yo);
        }
    }
}
