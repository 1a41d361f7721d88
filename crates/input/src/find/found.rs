//! The files that were found for the inputs.

use crate::find::bad_input::BadInput;
use crate::find::found_file::FoundFile;
use crate::find::unread::Unread;
use dupsift_publish::WorkFolder;
use dupsift_remote::address::Address;
use serde::{Deserialize, Serialize};
use std::path::{Component, Path, PathBuf};

/// The files that were found for the inputs.
#[derive(Debug, Default)]
pub struct Found {
    /// The files to read.
    pub files: Vec<FoundFile>,
    /// The files that are not read.
    pub unread: Unread,
    /// The links that are not followed, sorted by path.
    pub bad: Vec<BadInput>,
    /// The temporary folder of the output, if it contains copies of inputs.
    pub work: Option<WorkFolder>,
    /// The downloads from object stores.
    pub downloads: Option<Downloads>,
}

impl Found {
    /// Adds the objects of stores, whose paths sort after those of files.
    pub fn add(&mut self, staged: Found) {
        self.files.extend(staged.files);
        self.bad.extend(staged.bad);
        self.unread.add_all(staged.unread);
        self.work = staged.work.or(self.work.take());
        self.downloads = staged.downloads;
    }
}

impl From<Vec<FoundFile>> for Found {
    /// Returns a result without unread files.
    fn from(files: Vec<FoundFile>) -> Found {
        Found { files, ..Found::default() }
    }
}

/// Counts what was downloaded for a run.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Downloads {
    /// The number of objects in the corpus.
    pub objects: u64,
    /// The number of objects that an earlier run had downloaded completely.
    pub reused: u64,
    /// The number of bytes received.
    pub bytes: u64,
    /// The number of requests, including those for lists and those that failed.
    pub requests: u64,
    /// The number of requests that were repeated because an earlier one failed.
    pub retries: u64,
    /// The time that the downloads took, in seconds.
    pub seconds: f64,
}

/// Sorts files by the bytes of their absolute paths or, for objects in stores, of their addresses. The order therefore depends neither on
/// the working directory nor on the folder for temporary files.
pub fn sort(files: &mut [FoundFile]) {
    files.sort_by_cached_key(|file| {
        if file.staged.is_some() {
            return file.path.as_os_str().as_encoded_bytes().to_vec();
        }
        let mut plain = PathBuf::new();
        for part in absolute(&file.path).components() {
            match part {
                Component::ParentDir => _ = plain.pop(),
                part => plain.push(part),
            }
        }
        plain.into_os_string().into_encoded_bytes()
    });
}

/// Returns an absolute path without resolving links. Records contain absolute paths because they may be read from a different working
/// directory. The address of an object stays as it is.
pub fn absolute(path: &Path) -> PathBuf {
    match path.to_str().and_then(Address::of) {
        Some(_) => path.to_path_buf(),
        None => std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()),
    }
}
