//! Records the input files that are not read: the number of such files by file extension, and the names of unread files that have a
//! supported extension.

use crate::compressed::packing::Packing;
use crate::find::bad_input::BadInput;
use crate::find::catalogs::Aside;
use crate::find::foreign;
use crate::formats;
use dupsift_core::number::counted_as;
use dupsift_publish::Ours;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The end of a hint about text files, which mentions the alternative to `whole-files`.
pub(crate) const LINES_HINT: &str = ", or `text-lines` to read each line of a .txt file";

/// The maximum number of file extensions that are counted separately. Without this limit, file names that end in numbers could add any
/// number of extensions.
const MOST_ENDINGS: usize = 100;
/// The maximum number of files that are listed by name.
const MOST_NAMED: usize = 10;
/// The maximum length of a file extension, in characters; a longer suffix counts as part of the name.
const LONGEST_ENDING: usize = 10;

/// The reason why a file is not read, apart from its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// The file is not a regular file but of this kind.
    Special(&'static str),
    /// The file stands beside the data of its folder.
    Aside(Aside),
}

/// A file that is not read.
pub(crate) struct Other {
    pub path: PathBuf,
    /// The name of the file in messages.
    pub label: String,
    pub why: Option<Why>,
}

/// Files that are not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    by_ending: BTreeMap<String, u64>,
    /// The files that, judging by their extensions, contain rows.
    data: Vec<BadInput>,
    special: Vec<(String, String)>,
    /// Folders written by dupsift that were skipped because they were not given as inputs.
    skipped: BTreeMap<PathBuf, Ours>,
    /// Folders written by dupsift that were given as inputs.
    named: BTreeMap<PathBuf, Ours>,
}

impl Unread {
    /// Counts files.
    pub(crate) fn of(files: impl Iterator<Item = Other>) -> Unread {
        let mut unread = Unread::default();
        for Other { path, label, why } in files {
            let ending = if let Some(Why::Special(kind)) = why { format!("({kind})") } else { ending(&path) };
            let known = unread.by_ending.len() < MOST_ENDINGS || unread.by_ending.contains_key(&ending);
            *unread.by_ending.entry(if known { ending } else { "(other endings)".to_owned() }).or_default() += 1;
            let shown = || path.display().to_string();
            let mut lost = |why: &str| {
                let bytes = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
                unread.data.push(BadInput {
                    path: path.clone(),
                    label: label.clone(),
                    why: why.to_owned(),
                    bytes,
                    takes_part: false,
                });
            };
            match why {
                Some(Why::Special(kind)) => unread.special.push((shown(), format!("is {kind} and is not read"))),
                Some(Why::Aside(Aside::Cache)) => unread.special.push((
                    shown(),
                    "is not read: it is a cache of the datasets library; pass the file by name to read it".to_owned(),
                )),
                Some(Why::Aside(aside)) => aside.lost().into_iter().for_each(lost),
                None => foreign::why_unread(&path).iter().for_each(|why| lost(why)),
            }
        }
        unread
    }

    /// Returns why the first file that may contain rows is not read.
    pub(crate) fn reason(&self) -> Option<String> {
        let data = self.data.first().map(|file| format!("{} is not read: {}", file.path.display(), file.why));
        data.or_else(|| self.special.first().map(|(path, why)| format!("{path} {why}")))
    }

    /// Removes and returns the files that contain rows, judging by their extensions.
    pub(crate) fn take_data(&mut self) -> Vec<BadInput> {
        let data = std::mem::take(&mut self.data);
        for file in &data {
            let ending = ending(&file.path);
            let key = if self.by_ending.contains_key(&ending) { ending } else { "(other endings)".to_owned() };
            if let Some(count) = self.by_ending.get_mut(&key) {
                *count -= 1;
            }
        }
        self.by_ending.retain(|_, count| *count > 0);
        data
    }

    /// Adds folders written by dupsift: the folders that are skipped, and the folders that are read because they were given as inputs.
    pub(crate) fn with_ours(mut self, skipped: BTreeMap<PathBuf, Ours>, named: BTreeMap<PathBuf, Ours>) -> Unread {
        (self.skipped, self.named) = (skipped, named);
        self
    }

    /// Adds the files of other inputs.
    pub(crate) fn add_all(&mut self, other: Unread) {
        other.by_ending.into_iter().for_each(|(ending, count)| *self.by_ending.entry(ending).or_default() += count);
        self.data.extend(other.data);
        self.special.extend(other.special);
        self.skipped.extend(other.skipped);
        self.named.extend(other.named);
    }

    /// Returns the folders that were skipped because dupsift wrote them, each with its kind.
    pub fn skipped_folders(&self) -> BTreeMap<String, String> {
        let word = |(path, kind): (&PathBuf, &Ours)| (path.to_string_lossy().into_owned(), kind.word().to_owned());
        self.skipped.iter().map(word).collect()
    }

    /// Returns a sentence about the skipped folders, if any.
    pub(crate) fn skipped(&self) -> Option<String> {
        let folders = self.skipped.iter().take(MOST_NAMED);
        let mut named: Vec<String> =
            folders.map(|(path, kind)| format!("{} ({})", path.display(), kind.word())).collect();
        if self.skipped.len() > MOST_NAMED {
            named.push(format!("and {} more", self.skipped.len() - MOST_NAMED));
        }
        let (number, one) = (self.skipped.len() as u64, if self.skipped.len() == 1 { "it" } else { "one" });
        (number > 0).then(|| {
            format!(
                "{folders_were} skipped: {names}; to read {one}, pass it as an input",
                folders_were = counted_as(number, "output folder of dupsift was|output folders of dupsift were"),
                names = named.join(", ")
            )
        })
    }

    /// Adds a file that has a supported extension but turned out not to have the corresponding format.
    pub(crate) fn add(&mut self, path: &Path, why: &str) {
        *self.by_ending.entry(ending(path)).or_default() += 1;
        self.special.push((path.display().to_string(), format!("is not read: {why}")));
    }

    /// Returns whether this file is one of the files that are listed by name.
    pub fn names(&self, path: &Path) -> bool {
        self.special.iter().any(|(named, _)| Path::new(named) == path)
    }

    /// Returns whether all files are read.
    pub fn is_empty(&self) -> bool {
        self.by_ending.is_empty()
    }

    /// Returns the number of files for each extension, in lowercase with the dot; special files are counted by their kind in parentheses.
    pub fn by_ending(&self) -> &BTreeMap<String, u64> {
        &self.by_ending
    }

    /// Returns a hint, preceded by a semicolon, about options that would allow some of these files to be read; empty if there are no such
    /// files.
    pub fn text_files_hint(&self) -> String {
        let endings = || self.by_ending.keys().map(String::as_str);
        if !formats::takes_whole(endings()) {
            return String::new();
        }
        let lines = if endings().any(|ending| ending.starts_with(".txt")) { LINES_HINT } else { "" };
        format!("; pass `whole-files` to read each text or page file as one document{lines}")
    }

    /// Returns a sentence for each unread file whose extension does not explain why it was not read, and sentences about folders written by
    /// dupsift.
    pub fn notes(&self) -> Vec<String> {
        let named = self.special.iter().take(MOST_NAMED);
        let mut notes: Vec<String> = named.map(|(path, why)| format!("{path} {why}")).collect();
        if self.special.len() > MOST_NAMED {
            notes.push(format!(
                "{files_are} not read for the same reasons",
                files_are = counted_as((self.special.len() - MOST_NAMED) as u64, "more file is|more files are")
            ));
        }
        notes.extend(self.skipped());
        let results = self.named.iter().filter(|(_, kind)| **kind != Ours::Pages);
        notes.extend(results.map(|(path, kind)| {
            format!(
                "{} is an output folder of dupsift ({}); it is read because it was passed as an input",
                path.display(),
                kind.word()
            )
        }));
        notes
    }
}

/// Writes a summary such as `12 files that are not read: .csv 3, .txt 9`.
impl fmt::Display for Unread {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files: u64 = self.by_ending.values().sum();
        let endings: Vec<String> = self.by_ending.iter().map(|(ending, count)| format!("{ending} {count}")).collect();
        let plural = if files == 1 { "file that is" } else { "files that are" };
        write!(out, "{files} {plural} not read: {}", endings.join(", "))
    }
}

/// Returns the file extension, including the compression extension.
fn ending(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let (_, stem) = Packing::of(&name);
    let packing = &name[stem.len()..];
    match stem.rsplit_once('.') {
        Some((before, last))
            if !before.is_empty()
                && (1..=LONGEST_ENDING).contains(&last.len())
                && last.bytes().all(|byte| byte.is_ascii_alphanumeric()) =>
        {
            format!(".{last}{packing}")
        }
        _ if !packing.is_empty() => packing.to_owned(),
        _ => "(no ending)".to_owned(),
    }
}

/// Returns the kind of a special file, which is skipped because reading it may never end; `None` for regular files. Also returns `None` if
/// metadata is unavailable; the error is reported when the file is opened.
pub(crate) fn special(path: &Path) -> Option<&'static str> {
    let kind = std::fs::metadata(path).ok()?.file_type();
    if kind.is_file() || kind.is_dir() {
        return None;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if kind.is_fifo() {
            return Some("a named pipe");
        }
        if kind.is_socket() {
            return Some("a socket");
        }
        if kind.is_block_device() || kind.is_char_device() {
            return Some("a device");
        }
    }
    Some("a special file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_counted_and_bounded() {
        for (name, expected) in [
            ("d.x/A.CSV", ".csv"),
            ("a.tar.gz", ".tar.gz"),
            ("a.gz", ".gz"),
            ("README", "(no ending)"),
            (".csv", "(no ending)"),
            ("a.with a blank", "(no ending)"),
            ("a.averyveryverylongpart", "(no ending)"),
        ] {
            assert_eq!(ending(Path::new(name)), expected, "{name}");
        }
        let other = |name: &str| Other { path: name.into(), label: name.to_owned(), why: None };
        let unread = Unread::of((0..250).map(|number| other(&format!("a.{number}"))));
        assert_eq!((unread.by_ending().len(), unread.by_ending().values().sum::<u64>()), (101, 250));
        assert_eq!(unread.by_ending()["(other endings)"], 150);
        let few = Unread::of(["a.csv", "b.csv", "c"].map(other).into_iter());
        assert_eq!(few.to_string(), "3 files that are not read: (no ending) 1, .csv 2");
    }
}
