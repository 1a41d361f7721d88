//! Recognizes dupsift's files in a temporary folder by their names.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use dupsift_core::safe_fs::{listing, private};

/// The file that an active run keeps locked.
pub(crate) const LOCK: &str = "lock";
/// The file that lists a run's checkpoints.
pub const LEDGER: &str = "ledger.json";
/// The copy of standard input.
pub const STANDARD_INPUT: &str = "standard-input";
/// The suffix of local copies of objects in stores.
pub const OBJECT: &str = ".object";
/// The suffix of files with documents copied from an index.
pub const INDEXED: &str = ".indexed.parquet";
/// The suffix of tables that list the rejected rows of an input other than the corpus.
pub const REJECTED: &str = ".rejected.parquet";
/// The suffixes of temporary files: checkpoints, half-written checkpoints, and files that are unlinked as soon as they have been opened.
const ENDINGS: [&str; 9] = [".saved", ".run", ".half", ".work", ".terms", ".index", OBJECT, INDEXED, REJECTED];

/// Returns whether a file with this name in a temporary folder belongs to dupsift. An accepted name never leads outside the folder.
pub fn is_work_file(name: &str) -> bool {
    [LOCK, LEDGER, STANDARD_INPUT].contains(&name)
        || ENDINGS.iter().any(|ending| name.len() > ending.len() && name.ends_with(ending)) && is_plain(name)
}

/// Returns whether a name is allowed for a file or folder of dupsift: it may contain ASCII letters, digits, `.`, `_`, `-`, `+` and spaces,
/// but must not begin with `.`. Therefore, an allowed name is neither a path nor a special folder name.
pub fn is_plain(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+ ".contains(&byte);
    (1..=255).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(is_letter)
}

/// Returns whether a checkpoint file may have this name, which consists of the checkpoint's key, a number, and the suffix.
pub(crate) fn is_checkpoint_file(key: &str, name: &str) -> bool {
    let is_key = key.len() == 32 && key.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let rest = name.strip_prefix(key).and_then(|rest| rest.strip_prefix('-'));
    let number = rest.and_then(|rest| rest.strip_suffix(".saved").or(rest.strip_suffix(".run")));
    is_key
        && number
            .is_some_and(|number| (1..=9).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Removes the files of dupsift whose names `asked` accepts.
pub(crate) fn remove_files(folder: &Path, asked: impl Fn(&str) -> bool) -> io::Result<()> {
    for name in listing::names(folder)? {
        let (path, name) = (folder.join(&name), name.to_string_lossy().into_owned());
        if is_work_file(&name) && asked(&name) && listing::look_at_link(&path)?.is_some_and(|there| there.is_file()) {
            match private::remove(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Returns the first path in a temporary folder that does not belong to dupsift.
pub(crate) fn foreign(folder: &Path) -> Option<PathBuf> {
    let is_ours = |name: &OsString| {
        is_work_file(&name.to_string_lossy()) && folder.join(name).symlink_metadata().is_ok_and(|there| there.is_file())
    };
    listing::names(folder).ok()?.into_iter().filter(|name| !is_ours(name)).map(PathBuf::from).min()
}

/// Returns the number of files in a temporary folder, excluding the lock, and their total size in bytes.
pub(crate) fn holds(folder: &Path) -> (u64, u64) {
    let names = listing::names(folder).unwrap_or_default().into_iter().filter(|name| name != LOCK);
    let sizes = names.filter_map(|name| folder.join(name).symlink_metadata().ok());
    sizes.fold((0, 0), |(files, bytes), file| (files + 1, bytes + file.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_ours_leads_out_of_its_folder() {
        let key = "0123456789abcdef0123456789abcdef";
        for name in
            ["lock", "ledger.json", "ledger.json.half", "rows exact.3.work", "00000000.indexed.parquet", "words.terms"]
        {
            assert!(is_work_file(name), "{name}");
        }
        assert!(is_work_file(&format!("{key}{OBJECT}")) && is_work_file(&format!("{key}{OBJECT}.half")));
        for name in [format!("{key}-0.saved"), format!("{key}-12.run")] {
            assert!(is_work_file(&name) && is_checkpoint_file(key, &name), "{name}");
        }
        let long = format!("{}.work", "x".repeat(251));
        for name in
            ["", ".", "..", "../x.run", "a/x.run", "/x.run", "x\0.run", ".run", ".x.run", "x\n.run", "notes", &long]
        {
            assert!(!is_work_file(name) && !is_checkpoint_file(key, name), "{name:?}");
        }
        for name in ["0.saved", "x-0.saved", "-.run", "-1234567890.run", "-0.half", "-0x.run", "-0"] {
            assert!(!is_checkpoint_file(key, &format!("{key}{name}")), "{name}");
        }
        for key in ["../victim", "", "..", "0123456789ABCDEF0123456789ABCDEF"] {
            assert!(!is_checkpoint_file(key, &format!("{key}-0.saved")), "{key}");
        }
    }
}
