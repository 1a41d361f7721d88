//! Creates and opens files safely: a name prepared by another user cannot redirect access to a different file.
//!
//! In a folder to which other users may write, a name can be a link to any file. Therefore, functions that write never follow a link at the
//! end of a path. They create new files exclusively (`O_EXCL`), replacing any file or link with the same name, and they open only regular
//! files. Functions that read results and indexes follow links ([`open_behind_link`]). Temporary folders belong to the current user alone;
//! the functions in [`private`] access their files. Clippy rejects the functions of the standard library that open any kind of file
//! (`clippy.toml`).

pub mod listing;
pub mod private;
mod readers;

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

pub use readers::Readers;

use crate::error::{self, Error};

/// The maximum size, in bytes, of a record, a manifest or a ledger; such files are read into memory completely.
pub const MOST_JSON: u64 = 1 << 30;

/// Creates a new file for reading and writing, replacing a file or link with the same name.
///
/// # Errors
/// Returns the operating system's error, or an error if the name is a folder.
pub fn create(path: &Path) -> io::Result<File> {
    loop {
        match create_new(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => match fs::remove_file(path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            },
            made => return made,
        }
    }
}

/// Creates a new file for reading and writing.
///
/// # Errors
/// Returns the operating system's error, or an error if the name exists, even if it is a dangling link.
pub fn create_new(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).create_new(true).open(path)
}

/// Writes a complete new file, replacing a file or link with the same name.
///
/// # Errors
/// Returns the same errors as [`create`].
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    io::Write::write_all(&mut create(path)?, bytes)
}

/// Writes a complete new file, replacing a file or link with the same name, and makes its content durable; [`sync_folder`] makes the
/// name durable.
///
/// # Errors
/// Returns the same errors as [`create`].
pub fn write_durably(path: &Path, bytes: &[u8]) -> error::Result<()> {
    let mut file = create(path).map_err(Error::io("create", path))?;
    io::Write::write_all(&mut file, bytes).and_then(|()| file.sync_all()).map_err(Error::io("write", path))
}

/// Makes the names in a folder durable.
///
/// # Errors
/// Returns the operating system's error.
pub fn sync_folder(folder: &Path) -> error::Result<()> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some file systems make folders durable in their own way and reject this call.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        other => other.map_err(Error::io("write the folder", folder)),
    }
}

/// Copies a file to a new file, replacing a file or link with the same name. Users who may not read the file may not read the copy. Returns
/// the number of bytes copied.
///
/// # Errors
/// Returns the same errors as [`create`].
pub fn copy(from: &Path, to: &Path) -> io::Result<u64> {
    let mut file = File::open(from)?;
    let mut new = create(to)?;
    let bytes = io::copy(&mut file, &mut new)?;
    // A file system without permissions refuses to change them.
    let _ = Readers::of_open(&file).limit(&new);
    Ok(bytes)
}

/// Opens a regular file for reading. Does not follow a link and does not wait for a pipe.
///
/// # Errors
/// Returns the operating system's error, or an error for anything but a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    private::regular(File::options().read(true).custom_flags(flags).open(path)?)
}

/// Opens a regular file for reading and follows links: the files of a result or an index may be links, as in dataset caches. Does not
/// wait for a pipe.
///
/// # Errors
/// Returns the operating system's error, or an error for anything but a regular file.
pub fn open_behind_link(path: &Path) -> io::Result<File> {
    private::regular(File::options().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)?)
}

/// Opens a regular file for reading and writing, or creates it. Does not follow a link.
///
/// # Errors
/// Returns the same errors as [`open`].
pub fn open_or_create(path: &Path) -> io::Result<File> {
    let flags = (OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    private::regular(File::options().read(true).write(true).custom_flags(flags).open(path)?)
}

/// Reads a complete regular file of at most `most` bytes, and follows links.
///
/// # Errors
/// Returns the same errors as [`open_behind_link`], or an error for a longer file.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    all_of(&open_behind_link(path)?, most)
}

/// Reads the first `most` bytes of a regular file, and follows links.
///
/// # Errors
/// Returns the same errors as [`open_behind_link`].
pub fn read_beginning(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_behind_link(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a complete file like [`read`], and returns it as UTF-8 text.
///
/// # Errors
/// Returns the same errors as [`read`], or an error if the bytes are not UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

/// Reads a complete open file of at most `most` bytes.
///
/// # Errors
/// Returns the same errors as [`read`].
pub fn all_of(file: &File, most: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    let too_long =
        |length: u64| io::Error::new(ErrorKind::InvalidData, format!("it has {length} bytes; expected at most {most}"));
    if length > most {
        return Err(too_long(length));
    }
    let mut bytes = Vec::new();
    // The file may grow between the check and the read.
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_long(bytes.len() as u64)) } else { Ok(bytes) }
}

/// Creates a folder and its parents if they do not exist; a new folder is not world-writable, regardless of the umask.
///
/// # Errors
/// Returns the operating system's error.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    let is_new = !folder.is_dir();
    fs::create_dir_all(folder)?;
    let mode = folder.metadata()?.mode() & 0o7777;
    if is_new && mode & 0o002 != 0 {
        // Setting permissions fails on file systems that do not support them.
        let _ = fs::set_permissions(folder, fs::Permissions::from_mode(mode & !0o002));
    }
    Ok(())
}

/// Gives a private folder, and the files and folders in it, the permissions of the parent folder; files only those that these readers may
/// have. Folders also get the parent's setgid bit, which assigns their contents to the parent's group.
///
/// # Errors
/// Returns the operating system's error; a file system without permissions may refuse to change them.
pub fn share(folder: &Path, readers: &Readers) -> io::Result<()> {
    let above = folder.parent().map_or(Ok(0), |above| Ok::<u32, io::Error>(above.metadata()?.mode() & 0o2777))?;
    share_as(folder, above, readers)
}

fn share_as(folder: &Path, mode: u32, readers: &Readers) -> io::Result<()> {
    let set = |path: &Path, mode: u32| _ = fs::set_permissions(path, fs::Permissions::from_mode(mode));
    for name in listing::names(folder)? {
        let path = folder.join(name);
        let kind = path.symlink_metadata()?;
        if kind.is_dir() {
            share_as(&path, mode, readers)?;
        } else if kind.is_file() {
            let allowed = readers.allowed(kind.gid());
            set(&path, mode & 0o666 & allowed | 0o600);
        }
    }
    set(folder, mode | 0o700);
    Ok(())
}

/// Returns the reason why a folder must not be used for writing: all users may write to it and may have created its contents. Returns
/// `None` if the folder may be used or if the file system does not support permissions.
///
/// # Errors
/// Returns the operating system's error.
pub fn open_to_all(folder: &Path) -> io::Result<Option<String>> {
    let mode = folder.metadata()?.mode();
    if mode & 0o002 == 0 || private::keeps_no_rights(folder)? {
        return Ok(None);
    }
    Ok(Some(format!("every user can write to it (mode {:04o})", mode & 0o7777)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_is_replaced_and_what_it_leads_to_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("victim"), "mine").expect("written");
        symlink(at("victim"), at("link")).expect("a link");
        symlink(at("gone"), at("dangling")).expect("a link");
        fs::hard_link(at("victim"), at("hard")).expect("a link");
        fs::write(at("source"), "new").expect("written");
        for name in ["link", "dangling", "hard"] {
            assert!(open_or_create(&at(name)).is_err() || name == "hard", "{name}");
            assert!(create_new(&at(name)).is_err(), "{name}");
            match name {
                "dangling" => assert_eq!(copy(&at("source"), &at(name)).expect("copied"), 3),
                _ => write(&at(name), b"new").expect("written"),
            }
            assert_eq!(fs::read(at(name)).expect("there"), b"new", "{name}");
        }
        assert_eq!(fs::read(at("victim")).expect("there"), b"mine");
        assert!(!at("gone").exists());
    }

    #[test]
    fn only_regular_files_of_a_plausible_length_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "1234").expect("written");
        symlink(at("file"), at("link")).expect("a link");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            at("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .expect("a pipe");
        assert!(open(&at("file")).is_ok() && open(&at("link")).is_err() && open(&at("pipe")).is_err());
        assert!(open(folder.path()).is_err());
        assert!(open_behind_link(&at("link")).is_ok() && open_behind_link(folder.path()).is_err());
        // No function waits for a pipe, even if a link leads to the pipe.
        symlink(at("pipe"), at("to-pipe")).expect("a link");
        for name in ["pipe", "to-pipe"] {
            assert!(open_behind_link(&at(name)).is_err() && read(&at(name), 4).is_err(), "{name}");
            assert!(read_beginning(&at(name), 4).is_err(), "{name}");
        }
        assert_eq!(read_beginning(&at("link"), 3).expect("read"), b"123");
        assert_eq!(read(&at("link"), 4).expect("read"), b"1234");
        assert!(read(&at("file"), 3).expect_err("too long").to_string().contains("4 bytes; expected at most 3"));
        // A sparse file has a nominal size of 1 TiB.
        File::options().write(true).open(at("file")).and_then(|file| file.set_len(1 << 40)).expect("made longer");
        assert!(read(&at("file"), MOST_JSON).is_err());
    }

    #[test]
    fn all_that_is_below_a_shared_folder_is_shared() {
        let place = tempfile::tempdir().expect("a folder");
        let at = |name: &str| place.path().join(name);
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
        fs::create_dir_all(at("s-1/stats/models")).expect("folders");
        fs::write(at("s-1/stats/models/lsi.parquet"), "").expect("written");
        symlink(at("s-1/stats"), at("s-1/link")).expect("a link");
        for name in ["s-1/stats/models/lsi.parquet", "s-1/stats/models", "s-1/stats", "s-1"] {
            set(&at(name), 0o700);
        }
        set(place.path(), 0o2755);
        share(&at("s-1"), &Readers::default()).expect("shared");
        let mode = |name: &str| at(name).metadata().expect("there").mode() & 0o7777;
        for name in ["s-1", "s-1/stats", "s-1/stats/models"] {
            assert_eq!(mode(name), 0o2755, "{name}");
        }
        assert_eq!(mode("s-1/stats/models/lsi.parquet"), 0o644);
        fs::write(at("input"), "").expect("written");
        set(&at("input"), 0o600);
        share(&at("s-1"), &Readers::of([&*at("input")])).expect("shared");
        assert_eq!((mode("s-1/stats"), mode("s-1/stats/models/lsi.parquet")), (0o2755, 0o600));
    }

    #[test]
    fn a_folder_that_everybody_may_write_is_reported() {
        let folder = tempfile::tempdir().expect("a folder");
        let set = |mode| fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).expect("set");
        for (mode, told) in [(0o755, false), (0o775, false), (0o777, true), (0o1777, true)] {
            set(mode);
            assert_eq!(open_to_all(folder.path()).expect("looked at").is_some(), told, "{mode:o}");
        }
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0, "nothing stays");
    }
}
