//! What a format of input files has to know. The formats themselves, and the list of them, stand in `formats`.

use super::coding::Coding;
use super::copying::{Copying, Fits};
use super::damaged::damaged;
use super::packing::Packing;
use super::repacked::{Repacked, of_work_file};
use super::repacking::{Repacking, Written};
use super::rest::Lost;
use super::schema::{Columns, KnownColumns};
use super::unpacked_bytes::UnpackedBytes;
use super::want::Want;
use crate::tables::id::IdKind;
use crate::tables::{Documents, Rejection};
use arrow::datatypes::DataType;
use dupsift_core::error::{Error, Result};
use std::any::{Any, TypeId};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::fs::File;
use std::io::{self, BufRead, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A format of input files.
pub trait Format: Debug + Sync {
    /// How messages call a file of it: `JSON lines`.
    fn name(&self) -> &'static str;

    /// What the names of its files end in, in small letters; the first is the usual one.
    fn endings(&self) -> &'static [&'static str];

    /// Which of these endings other files have too: a file of such a name that turns out to be none of this format is one that
    /// is not read, rather than a bad one.
    fn shared_endings(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether a file may be compressed as a whole, with the ending of the packing behind its own.
    fn is_packed(&self) -> bool {
        false
    }

    /// Whether a file of it is one document. Such files are read where that is asked for.
    fn is_whole(&self) -> bool {
        false
    }

    /// Whether its texts are always pages, see [`Documents::page`].
    fn has_pages(&self) -> bool {
        false
    }

    /// Whether texts and ids are columns that a user can name; else each row has both, under any names.
    fn names_columns(&self) -> bool {
        !self.is_whole() && !self.has_pages()
    }

    /// Whether a reading of one column costs less than a reading of all.
    fn is_columnar(&self) -> bool {
        false
    }

    /// Looks at a file: which of the columns it has, how many rows there are, and where it can be cut. Where `repacking` is given, a file
    /// that a look reads to its end and that cannot be cut may be packed again on the way.
    ///
    /// # Errors
    /// Why the file cannot take part.
    fn open(
        &self,
        file: File,
        coding: Coding,
        columns: &Columns,
        repacking: Option<&Repacking>,
    ) -> std::result::Result<Opened, Unusable>;

    /// Whether a piece may be divided between any two of its rows.
    fn divides_pieces(&self) -> bool {
        false
    }

    /// The rows of a piece at which a reading may begin without waste, where pieces are divided and that can be told.
    fn starts_within(&self, _file: File, _piece: &Within<'_>) -> Starts {
        Starts::default()
    }

    /// What a reading of a part holds in memory of the file at a time, in stretches of rows that follow each other, each of which
    /// can be read alone. `small` is what need not be looked into. Nothing where only a batch is held.
    ///
    /// # Errors
    /// [`Reading::bad`] where the file is damaged.
    fn stretches(&self, _file: File, _reading: &Reading<'_>, _small: u64) -> Result<Vec<Stretch>> {
        Ok(Vec::new())
    }

    /// Calls `each` with batches of the rows of a part, in order.
    ///
    /// # Errors
    /// [`Reading::bad`] where the file is damaged; what `each` returns.
    fn read(&self, file: File, reading: &Reading<'_>, each: &mut dyn FnMut(Documents) -> Result<()>) -> Result<()>;

    /// What can be told of the columns without a reading of all rows, those of structs by their paths; those that are asked for
    /// under any names. None where rows have no fixed columns and there is no row.
    ///
    /// # Errors
    /// Why the file cannot be read.
    fn columns(&self, file: File, coding: Coding, asked: &[&str]) -> std::result::Result<Option<KnownColumns>, String>;

    /// The columns that the file has, and their types as a reading hands them on; no type for what is nested. Nothing of a
    /// file that cannot be read: opening it will tell why.
    fn own_columns(&self, file: File, coding: Coding) -> Vec<(String, Option<DataType>)>;

    /// The bytes that the values of these columns have together in the row where they have most; what is no more than `small`
    /// may be told as nothing.
    ///
    /// # Errors
    /// Why the file cannot be read.
    fn longest_of(
        &self,
        _file: File,
        _coding: Coding,
        _names: &[String],
        _small: u64,
    ) -> std::result::Result<u64, String> {
        Ok(0)
    }

    /// The names of the columns of a file of ids that is no corpus; of rows without fixed columns, those of the first
    /// rows, and none where there is no row.
    ///
    /// # Errors
    /// Why the file cannot be read.
    fn column_names(&self, _file: File, _coding: Coding) -> std::result::Result<Option<Vec<String>>, String> {
        Err(self.without_ids())
    }

    /// Calls `each` with the two values of every row of a file of ids, see [`read_ids`](super::read_ids).
    ///
    /// # Errors
    /// [`Failed`].
    fn read_ids(
        &self,
        _file: File,
        _coding: Coding,
        _names: [&str; 2],
        _each: &mut EachIds<'_>,
    ) -> std::result::Result<(), Failed> {
        Err(Failed::Bad(self.without_ids()))
    }

    /// Whether a file so coded can be copied without some of its rows.
    ///
    /// # Errors
    /// Why not, with the way out.
    fn copies(&self, _coding: Coding) -> std::result::Result<(), String> {
        // One document is there as a whole or not at all.
        Ok(())
    }

    /// Whether texts of a file so coded can be written back when they were edited.
    ///
    /// # Errors
    /// Why not, with the way out.
    fn edits(&self, _coding: Coding) -> std::result::Result<(), String> {
        Err(format!("texts in {} cannot be written back; write the file again as Parquet or JSON lines", self.name()))
    }

    /// What a copy that leaves rows out would have to read at a time and that does not fit.
    ///
    /// # Errors
    /// Why the file cannot be read.
    fn check_copying(&self, _file: File, _fits: &Fits<'_>) -> std::result::Result<Option<Stretch>, String> {
        Ok(None)
    }

    /// Copies some rows of a file, neither none nor all.
    ///
    /// # Errors
    /// What says that the file is damaged; what the system says of the copy.
    fn copy_rows(&self, _file: File, copying: &Copying<'_>) -> Result<()> {
        Err(copying.bad(format!("{} cannot be copied in part", self.name())))
    }

    /// What is said where such a file is to have ids.
    fn without_ids(&self) -> String {
        format!("{} has no columns of ids; expected Parquet, JSON lines or separated values", self.name())
    }
}

/// Takes the two values of a row, or why the row cannot be used, and says whether more rows are wanted.
pub type EachIds<'e> = dyn FnMut(std::result::Result<[Option<&str>; 2], Rejection>) -> Result<bool> + 'e;

/// Why a reading of ids ended early.
#[derive(Debug)]
pub enum Failed {
    /// What is wrong with the file.
    Bad(String),
    /// What is damaged behind the rows that were handed on.
    Damaged(String),
    /// What the function that was called with the rows returned.
    Passed(Error),
}

impl From<String> for Failed {
    fn from(why: String) -> Failed {
        Failed::Bad(why)
    }
}

/// What a file holds, without its documents.
#[derive(Debug, Default)]
pub struct Opened {
    /// What ids it has; none without an id column, and where only a reading can tell (JSON lines).
    pub id: Option<IdKind>,
    /// Why its id column cannot be used; none where it has none.
    pub id_note: Option<String>,
    /// Which of [`Columns::others`] it has.
    pub others: Vec<String>,
    /// Whether texts are joined from lists.
    pub is_joined: bool,
    /// Where it can be cut: the pieces follow each other and hold all rows.
    pub pieces: Vec<Piece>,
    /// The bytes of the longest line that can be a row, of JSON lines; of the longest block that may be held, of web archives.
    pub longest: u64,
    /// How its bytes become those of texts, where opening found out more than was known before.
    pub coding: Option<Coding>,
    /// What a reader should know of the file.
    pub notes: Vec<String>,
    /// What could not be read of it, beside the rows that can.
    pub lost: Option<Lost>,
    /// What it holds besides rows, of a web archive.
    pub archived: Option<Archived>,
    /// Its text, where it was packed again: pieces begin at bytes of that.
    pub(super) written: Option<Written>,
}

/// Why a file cannot take part.
#[derive(Debug)]
pub enum Unusable {
    /// It lacks a column that was asked for.
    Lacks(String),
    /// It is text of another kind, such as settings; of a name that other files have too it is one that is not read.
    Other(String),
    /// It cannot be read.
    Bad(String),
}

/// A part of a file that is not looked into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// Where it begins, as the format counts: a byte of the file, or the number of a row group.
    pub start: u64,
    /// How many rows.
    pub rows: u64,
    /// About how many bytes of text, unpacked.
    pub bytes: u64,
    /// Bytes of all columns asked for, unpacked and packed, where whole pages of them are read.
    pub held: u64,
}

/// Neighbouring pieces of a file, or some rows of one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where the first piece begins, as [`Piece::start`].
    pub from: u64,
    /// Where the piece behind the last begins; `u64::MAX` at the end of the file.
    pub to: u64,
    /// Rows of these pieces before the first one asked for.
    pub skip: u64,
}

/// Rows of a part that are read together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// How many.
    pub rows: u64,
    /// Bytes of the file that are in memory while they are read, unpacked ones and packed ones, at the most.
    pub bytes: u64,
    /// A text of that many bytes or more is among them, where that is known.
    pub longest: u64,
    /// The column that holds most of the bytes.
    pub column: String,
}

/// A piece in its file, see [`Format::starts_within`].
pub struct Within<'r> {
    /// Where the file is.
    pub path: &'r Path,
    /// Where the piece begins, as [`Piece::start`].
    pub start: u64,
    /// The columns of the corpus.
    pub columns: &'r Columns,
    /// What the readings of one corpus share.
    pub shared: &'r Shared,
}

/// The rows of a piece, counted from its first, at which a reading may begin; ascending.
pub type Starts = Arc<[u64]>;

/// What a reading gets.
pub struct Reading<'r> {
    /// Where the file is.
    pub path: &'r Path,
    /// How its bytes become those of texts.
    pub coding: Coding,
    /// Its text, where that was packed again.
    pub repacked: Option<&'r Repacked>,
    /// Where bytes are counted that are unpacked of it.
    pub unpacked: &'r UnpackedBytes,
    /// As [`Opened::longest`].
    pub longest: u64,
    /// How the file is called.
    pub label: &'r str,
    /// Which part of it.
    pub part: Part,
    /// The number of the first document of the part.
    pub first_doc: u64,
    /// How many rows the part has.
    pub rows: u64,
    /// Only these of them, ascending, counted from the first; all where none is given.
    pub chosen: Option<&'r [u64]>,
    /// Whether opening found an id column.
    pub has_id: bool,
    /// The columns of the corpus.
    pub columns: &'r Columns,
    /// What is asked for.
    pub want: &'r Want,
    /// What the readings of one corpus share.
    pub shared: &'r Shared,
}

impl<'r> Reading<'r> {
    /// The text of the part, before lines are cut: of the file, or as it was packed again.
    pub(super) fn text(&self, mut file: File) -> io::Result<io::Take<Box<dyn BufRead + 'r>>> {
        let text: Box<dyn BufRead + 'r> = match self.repacked {
            Some(repacked) => Box::new(repacked.from(self.part.from)),
            None => {
                // A file that cannot be cut has one part, which begins at its first byte.
                file.seek(SeekFrom::Start(self.part.from))?;
                let text = self.coding.text(file)?;
                if self.coding.packing == Packing::Plain { Box::new(text) } else { Box::new(self.unpacked.count(text)) }
            }
        };
        Ok(text.take(self.part.to - self.part.from))
    }

    /// The error that sets the file aside, or ends the run where no file can be opened any more.
    pub fn bad(&self, why: impl Into<String>) -> Error {
        damaged(self.path, why.into())
    }

    /// The error of a file that cannot be read on. One of the work file with its text ends the run: the file itself may be whole.
    pub(super) fn failed(&self, error: io::Error) -> Error {
        match of_work_file(error) {
            Ok(error) => Error::reading("read the work file that has the text of", self.path)(error),
            Err(error) => self.bad(format!("cannot be read on: {error}")),
        }
    }
}

/// What the readings of one corpus share: each format finds what it put there by the type.
#[derive(Debug, Default)]
pub struct Shared(Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl Shared {
    /// The one value of that type, made where it is asked for first.
    pub fn of<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let value = all.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default())).clone();
        drop(all);
        value.downcast().unwrap_or_default()
    }
}

/// What a web archive holds besides rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Archived {
    /// Records that are no rows, by their types; those that are broken beside them as `request (broken)`.
    pub others: BTreeMap<String, u64>,
    /// Rows that hold less than the server had: they bear `WARC-Truncated`.
    pub truncated: u64,
}
