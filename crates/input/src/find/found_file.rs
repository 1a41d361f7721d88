//! A file that was found, with the way to read it.

use crate::compressed::coding::Coding;
use crate::find::hive;
use crate::format::Format;
use dupsift_publish::TemporaryFolder;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file to read.
#[derive(Clone, Debug)]
pub struct FoundFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The name of the file in `FILE#ROW`: the path relative to the folder if the only input is a folder, the file name if the only input
    /// is a file, and otherwise the path as typed.
    pub label: String,
    /// The format of the file.
    pub format: &'static dyn Format,
    /// The compression and encoding of the file.
    pub coding: Coding,
    /// Whether the format is guessed from a file extension that other formats share.
    pub is_guess: bool,
    /// The size on disk when the list was made, in bytes; 0 if unknown.
    pub bytes: u64,
    /// The columns that the names of the file's folders define: `lang=ru` means that the column `lang` has the value `ru`.
    pub partitions: Vec<(String, Option<String>)>,
    /// The local copy, if the file is an object in a store. Then `path` is the object's address.
    pub staged: Option<Staged>,
}

/// The local copy of an object. The path of the file is the object's address, which names it in messages and records.
#[derive(Clone, Debug)]
pub struct Staged {
    /// The path of the copy.
    pub(crate) copy: PathBuf,
    /// The folder of the copy, if it is removed when the last file in it is no longer needed.
    pub(super) _folder: Option<Arc<TemporaryFolder>>,
    /// The ETag of the object.
    pub etag: Option<String>,
    /// The version of the object, if the store reports versions.
    pub version: Option<String>,
}

impl FoundFile {
    /// Returns the path of the file that is opened.
    pub(crate) fn on_disk(&self) -> &Path {
        self.staged.as_ref().map_or(&self.path, |staged| &staged.copy)
    }

    /// Replaces the label of the file, and derives the partition columns from the new label.
    pub fn called(mut self, label: &str) -> FoundFile {
        self.partitions = hive::partitions(label);
        self.label = label.to_owned();
        self
    }

    /// Returns whether the names of the file's folders define a column.
    pub(crate) fn has_partition(&self, name: &str) -> bool {
        self.partitions.iter().any(|(known, _)| known == name)
    }
}
