//! Lists the columns of the input files, regardless of their types, for the command that copies these columns to its output.

use crate::corpus::file_columns::columns_of;
use crate::damaged::damaged;
use crate::find::found_file::FoundFile;
use crate::find::hive;
use crate::format::known::{KnownColumns, Look};
use arrow::datatypes::DataType;
use dupsift_core::error::{Error, Result, did_you_mean};
use dupsift_tables::document::is_spelled;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;

/// A column that occurs in at least one file.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnColumn {
    /// The name of the column.
    pub name: String,
    /// The type of the column if it is the same in all files; text if the types differ, and for JSON lines.
    pub data_type: DataType,
    /// Whether the column has different types in different files.
    pub mixed: bool,
}

/// The columns of all files, in order of first appearance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnColumns {
    /// The columns that can be read.
    pub columns: Vec<OwnColumn>,
    /// Lists, structs and maps, which cannot be read.
    pub nested: Vec<String>,
}

/// Collects columns from the footers of Parquet files and from JSON lines files. A JSON lines file is read to the end, because a row may
/// omit a field that is null. Unreadable files are ignored; the errors are reported when the files are opened. `page` is the column that
/// contains the web pages.
///
/// # Errors
/// Returns an error if too many files are open, or if a column has different types in different files and cannot be written as text.
pub fn own_columns(files: &[FoundFile], page: &str) -> Result<OwnColumns> {
    let mut own = OwnColumns::default();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut of_folders: BTreeSet<&str> = BTreeSet::new();
    for file in files {
        let opened = File::open(file.on_disk()).map_err(|error| damaged(&file.path, error.to_string()));
        let columns = match opened {
            Ok(opened) => file.format.columns(opened, file.coding, Look::AllRows).ok().flatten().unwrap_or_default(),
            Err(Error::BadFile { .. }) => KnownColumns::default(),
            Err(error) => return Err(error),
        };
        let columns = columns.columns.into_iter().map(|column| (column.as_read(), column.name));
        let columns: Vec<_> = columns.map(|(data_type, name)| (name, data_type)).collect();
        // A file whose format is only a guess is included only if it has the page column.
        if file.is_guess && columns.iter().all(|(name, _)| name != page) {
            continue;
        }
        let lacks = |key: &&str| columns.iter().all(|(name, _)| name != key);
        of_folders.extend(file.partitions.iter().map(|(key, _)| key.as_str()).filter(lacks));
        add(&mut own, &mut places, columns, &file.label)?;
    }
    // Columns from folder names come last, as in other programs. A column is not taken from folder names if every file below such a folder
    // contains the column itself.
    let columns = hive::columns(files.iter().map(|file| &file.partitions)).into_iter();
    let columns = columns.filter(|(name, _)| of_folders.contains(name.as_str()));
    let columns = columns.map(|(name, data_type)| (name, Some(data_type))).collect();
    add(&mut own, &mut places, columns, "the names of folders")?;
    for column in own.columns.iter_mut().filter(|column| column.data_type == DataType::Null) {
        column.data_type = DataType::Utf8View;
    }
    Ok(own)
}

/// Adds the columns of one file; `places` holds their positions by name.
fn add(
    own: &mut OwnColumns,
    places: &mut BTreeMap<String, usize>,
    columns: Vec<(String, Option<DataType>)>,
    label: &str,
) -> Result<()> {
    for (name, data_type) in columns {
        let Some(data_type) = data_type else {
            if !own.nested.contains(&name) {
                own.nested.push(name);
            }
            continue;
        };
        let Some(&at) = places.get(&name) else {
            places.insert(name.clone(), own.columns.len());
            own.columns.push(OwnColumn { name, data_type, mixed: false });
            continue;
        };
        let known = &mut own.columns[at];
        // If a column contains only nulls, its type is taken from other files.
        if known.data_type == data_type || data_type == DataType::Null {
            continue;
        }
        if known.data_type == DataType::Null {
            known.data_type = data_type;
            continue;
        }
        if let Some(strange) = [&known.data_type, &data_type].into_iter().find(|one| !can_be_spelled(one)) {
            return Err(Error::usage(format!(
                "column {name:?} is {} in one file and {data_type} in {label}, and {strange} cannot be written as text; name the columns to keep with `columns`, or process the files one by one",
                known.data_type
            )));
        }
        (known.data_type, known.mixed) = (DataType::Utf8View, true);
    }
    Ok(())
}

impl OwnColumns {
    /// Keeps only the columns with these names or struct paths.
    ///
    /// # Errors
    /// Returns an error for a name that is not a readable column in any file.
    pub fn only(mut self, names: &[String], files: &[FoundFile]) -> Result<OwnColumns> {
        let deeper = |name: &String| {
            let known = files.iter().find_map(|file| {
                columns_of(file, &[name]).ok().flatten()?.columns.into_iter().find(|known| known.name == *name)
            })?;
            let is_plain = known.is_plain() && name.contains('.');
            let data_type = known.data_type.unwrap_or(DataType::Utf8View);
            is_plain.then(|| OwnColumn { name: name.clone(), data_type, mixed: false })
        };
        for name in names {
            if self.columns.iter().any(|column| column.name == *name) {
                continue;
            }
            if let Some(column) = deeper(name) {
                self.columns.push(column);
                continue;
            }
            if self.nested.contains(name) {
                return Err(Error::wrong("columns", format_args!("{name:?} is nested; expected a plain column")));
            }
            let there = self.columns.iter().map(|column| column.name.as_str());
            let hint = did_you_mean(name, there.clone());
            let there = there.collect::<Vec<_>>().join(", ");
            return Err(Error::wrong(
                "columns",
                format_args!("no file has a column {name:?}{hint}; available: {there}"),
            ));
        }
        self.columns.retain(|column| names.contains(&column.name));
        self.nested.clear();
        Ok(self)
    }
}

fn can_be_spelled(data_type: &DataType) -> bool {
    is_spelled(data_type) || *data_type == DataType::Utf8View
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{batch, write_parquet};
    use ::parquet::file::properties::WriterProperties;
    use arrow::array::{ArrayRef, Date32Array, Int32Array, ListArray, StringArray, types::Int32Type};
    use std::path::Path;
    use std::sync::Arc;

    fn look(folder: &Path) -> Result<OwnColumns> {
        own_columns(&crate::find::inputs::find(&[folder.to_string_lossy().into_owned()])?, "html")
    }

    #[test]
    fn columns_of_several_files_come_together() {
        let folder = tempfile::tempdir().expect("a folder");
        let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)])]);
        let rows: Vec<(&str, ArrayRef)> = vec![
            ("html", Arc::new(StringArray::from(vec!["x"]))),
            ("n", Arc::new(Int32Array::from(vec![1]))),
            ("day", Arc::new(Date32Array::from(vec![1]))),
            ("list", Arc::new(list)),
        ];
        write_parquet(&folder.path().join("a.parquet"), &batch(rows), WriterProperties::default());
        std::fs::write(folder.path().join("b.jsonl"), "{\"n\": 1}\nno line\n{\"more\": [2]}\n").expect("written");
        let own = look(folder.path()).expect("columns");
        let names: Vec<_> = own.columns.iter().map(|one| (one.name.as_str(), &one.data_type, one.mixed)).collect();
        let text = &DataType::Utf8View;
        let expected =
            [("html", text, false), ("n", text, true), ("day", &DataType::Date32, false), ("more", text, false)];
        assert_eq!((names.as_slice(), own.nested.as_slice()), (&expected[..], &["list".to_owned()][..]));
        assert_eq!(own.clone().only(&["day".into()], &[]).expect("there").columns.len(), 1);
        let message = |name: &str| own.clone().only(&[name.into()], &[]).expect_err("not there").to_string();
        assert!(message("htm").contains("did you mean \"html\"?") && message("list").contains("nested"));
        // If every file in the folder contains a column itself, the column is not taken from the folder name, regardless of its type.
        let inside = folder.path().join("day=2026-11-01/n=8");
        std::fs::create_dir_all(&inside).expect("a folder");
        let day: ArrayRef = Arc::new(Date32Array::from(vec![1]));
        write_parquet(&inside.join("d.parquet"), &batch(vec![("day", day)]), WriterProperties::default());
        let own = look(folder.path()).expect("columns");
        let day = own.columns.iter().find(|one| one.name == "day").expect("there");
        assert_eq!((&day.data_type, day.mixed, own.columns.len()), (&DataType::Date32, false, 4));
        std::fs::write(folder.path().join("c.jsonl"), "{\"day\": 1}\n").expect("written");
        let own = look(folder.path()).expect("columns");
        let day = own.columns.iter().find(|one| one.name == "day").expect("there");
        assert_eq!((&day.data_type, day.mixed), (text, true));
        let bytes: ArrayRef = Arc::new(arrow::array::BinaryArray::from(vec![&b"x"[..]]));
        write_parquet(&folder.path().join("e.parquet"), &batch(vec![("day", bytes)]), WriterProperties::default());
        assert!(look(folder.path()).expect_err("two types").to_string().contains("in one file and BinaryView"));
    }

    #[test]
    fn a_column_of_nulls_has_the_type_that_it_has_elsewhere() {
        let folder = tempfile::tempdir().expect("a folder");
        let null = || Arc::new(arrow::array::NullArray::new(1)) as ArrayRef;
        for (name, day) in [("a", null()), ("b", Arc::new(Date32Array::from(vec![1]))), ("c", null())] {
            let rows = vec![("day", day), ("none", null())];
            write_parquet(&folder.path().join(name.to_owned() + ".parquet"), &batch(rows), WriterProperties::default());
        }
        let own = look(folder.path()).expect("columns");
        let types: Vec<_> = own.columns.iter().map(|one| (one.name.as_str(), &one.data_type, one.mixed)).collect();
        assert_eq!(types, [("day", &DataType::Date32, false), ("none", &DataType::Utf8View, false)]);
    }
}
