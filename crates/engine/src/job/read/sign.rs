//! Computes the signatures of several algorithms in one pass over the documents, together with the data for verifying their pairs.

use serde::{Deserialize, Serialize};

use crate::classes::Classes;
use crate::engine::checkpoints::{Merge, Recorder};
use crate::engine::evidence::{Evidence, Taking, let_go};
use crate::engine::sketches::SketchFile;
use crate::job::timing::{Sample, Timed};
use crate::matching::meeting::{MeetingKeys, Numbered, RecordedKeys};
use crate::session::Session;
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_algorithms::steps::prefilter::Prefilter;
use dupsift_algorithms::steps::sign::{SignedCounts, encode, sign};
use dupsift_core::error::Result;
use dupsift_core::row::{Row, RowLayout, Signatures};
use dupsift_spill::shuffle::{Shuffle, Sorted, Writer};
use dupsift_text::Analysis;

/// Holds the signature rows of one algorithm.
pub struct SignedRows {
    /// The layout of the rows.
    pub layout: RowLayout,
    /// The rows, grouped by key.
    pub rows: Sorted,
    /// The number of documents with a signature, and the number of documents without a signature.
    pub tally: SignTally,
    /// The data for the check, if this pass recorded it.
    pub evidence: Option<Evidence>,
    /// The sketches of the documents, if the algorithm keeps any.
    pub sketches: Option<SketchFile>,
    /// The keys by which the algorithm matches documents with indexed documents, if the run uses an index.
    pub keys: Option<Box<RecordedKeys>>,
}

/// Counts documents for one algorithm. Each exact copy is counted.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct SignTally {
    /// The number of documents with a signature, and the number of documents without a signature.
    pub documents: SignedCounts,
    /// The number of rows that the prefilter dropped.
    pub prefiltered: u64,
    /// The signing time of this algorithm alone.
    pub timed: Timed,
}

impl Merge for SignTally {
    fn merge(&mut self, other: SignTally) {
        self.documents.merge(&other.documents);
        self.prefiltered += other.prefiltered;
        self.timed.merge(other.timed);
    }
}

/// Holds the tallies of several algorithms in the order in which they were bound. The list is empty until a document is signed.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct SignTallies(Vec<SignTally>);

impl Merge for SignTallies {
    fn merge(&mut self, other: SignTallies) {
        self.0.resize(self.0.len().max(other.0.len()), SignTally::default());
        self.0.iter_mut().zip(other.0).for_each(|(sum, one)| sum.merge(one));
    }
}

/// Returns the total number of rows of several algorithms.
pub fn rows(signed: &[SignedRows]) -> u64 {
    signed.iter().map(|one| one.rows.rows()).sum()
}

/// Returns the number of bytes that several algorithms spilled to disk.
pub fn spilled(signed: &[SignedRows]) -> u64 {
    let files = |one: &SignedRows| {
        one.evidence.as_ref().map_or(0, Evidence::bytes) + one.sketches.as_ref().map_or(0, SketchFile::bytes)
    };
    signed.iter().map(|one| one.rows.spilled_bytes() + files(one)).sum()
}

/// Holds the signing state of one pass, for all threads.
pub struct Signing<'s> {
    bound: &'s [Bound<'s>],
    copies: Option<&'s Classes>,
    prefilter: Option<&'s Prefilter>,
    outputs: Vec<Output>,
    copy_keys: Option<MeetingKeys>,
    sample: Sample,
}

/// Collects the signatures of one algorithm.
struct Output {
    layout: RowLayout,
    rows: Shuffle,
    taking: Option<Taking>,
    sketches: Option<SketchFile>,
    keys: Option<MeetingKeys>,
}

/// Holds the signing state of one thread.
pub struct SigningThread<'w> {
    rows: Vec<Writer<'w>>,
    keys: Vec<Option<Writer<'w>>>,
    copy_keys: Option<Writer<'w>>,
    probes: Signatures,
    words: Vec<u64>,
    tallies: Vec<SignTally>,
    scratch: (Signatures, Vec<u64>),
    record: Vec<u8>,
}

impl Recorder for Output {
    fn parts(&self) -> Vec<&dyn Recorder> {
        vec![&self.rows, &self.taking, &self.sketches, &self.keys]
    }
}

impl Recorder for Signing<'_> {
    fn parts(&self) -> Vec<&dyn Recorder> {
        let outputs = self.outputs.iter().map(|output| output as &dyn Recorder);
        outputs.chain([&self.copy_keys as &dyn Recorder]).collect()
    }
}

impl<'s> Signing<'s> {
    /// Starts signing. If copies are already known, extra copies are counted with the document that represents them. If a prefilter is
    /// given, only rows that may match another row are written. If the run uses an index, the keys by which documents are matched are
    /// recorded.
    pub fn new(
        session: &Session<'_>,
        bound: &'s [Bound<'s>],
        copies: Option<&'s Classes>,
        prefilter: Option<&'s Prefilter>,
        indexed: Option<Numbered>,
    ) -> Result<Signing<'s>> {
        let documents = session.documents();
        let output = |bound: &Bound<'_>| {
            let layout = bound.layout(documents);
            let rows = documents * u64::from(bound.scheme.shape.positions);
            let early = bound.takes_evidence_early();
            let words = bound.scheme.sketch_words;
            let sketches = || SketchFile::new(session.engine.dir, &bound.label, documents, words);
            Ok(Output {
                rows: session.engine.shuffle(
                    &format!("{}-rows", bound.label),
                    layout.width(),
                    layout.group_width(),
                    rows,
                )?,
                layout,
                taking: early.then(|| Taking::of_all(session.engine.dir, &bound.label, documents)).transpose()?,
                sketches: (words > 0).then(sketches).transpose()?,
                keys: indexed
                    .map(|numbered| MeetingKeys::of(session.engine, numbered, bound, session.rows()))
                    .transpose()?,
            })
        };
        let outputs = bound.iter().map(output).collect::<Result<_>>()?;
        let sample = Sample::of(session.rows());
        Ok(Signing { bound, copies, prefilter, outputs, copy_keys: None, sample })
    }

    /// Makes signing also record the hash of each document's text in these keys.
    pub(crate) fn with_copy_keys(self, copy_keys: Option<MeetingKeys>) -> Signing<'s> {
        Signing { copy_keys, ..self }
    }

    /// Ends the recording of match keys. Returns the keys of exact copies and the keys of each algorithm.
    pub(crate) fn close_keys(&mut self) -> Result<(Option<RecordedKeys>, Vec<Option<RecordedKeys>>)> {
        let finish = |keys: Option<MeetingKeys>| keys.map(MeetingKeys::finish).transpose();
        let copies = finish(self.copy_keys.take())?;
        let keys = self.outputs.iter_mut().map(|output| finish(output.keys.take()));
        Ok((copies, keys.collect::<Result<_>>()?))
    }

    /// Returns the state for one thread.
    pub fn thread(&self) -> SigningThread<'_> {
        SigningThread {
            keys: self.outputs.iter().map(|output| output.keys.as_ref().map(MeetingKeys::writer)).collect(),
            copy_keys: self.copy_keys.as_ref().map(MeetingKeys::writer),
            probes: Signatures::default(),
            words: Vec::new(),
            rows: self.outputs.iter().map(|output| output.rows.writer()).collect(),
            tallies: vec![SignTally::default(); self.bound.len()],
            scratch: Default::default(),
            record: Vec::new(),
        }
    }

    /// Returns whether a document is an extra copy, which is not signed.
    pub(crate) fn leaves_out(&self, doc: u64) -> bool {
        self.copies.is_some_and(|copies| copies.is_extra_copy(doc))
    }

    /// Signs a document whose text has this many bytes.
    pub fn sign(&self, thread: &mut SigningThread<'_>, doc: u64, document: &Analysis<'_>, bytes: u64) -> Result<()> {
        let alike = self.copies.map_or(1, |copies| copies.members(doc).len().max(1) as u64);
        let SigningThread { rows, keys, copy_keys, probes, words, tallies, scratch, record } = thread;
        if let (Some(keys), Some(writer)) = (&self.copy_keys, copy_keys) {
            keys.push_copy(doc, document, record, writer)?;
        }
        sign(self.bound, document, scratch, |number, out, evidence| {
            let output = &self.outputs[number];
            let tally = &mut tallies[number];
            tally.documents.add(out, alike);
            if out.reason().is_some() {
                return Ok(());
            }
            if let (Some(keys), Some(writer)) = (&output.keys, &mut keys[number]) {
                keys.push(&self.bound[number], out, doc, (probes, record, words), writer)?;
            }
            if let Some(taking) = &output.taking {
                taking.take_all(doc, evidence)?;
            }
            if let Some(sketches) = &output.sketches {
                sketches.put(doc, out.sketch_of_document());
            }
            let passes = |row: &Row<'_>| {
                let passes = self.prefilter.is_none_or(|prefilter| prefilter.keeps(number, row));
                tally.prefiltered += u64::from(!passes);
                passes
            };
            encode(output.layout, (document.scope(), doc), out, record, passes, |row| rows[number].push(row))
        })?;
        let_go(&mut scratch.1);
        if self.sample.has(doc) {
            let each = self.bound.iter().zip(tallies);
            each.for_each(|(bound, tally)| tally.timed.add(bound, document, bytes, &mut scratch.0));
        }
        Ok(())
    }

    /// Ends a thread's work.
    pub fn close(thread: SigningThread<'_>) -> Result<SignTallies> {
        let keys = thread.keys.into_iter().flatten().chain(thread.copy_keys);
        thread.rows.into_iter().chain(keys).try_for_each(|mut writer| writer.flush())?;
        Ok(SignTallies(thread.tallies))
    }

    /// Returns the rows of each algorithm.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub fn finish(mut self, tallies: SignTallies) -> Result<Vec<SignedRows>> {
        let (_, keys) = self.close_keys()?;
        self.finish_with(tallies, keys)
    }

    /// Works like `finish`, but must be called after [`Signing::close_keys`].
    pub(crate) fn finish_with(self, tallies: SignTallies, keys: Vec<Option<RecordedKeys>>) -> Result<Vec<SignedRows>> {
        let SignTallies(mut tallies) = tallies;
        tallies.resize(self.bound.len(), SignTally::default());
        let rows = |((output, tally), keys): ((Output, SignTally), Option<RecordedKeys>)| {
            Ok(SignedRows {
                layout: output.layout,
                rows: output.rows.finish()?,
                tally,
                evidence: output.taking.map(Taking::end).transpose()?,
                sketches: output.sketches,
                keys: keys.map(Box::new),
            })
        };
        self.outputs.into_iter().zip(tallies).zip(keys).map(rows).collect()
    }
}
