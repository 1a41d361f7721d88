//! Checks whether an answer to an item is in a span or near it.

use std::ops::Range;

use dupsift_text::Token;

use crate::items::Items;
use crate::texts::Item;

/// The number of tokens searched for an answer on each side of a span.
pub(crate) const ANSWER_WITHIN: usize = 200;

impl Items {
    /// Returns whether an answer to an item is within [`ANSWER_WITHIN`] tokens before or after a span of the text, or inside the span,
    /// where it may fill a gap. Inside the span, the answer must occur more often than in the item itself. Returns `None` if the item has
    /// no answer.
    pub(crate) fn has_answer(&self, item: Item, text: &[Token], span: Range<usize>) -> Option<bool> {
        let mut answers = self.answers(item).peekable();
        answers.peek()?;
        let around = span.start.saturating_sub(ANSWER_WITHIN)..text.len().min(span.end + ANSWER_WITHIN);
        let is_found = |answer: &[u64]| {
            let windows = text[around.clone()].windows(answer.len()).zip(around.start..);
            let is_answer = |window: &[Token]| window.iter().zip(answer).all(|(token, &hash)| token.hash == hash);
            let mut inside = 0;
            for (_, start) in windows.filter(|(window, _)| is_answer(window)) {
                if start < span.start || start + answer.len() > span.end {
                    return true;
                }
                inside += 1;
            }
            inside > self.occurrences(item, answer)
        };
        Some(answers.any(is_found))
    }

    /// Returns the number of occurrences of an answer in its item.
    fn occurrences(&self, item: Item, answer: &[u64]) -> usize {
        let numbers: Vec<u32> = answer.iter().map(|&hash| self.number(hash)).collect();
        self.tokens(item)[..self.question_len(item)].windows(numbers.len()).filter(|window| *window == numbers).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, Words};

    #[test]
    fn an_answer_is_beside_the_span_and_near_or_fills_a_gap() {
        let mut builder = Builder::new(8);
        let question = Words::made(&[1, 2, 3, 4, 5]);
        let answers_of_items: [Vec<Vec<u64>>; 3] = [vec![vec![7, 8]], vec![vec![]], vec![vec![6], vec![2, 3]]];
        for answers in answers_of_items {
            let answers: Vec<Words> = answers.iter().map(|answer| Words::made(answer)).collect();
            builder.push(&question, &[], &answers);
        }
        let items = builder.build();
        let has_in = |item: Item, before: &[u64], span: &[u64], after: &[u64]| {
            let text: Vec<u64> = [before, span, after].concat();
            let text: Vec<Token> = text.iter().map(|&hash| Token { hash, han: false, joined: false }).collect();
            items.has_answer(item, &text, before.len()..before.len() + span.len())
        };
        let has = |before: &[u64], after: &[u64]| has_in(0, before, &[1, 2, 3, 4, 5], after);
        assert_eq!(has(&[], &[]), Some(false));
        assert_eq!(has(&[], &[9, 7, 8]), Some(true));
        assert_eq!(has(&[7, 8, 9], &[]), Some(true));
        assert_eq!(has(&[7], &[8]), Some(false));
        let far: Vec<u64> = std::iter::repeat_n(9, 199).chain([7, 8]).collect();
        assert_eq!(has(&[], &far), Some(false));
        assert_eq!(has(&[], &far[1..]), Some(true));
        // If an item has no answer, the result is unknown.
        assert_eq!(has_in(1, &[7, 8], &[1, 2, 3], &[]), None);
        // The answer fills a gap in the item, or extends beyond the end of the span.
        assert_eq!(has_in(0, &[], &[1, 2, 7, 8, 4, 5], &[]), Some(true));
        assert_eq!(has_in(0, &[9, 7], &[8, 1, 2, 3], &[]), Some(true));
        // An answer that the item itself contains counts only if the text contains it more often.
        assert_eq!(has_in(2, &[], &[1, 2, 3, 4, 5], &[]), Some(false));
        assert_eq!(has_in(2, &[], &[1, 2, 3, 4, 2, 3, 5], &[]), Some(true));
        assert_eq!(has_in(2, &[2, 3], &[1, 2, 3, 4, 5], &[]), Some(true));
        assert_eq!(has_in(2, &[], &[1, 2, 3, 4, 6, 5], &[]), Some(true), "any answer is right");
    }
}
