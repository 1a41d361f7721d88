//! The signatures of several algorithms from one pass over the documents, with all else that their pairs will be asked for.

use std::time::{Duration, Instant};

use super::classes::Classes;
use super::evidence::{Evidence, Taking, let_go};
use super::sketches::SketchFile;
use super::workers::Job;
use crate::error::Result;
use crate::row::{Row, RowLayout, Signatures};
use crate::shuffle::{Shuffle, Sorted, Writer};
use crate::stage::bound::Bound;
use crate::stage::sift::Sieve;
use crate::stage::sign::{Tally, encode, sign};
use crate::text::Analysis;

/// The rows of one algorithm.
pub struct SignedRows {
    /// How they are laid out.
    pub layout: RowLayout,
    /// The rows, by key.
    pub rows: Sorted,
    /// Documents by whether they have a signature.
    pub tally: SignTally,
    /// What the check needs, where it was taken along the way.
    pub evidence: Option<Evidence>,
    /// The sketches of the documents, where the method keeps some.
    pub sketches: Option<SketchFile>,
}

/// Documents of one algorithm, exact copies counted one by one.
#[derive(Clone, Debug, Default)]
pub struct SignTally {
    /// By whether they have a signature.
    pub documents: Tally,
    /// Rows that the sieve left out.
    pub sifted: u64,
    /// What signing the sampled documents took of this algorithm alone, all that is shared being there already.
    pub sampled: Duration,
    /// Bytes of their texts.
    pub sampled_bytes: u64,
}

impl SignTally {
    fn merge(&mut self, other: &SignTally) {
        self.documents.merge(&other.documents);
        self.sifted += other.sifted;
        self.sampled += other.sampled;
        self.sampled_bytes += other.sampled_bytes;
    }
}

/// The rows of several algorithms.
pub fn rows(signed: &[SignedRows]) -> u64 {
    signed.iter().map(|one| one.rows.rows()).sum()
}

/// Bytes of several algorithms that went to disk.
pub fn spilled(signed: &[SignedRows]) -> u64 {
    let files = |one: &SignedRows| {
        one.evidence.as_ref().map_or(0, Evidence::bytes) + one.sketches.as_ref().map_or(0, SketchFile::bytes)
    };
    signed.iter().map(|one| one.rows.spilled_bytes() + files(one)).sum()
}

/// One document in so many is timed, of a large corpus.
const TIMED: u64 = 128;
/// So many are timed at least, where there are as many.
const TIMED_AT_LEAST: u64 = 512;

/// The signing of one pass, for all threads.
pub struct Signing<'s> {
    bound: &'s [Bound<'s>],
    copies: Option<&'s Classes>,
    sieve: Option<&'s Sieve>,
    outputs: Vec<Output>,
    /// One document in so many is timed.
    timed: u64,
}

/// Where the signatures of one algorithm go.
struct Output {
    layout: RowLayout,
    rows: Shuffle,
    taking: Option<Taking>,
    sketches: Option<SketchFile>,
}

/// What one thread signs with.
pub struct SigningThread<'w> {
    rows: Vec<Writer<'w>>,
    tallies: Vec<SignTally>,
    scratch: (Signatures, Vec<u64>),
    record: Vec<u8>,
}

impl<'s> Signing<'s> {
    /// Surplus copies, where they are known already, are counted with their document. With a sieve only rows that may meet
    /// another one are written.
    pub fn new(
        job: &Job<'_>,
        bound: &'s [Bound<'s>],
        copies: Option<&'s Classes>,
        sieve: Option<&'s Sieve>,
    ) -> Result<Signing<'s>> {
        let documents = job.documents();
        let output = |bound: &Bound<'_>| {
            let layout = RowLayout::new(bound.signer.shape(), documents);
            let rows = documents * u64::from(bound.signer.shape().positions);
            let early = bound.takes_evidence_early();
            let words = bound.signer.sketch_words();
            let sketches = || SketchFile::new(job.dir, &bound.label, documents, words);
            Ok(Output {
                rows: job.shuffle(&format!("{}-rows", bound.label), layout.width(), layout.group_width(), rows)?,
                layout,
                taking: early.then(|| Taking::of_all(job.dir, &bound.label, documents)).transpose()?,
                sketches: (words > 0).then(sketches).transpose()?,
            })
        };
        let outputs = bound.iter().map(output).collect::<Result<_>>()?;
        Ok(Signing { bound, copies, sieve, outputs, timed: (documents / TIMED_AT_LEAST).clamp(1, TIMED) })
    }

    /// For one thread.
    pub fn thread(&self) -> SigningThread<'_> {
        SigningThread {
            rows: self.outputs.iter().map(|output| output.rows.writer()).collect(),
            tallies: vec![SignTally::default(); self.bound.len()],
            scratch: Default::default(),
            record: Vec::new(),
        }
    }

    /// Whether a document is a surplus copy, which is not to be signed.
    pub fn leaves_out(&self, doc: u64) -> bool {
        self.copies.is_some_and(|copies| copies.is_surplus(doc))
    }

    /// Signs a document, whose text has so many bytes.
    pub fn sign(&self, thread: &mut SigningThread<'_>, doc: u64, document: &Analysis<'_>, bytes: u64) -> Result<()> {
        let alike = self.copies.map_or(1, |copies| copies.members(doc).len().max(1) as u64);
        let SigningThread { rows, tallies, scratch, record } = thread;
        sign(self.bound, document, scratch, |number, out, evidence| {
            let output = &self.outputs[number];
            let tally = &mut tallies[number];
            tally.documents.add(out, alike);
            if out.reason().is_some() {
                return Ok(());
            }
            if let Some(taking) = &output.taking {
                taking.take_all(doc, evidence)?;
            }
            if let Some(sketches) = &output.sketches {
                sketches.put(doc, out.sketch_of_document());
            }
            let passes = |row: &Row<'_>| {
                let passes = self.sieve.is_none_or(|sieve| sieve.keeps(number, row));
                tally.sifted += u64::from(!passes);
                passes
            };
            encode(output.layout, doc, out, record, passes, |row| rows[number].push(row))
        })?;
        let_go(&mut scratch.1);
        if doc.is_multiple_of(self.timed) {
            self.time(document, bytes, &mut scratch.0, tallies);
        }
        Ok(())
    }

    /// Signs a document again, when all that the algorithms share has been cut, and times each of them. Of two times the
    /// shorter one counts: something else may have had the processor during the other.
    fn time(&self, document: &Analysis<'_>, bytes: u64, scratch: &mut Signatures, tallies: &mut [SignTally]) {
        for (bound, tally) in self.bound.iter().zip(tallies) {
            let mut once = || {
                scratch.clear();
                let begin = Instant::now();
                bound.signer.sign(document, scratch);
                begin.elapsed()
            };
            tally.sampled += once().min(once());
            tally.sampled_bytes += bytes;
        }
    }

    /// Ends the work of a thread.
    pub fn close(thread: SigningThread<'_>) -> Result<Vec<SignTally>> {
        thread.rows.into_iter().try_for_each(|mut writer| writer.flush())?;
        Ok(thread.tallies)
    }

    /// The rows by algorithm, from the tallies of all threads.
    pub fn finish(self, threads: Vec<Vec<SignTally>>) -> Result<Vec<SignedRows>> {
        let mut tallies = vec![SignTally::default(); self.bound.len()];
        for thread in threads {
            tallies.iter_mut().zip(&thread).for_each(|(sum, one)| sum.merge(one));
        }
        let rows = |(output, tally): (Output, SignTally)| {
            Ok(SignedRows {
                layout: output.layout,
                rows: output.rows.finish()?,
                tally,
                evidence: output.taking.map(Taking::end).transpose()?,
                sketches: output.sketches,
            })
        };
        self.outputs.into_iter().zip(tallies).map(rows).collect()
    }
}
