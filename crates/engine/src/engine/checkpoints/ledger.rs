//! Reads and writes the list of checkpoints.

use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::Read as _;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::Xxh3;

use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::private;
use dupsift_input::Stamp;
use dupsift_publish::{Ledger, LedgerEntry, LedgerFile, SkippedFile};
use dupsift_spill::shuffle::saved_file::SavedFile;

/// Describes one checkpoint.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    /// The human-readable name of the checkpoint.
    pub what: String,
    /// The files of the checkpoint, in order.
    pub files: Vec<SavedFile>,
    /// The data that is stored in the ledger itself.
    pub data: Data,
}

/// Holds the data of a checkpoint that is stored in the ledger itself.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Data {
    /// The CPU seconds that all processes together had used when the checkpoint was saved.
    pub cpu_seconds: f64,
    /// The plain values of the checkpoint, in order.
    pub plain: Vec<Value>,
}

impl Entry {
    /// Converts an entry of the ledger; returns `None` if the entry does not have the format that this program writes.
    pub(crate) fn read(entry: &LedgerEntry) -> Option<Entry> {
        let file = |file: &LedgerFile| SavedFile { name: file.name.clone(), bytes: file.bytes, crc: file.crc };
        let data = Data::deserialize(&entry.data).ok()?;
        Some(Entry { what: entry.name.clone(), files: entry.files.iter().map(file).collect(), data })
    }

    /// Converts the checkpoint to an entry of the ledger.
    pub(crate) fn write(&self) -> Result<LedgerEntry> {
        let file = |file: &SavedFile| LedgerFile { name: file.name.clone(), bytes: file.bytes, crc: file.crc };
        let data = serde_json::to_value(&self.data).map_err(Error::table("write the ledger"))?;
        Ok(LedgerEntry { name: self.what.clone(), files: self.files.iter().map(file).collect(), data })
    }

    /// Returns the total size of the checkpoint's files in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        // The sizes come from a file and may be wrong.
        self.files.iter().map(|file| file.bytes).fold(0, u64::saturating_add)
    }
}

/// Removes the files of a checkpoint.
pub(crate) fn remove(dir: &Path, files: &[SavedFile]) {
    for file in files {
        // Files that cannot be removed now are removed later, together with the folder.
        let _ = private::remove(&dir.join(&file.name));
    }
}

/// Returns the CPU seconds spent on the saved work, and the total size of the checkpoints in bytes.
pub(crate) fn sums(ledger: &Ledger) -> (f64, u64) {
    ledger.checkpoints.values().filter_map(Entry::read).fold((0.0, 0), |(seconds, bytes), entry| {
        (entry.data.cpu_seconds.max(seconds), bytes.saturating_add(entry.bytes()))
    })
}

/// Returns the input files that earlier runs skipped and that have not changed.
pub(crate) fn known_bad(ledger: &Ledger) -> BTreeMap<PathBuf, String> {
    let is_same = |one: &&SkippedFile| Stamp::of(&one.path).is_ok_and(|stamp| one.seen == stamp.to_string());
    let same = ledger.skipped.iter().filter(is_same);
    same.map(|one| (one.path.clone(), one.why.clone())).collect()
}

/// Reads the ledger of a temporary folder. Returns an empty ledger if the folder has no ledger, if the ledger is damaged, or if a different
/// build wrote it.
///
/// # Errors
/// Returns an error if the disk cannot be read.
pub(crate) fn read(dir: &Path) -> Result<Ledger> {
    match Ledger::read(dir) {
        Ok(Some(ledger)) if ledger.build == build() => Ok(ledger),
        Ok(Some(_)) => {
            tracing::info!(
                "the saved state in {} was written by a different build of dupsift; the run starts from the beginning",
                dir.display()
            );
            Ok(Ledger::default())
        }
        Ok(None) => Ok(Ledger::default()),
        Err(Error::Damaged { path, why }) => {
            tracing::warn!("{}: {why}; the run starts from the beginning", path.display());
            Ok(Ledger::default())
        }
        Err(error) => Err(error),
    }
}

/// Identifies the program by a hash of its files, because a different build may write different checkpoints under the same keys.
pub(crate) fn build() -> String {
    let hash = || -> std::io::Result<u128> {
        let (mut hash, mut block) = (Xxh3::new(), vec![0; 1 << 20]);
        for path in own_files()? {
            let mut file = File::open(path)?;
            loop {
                match file.read(&mut block)? {
                    0 => break,
                    bytes => hash.update(&block[..bytes]),
                }
            }
        }
        Ok(hash.digest128())
    };
    // A program that cannot read its own files does not resume the work of other processes.
    hash().map_or_else(|_| format!("process {}", std::process::id()), |hash| format!("{hash:032x}"))
}

/// Returns the executable of the process and, if this code was loaded as a library, the library file. In Python, the executable is the
/// interpreter.
fn own_files() -> std::io::Result<Vec<PathBuf>> {
    let program = std::env::current_exe()?.canonicalize()?;
    let library = loaded_from().filter(|path| path.is_absolute()).and_then(|path| path.canonicalize().ok());
    let library = library.filter(|library| *library != program);
    Ok([program].into_iter().chain(library).collect())
}

/// Returns the path of the file from which this code was loaded, as reported by the loader. If the file is a program, the loader reports
/// the path that was typed.
#[allow(unsafe_code)]
fn loaded_from() -> Option<PathBuf> {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    let here = own_files as *const libc::c_void;
    // SAFETY: the call writes only to the struct passed to it. Afterwards, the name in the struct is either null or a string that lives as
    // long as the process.
    let name = unsafe {
        let known = libc::dladdr(here, info.as_mut_ptr()) != 0;
        let name = info.assume_init().dli_fname;
        (known && !name.is_null()).then(|| CStr::from_ptr(name))
    };
    name.map(|name| PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_the_same_as_long_as_its_file_is() {
        let program = std::env::current_exe().unwrap().canonicalize().unwrap();
        assert_eq!(own_files().unwrap(), [program]);
        assert_eq!(build(), build());
        assert_eq!(build().len(), 32);
        assert!(loaded_from().is_some());
    }
}
