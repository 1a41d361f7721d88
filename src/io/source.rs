//! The corpus: which files, how many rows each, and so which number every document has.
//!
//! Numbers follow the sorted list of the readable files. A file that cannot be read takes none, so a damage that shows
//! late means opening again without that file (`exclude`): none of its rows may count anywhere.

use super::find::{Format, FoundFile};
use super::page_starts::{Starts, page_starts};
use super::parquet::{self, Footer};
use super::warc::{self, Archived};
use super::{jsonl, parallel};
use crate::batch::id::IdKind;
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

pub use super::schema::Columns;
use super::schema::{self, Has};

/// A file that takes part.
#[derive(Clone, Debug)]
pub struct InputFile {
    /// Where it is.
    pub path: PathBuf,
    /// How it is called in `FILE#ROW`.
    pub label: String,
    /// How it is read.
    pub format: Format,
    /// Whether its texts are pages, see [`Documents::page`](crate::batch::Documents::page).
    pub html: bool,
    /// The number of its first document.
    pub first_doc: u64,
    /// Its rows: Parquet's own count; lines that are not blank; records of a web archive that hold a page, and broken ones.
    pub rows: u64,
    /// Its size on disk in bytes.
    pub bytes: u64,
    /// The uncompressed size of the text column in bytes as far as the file tells; of all lines for JSON lines, of
    /// the blocks of all rows for web archives.
    pub text_bytes: u64,
    /// What ids it has; none without an id column, and where only a reading can tell (JSON lines).
    pub id: Option<IdKind>,
    /// Why there is no id column that can be used.
    pub id_note: Option<String>,
    /// Which of [`Columns::others`] it has.
    pub others: Vec<String>,
    /// What it holds besides rows, of a web archive.
    pub archived: Option<Archived>,
    pub(super) stamp: Stamp,
    pub(super) pieces: Pieces,
}

/// A file that cannot take part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadInput {
    /// Where it is.
    pub path: PathBuf,
    /// How it is called.
    pub label: String,
    /// What was expected and what came.
    pub why: String,
}

/// What tells that a file is still the one that was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

/// Where a file can be cut.
#[derive(Clone, Debug)]
pub(super) enum Pieces {
    /// Rows and text bytes of every row group.
    RowGroups(Vec<Piece>),
    /// Rows and bytes from one line start to the next mark: they follow each other without a gap.
    Lines(Vec<Piece>),
    /// Rows and bytes of a web archive from one place where a reading may begin to the next, and where in the file those are.
    Records { pieces: Vec<Piece>, starts: Vec<u64> },
    /// Nowhere: the file is compressed as a whole.
    Whole,
}

/// A part of a file that is not looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub rows: u64,
    pub bytes: u64,
}

/// The readable files of a corpus.
#[derive(Debug)]
pub struct Source {
    /// The files, sorted by path; none twice.
    pub files: Vec<InputFile>,
    pub(super) columns: Columns,
    /// The footers used last: a footer is read again rather than kept, for a corpus may have many thousands.
    footers: Mutex<Vec<(usize, Arc<Footer>)>>,
    /// Where the pages of texts begin, by file and row group, of those row groups that are cut.
    pages: Mutex<BTreeMap<(usize, usize), Starts>>,
}

/// Footers kept; splits are read in order, so one a thread is enough.
const FOOTERS_KEPT: usize = 32;

/// Opens the files: reads the footers of Parquet, counts the lines of JSON lines and the records of web
/// archives (a full scan), on that many threads.
/// `exclude` holds files that showed damage in an earlier reading, with the reason.
///
/// # Errors
/// [`Error::Usage`] where the text column, or the id column that the user named, is in none of the readable files.
/// Where it is missing in some, those come back as [`BadInput`], like every unreadable file.
pub fn open(
    found: Vec<FoundFile>,
    columns: &Columns,
    exclude: &BTreeMap<PathBuf, String>,
    threads: usize,
) -> Result<(Source, Vec<BadInput>)> {
    let opened = parallel::map(&found, threads, |file| match exclude.get(&file.path) {
        Some(why) => Opened::Bad(why.clone()),
        None => look(file, columns),
    });
    let mut files: Vec<InputFile> = Vec::new();
    let mut bad = Vec::new();
    let mut lacking = None;
    let mut first_doc = 0;
    for (found, opened) in found.into_iter().zip(opened) {
        match opened {
            Opened::Ready(mut file) => {
                file.first_doc = first_doc;
                first_doc += file.rows;
                files.push(*file);
            }
            Opened::Lacks(why) => {
                lacking.get_or_insert_with(|| format!("{}: {why}", found.path.display()));
                bad.push(BadInput { path: found.path, label: found.label, why });
            }
            Opened::Bad(why) => bad.push(BadInput { path: found.path, label: found.label, why }),
        }
    }
    if let (true, Some(why)) = (files.is_empty(), lacking) {
        let others = bad.len() - 1;
        let tail =
            if others > 0 { format!(" (and none of the {others} other files can be used)") } else { String::new() };
        return Err(Error::Usage(why + &tail));
    }
    Ok((Source { files, columns: columns.clone(), footers: Mutex::default(), pages: Mutex::default() }, bad))
}

enum Opened {
    Ready(Box<InputFile>),
    Lacks(String),
    Bad(String),
}

/// What a file holds, without its documents.
fn look(found: &FoundFile, columns: &Columns) -> Opened {
    let (file, stamp) = match File::open(&found.path).and_then(|file| Ok((Stamp::of(&file)?, file))) {
        Ok((stamp, file)) => (file, stamp),
        Err(error) => return Opened::Bad(format!("cannot be opened: {error}")),
    };
    let ready = |rows, text_bytes, has: Has, pieces, archived| {
        Opened::Ready(Box::new(InputFile {
            path: found.path.clone(),
            label: found.label.clone(),
            format: found.format,
            html: columns.html || found.format.is_archive(),
            first_doc: 0,
            rows,
            bytes: stamp.bytes,
            text_bytes,
            id: has.id,
            id_note: has.id_note,
            others: has.others,
            archived,
            stamp,
            pieces,
        }))
    };
    if found.format == Format::Parquet {
        let metadata = match parquet::load(&file) {
            Ok(metadata) => metadata,
            Err(why) => return Opened::Bad(why),
        };
        let has = match schema::check(columns, &parquet::describe(&metadata)) {
            Ok(has) => has,
            Err(why) => return Opened::Lacks(why),
        };
        return match parquet::pieces(&metadata, &columns.text, stamp.bytes)
            .and_then(|pieces| Footer::new(&metadata, columns).map(|_| pieces))
        {
            Ok(pieces) => {
                let (rows, bytes) = pieces.iter().fold((0, 0), |sum, piece| (sum.0 + piece.rows, sum.1 + piece.bytes));
                ready(rows, bytes, has, Pieces::RowGroups(pieces), None)
            }
            Err(why) => Opened::Bad(why),
        };
    }
    if found.format.is_archive() {
        let scan = match warc::scan(file, found.format) {
            Ok(scan) => scan,
            Err(error) => return Opened::Bad(format!("cannot be read as {}: {error}", describe(found.format))),
        };
        let others = columns.others.iter().filter(|name| warc::COLUMNS.contains(&name.as_str())).cloned().collect();
        let has = Has { id: Some(IdKind::Text), id_note: None, others };
        let pieces = Pieces::Records { pieces: scan.pieces, starts: scan.starts };
        return ready(scan.rows, scan.bytes, has, pieces, Some(scan.archived));
    }
    let scan = match jsonl::scan(file, found.format, columns) {
        Ok(scan) => scan,
        Err(error) => return Opened::Bad(format!("cannot be read as {}: {error}", describe(found.format))),
    };
    if let Some(why) = scan.lacks(columns) {
        return Opened::Lacks(why);
    }
    let pieces = if found.format == Format::Jsonl { Pieces::Lines(scan.pieces) } else { Pieces::Whole };
    let has = Has { id: scan.id, id_note: None, others: columns.others.clone() };
    ready(scan.rows, scan.bytes, has, pieces, None)
}

fn describe(format: Format) -> &'static str {
    match format {
        Format::Parquet => "Parquet",
        Format::Jsonl => "JSON lines",
        Format::JsonlGz => "JSON lines in gzip",
        Format::JsonlZst => "JSON lines in Zstandard",
        Format::Warc => "a web archive",
        Format::WarcGz => "a web archive in gzip",
        Format::WarcZst => "a web archive in Zstandard",
    }
}

impl Stamp {
    pub(super) fn of(file: &File) -> std::io::Result<Stamp> {
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(std::io::Error::other("it is a folder"));
        }
        Ok(Stamp { bytes: metadata.len(), modified: metadata.modified().ok() })
    }
}

impl InputFile {
    /// The error that sets this file aside.
    pub(super) fn bad(&self, why: impl Into<String>) -> Error {
        Error::BadFile { path: self.path.clone(), why: why.into() }
    }

    /// The file, opened anew: one handle a reading, for its cursor must not be shared.
    pub(super) fn reopen(&self) -> Result<File> {
        let file = File::open(&self.path).map_err(|error| self.bad(format!("cannot be opened any more: {error}")))?;
        self.check_unchanged(&file)?;
        Ok(file)
    }

    /// An error if the file is no longer what was opened.
    pub(super) fn check_unchanged(&self, file: &File) -> Result<()> {
        match Stamp::of(file) {
            Ok(stamp) if stamp == self.stamp => Ok(()),
            Ok(stamp) => Err(self.bad(format!(
                "the file changed while it was being read ({} bytes then, {} bytes now, or a new time); \
                 expected a corpus that stays as it is during the run",
                self.stamp.bytes, stamp.bytes
            ))),
            Err(error) => Err(self.bad(format!("cannot be looked at any more: {error}"))),
        }
    }
}

impl Source {
    /// How many documents there are: their numbers are below it.
    pub fn documents(&self) -> u64 {
        self.files.last().map_or(0, |file| file.first_doc + file.rows)
    }

    /// Whether some file's texts are pages.
    pub fn has_pages(&self) -> bool {
        self.files.iter().any(|file| file.html)
    }

    /// The ids of every file, as [`InputFile::id`].
    pub fn id_kinds(&self) -> Vec<Option<IdKind>> {
        self.files.iter().map(|file| file.id).collect()
    }

    /// The file of a document and its row there, counted from 0.
    ///
    /// # Panics
    /// If the number is not below [`Source::documents`].
    pub fn locate(&self, doc: u64) -> (&InputFile, u64) {
        assert!(doc < self.documents(), "there is no document {doc}");
        // Files without rows share their first number with the next one: the last that starts at or before it has it.
        let file = &self.files[self.files.partition_point(|file| file.first_doc <= doc) - 1];
        (file, doc - file.first_doc)
    }

    /// `FILE#ROW`: what a document without an id is called.
    ///
    /// # Panics
    /// As [`Source::locate`].
    pub fn name_of(&self, doc: u64) -> String {
        let (file, row) = self.locate(doc);
        format!("{}#{row}", file.label)
    }

    /// The rows of a row group at which pages of its texts begin, where that can be told.
    pub(super) fn page_starts(&self, at: usize, group: usize) -> Starts {
        let lock = || self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&(at, group)) {
            return known.clone();
        }
        let read = || {
            let file = self.files[at].reopen()?;
            let footer = self.footer(at, &file)?;
            Ok::<_, Error>(page_starts(file, &footer, group, &self.columns.text))
        };
        let starts = read().unwrap_or_default();
        lock().insert((at, group), starts.clone());
        starts
    }

    /// The footer of a Parquet file, read again if it was not used lately.
    pub(super) fn footer(&self, at: usize, file: &File) -> Result<Arc<Footer>> {
        let lock = || self.footers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, footer)) = lock().iter().find(|(file, _)| *file == at) {
            return Ok(footer.clone());
        }
        let footer = parquet::load(file)
            .and_then(|metadata| Footer::new(&metadata, &self.columns))
            .map_err(|why| self.files[at].bad(why))?;
        let footer = Arc::new(footer);
        let mut kept = lock();
        if kept.len() >= FOOTERS_KEPT {
            kept.remove(0);
        }
        kept.push((at, footer.clone()));
        Ok(footer)
    }
}
