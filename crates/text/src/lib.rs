//! Turns the bytes of a document into the words that all algorithms use.
//!
//! ```text
//! raw text --normal--> NFC --sentence--> pieces --normal--> lower case, NFKC, single spaces     Analysis::text
//!          --tokenizer--> words --stem--> stems                                                  Analysis::words
//!                     \-> shingle tokens: words, but Chinese one character at a time             Analysis::tokens
//! ```
//!
//! A [`pipeline::Pipeline`] is created once from the options and shared by all threads. For each document, the pipeline returns an
//! [`analysis::Analysis`], which performs each step only once, when the result is first needed. Two rules ensure that words do not depend
//! on the order of calls: text is split into sentences before it is split into words, and shingle tokens never need the Chinese dictionary.
//!
//! Limitation: text larger than [`normal::MAX_TEXT_BYTES`] is not analyzed.

// Tests write files into their own folders, and use the platform's math functions.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod analysis;
mod beside;
pub mod choices;
mod clause;
mod counted;
mod heading;
mod kept_words;
pub mod normal;
pub mod number_words;
pub mod numbers;
mod pieces;
pub mod pipeline;
mod pool;
mod script;
mod sentence;
pub mod shingle;
pub mod side_by_side;
mod simd;
mod stem;
pub mod tokenizer;
mod traditional;
mod word;

#[cfg(test)]
mod examples;
#[cfg(test)]
mod laws;

pub use analysis::Analysis;
pub use beside::{Field, FieldValue, FieldValues, Frequencies, Frequency};
pub use choices::{TextOptions, TokenizerKind};
pub use clause::{clauses, is_clause_mark};
pub use heading::{Heading, TitleLines, ordinal, short_last_line};
pub use kept_words::KeptWords;
pub use normal::MAX_TEXT_BYTES;
pub use pipeline::Pipeline;
pub use script::{is_han, is_unspaced};
pub use sentence::piece_end;
pub use word::{Counted, Token, Word};

// The dictionary files, which the build script also compiles, refer to these modules by their paths in the crate root.
use dupsift_core::{cpu, float};

/// Frees the lists that this thread keeps for its next document. Call this function if no other document follows, so that the memory is
/// available for other work.
pub fn free_pooled_lists() {
    pool::free();
    tokenizer::dict::free_batch();
}
