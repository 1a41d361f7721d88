//! Maps positions in the normalized text to positions in the raw text.
//!
//! Normalization never moves or joins anything across white space or plain characters (ASCII, Cyrillic, Han and common marks). Therefore, a
//! position is identified by the number of bytes before it, not counting white space. A stretch of other characters is normalized
//! separately; a position inside the stretch is moved outward to the edge of the stretch.

use dupsift_text::normal::visible_length;

/// Marks a position in the normalized text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The first byte of a token.
    Start(usize),
    /// The byte after the last byte of a token.
    End(usize),
}

impl Bound {
    fn at(self) -> usize {
        let (Bound::Start(at) | Bound::End(at)) = self;
        at
    }

    /// Returns the sort key of a position. The end of a token sorts before the start of the next token.
    pub fn key(self) -> (usize, bool) {
        (self.at(), matches!(self, Bound::Start(_)))
    }
}

/// Returns the byte offsets of these positions in the raw text, in order. Positions must be in ascending order of [`Bound::key`].
pub fn raw_places(raw: &str, normal: &str, bounds: &[Bound]) -> Vec<usize> {
    let mut places = Vec::with_capacity(bounds.len());
    let mut pieces = Pieces { raw, at: 0 };
    // The current piece, and the number of visible bytes before it.
    let (mut piece, mut before) = (pieces.next(), 0);
    let (mut at, mut visible) = (0, 0);
    for &bound in bounds {
        visible += normal.as_bytes()[at..bound.at()].iter().filter(|&&byte| byte != b' ').count();
        at = bound.at();
        let is_past = |end: usize| match bound {
            Bound::Start(_) => end <= visible,
            Bound::End(_) => end < visible,
        };
        while let Some(passed) = piece.as_ref().filter(|piece| is_past(before + piece.visible)) {
            before += passed.visible;
            piece = pieces.next();
        }
        places.push(match (&piece, bound) {
            (Some(piece), Bound::Start(_)) => piece.start,
            (Some(piece), Bound::End(_)) => piece.end,
            (None, _) => raw.len(),
        });
    }
    places
}

/// Holds a plain character, or a stretch of other characters together with the plain character before it.
#[derive(Debug)]
struct Piece {
    start: usize,
    end: usize,
    /// The number of bytes of the piece in the normalized text, without spaces.
    visible: usize,
}

/// Iterates over the pieces of raw text, in order; white space is in no piece.
struct Pieces<'t> {
    raw: &'t str,
    at: usize,
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let rest = &self.raw[self.at..];
        let white: usize = rest.chars().take_while(|c| c.is_whitespace()).map(char::len_utf8).sum();
        let start = self.at + white;
        let mut chars = self.raw[start..].char_indices();
        let (_, first) = chars.next()?;
        let odd = chars.find(|&(_, c)| c.is_whitespace() || plain(c).is_some());
        let end = odd.map_or(self.raw.len(), |(length, _)| start + length);
        self.at = end;
        let visible = match plain(first) {
            Some(bytes) if end - start == first.len_utf8() => bytes,
            _ => visible_length(&self.raw[start..end]),
        };
        Some(Piece { start, end, visible })
    }
}

/// Returns the number of bytes in a plain character, which is normalized to one character regardless of its neighbors; `None` for any other
/// character.
fn plain(c: char) -> Option<usize> {
    match c {
        '\0'..='\x7F' | '\u{FF01}'..='\u{FF5E}' => Some(1),
        '«' | '»' | '\u{400}'..='\u{45F}' => Some(2),
        '\u{3400}'..='\u{9FFF}' | '\u{3001}'..='\u{3003}' | '\u{3005}' | '\u{3007}'..='\u{3011}' => Some(3),
        '–' | '—' | '‘' | '’' | '“' | '”' | '„' | '•' => Some(3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_text::{Pipeline, TextOptions};
    use proptest::prelude::*;

    /// Returns each token with its raw text.
    fn of(raw: &str) -> Vec<(String, String)> {
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let document = pipeline.analyse(raw);
        let mut tokens = Vec::new();
        document.each_token(&mut |place| tokens.push(place));
        assert_eq!(tokens.len(), document.tokens().len());
        let bounds: Vec<Bound> =
            tokens.iter().flat_map(|place| [Bound::Start(place.start), Bound::End(place.end)]).collect();
        let places = raw_places(raw, document.text(), &bounds);
        tokens
            .iter()
            .zip(places.chunks(2))
            .map(|(token, raw_place)| {
                (document.text()[token.clone()].to_owned(), raw[raw_place[0]..raw_place[1]].to_owned())
            })
            .collect()
    }

    #[test]
    fn tokens_are_found_in_the_raw_text() {
        let pairs = of("Кот  спал.\n\nＡｂｃ 中文。Caf\u{e9} e\u{301}t\u{e9} №5 x\u{AD}y");
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(token, raw)| (token.as_str(), raw.as_str())).collect();
        let expected = [
            ("кот", "Кот"),
            ("спал", "спал"),
            ("abc", "Ａｂｃ"),
            ("中", "中"),
            ("文", "文"),
            ("caf\u{e9}", "Caf\u{e9}"),
            ("\u{e9}t\u{e9}", "e\u{301}t\u{e9}"),
            ("no5", "№5"),
            ("xy", "x\u{AD}y"),
        ];
        assert_eq!(pairs, expected);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn places_are_in_order_and_hold_their_tokens(
            raw in "[a-c.,。，\n\r\t яёЁЙ中文Ａ１\u{301}\u{306}é…ﬁ½\u{ad}\u{200b}\u{2029}\u{85}¨“か가]{0,40}|\\PC{0,40}"
        ) {
            let letters = |text: &str| dupsift_text::normal::normal_word(text, Default::default()).replace(' ', "");
            for (token, place) in of(&raw) {
                prop_assert!(letters(&place).contains(&token.replace(' ', "")), "{token:?} {place:?}");
            }
        }
    }
}
