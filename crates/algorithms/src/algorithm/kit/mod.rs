//! Contains code that several algorithms share. An algorithm imports this code and the contract, but never another algorithm.

// The parts of a document that algorithms use, and their positions in its text.
pub(crate) mod features;
pub(crate) mod passages;
pub(crate) mod raw_places;
pub(crate) mod sentences;
pub mod shingling;
pub(crate) mod title;
pub(crate) mod units;

// How words are weighted and selected.
pub(crate) mod bm25;
pub(crate) mod by_count;
pub(crate) mod lexicon;
pub(crate) mod places;
pub(crate) mod top_words;
pub(crate) mod training;

// How keys and fingerprints are computed.
pub(crate) mod bits;
pub(crate) mod digest;
pub(crate) mod minwise;
pub(crate) mod votes;
pub(crate) mod word_string;

// How documents with similar fingerprints or vectors are found and compared.
pub(crate) mod blocks;
pub(crate) mod near_words;
pub(crate) mod prefix;
pub(crate) mod term_vectors;

// The parameters that all algorithms have.
pub mod margin;
pub mod verify;
