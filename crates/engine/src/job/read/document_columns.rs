//! Records the values that a run keeps for every document, regardless of the algorithms: length and `--keep` columns, scope, shape, first
//! line, and source. The first pass, checkpoints and cluster tasks handle these values as a single unit.
//!
//! To add a column, add a recorder and a field for the column in this module; [`Intake`](super::intake::Intake), checkpoints and cluster
//! tasks pass on all columns.

use std::sync::Arc;

use super::headings::Headings;
use super::keep::{KeepOrder, KeepRecorder};
use crate::engine::checkpoints::{CheckpointReader, CheckpointWriter, Recorder};
use crate::job::read::keep_column::ValueCounts;
use crate::reading::parts::{Bytes, put};
use crate::reading::source_values::{SourceRecorder, SourceValues};
use crate::session::Session;
use crate::session::scopes::Noted;
use dupsift_core::error::Result;
use dupsift_input::Want;
use dupsift_spill::shuffle::AtomicCells;
use dupsift_tables::Documents;
use dupsift_text::Analysis;

/// Records the values of all documents from many threads at once.
pub(crate) struct ColumnRecorders<'j> {
    session: &'j Session<'j>,
    keep: KeepRecorder<'j>,
    shapes: AtomicCells<u64>,
    headings: Option<Headings>,
    sources: Option<SourceRecorder<'j>>,
}

/// Holds the values of all documents.
pub struct DocumentColumns {
    /// The order of preference, which includes the lengths.
    pub keep: KeepOrder,
    /// The scopes (see `--scope`).
    pub scopes: Option<Noted>,
    /// The [`shape`](dupsift_algorithms::steps::parts::shape) of each document.
    pub shapes: AtomicCells<u64>,
    /// The first lines of all documents, if an algorithm needs them.
    pub headings: Option<Headings>,
    /// The values of `--source-column`, if it is given.
    pub sources: Option<SourceValues>,
}

impl Recorder for ColumnRecorders<'_> {
    fn parts(&self) -> Vec<&dyn Recorder> {
        let ColumnRecorders { keep, shapes, headings, sources, .. } = self;
        vec![keep, shapes, headings, sources]
    }
}

impl<'j> ColumnRecorders<'j> {
    /// Returns recorders for all documents of the session.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub(crate) fn new(session: &'j Session<'j>) -> Result<ColumnRecorders<'j>> {
        Ok(ColumnRecorders {
            session,
            keep: KeepRecorder::new(session)?,
            shapes: AtomicCells::new(session.engine.dir, "shapes", session.documents() as usize)?,
            headings: session.options.recipe.relates().then(|| Headings::new(session)).transpose()?,
            sources: SourceRecorder::new(session)?,
        })
    }

    /// Adds the recorded columns of the corpus to `want`.
    pub(crate) fn want(session: &Session<'_>, want: Want) -> Want {
        SourceRecorder::want(session, KeepRecorder::want(session, want))
    }

    /// Records the shape of a document's text; indexed documents have no shape.
    pub(crate) fn shape(&self, doc: u64, shape: u64) {
        self.shapes.store(doc as usize, shape);
    }

    /// Records the values found in the text of a document.
    pub(crate) fn text(&self, doc: u64, document: &Analysis<'_>) {
        if let Some(headings) = &self.headings {
            headings.take(doc, document);
        }
    }

    /// Records the values found in the columns of a batch; `lengths` holds the number of characters in each text, or 0 for a rejected row.
    pub(crate) fn batch(&self, batch: &Documents, lengths: &[u32]) -> Result<()> {
        self.keep.record(batch, lengths)?;
        self.sources.as_ref().map_or(Ok(()), |sources| sources.record(batch))
    }

    /// Records a document from the output of [`DocumentColumns::put_part`].
    pub(crate) fn take_part(&self, doc: u64, bytes: &mut Bytes<'_>) -> Result<()> {
        self.keep.take_part(doc, bytes)?;
        self.shape(doc, bytes.long()?);
        if let Some(headings) = &self.headings {
            headings.take_packed(doc, bytes.long()?);
        }
        if let Some(sources) = &self.sources
            && bytes.take(1)? != [0]
        {
            sources.take_part(doc, bytes.string()?)?;
        }
        Ok(())
    }

    /// Returns the tallies of the values in `--keep` columns; see [`ColumnRecorders::add_tallies`].
    pub(crate) fn tallies(&self) -> Vec<ValueCounts> {
        self.keep.tallies()
    }

    /// Adds the tallies from [`ColumnRecorders::tallies`] for another part of the corpus.
    pub(crate) fn add_tallies(&self, tallies: &[ValueCounts]) {
        self.keep.add_tallies(tallies);
    }

    /// Ends the recording.
    pub(crate) fn finish(self) -> Result<DocumentColumns> {
        Ok(DocumentColumns {
            keep: self.keep.finish()?,
            scopes: self.session.scopes.noted(),
            shapes: self.shapes,
            headings: self.headings,
            sources: self.sources.map(SourceRecorder::finish).transpose()?,
        })
    }
}

impl DocumentColumns {
    /// Appends the values of a document.
    pub fn put_part(&self, doc: u64, out: &mut Vec<u8>) {
        self.keep.put_part(doc, out);
        out.extend_from_slice(&self.shapes.load(doc as usize).to_le_bytes());
        if let Some(headings) = &self.headings {
            out.extend_from_slice(&headings.packed(doc).to_le_bytes());
        }
        if let Some(sources) = &self.sources {
            let value = sources.of(doc);
            out.push(value.is_some().into());
            value.into_iter().for_each(|value| put(value, out));
        }
    }

    /// Saves the values to a checkpoint.
    pub fn save(&self, to: &mut CheckpointWriter<'_>) -> Result<()> {
        let DocumentColumns { keep, scopes, shapes, headings, sources } = self;
        keep.save(to)?;
        to.optional(scopes.as_ref(), |Noted(scopes), to| to.cells(scopes))?;
        to.cells(shapes)?;
        to.optional(headings.as_ref(), Headings::save)?;
        to.optional(sources.as_ref(), SourceValues::save)
    }

    /// Restores the values from a checkpoint.
    pub fn restore(from: &mut CheckpointReader<'_>) -> Result<DocumentColumns> {
        Ok(DocumentColumns {
            keep: KeepOrder::restore(from)?,
            scopes: from.optional(|from| Ok(Noted(Arc::new(from.cells()?))))?,
            shapes: from.cells()?,
            headings: from.optional(Headings::restore)?,
            sources: from.optional(SourceValues::restore)?,
        })
    }
}
