//! Describes the job of an incremental run, and defines file names in an index.

use super::{MadeAgain, Named};
use crate::run_batch::Purpose;
use dupsift_engine::job::run::Finish;
use dupsift_engine::options::RunOptions;
use dupsift_index::Index;

/// The name of the row file for exact copies. No algorithm can have this name.
pub(crate) const COPIES: &str = "+copies";

/// Describes a batch that is to be matched.
pub(crate) struct Job<'j> {
    /// The index as it was before the batch.
    pub index: &'j Index,
    /// The options of the run.
    pub options: &'j RunOptions,
    /// The number of documents for which LSH table schemes are chosen.
    pub documents_planned: u64,
    /// The batch.
    pub batch: Named,
    /// The earlier result, if the batch is recomputed.
    pub again: Option<MadeAgain>,
    /// Whether the batch is added to the index.
    pub appends: bool,
    /// A hash that identifies the content of the index before the batch.
    pub matched: String,
    /// The reason why the batch is matched.
    pub purpose: Purpose<'j>,
    /// The function that finishes the result.
    pub finish: &'j Finish<'j>,
}
