//! Checks, before any row is read, that each column that an option specifies exists in at least one file.
//!
//! Column names are read from the footers of Parquet files and from the first 1,000 lines of each JSON lines file. The check stops once all
//! columns are found.

use crate::corpus::file_columns::columns_of;
use crate::corpus::source::InputFile;
use crate::damaged::damaged;
use crate::find::found_file::FoundFile;
use crate::format::known::{KnownColumns, Look, Shown};
use crate::format::schema;
use crate::parallel;
use dupsift_core::error::{Error, Result, did_you_mean};
use std::collections::BTreeSet;
use std::fs::File;

/// A column that an option specifies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The option that specifies the column.
    pub option: &'static str,
    /// The column name.
    pub column: String,
    /// Whether lists are rejected as values of the column in JSON lines.
    pub plain: bool,
}

/// The options whose columns may hold lists of strings.
const MAY_BE_LISTS: [&str; 4] = ["text-column", "item-column", "choices-column", "answer-column"];

/// The maximum number of column names to collect for a message.
const MOST_NAMES: usize = 10_000;

/// Checks that each column exists in at least one file or in the folder names.
///
/// # Errors
/// Returns [`Error::Usage`] with the columns that exist, or [`Error::Io`] if too many files are open. Unreadable files and
/// files without rows are ignored.
pub fn check_asked(found: &[FoundFile], asked: &[Asked], threads: usize) -> Result<()> {
    let of_folders = |asked: &&Asked| found.iter().any(|file| file.has_partition(&asked.column));
    let mut missing: Vec<&Asked> = asked.iter().filter(|asked| !of_folders(asked)).collect();
    let names: Vec<&str> = asked.iter().map(|asked| asked.column.as_str()).collect();
    let (mut there, mut known, mut any): (Vec<Shown>, BTreeSet<String>, bool) = (Vec::new(), BTreeSet::new(), false);
    let mut of_format = String::new();
    // A column that comes from a folder name counts as existing.
    for (name, _) in found.iter().flat_map(|file| &file.partitions) {
        if there.len() < MOST_NAMES && known.insert(name.clone()) {
            there.push(Shown::named(name));
        }
    }
    for files in found.chunks(threads.max(1)) {
        if missing.is_empty() {
            return Ok(());
        }
        for (file, columns) in files.iter().zip(parallel::map(files, threads, |file| columns_of(file, &names))) {
            let KnownColumns { columns, lists, may_have_more, hint } = match columns {
                Ok(Some(columns)) => columns,
                Ok(None) => continue,
                Err(why) => match damaged(&file.path, why) {
                    // The error is reported later, when the file is opened.
                    Error::BadFile { .. } => continue,
                    error => return Err(error),
                },
            };
            any = true;
            if of_format.is_empty() {
                of_format = hint;
            }
            if may_have_more {
                return Ok(());
            }
            let fits = |column: &Shown, asked: &Asked| {
                column.is_plain() || (column.is_texts && MAY_BE_LISTS.contains(&asked.option))
            };
            let has = |asked: &Asked| columns.iter().any(|column| column.name == asked.column && fits(column, asked));
            missing.retain(|asked| !has(asked) || (asked.plain && lists.contains(&asked.column)));
            for mut column in columns {
                if lists.contains(&column.name) {
                    column.says = "a list".to_owned();
                }
                if there.len() < MOST_NAMES && known.insert(column.name.clone()) {
                    there.push(column);
                }
            }
        }
    }
    match missing.first() {
        Some(asked) if any => {
            // Folder names never provide the text column.
            let is_text = ["text-column", "html-column"].contains(&asked.option);
            let of_folder = |shown: &Shown| found.iter().any(|file| file.has_partition(&shown.name));
            there.retain(|shown| !is_text || !of_folder(shown));
            Err(Error::usage(said(asked, &there, of_format)))
        }
        _ => Ok(()),
    }
}

/// The number of files that are searched for an id column.
const MOST_FILES: usize = 8;

/// Returns the column in the first files that, judging by its name, probably contains ids. Columns in `others` are ignored. Returns `None`
/// if there is no such column.
pub fn likely_id(files: &[InputFile], others: &[&str]) -> Option<String> {
    let of_file = |file: &InputFile| {
        let known = file.format.columns(File::open(file.on_disk()).ok()?, file.coding, Look::Named(&[])).ok()??;
        schema::likely_id(&known.columns, others).map(str::to_owned)
    };
    files.iter().take(MOST_FILES).find_map(of_file)
}

/// Returns the message for a missing column. `of_format` is the hint of a file format; see [`KnownColumns::hint`].
fn said(asked: &Asked, there: &[Shown], of_format: String) -> String {
    let Asked { option, column, .. } = asked;
    if let Some(known) = there.iter().find(|known| known.name == *column) {
        return format!("`{option}` names the column {column:?}, which is {}; expected a plain column", known.says);
    }
    let may_be = |known: &&Shown| known.is_plain() || MAY_BE_LISTS.contains(option);
    let plain = || there.iter().filter(may_be).map(|known| known.name.as_str());
    let inside = plain().find(|name| name.strip_prefix(column.as_str()).is_some_and(|rest| rest.starts_with('.')));
    let hint = Some(of_format).filter(|hint| !hint.is_empty());
    let hint = hint.or_else(|| schema::likely_of(option, column, there).filter(|hint| !hint.is_empty()));
    let hint = hint.or_else(|| inside.map(|name| format!("; did you mean {name:?}?")));
    let hint = hint.unwrap_or_else(|| did_you_mean(column, plain()));
    format!("`{option}` names the column {column:?}, which no input file has; {}{hint}", schema::list(there))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::line::LOOKED_AT_BYTES;
    use crate::testkit::{batch, write_parquet};
    use ::parquet::file::properties::WriterProperties;
    use arrow::array::{ArrayRef, Int32Array, ListArray, StringArray, types::Int32Type};
    use std::sync::Arc;

    #[test]
    fn a_column_must_be_in_some_file_or_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let check = |column: &str| {
            let found = crate::find::inputs::find(&[folder.path().to_string_lossy().into_owned()])?;
            check_asked(&found, &[Asked { option: "url-column", column: column.into(), plain: true }], 2)
        };
        let message = |column: &str| check(column).expect_err("not there").to_string();
        std::fs::write(at("none.jsonl"), "\n").expect("written");
        std::fs::write(at("torn.parquet"), "PAR1").expect("written");
        assert!(check("url").is_ok(), "files without rows, and those that cannot be read, say nothing");
        std::fs::write(at("a.jsonl"), format!("{}{{\"late\": 1}}\n", "{\"uri\": \"a\"}\n".repeat(1000)))
            .expect("written");
        assert_eq!(
            message("url"),
            "`url-column` names the column \"url\", which no input file has; available: uri; did you mean \"uri\"?"
        );
        assert!(message("late").contains("which no input file has"), "beyond the first lines");
        let list: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)])]));
        let rows = vec![
            ("tags", list),
            ("url", Arc::new(StringArray::from(vec!["x"])) as ArrayRef),
            ("n", Arc::new(Int32Array::from(vec![1])) as ArrayRef),
        ];
        std::fs::create_dir_all(at("lang=ru")).expect("a folder");
        write_parquet(&at("lang=ru/z.parquet"), &batch(rows), WriterProperties::default());
        for column in ["url", "uri", "n", "lang"] {
            assert!(check(column).is_ok(), "{column}");
        }
        std::fs::write(at("b.jsonl"), "{\"votes\": null}\n{\"votes\": [1]}\n").expect("written");
        assert_eq!(
            message("votes"),
            "`url-column` names the column \"votes\", which is a list; expected a plain column"
        );
        std::fs::write(at("c.jsonl"), "{\"votes\": [1]}\n{\"votes\": 1}\n").expect("written");
        assert!(check("votes").is_ok());
        let said = message("lnag");
        assert!(said.contains("available: lang, ") && said.ends_with("did you mean \"lang\"?"), "{said}");
        // Lines that are too long to parse may contain any column.
        let long = format!("{{\"text\":\"{}\",\"raw\":1}}\n", "a".repeat(LOOKED_AT_BYTES as usize));
        assert!(check("raw").is_err());
        std::fs::write(at("long.jsonl"), long).expect("written");
        assert!(check("raw").is_ok());
        std::fs::remove_file(at("long.jsonl")).expect("it is there");
        assert_eq!(message("tags"), "`url-column` names the column \"tags\", which is a list; expected a plain column");
    }

    #[test]
    fn the_usual_names_of_texts_and_ids_are_tried() {
        let named = |option: &'static str, column: &str| {
            let asked = Asked { option, column: column.into(), plain: false };
            said(&asked, &["uid", "raw_content"].map(Shown::named), String::new())
        };
        assert!(named("text-column", "text").ends_with("available: uid, raw_content; try `text-column=raw_content`"));
        assert!(named("id-column", "id").ends_with("; try `id-column=uid`"));
        assert!(named("keep", "text").ends_with("available: uid, raw_content"));
    }
}
