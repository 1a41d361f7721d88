//! Opens the corpus of a job: determines the columns to read, and builds the list of files once.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{IsTerminal as _, stdin};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytesize::ByteSize;

use super::input_notes;
use super::losses::OtherInput;
use crate::engine::interruptible::{interruptible, interruptible_with};
use crate::engine::progress::{Progress, Unit};
use crate::options::RunOptions;
use crate::session::Session;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::Readers;
use dupsift_input::several_texts::several;
use dupsift_input::{
    Asked, BadInput, Columns, CopyFolder, FOLLOW_LINKS, Found, FoundFile, Objects, Source, Stored, check_asked,
    find_all, find_all_in, open, sort, store,
};
use dupsift_publish::{DASH, TemporaryFolder, WorkFolder, folder_above};
use dupsift_remote::address::Address;
use dupsift_remote::{Access, Object};
use dupsift_text::Field;

/// The columns that may hold the origin of a document. The report page uses the first of these columns that the corpus's Parquet files
/// contain.
pub const SOURCE_COLUMNS: [&str; 3] = ["source", "domain", "lang"];

/// Holds the opened files of a corpus. Footers have been read and lines have been counted.
pub struct Inputs {
    /// The opened files.
    pub source: Source,
    /// The files that could not be opened.
    pub bad: Vec<BadInput>,
    /// The output's temporary folder, if inputs were copied to it.
    pub(crate) work: Option<WorkFolder>,
    /// Whether a later run could read the same inputs again, so that it may resume from the saved state of this run.
    pub(crate) can_be_read_again: bool,
    /// The other inputs that have already been read, such as a reference.
    pub(crate) others: Vec<OtherInput>,
}

impl Inputs {
    /// Adds an input that was already read. Rows and files of this input that could not be read are reported with those of the corpus.
    pub fn beside(mut self, other: Option<OtherInput>) -> Inputs {
        self.others.extend(other);
        self
    }
}

/// Finds and opens the input files. Documents are not read.
///
/// # Errors
/// Returns an error if an input is missing, if no file has a required column, or if the run is interrupted.
pub fn look(options: &RunOptions, cancel: &AtomicBool) -> Result<Inputs> {
    look_and_write(options, &Progress::hidden(), cancel, Writes::Nothing)
}

/// Specifies what may be written to disk while the inputs are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// Nothing is written.
    Nothing,
    /// Standard input and objects in stores are saved in the temporary folder.
    Input,
    /// In addition, the decompressed text of line-based files is saved because the corpus is read more than once.
    Texts,
}

impl Writes {
    /// Returns the folder for decompressed text. Files in this folder have no names and therefore require no locks and no cleanup.
    fn folder(self, options: &RunOptions) -> Option<PathBuf> {
        // If `--limit` is set, most of the decompressed text would never be read.
        if self != Writes::Texts || options.sampling.limit.is_some() {
            return None;
        }
        options.resources.work.clone().or_else(|| folder_above(&options.output.folder))
    }
}

/// Works like [`look`], but `writes` specifies what may be written to disk.
///
/// # Errors
/// See [`look`].
pub fn look_and_write(
    options: &RunOptions,
    progress: &Progress,
    cancel: &AtomicBool,
    writes: Writes,
) -> Result<Inputs> {
    let run = options.clone();
    let found = find_inputs(options, progress, cancel, writes)?;
    interruptible(cancel, move || opened(&run, found, Vec::new(), writes))
}

/// Finds the files of the corpus. Objects in stores are copied to the temporary folder of the output if something may be written.
///
/// # Errors
/// See [`look`].
pub fn find_inputs(options: &RunOptions, progress: &Progress, cancel: &AtomicBool, writes: Writes) -> Result<Found> {
    let (options, progress) = (options.clone(), progress.clone());
    interruptible_with(cancel, move |stop| {
        let copies = || match writes {
            Writes::Nothing => Ok(None),
            Writes::Input | Writes::Texts => {
                let work = WorkFolder::take(&options.output.folder, options.resources.work.as_deref())?;
                Ok(Some(CopyFolder::OfOutput(Box::new(work))))
            }
        };
        found(&options, copies, &access(&options, stop), &progress)
    })
}

/// Finds the files of an input other than the corpus. Objects in stores are copied to a temporary folder, which is removed when the last
/// file in it is no longer needed.
///
/// # Errors
/// See [`look`].
pub fn find_others(options: &RunOptions, progress: &Progress, cancel: &AtomicBool) -> Result<Found> {
    let (options, progress) = (options.clone(), progress.clone());
    interruptible_with(cancel, move |stop| {
        found(&options, || alone(&options).map(Some), &access(&options, stop), &progress)
    })
}

/// Works like [`look`], but for an input other than the corpus: objects in stores are copied as in [`find_others`].
///
/// # Errors
/// See [`look`].
pub fn look_others(options: &RunOptions, progress: &Progress, cancel: &AtomicBool) -> Result<Inputs> {
    let (run, found) = (options.clone(), find_others(options, progress, cancel)?);
    interruptible(cancel, move || look_into(&run, found, Vec::new()))
}

/// Returns how stores are reached. The flag says that nobody waits any longer.
fn access(options: &RunOptions, stop: &Arc<AtomicBool>) -> Access {
    Access { storage: options.input.storage.clone(), stop: stop.clone() }
}

/// Returns a temporary folder for the copies of objects.
fn alone(options: &RunOptions) -> Result<CopyFolder> {
    Ok(CopyFolder::Alone(Arc::new(TemporaryFolder::create(options.resources.work.as_deref())?)))
}

/// Finds files. `copies` returns the folder for the copies of objects; `None` if they must not be copied.
fn found(
    options: &RunOptions,
    copies: impl FnOnce() -> Result<Option<CopyFolder>>,
    access: &Access,
    progress: &Progress,
) -> Result<Found> {
    let find = |inputs: &[String]| find_all_in(&options.input.folder, inputs, options.taking());
    let Some(objects) = Objects::list(&options.input.paths, options.taking(), access)? else {
        return find(&options.input.paths);
    };
    let local = local(&options.input.paths);
    let mut found = if local.is_empty() { Found::default() } else { find(&local)? };
    let Some(copies) = copies()? else {
        return Err(Error::usage(format!(
            "the corpus would have to be downloaded first ({}), which only a run on this machine does; run without `dry-run`, or copy the files",
            objects.size()
        )));
    };
    found.add(downloaded(objects, copies, options, progress)?);
    Ok(found)
}

/// Copies objects to a folder.
fn downloaded(objects: Objects, to: CopyFolder, options: &RunOptions, progress: &Progress) -> Result<Found> {
    let bar = progress.stage("download", objects.bytes(), Unit::Bytes);
    objects.stage(to, options.taking(), &|bytes| bar.add(bytes))
}

/// Finds the files of the corpus of a finished run. `objects` are the objects in the record, each with its name in tables; they are copied
/// to a temporary folder if they are still what the run read.
///
/// # Errors
/// Returns the errors of [`look`], and [`Error::BadFile`] for an object that has changed since the run or cannot be downloaded.
pub fn find_recorded(
    options: &RunOptions,
    objects: Vec<(Object, String)>,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<Found> {
    let (options, progress) = (options.clone(), progress.clone());
    interruptible_with(cancel, move |stop| {
        let local = local(&options.input.paths);
        let mut found = if local.is_empty() && !objects.is_empty() {
            Found::default()
        } else {
            find_all(&local, options.taking())?
        };
        if !objects.is_empty() {
            let objects = Objects::recorded(objects, options.taking(), &access(&options, stop))?;
            let mut staged = downloaded(objects, alone(&options)?, &options, &progress)?;
            if let Some(BadInput { path, why, .. }) = staged.bad.pop() {
                let why = format!("{why}; run again with `overwrite`, or pass `input=DIR` with a copy of the corpus");
                return Err(Error::BadFile { path, why });
            }
            found.add(staged);
        }
        Ok(found)
    })
}

/// Checks that there is something to read in an input other than the corpus. Nothing is copied.
///
/// # Errors
/// See [`look`].
pub fn check_there(options: &RunOptions, cancel: &AtomicBool) -> Result<()> {
    let options = options.clone();
    interruptible_with(cancel, move |stop| {
        Objects::list(&options.input.paths, options.taking(), &access(&options, stop))?;
        let local = local(&options.input.paths);
        if local.is_empty() { Ok(()) } else { find_all(&local, options.taking()).map(|_| ()) }
    })
}

/// Returns the inputs that are not addresses of stores.
fn local(inputs: &[String]) -> Vec<String> {
    inputs.iter().filter(|input| Address::of(input).is_none()).cloned().collect()
}

/// Works like `look_and_write`, but also accepts standard input.
///
/// # Errors
/// See [`look`]. Also returns an error if standard input is a terminal or must not be saved.
pub fn take_in(options: &RunOptions, progress: &Progress, cancel: &AtomicBool, writes: Writes) -> Result<Inputs> {
    let is_dash = |input: &String| input == DASH;
    if !options.input.paths.iter().any(is_dash) {
        return look_and_write(options, progress, cancel, writes);
    }
    if writes == Writes::Nothing {
        return Err(Error::wrong(
            "dry-run",
            "standard input can be read only once, so a dry run cannot check it; expected files, folders or globs",
        ));
    }
    if stdin().is_terminal() {
        return Err(Error::usage(
            "standard input is a terminal; expected JSON lines from another program or a file: dupsift run - < crawl.jsonl",
        ));
    }
    let options = options.clone();
    interruptible(cancel, move || {
        let mut others = options.input.paths.clone();
        others.retain(|input| !is_dash(input));
        let mut found = match others.is_empty() {
            true => Found::default(),
            false => find_all_in(&options.input.folder, &others, options.taking())?,
        };
        let Stored { file, work } = store(
            (stdin().lock(), &readers_of_input()),
            &options.output.folder,
            options.resources.work.as_deref(),
            options.taking(),
        )?;
        tracing::info!(
            "standard input was saved in the temporary folder ({}); this run cannot be resumed",
            ByteSize(file.bytes)
        );
        found.files.push(file);
        sort(&mut found.files);
        Ok(Inputs { work: Some(work), can_be_read_again: false, ..opened(&options, found, Vec::new(), writes)? })
    })
}

/// Returns the users who may read the file that is standard input; everybody if it is not a file.
fn readers_of_input() -> Readers {
    let open = stdin().as_fd().try_clone_to_owned().map(File::from);
    open.map_or_else(|_| Readers::default(), |file| Readers::of_open(&file))
}

/// Opens the files that were found, and warns about files that cannot be used. `asked` holds columns that a command reads in addition to
/// the columns that the options specify.
///
/// # Errors
/// See [`look`].
pub fn look_into(options: &RunOptions, found: Found, asked: Vec<Asked>) -> Result<Inputs> {
    opened(options, found, asked, Writes::Nothing)
}

fn opened(options: &RunOptions, found: Found, asked: Vec<Asked>, writes: Writes) -> Result<Inputs> {
    let mut found = found;
    let work = found.work.take();
    check_named(options, &found.files, asked)?;
    let (source, bad) = open(found, &columns(options), options.resources.threads, writes.folder(options).as_deref())?;
    if !options.guards.strict {
        let is_said = |bad: &BadInput| bad.takes_part || bad.why.ends_with(FOLLOW_LINKS);
        let aside = |bad: &BadInput| if is_said(bad) { "" } else { "; the file is skipped" };
        bad.iter().for_each(|file| tracing::warn!("{}: {}{}", file.path.display(), file.why, aside(file)));
    }
    input_notes::notes(&source).iter().for_each(|note| tracing::warn!("{note}"));
    Ok(Inputs { source, bad, work, can_be_read_again: true, others: Vec::new() })
}

/// Checks that each column that the options or `asked` specify exists in at least one file. Reads the first lines of files if necessary.
///
/// # Errors
/// Returns [`dupsift_core::error::Error::Usage`] with the available columns if a column does not exist.
pub fn check_named(options: &RunOptions, found: &[FoundFile], asked: Vec<Asked>) -> Result<()> {
    let of_files = text_and_id(options).filter(|_| found.iter().all(|file| file.format.facts().names_columns));
    // In columnar files, these columns and their types are checked when the footers are read.
    let of_files = of_files.filter(|_| found.iter().any(|file| !file.format.facts().is_columnar));
    let asked: Vec<Asked> = of_files.chain(named(options)).chain(asked).collect();
    match check_asked(found, &asked, options.resources.threads) {
        // No file has a column with this name, so the name is interpreted as a list of columns, each of which has to exist.
        Err(_) if asked.iter().any(|asked| is_several(options, asked)) => {
            let each = asked.into_iter().flat_map(|asked| {
                let names =
                    if is_several(options, &asked) { several(&asked.column) } else { vec![asked.column.clone()] };
                names.into_iter().map(move |column| Asked { column, ..asked.clone() })
            });
            check_asked(found, &each.collect::<Vec<_>>(), options.resources.threads)
        }
        checked => checked,
    }
}

/// Returns whether `asked` is a list of columns that are joined into one text.
fn is_several(options: &RunOptions, asked: &Asked) -> bool {
    asked.option == "text-column" && asked.column == options.columns.text_column && !several(&asked.column).is_empty()
}

/// Returns the text and id columns that you specified. Opening a file includes a check that these columns exist.
fn text_and_id(options: &RunOptions) -> impl Iterator<Item = Asked> {
    let text = if options.columns.html { "html-column" } else { "text-column" };
    let text = (text, &options.columns.text_column, options.columns.text_required);
    let both = [text, ("id-column", &options.columns.id_column, options.columns.id_required)].into_iter();
    let both = both.filter(|(.., required)| *required);
    both.map(|(option, column, _)| Asked { option, column: column.clone(), plain: false })
}

/// Returns the other columns that you specified and that every pass reads.
fn named(options: &RunOptions) -> impl Iterator<Item = Asked> {
    let fields =
        Field::ALL.into_iter().filter(|&field| options.columns.fields_required[field as usize]).map(|field| Asked {
            option: column_option(field),
            column: options.columns.field_columns[field as usize].clone(),
            plain: false,
        });
    let pages = ["content-type-column", "url-column"].into_iter().zip(page_columns(options));
    let pages = pages.zip(options.columns.page_columns_required).filter(|(_, required)| *required);
    let pages = pages.map(|((option, column), _)| Asked { option, column, plain: false });
    let keep = options.removal.keep.columns().into_iter().map(|column| Asked { option: "keep", column, plain: true });
    let per = options.removal.keep_per.iter();
    let per = per.map(|column| Asked { option: "keep-per", column: column.clone(), plain: true });
    let source = options.guards.source_column.iter();
    let source = source.map(|column| Asked { option: "source-column", column: column.clone(), plain: true });
    let scope = options.recipe.scope_column().into_iter();
    let scope = scope.map(|column| Asked { option: "scope", column: column.clone(), plain: true });
    keep.chain(per).chain(source).chain(scope).chain(fields).chain(pages)
}

/// Returns the option that specifies the column of a field.
fn column_option(field: Field) -> &'static str {
    match field {
        Field::Title => "title-column",
        Field::Keywords => "keywords-column",
        Field::Description => "description-column",
    }
}

/// Returns the notes on the inputs of a run in which all documents have been read.
pub fn notes(session: &Session<'_>, bad: &[BadInput]) -> Vec<String> {
    input_notes::notes(session.source).into_iter().chain(arrived(session, bad)).collect()
}

/// Returns a note on files that were added to the inputs after the list was built. These files are not part of the job.
fn arrived(session: &Session<'_>, bad: &[BadInput]) -> Option<String> {
    // Inputs that no longer exist cannot contain new files.
    let mut files = local(&session.options.input.paths);
    files.retain(|input| *input != DASH);
    let now = find_all_in(&session.options.input.folder, &files, session.options.taking()).unwrap_or_default().files;
    let listed = session.source.files.iter().map(|file| file.path.as_path()).chain(bad.iter().map(|file| &*file.path));
    let listed: BTreeSet<&Path> = listed.collect();
    let is_new = |path: &Path| !listed.contains(path) && !session.source.unread.names(path);
    let new = now.iter().filter(|file| is_new(&file.path)).count();
    let first = now.iter().find(|file| is_new(&file.path))?;
    let note = format!(
        "{new} {files} appeared in the inputs during the run, such as {}; run again to include {them}",
        first.label,
        files = if new == 1 { "file" } else { "files" },
        them = if new == 1 { "it" } else { "them" }
    );
    tracing::warn!("{note}");
    Some(note)
}

/// Returns the extensions of the files that dupsift reads, for help texts.
pub fn input_endings() -> String {
    dupsift_input::formats::endings()
}

/// Returns the columns that the options specify.
pub fn columns(options: &RunOptions) -> Columns {
    Columns {
        text: options.columns.text_column.clone(),
        parts: Vec::new(),
        several: if options.columns.html { Vec::new() } else { several(&options.columns.text_column) },
        html: options.columns.html,
        id: options.columns.id_column.clone(),
        id_required: options.columns.id_required,
        others: options
            .removal
            .keep
            .columns()
            .into_iter()
            .chain(options.removal.keep_per.clone())
            .chain(options.guards.source_column.clone())
            .chain(options.recipe.scope_column().cloned())
            .chain(fields(options))
            .chain(report_columns(options))
            .chain(page_columns(options))
            .chain(options.columns.other_columns.iter().cloned())
            .collect(),
        lists: options.columns.list_columns.clone(),
    }
}

/// Returns the columns that are read in addition to the HTML pages when text is extracted from the pages.
fn page_columns(options: &RunOptions) -> [String; 2] {
    [options.columns.content_type_column.clone(), options.columns.url_column.clone()]
}

/// Returns the columns that the algorithms read in addition to the text.
fn fields(options: &RunOptions) -> impl Iterator<Item = String> {
    options.recipe.fields().into_iter().map(|field| options.columns.field_columns[field as usize].clone())
}

/// Returns the columns that only the report page reads.
fn report_columns(options: &RunOptions) -> impl Iterator<Item = String> {
    SOURCE_COLUMNS.iter().filter(|_| options.output.report).map(ToString::to_string)
}
