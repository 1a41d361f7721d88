//! Holds the files of the corpus and their row counts, from which all document numbers are derived.
//!
//! Documents are numbered in the order of the sorted list of readable files. The rows of an unreadable file are not numbered. Therefore, if
//! damage is found late, the documents are renumbered without the damaged file ([`Source::skip`]), and none of the file's rows may be
//! counted anywhere.

use crate::compressed::coding::Coding;
use crate::compressed::repacked::Repacked;
use crate::compressed::repacking;
use crate::compressed::repacking::{Again, RepackedBlocks, Repacking};
use crate::compressed::rest::Lost;
use crate::compressed::unpacked_bytes::UnpackedBytes;
use crate::corpus::file_columns::columns_of;
use crate::corpus::several_texts::has_several;
use crate::corpus::stamp::Stamp;
use crate::damaged::damaged;
use crate::find::foreign;
use crate::find::found::{Downloads, Found};
use crate::find::found_file::FoundFile;
use crate::find::found_file::Staged;
use crate::find::hive;
use crate::find::unread::Unread;
use crate::format::Format;
use crate::format::open::{Archived, Opened, Opening, Piece, Unusable};
use crate::format::read::Shared;
use crate::format::starts::{Starts, Within};
use arrow::datatypes::DataType;
use dupsift_core::error::{Error, Result, too_many_open};
use dupsift_core::number::counted;
use dupsift_tables::IdKind;
use dupsift_tables::document::id_kind;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use crate::find::bad_input::BadInput;
pub use crate::format::columns::Columns;

/// A file of the corpus.
#[derive(Clone, Debug)]
pub struct InputFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The label of the file, as used in `FILE#ROW`.
    pub label: String,
    /// The format of the file.
    pub format: &'static dyn Format,
    /// The compression and encoding of the file.
    pub coding: Coding,
    /// Whether the text column of the file contains web pages; see [`Documents::page`](dupsift_tables::Documents::page).
    pub html: bool,
    /// The number of the first document in the file.
    pub first_doc: u64,
    /// The number of rows: the row count of a Parquet file, the number of lines that are not blank, or the number of records in a web
    /// archive that contain a page, including broken records.
    pub rows: u64,
    /// The size on disk, in bytes.
    pub bytes: u64,
    /// The uncompressed size of the text column in bytes, if the file contains that information; for JSON lines, the size of all lines; for
    /// web archives, the size of the blocks of all rows.
    pub text_bytes: u64,
    /// The kind of ids; `None` if there is no id column, or if the kind is known only after the whole file is read (JSON lines).
    pub id: Option<IdKind>,
    /// The reason why an existing id column is unusable; `None` if the column is usable or missing.
    pub id_note: Option<String>,
    /// The columns from [`Columns::others`] that exist in the file.
    pub others: Vec<String>,
    /// Notes about the file for the summary.
    pub notes: Vec<String>,
    /// The number of records in a web archive that are not rows, by type, and the number of its truncated rows.
    pub archived: Option<Archived>,
    pub(crate) lost: Option<Lost>,
    /// The requested columns that come from the names of the file's folders, with their types; the file itself does not contain these
    /// columns.
    pub(crate) partitions: Vec<Partition>,
    /// Whether the text of the file is combined from several columns.
    pub(super) has_several: bool,
    /// The local copy, if the file is an object in a store. Then `path` is the object's address.
    pub staged: Option<Staged>,
    /// Whether the text of the file is joined from lists.
    pub(crate) is_joined: bool,
    pub(crate) longest: u64,
    pub(crate) stamp: Stamp,
    /// The coding as specified, before the file was inspected.
    pub(crate) given: Coding,
    /// The repacked text of the file, if it cannot be split and was repacked.
    pub(crate) repacked: Option<Arc<Repacked>>,
    pub(crate) unpacked: UnpackedBytes,
    pub(crate) pieces: Vec<Piece>,
}

/// The readable files of a corpus.
#[derive(Debug)]
pub struct Source {
    /// The files, sorted by path, without duplicates.
    pub files: Vec<InputFile>,
    /// Notes about the files as a whole.
    pub notes: Vec<String>,
    /// The input files that are not read.
    pub unread: Unread,
    /// The downloads from object stores.
    pub downloads: Option<Downloads>,
    pub(crate) columns: Columns,
    /// The columns for files whose text is combined from several columns.
    pub(crate) apart: Columns,
    pub(crate) shared: Shared,
}

/// Opens the files on this many threads: reads the footers of Parquet files, and scans entire JSON lines files and web archives to count
/// their rows. If a folder for temporary files is given, line-based files that cannot be split are repacked there, so that later reads can
/// run in parallel.
///
/// # Errors
/// Returns [`Error::Io`] if too many files are open, or [`Error::Usage`] if all readable files lack the text column or an explicitly
/// specified id column. If some files have the column, the files without the column are returned as [`BadInput`], like all unreadable
/// files.
pub fn open(
    found: impl Into<Found>,
    columns: &Columns,
    threads: usize,
    work: Option<&Path>,
) -> Result<(Source, Vec<BadInput>)> {
    let Found { files: found, mut unread, bad: links, downloads, .. } = found.into();
    let of_folders = hive::columns(found.iter().map(|file| &file.partitions));
    let work = work.filter(|_| found.iter().any(|file| file.format.facts().is_packed && !file.coding.is_plain()));
    let opened = repacking::look_at_all(&found, threads, work, |file, repacking| {
        look(file, columns, &of_folders, repacking).map_err(|why| foreign::named(file, why))
    });
    let mut twice: BTreeMap<String, String> = BTreeMap::new();
    let mut files: Vec<InputFile> = Vec::new();
    let (mut bad, data) = (Vec::new(), unread.take_data());
    let mut no_ids: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut lacking, mut unusable) = (None, 0usize);
    let mut first_doc = 0;
    for (found, opened) in found.into_iter().zip(opened) {
        unusable += usize::from(opened.is_err());
        match opened {
            Ok(((mut file, of_both), again)) => {
                file.take_again(again);
                of_both.into_iter().for_each(|name| _ = twice.entry(name).or_insert_with(|| file.label.clone()));
                if let Some(why) = &file.id_note {
                    no_ids.entry(why.clone()).or_default().push(file.label.clone());
                }
                bad.extend(file.lost.clone().map(|lost| BadInput::part(&file, lost)));
                file.first_doc = first_doc;
                first_doc += file.rows;
                files.push(file);
            }
            Err(Unusable::Lacks(why)) => {
                lacking.get_or_insert_with(|| format!("{}: {why}", found.path.display()));
                bad.push(BadInput::whole(found, why));
            }
            Err(Unusable::Other(why)) => {
                lacking.get_or_insert_with(|| format!("{}: {why}", found.path.display()));
                if found.is_guess { unread.add(&found.path, &why) } else { bad.push(BadInput::whole(found, why)) }
            }
            Err(Unusable::Bad(why)) if too_many_open(&why).is_some() => return Err(damaged(&found.path, why)),
            Err(Unusable::Bad(why)) => bad.push(BadInput::whole(found, why)),
        }
    }
    bad.extend(links);
    if let (true, Some(why)) = (files.is_empty(), lacking) {
        let others = unusable - 1;
        let tail = if others > 0 {
            format!(" (and {} that cannot be used either)", counted(others as u64, "other file"))
        } else {
            String::new()
        };
        return Err(Error::usage(why + &tail));
    }
    let note = |(name, label)| {
        format!(
            "column {name} occurs both in the files and in their folder names (first in {label}); the column in the files is used"
        )
    };
    let ids = |(why, files): (String, Vec<String>)| {
        let more = if files.len() > 1 { format!(" and {} more", files.len() - 1) } else { String::new() };
        format!(
            "{file}{more}: {why}; their documents are named FILE#ROW; pass `id-column` to use a different column",
            file = files[0]
        )
    };
    let notes = twice.into_iter().map(note).chain(no_ids.into_iter().map(ids)).collect();
    bad.extend(data);
    Ok((
        Source {
            files,
            notes,
            unread,
            downloads,
            columns: columns.clone(),
            apart: columns.apart(),
            shared: Shared::default(),
        },
        bad,
    ))
}

/// The description of an inspected file, and the columns that occur both in the file and in its folder names.
type Looked = (InputFile, Vec<String>);

/// Inspects a file in the format that its name indicates.
fn look(
    found: &FoundFile,
    columns: &Columns,
    of_folders: &[(String, DataType)],
    repacking: Option<&Repacking>,
) -> std::result::Result<(Looked, Option<RepackedBlocks>), Unusable> {
    let opened = File::open(found.on_disk()).and_then(|file| Ok((Stamp::of_file(&file)?, file)));
    let (stamp, file) = opened.map_err(|error| Unusable::Bad(format!("cannot be opened: {error}")))?;
    foreign::pointer(&file).map_or(Ok(()), |why| Err(Unusable::Bad(why)))?;
    let (partitions, of_both) = partitions(found, columns, of_folders).map_err(Unusable::Bad)?;
    let of_folder = |name: &str| partitions.iter().find(|partition| partition.name == name);
    let id_of_folder = of_folder(&columns.id).and_then(|partition| id_kind(&partition.data_type));
    let required = columns.id_required && id_of_folder.is_none();
    let several = has_several(found, columns)?;
    let asked = if several { columns.apart() } else { columns.clone() };
    let asked = Columns { id_required: required, ..asked };
    let Opened { id, id_note, mut others, is_joined, pieces, longest, coding, notes, lost, archived, written } =
        found.format.open(file, Opening { coding: found.coding, columns: &asked, repacking })?;
    for partition in partitions.iter().filter(|partition| columns.others.contains(&partition.name)) {
        if !others.contains(&partition.name) {
            others.push(partition.name.clone());
        }
    }
    let id_note = if id_of_folder.is_some() { None } else { id_note };
    let sum = |of: fn(&Piece) -> u64| pieces.iter().map(of).sum();
    let file = InputFile {
        path: found.path.clone(),
        label: found.label.clone(),
        format: found.format,
        coding: coding.unwrap_or(found.coding),
        html: columns.html || found.format.facts().has_pages,
        first_doc: 0,
        rows: sum(|piece| piece.rows),
        bytes: stamp.bytes,
        text_bytes: sum(|piece| piece.bytes),
        id: id_of_folder.or(id),
        id_note,
        others,
        notes,
        archived,
        lost,
        partitions,
        has_several: several,
        staged: found.staged.clone(),
        is_joined,
        longest,
        stamp,
        given: found.coding,
        repacked: None,
        unpacked: UnpackedBytes::default(),
        pieces,
    };
    Ok(((file, of_both), written))
}

/// A column whose value comes from the name of one of the file's folders.
#[derive(Clone, Debug)]
pub(crate) struct Partition {
    pub name: String,
    pub value: Option<String>,
    pub data_type: DataType,
}

/// Returns the requested columns that only the folder names provide, and the names of columns that occur both in the folder names and in
/// the file. Text is never taken from a folder name.
///
/// # Errors
/// Returns the reason why the file cannot be read.
fn partitions(
    found: &FoundFile,
    columns: &Columns,
    of_folders: &[(String, DataType)],
) -> std::result::Result<(Vec<Partition>, Vec<String>), String> {
    let asked = |name: &String| *name != columns.text && columns.names().contains(&name.as_str());
    let asked: Vec<_> = found.partitions.iter().filter(|(name, _)| asked(name)).collect();
    if asked.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let names: Vec<&str> = asked.iter().map(|(name, _)| name.as_str()).collect();
    let own = columns_of(found, &names)?.unwrap_or_default().columns;
    let is_own = |name: &str| own.iter().any(|column| column.name == name);
    let of_both = asked.iter().filter(|(name, _)| is_own(name)).map(|(name, _)| name.clone()).collect();
    let partition = |(name, value): &(String, Option<String>)| {
        let (_, data_type) = of_folders.iter().find(|(known, _)| known == name)?;
        Some(Partition { name: name.clone(), value: value.clone(), data_type: data_type.clone() })
    };
    let partitions = asked.into_iter().filter(|(name, _)| !is_own(name)).filter_map(partition).collect();
    Ok((partitions, of_both))
}

impl InputFile {
    /// Returns the error that causes this file to be skipped or, if too many files are open, the error that ends the run.
    pub(crate) fn bad(&self, why: impl Into<String>) -> Error {
        damaged(&self.path, why.into())
    }

    /// Returns the metadata that distinguishes the opened file from other files with the same name.
    pub fn seen(&self) -> Stamp {
        self.stamp
    }

    /// Returns the path of the file that is opened.
    pub(super) fn on_disk(&self) -> &Path {
        self.staged.as_ref().map_or(&self.path, |staged| &staged.copy)
    }

    /// Opens the file again. Each read needs its own handle, because the cursor must not be shared.
    ///
    /// # Errors
    /// Returns [`Error::BadFile`] if the file is gone or has been replaced.
    pub fn reopen(&self) -> Result<File> {
        let file = File::open(self.on_disk()).map_err(|error| self.bad(format!("can no longer be opened: {error}")))?;
        self.check_unchanged(&file)?;
        Ok(file)
    }

    /// Returns an error if the file has changed since it was opened.
    pub(super) fn check_unchanged(&self, file: &File) -> Result<()> {
        match Stamp::of_file(file) {
            Ok(stamp) if self.stamp.stays(&stamp) => Ok(()),
            Ok(stamp) => Err(self.bad(format!(
                "the file changed while it was being read ({} bytes before, {} bytes now, or a different modification time); do not change the corpus during a run",
                self.stamp.bytes, stamp.bytes
            ))),
            Err(error) => Err(self.bad(format!("can no longer be accessed: {error}"))),
        }
    }
}

impl InputFile {
    /// Returns the size in bytes of the longest line if rows are lines, otherwise 0.
    pub fn longest_line(&self) -> u64 {
        if self.format.facts().names_columns { self.longest } else { 0 }
    }

    /// Returns the total size of the values of these columns in the largest row; see [`Format::longest_of`].
    ///
    /// # Errors
    /// Returns an error if the file has become unreadable.
    pub fn longest_of(&self, names: &[String], small: u64) -> Result<u64> {
        let failed = |why| self.bad(format!("cannot be read any further: {why}"));
        self.format.longest_of(self.reopen()?, self.coding, names, small).map_err(failed)
    }

    /// Returns whether, judging by the recorded pieces, a read holds more than this many bytes of the requested columns in memory at a
    /// time.
    pub fn holds_more(&self, bytes: u64) -> bool {
        self.pieces.iter().any(|piece| piece.held > bytes)
    }
}

impl BadInput {
    /// Describes a file that can be read only in part.
    fn part(file: &InputFile, lost: Lost) -> BadInput {
        let (path, label) = (file.path.clone(), file.label.clone());
        BadInput { path, label, why: lost.why, bytes: lost.bytes, takes_part: true }
    }
}

impl Source {
    /// Returns the paths of the files that are not objects in a store.
    pub fn local_paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().filter(|file| file.staged.is_none()).map(|file| &*file.path)
    }

    /// Removes the files with these paths, which are damaged or missing, and returns them with the reasons. The remaining files keep their
    /// state and are renumbered as if the removed files had never existed.
    pub fn skip(&mut self, late: &BTreeMap<PathBuf, String>) -> Vec<BadInput> {
        let mut bad = Vec::new();
        self.files.retain(|file| match late.get(&file.path) {
            None => true,
            Some(why) => {
                let (path, label, why) = (file.path.clone(), file.label.clone(), why.clone());
                bad.push(BadInput { path, label, why, bytes: file.bytes, takes_part: false });
                false
            }
        });
        self.number();
        bad
    }

    /// Reopens each file whose ctime has changed since it was opened, but whose size and modification time are unchanged. The ctime
    /// changes, for example, if permissions are changed, so the content may be the same. Returns the path of each file, with the part that
    /// is lost or the reason why the file is unusable.
    pub fn look_again(&mut self) -> BTreeMap<PathBuf, std::result::Result<Option<BadInput>, String>> {
        let partitions: Vec<hive::Partitions> = self.files.iter().map(|file| hive::partitions(&file.label)).collect();
        let of_folders = hive::columns(partitions.iter());
        let mut again = BTreeMap::new();
        for (at, partitions) in partitions.into_iter().enumerate() {
            let file = &self.files[at];
            let is_touched = |now: &Stamp| file.stamp.looks_like(now) && !file.stamp.stays(now);
            if !Stamp::of(file.on_disk()).is_ok_and(|now| is_touched(&now)) {
                continue;
            }
            let (path, label, bytes) = (file.path.clone(), file.label.clone(), file.bytes);
            let (format, coding, staged) = (file.format, file.given, file.staged.clone());
            let found =
                FoundFile { path: path.clone(), label, format, coding, is_guess: false, bytes, partitions, staged };
            let looked = look(&found, &self.columns, &of_folders, None).map_err(|why| foreign::named(&found, why));
            let looked = match looked {
                Ok(((mut file, _), _)) => {
                    file.take_again(Again::No);
                    let lost = file.lost.take().map(|lost| BadInput::part(&file, lost));
                    self.files[at] = file;
                    Ok(lost)
                }
                Err(Unusable::Lacks(why) | Unusable::Other(why) | Unusable::Bad(why)) => Err(why),
            };
            again.insert(path, looked);
        }
        self.number();
        again
    }

    /// Numbers the documents of all files, one file after another.
    fn number(&mut self) {
        let mut first_doc = 0;
        for file in &mut self.files {
            file.first_doc = first_doc;
            first_doc += file.rows;
        }
    }

    /// Returns the number of documents; every document number is smaller than this count.
    pub fn documents(&self) -> u64 {
        self.files.last().map_or(0, |file| file.first_doc + file.rows)
    }

    /// Returns whether at least one file contains web pages.
    pub fn has_pages(&self) -> bool {
        self.files.iter().any(|file| file.html)
    }

    /// Returns whether at least one file has text that is joined from lists, as determined when the files were opened.
    pub fn has_joined_texts(&self) -> bool {
        self.files.iter().any(|file| file.is_joined)
    }

    /// Returns whether the text of at least one file is combined from several columns.
    pub fn has_several_texts(&self) -> bool {
        self.files.iter().any(|file| file.has_several)
    }

    /// Returns the file that contains a document, and the document's row in that file, counted from 0.
    ///
    /// # Panics
    /// Panics if the number is not below [`Source::documents`].
    pub fn locate(&self, doc: u64) -> (&InputFile, u64) {
        let file = &self.files[self.place(doc)];
        (file, doc - file.first_doc)
    }

    /// Returns the index of the file that contains a document.
    ///
    /// # Panics
    /// Panics like [`Source::locate`].
    pub fn place(&self, doc: u64) -> usize {
        assert!(doc < self.documents(), "there is no document {doc}");
        // Files without rows have the same first number as the next file, so the document is in the last file that starts at or before the
        // document.
        self.files.partition_point(|file| file.first_doc <= doc) - 1
    }

    /// Returns `FILE#ROW`, the name of a document without an id.
    ///
    /// # Panics
    /// Panics like [`Source::locate`].
    pub fn name_of(&self, doc: u64) -> String {
        let (file, row) = self.locate(doc);
        format!("{}#{row}", file.label)
    }

    /// Returns the rows of a piece at which a read can begin without unpacking earlier rows, if such rows are known.
    pub(crate) fn starts_within(&self, at: usize, piece: usize) -> Starts {
        let input = &self.files[at];
        let (Ok(file), Some(piece)) = (input.reopen(), input.pieces.get(piece)) else { return Starts::default() };
        let (columns, shared) = (self.columns_of(input), &self.shared);
        input.format.starts_within(file, &Within { path: &input.path, start: piece.start, columns, shared })
    }
}
