//! From what was typed to a list of files: files, folders, globs.
//!
//! The list is sorted by the bytes of the paths and holds a file once, however often it was named: document numbers
//! follow from it, so it must not depend on the order in which a file system lists a folder. Names that begin with `.`
//! or `_` are skipped below a folder, as every tool of this kind does (half-written files, checkpoints, `_SUCCESS`).

use super::format::Format;
use super::formats;
use super::hive;
use super::packing::Packing;
use crate::error::{Error, Result};
use globset::{GlobBuilder, GlobMatcher};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A file to read.
#[derive(Clone, Debug)]
pub struct FoundFile {
    /// Where it is.
    pub path: PathBuf,
    /// How it is called in `FILE#ROW`: relative to its folder where one folder was given, its name where one file was,
    /// else the path as typed.
    pub label: String,
    /// How it is read.
    pub format: &'static dyn Format,
    /// How it is compressed.
    pub packing: Packing,
    /// The columns that the names of its folders give it: `lang=ru` stands for the value ru in the column lang.
    pub partitions: Vec<(String, Option<String>)>,
}

impl FoundFile {
    /// The same file under another name. The columns of its folders are those of that name.
    pub fn called(mut self, label: &str) -> FoundFile {
        self.partitions = hive::partitions(label);
        self.label = label.to_owned();
        self
    }

    /// Whether its folders give it this column.
    pub(super) fn has_partition(&self, name: &str) -> bool {
        self.partitions.iter().any(|(known, _)| known == name)
    }
}

/// The files that the inputs name.
///
/// # Errors
/// [`Error::Usage`] where an input is not there, has an ending that is not read, or holds no file that is.
pub fn find(inputs: &[String]) -> Result<Vec<FoundFile>> {
    if inputs.is_empty() {
        return Err(Error::Usage("no input; expected files, folders or globs".to_owned()));
    }
    // One key a file: the real folder and the name in it, so that a file that two inputs name is read once, while two
    // links to one content remain two files.
    let mut files: BTreeMap<PathBuf, FoundFile> = BTreeMap::new();
    for input in inputs {
        let found = expand(input)?;
        if found.is_empty() {
            return Err(Error::Usage(format!(
                "nothing to read in {input:?}; expected files that end in {} (names that begin with . or _ are skipped)",
                formats::endings()
            )));
        }
        for (path, mut label) in found {
            let Some((format, packing)) = formats::of(&path) else {
                let expected = formats::endings();
                return Err(Error::Usage(format!("{} has an unknown ending; expected {expected}", path.display())));
            };
            if inputs.len() > 1 {
                label = path.to_string_lossy().into_owned();
            }
            let partitions = hive::partitions(&label);
            files.entry(identity(&path)).or_insert(FoundFile { path, label, format, packing, partitions });
        }
    }
    let mut files: Vec<FoundFile> = files.into_values().collect();
    files.sort_by(|a, b| a.path.as_os_str().as_encoded_bytes().cmp(b.path.as_os_str().as_encoded_bytes()));
    Ok(files)
}

/// The files of one input with their labels, as if it were the only one.
fn expand(input: &str) -> Result<Vec<(PathBuf, String)>> {
    let path = Path::new(input);
    let mut files = Vec::new();
    if path.is_dir() {
        walk(path, &mut |file| files.push(file.to_path_buf()))?;
        return Ok(files.into_iter().map(|file| labelled(path, file)).collect());
    }
    if path.exists() {
        let name = path.file_name().map_or_else(|| input.to_owned(), |name| name.to_string_lossy().into_owned());
        return Ok(vec![(path.to_path_buf(), name)]);
    }
    if !input.contains(['*', '?', '[', '{']) {
        return Err(Error::Usage(format!("{input:?} is not there; expected a file, a folder or a glob")));
    }
    let (base, pattern) = glob_parts(input);
    let matcher = glob(&pattern)?;
    if !base.is_dir() {
        return Err(Error::Usage(format!("the glob {input:?} looks into {}, which is not a folder", base.display())));
    }
    // A folder that matches stands for its files, as it would had the shell expanded the glob.
    walk(&base, &mut |file| {
        let relative = file.strip_prefix(&base).unwrap_or(file);
        if relative.ancestors().any(|part| !part.as_os_str().is_empty() && matcher.is_match(part)) {
            files.push(file.to_path_buf());
        }
    })?;
    Ok(files.into_iter().map(|file| labelled(&base, file)).collect())
}

fn labelled(folder: &Path, file: PathBuf) -> (PathBuf, String) {
    let label = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().into_owned();
    (file, label)
}

/// The folder before the first part with a wildcard, and the rest as a pattern.
fn glob_parts(input: &str) -> (PathBuf, String) {
    let wild = input.find(['*', '?', '[', '{']).unwrap_or(input.len());
    let cut = input[..wild].rfind('/').map_or(0, |slash| slash + 1);
    let base = if cut == 0 { "." } else { &input[..cut] };
    (PathBuf::from(base), input[cut..].to_owned())
}

fn glob(pattern: &str) -> Result<GlobMatcher> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| Error::Usage(format!("the glob {pattern:?} cannot be read: {}", error.kind())))
}

/// Calls `each` for every file below the folder that is read by its ending; links are followed, loops are not.
fn walk(folder: &Path, each: &mut dyn FnMut(&Path)) -> Result<()> {
    let mut above = Vec::new();
    walk_into(folder, &mut above, each)
}

fn walk_into(folder: &Path, above: &mut Vec<PathBuf>, each: &mut dyn FnMut(&Path)) -> Result<()> {
    let real = folder.canonicalize().map_err(Error::io("list the folder", folder))?;
    if above.contains(&real) {
        return Ok(());
    }
    above.push(real);
    for entry in std::fs::read_dir(folder).map_err(Error::io("list the folder", folder))? {
        let entry = entry.map_err(Error::io("list the folder", folder))?;
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".") || name.as_encoded_bytes().starts_with(b"_") {
            continue;
        }
        // A lone "." in front of every path would only make labels longer.
        let path = if folder == Path::new(".") { PathBuf::from(name) } else { entry.path() };
        if path.is_dir() {
            walk_into(&path, above, each)?;
        } else if formats::of(&path).is_some() {
            each(&path);
        }
    }
    above.pop();
    Ok(())
}

fn identity(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (parent.canonicalize(), path.file_name()) {
        (Ok(parent), Some(name)) => parent.join(name),
        _ => path.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for name in names {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, b"").expect("a file");
        }
        folder
    }

    fn labels(inputs: &[String]) -> Vec<String> {
        find(inputs).expect("found").into_iter().map(|file| file.label).collect()
    }

    #[test]
    fn a_folder_gives_its_files_in_byte_order_without_the_hidden_ones() {
        let folder = tree(&[
            "b/x.parquet",
            "b-1/x.jsonl",
            "a.NDJSON.gz",
            "c.jsonl.zst",
            "notes.txt",
            ".hidden/x.parquet",
            "_tmp/y.parquet",
            "_SUCCESS",
            ".z.parquet",
        ]);
        let input = folder.path().to_string_lossy().into_owned();
        assert_eq!(labels(std::slice::from_ref(&input)), ["a.NDJSON.gz", "b-1/x.jsonl", "b/x.parquet", "c.jsonl.zst"]);
        let formats: Vec<String> = find(&[input])
            .expect("found")
            .iter()
            .map(|file| file.format.name().to_owned() + &file.packing.said())
            .collect();
        assert_eq!(formats, ["JSON lines in gzip", "JSON lines", "Parquet", "JSON lines in Zstandard"]);
    }

    #[test]
    fn a_file_named_twice_is_read_once_and_keeps_the_path_as_typed() {
        let folder = tree(&["d/a.parquet", "d/b.parquet"]);
        let at = |rest: &str| format!("{}/{rest}", folder.path().display());
        assert_eq!(labels(&[at("d/a.parquet"), at("d/../d"), at("d/./a.parquet")]).len(), 2);
        assert_eq!(labels(&[at("d/a.parquet")]), ["a.parquet"]);
        assert_eq!(labels(&[at("d/b.parquet"), at("d/a.parquet")]), [at("d/a.parquet"), at("d/b.parquet")]);
    }

    #[test]
    fn globs_match_files_and_folders() {
        let folder = tree(&["y/2024/a.parquet", "y/2025/b.parquet", "y/2025/sub/c.parquet", "y/2025/_t/d.parquet"]);
        let at = |rest: &str| format!("{}/{rest}", folder.path().display());
        assert_eq!(labels(&[at("y/*/*.parquet")]), ["2024/a.parquet", "2025/b.parquet"]);
        assert_eq!(labels(&[at("y/2025*")]), ["2025/b.parquet", "2025/sub/c.parquet"]);
        assert_eq!(labels(&[at("y/**/{b,c}.parquet")]), ["2025/b.parquet", "2025/sub/c.parquet"]);
    }

    #[test]
    fn what_cannot_be_read_says_what_was_expected() {
        let folder = tree(&["a.csv", "d/readme.md", "[x].parquet"]);
        let at = |rest: &str| format!("{}/{rest}", folder.path().display());
        let message = |input: String| find(&[input]).expect_err("nothing").to_string();
        assert!(message(at("a.csv")).contains("unknown ending; expected .parquet"));
        assert!(message(at("d")).contains("nothing to read"));
        assert!(message(at("none")).contains("is not there"));
        assert!(message(at("*.parquet.x")).contains("nothing to read"));
        assert!(message(at("a[.parquet")).contains("cannot be read"));
        assert!(find(&[]).is_err());
        // A name that looks like a glob but is a file is that file.
        assert_eq!(labels(&[at("[x].parquet")]), ["[x].parquet"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_upward_does_not_loop() {
        let folder = tree(&["d/a.parquet"]);
        std::os::unix::fs::symlink(folder.path(), folder.path().join("d/up")).expect("a link");
        assert_eq!(labels(&[folder.path().to_string_lossy().into_owned()]), ["d/a.parquet"]);
    }
}
