//! Records the contents (3-grams and numbers) of documents that occur in pairs so that any two documents can be compared. Comparisons are
//! used for removal and for the columns of `pairs/` that distinguish copies with additions from rewrites.
//!
//! Exact copies have the same contents, so the first copy represents all copies. A document that forms pairs only with its copies is not
//! read.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::classes::Classes;
use crate::engine::evidence::{Evidence, Taking};
use crate::engine::threads::Engine;
use crate::job::pair::saved_contents::SavedContents;
use crate::job::saved::SavedState;
use crate::reading::document::{Columns, View};
use crate::session::Session;
use dupsift_algorithms::measure::{Contained, Subjects, contained, subjects, write_contents};
use dupsift_core::error::Result;
use dupsift_core::row::Pair;
use dupsift_input::{RowFilter, Want};
use dupsift_spill::shuffle::AtomicBits;
use dupsift_tables::{Cell, Documents};
use dupsift_text::Analysis;

/// Holds the documents whose contents must be recorded. The first document of each class of copies represents the class.
pub(crate) struct Alike {
    copies: Arc<Classes>,
    bits: AtomicBits,
}

impl Alike {
    /// Returns an empty set.
    pub(crate) fn new(session: &Session<'_>, copies: &Arc<Classes>) -> Result<Alike> {
        let bits = AtomicBits::new(session.engine.dir, "alike", session.documents() as usize)?;
        Ok(Alike { copies: copies.clone(), bits })
    }

    /// Returns the exact copies.
    pub(crate) fn copies(&self) -> &Classes {
        &self.copies
    }

    /// Records a pair, and returns whether the two documents are copies.
    pub(crate) fn note(&self, pair: &Pair) -> bool {
        let (a, b) = (self.copies.representative(pair.a), self.copies.representative(pair.b));
        if a != b {
            self.bits.set(a as usize);
            self.bits.set(b as usize);
        }
        a == b
    }

    /// Starts recording document contents. `known` holds the previously recorded contents. Returns `None` if removal does not compare
    /// contents or if all pairs are exact copies.
    pub(crate) fn begin(&self, session: &Session<'_>, known: Contents) -> Result<Option<TakingContents>> {
        let asks = session.options.removal.removes
            && session.options.removal.remove_if.bounds().is_some()
            && self.bits.count() > 0;
        asks.then(|| TakingContents::new(session, known, self.bits.iter())).transpose()
    }
}

/// Records document contents from many threads.
pub struct TakingContents {
    known: Contents,
    unread: Arc<AtomicBits>,
    taking: Taking,
}

impl TakingContents {
    /// Starts recording the contents of these documents, except documents in `known`. The first document of each class of copies represents
    /// the class.
    pub fn new(session: &Session<'_>, known: Contents, docs: impl Iterator<Item = usize>) -> Result<TakingContents> {
        let unread = AtomicBits::new(session.engine.dir, "contents-unread", session.documents() as usize)?;
        docs.filter(|&doc| known.says(doc as u64).is_empty()).for_each(|doc| _ = unread.set(doc));
        let taking = Taking::new(session.engine.dir, "contents", &unread)?;
        Ok(TakingContents { known, unread: Arc::new(unread), taking })
    }

    /// Returns whether all contents have been read.
    pub(crate) fn is_done(&self) -> bool {
        self.unread.count() == 0
    }

    /// Returns whether the document's contents are required but not recorded yet.
    pub(crate) fn wants(&self, doc: u64) -> bool {
        self.unread.get(doc as usize)
    }

    /// Records the contents of one document. `numbers` is a buffer that the thread reuses.
    pub fn take(&self, doc: u64, document: &Analysis<'_>, numbers: &mut Vec<u64>) -> Result<()> {
        self.taking.take(doc, numbers, |numbers| write_contents(document, numbers))
    }

    /// Records the missing contents of the documents in a batch. Returns the number of characters that were segmented into words for this
    /// purpose.
    pub(crate) fn take_batch(
        &self,
        engine: &Engine<'_>,
        view: &View<'_>,
        batch: &Documents,
        numbers: &mut Vec<u64>,
    ) -> Result<u64> {
        let (none, mut segmented) = (Columns::default(), 0);
        for row in 0..batch.len() {
            let (doc, Cell::Text(text)) = (batch.doc(row), batch.text(row)) else { continue };
            if self.wants(doc) {
                engine.go_on()?;
                let _long = engine.long_document(text.len())?;
                let analysis = view.document(doc, text, &none, row);
                self.take(doc, &analysis, numbers)?;
                segmented += analysis.segmented();
            }
        }
        Ok(segmented)
    }

    /// Ends the recording.
    pub fn end(mut self) -> Result<Contents> {
        self.known.read.push(self.taking.end()?);
        Ok(self.known)
    }

    /// Reads the text of the documents whose contents are missing.
    pub fn read(self, session: &Session<'_>, view: &View<'_>) -> Result<Contents> {
        if self.is_done() {
            return Ok(self.known);
        }
        let running = session.engine.clock.stage("read pairs");
        let (unread, count) = (self.unread.clone(), self.unread.count());
        let rows = RowFilter::Where(Arc::new(move |doc| unread.get(doc as usize)));
        let want = Want { rows: Some(rows), batch_bytes: session.engine.budget.batch, ..Want::default() };
        session.read(
            "read pairs",
            &want,
            || Ok((Vec::new(), 0)),
            |(numbers, segmented), batch| {
                session.kept_texts.offer_batch(session.engine.dir, batch, |_| true)?;
                *segmented += self.take_batch(session.engine, view, batch, numbers)?;
                Ok(())
            },
            |(_, segmented)| {
                session.segmented.fetch_add(segmented, Relaxed);
                Ok(())
            },
        )?;
        let contents = self.end()?;
        running.end(count, count, contents.bytes());
        Ok(contents)
    }
}

/// Holds the contents of documents that occur in pairs.
pub struct Contents {
    copies: Arc<Classes>,
    /// The recorded contents, with one entry for each pass that recorded contents.
    read: Vec<Evidence>,
}

impl Contents {
    /// Returns empty contents.
    pub fn none(copies: &Arc<Classes>) -> Contents {
        Contents { copies: copies.clone(), read: Vec::new() }
    }

    /// Returns the contents that an earlier process recorded.
    pub fn restored(copies: &Arc<Classes>, SavedContents(read): SavedContents) -> Contents {
        Contents { copies: copies.clone(), read }
    }

    /// Saves the contents if a checkpoint is due.
    pub fn offer(self, saved: &SavedState<'_>) -> Result<Contents> {
        let Contents { copies, read } = self;
        let SavedContents(read) = saved.offer(saved.due(), |keys| &keys.contained, SavedContents(read))?;
        Ok(Contents { copies, read })
    }

    /// Returns the share of each of the two documents that the other document contains, or `None` for copies.
    pub fn of(&self, a: u64, b: u64) -> Option<[Contained; 2]> {
        self.texts_of(a, b).map(|[a, b]| contained(&a, &b))
    }

    /// Works like `of`, but also compares what identifies the documents.
    pub fn compared(&self, a: u64, b: u64) -> Option<([Contained; 2], Subjects)> {
        self.texts_of(a, b).map(|[a, b]| {
            let shares = contained(&a, &b);
            (shares, subjects(&a, &b, shares))
        })
    }

    /// Returns the contents of two documents, or `None` for copies.
    fn texts_of(&self, a: u64, b: u64) -> Option<[Cow<'_, [u64]>; 2]> {
        let [a, b] = [a, b].map(|doc| self.copies.representative(doc));
        (a != b).then(|| [a, b].map(|doc| self.says(doc)))
    }

    fn says(&self, doc: u64) -> Cow<'_, [u64]> {
        let known = self.read.iter().map(|read| read.of(doc));
        known.into_iter().find(|known| !known.is_empty()).unwrap_or_default()
    }

    /// Returns the size of the last pass's temporary file in bytes.
    pub fn bytes(&self) -> u64 {
        self.read.last().map_or(0, Evidence::bytes)
    }
}

/// Holds the shares of one document's 3-grams and numbers that another document contains, as written to tables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shares {
    /// The share of the document's distinct 3-grams that the other document contains; 0 if the document has no words.
    pub grams: f32,
    /// The share of the document's distinct numbers, excluding numbers in its frame, that the other document contains; 1 if the document
    /// has no such numbers.
    pub numbers: f32,
}

impl Shares {
    /// The shares of an exact copy.
    pub(crate) const COPY: Shares = Shares { grams: 1.0, numbers: 1.0 };

    /// Converts the shares to the column types of the tables.
    pub(crate) fn of(contained: Contained) -> Shares {
        Shares {
            grams: contained.grams.share().unwrap_or(0.0) as f32,
            numbers: contained.facts.share().unwrap_or(1.0) as f32,
        }
    }
}

/// The number of values per entry of [`Looking`]: the kept document, and the shares of both documents.
const ENTRY: usize = 3;

/// Records the kept documents with which each document was compared.
pub(crate) struct Looking {
    taking: Taking,
    entries: Vec<u64>,
    out: Vec<u64>,
}

impl Looking {
    /// Returns a recorder for the documents that appear in pairs.
    pub(crate) fn new(engine: &Engine<'_>, shown: &AtomicBits) -> Result<Looking> {
        let taking = Taking::new(engine.dir, "looked-at", shown)?;
        Ok(Looking { taking, entries: Vec::new(), out: Vec::new() })
    }

    /// Records one comparison of the current document.
    pub(crate) fn push(&mut self, kept: u64, both: [Contained; 2]) {
        let packed = |contained| {
            let Shares { grams, numbers } = Shares::of(contained);
            u64::from(grams.to_bits()) << 32 | u64::from(numbers.to_bits())
        };
        self.entries.extend([kept, packed(both[0]), packed(both[1])]);
    }

    /// Ends the entries of one document.
    pub(crate) fn next(&mut self, doc: u64) -> Result<()> {
        if !self.entries.is_empty() {
            self.taking.take(doc, &mut self.out, |out| out.append(&mut self.entries))?;
        }
        Ok(())
    }

    /// Ends the recording.
    pub(crate) fn end(self) -> Result<Evidence> {
        self.taking.end()
    }
}

/// Holds the data for the table of pairs.
pub(crate) struct Compared {
    /// The exact copies.
    pub copies: Arc<Classes>,
    /// The contents of documents; `None` if all pairs are exact copies.
    pub contents: Option<Contents>,
    /// The comparisons that [`Looking`] recorded.
    pub looked_at: Evidence,
}

impl Compared {
    /// Returns the shares of `a` that `b` contains, and the shares of `b` that `a` contains. The result is known for copies, for pairs
    /// compared during removal, and for pairs that passed verification.
    pub(crate) fn shares(&self, a: u64, b: u64, verified: bool) -> Option<[Shares; 2]> {
        if self.copies.representative(a) == self.copies.representative(b) {
            return Some([Shares::COPY; 2]);
        }
        let contents = self.contents.as_ref()?;
        let noted = |doc: u64, other: u64| {
            let entries = self.looked_at.of(doc);
            let entry = entries.chunks_exact(ENTRY).find(|entry| entry[0] == other)?;
            let shares = |packed: u64| Shares {
                grams: f32::from_bits((packed >> 32) as u32),
                numbers: f32::from_bits(packed as u32),
            };
            Some([shares(entry[1]), shares(entry[2])])
        };
        let turned = || noted(b, a).map(|[of_b, of_a]| [of_a, of_b]);
        let computed = || if verified { Some(contents.of(a, b)?.map(Shares::of)) } else { None };
        noted(a, b).or_else(turned).or_else(computed)
    }
}
