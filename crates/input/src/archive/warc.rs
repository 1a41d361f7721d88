//! Counts the pages in web archives and converts the pages into batches of documents.
//!
//! A row is a record that contains a page: `response`, `resource` or `conversion` (extracted text, as in WET files). Other records are
//! counted by type. As with JSON lines, opening a file reads it once from beginning to end and records a start position every megabyte, so
//! that several threads can read one file. A record that is broken or has no page keeps its number and is reported as unusable. The columns
//! have fixed names; see [`COLUMNS`].

use crate::archive::page::{broken, payload};
use crate::archive::records::{Head, NextRecord, Records};
use crate::compressed::coding::Coding;
use crate::format::columns::Columns;
use crate::format::open::{Archived, Piece};
use crate::format::read::Reading;
use crate::format::want::{MAX_BATCH_ROWS, Want};
use arrow::array::ArrayRef;
use arrow::array::builder::{BinaryViewBuilder, StringViewBuilder};
use dupsift_core::error::Result;
use dupsift_tables::{Documents, Rejection};
use dupsift_tables::{IdKind, IdsSeen};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::Arc;

/// The columns of a web archive in addition to its pages. All of them are strings: the address without angle brackets; the time of the
/// crawl; the media type sent by the server (or, if the record is not a server response, the type in the archive); the record id as
/// written; and the digest of the page or, if it is missing, the digest of the block.
pub(crate) const COLUMNS: [&str; 5] = ["url", "date", "content_type", "record_id", "digest"];

/// The number of bytes of the file between recorded start positions.
const MARK_BYTES: u64 = 1 << 20;

/// The types of records that are not rows; each type is counted separately.
const OTHERS: [&str; 5] = ["warcinfo", "request", "metadata", "revisit", "continuation"];

/// The result of a scan.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The pieces between possible start positions, with their row counts and the sizes of their blocks in bytes.
    pub pieces: Vec<Piece>,
    pub archived: Archived,
    /// The size in bytes of the longest block that a read may have to hold in memory; 0 if all blocks are small.
    pub longest: u64,
    /// Notes about the file for the summary.
    pub notes: Vec<String>,
}

/// Returns whether records of this type are rows.
fn is_row(kind: &str) -> bool {
    matches!(kind, "response" | "resource" | "conversion")
}

/// Counts the rows.
///
/// # Errors
/// Returns the I/O error, or an error for a file without any readable record.
pub(super) fn scan(file: File, coding: Coding) -> io::Result<Scan> {
    let mut records = Records::new(file, coding.packing, coding.window_bytes, 0)?;
    let mut scan = Scan::default();
    let mut marked = Piece::default();
    let mut heads = 0u64;
    while let Some(found) = records.next()? {
        if records.is_fresh() && records.start() - marked.start >= MARK_BYTES {
            scan.pieces.push(std::mem::replace(&mut marked, Piece { start: records.start(), ..Piece::default() }));
        }
        let head = match found {
            NextRecord::Broken(_) => {
                marked.rows += 1;
                continue;
            }
            NextRecord::Head(head) => head,
        };
        heads += 1;
        if is_row(&head.kind) {
            scan.longest = scan.longest.max(records.held(&head)?);
        }
        let is_broken = records.block(&head, None)?.is_err();
        if is_row(&head.kind) {
            marked.rows += 1;
            marked.bytes += if is_broken { 0 } else { head.length };
            scan.archived.truncated += u64::from(head.fields.get("warc-truncated").is_some());
        } else {
            let kind = OTHERS.iter().find(|kind| **kind == head.kind).unwrap_or(&"unknown");
            let kind = if is_broken { format!("{kind} (broken)") } else { (*kind).to_owned() };
            *scan.archived.others.entry(kind).or_default() += 1;
        }
    }
    scan.pieces.push(marked);
    let zeros = records
        .rest()
        .map(|rest| format!("the last {} bytes, from byte {}, are zeros and were ignored", rest.bytes, rest.start));
    scan.notes.extend(zeros);
    if heads == 0 && scan.pieces.iter().any(|piece| piece.rows > 0) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it has no records"));
    }
    Ok(scan)
}

/// Calls `each` with batches of the part's rows, in order.
pub(super) fn read(file: File, reading: &Reading<'_>, each: &mut dyn FnMut(Documents) -> Result<()>) -> Result<()> {
    let failed = |error: io::Error| reading.bad(format!("cannot be read any further: {error}"));
    let (part, want, coding) = (reading.part, reading.want, reading.coding);
    let mut records = Records::new(file, coding.packing, coding.window_bytes, part.from).map_err(failed)?;
    let mut batch = Batch::new(reading.columns, want);
    let mut chosen = reading.chosen.map(|chosen| chosen.iter().copied().peekable());
    let mut row = 0;
    let mut block = Vec::new();
    while let Some(found) = records.next().map_err(failed)? {
        if records.start() >= part.to {
            break;
        }
        if chosen.as_mut().is_some_and(|chosen| chosen.peek().is_none()) {
            // This piece contains no further chosen rows, so the remaining records need not be counted.
            row = reading.rows;
            break;
        }
        let asked = match &found {
            NextRecord::Head(head) if !is_row(&head.kind) => {
                let _ = records.block(head, None).map_err(failed)?;
                continue;
            }
            _ => chosen.as_mut().is_none_or(|chosen| chosen.next_if_eq(&row).is_some()),
        };
        let doc = reading.first_doc + row;
        row += 1;
        match found {
            NextRecord::Broken(what) if asked => batch.bad(doc, broken(what)),
            NextRecord::Broken(_) => {}
            NextRecord::Head(head) => {
                let whole = records.block(&head, asked.then_some(&mut block)).map_err(failed)?;
                if asked {
                    batch.push(doc, &head, whole.map(|()| block.as_slice()));
                }
            }
        }
        if block.capacity() > KEPT_BYTES {
            block = Vec::new();
        }
        if batch.docs.len() >= MAX_BATCH_ROWS || batch.bytes >= want.batch_bytes {
            each(batch.finish()?)?;
        }
    }
    if !batch.docs.is_empty() {
        each(batch.finish()?)?;
    }
    if row != reading.rows {
        return Err(reading
            .bad(format!("the file changed while it was being read: {} records before, {row} now", reading.rows)));
    }
    Ok(())
}

/// The maximum number of bytes that stay allocated between two blocks.
const KEPT_BYTES: usize = 4 << 20;

/// Rows being collected into a batch.
struct Batch<'b> {
    columns: &'b Columns,
    want: &'b Want,
    pages: BinaryViewBuilder,
    ids: StringViewBuilder,
    others: Vec<(&'static str, StringViewBuilder)>,
    docs: Vec<u64>,
    bad: BTreeMap<usize, Rejection>,
    seen: IdsSeen,
    bytes: usize,
}

impl<'b> Batch<'b> {
    fn new(columns: &'b Columns, want: &'b Want) -> Batch<'b> {
        // The content type may specify the charset of the page, so it is returned with every page.
        let asked = |name: &str| want.others.iter().any(|other| other == name) || (want.text && name == "content_type");
        let taken = |name: &str| (want.text && name == columns.text) || (want.id && name == columns.id);
        let others = COLUMNS.into_iter().filter(|name| asked(name) && !taken(name));
        Batch {
            columns,
            want,
            pages: BinaryViewBuilder::new(),
            ids: StringViewBuilder::new(),
            others: others.map(|name| (name, StringViewBuilder::new())).collect(),
            docs: Vec::new(),
            bad: BTreeMap::new(),
            seen: IdsSeen::default(),
            bytes: 0,
        }
    }

    /// Adds a row that is unusable for this reason.
    fn bad(&mut self, doc: u64, why: Rejection) {
        self.add(doc, Err(why), |_| None);
    }

    /// Adds the row of a record with its block.
    fn push(&mut self, doc: u64, head: &Head, block: std::result::Result<&[u8], Rejection>) {
        // Every block is unpacked, because whether a row is invalid must not depend on the columns that are read.
        let (content_type, page) = match block {
            Err(why) => (None, Err(why)),
            Ok(block) => {
                let payload = payload(&head.fields, block);
                (payload.content_type, payload.page)
            }
        };
        let value = |name: &str| match name {
            "date" => head.fields.get("warc-date"),
            "content_type" => content_type.as_deref(),
            "record_id" => head.fields.get("warc-record-id"),
            "digest" => head.fields.get("warc-payload-digest").or(head.fields.get("warc-block-digest")),
            // The address serves as the id, regardless of the name of the id column.
            _ => head
                .fields
                .get("warc-target-uri")
                .map(|uri| uri.strip_prefix('<').and_then(|uri| uri.strip_suffix('>')).unwrap_or(uri)),
        };
        self.add(doc, page.as_deref().map_err(Clone::clone), value);
    }

    fn add<'v>(
        &mut self,
        doc: u64,
        page: std::result::Result<&[u8], Rejection>,
        value: impl Fn(&str) -> Option<&'v str>,
    ) {
        let id = value(&self.columns.id);
        let page = page.map_err(|why| self.bad.insert(self.docs.len(), why)).ok();
        if id.is_some() {
            self.seen.kinds.insert(IdKind::Text);
        } else if page.is_some() {
            self.seen.nulls += 1;
        }
        self.docs.push(doc);
        self.bytes += 8;
        if self.want.text {
            self.bytes += page.map_or(0, <[u8]>::len);
            self.pages.append_option(page);
        }
        if self.want.id {
            self.bytes += id.map_or(0, str::len);
            self.ids.append_option(id);
        }
        for (name, column) in &mut self.others {
            let value = value(name);
            self.bytes += value.map_or(0, str::len);
            column.append_option(value);
        }
    }

    /// Returns the rows as documents and empties the batch.
    fn finish(&mut self) -> Result<Documents> {
        let mut columns: Vec<(&str, ArrayRef)> = Vec::new();
        if self.want.text {
            columns.push((&self.columns.text, Arc::new(self.pages.finish())));
        }
        if self.want.id && !(self.want.text && self.columns.id == self.columns.text) {
            columns.push((&self.columns.id, Arc::new(self.ids.finish())));
        }
        for (name, column) in &mut self.others {
            columns.push((name, Arc::new(column.finish())));
        }
        self.bytes = 0;
        let docs = std::mem::take(&mut self.docs);
        let text = self.want.text.then_some(self.columns.text.as_str());
        let id = self.want.id.then_some(self.columns.id.as_str());
        Ok(Documents::of_columns(docs, columns, text, id)?
            .with_html(true)
            .with_bad(std::mem::take(&mut self.bad))
            .with_ids_seen(std::mem::take(&mut self.seen)))
    }
}
