//! Shortens the paths of written files that would be too long for the file system of the output.

use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

/// The maximum length of a name if the file system does not say, in bytes.
const MOST_NAME: usize = 255;
/// The maximum length of a path, in bytes, including the closing NUL.
const MOST_PATH: usize = 4096;
/// The maximum length of an ending, and the number of endings, such as `.jsonl.gz.parquet`.
const ENDING: (usize, usize) = (10, 3);

/// The maximum lengths of names and of relative paths below a folder, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fitting {
    name: usize,
    path: usize,
}

impl Fitting {
    /// Returns the limits of the file system for files below an existing folder.
    pub(crate) fn below(folder: &Path) -> Fitting {
        let most = rustix::fs::statvfs(folder).map_or(MOST_NAME, |there| there.f_namemax as usize);
        let above = std::path::absolute(folder).map_or(0, |folder| folder.as_os_str().len());
        // Some file systems report no limit.
        let name = if most == 0 { MOST_NAME } else { most.clamp(64, MOST_NAME) };
        Fitting { name, path: MOST_PATH.saturating_sub(above + 2) }
    }

    /// Returns a relative path, or a shortened one if it is too long. Each name that is too long keeps its beginning and its ending, and
    /// gets a hash of the path. If the path as a whole is too long, the file is placed directly below its first folder.
    pub(crate) fn fit(self, path: &str) -> String {
        let hash = format!("-{:016x}", xxh3_64(path.as_bytes()));
        let names = path
            .split('/')
            .map(|name| if name.len() > self.name { short(name, &hash, self.name) } else { name.to_owned() });
        let fitted = names.collect::<Vec<_>>().join("/");
        if fitted.len() <= self.path {
            return fitted;
        }
        let (folder, _) = path.split_once('/').unwrap_or(("", path));
        let name = path.rsplit('/').next().unwrap_or(path);
        let room = self.path.saturating_sub(folder.len() + 1).min(self.name);
        format!("{folder}/{}", short(name, &hash, room))
    }
}

/// Shortens a name to a length.
fn short(name: &str, hash: &str, most: usize) -> String {
    let is_ending = |part: &str| {
        (1..ENDING.0).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let mut stem = name;
    for _ in 0..ENDING.1 {
        match stem.rsplit_once('.') {
            Some((before, ending)) if !before.is_empty() && is_ending(ending) => stem = before,
            _ => break,
        }
    }
    let ending = &name[stem.len()..];
    let room = most.saturating_sub(hash.len() + ending.len());
    let begins = stem.floor_char_boundary(room.min(stem.len()));
    format!("{}{hash}{ending}", &stem[..begins])
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISK: Fitting = Fitting { name: 255, path: 4000 };

    #[test]
    fn a_path_that_fits_stays() {
        let long = format!("deduped/{}.jsonl", "x".repeat(249));
        for path in ["deduped/a.jsonl", "attributes/lang=ru/a.jsonl.gz.parquet", &long] {
            assert_eq!(DISK.fit(path), path);
        }
    }

    #[test]
    fn a_long_name_keeps_its_beginning_and_its_ending() {
        let path = format!("attributes/{}.jsonl.gz.parquet", "x".repeat(242));
        let fitted = DISK.fit(&path);
        let name = fitted.strip_prefix("attributes/").expect("the same folder");
        assert_eq!(name.len(), 255);
        assert!(name.starts_with("xxx") && name.ends_with(".jsonl.gz.parquet"), "{name}");
        // Names that begin and end alike are distinct.
        let other = DISK.fit(&path.replace("x.jsonl", "y.jsonl"));
        assert!(other != fitted && other.len() == fitted.len(), "{other}");
        assert_eq!(DISK.fit(&path), fitted);
    }

    #[test]
    fn letters_are_not_cut_and_every_name_fits() {
        for letter in ["я", "文", "😀", "x"] {
            for ending in ["", ".jsonl", ".x.y", ".", &format!(".{}", "z".repeat(40)), ".a.b.c.d"] {
                let fitted = DISK.fit(&format!("dropped/{}/{}{ending}", letter.repeat(300), letter.repeat(251)));
                assert!(fitted.split('/').all(|name| (1..=255).contains(&name.len())), "{fitted}");
                assert_eq!(fitted.split('/').count(), 3, "{fitted}");
            }
        }
        let small = Fitting { name: 64, path: 200 };
        assert!(small.fit(&format!("deduped/{}.jsonl", "文".repeat(60))).len() <= 8 + 64);
    }

    #[test]
    fn a_deep_path_is_placed_in_the_first_folder() {
        let deep = format!("deduped/{}/a.jsonl", vec!["folder"; 700].join("/"));
        let fitted = DISK.fit(&deep);
        assert!(fitted.starts_with("deduped/a-") && fitted.ends_with(".jsonl"), "{fitted}");
        assert_eq!(fitted.split('/').count(), 2);
    }

    #[test]
    fn a_folder_has_limits() {
        let folder = tempfile::tempdir().expect("a folder");
        let fitting = Fitting::below(folder.path());
        let name = fitting.fit(&"x".repeat(400));
        std::fs::write(folder.path().join(&name), "").expect("it fits");
        assert!(std::fs::write(folder.path().join("x".repeat(400)), "").is_err());
    }
}
