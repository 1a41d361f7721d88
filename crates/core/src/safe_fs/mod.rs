//! How files of ours are made and opened, so that a name that another user prepared leads nowhere else.
//!
//! A name in a folder that others may write can be a link to a file of somebody's. So nothing here that writes follows a link at the end
//! of a path: a new file is made exclusively (`O_EXCL`), in place of what stood under its name, and a file that is opened has to be a
//! regular one. Readers of results and indexes follow links ([`open_behind_link`]).
//! Work folders are ours alone besides: [`private`] has every call that a file of theirs goes through. Clippy refuses the calls of the
//! standard library that open what they find (`clippy.toml`).

pub mod private;

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

use crate::error::{self, Error};

/// Bytes of a record, a manifest or a ledger, at most: such files are read into memory as a whole.
pub const MOST_JSON: u64 = 1 << 30;

/// Makes a new file for reading and writing, in place of a file or link under that name.
///
/// # Errors
/// Returns the error of the system, or an error for a folder under that name.
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

/// Makes a new file for reading and writing.
///
/// # Errors
/// Returns the error of the system, or an error for anything under that name, a dangling link too.
pub fn create_new(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).create_new(true).open(path)
}

/// Writes a whole new file, in place of a file or link under that name.
///
/// # Errors
/// As [`create`].
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    io::Write::write_all(&mut create(path)?, bytes)
}

/// Writes a whole new file, in place of a file or link under that name, and makes it durable; its name is durable by [`sync_folder`].
///
/// # Errors
/// As [`create`].
pub fn write_durably(path: &Path, bytes: &[u8]) -> error::Result<()> {
    let mut file = create(path).map_err(Error::io("create", path))?;
    io::Write::write_all(&mut file, bytes).and_then(|()| file.sync_all()).map_err(Error::io("write", path))
}

/// Makes the names in a folder durable.
///
/// # Errors
/// Returns the error of the system.
pub fn sync_folder(folder: &Path) -> error::Result<()> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some file systems make folders durable in their own way and refuse this call.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        other => other.map_err(Error::io("write the folder", folder)),
    }
}

/// Copies a file with its permissions to a new one, in place of a file or link under that name; returns its bytes.
///
/// # Errors
/// As [`create`].
pub fn copy(from: &Path, to: &Path) -> io::Result<u64> {
    let mut file = File::open(from)?;
    let mut new = create(to)?;
    let bytes = io::copy(&mut file, &mut new)?;
    new.set_permissions(fs::Permissions::from_mode(file.metadata()?.mode() & 0o777))?;
    Ok(bytes)
}

/// Opens a regular file for reading. A link is not followed, and a pipe is not waited for.
///
/// # Errors
/// Returns the error of the system, or an error for anything but a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    private::regular(File::options().read(true).custom_flags(flags).open(path)?)
}

/// Opens a regular file for reading, also behind a link: readers of a result or an index may have it as links, as caches of datasets do. A
/// pipe is not waited for.
///
/// # Errors
/// Returns the error of the system, or an error for anything but a regular file.
pub fn open_behind_link(path: &Path) -> io::Result<File> {
    private::regular(File::options().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)?)
}

/// Opens a regular file for reading and writing, or makes it. A link is not followed.
///
/// # Errors
/// As [`open`].
pub fn open_or_create(path: &Path) -> io::Result<File> {
    let flags = (OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    private::regular(File::options().read(true).write(true).custom_flags(flags).open(path)?)
}

/// Reads a whole regular file, which has to be no longer than `most`; a link is followed.
///
/// # Errors
/// As [`open_behind_link`]; a longer file.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    all_of(&open_behind_link(path)?, most)
}

/// Reads the beginning of a regular file, `most` bytes of it; a link is followed.
///
/// # Errors
/// As [`open_behind_link`].
pub fn read_beginning(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_behind_link(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The same of a text in UTF-8.
///
/// # Errors
/// As [`read`]; bytes that are no text.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

/// Reads a whole open file, which has to be no longer than `most`.
///
/// # Errors
/// As [`read`].
pub fn all_of(file: &File, most: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    let too_long =
        |length: u64| io::Error::new(ErrorKind::InvalidData, format!("it has {length} bytes; expected at most {most}"));
    if length > most {
        return Err(too_long(length));
    }
    let mut bytes = Vec::new();
    // It may have grown since.
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_long(bytes.len() as u64)) } else { Ok(bytes) }
}

/// Makes a folder and those above it, where it is not there; a new one is not writable for everybody, whatever the umask says.
///
/// # Errors
/// Returns the error of the system.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    let is_new = !folder.is_dir();
    fs::create_dir_all(folder)?;
    let mode = folder.metadata()?.mode() & 0o7777;
    if is_new && mode & 0o002 != 0 {
        // A file system that keeps no modes refuses.
        let _ = fs::set_permissions(folder, fs::Permissions::from_mode(mode & !0o002));
    }
    Ok(())
}

/// Gives a folder that was this user's alone, and the files and folders below it, the rights that the folder above has; folders that it
/// makes belong to the group that the folder above names, if that says so.
///
/// # Errors
/// What the system says of the folders; a file system that keeps no modes may refuse to change them.
pub fn share(folder: &Path) -> io::Result<()> {
    let above = folder.parent().map_or(Ok(0), |above| Ok::<u32, io::Error>(above.metadata()?.mode() & 0o2777))?;
    share_as(folder, above)
}

fn share_as(folder: &Path, mode: u32) -> io::Result<()> {
    let set = |path: &Path, mode: u32| _ = fs::set_permissions(path, fs::Permissions::from_mode(mode));
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            share_as(&entry.path(), mode)?;
        } else if kind.is_file() {
            set(&entry.path(), mode & 0o666 | 0o600);
        }
    }
    set(folder, mode | 0o700);
    Ok(())
}

/// Why a folder that is to be written may not be: everybody may write it, so what lies in it may be anybody's. `None` if it may, and on
/// a file system that keeps no permissions.
///
/// # Errors
/// Returns the error of the system.
pub fn open_to_all(folder: &Path) -> io::Result<Option<String>> {
    let mode = folder.metadata()?.mode();
    if mode & 0o002 == 0 || private::keeps_no_rights(folder)? {
        return Ok(None);
    }
    Ok(Some(format!("every user may write it (mode {:04o})", mode & 0o7777)))
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
        // A pipe is waited for by nobody, also by way of a link.
        symlink(at("pipe"), at("to-pipe")).expect("a link");
        for name in ["pipe", "to-pipe"] {
            assert!(open_behind_link(&at(name)).is_err() && read(&at(name), 4).is_err(), "{name}");
            assert!(read_beginning(&at(name), 4).is_err(), "{name}");
        }
        assert_eq!(read_beginning(&at("link"), 3).expect("read"), b"123");
        assert_eq!(read(&at("link"), 4).expect("read"), b"1234");
        assert!(read(&at("file"), 3).expect_err("too long").to_string().contains("4 bytes; expected at most 3"));
        // A file without blocks says that it is a terabyte.
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
        share(&at("s-1")).expect("shared");
        let mode = |name: &str| at(name).metadata().expect("there").mode() & 0o7777;
        for name in ["s-1", "s-1/stats", "s-1/stats/models"] {
            assert_eq!(mode(name), 0o2755, "{name}");
        }
        assert_eq!(mode("s-1/stats/models/lsi.parquet"), 0o644);
    }

    #[test]
    fn a_folder_that_everybody_may_write_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let set = |mode| fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).expect("set");
        for (mode, told) in [(0o755, false), (0o775, false), (0o777, true), (0o1777, true)] {
            set(mode);
            assert_eq!(open_to_all(folder.path()).expect("looked at").is_some(), told, "{mode:o}");
        }
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0, "nothing stays");
    }
}
