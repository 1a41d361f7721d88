//! One corpus behind another: documents from elsewhere that are numbered before those of the inputs.

use super::format::Shared;
use super::source::{InputFile, Source};

impl Source {
    /// The same documents with numbers that are larger by so many: smaller ones are left for documents from elsewhere.
    pub fn shifted(&self, by: u64) -> Source {
        let files = self.files.iter().cloned().map(|file| InputFile { first_doc: file.first_doc + by, ..file });
        self.with_files(files.collect())
    }

    /// The documents of another one, all of which have smaller numbers, and these.
    pub fn after(&self, others: &Source) -> Source {
        self.with_files(others.files.iter().chain(&self.files).cloned().collect())
    }

    fn with_files(&self, files: Vec<InputFile>) -> Source {
        let (notes, unread, columns) = (self.notes.clone(), self.unread.clone(), self.columns.clone());
        Source { files, notes, unread, columns, apart: self.apart.clone(), shared: Shared::default() }
    }
}
