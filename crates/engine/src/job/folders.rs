//! Checks that the folders of a run do not overlap. An output, an index or temporary files inside another output or index would later be
//! removed, read or rejected as part of the outer folder. Paths are compared after resolving links and `..`.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use crate::options::RunOptions;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::listing::is_there;
use dupsift_core::safe_fs::{self, MOST_JSON};
use dupsift_publish::{Ours, held_path, real_path};

/// Holds a folder of a run and the option that specifies it.
struct Folder {
    option: &'static str,
    shown: PathBuf,
    real: PathBuf,
}

impl Folder {
    fn new(option: &'static str, path: &Path) -> Folder {
        let real = real_path(path).unwrap_or_else(|_| path.to_path_buf());
        Folder { option, shown: path.to_path_buf(), real }
    }

    fn refused<T>(&self, what: impl Display) -> Result<T> {
        Err(Error::wrong_value(self.option, self.shown.display(), what))
    }

    /// Checks that the folder is not inside an existing result or index.
    fn stands_free(&self, with_itself: bool) -> Result<()> {
        let skipped = usize::from(!with_itself);
        for above in self.real.ancestors().skip(skipped) {
            if let Some(ours) = Ours::at(above)? {
                let what = if ours == Ours::Index { "a dupsift index" } else { "a dupsift output" };
                return self.refused(format_args!(
                    "it is inside {}, which is {what}; expected a folder outside of it",
                    above.display()
                ));
            }
        }
        Ok(())
    }

    /// Checks that neither folder contains the other folder.
    fn is_apart(&self, other: &Folder) -> Result<()> {
        let (here, there) = (&self.real, &other.real);
        let how = match (here == there, here.starts_with(there), there.starts_with(here)) {
            (true, ..) => "is the same folder as",
            (_, true, _) => "is inside",
            (_, _, true) => "contains",
            _ => return Ok(()),
        };
        self.refused(format_args!(
            "it {how} `{}={}`; expected two separate folders",
            other.option,
            other.shown.display()
        ))
    }
}

/// Checks the folders that the options specify. Does not create any folder.
///
/// # Errors
/// Returns [`Error::Usage`] for the first folder that is inside another folder.
pub(crate) fn check(options: &RunOptions) -> Result<()> {
    let out = Folder::new("out", &options.output.folder);
    let named = |name: &'static str, path: &Option<PathBuf>| path.as_ref().map(|path| Folder::new(name, path));
    out.stands_free(false)?;
    if let Some(index) = named("index", &options.incremental.index) {
        index.is_apart(&out)?;
        index.is_apart(&Folder::new("out", &held_path(&options.output.folder)))?;
        index.stands_free(false)?;
        if matches!(Ours::at(&index.real)?, Some(Ours::Result | Ours::Pages)) {
            return index.refused("it is a dupsift output; expected an index or a new folder");
        }
    }
    if let Some(work) = named("work", &options.resources.work) {
        work.stands_free(true)?;
        for other in [named("index", &options.incremental.index), Some(Folder::new("out", &options.output.folder))]
            .into_iter()
            .flatten()
        {
            if work.real.starts_with(&other.real) {
                work.is_apart(&other)?;
            }
        }
    }
    if let Some(reference) = named("reference", &options.incremental.reference)
        && is_there(&reference.real)?
    {
        // The reference may be the result that is being replaced, because the corpus of that result is in a different folder.
        if reference.real != out.real {
            out.is_apart(&reference)?;
        }
    }
    warn_of_batch(options);
    Ok(())
}

/// Warns if replacing the result would leave documents of a batch in an index but in no result.
fn warn_of_batch(options: &RunOptions) {
    let record = || -> Option<serde_json::Value> {
        serde_json::from_slice(&safe_fs::read(&options.output.folder.join("run.json"), MOST_JSON).ok()?).ok()
    };
    let Some(record) = options.output.overwrite.then(record).flatten() else { return };
    let of = |name: &str| record["index"][name].as_str().unwrap_or_default().to_owned();
    let (batch, folder) = (of("batch"), of("folder"));
    let last = || options.output.folder.file_name().map(|name| name.to_string_lossy().into_owned());
    let is_same = options.incremental.index.is_some()
        && options.incremental.batch.clone().or_else(last).is_some_and(|name| name == batch);
    if of("publication").is_empty() || is_same {
        return;
    }
    tracing::warn!(
        "`out={}` is the result of batch {batch} in the index {folder}; if you replace it, the documents of this batch stay in the index but are no longer in any result; to treat them as new documents, run `dupsift index forget {folder} --batch {batch}`",
        options.output.folder.display()
    );
}
