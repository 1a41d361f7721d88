//! Whether the answer of an item is near a span.

use std::ops::Range;

use dupsift_text::Token;

use crate::items::{Item, Items};

/// Number of tokens before and after a span that are searched for an answer.
pub const ANSWER_WITHIN: usize = 200;

impl Items {
    /// Returns whether the answer of an item is within [`ANSWER_WITHIN`] tokens before or after a span of the text; `None` if the item has
    /// no answer.
    pub fn has_answer(&self, item: Item, text: &[Token], span: Range<usize>) -> Option<bool> {
        let answer = self.answer(item);
        if answer.is_empty() {
            return None;
        }
        let before = &text[span.start.saturating_sub(ANSWER_WITHIN)..span.start];
        let after = &text[span.end..text.len().min(span.end + ANSWER_WITHIN)];
        let is_answer = |window: &[Token]| window.iter().zip(answer).all(|(token, &hash)| token.hash == hash);
        Some([before, after].into_iter().any(|side| side.windows(answer.len()).any(is_answer)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;

    #[test]
    fn an_answer_is_beside_the_span_and_near() {
        let mut builder = Builder::new(8);
        builder.push(&[1, 2, 3, 4, 5], &[7, 8]);
        builder.push(&[1, 2, 3, 4, 5], &[]);
        let items = builder.build();
        let has = |before: &[u64], after: &[u64]| {
            let text: Vec<u64> = [before, &[1, 2, 7, 8, 5], after].concat();
            let text: Vec<Token> = text.iter().map(|&hash| Token { hash, han: false, joined: false }).collect();
            let span = before.len()..before.len() + 5;
            (items.has_answer(0, &text, span.clone()), items.has_answer(1, &text, span))
        };
        assert_eq!(has(&[], &[]), (Some(false), None));
        assert_eq!(has(&[], &[9, 7, 8]), (Some(true), None));
        assert_eq!(has(&[7, 8, 9], &[]), (Some(true), None));
        assert_eq!(has(&[7], &[8]), (Some(false), None));
        let far: Vec<u64> = std::iter::repeat_n(9, 199).chain([7, 8]).collect();
        assert_eq!(has(&[], &far), (Some(false), None));
        assert_eq!(has(&[], &far[1..]), (Some(true), None));
    }
}
