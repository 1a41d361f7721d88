//! Creates input files for the tests of this module, and reads them back in full.

use crate::copy::copying::Copying;
use crate::corpus::source::{BadInput, Columns, InputFile, Source};
use crate::format::want::Want;
use ::parquet::arrow::ArrowWriter;
use ::parquet::file::properties::WriterProperties;
use arrow::array::{ArrayRef, RecordBatch};
use dupsift_core::error::Result;
use dupsift_tables::{Cell, Id};
use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::path::Path;

/// A document that was read: its number, its text and its id.
pub(crate) type Read = (u64, std::result::Result<Option<String>, String>, Option<Id>);

pub(crate) fn columns() -> Columns {
    Columns { text: "text".into(), id: "id".into(), others: vec!["title".into()], ..Columns::default() }
}

pub(crate) fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))
        .expect("a batch")
}

pub(crate) fn write_parquet(path: &Path, rows: &RecordBatch, properties: WriterProperties) {
    let file = File::create(path).expect("a file");
    let mut writer = ArrowWriter::try_new(file, rows.schema(), Some(properties)).expect("a writer");
    writer.write(rows).expect("written");
    writer.close().expect("closed");
}

/// Returns an unnamed file with these bytes.
pub(crate) fn file_of(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(bytes).expect("written");
    file.rewind().expect("a file");
    file
}

/// Returns a gzip member.
pub(crate) fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

/// Returns a Zstandard frame with a checksum.
pub(crate) fn zst(bytes: &[u8], dictionary: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::with_dictionary(Vec::new(), 1, dictionary).expect("memory");
    encoder.include_checksum(true).expect("a parameter");
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

/// Opens the inputs with the columns `text`, `id` and `title`.
pub(crate) fn open(inputs: &[&Path]) -> Result<(Source, Vec<BadInput>)> {
    let inputs: Vec<String> = inputs.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    crate::corpus::source::open(crate::find::inputs::find(&inputs)?, &columns(), 2, None)
}

/// Returns all documents, read in splits of about this many bytes.
pub(crate) fn read(source: &Source, want: &Want, target: usize) -> Result<Vec<Read>> {
    let mut all = Vec::new();
    for split in source.splits(target) {
        source.read(&split, want, &mut |documents| {
            assert!(!documents.is_empty() && documents.first_doc == documents.doc(0));
            for row in 0..documents.len() {
                let text = match documents.text(row) {
                    Cell::Text(text) => Ok(Some(text.to_owned())),
                    Cell::Null => Ok(None),
                    Cell::Bad(why) => Err(why.to_string()),
                };
                all.push((documents.doc(row), text, documents.id(row).map(Id::from)));
            }
            Ok(())
        })?;
    }
    Ok(all)
}

/// Requests the text and id of every row.
pub(crate) fn whole() -> Want {
    Want { id: true, ..Want::default() }
}

/// Copies the chosen rows of a file without changes. Chunks of up to `small` bytes are read without inspecting their pages.
pub(crate) fn copy(file: &InputFile, chosen: &dyn Fn(u64) -> bool, small: u64, out: &Path) -> Result<u64> {
    let (hold, go_on) = (|_: u64, run: &mut dyn FnMut()| Ok(run()), || Ok(()));
    let (path, coding, rows) = (&*file.path, file.coding, file.rows);
    file.copy_rows(&Copying {
        path,
        coding,
        rows,
        chosen,
        small,
        hold: &hold,
        go_on: &go_on,
        out,
        edits: None,
        added: None,
    })
}
