//! What the record of a run says of the index that it was matched against.

use serde::{Deserialize, Serialize};

/// A night and the index that it was matched against.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct IndexReport {
    /// Where it stands.
    pub folder: String,
    /// A hash of what it had before the night, by which a look knows that it is the same index. Empty in earlier records.
    #[serde(default)]
    pub identity: String,
    /// The name of the night.
    pub batch: String,
    /// Identifies this publication of the batch, by which the index knows its output; empty if nothing was added.
    #[serde(default)]
    pub publication: String,
    /// The generation that has this night.
    pub generation: u64,
    /// The one that it was matched against; 0 for none.
    pub read_generation: u64,
    /// The number of the first row of the night: `doc` in all tables counts on from night to night.
    pub first_doc: u64,
    /// Documents of the index that take part.
    pub guests: u64,
    /// The nights that these came in, in their order.
    #[serde(default)]
    pub nights: Vec<NightMet>,
    /// New texts of the night.
    pub texts: u64,
    /// Exact copies of earlier documents that are removed.
    pub seen: u64,
    /// Bytes of rows of the index that were read.
    pub bytes_scanned: u64,
    /// Bytes of its files of documents that were read for guests.
    #[serde(default)]
    pub bytes_looked_up: u64,
}

/// An earlier night that a night has met.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct NightMet {
    /// What the user calls it.
    pub name: String,
    /// The number of its first row.
    pub first_doc: u64,
    /// Its documents that take part.
    pub documents: u64,
}
