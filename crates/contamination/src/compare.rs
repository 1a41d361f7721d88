//! Compares an item with the part of a text in which its n-grams were found.

use std::ops::Range;

use dupsift_text::Token;

use crate::align::{Aligner, Pair};
use crate::items::{Item, Items, SHARED};
use crate::search::{Candidate, Span};
use crate::words::{LEAST_BESIDE, LEAST_WORDS, size};

/// The maximum number of tokens between a question and a choice or an answer that stands beside it.
const BESIDE: usize = 20;

/// The number of tokens at the end of a question most of which a text must contain if no choice is beside them.
const END: usize = 3;

/// The number of tokens that may stand between the parts of an item, in addition to as many as the parts have: labels, or a sentence.
const BETWEEN: usize = 25;

/// A text that may contain items.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison<'t> {
    pub items: &'t Items,
    pub tokens: &'t [Token],
    /// The numbers of the tokens.
    pub numbers: &'t [u32],
    /// The digits of the tokens that have digits, by position.
    pub digits: &'t [(u32, String)],
}

/// The result of comparing the numbers of a question with those of a span.
#[derive(Debug, Default)]
struct Numbers {
    /// The question's tokens with the same digits, although they are written in another way.
    same: Vec<u32>,
    /// The question's tokens that stand opposite words without digits.
    unread: Vec<u32>,
    /// The number of tokens that stand opposite other digits.
    different: usize,
}

impl Comparison<'_> {
    /// Aligns the question and the choices of an item with the text around a candidate, whose tokens are `near`, and passes the spans that
    /// have enough words to `each`. If the text repeats the item, there is more than one.
    pub fn spans(&self, candidate: &Candidate, near: Range<u32>, aligner: &mut Aligner, each: &mut impl FnMut(Span)) {
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
        let numbers = self.compare_numbers(item, pairs);
        let (mut covered, mut unread) = (vec![0; question.div_ceil(64)], vec![0; question.div_ceil(64)]);
        let set = |bits: &mut [u64], at: u32| bits[at as usize / 64] |= 1 << (at % 64);
        numbers.unread.iter().for_each(|&at| set(&mut unread, at));
        let sharing = items.sharing(item);
        let mut words = numbers.same.len() as f32;
        numbers.same.iter().for_each(|&at| set(&mut covered, at));
        for &(at, place) in pairs {
            set(&mut covered, at);
            if usize::from(sharing[at as usize]) <= SHARED {
                words += size(&self.tokens[place as usize]);
            }
        }
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
            is_variant: numbers.different > 0,
            answer_found: items.has_answer(item, self.tokens, span.start as usize..span.end as usize),
            covered,
            unread,
        })
    }

    /// Compares the numbers of the question that are not aligned with the text found instead of them.
    fn compare_numbers(&self, item: Item, pairs: &[Pair]) -> Numbers {
        let items = self.items;
        let (all, sharing) = (&items.tokens(item)[..items.question_len(item)], items.sharing(item));
        let mut numbers = Numbers::default();
        let mut compare = |gap: Range<u32>, text: Range<u32>| {
            let is_own = |&at: &u32| usize::from(sharing[at as usize]) <= SHARED;
            let with_digits = gap.filter(is_own).filter_map(|at| Some((at, items.digits(all[at as usize])?)));
            let (places, digits): (Vec<u32>, Vec<&str>) = with_digits.unzip();
            if places.is_empty() || text.is_empty() {
                return;
            }
            let from = self.digits.partition_point(|(at, _)| *at < text.start);
            let there: Vec<&str> =
                self.digits[from..].iter().take_while(|(at, _)| *at < text.end).map(|(_, digits)| &**digits).collect();
            if there.is_empty() {
                numbers.unread.extend(places);
            } else if there.concat() == digits.concat() {
                numbers.same.extend(places);
            } else {
                numbers.different += places.len();
            }
        };
        let (Some(&first), Some(&last)) = (pairs.first(), pairs.last()) else { return numbers };
        // Before the first pair and after the last one, only as many tokens are compared as the question has there.
        compare(0..first.0, first.1.saturating_sub(first.0)..first.1);
        for pair in pairs.windows(2) {
            compare(pair[0].0 + 1..pair[1].0, pair[0].1 + 1..pair[1].1);
        }
        let rest = all.len() as u32 - last.0 - 1;
        compare(last.0 + 1..all.len() as u32, last.1 + 1..(last.1 + 1 + rest).min(self.tokens.len() as u32));
        numbers
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
