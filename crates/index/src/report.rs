//! Defines the part of an incremental run's record that describes the index.

use serde::{Deserialize, Serialize};

/// Describes a batch and the index that it was matched against.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct IndexReport {
    /// The index folder.
    pub folder: String,
    /// A hash of the index content before the run, which identifies the index. Empty in records of earlier versions.
    #[serde(default)]
    pub identity: String,
    /// The name of the batch.
    pub batch: String,
    /// Identifies this publication of the batch, so that the index can recognize its output. Empty if nothing was added.
    #[serde(default)]
    pub publication: String,
    /// The generation that contains this batch.
    pub generation: u64,
    /// The generation that the batch was matched against; 0 if the index was new.
    pub read_generation: u64,
    /// The document number of the batch's first row. In all tables, the numbers in the `doc` column continue from one
    /// batch to the next.
    pub first_doc: u64,
    /// The number of indexed documents that take part in the run.
    pub indexed: u64,
    /// The earlier batches from which indexed documents take part in the run, in order.
    #[serde(default)]
    pub batches: Vec<MatchedBatch>,
    /// The number of new texts in the batch.
    pub texts: u64,
    /// The number of documents in the batch that are exact copies of indexed documents; they are removed.
    pub seen: u64,
    /// The amount of index row data that was read, in bytes.
    pub bytes_scanned: u64,
    /// The number of bytes that were read from the document files of the index.
    #[serde(default)]
    pub bytes_looked_up: u64,
}

/// Describes an earlier batch from which documents take part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct MatchedBatch {
    /// The name of the batch.
    pub name: String,
    /// The document number of the batch's first row.
    pub first_doc: u64,
    /// The number of documents in the batch that take part in the run.
    pub documents: u64,
}
