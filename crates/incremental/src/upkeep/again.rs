//! Rereads the result of an incremental run. The tables in this result refer to documents in earlier batches; the ids and the text of these
//! documents are in the index.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use arrow::array::Array as _;

use super::each_id;
use crate::batch::place::is_same;
use crate::batch::published::state;
use crate::join::Joining;
use crate::reference::Reference;
use dupsift_core::doc::IndexDoc;
use dupsift_core::error::{Error, Result};
use dupsift_core::number::counted;
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::engine::threads::Engine;
use dupsift_engine::job::RunReport;
use dupsift_engine::job::read_back::Frozen;
use dupsift_engine::matching::meeting::Numbered;
use dupsift_engine::options::RunOptions;
use dupsift_engine::session::Session;
use dupsift_index::{BATCHES, Index, IndexReport, Manifest, read_rows};
use dupsift_publish::ReferenceFolder;
use dupsift_spill::shuffle::AtomicBits;
use dupsift_tables::columns::read_as;

/// Holds an incremental run and the index that it was matched against.
pub struct Again<'a> {
    index: Index,
    manifest: Manifest,
    batch: &'a IndexReport,
    /// The reference, if it consists of files: its temporary index is built again.
    reference: Option<Reference>,
}

/// Holds what is needed to read the files of a reference again.
#[derive(Clone, Copy)]
pub struct ReadAgain<'r> {
    /// The recorded options.
    pub options: &'r RunOptions,
    /// The progress.
    pub progress: &'r Progress,
    /// Whether the call is to be interrupted.
    pub cancel: &'r AtomicBool,
}

impl<'a> Again<'a> {
    /// Opens the index at `dir`, against which a batch was matched; `batch` is the record of the batch in the record of its run. The index is
    /// not locked, because the files that are read never change. If the batch was matched against files of a reference, they are read
    /// again if `again` is given.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the index or the reference does not exist, or is not what the batch was matched against.
    pub fn open(
        (batch, report): (&'a IndexReport, &RunReport),
        dir: &Path,
        again: Option<ReadAgain<'_>>,
    ) -> Result<Again<'a>> {
        let (index, reference) = match Index::look(dir, state)? {
            Some(index) => (index, None),
            None if batch.generation == batch.read_generation => {
                let reference = read_again(report, again)?;
                let index = Index::look(reference.dir(), state)?.ok_or_else(|| no_texts("it is no longer there"))?;
                (index, Some(reference))
            }
            None => {
                return Err(Error::usage(format!(
                    "the run was matched against the index {}, which does not exist; move the index back, or move it to the same location relative to the output",
                    dir.display()
                )));
            }
        };
        let manifest = index.manifest.clone().unwrap_or_default();
        if !is_same(&manifest, batch) {
            if reference.is_some() {
                return Err(no_texts("its files have changed since the run"));
            }
            return Err(Error::usage(format!(
                "the index {} is not the one that the run was matched against: it has {}; expected that run's index",
                dir.display(),
                counted(manifest.next_doc, "document")
            )));
        }
        Ok(Again { index, manifest, batch, reference })
    }

    /// Reads the statistics and models that were used to compute the signatures of the batch.
    ///
    /// # Errors
    /// Returns an error if the index is damaged.
    pub fn statistics(&self, session: &Session<'_>) -> Result<Frozen> {
        self.index.check_statistics()?;
        Frozen::read(session, self.index.dir())
    }

    /// Returns the documents with this id that precede the batch, in ascending order.
    ///
    /// # Errors
    /// Returns an error if the index is damaged.
    pub fn with_id(&self, engine: &Engine<'_>, id: &str) -> Result<Vec<u64>> {
        let mut found = Vec::new();
        each_id(&self.index, &self.manifest, &mut |doc, known| {
            if known == id && doc < self.batch.first_doc && !self.manifest.is_forgotten(IndexDoc(doc)) {
                found.push(doc);
            }
            engine.go_on()
        })?;
        Ok(found)
    }

    /// Returns whether a document was forgotten after the run, in which case its text must not be shown.
    pub fn is_forgotten(&self, doc: u64) -> bool {
        self.manifest.is_forgotten(IndexDoc(doc))
    }

    /// Returns the ids of these documents in the index. The documents must precede the batch and must be given in ascending order.
    ///
    /// # Errors
    /// Returns an error if the index is damaged.
    pub fn ids(&self, docs: &[u64]) -> Result<BTreeMap<u64, String>> {
        let mut found = BTreeMap::new();
        for batch in &self.manifest.batches {
            for part in &batch.parts {
                let rows = docs.iter().filter_map(|doc| doc.checked_sub(part.first_doc).filter(|&row| row < part.rows));
                let rows: Vec<u64> = rows.collect();
                if rows.is_empty() {
                    continue;
                }
                let (path, mut next) = (self.index.folder(BATCHES, &batch.folder).join(&part.file.name), rows.iter());
                read_rows(&path, part.sums.list, Some(&rows), Some(&["id"]), &mut |read| {
                    let Some(column) = read.column_by_name("id") else { return Ok(()) };
                    let spelled = read_as::spelled(column).map_err(Error::columns("read the ids of an index"))?;
                    for (row, at) in (0..read.num_rows()).zip(&mut next) {
                        if spelled.is_valid(row) {
                            found.insert(part.first_doc + at, spelled.value(row).to_owned());
                        }
                    }
                    Ok(())
                })?;
            }
        }
        Ok(found)
    }

    /// Returns the output of the batch or the file of the reference that contains a document, and the document's row in it.
    pub fn place(&self, doc: u64) -> (String, u64) {
        if let Some((file, row)) = self.reference.as_ref().and_then(|reference| reference.place(doc)) {
            return (file.to_owned(), row);
        }
        let at = self.manifest.batches.partition_point(|batch| batch.first_doc <= doc);
        match at.checked_sub(1).map(|at| &self.manifest.batches[at]) {
            Some(batch) => (batch.out.display().to_string(), doc - batch.first_doc),
            None => (self.index.dir().display().to_string(), doc),
        }
    }

    /// Calls `work` with a session over these indexed documents and the corpus of the batch, in the same order as in the run.
    ///
    /// # Errors
    /// Returns an error from `work`, or an error if the index is damaged or the disk is full.
    pub fn joined<T>(
        &self,
        session: &Session<'_>,
        numbers: impl IntoIterator<Item = u64>,
        work: impl FnOnce(&Session<'_>) -> Result<T>,
    ) -> Result<T> {
        let met = AtomicBits::new(session.engine.dir, "met-again", self.batch.first_doc as usize)?;
        numbers
            .into_iter()
            .filter(|&number| number < self.batch.first_doc)
            .for_each(|number| _ = met.set(number as usize));
        let base = met.count();
        let numbered = Numbered { base, next_doc: IndexDoc(self.batch.first_doc), documents_planned: u64::MAX };
        let source = session.source.shifted(base);
        let shifted = session.shifted(&source, base);
        let mut joining = Joining::new(&self.index, session.options, numbered);
        joining.look_up(session.engine, &self.manifest, &met)?;
        let (indexed, known) = joining.indexed(session.engine)?;
        let source = indexed.map_or_else(|| shifted.source.shifted(0), |indexed| shifted.source.after(&indexed));
        work(&shifted.joined(&source, known))
    }
}

/// Builds the temporary index of the files of a reference again, with the options of the run.
fn read_again(report: &RunReport, again: Option<ReadAgain<'_>>) -> Result<Reference> {
    let Some(ReadAgain { options, progress, cancel }) = again else {
        return Err(no_texts("the options of the run are unknown"));
    };
    let Some(reference) = &options.incremental.reference else { return Err(no_texts("it is not in the record")) };
    let mut options = options.clone();
    options.incremental.planned_documents = report.frozen.as_ref().map(|frozen| frozen.documents_planned);
    let folder = ReferenceFolder::of_finished;
    match Reference::open(&options, report.documents.rows, reference, folder, (progress, cancel)) {
        // The rest of the message says how to pass a reference.
        Err(Error::Usage { said, .. } | Error::Missing { said, .. }) => {
            Err(no_texts(said.split_once("; ").map_or(&said, |(problem, _)| problem)))
        }
        opened => opened,
    }
}

fn no_texts(why: &str) -> Error {
    Error::usage(format!(
        "the reference that the run was matched against cannot be read again, so no pair can be compared: {why}; look up matches in \
         removed/ and pairs/, or run again with an index as `reference`"
    ))
}
