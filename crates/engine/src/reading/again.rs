//! Provides access to the corpus of a finished run.

use std::sync::atomic::AtomicBool;

use crate::engine::progress::Progress;
use crate::engine::resources::Resources;
use crate::options::RunOptions;
use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_input::Source;
use dupsift_publish::TemporaryFolder;
use dupsift_text::Pipeline;

/// Calls `work` with a session over the corpus of a finished run. The session uses the threads and the memory limit from the options, and a
/// temporary folder that is removed at the end. The temporary folder is created in the folder that the options specify or in the system's
/// temporary folder, but never next to the result.
///
/// # Errors
/// Returns any error from `work`. Also returns an error if a corpus file is damaged.
pub fn work_again<T>(
    options: &RunOptions,
    source: &Source,
    progress: &Progress,
    cancel: &AtomicBool,
    work: impl FnOnce(&Session<'_>) -> Result<T>,
) -> Result<T> {
    let resources = Resources::new(options.resources.memory, options.resources.threads)?;
    let pipeline = Pipeline::new(&options.recipe.text)?;
    let folder = TemporaryFolder::create(options.resources.work.as_deref())?;
    let engine = resources.engine(options.resources.prefilter, options.guards.strict, folder.path(), progress, cancel);
    let session = Session::new(&engine, options, source, &pipeline);
    session.check_pages()?;
    work(&session)
}
