//! Reads arbitrary lists of texts and conversations from JSON lines, Arrow and Parquet. Checks that all formats return the same text, with the
//! same mark for parts that cannot be read, and that files with changed bytes cause no panic.
#![no_main]

use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Once};

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use arrow::json::ReaderBuilder;
use dupsift_core::encoding::Encoding;
use dupsift_input::{Coding, Columns, Taking, TextFiles, Want, find_all, open};
use dupsift_tables::Cell;
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};

/// Takes decisions from the input.
struct Bytes<'d>(&'d [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn text(&mut self) -> String {
        let length = usize::from(self.next() % 24).min(self.0.len());
        let (text, rest) = self.0.split_at(length);
        self.0 = rest;
        String::from_utf8_lossy(text).into_owned()
    }

    /// Returns a value of this type.
    fn value(&mut self, data_type: &DataType) -> Value {
        if self.next() % 5 == 0 {
            return Value::Null;
        }
        match data_type {
            DataType::List(item) | DataType::LargeList(item) => {
                let items = self.next() % 4;
                (0..items).map(|_| self.value(item.data_type())).collect()
            }
            DataType::Struct(fields) => {
                let value = |field: &Arc<Field>| (field.name().clone(), self.value(field.data_type()));
                Value::Object(fields.iter().map(value).collect::<Map<_, _>>())
            }
            DataType::Int64 => i64::from(self.next()).into(),
            DataType::Boolean => (self.next() % 2 == 0).into(),
            _ => self.text().into(),
        }
    }
}

fn list(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("element", item, true)))
}

fn group(fields: &[(&str, DataType)]) -> DataType {
    DataType::Struct(fields.iter().map(|(name, of)| Field::new(*name, of.clone(), true)).collect::<Fields>())
}

/// Returns one of several types of list columns.
fn of_kind(kind: u8) -> DataType {
    use DataType::{Boolean, Int64, LargeList, LargeUtf8, Utf8};
    let url = group(&[("url", Utf8), ("detail", Utf8)]);
    let part =
        group(&[("type", Utf8), ("text", Utf8), ("image_url", url.clone()), ("index", Int64), ("other", Boolean)]);
    let function = group(&[("name", Utf8), ("arguments", group(&[("a", Utf8), ("b", list(Int64)), ("c", Boolean)]))]);
    let calls = list(group(&[("id", Utf8), ("type", Utf8), ("function", function)]));
    match kind % 6 {
        0 => list(Utf8),
        1 => LargeList(Arc::new(Field::new("element", LargeUtf8, true))),
        2 => list(group(&[("role", Utf8), ("content", Utf8)])),
        3 => list(group(&[("from", Utf8), ("value", LargeUtf8), ("images", list(Utf8))])),
        4 => list(group(&[("content", list(part)), ("reasoning_content", Utf8), ("role", Utf8)])),
        _ => list(group(&[("content", Utf8), ("tool_calls", calls), ("audio", url), ("weight", Int64)])),
    }
}

fn write(folder: &Path, schema: &SchemaRef, rows: &RecordBatch) {
    let file = |name: &str| File::create(folder.join(name)).expect("a file");
    let mut arrow = arrow::ipc::writer::FileWriter::try_new(file("a.arrow"), schema).expect("a writer");
    arrow.write(rows).and_then(|()| arrow.finish()).expect("written");
    let mut parquet = parquet::arrow::ArrowWriter::try_new(file("a.parquet"), schema.clone(), None).expect("a writer");
    parquet.write(rows).expect("written");
    parquet.close().expect("closed");
}

/// Returns the texts of a file, or nothing if the file cannot be read. A row without text has the reason.
fn texts(path: &Path) -> Option<Vec<Result<String, String>>> {
    let coding = Coding { encoding: Encoding::Utf8, window_bytes: 8 << 20, ..Coding::default() };
    let found = find_all(
        &[path.to_string_lossy().into_owned()],
        Taking { text_files: TextFiles::default(), coding, follow_links: false },
    )
    .ok()?;
    let columns = Columns { text: "text".into(), id: "id".into(), ..Columns::default() };
    let (source, _) = open(found, &columns, 1, None).ok()?;
    let mut texts = Vec::new();
    for split in source.splits(1) {
        source
            .read(&split, &Want::default(), &mut |documents| {
                texts.extend((0..documents.len()).map(|row| match documents.text(row) {
                    Cell::Text(text) => Ok(text.to_owned()),
                    Cell::Null => Err("null".to_owned()),
                    Cell::Bad(why) => Err(why.reason.to_string()),
                }));
                Ok(())
            })
            .ok()?;
    }
    Some(texts)
}

/// Readers catch panics of a decoder and reject the file. Only a panic that is not caught ends the program.
static QUIET: Once = Once::new();

fuzz_target!(|data: &[u8]| {
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| ())));
    let mut bytes = Bytes(data);
    let text = of_kind(bytes.next());
    let schema: SchemaRef = Arc::new(Schema::new(vec![Field::new("text", text.clone(), true)]));
    let rows = 1 + usize::from(bytes.next() % 5);
    let lines: Vec<Value> = (0..rows).map(|_| serde_json::json!({ "text": bytes.value(&text) })).collect();
    let mut decoder = ReaderBuilder::new(schema.clone()).build_decoder().expect("a decoder");
    decoder.serialize(&lines).expect("values of the schema");
    let Some(batch) = decoder.flush().expect("rows") else { return };
    let folder = std::env::temp_dir().join(format!("dupsift-fuzz-lists-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    write(&folder, &schema, &batch);
    let json: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(folder.join("a.jsonl"), json).expect("written");
    let [arrow, parquet, json] = ["a.arrow", "a.parquet", "a.jsonl"].map(|name| texts(&folder.join(name)));
    assert!(arrow.as_ref().is_some_and(|texts| texts.len() == rows));
    assert_eq!(arrow, parquet);
    assert_eq!(arrow, json);
    // What is left of the input changes bytes of the files.
    for name in ["a.arrow", "a.parquet"] {
        let path = folder.join(name);
        let mut file = std::fs::read(&path).expect("the file");
        for change in bytes.0.chunks_exact(3).take(8) {
            let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % file.len();
            file[at] ^= change[2];
        }
        std::fs::write(&path, file).expect("written");
        _ = texts(&path);
    }
});
