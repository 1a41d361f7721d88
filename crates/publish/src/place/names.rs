//! Defines the names that identify a finished result: its marker file, and the suffix for a held-back result.

use dupsift_core::error::{Error, Result};

/// The marker file in a finished folder; it is written last.
pub const SUCCESS: &str = "_SUCCESS";
/// The marker file in a finished folder that contains a held-back result; used instead of [`SUCCESS`].
pub const HELD: &str = "_HELD";
/// The suffix in the name of a folder that contains a held-back result.
pub(crate) const HELD_ENDING: &str = ".held";
/// The text before the name of a folder of an output that an addition replaces.
pub(crate) const ASIDE: &str = ".old-";
/// The input name that stands for standard input. The labels of documents from standard input begin with this
/// name, as in `-#0`.
pub const DASH: &str = "-";

/// Returns an error if an input is standard input, because files are expected.
pub fn refuse_standard_input(inputs: &[String]) -> Result<()> {
    if inputs.iter().any(|input| input == DASH) {
        return Err(Error::usage(
            "standard input (-) is accepted only as the corpus for `run`, `compare`, `stream` or `contaminated`; expected files, folders or globs (./- for a file of that name)",
        ));
    }
    Ok(())
}
