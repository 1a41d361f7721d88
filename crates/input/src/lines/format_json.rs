//! Implements the JSON lines format, which has one object per line. A file may also be one array of objects.

use crate::compressed::coding::{Coding, Text};
use crate::copy::copying::Copying;
use crate::format::Format;
use crate::format::copies::{Change, Copies};
use crate::format::facts::Facts;
use crate::format::ids::{EachIds, Failed, IdColumns, IdRow, Ids, IdsRead};
use crate::format::known::{KnownColumns, Look, Shown};
use crate::format::open::{Opened, Opening, Unusable};
use crate::format::read::Reading;
use crate::lines::before_damage::scan_trusted;
use crate::lines::json_paths::Kind;
use crate::lines::line::{LOOKED_AT_BYTES, Line, Lines, MAX_LINE_BYTES};
use crate::lines::mended;
use crate::lines::{copy, json_paths, jsonl};
use dupsift_core::error::Result;
use dupsift_tables::{Documents, RejectReason, Rejection};
use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::File;

/// The maximum number of fields that count as columns. A file can have any number of fields if field names contain data.
const MOST_FIELDS: usize = 10_000;

/// The number of rows to inspect if only field names are needed. Null fields may be omitted, so inspecting a single line is not enough.
const LOOKED_AT: u64 = 1000;

#[derive(Debug)]
pub(crate) struct JsonLines;

/// Files that contain settings or describe a corpus often have the extension `.json`, but are not JSON lines.
static FACTS: Facts = Facts {
    shared_endings: &[".json"],
    is_packed: true,
    ..Facts::new("JSON lines", &[".jsonl", ".ndjson", ".json", ".jsonlines", ".jl"])
};

impl Format for JsonLines {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn columns(&self, file: File, coding: Coding, look: Look<'_>) -> std::result::Result<Option<KnownColumns>, String> {
        match look {
            Look::Named(asked) => paths(file, coding, asked),
            Look::FirstRows => first_fields(file, coding),
            Look::AllRows => Ok(Some(KnownColumns::untyped(all_fields(file, coding)))),
        }
    }

    fn open(&self, file: File, opening: Opening<'_>) -> std::result::Result<Opened, Unusable> {
        let Opening { coding, columns, repacking } = opening;
        let failed = |error: std::io::Error| Unusable::unreadable(&FACTS, coding, error);
        let scan = |coding| jsonl::scan(file.try_clone()?, coding, columns, repacking);
        let lines = |coding: Coding, text| {
            let lines = Lines::new(text, 0, MAX_LINE_BYTES).decoded(coding.of_lines());
            lines.items(coding).taking_turns()
        };
        let is_row = |line: &[u8]| mended::read(line, |line| serde_json::from_slice::<IgnoredAny>(line)).is_ok();
        let resolved = coding.resolved(&file).and_then(|coding| coding.of_json(&file)).map_err(failed)?;
        let (scan, coding, damaged) = scan_trusted(&file, resolved, &scan, &lines, &is_row).map_err(failed)?;
        scan.lacks(columns).map_or(Ok(()), Err)?;
        Ok(Opened { others: columns.others.clone(), ..scan.opened(coding, damaged) })
    }

    fn read(&self, file: File, reading: &Reading<'_>, each: &mut dyn FnMut(Documents) -> Result<()>) -> Result<()> {
        jsonl::read(file, reading, each)
    }

    fn copies(&self) -> std::result::Result<&dyn Copies, &'static str> {
        Ok(self)
    }

    fn ids(&self) -> Option<&dyn Ids> {
        Some(self)
    }

    fn longest_of(&self, file: File, coding: Coding, names: &[String], small: u64) -> std::result::Result<u64, String> {
        let failed = |error: std::io::Error| error.to_string();
        let (mut lines, mut longest) = (lines(file, coding, MAX_LINE_BYTES).map_err(failed)?, 0);
        while let Some((_, line)) = lines.next().map_err(failed)? {
            if let Line::Bytes(line) = line
                && line.len() as u64 > longest.max(small)
            {
                longest = longest.max(json_paths::bytes_of(line, names));
            }
        }
        Ok(longest)
    }
}

impl Copies for JsonLines {
    fn check(&self, coding: Coding) -> std::result::Result<(), String> {
        copy::check(coding)
    }

    fn copy_rows(&self, file: File, copying: &Copying<'_>) -> Result<()> {
        if copying.coding.is_array { copy::copy_items(file, copying) } else { copy::copy(file, copying, None) }
    }

    fn changes(&self) -> &'static [Change] {
        &[Change::Text, Change::Columns]
    }
}

impl Ids for JsonLines {
    fn read_ids(&self, file: File, coding: Coding, names: IdColumns<'_>, each: &mut EachIds<'_>) -> IdsRead {
        let failed = |error: std::io::Error| format!("cannot be read any further: {error}");
        let bytes = file.metadata().map_err(failed)?.len();
        let mut lines = lines(file, coding, LOOKED_AT_BYTES).map_err(failed)?;
        while let Some((offset, line)) = lines.next().map_err(|error| Failed::Damaged(failed(error)))? {
            let values = match line {
                Line::Bytes(line) => ids_of(line, names),
                Line::TooLong(bytes) => Err(Rejection::new(RejectReason::TooLong, format!("{bytes} bytes"))),
            };
            let values = values.as_ref().map(|values| lent(values, offset)).map_err(Clone::clone);
            if !each(values).map_err(Failed::Passed)? {
                return Ok(());
            }
        }
        let damage = lines.reader().damage().cloned().or_else(|| lines.unclosed(bytes));
        damage.map_or(Ok(()), |damage| Err(Failed::Damaged(damage.why)))
    }
}

/// Returns the fields of the first lines; nested fields are identified by their paths.
fn paths(file: File, coding: Coding, asked: &[&str]) -> std::result::Result<Option<KnownColumns>, String> {
    let failed = |error: std::io::Error| format!("cannot be read: {error}");
    let mut lines = lines(file, coding, LOOKED_AT_BYTES).map_err(failed)?;
    let (mut told, mut known, mut any) = (KnownColumns::default(), BTreeSet::new(), false);
    let (mut lists, mut plain) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..LOOKED_AT {
        let Some((_, line)) = lines.next().map_err(failed)? else { break };
        let line = match line {
            Line::Bytes(line) => line,
            // A line that is too long to parse may contain any field, unless it is too long to be a row.
            Line::TooLong(bytes) => {
                told.may_have_more |= bytes <= MAX_LINE_BYTES;
                any |= bytes <= MAX_LINE_BYTES;
                continue;
            }
        };
        let Some(paths) = json_paths::paths(line, asked) else { continue };
        any = true;
        for path in paths.into_iter().filter(|path| path.kind != Kind::Object) {
            let is_asked = asked.contains(&path.name.as_str());
            // The line is in another encoding if a name is not UTF-8.
            if path.name.contains('\u{FFFD}') && !is_asked {
                continue;
            }
            if is_asked && path.kind != Kind::Null {
                (if path.kind == Kind::List { &mut lists } else { &mut plain }).insert(path.name.clone());
            }
            if (is_asked || told.columns.len() < MOST_FIELDS) && known.insert(path.name.clone()) {
                told.columns.push(Shown::named(&path.name));
            }
        }
    }
    told.lists = lists.difference(&plain).cloned().collect();
    Ok(any.then_some(told))
}

/// Returns the distinct fields of the first lines, in order of first appearance.
fn first_fields(file: File, coding: Coding) -> std::result::Result<Option<KnownColumns>, String> {
    let failed = |error: std::io::Error| format!("cannot be read: {error}");
    let mut lines = lines(file, coding, LOOKED_AT_BYTES).map_err(failed)?;
    let (mut names, mut known) = (Vec::new(), BTreeSet::new());
    let (mut any, mut broken) = (false, None);
    for row in 1..=LOOKED_AT {
        let fields = match lines.next().map_err(failed)? {
            None => break,
            Some((_, Line::TooLong(_))) => None,
            Some((_, Line::Bytes(line))) => json_paths::field_names(line),
        };
        match fields {
            Some(fields) => {
                any = true;
                names.extend(fields.into_iter().filter(|name| known.insert(name.clone())));
            }
            // These rows are reported when the file is read.
            None => broken = broken.or(Some(row)),
        }
    }
    match broken {
        Some(row) if !any => Err(format!("row {row} is not a JSON object; expected one per line")),
        _ => Ok(any.then(|| KnownColumns::untyped(names))),
    }
}

/// Returns the distinct fields of all lines, in order of first appearance. All lines are read because null fields may be omitted. Lines
/// that are not valid JSON are ignored.
fn all_fields(file: File, coding: Coding) -> Vec<String> {
    let (mut names, mut known) = (Vec::new(), BTreeSet::new());
    let Ok(mut lines) = lines(file, coding, MAX_LINE_BYTES) else { return names };
    while let Ok(Some((_, line))) = lines.next() {
        let Line::Bytes(line) = line else { continue };
        for name in json_paths::field_names(line).unwrap_or_default() {
            if names.len() < MOST_FIELDS && known.insert(name.clone()) {
                names.push(name);
            }
        }
    }
    names
}

/// The two ids and the label of a row; see [`IdRow`].
type OwnedIds<'n> = ([Option<String>; 2], Option<(&'n str, String)>);

/// Returns the values of a row that begins at an offset.
fn lent<'v>((ids, label): &'v OwnedIds<'v>, offset: u64) -> IdRow<'v> {
    let label = label.as_ref().map(|(name, label)| (*name, label.as_str()));
    IdRow { ids: ids.each_ref().map(Option::as_deref), label, offset: Some(offset) }
}

/// Returns the two ids and the label in a line.
fn ids_of<'n>(line: &[u8], names: IdColumns<'n>) -> std::result::Result<OwnedIds<'n>, Rejection> {
    if std::str::from_utf8(line).is_err() {
        return Err(RejectReason::NotUtf8.into());
    }
    let row: Value = mended::read(line, |line| serde_json::from_slice(line))
        .map_err(|error: serde_json::Error| Rejection::new(RejectReason::NotJson, error.to_string()))?;
    if !row.is_object() {
        return Err(Rejection::new(RejectReason::NotJson, "no object"));
    }
    let text = |name: &str| match row.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Number(value)) if value.is_i64() || value.is_u64() => Ok(Some(value.to_string())),
        Some(_) => Err(Rejection::new(RejectReason::WrongType, format!("{name:?} is neither a string nor an integer"))),
    };
    let label = names.labels.iter().find_map(|name| Some((*name, row.get(*name).filter(|value| !value.is_null())?)));
    let label = label.map(|(name, value)| (name, value.as_str().map_or_else(|| value.to_string(), str::to_owned)));
    let [a, b] = names.ids;
    Ok(([text(a)?, text(b)?], label))
}

/// Returns the lines of a file, or the items of its array, as UTF-8. Lines of more than `limit` bytes are reported as too long.
fn lines(file: File, coding: Coding, limit: u64) -> std::io::Result<Lines<Text>> {
    let coding = coding.resolved(&file)?.of_json(&file)?;
    let lines = Lines::new(coding.text(file)?, 0, limit).decoded(coding.of_lines());
    Ok(lines.items(coding).taking_turns())
}

#[cfg(test)]
mod tests {
    use crate::copy::copying::Copying;
    use crate::testkit::{gz, open, read, whole, zst};

    #[test]
    fn items_after_broken_ones_are_read_in_any_division_and_compression() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = |n: u64| format!("{n} of many, {}", "кот ".repeat(100));
        let item = |n: u64| match n {
            10 | 2500 => format!("{{\"id\":\"{n}\",\"text\":\"{}\",\"tags\":[\"a\",", text(n)),
            700 => format!("{{\"id\":\"{n}\",\"text\":{}], see\"}},", text(n)),
            900 => format!("{{\"id\":\"{n}\",\"text\":\"{}\"}}],", text(n)),
            _ => format!("{{\"id\":\"{n}\",\"text\":\"{}\"}},", text(n)),
        };
        let items: Vec<String> = (0..3000).map(item).collect();
        let broken = |n: &u64| matches!(n, 10 | 700 | 2500);
        let all = format!("[\n{}\n]\n", items.join("\n").trim_end_matches(',')).into_bytes();
        for (name, bytes) in [("a.json", all.clone()), ("a.json.gz", gz(&all)), ("a.json.zst", zst(&all, b""))] {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).expect("written");
            let (source, bad) = open(&[&path]).expect("opened");
            assert_eq!((source.documents(), bad.len()), (3000, 0), "{name}: {bad:?}");
            let file = &source.files[0];
            assert!(
                file.notes[0].starts_with("1 comma or bracket between the items of its array is"),
                "{:?}",
                file.notes
            );
            assert!(file.pieces.len() > 1 || name != "a.json");
            for target in [1, 1 << 30] {
                let rows = read(&source, &whole(), target).expect("read");
                for (n, (doc, row, _)) in (0..).zip(&rows) {
                    let is_right = if broken(&n) { row.is_err() } else { *row == Ok(Some(text(n))) };
                    assert!(*doc == n && is_right, "{name}: {n}: {row:?}");
                }
            }
            let out = folder.path().join(format!("copy-{name}"));
            let chosen = |row| !broken(&row);
            let hold = |_: u64, each: &mut dyn FnMut()| {
                each();
                Ok(())
            };
            let copying = Copying {
                path: &path,
                coding: file.coding,
                rows: file.rows,
                chosen: &chosen,
                small: 0,
                hold: &hold,
                go_on: &|| Ok(()),
                out: &out,
                edits: None,
                added: None,
            };
            file.copy_rows(&copying).expect("copied");
            let (copy, bad) = open(&[&out]).expect("opened");
            assert_eq!((copy.documents(), bad.len(), copy.files[0].notes.len()), (2997, 0, 0));
        }
    }

    #[test]
    fn the_last_item_of_a_truncated_array_has_no_rows() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.json");
        for (last, rows) in [
            ("{\"text\":\"c\",\"tags\":[\n{\"te", 1),
            ("{\"text\":\"c\",\"tags\":[\n]", 3),
            ("{\"text\":\"c\",\"tags\":[\n{\"text\":\"d\"}\n]", 5),
        ] {
            std::fs::write(&path, format!("[\n{{\"text\":\"a\"}},\n{{\"tags\":[\n{{\"text\":\"b\"}},\n{last}"))
                .expect("written");
            let (source, bad) = open(&[&path]).expect("opened");
            let lost = usize::from(rows < 5);
            assert_eq!((source.documents(), bad.len()), (rows, lost), "{last}: {bad:?}");
        }
    }
}
