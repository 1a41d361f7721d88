//! Maintains an index between runs: describes the index, verifies files, merges row files, and forgets documents.

pub(crate) mod again;
pub mod copies;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use arrow::array::Array as _;
use arrow::array::AsArray as _;

use crate::batch::published::state;
use crate::stored::rows::write_run;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::Readers;
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::engine::resources::Resources;
use dupsift_engine::engine::threads::Engine;
pub use dupsift_index::Restored;
use dupsift_index::{BATCHES, COPY_HASH, Index, Manifest, ROWS, Rows, read_rows, seal};
use dupsift_publish::TemporaryFolder;
use dupsift_spill::shuffle::run::Run;
use dupsift_tables::columns::read_as;

/// The number of row files of similar size that are merged into one.
const TOGETHER: usize = 8;
/// If the index has more row folders than this, some are merged even if their sizes differ.
const MANY: usize = 20;

/// Opens an existing index for changes.
///
/// # Errors
/// Returns [`Error::Usage`] if the folder contains no index, or the errors of [`Index::open`].
fn open(dir: &Path) -> Result<Index> {
    look(dir)?;
    let index = Index::open(dir, state)?;
    if index.manifest.is_some() { Ok(index) } else { Err(no_index(dir)) }
}

/// Opens an existing index with all its generations, without changing anything.
pub(crate) fn look(dir: &Path) -> Result<Index> {
    Index::look_at_all(dir, state)?.ok_or_else(|| no_index(dir))
}

fn no_index(dir: &Path) -> Error {
    Error::usage(format!("{} is not an index; expected a folder that a run used as `index`", dir.display()))
}

/// Describes the content and the size of an index.
pub struct Held {
    /// The newest generation.
    pub manifest: Manifest,
    /// The size of all row files in bytes.
    pub rows_bytes: u64,
    /// The size of all document files in bytes.
    pub text_bytes: u64,
}

/// Returns the content and size of an index.
///
/// # Errors
/// Returns [`Error::Usage`] if the folder contains no index, or [`Error::DamagedIndex`].
pub fn info(dir: &Path) -> Result<Held> {
    let manifest = look(dir)?.manifest.clone().unwrap_or_default();
    let rows_bytes = manifest.rows.iter().flat_map(|rows| &rows.files).map(|file| file.bytes).sum();
    let text_bytes = manifest.batches.iter().flat_map(|batch| &batch.parts).map(|part| part.file.bytes).sum();
    Ok(Held { manifest, rows_bytes, text_bytes })
}

/// Compares the checksum of every file with the recorded checksum, and returns the number of files and their total size in bytes. Nothing
/// is changed.
///
/// # Errors
/// Returns the errors of [`info`], or [`Error::Damaged`] with the first file that differs.
pub fn verify(dir: &Path, cancel: &AtomicBool) -> Result<(u64, u64)> {
    let go_on = || if cancel.load(Relaxed) { Err(Error::Interrupted) } else { Ok(()) };
    look(dir)?.verify(&go_on)
}

/// Merges row files of similar size, eight at a time. Returns the number of folders before and after merging. The text of documents is
/// never rewritten.
///
/// # Errors
/// Returns an error if the disk is full or a file is damaged.
pub fn compact(dir: &Path, memory: u64, threads: usize, cancel: &AtomicBool) -> Result<(usize, usize)> {
    let mut index = open(dir)?;
    let resources = Resources::new(memory, threads)?;
    let beside = dir.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = TemporaryFolder::create(Some(beside))?;
    let progress = Progress::hidden();
    let engine = resources.engine(false, true, folder.path(), &progress, cancel);
    let before = index.manifest.as_ref().map_or(0, |manifest| manifest.rows.len());
    while let Some(at) = index.manifest.as_ref().and_then(mergeable) {
        let Some(mut next) = index.manifest.clone() else { break };
        next.generation += 1;
        let merged = merge(&engine, &index, &next, at)?;
        let name = merged.folder.clone();
        let old = next.rows.splice(at..at + TOGETHER, [merged]);
        let files = |rows: Rows| {
            let folder = index.folder(ROWS, &rows.folder);
            rows.files.into_iter().map(move |file| folder.join(file.name))
        };
        let readers = Readers::of(old.flat_map(files).collect::<Vec<_>>().iter().map(|file| &**file));
        // A held batch was matched against the previous generation and can no longer be accepted.
        index.hold_none()?;
        index.intend(&next, &Readers::default())?;
        index.place(ROWS, &name, &readers)?;
        index.publish(next)?;
    }
    Ok((before, index.manifest.as_ref().map_or(0, |manifest| manifest.rows.len())))
}

/// Returns the position of the first of eight adjacent folders of similar size: the largest folder must be at most twice as large as the
/// mean. Under this rule, a row is rewritten only if its new folder is at least four times as large as its old folder. If sizes vary and
/// there are many folders, the eight adjacent folders with the smallest total size are merged. The last batch is never merged, because it
/// may be recomputed.
fn mergeable(manifest: &Manifest) -> Option<usize> {
    let older = &manifest.rows[..manifest.rows.len().saturating_sub(1)];
    mergeable_of(&older.iter().map(|rows| rows.files.iter().map(|file| file.bytes).sum()).collect::<Vec<u64>>())
}

fn mergeable_of(sizes: &[u64]) -> Option<usize> {
    let is_even = |sizes: &[u64]| {
        let largest = sizes.iter().max().copied().unwrap_or_default();
        largest * TOGETHER as u64 <= 2 * sizes.iter().sum::<u64>()
    };
    let smallest = || {
        let sums = sizes.windows(TOGETHER).map(|sizes| sizes.iter().sum::<u64>()).enumerate();
        sums.min_by_key(|(_, sum)| *sum).map(|(at, _)| at)
    };
    let even = sizes.windows(TOGETHER).position(is_even);
    even.or_else(|| if sizes.len() > MANY { smallest() } else { None })
}

fn merge(engine: &Engine<'_>, index: &Index, next: &Manifest, at: usize) -> Result<Rows> {
    let old = &next.rows[at..at + TOGETHER];
    let name = format!("r-{:08}", next.generation);
    let dir = index.begin(ROWS, &name)?;
    for file in &old[0].files {
        let Some(label) = file.name.strip_suffix(".run") else { continue };
        let mut runs = Vec::new();
        for rows in old {
            runs.push(rows.open(index.dir(), label)?);
        }
        let (width, group_width) = (runs[0].width(), runs[0].group_width());
        let rows = engine.shuffle(&format!("{label}-merged"), width, group_width, runs.iter().map(Run::rows).sum())?;
        engine.work(
            runs.len(),
            || Ok(rows.writer()),
            |writer, at| {
                let mut reader = runs[at].read(0..dupsift_spill::shuffle::run::BUCKETS);
                while let Some(block) = reader.next_block()? {
                    engine.go_on()?;
                    block.chunks_exact(width).try_for_each(|row| writer.push(row))?;
                }
                Ok(())
            },
            |mut writer| writer.flush(),
        )?;
        write_run(engine, &dir, label, rows.finish()?, runs[0].is_filtered())?;
    }
    let files = seal(&dir)?;
    Ok(Rows { folder: name, first_doc: old[0].first_doc, end_doc: old[TOGETHER - 1].end_doc, files })
}

/// Selects the documents to forget.
pub enum Forget {
    /// The documents with these ids.
    Ids(BTreeSet<String>),
    /// The documents in a batch.
    Batch(String),
}

/// Forgets documents: later batches are matched neither against these documents nor against documents that were removed in favor of them.
/// Returns the number of newly forgotten documents.
///
/// # Errors
/// Returns [`Error::Usage`] if the batch or an id does not exist.
pub fn forget(dir: &Path, what: &Forget) -> Result<u64> {
    let mut index = open(dir)?;
    let Some(mut next) = index.manifest.clone() else { return Ok(0) };
    let found = match what {
        Forget::Batch(name) => {
            let Some(batch) = next.batches.iter().find(|batch| batch.name == *name) else {
                let names: Vec<&str> = next.batches.iter().map(|batch| batch.name.as_str()).collect();
                let hint = dupsift_core::error::did_you_mean(name, names.iter().copied());
                return Err(Error::wrong(
                    "batch",
                    format_args!("there is no batch {name:?} in {}{hint}", dir.display()),
                ));
            };
            vec![[batch.first_doc, batch.first_doc + batch.rows]]
        }
        Forget::Ids(ids) => documents_of(&index, &next, ids)?,
    };
    let before = next.forgotten();
    next.forget(found);
    if next.forgotten() == before {
        return Ok(0);
    }
    let count = next.forgotten() - before;
    next.generation += 1;
    index.hold_none()?;
    index.intend(&next, &Readers::default())?;
    index.publish(next)?;
    Ok(count)
}

/// Makes an earlier generation the newest one.
///
/// # Errors
/// Returns the errors of [`restore`](dupsift_index::restore).
pub fn restore(dir: &Path, generation: u64) -> Result<Restored> {
    dupsift_index::restore(dir, generation, state)
}

/// Calls `each` with the number and the id of every document under which the index stores text.
///
/// # Errors
/// Returns an error if a file is damaged, or an error from `each`.
pub(crate) fn each_id(index: &Index, manifest: &Manifest, each: &mut dyn FnMut(u64, &str) -> Result<()>) -> Result<()> {
    for batch in &manifest.batches {
        for part in &batch.parts {
            let path = index.folder(BATCHES, &batch.folder).join(&part.file.name);
            let mut doc = part.first_doc;
            read_rows(&path, part.sums.list, None, Some(&["id", COPY_HASH]), &mut |batch| {
                let hashes = batch.column_by_name(COPY_HASH).and_then(|column| column.as_fixed_size_binary_opt());
                let Some(column) = batch.column_by_name("id") else { return Ok(()) };
                let spelled = read_as::spelled(column).map_err(Error::columns("read the ids of an index"))?;
                for row in 0..batch.num_rows() {
                    let is_there = hashes.is_some_and(|hashes| hashes.is_valid(row));
                    if is_there && spelled.is_valid(row) {
                        each(doc, spelled.value(row))?;
                    }
                    doc += 1;
                }
                Ok(())
            })?;
        }
    }
    Ok(())
}

/// Returns the numbers of the documents with these ids, as ranges.
fn documents_of(index: &Index, manifest: &Manifest, ids: &BTreeSet<String>) -> Result<Vec<[u64; 2]>> {
    let (mut found, mut left) = (Vec::new(), ids.clone());
    each_id(index, manifest, &mut |doc, id| {
        if ids.contains(id) {
            left.remove(id);
            found.push([doc, doc + 1]);
        }
        Ok(())
    })?;
    match left.first() {
        None => Ok(found),
        Some(missing) => Err(Error::usage(format!(
            "{} has no document with the id {missing:?}{}; the index lists each text under the id of its first document",
            index.dir().display(),
            if left.len() > 1 { format!(", nor {} others", left.len() - 1) } else { String::new() }
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Merges folders after each batch in the same way as `compact`. Returns the number of rewritten bytes as a multiple of the total size,
    /// and the maximum number of folders.
    fn batches(sizes: impl Iterator<Item = u64>) -> (f64, usize) {
        let (mut folders, mut anew, mut most): (Vec<u64>, u64, usize) = (Vec::new(), 0, 0);
        for size in sizes {
            folders.push(size);
            while let Some(at) = mergeable_of(&folders[..folders.len() - 1]) {
                let merged: u64 = folders[at..at + TOGETHER].iter().sum();
                anew += merged;
                folders.splice(at..at + TOGETHER, [merged]);
            }
            most = most.max(folders.len());
        }
        (anew as f64 / folders.iter().sum::<u64>() as f64, most)
    }

    #[test]
    fn rows_are_written_anew_seldom_and_folders_stay_few() {
        let (anew, most) = batches((0..30).map(|_| 100));
        assert!(anew <= 1.0 && most <= 12, "{anew} {most}");
        let (anew, most) = batches((0..365).map(|_| 100));
        assert!(anew <= 3.0 && most <= MANY, "{anew} {most}");
        // The batches have very different sizes, and some are nearly empty.
        let size = |batch: u64| {
            [1_000, 10, 30, 1, 700, 2, 90, 5, 3, 300][(dupsift_core::hash::splitmix64(3, batch) % 10) as usize]
        };
        let (anew, most) = batches((0..365).map(size));
        assert!(anew <= 6.0 && most <= MANY + 2, "{anew} {most}");
    }
}
