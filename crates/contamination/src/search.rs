//! Finds spans of a text in which n-grams of an item are close together.

use std::ops::Range;

use dupsift_text::Token;

use crate::items::{Gram, Item, Items, NO_TOKEN, windows};

/// Describes a span: a stretch of text that contains n-grams of one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The item.
    pub item: Item,
    /// The first token of the span in the text.
    pub start: u32,
    /// The token after the last token of the span.
    pub end: u32,
    /// The number of the item's n-grams in the span.
    pub grams: u32,
    /// The tokens of the item that these n-grams cover, as one bit per token. The lowest bit is the first token.
    pub covered: Vec<u64>,
}

/// Marks a position in the text at which an n-gram of an item begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    hash: u64,
    start: u32,
}

/// Holds occurrences of one n-gram that are so close together that they are in the same span of every item that contains this n-gram.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// The first token of the first occurrence.
    first: u32,
    /// The first token of the last occurrence.
    last: u32,
}

/// Holds an n-gram in the text that also occurs in an item.
#[derive(Clone, Debug)]
struct Part<'i> {
    item: Item,
    /// The occurrences of the n-gram in the item.
    grams: &'i [Gram],
    /// The runs of the n-gram in the text.
    runs: Range<u32>,
}

/// A span must cover at least `1 / LEAST_SHARE` of an item's tokens. Smaller spans are ignored, regardless of the weights.
pub const LEAST_SHARE: usize = 3;

/// Searches documents for items, and counts how many documents contain each token. Each thread has its own instance.
#[derive(Debug)]
pub struct Search<'i> {
    items: &'i Items,
    /// `seen[number]` holds the last document that contains the token with this number, and the number of documents that contain this
    /// token.
    seen: Vec<(u32, u32)>,
    texts: u32,
    numbers: Vec<u32>,
    sums: Vec<u64>,
    places: Vec<Place>,
    joins: Joins<'i>,
}

/// Joins the positions in a text into spans. If a text repeats a common n-gram, the cost is proportional to the number of items that
/// contain the n-gram plus the number of its positions in the text, not to the product of these numbers: the n-gram is listed once for each
/// item, and its positions are joined into runs before items are processed.
#[derive(Debug, Default)]
struct Joins<'i> {
    runs: Vec<Run>,
    parts: Vec<Part<'i>>,
    /// The runs of one item, each with the number of the n-gram to which the run belongs.
    pieces: Vec<(Run, usize)>,
    begins: Vec<u32>,
    /// The total number of runs processed for all items.
    joined: usize,
}

impl<'i> Search<'i> {
    /// Returns a search that has not processed any documents.
    pub fn new(items: &'i Items) -> Search<'i> {
        Search {
            items,
            seen: vec![(0, 0); items.vocabulary()],
            texts: 0,
            numbers: Vec::new(),
            sums: Vec::new(),
            places: Vec::new(),
            joins: Joins::default(),
        }
    }

    /// Returns the spans in a text, ordered by item.
    pub fn spans(&mut self, tokens: &[Token]) -> Vec<Span> {
        let Search { items, seen, texts, numbers, sums, places, joins } = self;
        *texts += 1;
        // The loops are short, so that many memory accesses overlap.
        numbers.clear();
        numbers.extend(tokens.iter().map(|token| items.number(token.hash)));
        for &number in numbers.iter() {
            if number != NO_TOKEN {
                let (last, count) = &mut seen[number as usize];
                *count += u32::from(*last != *texts);
                *last = *texts;
            }
        }
        places.clear();
        let (least, mut from) = (items.least_gram(), 0);
        // Splits at tokens that are in no item, because no n-gram of an item contains them.
        for run in numbers.split(|&number| number == NO_TOKEN) {
            if run.len() >= least {
                windows(items, &tokens[from..from + run.len()], sums, |start, grams| {
                    places.push(Place { hash: grams[0].hash, start: (from + start) as u32 });
                });
            }
            from += run.len() + 1;
        }
        if places.is_empty() {
            return Vec::new();
        }
        places.sort_unstable();
        joins.list(items, places);
        joins.spans(items)
    }

    /// Returns the number of documents that were searched and, for each token, the number of these documents that contain it.
    pub fn frequencies(self) -> (u64, Vec<u32>) {
        (self.texts.into(), self.seen.into_iter().map(|(_, count)| count).collect())
    }
}

impl<'i> Joins<'i> {
    /// Lists the runs of each n-gram, and the n-grams of each item. `places` must be sorted.
    fn list(&mut self, items: &'i Items, places: &[Place]) {
        self.runs.clear();
        self.parts.clear();
        for places in places.chunk_by(|one, next| one.hash == next.hash) {
            let grams = items.grams(places[0].hash);
            // N-grams with the same hash have the same length.
            let reach = reach(items, grams[0].item);
            let from = self.runs.len() as u32;
            let runs = places.chunk_by(|one, next| next.start <= one.start + reach);
            self.runs.extend(runs.map(|run| Run { first: run[0].start, last: run[run.len() - 1].start }));
            let to = self.runs.len() as u32;
            let parts = grams.chunk_by(|one, next| one.item == next.item);
            self.parts.extend(parts.map(|grams| Part { item: grams[0].item, grams, runs: from..to }));
        }
        self.parts.sort_unstable_by_key(|part| (part.item, part.runs.start));
    }

    /// Returns the spans of all items, in order.
    fn spans(&mut self, items: &Items) -> Vec<Span> {
        let Joins { runs, parts, pieces, begins, joined } = self;
        *joined = 0;
        let mut spans = Vec::new();
        for parts in parts.chunk_by(|one, next| one.item == next.item) {
            let item = parts[0].item;
            let (tokens, length, reach) = (items.token_count(item), items.gram_tokens(item) as u32, reach(items, item));
            // No span covers more tokens than all n-grams together, so long items that share only a common opening with the text are
            // dropped at this point.
            list_begins(parts, begins);
            if (covered_tokens(begins, length) as usize) * LEAST_SHARE < tokens {
                continue;
            }
            pieces.clear();
            for (part, number) in parts.iter().zip(0..) {
                let runs = &runs[part.runs.start as usize..part.runs.end as usize];
                pieces.extend(runs.iter().map(|&run| (run, number)));
            }
            *joined += pieces.len();
            pieces.sort_unstable_by_key(|(run, number)| (run.first, *number));
            let mut rest = &mut pieces[..];
            while let Some(&mut (Run { first, mut last }, _)) = rest.first_mut() {
                let is_close = |run: &Run| {
                    let close = run.first <= last + reach;
                    last = last.max(if close { run.last } else { 0 });
                    close
                };
                let count = rest.iter().map(|(run, _)| run).map(is_close).take_while(|&close| close).count();
                let (span, behind) = rest.split_at_mut(count);
                rest = behind;
                // Counts an n-gram once, even if several of its runs are in the span.
                span.sort_unstable_by_key(|&(_, number)| number);
                let distinct = span.chunk_by(|one, next| one.1 == next.1).map(|runs| &parts[runs[0].1]);
                list_begins(distinct, begins);
                if (covered_tokens(begins, length) as usize) * LEAST_SHARE >= tokens {
                    let covered = covered_bits(begins, length, tokens);
                    spans.push(Span { item, start: first, end: last + length, grams: begins.len() as u32, covered });
                }
            }
        }
        spans
    }
}

/// Returns the maximum distance from the start of an n-gram in a span to the start of the next n-gram.
fn reach(items: &Items, item: Item) -> u32 {
    (items.gram_tokens(item) + 2 * items.ngram()) as u32
}

/// Lists the positions of these n-grams in an item, in order. No position occurs in more than one part.
fn list_begins<'p, 'i: 'p>(parts: impl IntoIterator<Item = &'p Part<'i>>, begins: &mut Vec<u32>) {
    begins.clear();
    begins.extend(parts.into_iter().flat_map(|part| part.grams.iter().map(|gram| gram.at)));
    begins.sort_unstable();
}

/// Returns the number of tokens that n-grams of this length cover at these positions.
fn covered_tokens(begins: &[u32], length: u32) -> u32 {
    begins.windows(2).map(|pair| length.min(pair[1] - pair[0])).sum::<u32>() + length
}

/// Returns the tokens of the item that these n-grams cover, as one bit per token. The lowest bit is the first token.
fn covered_bits(begins: &[u32], length: u32, tokens: usize) -> Vec<u64> {
    let mut covered = vec![0u64; tokens.div_ceil(64)];
    let mut from = 0;
    for &at in begins {
        let end = at + length;
        (from.max(at)..end).for_each(|token| covered[token as usize / 64] |= 1 << (token % 64));
        from = end;
    }
    covered
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

    /// Returns the spans, and how many positions, listed n-grams and processed runs the search had.
    fn work(items: &[String], text: &str) -> (Vec<Span>, [usize; 3]) {
        let mut builder = Builder::new(5);
        items.iter().for_each(|item| builder.push(&crate::items::hashes(&tokens(item)), &[]));
        let items = builder.build();
        let mut search = Search::new(&items);
        let spans = search.spans(&tokens(text));
        (spans, [search.places.len(), search.joins.parts.len(), search.joins.joined])
    }

    #[test]
    fn a_repeated_token_costs_its_places_and_not_their_square() {
        let (spans, work) = work(&["0 ".repeat(1000)], &"0 ".repeat(20_000));
        assert_eq!(spans.len(), 1);
        assert_eq!((spans[0].start, spans[0].end, spans[0].grams), (0, 20_000, 996));
        assert_eq!(work, [19_996, 1, 1]);
    }

    #[test]
    fn a_repeated_opening_is_listed_once_for_each_item() {
        let opening = "a b c d e f g h i ";
        let item = |number: usize, own: usize| {
            let words = (0..own).map(|word| format!("{number}-{word} "));
            format!("{opening}{}", words.collect::<String>())
        };
        let short: Vec<String> = (0..500).map(|number| item(number, 5)).collect();
        let (spans, costs) = work(&short, &opening.repeat(1000));
        assert_eq!(spans.len(), 500);
        assert!(spans.iter().all(|span| (span.start, span.end, span.grams) == (0, 9000, 5)));
        assert_eq!(costs, [5000, 5 * 500, 5 * 500]);
        // The openings are far apart and would be separate spans, but each opening is too small a part of a long item.
        let long: Vec<String> = (0..500).map(|number| item(number, 20)).collect();
        let apart = format!("{opening}{}", "x ".repeat(20)).repeat(1000);
        let (spans, costs) = work(&long, &apart);
        assert_eq!((spans.len(), costs), (0, [5000, 5 * 500, 0]));
    }
}
