//! Pages become texts on their way from a file to a stage: whoever reads texts never sees HTML.
//!
//! Purifying costs more than all else that a reading does, so the first reading of the whole corpus keeps what came of each
//! page in a work file, and later ones take it from there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use arrow_array::StringViewArray;
use arrow_array::builder::StringViewBuilder;

use super::products::{Found, Product, Putting};
use super::purified_store::{Filling, Kept, Stored};
use super::purify_report::PurifyReport;
use super::workers::Job;
use crate::batch::{Cell, Documents, RejectReason, Rejection, TextColumn};
use crate::error::Result;
use crate::guard::guarded;
use crate::io::{InputFile, Want};
use crate::purify::{Fallback, Kind, Page, Purifier, RawPage, elements};
use crate::text::Field;

/// What a server would say of a text.
const PLAIN: &str = "text/plain; charset=utf-8";

/// The purifier of a job, and what it has done so far.
pub struct Purified {
    purifier: Purifier,
    state: Mutex<State>,
}

/// What a reading has made of all pages.
pub(super) struct KeptPages {
    stored: Arc<Stored>,
    report: PurifyReport,
}

impl Product for KeptPages {
    fn put_down(self, _: &Job<'_>, to: &mut Putting<'_>) -> Result<KeptPages> {
        to.plain(&self.report)?;
        self.stored.put_down(to)?;
        Ok(self)
    }

    fn take_up(_: &Job<'_>, from: &mut Found<'_>) -> Result<KeptPages> {
        Ok(KeptPages { report: from.plain()?, stored: Arc::new(Stored::take_up(from)?) })
    }
}

#[derive(Default)]
struct State {
    stored: Option<Arc<Stored>>,
    report: PurifyReport,
}

/// One reading of texts.
pub(super) enum Reading {
    /// Texts are texts.
    Plain,
    /// Pages are purified as they come; those of a reading of all documents are kept.
    Purify(Option<Arc<Filling>>),
    /// What an earlier reading kept.
    Again(Arc<Stored>),
}

impl Purified {
    /// A purifier that has seen nothing yet.
    pub fn new(purifier: Purifier) -> Purified {
        Purified { purifier, state: Mutex::default() }
    }

    /// What was purified in the reading that kept it; none where no file holds pages.
    pub fn report(&self, job: &Job<'_>) -> Option<PurifyReport> {
        let report = self.state().report.clone();
        job.has_pages().then(|| report.of(job))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How a reading comes by its texts.
    pub(super) fn reading(&self, job: &Job<'_>, want: &Want) -> Result<Reading> {
        if !want.text || !job.has_pages() {
            return Ok(Reading::Plain);
        }
        if let Some(stored) = self.state().stored.clone() {
            return Ok(Reading::Again(stored));
        }
        let filling = if want.rows.is_none() { Some(Arc::new(Filling::new(job)?)) } else { None };
        Ok(Reading::Purify(filling))
    }

    /// Keeps what a reading of all documents has made of them.
    pub(super) fn keep(&self, filling: Arc<Filling>, report: PurifyReport) -> Result<()> {
        // The threads that shared it are done.
        if let Some(filling) = Arc::into_inner(filling) {
            let stored = Arc::new(filling.freeze()?);
            let mut state = self.state();
            state.stored = Some(stored);
            state.report = report;
        }
        Ok(())
    }

    /// What was kept, and what is told of it.
    pub(super) fn kept(&self) -> Option<KeptPages> {
        let state = self.state();
        Some(KeptPages { stored: state.stored.clone()?, report: state.report.clone() })
    }

    /// Takes what was kept before in place of a reading.
    pub(super) fn know(&self, pages: KeptPages) {
        let mut state = self.state();
        (state.stored, state.report) = (Some(pages.stored), pages.report);
    }

    /// What a reading asks of a file in place of `want`.
    pub(super) fn asks(&self, job: &Job<'_>, file: &InputFile, want: &Want, reading: &Reading) -> Want {
        let mut want = want.clone();
        match reading {
            Reading::Plain => {}
            _ if !file.html => {}
            Reading::Purify(_) => {
                let own = [&job.options.content_type_column, &job.options.url_column];
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

    /// The texts of a batch as it came from its file.
    pub(super) fn texts(
        &self,
        job: &Job<'_>,
        batch: Documents,
        reading: &Reading,
        told: &mut PurifyReport,
    ) -> Result<Documents> {
        match reading {
            Reading::Purify(filling) if batch.is_html() => self.purify(job, batch, filling.as_deref(), told),
            Reading::Again(stored) if batch.is_html() => self.again(job, batch, stored),
            _ => Ok(batch),
        }
    }

    fn purify(
        &self,
        job: &Job<'_>,
        batch: Documents,
        filling: Option<&Filling>,
        told: &mut PurifyReport,
    ) -> Result<Documents> {
        let mut texts = Texts::new(job);
        let (mut bytes, mut places) = (Vec::new(), Vec::new());
        each_page(job, &self.purifier, &batch, told, |row, seen| {
            let title;
            let kept = match seen {
                Seen::Null => Kept::Null,
                Seen::Bad(why) => Kept::Bad(why.reason, &why.detail),
                Seen::Page(page) => {
                    title = self.title(job, page);
                    let fields = [&title, &page.keywords, &page.description].map(Option::as_deref);
                    match page.body.as_deref() {
                        Some(text) => Kept::Text { text, fields },
                        None => Kept::Bad(without_body(job, page), page.kind.name()),
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
        texts.finish(job, batch)
    }

    /// The title; a page without one is called by its heaviest keyword, where an algorithm reads titles.
    fn title(&self, job: &Job<'_>, page: &Page) -> Option<String> {
        let wanted = job.fields.contains(&Field::Title) && page.title.is_none();
        let keyword = || elements(page, job.pipeline, None).keywords.into_iter().next();
        page.title.clone().or_else(|| if wanted { keyword().map(|keyword| keyword.word) } else { None })
    }

    fn again(&self, job: &Job<'_>, batch: Documents, stored: &Stored) -> Result<Documents> {
        let mut texts = Texts::new(job);
        for row in 0..batch.len() {
            texts.push(row, stored.of(batch.doc(row)));
        }
        texts.finish(job, batch)
    }
}

/// Why a page without a body has none.
fn without_body(job: &Job<'_>, page: &Page) -> RejectReason {
    let skips = job.options.recipe.purify.fallback == Fallback::Skip;
    if skips && page.kind != Kind::Topic { RejectReason::SkippedPage } else { RejectReason::NoBody }
}

/// What one row of a batch of pages is.
pub(super) enum Seen<'p> {
    /// A row without a page.
    Null,
    /// A row that cannot be used, and why.
    Bad(&'p Rejection),
    /// A page.
    Page(&'p Page),
}

/// Purifies the pages of a batch, one after the other; what is done is counted in `told`.
pub(super) fn each_page(
    job: &Job<'_>,
    purifier: &Purifier,
    batch: &Documents,
    told: &mut PurifyReport,
    mut each: impl FnMut(usize, Seen<'_>) -> Result<()>,
) -> Result<()> {
    let content_types = batch.text_column(&job.options.content_type_column)?;
    let urls = batch.text_column(&job.options.url_column)?;
    for row in 0..batch.len() {
        job.go_on()?;
        match batch.page(row) {
            Err(why) => each(row, Seen::Bad(why))?,
            Ok(None) => each(row, Seen::Null)?,
            Ok(Some(bytes)) => {
                let _long = job.long_document(bytes.len())?;
                let begun = Instant::now();
                let (content_type, url) = (value(&content_types, row), value(&urls, row));
                // What is no page, such as a text file, has no tags.
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

fn value(column: &Option<TextColumn>, row: usize) -> Option<&str> {
    match column.as_ref()?.get(row) {
        Cell::Text(text) => Some(text),
        _ => None,
    }
}

/// The columns that take the place of pages.
struct Texts {
    text: StringViewBuilder,
    /// The fields that pages fill in, with their builders.
    fields: Vec<(Field, StringViewBuilder)>,
    bad: BTreeMap<usize, Rejection>,
}

impl Texts {
    fn new(job: &Job<'_>) -> Texts {
        // A column that the user named holds what he wants.
        let fields = job.fields.iter().filter(|&&field| !job.options.fields_required[field as usize]);
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

    fn finish(mut self, job: &Job<'_>, batch: Documents) -> Result<Documents> {
        let beside: Vec<(String, StringViewArray)> = self
            .fields
            .iter_mut()
            .map(|(field, column)| (job.options.field_columns[*field as usize].clone(), column.finish()))
            .collect();
        batch.purified((&job.options.text_column, self.text.finish()), beside, self.bad)
    }
}
