//! Implements the formats in which each file holds one document: text files and HTML pages. The id of a document is the label of its file.

use crate::compressed::coding::{Coding, decode};
use crate::compressed::rest::Behind;
use crate::copy::copying::Copying;
use crate::copy::edits::CHANGED;
use crate::copy::output::{Output, Packed, Stop};
use crate::format::Format;
use crate::format::copies::{Change, Copies};
use crate::format::facts::Facts;
use crate::format::known::{KnownColumns, Look};
use crate::format::open::{Opened, Opening, Piece, Unusable};
use crate::format::read::Reading;
use arrow::array::builder::BinaryViewBuilder;
use arrow::array::{ArrayRef, StringViewArray};
use dupsift_core::error::Result;
use dupsift_tables::document::{MAX_TEXT_BYTES, too_long};
use dupsift_tables::{Documents, RejectReason, Rejection};
use dupsift_tables::{IdKind, IdsSeen};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;

/// A format with one document per file.
#[derive(Debug)]
pub(crate) struct WholeFiles(&'static Facts);

/// Files with one plain-text document each.
pub(crate) const TEXTS: WholeFiles = WholeFiles(&Facts {
    is_packed: true,
    is_whole: true,
    names_columns: false,
    ..Facts::new("a text file", &[".txt", ".md"])
});

/// Files with one HTML page each.
pub(crate) const PAGES: WholeFiles = WholeFiles(&Facts {
    is_packed: true,
    is_whole: true,
    has_pages: true,
    names_columns: false,
    ..Facts::new("a page file", &[".html", ".htm"])
});

impl Format for WholeFiles {
    fn facts(&self) -> &'static Facts {
        self.0
    }

    fn columns(&self, _: File, _: Coding, _: Look<'_>) -> std::result::Result<Option<KnownColumns>, String> {
        Ok(Some(KnownColumns::default()))
    }

    fn open(&self, file: File, opening: Opening<'_>) -> std::result::Result<Opened, Unusable> {
        let failed = |error| Unusable::unreadable(self.0, opening.coding, error);
        // Pages state their encoding themselves.
        let coding = if self.0.has_pages { opening.coding } else { opening.coding.resolved(&file).map_err(failed)? };
        open(file, coding).map_err(failed)
    }

    fn read(&self, file: File, reading: &Reading<'_>, each: &mut dyn FnMut(Documents) -> Result<()>) -> Result<()> {
        read(file, reading, self.0.has_pages, each)
    }

    fn copies(&self) -> std::result::Result<&dyn Copies, &'static str> {
        Ok(self)
    }
}

impl Copies for WholeFiles {
    /// A file with a single document is copied completely or not at all.
    fn check(&self, _: Coding) -> std::result::Result<(), String> {
        Ok(())
    }

    fn changes(&self) -> &'static [Change] {
        if self.0.has_pages { &[] } else { &[Change::Text] }
    }

    /// Copies the only row with its edited text.
    fn copy_rows(&self, file: File, copying: &Copying<'_>) -> Result<()> {
        let changed = || copying.bad(CHANGED);
        let edits = copying.edits_of(0).ok_or_else(changed)?;
        let mut bytes = Vec::new();
        let read = copying
            .coding
            .unpacked(file)
            .and_then(|unpacked| unpacked.take(MAX_TEXT_BYTES as u64).read_to_end(&mut bytes));
        read.map_err(|error| copying.bad(format!("cannot be read any further: {error}")))?;
        as_text(&copying.coding, &mut bytes).map_or(Ok(()), |_| Err(changed()))?;
        let text = std::str::from_utf8(&bytes).map_err(|_| changed())?;
        let edited = (edits.edit)(0, text).ok_or_else(changed)?;
        let stop = Stop::default();
        let out = Output::create(copying.out, &stop)?;
        let written = Packed::new(out, copying.coding.packing).and_then(|mut out| {
            out.write_all(edited.as_bytes())?;
            out.end()
        });
        stop.check()?;
        written.map_err(|error| copying.bad(format!("cannot be written: {error}")))
    }
}

/// Unpacks the file once to check it and measure its length.
fn open(file: File, coding: Coding) -> std::io::Result<Opened> {
    let mut bytes = coding.unpacked(file)?;
    let length = std::io::copy(&mut bytes, &mut std::io::sink())?;
    // The file has only one row, and that row is damaged.
    if let Some(damage) = bytes.damage() {
        return Err(std::io::Error::other(damage.why.clone()));
    }
    let (notes, lost) = Behind::notes(bytes.behind());
    Ok(Opened {
        id: Some(IdKind::Text),
        pieces: vec![Piece { rows: 1, bytes: length, ..Piece::default() }],
        longest: length,
        coding: Some(coding),
        notes,
        lost,
        ..Opened::default()
    })
}

/// Reads the only row of a file.
fn read(file: File, reading: &Reading<'_>, is_page: bool, each: &mut dyn FnMut(Documents) -> Result<()>) -> Result<()> {
    let (columns, want) = (reading.columns, reading.want);
    let mut bytes = Vec::new();
    // Every read checks the bytes, because whether a row is invalid must not depend on the columns that are read.
    let bad = if reading.longest > MAX_TEXT_BYTES as u64 {
        Some(too_long(usize::try_from(reading.longest).unwrap_or(usize::MAX)))
    } else {
        let unpacked =
            reading.coding.unpacked(file).map_err(|error| reading.bad(format!("cannot be read: {error}")))?;
        let read = unpacked.take(reading.longest + 1).read_to_end(&mut bytes);
        read.map_err(|error| reading.bad(format!("cannot be read any further: {error}")))?;
        if bytes.len() as u64 != reading.longest {
            return Err(reading.bad("the file changed while it was being read"));
        }
        if is_page { None } else { as_text(&reading.coding, &mut bytes) }
    };
    let value = bad.is_none().then_some(bytes.as_slice());
    let mut arrays: Vec<(&str, ArrayRef)> = Vec::new();
    if want.text {
        let mut text = BinaryViewBuilder::new();
        text.append_option(value);
        arrays.push((&columns.text, Arc::new(text.finish())));
    }
    if want.id && !(want.text && columns.id == columns.text) {
        arrays.push((&columns.id, Arc::new(StringViewArray::from_iter_values([reading.label]))));
    }
    let mut seen = IdsSeen::default();
    seen.kinds.insert(IdKind::Text);
    let text = want.text.then_some(columns.text.as_str());
    let id = want.id.then_some(columns.id.as_str());
    let bad: BTreeMap<usize, _> = bad.into_iter().map(|why| (0, why)).collect();
    let documents = Documents::of_columns(vec![reading.first_doc], arrays, text, id)?;
    each(documents.with_html(is_page).with_bad(bad).with_ids_seen(seen))
}

/// Decodes the bytes in place. Returns the reason why the bytes are not usable text, or `None` if they are.
fn as_text(coding: &Coding, bytes: &mut Vec<u8>) -> Option<Rejection> {
    if let Some(encoding) = coding.of_all() {
        let raw = std::mem::take(bytes);
        let mark = encoding_rs::Encoding::for_bom(&raw).filter(|(marked, _)| *marked == encoding);
        decode(encoding, &raw[mark.map_or(0, |(_, length)| length)..], bytes);
    } else if bytes.starts_with(b"\xEF\xBB\xBF") {
        bytes.drain(..3);
    }
    match std::str::from_utf8(bytes) {
        Err(error) => {
            let detail = format!("byte {} of the text is invalid", error.valid_up_to());
            Some(Rejection::new(RejectReason::NotUtf8, detail))
        }
        Ok(text) if text.len() > MAX_TEXT_BYTES => Some(too_long(text.len())),
        Ok(_) => None,
    }
}
