//! Counts JSON lines, or the items of a JSON array, and converts them into batches of documents. In this module, an item is a line.
//!
//! Opening a file reads it once from beginning to end: the number of rows must be known before the first document gets its number, and
//! truncation of a compressed file can be detected only at its end. For plain and repacked files, the start of a line is recorded every
//! megabyte, so that several threads can read one file. A line that is not JSON keeps its number and is reported as unusable. Opening a
//! file also records the length of its longest valid line, so that later reads can limit how many bytes of an invalid line they hold.

use crate::compressed::coding::Coding;
use crate::compressed::repacking::{RepackedBlocks, Repacking, Tee};
use crate::compressed::rest::{Behind, Lost};
use crate::compressed::unpack::Damage;
use crate::cut_off::CutOff;
use crate::format::columns::Columns;
use crate::format::known::Shown;
use crate::format::open::{Opened, Piece, Unusable};
use crate::format::read::Reading;
use crate::format::schema;
use crate::format::signs;
use crate::format::want::{MAX_BATCH_ROWS, Want};
use crate::lines::json_paths;
use crate::lines::json_paths::Kind;
use crate::lines::json_row;
use crate::lines::json_row::{JsonId, LineFields};
use crate::lines::json_value;
use crate::lines::json_value::{JsonValue, Take};
use crate::lines::line::{LOOKED_AT_BYTES, Line, Lines, MAX_LINE_BYTES};
use crate::lines::not_json;
use arrow::array::ArrayRef;
use arrow::array::builder::{Int64Builder, StringViewBuilder};
use dupsift_core::error::Result;
use dupsift_core::number::counted_as;
use dupsift_tables::document::{MAX_TEXT_BYTES, too_long};
use dupsift_tables::{Documents, RejectReason, Rejection};
use dupsift_tables::{IdKind, IdsSeen};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::sync::Arc;

/// The number of bytes between recorded line starts.
const MARK_BYTES: u64 = 1 << 20;

/// The result of a scan.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub rows: u64,
    /// The pieces between the recorded line starts; a single piece if the file cannot be split.
    pub pieces: Vec<Piece>,
    pub id: Option<IdKind>,
    /// The size in bytes of the longest line that can be a row.
    pub longest: u64,
    /// The data after the last compressed part.
    pub behind: Option<Behind>,
    /// The damage at which the text ends early, if any.
    pub damage: Option<Damage>,
    /// The repacked text, if any.
    pub written: Option<RepackedBlocks>,
    fields: BTreeSet<String>,
    found_text: bool,
    found_id: bool,
    /// Whether the first text value is a list.
    pub is_joined: bool,
    /// The first item of an array that may be cut off, if lines in it may be items.
    pub cut_off: Option<CutOff>,
    /// Whether the last item of an array has no end, and the file does not end in a bracket.
    pub is_truncated: bool,
    /// The number of missing, misplaced and surplus commas and brackets between the items of an array.
    defects: u64,
    /// The number of lines after the first that begin with a byte order mark.
    marks: u64,
    /// The number of lines that are too long to be rows, up to the last inspected line.
    too_long: u64,
    /// The first field that is a list.
    list: Option<String>,
    /// Whether at least one line is an object.
    objects: bool,
    /// The parser message for the first line that is not JSON.
    not_json: Option<String>,
    /// Whether the first line is text rather than an object.
    is_other: bool,
}

impl Scan {
    /// Returns a note about byte order marks within the file; `None` if there are none.
    pub(crate) fn marked(&self) -> Option<String> {
        let (what, way_out) = signs::MARKS;
        (self.marks > 0)
            .then(|| format!("{}{way_out}", what.replace("{}", &counted_as(self.marks, "line begins|lines begin"))))
    }

    /// Describes the file. `damage` is the part that was lost because the text ends early, if any.
    pub(crate) fn opened(self, coding: Coding, damage: Option<Lost>) -> Opened {
        let defective = self.defective();
        let (mut notes, lost) = Behind::notes(self.behind);
        notes.extend(defective);
        Opened {
            id: self.id,
            is_joined: self.is_joined,
            pieces: self.pieces,
            longest: self.longest,
            coding: Some(coding),
            notes,
            lost: damage.or(lost),
            written: self.written,
            ..Opened::default()
        }
    }

    /// Returns a note about commas and brackets between the items of an array; `None` if all are right.
    fn defective(&self) -> Option<String> {
        let commas = counted_as(
            self.defects,
            "comma or bracket between the items of its array is|commas or brackets between the items of its array are",
        );
        (self.defects > 0).then(|| format!("{commas} missing or misplaced; the items are read"))
    }

    /// Returns the reason why the file is unusable if it has rows but no row has the requested fields.
    pub(crate) fn lacks(&self, columns: &Columns) -> Option<Unusable> {
        let why = self.missing(columns)?;
        Some(if self.is_other { Unusable::Other(why) } else { Unusable::Lacks(why) })
    }

    fn missing(&self, columns: &Columns) -> Option<String> {
        // A file that contains only overlong lines is usable, but its rows are rejected.
        if self.rows == self.too_long || (self.found_text && (self.found_id || !columns.id_required)) {
            return None;
        }
        if let (false, Some(why)) = (self.objects, &self.not_json) {
            return Some(why.clone());
        }
        let why =
            schema::check(columns, &self.fields.iter().map(|name| Shown::named(name)).collect::<Vec<_>>()).err()?;
        let list = self.list.as_ref().filter(|_| self.rows == 1);
        let rows = list.map(|name| {
            format!("; if its rows are in the list {name:?}, jq -c '.{name}[]' FILE writes each of them on one line")
        });
        Some(why + &rows.unwrap_or_default())
    }
}

/// Counts the rows. Parses lines only until all requested fields have been found.
pub(crate) fn scan(file: File, coding: Coding, columns: &Columns, repacking: Option<&Repacking>) -> io::Result<Scan> {
    let bytes = file.metadata()?.len();
    let text = Tee::new(file, coding, repacking)?;
    let (mut scan, mut marks) = (Scan::default(), Marks::new(coding, &text));
    let lines = Lines::new(text, 0, LOOKED_AT_BYTES).decoded(coding.of_lines());
    let mut lines = lines.items(coding).taking_turns();
    loop {
        let looking = !scan.found_text || (columns.id_required && !scan.found_id);
        let start = if looking { look(&mut scan, &mut lines, columns, coding)? } else { lines.step()? };
        let Some(start) = start else { break };
        marks.row(&mut scan, start, &mut lines);
        if lines.length <= MAX_LINE_BYTES {
            scan.longest = scan.longest.max(lines.length);
        }
    }
    marks.end(&mut scan, &mut lines);
    scan.cut_off = lines.cut_off().filter(|_| scan.damage.is_none());
    scan.damage = scan.damage.or_else(|| lines.unclosed(bytes));
    scan.is_truncated = lines.is_truncated();
    scan.defects = lines.defects();
    Ok(scan)
}

/// Records where some rows begin.
pub(super) struct Marks {
    /// The number of bytes between recorded positions.
    every: u64,
    row: u64,
    byte: u64,
}

impl Marks {
    /// Starts recording for a file with this compression and encoding.
    pub(crate) fn new(coding: Coding, text: &Tee<'_>) -> Marks {
        let can_be_cut = coding.can_be_cut() || text.is_on();
        Marks { every: if can_be_cut { MARK_BYTES } else { u64::MAX }, row: 0, byte: 0 }
    }

    /// Counts the row that begins at byte `start`. The row must be the most recently read line.
    pub(crate) fn row(&mut self, scan: &mut Scan, start: u64, lines: &mut Lines<Tee<'_>>) {
        if start - self.byte >= self.every {
            self.piece(scan, start);
            lines.reader_mut().cut(start);
        }
        scan.rows += 1;
    }

    /// Ends the last piece at the end of the file.
    pub(crate) fn end(&mut self, scan: &mut Scan, lines: &mut Lines<Tee<'_>>) {
        self.piece(scan, lines.offset);
        (scan.behind, scan.written) = (lines.reader().behind(), lines.reader_mut().end());
        scan.damage = lines.reader().damage().cloned();
        scan.marks = lines.marks;
    }

    fn piece(&mut self, scan: &mut Scan, end: u64) {
        scan.pieces.push(Piece { start: self.byte, rows: scan.rows - self.row, bytes: end - self.byte, held: 0 });
        (self.row, self.byte) = (scan.rows, end);
    }
}

/// Inspects the next line and returns the offset at which the line begins.
fn look<R: io::BufRead>(
    scan: &mut Scan,
    lines: &mut Lines<R>,
    columns: &Columns,
    coding: Coding,
) -> io::Result<Option<u64>> {
    let (start, line) = match lines.next()? {
        None => return Ok(None),
        Some((start, Line::Bytes(line))) => (start, line),
        Some((start, Line::TooLong(bytes))) => {
            // A line that is too long to parse may contain any field.
            if bytes <= MAX_LINE_BYTES {
                (scan.found_text, scan.found_id, scan.objects) = (true, true, true);
            } else {
                scan.too_long += 1;
            }
            return Ok(Some(start));
        }
    };
    // A row that is not valid UTF-8 is unusable, but its fields count as found.
    let mut asked = vec![columns.text.as_str(), columns.id.as_str()];
    asked.extend(columns.parts.iter().map(String::as_str));
    let Some(paths) = json_paths::paths(String::from_utf8_lossy(line).as_bytes(), &asked) else {
        let what = scan.not_json.is_none().then(|| not_json::said(line));
        scan.is_other |= scan.rows == 0 && not_json::is_text(line);
        let place = if coding.is_array { format!("item {}", scan.rows + 1) } else { format!("line {}", lines.number) };
        scan.not_json = what.map(|what| format!("{place} is not JSON: {what}")).or(scan.not_json.take());
        return Ok(Some(start));
    };
    scan.objects = true;
    for path in paths {
        let (is_text, is_id) = (columns.is_text(&path.name), path.name == columns.id);
        if scan.list.is_none()
            && path.kind == Kind::List
            && path.name.chars().all(|sign| sign.is_alphanumeric() || sign == '_')
        {
            scan.list = Some(path.name.clone());
        }
        scan.is_joined |= is_text && columns.parts.is_empty() && path.kind == Kind::List;
        scan.found_text |= is_text;
        scan.found_id |= is_id;
        // The message lists a limited number of fields, because an object that uses data as field names could exhaust memory.
        // The line is in another encoding if a name is not UTF-8.
        let is_readable = !path.name.contains('\u{FFFD}');
        if is_text || is_id || (is_readable && scan.fields.len() < 100 && path.kind != Kind::Object) {
            scan.fields.insert(path.name);
        }
    }
    scan.id = scan.id.or_else(|| match json_row::parse(line, columns, &[]).ok()?.id {
        JsonId::None | JsonId::Unusable => None,
        JsonId::Text(_) => Some(IdKind::Text),
        JsonId::Int(_) => Some(IdKind::Int64),
        JsonId::UInt(_) => Some(IdKind::UInt64),
    });
    Ok(Some(start))
}

/// Calls `each` with batches of the part's rows, in order.
pub(super) fn read(file: File, reading: &Reading<'_>, each: &mut dyn FnMut(Documents) -> Result<()>) -> Result<()> {
    let failed = |error| reading.failed(error);
    let text = reading.text(file).map_err(failed)?;
    let lines = Lines::new(text, reading.part.from, reading.longest).decoded(reading.coding.of_lines());
    let lines = lines.items(reading.coding);
    rows(lines, reading, &|line, takes| json_row::parse(line, reading.columns, takes), each)
}

/// Parses a line into a row.
pub(super) type Parse<'p> = dyn for<'l> Fn(&'l [u8], &[Take]) -> std::result::Result<LineFields<'l>, Rejection> + 'p;

/// Calls `each` with batches of rows from the lines of a part, in order.
pub(super) fn rows<R: io::BufRead>(
    mut lines: Lines<R>,
    reading: &Reading<'_>,
    parse: &Parse<'_>,
    each: &mut dyn FnMut(Documents) -> Result<()>,
) -> Result<()> {
    let failed = |error| reading.failed(error);
    let want = reading.want;
    let mut batch = Batch::new(reading.columns, want);
    let mut chosen = reading.chosen.map(|chosen| chosen.iter().copied().peekable());
    let mut row = 0;
    while let Some((_, line)) = lines.next().map_err(failed)? {
        if chosen.as_mut().is_some_and(|chosen| chosen.peek().is_none()) {
            // This piece contains no further chosen rows, so the remaining lines need not be counted.
            row = reading.rows;
            break;
        }
        if chosen.as_mut().is_none_or(|chosen| chosen.next_if_eq(&row).is_some()) {
            batch.push(reading.first_doc + row, &line, parse);
            lines.let_go();
            if batch.docs.len() >= MAX_BATCH_ROWS || batch.bytes >= want.batch_bytes {
                each(batch.finish()?)?;
            }
        }
        row += 1;
    }
    if !batch.docs.is_empty() {
        each(batch.finish()?)?;
    }
    if row != reading.rows {
        return Err(
            reading.bad(format!("the file changed while it was being read: {} lines before, {row} now", reading.rows))
        );
    }
    Ok(())
}

/// Rows being collected into a batch.
struct Batch<'b> {
    columns: &'b Columns,
    want: &'b Want,
    text: StringViewBuilder,
    ids: Vec<JsonId<'static>>,
    takes: Vec<Take>,
    others: Vec<Vec<JsonValue>>,
    docs: Vec<u64>,
    bad: BTreeMap<usize, Rejection>,
    seen: IdsSeen,
    /// The hash of the pictures beside each row's text, if the text is combined from several columns.
    attached: Vec<Option<u128>>,
    bytes: usize,
}

impl<'b> Batch<'b> {
    fn new(columns: &'b Columns, want: &'b Want) -> Batch<'b> {
        let take = |name: &String| match (want.others.contains(name), want.plain.contains(name)) {
            (false, _) => Take::Nothing,
            (true, true) => Take::Plain,
            (true, false) => Take::All,
        };
        Batch {
            columns,
            want,
            takes: columns.others.iter().map(take).collect(),
            text: StringViewBuilder::new(),
            ids: Vec::new(),
            others: vec![Vec::new(); columns.others.len()],
            docs: Vec::new(),
            bad: BTreeMap::new(),
            seen: IdsSeen::default(),
            attached: Vec::new(),
            bytes: 0,
        }
    }

    fn push(&mut self, doc: u64, line: &Line<'_>, parse: &Parse<'_>) {
        let parsed = match line {
            Line::Bytes(line) => parse(line, &self.takes).map_err(|why| match not_json::of_parts(line) {
                Some((what, _)) if why.reason == RejectReason::NotJson => Rejection::new(why.reason, what),
                _ => why,
            }),
            Line::TooLong(bytes) => {
                let detail = format!("the line has {bytes} bytes; expected at most {MAX_LINE_BYTES}");
                Err(Rejection::new(RejectReason::TooLong, detail))
            }
        };
        let mut row = parsed.unwrap_or_else(|why| LineFields { bad: Some(why), ..LineFields::default() });
        if let Some(text) = row.text.take_if(|text| text.len() > MAX_TEXT_BYTES) {
            row.bad = Some(too_long(text.len()));
        }
        if let Some(why) = row.bad {
            self.bad.insert(self.docs.len(), why);
            row.text = None;
            self.seen.unreadable += u64::from(matches!(row.id, JsonId::None | JsonId::Unusable));
        } else if matches!(row.id, JsonId::None | JsonId::Unusable) {
            self.seen.nulls += 1;
            self.seen.unusable += u64::from(row.id == JsonId::Unusable);
        }
        self.docs.push(doc);
        self.bytes += 8;
        if !self.columns.parts.is_empty() {
            self.attached.push(Some(row.attached));
        }
        if self.want.text {
            self.bytes += row.text.as_ref().map_or(0, |text| text.len());
            match row.text {
                Some(Cow::Owned(text)) => json_value::append(&mut self.text, text),
                text => self.text.append_option(text),
            }
        }
        if self.want.id {
            self.bytes += if let JsonId::Text(text) = &row.id { text.len() } else { 0 };
            self.ids.push(row.id.into_owned());
        }
        row.others.resize(self.others.len(), JsonValue::Null);
        let wanted =
            self.others.iter_mut().zip(row.others).zip(&self.takes).filter(|(_, take)| **take != Take::Nothing);
        for ((values, value), _) in wanted {
            self.bytes += value.text().map_or(0, str::len);
            values.push(value);
        }
    }

    /// Returns the rows as documents and empties the batch.
    fn finish(&mut self) -> Result<Documents> {
        let mut columns: Vec<(&str, ArrayRef)> = Vec::new();
        if self.want.text {
            columns.push((&self.columns.text, Arc::new(self.text.finish())));
        }
        if self.want.id && self.columns.id != self.columns.text {
            columns.push((&self.columns.id, id_array(&std::mem::take(&mut self.ids), &mut self.seen)));
        }
        for (name, values) in self.columns.others.iter().zip(&mut self.others) {
            let values = std::mem::take(values);
            if self.want.others.contains(name) && columns.iter().all(|(known, _)| known != name) {
                let is_text = self.want.spelled || self.want.as_text.contains(name);
                columns.push((name, if is_text { json_value::spelled(values) } else { json_value::array(values) }));
            }
        }
        self.bytes = 0;
        let docs = std::mem::take(&mut self.docs);
        let text = self.want.text.then_some(self.columns.text.as_str());
        let id = self.want.id.then_some(self.columns.id.as_str());
        Ok(Documents::of_columns(docs, columns, text, id)?
            .with_html(self.columns.html)
            .with_attached(std::mem::take(&mut self.attached))
            .with_bad(std::mem::take(&mut self.bad))
            .with_ids_seen(std::mem::take(&mut self.seen)))
    }
}

/// Returns the ids of one batch, as Int64 if all of them are in range, otherwise as text. Records the kinds of the ids in `seen`.
fn id_array(ids: &[JsonId<'_>], seen: &mut IdsSeen) -> ArrayRef {
    for id in ids {
        match id {
            JsonId::None | JsonId::Unusable => false,
            JsonId::Text(_) => seen.kinds.insert(IdKind::Text),
            JsonId::Int(_) => seen.kinds.insert(IdKind::Int64),
            JsonId::UInt(number) => {
                seen.max_unsigned = seen.max_unsigned.max(*number);
                seen.kinds.insert(IdKind::UInt64)
            }
        };
    }
    if ids.iter().all(|id| matches!(id, JsonId::None | JsonId::Unusable | JsonId::Int(_))) {
        let mut column = Int64Builder::with_capacity(ids.len());
        ids.iter().for_each(|id| column.append_option(if let JsonId::Int(number) = id { Some(*number) } else { None }));
        return Arc::new(column.finish());
    }
    let mut column = StringViewBuilder::with_capacity(ids.len());
    for id in ids {
        match id {
            JsonId::None | JsonId::Unusable => column.append_null(),
            JsonId::Text(text) => column.append_value(text),
            JsonId::Int(number) => column.append_value(number.to_string()),
            JsonId::UInt(number) => column.append_value(number.to_string()),
        }
    }
    Arc::new(column.finish())
}
