//! Reads separated values: a first record with the column names, then one record per row.
//!
//! Values in such a file have no types. Ids, text and the columns for `--keep` are kept as written; any other value that looks like a
//! number becomes a number. An empty field is null; a field that consists of two quotes is an empty string.

use crate::compressed::coding::Coding;
use crate::compressed::repacking::{Repacking, Tee};
use crate::format::columns::Columns;
use crate::format::known::{KnownColumns, Shown};
use crate::format::open::Unusable;
use crate::format::read::Reading;
use crate::format::schema;
use crate::format::schema::Has;
use crate::format::signs;
use crate::lines::json_row::{JsonId, LineFields};
use crate::lines::json_value::{JsonValue, Take};
use crate::lines::jsonl;
use crate::lines::jsonl::{Marks, Scan};
use crate::lines::line::{LOOKED_AT_BYTES, Line, Lines, MAX_LINE_BYTES};
use crate::lines::quotes::{Dialect, Field, fields};
use dupsift_core::error::Result;
use dupsift_tables::IdKind;
use dupsift_tables::nested::attached::is_attached;
use dupsift_tables::nested::json_walk::Plain;
use dupsift_tables::nested::messages;
use dupsift_tables::{Documents, RejectReason, Rejection};
use std::fs::File;
use std::io::{self, BufRead, Seek as _};

/// The content of the first record.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The columns in order; empty for a file without records.
    pub all: Vec<String>,
    dialect: Dialect,
    /// The offset, in the first line, of the first byte that is not valid UTF-8. Only the names of requested columns must be UTF-8.
    not_utf8: Option<usize>,
    /// What the first line consists of if it is not text, with the way out.
    not_text: Option<String>,
}

impl Names {
    /// Reads the names from the beginning of a file.
    pub(crate) fn of(file: &File, coding: Coding, dialect: Dialect) -> std::result::Result<Names, String> {
        let mut file = file;
        file.rewind().map_err(|error| failed(&error))?;
        let text = coding.text(file.try_clone().map_err(|error| failed(&error))?).map_err(|error| failed(&error))?;
        let lines = Lines::new(text, 0, LOOKED_AT_BYTES).decoded(coding.of_lines());
        Names::next(&mut lines.records(dialect, None, LOOKED_AT_BYTES), dialect)
    }

    fn next<R: BufRead>(lines: &mut Lines<R>, dialect: Dialect) -> std::result::Result<Names, String> {
        let (mut all, mut not_utf8, mut not_text) = (Vec::new(), None, None);
        match lines.next().map_err(|error| failed(&error))? {
            None => {}
            Some((_, Line::TooLong(bytes))) => {
                return Err(format!("the first line has {bytes} bytes; expected column names"));
            }
            Some((_, Line::Bytes(line))) => {
                not_utf8 = std::str::from_utf8(line).err().map(|error| error.valid_up_to());
                let is_control = |byte: &u8| *byte < b' ' && !byte.is_ascii_whitespace();
                let strange = signs::of_text(line).filter(|_| line.iter().any(is_control));
                // A carriage return may only stand in quotes or at the end.
                let has_returns = !line.contains(&b'"') && line.trim_ascii_end().contains(&b'\r');
                if let Some((what, way_out)) = strange.or(has_returns.then_some(signs::RETURNS)) {
                    not_text = Some(format!("the first line does not name the columns: {what}{way_out}"));
                    return Ok(Names { all: vec![String::new()], dialect, not_utf8, not_text });
                }
                fields(&String::from_utf8_lossy(line), dialect, &mut |field| {
                    all.push(field.text().unwrap_or_default().into_owned())
                })
                .map_err(|why| format!("the first line does not name the columns: {why}"))?;
            }
        }
        Ok(Names { all, dialect, not_utf8, not_text })
    }

    /// Returns which of the requested columns the file has.
    fn check(&self, columns: &Columns) -> std::result::Result<Has, Unusable> {
        let twice = |name: &&str| self.all.iter().filter(|known| known == name).count() > 1;
        if let Some(name) = columns.names().into_iter().find(twice) {
            return Err(Unusable::Bad(format!("two columns are named {name:?}; expected unique names")));
        }
        if let Some(why) = &self.not_text {
            return Err(Unusable::Lacks(why.clone()));
        }
        schema::check(columns, &self.shown()).map_err(|why| match self.hint(&|name| columns.is_text(name)) {
            Some(hint) => Unusable::Lacks(format!("{why}{hint} (the first line names the columns)")),
            None => Unusable::Lacks(format!("{why} (the first line names the columns)")),
        })
    }

    /// Returns the columns that messages may list: those with readable names.
    fn shown(&self) -> Vec<Shown> {
        let is_readable = |name: &&String| self.not_utf8.is_none() || !name.contains('\u{FFFD}');
        self.all.iter().filter(is_readable).map(|name| Shown::named(name)).collect()
    }

    /// Returns the columns of the file, and a hint for the case that a requested column is missing.
    ///
    /// # Errors
    /// Returns the reason why the first line does not name columns.
    pub(crate) fn known(&self, asked: &[&str]) -> std::result::Result<KnownColumns, String> {
        let hint = self.hint(&|name| asked.contains(&name)).unwrap_or_default();
        self.not_text.clone().map_or(Ok(()), Err)?;
        Ok(KnownColumns { hint, ..self.shown().into() })
    }

    /// Returns the likely reason why a requested column is missing, if it is the encoding or the separator of the file.
    fn hint(&self, is_asked: &dyn Fn(&str) -> bool) -> Option<String> {
        match (self.not_utf8, self.other_separator(is_asked)) {
            (Some(byte), _) => Some(format!(
                "; the column names are not UTF-8 from byte {byte} on; use `encoding=auto` to detect the encoding of each file"
            )),
            (None, Some(separator)) => {
                let sep =
                    if self.is_sep_line() { "; remove the first line, which names the separator, and" } else { ";" };
                Some(format!("{sep} try `separator={separator}`"))
            }
            (None, None) => self.is_sep_line().then(|| "; remove the first line, which names the separator".to_owned()),
        }
    }

    /// Returns the separator that the first line appears to use, if that separator differs from the expected one and the line was
    /// therefore not split.
    fn other_separator(&self, is_asked: &dyn Fn(&str) -> bool) -> Option<&'static str> {
        let [line] = self.all.as_slice() else { return None };
        let separators = [(';', ";"), ('\t', "tab"), ('|', "|"), (',', ",")];
        let is_name = |name: &str| is_asked(name.trim().trim_matches('"'));
        let found = separators.into_iter().find(|(separator, _)| line.split(*separator).any(is_name));
        let found = found.or_else(|| separators.into_iter().find(|(separator, _)| line.contains(*separator)));
        found.map(|(_, name)| name)
    }

    /// Returns whether Excel would treat the first line as a separator declaration, such as `sep=;`.
    fn is_sep_line(&self) -> bool {
        match self.all.as_slice() {
            [line] => line.len() == 5 && line.to_ascii_lowercase().starts_with("sep="),
            // If the declared separator is also the separator in use, the line is split, and the second field is empty.
            [name, rest] => name.eq_ignore_ascii_case("sep=") && rest.is_empty(),
            _ => false,
        }
    }

    /// Returns whether a line is a valid record with one field per name.
    pub(crate) fn fit(&self, line: &[u8]) -> bool {
        let mut count = 0;
        let text = std::str::from_utf8(line);
        text.is_ok_and(|text| fields(text, self.dialect, &mut |_| count += 1).is_ok()) && count == self.all.len()
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.all.iter().position(|known| known == name)
    }
}

fn failed(error: &io::Error) -> String {
    format!("cannot be read: {error}")
}

/// Returns the records from a reader whose position in the file is `offset`. Each record has at most `limit` bytes.
pub(super) fn lines<R: BufRead>(reader: R, offset: u64, limit: u64, coding: Coding, names: &Names) -> Lines<R> {
    let lines = Lines::new(reader, offset, limit).decoded(coding.of_lines());
    lines.records(names.dialect, Some(names.all.len()), limit)
}

/// Counts the rows and checks the columns.
///
/// # Errors
/// Returns the reason why the file cannot be used.
pub(super) fn scan(
    file: File,
    coding: Coding,
    columns: &Columns,
    dialect: Dialect,
    repacking: Option<&Repacking>,
) -> std::result::Result<(Scan, Has), Unusable> {
    let bad = |error: io::Error| Unusable::Bad(failed(&error));
    let text = Tee::new(file, coding, repacking).map_err(bad)?;
    let (mut scan, mut marks) = (Scan::default(), Marks::new(coding, &text));
    let lines = Lines::new(text, 0, LOOKED_AT_BYTES).decoded(coding.of_lines());
    let mut lines = lines.records(dialect, None, MAX_LINE_BYTES).taking_turns();
    let names = Names::next(&mut lines, dialect).map_err(Unusable::Bad)?;
    if let (true, Some(damage)) = (lines.is_cut || lines.has_open_quote, lines.reader().damage()) {
        return Err(bad(io::Error::other(damage.why.clone())));
    }
    lines.expect_fields(names.all.len());
    // A read from the beginning of the file has to skip the header, so the limit must be large enough for the header.
    scan.longest = lines.length;
    // A file without records has no rows and no missing columns.
    let has = if names.all.is_empty() { Has::default() } else { names.check(columns)? };
    scan.id = names.place(&columns.id).map(|_| IdKind::Text);
    while let Some(start) = lines.step().map_err(bad)? {
        marks.row(&mut scan, start, &mut lines);
        if lines.length <= MAX_LINE_BYTES {
            scan.longest = scan.longest.max(lines.length);
        }
    }
    marks.end(&mut scan, &mut lines);
    Ok((scan, has))
}

/// Calls `each` with batches of the part's rows, in order.
pub(super) fn read(
    file: File,
    reading: &Reading<'_>,
    dialect: Dialect,
    each: &mut dyn FnMut(Documents) -> Result<()>,
) -> Result<()> {
    let failed = |error| reading.failed(error);
    let (part, coding) = (reading.part, reading.coding);
    let names = Names::of(&file, coding, dialect).map_err(|why| reading.bad(why))?;
    let text = reading.text(file).map_err(failed)?;
    let mut lines = lines(text, part.from, reading.longest, coding, &names);
    if part.from == 0 {
        lines.step().map_err(failed)?;
    }
    let places = Places::new(&names, reading);
    jsonl::rows(lines, reading, &|line, takes| places.parse(line, takes), each)
}

/// The positions of the requested columns in a record.
struct Places {
    dialect: Dialect,
    fields: usize,
    text: Option<usize>,
    id: Option<usize>,
    /// The position of each further requested column, and whether the values of the column are kept as written.
    others: Vec<(Option<usize>, bool)>,
    /// The positions and names of the columns with pictures beside the text.
    attached: Vec<(usize, String)>,
}

impl Places {
    fn new(names: &Names, reading: &Reading<'_>) -> Places {
        let (columns, want) = (reading.columns, reading.want);
        let is_text = |name: &String| want.spelled || want.as_text.contains(name) || columns.parts.contains(name);
        let attached = names.all.iter().enumerate().filter(|(_, name)| !columns.is_text(name));
        let attached = attached.filter(|(_, name)| is_attached(name)).map(|(at, name)| (at, name.clone()));
        Places {
            dialect: names.dialect,
            fields: names.all.len(),
            text: names.place(&columns.text).filter(|_| columns.parts.is_empty()),
            id: names.place(&columns.id),
            others: columns.others.iter().map(|name| (names.place(name), is_text(name))).collect(),
            attached: if columns.html { Vec::new() } else { attached.collect() },
        }
    }

    /// Returns the row that a record represents, or the reason why the record is invalid.
    fn parse<'l>(&self, record: &'l [u8], takes: &[Take]) -> std::result::Result<LineFields<'l>, Rejection> {
        let record = std::str::from_utf8(record).map_err(|error| {
            Rejection::new(RejectReason::NotUtf8, format!("byte {} of the line", error.valid_up_to()))
        })?;
        let mut row = LineFields { others: vec![JsonValue::Null; self.others.len()], ..LineFields::default() };
        let (mut count, mut attached) = (0, 0u128);
        let read = fields(record, self.dialect, &mut |field| {
            if let Some((_, name)) = self.attached.iter().find(|(at, _)| *at == count) {
                let value = messages::hash_of(field.text().as_deref().map_or(Plain::Null, Plain::Borrowed));
                attached = attached.wrapping_add(messages::of_field(name, value));
            }
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
        row.attach(attached);
        let broken = |why: String| Err(Rejection::new(RejectReason::BrokenRecord, why));
        match read {
            Err(why) => broken(why.to_owned()),
            Ok(()) if count != self.fields => {
                broken(format!("{count} fields; expected {}, the number of names in the first line", self.fields))
            }
            Ok(()) => Ok(row),
        }
    }
}

/// Returns the text as written if `is_text` is set. Otherwise, returns a number if formatting that number yields the original text.
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
