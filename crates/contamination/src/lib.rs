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
mod builder;
mod by_hash;
mod compare;
mod grams;
mod items;
mod label;
#[cfg(test)]
mod oracle;
mod places;
mod score;
mod search;
mod sharing;
mod span;
mod texts;
mod vocabulary;
mod words;

pub use builder::Builder;
pub use items::{Items, NGRAM};
pub use places::{Bound, raw_places};
pub use score::Weights;
pub use search::Search;
pub use sharing::SHARED;
pub use span::Span;
pub use texts::Item;
pub use words::{LEAST_WORDS, Words, wording};
