//! What a run on a cluster does not do, said before it begins.

use crate::error::{Error, Result};
use crate::options::RunOptions;
use crate::reading::inputs::Inputs;
use crate::spelling::opt;

/// Checks the options, and the inputs.
///
/// # Errors
/// [`Error::Usage`] with the way out.
pub fn check(options: &RunOptions, inputs: &Inputs) -> Result<()> {
    let given = [
        (options.index.is_some(), "index"),
        (options.reference.is_some(), "reference"),
        (options.stats.is_some(), "stats"),
        (options.recipe.within.is_some(), "scope"),
        (options.recipe.within.is_some(), "scope"),
    ];
    if let Some((_, name)) = given.into_iter().find(|(given, _)| *given) {
        return Err(Error::wrong(
            opt(name),
            format_args!("a run on a cluster does not take it; leave it out, or run on one machine (dupsift run)"),
        ));
    }
    if options.sift {
        return Err(Error::wrong(
            opt("sift"),
            format_args!("a run on a cluster does not take it, and it changes no result; leave it out"),
        ));
    }
    if inputs.source.has_pages() {
        return Err(Error::usage(format!(
            "the texts are pages, which a run on a cluster does not take apart; take them apart first (dupsift purify INPUT {out}) \
             and run on what comes of it, or run on one machine (dupsift run)",
            out = opt("out").with("PAGES")
        )));
    }
    Ok(())
}
