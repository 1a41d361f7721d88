//! What may be replaced: an output of ours or an empty folder, never a folder with anything else in it.

use crate::error::{Error, Result};
use std::path::Path;

/// Names that an output folder may hold at its top. Whatever else is there belongs to the user.
const OUTPUT_NAMES: [&str; 18] = [
    "_SUCCESS",
    "attributes",
    "clusters",
    "compare",
    "deduped",
    "evaluation",
    "evaluation.json",
    "evaluation.parquet",
    "filter.bloom",
    "flags",
    "model",
    "pages",
    "pairs",
    "rejected",
    "removed",
    "report.html",
    "run.json",
    "stats",
];

/// The record of a result, one of which every finished folder has: of a run, or of the evaluation within it.
const RECORDS: [&str; 2] = ["run.json", "evaluation.json"];

/// How the hidden names begin under which an evaluation is made within its run's folder; one that died may have left such
/// a folder, and it is ours.
const HIDDEN: &str = ".evaluation.dupsift-";

/// Checks that `out` can be given to a new result.
///
/// # Errors
/// [`Error::Usage`] where something is there and `overwrite` is not asked for, or it is not an output of ours.
pub(super) fn check(out: &Path, overwrite: bool) -> Result<()> {
    let there = match out.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io("look at", out)(error)),
    };
    let shown = out.display();
    if !there.is_dir() {
        return Err(Error::Usage(format!("{shown} is a file; expected a folder that is not there yet as --out")));
    }
    if !overwrite {
        return Err(Error::Usage(format!(
            "{shown} is already there; give another --out, or --overwrite to replace it"
        )));
    }
    match foreign_entry(out)? {
        None => Ok(()),
        Some(what) => Err(Error::Usage(format!(
            "{shown} does not look like an earlier result ({what}), so --overwrite does not touch it; \
             give another --out, or empty the folder yourself"
        ))),
    }
}

/// What tells that a folder is neither empty nor a finished output.
fn foreign_entry(folder: &Path) -> Result<Option<String>> {
    let names = names(folder)?;
    if let Some(name) = foreign_name(&names) {
        return Ok(Some(format!("it holds {name:?}")));
    }
    let has = |name: &str| names.iter().any(|known| known == name);
    let finished = RECORDS.iter().any(|record| has(record)) && has("_SUCCESS");
    Ok((!names.is_empty() && !finished).then(|| "run.json or _SUCCESS is missing".to_owned()))
}

/// Whether nothing but parts of an output of ours is in the folder, be they all there or not.
pub(super) fn holds_only_ours(folder: &Path) -> Result<bool> {
    Ok(foreign_name(&names(folder)?).is_none())
}

fn foreign_name(names: &[String]) -> Option<&String> {
    names.iter().find(|name| !OUTPUT_NAMES.contains(&name.as_str()) && !name.starts_with(HIDDEN))
}

/// The names in the folder, sorted, so that messages do not depend on the order in which the system lists.
fn names(folder: &Path) -> Result<Vec<String>> {
    let failed = || Error::io("list the folder", folder);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed())? {
        names.push(entry.map_err(failed())?.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    Ok(names)
}
