//! Reads columns from Hive-style folder names, such as `lang=ru/day=2026-11-01/part-0.parquet`.
//!
//! Keys and values are URL-decoded. A column holds integers if all its values are integers, and strings otherwise. A column in the file
//! itself takes precedence over a column from the names of its folders.

use arrow::array::{ArrayRef, Int64Array, StringViewArray, new_null_array};
use arrow::datatypes::DataType;
use percent_encoding::percent_decode_str;
use std::path::{Component, Path};
use std::sync::Arc;

/// The value that means null.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// The columns from the folder names of a file, with their values; `None` for null.
pub(crate) type Partitions = Vec<(String, Option<String>)>;

/// Returns the columns from the names of a file's folders, outermost folder first. If a key occurs twice, the value from the innermost
/// folder is used.
pub(crate) fn partitions(label: &str) -> Partitions {
    let mut partitions = Partitions::new();
    let folders = Path::new(label).parent().into_iter().flat_map(Path::components);
    for folder in folders {
        let Component::Normal(folder) = folder else { continue };
        let folder = folder.to_string_lossy();
        let Some((key, value)) = folder.split_once('=').filter(|(key, _)| !key.is_empty()) else { continue };
        let key = decoded(key);
        partitions.retain(|(known, _)| *known != key);
        partitions.push((key, (value != NULL).then(|| decoded(value))));
    }
    partitions
}

/// URL-decodes a string. If the result is not UTF-8, the string is returned unchanged.
fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8().map_or_else(|_| text.to_owned(), |text| text.into_owned())
}

/// Returns the names and types of the columns from the folder names of all files, in order of first appearance.
pub(crate) fn columns<'f>(files: impl Iterator<Item = &'f Partitions> + Clone) -> Vec<(String, DataType)> {
    let mut columns: Vec<(String, DataType)> = Vec::new();
    for (key, value) in files.clone().flatten() {
        let at = columns.iter().position(|(known, _)| known == key).unwrap_or_else(|| {
            columns.push((key.clone(), DataType::Int64));
            columns.len() - 1
        });
        if value.as_ref().is_some_and(|value| value.parse::<i64>().is_err()) {
            columns[at].1 = DataType::Utf8View;
        }
    }
    // A column that contains only nulls is a string column.
    for (key, data_type) in &mut columns {
        let all = || files.clone().flatten();
        if all().all(|(known, value)| known != key || value.is_none()) {
            *data_type = DataType::Utf8View;
        }
    }
    columns
}

/// Returns the column that a folder name defines, for `rows` rows of one file.
pub(crate) fn column(value: Option<&str>, data_type: &DataType, rows: usize) -> ArrayRef {
    match (value, data_type) {
        (None, _) => new_null_array(data_type, rows),
        (Some(value), DataType::Int64) => Arc::new(Int64Array::from(vec![value.parse::<i64>().ok(); rows])),
        (Some(value), _) => Arc::new(StringViewArray::from_iter_values(std::iter::repeat_n(value, rows))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_with_a_key_are_columns() {
        let some = |key: &str, value: &str| (key.to_owned(), Some(value.to_owned()));
        assert_eq!(
            partitions("lang=ru/day=2026-11-01/x/source=%D0%BA%2F%20a=b/c=d.parquet"),
            [some("lang", "ru"), some("day", "2026-11-01"), some("source", "к/ a=b")]
        );
        assert_eq!(
            partitions(&format!("a={NULL}/b=/=c/%zz=%FF/x")),
            [("a".to_owned(), None), some("b", ""), some("%zz", "%FF")]
        );
        assert_eq!(partitions("a=1/a=2/x"), [some("a", "2")]);
        assert_eq!(partitions("/data/../a=1/x.jsonl"), [some("a", "1")]);
    }

    #[test]
    fn a_column_is_of_integers_where_all_values_are() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in [
            "n=01/m=1/x=__HIVE_DEFAULT_PARTITION__/a.jsonl",
            "n=-7/m=b/b.jsonl",
            "n=__HIVE_DEFAULT_PARTITION__/c.jsonl",
        ] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, "").expect("written");
        }
        let found = crate::find::inputs::find(&[folder.path().to_string_lossy().into_owned()]).expect("found");
        let expected = [("n", DataType::Int64), ("m", DataType::Utf8View), ("x", DataType::Utf8View)];
        let mut columns = columns(found.iter().map(|file| &file.partitions));
        columns.sort_by_key(|(key, _)| expected.iter().position(|(known, _)| known == key));
        assert_eq!(columns, expected.map(|(key, data_type)| (key.to_owned(), data_type)));
    }
}
