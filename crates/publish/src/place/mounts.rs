//! Detects mount points. A mount point cannot be renamed, and no other folder can take its name.

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Returns whether a disk or another folder (such as a container volume) is mounted at the folder.
pub(crate) fn is_mount_point(folder: &Path) -> bool {
    let Ok(real) = folder.canonicalize() else { return false };
    if let Ok(mounts) = std::fs::read("/proc/self/mountinfo") {
        return mounts
            .split(|&byte| byte == b'\n')
            .any(|line| mounted_at(line).as_deref() == Some(real.as_os_str().as_bytes()));
    }
    // On systems without a list of mounts, device numbers reveal most mount points.
    let disk = |path: &Path| path.metadata().ok().map(|metadata| metadata.dev());
    real.parent().is_some_and(|above| disk(above) != disk(&real))
}

/// Returns the path in a line of the mount list: the fifth field, in which `\040` stands for a
/// space.
fn mounted_at(line: &[u8]) -> Option<Vec<u8>> {
    let word = line.split(|&byte| byte == b' ').nth(4)?;
    let mut path = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((&byte, behind)) = rest.split_first() {
        let number = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok();
        let escaped = if byte == b'\\' { behind.get(..3).and_then(number) } else { None };
        path.push(escaped.unwrap_or(byte));
        rest = if escaped.is_some() { &behind[3..] } else { behind };
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_list_are_read() {
        let at = |line: &str| mounted_at(line.as_bytes()).map(|path| String::from_utf8(path).expect("a path"));
        let line = r"36 35 98:0 /a /mnt/my\040disk\134x rw,noatime master:1 - ext3 /dev/root rw";
        assert_eq!(at(line).as_deref(), Some(r"/mnt/my disk\x"));
        assert_eq!(at(r"1 2 3:4 / /a\9 rw").as_deref(), Some(r"/a\9"));
        assert_eq!((at(""), at("1 2 3")), (None, None));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_mounted_disk_is_known_and_a_folder_is_none() {
        assert!(is_mount_point(Path::new("/proc")) && is_mount_point(Path::new("/proc/self/../")));
        assert!(!is_mount_point(Path::new("/proc/self")) && !is_mount_point(Path::new("/not/there")));
        let folder = tempfile::tempdir().expect("a folder");
        assert!(!is_mount_point(folder.path()));
    }
}
