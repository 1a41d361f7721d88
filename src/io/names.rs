//! The names by which a finished result is known: the file that says so, and how the folder of one that was held back ends.

/// The file that stands in a folder that is complete; it is written last.
pub const SUCCESS: &str = "_SUCCESS";
/// The file that stands in a folder that is complete and held back, in place of [`SUCCESS`].
pub const HELD: &str = "_HELD";
/// How the name of such a folder ends.
pub(super) const HELD_ENDING: &str = ".held";
