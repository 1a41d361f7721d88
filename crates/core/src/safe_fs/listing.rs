//! Looks at paths and lists folders without hiding an error.
//!
//! `Path::exists` and its relatives answer "no" if the file system cannot answer, for example because a disk fails or a server does not
//! respond. A missing folder and an unreadable folder have different consequences, so [`look`] returns the error. The standard library also
//! panics if a folder cannot be closed after it was listed; [`entries`] and [`remove_all`] do not.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat, unlinkat};
use rustix::io::Errno;

use crate::error::{self, Error};

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name of the entry.
    pub name: OsString,
    kind: FileType,
}

impl Entry {
    /// Returns whether the entry is known to be a folder; links are not followed.
    pub fn is_dir(&self) -> bool {
        self.kind == FileType::Directory
    }

    /// Returns whether the entry is a link, or if the file system does not say what it is.
    pub fn may_be_link(&self) -> bool {
        matches!(self.kind, FileType::Symlink | FileType::Unknown)
    }
}

/// Returns the metadata of the file or folder at a path, and follows links. Returns `None` if nothing is there, which includes a dangling
/// link and a path that no file can have.
///
/// # Errors
/// Returns the operating system's error if it cannot tell whether something is there.
pub fn look(path: &Path) -> io::Result<Option<Metadata>> {
    found(fs::metadata(path))
}

/// Works like [`look`], but does not follow a link at the end of the path.
///
/// # Errors
/// Returns the same errors as [`look`].
pub fn look_at_link(path: &Path) -> io::Result<Option<Metadata>> {
    found(fs::symlink_metadata(path))
}

fn found(looked: io::Result<Metadata>) -> io::Result<Option<Metadata>> {
    match looked {
        Ok(there) => Ok(Some(there)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns whether an error says that nothing is at a path.
pub fn is_absent(error: &io::Error) -> bool {
    use ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | InvalidFilename | InvalidInput)
}

/// Returns whether a folder is at a path, and follows links.
///
/// # Errors
/// Returns the error of [`look`] with the path.
pub fn is_folder(path: &Path) -> error::Result<bool> {
    Ok(look(path).map_err(Error::reading("look at", path))?.is_some_and(|there| there.is_dir()))
}

/// Returns whether a regular file is at a path, and follows links.
///
/// # Errors
/// Returns the error of [`look`] with the path.
pub fn is_file(path: &Path) -> error::Result<bool> {
    Ok(look(path).map_err(Error::reading("look at", path))?.is_some_and(|there| there.is_file()))
}

/// Returns whether anything is at a path, even a dangling link.
///
/// # Errors
/// Returns the error of [`look_at_link`] with the path.
pub fn is_there(path: &Path) -> error::Result<bool> {
    Ok(look_at_link(path).map_err(Error::reading("look at", path))?.is_some())
}

/// Returns the entries of a folder, in the order of the file system.
///
/// # Errors
/// Returns the operating system's error.
pub fn entries(folder: &Path) -> io::Result<Vec<Entry>> {
    Ok(listed(Dir::new(openat(CWD, folder, FOLDER, Mode::empty())?)?)?)
}

/// Returns the names in a folder, in the order of the file system.
///
/// # Errors
/// Returns the operating system's error.
pub fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    Ok(entries(folder)?.into_iter().map(|entry| entry.name).collect())
}

/// Removes a folder and everything in it. A link is removed, and what it leads to is kept.
///
/// # Errors
/// Returns the operating system's error.
pub fn remove_all(path: &Path) -> io::Result<()> {
    Ok(remove_in(CWD, path.as_os_str())?)
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

fn listed(folder: Dir) -> rustix::io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for entry in folder {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            entries.push(Entry { name: OsString::from_vec(name.to_vec()), kind: entry.file_type() });
        }
    }
    Ok(entries)
}

fn remove_in(parent: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<()> {
    let folder = match openat(parent, name, FOLDER | OFlags::NOFOLLOW, Mode::empty()) {
        Err(Errno::NOTDIR | Errno::LOOP | Errno::MLINK) => return unlinkat(parent, name, AtFlags::empty()),
        opened => opened?,
    };
    // The list has a handle of its own, because the handle of the folder is needed until its entries are removed.
    for entry in listed(Dir::read_from(&folder)?)? {
        let kind = match entry.kind {
            FileType::Unknown => {
                let there = statat(&folder, &entry.name, AtFlags::SYMLINK_NOFOLLOW);
                there.map_or(FileType::Unknown, |there| FileType::from_raw_mode(there.st_mode))
            }
            known => known,
        };
        let removed = match kind {
            FileType::Directory => remove_in(folder.as_fd(), &entry.name),
            _ => unlinkat(&folder, &entry.name, AtFlags::empty()),
        };
        match removed {
            // Another process may have removed the entry in the meantime.
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error),
        }
    }
    unlinkat(parent, name, AtFlags::REMOVEDIR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_is_not_there_and_what_cannot_be_looked_at_differ() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "x").expect("written");
        symlink(at("gone"), at("dangling")).expect("a link");
        symlink(at("loop"), at("loop")).expect("a link");
        for absent in ["none", "file/below", "dangling", &"x".repeat(300)] {
            assert!(look(&at(absent)).expect("an answer").is_none(), "{absent}");
        }
        assert!(look_at_link(&at("dangling")).expect("an answer").is_some());
        assert!(is_file(&at("file")).expect("an answer") && !is_folder(&at("file")).expect("an answer"));
        assert_eq!(look(&at("loop")).expect_err("no answer").raw_os_error(), Some(libc::ELOOP));
        for code in [libc::EIO, libc::ESTALE, libc::EACCES] {
            assert_eq!(
                found(Err(io::Error::from_raw_os_error(code))).expect_err("no answer").raw_os_error(),
                Some(code)
            );
        }
    }

    #[test]
    fn a_folder_is_listed_and_removed_without_what_its_links_lead_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a/b/c")).expect("folders");
        fs::create_dir_all(at("mine")).expect("a folder");
        for name in ["a/x", "a/b/c/y", "mine/z"] {
            fs::write(at(name), "x").expect("written");
        }
        symlink(at("mine"), at("a/b/link")).expect("a link");
        let mut listed = entries(&at("a/b")).expect("listed");
        listed.sort_by(|a, b| a.name.cmp(&b.name));
        let listed: Vec<_> = listed.iter().map(|entry| (&*entry.name, entry.is_dir(), entry.may_be_link())).collect();
        assert_eq!(listed, [(OsStr::new("c"), true, false), (OsStr::new("link"), false, true)]);
        assert_eq!(entries(&at("none")).expect_err("nothing").kind(), ErrorKind::NotFound);
        assert_eq!(remove_all(&at("none")).expect_err("nothing").kind(), ErrorKind::NotFound);
        remove_all(&at("a")).expect("removed");
        assert_eq!(names(folder.path()).expect("listed"), ["mine"]);
        assert!(at("mine/z").is_file());
        symlink(at("mine"), at("link")).expect("a link");
        remove_all(&at("link")).expect("removed");
        assert!(at("mine/z").is_file() && !at("link").is_symlink());
    }
}
