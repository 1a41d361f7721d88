//! Defines the interface of input formats. `formats` lists the formats.

pub(crate) mod ids;
pub(crate) mod nested;
pub mod schema;
pub(crate) mod signs;
pub mod want;

use crate::compressed::coding::Coding;
use crate::compressed::packing::Packing;
use crate::compressed::repacked::{Repacked, of_work_file};
use crate::compressed::repacking::{Repacking, Written};
use crate::compressed::rest::Lost;
use crate::compressed::unpacked_bytes::UnpackedBytes;
use crate::copy::copying::{Copying, Fits};
use crate::damaged::damaged;
use crate::format::schema::{Columns, KnownColumns};
use crate::format::want::Want;
use arrow::datatypes::DataType;
use dupsift_core::error::{Error, Result};
use dupsift_tables::IdKind;
use dupsift_tables::{Documents, Rejection};
use std::any::{Any, TypeId};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::fs::File;
use std::io::{self, BufRead, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A format of input files.
pub trait Format: Debug + Sync {
    /// Returns the name of the format in messages, such as `JSON lines`.
    fn name(&self) -> &'static str;

    /// Returns the file extensions in lowercase, starting with the most common extension.
    fn endings(&self) -> &'static [&'static str];

    /// Returns those file extensions that other formats also use. If a file with such an extension turns out to have a different format, it
    /// counts as unread, not as damaged.
    fn shared_endings(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns whether files of this format may be compressed as a whole. The extension of the compression then follows the extension of
    /// the format.
    fn is_packed(&self) -> bool {
        false
    }

    /// Returns whether each file is one document. Such files are read only if requested.
    fn is_whole(&self) -> bool {
        false
    }

    /// Returns whether the documents in this format are always pages; see [`Documents::page`].
    fn has_pages(&self) -> bool {
        false
    }

    /// Returns whether the text and the id are in columns that can be selected with options. If not, the format determines the text and the
    /// id of each row, and the column options have no effect.
    fn names_columns(&self) -> bool {
        !self.is_whole() && !self.has_pages()
    }

    /// Returns whether reading one column costs less than reading all columns.
    fn is_columnar(&self) -> bool {
        false
    }

    /// Inspects a file to determine which of the requested columns it contains, how many rows it has, and where it can be split. If
    /// `repacking` is given, a file that is read to its end and cannot be split may be repacked in the same pass.
    ///
    /// # Errors
    /// Returns the reason why the file cannot be used.
    fn open(
        &self,
        file: File,
        coding: Coding,
        columns: &Columns,
        repacking: Option<&Repacking>,
    ) -> std::result::Result<Opened, Unusable>;

    /// Returns whether a piece may be split between any two of its rows.
    fn divides_pieces(&self) -> bool {
        false
    }

    /// Returns the rows of a piece at which a read can begin without unpacking the preceding rows. The result is empty if pieces cannot be
    /// split or these rows are not known.
    fn starts_within(&self, _file: File, _piece: &Within<'_>) -> Starts {
        Starts::default()
    }

    /// Divides the rows of a part into consecutive stretches that can be read separately, and determines the memory that each stretch
    /// takes. Chunks of up to `small` bytes need not be inspected. The result is empty if a read holds only one batch in memory.
    ///
    /// # Errors
    /// Returns [`Reading::bad`] if the file is damaged.
    fn stretches(&self, _file: File, _reading: &Reading<'_>, _small: u64) -> Result<Vec<Stretch>> {
        Ok(Vec::new())
    }

    /// Calls `each` with batches of the part's rows, in order.
    ///
    /// # Errors
    /// Returns [`Reading::bad`] if the file is damaged, and any error from `each`.
    fn read(&self, file: File, reading: &Reading<'_>, each: &mut dyn FnMut(Documents) -> Result<()>) -> Result<()>;

    /// Returns the columns that can be determined without reading all rows; struct fields are identified by their paths. The result always
    /// includes the columns in `asked` that exist. Returns `None` if the format has no fixed columns and the file has no rows.
    ///
    /// # Errors
    /// Returns the reason why the file cannot be read.
    fn columns(&self, file: File, coding: Coding, asked: &[&str]) -> std::result::Result<Option<KnownColumns>, String>;

    /// Returns the file's columns and the types that a read returns for them; nested columns have no type. The list is empty if the file is
    /// unreadable, because that error is reported when the file is opened.
    fn own_columns(&self, file: File, coding: Coding) -> Vec<(String, Option<DataType>)>;

    /// Returns the maximum total size of the values of these columns in one row, in bytes. If the size is at most `small` bytes, the result
    /// may be 0.
    ///
    /// # Errors
    /// Returns the reason why the file cannot be read.
    fn longest_of(
        &self,
        _file: File,
        _coding: Coding,
        _names: &[String],
        _small: u64,
    ) -> std::result::Result<u64, String> {
        Ok(0)
    }

    /// Returns the column names in a file of ids that is not part of the corpus. If the format has no fixed columns, returns the names that
    /// occur in the first rows, or `None` if the file has no rows.
    ///
    /// # Errors
    /// Returns the reason why the file cannot be read.
    fn column_names(&self, _file: File, _coding: Coding) -> std::result::Result<Option<Vec<String>>, String> {
        Err(self.without_ids())
    }

    /// Calls `each` with the values of every row in a file of ids; see [`read_ids`](crate::corpus::id_rows::read_ids).
    ///
    /// # Errors
    /// Returns [`Failed`].
    fn read_ids(
        &self,
        _file: File,
        _coding: Coding,
        _names: IdColumns<'_>,
        _each: &mut EachIds<'_>,
    ) -> std::result::Result<(), Failed> {
        Err(Failed::Bad(self.without_ids()))
    }

    /// Checks that a subset of rows can be copied from a file with this compression and encoding.
    ///
    /// # Errors
    /// Returns the reason why rows cannot be copied, and what to do instead.
    fn copies(&self, _coding: Coding) -> std::result::Result<(), String> {
        // A file with a single document is copied completely or not at all.
        Ok(())
    }

    /// Checks that edited text can be written back to a file with this compression and encoding.
    ///
    /// # Errors
    /// Returns the reason why this is impossible, and what to do instead.
    fn edits(&self, _coding: Coding) -> std::result::Result<(), String> {
        Err(format!("text in {} cannot be changed; convert the file to Parquet or JSON lines", self.name()))
    }

    /// Checks that columns can be added to a file with this compression and encoding.
    ///
    /// # Errors
    /// Returns the reason why this is impossible, and what to do instead.
    fn adds(&self, _coding: Coding) -> std::result::Result<(), String> {
        Err(format!("columns cannot be added to {}; convert the file to Parquet or JSON lines", self.name()))
    }

    /// Returns the first stretch, if any, that does not fit into memory when a subset of rows is copied.
    ///
    /// # Errors
    /// Returns the reason why the file cannot be read.
    fn check_copying(&self, _file: File, _fits: &Fits<'_>) -> std::result::Result<Option<Stretch>, String> {
        Ok(None)
    }

    /// Copies some of a file's rows, but not all of them.
    ///
    /// # Errors
    /// Returns an error if the file is damaged or if the copy cannot be written.
    fn copy_rows(&self, _file: File, copying: &Copying<'_>) -> Result<()> {
        Err(copying.bad(format!("{} cannot be copied partially", self.name())))
    }

    /// Returns the message for a file that should contain ids although its format does not support id columns.
    fn without_ids(&self) -> String {
        format!("{} has no id columns; expected Parquet, JSON lines or separated values", self.name())
    }
}

/// Names the columns of a file of ids.
#[derive(Clone, Copy, Debug)]
pub struct IdColumns<'n> {
    /// The columns with the ids.
    pub ids: [&'n str; 2],
    /// The columns of which one may hold the label of a row. In a file with fixed columns, only the first of them that exists is read; in
    /// JSON lines, the first that a row has.
    pub labels: &'n [&'n str],
}

/// Holds the values of a row in a file of ids. A value is `None` if it is null or missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdRow<'v> {
    /// The two ids.
    pub ids: [Option<&'v str>; 2],
    /// The label, with the name of its column. Numbers and booleans are written as text, as are other values in JSON lines.
    pub label: Option<(&'v str, &'v str)>,
    /// The offset in the unpacked file at which the row begins, if the file consists of lines.
    pub offset: Option<u64>,
}

/// A function that receives the values of a row, or the reason why the row is unusable. The function returns whether to continue.
pub type EachIds<'e> = dyn FnMut(std::result::Result<IdRow<'_>, Rejection>) -> Result<bool> + 'e;

/// The reason why reading ids ended early.
#[derive(Debug)]
pub enum Failed {
    /// The problem with the file.
    Bad(String),
    /// The damage to the file. The rows before the damage have been passed on.
    Damaged(String),
    /// The error from the callback.
    Passed(Error),
}

impl From<String> for Failed {
    fn from(why: String) -> Failed {
        Failed::Bad(why)
    }
}

/// Describes the contents of a file, without its documents.
#[derive(Debug, Default)]
pub struct Opened {
    /// The kind of ids; `None` if there is no id column, or if the kind is known only after a complete read (JSON lines).
    pub id: Option<IdKind>,
    /// The reason why the id column is unusable, if the file has an unusable id column.
    pub id_note: Option<String>,
    /// The columns from [`Columns::others`] that the file has.
    pub others: Vec<String>,
    /// Whether the text of a row is created by joining a list of strings.
    pub is_joined: bool,
    /// The pieces into which the file can be split. The pieces are consecutive and contain all rows.
    pub pieces: Vec<Piece>,
    /// The size in bytes of the longest line that can be a row (JSON lines), or of the longest block that may be held in memory (web
    /// archives).
    pub longest: u64,
    /// The compression and encoding of the file, if they were determined only when the file was opened.
    pub coding: Option<Coding>,
    /// Notes about the file for the summary.
    pub notes: Vec<String>,
    /// The part of the file that could not be read, if the file is damaged.
    pub lost: Option<Lost>,
    /// The counts of web archive records that are not rows.
    pub archived: Option<Archived>,
    /// The text of the file, if it was repacked. Pieces then begin at byte offsets in this text.
    pub(crate) written: Option<Written>,
}

/// The reason why a file cannot be used.
#[derive(Debug)]
pub enum Unusable {
    /// A requested column is missing from the file.
    Lacks(String),
    /// The file contains a different kind of data, such as settings. If other formats share its file extension, the file counts as unread.
    Other(String),
    /// The file cannot be read.
    Bad(String),
}

/// The smallest part into which a file is divided when it is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// The position where the piece begins: a byte offset or a row group number, depending on the format.
    pub start: u64,
    /// The number of rows.
    pub rows: u64,
    /// The approximate size of the unpacked text, in bytes.
    pub bytes: u64,
    /// The total size of all requested columns in bytes, unpacked plus packed, if the format reads complete pages.
    pub held: u64,
}

/// Adjacent pieces of a file, or some of the rows of one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The position where the first piece begins, as in [`Piece::start`].
    pub from: u64,
    /// The position where the piece after the last piece begins; `u64::MAX` at the end of the file.
    pub to: u64,
    /// The number of rows to skip before the first requested row.
    pub skip: u64,
}

/// Rows of a part that are read together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// The number of rows.
    pub rows: u64,
    /// The maximum number of bytes of the file, unpacked plus packed, that are in memory while these rows are read.
    pub bytes: u64,
    /// The size in bytes of the longest text in these rows; a lower bound or 0 if the size is not known.
    pub longest: u64,
    /// The column that takes up the most bytes.
    pub column: String,
    /// The unit that is loaded into memory as a whole.
    pub unit: Unit,
}

/// The part of a file that is in memory at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// A line or an item of an array.
    #[default]
    Line,
    /// A page of a Parquet column.
    Page,
    /// A column of a row group, whose pages are not known or cannot be read singly.
    RowGroup,
    /// A record batch of an Arrow file.
    Batch,
}

impl Unit {
    /// Returns the name of the unit, and how to write a file with smaller units, as the end of a sentence.
    pub fn said(self) -> &'static [&'static str; 2] {
        match self {
            Unit::Line => &["a line", ""],
            Unit::Page => {
                &["a page", ", or write the file with smaller pages (in pyarrow, with a smaller write_batch_size)"]
            }
            Unit::RowGroup => &[
                "a row group",
                ", or write the file with smaller row groups (in pyarrow, with a smaller row_group_size)",
            ],
            Unit::Batch => &["a record batch", ", or write the file with smaller record batches"],
        }
    }
}

/// The location of a piece in its file; see [`Format::starts_within`].
pub struct Within<'r> {
    /// The path of the file.
    pub path: &'r Path,
    /// The position where the piece begins, as in [`Piece::start`].
    pub start: u64,
    /// The columns of the corpus.
    pub columns: &'r Columns,
    /// The values that all reads of a corpus share.
    pub shared: &'r Shared,
}

/// The rows at which a read of a piece may begin, in ascending order. Rows are counted from the first row of the piece.
pub type Starts = Arc<[u64]>;

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
    /// The size of the longest line or block; see [`Opened::longest`].
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

/// The counts of web archive records that are not rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Archived {
    /// The number of records that are not rows, by type. Broken records are counted separately, for example as `request (broken)`.
    pub others: BTreeMap<String, u64>,
    /// The number of rows that are marked `WARC-Truncated`. These rows contain only part of the data that the server sent.
    pub truncated: u64,
}

/// Returns the page start nearest to `row`; `row` itself if no page start is known.
pub(crate) fn nearest(starts: &[u64], row: u64) -> u64 {
    let behind = starts.partition_point(|&start| start < row);
    let around = [behind.checked_sub(1), Some(behind)].into_iter().flatten().filter_map(|at| starts.get(at));
    around.copied().min_by_key(|start| start.abs_diff(row)).unwrap_or(row)
}
