//! A run whose passes over documents are spread over machines by something else, such as Apache Spark.
//!
//! The unit is a block: rows of one kind and one bucket, as bytes. What spreads the work ([`Cluster`]) moves blocks and knows
//! nothing of what is in them. A task does, with the same code, what the local driver does in a reading ([`map()`]), or with the rows of
//! a partition ([`reduce()`]). What comes of it are products as an earlier process would have put them down, and the local driver takes
//! them up and goes on from there: so tables, record and page are those of any run.
//!
//! ```text
//! cluster   first pass   notes, hashes of ids and texts, partial counts, rows of who needs no counts
//! cluster   sum          ids that stand twice, classes of copies, counts of terms
//! cluster   notes        of those who learn; the driver learns from them
//! cluster   sign         rows of who had to wait, by copies, counts and models that each process takes up once
//! cluster   group        links of classes, second-round rows, pairs that met; then each pair once
//! cluster   verify       candidates and evidence, in the buckets of their components; then what documents in pairs say
//! driver    all else     rules over all pairs, survivors, clusters, tables
//! ```

// Tests write files into folders of their own, and compute with the library of the platform.
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

pub use cluster::{Cluster, Frame, Pass, Step};
pub use drive::run;
pub use kind::{Kind, What};
pub use known::Known;
pub use map::map;
pub use opened::{Layout, Opened};
pub use reduce::reduce;
pub use refused::check;
pub use spool::{Block, Blocks};
