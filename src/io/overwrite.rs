//! What may be replaced: an output of ours or an empty folder, never a folder with anything else in it, however deep it lies.

use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// The files of an output, by their paths in it; `*` stands for any letters, `#` for digits. Anything else belongs to the user.
const OUTPUT_FILES: [&str; 23] = [
    "_HELD",
    "_SUCCESS",
    ".report.html.dupsift-accept",
    ".run.json.dupsift-accept",
    "clusters/algorithm=*/part-#.parquet",
    "compare/comparison.json",
    "compare/pairs.parquet",
    "evaluation.json",
    "evaluation.parquet",
    "evaluation/_SUCCESS",
    "evaluation/evaluation.json",
    "evaluation/evaluation.parquet",
    "filter.bloom",
    "flags/part-#.parquet",
    "model/part-#.parquet",
    "pages/part-#.parquet",
    "pairs/algorithm=*/part-#.parquet",
    "rejected/part-#.parquet",
    "removed/part-#.parquet",
    "report.html",
    "run.json",
    "stats/*.json",
    "stats/*/*.parquet",
];

/// The record of a result, one of which every finished folder has: of a run, or of the evaluation within it.
const RECORDS: [&str; 2] = ["run.json", "evaluation.json"];

/// How the hidden names begin under which an evaluation is made within its run's folder; one that died may have left such
/// a folder, and it is ours.
const HIDDEN: [&str; 2] = [".evaluation.dupsift-partial-", ".evaluation.dupsift-old-"];

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

/// Whether a finished output stands there, which a new one would replace.
pub(super) fn is_output(out: &Path) -> Result<bool> {
    Ok(out.is_dir() && !names(out)?.is_empty())
}

/// Whether it is a folder, and no link to one, with nothing in it.
pub(super) fn is_empty(folder: &Path) -> Result<bool> {
    Ok(folder.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) && names(folder)?.is_empty())
}

/// What tells that a folder is neither empty nor a finished output.
fn foreign_entry(folder: &Path) -> Result<Option<String>> {
    if let Some(path) = foreign_path(folder)? {
        return Ok(Some(format!("it holds {:?}", path.display().to_string())));
    }
    let names = names(folder)?;
    let has = |name: &str| names.iter().any(|known| known == name);
    let finished = RECORDS.iter().any(|record| has(record)) && has("_SUCCESS");
    Ok((!names.is_empty() && !finished).then(|| "run.json or _SUCCESS is missing".to_owned()))
}

/// Whether nothing but parts of an output of ours is in the folder, be they all there or not.
pub(super) fn holds_only_ours(folder: &Path) -> Result<bool> {
    Ok(foreign_path(folder)?.is_none())
}

/// The first path in the folder that no output of ours has there: a file of another name, a link, a folder that none of our
/// files lies in.
pub(super) fn foreign_path(folder: &Path) -> Result<Option<PathBuf>> {
    foreign_below(folder, &[])
}

fn foreign_below(folder: &Path, above: &[String]) -> Result<Option<PathBuf>> {
    for name in names(folder)? {
        let path = folder.join(&name);
        let kind = path.symlink_metadata().map_err(Error::io("look at", &path))?;
        let parts: Vec<String> = above.iter().cloned().chain([name]).collect();
        let is_left = parts.len() == 1 && HIDDEN.iter().any(|hidden| is_numbered(&parts[0], hidden));
        let ours = if kind.is_dir() {
            is_left || OUTPUT_FILES.iter().any(|file| leads_to(&parts, file))
        } else {
            kind.is_file() && OUTPUT_FILES.iter().any(|file| is_at(&parts, file))
        };
        if !ours {
            return Ok(Some(parts.iter().collect()));
        }
        if kind.is_dir()
            && !is_left
            && let Some(foreign) = foreign_below(&path, &parts)?
        {
            return Ok(Some(foreign));
        }
    }
    Ok(None)
}

fn is_numbered(name: &str, before: &str) -> bool {
    name.strip_prefix(before).is_some_and(|process| process.parse::<u32>().is_ok())
}

/// Whether a folder is one on the way to such a file.
fn leads_to(folder: &[String], file: &str) -> bool {
    let parts: Vec<&str> = file.split('/').collect();
    folder.len() < parts.len() && folder.iter().zip(parts).all(|(name, part)| is_like(name, part))
}

fn is_at(path: &[String], file: &str) -> bool {
    let parts: Vec<&str> = file.split('/').collect();
    path.len() == parts.len() && path.iter().zip(parts).all(|(name, part)| is_like(name, part))
}

/// Whether a name is of that pattern.
fn is_like(name: &str, pattern: &str) -> bool {
    let Some((before, after)) = pattern.split_once(['*', '#']) else { return name == pattern };
    let between = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    let digits = pattern.contains('#');
    between.is_some_and(|between| !between.is_empty() && (!digits || between.bytes().all(|byte| byte.is_ascii_digit())))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(path: &str) -> Vec<String> {
        path.split('/').map(str::to_owned).collect()
    }

    #[test]
    fn our_files_are_known_by_their_whole_paths() {
        let ours = |path: &str| OUTPUT_FILES.iter().any(|file| is_at(&parts(path), file));
        for path in [
            "pairs/algorithm=minhash_loose/part-00000.parquet",
            "pages/part-00012.parquet",
            "stats/stats.json",
            "stats/models/lsi.parquet",
            "stats/words/part-00000.parquet",
            "_SUCCESS",
        ] {
            assert!(ours(path), "{path}");
        }
        for path in [
            "pairs/part-00000.parquet",
            "pairs/algorithm=/part-00000.parquet",
            "pairs/algorithm=exact/part-x.parquet",
            "pairs/algorithm=exact/notes.txt",
            "removed/part-00000.csv",
            "removed/deep/part-00000.parquet",
            "stats/words/run.json",
            "report.html.bak",
        ] {
            assert!(!ours(path), "{path}");
        }
        assert!(leads_to(&parts("stats/words"), "stats/*/*.parquet") && !leads_to(&parts("mine"), "stats/*.json"));
    }
}
