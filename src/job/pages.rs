//! `purify`: pages in, and beside the columns of their file the elements of each page out.
//!
//! Every piece of a file becomes one table, made by one thread from end to end: nothing waits for another, no more than the
//! batch at hand and the unfinished row group is in memory, and how the corpus is cut depends on it alone, so that the same
//! pages give the same bytes whatever the threads and the memory.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray, RecordBatch, new_null_array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use bytesize::ByteSize;

use super::RunOptions;
use super::check::check;
use super::guards;
use super::heard::heard;
use super::inputs::{check_named, look_into};
use super::last_reading;
use super::page_elements::{Elements, Spelled};
use super::pages_report::{PagesReport, report};
use super::progress::{Progress, Unit};
use super::purified::{Seen, each_page};
use super::purify_report::PurifyReport;
use super::rejected::Rejecter;
use super::run::carry_out;
use super::tables::write_rejected;
use super::workers::Job;
use crate::batch::{Documents, IdsSeen, PageBuilder, PageRow, RejectReason, apart, page_fields};
use crate::error::{Error, Result};
use crate::io::{
    Asked, BadInput, FoundFile, OwnColumn, OwnColumns, Split, Stage, TableWriter, Want, find_all, own_columns,
};
use crate::purify::Purifier;
use crate::shuffle::{AtomicBits, Writer};

/// What the verb is asked to do besides what every verb is.
#[derive(Clone)]
pub struct PagesOptions {
    /// Columns, words, resources; its algorithms are not asked.
    pub run: RunOptions,
    /// The columns of the files that are written beside the page's; none: all of them.
    pub columns: Option<Vec<String>>,
    /// Whether the pages themselves are among them.
    pub keep_html: bool,
    /// What stands before the names of the columns of pages.
    pub prefix: String,
    /// The output of a run whose word statistics weigh the keywords.
    pub stats: Option<std::path::PathBuf>,
    /// The output of a training that says categories.
    pub model: Option<std::path::PathBuf>,
}

/// Bytes of pages in one table, about.
const PART_BYTES: usize = 64 << 20;

/// Rows of fewer bytes beside their page need no more than any table has.
const LONG_ROW: u64 = 4 << 20;

/// A row of more bytes may hold values that are written in another way, see [`TableWriter::create_for_long_values`].
const LONG_LINE: u64 = 16 << 20;

/// Purifies.
///
/// # Errors
/// Columns that cannot stand beside the page's, and whatever keeps a run from its end.
pub fn purify(options: PagesOptions, progress: &Progress, cancel: &AtomicBool) -> Result<PagesReport> {
    let mut options = options;
    check(&options.run)?;
    Elements::check(&options)?;
    let asked = options.clone();
    let (found, own) = heard(cancel, move || {
        let found = find_all(&asked.run.inputs, asked.run.taking())?;
        // The columns that files have themselves are known when all of their lines are read.
        check_named(&asked.run, &found.files, columns_asked(&asked))?;
        let own = own(&asked, &found.files)?;
        Ok((found, own))
    })?;
    options.run.other_columns = own.columns.iter().map(|column| column.name.clone()).collect();
    let run = options.run.clone();
    let inputs = heard(cancel, move || look_into(&run, found, Vec::new()))?;
    carry_out(&options.run, inputs, progress, cancel, |job, stage, bad, _| attempt(job, &options, &own, stage, bad))
}

/// The columns of `--columns`.
fn columns_asked(options: &PagesOptions) -> Vec<Asked> {
    let names = options.columns.iter().flatten();
    names.map(|name| Asked { option: "--columns".to_owned(), column: name.clone(), plain: false }).collect()
}

/// The columns of the files that will be written.
fn own(options: &PagesOptions, found: &[FoundFile]) -> Result<OwnColumns> {
    let page = &options.run.text_column;
    let own = own_columns(found, page)?;
    let own = match &options.columns {
        Some(names) => {
            let mut names = names.clone();
            if options.keep_html && own.columns.iter().any(|column| column.name == *page) && !names.contains(page) {
                names.push(page.clone());
            }
            own.only(&names, found)?
        }
        None => {
            let mut own = own;
            own.columns.retain(|column| options.keep_html || column.name != *page);
            own
        }
    };
    // Some readers do not tell capitals from small letters in names.
    let ours = page_fields(&options.prefix);
    let is_ours = |name: &str| ours.iter().any(|field| field.name().eq_ignore_ascii_case(name));
    if let Some(same) = own.columns.iter().find(|column| is_ours(&column.name)) {
        return Err(Error::Usage(format!(
            "the input has a column {:?}, as the output would; expected another --prefix, or --columns without it",
            same.name
        )));
    }
    Ok(own)
}

/// The bytes of the longest row of each file in the columns beside its page, where these are many. No row is more than what may
/// be written at a time.
///
/// # Errors
/// [`Error::LongRow`] with the least memory that would do.
fn long_rows(job: &Job<'_>, own: &OwnColumns) -> Result<Vec<u64>> {
    let (mut names, budget, source) = (asked(job, own), job.budget, job.source);
    names.retain(|name| *name != job.options.text_column);
    let mut all = Vec::with_capacity(source.files.len());
    for (at, file) in source.files.iter().enumerate() {
        let line = file.longest_line();
        if budget.fits_row(line, 0) && !file.holds_more(LONG_ROW) {
            all.push(line);
            continue;
        }
        let bytes = heard(job.cancel, {
            let (file, names) = (file.clone(), names.clone());
            move || file.longest_of(&names, LONG_ROW)
        })?;
        let page = if bytes > line { source.beyond_in(at..at + 1, &|bytes, _| bytes == 0)? } else { None };
        // What is held of a long page itself is promised besides.
        let held = page.map_or(0, |page| page.bytes.saturating_sub(budget.promised_for(page.longest)));
        if !budget.fits_row(bytes, held) {
            let size = |bytes| ByteSize(bytes).to_string();
            let (least, asked) = (size(budget.least_for_row(bytes, held)), size(budget.memory));
            return Err(Error::LongRow { path: file.path.clone(), bytes: size(bytes), asked, least });
        }
        all.push(line.max(bytes));
    }
    Ok(all)
}

/// What a thread has found.
struct Found<'f> {
    purified: PurifyReport,
    elements_seconds: f64,
    ids_seen: IdsSeen,
    rows: u64,
    bytes: u64,
    rejected: Writer<'f>,
}

fn attempt(
    job: &Job<'_>,
    options: &PagesOptions,
    own: &OwnColumns,
    stage: &Stage,
    bad: &[BadInput],
) -> Result<PagesReport> {
    // An earlier attempt, before a file turned out to be damaged, may have left its tables.
    let pages = stage.path().join("pages");
    if pages.exists() {
        std::fs::remove_dir_all(&pages).map_err(Error::io("remove", &pages))?;
    }
    let long_rows = long_rows(job, own)?;
    let elements = Elements::new(job, options)?;
    let purifier = Purifier::new(options.run.recipe.purify);
    let schema = schema(own, &options.prefix);
    let splits = job.source.splits(PART_BYTES);
    let splits: Vec<Split> = splits.into_iter().filter(|split| split.first_doc < job.documents()).collect();
    let rejecter = Rejecter::new(job)?;
    let running = job.clock.stage("purify");
    let bar = job.progress.stage("purify", job.documents(), Unit::Documents);
    let want = job.within_limit(&Want {
        id: true,
        others: asked(job, own),
        spelled: true,
        batch_bytes: job.budget.batch,
        ..Want::default()
    });
    let room = job.room();
    let parts = parts(job, &splits);
    let found = job.work_on(
        tables(job, &long_rows)?,
        parts.len(),
        || {
            Ok(Found {
                purified: PurifyReport::default(),
                elements_seconds: 0.0,
                ids_seen: IdsSeen::default(),
                rows: 0,
                bytes: 0,
                rejected: rejecter.writer(),
            })
        },
        |found, part| {
            let path = stage.path().join(format!("pages/part-{part:05}.parquet"));
            let longest = parts[part].iter().map(|split| long_rows[split.file]).max();
            let create =
                if longest > Some(LONG_LINE) { TableWriter::create_for_long_values } else { TableWriter::create };
            let mut writer = create(&path, schema.clone())?;
            for split in parts[part] {
                job.read_piece(&room, split, &want, &mut |batch| {
                    let part = Part { job, purifier: &purifier, elements: &elements, own, schema: &schema };
                    writer.write(&part.table(found, &rejecter, batch)?)?;
                    bar.add(batch.len() as u64);
                    Ok(())
                })?;
            }
            let (rows, bytes) = writer.close()?;
            (found.rows, found.bytes) = (found.rows + rows, found.bytes + bytes);
            Ok(())
        },
        |mut found| {
            found.rejected.flush()?;
            Ok((found.purified, found.elements_seconds, found.ids_seen, found.rows, found.bytes))
        },
    )?;
    job.none_bad()?;
    let (mut all, mut elements_seconds, mut seen, mut rows, mut bytes) =
        (PurifyReport::default(), 0.0, IdsSeen::default(), 0, 0);
    for (purified, seconds, ids_seen, thread_rows, thread_bytes) in found {
        all.merge(&purified);
        seen.merge(&ids_seen);
        elements_seconds += seconds;
        (rows, bytes) = (rows + thread_rows, bytes + thread_bytes);
    }
    running.end(job.documents(), rows, bytes);
    let rejected = rejecter.finish()?;
    let shown = Arc::new(AtomicBits::new(job.dir, "shown", job.documents() as usize)?);
    rejected.each(job, |doc, _, _| {
        shown.set(doc as usize);
        Ok(())
    })?;
    let ids = last_reading::ids(job, &seen, &shown)?;
    write_rejected(job, stage, &rejected, bad, &ids)?;
    let mut report =
        report(job, &options.prefix, own, &elements, bad, all.of(job), elements_seconds, rows, rejected.report());
    report.guards = guards::of_reading(job, stage, bad, rows, &report.rejections)?;
    Ok(report)
}

/// The pieces that become one table: one each, but of files that are one page each as many as fill a table.
fn parts<'s>(job: &Job<'_>, splits: &'s [Split]) -> Vec<&'s [Split]> {
    let is_page = |split: &Split| job.source.files[split.file].format.is_whole();
    let mut bytes = 0;
    let together = |before: &Split, next: &Split| {
        bytes += before.text_bytes;
        let fits = is_page(before) && is_page(next) && bytes + next.text_bytes <= PART_BYTES as u64;
        bytes = if fits { bytes } else { 0 };
        fits
    };
    splits.chunk_by(together).collect()
}

/// How many tables are made at a time, beside what readers hold of the files.
fn tables(job: &Job<'_>, long_rows: &[u64]) -> Result<usize> {
    let small = job.budget.free_pages();
    let largest = job.source.beyond(&|bytes, _| bytes <= small)?;
    let (bytes, longest) = largest.map_or((small, 0), |page| (page.bytes, page.longest));
    let long_row = long_rows.iter().copied().filter(|&bytes| bytes > LONG_ROW).max().unwrap_or(0);
    Ok(job.budget.tables_of_pages(bytes, longest.max(long_row)))
}

/// The names that a reading asks for besides page and id.
fn asked(job: &Job<'_>, own: &OwnColumns) -> Vec<String> {
    let mut names: Vec<String> = own.columns.iter().map(|column| column.name.clone()).collect();
    for name in [&job.options.content_type_column, &job.options.url_column] {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

fn schema(own: &OwnColumns, prefix: &str) -> SchemaRef {
    let own = own.columns.iter().map(|column| Field::new(&column.name, column.data_type.clone(), true));
    Arc::new(Schema::new(own.chain(page_fields(prefix)).collect::<Vec<_>>()))
}

/// What makes the table of one piece.
struct Part<'p> {
    job: &'p Job<'p>,
    purifier: &'p Purifier,
    elements: &'p Elements,
    own: &'p OwnColumns,
    schema: &'p SchemaRef,
}

impl Part<'_> {
    fn table(&self, found: &mut Found<'_>, rejecter: &Rejecter, batch: &Documents) -> Result<RecordBatch> {
        let job = self.job;
        let mut pages = PageBuilder::default();
        let mut taken = Vec::with_capacity(batch.len());
        let mut spelled = Spelled::default();
        let Found { purified, elements_seconds, rejected, ids_seen, .. } = found;
        each_page(job, self.purifier, batch, purified, |row, seen| {
            let page = match seen {
                Seen::Page(page) => page,
                Seen::Null => {
                    taken.push(false);
                    return rejecter.push(job, rejected, batch, row, &RejectReason::NullText.into());
                }
                Seen::Bad(why) => {
                    taken.push(false);
                    return rejecter.push(job, rejected, batch, row, why);
                }
            };
            taken.push(true);
            let begun = Instant::now();
            self.elements.spell(job, page, &mut spelled);
            *elements_seconds += begun.elapsed().as_secs_f64();
            let id = batch.id(row).map_or_else(|| job.source.name_of(batch.doc(row)), |id| id.to_string());
            let cut = page.cut.names().collect::<Vec<_>>().join(",");
            pages.push(&PageRow {
                id: &id,
                kind: page.kind.name(),
                title: spelled.title.as_deref(),
                body: page.body.as_deref(),
                meta_keywords: page.keywords.as_deref(),
                description: page.description.as_deref(),
                charset: page.charset,
                cut: Some(cut.as_str()).filter(|cut| !cut.is_empty()),
                ..spelled.row()
            });
            Ok(())
        })?;
        ids_seen.merge(batch.ids_seen());
        let mut columns =
            self.own.columns.iter().map(|column| own_column(batch, column)).collect::<Result<Vec<_>>>()?;
        if taken.contains(&false) {
            let taken = BooleanArray::from(taken);
            for column in &mut columns {
                *column = arrow_select::filter::filter(column, &taken).map_err(Error::table("leave out rows"))?;
            }
        }
        columns.extend(pages.finish());
        RecordBatch::try_new(self.schema.clone(), columns).map_err(Error::table("put together the table of pages"))
    }
}

/// A column of the file as it is written.
fn own_column(batch: &Documents, own: &OwnColumn) -> Result<ArrayRef> {
    let there = match batch.column(&own.name) {
        Some(column) if *column.data_type() == own.data_type => Some(column.clone()),
        Some(_) if own.data_type == DataType::Utf8View => batch.spelled_column(&own.name)?.map(|column| column.array()),
        _ => None,
    };
    // Rows wait for their table when the pages of the file that they came from have to be gone.
    Ok(match there {
        Some(strings) if own.data_type == DataType::Utf8View => Arc::new(apart(strings.as_string_view())),
        Some(bytes) if own.data_type == DataType::BinaryView => Arc::new(apart(bytes.as_binary_view())),
        Some(numbers) => numbers,
        None => new_null_array(&own.data_type, batch.len()),
    })
}
