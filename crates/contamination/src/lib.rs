//! Finds the items of an evaluation set that a text contains.
//!
//! ```text
//! items --Builder--> Items, n-grams sorted by hash
//! tokens of a text --Search--> spans, each with the tokens of the item that it covers; document frequencies
//! document frequencies --Weights--> score of each span
//! position in the normalized text --places--> position in the raw text
//! ```
//!
//! Nothing in this crate opens a file or starts a thread.

mod answer;
mod items;
#[cfg(test)]
mod oracle;
mod places;
mod score;
mod search;

pub use answer::ANSWER_WITHIN;
pub use items::{Builder, Item, Items, LEAST_TOKENS, NGRAM, hashes};
pub use places::{Bound, raw_places};
pub use score::Weights;
pub use search::{LEAST_SHARE, Search, Span};
