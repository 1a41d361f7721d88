//! Describes one read of a part of a file.

use crate::compressed::coding::Coding;
use crate::compressed::packing::Packing;
use crate::compressed::repacked::{Repacked, of_work_file};
use crate::compressed::unpacked_bytes::UnpackedBytes;
use crate::damaged::damaged;
use crate::format::columns::Columns;
use crate::format::want::Want;
use dupsift_core::error::Error;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Adjacent pieces of a file, or some of the rows of one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The position where the first piece begins, as in [`Piece::start`](crate::format::open::Piece::start).
    pub from: u64,
    /// The position where the piece after the last piece begins; `u64::MAX` at the end of the file.
    pub to: u64,
    /// The number of rows to skip before the first requested row.
    pub skip: u64,
}

/// The parameters of one read.
pub struct Reading<'r> {
    /// The path of the file.
    pub path: &'r Path,
    /// The compression and encoding of the file.
    pub coding: Coding,
    /// The repacked text of the file, if any.
    pub repacked: Option<&'r Repacked>,
    /// The counter for bytes unpacked from the file.
    pub unpacked: &'r UnpackedBytes,
    /// The size of the longest line or block; see [`Opened::longest`](crate::format::open::Opened::longest).
    pub longest: u64,
    /// The label of the file.
    pub label: &'r str,
    /// The part to read.
    pub part: Part,
    /// The number of the first document of the part.
    pub first_doc: u64,
    /// The number of rows in the part.
    pub rows: u64,
    /// The rows to read, in ascending order; `None` for all rows. Rows are counted from the first row of the part.
    pub chosen: Option<&'r [u64]>,
    /// Whether an id column was found when the file was opened.
    pub has_id: bool,
    /// The columns of the corpus.
    pub columns: &'r Columns,
    /// The columns and rows to read.
    pub want: &'r Want,
    /// The values that all reads of a corpus share.
    pub shared: &'r Shared,
}

impl<'r> Reading<'r> {
    /// Returns the text of the part, from the file or its repacked copy. The text is not split into lines yet.
    pub(crate) fn text(&self, mut file: File) -> io::Result<io::Take<Box<dyn BufRead + 'r>>> {
        let text: Box<dyn BufRead + 'r> = match self.repacked {
            Some(repacked) => Box::new(repacked.from(self.part.from)),
            None => {
                // A file that cannot be split has a single part, which begins at the first byte.
                file.seek(SeekFrom::Start(self.part.from))?;
                let left = self.coding.text_bytes.map(|bytes| bytes.saturating_sub(self.part.from));
                let text = Coding { text_bytes: left, ..self.coding }.text(file)?;
                if self.coding.packing == Packing::Plain { Box::new(text) } else { Box::new(self.unpacked.count(text)) }
            }
        };
        Ok(text.take(self.part.to - self.part.from))
    }

    /// Returns the names of the columns to read, in batch order.
    pub(crate) fn names(&self) -> Vec<&'r str> {
        let (columns, want) = (self.columns, self.want);
        let asked = |name: &str| {
            (want.text && name == columns.text)
                || (want.id && name == columns.id)
                || want.others.iter().any(|other| other == name)
        };
        columns.names().into_iter().filter(|name| asked(name)).collect()
    }

    /// Returns the text and id columns to read.
    pub(crate) fn text_and_id(&self) -> (Option<&'r str>, Option<&'r str>) {
        let (columns, want) = (self.columns, self.want);
        let id = (want.id && self.has_id).then_some(columns.id.as_str());
        (want.text.then_some(columns.text.as_str()), id)
    }

    /// Returns the error that causes the file to be skipped, or the error that ends the run if too many files are open.
    pub fn bad(&self, why: impl Into<String>) -> Error {
        damaged(self.path, why.into())
    }

    /// Returns the error for a file that cannot be read any further. An error in the temporary file with the repacked text ends the run,
    /// because the input file may be intact.
    pub(crate) fn failed(&self, error: io::Error) -> Error {
        match of_work_file(error) {
            Ok(error) => Error::reading("read the temporary file that contains the text of", self.path)(error),
            Err(error) => self.bad(format!("cannot be read any further: {error}")),
        }
    }
}

/// The values that all reads of a corpus share. Each format looks up its own value by the type of the value.
#[derive(Debug, Default)]
pub struct Shared(Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl Shared {
    /// Returns the only value of type `T`, which is created on first use.
    pub fn of<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let value = all.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default())).clone();
        drop(all);
        value.downcast().unwrap_or_default()
    }
}
