//! Separated values: a record a row, the first one the names of the columns.
//!
//! Values have no types in such a file. Ids, texts and the columns of `--keep` are what stands there; any other value is a number if it is written
//! as numbers are. A field with nothing in it is a null, one of two quotes an empty text.

use super::coding::Coding;
use super::format::{Reading, Unusable};
use super::json_row::{JsonId, Row};
use super::json_value::{JsonValue, Take};
use super::jsonl::{self, Marks, Scan};
use super::lines::{LOOKED_AT_BYTES, Line, Lines, MAX_LINE_BYTES};
use super::quotes::{Field, fields};
use super::repacking::{Repacking, Tee};
use super::rest::Lost;
use super::schema::{self, Columns, Has, Shown};
use crate::batch::id::IdKind;
use crate::batch::{Documents, RejectReason, Rejection};
use crate::error::Result;
use std::fs::File;
use std::io::{self, BufRead, Seek as _};

/// What the first record says.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The columns in their order; none of a file without a record.
    pub all: Vec<String>,
    delimiter: u8,
}

impl Names {
    /// Those of a file, which is read from its beginning.
    pub fn of(file: &File, coding: Coding, delimiter: u8) -> std::result::Result<Names, String> {
        let mut file = file;
        file.rewind().map_err(|error| failed(&error))?;
        let text = coding.text(file.try_clone().map_err(|error| failed(&error))?).map_err(|error| failed(&error))?;
        Names::next(&mut lines(text, 0, LOOKED_AT_BYTES, coding, delimiter), delimiter)
    }

    fn next<R: BufRead>(lines: &mut Lines<R>, delimiter: u8) -> std::result::Result<Names, String> {
        let mut all = Vec::new();
        match lines.next().map_err(|error| failed(&error))? {
            None => {}
            Some((_, Line::TooLong(bytes))) => {
                return Err(format!("the first line has {bytes} bytes; expected the names of the columns"));
            }
            Some((_, Line::Bytes(line))) => {
                let line = std::str::from_utf8(line).map_err(|error| {
                    format!("the names of the columns are not UTF-8 from byte {} on", error.valid_up_to())
                })?;
                let is_whole =
                    fields(line, delimiter, &mut |field| all.push(field.text().unwrap_or_default().into_owned()));
                if !is_whole {
                    return Err(
                        "a quote is open at the end of the first line; expected the names of the columns".to_owned()
                    );
                }
            }
        }
        Ok(Names { all, delimiter })
    }

    /// What the file has of the columns asked for.
    fn check(&self, columns: &Columns) -> std::result::Result<Has, Unusable> {
        let twice = |name: &&str| self.all.iter().filter(|known| known == name).count() > 1;
        if let Some(name) = columns.names().into_iter().find(twice) {
            return Err(Unusable::Bad(format!("two columns are called {name:?}; expected one of each name")));
        }
        let shown: Vec<Shown> = self.all.iter().map(|name| Shown::named(name)).collect();
        schema::check(columns, &shown)
            .map_err(|why| Unusable::Lacks(format!("{why} (the first line names the columns)")))
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.all.iter().position(|known| known == name)
    }
}

fn failed(error: &io::Error) -> String {
    format!("cannot be read: {error}")
}

/// The records of a reader that begins at that byte of the file.
pub(super) fn lines<R: BufRead>(reader: R, offset: u64, limit: u64, coding: Coding, delimiter: u8) -> Lines<R> {
    Lines::new(reader, offset, limit).decoded(coding.of_lines()).quoted(delimiter)
}

/// Counts the rows, and checks the columns.
///
/// # Errors
/// Why the file cannot take part.
pub(super) fn scan(
    file: File,
    coding: Coding,
    columns: &Columns,
    delimiter: u8,
    repacking: Option<&Repacking>,
) -> std::result::Result<(Scan, Has, Option<Lost>), Unusable> {
    let bad = |error: io::Error| Unusable::Bad(failed(&error));
    let text = Tee::new(file, coding, repacking).map_err(bad)?;
    let (mut scan, mut marks, mut last) = (Scan::default(), Marks::new(coding, &text), 0);
    let mut lines = lines(text, 0, LOOKED_AT_BYTES, coding, delimiter).taking_turns();
    let names = Names::next(&mut lines, delimiter).map_err(Unusable::Bad)?;
    // A file without a single record has no rows, and lacks nothing.
    let has = if names.all.is_empty() { Has::default() } else { names.check(columns)? };
    scan.id = names.place(&columns.id).map(|_| IdKind::Text);
    while let Some(start) = lines.step().map_err(bad)? {
        last = start;
        marks.row(&mut scan, start, &mut lines);
        if lines.length <= MAX_LINE_BYTES {
            scan.longest = scan.longest.max(lines.length);
        }
    }
    marks.end(&mut scan, &mut lines);
    let lost = lines.is_open().then(|| Lost {
        why: format!(
            "a quote that is opened in the last row, from byte {last} on, is not closed: what stands behind it is lost"
        ),
        bytes: lines.offset - last,
    });
    Ok((scan, has, lost))
}

/// Calls `each` with batches of the rows of the part, in order.
pub(super) fn read(
    file: File,
    reading: &Reading<'_>,
    delimiter: u8,
    each: &mut dyn FnMut(Documents) -> Result<()>,
) -> Result<()> {
    let failed = |error| reading.failed(error);
    let (part, coding) = (reading.part, reading.coding);
    let names = Names::of(&file, coding, delimiter).map_err(|why| reading.bad(why))?;
    let text = reading.text(file).map_err(failed)?;
    let mut lines = lines(text, part.from, reading.longest, coding, delimiter);
    if part.from == 0 {
        lines.step().map_err(failed)?;
    }
    let places = Places::new(&names, reading);
    jsonl::rows(lines, reading, &|line, takes| places.parse(line, takes), each)
}

/// Where in a record the columns stand that are asked for.
struct Places {
    delimiter: u8,
    fields: usize,
    text: Option<usize>,
    id: Option<usize>,
    /// Where each of the others stands, and whether its values stay as they are written.
    others: Vec<(Option<usize>, bool)>,
}

impl Places {
    fn new(names: &Names, reading: &Reading<'_>) -> Places {
        let (columns, want) = (reading.columns, reading.want);
        let is_text = |name: &String| want.spelled || want.as_text.contains(name);
        Places {
            delimiter: names.delimiter,
            fields: names.all.len(),
            text: names.place(&columns.text),
            id: names.place(&columns.id),
            others: columns.others.iter().map(|name| (names.place(name), is_text(name))).collect(),
        }
    }

    /// The row of a record, or why it is none.
    fn parse<'l>(&self, record: &'l [u8], takes: &[Take]) -> std::result::Result<Row<'l>, Rejection> {
        let record = std::str::from_utf8(record).map_err(|error| {
            Rejection::new(RejectReason::NotUtf8, format!("byte {} of the line", error.valid_up_to()))
        })?;
        let mut row = Row { others: vec![JsonValue::Null; self.others.len()], ..Row::default() };
        let mut count = 0;
        let is_whole = fields(record, self.delimiter, &mut |field| {
            if self.text == Some(count) {
                row.text = field.text();
            }
            if self.id == Some(count) {
                row.id = field.text().filter(|id| !id.is_empty()).map_or(JsonId::None, JsonId::Text);
            }
            let asked = row.others.iter_mut().zip(&self.others).zip(takes);
            for ((value, (place, is_text)), take) in asked {
                if *place == Some(count) && *take != Take::Nothing {
                    *value = value_of(field, *is_text);
                }
            }
            count += 1;
        });
        let broken = |why: String| Err(Rejection::new(RejectReason::BrokenRecord, why));
        match is_whole {
            false => broken("a quote is opened and not closed".to_owned()),
            true if count != self.fields => {
                broken(format!("{count} fields; expected {}, as many as the first line has names", self.fields))
            }
            true => Ok(row),
        }
    }
}

/// The text as it is written, if that is asked for; else a number where the text is what that number is written as.
fn value_of(field: Field<'_>, is_text: bool) -> JsonValue {
    let Some(text) = field.text() else { return JsonValue::Null };
    if !is_text {
        if let Some(number) = text.parse::<i64>().ok().filter(|number| number.to_string() == text) {
            return JsonValue::Int(number);
        }
        let float = text.parse::<f64>().ok().filter(|number| number.is_finite() && number.to_string() == text);
        if let Some(number) = float {
            return JsonValue::Float(number);
        }
    }
    JsonValue::Text(text.into_owned())
}

#[cfg(test)]
#[path = "separated_tests.rs"]
mod tests;
