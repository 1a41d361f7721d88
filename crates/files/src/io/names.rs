//! The names by which a finished result is known: the file that says so, and how the folder of one that was held back ends.

use dupsift_core::error::{Error, Result};

/// The file that stands in a folder that is complete; it is written last.
pub const SUCCESS: &str = "_SUCCESS";
/// The file that stands in a folder that is complete and held back, in place of [`SUCCESS`].
pub const HELD: &str = "_HELD";
/// How the name of such a folder ends.
pub(super) const HELD_ENDING: &str = ".held";
/// What stands for standard input among the inputs, and what documents of it are called by: `-#0`.
pub const DASH: &str = "-";

/// Refuses standard input where files are looked for.
pub(super) fn refuse_standard_input(inputs: &[String]) -> Result<()> {
    if inputs.iter().any(|input| input == DASH) {
        return Err(Error::usage(
            "standard input (-) is only read as the corpus of run, compare, stream and contaminated; expected files, folders or globs (./- for a file of that name)",
        ));
    }
    Ok(())
}
