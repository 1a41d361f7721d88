//! Implements `purify`, which reads web pages and writes the elements of each page next to the columns of its input file.
//!
//! Each piece of a file becomes one table, which is written by one thread. Threads do not wait for each other, and each keeps only its
//! current batch and unfinished row group in memory. The pieces depend only on the corpus, so the same pages give the same bytes with any
//! number of threads and any memory limit.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::Purify;

use arrow::array::AsArray;
use arrow::array::{ArrayRef, BooleanArray, RecordBatch, new_null_array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use bytesize::ByteSize;

use super::elements::{Elements, Spelled};
use super::report::{PagesReport, report};
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::listing::{is_there, remove_all};
use dupsift_engine::pass::{
    Losses, Progress, PurifyReport, Rejecter, Seen, Session, Unit, Writes, carry_out, check, check_named, each_page,
    find_inputs, guards, interruptible, last_pass, look_into, of_corpus, write_rejected,
};
use dupsift_input::{Asked, FoundFile, OwnColumn, OwnColumns, Split, Want, own_columns};
use dupsift_pages::Purifier;
use dupsift_publish::{Stage, TableWriter};
use dupsift_spill::shuffle::Writer;
use dupsift_tables::columns::utf8;
use dupsift_tables::{Documents, IdsSeen, LostValues, PageBuilder, PageRow, RejectReason, apart, page_fields};

/// The approximate size of the pages in one table, in bytes.
const PART_BYTES: usize = 64 << 20;

/// A row needs extra memory only if its columns other than the page contain more than this many bytes.
const LONG_ROW: u64 = 4 << 20;

/// Rows with more than this many bytes may contain values that are written differently; see [`TableWriter::create_for_long_values`].
const LONG_LINE: u64 = 16 << 20;

/// Writes the elements of the pages.
pub(super) fn purify(options: Purify, progress: &Progress, cancel: &AtomicBool) -> Result<PagesReport> {
    let mut options = options;
    check(&options.run)?;
    Elements::check(&options)?;
    let asked = options.clone();
    let found = find_inputs(&options.run, progress, cancel, Writes::Input)?;
    let (found, own) = interruptible(cancel, move || {
        // The columns of the input files are known only after all lines have been read.
        check_named(&asked.run, &found.files, columns_asked(&asked))?;
        let own = own(&asked, &found.files)?;
        Ok((found, own))
    })?;
    options.run.columns.other_columns = own.columns.iter().map(|column| column.name.clone()).collect();
    let run = options.run.clone();
    let inputs = interruptible(cancel, move || look_into(&run, found, Vec::new()))?;
    carry_out(&options.run, inputs, progress, cancel, |session, stage, losses, _| {
        attempt(session, &options, &own, stage, losses)
    })
}

/// Returns the columns listed in `--columns`.
fn columns_asked(options: &Purify) -> Vec<Asked> {
    let names = options.columns.iter().flatten();
    names.map(|name| Asked { option: "columns", column: name.clone(), plain: false }).collect()
}

/// Returns the input columns that will be written.
fn own(options: &Purify, found: &[FoundFile]) -> Result<OwnColumns> {
    let page = &options.run.columns.text_column;
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
    // Some readers ignore case in column names.
    let ours = page_fields(&options.prefix);
    let is_ours = |name: &str| ours.iter().any(|field| field.name().eq_ignore_ascii_case(name));
    if let Some(same) = own.columns.iter().find(|column| is_ours(&column.name)) {
        return Err(Error::usage(format!(
            "the input already has a column named {:?}; use a different `prefix`, or leave this column out of `columns`",
            same.name
        )));
    }
    Ok(own)
}

/// Returns, for each file, the size of its longest row in bytes. In a file with large rows, the size does not include the page. Checks that
/// every row can be written within the memory limit.
///
/// # Errors
/// Returns [`Error::LongRow`] with the smallest memory limit that would be sufficient.
fn long_rows(session: &Session<'_>, own: &OwnColumns) -> Result<Vec<u64>> {
    let (mut names, budget, source) = (asked(session, own), session.engine.budget, session.source);
    names.retain(|name| *name != session.options.columns.text_column);
    let mut all = Vec::with_capacity(source.files.len());
    for (at, file) in source.files.iter().enumerate() {
        let line = file.longest_line();
        if budget.fits_row(line, 0) && !file.holds_more(LONG_ROW) {
            all.push(line);
            continue;
        }
        let bytes = interruptible(session.engine.cancel, {
            let (file, names) = (file.clone(), names.clone());
            move || file.longest_of(&names, LONG_ROW)
        })?;
        let page = if bytes > line { source.beyond_in(at..at + 1, &|bytes, _| bytes == 0)? } else { None };
        // The memory for a long page itself is reserved separately.
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

/// Holds the results of a thread.
struct Found<'f> {
    sums: Sums,
    rejected: Writer<'f>,
}

/// Holds counts of the pages that were found and written.
#[derive(Default)]
struct Sums {
    purified: PurifyReport,
    elements_seconds: f64,
    seen: IdsSeen,
    lost: LostValues,
    rows: u64,
    bytes: u64,
}

impl Sums {
    /// Adds the counts of another thread.
    fn add(&mut self, other: &Sums) {
        self.purified.merge(&other.purified);
        self.elements_seconds += other.elements_seconds;
        self.seen.merge(&other.seen);
        self.lost.merge(&other.lost);
        (self.rows, self.bytes) = (self.rows + other.rows, self.bytes + other.bytes);
    }
}

fn attempt(
    session: &Session<'_>,
    options: &Purify,
    own: &OwnColumns,
    stage: &Stage,
    losses: &Losses<'_>,
) -> Result<PagesReport> {
    // Tables may remain from an earlier attempt that stopped at a damaged file.
    let pages = stage.path().join("pages");
    if is_there(&pages)? {
        remove_all(&pages).map_err(Error::io("remove", &pages))?;
    }
    let records: Vec<_> = options.stats.iter().chain(&options.model).map(|dir| dir.join("run.json")).collect();
    stage.reads(records.iter().map(|record| &**record).filter(|record| record.exists()));
    let long_rows = long_rows(session, own)?;
    let elements = Elements::new(session, options)?;
    let rejecter = Rejecter::new(session)?;
    let running = session.engine.clock.stage("purify");
    let Sums { purified, elements_seconds, seen, lost, rows, bytes } =
        write_tables(session, (options, own, &elements), stage, &long_rows, &rejecter)?;
    running.end(session.documents(), rows, bytes);
    let rejected = rejecter.finish()?;
    let ids = last_pass::ids_of_rejected(session, &seen, &rejected)?;
    write_rejected(session, stage, &rejected, losses, &ids)?;
    let mut report = report(
        session,
        &options.prefix,
        own,
        &elements,
        losses,
        of_corpus(purified, session),
        elements_seconds,
        rows,
        rejected.report(),
    );
    report.warnings.extend(lost.warnings());
    report.guards = guards::of_reading(session, stage, losses, rows, &report.rejections, None)?;
    Ok(report)
}

/// Writes the tables of pages; `long_rows` contains the size of the longest row of each file, in bytes.
fn write_tables(
    session: &Session<'_>,
    (options, own, elements): (&Purify, &OwnColumns, &Elements),
    stage: &Stage,
    long_rows: &[u64],
    rejecter: &Rejecter,
) -> Result<Sums> {
    let purifier = Purifier::new(options.run.pages.purify);
    let schema = schema(own, &options.prefix);
    let splits = session.source.splits(PART_BYTES);
    let splits: Vec<Split> = splits.into_iter().filter(|split| split.first_doc < session.documents()).collect();
    let bar = session.engine.progress.stage("purify", session.documents(), Unit::Documents);
    let want = session.within_limit(&Want {
        id: true,
        others: asked(session, own),
        spelled: true,
        batch_bytes: session.engine.budget.batch,
        ..Want::default()
    });
    let read_limit = session.engine.read_limit();
    let parts = parts(session, &splits);
    let found = session.engine.work_on(
        tables(session, long_rows)?,
        parts.len(),
        || Ok(Found { sums: Sums::default(), rejected: rejecter.writer() }),
        |found, part| {
            let path = stage.path().join(format!("pages/part-{part:05}.parquet"));
            let longest = parts[part].iter().map(|split| long_rows[split.file]).max();
            let create =
                if longest > Some(LONG_LINE) { TableWriter::create_for_long_values } else { TableWriter::create };
            let mut writer = create(&path, schema.clone())?;
            for split in parts[part] {
                session.read_piece(&read_limit, split, &want, &mut |batch| {
                    let part = Part { session, purifier: &purifier, elements, own, schema: &schema };
                    writer.write(&part.table(found, rejecter, batch)?)?;
                    bar.add(batch.len() as u64);
                    Ok(())
                })?;
            }
            let (rows, bytes) = writer.close()?;
            (found.sums.rows, found.sums.bytes) = (found.sums.rows + rows, found.sums.bytes + bytes);
            Ok(())
        },
        |mut found| found.rejected.flush().map(|()| found.sums),
    )?;
    session.engine.none_bad()?;
    let mut sums = Sums::default();
    found.iter().for_each(|one| sums.add(one));
    Ok(sums)
}

/// Groups pieces into tables: one piece per table, except that files with a single page are combined until a table is full.
fn parts<'s>(session: &Session<'_>, splits: &'s [Split]) -> Vec<&'s [Split]> {
    let is_page = |split: &Split| session.source.files[split.file].format.facts().is_whole;
    let mut bytes = 0;
    let together = |before: &Split, next: &Split| {
        bytes += before.text_bytes;
        let fits = is_page(before) && is_page(next) && bytes + next.text_bytes <= PART_BYTES as u64;
        bytes = if fits { bytes } else { 0 };
        fits
    };
    splits.chunk_by(together).collect()
}

/// Returns how many tables can be written at the same time in the memory that is not reserved for readers.
fn tables(session: &Session<'_>, long_rows: &[u64]) -> Result<usize> {
    let small = session.engine.budget.free_pages();
    let largest = session.source.beyond(&|bytes, _| bytes <= small)?;
    let (bytes, longest) = largest.map_or((small, 0), |page| (page.bytes, page.longest));
    let long_row = long_rows.iter().copied().filter(|&bytes| bytes > LONG_ROW).max().unwrap_or(0);
    Ok(session.engine.budget.tables_of_pages(bytes, longest.max(long_row)))
}

/// Returns the names of the columns to read in addition to the page and the id.
fn asked(session: &Session<'_>, own: &OwnColumns) -> Vec<String> {
    let mut names: Vec<String> = own.columns.iter().map(|column| column.name.clone()).collect();
    for name in [&session.options.columns.content_type_column, &session.options.columns.url_column] {
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

/// Builds the table of one piece.
struct Part<'p> {
    session: &'p Session<'p>,
    purifier: &'p Purifier,
    elements: &'p Elements,
    own: &'p OwnColumns,
    schema: &'p SchemaRef,
}

impl Part<'_> {
    fn table(&self, found: &mut Found<'_>, rejecter: &Rejecter, batch: &Documents) -> Result<RecordBatch> {
        let session = self.session;
        let mut pages = PageBuilder::default();
        let mut taken = Vec::with_capacity(batch.len());
        let mut spelled = Spelled::default();
        let Found { sums: Sums { purified, elements_seconds, seen: ids_seen, lost, .. }, rejected } = found;
        each_page(session, self.purifier, batch, purified, |row, seen| {
            let page = match seen {
                Seen::Page(page) => page,
                Seen::Null => {
                    taken.push(false);
                    return rejecter.push(session, rejected, batch, row, &RejectReason::NullText.into());
                }
                Seen::Bad(why) => {
                    taken.push(false);
                    return rejecter.push(session, rejected, batch, row, why);
                }
            };
            taken.push(true);
            let begun = Instant::now();
            self.elements.spell(session, page, &mut spelled);
            *elements_seconds += begun.elapsed().as_secs_f64();
            let id = batch.id(row).map_or_else(|| session.source.name_of(batch.doc(row)), |id| id.to_string());
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
            self.own.columns.iter().map(|column| own_column(batch, column, lost)).collect::<Result<Vec<_>>>()?;
        // Values that cannot be written as text are counted while the columns are built.
        lost.merge(&batch.lost_values());
        if taken.contains(&false) {
            let taken = BooleanArray::from(taken);
            for column in &mut columns {
                *column = arrow::compute::filter(column, &taken).map_err(Error::table("filter rows"))?;
            }
        }
        columns.extend(pages.finish());
        RecordBatch::try_new(self.schema.clone(), columns).map_err(Error::table("merge the table of pages"))
    }
}

/// Returns an input column in the form in which it is written.
fn own_column(batch: &Documents, own: &OwnColumn, lost: &mut LostValues) -> Result<ArrayRef> {
    let there = match batch.column(&own.name) {
        Some(column) if *column.data_type() == own.data_type => Some(column.clone()),
        // Pages in a string column are read as bytes, because they may be in any charset.
        Some(pages) if own.data_type == DataType::Utf8View && *pages.data_type() == DataType::BinaryView => {
            let (pages, wrong) = utf8::checked(pages.as_binary_view().clone());
            lost.add(&own.name, utf8::NOT_UTF8, wrong.len() as u64);
            Some(Arc::new(pages) as ArrayRef)
        }
        Some(_) if own.data_type == DataType::Utf8View => batch.spelled_column(&own.name)?.map(|column| column.array()),
        _ => None,
    };
    // The values are copied, because rows may stay in memory until their table is written and would otherwise keep the memory of the input
    // file allocated.
    Ok(match there {
        Some(strings) if own.data_type == DataType::Utf8View => Arc::new(apart(strings.as_string_view())),
        Some(bytes) if own.data_type == DataType::BinaryView => Arc::new(apart(bytes.as_binary_view())),
        Some(numbers) => numbers,
        None => new_null_array(&own.data_type, batch.len()),
    })
}
