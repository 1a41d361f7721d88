//! A night, its index, and names that the files of an index have.

use super::batch::{MadeAgain, Named};
use dupsift_engine::job::run::Finish;
use dupsift_engine::options::RunOptions;
use dupsift_index::Index;

/// The name of the rows of exact copies; no algorithm can be called so.
pub const COPIES: &str = "+copies";

/// A night that is to be matched.
pub struct Job<'j> {
    /// The index, and what it consists of before the night.
    pub index: &'j Index,
    /// What was asked.
    pub options: &'j RunOptions,
    /// The documents that table schemes are chosen by.
    pub documents_planned: u64,
    /// The night.
    pub batch: Named,
    /// What the batch was before, if it is made again.
    pub again: Option<MadeAgain>,
    /// Whether the night becomes a part of the index.
    pub appends: bool,
    /// What is made of the result.
    pub finish: &'j Finish<'j>,
}
