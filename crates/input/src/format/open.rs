//! Describes what opening a file determines: its columns, its rows, and the pieces into which it can be split.

use crate::compressed::coding::Coding;
use crate::compressed::repacking::{RepackedBlocks, Repacking};
use crate::compressed::rest::Lost;
use crate::format::columns::Columns;
use crate::format::facts::Facts;
use crate::format::schema::Has;
use dupsift_tables::IdKind;
use std::collections::BTreeMap;
use std::fmt;

/// The parameters of opening a file.
#[derive(Clone, Copy)]
pub struct Opening<'o> {
    /// The compression and encoding of the file, as given.
    pub coding: Coding,
    /// The columns of the corpus.
    pub columns: &'o Columns,
    /// Where to repack a file that is read to its end and cannot be split, if requested.
    pub repacking: Option<&'o Repacking>,
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
    pub(crate) written: Option<RepackedBlocks>,
}

impl From<Has> for Opened {
    /// Takes over the columns that a file with a schema has.
    fn from(has: Has) -> Opened {
        let Has { id, id_note, others, is_joined } = has;
        Opened { id, id_note, others, is_joined, ..Opened::default() }
    }
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

impl Unusable {
    /// Describes a file that cannot be read in the format and the compression that its name indicates.
    pub(crate) fn unreadable(facts: &Facts, coding: Coding, why: impl fmt::Display) -> Unusable {
        Unusable::Bad(format!("cannot be read as {}{}: {why}", facts.name, coding.packing.said()))
    }
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

/// The counts of web archive records that are not rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Archived {
    /// The number of records that are not rows, by type. Broken records are counted separately, for example as `request (broken)`.
    pub others: BTreeMap<String, u64>,
    /// The number of rows that are marked `WARC-Truncated`. These rows contain only part of the data that the server sent.
    pub truncated: u64,
}
