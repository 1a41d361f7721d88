//! Implements `--keep-per COLUMN`: a document is removed only in favor of a kept document with the same value in the column.
//!
//! Pairs and clusters are the same as in a run without the option. For the removal, each class of an algorithm is split into one class for
//! each value, and two of these classes are linked if the original classes are linked and the values are equal. A hash table in a temporary
//! file finds the class of a value, so a value costs one lookup, however many documents with other values are kept.

use crate::engine::numbers::Numbers;
use crate::job::read::keep::KeepOrder;
use crate::session::Session;
use dupsift_algorithms::steps::survive::Relation;
use dupsift_core::error::Result;
use dupsift_core::row::Docs;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Finds documents by group and value. A group is a class of an algorithm, or a connected component.
pub(super) struct ByValue<'k> {
    keep: &'k KeepOrder,
    /// The first document of each group and value, plus one; 0 for a free place.
    firsts: Numbers,
    mask: u64,
}

impl<'k> ByValue<'k> {
    /// Returns an empty table for this number of documents, or `None` if the values do not matter.
    pub(super) fn new(session: &Session<'_>, keep: &'k KeepOrder, documents: usize) -> Result<Option<ByValue<'k>>> {
        if !keep.has_values() {
            return Ok(None);
        }
        // At most half of the places are taken, so a search is short.
        let places = (2 * documents).next_power_of_two();
        let firsts = Numbers::new(session.engine.dir, "kept-per-value", places, session.documents())?;
        Ok(Some(ByValue { keep, firsts, mask: places as u64 - 1 }))
    }

    /// Returns the place of a group and a value, and the document there, if there is one.
    fn find(&self, group: u64, value: u64, mut group_of: impl FnMut(u64) -> u64) -> (u64, Option<u64>) {
        let mut place = xxh3_64_with_seed(&group.to_le_bytes(), value) & self.mask;
        loop {
            match self.firsts.get(place).checked_sub(1) {
                Some(doc) if self.keep.value(doc) != value || group_of(doc) != group => place = (place + 1) & self.mask,
                found => return (place, found),
            }
        }
    }

    /// Returns the first document that was passed to this function with the same group and value, or `None` if `doc` is the first.
    pub(super) fn add(&mut self, doc: u64, mut group_of: impl FnMut(u64) -> u64) -> Option<u64> {
        let (place, found) = self.find(group_of(doc), self.keep.value(doc), group_of);
        if found.is_none() {
            self.firsts.slots().set(place, doc + 1);
        }
        found
    }
}

/// A relation in which only documents with the same value form pairs, or any documents if the values do not matter.
pub(super) struct PerValue<'r, R> {
    relation: &'r R,
    by_value: Option<ByValue<'r>>,
}

impl<'r, R: Relation> PerValue<'r, R> {
    /// Returns the relation for the documents in `order`.
    pub(super) fn new(
        session: &Session<'_>,
        relation: &'r R,
        keep: &'r KeepOrder,
        order: Docs<'_>,
    ) -> Result<PerValue<'r, R>> {
        let mut by_value = ByValue::new(session, keep, order.len())?;
        if let Some(by_value) = &mut by_value {
            for doc in order.iter() {
                by_value.add(doc, |doc| relation.class(doc));
            }
            session.engine.go_on()?;
        }
        Ok(PerValue { relation, by_value })
    }

    fn of_value(&self, by_value: &ByValue<'_>, class: u64, value: u64) -> Option<u64> {
        by_value.find(class, value, |doc| self.relation.class(doc)).1
    }
}

impl<R: Relation> Relation for PerValue<'_, R> {
    fn class(&self, doc: u64) -> u64 {
        let class = self.relation.class(doc);
        let of_value = |by_value| self.of_value(by_value, class, by_value.keep.value(doc));
        self.by_value.as_ref().map_or(class, |by_value| of_value(by_value).unwrap_or(doc))
    }

    fn linked(&self, class: u64, each: &mut dyn FnMut(u64, f32)) {
        let Some(by_value) = &self.by_value else { return self.relation.linked(class, each) };
        let value = by_value.keep.value(class);
        self.relation.linked(self.relation.class(class), &mut |linked, similarity| {
            if let Some(linked) = self.of_value(by_value, linked, value) {
                each(linked, similarity);
            }
        });
    }

    fn equal(&self) -> f32 {
        self.relation.equal()
    }

    fn scope(&self, doc: u64) -> Option<u64> {
        self.relation.scope(doc)
    }

    fn are_copies(&self, x: u64, y: u64) -> bool {
        self.relation.are_copies(x, y)
    }
}
