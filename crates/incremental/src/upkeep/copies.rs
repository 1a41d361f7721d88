//! Implements `dupsift index copies`, which writes how often each kept document in an index occurred so far. Each document of the index
//! either was kept or has a kept document, so one pass over these numbers is enough; ids are read only for the rows of the table.
//!
//! Cost: 12 to 20 bytes for each document of the index, in a temporary file next to the table.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use arrow::array::Array as _;
use arrow::datatypes::DataType;

use super::look;
use crate::join::kept_docs;
use dupsift_core::doc::IndexDoc;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::listing::is_there;
use dupsift_core::safe_fs::{self, Readers};
use dupsift_engine::engine::numbers::Numbers;
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::engine::resources::Resources;
use dupsift_index::{BATCHES, DocumentFile, Index, KEPT_DOC, Manifest, read_rows};
use dupsift_publish::{TableWriter, TemporaryFolder};
use dupsift_tables::columns::read_as;
use dupsift_tables::{IdRef, IdType, IndexCopiesBuilder, index_copies_schema};

/// The number of rows for which ids are read at a time.
const AT_ONCE: usize = 1 << 16;

/// Writes the table to a new file, and returns the number of its rows. Forgotten documents do not count, nor do the documents that were
/// removed in favor of them.
///
/// # Errors
/// Returns [`Error::Usage`] if the folder contains no index or the file exists, and an error if a file of the index is damaged, the disk is
/// full, or the call is interrupted.
pub fn write(dir: &Path, out: &Path, memory: u64, threads: usize, cancel: &AtomicBool) -> Result<u64> {
    let index = look(dir)?;
    let manifest = index.manifest.clone().unwrap_or_default();
    if is_there(out)? {
        return Err(Error::wrong_value("out", out.display(), "it exists already; expected the name of a new file"));
    }
    let beside = out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = TemporaryFolder::create(Some(beside))?;
    let resources = Resources::new(memory, threads)?;
    let progress = Progress::hidden();
    let engine = resources.engine(false, true, folder.path(), &progress, cancel);
    let documents = manifest.next_doc;
    let numbers = |name, most| Numbers::new(folder.path(), name, documents as usize, most);
    let (mut counts, mut batches) = (numbers("counts", documents)?, numbers("batches", manifest.batches.len() as u64)?);
    let mut last = numbers("last-batch", manifest.batches.len() as u64)?;
    let (mut count, mut batch_count, mut last_batch) = (counts.slots(), batches.slots(), last.slots());
    for (at, path, part) in parts(&index, &manifest) {
        let mut doc = part.first_doc;
        read_rows(&path, part.sums.list, None, Some(&[KEPT_DOC]), &mut |rows| {
            engine.go_on()?;
            for kept in kept_docs(&rows) {
                // A document without a kept one counts for itself; if it was rejected, nothing is removed in favor of it.
                let kept = kept.map_or(doc, |kept| kept as u64);
                if kept >= documents {
                    let why = format!("document {doc} was removed in favor of document {kept}, which does not exist");
                    return Err(Error::Damaged { path: path.clone(), why });
                }
                if ![doc, kept].iter().any(|&doc| manifest.is_forgotten(IndexDoc(doc))) {
                    count.set(kept, count.get(kept) + 1);
                    if last_batch.get(kept) != at {
                        last_batch.set(kept, at);
                        batch_count.set(kept, batch_count.get(kept) + 1);
                    }
                }
                doc += 1;
            }
            Ok(())
        })?;
    }
    let kind = id_type(&index, &manifest)?;
    let path = folder.path().join("copies.parquet");
    let mut writer = TableWriter::create(&path, index_copies_schema(kind))?;
    let mut builder = IndexCopiesBuilder::new(kind);
    let mut written = 0;
    for (_, file, part) in parts(&index, &manifest) {
        let mut several = (part.first_doc..part.first_doc + part.rows).filter(|&doc| counts.get(doc) > 1).peekable();
        while several.peek().is_some() {
            engine.go_on()?;
            let docs: Vec<u64> = several.by_ref().take(AT_ONCE).collect();
            let rows: Vec<u64> = docs.iter().map(|doc| doc - part.first_doc).collect();
            let mut next = docs.iter();
            read_rows(&file, part.sums.list, Some(&rows), Some(&["id"]), &mut |rows| {
                let ids = read_as::spelled(rows.column(0)).map_err(Error::columns("read the ids of an index"))?;
                for (row, &doc) in (0..rows.num_rows()).zip(&mut next) {
                    let text = if ids.is_valid(row) { ids.value(row) } else { "" };
                    let id = match kind {
                        IdType::Int32 | IdType::Int64 => IdRef::Int(text.parse().unwrap_or_default()),
                        IdType::Text | IdType::Bytes => IdRef::Text(text),
                    };
                    builder.push(id, batches.get(doc), counts.get(doc), doc)?;
                    written += 1;
                    if builder.is_full() {
                        writer.write(&builder.finish()?)?;
                    }
                }
                Ok(())
            })?;
        }
    }
    writer.write(&builder.finish()?)?;
    writer.close()?;
    let readers = parts(&index, &manifest).map(|(_, path, _)| path).collect::<Vec<_>>();
    safe_fs::share(folder.path(), &Readers::of(readers.iter().map(|path| &**path)))
        .map_err(Error::io("set permissions in", folder.path()))?;
    std::fs::rename(&path, out).map_err(Error::io("create", out))?;
    Ok(written)
}

/// Returns the document files in order, each with the number of its batch, beginning at 1.
fn parts<'m>(index: &Index, manifest: &'m Manifest) -> impl Iterator<Item = (u64, PathBuf, &'m DocumentFile)> {
    let of = |(at, batch): (usize, &'m dupsift_index::Batch)| {
        let folder = index.folder(BATCHES, &batch.folder);
        batch.parts.iter().map(move |part| (at as u64 + 1, folder.join(&part.file.name), part))
    };
    manifest.batches.iter().enumerate().flat_map(of)
}

/// Returns the type of the ids: that of all document files, or text if they differ.
fn id_type(index: &Index, manifest: &Manifest) -> Result<IdType> {
    let mut kinds = Vec::new();
    for (_, path, part) in parts(index, manifest).filter(|(_, _, part)| part.rows > 0) {
        read_rows(&path, part.sums.list, Some(&[0]), Some(&["id"]), &mut |rows| {
            kinds.push(match rows.column(0).data_type() {
                DataType::Int32 => IdType::Int32,
                DataType::Int64 => IdType::Int64,
                _ => IdType::Text,
            });
            Ok(())
        })?;
    }
    let integers = kinds.iter().all(|kind| matches!(kind, IdType::Int32 | IdType::Int64));
    Ok(match () {
        () if kinds.is_empty() || !integers => IdType::Text,
        () if kinds.contains(&IdType::Int64) => IdType::Int64,
        () => IdType::Int32,
    })
}
