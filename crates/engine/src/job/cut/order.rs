//! Sorts the kept documents in the order that `--keep` specifies.

use std::sync::Arc;

use crate::engine::numbers::Numbers;
use crate::job::decide::decided::{self, Decided};
use crate::job::read::intake::Taken;
use crate::session::Session;
use crate::session::scopes::Noted;
use dupsift_core::error::Result;
use dupsift_core::hash::mix64;
use dupsift_input::{RowFilter, Want};
use dupsift_spill::shuffle::AtomicBits;

/// Holds the kept documents in order, best first.
pub(crate) struct Order {
    kept: Arc<AtomicBits>,
    documents: Numbers,
    /// The position of each document in the order.
    places: Numbers,
    count: u64,
    characters: u64,
    /// The scopes, if only documents with the same scope are compared.
    within: Option<Noted>,
    /// The scopes, if only documents with different scopes are compared.
    across: Option<Noted>,
}

impl Order {
    /// Sorts the documents that have text and are not removed.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub(crate) fn new(session: &Session<'_>, taken: &Taken, decisions: &Decided) -> Result<Order> {
        let running = session.engine.clock.stage("order kept documents");
        let (dir, all) = (session.engine.dir, session.documents());
        let out = AtomicBits::new(dir, "not-kept", all as usize)?;
        decided::each(decisions, session.engine.budget.a_thread, |doc, _| Ok(_ = out.set(doc as usize)))?;
        taken.rejected.each(session.engine, |doc, _, _| Ok(_ = out.set(doc as usize)))?;
        let kept = AtomicBits::new(dir, "kept", all as usize)?;
        let is_kept = |doc: &u64| !out.get(*doc as usize);
        (session.base..all).filter(is_kept).for_each(|doc| _ = kept.set(doc as usize));
        let count = kept.count();
        let mut documents = Numbers::new(dir, "cut-order", count as usize, all)?;
        let mut slots = documents.slots();
        kept.iter().enumerate().for_each(|(at, doc)| slots.set(at as u64, doc as u64));
        taken.columns.keep.sort(session.engine, slots)?;
        let mut places = Numbers::new(dir, "cut-places", all as usize, count)?;
        let mut slots = places.slots();
        documents.docs(0..count as usize).iter().enumerate().for_each(|(at, doc)| slots.set(doc, at as u64));
        let characters = kept.iter().map(|doc| u64::from(taken.columns.keep.length(doc as u64))).sum();
        running.end(all, count, 0);
        let (recipe, scopes) = (&session.options.recipe, session.scopes.noted());
        let within = scopes.clone().filter(|_| recipe.within.is_some());
        let across = scopes.filter(|_| recipe.across.is_some());
        Ok(Order { kept: Arc::new(kept), documents, places, count, characters, within, across })
    }

    /// Returns the position of a kept document in the order.
    pub(crate) fn place(&self, doc: u64) -> u64 {
        self.places.get(doc)
    }

    /// Returns the document at a position in the order.
    pub(crate) fn document(&self, place: u64) -> u64 {
        self.documents.get(place)
    }

    /// Returns a number to combine with the hashes in a document, so that units in documents that are never compared have different
    /// hashes. The number is 0 if all documents are compared.
    pub(crate) fn salt(&self, doc: u64) -> u128 {
        let salt = |scope: u64| u128::from(mix64(scope)) << 64 | u128::from(mix64(!scope));
        self.within.as_ref().map_or(0, |within| salt(within.of(doc)))
    }

    /// Returns whether some documents are compared only with documents in other scopes; [`Order::compares`] decides which.
    pub(crate) fn is_across(&self) -> bool {
        self.across.is_some()
    }

    /// Returns whether two documents, given by their positions in the order, are compared with each other. Documents whose hashes are never
    /// equal are not considered.
    pub(crate) fn compares(&self, a: u64, b: u64) -> bool {
        self.across.is_none() || self.are_compared(self.document(a), self.document(b))
    }

    /// Returns whether two documents, which need not be kept, are compared with each other. Documents of different scopes that are never
    /// compared are not considered.
    pub(crate) fn are_compared(&self, a: u64, b: u64) -> bool {
        self.across.as_ref().is_none_or(|across| across.of(a) != across.of(b))
    }

    /// Returns the number of kept documents.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the number of characters in the kept documents.
    pub(crate) fn characters(&self) -> u64 {
        self.characters
    }

    /// Returns the request for a pass over the text of the kept documents.
    pub(crate) fn want(&self, session: &Session<'_>) -> Want {
        let kept = self.kept.clone();
        let rows = Some(RowFilter::Where(Arc::new(move |doc| kept.get(doc as usize))));
        Want { rows, batch_bytes: session.engine.budget.batch, ..Want::default() }
    }
}
