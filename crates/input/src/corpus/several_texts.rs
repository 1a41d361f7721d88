//! Combines several columns into the text of a document: `--text-column title,text`.
//!
//! A file that has a column with exactly that name is read normally. In other files, each column is read separately, and the same rules
//! apply to all columns. Each batch gets a column with the combined name that contains the values, joined by line feeds. Numbers are
//! written as text. The items of a list are joined if [`Columns::lists`] contains the column. Otherwise, a list or an object makes the row
//! unusable; in Parquet files, a list or struct column makes the file unusable. A text that names pictures in other columns gets their
//! mark; see [`attached::attach`].
//!
//! ```text
//! title     text           "title,text"
//! Notice    It is closed.  Notice\nIt is closed.
//! (null)    Come early.    Come early.
//! (null)    (null)         (null)
//! ```

use crate::corpus::file_columns::columns_of;
use crate::find::found_file::FoundFile;
use crate::format::columns::Columns;
use crate::format::open::Unusable;
use crate::format::want::Want;
use arrow::array::builder::StringViewBuilder;
use dupsift_core::error::{Error, Result};
use dupsift_tables::nested::{attached, lists};
use dupsift_tables::{Cell, Documents, Rejection};
use std::collections::BTreeMap;

/// Returns the column names in a comma-separated list, in order; empty if there is only one name.
pub fn several(typed: &str) -> Vec<String> {
    let names: Vec<&str> = typed.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    if names.len() < 2 { Vec::new() } else { names.into_iter().map(str::to_owned).collect() }
}

impl Columns {
    /// Returns the columns for a read that does not combine any of them; `others` then includes the columns to combine.
    pub(crate) fn apart(&self) -> Columns {
        let Some(text) = self.several.last() else { return self.clone() };
        let mut others = self.others.clone();
        for name in &self.several {
            if !others.contains(name) {
                others.push(name.clone());
            }
        }
        Columns { text: text.clone(), others, several: Vec::new(), parts: self.several.clone(), ..self.clone() }
    }
}

/// Returns whether the text of a file is combined from several columns.
///
/// # Errors
/// Returns the reason why the file cannot be read.
pub(super) fn has_several(found: &FoundFile, columns: &Columns) -> std::result::Result<bool, Unusable> {
    if columns.several.is_empty() || !found.format.facts().names_columns {
        return Ok(false);
    }
    let known = columns_of(found, &[&columns.text]).map_err(Unusable::Bad)?.unwrap_or_default();
    Ok(known.columns.iter().all(|column| column.name != columns.text))
}

/// Returns the columns and rows to read from a file whose text is combined from several columns.
pub(super) fn want(want: &Want, columns: &Columns) -> Want {
    let mut all = Want { text: false, ..want.clone() };
    for name in &columns.several {
        for list in [&mut all.others, &mut all.plain] {
            if !list.contains(name) {
                list.push(name.clone());
            }
        }
    }
    all
}

/// Returns the rows with their combined text. A row is unusable if any of its parts is unusable.
///
/// # Errors
/// Returns an error if a column cannot be read as strings.
pub(super) fn put_together(documents: Documents, columns: &Columns) -> Result<Documents> {
    let lost = columns.several.iter().flat_map(|name| documents.lost_of(name));
    let mut bad: BTreeMap<usize, Rejection> = lost.collect();
    let part = |name: &String| Ok((documents.spelled_column(name)?, columns.lists.contains(name)));
    let parts = columns.several.iter().map(part).collect::<Result<Vec<_>>>()?;
    let mut texts = StringViewBuilder::with_capacity(documents.len());
    let mut whole = String::new();
    for row in 0..documents.len() {
        whole.clear();
        let mut is_null = true;
        let values = parts.iter().map(|(part, is_list)| {
            let value = part.as_ref().map_or(Cell::Null, |part| part.get(row));
            (value, *is_list)
        });
        // The text column was not read; its cell only states why a row is unusable.
        for (cell, is_list) in values.chain([(documents.text(row), false)]) {
            match cell {
                Cell::Text(text) => {
                    let texts = if is_list { lists::of_json(text) } else { None };
                    let texts = texts.map(|texts| texts.into_iter().filter(|text| !text.is_empty()));
                    let joined = texts.map(|texts| texts.collect::<Vec<_>>().join("\n"));
                    let text = joined.as_deref().unwrap_or(text);
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
        attached::attach(&mut whole, documents.attached(row));
        let text = (!is_null && !bad.contains_key(&row)).then_some(whole.as_str());
        match text {
            Some(text) => texts.try_append_value(text).map_err(Error::columns("join the parts of a document"))?,
            None => texts.append_null(),
        }
    }
    // If a row was rejected because of one part, that part is not counted again as a lost value.
    documents.without_lost(&columns.several).purified((&columns.text, texts.finish()), Vec::new(), bad)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::source::open;
    use crate::find::inputs::find;
    use crate::testkit::{batch, write_parquet};
    use ::parquet::file::properties::WriterProperties;
    use arrow::array::{ArrayRef, Int64Array, StringArray};
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
            "{\"title\":\"D\",\"n\":5,\"text\":\"three\"}\n{\"n\":6,\"text\":\"four\"}\n{\"title\":\"E\",\"n\":7}\n{\"text\":7}\n{\"text\":[7]}\n",
        )
        .unwrap();
        let read = texts(folder.path(), "title,text").unwrap();
        let expected =
            [Some("A\none"), Some("two"), Some("C"), None, Some("D\nthree"), Some("four"), Some("E"), Some("7")];
        assert_eq!(read[..8].iter().map(Option::as_deref).collect::<Vec<_>>(), expected);
        assert!(read[8].as_ref().is_some_and(|why| why.contains("\"text\" is a list")), "{:?}", read[8]);
        let read = texts(folder.path(), "title, n, text").unwrap();
        assert_eq!(read[..2], [Some("A\n1\none".to_owned()), Some("2\ntwo".to_owned())]);
        assert_eq!(read[4], Some("D\n5\nthree".to_owned()));
    }

    #[test]
    fn lists_of_paragraphs_and_messages_are_texts_in_every_format() {
        use arrow::array::Array as _;
        use arrow::array::builder::{ListBuilder, StringBuilder};
        use arrow::array::{BinaryArray, ListArray, StructArray};
        use arrow::buffer::{NullBuffer, OffsetBuffer};
        use arrow::datatypes::Field;
        let folder = tempfile::tempdir().unwrap();
        let write_arrow = |path: &Path, rows: &arrow::array::RecordBatch| {
            let file = std::fs::File::create(path).unwrap();
            let mut writer = arrow::ipc::writer::FileWriter::try_new(file, &rows.schema()).unwrap();
            writer.write(rows).and_then(|()| writer.finish()).unwrap();
        };
        let mut paragraphs = ListBuilder::new(StringBuilder::new());
        for row in 0..3000 {
            match row % 4 {
                0 => paragraphs.append_value([Some(format!("{row} one")), None, Some("two".to_owned())]),
                1 => paragraphs.append_value([Some(format!("{row} alone"))]),
                2 => paragraphs.append_value(Vec::<Option<String>>::new()),
                _ => paragraphs.append_null(),
            }
        }
        let expected = |row: usize| match row % 4 {
            0 => Some(format!("{row} one\ntwo")),
            1 => Some(format!("{row} alone")),
            2 => Some("empty text".to_owned()),
            _ => None,
        };
        let expected: Vec<_> = (0..3000).map(expected).collect();
        let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..3000));
        let rows = batch(vec![("id", ids), ("text", Arc::new(paragraphs.finish()) as ArrayRef)]);
        let (parquet, arrow) = (folder.path().join("a.parquet"), folder.path().join("a.arrow"));
        let small = || WriterProperties::builder().set_data_page_row_count_limit(100).set_write_batch_size(50);
        for dictionary in [false, true] {
            let properties =
                small().set_dictionary_enabled(dictionary).set_max_row_group_row_count(Some(1_100)).build();
            write_parquet(&parquet, &rows, properties);
            assert_eq!(texts(&parquet, "text").unwrap(), expected);
        }
        write_arrow(&arrow, &rows);
        assert_eq!(texts(&arrow, "text").unwrap(), expected);
        // One chat message is not valid UTF-8; the other fields of the messages are not read.
        let contents = BinaryArray::from(vec![Some(&b"Hi"[..]), Some(b"Hello"), Some(b"\xFF"), None]);
        let roles = strings(&[Some("user"), Some("assistant"), Some("user"), None]);
        let field = |name: &str, column: &ArrayRef| Arc::new(Field::new(name, column.data_type().clone(), true));
        let contents: ArrayRef = Arc::new(contents);
        let structs = StructArray::from(vec![(field("role", &roles), roles), (field("content", &contents), contents)]);
        let item = Arc::new(Field::new_list_field(structs.data_type().clone(), true));
        let nulls = NullBuffer::from(vec![true, true, true, false]);
        let lengths = OffsetBuffer::from_lengths([2, 1, 1, 0]);
        let lists: ArrayRef = Arc::new(ListArray::new(item, lengths, Arc::new(structs), Some(nulls)));
        let rows = batch(vec![("messages", lists)]);
        write_parquet(&parquet, &rows, WriterProperties::default());
        write_arrow(&arrow, &rows);
        for path in [&parquet, &arrow] {
            let read = texts(path, "messages").unwrap();
            assert_eq!(
                (read[0].as_deref(), read[2].as_deref(), &read[3]),
                (Some("Hi\nHello"), Some("empty text"), &None)
            );
            assert!(read[1].as_ref().is_some_and(|why| why.contains("UTF-8")), "{:?}", read[1]);
        }
        std::fs::write(folder.path().join("b.jsonl"), "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}\n")
            .unwrap();
        assert_eq!(texts(&folder.path().join("b.jsonl"), "messages").unwrap(), [Some("Hi".to_owned())]);
    }

    #[test]
    fn pictures_beside_texts_that_name_them_are_part_of_the_whole() {
        use dupsift_core::unread::{self, Unread};
        let folder = tempfile::tempdir().unwrap();
        let (jsonl, csv) = (folder.path().join("a.jsonl"), folder.path().join("a.csv"));
        let rows = [("a", "<image> What?"), ("b", "<image> What?"), ("a", "What?"), ("", "<image> What?")];
        let line = |(image, question): (&str, &str)| {
            format!("{{\"image\":\"{image}\",\"question\":\"{question}\",\"answer\":\"no\"}}\n")
        };
        let record = |(image, question): (&str, &str)| format!("{image},{question},no\n");
        std::fs::write(&jsonl, rows.map(line).concat()).unwrap();
        std::fs::write(&csv, format!("image,question,answer\n{}", rows.map(record).concat())).unwrap();
        for (asked, words) in [("question,answer", "<image> What?\nno"), ("answer,question", "no\n<image> What?")] {
            let read = texts(&jsonl, asked).unwrap();
            assert_eq!(texts(&csv, asked).unwrap(), read);
            assert_ne!(read[0], read[1]);
            let (read_words, unread) = unread::split(read[0].as_deref().unwrap());
            assert!(read_words == words && matches!(unread, Some(Unread::Digest(_))), "{read:?}");
            assert_eq!(read[2], Some(words.replace("<image> ", "")));
            assert_eq!(read[3].as_deref(), Some(words));
        }
        let rows = batch(vec![
            ("image", strings(&[Some("a"), Some("a")])),
            ("question", strings(&[Some("<image> What?"), Some("What?")])),
            ("answer", strings(&[Some("no"), Some("no")])),
        ]);
        let (parquet, arrow) = (folder.path().join("a.parquet"), folder.path().join("a.arrow"));
        write_parquet(&parquet, &rows, WriterProperties::default());
        let file = std::fs::File::create(&arrow).unwrap();
        let mut writer = arrow::ipc::writer::FileWriter::try_new(file, &rows.schema()).unwrap();
        writer.write(&rows).and_then(|()| writer.finish()).unwrap();
        for path in [&parquet, &arrow] {
            for asked in ["question,answer", "answer,question", "question"] {
                let read = texts(path, asked).unwrap();
                let unread: Vec<_> = read.iter().map(|text| unread::split(text.as_deref().unwrap()).1).collect();
                assert_eq!(unread, [Some(Unread::Unknown), None], "{} {asked}", path.display());
            }
        }
        // A column that is one of the texts is not beside them.
        for path in [&jsonl, &csv, &parquet, &arrow] {
            assert_eq!(texts(path, "image,question").unwrap()[0].as_deref(), Some("a\n<image> What?"));
        }
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
            why.ends_with("no plain column \"title\" for `text-column=title,text`; available: text (Utf8)"),
            "{why}"
        );
        let why = texts(folder.path(), "text,body").unwrap_err().to_string();
        assert!(why.contains("no plain column \"body\" for `text-column=text,body`; available: text (Utf8)"), "{why}");
    }

    #[test]
    fn the_order_of_the_columns_changes_nothing_but_the_order_of_the_parts() {
        use arrow::array::{BooleanArray, Date32Array, DictionaryArray, Float64Array, NullArray};
        use arrow::datatypes::Int32Type;
        let folder = tempfile::tempdir().unwrap();
        let numbers = Int64Array::from(vec![Some(2020), None, Some(-1)]);
        let words: DictionaryArray<Int32Type> = [Some("x"), None, Some("y")].into_iter().collect();
        let all: [(&str, ArrayRef, [&str; 3]); 7] = [
            ("int", Arc::new(numbers.clone()), ["2020", "", "-1"]),
            ("float", Arc::new(Float64Array::from(vec![Some(2020.0), None, Some(0.5)])), ["2020", "", "0.5"]),
            ("bool", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])), ["true", "", "false"]),
            ("null", Arc::new(NullArray::new(3)), ["", "", ""]),
            ("dict", Arc::new(words), ["x", "", "y"]),
            ("day", Arc::new(Date32Array::from(vec![Some(0), None, Some(1)])), ["1970-01-01", "", "1970-01-02"]),
            ("words", strings(&[Some("x"), None, Some("y")]), ["x", "", "y"]),
        ];
        let both = |a: &str, b: &str| [a, b].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
        for (name, column, spelled) in all {
            let path = folder.path().join("a.parquet");
            let text = strings(&[Some("one"), Some("two"), Some("three")]);
            write_parquet(&path, &batch(vec![("text", text), (name, column)]), WriterProperties::default());
            for (asked, front) in [(format!("text,{name}"), true), (format!("{name},text"), false)] {
                let expected: Vec<_> = ["one", "two", "three"]
                    .iter()
                    .zip(spelled)
                    .map(|(text, part)| Some(if front { both(text, part) } else { both(part, text) }))
                    .collect();
                assert_eq!(texts(folder.path(), &asked).unwrap(), expected, "{asked}");
            }
        }
        std::fs::remove_file(folder.path().join("a.parquet")).unwrap();
        // In JSON lines, values that are not strings are written as text, nulls and missing fields are skipped, and a list or an object
        // makes its row unusable.
        let values = ["2020", "2020.0", "0.5", "true", "null", "\"x\"", "[1]", "{\"a\":1}"];
        let expected = ["2020", "2020", "0.5", "true", "", "x", "-", "-"];
        let line = |value: &&str| format!("{{\"text\":\"one\",\"v\":{value}}}\n");
        std::fs::write(folder.path().join("a.jsonl"), values.iter().map(line).collect::<String>()).unwrap();
        for (asked, front) in [("text,v", true), ("v,text", false)] {
            for (read, expected) in texts(folder.path(), asked).unwrap().iter().zip(expected) {
                let read = read.as_deref().unwrap_or_default();
                match expected {
                    "-" => assert!(read.contains("\"v\" is a list or an object"), "{read}"),
                    part => assert_eq!(read, if front { both("one", part) } else { both(part, "one") }),
                }
            }
        }
        std::fs::remove_file(folder.path().join("a.jsonl")).unwrap();
        std::fs::write(folder.path().join("a.csv"), "text,v\none,2020\none,\none,2020.50\n").unwrap();
        assert_eq!(
            texts(folder.path(), "text,v").unwrap(),
            ["one\n2020", "one", "one\n2020.50"].map(|text| Some(text.to_owned()))
        );
        assert_eq!(
            texts(folder.path(), "v,text").unwrap(),
            ["2020\none", "one", "2020.50\none"].map(|text| Some(text.to_owned()))
        );
        for asked in ["text,w", "w,text"] {
            let why = texts(folder.path(), asked).unwrap_err().to_string();
            assert!(why.contains(&format!("no plain column \"w\" for `text-column={asked}`")), "{why}");
        }
    }

    #[test]
    fn parts_are_what_stands_in_the_file_whatever_else_the_batch_holds() {
        let folder = tempfile::tempdir().unwrap();
        let numbers =
            ["9007199254740993", "9007199254740992", "18446744073709551615", "18446744073709551614", "0.00001", "0.5"];
        let csv: String = numbers.iter().map(|number| format!("one,{number}\n")).collect();
        std::fs::write(folder.path().join("a.csv"), format!("text,n\n{csv}")).unwrap();
        let expected: Vec<_> = numbers.iter().map(|number| Some(format!("one\n{number}"))).collect();
        assert_eq!(texts(folder.path(), "text,n").unwrap(), expected);
        std::fs::remove_file(folder.path().join("a.csv")).unwrap();
        // JSON has several notations for fractions; integers keep all digits.
        let line = |number: &&str| format!("{{\"text\":\"one\",\"n\":{number}}}\n");
        for with in [4, 6] {
            let lines: String = numbers[..with].iter().map(line).collect();
            std::fs::write(folder.path().join("a.jsonl"), lines).unwrap();
            assert_eq!(texts(folder.path(), "text,n").unwrap()[..4], expected[..4]);
        }
    }

    #[test]
    fn a_part_that_is_not_utf8_is_reported_once() {
        use arrow::array::BinaryArray;
        let rows = batch(vec![
            ("title", strings(&[Some("A"), Some("B")])),
            ("text", Arc::new(BinaryArray::from(vec![&b"caf\xE9"[..], b"ok"])) as ArrayRef),
        ]);
        let names = ["title".to_owned(), "text".to_owned()];
        let documents = Documents::of_bytes(0, rows, (None, None), &names, false).unwrap();
        let documents = put_together(documents, &columns("title,text")).unwrap();
        assert!(matches!(documents.text(0), Cell::Bad(why) if why.detail.contains("\"text\"")));
        assert_eq!(documents.text(1), Cell::Text("B\nok"));
        assert!(documents.lost_values().is_empty(), "{:?}", documents.lost_values());
    }

    #[test]
    fn names_stand_between_commas() {
        assert_eq!(several("title, text,"), ["title", "text"]);
        assert!(several("text").is_empty() && several("text,").is_empty() && several("").is_empty());
    }
}
