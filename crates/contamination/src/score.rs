//! Computes how much of an item a span covers, weighted by the rarity of the tokens.

use dupsift_core::float::ln;

use crate::items::Items;
use crate::sharing::Sharing;
use crate::texts::Item;
use crate::words::LEAST_WORDS;

/// Holds the weight of each token by its number: ln((N + 1) / (df + 1)) + 1, where df of N documents contain the token.
#[derive(Debug)]
pub struct Weights(Vec<f64>);

impl Weights {
    /// Returns the weights of tokens that have these document frequencies in a corpus of `texts` documents.
    pub fn new(texts: u64, frequencies: &[u64]) -> Weights {
        let all = texts as f64 + 1.0;
        Weights(frequencies.iter().map(|&count| ln(all / (count as f64 + 1.0)) + 1.0).collect())
    }
}

impl Items {
    /// Returns the weight of the question's tokens that a span contains, as a share of the weight of all, from 0 to 1. Each weight is divided
    /// by the number of items that share the token. Tokens of an n-gram in too many items are not counted if the other tokens amount to
    /// [`LEAST_WORDS`]. If they do not, tokens all of whose n-grams are in too many items are not counted, under the same condition, so that
    /// a score never depends on a few words. Numbers that may be written in words are not counted.
    pub fn score(&self, item: Item, covered: &[u64], unread: &[u64], weights: &Weights) -> f64 {
        let (mut all, mut found) = (0.0, 0.0);
        let question = &self.tokens(item)[..self.question_len(item)];
        let sharing = &self.sharing(item)[..question.len()];
        let rules: [fn(Sharing) -> bool; 2] = [Sharing::is_only_own, Sharing::is_own];
        let words = |is_counted: fn(Sharing) -> bool| {
            sharing.iter().filter(|token| is_counted(**token)).count() as f32 * self.word_size(item)
        };
        let is_counted = rules.into_iter().find(|&rule| words(rule) >= LEAST_WORDS).unwrap_or(|_| true);
        for ((&token, sharing), at) in question.iter().zip(sharing).zip(0..) {
            if has(unread, at) || !is_counted(*sharing) {
                continue;
            }
            let weight = weights.0[token as usize] / f64::from(sharing.items().max(1));
            all += weight;
            if has(covered, at) {
                found += weight;
            }
        }
        if all == 0.0 { 0.0 } else { found / all }
    }
}

fn has(bits: &[u64], at: usize) -> bool {
    bits[at / 64] >> (at % 64) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, Words};

    #[test]
    fn rare_tokens_weigh_more_and_numbers_in_words_nothing() {
        let mut builder = Builder::new(3);
        builder.push(&Words::made(&[1, 2, 3, 4, 5, 6, 7, 8, 9]), &[], &[]);
        let items = builder.build();
        // All 99 documents contain the first seven tokens, whose weight is 1. No document contains the other tokens, whose weight is
        // ln(100) + 1.
        let frequency = |number: u64| if number < 8 { 99 } else { 0 };
        let mut frequencies = [0; 9];
        (1..10).for_each(|hash| frequencies[items.number(hash) as usize] = frequency(hash));
        let weights = Weights::new(99, &frequencies);
        let rare = ln(100.0) + 1.0;
        let score = |covered, unread| items.score(0, &[covered], &[unread], &weights);
        assert!((score(0b0_0000_0111, 0) - 3.0 / (7.0 + 2.0 * rare)).abs() < 1e-12);
        assert!((score(0b1_1000_0000, 0) - 2.0 * rare / (7.0 + 2.0 * rare)).abs() < 1e-12);
        assert!((score(0b1_1111_1111, 0) - 1.0).abs() < 1e-12 && score(0, 0) == 0.0);
        assert!((score(0b0_1111_1111, 0b1_0000_0000) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn shared_tokens_weigh_less() {
        let mut builder = Builder::new(3);
        let opening = [1, 2, 3, 4, 5, 6];
        for item in 0..4 {
            let own: Vec<u64> = (0..6).map(|at| 100 * (item + 1) + at).collect();
            builder.push(&Words::made(&[&opening[..], &own].concat()), &[], &[]);
        }
        let items = builder.build();
        let weights = Weights::new(0, &vec![0; items.vocabulary()]);
        // The last two tokens of the opening are in n-grams of this item alone.
        let score = items.score(0, &[0b1111], &[0], &weights);
        assert!((score - 1.0 / 9.0).abs() < 1e-12, "{score}");
    }

    #[test]
    fn an_instruction_weighs_nothing() {
        let instruction: Vec<u64> = (1..44).collect();
        for own in [10, 15, 20] {
            let mut builder = Builder::new(5);
            for item in 1..=40 {
                let own: Vec<u64> = (0..own).map(|at| 1000 * item + at).collect();
                builder.push(&Words::made(&[&instruction[..], &own, &instruction].concat()), &[], &[]);
            }
            let items = builder.build();
            let weights = Weights::new(0, &vec![0; items.vocabulary()]);
            let bits = |from: usize, to: usize| {
                let mut bits = [0; 2];
                (from..to).for_each(|at| bits[at / 64] |= 1 << (at % 64));
                bits
            };
            assert_eq!(items.score(0, &bits(43, 43 + own as usize), &[0; 2], &weights), 1.0);
            assert_eq!(items.score(0, &bits(0, 43), &[0; 2], &weights), 0.0);
        }
        // A score never depends on fewer than nine words.
        let template: Vec<u64> = (1..81).collect();
        let mut builder = Builder::new(5);
        for item in 1..=40 {
            let mut words = template.clone();
            words[40] = 1000 * item;
            builder.push(&Words::made(&words), &[], &[]);
        }
        let items = builder.build();
        let weights = Weights::new(0, &vec![0; items.vocabulary()]);
        let score = |from: usize, to: usize| {
            let mut bits = [0; 2];
            (from..to).for_each(|at| bits[at / 64] |= 1 << (at % 64));
            items.score(0, &bits, &[0; 2], &weights)
        };
        assert!((score(40, 41) - 1.0 / 9.0).abs() < 1e-12 && (score(32, 41) - 5.0 / 9.0).abs() < 1e-12);
        assert_eq!((score(36, 45), score(0, 80)), (1.0, 1.0));
        // A question of shared words is compared by them.
        let mut builder = Builder::new(5);
        for item in 1..=40 {
            builder.push(&Words::made(&instruction[..9]), &[Words::made(&[1000 * item, 1000 * item + 1])], &[]);
        }
        let items = builder.build();
        let weights = Weights::new(0, &vec![0; items.vocabulary()]);
        assert_eq!(items.score(0, &[0b1_1111_1111], &[0], &weights), 1.0);
    }
}
