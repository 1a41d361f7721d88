//! Checks the output path, the temporary folder and the memory limit before any input is opened.

use std::path::Path;

use bytesize::ByteSize;

use super::{folders, guards};
use crate::engine::budget::Budget;
use crate::options::{RunOptions, check_cut, memory_allowed};
use dupsift_algorithms::recipe::remove_if::RemoveIf;
use dupsift_core::error::{Error, Result};
use dupsift_publish::{Stage, may_write};

/// Runs all checks. Logs a warning for options that are valid but probably unintended.
///
/// # Errors
/// Returns [`Error::Usage`] if the output may not be created or replaced, or if the temporary folder cannot be used. Returns
/// [`Error::Memory`] if the memory limit is too low.
pub fn check(options: &RunOptions) -> Result<()> {
    check_all(options, false)
}

/// Works like `check`, but for a dry run, which never changes anything on disk, even temporarily.
///
/// # Errors
/// See [`check`].
pub fn check_dry(options: &RunOptions) -> Result<()> {
    check_all(options, true)
}

fn check_all(options: &RunOptions, is_dry: bool) -> Result<()> {
    check_sample(options)?;
    let of_output = if is_dry { Stage::look } else { Stage::check };
    folders::check(options)?;
    // If the run uses an index, an existing output may come from the same batch; in that case, the work is already done.
    of_output(
        &options.output.folder,
        options.output.overwrite || options.incremental.index.is_some(),
        !options.guards.accept,
    )?;
    let meets =
        [(options.incremental.index.is_some(), "index"), (options.incremental.reference.is_some(), "reference")];
    if let Some((_, with)) = meets.into_iter().find(|(given, _)| *given && options.recipe.scope_column().is_some()) {
        return Err(Error::wrong(
            "scope",
            format_args!("cannot be combined with `{with}`, whose documents have no scope; remove one of them"),
        ));
    }
    check_cut(options)?;
    options.output.add.check(options.output.corpus)?;
    if let Some(note) = address_note(options) {
        tracing::warn!("{note}");
    }
    if let Some(previous) = &options.guards.previous {
        guards::previous_run(previous)?;
    }
    check_resources(options)
}

/// Returns a note if removal compares the text of pages that were matched by URL, because such pages rarely contain each other's text.
pub(crate) fn address_note(options: &RunOptions) -> Option<String> {
    let one = options.recipe.algorithms.iter().find(|one| one.compares_addresses())?;
    let compares_texts = options.removal.removes && options.removal.remove_if != RemoveIf::Pair;
    compares_texts.then(|| {
        format!(
            "{}: different URLs for the same page are rarely removed with `remove-if={}`, because this rule compares URLs as text; use `remove-if=pair`",
            one.label, options.removal.remove_if
        )
    })
}

/// Rejects options that require all documents if only a sample is read.
fn check_sample(run: &RunOptions) -> Result<()> {
    let given = [
        (
            run.incremental.index.is_some(),
            "index",
            "later runs would not be compared with the documents outside the sample",
        ),
        (run.incremental.reference.is_some(), "reference", "a sample is not matched against other documents"),
        (!run.output.corpus.is_none(), "corpus", "the rows outside the sample are neither kept nor removed"),
    ];
    match given.into_iter().find(|(given, ..)| run.sampling.size.is_some() && *given) {
        None => Ok(()),
        Some((_, name, why)) => {
            Err(Error::usage(format!("`sample` cannot be combined with `{name}`, because {why}; remove one of them")))
        }
    }
}

/// Checks only the resources, for commands that read an existing output.
///
/// # Errors
/// See [`check`].
pub fn check_resources(options: &RunOptions) -> Result<()> {
    Budget::new(options.resources.memory, options.resources.threads)?;
    if let Some(work) = &options.resources.work {
        check_work(work)?;
    }
    if let Some(allowed) = memory_allowed().filter(|&allowed| options.resources.memory > allowed) {
        tracing::warn!(
            "`memory={}` is more than the {} of the machine or its cgroup; the system may kill the run",
            ByteSize(options.resources.memory),
            ByteSize(allowed)
        );
    }
    Ok(())
}

/// Checks the temporary folder. The folder is not created, because a mistyped name could then fill the wrong disk with temporary files.
fn check_work(work: &Path) -> Result<()> {
    let shown = work.display();
    let wrong = |what: String| {
        Error::wrong_value("work", &shown, format_args!("{what}; expected an existing folder that you can write to"))
    };
    match work.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::usage(format!(
                "`work={shown}` does not exist; create it with mkdir -p {shown}, or correct the name"
            )));
        }
        Err(error) => return Err(wrong(format!("cannot be read: {error}"))),
        Ok(there) if !there.is_dir() => return Err(wrong("is a file".into())),
        Ok(_) => {}
    }
    may_write(work).map_err(|error| wrong(format!("cannot be written to: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_work_folder_has_to_stand() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        assert!(check_work(folder.path()).is_ok());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let fail = |path: &Path| check_work(path).unwrap_err().to_string();
        assert!(fail(&at("wrok")).contains("does not exist"));
        assert!(!at("wrok").exists());
        std::fs::write(at("file"), b"").unwrap();
        assert!(fail(&at("file")).contains("is a file"));
        assert!(fail(&at("file/in")).contains("`work="));
    }
}
