//! Reads two id columns and labels from a file that is not part of the corpus, such as the ground truth for an evaluation.
//!
//! Ids are passed on as text, exactly as they are written. The number 7 and the string "7" are the same id, because the types in a ground
//! truth file often differ from the types in the corpus. A row with invalid ids is passed on as a rejection, and reading continues.

use crate::damaged::damaged;
use crate::find::found_file::FoundFile;
use crate::format::ids::{EachIds, Failed, IdColumns, Ids};
use crate::format::known::Look;
use dupsift_core::error::{Error, Result};
use std::fs::File;
use std::io::Read as _;

/// Returns the column names of a file with fixed columns, or the distinct fields in the first 1,000 rows of JSON lines. Returns `None` if
/// there are no rows, because a file without rows is valid whatever its column names are.
///
/// # Errors
/// Returns [`Error::Io`] if the file cannot be opened, or [`Error::BadFile`] if its format does not match its file extension.
pub fn column_names(file: &FoundFile) -> Result<Option<Vec<String>>> {
    let opened = File::open(file.on_disk()).map_err(Error::reading("open", &file.path))?;
    let columns = ids_of(file).and_then(|_| file.format.columns(opened, file.coding, Look::FirstRows));
    let known = columns.map_err(|why| damaged(&file.path, why))?;
    Ok(known.map(|known| known.columns.into_iter().map(|column| column.name).collect()))
}

/// Calls `each` for every row in order until `each` returns `false`. The argument is the values of the row, or the reason why the row is
/// unusable. If the file is damaged after the readable rows, returns a description of the damage.
///
/// # Errors
/// Returns [`Error::Io`] if the file cannot be opened, [`Error::BadFile`] if no row is readable or if a column's type cannot hold ids or
/// labels, and any error from `each`.
pub fn read_ids(file: &FoundFile, names: IdColumns<'_>, each: &mut EachIds<'_>) -> Result<Option<String>> {
    let opened = File::open(file.on_disk()).map_err(Error::reading("open", &file.path))?;
    let read = |ids: &dyn Ids| ids.read_ids(opened, file.coding, names, each);
    match ids_of(file).map_err(Failed::Bad).and_then(read) {
        Ok(()) => Ok(None),
        Err(Failed::Damaged(why)) => Ok(Some(why)),
        Err(Failed::Bad(why)) => Err(damaged(&file.path, why)),
        Err(Failed::Passed(error)) => Err(error),
    }
}

/// Returns how ids are read from a file, or the reason why its format has none.
fn ids_of(file: &FoundFile) -> std::result::Result<&'static dyn Ids, String> {
    let without = || {
        let name = file.format.facts().name;
        format!("{name} has no id columns; expected Parquet, JSON lines or separated values")
    };
    file.format.ids().ok_or_else(without)
}

/// Returns the number of the line, counted from 1, that begins at an offset in the unpacked file.
///
/// # Errors
/// Returns [`Error::Io`] if the file cannot be read.
pub fn line_at(file: &FoundFile, offset: u64) -> Result<u64> {
    let opened = File::open(file.on_disk()).map_err(Error::reading("open", &file.path))?;
    let count = |file: File, coding: crate::compressed::coding::Coding| -> std::io::Result<u64> {
        let coding = coding.resolved(&file)?;
        let (mut text, mut buffer, mut line) = (coding.text(file)?.take(offset), vec![0; 64 << 10], 1);
        loop {
            let read = text.read(&mut buffer)?;
            if read == 0 {
                return Ok(line);
            }
            line += memchr::memchr_iter(b'\n', &buffer[..read]).count() as u64;
        }
    };
    count(opened, file.coding).map_err(Error::reading("read", &file.path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::inputs::find;
    use crate::testkit::{batch, write_parquet};
    use ::parquet::file::properties::WriterProperties;
    use arrow::array::{ArrayRef, Int32Array, LargeStringArray};
    use std::path::Path;
    use std::sync::Arc;

    /// The values of a row, or the reason why the row is unusable.
    type Row = std::result::Result<[Option<String>; 2], String>;

    fn rows(path: &Path, names: [&str; 2]) -> Result<Vec<Row>> {
        let file = find(&[path.to_string_lossy().into_owned()])?.remove(0);
        let mut rows = Vec::new();
        read_ids(&file, IdColumns { ids: names, labels: &[] }, &mut |values| {
            let values = values.map(|values| values.ids.map(|value| value.map(str::to_owned)));
            rows.push(values.map_err(|why| why.to_string()));
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
        let floats: ArrayRef = Arc::new(arrow::array::Float64Array::from(vec![0.5; 3]));
        // The order of columns in the file differs from the requested order.
        write_parquet(&path, &batch(vec![("b", texts), ("x", floats), ("a", numbers)]), WriterProperties::new());
        let some = |text: &str| Some(text.to_owned());
        let expected = [[some("7"), some("7")], [None, some("кот")], [some("-1"), some("")]].map(Ok);
        assert_eq!(rows(&path, ["a", "b"]).unwrap(), expected);
        assert!(rows(&path, ["a", "x"]).unwrap_err().to_string().contains("\"x\" is Float64"));
        let lines = folder.path().join("truth.jsonl");
        std::fs::write(&lines, "{\"a\": 7, \"b\": \"7\"}\n\n{\"b\": \"кот\"}\n{\"a\": -1, \"b\": \"\"}\n").unwrap();
        assert_eq!(rows(&lines, ["a", "b"]).unwrap(), expected);
        let file = find(&[lines.to_string_lossy().into_owned()]).unwrap().remove(0);
        assert_eq!(column_names(&file).unwrap().unwrap(), ["a", "b"]);
        let file = find(&[path.to_string_lossy().into_owned()]).unwrap().remove(0);
        assert_eq!(column_names(&file).unwrap().unwrap(), ["b", "x", "a"]);
        for (line, said) in [
            ("{\"a\": 1.5}", "wrong type: \"a\""),
            ("7, 8", "not JSON: trailing"),
            ("[7]", "not JSON: no object"),
            ("{\"a\": [1]}", "wrong type: \"a\""),
        ] {
            std::fs::write(&lines, format!("{line}\n{{\"a\": 7}}\n")).unwrap();
            let rows = rows(&lines, ["a", "b"]).unwrap();
            assert_eq!((rows.len(), &rows[1]), (2, &Ok([some("7"), None])));
            assert!(rows[0].as_ref().is_err_and(|why| why.starts_with(said)), "{rows:?}");
        }
        let table = folder.path().join("truth.csv");
        std::fs::write(&table, b"a,b\n1,2\n3\n\xff,4\n5,6\n").unwrap();
        let rows = rows(&table, ["a", "b"]).unwrap();
        assert!(rows.len() == 4 && rows[1].is_err() && rows[2].is_err(), "{rows:?}");
        assert_eq!((&rows[0], &rows[3]), (&Ok([some("1"), some("2")]), &Ok([some("5"), some("6")])));
    }

    #[test]
    fn ids_that_are_not_utf8_are_rejected_for_that() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("truth.arrow");
        let texts: ArrayRef = Arc::new(LargeStringArray::from(vec!["caf~", "x", "y"]));
        let rows_in = batch(vec![("a", texts.clone()), ("b", texts)]);
        let mut bytes = Vec::new();
        let mut writer = arrow::ipc::writer::FileWriter::try_new(&mut bytes, &rows_in.schema()).unwrap();
        writer.write(&rows_in).unwrap();
        writer.finish().unwrap();
        drop(writer);
        let at = bytes.windows(4).position(|word| word == b"caf~").unwrap();
        bytes[at + 3] = 0xE9;
        std::fs::write(&path, &bytes).unwrap();
        let read = rows(&path, ["a", "b"]).unwrap();
        assert_eq!(read[0], Err("not UTF-8: byte 3 of column \"a\" is invalid".to_owned()));
        assert_eq!(read[2], Ok([Some("y".to_owned()), Some("y".to_owned())]));
        // Some programs store arbitrary bytes as strings in Parquet files.
        let strings: ArrayRef = Arc::new(arrow::array::BinaryArray::from(vec![&b"x"[..], b"caf\xE9"]));
        let path = folder.path().join("truth.parquet");
        let schema = ::parquet::schema::parser::parse_message_type(
            "message m { optional binary a (STRING); optional binary b (STRING); }",
        );
        let schema = ::parquet::schema::types::SchemaDescriptor::new(Arc::new(schema.unwrap()));
        let options = ::parquet::arrow::arrow_writer::ArrowWriterOptions::new()
            .with_skip_arrow_metadata(true)
            .with_parquet_schema(schema);
        let rows_in = batch(vec![("a", strings.clone()), ("b", strings)]);
        let file = std::fs::File::create(&path).unwrap();
        let mut writer = ::parquet::arrow::ArrowWriter::try_new_with_options(file, rows_in.schema(), options).unwrap();
        writer.write(&rows_in).unwrap();
        writer.close().unwrap();
        let read = rows(&path, ["a", "b"]).unwrap();
        assert!(read[0].is_ok(), "{read:?}");
        assert_eq!(read[1], Err("not UTF-8: byte 3 of column \"a\" is invalid".to_owned()));
    }

    #[test]
    fn rows_before_a_damage_are_handed_on() {
        let folder = tempfile::tempdir().unwrap();
        let all: String = (0..9000).map(|row| format!("{{\"a\": {row}, \"b\": {}}}\n", row * row)).collect();
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut gz, all.as_bytes()).unwrap();
        let bytes = gz.finish().unwrap();
        let path = folder.path().join("truth.jsonl.gz");
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        let file = find(&[path.to_string_lossy().into_owned()]).unwrap().remove(0);
        let mut seen = 0;
        let why = read_ids(&file, IdColumns { ids: ["a", "b"], labels: &[] }, &mut |row| {
            seen += u64::from(row.is_ok());
            Ok(true)
        });
        assert!(why.unwrap().is_some_and(|why| why.contains("truncated")) && seen > 3000, "{seen}");
    }

    #[test]
    fn fields_are_those_of_the_first_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("truth.jsonl");
        let names = |text: &str| {
            std::fs::write(&path, text).unwrap();
            column_names(&find(&[path.to_string_lossy().into_owned()]).unwrap().remove(0))
        };
        assert_eq!(names("").unwrap(), None);
        assert_eq!(names("\n \n").unwrap(), None);
        assert_eq!(names("{}\n").unwrap().unwrap(), [""; 0]);
        assert_eq!(names("{\"c\": 1}\n\n{\"a\": 1, \"c\": 2}\n{\"b\": 1}").unwrap().unwrap(), ["c", "a", "b"]);
        let late = "{\"a\": 1}\n".repeat(999);
        assert_eq!(names(&(late.clone() + "{\"b\": 1}\n{\"c\": 1}")).unwrap().unwrap(), ["a", "b"]);
        assert_eq!(names(&(late + "[1]")).unwrap().unwrap(), ["a"]);
        let message = names("[1]\n2\n").unwrap_err().to_string();
        assert!(message.contains("row 1 is not a JSON object"), "{message}");
    }

    #[test]
    fn a_reading_ends_when_it_has_enough() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("truth.jsonl");
        std::fs::write(&path, "{\"a\": 1}\n{\"a\": 2}\nno json").unwrap();
        let file = find(&[path.to_string_lossy().into_owned()]).unwrap().remove(0);
        let mut seen = 0;
        read_ids(&file, IdColumns { ids: ["a", "b"], labels: &[] }, &mut |_| {
            seen += 1;
            Ok(seen < 2)
        })
        .unwrap();
        assert_eq!(seen, 2);
    }
}
