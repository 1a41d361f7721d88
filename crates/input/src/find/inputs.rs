//! Turns the inputs (files, folders, globs) into a list of files.
//!
//! The list is sorted by the bytes of the paths and contains each file once, even if several inputs include it. Document numbers depend on
//! the order of the list, so this order must not depend on the order in which a file system lists a folder. As in similar tools, files and
//! folders in a folder are skipped if their names begin with `.` or `_` (incomplete files, checkpoints, `_SUCCESS`). Folders written by
//! dupsift (results and indexes) are also skipped unless they are given as inputs; see [`Ours`]. All other files that are not read are
//! counted; see [`Unread`].
//!
//! A corpus may come from somebody else, and a link in it may lead to any file that you can read. If a link leads out of the inputs, it is
//! followed only to a data file, as in the caches of other tools, which consist of such links: a text that is not in a data format would be
//! published as a document whatever it contains. Folders and other texts behind such links are bad inputs unless [`Taking::follow_links`]
//! is set.

use crate::compressed::coding::Coding;
use crate::find::bad_input::BadInput;
use crate::find::folder_walk::{Follows, Link, Visited, Walk};
use crate::find::foreign;
use crate::find::found::{Found, sort};
use crate::find::found_file::FoundFile;
use crate::find::glob::{WILD, glob, glob_parts, is_below_match, leads_through, spelled};
use crate::find::hive;
use crate::find::taking::Taking;
use crate::find::unread::{LINES_HINT, Other, Unread, Why, special};
use crate::formats;
use crate::formats::TextFiles;
use dupsift_core::error::{Error, Result};
use dupsift_core::number::counted_as;
use dupsift_core::safe_fs::listing::{self, is_folder};
use dupsift_publish::{Ours, refuse_standard_input};
use dupsift_remote::address::{self, Use};
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// Returns the files for the inputs, with default options.
///
/// # Errors
/// Returns the same errors as [`find_all`].
pub fn find(inputs: &[String]) -> Result<Vec<FoundFile>> {
    Ok(find_all(inputs, Taking::default())?.files)
}

/// Returns the files for the inputs, and the files that are not read.
///
/// # Errors
/// Returns [`Error::Missing`] if an input does not exist, and [`Error::Io`] if the system cannot tell or if a folder cannot be listed.
/// Returns [`Error::Usage`] if an input has an unknown file extension, is not a regular file, or contains no files in a supported format.
pub fn find_all(inputs: &[String], taking: Taking) -> Result<Found> {
    find_all_in(Path::new(""), inputs, taking)
}

/// Works like [`find_all`], but the inputs are relative to `folder`. An empty path means the working directory. Labels do not depend on
/// `folder`.
///
/// # Errors
/// Returns the same errors as [`find_all`].
pub fn find_all_in(folder: &Path, inputs: &[String], taking: Taking) -> Result<Found> {
    if inputs.is_empty() {
        return Err(Error::usage("no input; expected files, folders or globs"));
    }
    refuse_standard_input(inputs)?;
    // The key of a file is the resolved path of its folder, followed by the file name. A file that two inputs have in common is read once,
    // but two links to the same file count as two files.
    let mut files: BTreeMap<PathBuf, FoundFile> = BTreeMap::new();
    let mut others: BTreeMap<PathBuf, Other> = BTreeMap::new();
    let (mut skipped, mut chosen) = (BTreeMap::new(), BTreeMap::new());
    let mut bad: BTreeMap<PathBuf, BadInput> = BTreeMap::new();
    inputs.iter().try_for_each(|input| address::refuse(input, Use::Read))?;
    let places = places(folder, inputs);
    for input in inputs {
        let Listed { named, is_file, found, unread, not_followed, ours, is_ours } =
            expand(folder, input, &places, taking)?;
        if found.is_empty() {
            let there = Unread::of(unread.into_iter().map(|(named, why)| named.unread(why)));
            return Err(nothing(input, &there.with_ours(ours, BTreeMap::new()), &not_followed, taking));
        }
        for (Named { path, mut label, identity }, why) in not_followed {
            if inputs.len() > 1 {
                label = as_typed(folder, input, &path);
            }
            bad.insert(identity, why.bad(path, label));
        }
        skipped.extend(ours);
        chosen.extend(is_ours.map(|kind| (PathBuf::from(input), kind)));
        for Named { path, mut label, identity } in found {
            let Some((format, packing)) = formats::of(&path, taking.text_files).filter(|_| named.is_none()) else {
                return Err(not_read(&path, named));
            };
            if inputs.len() > 1 {
                label = as_typed(folder, input, &path);
            }
            let partitions = hive::partitions(&label);
            let packing = if format.facts().is_packed { packing.of_file(&path) } else { packing };
            let coding = Coding { packing, ..taking.coding };
            let is_guess = !is_file && formats::is_guess(&path, format);
            let bytes = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
            let found = FoundFile { path, label, format, coding, is_guess, bytes, partitions, staged: None };
            files.entry(identity).or_insert(found);
        }
        for (mut named, why) in unread {
            if inputs.len() > 1 {
                named.label = as_typed(folder, input, &named.path);
            }
            others.insert(named.identity.clone(), named.unread(why));
        }
    }
    let mut files: Vec<FoundFile> = files.into_values().collect();
    sort(&mut files);
    // A folder that was skipped in one input may itself be another input.
    let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let inputs: Vec<PathBuf> = inputs.iter().map(|input| real(&at(folder, input))).collect();
    skipped.retain(|path, _| !inputs.contains(&real(path)));
    let mut bad: Vec<BadInput> = bad.into_values().collect();
    bad.sort_by(|a, b| a.path.as_os_str().as_encoded_bytes().cmp(b.path.as_os_str().as_encoded_bytes()));
    Ok(Found { files, unread: Unread::of(others.into_values()).with_ours(skipped, chosen), bad, ..Found::default() })
}

/// Returns the files and folders that you specified, with links resolved. A link that leads into one of them does not lead out of the
/// inputs.
fn places(folder: &Path, inputs: &[String]) -> Vec<PathBuf> {
    let place = |input: &String| {
        let path = at(folder, input);
        path.canonicalize().or_else(|_| at(folder, glob_parts(input).0).canonicalize()).ok()
    };
    inputs.iter().filter_map(place).collect()
}

/// Returns the path of an input in a folder.
fn at(folder: &Path, input: &str) -> PathBuf {
    match (folder.as_os_str().is_empty(), input) {
        (true, _) => PathBuf::from(input),
        (false, ".") => folder.to_path_buf(),
        (false, _) => folder.join(input),
    }
}

/// Returns the path of a file that was found for an input, relative to the folder in which the input was typed.
fn as_typed(folder: &Path, input: &str, path: &Path) -> String {
    let (whole, folder) = (path.to_string_lossy(), folder.to_string_lossy());
    let below = whole.strip_prefix(&*folder).filter(|_| !folder.is_empty() && Path::new(input).is_relative());
    below.map_or(&*whole, |below| below.trim_start_matches('/')).to_owned()
}

fn nothing(input: &str, there: &Unread, not_followed: &[(Named, NotFollowed)], taking: Taking) -> Error {
    let links = not_followed.iter().filter(|(_, why)| matches!(why, NotFollowed::LeadsOut(_))).count() as u64;
    let links = match links {
        0 => String::new(),
        links => format!(
            "; {links_lead} out of it; pass `follow-links` to read what is there",
            links_lead = counted_as(links, "link leads|links lead")
        ),
    };
    let hint = if taking.text_files == TextFiles::Skipped { there.text_files_hint() } else { String::new() };
    let skipped = there.skipped().map_or_else(String::new, |skipped| format!("; {skipped}"));
    let reason = there.reason().map_or_else(String::new, |reason| format!("; {reason}"));
    let there = if there.is_empty() { String::new() } else { format!("; it contains {there}") };
    Error::usage(format!(
        "nothing to read in {input:?}; expected files that end in {} (names that begin with . or _ are skipped){there}{reason}{links}{hint}{skipped}",
        formats::endings()
    ))
}

/// Returns the error for a file that is itself an input but cannot be read.
fn not_read(path: &Path, special: Option<&str>) -> Error {
    let shown = path.display();
    Error::usage(match special {
        Some(kind) => format!("{shown} is {kind}; expected a regular file, a folder or a glob"),
        None if formats::of(path, TextFiles::Whole).is_some() => {
            let lines = if formats::of(path, TextFiles::Lines).is_some() { LINES_HINT } else { "" };
            format!(
                "{shown} is not read as a table of documents; pass `whole-files` to read each such file as one document{lines}"
            )
        }
        None => match foreign::why_unread(path) {
            Some(why) => format!("{shown} is not read: {why}"),
            None => format!("{shown} has an unrecognized extension; expected {}", formats::endings()),
        },
    })
}

/// The files that were found for one input.
#[derive(Default)]
struct Listed {
    /// The type of the input if it is a single file that is not a regular file.
    named: Option<&'static str>,
    /// Whether the input is a single file.
    is_file: bool,
    /// The files that are read.
    found: Vec<Named>,
    /// The files that are not read, each with the reason unless the reason is its extension.
    unread: Vec<(Named, Option<Why>)>,
    /// The links that are not followed.
    not_followed: Vec<(Named, NotFollowed)>,
    /// The folders in the input that dupsift wrote.
    ours: BTreeMap<PathBuf, Ours>,
    /// The kind of output in the input folder, if dupsift wrote the folder.
    is_ours: Option<Ours>,
}

impl Listed {
    fn push(&mut self, folder: &Path, visited: Visited<'_>, taking: Taking) {
        let Visited { path, real, link, why } = visited;
        let label = below(folder, path).to_string_lossy().into_owned();
        let named = Named { path: path.to_path_buf(), label, identity: real.to_path_buf() };
        let why = why.or_else(|| special(path).map(Why::Special));
        let is_read = why.is_none() && formats::of(path, taking.text_files).is_some();
        let is_data = || formats::of(path, TextFiles::Skipped).is_some();
        let must_be_inside = (is_read && !is_data()) || (why.is_none() && foreign::is_part(path));
        match link {
            Link::ToFolderOutside(target) => self.not_followed.push((named, NotFollowed::LeadsOut(target))),
            Link::ToFileOutside(target) if must_be_inside && !taking.follow_links => {
                self.not_followed.push((named, NotFollowed::LeadsOut(target)));
            }
            // If the file has a known extension, it is opened like any other file, which reports the same error.
            Link::Unknown(error) if !is_read => self.not_followed.push((named, NotFollowed::Failed(error))),
            _ if is_read => self.found.push(named),
            _ => self.unread.push((named, why)),
        }
    }
}

/// The reason why a link is not followed.
#[derive(Debug)]
enum NotFollowed {
    /// The link leads out of the inputs, to this path.
    LeadsOut(PathBuf),
    /// The system cannot tell where the link leads.
    Failed(io::Error),
}

impl NotFollowed {
    fn bad(self, path: PathBuf, label: String) -> BadInput {
        let (why, bytes) = match self {
            NotFollowed::LeadsOut(target) => {
                let bytes = listing::look(&target).ok().flatten().filter(std::fs::Metadata::is_file);
                let why = format!("it is a link that leads out of the inputs, to {}{FOLLOW_LINKS}", target.display());
                (why, bytes.map_or(0, |there| there.len()))
            }
            NotFollowed::Failed(error) => (format!("it is a link that cannot be followed: {error}"), 0),
        };
        BadInput { path, label, why, bytes, takes_part: false }
    }
}

/// The end of the description of a link that is not followed because it leads out of the inputs.
pub const FOLLOW_LINKS: &str = "; pass `follow-links` to read what is there";

/// A file that was found for an input.
struct Named {
    path: PathBuf,
    /// The label that the file has if its input is the only input.
    label: String,
    /// The path of the file, with links in the folder's path resolved.
    identity: PathBuf,
}

impl Named {
    fn unread(self, why: Option<Why>) -> Other {
        Other { path: self.path, label: self.label, why }
    }
}

/// Returns the files of one input. `places` are all inputs, with links resolved.
fn expand(folder: &Path, input: &str, places: &[PathBuf], taking: Taking) -> Result<Listed> {
    let path = &at(folder, input);
    let mut listed = Listed::default();
    let follows = Follows { places, all: taking.follow_links };
    let there = listing::look(path).map_err(Error::reading("look at", path))?;
    if there.as_ref().is_some_and(std::fs::Metadata::is_dir) {
        let walked = Walk::of(path, follows, &|_, _| false, &mut |visited| listed.push(path, visited, taking))?;
        (listed.ours, listed.is_ours) = (walked.skipped, walked.start);
        return Ok(listed);
    }
    if there.is_some() {
        let name = path.file_name().map_or_else(|| input.to_owned(), |name| name.to_string_lossy().into_owned());
        let found = vec![Named { path: path.clone(), label: name, identity: identity(path) }];
        return Ok(Listed { named: special(path), is_file: true, found, ..Listed::default() });
    }
    if !input.contains(WILD) {
        return Err(Error::Missing {
            path: path.to_path_buf(),
            said: format!("{input:?} does not exist; expected a file, a folder or a glob"),
        });
    }
    let (base, pattern) = glob_parts(input);
    let base = at(folder, base);
    let matcher = glob(&pattern)?;
    if !is_folder(&base)? {
        return Err(Error::usage(format!("the glob {input:?} goes through {}, which is not a folder", base.display())));
    }
    let spelled = spelled(&pattern)?;
    let names = |folder: &Path, names: &[OsString]| {
        let folder = below(&base, folder);
        spelled.iter().any(|part| part.is_match(folder) || names.iter().any(|name| part.is_match(folder.join(name))))
    };
    // If the glob matches a folder, all files in the folder are read, as if the shell had expanded the glob.
    let mut folders = HashMap::new();
    let walked = Walk::of(&base, follows, &names, &mut |visited| {
        let path = below(&base, visited.path);
        let is_reached = matches!(visited.link, Link::ToFolderOutside(_)) && leads_through(&pattern, path);
        let mut is_below = || path.parent().is_some_and(|folder| is_below_match(&matcher, folder, &mut folders));
        if matcher.is_match(path) || is_reached || is_below() {
            listed.push(&base, visited, taking);
        }
    })?;
    listed.ours = walked.skipped;
    Ok(listed)
}

/// Returns a path relative to a folder. A path that is not in the folder is returned unchanged.
fn below<'p>(folder: &Path, path: &'p Path) -> &'p Path {
    path.strip_prefix(folder).unwrap_or(path)
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
    use crate::absolute;

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
            .map(|file| file.format.facts().name.to_owned() + &file.coding.packing.said())
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
    fn inputs_of_a_folder_have_the_names_that_they_have_there() {
        let folder = tree(&["a.jsonl", "lang=ru/b.jsonl", "d/c.jsonl", "d/e/f.jsonl"]);
        let named = |inputs: &[&str]| -> Vec<(PathBuf, String, usize)> {
            let inputs: Vec<String> = inputs.iter().map(ToString::to_string).collect();
            let found = find_all_in(folder.path(), &inputs, Taking::default()).expect("found");
            found.files.into_iter().map(|file| (absolute(&file.path), file.label, file.partitions.len())).collect()
        };
        let is = |path: &str, label: &str| (folder.path().join(path), label.to_owned(), 0);
        let hive = |path: &str, label: &str| (folder.path().join(path), label.to_owned(), 1);
        assert_eq!(named(&["d"]), [is("d/c.jsonl", "c.jsonl"), is("d/e/f.jsonl", "e/f.jsonl")]);
        assert_eq!(named(&["a.jsonl"]), [is("a.jsonl", "a.jsonl")]);
        assert_eq!(named(&["*.jsonl"]), [is("a.jsonl", "a.jsonl")]);
        assert_eq!(named(&["d/**/f.jsonl", "*.jsonl"]), [is("a.jsonl", "a.jsonl"), is("d/e/f.jsonl", "d/e/f.jsonl")]);
        assert_eq!(
            named(&["./d/e", "lang=ru"]),
            [is("d/e/f.jsonl", "./d/e/f.jsonl"), hive("lang=ru/b.jsonl", "lang=ru/b.jsonl")]
        );
        assert_eq!(named(&["."]).len(), 4);
        assert_eq!(named(&[".", "d"])[0], is("a.jsonl", "a.jsonl"));
        let whole = folder.path().join("d/e").to_string_lossy().into_owned();
        assert_eq!(named(&[&whole, "a.jsonl"])[1], is("d/e/f.jsonl", &format!("{whole}/f.jsonl")));
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
        let folder = tree(&["a.xls", "d/readme.md", "[x].parquet"]);
        let at = |rest: &str| format!("{}/{rest}", folder.path().display());
        let message = |input: String| find(&[input]).expect_err("nothing").to_string();
        assert!(message(at("a.xls")).contains("unrecognized extension; expected .parquet"));
        assert!(message(at("d")).contains("nothing to read"));
        assert!(message(at("none")).contains("does not exist"));
        assert!(message(at("*.parquet.x")).contains("nothing to read"));
        assert!(message(at("a[.parquet")).contains("cannot be read"));
        assert!(find(&[]).is_err());
        // If an input that looks like a glob is the name of an existing file, that file is the input.
        assert_eq!(labels(&[at("[x].parquet")]), ["[x].parquet"]);
    }

    #[test]
    fn files_that_are_not_read_are_counted_by_ending() {
        let folder =
            tree(&["a.jsonl", "b.XLS", "d/c.xls", "d/e.xls.gz", "f.html", "README", ".g.xls", "_h/i.xls", "x.y z"]);
        let input = folder.path().to_string_lossy().into_owned();
        // If a folder is given twice, each file in it is listed once.
        let found = find_all(&[input.clone(), input.clone()], Taking::default()).expect("found");
        let counts: Vec<(&str, u64)> =
            found.unread.by_ending().iter().map(|(ending, count)| (ending.as_str(), *count)).collect();
        assert_eq!(counts, [("(no ending)", 2), (".html", 1), (".xls", 2), (".xls.gz", 1)]);
        let taking = Taking { text_files: TextFiles::Whole, ..Taking::default() };
        let found = find_all(&[input], taking).expect("found");
        assert_eq!((found.files.len(), found.unread.by_ending().get(".html")), (2, None));
    }

    #[test]
    fn whole_files_are_named_where_nothing_else_is_there() {
        let folder = tree(&["a.txt", "d/b.htm", "d/c.xls"]);
        let at = |rest: &str| format!("{}/{rest}", folder.path().display());
        let message = |input: String| find(&[input]).expect_err("nothing").to_string();
        assert!(message(at("a.txt")).contains("`whole-files`"), "{}", message(at("a.txt")));
        let said = message(at("d"));
        assert!(said.contains(".htm 1, .xls 1") && said.contains("`whole-files`"), "{said}");
    }

    #[cfg(unix)]
    #[test]
    fn only_regular_files_are_read() {
        let folder = tree(&["a.jsonl"]);
        let made = std::process::Command::new("mkfifo").arg(folder.path().join("b.jsonl")).status().expect("mkfifo");
        assert!(made.success());
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("c.jsonl")).expect("a link");
        let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("d.jsonl")).expect("a socket");
        std::os::unix::fs::symlink("a.jsonl", folder.path().join("e.jsonl")).expect("a link");
        let input = folder.path().to_string_lossy().into_owned();
        let found = find_all(std::slice::from_ref(&input), Taking::default()).expect("found");
        assert_eq!(found.files.iter().map(|file| &*file.label).collect::<Vec<_>>(), ["a.jsonl", "e.jsonl"]);
        let notes = found.unread.notes().join("\n");
        assert!(notes.contains("b.jsonl is a named pipe") && notes.contains("c.jsonl is a device"), "{notes}");
        assert_eq!(found.unread.by_ending().values().sum::<u64>(), 3);
        let message = find(&[format!("{input}/b.jsonl")]).expect_err("a pipe").to_string();
        assert!(message.contains("is a named pipe; expected a regular file"), "{message}");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_upward_does_not_loop() {
        let folder = tree(&["d/a.parquet"]);
        std::os::unix::fs::symlink(folder.path(), folder.path().join("d/up")).expect("a link");
        assert_eq!(labels(&[folder.path().to_string_lossy().into_owned()]), ["d/a.parquet"]);
    }

    /// If the walk checked all ancestors of each folder, this test would take 22 s of CPU time.
    #[test]
    fn folders_that_are_nested_deeply_are_listed_in_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut path = folder.path().to_path_buf();
        for _ in 0..1_000 {
            path.push("d");
            std::fs::create_dir(&path).expect("a folder");
            std::fs::write(path.join("a.parquet"), "").expect("a file");
        }
        let root = folder.path().to_string_lossy().into_owned();
        let start = std::time::Instant::now();
        let found = labels(std::slice::from_ref(&root));
        let matched = labels(&[format!("{root}/**/a.parquet")]);
        assert!(start.elapsed().as_secs() < 15, "{:?}", start.elapsed());
        assert_eq!((found.len(), matched.len()), (1_000, 1_000));
        assert_eq!(found.last().map(String::len), Some(2 * 1_000 + "a.parquet".len()), "the deepest one sorts last");
    }
}
