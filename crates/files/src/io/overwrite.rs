//! What may be replaced: an output of ours or an empty folder, never a folder with anything else in it, however deep it lies.

use super::work_files;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::{self, MOST_JSON};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The files of an output, by their paths in it; `*` stands for any letters, `#` for digits. Anything else belongs to the user,
/// and so does what the record of the output does not list, where it lists its files.
const OUTPUT_FILES: [&str; 33] = [
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
    // Of earlier versions.
    "stats/sentences/part-00000.parquet",
    "stats/stats.json",
    "stats/words/part-00000.parquet",
    "suites/part-00000.parquet",
];

/// Of these, what comes into a folder when its record has been written.
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

/// Folders of an output that hold files called as those of the corpus are: the record of the output has to list each.
const OF_CORPUS: [&str; 4] = ["attributes", "clean", "deduped", "dropped"];

/// The entry of a record that lists the files of its output.
pub const FILES: &str = "files";

/// The record of a corpus that was written from a finished run. It lists the files of the corpus that are in its folder.
pub const APPLIED: &str = "applied.json";

/// The record of a result, one of which every finished folder has: of a run, of the evaluation within it, or of a corpus that was written
/// from a run.
const RECORDS: [&str; 3] = ["run.json", "evaluation.json", APPLIED];

/// How the names of folders of work files begin that a look at a run makes; earlier versions had such in half-made outputs.
pub const WORK: &str = ".dupsift-work-";

/// The work folder of an evaluation; one that died may have left it.
const WORK_OF_EVALUATION: &str = ".evaluation.dupsift-work";

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

/// Whether a finished output stands there, which a new one would replace.
pub(super) fn is_output(out: &Path) -> Result<bool> {
    Ok(out.is_dir() && !names(out)?.is_empty())
}

/// Whether it is a folder, and no link to one, with nothing in it.
pub(super) fn is_empty(folder: &Path) -> Result<bool> {
    Ok(is_folder(folder) && names(folder)?.is_empty())
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

/// The first path in the folder that no output of ours has there: a file of another name, a link, a folder that none of our
/// files lies in. Where the record of the output lists its files, a file that it does not list.
pub(super) fn foreign_path(folder: &Path) -> Result<Option<PathBuf>> {
    foreign_below(folder, &[], &listed(folder))
}

/// The same of a folder in which an output was being made, with folders of work files of earlier versions.
pub(super) fn foreign_path_unfinished(folder: &Path) -> Result<Option<PathBuf>> {
    for name in names(folder)? {
        let is_work = name.starts_with(WORK) && is_folder(&folder.join(&name));
        if !is_work && let Some(foreign) = foreign_at(folder, &[], name, &Listed::Unfinished)? {
            return Ok(Some(foreign));
        }
    }
    Ok(None)
}

/// The files that the record of an output lists.
enum Listed {
    /// These.
    Files(BTreeSet<String>),
    /// It lists none, as those of earlier versions.
    Nothing,
    /// There is no record yet.
    Unfinished,
}

impl Listed {
    /// Whether a file may stand there that is of ours by its name.
    fn may_have(&self, file: &str) -> bool {
        if let Listed::Files(files) = self { files.contains(file) } else { true }
    }

    /// Whether a file, or a folder of files, may stand there that is called as the corpus calls it.
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

fn listed(folder: &Path) -> Listed {
    match (files_of(folder, "run.json"), files_of(folder, APPLIED)) {
        (Some(mut files), more) => {
            files.extend(more.unwrap_or_default());
            Listed::Files(files)
        }
        // A record of a run without a list is of an earlier version.
        (None, Some(files)) if !folder.join("run.json").exists() => Listed::Files(files),
        (None, _) => Listed::Nothing,
    }
}

/// Returns the files that a record in a folder lists; `None` if there is no such record, or it lists none.
pub(super) fn files_of(folder: &Path, record: &str) -> Option<BTreeSet<String>> {
    let record: Value = serde_json::from_slice(&safe_fs::read(&folder.join(record), MOST_JSON).ok()?).ok()?;
    let files = record.get(FILES)?.as_array()?.iter().filter_map(Value::as_str);
    Some(files.map(str::to_owned).collect())
}

/// The files below a folder in which an output is being made, by their paths in it, in order.
pub(super) fn files_below(folder: &Path) -> Result<Vec<String>> {
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
    // A folder that an evaluation left which died holds what an evaluation does.
    let mut known = parts.clone();
    if HIDDEN.iter().any(|hidden| is_numbered(&parts[0], hidden)) {
        known[0] = "evaluation".to_owned();
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
