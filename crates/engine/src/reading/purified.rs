//! Converts HTML pages to text after a file is read and before documents are passed to a stage. No stage therefore has to process HTML.
//!
//! Purifying takes longer than all other work in a pass. Therefore, the first pass over the whole corpus keeps the results in a temporary
//! file, which later passes read.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::StringViewArray;
use arrow::array::builder::StringViewBuilder;

use crate::options::purify_name;
use crate::session::PurifyReport;
use crate::session::Session;
use crate::session::purified_store::{Filling, Kept, Stored};
use dupsift_core::error::Result;
use dupsift_core::guard::guarded;
use dupsift_input::{InputFile, Want};
use dupsift_pages::{Fallback, Kind, Page, Purifier, RawPage, elements};
use dupsift_tables::{Cell, Documents, RejectReason, Rejection, TextColumn};
use dupsift_text::Field;

/// The content type that a server would send with plain text.
const PLAIN: &str = "text/plain; charset=utf-8";

/// Specifies how a pass obtains its texts.
pub(crate) enum Reading {
    /// Texts are used without conversion.
    Plain,
    /// Pages are purified as they are read. If the pass reads all documents, it keeps the results.
    Purify(Option<Arc<Filling>>),
    /// Texts are read from the results that an earlier pass kept.
    Again(Arc<Stored>),
}

impl Reading {
    /// Returns the store for purified pages if the pass fills one.
    pub(crate) fn filling(&self) -> Option<&Filling> {
        match self {
            Reading::Purify(filling) => filling.as_deref(),
            _ => None,
        }
    }
}

/// Returns how a pass obtains its texts.
pub(crate) fn how(session: &Session<'_>, want: &Want) -> Result<Reading> {
    if !want.text || !session.has_pages() {
        return Ok(Reading::Plain);
    }
    if let Some(stored) = session.pages.stored() {
        return Ok(Reading::Again(stored));
    }
    let filling = || Filling::new(session.engine.dir, session.documents()).map(Arc::new);
    Ok(Reading::Purify(want.rows.is_none().then(filling).transpose()?))
}

/// Returns the report of the pass that kept the purified pages, or `None` if no file contains pages.
pub(crate) fn report(session: &Session<'_>) -> Option<PurifyReport> {
    session.has_pages().then(|| of_corpus(session.pages.report(), session))
}

/// Adds the name of the purifier and the statistics on web archives to a report.
pub fn of_corpus(mut report: PurifyReport, session: &Session<'_>) -> PurifyReport {
    report.recipe = purify_name(&session.options.pages.purify);
    for archived in session.source.files.iter().filter_map(|file| file.archived.as_ref()) {
        archived.others.iter().for_each(|(name, &count)| report.count_other_records(name, count));
        report.truncated += archived.truncated;
    }
    report
}

/// Returns the columns that a pass actually reads from a file if `want` is requested.
pub(crate) fn asks(session: &Session<'_>, file: &InputFile, want: &Want, reading: &Reading) -> Want {
    let mut want = want.clone();
    match reading {
        Reading::Plain => {}
        _ if !file.html => {}
        Reading::Purify(_) => {
            let own = [&session.options.columns.content_type_column, &session.options.columns.url_column];
            for name in own.into_iter().filter(|name| file.others.contains(name)) {
                if !want.others.contains(name) {
                    want.others.push(name.clone());
                }
            }
        }
        Reading::Again(_) => want.text = false,
    }
    want
}

/// Returns the batch with any pages replaced by their extracted text.
pub(crate) fn texts(
    session: &Session<'_>,
    batch: Documents,
    reading: &Reading,
    told: &mut PurifyReport,
) -> Result<Documents> {
    match reading {
        Reading::Purify(filling) if batch.is_html() => purify(session, batch, filling.as_deref(), told),
        Reading::Again(stored) if batch.is_html() => again(session, batch, stored),
        _ => Ok(batch),
    }
}

fn purify(
    session: &Session<'_>,
    batch: Documents,
    filling: Option<&Filling>,
    told: &mut PurifyReport,
) -> Result<Documents> {
    let mut texts = Texts::new(session);
    let (mut bytes, mut places) = (Vec::new(), Vec::new());
    each_page(session, &session.purifier, &batch, told, |row, seen| {
        let title;
        let kept = match seen {
            Seen::Null => Kept::Null,
            Seen::Bad(why) => Kept::Bad(why.reason, &why.detail),
            Seen::Page(page) => {
                title = title_of(session, page);
                let fields = [&title, &page.keywords, &page.description].map(Option::as_deref);
                match page.body.as_deref() {
                    Some(text) => Kept::Text { text, fields },
                    None => Kept::Bad(without_body(session, page), page.kind.name()),
                }
            }
        };
        if filling.is_some() {
            places.push((batch.doc(row), bytes.len() as u64));
            kept.write(&mut bytes);
        }
        texts.push(row, kept);
        Ok(())
    })?;
    if let Some(filling) = filling {
        filling.append(&bytes, &places)?;
    }
    texts.finish(session, batch)
}

/// Returns the title of a page. If a page has no title and an algorithm reads titles, returns the keyword with the highest weight.
fn title_of(session: &Session<'_>, page: &Page) -> Option<String> {
    let wanted = session.fields.contains(&Field::Title) && page.title.is_none();
    let keyword = || elements(page, session.pipeline, None).keywords.into_iter().next();
    page.title.clone().or_else(|| if wanted { keyword().map(|keyword| keyword.word) } else { None })
}

fn again(session: &Session<'_>, batch: Documents, stored: &Stored) -> Result<Documents> {
    let mut texts = Texts::new(session);
    for row in 0..batch.len() {
        texts.push(row, stored.of(batch.doc(row)));
    }
    texts.finish(session, batch)
}

/// Returns the reason for rejecting a page without a body.
fn without_body(session: &Session<'_>, page: &Page) -> RejectReason {
    let skips = session.options.pages.purify.fallback == Fallback::Skip;
    if skips && page.kind != Kind::Topic { RejectReason::SkippedPage } else { RejectReason::NoBody }
}

/// Holds the content of a row in a batch of pages.
pub enum Seen<'p> {
    /// A row without a page.
    Null,
    /// A row that cannot be used, and the reason.
    Bad(&'p Rejection),
    /// A page.
    Page(&'p Page),
}

/// Purifies the pages of a batch one by one, and adds the counts to `told`.
pub fn each_page(
    session: &Session<'_>,
    purifier: &Purifier,
    batch: &Documents,
    told: &mut PurifyReport,
    mut each: impl FnMut(usize, Seen<'_>) -> Result<()>,
) -> Result<()> {
    let content_types = batch.text_column(&session.options.columns.content_type_column)?;
    let urls = batch.text_column(&session.options.columns.url_column)?;
    // A web archive may have responses without a body, which are skipped because of their kind.
    let may_be_empty = !batch.is_empty() && {
        let format = session.source.locate(batch.doc(0)).0.format;
        !format.facts().names_columns && !format.facts().is_whole
    };
    let empty = Rejection::from(RejectReason::EmptyText);
    for row in 0..batch.len() {
        session.engine.go_on()?;
        match batch.page(row) {
            Err(why) => each(row, Seen::Bad(why))?,
            Ok(None) => each(row, Seen::Null)?,
            Ok(Some(bytes)) if !may_be_empty && is_blank(bytes) => each(row, Seen::Bad(&empty))?,
            Ok(Some(bytes)) => {
                let _long = session.engine.long_document(bytes.len())?;
                let begun = Instant::now();
                let (content_type, url) = (value(&content_types, row), value(&urls, row));
                // Content other than HTML pages, such as a text file, contains no tags.
                let content_type = if batch.is_html() { content_type } else { Some(PLAIN) };
                match guarded(|| purifier.page(&RawPage { bytes, content_type, url })) {
                    Ok(page) => {
                        told.count(&page, bytes.len(), begun.elapsed());
                        each(row, Seen::Page(&page))?;
                    }
                    Err(said) => each(row, Seen::Bad(&Rejection::new(RejectReason::ParserFailed, said)))?,
                }
            }
        }
    }
    Ok(())
}

/// Returns whether a page is empty or consists only of white space.
fn is_blank(page: &[u8]) -> bool {
    let rest = page.trim_ascii_start();
    // In nearly all pages, the first byte decides.
    let is_white = || std::str::from_utf8(rest).is_ok_and(|rest| rest.trim_start().is_empty());
    rest.first().is_none_or(|first| !first.is_ascii() && is_white())
}

fn value(column: &Option<TextColumn>, row: usize) -> Option<&str> {
    match column.as_ref()?.get(row) {
        Cell::Text(text) => Some(text),
        _ => None,
    }
}

/// Holds the columns that replace pages.
struct Texts {
    text: StringViewBuilder,
    /// The fields that are filled from pages, with their builders.
    fields: Vec<(Field, StringViewBuilder)>,
    bad: BTreeMap<usize, Rejection>,
}

impl Texts {
    fn new(session: &Session<'_>) -> Texts {
        // A column that you specified already holds the values to use.
        let fields = session.fields.iter().filter(|&&field| !session.options.columns.fields_required[field as usize]);
        Texts {
            text: StringViewBuilder::new(),
            fields: fields.map(|&field| (field, StringViewBuilder::new())).collect(),
            bad: BTreeMap::new(),
        }
    }

    fn push(&mut self, row: usize, kept: Kept<'_>) {
        let (text, fields) = match kept {
            Kept::Text { text, fields } => (Some(text), Some(fields)),
            Kept::Null => (None, None),
            Kept::Bad(reason, detail) => {
                self.bad.insert(row, Rejection::new(reason, detail));
                (None, None)
            }
        };
        self.text.append_option(text);
        for (field, column) in &mut self.fields {
            column.append_option(fields.and_then(|fields| fields[*field as usize]));
        }
    }

    fn finish(mut self, session: &Session<'_>, batch: Documents) -> Result<Documents> {
        let beside: Vec<(String, StringViewArray)> = self
            .fields
            .iter_mut()
            .map(|(field, column)| (session.options.columns.field_columns[*field as usize].clone(), column.finish()))
            .collect();
        batch.purified((&session.options.columns.text_column, self.text.finish()), beside, self.bad)
    }
}
