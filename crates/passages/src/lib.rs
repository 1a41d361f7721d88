//! Finds passages of a text that also occur elsewhere.
//!
//! ```text
//! text --units--> lines, paragraphs, N sentences --form--> hash
//!      --Folded--> single spaces --Winnow--> anchors, blocks of runs of L characters
//! blocks of all texts with the same anchor --runs--> hash of each run --shared--> runs that occur together
//! hashes of all texts, sorted --Rule--> repeats --passages--> passages to cut --cut_out--> text
//! ```
//!
//! Nothing in this crate opens a file or starts a thread. The engine calls these functions on its threads and sorts the hashes out of core.

mod anchors;
mod border;
mod cut;
mod edit;
mod fold;
pub mod form;
#[cfg(test)]
mod oracle;
mod passages;
mod repeat;
mod run;
mod shared;
mod unit;

pub use anchors::{Anchor, Block, Winnow};
pub use cut::{Cut, CutAt};
pub use edit::cut_out;
pub use fold::Folded;
pub use passages::{Passage, Template, cut_positions, passages, templates};
pub use repeat::{Occurrences, Repeat, Rule};
pub use run::{Run, runs};
pub use shared::{Runs, shared};
pub use unit::{Scratch, Unit, hashes, units};
