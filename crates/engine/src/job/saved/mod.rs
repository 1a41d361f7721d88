//! The saved state of a run: the keys of its checkpoints, and the methods that use a saved result or save a new one. How a result is saved is defined next to its type.

mod keys;
mod saved_state;

pub use keys::of_file;
pub(crate) use saved_state::Partials;
pub use saved_state::{FIRST, Made, RECALL, SECOND, SavedState, left};
