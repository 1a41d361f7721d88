//! Corpus-wide statistics: counts of words and sentences, and values derived from them.

mod counts;
mod forward;
mod ranks;
mod stats;
mod stretches;
mod table;
mod table_parts;
mod term_file;

pub use counts::{COUNT_GROUP, COUNT_WIDTH, Counts, TERM_WIDTH, decode_count, decode_term, encode_count, encode_term};
#[cfg(test)]
pub use forward::tests::{Written, written};
pub use forward::{Record, Records, Vocabulary, Words, write_document, write_first_line};
pub(crate) use ranks::Dfs;
pub use stats::{CorpusStats, snapshot};
pub use table::{TermTable, TermTableWriter};
pub use table_parts::TermTableParts;
