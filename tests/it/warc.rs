//! Tests web archives written by a different program, `warcio`: every row contains the bytes that `warcio` itself reads.

use std::collections::BTreeMap;

use dupsift_input::{Columns, Want, find, open};
use dupsift_tables::Cell;
use serde_json::{Value, json};

use crate::kit::{Ran, python};

const NAMES: [&str; 4] = ["date", "record_id", "content_type", "digest"];

#[test]
fn archives_of_warcio_are_read_as_warcio_reads_them() {
    let folder = tempfile::tempdir().unwrap();
    Ran::of(python("tests/warc.py").arg(folder.path()).output().unwrap()).ends_with(0);
    let expected = std::fs::read_to_string(folder.path().join("expected.json")).unwrap();
    let expected: BTreeMap<String, Value> = serde_json::from_str(&expected).unwrap();
    assert_eq!(expected.keys().collect::<Vec<_>>(), ["pages.warc", "pages.warc.gz", "texts.warc.wet.gz"]);
    let others = NAMES.map(str::to_owned).to_vec();
    let columns =
        Columns { text: "html".into(), html: true, id: "url".into(), id_required: true, others, ..Columns::default() };
    let want = Want { id: true, others: columns.others.clone(), ..Want::default() };
    let found = find(&[folder.path().to_string_lossy().into_owned()]).unwrap();
    let (source, bad) = open(found, &columns, 2, None).unwrap();
    assert_eq!((bad.len(), source.files.len()), (0, 3));
    let mut rows: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for split in source.splits(1 << 20) {
        let file = source.files[split.file].label.clone();
        source
            .read(&split, &want, &mut |documents| {
                for row in 0..documents.len() {
                    let mut values = json!({ "id": documents.id(row).unwrap().to_string() });
                    for name in NAMES {
                        values[name] = match documents.text_column(name)?.unwrap().get(row) {
                            Cell::Text(text) => json!(text),
                            _ => Value::Null,
                        };
                    }
                    match documents.page(row) {
                        Ok(page) => {
                            let digits = page.unwrap().iter().map(|byte| format!("{byte:02x}"));
                            values["page"] = json!(digits.collect::<String>());
                        }
                        Err(why) => values["why"] = json!(why.to_string()),
                    }
                    rows.entry(file.clone()).or_default().push(values);
                }
                Ok(())
            })
            .unwrap();
    }
    for (name, expected) in &expected {
        let archived = source.files.iter().find(|file| file.label == *name).and_then(|file| file.archived.as_ref());
        assert_eq!(json!(archived.unwrap().others), expected["others"], "{name}");
        let expected: Vec<Value> = expected["rows"].as_array().unwrap().iter().cloned().map(only_why).collect();
        assert_eq!(rows[name], expected, "{name}");
    }
    assert_eq!(rows["pages.warc"].iter().filter(|row| row["why"].is_string()).count(), 3);
}

/// Removes the content from rows that are not pages, and the reason from all other rows.
fn only_why(mut row: Value) -> Value {
    let gone = if row["why"].is_null() { "why" } else { "page" };
    row.as_object_mut().unwrap().remove(gone);
    row
}
