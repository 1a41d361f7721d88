//! Computes how much of an item a span covers, weighted by the rarity of the tokens.

use dupsift_core::float::ln;

use crate::items::{Item, Items};

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
    /// Returns the weight of these tokens as a share of the item's weight, from 0 to 1.
    pub fn score(&self, item: Item, covered: &[u64], weights: &Weights) -> f64 {
        let (mut all, mut found) = (0.0, 0.0);
        for (&token, at) in self.tokens(item).iter().zip(0..) {
            let weight = weights.0[token as usize];
            all += weight;
            if is_covered(covered, at) {
                found += weight;
            }
        }
        if all == 0.0 { 0.0 } else { found / all }
    }
}

fn is_covered(covered: &[u64], at: usize) -> bool {
    covered[at / 64] >> (at % 64) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;

    #[test]
    fn rare_tokens_weigh_more() {
        let mut builder = Builder::new(3);
        builder.push(&[1, 2, 3, 4, 5], &[]);
        let items = builder.build();
        // All 99 documents contain the first three tokens, whose weight is 1. No document contains the other tokens, whose weight is
        // ln(100) + 1.
        let weights = Weights::new(99, &[99, 99, 99, 0, 0]);
        let rare = ln(100.0) + 1.0;
        let score = |covered| items.score(0, &[covered], &weights);
        assert!((score(0b00111) - 3.0 / (3.0 + 2.0 * rare)).abs() < 1e-12);
        assert!((score(0b11000) - 2.0 * rare / (3.0 + 2.0 * rare)).abs() < 1e-12);
        assert!((score(0b11111) - 1.0).abs() < 1e-12 && score(0) == 0.0);
    }
}
