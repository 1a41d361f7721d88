//! Spans of a text in which n-grams of an item are close together.

use dupsift_text::Token;

use crate::items::{Item, Items, NO_TOKEN, windows};

/// A stretch of a text with n-grams of one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The item.
    pub item: Item,
    /// The first token of the text.
    pub start: u32,
    /// The token after the last.
    pub end: u32,
    /// How many of the item's n-grams are in it.
    pub grams: u32,
    /// The tokens of the item that these n-grams cover: a bit each, lowest first.
    pub covered: Vec<u64>,
}

/// An n-gram of an item at a place of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Hit {
    item: Item,
    start: u32,
    at: u32,
}

/// A span that covers a smaller share of an item's tokens, one in so many, is none: whatever their weights, it says little.
pub const LEAST_SHARE: usize = 3;

/// Searches texts for items, and counts in how many of them each token occurs. Each thread has one.
#[derive(Debug)]
pub struct Search<'i> {
    items: &'i Items,
    /// By token number: the last text that has it, and how many have it.
    seen: Vec<(u32, u32)>,
    texts: u32,
    numbers: Vec<u32>,
    sums: Vec<u64>,
    hits: Vec<Hit>,
    begins: Vec<u32>,
}

impl<'i> Search<'i> {
    /// Returns a search that has seen no text.
    pub fn new(items: &'i Items) -> Search<'i> {
        Search {
            items,
            seen: vec![(0, 0); items.vocabulary()],
            texts: 0,
            numbers: Vec::new(),
            sums: Vec::new(),
            hits: Vec::new(),
            begins: Vec::new(),
        }
    }

    /// Returns the spans of a text by item, in order.
    pub fn spans(&mut self, tokens: &[Token]) -> Vec<Span> {
        let Search { items, seen, texts, numbers, sums, hits, begins } = self;
        *texts += 1;
        // Short loops, each of which waits for memory many times at once.
        numbers.clear();
        numbers.extend(tokens.iter().map(|token| items.number(token.hash)));
        for &number in numbers.iter() {
            if number != NO_TOKEN {
                let (last, count) = &mut seen[number as usize];
                *count += u32::from(*last != *texts);
                *last = *texts;
            }
        }
        hits.clear();
        let (least, mut from) = (items.least_gram(), 0);
        // No n-gram of an item has a token that no item has.
        for run in numbers.split(|&number| number == NO_TOKEN) {
            if run.len() >= least {
                windows(items, &tokens[from..from + run.len()], sums, |start, grams| {
                    let start = (from + start) as u32;
                    hits.extend(grams.iter().map(|gram| Hit { item: gram.item, start, at: gram.at }));
                });
            }
            from += run.len() + 1;
        }
        if hits.is_empty() {
            return Vec::new();
        }
        hits.sort_unstable();
        spans(items, hits, begins)
    }

    /// Returns how many texts were searched, and how many of them have each token.
    pub fn frequencies(self) -> (u64, Vec<u32>) {
        (self.texts.into(), self.seen.into_iter().map(|(_, count)| count).collect())
    }
}

/// Joins hits, which are sorted, to spans.
fn spans(items: &Items, hits: &[Hit], begins: &mut Vec<u32>) -> Vec<Span> {
    let gap = 2 * items.ngram() as u32;
    let length = |hit: &Hit| items.gram_tokens(hit.item) as u32;
    let is_close = |one: &Hit, next: &Hit| one.item == next.item && next.start <= one.start + length(one) + gap;
    let span = |hits: &[Hit]| {
        let (first, last) = (hits[0], hits[hits.len() - 1]);
        let (tokens, length) = (items.token_count(first.item), length(&first));
        begins.clear();
        begins.extend(hits.iter().map(|hit| hit.at));
        begins.sort_unstable();
        begins.dedup();
        let behind = begins.windows(2).map(|pair| length.min(pair[1] - pair[0])).sum::<u32>();
        if ((behind + length) as usize) * LEAST_SHARE < tokens {
            return None;
        }
        let mut covered = vec![0u64; tokens.div_ceil(64)];
        let mut from = 0;
        for &at in begins.iter() {
            let end = at + length;
            (from.max(at)..end).for_each(|token| covered[token as usize / 64] |= 1 << (token % 64));
            from = end;
        }
        let grams = begins.len() as u32;
        Some(Span { item: first.item, start: first.start, end: last.start + length, grams, covered })
    };
    hits.chunk_by(is_close).filter_map(span).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;
    use dupsift_core::hash::hash64;

    pub(crate) fn tokens(text: &str) -> Vec<Token> {
        text.split_whitespace().map(|word| Token { hash: hash64(word.as_bytes()), han: false, joined: false }).collect()
    }

    fn found(ngram: u32, items: &[&str], text: &str) -> Vec<(u32, u32, u32, u32, u32)> {
        let mut builder = Builder::new(ngram);
        for item in items {
            builder.push(&crate::items::hashes(&tokens(item)), &[]);
        }
        let items = builder.build();
        let spans = Search::new(&items).spans(&tokens(text));
        let ones = |span: &Span| span.covered.iter().map(|word| word.count_ones()).sum();
        spans.iter().map(|span| (span.item, span.start, span.end, span.grams, ones(span))).collect()
    }

    #[test]
    fn an_item_is_one_span_with_all_of_its_tokens() {
        let item = "a b c d e f g h i j";
        assert_eq!(found(8, &[item, "x y z"], &format!("x y {item} z")), [(0, 2, 12, 3, 10)]);
        assert_eq!(found(8, &[item], "b c d e f g h i"), [(0, 0, 8, 1, 8)]);
        assert!(found(8, &[item], "a b c d e f g x h i j").is_empty());
    }

    #[test]
    fn a_changed_word_leaves_the_rest_and_a_long_gap_divides() {
        let item = "a b c d e f g h";
        assert_eq!(found(3, &[item], "a b c X e f g h"), [(0, 0, 8, 3, 7)]);
        let six = "1 2 3 4 5 6";
        assert_eq!(found(3, &[item], &format!("a b c {six} f g h")), [(0, 0, 12, 2, 6)]);
        assert_eq!(found(3, &[item], &format!("a b c {six} 7 f g h")), [(0, 0, 3, 1, 3), (0, 10, 13, 1, 3)]);
    }

    #[test]
    fn short_items_are_one_gram_and_grams_of_two_items_are_two_spans() {
        assert_eq!(found(8, &["a b c d e"], "a b c d e"), [(0, 0, 5, 1, 5)]);
        assert!(found(8, &["a b c d"], "a b c d").is_empty());
        assert_eq!(found(5, &["a b c d e f", "b c d e f"], "a b c d e f"), [(0, 0, 6, 2, 6), (1, 1, 6, 1, 5)]);
    }

    #[test]
    fn a_span_with_less_than_a_third_of_an_item_is_none() {
        let long: String = ('a'..='r').map(|letter| format!("{letter} ")).collect();
        assert_eq!(found(6, &[&long], "a b c d e f"), [(0, 0, 6, 1, 6)]);
        assert!(found(5, &[&long], "a b c d e").is_empty());
        assert_eq!(found(5, &[&long], "a b c d e x n o p q r"), [(0, 0, 11, 2, 10)]);
    }

    #[test]
    fn a_token_counts_once_in_a_text() {
        let mut builder = Builder::new(8);
        builder.push(&crate::items::hashes(&tokens("a b c d e")), &[]);
        let items = builder.build();
        let mut search = Search::new(&items);
        for text in ["a a b", "a x", ""] {
            search.spans(&tokens(text));
        }
        let number = |word: &str| items.number(hash64(word.as_bytes())) as usize;
        let (texts, counts) = search.frequencies();
        assert_eq!((texts, counts[number("a")], counts[number("b")], counts[number("c")]), (3, 2, 1, 0));
    }
}
