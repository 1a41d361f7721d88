//! One algorithm's classes and links, for random access: what the survivor rule asks of it.

use super::group::Relation;
use super::numbers::Numbers;
use super::workers::Job;
use crate::error::Result;
use crate::row::Score;
use crate::shuffle::Mapped;
use crate::stage::survive;

/// One algorithm's relation with its links as arrays, for random access.
pub struct Linked<'r> {
    relation: &'r Relation,
    equal: Score,
    /// By class: where its links begin; one more place says where the last ones end. Empty where there are none.
    begins: Numbers,
    /// The classes linked to.
    links: Numbers,
    /// The bits of the similarity of each link.
    similarities: Mapped<u32>,
}

impl<'r> Linked<'r> {
    /// Of a relation; `equal` is the score of two documents of one class.
    pub fn new(job: &Job<'_>, relation: &'r Relation, equal: Score) -> Result<Linked<'r>> {
        let count = 2 * relation.pairs.rows();
        // Two more than documents: while the links are filled in, place d + 1 moves from the begin of d to its end.
        let places = if count == 0 { 0 } else { job.documents() + 2 };
        let mut begins = Numbers::new(job.dir, "link-begins", places as usize, count)?;
        let mut links = Numbers::new(job.dir, "links", count as usize, job.documents())?;
        let mut similarities: Mapped<u32> = Mapped::new(job.dir, "link-similarities", count as usize)?;
        let (mut at, mut to) = (begins.slots(), links.slots());
        relation.pairs.each(|pair| {
            for doc in [pair.a, pair.b] {
                at.set(doc + 2, at.get(doc + 2) + 1);
            }
            job.go_on()
        })?;
        let mut before = 0;
        for place in 0..places {
            before += at.get(place);
            at.set(place, before);
        }
        let similarities_of_links = &mut similarities[..];
        relation.pairs.each(|pair| {
            for (from, linked) in [(pair.a, pair.b), (pair.b, pair.a)] {
                let place = at.get(from + 1);
                to.set(place, linked);
                similarities_of_links[place as usize] = pair.score.similarity.to_bits();
                at.set(from + 1, place + 1);
            }
            job.go_on()
        })?;
        Ok(Linked { relation, equal, begins, links, similarities })
    }
}

impl survive::Relation for Linked<'_> {
    fn class(&self, doc: u64) -> u64 {
        self.relation.classes.representative(doc)
    }

    fn linked(&self, class: u64, each: &mut dyn FnMut(u64, f32)) {
        if self.similarities.is_empty() {
            return;
        }
        let (begin, end) = (self.begins.get(class) as usize, self.begins.get(class + 1) as usize);
        for (linked, &similarity) in self.links.docs(begin..end).iter().zip(&self.similarities[begin..end]) {
            each(linked, f32::from_bits(similarity));
        }
    }

    fn equal(&self) -> f32 {
        self.equal.similarity
    }
}
