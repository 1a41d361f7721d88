//! Implements the formats for separated values (CSV, TSV): text tables whose first record contains the column names.

use crate::compressed::coding::Coding;
use crate::copy::copying::Copying;
use crate::dialect::Separator;
use crate::format::Format;
use crate::format::copies::{Change, Copies};
use crate::format::facts::Facts;
use crate::format::ids::{EachIds, Failed, IdColumns, IdRow, Ids, IdsRead};
use crate::format::known::{KnownColumns, Look};
use crate::format::open::{Opened, Opening, Unusable};
use crate::format::read::Reading;
use crate::lines::before_damage::before_damage;
use crate::lines::copy;
use crate::lines::copy::Records;
use crate::lines::line::{Line, MAX_LINE_BYTES};
use crate::lines::quotes::{Dialect, fields};
use crate::lines::separated;
use crate::lines::separated::Names;
use dupsift_core::error::Result;
use dupsift_tables::{Documents, RejectReason, Rejection};
use std::fs::File;

/// A format in which a single byte separates the values.
#[derive(Debug)]
pub(crate) struct Separated {
    facts: &'static Facts,
    delimiter: u8,
}

/// A function that receives a record, or `None` if the record is not UTF-8. The function returns whether to continue.
type EachRecord<'e> = dyn FnMut(u64, Option<&str>) -> std::result::Result<bool, Failed> + 'e;

/// Values separated by commas.
pub(crate) const COMMAS: Separated =
    Separated { facts: &Facts { is_packed: true, ..Facts::new("CSV", &[".csv"]) }, delimiter: b',' };
/// Values separated by tabs.
pub(crate) const TABS: Separated =
    Separated { facts: &Facts { is_packed: true, ..Facts::new("TSV", &[".tsv"]) }, delimiter: b'\t' };

impl Separated {
    fn dialect(&self, coding: Coding) -> Dialect {
        Dialect { delimiter: coding.separator.map_or(self.delimiter, Separator::byte), quoting: coding.quoting }
    }

    fn names(&self, file: &File, coding: Coding) -> std::result::Result<Names, String> {
        let resolved = coding.resolved(file).map_err(|error| format!("cannot be read: {error}"))?;
        Names::of(file, resolved, self.dialect(coding))
    }

    /// Calls `each` with each record after the header until `each` returns `false`.
    fn each_record(&self, file: File, coding: Coding, names: &Names, each: &mut EachRecord<'_>) -> IdsRead {
        rewound(&file)?;
        let failed = |error: std::io::Error| format!("cannot be read any further: {error}");
        let coding = coding.resolved(&file).map_err(failed)?;
        let text = coding.text(file).map_err(failed)?;
        let mut lines = separated::lines(text, 0, MAX_LINE_BYTES, coding, names).taking_turns();
        lines.step().map_err(failed)?;
        while let Some((offset, line)) = lines.next().map_err(|error| Failed::Damaged(failed(error)))? {
            let record = match line {
                Line::Bytes(line) => std::str::from_utf8(line).ok(),
                Line::TooLong(_) => None,
            };
            if !each(offset, record)? {
                return Ok(());
            }
        }
        lines.reader().damage().map_or(Ok(()), |damage| Err(Failed::Damaged(damage.why.clone())))
    }
}

impl Format for Separated {
    fn facts(&self) -> &'static Facts {
        self.facts
    }

    fn columns(&self, file: File, coding: Coding, look: Look<'_>) -> std::result::Result<Option<KnownColumns>, String> {
        let names = self.names(&file, coding)?;
        match look {
            _ if names.all.is_empty() => Ok(None),
            Look::Named(asked) => names.known(asked).map(Some),
            Look::FirstRows | Look::AllRows => Ok(Some(KnownColumns::untyped(names.all))),
        }
    }

    fn open(&self, file: File, opening: Opening<'_>) -> std::result::Result<Opened, Unusable> {
        let Opening { coding: given, columns, repacking } = opening;
        let failed = |error: std::io::Error| Unusable::unreadable(self.facts, given, error);
        let mut coding = given.resolved(&file).map_err(failed)?;
        let dialect = self.dialect(coding);
        let look = |coding| {
            let file = file.try_clone().map_err(failed)?;
            separated::scan(file, coding, columns, dialect, repacking)
        };
        let (mut scan, mut has) = look(coding)?;
        let mut damaged = None;
        if let Some(damage) = scan.damage.take() {
            let names = Names::of(&file, coding, dialect).map_err(Unusable::Bad)?;
            let lines = |text| separated::lines(text, 0, MAX_LINE_BYTES, coding, &names).taking_turns();
            let (before, lost) =
                before_damage(&file, coding, &damage, &lines, &|line| names.fit(line)).map_err(failed)?;
            (coding, damaged) = (before, Some(lost));
            (scan, has) = look(coding)?;
            if scan.rows == 0 {
                return Err(failed(std::io::Error::other(damage.why)));
            }
        }
        let marked = scan.marked();
        let mut opened = Opened { others: has.others, ..scan.opened(coding, damaged) };
        opened.notes.extend(marked);
        Ok(opened)
    }

    fn read(&self, file: File, reading: &Reading<'_>, each: &mut dyn FnMut(Documents) -> Result<()>) -> Result<()> {
        separated::read(file, reading, self.dialect(reading.coding), each)
    }

    fn copies(&self) -> std::result::Result<&dyn Copies, &'static str> {
        Ok(self)
    }

    fn ids(&self) -> Option<&dyn Ids> {
        Some(self)
    }

    fn longest_of(&self, file: File, coding: Coding, names: &[String], small: u64) -> std::result::Result<u64, String> {
        let all = self.names(&file, coding)?;
        let mut longest = 0;
        let read = self.each_record(file, coding, &all, &mut |_, record| {
            let record = record.unwrap_or_default();
            if record.len() as u64 > small.max(longest) {
                let (mut at, mut bytes) = (0, 0);
                let asked = |at: usize| all.all.get(at).is_some_and(|name| names.contains(name));
                let read = fields(record, self.dialect(coding), &mut |field| {
                    bytes += if asked(at) { field.bytes() as u64 } else { 0 };
                    at += 1;
                });
                longest = longest.max(if read.is_ok() { bytes } else { 0 });
            }
            Ok(true)
        });
        read.map_err(said)?;
        Ok(longest)
    }
}

impl Copies for Separated {
    fn check(&self, coding: Coding) -> std::result::Result<(), String> {
        copy::check(coding)
    }

    fn copy_rows(&self, file: File, copying: &Copying<'_>) -> Result<()> {
        let names = self.names(&file, copying.coding).map_err(|why| copying.bad(why))?;
        rewound(&file).map_err(|why| copying.bad(why))?;
        let text = copying.edits.and_then(|edits| names.all.iter().position(|name| name == edits.column));
        let records = Records { dialect: self.dialect(copying.coding), columns: names.all.len(), text };
        copy::copy(file, copying, Some(records))
    }

    fn changes(&self) -> &'static [Change] {
        &[Change::Text, Change::Columns]
    }
}

impl Ids for Separated {
    fn read_ids(&self, file: File, coding: Coding, names: IdColumns<'_>, each: &mut EachIds<'_>) -> IdsRead {
        let all = self.names(&file, coding)?;
        let count = all.all.len();
        let place = |name: &str| all.all.iter().position(|known| known == name);
        let places = names.ids.map(place);
        let label = names.labels.iter().find_map(|name| Some((*name, place(name)?)));
        self.each_record(file, coding, &all, &mut |offset, record| {
            let wrong = |why: Option<String>| {
                let why = why.map_or_else(String::new, |why| format!(": {why}"));
                Rejection::new(RejectReason::BrokenRecord, format!("expected {count} fields in UTF-8{why}"))
            };
            let Some(record) = record else { return each(Err(wrong(None))).map_err(Failed::Passed) };
            let (mut values, mut labeled, mut at) = ([None, None], None, 0);
            let read = fields(record, self.dialect(coding), &mut |field| {
                for (value, _) in values.iter_mut().zip(places).filter(|(_, place)| *place == Some(at)) {
                    *value = field.text();
                }
                if let Some((name, _)) = label.filter(|(_, place)| *place == at) {
                    labeled = field.text().map(|text| (name, text));
                }
                at += 1;
            });
            let row = match read {
                Ok(()) if at == count => Ok(IdRow {
                    ids: values.each_ref().map(Option::as_deref),
                    label: labeled.as_ref().map(|(name, text)| (*name, &**text)),
                    offset: Some(offset),
                }),
                Ok(()) => Err(wrong(None)),
                Err(why) => Err(wrong(Some(why.to_string()))),
            };
            each(row).map_err(Failed::Passed)
        })
    }
}

fn rewound(mut file: &File) -> std::result::Result<(), String> {
    std::io::Seek::rewind(&mut file).map_err(|error| format!("cannot be read: {error}"))
}

/// Returns the message of an error. The error is never [`Failed::Passed`], because the callback in `longest_of` cannot fail.
fn said(failed: Failed) -> String {
    match failed {
        Failed::Bad(why) | Failed::Damaged(why) => why,
        Failed::Passed(error) => error.to_string(),
    }
}
