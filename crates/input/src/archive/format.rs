//! Implements the web archive formats WARC and WET. WET files contain text extracted from pages.

use crate::archive::warc;
use crate::archive::warc::COLUMNS;
use crate::compressed::coding::Coding;
use crate::compressed::repacking::Repacking;
use crate::format::schema::{Columns, KnownColumns, Shown};
use crate::format::{Format, Opened, Reading, Unusable};
use arrow::datatypes::DataType;
use dupsift_core::error::Result;
use dupsift_tables::Documents;
use dupsift_tables::IdKind;
use std::fs::File;

#[derive(Debug)]
pub(crate) struct WebArchive;

impl Format for WebArchive {
    fn name(&self) -> &'static str {
        "a web archive"
    }

    fn endings(&self) -> &'static [&'static str] {
        &[".warc", ".wet"]
    }

    fn is_packed(&self) -> bool {
        true
    }

    fn has_pages(&self) -> bool {
        true
    }

    fn open(
        &self,
        file: File,
        coding: Coding,
        columns: &Columns,
        _: Option<&Repacking>,
    ) -> std::result::Result<Opened, Unusable> {
        let scan = warc::scan(file, coding).map_err(|error| {
            Unusable::Bad(format!("cannot be read as {}{}: {error}", self.name(), coding.packing.said()))
        })?;
        let others = columns.others.iter().filter(|name| COLUMNS.contains(&name.as_str())).cloned().collect();
        let (pieces, longest, notes, archived) = (scan.pieces, scan.longest, scan.notes, Some(scan.archived));
        Ok(Opened { id: Some(IdKind::Text), others, pieces, longest, notes, archived, ..Opened::default() })
    }

    fn read(&self, file: File, reading: &Reading<'_>, each: &mut dyn FnMut(Documents) -> Result<()>) -> Result<()> {
        warc::read(file, reading, each)
    }

    fn copies(&self, _: Coding) -> std::result::Result<(), String> {
        Err("records cannot be removed from web archives; convert the pages to Parquet first (dupsift purify), or use the removed/ table"
            .to_owned())
    }

    fn columns(&self, _: File, _: Coding, _: &[&str]) -> std::result::Result<Option<KnownColumns>, String> {
        Ok(Some(COLUMNS.map(Shown::named).to_vec().into()))
    }

    fn own_columns(&self, _: File, _: Coding) -> Vec<(String, Option<DataType>)> {
        COLUMNS.map(|name| (name.to_owned(), Some(DataType::Utf8View))).to_vec()
    }
}
