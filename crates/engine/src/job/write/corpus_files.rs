//! Writes the resulting corpus (`--corpus`). Kept rows go to `deduped/` and removed rows to `dropped/`, in files with the same names as the
//! input files. The marks of each row go to `attributes/`.

use std::sync::{Mutex, PoisonError};

use super::attributes::{self, ClusterColumns, MarkSources};
use crate::job::decide::decided::Decided;
use crate::job::run_report::{CorpusReport, FolderReport};
use crate::job::text_edits::TextEdits;
use crate::options::{DUPLICATES, RunOptions};
use crate::reading::read::large_page;
use crate::reading::rejected::Rejected;
use crate::session::Session;
use dupsift_core::error::{Error, Result};
use dupsift_core::row::number;
use dupsift_input::{Added, AddedList, Copying, Edits, InputFile, Source};
use dupsift_publish::Stage;
use dupsift_spill::shuffle::AtomicBits;
use dupsift_tables::IdRef;

/// Records whether each row is kept, removed or rejected.
struct Fates {
    removed: AtomicBits,
    rejected: AtomicBits,
    documents: u64,
}

impl Fates {
    fn new(session: &Session<'_>, decided: &Decided, rejected: &Rejected) -> Result<Fates> {
        let bits = |name| AtomicBits::new(session.engine.dir, name, session.documents() as usize);
        let fates = Fates { removed: bits("goes")?, rejected: bits("set-aside")?, documents: session.documents() };
        for partition in 0..decided.rows.partitions() {
            let records = decided.rows.load(partition, session.engine.budget.a_thread)?;
            (0..records.len()).for_each(|at| _ = fates.removed.set(number(&records.record(at)[..8]) as usize));
        }
        rejected.each(session.engine, |doc, _, _| {
            fates.rejected.set(doc as usize);
            Ok(())
        })?;
        Ok(fates)
    }

    /// Rows outside `--limit` are neither kept nor removed.
    fn goes(&self, doc: u64) -> bool {
        doc < self.documents && self.removed.get(doc as usize)
    }

    fn stays(&self, doc: u64) -> bool {
        doc < self.documents && !self.removed.get(doc as usize) && !self.rejected.get(doc as usize)
    }
}

/// Specifies a folder of copies to write.
pub struct Folder<'f> {
    /// The name of the folder in the output.
    pub name: &'static str,
    /// Whether a document is in the folder.
    pub takes: &'f (dyn Fn(u64) -> bool + Sync),
    /// Whether the folder also contains files without rows, if the corpus has such files.
    pub has_empty: bool,
    /// The changes to the text of documents, if there are any.
    pub edited: Option<Edited<'f>>,
    /// The columns that are added to each row.
    pub added: Option<&'f ClusterColumns<'f>>,
}

/// Specifies the documents whose text is changed when it is written, and how it is changed.
#[derive(Clone, Copy)]
pub struct Edited<'f> {
    /// Whether a document's text is changed.
    pub has: &'f (dyn Fn(u64) -> bool + Sync),
    /// Returns the changed text, or `None` if the given text differs from the text that was read earlier.
    pub edit: &'f (dyn Fn(u64, &str) -> Option<String> + Sync),
}

/// Checks, before any work is done, that the requested output can be written.
///
/// # Errors
/// Returns [`dupsift_core::error::Error::Usage`] if two files have the same name or if rows of a file's format cannot be copied
/// individually, [`dupsift_core::error::Error::LargePage`] if a page is too large, and an error if a file cannot be read.
pub fn check(session: &Session<'_>) -> Result<()> {
    let corpus = session.options.output.corpus;
    check_cut(session.options, session.source)?;
    if corpus.is_none() {
        return Ok(());
    }
    session.source.places(0)?;
    if !corpus.copies() {
        return Ok(());
    }
    let files = &session.source.files;
    let added = session.options.output.add.names();
    let check = |at: usize| {
        if !added.is_empty() {
            files[at].check_adding(&added)?;
        }
        let page = files[at].check_copying(&|bytes, longest| session.engine.budget.fits(bytes, longest))?;
        page.map_or(Ok(()), |page| Err(large_page(session.engine, page)))
    };
    session.engine.work(files.len(), || Ok(()), |(), at| check(at), Ok)?;
    session.engine.none_bad()
}

/// Checks that the formats of these files support the requested output, without reading the files.
///
/// # Errors
/// Returns [`dupsift_core::error::Error::Usage`] for the first file whose format does not support it.
pub(crate) fn check_formats(options: &RunOptions, source: &Source) -> Result<()> {
    check_cut(options, source)?;
    if !options.output.corpus.copies() {
        return Ok(());
    }
    source.files.iter().try_for_each(InputFile::check_format)
}

/// Checks that passages can be cut from these files, if the options request it.
///
/// # Errors
/// See [`check_editing`].
pub(crate) fn check_cut(options: &RunOptions, source: &Source) -> Result<()> {
    if options.cut.what.is_none() { Ok(()) } else { check_editing(options, source, "cut") }
}

/// Checks that the text in these files can be changed when it is written. `option` is the name of the option that requires the change.
///
/// # Errors
/// Returns [`dupsift_core::error::Error::Usage`] for HTML pages, for text joined from several columns, and for formats that cannot be
/// edited.
pub fn check_editing(options: &RunOptions, source: &Source, option: &'static str) -> Result<()> {
    let refused = |why: &str| Err(Error::wrong(option, why));
    if source.has_pages() {
        return refused(
            "passages cannot be cut from HTML pages or web archives; run `dupsift purify` first, then use its pages/ as input",
        );
    }
    if source.has_several_texts() {
        return refused(
            "passages cannot be cut if the text comes from several columns; pass a single column as `text-column`",
        );
    }
    if source.has_joined_texts() {
        return refused("passages cannot be cut if the text is a list; convert the lists to strings first");
    }
    match options.output.corpus.keep {
        true => source.files.iter().try_for_each(|file| file.check_editing(option)),
        false => Ok(()),
    }
}

/// Writes the folders that the option `corpus` selects.
///
/// # Errors
/// Returns an error if a file is damaged, the disk is full, or the run is interrupted.
pub fn write(session: &Session<'_>, stage: &Stage, known: MarkSources<'_>) -> Result<CorpusReport> {
    write_by(session, stage, (known.decided, &known.taken.rejected), known.cuts, Some(known))
}

/// Writes the folders that the option `corpus` selects, based on the decisions, rejections and cuts. `known` is used only for attributes/
/// and for added columns.
///
/// # Errors
/// See [`write()`].
pub fn write_by(
    session: &Session<'_>,
    stage: &Stage,
    (decided, rejected): (&Decided, &Rejected),
    cuts: Option<&TextEdits>,
    known: Option<MarkSources<'_>>,
) -> Result<CorpusReport> {
    let fates = Fates::new(session, decided, rejected)?;
    let (all, removed, rejected) = (session.rows(), fates.removed.count(), fates.rejected.count());
    let mut report = CorpusReport {
        written: session.options.output.corpus.to_string(),
        rows: all,
        kept: all - removed - rejected,
        removed,
        rejected,
        ..CorpusReport::default()
    };
    if let Some(known) = known.filter(|_| session.options.output.corpus.annotate) {
        report.folders.insert("attributes".to_owned(), attributes::write(session, stage, known)?);
    }
    let (stays, goes) = (|doc| fates.stays(doc), |doc| fates.goes(doc));
    let has = |doc| cuts.is_some_and(|cuts| cuts.has(doc));
    let edit = |doc, text: &str| cuts?.of(doc)?.cut_out(text);
    let edited = cuts.map(|_| Edited { has: &has, edit: &edit });
    let columns = known.map_or(Ok(None), |known| ClusterColumns::new(session, known))?;
    let kept = Folder { name: "deduped", takes: &stays, has_empty: true, edited, added: columns.as_ref() };
    let dropped = Folder { name: "dropped", takes: &goes, has_empty: false, edited: None, added: None };
    let corpus = session.options.output.corpus;
    for (folder, asked) in [(kept, corpus.keep), (dropped, corpus.drop)] {
        if asked {
            report.folders.insert(folder.name.to_owned(), copy(session, stage, &folder)?);
        }
    }
    Ok(report)
}

/// Copies all files to one folder, several at a time.
///
/// # Errors
/// Returns an error if a file is damaged, the disk is full, or the run is interrupted.
pub fn copy(session: &Session<'_>, stage: &Stage, folder: &Folder<'_>) -> Result<FolderReport> {
    let running = session.engine.clock.stage(format!("write {}/", folder.name));
    let (files, indexed) = (&session.source.files, session.indexed_files());
    let places = session.source.places(indexed)?;
    let read_limit = session.engine.read_limit::<()>();
    let hold = |bytes: u64, run: &mut dyn FnMut()| {
        read_limit.hold(&mut (), bytes, &|| session.engine.go_on(), &|(), ()| Ok(()), |(), _| {
            run();
            Ok(())
        })
    };
    let bar = session.engine.bar(&format!("write {}/", folder.name), files.len() - indexed);
    let report = Mutex::new(FolderReport::default());
    let copy = |at: usize| {
        let file = &files[at];
        let takes = |row: u64| (folder.takes)(file.first_doc + row);
        let rows = (0..file.rows).filter(|&row| takes(row)).count() as u64;
        bar.add(1);
        if rows == 0 && !(folder.has_empty && file.rows == 0) {
            return Ok(());
        }
        let place = format!("{}/{}", folder.name, places[at - indexed]);
        let written = stage.fitting(&place);
        let out = stage.file(&written)?;
        let is_edited = |row: u64| folder.edited.is_some_and(|edited| takes(row) && (edited.has)(file.first_doc + row));
        let edit = |row: u64, text: &str| (folder.edited?.edit)(file.first_doc + row, text);
        let edits = Edits { column: &session.options.columns.text_column, is_edited: &is_edited, edit: &edit };
        let edits = (0..file.rows).any(is_edited).then_some(edits);
        let value = |row: u64, at: usize| folder.added.map_or(0, |added| added.value(file.first_doc + row, at));
        let each = |row: u64, each: &mut dyn FnMut(IdRef<'_>)| {
            folder.added.iter().for_each(|added| added.duplicates(file.first_doc + row, each));
        };
        let list = |added: &ClusterColumns<'_>| Some(AddedList { name: DUPLICATES, kind: added.list()?, each: &each });
        let added = folder.added.map(|added| Added { names: added.names(), value: &value, list: list(added) });
        let is_whole = rows == file.rows && file.is_all_rows() && edits.is_none() && added.is_none();
        let bytes = if is_whole {
            file.copy_whole(&out)?
        } else {
            file.copy_rows(&Copying {
                path: &file.path,
                coding: file.coding,
                rows: file.rows,
                chosen: &takes,
                small: session.engine.budget.small_piece(),
                hold: &hold,
                go_on: &|| session.engine.go_on(),
                out: &out,
                edits,
                added,
            })?
        };
        let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
        report.files += 1;
        report.whole += u64::from(is_whole);
        report.rows += rows;
        report.bytes += bytes;
        report.shortened(place, written);
        Ok(())
    };
    session.engine.work(files.len() - indexed, || Ok(()), |(), at| copy(indexed + at), Ok)?;
    session.engine.none_bad()?;
    let report = report.into_inner().unwrap_or_else(PoisonError::into_inner);
    report.warn_of_shortened();
    running.end(session.rows(), report.rows, report.bytes);
    Ok(report)
}
