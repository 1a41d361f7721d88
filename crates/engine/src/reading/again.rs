//! Work on the corpus of a run that is done.

use std::sync::atomic::AtomicBool;

use crate::engine::progress::Progress;
use crate::engine::resources::Resources;
use crate::options::RunOptions;
use crate::session::Session;
use dupsift_core::error::{Error, Result};
use dupsift_files::io::{Source, Unfinished, WORK};
use dupsift_text::Pipeline;

/// Does work on the corpus of a run that is done, with the threads and the memory of the options, and a folder of work
/// files that goes afterwards. It lies where the option says, else among the temporary files of the system: beside the result
/// nothing changes.
///
/// # Errors
/// What `work` returns; a damaged file of the corpus ends it.
pub fn work_again<T>(
    options: &RunOptions,
    source: &Source,
    progress: &Progress,
    cancel: &AtomicBool,
    work: impl FnOnce(&Session<'_>) -> Result<T>,
) -> Result<T> {
    let resources = Resources::new(options.memory, options.threads)?;
    let pipeline = Pipeline::new(&options.recipe.text)?;
    let parent = options.work.clone().unwrap_or_else(std::env::temp_dir);
    let folder = Unfinished::create_in(&parent, WORK).map_err(Error::io("create the work folder in", &parent))?;
    let engine = resources.engine(options.prefilter, options.strict, folder.path(), progress, cancel);
    let session = Session::new(&engine, options, source, &pipeline);
    session.check_pages()?;
    work(&session)
}
