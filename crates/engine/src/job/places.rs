//! Finds the current locations of the files and folders listed in a record.

use std::path::{Path, PathBuf};

use super::run_report::{InputReport, RunReport};
use dupsift_input::{Stamp, absolute};

impl RunReport {
    /// Returns the possible current paths of a recorded path, most likely first. `dir` is the current folder of the result. The possible
    /// paths are the same location relative to the result (if both were moved or copied together), the recorded path, and the same location
    /// relative to the working directory.
    pub fn places(&self, recorded: &str, dir: &Path) -> Vec<PathBuf> {
        let recorded = Path::new(&self.folder).join(recorded);
        let (out, here) = (self.options.get("out").and_then(|out| out.as_str()), absolute(dir));
        let beside = out.and_then(|out| moved(&recorded, Path::new(out).parent()?, here.parent()?));
        let at_hand = std::env::current_dir().ok().and_then(|here| moved(&recorded, Path::new(&self.folder), &here));
        let mut places: Vec<PathBuf> = Vec::new();
        for place in beside.into_iter().chain([recorded]).chain(at_hand) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }

    /// Returns the current path of an input file from this record. `dir` is the current folder of the result. Only a file with the recorded
    /// size is accepted, because there may be a different corpus next to a copied result. A file with the recorded stamp is preferred,
    /// followed by the file at the recorded path. Returns `None` if no file is accepted.
    pub fn input_file(&self, file: &InputReport, dir: &Path) -> Option<PathBuf> {
        let recorded = Path::new(&self.folder).join(&file.path);
        let mut there = self.places(&file.path, dir);
        there.retain(|place| place.metadata().is_ok_and(|there| there.is_file() && there.len() == file.bytes));
        let is_stamped = |place: &Path| Stamp::of(place).is_ok_and(|stamp| stamp.to_string() == file.stamp);
        there.into_iter().min_by_key(|place| (!is_stamped(place), *place != recorded))
    }

    /// Returns the current path of a file or folder that an option specifies: the recorded path if it exists, and otherwise the first
    /// possible path that exists. `dir` is the current folder of the result. Returns `None` if no possible path exists.
    pub fn option_path(&self, recorded: &str, dir: &Path) -> Option<PathBuf> {
        let first = Path::new(&self.folder).join(recorded);
        std::iter::once(first).chain(self.places(recorded, dir)).find(|place| place.exists())
    }
}

/// Returns the new location of `path` after the folder `from` was moved to `to`. If both paths end with the same names, the folder above
/// these names counts as the folder that was moved. Returns `None` if `path` is not in the folder that was moved.
fn moved(path: &Path, from: &Path, to: &Path) -> Option<PathBuf> {
    let (mut from, mut to) = (from.components(), to.components());
    loop {
        let (above_from, above_to) = (from.clone().next_back(), to.clone().next_back());
        if above_from.is_none() || above_from != above_to {
            break;
        }
        (_, _) = (from.next_back(), to.next_back());
    }
    Some(to.as_path().join(path.strip_prefix(from.as_path()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_moves_with_the_folder_above_it() {
        let moved = |path: &str, from: &str, to: &str| moved(Path::new(path), Path::new(from), Path::new(to));
        let is = |path: &str| Some(PathBuf::from(path));
        assert_eq!(moved("/a/corpus/x.jsonl", "/a", "/b"), is("/b/corpus/x.jsonl"));
        assert_eq!(
            moved("/a/corpus/x.jsonl", "/a/results/of/today", "/b/c/results/of/today"),
            is("/b/c/corpus/x.jsonl")
        );
        assert_eq!(moved("/data/x.jsonl", "/data/out", "/mnt/disk/data/out"), is("/mnt/disk/data/x.jsonl"));
        assert_eq!(moved("/a/x.jsonl", "/a", "/a"), is("/a/x.jsonl"));
        assert_eq!(moved("/elsewhere/x.jsonl", "/a", "/b"), None);
    }

    #[test]
    fn an_input_is_the_file_that_was_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["a", "b"] {
            std::fs::create_dir(at(name)).unwrap();
        }
        let options = [("out".to_owned(), at("a/out").to_string_lossy().into_owned().into())].into();
        let report = RunReport { folder: at("a").to_string_lossy().into_owned(), options, ..RunReport::default() };
        let write = |name: &str, text: &str| std::fs::write(at(name), text).unwrap();
        write("a/x", "four");
        let mut file = InputReport { path: "x".into(), bytes: 4, ..InputReport::default() };
        let copy = at("b/out");
        // The corpus next to the copy has a different size or stamp.
        write("b/x", "longer");
        assert_eq!(report.input_file(&file, &copy), Some(at("a/x")));
        write("b/x", "else");
        assert_eq!(report.input_file(&file, &copy), Some(at("a/x")));
        file.stamp = Stamp::of(&at("b/x")).unwrap().to_string();
        assert_eq!(report.input_file(&file, &copy), Some(at("b/x")));
        std::fs::remove_file(at("a/x")).unwrap();
        file.stamp.clear();
        assert_eq!(report.input_file(&file, &copy), Some(at("b/x")));
        write("b/x", "longer");
        assert_eq!(report.input_file(&file, &copy), None);
        assert_eq!(report.option_path("x", &copy), Some(at("b/x")));
        write("a/x", "");
        assert_eq!(report.option_path("x", &copy), Some(at("a/x")));
    }

    #[test]
    fn a_record_has_three_places_at_most() {
        let options = [("out".to_owned(), "/a/out".into())].into();
        let report = RunReport { folder: "/w".into(), options, ..RunReport::default() };
        let here = std::env::current_dir().unwrap();
        assert_eq!(report.places("/a/x", Path::new("/a/renamed")), [PathBuf::from("/a/x")]);
        assert_eq!(report.places("/a/x", Path::new("/b/out")), ["/b/x", "/a/x"].map(PathBuf::from));
        assert_eq!(report.places("/w/x", Path::new("/a/out")), [PathBuf::from("/w/x"), here.join("x")]);
        // Recorded relative paths are relative to the folder of the run.
        assert_eq!(report.places("x", Path::new("/a/out"))[0], PathBuf::from("/w/x"));
    }
}
