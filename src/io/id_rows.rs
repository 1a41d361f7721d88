//! Two columns of ids of a file that is no corpus: the truth that results are held against.
//!
//! Ids are handed on as text, as they are written: the number 7 and the string "7" are one id, for a file of labels often
//! has another type than the corpus. A value that is no id ends the reading: labels have to be right.

use super::find::Format;
use super::lines::{self, Line, Lines, MAX_LINE_BYTES};
use super::parquet::{describe, guarded, load};
use super::{find, json_row};
use crate::batch::Documents;
use crate::error::{Error, Result};
use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;

/// Rows of a batch.
const BATCH_ROWS: usize = 8192;

/// Rows of JSON lines whose fields are looked at: a field that is null may be left out of a line, so the first one alone
/// does not say which there are.
const LOOKED_AT: u64 = 1000;

/// What is said of a web archive.
const NO_IDS: &str = "a web archive has no columns of ids; expected Parquet or JSON lines";

/// The names of the columns of a Parquet file; of JSON lines, the fields of the first 1,000 rows, each once, and none where
/// there is no row, so that every form fits.
///
/// # Errors
/// [`Error::Io`], or [`Error::BadFile`] for a file that is not what its name says.
pub fn column_names(file: &find::FoundFile) -> Result<Option<Vec<String>>> {
    let path = &file.path;
    let opened = File::open(path).map_err(Error::io("open", path))?;
    let bad = |why: String| Error::BadFile { path: path.clone(), why };
    if file.format == Format::Parquet {
        let metadata = load(&opened).map_err(bad)?;
        return Ok(Some(describe(&metadata).into_iter().map(|column| column.name).collect()));
    }
    if file.format.is_archive() {
        return Err(bad(NO_IDS.to_owned()));
    }
    let failed = |error: std::io::Error| bad(format!("cannot be read: {error}"));
    let mut lines = Lines::new(lines::open(opened, file.format).map_err(failed)?, 0, MAX_LINE_BYTES);
    let (mut names, mut known) = (Vec::new(), BTreeSet::new());
    for row in 1..=LOOKED_AT {
        match lines.next().map_err(failed)? {
            None => return Ok((row > 1).then_some(names)),
            Some((_, Line::TooLong(bytes))) => {
                return Err(bad(format!("row {row} has {bytes} bytes; expected a JSON object")));
            }
            Some((_, Line::Bytes(line))) => {
                let fields = json_row::field_names(line);
                let fields = fields.ok_or_else(|| bad(format!("row {row} is no JSON object; expected one a line")))?;
                names.extend(fields.into_iter().filter(|name| known.insert(name.clone())));
            }
        }
    }
    Ok(Some(names))
}

/// Calls `each` with the two values of every row, in order, until it says `false`. A null, or a field that is not there,
/// is none.
///
/// # Errors
/// [`Error::Io`]; [`Error::BadFile`] where the file is damaged or a value is neither a string nor an integer; whatever
/// `each` returns.
pub fn read_ids(
    file: &find::FoundFile,
    names: [&str; 2],
    each: &mut dyn FnMut([Option<&str>; 2]) -> Result<bool>,
) -> Result<()> {
    let opened = File::open(&file.path).map_err(Error::io("open", &file.path))?;
    match file.format {
        Format::Parquet => read_parquet(opened, &file.path, names, each),
        format if format.is_archive() => Err(Error::BadFile { path: file.path.clone(), why: NO_IDS.to_owned() }),
        format => read_lines(opened, format, &file.path, names, each),
    }
}

fn read_parquet(
    file: File,
    path: &Path,
    names: [&str; 2],
    each: &mut dyn FnMut([Option<&str>; 2]) -> Result<bool>,
) -> Result<()> {
    let bad = |why: String| Error::BadFile { path: path.to_path_buf(), why };
    let mut reader = guarded(|| {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file)?.with_batch_size(BATCH_ROWS);
        let fields = builder.schema().fields().iter().enumerate();
        let roots = fields.filter(|(_, field)| names.contains(&field.name().as_str())).map(|(at, _)| at);
        let mask = ProjectionMask::roots(builder.parquet_schema(), roots.collect::<Vec<_>>());
        builder.with_projection(mask).build()
    })
    .map_err(bad)?;
    let mut texts = [String::new(), String::new()];
    while let Some(batch) = guarded(|| reader.next().transpose().map_err(Into::into)).map_err(bad)? {
        let of =
            |name: &str| Documents::new(0, batch.clone(), None, Some(name)).map_err(|error| bad(error.to_string()));
        let columns = [of(names[0])?, of(names[1])?];
        for row in 0..batch.num_rows() {
            let mut values = [None, None];
            for ((value, text), column) in values.iter_mut().zip(&mut texts).zip(&columns) {
                if let Some(id) = column.id(row) {
                    text.clear();
                    // Writing into a String cannot fail.
                    let _ = write!(text, "{id}");
                    *value = Some(text.as_str());
                }
            }
            if !each(values)? {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn read_lines(
    file: File,
    format: Format,
    path: &Path,
    names: [&str; 2],
    each: &mut dyn FnMut([Option<&str>; 2]) -> Result<bool>,
) -> Result<()> {
    let bad = |why: String| Error::BadFile { path: path.to_path_buf(), why };
    let failed = |error: std::io::Error| bad(format!("cannot be read on: {error}"));
    let mut lines = Lines::new(lines::open(file, format).map_err(failed)?, 0, MAX_LINE_BYTES);
    let mut number = 0u64;
    while let Some((_, line)) = lines.next().map_err(failed)? {
        number += 1;
        let Line::Bytes(line) = line else {
            return Err(bad(format!("row {number} is too long; expected a JSON object with two ids")));
        };
        let row: Value = serde_json::from_slice(line)
            .map_err(|error| bad(format!("row {number} is no JSON: {error}; expected an object a line")))?;
        if !row.is_object() {
            return Err(bad(format!("row {number} is no JSON object; expected one a line")));
        }
        let text = |name: &str| match row.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Number(value)) if value.is_i64() || value.is_u64() => Ok(Some(value.to_string())),
            Some(_) => Err(bad(format!("row {number}: the field {name:?} is neither a string nor an integer"))),
        };
        let values = [text(names[0])?, text(names[1])?];
        if !each([values[0].as_deref(), values[1].as_deref()])? {
            return Ok(());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::testkit::{batch, write_parquet};
    use ::parquet::file::properties::WriterProperties;
    use arrow_array::{ArrayRef, Int32Array, LargeStringArray};
    use std::sync::Arc;

    fn rows(path: &Path, names: [&str; 2]) -> Result<Vec<[Option<String>; 2]>> {
        let file = find::find(&[path.to_string_lossy().into_owned()])?.remove(0);
        let mut rows = Vec::new();
        read_ids(&file, names, &mut |values| {
            rows.push(values.map(|value| value.map(str::to_owned)));
            Ok(true)
        })?;
        Ok(rows)
    }

    #[test]
    fn numbers_and_strings_are_read_as_they_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("truth.parquet");
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(7), None, Some(-1)]));
        let texts: ArrayRef = Arc::new(LargeStringArray::from(vec![Some("7"), Some("кот"), Some("")]));
        let floats: ArrayRef = Arc::new(arrow_array::Float64Array::from(vec![0.5; 3]));
        // The order in the file is not the order asked for.
        write_parquet(&path, &batch(vec![("b", texts), ("x", floats), ("a", numbers)]), WriterProperties::new());
        let some = |text: &str| Some(text.to_owned());
        let expected = [[some("7"), some("7")], [None, some("кот")], [some("-1"), some("")]];
        assert_eq!(rows(&path, ["a", "b"]).unwrap(), expected);
        assert!(rows(&path, ["a", "x"]).unwrap_err().to_string().contains("\"x\" is Float64"));
        let lines = folder.path().join("truth.jsonl");
        std::fs::write(&lines, "{\"a\": 7, \"b\": \"7\"}\n\n{\"b\": \"кот\"}\n{\"a\": -1, \"b\": \"\"}\n").unwrap();
        assert_eq!(rows(&lines, ["a", "b"]).unwrap(), expected);
        let file = find::find(&[lines.to_string_lossy().into_owned()]).unwrap().remove(0);
        assert_eq!(column_names(&file).unwrap().unwrap(), ["a", "b"]);
        let file = find::find(&[path.to_string_lossy().into_owned()]).unwrap().remove(0);
        assert_eq!(column_names(&file).unwrap().unwrap(), ["b", "x", "a"]);
        for (line, said) in [
            ("{\"a\": 1.5}", "row 1: the field \"a\""),
            ("7, 8", "no JSON"),
            ("[7]", "no JSON object"),
            ("{\"a\": [1]}", "\"a\""),
        ] {
            std::fs::write(&lines, line).unwrap();
            let message = rows(&lines, ["a", "b"]).unwrap_err().to_string();
            assert!(message.contains(said), "{message}");
        }
    }

    #[test]
    fn fields_are_those_of_the_first_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("truth.jsonl");
        let names = |text: &str| {
            std::fs::write(&path, text).unwrap();
            column_names(&find::find(&[path.to_string_lossy().into_owned()]).unwrap().remove(0))
        };
        assert_eq!(names("").unwrap(), None);
        assert_eq!(names("\n \n").unwrap(), None);
        assert_eq!(names("{}\n").unwrap().unwrap(), [""; 0]);
        assert_eq!(names("{\"c\": 1}\n\n{\"a\": 1, \"c\": 2}\n{\"b\": 1}").unwrap().unwrap(), ["c", "a", "b"]);
        let late = "{\"a\": 1}\n".repeat(999);
        assert_eq!(names(&(late.clone() + "{\"b\": 1}\n{\"c\": 1}")).unwrap().unwrap(), ["a", "b"]);
        let message = names(&(late + "[1]")).unwrap_err().to_string();
        assert!(message.contains("row 1000 is no JSON object"), "{message}");
    }

    #[test]
    fn a_reading_ends_when_it_has_enough() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("truth.jsonl");
        std::fs::write(&path, "{\"a\": 1}\n{\"a\": 2}\nno json").unwrap();
        let file = find::find(&[path.to_string_lossy().into_owned()]).unwrap().remove(0);
        let mut seen = 0;
        read_ids(&file, ["a", "b"], &mut |_| {
            seen += 1;
            Ok(seen < 2)
        })
        .unwrap();
        assert_eq!(seen, 2);
    }
}
