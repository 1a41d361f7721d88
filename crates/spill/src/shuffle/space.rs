//! Creates temporary files, and reserves, frees and maps their disk space. All `unsafe` calls for temporary files are in this module.
//!
//! A temporary file is unlinked as soon as it has been opened, so the system frees the space no matter how the process ends. The path is
//! kept for messages.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use memmap2::{Mmap, MmapMut};

use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::private;

/// The action that error messages mention if a temporary file cannot be written.
pub(super) const WRITE: &str = "write the temporary file";
/// The action that error messages mention if a temporary file cannot be read.
pub(super) const READ: &str = "read the temporary file";
const CREATE: &str = "create the temporary file";
const MAP: &str = "map the temporary file into memory";

/// Creates an empty temporary file, opens it for reading and writing, and returns it with the path that it had before it was unlinked.
///
/// # Errors
/// Returns [`Error::Io`] if no file can be created in the folder.
pub(super) fn work_file(dir: &Path, name: &str) -> Result<(File, PathBuf)> {
    // A number that distinguishes files, because two files with the same name may exist at the same time.
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).take(100).collect();
    loop {
        let path = dir.join(format!("{plain}.{}.work", NEXT.fetch_add(1, Relaxed)));
        match private::create_new(&path) {
            Ok(file) => {
                private::remove(&path).map_err(Error::io("unlink the temporary file", &path))?;
                return Ok((file, path));
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::io(CREATE, &path)(error)),
        }
    }
}

/// Extends a new file to this many zero bytes, and reserves disk space for them.
///
/// Writing to a memory-mapped sparse file on a full disk would kill the process with a signal, which cannot be turned into an error
/// message. Because the space is reserved, a full disk causes an error in this function instead.
///
/// # Errors
/// Returns [`Error::Io`] if there is not enough space on the disk or a limit is exceeded.
#[cfg_attr(target_os = "linux", allow(unsafe_code))]
pub(super) fn reserve(file: &File, path: &Path, bytes: u64) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    let too_long = |_| Error::io(WRITE, path)(ErrorKind::FileTooLarge.into());
    let length = i64::try_from(bytes).map_err(too_long)?;
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd as _;
        // SAFETY: the call touches no memory of this process, and the descriptor is open as long as `file` lives.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, length) } {
            0 => return Ok(()),
            libc::EOPNOTSUPP | libc::EINVAL | libc::ENOSYS => {}
            code => return Err(Error::io(WRITE, path)(std::io::Error::from_raw_os_error(code))),
        }
    }
    write_zeros(file, length as u64).map_err(Error::io(WRITE, path))
}

/// Replaces [`reserve`] on a file system that cannot reserve space, by writing zeros.
fn write_zeros(file: &File, bytes: u64) -> std::io::Result<()> {
    use std::os::unix::fs::FileExt as _;
    let zeros = vec![0; 1 << 16];
    let mut at = 0;
    while at < bytes {
        let piece = (bytes - at).min(zeros.len() as u64);
        file.write_all_at(&zeros[..piece as usize], at)?;
        at += piece;
    }
    Ok(())
}

/// Frees the disk space of part of a file if the file system supports it; otherwise, the space is freed when the file is closed.
#[cfg_attr(target_os = "linux", allow(unsafe_code))]
pub(super) fn give_back(file: &File, offset: u64, bytes: u64) {
    #[cfg(target_os = "linux")]
    if let (Ok(offset), Ok(bytes)) = (i64::try_from(offset), i64::try_from(bytes)) {
        use std::os::fd::AsRawFd as _;
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: the call touches no memory of this process, and the descriptor is open as long as `file` lives. A failure is ignored,
        // because it only means that the space is freed later.
        let _ = unsafe { libc::fallocate(file.as_raw_fd(), mode, offset, bytes) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (file, offset, bytes);
}

/// Maps an entire temporary file for reading.
///
/// # Errors
/// Returns [`Error::Io`] if the system refuses the map.
#[allow(unsafe_code)]
pub(super) fn map_to_read(file: &File, path: &Path) -> Result<Mmap> {
    // SAFETY: the file is unlinked and owned only by this process, and no process writes to it or truncates it while the map exists.
    unsafe { Mmap::map(file) }.map_err(Error::io(MAP, path))
}

/// Maps part of a finished, named temporary file for reading.
///
/// # Errors
/// Returns [`Error::Io`] if the system refuses the map.
#[allow(unsafe_code)]
pub(super) fn map_part_to_read(file: &File, path: &Path, offset: u64, bytes: usize) -> Result<Mmap> {
    let mut options = memmap2::MmapOptions::new();
    options.offset(offset).len(bytes);
    // SAFETY: the file is in the temporary folder that this process has locked, and got its name only when it was complete; dupsift never
    // writes to or truncates a file that has its final name.
    unsafe { options.map(file) }.map_err(Error::io(MAP, path))
}

/// Maps an entire reserved temporary file for reading and writing.
///
/// # Errors
/// Returns [`Error::Io`] if the system refuses the map.
#[allow(unsafe_code)]
pub(super) fn map_to_write(file: &File, path: &Path) -> Result<MmapMut> {
    // SAFETY: the file is unlinked and owned only by this process, and no other code maps it, writes to it or truncates it.
    unsafe { MmapMut::map_mut(file) }.map_err(Error::io(MAP, path))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt as _;

    use super::*;

    #[test]
    fn a_work_file_leaves_no_name_and_shares_none() {
        let dir = tempfile::tempdir().expect("a folder");
        let (one, path) = work_file(dir.path(), "a/b:c").expect("a file");
        let (two, other) = work_file(dir.path(), "a/b:c").expect("a file");
        assert_ne!(path, other);
        assert!(path.file_name().expect("a name").to_string_lossy().starts_with("a_b_c."));
        assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 0);
        one.write_all_at(b"one", 0).expect("written");
        assert_eq!(two.metadata().expect("open").len(), 0);
        let gone = dir.path().join("gone");
        let message = work_file(&gone, "x").expect_err("no folder").to_string();
        assert!(message.starts_with("cannot create the temporary file") && message.contains("gone"), "{message}");
    }

    #[test]
    fn reserved_space_is_zero_and_too_much_is_an_error() {
        let dir = tempfile::tempdir().expect("a folder");
        for fill in
            [reserve as fn(&File, &Path, u64) -> Result<()>, |f, p, n| write_zeros(f, n).map_err(Error::io(WRITE, p))]
        {
            let (file, path) = work_file(dir.path(), "x").expect("a file");
            fill(&file, &path, 100_001).expect("space");
            let map = map_to_read(&file, &path).expect("a map");
            assert!(map.len() == 100_001 && map.iter().all(|&byte| byte == 0));
        }
        let (file, path) = work_file(dir.path(), "x").expect("a file");
        for bytes in [1 << 62, u64::MAX] {
            assert!(matches!(reserve(&file, &path, bytes), Err(Error::Io { action: WRITE, .. })));
        }
    }
}
