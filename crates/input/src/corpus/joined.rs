//! Joins two corpora: the documents of the second corpus are numbered after the documents of the first.

use crate::corpus::source::{InputFile, Source};
use crate::format::read::Shared;

impl Source {
    /// Returns the same documents with their numbers increased by `by`, so that other documents can use the smaller numbers.
    pub fn shifted(&self, by: u64) -> Source {
        let files = self.files.iter().cloned().map(|file| InputFile { first_doc: file.first_doc + by, ..file });
        self.with_files(files.collect())
    }

    /// Returns the documents of `others`, which all have smaller numbers, followed by the documents of this corpus.
    pub fn after(&self, others: &Source) -> Source {
        self.with_files(others.files.iter().chain(&self.files).cloned().collect())
    }

    fn with_files(&self, files: Vec<InputFile>) -> Source {
        let (notes, unread, columns) = (self.notes.clone(), self.unread.clone(), self.columns.clone());
        let downloads = self.downloads.clone();
        Source { files, notes, unread, downloads, columns, apart: self.apart.clone(), shared: Shared::default() }
    }
}
