//! Which files of a work folder are ours, by their names.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

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

/// Whether a file of that name in a work folder is ours.
pub fn is_work_file(name: &str) -> bool {
    [LOCK, LEDGER, STANDARD_INPUT].contains(&name)
        || ENDINGS.iter().any(|ending| name.len() > ending.len() && name.ends_with(ending))
}

/// Removes the files of ours whose names are asked for.
pub(super) fn remove_files(folder: &Path, asked: impl Fn(&str) -> bool) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if is_work_file(&name) && asked(&name) && entry.file_type()?.is_file() {
            match fs::remove_file(entry.path()) {
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
