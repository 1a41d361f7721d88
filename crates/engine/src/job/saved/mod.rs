//! The saved state of a run: the keys of its checkpoints, and the functions that save and restore the result of each step.

mod algorithms;
mod corpus;
mod keys;
mod saved_state;

pub use algorithms::{Pairs, Rows};
pub use corpus::{Counts, IndexedNumbers, Said};
pub use keys::of_file;
pub use saved_state::{FIRST, Made, Partials, RECALL, SECOND, SavedState, left};
