//! The corpus of a job: which columns are asked for, and the list of its files, made once.

use std::collections::BTreeSet;
use std::io::{IsTerminal as _, stdin};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use bytesize::ByteSize;

use super::input_notes;
use super::losses::OtherInput;
use crate::engine::heard::heard;
use crate::options::RunOptions;
use crate::session::Session;
use dupsift_core::error::{Error, Result};
use dupsift_files::io::several_texts::several;
use dupsift_files::io::{
    Asked, BadInput, Columns, DASH, Found, FoundFile, Source, Stored, WorkFolder, check_asked, find_all_in,
    folder_above, open, sort, store,
};
use dupsift_text::Field;

/// Columns that say where a document comes from; a page looks for the first that a corpus has in its Parquet files.
pub const SOURCE_COLUMNS: [&str; 3] = ["source", "domain", "lang"];

/// The files of a corpus, opened: footers read, lines counted.
pub struct Inputs {
    /// The files, opened.
    pub source: Source,
    pub(crate) bad: Vec<BadInput>,
    /// The work folder of the output, where standard input was written down in it.
    pub(crate) work: Option<WorkFolder>,
    /// Inputs besides these that were read before, such as a reference.
    pub(crate) others: Vec<OtherInput>,
}

impl Inputs {
    /// Returns the same inputs beside a further one that was read, whose losses become those of the job.
    pub fn beside(mut self, other: Option<OtherInput>) -> Inputs {
        self.others.extend(other);
        self
    }
}

/// Finds and opens the input files; reads no documents.
///
/// # Errors
/// Inputs that are not there, and columns that no file has; a request to stop.
pub fn look(options: &RunOptions, cancel: &AtomicBool) -> Result<Inputs> {
    look_and_write(options, cancel, Writes::Nothing)
}

/// What the look at the inputs may write to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// Nothing.
    Nothing,
    /// What comes by standard input, in the work folder.
    Input,
    /// That, and the text of compressed files of lines, for a corpus that is read more than once.
    Texts,
}

impl Writes {
    /// Where texts go. Files that are written there have no names, so nothing has to be locked or cleared away.
    fn folder(self, options: &RunOptions) -> Option<PathBuf> {
        // Of a corpus that is only begun, most would be written for nothing.
        if self != Writes::Texts || options.limit.is_some() {
            return None;
        }
        options.work.clone().or_else(|| folder_above(&options.out))
    }
}

/// As [`look`], and what is written on the way.
///
/// # Errors
/// As [`look`].
pub fn look_and_write(options: &RunOptions, cancel: &AtomicBool, writes: Writes) -> Result<Inputs> {
    let options = options.clone();
    heard(cancel, move || {
        let found = find_all_in(&options.folder, &options.inputs, options.taking())?;
        opened(&options, found, Vec::new(), writes)
    })
}

/// The same where standard input may be among the inputs.
///
/// # Errors
/// As [`look`]; standard input that is a terminal, or that must not be written down.
pub fn take_in(options: &RunOptions, cancel: &AtomicBool, writes: Writes) -> Result<Inputs> {
    let is_dash = |input: &String| input == DASH;
    if !options.inputs.iter().any(is_dash) {
        return look_and_write(options, cancel, writes);
    }
    if writes == Writes::Nothing {
        return Err(Error::wrong(
            "dry-run",
            "standard input can be read only once, so a dry run cannot look at it; expected files, folders or globs",
        ));
    }
    if stdin().is_terminal() {
        return Err(Error::usage(
            "standard input is a terminal; expected JSON lines from another program or a file: dupsift run - < crawl.jsonl",
        ));
    }
    let options = options.clone();
    heard(cancel, move || {
        let mut others = options.inputs.clone();
        others.retain(|input| !is_dash(input));
        let mut found = match others.is_empty() {
            true => Found::default(),
            false => find_all_in(&options.folder, &others, options.taking())?,
        };
        let Stored { file, work } = store(stdin().lock(), &options.out, options.work.as_deref(), options.taking())?;
        tracing::info!(
            "standard input: {} in the work folder; this run keeps nothing for another one to go on from",
            ByteSize(file.bytes)
        );
        found.files.push(file);
        sort(&mut found.files);
        Ok(Inputs { work: Some(work), ..opened(&options, found, Vec::new(), writes)? })
    })
}

/// Opens files that were found; tells of those that cannot be used. `asked` are columns that a verb needs besides those that
/// the options name.
///
/// # Errors
/// As [`look`].
pub fn look_into(options: &RunOptions, found: Found, asked: Vec<Asked>) -> Result<Inputs> {
    opened(options, found, asked, Writes::Nothing)
}

fn opened(options: &RunOptions, found: Found, asked: Vec<Asked>, writes: Writes) -> Result<Inputs> {
    check_named(options, &found.files, asked)?;
    let (source, bad) = open(found, &columns(options), options.threads, writes.folder(options).as_deref())?;
    if !options.strict {
        let aside = |bad: &BadInput| if bad.takes_part { "" } else { "; the file is skipped" };
        bad.iter().for_each(|file| tracing::warn!("{}: {}{}", file.path.display(), file.why, aside(file)));
    }
    input_notes::notes(&source).iter().for_each(|note| tracing::warn!("{note}"));
    Ok(Inputs { source, bad, work: None, others: Vec::new() })
}

/// Checks that each column that the options name is in some file, by the first lines of files that have to be read for it; and
/// those in `asked`.
///
/// # Errors
/// [`dupsift_core::error::Error::Usage`] with the columns that are there.
pub fn check_named(options: &RunOptions, found: &[FoundFile], asked: Vec<Asked>) -> Result<()> {
    let of_files = text_and_id(options).filter(|_| found.iter().all(|file| file.format.names_columns()));
    // Footers tell of these when the files are opened, and of their types too.
    let of_files = of_files.filter(|_| found.iter().any(|file| !file.format.is_columnar()));
    let asked: Vec<Asked> = of_files.chain(named(options)).chain(asked).collect();
    match check_asked(found, &asked, options.threads) {
        // No file has a column of the whole name: then each of the several has to be there.
        Err(_) if asked.iter().any(|asked| is_several(options, asked)) => {
            let each = asked.into_iter().flat_map(|asked| {
                let names =
                    if is_several(options, &asked) { several(&asked.column) } else { vec![asked.column.clone()] };
                names.into_iter().map(move |column| Asked { column, ..asked.clone() })
            });
            check_asked(found, &each.collect::<Vec<_>>(), options.threads)
        }
        checked => checked,
    }
}

/// Whether that is a list of columns that texts are put together from.
fn is_several(options: &RunOptions, asked: &Asked) -> bool {
    asked.option == "text-column" && asked.column == options.text_column && !several(&asked.column).is_empty()
}

/// The columns of texts and ids that the user named. Every file has to have them: opening it tells whether it has.
fn text_and_id(options: &RunOptions) -> impl Iterator<Item = Asked> {
    let text = if options.html { "html-column" } else { "text-column" };
    let text = (text, &options.text_column, options.text_required);
    let both = [text, ("id-column", &options.id_column, options.id_required)].into_iter();
    let both = both.filter(|(.., required)| *required);
    both.map(|(option, column, _)| Asked { option, column: column.clone(), plain: false })
}

/// The columns that the user named and that no reading can do without, beside texts and ids.
fn named(options: &RunOptions) -> impl Iterator<Item = Asked> {
    let fields = Field::ALL.into_iter().filter(|&field| options.fields_required[field as usize]).map(|field| Asked {
        option: column_option(field),
        column: options.field_columns[field as usize].clone(),
        plain: false,
    });
    let pages = ["content-type-column", "url-column"].into_iter().zip(page_columns(options));
    let pages = pages.zip(options.page_columns_required).filter(|(_, required)| *required);
    let pages = pages.map(|((option, column), _)| Asked { option, column, plain: false });
    let keep = options.keep.columns().into_iter().map(|column| Asked { option: "keep", column, plain: true });
    let source = options.source_column.iter();
    let source = source.map(|column| Asked { option: "source-column", column: column.clone(), plain: true });
    let scope = options.recipe.within.iter();
    let scope = scope.map(|column| Asked { option: "scope", column: column.clone(), plain: true });
    keep.chain(source).chain(scope).chain(fields).chain(pages)
}

/// The option that names the column of this field.
fn column_option(field: Field) -> &'static str {
    match field {
        Field::Title => "title-column",
        Field::Keywords => "keywords-column",
        Field::Description => "description-column",
    }
}

/// What a reader should know of the inputs, when all is read.
pub fn notes(session: &Session<'_>, bad: &[BadInput]) -> Vec<String> {
    input_notes::notes(session.source).into_iter().chain(arrived(session, bad)).collect()
}

/// A note on files that came into the inputs after the list was made: they take no part in the job.
fn arrived(session: &Session<'_>, bad: &[BadInput]) -> Option<String> {
    // Inputs that are gone as a whole hold nothing new.
    let files: Vec<String> = session.options.inputs.iter().filter(|input| *input != DASH).cloned().collect();
    let now = find_all_in(&session.options.folder, &files, session.options.taking()).unwrap_or_default().files;
    let listed = session.source.files.iter().map(|file| file.path.as_path()).chain(bad.iter().map(|file| &*file.path));
    let listed: BTreeSet<&Path> = listed.collect();
    let is_new = |path: &Path| !listed.contains(path) && !session.source.unread.names(path);
    let new = now.iter().filter(|file| is_new(&file.path)).count();
    let first = now.iter().find(|file| is_new(&file.path))?;
    let note = format!(
        "{new} {} came into the inputs during the run and took no part in it, {} first; run again to include {}",
        if new == 1 { "file" } else { "files" },
        first.label,
        if new == 1 { "it" } else { "them" }
    );
    tracing::warn!("{note}");
    Some(note)
}

/// The endings of the files that are read, for help texts.
pub fn input_endings() -> String {
    dupsift_files::io::formats::endings()
}

/// The columns that the options name.
pub fn columns(options: &RunOptions) -> Columns {
    Columns {
        text: options.text_column.clone(),
        parts: Vec::new(),
        several: if options.html { Vec::new() } else { several(&options.text_column) },
        html: options.html,
        id: options.id_column.clone(),
        id_required: options.id_required,
        others: options
            .keep
            .columns()
            .into_iter()
            .chain(options.source_column.clone())
            .chain(options.recipe.within.clone())
            .chain(fields(options))
            .chain(report_columns(options))
            .chain(page_columns(options))
            .chain(options.other_columns.iter().cloned())
            .collect(),
    }
}

/// The columns that a purifier asks for.
fn page_columns(options: &RunOptions) -> [String; 2] {
    [options.content_type_column.clone(), options.url_column.clone()]
}

/// The columns beside the text that the algorithms read.
fn fields(options: &RunOptions) -> impl Iterator<Item = String> {
    options.recipe.fields().into_iter().map(|field| options.field_columns[field as usize].clone())
}

/// The columns that the page looks for; no reading but its own asks for them.
fn report_columns(options: &RunOptions) -> impl Iterator<Item = String> {
    SOURCE_COLUMNS.iter().filter(|_| options.report).map(ToString::to_string)
}
