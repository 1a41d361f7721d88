//! Partitions and sorts fixed-width records out of core, within a memory budget.
//!
//! Many threads push records through [`Writer`]s. A record's group (its leading bytes) determines its partition, so a group is never split
//! between partitions. Rows stay in memory until the budget shared by all shuffles of a run ([`Memory`]) is exhausted; then the fullest
//! partitions are spilled to disk. [`Sorted::load`] returns the records of one partition in plain byte order. The result depends only on
//! the multiset of records, not on the threads, the budget or spilling.
//!
//! ```text
//! push -> staging of a writer -> chunks of a partition -> (budget used up) blocks of the spill file, each with a checksum
//! load -> fits into the allowance: sort in memory | otherwise sorted runs -> merge -> a sorted temporary file, memory-mapped
//! ```
//!
//! This module does not interpret records: keys are bytes, and a caller that needs numeric order must write numbers in big-endian order.
//! Temporary files are unlinked as soon as they have been opened, so that even a killed process leaves nothing behind. [`mapped`] provides
//! arrays, bitmaps and heaps in such files. Data that must outlive the process is saved in named files: see [`run`] for rows and
//! [`saved_file`] for everything else.
//!
//! Limitations: the index of spilled blocks (16 bytes per block) is held in memory but not counted in the budget. A budget far below 4 KiB
//! per partition works but results in small blocks. Temporary files are not synced, and unnamed temporary files do not outlive the process.

mod block;
pub mod mapped;
mod memory;
mod merge;
mod records;
pub mod run;
pub mod saved_file;
mod sort;
mod sorted;
mod space;
mod spec;
mod store;
#[cfg(test)]
mod tests;
mod tournament;
mod writer;

pub use mapped::{AtomicBits, AtomicCells, FrozenHeap, Heap, Mapped, Ranks};
pub use memory::Memory;
pub use records::Records;
pub use sorted::Sorted;
pub(crate) use spec::WIDTHS;
pub use spec::{MAX_PARTITIONS, Order, Spec};
pub use writer::{Shuffle, Writer};
