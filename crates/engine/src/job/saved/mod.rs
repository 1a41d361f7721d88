//! The saved state of a run: the keys of its checkpoints, and the functions that save and restore the result of each step.

mod algorithms;
mod corpus;
mod keys;
mod saved_state;

pub use algorithms::{Pairs, Rows};
pub(crate) use corpus::IndexedNumbers;
pub use corpus::{Counts, Said};
pub use keys::of_file;
pub(crate) use saved_state::Partials;
pub use saved_state::{FIRST, Made, RECALL, SECOND, SavedState, left};
