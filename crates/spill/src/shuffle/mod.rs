//! Out-of-core partition and sort of records of fixed width, within a memory budget.
//!
//! Many threads push records through [`Writer`]s; a record goes to a partition by its group (its leading bytes), so a group
//! never spans two partitions. Rows stay in memory until the budget that all shuffles of a job share ([`Memory`]) is used
//! up; then the fullest partitions move to disk. [`Sorted::load`] gives the records of one partition in plain byte order.
//! What comes out depends on the multiset of records alone: not on threads, budget, or what was spilled.
//!
//! ```text
//! push -> staging of a writer -> chunks of a partition -> (budget used up) blocks of the spill file, each with a checksum
//! load -> all fits the allowance: sort in memory | else sorted runs -> merge -> a sorted work file, memory-mapped
//! ```
//!
//! Nothing is known here about what a record means: a key is bytes, and a caller that wants numbers in order writes them
//! big-endian. Work files are unlinked as soon as they are open, so that even a killed process leaves nothing behind.
//! Beside the sort stand arrays, bitmaps and heaps in such files: see [`mapped`]. What is to outlive the process is put down in files
//! with names: see [`run`] for rows, [`product`] for all else.
//!
//! Limits: the index of spilled blocks (16 bytes a block) is in memory and not in the budget; a budget far below
//! 4 KiB a partition works but makes small blocks; work files are not synced, and those without a name do not outlive the process.

mod block;
pub mod mapped;
mod memory;
mod merge;
pub mod product;
mod records;
pub mod run;
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
pub use memory::{Loan, Memory};
pub use records::Records;
pub use sorted::Sorted;
pub use spec::{MAX_PARTITIONS, Order, Spec, WIDTHS};
pub use writer::{Shuffle, Writer};
