//! Decides which folders may be replaced: an output of dupsift or an empty folder, but never a folder that contains anything else at any
//! depth.

use super::names::ASIDE;
use super::work_files;
use crate::unfinished::PROBE;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::{self, MOST_JSON, listing};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// The files of an output, as relative paths; `*` matches any characters, `#` matches digits. Any other file is foreign. If the output's
/// record lists its files, a file that is not listed is also foreign.
const OUTPUT_FILES: [&str; 34] = [
    "_HELD",
    "_SUCCESS",
    ".report.html.dupsift-accept",
    ".run.json.dupsift-accept",
    "README.md",
    APPLIED,
    "clusters/algorithm=*/part-00000.parquet",
    "compare/comparison.json",
    "compare/pairs.parquet",
    "contaminated/part-00000.parquet",
    "evaluation.json",
    "evaluation.parquet",
    "evaluation/_SUCCESS",
    "evaluation/evaluation.json",
    "evaluation/evaluation.parquet",
    "evaluation/rejected/part-00000.parquet",
    "filter.bloom",
    "flags/part-00000.parquet",
    "items/part-00000.parquet",
    "model/part-00000.parquet",
    "pages/part-#.parquet",
    "pairs/algorithm=*/part-00000.parquet",
    "passages/part-00000.parquet",
    "rejected/part-00000.parquet",
    "removed/part-00000.parquet",
    "report.html",
    "run.json",
    "stats/features/part-00000.parquet",
    "stats/models/*.parquet",
    // These files were written by earlier versions.
    "stats/sentences/part-00000.parquet",
    "stats/stats.json",
    "stats/words/part-00000.parquet",
    "suites/part-00000.parquet",
    "texts/part-#.parquet",
];

/// The files that are added to a folder after its record is written.
const LATER: [&str; 11] = [
    "_HELD",
    "_SUCCESS",
    ".report.html.dupsift-accept",
    ".run.json.dupsift-accept",
    APPLIED,
    "evaluation/_SUCCESS",
    "evaluation/evaluation.json",
    "evaluation/evaluation.parquet",
    "evaluation/rejected/part-00000.parquet",
    "report.html",
    "run.json",
];

/// The folders of an output whose files have the same names as the corpus files. The output's record must list each of these files.
const OF_CORPUS: [&str; 4] = ["attributes", "clean", "deduped", "dropped"];

/// The name of the field in a record that lists the files of the output.
pub(crate) const FILES: &str = "files";

/// The record of a corpus written from a finished run. The record lists the corpus files in its folder.
pub const APPLIED: &str = "applied.json";

/// The file names of records. Every finished folder contains one of these records: the record of a run, of an evaluation inside a run, or
/// of a corpus written from a run.
const RECORDS: [&str; 3] = ["run.json", "evaluation.json", APPLIED];

/// The prefix of temporary folders created by commands that read a run. Earlier versions created such folders in unfinished outputs.
pub(crate) const WORK: &str = ".dupsift-work-";

/// The temporary folder of an evaluation. A killed evaluation may leave this folder behind.
const WORK_OF_EVALUATION: &str = ".evaluation.dupsift-work";

/// Prefixes of the hidden folders, inside a run's folder, in which an evaluation is built. A killed evaluation may leave such a folder
/// behind; the folder counts as written by dupsift.
const HIDDEN: [&str; 2] = [".evaluation.dupsift-partial-", ".evaluation.dupsift-old-"];

/// Checks that a new result may be written to `out`.
///
/// # Errors
/// Returns [`Error::Usage`] if the path exists and `overwrite` is not set, or if the path is neither an output of dupsift nor an empty
/// folder.
pub(crate) fn check(out: &Path, overwrite: bool) -> Result<()> {
    let there = match out.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io("look at", out)(error)),
    };
    let shown = out.display();
    if !there.is_dir() {
        return Err(Error::usage(format!("{shown} is a file; expected a new folder as `out`")));
    }
    if !overwrite {
        return Err(Error::usage(format!(
            "{shown} already exists; pass a different `out`, or `overwrite` to replace it"
        )));
    }
    match foreign_entry(out)? {
        None => Ok(()),
        Some(what) => Err(Error::usage(format!(
            "{shown} is not the output of an earlier run ({what}), so `overwrite` does not replace it; pass a different `out`, or empty the folder yourself"
        ))),
    }
}

/// Returns whether a new output would replace a finished output.
pub(crate) fn is_output(out: &Path) -> Result<bool> {
    Ok(listing::is_folder(out)? && !names(out)?.is_empty())
}

/// Returns whether the path is an empty folder rather than a link to an empty folder.
pub(crate) fn is_empty(folder: &Path) -> Result<bool> {
    Ok(is_folder(folder) && names(folder)?.is_empty())
}

/// Returns the reason why a folder is neither empty nor a finished output; `None` if it is one of the two.
fn foreign_entry(folder: &Path) -> Result<Option<String>> {
    if let Some(path) = foreign_path(folder)? {
        return Ok(Some(format!("it contains {:?}", path.display().to_string())));
    }
    let names = names(folder)?;
    let has = |name: &str| names.iter().any(|known| known == name);
    let finished = RECORDS.iter().any(|record| has(record)) && has("_SUCCESS");
    Ok((!names.is_empty() && !finished).then(|| "run.json or _SUCCESS is missing".to_owned()))
}

/// Returns the first path in the folder that is not part of an output: a link, or a file or folder whose name does not occur in outputs. If
/// the output's record lists its files, a file that is not listed is not part of the output either.
pub(crate) fn foreign_path(folder: &Path) -> Result<Option<PathBuf>> {
    foreign_below(folder, &[], &listed(folder)?)
}

/// Works like [`foreign_path`], but checks only one entry of the folder.
pub(crate) fn foreign_in(folder: &Path, name: &str) -> Result<Option<PathBuf>> {
    foreign_at(folder, &[], name.to_owned(), &listed(folder)?)
}

/// Works like [`foreign_path`], but for a folder with an unfinished output, which may contain temporary folders from earlier versions.
pub(crate) fn foreign_path_unfinished(folder: &Path) -> Result<Option<PathBuf>> {
    for name in names(folder)? {
        let is_temporary = (name.starts_with(WORK) || name == PROBE) && is_folder(&folder.join(&name));
        if !is_temporary && let Some(foreign) = foreign_at(folder, &[], name, &Listed::Unfinished)? {
            return Ok(Some(foreign));
        }
    }
    Ok(None)
}

/// Returns whether a folder has the record of an output.
pub(crate) fn has_record(folder: &Path) -> bool {
    RECORDS.iter().any(|record| folder.join(record).is_file())
}

/// Returns the names of the folders that an unfinished addition has moved aside.
pub(crate) fn moved_aside(folder: &Path) -> Result<Vec<String>> {
    let mut names = names(folder)?;
    names.retain(|name| name.starts_with(ASIDE));
    Ok(names.iter().map(|name| name[ASIDE.len()..].to_owned()).collect())
}

/// The files listed by an output's record.
enum Listed {
    Files(BTreeSet<String>),
    /// The record lists no files because an earlier version wrote it.
    Nothing,
    /// There is no record yet.
    Unfinished,
}

impl Listed {
    /// Returns whether a file with the name of an output file may belong to the output.
    fn may_have(&self, file: &str) -> bool {
        if let Listed::Files(files) = self { files.contains(file) } else { true }
    }

    /// Returns whether a path may belong to the output; the path is a file that is named like a corpus file, or a folder that contains such
    /// files.
    fn has(&self, path: &str, is_folder: bool) -> bool {
        let below = format!("{path}/");
        match self {
            Listed::Files(files) if is_folder => {
                files.range(below.clone()..).next().is_some_and(|file| file.starts_with(&below))
            }
            Listed::Files(files) => files.contains(path),
            Listed::Nothing => false,
            Listed::Unfinished => true,
        }
    }
}

fn listed(folder: &Path) -> Result<Listed> {
    Ok(match (files_of(folder, "run.json")?, files_of(folder, APPLIED)?) {
        (Some(mut files), more) => {
            files.extend(more.unwrap_or_default());
            Listed::Files(files)
        }
        // If a run's record lists no files, an earlier version wrote the record.
        (None, Some(files)) if !listing::is_there(&folder.join("run.json"))? => Listed::Files(files),
        (None, _) => Listed::Nothing,
    })
}

/// Returns the files that a record in a folder lists; `None` if the record or the list is missing.
///
/// # Errors
/// Returns [`Error::Io`] if the record cannot be read, and [`Error::BadFile`] if it lists a path that leads out of the folder.
pub(crate) fn files_of(folder: &Path, record: &str) -> Result<Option<BTreeSet<String>>> {
    let path = folder.join(record);
    let json = match safe_fs::read(&path, MOST_JSON) {
        Ok(json) => json,
        // A record that is not a regular file, or that is too long, lists nothing.
        Err(error) if error.raw_os_error().is_none() || listing::is_absent(&error) => return Ok(None),
        Err(error) => return Err(Error::reading("read", &path)(error)),
    };
    let Ok(record) = serde_json::from_slice::<Value>(&json) else { return Ok(None) };
    let Some(files) = record.get(FILES).and_then(Value::as_array) else { return Ok(None) };
    let files: BTreeSet<String> = files.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    match files.iter().find(|file| !is_inside(file)) {
        None => Ok(Some(files)),
        Some(file) => Err(leads_out(path, file)),
    }
}

/// Returns whether a path in a record is a path below the folder of the record.
pub fn is_inside(path: &str) -> bool {
    !path.is_empty()
        && !path.contains('\0')
        && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

/// Returns the error for a record with a path that leads out of its folder. dupsift writes no such path.
pub fn leads_out(record: PathBuf, path: &str) -> Error {
    Error::BadFile {
        path: record,
        why: format!("it is damaged: it lists the file {path:?}, which is not in its folder"),
    }
}

/// Returns the relative paths of all files in an unfinished output, in a fixed order.
pub(crate) fn files_below(folder: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for name in names(folder)? {
        let path = folder.join(&name);
        if is_folder(&path) {
            files.extend(files_below(&path)?.into_iter().map(|below| format!("{name}/{below}")));
        } else {
            files.push(name);
        }
    }
    Ok(files)
}

fn foreign_below(folder: &Path, above: &[String], listed: &Listed) -> Result<Option<PathBuf>> {
    for name in names(folder)? {
        if let Some(foreign) = foreign_at(folder, above, name, listed)? {
            return Ok(Some(foreign));
        }
    }
    Ok(None)
}

fn foreign_at(folder: &Path, above: &[String], name: String, listed: &Listed) -> Result<Option<PathBuf>> {
    let path = folder.join(&name);
    let kind = path.symlink_metadata().map_err(Error::io("look at", &path))?;
    let parts: Vec<String> = above.iter().cloned().chain([name]).collect();
    if parts == [WORK_OF_EVALUATION] && kind.is_dir() {
        return Ok(work_files::foreign(&path).map(|foreign| Path::new(WORK_OF_EVALUATION).join(foreign)));
    }
    // A folder that a killed evaluation left behind contains the files of an evaluation.
    let mut known = parts.clone();
    if HIDDEN.iter().any(|hidden| is_numbered(&parts[0], hidden)) {
        known[0] = "evaluation".to_owned();
    }
    // An addition to an output moves the folder aside that it replaces.
    let aside =
        parts[0].strip_prefix(ASIDE).filter(|name| matches!(listed, Listed::Unfinished) && OF_CORPUS.contains(name));
    if let Some(replaced) = aside {
        known[0] = replaced.to_owned();
    }
    let is_later = || LATER.iter().any(|file| is_at(&known, file));
    let is_listed = || listed.may_have(&known.join("/")) || is_later();
    let ours = if OF_CORPUS.contains(&known[0].as_str()) {
        (kind.is_dir() || kind.is_file()) && listed.has(&known.join("/"), kind.is_dir())
    } else if kind.is_dir() {
        OUTPUT_FILES.iter().any(|file| leads_to(&known, file))
    } else {
        kind.is_file() && OUTPUT_FILES.iter().any(|file| is_at(&known, file)) && is_listed()
    };
    match (ours, kind.is_dir()) {
        (false, _) => Ok(Some(parts.iter().collect())),
        (true, true) => foreign_below(&path, &parts, listed),
        (true, false) => Ok(None),
    }
}

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
}

fn is_numbered(name: &str, before: &str) -> bool {
    name.strip_prefix(before).is_some_and(|process| process.parse::<u32>().is_ok())
}

/// Returns whether a folder is a parent of a file that matches the pattern.
fn leads_to(folder: &[String], file: &str) -> bool {
    let parts: Vec<&str> = file.split('/').collect();
    folder.len() < parts.len() && folder.iter().zip(parts).all(|(name, part)| is_like(name, part))
}

fn is_at(path: &[String], file: &str) -> bool {
    let parts: Vec<&str> = file.split('/').collect();
    path.len() == parts.len() && path.iter().zip(parts).all(|(name, part)| is_like(name, part))
}

/// Returns whether a name matches the pattern.
fn is_like(name: &str, pattern: &str) -> bool {
    let Some((before, after)) = pattern.split_once(['*', '#']) else { return name == pattern };
    let between = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    let digits = pattern.contains('#');
    between.is_some_and(|between| !between.is_empty() && (!digits || between.bytes().all(|byte| byte.is_ascii_digit())))
}

/// Returns the names in the folder, sorted so that messages do not depend on the order in the file system.
fn names(folder: &Path) -> Result<Vec<String>> {
    let failed = || Error::io("list the folder", folder);
    let mut names = Vec::new();
    for name in listing::names(folder).map_err(failed())? {
        names.push(name.to_string_lossy().into_owned());
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
            "stats/a.json",
            "stats/mine/part-00000.parquet",
            "removed/part-00001.parquet",
            "report.html.bak",
        ] {
            assert!(!ours(path), "{path}");
        }
        assert!(
            leads_to(&parts("stats/models"), "stats/models/*.parquet") && !leads_to(&parts("mine"), "stats/stats.json")
        );
    }
}
