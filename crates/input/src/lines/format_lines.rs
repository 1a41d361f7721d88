//! Implements text lines, a format in which each line of a `.txt` file is one document.

use crate::compressed::coding::Coding;
use crate::compressed::repacking::{Repacking, Tee};
use crate::copy::copying::Copying;
use crate::format::Format;
use crate::format::copies::Copies;
use crate::format::facts::Facts;
use crate::format::known::{KnownColumns, Look};
use crate::format::open::{Opened, Opening, Unusable};
use crate::format::read::Reading;
use crate::format::signs;
use crate::lines::before_damage::scan_trusted;
use crate::lines::json_row::LineFields;
use crate::lines::jsonl;
use crate::lines::jsonl::{Marks, Scan};
use crate::lines::line::{LOOKED_AT_BYTES, Lines, MAX_LINE_BYTES};
use crate::lines::{copy, json_value};
use dupsift_core::error::Result;
use dupsift_tables::{Documents, RejectReason, Rejection};
use std::fs::File;
use std::io::{self, Read as _, Seek as _};

#[derive(Debug)]
pub(crate) struct TextLines;

/// Each line is the text of a document, regardless of the name of the text column.
static FACTS: Facts = Facts { is_packed: true, names_columns: false, ..Facts::new("lines of text", &[".txt"]) };

impl Format for TextLines {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn columns(&self, _: File, _: Coding, _: Look<'_>) -> std::result::Result<Option<KnownColumns>, String> {
        Ok(Some(KnownColumns::default()))
    }

    fn open(&self, file: File, opening: Opening<'_>) -> std::result::Result<Opened, Unusable> {
        let Opening { coding, columns, repacking } = opening;
        let failed = |error: io::Error| Unusable::unreadable(&FACTS, coding, error);
        if columns.id_required {
            let why =
                format!("lines of text have no column {:?}; remove `id-column`, because ids are FILE#ROW", columns.id);
            return Err(Unusable::Lacks(why));
        }
        let scan = |coding| scan(file.try_clone()?, coding, repacking);
        let lines =
            |coding: Coding, text| Lines::new(text, 0, MAX_LINE_BYTES).decoded(coding.of_lines()).taking_turns();
        let is_row = |line: &[u8]| std::str::from_utf8(line).is_ok();
        let resolved = coding.resolved(&file).map_err(failed)?;
        let (scan, coding, damaged) = scan_trusted(&file, resolved, &scan, &lines, &is_row).map_err(failed)?;
        let (rows, marked) = (scan.rows, scan.marked());
        let mut opened = scan.opened(coding, damaged);
        opened.notes.extend(marked);
        let (returns, feeds) = line_ends(&file, coding).map_err(failed)?;
        // A few carriage returns in a text are no line ends.
        if returns > 0 && (rows == 1 || returns >= feeds) {
            let (what, way_out) = signs::RETURNS;
            let (some, are) = if rows == 1 {
                ("", "so the file is one document")
            } else {
                ("some of ", "so each of them is one document with the next line")
            };
            opened.notes.push(format!("{some}{what}, {are}{way_out}"));
        }
        Ok(opened)
    }

    fn read(&self, file: File, reading: &Reading<'_>, each: &mut dyn FnMut(Documents) -> Result<()>) -> Result<()> {
        let text = reading.text(file).map_err(|error| reading.failed(error))?;
        let lines = Lines::new(text, reading.part.from, reading.longest).decoded(reading.coding.of_lines());
        let others = reading.columns.others.len();
        jsonl::rows(lines, reading, &|line, _| row(line, others), each)
    }

    fn copies(&self) -> std::result::Result<&dyn Copies, &'static str> {
        Ok(self)
    }
}

impl Copies for TextLines {
    fn check(&self, coding: Coding) -> std::result::Result<(), String> {
        copy::check(coding)
    }

    fn copy_rows(&self, file: File, copying: &Copying<'_>) -> Result<()> {
        copy::copy(file, copying, None)
    }
}

/// Returns how many carriage returns that no line feed follows, and how many line feeds, the beginning of a file contains.
fn line_ends(mut file: &File, coding: Coding) -> io::Result<(usize, usize)> {
    file.rewind()?;
    let mut begin = Vec::new();
    coding.text(file.try_clone()?)?.take(BEGIN_BYTES).read_to_end(&mut begin)?;
    file.rewind()?;
    let returns = begin.windows(2).filter(|pair| pair[0] == b'\r' && !matches!(pair[1], b'\r' | b'\n')).count();
    Ok((returns, memchr::memchr_iter(b'\n', &begin).count()))
}

/// The number of bytes at the beginning of a file that are searched for carriage returns.
const BEGIN_BYTES: u64 = 64 << 10;

/// Counts the lines that are not blank.
fn scan(file: File, coding: Coding, repacking: Option<&Repacking>) -> io::Result<Scan> {
    let text = Tee::new(file, coding, repacking)?;
    let (mut scan, mut marks) = (Scan::default(), Marks::new(coding, &text));
    let mut lines = Lines::new(text, 0, LOOKED_AT_BYTES).decoded(coding.of_lines());
    while let Some(start) = lines.step()? {
        marks.row(&mut scan, start, &mut lines);
        if lines.length <= MAX_LINE_BYTES {
            scan.longest = scan.longest.max(lines.length);
        }
    }
    marks.end(&mut scan, &mut lines);
    Ok(scan)
}

/// Returns the row that a line represents, or the reason why the line is invalid.
fn row(line: &[u8], others: usize) -> std::result::Result<LineFields<'_>, Rejection> {
    let text = std::str::from_utf8(line)
        .map_err(|error| Rejection::new(RejectReason::NotUtf8, format!("byte {} of the line", error.valid_up_to())))?;
    Ok(LineFields {
        text: Some(text.into()),
        others: vec![json_value::JsonValue::Null; others],
        ..LineFields::default()
    })
}
