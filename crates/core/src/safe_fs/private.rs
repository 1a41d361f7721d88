//! Accesses the files in private folders. A private folder belongs to this user, and nobody else may write to it.
//!
//! Private folders are created with mode 0700. Each function opens the folder without following a link, checks its owner and mode through
//! the handle, and creates, opens, renames or removes the file through the same handle. Therefore, a folder that another user prepared or
//! swapped in is refused, and a link inside the private folder is not followed. The parent folder, such as `/tmp`, may be writable by other
//! users.
//!
//! Some file systems have no owners and modes, or assign every file to one user (exFAT, NFS with `all_squash`). On such a file system, a
//! folder is accepted if its owner and mode match those of a newly created folder.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{AtFlags, CWD, Dev, Mode, OFlags, Stat, fchmod, fstat, mkdirat, openat, renameat, statat, unlinkat};
use rustix::process::geteuid;

/// The mode of a private folder.
const OWNER_ALONE: u32 = 0o700;
/// The write permissions for anyone but the owner.
const OTHERS_WRITE: Mode = Mode::WGRP.union(Mode::WOTH);

/// The private folders on file systems that do not record owners; each folder is identified by its device and inode numbers.
static KNOWN: Mutex<BTreeSet<(Dev, u64)>> = Mutex::new(BTreeSet::new());

fn known() -> MutexGuard<'static, BTreeSet<(Dev, u64)>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates a folder with mode 0700, regardless of the umask and of the parent's default access control list.
///
/// # Errors
/// Returns the operating system's error, or an error if the name exists.
pub fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(OWNER_ALONE).create(folder)?;
    // A umask such as 0277 also takes permissions from the owner. The folder may have been removed or replaced; no link is followed.
    if let Ok(handle) = open_folder(folder)
        && let Ok(there) = fstat(&handle)
        && there.st_uid == geteuid().as_raw()
        && Mode::from_raw_mode(there.st_mode) & Mode::from_raw_mode(0o777) != Mode::RWXU
    {
        let kept = Mode::from_raw_mode(there.st_mode) - Mode::from_raw_mode(0o777);
        // A file system without modes refuses the change.
        let _ = fchmod(&handle, kept | Mode::RWXU);
    }
    Ok(())
}

/// Creates a folder like [`make`], with a unique name that begins with this prefix. Returns its path.
///
/// # Errors
/// Returns the operating system's error.
pub fn make_in(parent: &Path, prefix: &str) -> io::Result<PathBuf> {
    let made = tempfile::Builder::new().prefix(prefix).make_in(parent, make)?;
    Ok(made.into_temp_path().keep()?)
}

/// Returns the reason why a folder is not private: it has a different owner, other users may write to it, or it is a link. Returns `None`
/// if the folder is private.
///
/// # Errors
/// Returns the operating system's error.
pub fn refusal(folder: &Path) -> io::Result<Option<String>> {
    let handle = match open_folder(folder) {
        Ok(handle) => handle,
        Err(rustix::io::Errno::NOTDIR | rustix::io::Errno::LOOP | rustix::io::Errno::MLINK) => {
            return Ok(Some("it is a link or is not a folder".to_owned()));
        }
        Err(error) if error == rustix::io::Errno::ACCESS => {
            return Ok(Some("the current user is not allowed to open it".to_owned()));
        }
        Err(error) => return Err(error.into()),
    };
    let there = fstat(&handle)?;
    let Some(why) = unfit(&there) else { return Ok(None) };
    if is_as_made_here(&handle, &there) {
        known().insert(identity(&there));
        return Ok(None);
    }
    Ok(Some(why))
}

/// Returns whether the file system gives a new folder more permissions than requested, which means that it does not support modes.
pub(super) fn keeps_no_rights(folder: &Path) -> io::Result<bool> {
    let handle = openat(CWD, folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    Ok(made_in(&handle).is_some_and(|made| others_write(&made)))
}

/// Creates a new file for reading and writing.
///
/// # Errors
/// Returns the operating system's error, or an error if the folder is not private or the name exists.
pub fn create_new(path: &Path) -> io::Result<File> {
    let (folder, name) = folder_of(path)?;
    Ok(openat(&folder, name, NEW, OWNER)?.into())
}

/// Creates a new file for reading and writing, replacing a file or link with the same name.
///
/// # Errors
/// Returns the same errors as [`create_new`], or an error if the name is a folder.
pub fn create(path: &Path) -> io::Result<File> {
    let (folder, name) = folder_of(path)?;
    loop {
        match openat(&folder, name, NEW, OWNER) {
            Err(rustix::io::Errno::EXIST) => match unlinkat(&folder, name, AtFlags::empty()) {
                Err(error) if error != rustix::io::Errno::NOENT => return Err(error.into()),
                _ => {}
            },
            made => return Ok(made?.into()),
        }
    }
}

/// Creates a new file and removes its name immediately, so that the file disappears no matter how the process ends.
///
/// # Errors
/// Returns the same errors as [`create`].
pub fn create_nameless(path: &Path) -> io::Result<File> {
    let file = create(path)?;
    remove(path)?;
    Ok(file)
}

/// Opens a file for reading.
///
/// # Errors
/// Returns the operating system's error, or an error if the folder is not private or the file is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    let (folder, name) = folder_of(path)?;
    regular(openat(&folder, name, OFlags::RDONLY | AS_IT_IS, Mode::empty())?.into())
}

/// Opens a file for reading and writing, or creates it. Refuses a file with a second name (a hard link), because the file may also be in
/// use elsewhere.
///
/// # Errors
/// Returns the same errors as [`open`].
pub fn open_or_create(path: &Path) -> io::Result<File> {
    let (folder, name) = folder_of(path)?;
    let file = regular(openat(&folder, name, OFlags::RDWR | OFlags::CREATE | AS_IT_IS, OWNER)?.into())?;
    match file.metadata()?.nlink() {
        0 | 1 => Ok(file),
        links => Err(io::Error::new(ErrorKind::InvalidInput, format!("the file has {links} hard links"))),
    }
}

/// Renames a file within its folder; a file with the new name is replaced.
///
/// # Errors
/// Returns the same errors as [`create_new`].
pub fn rename(path: &Path, name: &OsStr) -> io::Result<()> {
    let (folder, old) = folder_of(path)?;
    Ok(renameat(&folder, old, &folder, name)?)
}

/// Removes a file or link.
///
/// # Errors
/// Returns the same errors as [`create_new`], or an error for a folder.
pub fn remove(path: &Path) -> io::Result<()> {
    let (folder, name) = folder_of(path)?;
    Ok(unlinkat(&folder, name, AtFlags::empty())?)
}

/// Returns the file if it is a regular file, and an error otherwise.
pub(super) fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"))
}

const OWNER: Mode = Mode::RUSR.union(Mode::WUSR);
const NEW: OFlags =
    OFlags::RDWR.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// The flags for opening a file without following a link or waiting for the writer of a pipe.
const AS_IT_IS: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

fn open_folder(folder: &Path) -> rustix::io::Result<OwnedFd> {
    openat(CWD, folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

/// Returns the handle of a file's folder, which must be private, and the file's name in that folder.
fn folder_of(path: &Path) -> io::Result<(OwnedFd, &OsStr)> {
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let handle = open_folder(folder)?;
    let there = fstat(&handle)?;
    match unfit(&there) {
        Some(why) if !known().contains(&identity(&there)) => Err(io::Error::new(
            ErrorKind::PermissionDenied,
            format!("the folder {} can be accessed by other users: {why}", folder.display()),
        )),
        _ => Ok((handle, name)),
    }
}

fn identity(there: &Stat) -> (Dev, u64) {
    (there.st_dev, there.st_ino)
}

fn others_write(there: &Stat) -> bool {
    Mode::from_raw_mode(there.st_mode).intersects(OTHERS_WRITE)
}

/// Returns the reason why a folder is not private, or `None` if it is private.
fn unfit(there: &Stat) -> Option<String> {
    if there.st_uid != geteuid().as_raw() {
        Some(format!("it belongs to another user (user ID {})", there.st_uid))
    } else if others_write(there) {
        Some(format!("other users can write to it (mode {:04o})", Mode::from_raw_mode(there.st_mode).bits() & 0o7777))
    } else {
        None
    }
}

/// Compares a folder with a newly created folder on the same file system. Returns whether both folders have the same owner, and whether
/// other users can write to the folder only if they can also write to the new folder.
fn is_as_made_here(folder: &OwnedFd, there: &Stat) -> bool {
    made_in(folder).is_some_and(|made| {
        let says_nothing = others_write(&made);
        made.st_uid == there.st_uid && (says_nothing || !others_write(there))
    })
}

/// Returns the owner and mode that a new folder inside this folder gets. Briefly creates a folder, because a new file may get a different
/// owner and mode.
fn made_in(folder: impl AsFd) -> Option<Stat> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = format!("{}.{}.work", std::process::id(), NEXT.fetch_add(1, Relaxed));
    mkdirat(&folder, name.as_str(), Mode::RWXU).ok()?;
    let made = statat(&folder, name.as_str(), AtFlags::SYMLINK_NOFOLLOW).ok();
    let _ = unlinkat(&folder, name.as_str(), AtFlags::REMOVEDIR);
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn calls(path: &Path) -> Vec<io::Result<()>> {
        vec![
            create_new(path).map(drop),
            create(path).map(drop),
            create_nameless(path).map(drop),
            open(path).map(drop),
            open_or_create(path).map(drop),
            rename(path, OsStr::new("other")),
            remove(path),
        ]
    }

    #[test]
    fn a_folder_that_others_may_write_is_refused_by_every_call() {
        let place = tempfile::tempdir().expect("a folder");
        let (folder, link) = (place.path().join("work"), place.path().join("link"));
        make(&folder).expect("made");
        assert_eq!(folder.metadata().expect("there").mode() & 0o777, 0o700);
        assert_eq!(refusal(&folder).expect("looked at"), None);
        symlink(&folder, &link).expect("a link");
        assert!(refusal(&link).expect("looked at").expect("refused").contains("link"));
        assert!(calls(&link.join("file")).iter().all(Result::is_err));
        for (mode, fits) in [(0o755, true), (0o770, false), (0o702, false), (0o1777, false)] {
            fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).expect("set");
            assert_eq!(refusal(&folder).expect("looked at").is_none(), fits, "{mode:o}");
            if !fits {
                assert!(calls(&folder.join("file")).iter().all(Result::is_err), "{mode:o}");
            }
            assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 0, "{mode:o}");
        }
    }

    /// Checks a folder whose default access control list gives everybody all permissions, as a umask of 000 does.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_private_folder_is_private_below_any_folder() {
        let place = tempfile::tempdir().expect("a folder");
        // A version, and an entry each for the owner, the group and others: tag, permissions and no name.
        let entries = [1u16, 4, 32].map(|tag| [&tag.to_le_bytes()[..], &[7, 0], &[0xff; 4]].concat()).concat();
        let acl = [&2u32.to_le_bytes()[..], &entries].concat();
        let flags = rustix::fs::XattrFlags::empty();
        if rustix::fs::setxattr(place.path(), "system.posix_acl_default", &acl, flags).is_err() {
            eprintln!("skipped: the file system does not support access control lists");
            return;
        }
        let mode = |path: &Path| path.metadata().expect("there").mode() & 0o777;
        fs::create_dir(place.path().join("open")).expect("made");
        assert_eq!(mode(&place.path().join("open")), 0o777, "the list applies");
        let (named, unique) = (place.path().join("named"), make_in(place.path(), ".work-").expect("made"));
        make(&named).expect("made");
        for folder in [&named, &unique, &make_in(&unique, "a-").expect("made")] {
            assert_eq!((mode(folder), refusal(folder).expect("looked at")), (0o700, None));
        }
        assert!(unique.file_name().expect("a name").to_string_lossy().starts_with(".work-"));
        assert_ne!(make_in(place.path(), ".work-").expect("made"), unique);
    }

    #[test]
    fn no_link_in_the_folder_is_followed() {
        let place = tempfile::tempdir().expect("a folder");
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o700)).expect("set");
        let at = |name: &str| place.path().join(name);
        fs::write(at("victim"), "mine").expect("written");
        let links = || {
            let _ = fs::remove_file(at("link"));
            let _ = fs::remove_file(at("hard"));
            symlink(at("victim"), at("link")).expect("a link");
            fs::hard_link(at("victim"), at("hard")).expect("a link");
        };
        links();
        for name in ["link", "hard"] {
            assert!(create_new(&at(name)).is_err() && open_or_create(&at(name)).is_err(), "{name}");
        }
        assert!(open(&at("link")).is_err() && open(&at("hard")).is_ok());
        for name in ["link", "hard"] {
            io::Write::write_all(&mut create(&at(name)).expect("made"), b"new").expect("written");
        }
        links();
        rename(&at("link"), OsStr::new("moved")).expect("renamed");
        remove(&at("moved")).expect("removed");
        assert_eq!(fs::read(at("victim")).expect("there"), b"mine");
    }
}
