//! Finds spans by comparing all windows. This reference implementation defines the result that the search must return.

use dupsift_core::hash::mix64;
use dupsift_text::Token;
use proptest::prelude::*;

use crate::items::LEAST_TOKENS;
use crate::{Builder, LEAST_SHARE, Search, Span};

fn slow(ngram: usize, items: &[Vec<u64>], text: &[u64]) -> Vec<Span> {
    let mut all = Vec::new();
    for (item, number) in items.iter().zip(0..) {
        if item.len() < LEAST_TOKENS {
            continue;
        }
        let length = ngram.min(item.len());
        let mut open: Option<Span> = None;
        let mut found: Vec<usize> = Vec::new();
        for start in 0..(text.len() + 1).saturating_sub(length) {
            let places: Vec<usize> =
                (0..=item.len() - length).filter(|&at| item[at..at + length] == text[start..start + length]).collect();
            if places.is_empty() {
                continue;
            }
            if open.as_ref().is_some_and(|span| start > span.end as usize + 2 * ngram) {
                all.extend(open.take());
                found.clear();
            }
            let span = open.get_or_insert_with(|| Span {
                item: number,
                start: start as u32,
                end: 0,
                grams: 0,
                covered: vec![0; item.len().div_ceil(64)],
            });
            span.end = (start + length) as u32;
            for at in places {
                (at..at + length).for_each(|token| span.covered[token / 64] |= 1 << (token % 64));
                if !found.contains(&at) {
                    found.push(at);
                    span.grams += 1;
                }
            }
        }
        all.extend(open);
    }
    let ones = |span: &Span| span.covered.iter().map(|word| word.count_ones() as usize).sum::<usize>();
    all.retain(|span| LEAST_SHARE * ones(span) >= items[span.item as usize].len());
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn spans_are_those_of_all_windows(
        ngram in 1usize..7,
        items in proptest::collection::vec(proptest::collection::vec(0u64..4, 0..90), 0..4),
        text in proptest::collection::vec(0u64..5, 0..120),
        planted in proptest::collection::vec((0usize..4, 0usize..100), 0..3),
    ) {
        // The tokens in this test are hashes.
        let hashed = |tokens: Vec<u64>| tokens.into_iter().map(mix64).collect::<Vec<u64>>();
        let items: Vec<Vec<u64>> = items.into_iter().map(hashed).collect();
        let mut text = hashed(text);
        for (item, at) in planted {
            if let Some(item) = items.get(item) {
                let at = at.min(text.len());
                text.splice(at..at, item.iter().copied());
            }
        }
        let mut builder = Builder::new(ngram as u32);
        items.iter().for_each(|item| builder.push(item, &[]));
        let built = builder.build();
        let tokens: Vec<Token> = text.iter().map(|&hash| Token { hash, han: false, joined: false }).collect();
        prop_assert_eq!(Search::new(&built).spans(&tokens), slow(ngram, &items, &text));
    }
}
