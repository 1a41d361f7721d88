//! Columns that the user named: each must be in some file, which is found out before any row is read.
//!
//! Of Parquet the footers tell, of JSON lines the first 1,000 lines of each file. No more files are looked at than are needed.

use super::find::FoundFile;
use super::format::damaged;
use super::parallel;
use super::schema::{self, Shown};
use crate::error::{Error, Result, did_you_mean};
use std::fs::File;

/// A column that the user named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The option that names it, with its dashes.
    pub option: String,
    /// The column.
    pub column: String,
}

/// Names that are kept for a message.
const MOST_NAMES: usize = 10_000;

/// Checks that each column is in some file, or in the names of the folders.
///
/// # Errors
/// [`Error::Usage`] with the columns that are there; [`Error::Io`] where too many files are open. Files that cannot be read, and those without rows, say nothing.
pub fn check_asked(found: &[FoundFile], asked: &[Asked], threads: usize) -> Result<()> {
    let of_folders = |asked: &&Asked| found.iter().any(|file| file.has_partition(&asked.column));
    let mut missing: Vec<&Asked> = asked.iter().filter(|asked| !of_folders(asked)).collect();
    let (mut there, mut any): (Vec<Shown>, bool) = (Vec::new(), false);
    for files in found.chunks(threads.max(1)) {
        if missing.is_empty() {
            return Ok(());
        }
        for (file, columns) in files.iter().zip(parallel::map(files, threads, columns_of)) {
            let columns = match columns {
                Ok(Some(columns)) => columns,
                Ok(None) => continue,
                Err(why) => match damaged(&file.path, why) {
                    // Opening will tell why.
                    Error::BadFile { .. } => continue,
                    error => return Err(error),
                },
            };
            any = true;
            missing.retain(|asked| !columns.iter().any(|column| column.name == asked.column && column.is_plain()));
            for column in columns {
                if there.len() < MOST_NAMES && there.iter().all(|known| known.name != column.name) {
                    there.push(column);
                }
            }
        }
    }
    match missing.first() {
        Some(asked) if any => Err(Error::Usage(said(asked, &there))),
        _ => Ok(()),
    }
}

/// What is known of the columns of a file without reading all of it.
///
/// # Errors
/// Why the file cannot be read.
pub(super) fn columns_of(file: &FoundFile) -> std::result::Result<Option<Vec<Shown>>, String> {
    let opened = File::open(&file.path).map_err(|error| format!("cannot be opened: {error}"))?;
    file.format.columns(opened, file.coding)
}

fn said(asked: &Asked, there: &[Shown]) -> String {
    let Asked { option, column } = asked;
    if let Some(known) = there.iter().find(|known| known.name == *column) {
        return format!("{option} names the column {column:?}, which is {}; expected a plain column", known.says);
    }
    let plain = || there.iter().filter(|known| known.is_plain()).map(|known| known.name.as_str());
    let inside = plain().find(|name| name.strip_prefix(column.as_str()).is_some_and(|rest| rest.starts_with('.')));
    let hint = inside.map_or_else(|| did_you_mean(column, plain()), |name| format!("; did you mean {name:?}?"));
    format!("{option} names the column {column:?}, which no input file has; {}{hint}", schema::list(there))
}

#[cfg(test)]
mod tests {
    use super::super::testkit::{batch, write_parquet};
    use super::*;
    use ::parquet::file::properties::WriterProperties;
    use arrow_array::{ArrayRef, Int32Array, ListArray, StringArray, types::Int32Type};
    use std::sync::Arc;

    #[test]
    fn a_column_must_be_in_some_file_or_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let check = |column: &str| {
            let found = super::super::find(&[folder.path().to_string_lossy().into_owned()])?;
            check_asked(&found, &[Asked { option: "--url-column".into(), column: column.into() }], 2)
        };
        let message = |column: &str| check(column).expect_err("not there").to_string();
        std::fs::write(at("none.jsonl"), "\n").expect("written");
        std::fs::write(at("torn.parquet"), "PAR1").expect("written");
        assert!(check("url").is_ok(), "files without rows, and those that cannot be read, say nothing");
        std::fs::write(at("a.jsonl"), format!("{}{{\"late\": 1}}\n", "{\"uri\": \"a\"}\n".repeat(1000)))
            .expect("written");
        assert_eq!(
            message("url"),
            "--url-column names the column \"url\", which no input file has; there are uri; did you mean \"uri\"?"
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
        assert_eq!(message("tags"), "--url-column names the column \"tags\", which is a list; expected a plain column");
    }
}
