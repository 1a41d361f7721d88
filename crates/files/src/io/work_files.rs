//! Which files of a work folder are ours, by their names.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use dupsift_core::safe_fs::private;

/// The file that a living run holds locked.
pub(super) const LOCK: &str = "lock";
/// The file that lists what a run has put down.
pub const LEDGER: &str = "ledger.json";
/// What came by standard input.
pub(super) const STANDARD_INPUT: &str = "standard-input";
/// How the names of files of documents end that were copied out of an index.
pub const GUESTS: &str = ".guests.parquet";
/// How the names of tables end that list the rejected rows of an input besides the corpus.
pub const REJECTED: &str = ".rejected.parquet";
/// How the names of work files end: products, products that are half written, and files that lose their names as soon as they are
/// open.
const ENDINGS: [&str; 8] = [".product", ".run", ".half", ".work", ".terms", ".index", GUESTS, REJECTED];

/// Whether a file of that name in a work folder is ours. No such name leads out of the folder.
pub fn is_work_file(name: &str) -> bool {
    [LOCK, LEDGER, STANDARD_INPUT].contains(&name)
        || ENDINGS.iter().any(|ending| name.len() > ending.len() && name.ends_with(ending)) && is_plain(name)
}

/// Whether a name is one that a file or folder in a folder of ours may have: letters, digits, `.`, `_`, `-`, `+` and spaces of ASCII, the
/// first one no `.`. So it is no path, and none of the names that the system gives to folders.
pub fn is_plain(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+ ".contains(&byte);
    (1..=255).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(is_letter)
}

/// Whether a file of a product may have that name: the key of the product, a number, and how files of products end.
pub fn is_product(key: &str, name: &str) -> bool {
    let is_key = key.len() == 32 && key.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let rest = name.strip_prefix(key).and_then(|rest| rest.strip_prefix('-'));
    let number = rest.and_then(|rest| rest.strip_suffix(".product").or(rest.strip_suffix(".run")));
    is_key
        && number
            .is_some_and(|number| (1..=9).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Removes the files of ours whose names are asked for.
pub(super) fn remove_files(folder: &Path, asked: impl Fn(&str) -> bool) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if is_work_file(&name) && asked(&name) && entry.file_type()?.is_file() {
            match private::remove(&entry.path()) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

/// The first path in a work folder that is none of ours.
pub(super) fn foreign(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.filter_map(std::result::Result::ok);
    let is_ours = |entry: &fs::DirEntry| {
        is_work_file(&entry.file_name().to_string_lossy()) && entry.file_type().is_ok_and(|kind| kind.is_file())
    };
    entries.filter(|entry| !is_ours(entry)).map(|entry| entry.file_name().into()).min()
}

/// The files in a work folder beside the lock, and their bytes.
pub(super) fn holds(folder: &Path) -> (u64, u64) {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(std::result::Result::ok);
    let sizes = entries.filter(|entry| entry.file_name() != LOCK).filter_map(|entry| entry.metadata().ok());
    sizes.fold((0, 0), |(files, bytes), file| (files + 1, bytes + file.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_ours_leads_out_of_its_folder() {
        let key = "0123456789abcdef0123456789abcdef";
        for name in
            ["lock", "ledger.json", "ledger.json.half", "rows exact.3.work", "00000000.guests.parquet", "words.terms"]
        {
            assert!(is_work_file(name), "{name}");
        }
        for name in [format!("{key}-0.product"), format!("{key}-12.run")] {
            assert!(is_work_file(&name) && is_product(key, &name), "{name}");
        }
        let long = format!("{}.work", "x".repeat(251));
        for name in
            ["", ".", "..", "../x.run", "a/x.run", "/x.run", "x\0.run", ".run", ".x.run", "x\n.run", "notes", &long]
        {
            assert!(!is_work_file(name) && !is_product(key, name), "{name:?}");
        }
        for name in ["0.product", "x-0.product", "-.run", "-1234567890.run", "-0.half", "-0x.run", "-0"] {
            assert!(!is_product(key, &format!("{key}{name}")), "{name}");
        }
        for key in ["../victim", "", "..", "0123456789ABCDEF0123456789ABCDEF"] {
            assert!(!is_product(key, &format!("{key}-0.product")), "{key}");
        }
    }
}
