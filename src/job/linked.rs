//! One algorithm's classes and links, for random access: what the survivor rule asks of it.

use super::group::Relation;
use super::links::Links;
use super::workers::Job;
use crate::error::Result;
use crate::stage::survive;

/// One algorithm's relation with its links as arrays, for random access.
pub struct Linked<'r> {
    relation: &'r Relation,
    links: Links,
}

impl<'r> Linked<'r> {
    /// Of a relation. Forms decide nothing.
    pub fn new(job: &Job<'_>, relation: &'r Relation) -> Result<Linked<'r>> {
        Ok(Linked { relation, links: Links::new(job, &relation.pairs, |pair| !pair.is_form())? })
    }
}

impl survive::Relation for Linked<'_> {
    fn class(&self, doc: u64) -> u64 {
        self.relation.classes.representative(doc)
    }

    fn linked(&self, class: u64, each: &mut dyn FnMut(u64, f32)) {
        self.links.of(class).for_each(|(linked, similarity)| each(linked, similarity));
    }

    fn equal(&self) -> f32 {
        self.relation.equal.similarity
    }
}
