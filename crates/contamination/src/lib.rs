//! Finds the items of an evaluation set that a text contains.
//!
//! ```text
//! items --Builder--> Items, n-grams sorted by hash
//! tokens of a text --Search--> candidates: stretches with n-grams of an item
//! candidate --Comparison, Aligner--> span: the words of the question in their order, numbers, choices and answer
//! document frequencies --Weights--> score of each span
//! position in the normalized text --places--> position in the raw text
//! ```
//!
//! Nothing in this crate opens a file or starts a thread.

mod align;
mod answer;
mod compare;
mod items;
mod label;
#[cfg(test)]
mod oracle;
mod places;
mod score;
mod search;
mod span;
mod words;

pub use items::{Builder, Item, Items, NGRAM, SHARED};
pub use places::{Bound, raw_places};
pub use score::Weights;
pub use search::Search;
pub use span::Span;
pub use words::{LEAST_WORDS, Words, wording};
