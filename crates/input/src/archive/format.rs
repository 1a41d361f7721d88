//! Implements the web archive formats WARC and WET. WET files contain text extracted from pages.

use crate::archive::warc;
use crate::archive::warc::COLUMNS;
use crate::compressed::coding::Coding;
use crate::format::Format;
use crate::format::copies::Copies;
use crate::format::facts::Facts;
use crate::format::known::{KnownColumns, Look};
use crate::format::open::{Opened, Opening, Unusable};
use crate::format::read::Reading;
use dupsift_core::error::Result;
use dupsift_tables::Documents;
use dupsift_tables::IdKind;
use std::fs::File;

#[derive(Debug)]
pub(crate) struct WebArchive;

static FACTS: Facts =
    Facts { is_packed: true, has_pages: true, names_columns: false, ..Facts::new("a web archive", &[".warc", ".wet"]) };

impl Format for WebArchive {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn columns(&self, _: File, _: Coding, _: Look<'_>) -> std::result::Result<Option<KnownColumns>, String> {
        Ok(Some(KnownColumns::untyped(COLUMNS)))
    }

    fn open(&self, file: File, opening: Opening<'_>) -> std::result::Result<Opened, Unusable> {
        let Opening { coding, columns, .. } = opening;
        let scan = warc::scan(file, coding).map_err(|error| Unusable::unreadable(&FACTS, coding, error))?;
        let others = columns.others.iter().filter(|name| COLUMNS.contains(&name.as_str())).cloned().collect();
        let (pieces, longest, notes, archived) = (scan.pieces, scan.longest, scan.notes, Some(scan.archived));
        Ok(Opened { id: Some(IdKind::Text), others, pieces, longest, notes, archived, ..Opened::default() })
    }

    fn read(&self, file: File, reading: &Reading<'_>, each: &mut dyn FnMut(Documents) -> Result<()>) -> Result<()> {
        warc::read(file, reading, each)
    }

    fn copies(&self) -> std::result::Result<&dyn Copies, &'static str> {
        Err(
            "records cannot be removed from web archives; convert the pages to Parquet first (dupsift purify), or use the removed/ table",
        )
    }
}
