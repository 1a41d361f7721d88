//! Runs deduplication on a system such as Apache Spark, which distributes the passes over documents across several machines.
//!
//! The unit of data is a block: rows with the same kind and bucket, as bytes. The system that distributes the work ([`Cluster`]) moves
//! blocks without interpreting them. A task makes a pass ([`map()`]) or processes the rows of a partition ([`reduce()`]), with the same
//! code as the local driver. The result is the state that an earlier process would have saved, and the local driver resumes from it.
//! Therefore, the tables, the record and the report page are the same as in any other run.
//!
//! ```text
//! cluster   first pass   notes, hashes of ids and texts, partial counts, rows of algorithms that need no counts
//! cluster   sum          repeated ids, classes of copies, counts of terms
//! cluster   notes        for learning algorithms; the driver builds their models
//! cluster   sign         rows of the other algorithms, with copies, counts and models that each process loads once
//! cluster   group        links of classes, second-round rows, matching pairs; then each pair once
//! cluster   verify       candidates and evidence, in the buckets of their components; then the contents of documents in pairs
//! driver    the rest     rules over all pairs, survivors, clusters, tables
//! ```

// Tests write files into their own folders and use the platform's math library.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod cluster;
mod drive;
mod driver;
mod evidence;
mod gather;
mod kind;
mod known;
mod learn;
mod map;
mod opened;
mod reduce;
mod refused;
mod relate;
mod sampled;
mod spool;
mod sum;
#[cfg(test)]
mod test_kit;

pub use cluster::{Cluster, Frame, Pass, Step};
pub use drive::run;
pub use kind::Kind;
pub use known::Known;
pub use map::map;
pub use opened::{Layout, Opened};
pub use reduce::reduce;
pub use refused::check;
pub use spool::{Block, Blocks};
