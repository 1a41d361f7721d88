//! Finds the documents of a finished run that have the same text, so that pairs are counted between distinct texts, not between copies.
//!
//! In the tables of the run, each copy forms a pair with the best document that has the same text. All other pairs are between best
//! documents, but labels may refer to any copy. Therefore, both the pairs and the labels are mapped to one document per text, the
//! representative: the first document in the truth with this text, or else the first document in the corpus with this text. A pair of
//! copies becomes two pairs, one between the representative and each copy. If the truth consists of clusters, a text is in the cluster of
//! its representative.
//!
//! ```text
//! copies 1 4 7, the truth names 4 and 9      pairs 7-9 and 1-9 become 4-9      pair 1-7 becomes 1-4 and 4-7
//! ```

use crate::finished::Finished;
use dupsift_algorithms::steps::connect::Forest;
use dupsift_core::error::{Error, Result};
use dupsift_engine::engine::numbers::Numbers;
use dupsift_engine::session::Session;
use dupsift_spill::shuffle::AtomicBits;

/// Maps the documents of a run to texts.
pub(crate) struct Texts {
    /// The number of the first document with the same text, plus one; 0 for a document that is itself the first. Empty
    /// if all texts are distinct.
    firsts: Numbers,
    /// The number of the first document in the truth with the same text, plus one, stored at the first document with that text; 0 if there
    /// is none.
    named: Numbers,
    /// Whether any two documents have the same text.
    any: bool,
}

impl Texts {
    /// Reads the copies from the table of the first algorithm, because every algorithm's table contains all copies. `named` contains
    /// the documents in the truth.
    ///
    /// # Errors
    /// Returns [`Error::BadFile`] if a table is damaged.
    pub(crate) fn new(session: &Session<'_>, finished: &Finished, named: &AtomicBits) -> Result<Texts> {
        let label = finished.report.algorithms.first().map(|one| &one.label);
        let Some(label) = label.filter(|_| finished.report.documents.extra_copies > 0) else {
            let none = |name| Numbers::new(session.engine.dir, name, 0, 0);
            return Ok(Texts { firsts: none("text-firsts")?, named: none("text-named")?, any: false });
        };
        let documents = session.documents();
        let array = |name| Numbers::new(session.engine.dir, name, documents as usize, documents);
        let (mut firsts, mut of_text) = (array("text-firsts")?, array("text-named")?);
        let mut forest = Forest::new(firsts.slots());
        for pair in finished.listed_pairs(label)? {
            session.engine.go_on()?;
            let pair = pair?;
            let [a, b] = pair.docs;
            if a.max(b) >= documents {
                let why = format!("it refers to documents {a} and {b}, but the run had fewer documents");
                return Err(Error::BadFile { path: finished.pair_table(label), why });
            }
            if pair.copy {
                forest.union(a, b);
            }
        }
        let mut slots = firsts.slots();
        for doc in 0..documents {
            // The parent has a smaller number than `doc`, so it already points to the first document.
            let Some(parent) = slots.get(doc).checked_sub(1) else { continue };
            let first = slots.get(parent).checked_sub(1).unwrap_or(parent);
            slots.set(doc, first + 1);
        }
        let mut texts = Texts { firsts, named: array("no-names")?, any: true };
        let mut slots = of_text.slots();
        for doc in named.iter().map(|doc| doc as u64) {
            let first = texts.first(doc);
            if slots.get(first) == 0 {
                slots.set(first, doc + 1);
            }
        }
        texts.named = of_text;
        Ok(texts)
    }

    /// Returns whether any two documents have the same text.
    pub(crate) fn any(&self) -> bool {
        self.any
    }

    /// Returns the document that represents the text of this document.
    pub(crate) fn of(&self, doc: u64) -> u64 {
        if !self.any {
            return doc;
        }
        let first = self.first(doc);
        self.named.get(first).checked_sub(1).unwrap_or(first)
    }

    fn first(&self, doc: u64) -> u64 {
        self.firsts.get(doc).checked_sub(1).unwrap_or(doc)
    }

    /// Calls `each` with the pairs of representatives that correspond to a pair of documents, smaller number first.
    ///
    /// # Errors
    /// Returns an error from `each`.
    pub(crate) fn pair(&self, a: u64, b: u64, mut each: impl FnMut(u64, u64) -> Result<()>) -> Result<()> {
        let (of_a, of_b) = (self.of(a), self.of(b));
        if of_a != of_b {
            return each(of_a.min(of_b), of_a.max(of_b));
        }
        [a, b].into_iter().filter(|&doc| doc != of_a).try_for_each(|doc| each(doc.min(of_a), doc.max(of_a)))
    }
}

/// Collects the documents in true pairs.
pub(crate) struct Correct {
    docs: AtomicBits,
    texts: AtomicBits,
}

impl Correct {
    /// Creates an empty set.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub(crate) fn new(session: &Session<'_>, label: &str) -> Result<Correct> {
        let bits = |what: &str| {
            AtomicBits::new(session.engine.dir, &format!("{label}-correct-{what}"), session.documents() as usize)
        };
        Ok(Correct { docs: bits("docs")?, texts: bits("texts")? })
    }

    /// Adds a true pair from [`Texts::pair`].
    pub(crate) fn add(&self, texts: &Texts, a: u64, b: u64) {
        let bits = if texts.of(a) == texts.of(b) { &self.docs } else { &self.texts };
        bits.set(a as usize);
        bits.set(b as usize);
    }

    /// Returns the number of documents in `named` that are in a true pair, or whose text is in a true pair.
    pub(crate) fn count(&self, texts: &Texts, named: &AtomicBits) -> u64 {
        named.iter().filter(|&doc| self.docs.get(doc) || self.texts.get(texts.of(doc as u64) as usize)).count() as u64
    }
}
