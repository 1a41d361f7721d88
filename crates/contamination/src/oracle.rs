//! Finds candidates by comparing all windows. This reference implementation defines the candidates that the search must return.

use dupsift_core::hash::mix64;
use dupsift_text::Token;
use proptest::prelude::*;

use crate::builder::LEAST_TOKENS;
use crate::span::Candidate;
use crate::{Builder, Search, Words};

/// The number of n-grams that a candidate must contain, as a share of the item's tokens.
const LEAST_SHARE: usize = 3;

/// Returns the candidates among items without choices, of which at most ten share an n-gram.
fn slow(ngram: usize, items: &[Vec<u64>], text: &[u64]) -> Vec<Candidate> {
    let mut all = Vec::new();
    for (item, number) in items.iter().zip(0..) {
        // Items with fewer than nine words are too short without choices.
        if item.len() < LEAST_TOKENS.max(9) {
            continue;
        }
        let length = ngram.min(item.len());
        let mut open: Option<Candidate> = None;
        for start in 0..(text.len() + 1).saturating_sub(length) {
            let places: Vec<u32> = (0..=item.len() - length)
                .filter(|&at| item[at..at + length] == text[start..start + length])
                .map(|at| at as u32)
                .collect();
            if places.is_empty() {
                continue;
            }
            if open.as_ref().is_some_and(|found| start > found.tokens.end as usize + 2 * ngram) {
                all.extend(open.take());
            }
            let found =
                open.get_or_insert_with(|| Candidate { item: number, tokens: start as u32..0, begins: Vec::new() });
            found.tokens.end = (start + length) as u32;
            found.begins.extend(places);
            found.begins.sort_unstable();
            found.begins.dedup();
        }
        all.extend(open);
    }
    let covered = |found: &Candidate| {
        let length = ngram.min(items[found.item as usize].len());
        let tokens = found.begins.iter().flat_map(|&at| at as usize..at as usize + length);
        tokens.collect::<std::collections::BTreeSet<usize>>().len()
    };
    all.retain(|found| LEAST_SHARE * covered(found) >= items[found.item as usize].len());
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn candidates_are_those_of_all_windows(
        ngram in 1usize..7,
        items in proptest::collection::btree_set(proptest::collection::vec(0u64..4, 0..90), 0..4),
        text in proptest::collection::vec(0u64..5, 0..120),
        planted in proptest::collection::vec((0usize..4, 0usize..100), 0..3),
    ) {
        // The tokens in this test are hashes, none of which is that of a label.
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
        items.iter().for_each(|item| _ = builder.push(&Words::made(item), &[], &[]));
        let built = builder.build();
        let tokens: Vec<Token> = text.iter().map(|&hash| Token { hash, han: false, joined: false }).collect();
        prop_assert_eq!(Search::new(&built).candidates(&tokens), slow(ngram, &items, &text));
    }
}
