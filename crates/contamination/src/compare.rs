//! Compares an item with the part of a text in which its n-grams were found.

use std::ops::Range;

use dupsift_text::Token;

use crate::align::{Aligner, Pair};
use crate::items::Items;
use crate::span::{Candidate, Span};
use crate::texts::Item;
use crate::words::{LEAST_BESIDE, LEAST_WORDS, Number, joined, size};

/// The maximum number of tokens between a question and a choice or an answer that stands beside it.
const BESIDE: usize = 20;

/// The number of tokens at the end of a question most of which a text must contain if no choice is beside them.
const END: usize = 3;

/// The number of tokens that may stand between the parts of an item, in addition to as many as the parts have: labels, or a sentence.
const BETWEEN: usize = 25;

/// A text that may contain items.
#[derive(Clone, Copy)]
pub(crate) struct Comparison<'t> {
    pub items: &'t Items,
    pub tokens: &'t [Token],
    /// The numbers of the tokens.
    pub numbers: &'t [u32],
    /// Returns the tokens that contain digits.
    pub with_digits: &'t dyn Fn() -> &'t [Number],
    /// Returns the first token and the value of each number in words.
    pub in_words: &'t dyn Fn() -> &'t [(u32, u64)],
}

/// The result of comparing the numbers of a question with those of a span.
#[derive(Debug, Default)]
struct Compared {
    /// The question's tokens with the same value, although they are written in another way.
    same: Vec<u32>,
    /// The question's tokens that stand opposite words without digits.
    unread: Vec<u32>,
    /// The number of tokens that stand opposite other numbers.
    different: usize,
}

impl Comparison<'_> {
    /// Aligns the question and the choices of an item with the text around a candidate, whose tokens are `near`, and passes the spans that
    /// have enough words to `each`. If the text repeats the item, there is more than one.
    pub(crate) fn spans(
        &self,
        candidate: &Candidate,
        near: Range<u32>,
        aligner: &mut Aligner,
        each: &mut impl FnMut(Span),
    ) {
        let (items, item) = (self.items, candidate.item);
        let all = items.tokens(item);
        let (Some(&first), Some(&last)) = (candidate.begins.first(), candidate.begins.last()) else { return };
        let after = all.len().saturating_sub(last as usize + items.gram_tokens(item));
        // The rest of the item may be twice as long in the text.
        let mut from = (near.start as usize).saturating_sub(2 * first as usize + BETWEEN);
        let end = (near.end as usize + 2 * after + BETWEEN).min(self.tokens.len());
        while from + items.least_covered(item) as usize <= end {
            let to = end.min(from + 3 * all.len() + BESIDE);
            let mut pairs = aligner.align(all, &self.numbers[from..to]);
            pairs.truncate(pairs.partition_point(|pair| (pair.0 as usize) < items.question_len(item)));
            let length = items.gram_tokens(item);
            if length > items.ngram() {
                keep_rows(&mut pairs, length);
            }
            pairs.iter_mut().for_each(|pair| pair.1 += from as u32);
            if let Some(span) = self.span(item, &pairs) {
                from = span.end as usize;
                each(span);
            } else if to < end {
                from = to - all.len();
            } else {
                break;
            }
        }
    }

    /// Returns the span of the question's tokens that are aligned with the text, or `None` if it has too few words.
    fn span(&self, item: Item, pairs: &[Pair]) -> Option<Span> {
        let items = self.items;
        let question = items.question_len(item);
        let span = pairs.first()?.1..pairs.last()?.1 + 1;
        let sharing = items.sharing(item);
        let is_own = |at: u32| sharing[at as usize].is_own();
        let own = pairs.iter().filter(|pair| is_own(pair.0));
        let mut words = own.map(|pair| size(&self.tokens[pair.1 as usize])).sum::<f32>();
        // A number that is written in another way counts as a word.
        let more =
            items.with_digits(item).filter(|(at, _)| pairs.binary_search_by_key(at, |pair| pair.0).is_err()).count();
        if words + more as f32 + items.most_beside(item) < LEAST_WORDS {
            return None;
        }
        let numbers = self.compare_numbers(item, pairs);
        words += numbers.same.len() as f32;
        let (mut covered, mut unread) = (vec![0; question.div_ceil(64)], vec![0; question.div_ceil(64)]);
        let set = |bits: &mut [u64], at: u32| bits[at as usize / 64] |= 1 << (at % 64);
        numbers.unread.iter().for_each(|&at| set(&mut unread, at));
        numbers.same.iter().chain(pairs.iter().map(|(at, _)| at)).for_each(|&at| set(&mut covered, at));
        let has = |at: usize| (covered[at / 64] | unread[at / 64]) >> (at % 64) & 1 == 1;
        let last = question.saturating_sub(END)..question;
        let ends = 2 * last.clone().filter(|&at| has(at)).count() > last.len();
        if words < LEAST_WORDS || !ends {
            let beside = self.beside(item, &span);
            // The end of a question asks. A text that has the rest may quote what the question quotes, unless a choice follows.
            if !ends && beside == 0.0 && items.choices(item).next().is_some() {
                return None;
            }
            words += beside;
        }
        (words >= LEAST_WORDS).then(|| Span {
            item,
            start: span.start,
            end: span.end,
            grams: grams(pairs, items.ngram().min(question)),
            is_variant: numbers.different > 0 || self.has_other_words(item, pairs),
            answer_found: items.has_answer(item, self.tokens, span.start as usize..span.end as usize),
            covered,
            unread,
        })
    }

    /// Compares the numbers of the question with those of the text. If two numbers are aligned, compares their signs. Compares all other
    /// numbers of the question with the numbers in the same place of the text.
    fn compare_numbers(&self, item: Item, pairs: &[Pair]) -> Compared {
        let items = self.items;
        let (length, sharing) = (items.question_len(item) as u32, items.sharing(item));
        let mut numbers = Compared::default();
        let own: Vec<_> = items.with_digits(item).filter(|(at, _)| sharing[*at as usize].is_own()).collect();
        let (Some(&first), Some(&last), false) = (pairs.first(), pairs.last(), own.is_empty()) else {
            return numbers;
        };
        let all = (self.with_digits)();
        let within = |text: Range<u32>| {
            let from = all.partition_point(|number| number.at < text.start);
            all[from..].iter().take_while(move |number| number.at < text.end)
        };
        for &(at, number) in &own {
            let Ok(pair) = pairs.binary_search_by_key(&at, |pair| pair.0) else { continue };
            // Before the first word of a question, a dash marks it as an element of a list.
            let there = within(pairs[pair].1..pairs[pair].1 + 1).next();
            numbers.different += usize::from(at > 0 && there.is_some_and(|there| there.sign.differs(number.sign)));
        }
        let mut compare = |gap: Range<u32>, text: Range<u32>| {
            let here = between(&own, gap);
            if text.is_empty() || here.is_empty() {
                return;
            }
            let places = here.iter().map(|&(at, _)| at);
            let there = within(text);
            if there.clone().next().is_none() {
                numbers.unread.extend(places);
            } else if joined(there) == joined(here.iter().map(|&(_, number)| number)) {
                numbers.same.extend(places);
            } else {
                numbers.different += here.len();
            }
        };
        // Before the first pair and after the last one, only as many tokens are compared as the question has there.
        compare(0..first.0, first.1.saturating_sub(first.0)..first.1);
        for pair in pairs.windows(2) {
            compare(pair[0].0 + 1..pair[1].0, pair[0].1 + 1..pair[1].1);
        }
        let rest = length - last.0 - 1;
        compare(last.0 + 1..length, last.1 + 1..(last.1 + 1 + rest).min(self.tokens.len() as u32));
        numbers
    }

    /// Returns whether a number that is written in words in the question is a different number, also written in words, in the same place of
    /// the text. The words before the two numbers must be aligned.
    fn has_other_words(&self, item: Item, pairs: &[Pair]) -> bool {
        let (items, sharing) = (self.items, self.items.sharing(item));
        let mut own = items.in_words(item).filter(|(at, _)| sharing[*at as usize].is_own());
        own.any(|(at, value)| {
            let behind = pairs.partition_point(|pair| pair.0 < at);
            let place = match behind.checked_sub(1).map(|before| pairs[before]) {
                Some(before) => (before.0 + 1 == at).then_some(before.1 + 1),
                None => pairs.first().and_then(|first| first.1.checked_sub(first.0 - at)),
            };
            let there = (self.in_words)();
            let other = place.and_then(|place| there.binary_search_by_key(&place, |(at, _)| *at).ok());
            other.is_some_and(|other| there[other].1 != value)
        })
    }

    /// Returns the number of words in the choices and answers of an item that stand beside a span.
    fn beside(&self, item: Item, span: &Range<u32>) -> f32 {
        let items = self.items;
        let choices: Vec<&[u32]> = items.choices(item).collect();
        let tokens: usize = choices.iter().map(|choice| choice.len()).sum();
        let start = (span.start as usize).saturating_sub(BESIDE);
        let end = (span.end as usize + 2 * tokens + BESIDE).min(self.tokens.len());
        // Looks for tokens that are not inside the span, because the question itself may contain them.
        let words = |len: usize, is_there: &dyn Fn(usize) -> bool| {
            let is_outside = |place: &usize| *place < span.start as usize || place + len > span.end as usize;
            let place = (start..(end + 1).saturating_sub(len)).filter(is_outside).find(|&place| is_there(place))?;
            Some(self.tokens[place..place + len].iter().map(size).sum::<f32>().max(LEAST_BESIDE))
        };
        let found = choices
            .iter()
            .filter_map(|choice| words(choice.len(), &|place| self.numbers[place..place + choice.len()] == **choice));
        let choices = found.sum::<f32>();
        if choices > 0.0 {
            return choices;
        }
        let answers = items.answers(item).filter_map(|answer| {
            words(answer.len(), &|place| {
                self.tokens[place..].iter().zip(answer).all(|(token, &hash)| token.hash == hash)
            })
        });
        answers.fold(0.0, f32::max)
    }
}

/// Returns the numbers at these positions, which are found by binary search: there may be a gap after each number of a long question.
fn between<N>(numbers: &[(u32, N)], positions: Range<u32>) -> &[(u32, N)] {
    if positions.is_empty() {
        return &[];
    }
    let from = numbers.partition_point(|(at, _)| *at < positions.start);
    let rest = &numbers[from..];
    &rest[..rest.partition_point(|(at, _)| *at < positions.end)]
}

/// Keeps the pairs in rows of at least this many tokens without a gap. Items with few different words have many of their words in any text
/// of these words, in the same order.
fn keep_rows(pairs: &mut Vec<Pair>, tokens: usize) {
    let mut kept = Vec::with_capacity(pairs.len());
    for row in pairs.chunk_by(|one, next| next.0 == one.0 + 1 && next.1 == one.1 + 1) {
        kept.extend_from_slice(if row.len() >= tokens { row } else { &[] });
    }
    *pairs = kept;
}

/// Returns the number of n-grams of this many tokens that are aligned without a gap.
fn grams(pairs: &[Pair], tokens: usize) -> u32 {
    let is_gram = |window: &&[Pair]| {
        let (first, last) = (window[0], window[window.len() - 1]);
        (last.0 - first.0) as usize == tokens - 1 && (last.1 - first.1) as usize == tokens - 1
    };
    if tokens == 0 { 0 } else { pairs.windows(tokens).filter(is_gram).count() as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, Search, Words};
    use dupsift_text::{Pipeline, TextOptions};

    #[test]
    fn numbers_are_found_by_position() {
        let numbers = [(2, 'a'), (3, 'b'), (7, 'c')];
        assert_eq!(between(&numbers, 3..7), [(3, 'b')]);
        assert_eq!(between(&numbers, 0..8), numbers);
        assert!(between(&numbers, 4..7).is_empty() && between(&numbers, 8..9).is_empty());
        assert!(between(&numbers, 3..3).is_empty());
    }

    #[test]
    fn words_between_many_numbers_make_no_variant() {
        let text = |word: &str| (10_000..60_000).map(|number| format!("{number}{word} ")).collect::<String>();
        let pipeline = Pipeline::new(&TextOptions::default()).expect("valid options");
        let mut builder = Builder::new(5);
        builder.push(&Words::of_question(&pipeline.analyse(&text(""))), &[], &[]);
        let items = builder.build();
        // The text begins with a part without other words, so that the item is compared with it.
        let copy = format!("{} {}", text(""), text(" so"));
        let found = Search::new(&items).spans(&pipeline.analyse(&copy));
        assert!(!found.is_empty() && found.iter().all(|span| !span.is_variant), "{}", found.len());
    }
}
