//! A text out of several columns: `--text-column title,text`.
//!
//! A file that has a column of exactly that name is read as any other. Of another one the columns are read by their own names, the last one as its
//! text and those before it beside, and each batch gets the column of the whole name: what the columns hold, one below the other.
//!
//! ```text
//! title     text           "title,text"
//! Notice    It is closed.  Notice\nIt is closed.
//! (null)    Come early.    Come early.
//! (null)    (null)         (null)
//! ```

use super::asked::columns_of;
use super::find::FoundFile;
use super::format::Unusable;
use super::schema::{self, Columns};
use super::want::Want;
use crate::batch::{Cell, Documents, Rejection};
use crate::error::{Error, Result, did_you_mean};
use crate::spelling::opt;
use arrow_array::builder::StringViewBuilder;
use std::collections::BTreeMap;

/// The columns that a list of names says, in order; none for a single one.
pub fn several(typed: &str) -> Vec<String> {
    let names: Vec<&str> = typed.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    if names.len() < 2 { Vec::new() } else { names.into_iter().map(str::to_owned).collect() }
}

impl Columns {
    /// The same columns by their own names: the last of several as the text, those before it among the others.
    pub(super) fn apart(&self) -> Columns {
        let Some((text, before)) = self.several.split_last() else { return self.clone() };
        let mut others = self.others.clone();
        others.extend(before.iter().filter(|name| !self.others.contains(name)).cloned());
        Columns { text: text.clone(), others, several: Vec::new(), ..self.clone() }
    }
}

/// Whether the texts of a file are put together from several columns.
///
/// # Errors
/// Why the file cannot be read.
pub(super) fn has_several(found: &FoundFile, columns: &Columns) -> std::result::Result<bool, Unusable> {
    if columns.several.is_empty() || !found.format.names_columns() {
        return Ok(false);
    }
    let known = columns_of(found, &[&columns.text]).map_err(Unusable::Bad)?.unwrap_or_default();
    Ok(known.columns.iter().all(|column| column.name != columns.text))
}

/// Whether a file that was opened has all of them, where its schema tells that.
///
/// # Errors
/// The first one that it has not, and those that it has.
pub(super) fn check(found: &FoundFile, columns: &Columns, others: &[String]) -> std::result::Result<(), Unusable> {
    let (_, before) = columns.several.split_last().map_or((None, &[][..]), |(last, before)| (Some(last), before));
    let Some(missing) = before.iter().find(|name| found.format.is_columnar() && !others.contains(name)) else {
        return Ok(());
    };
    let known = columns_of(found, &[]).map_err(Unusable::Bad)?.unwrap_or_default();
    let asked = opt("text-column").with(&columns.text);
    let hint = did_you_mean(missing, known.columns.iter().map(|column| column.name.as_str()));
    Err(Unusable::Lacks(format!("no plain column {missing:?} for {asked}; {}{hint}", schema::list(&known.columns))))
}

/// What is asked of a file whose texts come from several columns.
pub(super) fn want(want: &Want, columns: &Columns) -> Want {
    let before = columns.several.iter().rev().skip(1).rev();
    let mut all = want.clone();
    for name in before {
        for list in [&mut all.others, &mut all.plain] {
            if !list.contains(name) {
                list.push(name.clone());
            }
        }
    }
    all
}

/// The rows with the text put together. A row of which one part cannot be used cannot be used.
///
/// # Errors
/// A column that cannot be read as strings.
pub(super) fn put_together(documents: Documents, columns: &Columns) -> Result<Documents> {
    let before = columns.several.iter().rev().skip(1).rev();
    let mut bad: BTreeMap<usize, Rejection> = before.clone().flat_map(|name| documents.lost_of(name)).collect();
    let parts = before.map(|name| documents.spelled_column(name)).collect::<Result<Vec<_>>>()?;
    let mut texts = StringViewBuilder::with_capacity(documents.len());
    let mut whole = String::new();
    for row in 0..documents.len() {
        whole.clear();
        let mut is_null = true;
        let values = parts.iter().map(|part| part.as_ref().map_or(Cell::Null, |part| part.get(row)));
        for cell in values.chain([documents.text(row)]) {
            match cell {
                Cell::Text(text) => {
                    if !text.is_empty() && !whole.is_empty() {
                        whole.push('\n');
                    }
                    whole.push_str(text);
                    is_null = false;
                }
                Cell::Null => {}
                Cell::Bad(why) => _ = bad.entry(row).or_insert(why),
            }
        }
        let text = (!is_null && !bad.contains_key(&row)).then_some(whole.as_str());
        match text {
            Some(text) => texts.try_append_value(text).map_err(Error::columns("put a text together"))?,
            None => texts.append_null(),
        }
    }
    documents.purified((&columns.text, texts.finish()), Vec::new(), bad)
}

#[cfg(test)]
mod tests {
    use super::super::find::find;
    use super::super::source::open;
    use super::super::testkit::{batch, write_parquet};
    use super::*;
    use ::parquet::file::properties::WriterProperties;
    use arrow_array::{ArrayRef, Int64Array, StringArray};
    use std::path::Path;
    use std::sync::Arc;

    fn columns(text: &str) -> Columns {
        let others = vec!["title".into()];
        Columns { text: text.into(), several: several(text), id: "id".into(), others, ..Columns::default() }
    }

    fn texts(folder: &Path, text: &str) -> Result<Vec<Option<String>>> {
        let found = find(&[folder.to_string_lossy().into_owned()])?;
        let (source, bad) = open(found, &columns(text), 2, None)?;
        assert!(bad.is_empty(), "{bad:?}");
        let mut all = Vec::new();
        for split in source.splits(1 << 20) {
            source.read(&split, &Want::default(), &mut |documents| {
                for row in 0..documents.len() {
                    all.push(match documents.text(row) {
                        Cell::Text(text) => Some(text.to_owned()),
                        Cell::Null => None,
                        Cell::Bad(why) => Some(why.to_string()),
                    });
                }
                Ok(())
            })?;
        }
        Ok(all)
    }

    fn strings(values: &[Option<&str>]) -> ArrayRef {
        Arc::new(StringArray::from(values.to_vec()))
    }

    #[test]
    fn parts_stand_one_below_the_other_in_every_format() {
        let folder = tempfile::tempdir().unwrap();
        let rows = vec![
            ("title", strings(&[Some("A"), None, Some("C"), None])),
            ("n", Arc::new(Int64Array::from(vec![1, 2, 3, 4])) as ArrayRef),
            ("text", strings(&[Some("one"), Some("two"), None, None])),
        ];
        write_parquet(&folder.path().join("a.parquet"), &batch(rows), WriterProperties::default());
        std::fs::write(
            folder.path().join("b.jsonl"),
            "{\"title\":\"D\",\"n\":5,\"text\":\"three\"}\n{\"n\":6,\"text\":\"four\"}\n{\"title\":\"E\",\"n\":7}\n{\"text\":7}\n",
        )
        .unwrap();
        let read = texts(folder.path(), "title,text").unwrap();
        let expected = [Some("A\none"), Some("two"), Some("C"), None, Some("D\nthree"), Some("four"), Some("E")];
        assert_eq!(read[..7].iter().map(Option::as_deref).collect::<Vec<_>>(), expected);
        assert!(read[7].as_ref().is_some_and(|why| why.contains("\"text\" is an integer")), "{:?}", read[7]);
        let read = texts(folder.path(), "title, n, text").unwrap();
        assert_eq!(read[..2], [Some("A\n1\none".to_owned()), Some("2\ntwo".to_owned())]);
        assert_eq!(read[4], Some("D\n5\nthree".to_owned()));
    }

    #[test]
    fn a_column_of_exactly_that_name_wins() {
        let folder = tempfile::tempdir().unwrap();
        let rows = vec![
            ("title,text", strings(&[Some("whole")])),
            ("title", strings(&[Some("A")])),
            ("text", strings(&[Some("one")])),
        ];
        write_parquet(&folder.path().join("a.parquet"), &batch(rows), WriterProperties::default());
        std::fs::write(folder.path().join("b.jsonl"), "{\"title\":\"D\",\"title,text\":\"all\",\"text\":\"x\"}\n")
            .unwrap();
        assert_eq!(texts(folder.path(), "title,text").unwrap(), [Some("whole".to_owned()), Some("all".to_owned())]);
        assert_eq!(texts(folder.path(), "text,title").unwrap(), [Some("one\nA".to_owned()), Some("x\nD".to_owned())]);
    }

    #[test]
    fn a_file_without_one_of_them_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let rows = vec![("text", strings(&[Some("one")]))];
        write_parquet(&folder.path().join("a.parquet"), &batch(rows), WriterProperties::default());
        let why = texts(folder.path(), "title,text").unwrap_err().to_string();
        assert!(
            why.ends_with("no plain column \"title\" for text_column=\"title,text\"; there are text (Utf8)"),
            "{why}"
        );
        let why = texts(folder.path(), "text,body").unwrap_err().to_string();
        assert!(why.contains("no column \"body\"; there are text (Utf8)"), "{why}");
    }

    #[test]
    fn names_stand_between_commas() {
        assert_eq!(several("title, text,"), ["title", "text"]);
        assert!(several("text").is_empty() && several("text,").is_empty() && several("").is_empty());
    }
}
