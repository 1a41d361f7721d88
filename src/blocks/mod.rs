//! A run whose passes over documents are spread over machines by something else, such as Apache Spark.
//!
//! The unit is a block: rows of one kind and one bucket, as bytes. What spreads the work ([`Cluster`]) moves blocks and knows
//! nothing of what is in them. A task does what the local driver does in a reading, with the same code, over its pieces of the files
//! ([`map()`]); rows of a bucket are brought together and summed ([`sum()`]). What comes of it are products as an earlier process would
//! have put them down, and the local driver takes them up and goes on from there: so tables, record and page are those of any run.
//!
//! ```text
//! cluster   first pass   notes, hashes of ids and texts, partial counts, rows of who needs no counts
//! cluster   sum          ids that stand twice, classes of copies, counts of terms
//! driver    learn        where an algorithm learns
//! cluster   sign         rows of who had to wait, by copies, counts and models that each process takes up once
//! driver    all else     group, verify, rules over all pairs, survivors, clusters, tables
//! ```

mod cluster;
mod drive;
mod gather;
mod kind;
mod known;
mod map;
mod opened;
mod refused;
mod spool;
mod sum;

pub use cluster::{Cluster, Frame, Step};
pub use drive::run;
pub use kind::{Kind, What};
pub use known::Known;
pub use map::{Pass, map};
pub use opened::{Layout, Opened};
pub use refused::check;
pub use spool::{Block, Blocks, kind as kind_of};
pub use sum::sum;
